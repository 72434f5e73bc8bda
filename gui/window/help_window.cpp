#include "gui/window/help_window.hpp"

#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QStyle>
#include <QTextBrowser>
#include <QToolBar>
#include <QUrl>

#include "core/data/shipped.hpp"
#include "gui/widgets/layouts.hpp"

namespace tcsim::gui {

namespace {

constexpr QSize usualSize(860, 760);

// Beside the shipped data; empty where it cannot be found.
QString folderOfPages() {
  try {
    return QString::fromStdString((data_dir() / "docs").string());
  } catch (const std::exception&) {
    return {};
  }
}

// Links lead from page to page; those to the network open in the browser of the desktop.
class Pages : public QTextBrowser {
 public:
  using QTextBrowser::QTextBrowser;

 protected:
  void doSetSource(const QUrl& name, QTextDocument::ResourceType) override {
    const QString scheme = name.scheme();
    if (scheme == "http" || scheme == "https") {
      QDesktopServices::openUrl(name);
      return;
    }
    QTextBrowser::doSetSource(name, QTextDocument::MarkdownResource);
  }
};

}  // namespace

HelpWindow::HelpWindow(QWidget* parent) : QMainWindow(parent), browser_(new Pages) {
  setWindowTitle(tr("tcsim: help"));
  setAttribute(Qt::WA_QuitOnClose, false);
  browser_->setOpenExternalLinks(false);
  browser_->setAccessibleName(tr("page of the manual"));
  browser_->setSearchPaths({folderOfPages()});
  setCentralWidget(browser_);
  QToolBar* bar = addToolBar(tr("Pages"));
  bar->setMovable(false);
  bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  const auto add = [&](QStyle::StandardPixmap icon, const QString& name, auto slot,
                       auto available) {
    QAction* action = bar->addAction(style()->standardIcon(icon), name);
    connect(action, &QAction::triggered, browser_, slot);
    action->setEnabled(false);
    connect(browser_, available, action, &QAction::setEnabled);
    return action;
  };
  add(QStyle::SP_ArrowBack, tr("Back"), &QTextBrowser::backward, &QTextBrowser::backwardAvailable)
      ->setShortcut(QKeySequence::Back);
  add(QStyle::SP_ArrowForward, tr("Forward"), &QTextBrowser::forward,
      &QTextBrowser::forwardAvailable)
      ->setShortcut(QKeySequence::Forward);
  resizeOnScreen(*this, usualSize);
}

void HelpWindow::open(const QString& page) {
  const QString name = page.section('#', 0, 0), heading = page.section('#', 1);
  const QString file = QDir(folderOfPages()).filePath(name + ".md");
  if (!QFile::exists(file)) {
    browser_->setPlainText(
        tr("The page %1 does not ship with this build of tcsim; it is docs/%1.md "
           "of its sources.")
            .arg(name));
    return;
  }
  QUrl url = QUrl::fromLocalFile(file);
  browser_->setSource(url);
  // Headings of Markdown have no anchors here.
  if (!heading.isEmpty()) browser_->find(heading);
}

QStringList HelpWindow::pages() {
  QStringList names;
  for (const QString& file : QDir(folderOfPages()).entryList({"*.md"}, QDir::Files, QDir::Name)) {
    names << file.chopped(3);
  }
  return names;
}

}  // namespace tcsim::gui
