#include "gui/window/pins_dialog.hpp"

#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/studio/studio.hpp"
#include "gui/widgets/table_model.hpp"

namespace tcsim::gui {

namespace {

constexpr QSize listSize(640, 300);

QString said(const std::string& s) { return QString::fromStdString(s); }

// What of the design is not as the files have it.
QString figuresOf(const Design& d) {
  QStringList all;
  for (const Override& o : d.overrides) all << said(o.knob + " " + o.value);
  if (!d.accounting.empty()) all << said(d.accounting + " accounting");
  if (!d.schedule.empty()) all << QObject::tr("a schedule that is kept");
  return all.join(", ");
}

}  // namespace

PinsDialog::PinsDialog(Studio& studio, QWidget* parent)
    : QDialog(parent), studio_(studio), table_(new QTableWidget(0, 4)), problem_(new QLabel) {
  setWindowTitle(tr("Pinned designs"));
  resize(listSize);
  auto* all = new QVBoxLayout(this);
  table_->setHorizontalHeaderLabels({tr("name"), tr("workload"), tr("machine"), tr("figures")});
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setAccessibleName(tr("pinned designs"));
  table_->setTabKeyNavigation(false);  // Tab leads on
  all->addWidget(table_);
  problem_->setWordWrap(true);
  problem_->setTextFormat(Qt::PlainText);
  problem_->setText(tr("A double click or F2 gives a name."));
  all->addWidget(problem_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  swap_ = buttons->addButton(tr("&Swap with the design"), QDialogButtonBox::ActionRole);
  unpin_ = buttons->addButton(tr("&Unpin"), QDialogButtonBox::ActionRole);
  all->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  const auto withChosen = [this](void (Studio::*act)(std::size_t)) {
    if (const int row = chosen(); row >= 0) (studio_.*act)(static_cast<std::size_t>(row));
  };
  connect(swap_, &QPushButton::clicked, this, [withChosen] { withChosen(&Studio::swapPin); });
  connect(unpin_, &QPushButton::clicked, this, [withChosen] { withChosen(&Studio::unpin); });
  connect(table_, &QTableWidget::itemChanged, this, &PinsDialog::rename);
  connect(table_, &QTableWidget::itemSelectionChanged, this, &PinsDialog::enableButtons);
  connect(&studio_, &Studio::sessionChanged, this, &PinsDialog::follow);
  connect(&studio_, &Studio::verdictChanged, this, &PinsDialog::follow);
  follow();
}

QString PinsDialog::problem() const { return problem_->text(); }

int PinsDialog::chosen() const {
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  return rows.isEmpty() ? -1 : rows.front().row();
}

void PinsDialog::enableButtons() {
  const bool some = chosen() >= 0;
  for (QPushButton* button : {swap_, unpin_}) {
    button->setEnabled(some);
    button->setToolTip(some ? QString() : tr("Choose a pinned design first"));
  }
}

void PinsDialog::follow() {
  following_ = true;
  const int before = chosen();
  const std::vector<Pinned>& pins = studio_.scene().pins;
  table_->setRowCount(static_cast<int>(pins.size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const Pinned& pinned = pins[static_cast<std::size_t>(row)];
    const Design& d = pinned.pin.design;
    const QString figures = pinned.error.empty() ? figuresOf(d) : said(pinned.error);
    const QString cells[] = {said(pinned.pin.name), said(d.workload.name),
                             QFileInfo(said(d.machine)).fileName(), figures};
    for (int column = 0; column < table_->columnCount(); ++column) {
      QTableWidgetItem* item = table_->item(row, column);
      if (item == nullptr) {
        item = new QTableWidgetItem;
        if (column > 0) item->setFlags(item->flags() & ~Qt::ItemIsEditable);
        table_->setItem(row, column, item);
      }
      // What somebody is typing stays where nothing has changed.
      if (item->text() == cells[column]) continue;
      item->setText(cells[column]);
      item->setToolTip(plainToolTip(cells[column]));
      table_->resizeColumnToContents(column);
    }
  }
  if (before < 0 || before >= table_->rowCount()) {
    table_->selectRow(table_->rowCount() - 1);
  }
  following_ = false;
  enableButtons();
}

void PinsDialog::rename(const QTableWidgetItem* item) {
  if (following_ || item->column() != 0) return;
  const QString why = studio_.renamePin(static_cast<std::size_t>(item->row()), item->text());
  problem_->setText(why);
  if (!why.isEmpty()) follow();  // the name that it has
}

}  // namespace tcsim::gui
