#include "gui/window/export.hpp"

#include <QBuffer>
#include <QFileInfo>
#include <QFontDatabase>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QTextDocument>

#include "core/error.hpp"
#include "gui/widgets/boxes_view.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/widgets/save_file.hpp"

namespace tcsim::gui {

namespace {

void paint(const ViewKind& kind, const Scene& scene, const QPalette& palette, QSize size,
           QPaintDevice& device) {
  if (kind.draws == ViewKind::Draws::plot) {
    PlotView view;
    view.setPalette(palette);
    view.show(kind.plot(scene));
    view.paintTo(device, size);
  } else if (kind.draws == ViewKind::Draws::tiles) {
    BoxesView view;
    view.setPalette(palette);
    view.show(tileBoxes(scene));
    QPainter painter(&device);
    view.paintTo(painter, size);
  } else {
    QTextDocument document;
    document.setDefaultFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    document.setTextWidth(size.width());
    document.setPlainText(QString::fromStdString(scheduleText(scene)));
    QPainter painter(&device);
    painter.fillRect(QRect(QPoint(0, 0), size), Qt::white);
    document.drawContents(&painter);
  }
}

using Paint = std::function<void(QPaintDevice&)>;

QImage painted(QSize size, double scale, const Paint& paint) {
  QImage image(size * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(Qt::white);
  paint(image);
  return image;
}

}  // namespace

QImage imageOf(const ViewKind& kind, const Scene& scene, const QPalette& palette, QSize size,
               double scale) {
  return painted(size, scale,
                 [&](QPaintDevice& device) { paint(kind, scene, palette, size, device); });
}

void savePicture(const QString& file, QSize size, const QString& title, const Paint& paint) {
  const QString ending = QFileInfo(file).suffix().toLower();
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  if (ending == "png") {
    painted(size, 2, paint).save(&buffer, "PNG");
  } else if (ending == "svg") {
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(0, 0), size));
    svg.setTitle(title);
    paint(svg);
  } else if (ending == "pdf") {
    QPdfWriter pdf(&buffer);
    pdf.setResolution(96);
    pdf.setPageSize(QPageSize(QSizeF(size) * 72 / 96, QPageSize::Point));
    pdf.setPageMargins(QMarginsF(0, 0, 0, 0));
    pdf.setTitle(title);
    paint(pdf);
  } else {
    throw UsageError(file.toStdString(), "this ending is not known",
                     "use .png, .svg, .pdf, or .csv for the numbers");
  }
  buffer.close();
  saveFile(file, buffer.data());
}

void exportView(const ViewKind& kind, const Scene& scene, const QString& file,
                const QPalette& palette, QSize size) {
  const QString ending = QFileInfo(file).suffix().toLower();
  const bool text = kind.draws == ViewKind::Draws::text;
  if (ending == "csv") return saveFile(file, QByteArray::fromStdString(toCsv(kind.table(scene))));
  if (ending == "txt" && text) {
    return saveFile(file, QByteArray::fromStdString(scheduleText(scene)));
  }
  if (ending == "c" && text) return saveFile(file, QByteArray::fromStdString(scheduleAsC(scene)));
  savePicture(file, size, QString::fromUtf8(kind.title),
              [&](QPaintDevice& device) { paint(kind, scene, palette, size, device); });
}

}  // namespace tcsim::gui
