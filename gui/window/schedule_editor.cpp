#include "gui/window/schedule_editor.hpp"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSplitter>
#include <QTextBlock>
#include <QVBoxLayout>

#include "core/error.hpp"
#include "core/explore/verdict.hpp"
#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/units/text.hpp"
#include "gui/charts/charts.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/schedule_text.hpp"
#include "gui/widgets/theme.hpp"

namespace tcsim::gui {

namespace {

constexpr int restMsOfTyping = 150;
constexpr const char* place = "schedule";

QPlainTextEdit* codeBox(QPlainTextEdit* box, const QString& name, bool readOnly) {
  box->setReadOnly(readOnly);
  box->setTabChangesFocus(true);
  box->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  box->setLineWrapMode(QPlainTextEdit::NoWrap);
  box->setAccessibleName(name);
  return box;
}

QWidget* titled(const QString& title, QPlainTextEdit* box) {
  auto* all = new QWidget;
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  auto* name = new QLabel(title);
  name->setBuddy(box);
  name->setWordWrap(true);
  box->setMinimumWidth(18 * box->fontMetrics().averageCharWidth());
  column->addWidget(name);
  column->addWidget(box, 1);
  return all;
}

// Of "schedule:3:7: what is wrong".
int lineOfFault(const QString& words) {
  static const QRegularExpression at(QString("^%1:(\\d+):").arg(place));
  const auto match = at.match(words);
  return match.hasMatch() ? match.captured(1).toInt() : 0;
}

}  // namespace

ScheduleEditor::ScheduleEditor(Studio& studio, QWidget* parent)
    : QWidget(parent),
      studio_(studio),
      text_(codeBox(new ScheduleText, tr("schedule"), false)),
      best_(codeBox(new QPlainTextEdit, tr("the best schedule, and this one as C"), true)),
      judgement_(new QLabel),
      takeBest_(new QPushButton(tr("Take the best"))) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  auto* both = new QSplitter;
  both->addWidget(titled(tr("This schedule, to edit"), text_));
  both->addWidget(titled(tr("The best, and this one as C"), best_));
  both->setChildrenCollapsible(false);
  all->addWidget(both, 1);
  auto* below = new QHBoxLayout;
  judgement_->setWordWrap(true);
  judgement_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  judgement_->setAccessibleName(tr("what the schedule is worth"));
  takeBest_->setToolTip(tr("Have the best schedule chosen for each machine again"));
  below->addWidget(judgement_, 1);
  below->addWidget(takeBest_);
  all->addLayout(below);
  text_->setToolTip(
      tr("Drag a tile to either side, or Ctrl+Up and Ctrl+Down: larger, smaller. Alt+Up and "
         "Alt+Down move a line past its neighbour."));
  rest_.setSingleShot(true);
  rest_.setInterval(restMsOfTyping);
  connect(&rest_, &QTimer::timeout, this, &ScheduleEditor::judge);
  connect(text_, &QPlainTextEdit::textChanged, this, [this] {
    if (filling_) return;
    if (!typing_) gesture_ = Studio::newGesture();
    typing_ = true;
    typedOn_ = studio_.session().design;
    rest_.start();
  });
  connect(takeBest_, &QPushButton::clicked, this, [this] {
    Design d = studio_.session().design;
    d.schedule.clear();
    typing_ = false;
    rest_.stop();
    studio_.edit(d, tr("the best schedule"));
    refresh();
  });
  // Another schedule, by undo or by another workload, takes the place of what is typed.
  connect(&studio_, &Studio::sessionChanged, this, [this] {
    const Design& d = studio_.session().design;
    if (d.schedule != typedOn_.schedule || !(d.workload == typedOn_.workload)) typing_ = false;
  });
}

QString ScheduleEditor::judgement() const { return judgement_->text(); }

void ScheduleEditor::say(const QString& words, bool wrong) {
  judgement_->setText(words);
  wrong_ = wrong;
  QPalette colours;
  if (wrong) colours.setColor(QPalette::WindowText, Theme::of(palette()).warning());
  judgement_->setPalette(colours);
}

QString ScheduleEditor::comparison() const {
  const Scene& scene = studio_.scene();
  if (!scene.now) return {};
  const Evaluation& e = *scene.now;
  QString words = tr("%1, %2 GFLOPS, limited by %3")
                      .arg(QString::fromStdString(to_display(e.time())))
                      .arg(e.gflops(), 0, 'f', 1)
                      .arg(QString::fromStdString(e.bottleneck));
  if (scene.simulation && scene.simulation.current) {
    // As the simulated time of tcsim report.
    const Machine m = view_of_one_core(e.subject.machine);
    const Seconds compute = kernel_time(e.subject.contraction, e.choice.schedule, m);
    const Timing t = timing(scene.simulation->simulation.traffic, compute, m);
    words += tr(" (simulated line by line %1, limited by %2)")
                 .arg(QString::fromStdString(to_display(t.total)),
                      QString::fromStdString(bottleneck_name(t, m)));
  }
  if (e.subject.design.schedule.empty()) return words + tr(": the best that is found.");
  if (!scene.best || !scene.best.current) return words + tr("; the best is being searched for.");
  const double times = e.time() / scene.best->time();
  if (times < 1 + 1e-6) return words + tr(": as quick as the best that is found.");
  return words + tr("; the best takes %1: this one is %2 slower.")
                     .arg(QString::fromStdString(to_display(scene.best->time())))
                     .arg(times < 2 ? QString("%1 %").arg(100 * (times - 1), 0, 'f', 1)
                                    : QString("%1 times").arg(times, 0, 'g', 3));
}

void ScheduleEditor::refresh() {
  const Scene& scene = studio_.scene();
  takeBest_->setEnabled(studio_.hasSession() && !studio_.session().design.schedule.empty());
  const QString shown = QString::fromStdString(scheduleText(scene));
  if (!typing_ && text_->toPlainText() != shown) {
    filling_ = true;
    text_->setPlainText(shown);
    filling_ = false;
  }
  text_->setReadOnly(!scene.now);
  QString right = QString::fromStdString(scheduleAsC(scene));
  if (scene.best && scene.best.current) {
    const Evaluation& best = *scene.best.value;
    right = QString::fromStdString(to_text(best.choice.schedule, best.subject.contraction)) + "\n" +
            right;
  }
  if (best_->toPlainText() != right) best_->setPlainText(right);
  if (rest_.isActive() || (typing_ && wrong_)) return;
  markLine(0);
  say(comparison(), false);
}

void ScheduleEditor::judge() {
  const EvaluationPtr now = studio_.scene().now;
  if (!now) return;
  const Contraction& c = now->subject.contraction;
  try {
    const Schedule schedule =
        checkedSchedule(text_->toPlainText().toStdString(), now->subject, place);
    Design d = studio_.session().design;
    d.schedule = to_line(schedule, c);
    markLine(0);
    typedOn_ = d;  // its blanks and lines stay as they were typed
    studio_.edit(d, tr("edit the schedule"), gesture_);
    say(comparison(), false);
  } catch (const std::exception& e) {
    const QString words = QString::fromUtf8(e.what());
    markLine(lineOfFault(words));
    say(words, true);
  }
}

void ScheduleEditor::markLine(int line) {
  QList<QTextEdit::ExtraSelection> marks;
  if (line > 0) {
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(text_->document()->findBlockByNumber(line - 1));
    mark.format.setProperty(QTextFormat::FullWidthSelection, true);
    QColor colour = Theme::of(palette()).warning();
    colour.setAlpha(60);
    mark.format.setBackground(colour);
    marks << mark;
  }
  text_->setExtraSelections(marks);
}

}  // namespace tcsim::gui
