#include "gui/window/inputs.hpp"

#include <fmt/format.h>

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QVBoxLayout>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/explore/knob.hpp"
#include "core/study/worth.hpp"
#include "core/units/text.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/suite.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/knob_row.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/machine_choice.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

constexpr int nameRole = Qt::UserRole;
constexpr const char* fileWanted = "...";

void addWorkloads(QComboBox& box) {
  for (const std::string& name : shipped_suites()) {
    for (const Contraction& c : find_suite(name).workloads) {
      box.addItem(text(c.name() + "  " + c.label()), text(c.name()));
      box.setItemData(box.count() - 1, text(c.sizes()), Qt::ToolTipRole);
    }
  }
  const QStringList recent = QSettings().value("recentWorkloads").toStringList();
  if (!recent.isEmpty()) box.insertSeparator(box.count());
  for (const QString& r : recent) box.addItem(r, r);
}

void rememberWorkload(const QString& name) {
  constexpr int kept = 8;
  QSettings settings;
  QStringList all = settings.value("recentWorkloads").toStringList();
  all.removeAll(name);
  all.prepend(name);
  settings.setValue("recentWorkloads", all.mid(0, kept));
}

// Of the label's indices: those that `known` has, and something to begin with for each other one.
std::string sizesFor(const std::string& label, const Sizes& known) {
  constexpr std::int64_t first = 64;
  Sizes sizes;
  for (const char c : label) {
    if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) continue;
    const auto found = known.find(c);
    sizes.emplace(c, found == known.end() ? first : found->second);
  }
  std::string text;
  for (const auto& [index, size] : sizes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", index, size);
  }
  return text;
}

// Of a convolution by its name, or of the dimensions in a statement's brackets.
std::string usualSizes(const std::string& name) {
  if (name == "conv1d") return "k=64,c=64,x=56,s=3";
  if (name == "conv2d") return "k=64,c=64,y=56,x=56,r=3,s=3";
  if (name == "conv3d") return "k=64,c=64,z=28,y=28,x=28,t=3,r=3,s=3";
  std::string dims;
  bool inside = false;
  for (const char c : name) {
    if (c == '[' || c == ']') inside = c == '[';
    if (inside) dims += c;
  }
  return sizesFor(dims, {});
}

Sizes readable(const std::string& sizes) {
  try {
    return parse_sizes(sizes);
  } catch (const UsageError&) {
    return {};
  }
}

// How many times the file's value an override is, in whichever unit it is written.
double factorOf(const Machine& base, const Knob& knob, const std::string& value) {
  try {
    KnobUnit unit = knob.unit;
    const double number = parse_value(knob, value, unit);
    return number / find_knob(base, knob.name, unit).base;
  } catch (const UsageError&) {
    return 1;
  }
}

QString levelTitle(const Level& level) {
  const QString name = text(level.name);
  if (level.kind != LevelKind::cache) return name;
  return level.shared_by > 1 ? Inputs::tr("%1, shared by %2 cores").arg(name).arg(level.shared_by)
                             : name;
}

QString fieldLabel(const std::string& knob) {
  return text(std::string(label_of(std::string_view(knob).substr(knob.find('.') + 1))));
}

}  // namespace

Inputs::Inputs(Studio& studio, QWidget* parent)
    : QWidget(parent),
      studio_(studio),
      workload_(new QComboBox),
      layoutOf_(new QComboBox),
      type_(new QComboBox),
      machine_(new QComboBox),
      accounting_(new QComboBox),
      mode_(new QComboBox),
      cost_(new QComboBox),
      sizes_(new QLineEdit),
      labelRow_(new QWidget),
      sizesName_(new QLabel(tr("si&zes"))),
      problem_(new QLabel) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* page = new QWidget;
  auto* all = new QVBoxLayout(page);
  all->setContentsMargins(8, 8, 8, 4);
  all->setSpacing(6);
  auto* form = new QFormLayout;
  form->setContentsMargins(0, 0, 0, 0);
  form->setVerticalSpacing(5);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->addRow(tr("&workload"), workload_);
  auto* label = new QGridLayout(labelRow_);
  label->setContentsMargins(0, 0, 0, 0);
  label->addWidget(sizes_, 0, 0, 1, 2);
  label->addWidget(layoutOf_, 1, 0);
  label->addWidget(type_, 1, 1);
  sizesName_->setBuddy(sizes_);
  form->addRow(sizesName_, labelRow_);
  form->addRow(tr("&machine"), machine_);
  form->addRow(tr("&accounting"), accounting_);
  form->addRow(tr("s&chedule"), mode_);
  form->addRow(tr("c&ost"), cost_);
  all->addLayout(form);
  problem_->setWordWrap(true);
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem_->hide();
  all->addWidget(problem_);

  for (QComboBox* box : {workload_, machine_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(22);
  }
  for (QComboBox* box : {accounting_, mode_, cost_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  }
  for (QComboBox* box : {workload_, layoutOf_, type_, machine_, accounting_, mode_, cost_}) {
    keepFromWheel(box);
  }
  workload_->setEditable(true);
  workload_->setInsertPolicy(QComboBox::NoInsert);
  workload_->setMaxVisibleItems(20);
  workload_->setAccessibleName(tr("workload"));
  workload_->setToolTip(
      tr("A suite and number (tccg:29), or a label: output first (abcd-aebf-dfce) or einsum "
         "(aebf,dfce->abcd)"));
  workload_->lineEdit()->setPlaceholderText(tr("tccg:29, or a label"));
  sizes_->setPlaceholderText("a=72,b=72,...");
  sizes_->setAccessibleName(tr("sizes of the label's indices"));
  layoutOf_->addItems({"row-major", "column-major"});
  layoutOf_->setAccessibleName(tr("layout"));
  type_->addItems({"f64", "f32"});
  type_->setAccessibleName(tr("element type"));
  machine_->setAccessibleName(tr("machine"));
  accounting_->setAccessibleName(tr("accounting"));
  accounting_->setObjectName("accounting");
  accounting_->addItem(tr("as the machine says"), "");
  accounting_->addItem(tr("honest"), "honest");
  accounting_->addItem(tr("paper"), "paper");
  accounting_->setItemData(1, tr("Bytes in and out, packing counted, computation limits the rate"),
                           Qt::ToolTipRole);
  accounting_->setItemData(
      2, tr("As the published figures: bytes in only, without packing and without the FMA peak"),
      Qt::ToolTipRole);
  mode_->addItem(tr("the best for each machine"), false);
  mode_->addItem(tr("keep this one"), true);
  mode_->setAccessibleName(tr("schedule"));
  cost_->setAccessibleName(tr("cost model"));
  cost_->setToolTip(tr(
      "What energy and area are reckoned by: what a byte over each link and a multiply-add take, "
      "and how large each level is"));
  cost_->addItem(tr("not asked for"), "");
  try {
    addWorkloads(*workload_);
    addMachines(*machine_);
    for (const std::string& name : shipped_cost_models()) cost_->addItem(text(name), text(name));
    cost_->addItem(tr("open a cost model..."), fileWanted);
  } catch (const std::exception& e) {
    problem_->setText(QString::fromUtf8(e.what()));
    problem_->show();
  }
  workload_->setCurrentIndex(-1);
  machine_->setCurrentIndex(-1);

  knobArea_ = new QWidget;
  knobs_ = new QVBoxLayout(knobArea_);
  knobs_->setContentsMargins(0, 0, 0, 0);
  knobs_->setSpacing(1);
  all->addWidget(knobArea_, 1);
  outer->addWidget(scrolled(page, tr("workload, machine and its figures")));

  connect(workload_, &QComboBox::activated, this, &Inputs::chooseWorkload);
  connect(workload_->lineEdit(), &QLineEdit::editingFinished, this, &Inputs::chooseWorkload);
  connect(sizes_, &QLineEdit::editingFinished, this, &Inputs::chooseWorkload);
  connect(layoutOf_, &QComboBox::activated, this, &Inputs::chooseWorkload);
  connect(type_, &QComboBox::activated, this, &Inputs::chooseWorkload);
  connect(machine_, &QComboBox::activated, this, &Inputs::chooseMachine);
  connect(accounting_, &QComboBox::activated, this, &Inputs::chooseAccounting);
  connect(mode_, &QComboBox::activated, this, &Inputs::chooseMode);
  connect(cost_, &QComboBox::activated, this, &Inputs::chooseCost);
  connect(&studio_, &Studio::sessionChanged, this, &Inputs::follow);
  connect(&studio_, &Studio::verdictChanged, this, &Inputs::showError);
  follow();
}

KnobRow* Inputs::row(const std::string& knob) const {
  const auto found = rows_.find(knob);
  return found == rows_.end() ? nullptr : found->second;
}

QString Inputs::problem() const { return problem_->isHidden() ? QString() : problem_->text(); }

void Inputs::follow() {
  following_ = true;
  refused_.clear();
  const Design& d = studio_.session().design;
  const int at = workload_->findData(text(d.workload.name), nameRole);
  workload_->setCurrentIndex(at);
  if (at < 0) workload_->setEditText(text(d.workload.name));
  const bool sized = needs_sizes(d.workload.name);
  sizesName_->setVisible(sized);
  labelRow_->setVisible(sized);
  layoutOf_->setVisible(is_label(d.workload.name));  // a convolution's sizes and indices say it
  sizes_->setText(text(d.workload.sizes));
  layoutOf_->setCurrentIndex(d.workload.layout == Layout::column_major ? 1 : 0);
  const ElementType usual = is_label(d.workload.name) ? ElementType::f64 : ElementType::f32;
  type_->setCurrentIndex(d.workload.type.value_or(usual) == ElementType::f32 ? 1 : 0);
  if (studio_.hasSession()) {
    showMachine(*machine_, text(d.machine));
  } else {
    machine_->setCurrentIndex(-1);
  }
  accounting_->setCurrentIndex(std::max(0, accounting_->findData(text(d.accounting))));
  mode_->setCurrentIndex(d.schedule.empty() ? 0 : 1);
  showMachine(*cost_, text(d.cost));
  buildKnobs();
  following_ = false;
}

void Inputs::buildKnobs() {
  const Machine* base = studio_.base();
  const Design& d = studio_.session().design;
  if (base == nullptr) {
    knobArea_->setEnabled(false);
    return;
  }
  knobArea_->setEnabled(studio_.hasSession());
  if (builtFor_ != d.machine) {
    builtFor_ = d.machine;
    rows_.clear();
    while (QLayoutItem* item = knobs_->takeAt(0)) {
      delete item->widget();
      delete item;
    }
    std::string owner;
    for (const Knob& k : all_knobs(*base)) {
      const std::string of = k.name.substr(0, k.name.find('.'));
      if (k.name.ends_with(".latency")) continue;  // changes no predicted time
      if (of != owner) {
        owner = of;
        QString title = of == "core" ? tr("core") : tr("all caches");
        for (const Level& l : base->levels) {
          if (l.name == of) title = levelTitle(l);
        }
        auto* heading = new QLabel(title);
        QFont font = heading->font();
        font.setBold(true);
        heading->setFont(font);
        heading->setContentsMargins(0, 5, 0, 0);
        knobs_->addWidget(heading);
      }
      auto* knobRow = new KnobRow(k, fieldLabel(k.name));
      connect(knobRow, &KnobRow::edited, this,
              [this](const std::string& knob, const std::string& value, int gesture) {
                lastEdited_ = knob;
                studio_.setKnob(knob, value, gesture);
              });
      rows_[k.name] = knobRow;
      knobs_->addWidget(knobRow);
    }
    knobs_->addStretch(1);
    std::vector<ValueRow*> rows;
    for (const auto& [name, knobRow] : rows_) rows.push_back(knobRow);
    ValueRow::align(rows);
  }
  // The values that the overrides make, one by one where they do not make a machine together.
  Machine now = *base;
  try {
    Design loose = d;
    loose.accounting.clear();
    now = changed_machine(*base, loose);
  } catch (const std::exception&) {
    for (const auto& [name, knobRow] : rows_) {
      const std::string value = d.value_of(name);
      if (value.empty()) {
        knobRow->show(knobRow->knob().base, false);
      } else {
        knobRow->showWritten(text(value), factorOf(*base, knobRow->knob(), value));
      }
    }
    return;
  }
  for (const auto& [name, knobRow] : rows_) {
    knobRow->show(value_of(now, knobRow->knob()), !d.value_of(name).empty());
  }
}

void Inputs::showError() {
  const QString& error = studio_.error();
  KnobRow* last = row(lastEdited_);
  for (const auto& [name, knobRow] : rows_) knobRow->setError(knobRow == last ? error : QString());
  const QString problem = !refused_.isEmpty() ? refused_ : last == nullptr ? error : QString();
  problem_->setVisible(!problem.isEmpty());
  problem_->setText(problem);
  if (problem.isEmpty()) return;
  QPalette colours;
  colours.setColor(QPalette::WindowText, Theme::of(palette()).warning());
  problem_->setPalette(colours);
}

WorkloadRequest Inputs::requested() const {
  const WorkloadRequest& before = studio_.session().design.workload;
  const QString typed = workload_->currentText().trimmed();
  const int at = workload_->findText(typed);
  WorkloadRequest request;
  request.name = (at >= 0 ? workload_->itemData(at, nameRole).toString() : typed).toStdString();
  // "aebf, dfce -> abcd" is as good as without blanks.
  std::string joined = request.name;
  std::erase_if(joined, [](char c) { return c == ' ' || c == '\t'; });
  if (!needs_sizes(joined)) return request;
  if (!is_label(joined)) return convolution(request, before);
  request.name = joined;
  request.sizes = sizes_->text().trimmed().toStdString();
  if (request.name != before.name || request.sizes.empty()) {
    const Sizes known = readable(request.sizes);
    request.sizes = sizesFor(request.name, known.empty() ? readable(before.sizes) : known);
  }
  if (layoutOf_->currentIndex() == 1) request.layout = Layout::column_major;
  if (type_->currentIndex() == 1) request.type = ElementType::f32;
  return request;
}

// A convolution or a statement that is new has the sizes and the type that are usual.
WorkloadRequest Inputs::convolution(WorkloadRequest request, const WorkloadRequest& before) const {
  if (request.name == before.name) {
    request.sizes = sizes_->text().trimmed().toStdString();
    request.type = type_->currentIndex() == 1 ? ElementType::f32 : ElementType::f64;
  }
  if (request.sizes.empty()) request.sizes = usualSizes(request.name);
  return request;
}

void Inputs::chooseWorkload() {
  if (following_) return;
  Design d = studio_.session().design;
  const WorkloadRequest request = requested();
  if (request.name.empty()) return;
  try {
    refused_.clear();
    if (!(request == d.workload)) find_workload(request);
  } catch (const std::exception& e) {
    refused_ = QString::fromUtf8(e.what());
  }
  showError();
  if (!refused_.isEmpty() || request == d.workload) return;
  const QString name = text(request.name);
  if (workload_->findData(name, nameRole) < 0) rememberWorkload(name);
  d.workload = request;
  d.schedule.clear();  // it is of another workload
  lastEdited_.clear();
  if (studio_.hasSession()) {
    studio_.edit(d, tr("workload %1").arg(name));
  } else {
    Session s;
    s.design = d;
    if (s.design.machine == "host") s.design.machine = "e5-2680v4";
    studio_.open(s);
  }
}

void Inputs::chooseMachine() {
  if (following_) return;
  Design d = studio_.session().design;
  const QString name = chosenMachine(*machine_, this);
  if (name.isEmpty()) return follow();
  if (d.machine == name.toStdString()) return;
  d.machine = name.toStdString();
  d.overrides.clear();
  lastEdited_.clear();
  if (!studio_.hasSession()) d.workload.name = "tccg:29";
  if (studio_.hasSession()) {
    studio_.edit(d, tr("machine %1").arg(name));
  } else {
    Session s;
    s.design = d;
    studio_.open(s);
  }
}

void Inputs::chooseAccounting() {
  if (following_ || !studio_.hasSession()) return;
  Design d = studio_.session().design;
  d.accounting = accounting_->currentData().toString().toStdString();
  lastEdited_.clear();
  studio_.edit(d, tr("accounting %1").arg(accounting_->currentText()));
}

void Inputs::chooseMode() {
  if (following_ || !studio_.hasSession()) return;
  Design d = studio_.session().design;
  const bool keep = mode_->currentData().toBool();
  if (keep == !d.schedule.empty()) return;
  if (keep && !studio_.scene().now) return follow();
  const auto& now = studio_.scene().now;
  d.schedule = keep ? to_line(now->choice.schedule, now->subject.contraction) : std::string();
  lastEdited_.clear();
  studio_.edit(d, keep ? tr("keep the schedule") : tr("the best schedule"));
}

void Inputs::chooseCost() {
  if (following_ || !studio_.hasSession()) return follow();
  QString name = cost_->currentData().toString();
  if (name == fileWanted) {
    name = QFileDialog::getOpenFileName(this, tr("Open a cost model"), {},
                                        tr("Cost models (*.toml);;All files (*)"));
    if (name.isEmpty()) return follow();
  }
  Design d = studio_.session().design;
  d.cost = name.toStdString();
  lastEdited_.clear();
  studio_.edit(d, d.cost.empty() ? tr("no cost model") : tr("cost model %1").arg(name));
}

}  // namespace tcsim::gui
