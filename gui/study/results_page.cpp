#include "gui/study/results_page.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "core/saved/design.hpp"
#include "gui/study/results_model.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

namespace {

QString grouped(std::int64_t n) { return QLocale::c().toString(n).replace(',', ' '); }

}  // namespace

ResultsPage::ResultsPage(QWidget* parent)
    : QWidget(parent),
      model_(new ResultsModel(this)),
      table_(new QTableView),
      plot_(new PlotView),
      about_(new QLabel),
      problem_(new QLabel),
      reading_(new ReadingLabel),
      count_(new QLabel),
      filter_(new QLineEdit),
      x_(new QComboBox),
      y_(new QComboBox),
      openPoint_(new QPushButton(tr("&Open this point in the window"))),
      lister_(tr("table"), 0, nullptr),
      charter_(tr("chart"), 0, nullptr) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(8, 6, 8, 6);
  all->addWidget(headWidgets());
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->addWidget(chartWidgets());
  splitter->addWidget(tableWidgets());
  splitter->setChildrenCollapsible(false);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  all->addWidget(splitter, 1);
  connect(&lister_, &Worker::busyChanged, this, &ResultsPage::busyChanged);
  connect(&charter_, &Worker::busyChanged, this, &ResultsPage::busyChanged);
  connect(model_, &ResultsModel::failed, this, &ResultsPage::tell);
  connect(model_, &ResultsModel::orderWanted, this, [this](const RowOrder& order) {
    order_ = order;
    list();
  });
  tell({});
  showNone(
      tr("There are none open: open the folder of a sweep (Ctrl+Shift+O), or run a study here.")
          .toStdString());
}

ResultsPage::~ResultsPage() {
  // What is under way must not find a page half gone.
  lister_.disconnect(this);
  charter_.disconnect(this);
}

QWidget* ResultsPage::headWidgets() {
  auto* head = new QWidget;
  auto* rows = new QVBoxLayout(head);
  rows->setContentsMargins(0, 0, 0, 0);
  about_->setWordWrap(true);
  about_->setText(tr("No results are open."));
  about_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem_->setWordWrap(true);
  problem_->setAccessibleName(tr("what is wrong"));
  rows->addWidget(about_);
  auto* row = new QHBoxLayout;
  auto* name = new QLabel(tr("&Filter"));
  name->setBuddy(filter_);
  filter_->setAccessibleName(tr("filter"));
  filter_->setPlaceholderText(tr("bottleneck = L3-memory and L3.capacity >= 8MiB"));
  filter_->setToolTip(
      tr("Comparisons of columns with values, with \"and\" between; numbers may have units"));
  filter_->setClearButtonEnabled(true);
  connect(filter_, &QLineEdit::editingFinished, this, [this] {
    if (!filter_->isModified()) return;
    filter_->setModified(false);
    list();
    chart();
  });
  row->addWidget(name);
  row->addWidget(filter_, 1);
  row->addWidget(count_);
  rows->addLayout(row);
  rows->addWidget(problem_);
  return head;
}

QWidget* ResultsPage::chartWidgets() {
  auto* box = new QWidget;
  auto* rows = new QVBoxLayout(box);
  rows->setContentsMargins(0, 0, 0, 0);
  auto* bar = new QWidget;
  auto* row = new FlowLayout(bar);
  const auto picker = [&](QComboBox* axis, const QString& label, const QString& words) {
    auto* name = new QLabel(label);
    name->setBuddy(axis);
    axis->setAccessibleName(words);
    keepFromWheel(axis);
    axis->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    row->addPair(name, axis);
    connect(axis, &QComboBox::activated, this, [this] { chart(); });
  };
  picker(x_, tr("&across"), tr("column across"));
  picker(y_, tr("&upward"), tr("column upward"));
  row->addWidget(openPoint_);
  openPoint_->setToolTip(
      tr("Machine, figures, workload and schedule of the chosen point become "
         "the design; Undo leads back"));
  connect(openPoint_, &QPushButton::clicked, this, &ResultsPage::openChosen);
  rows->addWidget(bar);
  rows->addWidget(plot_, 1);
  rows->addWidget(reading_);
  connect(plot_, &PlotView::reading, reading_, &ReadingLabel::read);
  connect(plot_, &PlotView::picked, this, [this](std::size_t line, std::size_t point) {
    choose(points_.points[drawn_.points[line][point]].key);
  });
  return box;
}

QWidget* ResultsPage::tableWidgets() {
  table_->setModel(model_);
  table_->setAccessibleName(tr("points of the sweep"));
  table_->setAccessibleDescription(
      tr("A row for each design and workload; Return opens it in the window"));
  table_->setAlternatingRowColors(true);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setTabKeyNavigation(false);
  table_->setWordWrap(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  table_->horizontalHeader()->setSortIndicatorClearable(true);
  table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  table_->setSortingEnabled(true);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) choose(model_->key(now.row()));
          });
  connect(table_, &QTableView::activated, this, &ResultsPage::openChosen);
  return table_;
}

bool ResultsPage::isBusy() const { return lister_.isBusy() || charter_.isBusy(); }

QString ResultsPage::problem() const { return problem_->text(); }

void ResultsPage::tell(const QString& problem) {
  problem_->setText(problem);
  problem_->setVisible(!problem.isEmpty());
  openPoint_->setEnabled(chosen_.has_value());
}

void ResultsPage::open(const std::filesystem::path& folder) {
  lister_.cancel();
  charter_.cancel();
  filter_->clear();
  order_ = {};
  chosen_.reset();
  try {
    folder_ = std::make_shared<const ResultFolder>(folder);
  } catch (const std::exception& e) {
    folder_.reset();
    model_->show(nullptr, nullptr);
    points_ = {};
    about_->setText(tr("No results are open."));
    count_->clear();
    showNone(e.what());
    return tell(QString::fromUtf8(e.what()));
  }
  tell({});
  about_->setText(QString("<b>%1</b>, %2 designs, %3 points. %4")
                      .arg(QString::fromStdString(folder_->study()).toHtmlEscaped(),
                           grouped(folder_->designs()), grouped(folder_->points()),
                           QString::fromStdString(folder_->verdict()).toHtmlEscaped()));
  table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  fillAxes();
  list();
  chart();
}

void ResultsPage::fillAxes() {
  QStringList names;
  for (std::size_t c = 0; c < folder_->columns().size(); ++c) {
    if (folder_->is_number(c)) names << QString::fromStdString(folder_->columns()[c]);
  }
  for (QComboBox* axis : {x_, y_}) {
    axis->clear();
    axis->addItems(names);
  }
  const std::string x = folder_->knobs().empty()
                            ? "design"
                            : folder_->columns()[folder_->column(folder_->knobs().front())];
  x_->setCurrentText(QString::fromStdString(x));
  // Of several workloads what is chosen by is their sum.
  const bool several = folder_->points() > folder_->designs();
  y_->setCurrentText(several ? "total_seconds" : "seconds");
}

void ResultsPage::list() {
  if (!folder_) return;
  lister_.start(
      [this, folder = folder_, filter = filter_->text().toStdString(), order = order_](
          const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
        auto rows = std::make_shared<ResultRows>(*folder, filter, order, stop);
        return [this, folder, rows] {
          const bool first = model_->folder() != folder.get();
          model_->show(folder, rows);
          if (first) table_->resizeColumnsToContents();
          tell({});
          count_->setText(rows->size() > ResultsModel::mostListed
                              ? tr("%1 points, of which the first %2 are listed")
                                    .arg(grouped(rows->size()), grouped(ResultsModel::mostListed))
                              : tr("%1 points").arg(grouped(rows->size())));
          if (chosen_) {
            const int row = model_->rowOf(*chosen_);
            if (row >= 0) table_->selectRow(row);
          }
          if (first) emit opened();
        };
      },
      [this](const QString& why) { tell(why); });
}

void ResultsPage::chart() {
  if (!folder_) return;
  charter_.start(
      [this, folder = folder_, filter = filter_->text().toStdString(),
       x = x_->currentText().toStdString(), y = y_->currentText().toStdString()](
          const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
        auto points = std::make_shared<ChartPoints>(chart_points(*folder, filter, x, y, stop));
        return [this, points] {
          points_ = std::move(*points);
          draw();
        };
      },
      [this](const QString& why) { tell(why); });
}

void ResultsPage::showNone(const std::string& why) {
  Plot none;
  none.title = tr("Results of a sweep").toStdString();
  none.missing = why;
  plot_->show(none);
}

void ResultsPage::draw() {
  drawn_ = pointsPlot(*folder_, points_, chosen_);
  plot_->show(drawn_.plot);
}

void ResultsPage::choose(const PointKey& point) {
  if (chosen_ == point || !folder_) return;
  chosen_ = point;
  openPoint_->setEnabled(true);
  if (!charter_.isBusy()) draw();
  const int row = model_->rowOf(point);
  if (row >= 0 && table_->currentIndex().row() != row) table_->selectRow(row);
}

void ResultsPage::openChosen() {
  if (!chosen_ || !folder_) return;
  try {
    const Design design = folder_->design(*chosen_);
    const Row row = folder_->row(*chosen_);
    tell({});
    emit pointOpened(design, *chosen_, row[folder_->column("predicted_seconds")].real);
  } catch (const std::exception& e) {
    tell(QString::fromUtf8(e.what()));
  }
}

}  // namespace tcsim::gui
