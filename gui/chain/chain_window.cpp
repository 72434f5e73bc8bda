#include "gui/chain/chain_window.hpp"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QEvent>
#include <QFontDatabase>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPainter>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStyle>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/chain/chain_inputs.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/chain/level_views.hpp"
#include "gui/chain/tree_view.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/widgets/save_file.hpp"
#include "gui/widgets/save_name.hpp"
#include "gui/widgets/table_model.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/wheel.hpp"
#include "gui/window/export.hpp"

namespace tcsim::gui {

namespace {

constexpr QSize usualSize(1280, 820);
// Widths in letters: of the inputs, and from which on tree and curve stand side by side.
constexpr int inputLetters = 56, halvesLetters = 110;
constexpr int leastTreeLines = 16, mostTreeLines = 34, leastScheduleLines = 8;
constexpr int greyAfterMs = 150, barAfterMs = 300;

QString joined(const std::vector<std::string>& sentences) {
  QStringList all;
  for (const std::string& s : sentences) all << QString::fromStdString(s);
  return all.join('\n').replace(" %", QString(QChar::Nbsp) + '%');
}

QLabel* wordsLabel(const QString& name) {
  auto* label = new QLabel;
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setAccessibleName(name);
  label->hide();
  return label;
}

void read(QLabel& label, const QString& words) {
  label.setText(words);
  label.setVisible(!words.isEmpty());
}

}  // namespace

ChainWindow::ChainWindow(QWidget* parent)
    : QMainWindow(parent),
      planner_(new ChainPlanner(this)),
      inputs_(new ChainInputs(*planner_)),
      headline_(wordsLabel(tr("verdict"))),
      words_(wordsLabel(tr("why"))),
      more_(wordsLabel(tr("what more memory would bring"))),
      about_(wordsLabel(tr("chain and disk"))),
      state_(wordsLabel(tr("what these are of"))),
      tree_(new TreeView),
      plot_(new PlotView),
      curve_(new QComboBox),
      across_(new QComboBox),
      reading_(new ReadingLabel),
      schedule_(new QPlainTextEdit),
      tabs_(new QTabWidget),
      halves_(new QSplitter),
      rows_(new TableModel(this)),
      table_(new QTableView),
      linkRows_(new TableModel(this)),
      changeRows_(new TableModel(this)),
      linkTable_(new QTableView),
      changeTable_(new QTableView) {
  auto* both = new QSplitter;
  both->setChildrenCollapsible(false);
  QWidget* left = scrolled(inputs_, tr("chain, machine, memory and disk"));
  both->addWidget(left);
  both->addWidget(scrolled(resultWidgets(), tr("plan")));
  both->setStretchFactor(1, 1);
  setCentralWidget(both);
  makeMenus();
  makeStatus();
  resizeOnScreen(*this, usualSize);
  const int wanted = inputLetters * fontMetrics().averageCharWidth();
  both->setSizes({wanted, std::max(wanted, width() - wanted)});
  soon_.setSingleShot(true);
  soon_.setInterval(greyAfterMs);
  connect(&soon_, &QTimer::timeout, this, &ChainWindow::showScene);
  long_.setSingleShot(true);
  long_.setInterval(barAfterMs);
  connect(&long_, &QTimer::timeout, this, &ChainWindow::showBusy);
  connect(planner_, &ChainPlanner::sceneChanged, this, &ChainWindow::follow);
  connect(planner_, &ChainPlanner::busyChanged, this, &ChainWindow::followBusy);
  showScene();
  followBusy();
}

ChainWindow::~ChainWindow() {
  // What is under way must not find a window half gone.
  planner_->disconnect(this);
  planner_->disconnect(inputs_);
  // A field that loses the focus asks once more.
  delete takeCentralWidget();
}

QWidget* ChainWindow::resultWidgets() {
  auto* page = new QWidget;
  auto* all = new QVBoxLayout(page);
  all->setContentsMargins(8, 8, 10, 6);
  all->setSpacing(4);
  QFont strong = headline_->font();
  strong.setPointSizeF(strong.pointSizeF() * 1.3);
  strong.setBold(true);
  headline_->setFont(strong);
  for (QLabel* label : {state_, headline_, words_, more_, about_}) all->addWidget(label);

  treeArea_ = scrolled(tree_, tr("operation tree"));
  halves_->addWidget(treeArea_);
  auto* chart = new QWidget;
  auto* column = new QVBoxLayout(chart);
  column->setContentsMargins(0, 4, 0, 0);
  auto* bar = new QWidget;
  auto* flow = new FlowLayout(bar);
  auto* name = new QLabel(tr("&upward"));
  name->setBuddy(curve_);
  curve_->addItems({tr("disk time"), tr("bytes moved")});
  curve_->setAccessibleName(tr("curve upward"));
  keepFromWheel(curve_);
  flow->addPair(name, curve_);
  acrossName_ = new QLabel(tr("alon&g"));
  acrossName_->setBuddy(across_);
  across_->setAccessibleName(tr("knob of the curve"));
  keepFromWheel(across_);
  flow->addPair(acrossName_, across_);
  connect(across_, &QComboBox::activated, this,
          [this] { planner_->chooseKnob(across_->currentText().toStdString()); });
  column->addWidget(bar);
  column->addWidget(plot_, 1);
  column->addWidget(reading_);
  connect(curve_, &QComboBox::activated, this, &ChainWindow::showPlot);
  connect(plot_, &PlotView::reading, reading_, &ReadingLabel::read);
  schedule_->setReadOnly(true);
  schedule_->setTabChangesFocus(true);
  schedule_->setLineWrapMode(QPlainTextEdit::NoWrap);
  schedule_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  schedule_->setAccessibleName(tr("schedule"));
  schedule_->setMinimumHeight(leastScheduleLines * schedule_->fontMetrics().lineSpacing());
  tabs_->setDocumentMode(true);
  tabs_->addTab(scrolled(chart, tr("over memory")), tr("Over memory"));
  tabs_->addTab(schedule_, tr("Schedule"));
  const auto addTable = [this](QTableView* table, TableModel* rows, const QString& title) {
    table->setModel(rows);
    table->setAccessibleName(title);
    table->setAlternatingRowColors(true);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setTabKeyNavigation(false);
    table->setWordWrap(false);
    table->verticalHeader()->hide();
    tabs_->addTab(table, title);
  };
  addTable(linkTable_, linkRows_, tr("Links"));
  addTable(changeTable_, changeRows_, tr("What if"));
  halves_->addWidget(tabs_);
  halves_->setChildrenCollapsible(false);
  connect(halves_, &QSplitter::splitterMoved, this, [this] { halvesMoved_ = true; });
  connect(tree_, &TreeView::reading, this,
          [this](const QString& words) { statusBar()->showMessage(words); });
  all->addWidget(halves_, 1);

  table_->setModel(rows_);
  table_->setAccessibleName(tr("programs"));
  table_->setAccessibleDescription(
      tr("The chosen one, all fused, and each statement alone; the tree and the schedule are of "
         "the row"));
  table_->setAlternatingRowColors(true);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setTabKeyNavigation(false);
  table_->setWordWrap(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  table_->installEventFilter(this);
  all->addWidget(table_);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (!now.isValid()) return;
            chosenRow_ = rows_->table().rows[static_cast<std::size_t>(now.row())][0].text;
            showProgram();
          });
  return page;
}

void ChainWindow::makeMenus() {
  using K = QKeySequence;
  const auto act = [this](QMenu* menu, const QString& name, const K& keys, auto&& slot) {
    QAction* action = menu->addAction(name);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, slot);
    return action;
  };
  const auto needs = [this](QAction* action) { needAnswer_.push_back(action); };
  QMenu* file = menuBar()->addMenu(tr("&File"));
  act(file, tr("&Open a chain's file..."), K::Open, [this] { inputs_->browse(); });
  needs(act(file, tr("&Save the schedule..."), K::Save, [this] {
    askSave(tr("Save the schedule"), "schedule.txt", tr("Schedules (*.txt)"),
            &ChainWindow::saveSchedule);
  }));
  needs(act(file, tr("&Export the tree..."), K(tr("Ctrl+E")), [this] {
    askSave(tr("Export the operation tree"), "tree.svg", tr("Pictures (*.svg *.png *.pdf)"),
            &ChainWindow::saveTree);
  }));
  needs(act(file, tr("Export &table..."), K(tr("Ctrl+Shift+E")), [this] {
    askSave(tr("Export the table"), "chain.csv", tr("Tables (*.csv)"), &ChainWindow::saveTable);
  }));
  file->addSeparator();
  act(file, tr("&Close"), K(tr("Ctrl+W")), [this] { close(); });
  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  needs(act(edit, tr("Copy &table"), K(tr("Ctrl+Shift+C")), [this] {
    copy(QString::fromStdString(toTabs(rows_->table())), tr("the table is copied"));
  }));
  needs(act(edit, tr("Copy &schedule"), K(),
            [this] { copy(schedule(), tr("the schedule is copied")); }));
  act(edit, tr("Copy the equivalent tcsim co&mmand"), K(tr("Ctrl+Alt+C")),
      [this] { copy(equivalentCommand(), tr("copied: %1").arg(equivalentCommand())); });
  ofLevels_ = act(edit, tr("Copy the tcsim command of the c&urve"), K(),
                  [this] { copy(curveCommand(), tr("copied: %1").arg(curveCommand())); });
  QMenu* plan = menuBar()->addMenu(tr("&Plan"));
  act(plan, tr("&Cancel"), K(tr("Esc")), [this] { planner_->cancel(); });
}

void ChainWindow::makeStatus() {
  setStatusBar(new StatusLine);
  busyWords_ = new QLabel;
  progress_ = new ShareBar;
  cancel_ = new QToolButton;
  cancel_->setText(tr("Cancel"));
  for (QWidget* w : std::initializer_list<QWidget*>{busyWords_, progress_, cancel_}) {
    statusBar()->addPermanentWidget(w);
  }
  connect(cancel_, &QToolButton::clicked, planner_, &ChainPlanner::cancel);
  connect(&planner_->planning(), &Worker::progressed, progress_, &ShareBar::setShare);
  connect(&planner_->loading(), &Worker::progressed, progress_, &ShareBar::setShare);
}

void ChainWindow::open(const ChainDesign& design) { planner_->ask(design); }

void ChainWindow::follow() {
  const ChainScene& scene = planner_->scene();
  if (scene.current || !scene.answer || !scene.error.empty()) {
    soon_.stop();
    return showScene();
  }
  if (!soon_.isActive() && !stale_) soon_.start();
}

void ChainWindow::followBusy() {
  if (!planner_->isPlanning()) {
    long_.stop();
    showBusy();
  } else if (!long_.isActive() && progress_->isHidden()) {
    long_.start();
  }
}

void ChainWindow::showBusy() {
  const bool planning = planner_->isPlanning();
  progress_->setVisible(planning);
  cancel_->setVisible(planner_->isBusy());
  busyWords_->setText(planner_->loading().isBusy() ? planner_->loading().what()
                      : planning                   ? planner_->planning().what()
                      : planner_->isBusy()         ? tr("other memories")
                                                   : QString());
  if (!planning) progress_->setValue(0);
}

void ChainWindow::showScene() {
  const ChainScene& scene = planner_->scene();
  stale_ = scene.answer && !scene.current;
  const ChainVerdict verdict = chainVerdict(scene);
  read(*headline_, QString::fromStdString(verdict.headline));
  read(*words_, joined(verdict.sentences));
  read(*more_, joined(verdict.more));
  read(*about_, scene.answer ? QString::fromStdString(aboutChain(*scene.answer)) : QString());
  read(*state_, !stale_               ? QString()
                : scene.error.empty() ? tr("These are of the inputs before.")
                                      : tr("What is asked has no answer; these are of the inputs "
                                           "before."));
  for (QAction* action : needAnswer_) action->setEnabled(scene.answer != nullptr);
  const std::string& chain = planner_->design().chain;
  setWindowTitle(chain.empty() ? tr("Chains - tcsim")
                               : tr("%1 - chain - tcsim").arg(QString::fromStdString(chain)));
  rows_->show(scene.answer ? chainTable(*scene.answer) : Table());
  table_->setVisible(scene.answer != nullptr);
  table_->resizeColumnsToContents();
  fitTable();
  const int row = static_cast<int>(program());
  if (scene.answer && table_->currentIndex().row() != row) {
    const std::string wanted = chosenRow_;
    table_->selectRow(row);
    chosenRow_ = wanted;
  }
  followKind();
  showProgram();
  showPlot();
  colour();
}

void ChainWindow::followKind() {
  const ChainScene& scene = planner_->scene();
  const bool onLevels =
      scene.answer ? scene.answer->levels.has_value() : planner_->kind() == ChainKind::onLevels;
  for (QWidget* w : std::initializer_list<QWidget*>{acrossName_, across_}) {
    w->setVisible(onLevels);
  }
  ofLevels_->setEnabled(onLevels);
  tabs_->setTabText(0, onLevels ? tr("Over a knob") : tr("Over memory"));
  for (int tab = 2; tab < tabs_->count(); ++tab) tabs_->setTabVisible(tab, onLevels);
  changeRows_->show(onLevels ? changeTable(scene) : Table());
  changeTable_->resizeColumnsToContents();
  showCurves();
}

void ChainWindow::showCurves() {
  const auto fill = [](QComboBox& box, const QStringList& all, int chosen) {
    QStringList there;
    for (int i = 0; i < box.count(); ++i) there << box.itemText(i);
    if (there != all) {
      box.clear();
      box.addItems(all);
    }
    box.setCurrentIndex(std::clamp(chosen, 0, std::max(0, static_cast<int>(all.size()) - 1)));
  };
  const ChainAnswerPtr& answer = planner_->scene().answer;
  QStringList upward{tr("disk time"), tr("bytes moved")}, along;
  if (answer && answer->levels) {
    upward.clear();
    for (const std::string& name : levelCurves(*answer)) upward << QString::fromStdString(name);
  }
  for (const Knob& knob : planner_->knobs()) along << QString::fromStdString(knob.name);
  fill(*curve_, upward, curve_->currentIndex());
  fill(*across_, along, static_cast<int>(along.indexOf(QString::fromStdString(planner_->knob()))));
}

// As high as its rows, and a scroll bar where it is wider than its place.
void ChainWindow::fitTable() {
  const QHeaderView& header = *table_->horizontalHeader();
  const bool wide = header.length() > table_->width() - 4;
  const int bar = wide ? style()->pixelMetric(QStyle::PM_ScrollBarExtent) : 0;
  table_->setFixedHeight(header.sizeHint().height() + bar + 4 +
                         rows_->rowCount() * table_->verticalHeader()->defaultSectionSize());
}

bool ChainWindow::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_ && event->type() == QEvent::Resize) fitTable();
  return QMainWindow::eventFilter(watched, event);
}

std::size_t ChainWindow::program() const {
  const ChainAnswerPtr& answer = planner_->scene().answer;
  if (!answer) return 0;
  if (answer->levels) {
    const auto& all = answer->levels->programs;
    const auto found = std::ranges::find(all, chosenRow_, &LevelProgram::name);
    return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
  }
  for (std::size_t i = 0; i < answer->programs.size(); ++i) {
    if (answer->programs[i].name == chosenRow_) return i;
  }
  return 0;
}

void ChainWindow::showProgram() {
  ChainTree tree = chainTree(planner_->scene(), program());
  tree.hollow = stale_;
  const QSize before = tree_->minimumSize();
  tree_->show(tree);
  if (tree_->minimumSize() != before) shareHalves();
  const ChainAnswerPtr& answer = planner_->scene().answer;
  const QString words = answer ? QString::fromStdString(scheduleOf(*answer, program())) : QString();
  if (schedule_->toPlainText() != words) schedule_->setPlainText(words);
  linkRows_->show(answer && answer->levels ? linkTable(*answer, program()) : Table());
  linkTable_->resizeColumnsToContents();
}

void ChainWindow::showPlot() {
  const ChainScene& scene = planner_->scene();
  if (scene.answer && scene.answer->levels) {
    Plot plot = levelPlot(scene, static_cast<std::size_t>(std::max(0, curve_->currentIndex())));
    for (Line& line : plot.lines) line.hollow = plot.hollow;
    plot.hollow = plot.hollow && scene.error.empty();
    plot_->show(plot);
    return;
  }
  Plot plot = memoryPlot(planner_->scene(), curve_->currentIndex() == 0 ? MemoryCurve::diskTime
                                                                        : MemoryCurve::bytesMoved);
  // What has no answer is not being computed.
  plot.hollow = stale_ && planner_->scene().error.empty();
  for (Line& line : plot.lines) line.hollow = stale_;
  plot_->show(plot);
}

void ChainWindow::colour() {
  const Theme theme = Theme::of(palette());
  // A palette that is set anew has everything laid out anew.
  const int now = 2 * (stale_ ? 1 : 0) + (theme.dark ? 1 : 0);
  if (std::exchange(coloured_, now) == now) return;
  QPalette ink, warning;
  if (stale_) {
    ink.setColor(QPalette::WindowText, theme.faint());
    ink.setColor(QPalette::Text, theme.faint());
  }
  warning.setColor(QPalette::WindowText, theme.warning());
  for (QWidget* w : std::initializer_list<QWidget*>{headline_, words_, more_, schedule_, table_,
                                                    linkTable_, changeTable_}) {
    w->setPalette(ink);
  }
  QPalette faint;
  faint.setColor(QPalette::WindowText, theme.faint());
  about_->setPalette(faint);
  state_->setPalette(warning);
}

void ChainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colour();
}

void ChainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  placeHalves();
}

// Side by side where there is room for both.
void ChainWindow::placeHalves() {
  const bool wide = width() > (inputLetters + halvesLetters) * fontMetrics().averageCharWidth();
  const Qt::Orientation wanted = wide ? Qt::Horizontal : Qt::Vertical;
  if (halves_->orientation() != wanted) {
    halves_->setOrientation(wanted);
    halvesMoved_ = false;
  }
  shareHalves();
}

// Side by side the tree gets what it needs of the width, the curve the rest, if that is enough for
// it. One above the other both are as high as they are, and the page scrolls.
void ChainWindow::shareHalves() {
  const bool wide = halves_->orientation() == Qt::Horizontal;
  const int line = fontMetrics().height();
  const int frame = style()->pixelMetric(QStyle::PM_ScrollBarExtent) + 4;
  treeArea_->setMinimumHeight(wide
                                  ? leastTreeLines * line
                                  : std::min(tree_->minimumHeight() + frame, mostTreeLines * line));
  tabs_->setMinimumHeight(wide ? 0 : plot_->minimumHeight() + 7 * line);
  if (halvesMoved_ || !wide) return;
  const int all = halves_->width() - halves_->handleWidth();
  constexpr double mostShare = 0.6;
  const int tree = std::min(tree_->minimumWidth() + frame, static_cast<int>(mostShare * all));
  halves_->setSizes({tree, all - tree});
}

QString ChainWindow::verdict() const {
  return QStringList{headline_->text(), words_->text(), more_->text()}.join('\n');
}

QString ChainWindow::schedule() const { return schedule_->toPlainText(); }

QString ChainWindow::equivalentCommand() const {
  if (planner_->design().chain.empty()) return "tcsim list chains";
  return QString::fromStdString(commandLine(planner_->design(), planner_->kind()));
}

QString ChainWindow::curveCommand() const {
  return equivalentCommand() + " --vary " + QString::fromStdString(curveRange(planner_->knob()));
}

void ChainWindow::copy(const QString& text, const QString& said) {
  QApplication::clipboard()->setText(text);
  statusBar()->showMessage(said, 8000);
}

void ChainWindow::saveSchedule(const QString& file) { saveFile(file, schedule().toUtf8()); }

// As large as it is, with words of the size that the window has.
void ChainWindow::saveTree(const QString& file) {
  const QSize size = tree_->laidOut().size.toSize() + QSize(1, 1);
  savePicture(file, size, windowTitle(), [&](QPaintDevice& device) {
    QPainter painter(&device);
    tree_->paintTo(painter, size);
  });
}

void ChainWindow::saveTable(const QString& file) {
  if (!planner_->scene().answer) return;
  saveFile(file, QByteArray::fromStdString(toCsv(chainFileTable(*planner_->scene().answer))));
}

void ChainWindow::askSave(const QString& title, const QString& name, const QString& filter,
                          void (ChainWindow::*save)(const QString&)) {
  const QString file = saveName(this, title, name, filter);
  if (file.isEmpty()) return;
  try {
    (this->*save)(file);
    statusBar()->showMessage(tr("written: %1").arg(file), 6000);
  } catch (const std::exception& e) {
    QMessageBox::warning(this, tr("tcsim"), QString::fromUtf8(e.what()));
  }
}

}  // namespace tcsim::gui
