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
      compute_(new QComboBox),
      objective_(new QComboBox),
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
  for (int i = 0; i < 2; ++i) addKnob(*form, i);
  // What one of them says, the count follows: both have to be there.
  for (int i = 0; i < 2; ++i) {
    const KnobWidgets& k = knobs_[i];
    connect(k.name, &QComboBox::currentIndexChanged, this, [this, i] {
      const std::string knob = knobs_[i].name->currentData().toString().toStdString();
      if (!knob.empty()) knobs_[i].range->setText(rangeOf(studio_, knob));
      follow();
    });
    connect(k.points, &QSpinBox::valueChanged, this, &StudyDialog::follow);
    const std::string knob = studio.mapKnob(i);
    k.name->setCurrentIndex(k.name->findData(QString::fromStdString(knob)));
    k.range->setText(rangeOf(studio, knob));  // also where it is the first of the list
  }
  for (const Compute c : all_computes) compute_->addItem(to_text(c), static_cast<int>(c));
  compute_->setCurrentText(to_text(Compute::optimize));
  compute_->setToolTip(
      tr("predict: every point by the schedule that is best for the machine as it is; optimize: a "
         "schedule for every point; simulate and run: that, and more"));
  for (const StudyObjective o : {StudyObjective::time, StudyObjective::traffic}) {
    objective_->addItem(to_text(o), static_cast<int>(o));
  }
  keepFromWheel(compute_);
  keepFromWheel(objective_);
  form->addRow(tr("&Compute"), compute_);
  form->addRow(tr("&Least"), objective_);
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
  if (i == 1) k.name->addItem(tr("none"), QString());
  for (const Knob& knob : all_knobs(*studio_.base())) {
    const QString name = QString::fromStdString(knob.name);
    k.name->addItem(name, name);
  }
  const QString label = i == 0 ? tr("first knob") : tr("second knob");
  k.name->setAccessibleName(label);
  k.range->setAccessibleName(tr("range of the %1").arg(label));
  k.range->setToolTip(tr("LOW..HIGH, each absolute (8MiB) or relative to the machine (0.25x)"));
  keepFromWheel(k.name);
  keepFromWheel(k.points);
  k.points->setRange(2, 10000);
  k.points->setValue(17);
  k.points->setSuffix(tr(" points"));
  k.points->setAccessibleName(tr("points of the %1").arg(label));
  auto* row = new QHBoxLayout;
  row->addWidget(k.name);
  row->addWidget(k.range, 1);
  row->addWidget(k.points);
  auto* name = new QLabel(i == 0 ? tr("&First knob") : tr("&Second knob"));
  name->setBuddy(k.name);
  form.addRow(name, row);
}

void StudyDialog::follow() {
  const bool two = !knobs_[1].name->currentData().toString().isEmpty();
  knobs_[1].range->setEnabled(two);
  knobs_[1].points->setEnabled(two);
  count_->setText(tr("%1 designs, and the machine as it is")
                      .arg(knobs_[0].points->value() * (two ? knobs_[1].points->value() : 1)));
}

StudyDraft StudyDialog::draft() const {
  StudyDraft draft;
  draft.name = name_->text().trimmed().isEmpty() ? "study" : name_->text().toStdString();
  draft.design = studio_.session().design;
  // The study may be kept in another folder than the session.
  const QFileInfo machine(QString::fromStdString(draft.design.machine));
  if (machine.isFile()) draft.design.machine = machine.absoluteFilePath().toStdString();
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
