#include "gui/window/verdict.hpp"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QRegularExpression>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "core/explore/verdict.hpp"
#include "core/units/text.hpp"
#include "gui/charts/charts.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/table_model.hpp"
#include "gui/widgets/theme.hpp"

namespace tcsim::gui {

namespace {

constexpr int pinLetters = 14, knobLetters = 40;

QString shown(const std::string& s) { return QString::fromStdString(s); }

QTableView* tableOf(TableModel* model, const QString& name) {
  auto* view = new QTableView;
  view->setModel(model);
  view->verticalHeader()->hide();
  view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + 6);
  view->horizontalHeader()->setStretchLastSection(true);
  view->setShowGrid(false);
  view->setTabKeyNavigation(false);  // Tab leads on
  view->setAlternatingRowColors(true);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view->setAccessibleName(name);
  view->setFrameShape(QFrame::NoFrame);
  view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  view->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  return view;
}

QString howSure(const Evaluation& e) {
  if (!e.sure) return QObject::tr("How sure: %1").arg(shown(no_spread_words));
  return QObject::tr("How sure: %1;\n%2")
      .arg(shown(sure_words(e.bottleneck, *e.sure)), shown(time_band_words(*e.sure)));
}

// Each on a line of its own.
QString sentences(const std::string& words) {
  return shown(words).replace(QRegularExpression("\\. (?=[A-Z])"), ".\n");
}

// A palette that is set anew has everything laid out and painted anew.
void colour(QWidget& widget, const QPalette& palette) {
  for (const auto role : {QPalette::WindowText, QPalette::Text}) {
    if (widget.palette().color(role) != palette.color(role)) return widget.setPalette(palette);
  }
}

// Of what is still to be worked out for the design as it is now.
QPalette inkOf(bool current, const Theme& theme) {
  QPalette ink;
  if (current) return ink;
  ink.setColor(QPalette::WindowText, theme.faint());
  ink.setColor(QPalette::Text, theme.faint());
  return ink;
}

// As tall as its rows and as wide as its words, so that only the panel scrolls. Those of the first
// column end in dots where they have more letters than that.
void fit(QTableView& view, int letters) {
  QHeaderView& header = *view.horizontalHeader();
  header.setStretchLastSection(false);
  view.resizeColumnsToContents();
  view.setColumnWidth(
      0, std::min(view.columnWidth(0) + 4, letters * view.fontMetrics().averageCharWidth() + 12));
  view.setMinimumWidth(header.length() + 2);
  header.setStretchLastSection(true);
  const int rows = view.model()->rowCount();
  view.setFixedHeight(view.horizontalHeader()->sizeHint().height() +
                      rows * view.verticalHeader()->defaultSectionSize() + 4);
}

}  // namespace

Verdict::Verdict(Studio& studio, QWidget* parent)
    : QWidget(parent),
      studio_(studio),
      compare_(new TableModel(this)),
      knobs_(new TableModel(this)) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* body = new QWidget;
  outer->addWidget(scrolled(body, tr("verdict and what would help")));
  auto* all = new QVBoxLayout(body);
  all->setContentsMargins(8, 8, 10, 8);
  all->setSpacing(4);

  const auto add = [&](const QString& title) {
    if (!title.isEmpty()) {
      titled_ = new QLabel(title);
      QFont font = titled_->font();
      font.setBold(true);
      titled_->setFont(font);
      titled_->setContentsMargins(0, 8, 0, 0);
      all->addWidget(titled_);
    }
    auto* label = new QLabel;
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFocusPolicy(Qt::ClickFocus);
    all->addWidget(label);
    return label;
  };
  answer_ = add("");
  QFont bold = answer_->font();
  bold.setBold(true);
  answer_->setFont(bold);
  answer_->setAccessibleName(tr("what the knob that was turned changes"));
  answer_->hide();
  headline_ = add("");
  QFont big = headline_->font();
  big.setPointSizeF(big.pointSizeF() * 1.45);
  big.setBold(true);
  headline_->setFont(big);
  headline_->setAccessibleName(tr("verdict"));
  figures_ = add("");
  help_ = add(tr("What would help"));
  helpTitle_ = titled_;
  crossovers_ = add(tr("If packing counted as well"));
  crossoversTitle_ = titled_;
  changes_ = add(tr("Since the last edit"));
  changesTitle_ = titled_;
  compareTitle_ = new QLabel(tr("Pinned designs and this one"));
  compareTitle_->setFont(bold);
  compareTitle_->setContentsMargins(0, 8, 0, 0);
  all->addWidget(compareTitle_);
  compareView_ = tableOf(compare_, tr("pinned designs and this one"));
  all->addWidget(compareView_);
  certificate_ = add(tr("How good the schedule is"));
  certificate_->setObjectName("certificate");
  certificateTitle_ = titled_;
  notes_ = add(tr("Notes"));
  notesTitle_ = titled_;
  knobsTitle_ = new QLabel(tr("Would more help?"));
  knobsTitle_->setFont(bold);
  knobsTitle_->setContentsMargins(0, 8, 0, 0);
  all->addWidget(knobsTitle_);
  knobsView_ = tableOf(knobs_, tr("what twice as much of each knob brings"));
  knobsView_->setToolTip(tr("Click a row to see the curve along that knob"));
  const auto choose = [this](const QModelIndex& at) {
    emit knobChosen(knobs_->index(at.row(), 0).data().toString());
  };
  connect(knobsView_, &QTableView::clicked, this, choose);
  connect(knobsView_, &QTableView::activated, this, choose);
  all->addWidget(knobsView_);
  idle_ = add("");
  all->addStretch(1);
  connect(&studio_, &Studio::verdictChanged, this, &Verdict::follow);
  connect(&studio_, &Studio::sessionChanged, this, &Verdict::markCurrency);
  follow();
}

void Verdict::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && knobsView_ != nullptr) follow();
}

QString Verdict::answer() const { return answer_->isHidden() ? QString() : answer_->text(); }
QString Verdict::headline() const { return headline_->text(); }
QString Verdict::words() const { return help_->text(); }

void Verdict::markCurrency() {
  const Scene& scene = studio_.scene();
  const Theme theme = Theme::of(palette());
  const auto mark = [&](std::initializer_list<QWidget*> widgets, bool current) {
    for (QWidget* w : widgets) colour(*w, inkOf(current, theme));
  };
  const bool possible = studio_.error().isEmpty();
  mark({changes_, compareView_, notes_}, possible);
  mark({help_, crossovers_}, scene.help.current);
  mark({knobsView_, idle_}, scene.worth.current);
  mark({certificate_}, possible && scene.now && scene.now->settled &&
                           scene.now->subject.design == studio_.session().design);
}

void Verdict::follow() {
  markCurrency();
  const Scene& scene = studio_.scene();
  QPalette colours;
  const Theme theme = Theme::of(palette());
  if (!studio_.error().isEmpty()) {
    headline_->setText(tr("This cannot be judged"));
    figures_->setText(studio_.error());
    colours.setColor(QPalette::WindowText, theme.warning());
  } else if (!scene.now) {
    headline_->setText(!studio_.hasSession()       ? tr("Nothing yet")
                       : studio_.base() == nullptr ? tr("Measuring this machine...")
                                                   : tr("Choosing a schedule..."));
    figures_->setText(studio_.hasSession() ? QString() : tr("Choose a workload and a machine."));
  } else {
    const Evaluation& e = *scene.now;
    headline_->setText(shown(verdictHeadline(scene)));
    const Subject& s = e.subject;
    figures_->setText(
        tr("%1, %2 GFLOPS. %3.")
            .arg(shown(to_display(e.time())))
            .arg(e.gflops(), 0, 'f', 1)
            .arg(shown(rate_words(s.machine, e.prediction(), size_of(s.contraction.type())))) +
        "\n" + howSure(e));
  }
  colour(*headline_, colours);

  const Late<Helped>& help = scene.help;
  help_->setText(help                  ? sentences(help->advice.words)
                 : !help.error.empty() ? shown(help.error)
                 : scene.now           ? tr("being worked out...")
                                       : QString());
  const std::string& answer = studio_.answer();
  answer_->setText(shown(answer));
  answer_->setVisible(!answer.empty() && studio_.error().isEmpty());
  QString variants;
  if (help && help->advice.next && !help->advice.next->packing.empty()) {
    variants =
        tr("This accounting leaves out what it takes to copy A and B into packed buffers. The "
           "bottleneck "
           "moves at the first of these; with the copies it would at the others:");
    for (const PackingVariant& v : help->advice.next->packing) {
      variants += "\n" + shown(change_words(v.factor) + "  " + v.counted);
    }
  }
  crossovers_->setText(variants);
  crossovers_->setVisible(!variants.isEmpty());
  crossoversTitle_->setVisible(!variants.isEmpty());

  QStringList changes;
  for (const std::string& c : studio_.changes()) changes << shown(c);
  changes_->setText(changes.join("\n"));
  changes_->setVisible(!changes.isEmpty());
  changesTitle_->setVisible(!changes.isEmpty());

  const bool pinned =
      std::ranges::any_of(scene.pins, [](const Pinned& p) { return p.evaluation != nullptr; });
  if (pinned) compare_->show(compareTable(scene));
  compareView_->setVisible(pinned);
  compareTitle_->setVisible(pinned);
  if (pinned) fit(*compareView_, pinLetters);

  QString certificate;
  if (scene.now) {
    if (const auto& c = scene.now->certificate) {
      certificate = tr("%1 achieved; %2 is quicker than %3: gap %4 %.%5")
                        .arg(shown(to_display(Seconds(c->achieved))), shown(c->bound_words()),
                             shown(to_display(Seconds(c->relaxed_bound))))
                        .arg(100 * c->gap, 0, 'f', 2)
                        .arg(scene.now->settled ? QString() : tr(" (still searching)"));
      if (!c->any_schedule()) {
        certificate += " " + tr("No schedule at all is quicker than %1: gap %2 %.")
                                 .arg(shown(to_display(Seconds(c->any_bound))))
                                 .arg(100 * c->any_gap(), 0, 'f', 2);
      }
    } else if (scene.now->settled) {
      certificate = tr("This schedule is kept; it was not searched for on this machine.");
      if (const std::string& why = scene.now->notCertified; !why.empty()) {
        certificate += " " + tr("It is not certified: %1.").arg(shown(why));
      }
    } else {
      certificate = tr("being searched for...");
    }
  }
  certificate_->setText(certificate);
  QStringList notes;
  if (scene.now) {
    for (const std::string& n : scene.now->subject.notes) notes << shown(n);
    if (scene.run && scene.run.current) {
      notes << tr("Run on this machine: %1, %2 GFLOPS, check %3")
                   .arg(shown(to_display(scene.run->result.timed.median)))
                   .arg(scene.run->result.rate.value() / 1e9, 0, 'f', 1)
                   .arg(scene.run->result.check.ok() ? tr("passed") : tr("FAILED"));
      const std::string others = disturbance(scene.run->result.timed, scene.run->result.threads);
      if (!others.empty()) notes << shown(others);
    }
  }
  notes_->setText(notes.join("\n"));
  notes_->setVisible(!notes.isEmpty());
  notesTitle_->setVisible(!notes.isEmpty());
  if (scene.worth.value != knobsOf_ || !scene.worth) {
    knobsOf_ = scene.worth.value;
    knobs_->show(worthTable(scene));
    fit(*knobsView_, knobLetters);
    const QString idle = shown(idleKnobs(scene));
    idle_->setText(!scene.worth.error.empty() ? shown(scene.worth.error)
                   : !scene.worth             ? tr("being worked out...")
                   : idle.isEmpty()           ? tr("Twice as much of each knob brings something.")
                                              : tr("Nothing: twice %1.").arg(idle));
  }
  const bool some = scene.now != nullptr;
  for (QWidget* w : {static_cast<QWidget*>(helpTitle_), static_cast<QWidget*>(certificateTitle_),
                     static_cast<QWidget*>(knobsTitle_), static_cast<QWidget*>(idle_)}) {
    w->setVisible(some);
  }
  knobsView_->setVisible(some && knobs_->rowCount() > 0);
}

}  // namespace tcsim::gui
