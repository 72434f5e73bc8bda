// Pictures without a display: tcsim-gui --session FILE --view NAME --export FILE.
#pragma once

#include <QPalette>
#include <QSize>
#include <QString>

namespace tcsim {
struct Session;
}

namespace tcsim::gui {

class ChainPlanner;
class Studio;
struct ChainDesign;

// Runs the event loop until nothing is under way that would change the studio's scene.
void waitFor(Studio& studio);
// The same of a chain and its curve.
void waitFor(ChainPlanner& planner);

// Judges the session, waits for everything that the view shows, and writes it. Throws the errors of
// core/error.hpp.
void exportHeadless(const Session& session, const QString& view, const QString& file,
                    const QPalette& palette, QSize size);

// The same of the whole window, as a .png.
void exportWindow(const Session& session, const QString& view, const QString& file, QSize size);

// The window for studies with a study, with results, or with both, which are in front.
void exportStudies(const QString& study, const QString& results, const QString& file, QSize size);

// The operation tree of a chain, or the whole window for chains as a .png, once all that it
// computes is there; by the ending .csv its table.
void exportChain(const ChainDesign& design, const QString& file, QSize size, bool window);

}  // namespace tcsim::gui
