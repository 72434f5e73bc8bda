#include "gui/study/study_dialog.hpp"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include "core/explore/knob.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

namespace {

// "2MiB..256MiB": the range of the views around this machine's value.
QString rangeOf(const Studio& studio, const std::string& knob) {
  try {
    const std::string vary =
        varyText(studio.scene().now->subject, knob, studio.session().view.range);
    return QString::fromStdString(vary.substr(vary.find('=') + 1));
  } catch (const std::exception&) {
    return QStringLiteral("0.25x..4x");
  }
}

}  // namespace

StudyDialog::StudyDialog(const Studio& studio, QWidget* parent)
    : QDialog(parent),
      studio_(studio),
      name_(new QLineEdit),
      workloads_(new QComboBox),
      machines_(new QComboBox),
      compute_(new QComboBox),
      objective_(new QComboBox),
      constraints_(new QLineEdit),
      count_(new QLabel) {
  setWindowTitle(tr("A study of this session"));
  auto* form = new QFormLayout(this);
  const Design& design = studio.session().design;
  auto* about = new QLabel(tr("%1 on %2, with its figures as they are set; these vary:")
                               .arg(QString::fromStdString(design.workload.name),
                                    QFileInfo(QString::fromStdString(design.machine)).fileName()));
  about->setWordWrap(true);
  form->addRow(about);
  name_->setText("study");
  form->addRow(tr("&Name"), name_);
  addScope(*form);
  for (int i = 0; i < mostKnobs; ++i) addKnob(*form, i);
  // What one of them says, the count follows: all have to be there.
  for (int i = 0; i < mostKnobs; ++i) {
    const KnobWidgets& k = knobs_[i];
    connect(k.name, &QComboBox::currentIndexChanged, this, [this, i] {
      const std::string knob = knobs_[i].name->currentData().toString().toStdString();
      if (!knob.empty()) knobs_[i].range->setText(rangeOf(studio_, knob));
      follow();
    });
    connect(k.points, &QSpinBox::valueChanged, this, &StudyDialog::follow);
    if (i > 1) continue;
    const std::string knob = studio.mapKnob(i);
    k.name->setCurrentIndex(k.name->findData(QString::fromStdString(knob)));
    k.range->setText(rangeOf(studio, knob));  // also where it is the first of the list
  }
  for (const Compute c : all_computes) compute_->addItem(to_text(c), static_cast<int>(c));
  compute_->setCurrentText(to_text(Compute::optimize));
  compute_->setToolTip(
      tr("predict: every point by the schedule that is best for the machine as it is; optimize: a "
         "schedule for every point; simulate and run: that, and more"));
  for (const StudyObjective o : all_study_objectives) {
    const bool model = o != StudyObjective::time && o != StudyObjective::traffic;
    if (!model || !design.cost.empty()) objective_->addItem(to_text(o), static_cast<int>(o));
  }
  objective_->setToolTip(design.cost.empty()
                             ? tr("With a cost model in the design there are energy, area and cost")
                             : QString());
  constraints_->setPlaceholderText(tr("none, or such as L2.capacity >= 4 * L1.capacity"));
  constraints_->setToolTip(tr(
      "Designs that a study leaves out: comparisons of figures, with ';' between them; of area and "
      "cost as well where the design has a cost model (area <= 70mm2)"));
  keepFromWheel(compute_);
  keepFromWheel(objective_);
  form->addRow(tr("&Compute"), compute_);
  form->addRow(tr("&Least"), objective_);
  form->addRow(tr("&Where"), constraints_);
  form->addRow(count_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Make the study"));
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  form->addRow(buttons);
  follow();
}

void StudyDialog::addKnob(QFormLayout& form, int i) {
  KnobWidgets& k = knobs_[i];
  k = {new QComboBox, new QLineEdit, new QSpinBox};
  if (i > 0) k.name->addItem(tr("none"), QString());
  for (const Knob& knob : all_knobs(*studio_.base())) {
    const QString name = QString::fromStdString(knob.name);
    k.name->addItem(name, name);
  }
  const QString labels[] = {tr("first knob"), tr("second knob"), tr("third knob"),
                            tr("fourth knob")};
  const QString& label = labels[i];
  k.name->setAccessibleName(label);
  k.range->setAccessibleName(tr("range of the %1").arg(label));
  constexpr int letters = 28;  // "1.52B/cycle..24.32B/cycle"
  k.range->setMinimumWidth(letters * k.range->fontMetrics().averageCharWidth());
  k.range->setToolTip(tr("LOW..HIGH, each absolute (8MiB) or relative to the machine (0.25x)"));
  keepFromWheel(k.name);
  keepFromWheel(k.points);
  k.points->setRange(2, 10000);
  k.points->setValue(i < 2 ? 17 : 5);
  k.points->setSuffix(tr(" points"));
  k.points->setAccessibleName(tr("points of the %1").arg(label));
  auto* row = new QHBoxLayout;
  row->addWidget(k.name);
  row->addWidget(k.range, 1);
  row->addWidget(k.points);
  const QString names[] = {tr("&First knob"), tr("&Second knob"), tr("&Third knob"),
                           tr("F&ourth knob")};
  auto* name = new QLabel(names[i]);
  name->setBuddy(k.name);
  form.addRow(name, row);
}

// The design's workload or all of its suite; its machine, or those of the pins as well.
void StudyDialog::addScope(QFormLayout& form) {
  const Design& design = studio_.session().design;
  workloads_->addItem(QString::fromStdString(design.workload.name), false);
  if (const auto suite = whole_suite(design.workload)) {
    workloads_->addItem(tr("all of %1").arg(QString::fromStdString(suite->name)), true);
  }
  machines_->addItem(QFileInfo(QString::fromStdString(design.machine)).fileName(), false);
  if (const QStringList others = pinnedMachines(); !others.isEmpty()) {
    machines_->addItem(tr("and those of pins: %1").arg(others.join(", ")), true);
  }
  keepFromWheel(workloads_);
  keepFromWheel(machines_);
  form.addRow(tr("W&orkloads"), workloads_);
  form.addRow(tr("M&achines"), machines_);
}

// Beside the design's, each once.
QStringList StudyDialog::pinnedMachines() const {
  QStringList all;
  for (const Pin& pin : studio_.session().pins) {
    const QString name = QString::fromStdString(pin.design.machine);
    if (pin.design.machine != studio_.session().design.machine && !all.contains(name)) all << name;
  }
  return all;
}

void StudyDialog::follow() {
  qint64 designs = 1;
  for (int i = 0; i < mostKnobs; ++i) {
    const KnobWidgets& k = knobs_[i];
    const bool there = !k.name->currentData().toString().isEmpty();
    k.range->setEnabled(there);
    k.points->setEnabled(there);
    if (there) designs *= k.points->value();
  }
  count_->setText(tr("%1 designs, and each machine as it is").arg(designs));
}

StudyDraft StudyDialog::draft() const {
  StudyDraft draft;
  draft.name = name_->text().trimmed().isEmpty() ? "study" : name_->text().toStdString();
  draft.design = studio_.session().design;
  // The study may be kept in another folder than the session.
  const auto fromAnywhere = [](const std::string& name) {
    const QFileInfo file(QString::fromStdString(name));
    return file.isFile() ? file.absoluteFilePath().toStdString() : name;
  };
  draft.design.machine = fromAnywhere(draft.design.machine);
  draft.design.cost = fromAnywhere(draft.design.cost);
  draft.whole_suite = workloads_->currentData().toBool();
  if (machines_->currentData().toBool()) {
    for (const QString& m : pinnedMachines()) {
      draft.machines.push_back(fromAnywhere(m.toStdString()));
    }
  }
  for (const QString& c : constraints_->text().split(';', Qt::SkipEmptyParts)) {
    if (!c.trimmed().isEmpty()) draft.constraints.push_back(c.trimmed().toStdString());
  }
  for (const KnobWidgets& k : knobs_) {
    const QString name = k.name->currentData().toString();
    if (name.isEmpty()) continue;
    draft.knobs.push_back(
        {name.toStdString(), k.range->text().remove(' ').toStdString(), k.points->value()});
  }
  draft.compute = Compute{compute_->currentData().toInt()};
  draft.objective = StudyObjective{objective_->currentData().toInt()};
  return draft;
}

}  // namespace tcsim::gui
