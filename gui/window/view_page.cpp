#include "gui/window/view_page.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/explore/knob.hpp"
#include "gui/charts/zoom.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/boxes_view.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/widgets/table_model.hpp"
#include "gui/widgets/wheel.hpp"
#include "gui/window/schedule_editor.hpp"

namespace tcsim::gui {

ViewPage::ViewPage(const ViewKind& kind, Studio& studio, QWidget* parent)
    : QWidget(parent),
      kind_(kind),
      studio_(studio),
      splitter_(new QSplitter(Qt::Vertical)),
      reading_(new ReadingLabel),
      table_(new TableModel(this)),
      tableView_(new QTableView) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* page = new QWidget;
  auto* all = new QVBoxLayout(page);
  all->setContentsMargins(8, 6, 8, 4);
  all->setSpacing(4);
  auto* help = new QLabel(tr(kind.help));
  help->setWordWrap(true);
  all->addWidget(help);
  if (QWidget* c = controls()) all->addWidget(c);
  all->addWidget(splitter_, 1);
  if (kind.draws == ViewKind::Draws::plot) {
    plot_ = new PlotView;
    splitter_->addWidget(plot_);
    connect(plot_, &PlotView::reading, reading_, &ReadingLabel::read);
    connect(plot_, &PlotView::shownChanged, this, &ViewPage::followPart);
    all->addWidget(reading_);
  } else if (kind.draws == ViewKind::Draws::tiles) {
    boxes_ = new BoxesView;
    splitter_->addWidget(boxes_);
  } else {
    schedule_ = new ScheduleEditor(studio_);
    splitter_->addWidget(schedule_);
  }
  tableView_->setModel(table_);
  tableView_->setAlternatingRowColors(true);
  tableView_->setTabKeyNavigation(false);  // Tab leads on
  tableView_->verticalHeader()->hide();
  tableView_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  tableView_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  tableView_->setAccessibleName(tr("numbers behind %1").arg(tr(kind.title)));
  tableView_->horizontalHeader()->setStretchLastSection(true);
  splitter_->addWidget(tableView_);
  splitter_->setChildrenCollapsible(false);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 1);
  tableView_->hide();
  outer->addWidget(scrolled(page, tr(kind.title)));
}

QWidget* ViewPage::controls() {
  const bool map = std::strcmp(kind_.id, "map") == 0;
  if (map || std::strcmp(kind_.id, "bottleneck") == 0) {
    auto* bar = new QWidget;
    auto* row = new FlowLayout(bar);
    const auto picker = [&](const QString& label, auto choose) {
      auto* box = new QComboBox;
      auto* name = new QLabel(label);
      name->setBuddy(box);
      box->setAccessibleName(label);
      box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
      keepFromWheel(box);
      row->addPair(name, box);
      connect(box, &QComboBox::activated, this, [this, box, choose] {
        ViewState v = studio_.session().view;
        choose(v, box->currentText().toStdString());
        studio_.setView(v);
      });
      return box;
    };
    first_ = picker(map ? tr("across") : tr("knob"),
                    [](ViewState& v, const std::string& k) { v.knob = k; });
    if (map) {
      second_ = picker(tr("upward"), [](ViewState& v, const std::string& k) { v.second = k; });
    }
    range_ = new QLineEdit;
    range_->setAccessibleName(tr("range"));
    range_->setToolTip(
        tr("LOW..HIGH, each absolute (8MiB) or relative to the machine file's value (0.25x)"));
    range_->setFixedWidth(fieldWidth(*range_, range_->font(), "0.0625x..16.00x:99"));
    auto* name = new QLabel(tr("range"));
    name->setBuddy(range_);
    row->addPair(name, range_);
    connect(range_, &QLineEdit::editingFinished, this, [this] {
      ViewState v = studio_.session().view;
      v.range = range_->text().remove(' ').toStdString();
      studio_.setView(v);
    });
    return bar;
  }
  if (std::strcmp(kind_.id, "sets") == 0) return setsControls();
  if (std::strcmp(kind_.id, "timeline") == 0) return timelineControls();
  const bool bounds = std::strcmp(kind_.id, "bounds") == 0;
  if (bounds || std::strcmp(kind_.id, "traffic") == 0) {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    auto* simulate = new QPushButton(bounds ? tr("Simulate LRU caches") : tr("Simulate"));
    simulate->setToolTip(
        bounds ? tr("Count what an LRU cache of each capacity moves, as tcsim bounds --curve does")
               : tr("Count every line of this schedule, as tcsim simulate does"));
    connect(simulate, &QPushButton::clicked, &studio_,
            bounds ? &Studio::simulateBounds : &Studio::simulate);
    auto* run = new QPushButton(tr("Run on this machine"));
    run->setToolTip(tr("Execute and check it, as tcsim run does"));
    connect(run, &QPushButton::clicked, &studio_, &Studio::run);
    row->addWidget(simulate);
    row->addWidget(run);
    row->addStretch(1);
    return bar;
  }
  return nullptr;
}

QWidget* ViewPage::setsControls() {
  auto* bar = new QWidget;
  auto* row = new FlowLayout(bar);
  const auto picker = [&](const QString& label, std::string ViewState::*choice) {
    auto* box = new QComboBox;
    auto* name = new QLabel(label);
    name->setBuddy(box);
    box->setAccessibleName(label);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    keepFromWheel(box);
    row->addPair(name, box);
    connect(box, &QComboBox::activated, this, [this, box, choice] {
      ViewState v = studio_.session().view;
      v.*choice = box->currentData().toString().toStdString();
      studio_.setView(v);
    });
    return box;
  };
  level_ = picker(tr("level"), &ViewState::level);
  show_ = picker(tr("show"), &ViewState::show);
  for (const SetsShow& s : setsShows()) show_->addItem(tr(s.title), QString(s.id));
  tensor_ = picker(tr("tensor"), &ViewState::tensor);
  tensor_->addItem(tr("all"), QString());
  for (const Array& a : printed_arrays) {
    const QString name = QString::fromStdString(to_text(a));
    tensor_->addItem(name, name);
  }
  auto* simulate = new QPushButton(tr("Simulate the sets"));
  simulate->setToolTip(
      tr("Simulate this level access by access on one thread, as tcsim simulate --sets does: one "
         "or two seconds for ten million line touches. Short workloads are simulated without being "
         "asked "
         "for."));
  connect(simulate, &QPushButton::clicked, &studio_, &Studio::simulateInDetail);
  row->addWidget(simulate);
  return bar;
}

QWidget* ViewPage::timelineControls() {
  auto* bar = new QWidget;
  auto* row = new FlowLayout(bar);
  auto* simulate = new QPushButton(tr("Simulate the run"));
  simulate->setToolTip(
      tr("Simulate all caches access by access on one thread, as tcsim simulate --timeline does: "
         "some seconds for ten million line touches. Short workloads are simulated without being "
         "asked for."));
  connect(simulate, &QPushButton::clicked, &studio_, &Studio::simulateInDetail);
  row->addWidget(simulate);
  const auto button = [&](const QString& words, const QString& tip, auto does) {
    auto* b = new QPushButton(words);
    b->setToolTip(tip);
    connect(b, &QPushButton::clicked, this, does);
    row->addWidget(b);
  };
  button(tr("Zoom in"), tr("Ctrl++, or Ctrl and the wheel"), [this] { zoom(1 / zoomStep); });
  button(tr("Zoom out"), tr("Ctrl+-"), [this] { zoom(zoomStep); });
  button(tr("Whole run"), tr("Ctrl+Home, or a double click"), [this] { zoom(HUGE_VAL); });
  // What is shown is simulated again in more frames once the hand rests.
  auto* rest = new QTimer(this);
  rest->setSingleShot(true);
  rest->setInterval(250);
  connect(rest, &QTimer::timeout, this, [this] {
    ViewState v = studio_.session().view;
    v.part = part_;
    studio_.setView(v);
  });
  rest_ = rest;
  return bar;
}

void ViewPage::zoom(double factor) {
  if (plot_ != nullptr) plot_->zoom(factor);
}

void ViewPage::pan(double share) {
  if (plot_ != nullptr) plot_->pan(share);
}

// Whole touches around what is shown.
void ViewPage::followPart(double low, double high) {
  const Scene& scene = studio_.scene();
  if (rest_ == nullptr || !scene.timeline) return;
  const std::int64_t all = scene.timeline->line.touches;
  part_ = {std::clamp<std::int64_t>(std::llround(std::floor(low)), 0, all - 1), all};
  part_.end = std::clamp<std::int64_t>(std::llround(std::ceil(high)), part_.begin + 1, all);
  if (part_.begin == 0 && part_.end == all) part_ = {};
  rest_->start();
}

void ViewPage::followSets() {
  const Scene& scene = studio_.scene();
  if (level_ == nullptr || !scene.now) return;
  const Machine& machine = scene.now->subject.machine;
  QStringList names, shown;
  for (int l = 0; l < machine.cache_count(); ++l) {
    names << QString::fromStdString(machine.level(LevelId{l}).name);
  }
  for (int i = 0; i < level_->count(); ++i) shown << level_->itemText(i);
  if (shown != names) {
    level_->clear();
    for (const QString& name : names) level_->addItem(name, name);
  }
  const ViewState& view = studio_.session().view;
  level_->setCurrentText(QString::fromStdString(cacheNamed(machine, view.level)));
  const SetsShow& show = setsShow(view.show);
  show_->setCurrentIndex(show_->findData(QString(show.id)));
  tensor_->setCurrentIndex(std::max(0, tensor_->findData(QString::fromStdString(view.tensor))));
  tensor_->setEnabled(show.overTime);
  tensor_->setToolTip(show.overTime ? tr("Whose lines are shown")
                                    : tr("Every tensor has a row of its own"));
}

void ViewPage::followKnobs() {
  const Machine* base = studio_.base();
  if (first_ == nullptr || base == nullptr) return;
  QStringList names;
  for (const Knob& k : all_knobs(*base)) {
    if (!k.name.ends_with(".latency")) names << QString::fromStdString(k.name);
  }
  for (int i = 0; i < 2; ++i) {
    QComboBox* box = knob(i);
    if (box == nullptr) continue;
    QStringList shown;
    for (int k = 0; k < box->count(); ++k) shown << box->itemText(k);
    if (shown != names) {
      box->clear();
      box->addItems(names);
    }
    box->setCurrentText(QString::fromStdString(studio_.mapKnob(i)));
  }
  if (range_->hasFocus()) return;
  range_->setText(QString::fromStdString(studio_.session().view.range));
  range_->setCursorPosition(0);  // of a long one its beginning is seen
}

void ViewPage::refresh() {
  followKnobs();
  followSets();
  const Scene& scene = studio_.scene();
  if (plot_ != nullptr) plot_->show(kind_.plot(scene));
  if (boxes_ != nullptr) {
    boxes_->show(tileBoxes(scene));
    if (boxes_->isVisible()) boxes_->repaint();
  }
  if (schedule_ != nullptr) schedule_->refresh();
  if (!tableView_->isHidden()) {
    showTable();
  }
}

void ViewPage::setTableShown(bool shown) {
  tableView_->setVisible(shown);
  if (!shown) return;
  splitter_->setSizes({2 * height() / 3, height() / 3});
  showTable();
}

void ViewPage::showTable() {
  table_->show(kind_.table(studio_.scene()));
  // The last one is stretched, but never shorter than its words.
  QHeaderView& header = *tableView_->horizontalHeader();
  header.setStretchLastSection(false);
  tableView_->resizeColumnsToContents();
  header.setStretchLastSection(header.length() < tableView_->viewport()->width());
}

}  // namespace tcsim::gui
