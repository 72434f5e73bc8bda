#include <QApplication>
#include <QCommandLineParser>
#include <QIcon>
#include <QStyleFactory>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/saved/session.hpp"
#include "core/units/text.hpp"
#include "gui/chain/chain_window.hpp"
#include "gui/charts/charts.hpp"
#include "gui/headless.hpp"
#include "gui/scene/run_apart.hpp"
#include "gui/study/study_window.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/window/export.hpp"
#include "gui/window/main_window.hpp"

namespace {

using tcsim::gui::Theme;

QString viewNames() {
  QStringList names;
  for (const auto& kind : tcsim::gui::viewKinds()) names << kind.id;
  return names.join(", ");
}

QSize sizeOf(const QString& text) {
  const QStringList parts = text.split('x');
  bool wide = false, high = false;
  const QSize size(parts.value(0).toInt(&wide), parts.value(1).toInt(&high));
  if (parts.size() != 2 || !wide || !high || size.width() < 200 || size.height() < 150 ||
      size.width() > 10000 || size.height() > 10000) {
    throw tcsim::UsageError("--size", "'" + text.toStdString() + "' is no size of a picture",
                            "write WIDTHxHEIGHT, such as 960x600");
  }
  return size;
}

// What --chain and the options that go with it say.
tcsim::gui::ChainDesign chainOf(const QCommandLineParser& options) {
  tcsim::gui::ChainDesign design;
  design.chain = tcsim::gui::onOneLine(options.value("chain").toStdString());
  design.sizes = options.value("sizes").toStdString();
  if (options.isSet("memory") && options.isSet("tiles")) {
    throw tcsim::UsageError("--tiles", "is instead of --memory", "give one of them");
  }
  for (const char* option : {"memory", "tiles"}) {
    if (!options.isSet(option)) continue;
    design.memory = tcsim::parse_bytes(options.value(option).toStdString());
    design.tilesAlone = std::strcmp(option, "tiles") == 0;
  }
  design.knobs = options.values("set").join(", ").toStdString();
  if (options.isSet("machine")) design.machine = options.value("machine").toStdString();
  for (const char* option : {"sizes", "memory", "tiles", "machine", "set"}) {
    if (!options.isSet(option) || options.isSet("chain")) continue;
    throw tcsim::UsageError(std::string("--") + option, "belongs to a chain",
                            "add --chain, such as --chain fourindex:2");
  }
  return design;
}

int start(QApplication& app, const QCommandLineParser& options) {
  const QString theme = options.value("theme");
  if (!theme.isEmpty() && theme != "light" && theme != "dark") {
    throw tcsim::UsageError("--theme", "'" + theme.toStdString() + "' is not known",
                            "use light or dark");
  }
  const bool exporting = options.isSet("export");
  if (!theme.isEmpty() || exporting) {
    QApplication::setStyle(QStyleFactory::create("Fusion"));
    QApplication::setPalette(Theme::palette(theme == "dark"));
  }
  QString file = options.value("session");
  if (file.isEmpty()) file = options.positionalArguments().value(0);
  const QString view = options.value("view");
  if (!view.isEmpty()) tcsim::gui::viewKind(view.toStdString());
  const bool chain = options.isSet("chain");
  const tcsim::gui::ChainDesign wanted = chainOf(options);
  if (exporting) {
    const QSize size =
        options.isSet("size") ? sizeOf(options.value("size")) : tcsim::gui::pictureSize;
    if (options.isSet("study") || options.isSet("results")) {
      tcsim::gui::exportStudies(options.value("study"), options.value("results"),
                                options.value("export"), size);
      return 0;
    }
    if (chain) {
      tcsim::gui::exportChain(wanted, options.value("export"), size, options.isSet("window"));
      return 0;
    }
    if (file.isEmpty() && !options.isSet("window"))
      throw tcsim::UsageError("--export", "of which session?", "add --session FILE");
    if (options.isSet("window")) {
      const tcsim::Session session =
          file.isEmpty() ? tcsim::Session() : tcsim::load_session(file.toStdString());
      tcsim::gui::exportWindow(session, view, options.value("export"), size);
      return 0;
    }
    tcsim::gui::exportHeadless(tcsim::load_session(file.toStdString()), view,
                               options.value("export"), QApplication::palette(), size);
    return 0;
  }
  tcsim::gui::MainWindow window;
  if (!file.isEmpty()) {
    tcsim::Session session = tcsim::load_session(file.toStdString());
    if (view.isEmpty()) tcsim::gui::viewKind(session.view.name);
    window.openFile(file);
    if (!view.isEmpty()) window.showView(view.toStdString().c_str());
  }
  window.show();
  if (chain) {
    window.chains().show();
    window.chains().open(wanted);
  }
  if (options.isSet("study") || options.isSet("results")) {
    window.studies().show();
    if (options.isSet("study")) window.studies().openStudy(options.value("study"));
    if (options.isSet("results")) window.studies().openResults(options.value("results"));
  }
  return app.exec();
}

// QApplication takes "--session NAME" for the desktop's session management, but not
// "--session=NAME".
std::vector<std::string> joinedSession(int argc, char** argv) {
  std::vector<std::string> all(argv, argv + argc);
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    if (all[i] != "--session") continue;
    all[i] += "=" + all[i + 1];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of a file's size fails, and is told
  if (tcsim::gui::asksForRunProcess(argc, argv)) return tcsim::gui::runProcess();
  // A picture needs no display.
  for (int i = 1; i < argc; ++i) {
    const bool windowless = std::strncmp(argv[i], "--export", 8) == 0 ||
                            std::strcmp(argv[i], "--help") == 0 ||
                            std::strcmp(argv[i], "--version") == 0;
    if (windowless && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
      qputenv("QT_QPA_PLATFORM", "offscreen");
    }
  }
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") && qEnvironmentVariableIsEmpty("DISPLAY") &&
      qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY")) {
    std::fputs("tcsim-gui: there is no display; use --export FILE, or tcsim\n", stderr);
    return 4;
  }
  std::vector<std::string> args = joinedSession(argc, argv);
  std::vector<char*> pointers;
  for (std::string& a : args) pointers.push_back(a.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  QApplication app(count, pointers.data());
  QApplication::setApplicationName("tcsim-gui");
  QApplication::setOrganizationName("tcsim");
  QApplication::setApplicationVersion(TCSIM_VERSION);
  QApplication::setDesktopFileName("org.tcsim.tcsim-gui");
  QApplication::setWindowIcon(QIcon(":/tcsim-gui.svg"));
  QCommandLineParser options;
  options.setApplicationDescription(
      "Drag a figure of a machine and watch the bottleneck of a tensor contraction move.");
  options.addHelpOption();
  options.addVersionOption();
  options.addPositionalArgument("SESSION", "a session to open", "[SESSION]");
  options.addOptions(
      {{"session", "a session to open", "FILE"},
       {"study", "a study to open in the window for studies", "FILE"},
       {"results", "a folder that tcsim sweep wrote, to look through", "FOLDER"},
       {"chain", "a chain to plan: fourindex:2, statements, a file", "CHAIN"},
       {"sizes", "of the chain's indices: a=72,b=72,...", "SIZES"},
       {"memory", "that a run of it may take (256MiB); explicit levels have knobs", "SIZE"},
       {"tiles", "instead: memory of its tiles alone", "SIZE"},
       {"machine", "on which it is planned (zen5)", "NAME"},
       {"set", "of that machine, such as L3.capacity=2x", "KNOB=VALUE"},
       {"view", "which view: " + viewNames(), "NAME"},
       {"export", "write the view to a .svg, .png, .pdf or .csv and end", "FILE"},
       {"window", "with --export: the whole window instead of the view alone"},
       {"size", "of an exported picture, in points (960x600)", "WxH"},
       {"theme", "light or dark; otherwise the desktop's", "NAME"}});
  options.process(app);
  const auto fail = [](const std::exception& e, int code) {
    std::fprintf(stderr, "tcsim-gui: %s\n", e.what());
    return code;
  };
  try {
    return start(app, options);
  } catch (const tcsim::UsageError& e) {
    return fail(e, 2);
  } catch (const tcsim::UnsupportedError& e) {
    return fail(e, 4);
  } catch (const std::exception& e) {
    return fail(e, 3);
  }
}
