#include "gui/headless.hpp"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QEventLoop>
#include <QTimer>
#include <iostream>

#include "core/error.hpp"
#include "core/saved/session.hpp"
#include "core/text/safe.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/chain/chain_window.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/results_page.hpp"
#include "gui/study/study_editor.hpp"
#include "gui/study/study_window.hpp"
#include "gui/window/export.hpp"
#include "gui/window/main_window.hpp"

namespace tcsim::gui {

namespace {

// Several steps follow one another, each begun when the one before has ended.
template <class Busy>
void waitUntilQuiet(const Busy& busy) {
  QEventLoop loop;
  QTimer look;
  int quiet = 0;
  QObject::connect(&look, &QTimer::timeout, &loop, [&] {
    quiet = busy() ? 0 : quiet + 1;
    if (quiet > 3) loop.quit();
  });
  look.start(5);
  loop.exec();
}

}  // namespace

void waitFor(Studio& studio) {
  waitUntilQuiet([&] { return studio.isBusy(); });
}

void waitFor(ChainPlanner& planner) {
  waitUntilQuiet([&] { return planner.isBusy(); });
}

namespace {

// Whether the LRU caches of all capacities are simulated within a minute.
bool simulatedForPicture(const Studio& studio) {
  constexpr double most = 1e8;  // multiply-adds
  return studio.error().isEmpty() && studio.scene().now &&
         studio.scene().now->subject.contraction.flops() / 2 <= most;
}

}  // namespace

void exportHeadless(const Session& session, const QString& view, const QString& file,
                    const QPalette& palette, QSize size) {
  Session s = session;
  if (!view.isEmpty()) s.view.name = view.toStdString();
  const ViewKind& kind = viewKind(s.view.name);
  Studio studio;
  studio.open(s);
  waitFor(studio);
  if (s.view.name == "traffic" && studio.error().isEmpty()) {
    studio.simulate();
    waitFor(studio);
  }
  if ((s.view.name == "sets" || s.view.name == "timeline") && studio.error().isEmpty()) {
    studio.simulateInDetail();
    waitFor(studio);
  }
  if (s.view.name == "bounds" && simulatedForPicture(studio)) {
    studio.simulateBounds();
    waitFor(studio);
  }
  if (!studio.error().isEmpty()) throw UsageError("", studio.error().toStdString(), "");
  const Scene& scene = studio.scene();
  for (const Pinned& pin : scene.pins) {
    if (pin.error.empty()) continue;
    std::cerr << visible(fmt::format("tcsim-gui: pinned {}: {}", pin.pin.name, pin.error)) << "\n";
  }
  if (s.view.name == "bottleneck" && !scene.curve) {
    throw UsageError("", scene.curve.error, "");
  }
  if (s.view.name == "map" && !scene.map) throw UsageError("", scene.map.error, "");
  if (s.view.name == "bounds" && !scene.bounds) throw UsageError("", scene.bounds.error, "");
  if (s.view.name == "suite" && !scene.suite && !scene.suite.error.empty()) {
    throw UsageError("", scene.suite.error, "");
  }
  if (s.view.name == "sets" && !scene.sets) throw UsageError("", scene.sets.error, "");
  if (s.view.name == "timeline" && !scene.timeline) {
    throw UsageError("", scene.timeline.error, "");
  }
  if (s.view.name == "kernels" && !scene.kernels) throw UsageError("", scene.kernels.error, "");
  exportView(kind, scene, file, palette, size);
}

namespace {

void save(QWidget& window, const QString& file) {
  QCoreApplication::processEvents();  // what is still to be laid out
  if (window.grab().save(file, "PNG")) return;
  throw InputError(file.toStdString(), "the file cannot be written", "name another place");
}

}  // namespace

void exportWindow(const Session& session, const QString& view, const QString& file, QSize size) {
  MainWindow window;
  window.restoreDefaultLayout();
  window.resize(size);
  window.show();
  if (!session.design.workload.name.empty()) {
    Session s = session;
    if (!view.isEmpty()) s.view.name = view.toStdString();
    window.open(s);
    waitFor(window.studio());
    if (s.view.name == "traffic") {
      window.studio().simulate();
      waitFor(window.studio());
    }
    if (s.view.name == "sets" || s.view.name == "timeline") {
      window.studio().simulateInDetail();
      waitFor(window.studio());
    }
  }
  save(window, file);
}

void exportStudies(const QString& study, const QString& results, const QString& file, QSize size) {
  Studio studio;
  StudyWindow window(studio);
  window.resize(size);
  window.show();
  if (!study.isEmpty() && !window.openStudy(study)) {
    throw InputError("", window.editor().state().toStdString(), "");
  }
  if (!results.isEmpty()) window.openResults(results);
  QEventLoop loop;
  QTimer look;
  QObject::connect(&look, &QTimer::timeout, &loop, [&] {
    if (!window.editor().isChecking() && !window.results().isBusy()) loop.quit();
  });
  look.start(20);
  loop.exec();
  if (!window.results().problem().isEmpty()) {
    throw InputError("", window.results().problem().toStdString(), "");
  }
  save(window, file);
}

void exportChain(const ChainDesign& design, const QString& file, QSize size, bool whole) {
  ChainWindow window;
  window.resize(size);
  window.show();
  window.open(design);
  waitFor(window.planner());
  const std::string& error = window.planner().scene().error;
  if (!error.empty()) throw UsageError("", error, "");
  if (whole) return save(window, file);
  if (file.endsWith(".csv", Qt::CaseInsensitive)) return window.saveTable(file);
  window.saveTree(file);
}

}  // namespace tcsim::gui
