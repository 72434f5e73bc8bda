// Pictures and tables as files.
#pragma once

#include <QImage>
#include <QPalette>
#include <QSize>
#include <QString>
#include <functional>

#include "gui/charts/charts.hpp"

namespace tcsim::gui {

inline constexpr QSize pictureSize{960, 600};

// By the file's ending: .png (at twice the points), .svg, .pdf, or .csv for the table behind the
// picture. The text view's picture is its text, .txt. Throws UsageError for another ending and
// InputError if the file cannot be written.
void exportView(const ViewKind& kind, const Scene& scene, const QString& file,
                const QPalette& palette, QSize size = pictureSize);

// A .png, .svg or .pdf of what `paint` paints.
void savePicture(const QString& file, QSize size, const QString& title,
                 const std::function<void(QPaintDevice&)>& paint);

QImage imageOf(const ViewKind& kind, const Scene& scene, const QPalette& palette, QSize size,
               double scale);

}  // namespace tcsim::gui
