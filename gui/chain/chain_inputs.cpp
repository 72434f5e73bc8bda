#include "gui/chain/chain_inputs.hpp"

#include <fmt/format.h>

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/units/text.hpp"
#include "gui/chain/amount_row.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/widgets/knob_row.hpp"
#include "gui/widgets/machine_choice.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

namespace {

constexpr int askAfterMs = 500;
constexpr int chainLines = 3;
// Where sliders end: bytes a second and seconds.
constexpr double slowestDisk = 1e7, fastestDisk = 1e11;
constexpr double shortestTransfer = 1e-6, longestTransfer = 0.1;

AmountText memoryText() {
  return {[](double v) { return to_binary_display(Bytes(static_cast<std::int64_t>(v))); },
          [](double v) { return to_text(shortMemory(v)); },
          [](const std::string& s) { return static_cast<double>(parse_bytes(s).value()); }};
}

AmountText rateText() {
  const auto write = [](double v, const char* blank) {
    return v < 1e9 ? fmt::format("{:.4g}{}MB/s", v / 1e6, blank)
                   : fmt::format("{:.4g}{}GB/s", v / 1e9, blank);
  };
  return {[write](double v) { return write(v, " "); },
          [](double v) {
            return v < 1e9 ? fmt::format("{:.3g}MB/s", v / 1e6)
                           : fmt::format("{:.3g}GB/s", v / 1e9);
          },
          [](const std::string& s) { return parse_bandwidth(s).value; }};
}

AmountText timeText() {
  return {[](double v) { return to_display(Seconds(v)); },
          [](double v) {
            return v < 1e-3 ? fmt::format("{:.3g}us", v * 1e6) : fmt::format("{:.3g}ms", v * 1e3);
          },
          [](const std::string& s) { return parse_seconds(s).value(); }};
}

}  // namespace

ChainInputs::ChainInputs(ChainPlanner& planner, QWidget* parent)
    : QWidget(parent),
      planner_(planner),
      chain_(new QPlainTextEdit),
      suitesButton_(new QPushButton(tr("&Suites"))),
      suites_(new QMenu(this)),
      sizes_(new QLineEdit),
      order_(new QLineEdit),
      knobs_(new QLineEdit),
      type_(new QComboBox),
      machine_(new QComboBox),
      form_(new QFormLayout),
      problem_(new QLabel),
      tilesAlone_(new QCheckBox(tr("for ti&les alone"))),
      overlap_(new QCheckBox(tr("overlap transfers and &arithmetic"))) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(8, 8, 8, 4);
  all->setSpacing(6);
  all->addWidget(chainWidgets());
  auto* below = new QFormLayout;
  for (QFormLayout* form : {form_, below}) {
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(5);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  }
  form_->addRow(tr("si&zes"), sizes_);
  form_->addRow(tr("o&rder"), order_);
  below->addRow(tr("&machine"), machine_);
  below->addRow(tr("&knobs"), knobs_);
  below->addRow(tr("&type"), type_);
  all->addLayout(form_);
  makeRows();
  all->addWidget(memory_);
  all->addWidget(tilesAlone_);
  all->addLayout(below);
  for (AmountRow* row : {read_, write_, transfer_}) all->addWidget(row);
  levelRows_ = new QVBoxLayout;
  levelRows_->setSpacing(6);
  all->addLayout(levelRows_);
  all->addWidget(overlap_);
  all->addStretch(1);

  sizes_->setPlaceholderText("a=72,b=72,...");
  sizes_->setAccessibleName(tr("sizes of the chain's indices"));
  order_->setPlaceholderText(tr("the least multiply-adds"));
  order_->setAccessibleName(tr("order of a product"));
  order_->setToolTip(tr("Of a product of many factors: ((A B) (C D))"));
  type_->setAccessibleName(tr("element type"));
  type_->addItem(tr("as the chain says"), "");
  type_->addItem("f64", "f64");
  type_->addItem("f32", "f32");
  type_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  machine_->setAccessibleName(tr("machine"));
  machine_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  machine_->setMinimumContentsLength(16);
  knobs_->setPlaceholderText("L3.capacity=2x, ...");
  knobs_->setAccessibleName(tr("knobs of the machine"));
  knobs_->setToolTip(tr("What is different of the machine, as tcsim takes it with --set"));
  tilesAlone_->setToolTip(tr("What packed operands, tables and files take is not limited"));
  overlap_->setToolTip(
      tr("Read ahead and write behind: tiles that come from disk or go there take twice the "
         "memory"));
  for (QComboBox* box : {type_, machine_}) keepFromWheel(box);
  try {
    addMachines(*machine_);
  } catch (const std::exception& e) {
    problem_->setText(QString::fromUtf8(e.what()));
    problem_->show();
  }

  rest_.setSingleShot(true);
  rest_.setInterval(askAfterMs);
  connect(&rest_, &QTimer::timeout, this, &ChainInputs::typed);
  connect(chain_, &QPlainTextEdit::textChanged, this, [this] {
    if (!following_) rest_.start();
  });
  connect(sizes_, &QLineEdit::editingFinished, this, &ChainInputs::ask);
  connect(order_, &QLineEdit::editingFinished, this, &ChainInputs::ask);
  connect(type_, &QComboBox::activated, this, &ChainInputs::ask);
  connect(machine_, &QComboBox::activated, this, [this] {
    const QString name = chosenMachine(*machine_, this);
    showMachine(*machine_, name.isEmpty() ? QString::fromStdString(shown_.machine) : name);
    ask();
  });
  connect(knobs_, &QLineEdit::editingFinished, this, &ChainInputs::ask);
  for (QCheckBox* box : {tilesAlone_, overlap_}) {
    connect(box, &QCheckBox::toggled, this, &ChainInputs::ask);
  }
  connect(suites_, &QMenu::aboutToShow, this, &ChainInputs::fillSuites);
  connect(&planner_, &ChainPlanner::sceneChanged, this, &ChainInputs::follow);
  follow();
}

QWidget* ChainInputs::chainWidgets() {
  auto* box = new QWidget;
  auto* rows = new QVBoxLayout(box);
  rows->setContentsMargins(0, 0, 0, 0);
  auto* head = new QHBoxLayout;
  auto* name = new QLabel(tr("&chain"));
  name->setBuddy(chain_);
  head->addWidget(name, 1);
  head->addWidget(suitesButton_);
  rows->addLayout(head);
  chain_->setAccessibleName(tr("chain"));
  chain_->setToolTip(
      tr("A suite and number (fourindex:2), statements, one a line or with ; between them, einsum "
         "of many operands (ap,pq,bq->ab), or the file of a program"));
  chain_->setPlaceholderText(
      tr("fourindex:2, einsum, or statements:\nT[a,q] += C[a,p] * A[p,q]\n"
         "B[a,b] += T[a,q] * D[b,q]"));
  chain_->setTabChangesFocus(true);
  chain_->setFixedHeight(chainLines * chain_->fontMetrics().lineSpacing() + 14);
  rows->addWidget(chain_);
  suitesButton_->setMenu(suites_);
  suitesButton_->setAccessibleName(tr("chains of the suites"));
  problem_->setWordWrap(true);
  problem_->setAccessibleName(tr("what is wrong"));
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem_->hide();
  rows->addWidget(problem_);
  return box;
}

void ChainInputs::makeRows() {
  memory_ = new AmountRow(memoryText(), tr("mem&ory"), tr("memory of a run"),
                          tr("What a run may take: tiles, packed operands, tables and files, up to "
                             "where all tensors fit"),
                          false);
  read_ = new AmountRow(rateText(), tr("disk read"), tr("rate of reading the disk"),
                        tr("From 10 MB/s to 100 GB/s"), true);
  write_ = new AmountRow(rateText(), tr("disk write"), tr("rate of writing the disk"),
                         tr("From 10 MB/s to 100 GB/s"), true);
  transfer_ = new AmountRow(timeText(), tr("transfer"), tr("time of a transfer"),
                            tr("What each transfer takes before its first byte"), true);
  ValueRow::align({memory_, read_, write_, transfer_});
  memory_->setRange(0x1p20, 0x1p36);
  for (AmountRow* row : {read_, write_}) row->setRange(slowestDisk, fastestDisk);
  transfer_->setRange(shortestTransfer, longestTransfer);
  connect(memory_, &AmountRow::edited, this, [this](const std::string& words) {
    shown_.memory = parse_bytes(words);
    ask();
  });
  const auto follows = [this](AmountRow* row, std::string ChainDesign::*value) {
    connect(row, &AmountRow::edited, this, [this, value](const std::string& words) {
      shown_.*value = words;
      ask();
    });
  };
  follows(read_, &ChainDesign::diskRead);
  follows(write_, &ChainDesign::diskWrite);
  follows(transfer_, &ChainDesign::diskTransfer);
}

void ChainInputs::fillSuites() {
  suites_->clear();
  const auto add = [this](QMenu* menu, const QString& chain, const QString& words) {
    connect(menu->addAction(words), &QAction::triggered, this, [this, chain] { choose(chain); });
  };
  try {
    for (const std::string& suite : shipped_chains()) {
      QMenu* menu = suites_->addMenu(QString::fromStdString(suite));
      for (const fusion::Chain& c : fusion::find_chains({suite, {}, {}, {}})) {
        const QString name = QString::fromStdString(c.program.name());
        double bytes = 0;
        for (const Program::Tensor& t : c.program.tensors()) {
          double one = static_cast<double>(size_of(t.type).value());
          for (const std::int64_t extent : t.extents) one *= static_cast<double>(extent);
          bytes += one;
        }
        const std::string size = to_display(Bytes(static_cast<std::int64_t>(bytes)));
        add(menu, name, tr("%1, tensors of %2").arg(name, QString::fromStdString(size)));
      }
    }
  } catch (const std::exception& e) {
    suites_->addAction(QString::fromUtf8(e.what()))->setEnabled(false);
  }
  suites_->addSeparator();
  connect(suites_->addAction(tr("open a file...")), &QAction::triggered, this,
          &ChainInputs::browse);
}

void ChainInputs::choose(const QString& chain) {
  chain_->setPlainText(chain);
  typed();
}

void ChainInputs::browse() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("Open a chain"), {}, tr("Programs and suites (*.program *.toml);;All files (*)"));
  if (!file.isEmpty()) choose(file);
}

ChainDesign ChainInputs::asked() const {
  ChainDesign d = shown_;
  d.chain = onOneLine(chain_->toPlainText().toStdString());
  const bool sized = needsSizes(d.chain);
  d.sizes = sized ? sizes_->text().trimmed().toStdString() : "";
  d.order = sized ? order_->text().trimmed().toStdString() : "";
  d.type.reset();
  if (type_->currentIndex() > 0) {
    d.type = type_->currentIndex() == 2 ? ElementType::f32 : ElementType::f64;
  }
  d.machine = machine_->currentData().toString().toStdString();
  d.knobs = knobs_->text().trimmed().toStdString();
  d.tilesAlone = tilesAlone_->isChecked();
  d.overlap = overlap_->isChecked();
  return d;
}

void ChainInputs::typed() {
  rest_.stop();
  const std::string chain = onOneLine(chain_->toPlainText().toStdString());
  if (needsSizes(chain)) {
    sizes_->setText(QString::fromStdString(sizesOf(chain, sizes_->text().trimmed().toStdString())));
  }
  ask();
}

void ChainInputs::ask() {
  if (!following_) planner_.ask(asked());
}

QString ChainInputs::problem() const { return problem_->isHidden() ? QString() : problem_->text(); }

void ChainInputs::follow() {
  following_ = true;
  shown_ = planner_.design();
  // What is typed and not asked yet stays.
  if (!rest_.isActive() && onOneLine(chain_->toPlainText().toStdString()) != shown_.chain) {
    chain_->setPlainText(QString::fromStdString(shown_.chain));
  }
  const bool sized = needsSizes(shown_.chain);
  for (QLineEdit* field : {sizes_, order_}) {
    field->setVisible(sized);
    form_->labelForField(field)->setVisible(sized);
  }
  const auto show = [](QLineEdit* field, const std::string& words) {
    if (field->hasFocus() || field->text() == QString::fromStdString(words)) return;
    field->setText(QString::fromStdString(words));
    field->setCursorPosition(0);
  };
  if (sized) show(sizes_, shown_.sizes);
  if (sized) show(order_, shown_.order);
  type_->setCurrentIndex(!shown_.type ? 0 : *shown_.type == ElementType::f32 ? 2 : 1);
  showMachine(*machine_, QString::fromStdString(shown_.machine));
  show(knobs_, shown_.knobs);
  tilesAlone_->setChecked(shown_.tilesAlone);
  overlap_->setChecked(shown_.overlap);
  showRows();
  following_ = false;
}

// A row for each figure of a level; memory and disk are among them then.
void ChainInputs::showLevelKnobs() {
  const bool onLevels = planner_.kind() == ChainKind::onLevels;
  for (QWidget* w :
       std::initializer_list<QWidget*>{memory_, tilesAlone_, read_, write_, transfer_}) {
    w->setVisible(!onLevels);
  }
  const std::string name = onLevels ? shown_.machine : "";
  if (name != std::exchange(levelsOf_, name)) {
    for (KnobRow* row : levelKnobs_) row->deleteLater();
    levelKnobs_.clear();
    std::vector<ValueRow*> rows;
    for (const Knob& knob : planner_.knobs()) {
      auto* row = new KnobRow(knob, QString::fromStdString(knob.name));
      connect(row, &KnobRow::edited, this,
              [this](const std::string& which, const std::string& value, int) {
                const std::string all = withKnobAt(shown_.knobs, which, value);
                shown_.knobs = all;
                knobs_->setText(QString::fromStdString(all));
                ask();
              });
      levelRows_->addWidget(row);
      levelKnobs_.push_back(row);
      rows.push_back(row);
    }
    if (!rows.empty()) ValueRow::align(rows);
  }
  if (!onLevels || planner_.machine() == nullptr) return;
  for (KnobRow* row : levelKnobs_) {
    const std::string value = knobValue(shown_.knobs, row->knob().name);
    if (value.empty()) {
      row->show(row->knob().base, false);
      continue;
    }
    try {
      const Machine set =
          override_knob(*planner_.machine(), row->knob().name + "=" + value).machine;
      row->show(value_of(set, row->knob()), true);
    } catch (const Error&) {
      row->showWritten(QString::fromStdString(value), 1);
    }
  }
}

void ChainInputs::showRows() {
  const ChainSubjectPtr& subject = planner_.subject();
  if (subject && !subject->hierarchy && !memory_->isDown()) {
    memory_->setRange(static_cast<double>(leastShown(*subject).value()),
                      static_cast<double>(mostShown(*subject).value()));
  }
  memory_->show(static_cast<double>(shown_.memory.value()), false);
  const fusion::Costs costs = subject ? subject->limits.costs : fusion::Costs();
  read_->show(costs.read.value(), !shown_.diskRead.empty());
  write_->show(costs.write.value(), !shown_.diskWrite.empty());
  transfer_->show(costs.transfer.value(), !shown_.diskTransfer.empty());
  const QString error = QString::fromStdString(planner_.scene().error);
  showLevelKnobs();
  const bool noRoom =
      subject && !subject->hierarchy && subject->design == shown_ && shown_.memory < subject->least;
  memory_->setError(noRoom ? error : QString());
  bool atRow = noRoom;
  for (KnobRow* row : levelKnobs_) {
    const bool its = planner_.scene().error.starts_with(row->knob().name + ":");
    row->setError(its ? error : QString());
    atRow |= its;
  }
  const QString problem = atRow ? QString() : error;
  problem_->setVisible(!problem.isEmpty());
  problem_->setText(problem);
  QPalette colours;
  colours.setColor(QPalette::WindowText, Theme::of(palette()).warning());
  problem_->setPalette(colours);
}

}  // namespace tcsim::gui
