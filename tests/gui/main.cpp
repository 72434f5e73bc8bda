// Tests of widgets, without a display and without the settings of whoever runs them.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QStyleFactory>
#include <QTemporaryDir>

#include "gui/scene/run_apart.hpp"
#include "gui/widgets/theme.hpp"

int main(int argc, char** argv) {
  if (tcsim::gui::asksForRunProcess(argc, argv)) return tcsim::gui::runProcess();
  testing::InitGoogleTest(&argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QTemporaryDir settings;
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
  QApplication app(argc, argv);
  QApplication::setOrganizationName("tcsim");
  QApplication::setApplicationName("tcsim-gui-tests");
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QApplication::setPalette(tcsim::gui::Theme::palette(false));
  return RUN_ALL_TESTS();
}
