#include "gui/window/start_page.hpp"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QLabel>
#include <QSettings>
#include <QVBoxLayout>

namespace tcsim::gui {

namespace {

constexpr int kept = 8;

Session session(const char* workload, const char* machine, const char* accounting, const char* view,
                const char* knob, const char* second, const char* range = "0.25x..4x") {
  Session s;
  s.design.workload.name = workload;
  s.design.machine = machine;
  s.design.accounting = accounting;
  s.view.name = view;
  s.view.knob = knob;
  s.view.second = second;
  s.view.range = range;
  return s;
}

}  // namespace

std::vector<Example> examples() {
  return {
      {"Would a larger L3 help abcdef-degb-gfac on an E5-2680 v4?",
       "A contraction that streams its output, counted as the paper counts. The verdict on the "
       "right "
       "answers; the curve in the middle shows what helps instead.",
       session("tccg:29", "e5-2680v4", "paper", "bottleneck", "memory.bandwidth", "L3.capacity")},
      {"How much cache makes up for a slow memory?",
       "abcd-aebf-dfce on an i7-6700K, over L3's capacity and memory's bandwidth at once: down to "
       "a "
       "16th of what the machine has.",
       session("tccg:8", "i7-6700k", "", "map", "memory.bandwidth", "L3.capacity", "0.0625x..1x")},
      {"Where does the time go?",
       "The same contraction as in the first example, with packing, write-backs and the FMA peak "
       "counted.",
       session("tccg:29", "e5-2680v4", "honest", "time", "", "")},
  };
}

QStringList recentSessions() { return QSettings().value("recentSessions").toStringList(); }

void rememberSession(const QString& file) {
  QStringList all = recentSessions();
  const QString path = QFileInfo(file).absoluteFilePath();
  all.removeAll(path);
  all.prepend(path);
  QSettings().setValue("recentSessions", all.mid(0, kept));
}

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(40, 30, 40, 30);
  all->setSpacing(8);
  auto* title = new QLabel(tr("What would change if the hardware did?"));
  QFont big = title->font();
  big.setPointSizeF(big.pointSizeF() * 1.7);
  big.setBold(true);
  title->setFont(big);
  title->setWordWrap(true);
  all->addWidget(title);
  auto* words = new QLabel(
      tr("tcsim says how much data a tensor contraction moves at each level of a memory hierarchy, "
         "how long that takes, and which part of the machine limits it. Begin with an example, or "
         "choose a workload and a machine on the left; then drag a figure of the machine and watch "
         "the bottleneck move."));
  words->setWordWrap(true);
  all->addWidget(words);
  all->addSpacing(8);
  for (const Example& e : examples()) {
    auto* button = new QCommandLinkButton(tr(e.question), tr(e.about));
    button->setObjectName("example");
    connect(button, &QCommandLinkButton::clicked, this, [this, s = e.session] { emit chosen(s); });
    all->addWidget(button);
  }
  auto* chain = new QCommandLinkButton(
      tr("What stays in memory of a chain that does not fit?"),
      tr("The four-index transform in 256 MiB, in a window of its own: which intermediates go to "
         "disk, and what more memory would change."));
  chain->setObjectName("chain");
  connect(chain, &QCommandLinkButton::clicked, this, [this] { emit chainWanted("fourindex:2"); });
  all->addWidget(chain);
  all->addSpacing(8);
  auto* open = new QCommandLinkButton(tr("Open a session..."));
  connect(open, &QCommandLinkButton::clicked, this, &StartPage::browse);
  all->addWidget(open);
  for (const QString& file : recentSessions().mid(0, 4)) {
    auto* link =
        new QLabel(QString("<a href=\"%1\">%2</a>  %3")
                       .arg(file.toHtmlEscaped(), QFileInfo(file).fileName().toHtmlEscaped(),
                            QFileInfo(file).path().toHtmlEscaped()));
    link->setTextInteractionFlags(Qt::LinksAccessibleByKeyboard | Qt::LinksAccessibleByMouse);
    connect(link, &QLabel::linkActivated, this, &StartPage::openFile);
    all->addWidget(link);
  }
  all->addStretch(1);
}

}  // namespace tcsim::gui
