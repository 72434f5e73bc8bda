#include "gui/studio/studio.hpp"

#include <QUndoStack>
#include <utility>

#include "core/error.hpp"
#include "core/explore/difference.hpp"
#include "core/machine/toml.hpp"
#include "gui/scene/currency.hpp"
#include "gui/studio/edit_command.hpp"

namespace tcsim::gui {

namespace {

constexpr int restMs = 60;  // after the last edit, until curve and verdict follow
constexpr int livePatienceMs = 200;
constexpr int patienceMs = 400;          // for what follows at rest
constexpr double followSeconds = 0.010;  // of a frame's 16 ms; the rest is for painting
constexpr int mostCounted = 300;
constexpr const char* kernelsView = "kernels";  // as charts.cpp has it

PredictedDesign judgedOf(const Evaluation& e) {
  return {e.subject.contraction, e.subject.machine, e.choice.schedule, e.prediction()};
}

std::string answerOf(const Evaluation& before, const Evaluation& now, const std::string& knob) {
  try {
    return answer_words(judgedOf(before), judgedOf(now), find_knob(now.subject.base, knob));
  } catch (const UsageError&) {
    return "";  // a field without a slider
  }
}

}  // namespace

Studio::Studio(QObject* parent) : QObject(parent), history_(new QUndoStack(this)) {
  clock_.start();
  live_ = worker(tr("prediction"), livePatienceMs);
  settler_ = worker(tr("choosing a schedule"), patienceMs);
  helper_ = worker(tr("what would help"), patienceMs);
  bestWorker_ = worker(tr("the best schedule"), patienceMs);
  worthWorker_ = worker(tr("what more would bring"), patienceMs);
  curveWorker_ = worker(tr("curve"), patienceMs);
  mapWorker_ = worker(tr("map"), 0);
  boundsWorker_ = worker(tr("bounds"), 0);
  detailWorker_ = worker(tr("simulation"), 0);
  suiteWorker_ = worker(tr("suite"), 0);
  pinWorker_ = worker(tr("pinned designs"), 0);
  job_ = worker(tr("job"), 0);
  // A pin on this machine waits for it to be free.
  connect(job_, &Worker::busyChanged, this, [this](bool busy) {
    if (!busy && !measuring_) judgePins();
  });
  rest_.setSingleShot(true);
  rest_.setInterval(restMs);
  connect(&rest_, &QTimer::timeout, this, &Studio::settle);
}

Studio::~Studio() {
  // Results that are on their way must not find a studio half gone.
  for (Worker* w : everyWorker()) {
    delete w;
  }
}

Worker* Studio::worker(const QString& what, int patience) {
  auto* w = new Worker(what, patience, this);
  connect(w, &Worker::busyChanged, this, &Studio::busyChanged);
  return w;
}

int Studio::newGesture() {
  static int last = 0;
  return ++last;
}

std::vector<Worker*> Studio::everyWorker() const {
  return {live_,      settler_,      helper_,       bestWorker_,  worthWorker_, curveWorker_,
          mapWorker_, boundsWorker_, detailWorker_, suiteWorker_, pinWorker_,   job_};
}

void Studio::open(const Session& session) {
  stopPins();
  for (Worker* w : everyWorker()) {
    w->cancel();
  }
  history_->clear();
  history_->setClean();
  measuring_ = false;
  scene_ = {};
  before_.reset();
  lastGesture_ = 0;
  changes_.clear();
  answer_.clear();
  session_ = {};
  base_.reset();
  apply(session);
}

void Studio::edit(const Design& design, const QString& name, int gesture) {
  if (design == session_.design) return;
  Session after = session_;
  after.design = design;
  step(std::move(after), name, gesture);
}

void Studio::step(Session after, const QString& name, int gesture) {
  goesOn_ = gesture != 0 && gesture == lastGesture_;
  history_->push(new EditCommand([this](const Session& to) { goTo(to); }, session_,
                                 std::move(after), name, gesture));
  goesOn_ = false;
  lastGesture_ = gesture;
}

void Studio::setKnob(const std::string& knob, const std::string& value, int gesture) {
  const QString name =
      value.empty()
          ? tr("reset %1").arg(QString::fromStdString(knob))
          : tr("%1 to %2").arg(QString::fromStdString(knob), QString::fromStdString(value));
  edit(session_.design.with(knob, value), name, gesture);
}

void Studio::setView(const ViewState& view) {
  if (view == session_.view) return;
  if (view.name == kernelsView && session_.view.name != kernelsView) readKernels();
  session_.view = view;
  scene_.view = view;
  markCurrency();
  emit sessionChanged();
  emit sceneChanged();
  explore();
}

std::string Studio::curveKnob() const {
  if (!session_.view.knob.empty() || !scene_.now) return session_.view.knob;
  return naturalKnob(*scene_.now);
}

std::string Studio::mapKnob(int which) const {
  if (which == 0) return curveKnob();
  if (!session_.view.second.empty() && session_.view.second != curveKnob()) {
    return session_.view.second;
  }
  return scene_.now ? secondKnob(*scene_.now, curveKnob()) : "";
}

bool Studio::isBusy() const {
  for (const Worker* w : everyWorker()) {
    if (w->isBusy()) return true;
  }
  return rest_.isActive();
}

// By an edit, by undo or redo. The view stays where it is.
void Studio::goTo(const Session& session) {
  if (!goesOn_ && !(session.design == session_.design)) {
    const bool judged =
        error_.isEmpty() && scene_.now && scene_.now->subject.design == session_.design;
    before_ = judged ? scene_.now : nullptr;
    lastGesture_ = 0;
  }
  Session s = session;
  s.view = session_.view;
  apply(s);
}

void Studio::apply(const Session& session) {
  editedAt_ = clock_.nsecsElapsed();
  const bool otherMachine = session.design.machine != session_.design.machine || !base_;
  const bool otherPins = session.pins != session_.pins;
  session_ = session;
  scene_.view = session.view;
  if (session.view.name == kernelsView && !scene_.kernels && scene_.kernels.error.empty()) {
    readKernels();
  }
  error_.clear();
  if (otherMachine) baseChanged();
  markCurrency();
  emit sessionChanged();
  judge();
  if (otherPins) judgePins();
}

void Studio::baseChanged() {
  base_.reset();
  const std::string& name = session_.design.machine;
  try {
    if (const auto known = machines_.find(name); known != machines_.end()) {
      base_ = known->second;
    } else if (name == hostMachine) {
      measureHost();
    } else {
      base_ = machines_[name] = find_machine(name);
    }
  } catch (const std::exception& e) {
    machines_.erase(name);
    fail(QString::fromUtf8(e.what()));
  }
}

void Studio::readKernels() {
  try {
    scene_.kernels = {std::make_shared<const KernelCatalog>(readKernels_()), true, ""};
  } catch (const std::exception& e) {
    scene_.kernels = {nullptr, false, e.what()};
  }
}

void Studio::markCurrency() {
  scene_.error = error_.toStdString();
  gui::markCurrency(scene_, session_.design, error_.isEmpty(), curveKnob(), mapKnob(1));
}

void Studio::fail(const QString& why) {
  error_ = why;
  rest_.stop();
  markCurrency();
  emit verdictChanged();
  emit sceneChanged();
}

// What is under way for the design before an edit takes the processors from judging this one: a
// drag would wait for it.
void Studio::dropStale() {
  stopPins();
  for (Worker* w :
       {settler_, helper_, bestWorker_, worthWorker_, curveWorker_, mapWorker_, suiteWorker_}) {
    w->cancel();
  }
}

void Studio::judge() {
  if (!hasSession() || !base_) {
    emit verdictChanged();
    return;
  }
  try {
    if (!contraction_ || !(request_ == session_.design.workload)) {
      contraction_ = find_workload(session_.design.workload);
      request_ = session_.design.workload;
      counts_.reset();
    }
    // It remembers every geometry that a slider passed.
    if (!counts_ || ++counted_ > mostCounted) {
      counts_ = std::make_shared<SharedCounts>();
      counted_ = 0;
    }
    auto subject =
        std::make_shared<const Subject>(subjectOf(session_.design, *base_, *contraction_));
    error_.clear();
    dropStale();
    EvaluationPtr before = scene_.now;
    if (before && !(before->subject.design.workload == session_.design.workload)) before.reset();
    live_->start(
        [this, subject, before, counts = counts_, at = editedAt_](
            std::stop_token stop, const Worker::Progress&) -> Worker::Deliver {
          const EvaluationPtr e =
              before ? follow(*subject, *before, *counts, followSeconds, std::move(stop))
                     : evaluate(*subject, std::move(stop));
          return [this, e, at] {
            shownEdit_ = at;
            judged(e);
          };
        },
        [this](const QString& why) { fail(why); });
  } catch (const std::exception& e) {
    fail(QString::fromUtf8(e.what()));
  }
}

void Studio::judged(const EvaluationPtr& e) {
  if (!error_.isEmpty()) return;  // the design has become impossible meanwhile
  scene_.now = e;
  modelMs_ = e->seconds * 1e3;
  changes_.clear();
  answer_.clear();
  if (before_ && before_->settled) {
    changes_ = difference_words(judgedOf(*before_), judgedOf(*e));
    const std::string knob = changed_knob(before_->subject.design, e->subject.design);
    if (!knob.empty()) answer_ = answerOf(*before_, *e, knob);
  }
  markCurrency();
  emit verdictChanged();
  emit sceneChanged();
  if (e->subject.design == session_.design) rest_.start(e->settled && !before_ ? 0 : restMs);
}

void Studio::settle() {
  if (!scene_.now || !error_.isEmpty() || measuring_) return;
  // What is compared is chosen alike.
  if (!scene_.now->settled || (before_ && !before_->settled)) {
    settler_->start(
        [this, now = scene_.now, before = before_](const std::stop_token& stop,
                                                   const Worker::Progress&) -> Worker::Deliver {
          const auto settled = [&](const EvaluationPtr& e) {
            return e && !e->settled ? evaluate(e->subject, stop, e->linkBounds) : e;
          };
          const EvaluationPtr e = settled(now), b = settled(before);
          return [this, e, before, b] {
            if (!(e->subject.design == session_.design) || !error_.isEmpty()) return;
            if (before_ == before) before_ = b;
            judged(e);
          };
        },
        [this](const QString& why) { fail(why); });
    return;
  }
  findBest();
  if (!scene_.help.current) {
    helper_->start(
        [this, now = scene_.now](std::stop_token stop, const Worker::Progress&) -> Worker::Deliver {
          auto helped = std::make_shared<const Helped>(help(*now, std::move(stop)));
          return [this, helped] {
            scene_.help = {helped, false, ""};
            markCurrency();
            emit verdictChanged();
            weigh();
          };
        },
        [this](const QString& why) {
          scene_.help = {nullptr, false, why.toStdString()};
          emit verdictChanged();
        });
  }
  explore();
}

void Studio::findBest() {
  if (session_.design.schedule.empty() || scene_.best.current) return;
  auto subject = std::make_shared<Subject>(scene_.now->subject);
  subject->design.schedule.clear();
  bestWorker_->start(
      [this, subject, bounds = scene_.now->linkBounds](std::stop_token stop,
                                                       const Worker::Progress&) -> Worker::Deliver {
        const EvaluationPtr e = evaluate(*subject, std::move(stop), bounds);
        return [this, e] {
          scene_.best = {e, false, ""};
          markCurrency();
          emit sceneChanged();
        };
      },
      [this](const QString& why) {
        scene_.best = {nullptr, false, why.toStdString()};
      });
}

void Studio::weigh() {
  if (!scene_.now || !scene_.now->settled || scene_.worth.current || !error_.isEmpty()) return;
  worthWorker_->start(
      [this, now = scene_.now](std::stop_token stop, const Worker::Progress&) -> Worker::Deliver {
        auto worths = std::make_shared<const Worths>(worthOf(*now, std::move(stop)));
        return [this, worths] {
          scene_.worth = {worths, false, ""};
          markCurrency();
          emit verdictChanged();
        };
      },
      [this](const QString& why) {
        scene_.worth = {nullptr, false, why.toStdString()};
        emit verdictChanged();
      });
}

void Studio::painted() {
  if (shownEdit_ < 0) return;
  frameMs_ = static_cast<double>(clock_.nsecsElapsed() - shownEdit_) / 1e6;
  shownEdit_ = -1;
  emit frameMeasured();
}

}  // namespace tcsim::gui
