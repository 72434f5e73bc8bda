#include "gui/study/study_editor.hpp"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSaveFile>
#include <QTextBlock>
#include <QVBoxLayout>

#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/saved/design.hpp"
#include "core/text/safe.hpp"
#include "gui/studio/measuring.hpp"
#include "gui/widgets/theme.hpp"
#include "sweep/findings.hpp"

namespace tcsim::gui {

namespace {

constexpr int checkAfterMs = 300;

QString toQt(const std::string& s) { return QString::fromStdString(s); }

// The line of "FILE:LINE:COLUMN", 0 if there is none.
int lineOf(const std::string& place) {
  const auto parts = toQt(place).split(':');
  return parts.size() < 3 ? 0 : parts[parts.size() - 2].toInt();
}

StudySources sourcesOf(const std::string& place, const std::stop_token& stop) {
  StudySources sources = shipped_sources(place);
  sources.machine = [shipped = sources.machine, stop](const std::string& name) {
    if (name != "host") return shipped(name);
    return host_machine(quickProbe(stop));
  };
  return sources;
}

QString summary(const Study& s) {
  const auto some = [](std::size_t n, const char* what) {
    return QString("%1 %2%3").arg(n).arg(what, n == 1 ? "" : "s");
  };
  return QObject::tr(
             "%1: %2, %3, %4; %5 designs with the machines as they are, %6 points "
             "before constraints")
      .arg(toQt(s.name), some(s.workloads.size(), "workload"), some(s.machines.size(), "machine"),
           some(s.knobs.size(), "knob"))
      .arg(s.design_count())
      .arg(s.point_count());
}

}  // namespace

StudyEditor::StudyEditor(QWidget* parent)
    : QWidget(parent),
      editor_(new QPlainTextEdit),
      verdict_(new QLabel),
      state_(new QLabel),
      folder_(new QLineEdit),
      progress_(new QProgressBar),
      run_(new QPushButton),
      cancel_(new QPushButton(tr("&Cancel"))),
      show_(new QPushButton(tr("Show &results"))),
      checker_(tr("checking"), 0, nullptr) {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(8, 6, 8, 6);
  editor_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  editor_->setAccessibleName(tr("the study's text"));
  editor_->setTabChangesFocus(true);
  editor_->setPlaceholderText(
      tr("Open a study, or make one of the session: Study > New from the session."));
  verdict_->setWordWrap(true);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  all->addWidget(editor_, 1);
  all->addWidget(verdict_);
  all->addWidget(runWidgets());
  rest_.setSingleShot(true);
  rest_.setInterval(checkAfterMs);
  connect(&rest_, &QTimer::timeout, this, &StudyEditor::check);
  connect(editor_, &QPlainTextEdit::textChanged, this, [this] {
    study_.reset();
    rest_.start();
    follow();
  });
  connect(&checker_, &Worker::busyChanged, this, &StudyEditor::stateChanged);
  connect(&job_, &StudyJob::busyChanged, this, &StudyEditor::follow);
  connect(&job_, &StudyJob::failed, this, [this](const QString& why) { tell(why); });
  connect(&job_, &StudyJob::progressed, this, [this](const SweepProgress& p) {
    progress_->setValue(static_cast<int>(1000 * p.share));
    if (p.phase == SweepProgress::Phase::writing) return tell(tr("writing results"));
    QString words = tr("%1 points, %2/s").arg(p.points).arg(p.points_per_second, 0, 'f', 0);
    if (!p.best_design.empty()) words += tr(", best so far: %1").arg(toQt(p.best_design));
    tell(words);
  });
  connect(&job_, &StudyJob::ended, this, [this](const SweepOutcome& o) {
    if (!o.complete) {
      return tell(tr("stopped; %1 points are kept in %2, and Resume goes on from there")
                      .arg(o.points)
                      .arg(folder()));
    }
    tell(o.already ? tr("complete already") : toQt(o.totals.verdict));
    emit finished(folder());
  });
  follow();
}

StudyEditor::~StudyEditor() {
  checker_.disconnect(this);
  job_.disconnect(this);
}

QWidget* StudyEditor::runWidgets() {
  auto* box = new QWidget;
  auto* rows = new QVBoxLayout(box);
  rows->setContentsMargins(0, 0, 0, 0);
  auto* into = new QHBoxLayout;
  auto* name = new QLabel(tr("results &into"));
  name->setBuddy(folder_);
  folder_->setAccessibleName(tr("folder for the results"));
  auto* choose = new QPushButton(tr("Ch&oose..."));
  connect(choose, &QPushButton::clicked, this, [this] {
    const QString chosen = QFileDialog::getExistingDirectory(this, tr("Folder for the results"));
    if (!chosen.isEmpty()) setFolder(chosen);
  });
  connect(folder_, &QLineEdit::textChanged, this, &StudyEditor::follow);
  into->addWidget(name);
  into->addWidget(folder_, 1);
  into->addWidget(choose);
  rows->addLayout(into);
  auto* row = new QHBoxLayout;
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("progress of the sweep"));
  row->addWidget(run_);
  row->addWidget(cancel_);
  row->addWidget(progress_, 1);
  row->addWidget(show_);
  rows->addLayout(row);
  state_->setWordWrap(true);
  state_->setAccessibleName(tr("state of the sweep"));
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  rows->addWidget(state_);
  connect(run_, &QPushButton::clicked, this, &StudyEditor::run);
  connect(cancel_, &QPushButton::clicked, this, &StudyEditor::cancel);
  connect(show_, &QPushButton::clicked, this, [this] { emit showWanted(folder()); });
  return box;
}

bool StudyEditor::open(const QString& file) {
  std::string text;
  try {
    text = read_file(QFile::encodeName(file).toStdString(), "choose the file of a study");
  } catch (const InputError& e) {
    tell(toQt(e.what()));
    return false;
  }
  file_ = file;
  const QFileInfo info(file);
  editor_->setPlainText(toQt(text));
  editor_->document()->setModified(false);
  setFolder(info.absolutePath() + "/" + info.completeBaseName() + "-results");
  tell({});
  check();
  return true;
}

bool StudyEditor::save(const QString& file) {
  QSaveFile out(file);
  const QByteArray bytes = editor_->toPlainText().toUtf8();
  if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit()) {
    tell(tr("%1 cannot be written: %2").arg(file, out.errorString()));
    return false;
  }
  const bool moved = file != file_;
  file_ = file;
  editor_->document()->setModified(false);
  if (moved) {
    const QFileInfo info(file);
    setFolder(info.absolutePath() + "/" + info.completeBaseName() + "-results");
    check();  // names in it are looked for beside it
  }
  emit stateChanged();
  return true;
}

void StudyEditor::setText(const QString& words) {
  file_.clear();
  editor_->setPlainText(words);
  editor_->document()->setModified(true);
  tell({});
  check();
}

QString StudyEditor::text() const { return editor_->toPlainText(); }
bool StudyEditor::isModified() const { return editor_->document()->isModified(); }
bool StudyEditor::isChecking() const { return rest_.isActive() || checker_.isBusy(); }
QString StudyEditor::verdict() const { return verdict_->text(); }
QString StudyEditor::state() const { return state_->text(); }
QString StudyEditor::folder() const { return folder_->text(); }
void StudyEditor::setFolder(const QString& folder) { folder_->setText(folder); }
QString StudyEditor::place() const { return file_.isEmpty() ? "study.toml" : file_; }

QString StudyEditor::command() const {
  std::string line = "tcsim sweep " + shell_word(place().toStdString());
  if (!folder().isEmpty()) line += " --out " + shell_word(folder().toStdString());
  return toQt(line + " --resume");
}

void StudyEditor::check() {
  rest_.stop();
  if (editor_->document()->isEmpty()) return checked(nullptr, {}, 0);
  checker_.start(
      [this, words = editor_->toPlainText(), at = place().toStdString()](
          const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
        std::shared_ptr<const Study> study;
        QString verdict;
        int line = 0;
        try {
          study = std::make_shared<const Study>(
              parse_study(words.toStdString(), at, sourcesOf(at, stop), stop));
          verdict = summary(*study);
        } catch (const Error& e) {
          line = lineOf(e.place());
          verdict = QString::fromUtf8(e.what());
        }
        return [this, words, study, verdict, line] {
          if (words == editor_->toPlainText()) checked(study, verdict, line);
        };
      },
      [this](const QString& why) { checked(nullptr, why, 0); });
}

void StudyEditor::checked(std::shared_ptr<const Study> study, const QString& words, int line) {
  study_ = std::move(study);
  wrongLine_ = line;
  verdict_->setText(words);
  QList<QTextEdit::ExtraSelection> marks;
  if (line > 0) {
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(editor_->document()->findBlockByNumber(line - 1));
    mark.format.setProperty(QTextFormat::FullWidthSelection, true);
    QColor colour = Theme::of(palette()).warning();
    colour.setAlpha(60);
    mark.format.setBackground(colour);
    marks << mark;
  }
  editor_->setExtraSelections(marks);
  QPalette colours = palette();
  if (!study_ && !words.isEmpty()) {
    colours.setColor(QPalette::WindowText, Theme::of(palette()).warning());
  }
  verdict_->setPalette(colours);
  follow();
  if (runWhenChecked_) {
    runWhenChecked_ = false;
    if (study_) launch();
  }
}

void StudyEditor::run() {
  if (isRunning() || !run_->isEnabled()) return;
  if (file_.isEmpty() || (isModified() && !save(file_))) {
    if (file_.isEmpty()) emit fileWanted();
    if (file_.isEmpty() || isModified()) return;
  }
  if (study_ && !isChecking()) return launch();
  runWhenChecked_ = true;
  check();
}

void StudyEditor::launch() {
  progress_->setValue(0);
  tell(tr("begins"));
  job_.run(study_, folder().toStdString());
}

void StudyEditor::follow() {
  const bool running = isRunning();
  const bool begun = QFileInfo::exists(folder() + "/store.sqlite");
  run_->setText(begun ? tr("Res&ume the sweep") : tr("R&un the sweep"));
  // A text without a file asks for one when it is run, and has its folder from that.
  const bool placed = file_.isEmpty() || !folder().isEmpty();
  run_->setEnabled(!running && (study_ != nullptr || isChecking()) && placed);
  run_->setToolTip(placed ? QString() : tr("Name a folder for the results first"));
  folder_->setPlaceholderText(file_.isEmpty() ? tr("beside the study's file, once it is saved")
                                              : tr("name a folder for the results"));
  cancel_->setEnabled(running);
  progress_->setVisible(running);
  show_->setEnabled(!running && QFileInfo::exists(folder() + "/results.sqlite"));
  editor_->setReadOnly(running);
  folder_->setReadOnly(running);
  emit stateChanged();
}

void StudyEditor::tell(const QString& words) {
  state_->setText(words);
  state_->setVisible(!words.isEmpty());
}

}  // namespace tcsim::gui
