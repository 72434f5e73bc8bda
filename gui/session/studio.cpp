#include "gui/session/studio.hpp"

#include <QUndoStack>
#include <utility>

#include "core/explore/difference.hpp"
#include "core/machine/library.hpp"
#include "microbench/host.hpp"

namespace tcsim::gui {

namespace {

constexpr int restMs = 60;  // after the last edit, until curve and verdict follow
constexpr int livePatienceMs = 200;
constexpr int patienceMs = 400;          // for what follows at rest
constexpr double followSeconds = 0.010;  // of a frame's 16 ms; the rest is for painting
constexpr int mostCounted = 300;
const char* const host = "host";

Judged judgedOf(const Evaluation& e) {
  return {e.subject.contraction, e.subject.machine, e.choice.schedule, e.prediction()};
}

bool geometryOnly(const Machine& a, const Machine& b) {
  if (a.levels.size() != b.levels.size()) return false;
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    const Level &x = a.levels[l], &y = b.levels[l];
    if (x.capacity.value != y.capacity.value || x.ways.value != y.ways.value ||
        x.line.value != y.line.value) {
      return false;
    }
  }
  return a.core.cores == b.core.cores;
}

}  // namespace

// From one session to another; the view stays where it is.
class EditCommand : public QUndoCommand {
 public:
  EditCommand(Studio* studio, Session before, Session after, const QString& name, int gesture)
      : QUndoCommand(name),
        studio_(studio),
        before_(std::move(before)),
        after_(std::move(after)),
        gesture_(gesture) {}

  void undo() override { go(before_); }
  void redo() override { go(after_); }
  int id() const override { return 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = dynamic_cast<const EditCommand*>(other);
    if (next == nullptr || gesture_ == 0 || next->gesture_ != gesture_) return false;
    after_ = next->after_;
    setText(next->text());
    return true;
  }

 private:
  void go(const Session& to) {
    Session s = to;
    s.view = studio_->session().view;
    studio_->apply(s);
  }

  Studio* studio_;
  Session before_, after_;
  int gesture_;
};

Studio::Studio(QObject* parent) : QObject(parent), history_(new QUndoStack(this)) {
  clock_.start();
  live_ = worker(tr("prediction"), livePatienceMs);
  settler_ = worker(tr("choosing a schedule"), patienceMs);
  helper_ = worker(tr("what would help"), patienceMs);
  curveWorker_ = worker(tr("curve"), patienceMs);
  mapWorker_ = worker(tr("map"), 0);
  baselineWorker_ = worker(tr("baseline"), 0);
  job_ = worker(tr("job"), 0);
  rest_.setSingleShot(true);
  rest_.setInterval(restMs);
  connect(&rest_, &QTimer::timeout, this, &Studio::settle);
}

Studio::~Studio() {
  // Results that are on their way must not find a studio half gone.
  for (Worker* w : {live_, settler_, helper_, curveWorker_, mapWorker_, baselineWorker_, job_}) {
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

void Studio::open(const Session& session) {
  for (Worker* w : {live_, settler_, helper_, curveWorker_, mapWorker_, baselineWorker_, job_}) {
    w->cancel();
  }
  history_->clear();
  history_->setClean();
  scene_ = {};
  beforeEdit_.reset();
  beforeGesture_ = -1;
  changes_.clear();
  session_ = {};
  base_.reset();
  apply(session);
}

void Studio::edit(const Design& design, const QString& name, int gesture) {
  if (design == session_.design) return;
  Session after = session_;
  after.design = design;
  if ((gesture == 0 || gesture != beforeGesture_) && scene_.now && scene_.now->settled) {
    beforeEdit_ = scene_.now;
  }
  beforeGesture_ = gesture == 0 ? -1 : gesture;
  history_->push(new EditCommand(this, session_, std::move(after), name, gesture));
}

void Studio::setKnob(const std::string& knob, const std::string& value, int gesture) {
  const QString name =
      value.empty()
          ? tr("reset %1").arg(QString::fromStdString(knob))
          : tr("%1 to %2").arg(QString::fromStdString(knob), QString::fromStdString(value));
  edit(session_.design.with(knob, value), name, gesture);
}

void Studio::pinBaseline() {
  Session after = session_;
  after.baseline = session_.design;
  history_->push(new EditCommand(this, session_, std::move(after), tr("pin baseline A"), 0));
}

void Studio::clearBaseline() {
  if (!session_.baseline) return;
  Session after = session_;
  after.baseline.reset();
  history_->push(new EditCommand(this, session_, std::move(after), tr("unpin baseline A"), 0));
}

void Studio::swapBaseline() {
  if (!session_.baseline) return;
  Session after = session_;
  std::swap(after.design, *after.baseline);
  if (scene_.now && scene_.now->settled) beforeEdit_ = scene_.now;
  history_->push(new EditCommand(this, session_, std::move(after), tr("swap with baseline A"), 0));
}

void Studio::setView(const ViewState& view) {
  if (view == session_.view) return;
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
  for (const Worker* w :
       {live_, settler_, helper_, curveWorker_, mapWorker_, baselineWorker_, job_}) {
    if (w->isBusy()) return true;
  }
  return rest_.isActive();
}

void Studio::cancelJob() {
  job_->cancel();
  mapWorker_->cancel();
  emit message(tr("cancelled"));
}

void Studio::apply(const Session& session) {
  editedAt_ = clock_.nsecsElapsed();
  const bool otherMachine = session.design.machine != session_.design.machine || !base_;
  const bool otherBaseline = session.baseline != session_.baseline;
  session_ = session;
  scene_.view = session.view;
  error_.clear();
  if (otherMachine) baseChanged();
  emit sessionChanged();
  judge();
  if (otherBaseline) judgeBaseline();
}

void Studio::baseChanged() {
  base_.reset();
  const std::string& name = session_.design.machine;
  try {
    if (const auto known = machines_.find(name); known != machines_.end()) {
      base_ = known->second;
    } else if (name == host) {
      measureHost();
    } else {
      base_ = machines_[name] = find_machine(name);
    }
  } catch (const std::exception& e) {
    machines_.erase(name);
    fail(QString::fromUtf8(e.what()));
  }
}

void Studio::measureHost() {
  emit message(tr("measuring this machine, a few seconds"));
  job_->start(
      [this](std::stop_token stop, const Worker::Progress& progress) -> Worker::Deliver {
        ProbeOptions probe;
        probe.quick = true;
        probe.stop = std::move(stop);
        probe.progress = [&](const std::string&, double share) { progress(share); };
        const Machine m = host_machine(probe);
        return [this, m] {
          machines_[host] = m;
          if (session_.design.machine != host) return;
          base_ = m;
          error_.clear();
          emit sessionChanged();
          judge();
        };
      },
      [this](const QString& why) { fail(why); });
}

void Studio::fail(const QString& why) {
  error_ = why;
  rest_.stop();
  markCurrency();
  emit verdictChanged();
  emit sceneChanged();
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
      counter_.reset();
    }
    // It remembers every geometry that a slider passed.
    if (!counter_ || ++counted_ > mostCounted) {
      counter_ = std::make_shared<SetCounter>();
      counted_ = 0;
    }
    auto subject =
        std::make_shared<const Subject>(subjectOf(session_.design, *base_, *contraction_));
    error_.clear();
    EvaluationPtr before = scene_.now;
    if (before && !(before->subject.design.workload == session_.design.workload)) before.reset();
    live_->start(
        [this, subject, before, counter = counter_, at = editedAt_](
            std::stop_token stop, const Worker::Progress&) -> Worker::Deliver {
          const EvaluationPtr e =
              before ? follow(*subject, *before, *counter, followSeconds, std::move(stop))
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
  if (beforeEdit_) changes_ = difference_words(judgedOf(*beforeEdit_), judgedOf(*e));
  markCurrency();
  emit verdictChanged();
  emit sceneChanged();
  if (e->subject.design == session_.design) rest_.start(e->settled && !beforeEdit_ ? 0 : restMs);
}

void Studio::settle() {
  if (!scene_.now || !error_.isEmpty()) return;
  if (!scene_.now->settled) {
    settler_->start(
        [this, now = scene_.now](std::stop_token stop, const Worker::Progress&) -> Worker::Deliver {
          const EvaluationPtr e = evaluate(now->subject, std::move(stop));
          return [this, e] {
            if (e->subject.design == session_.design && error_.isEmpty()) judged(e);
          };
        },
        [this](const QString& why) { fail(why); });
    return;
  }
  if (!scene_.help.current) {
    helper_->start(
        [this, now = scene_.now](std::stop_token stop, const Worker::Progress&) -> Worker::Deliver {
          auto helped = std::make_shared<const Helped>(help(*now, std::move(stop)));
          return [this, helped] {
            scene_.help = {helped, false, ""};
            markCurrency();
            emit verdictChanged();
          };
        },
        [this](const QString& why) {
          scene_.help = {nullptr, false, why.toStdString()};
          emit verdictChanged();
        });
  }
  explore();
}

void Studio::explore() {
  if (!scene_.now || !scene_.now->settled || !error_.isEmpty()) return;
  const std::string& view = session_.view.name;
  const EvaluationPtr now = scene_.now;
  if (scene_.baseline) judgeBaseline();
  if (view == "bottleneck") {
    try {
      const std::string vary = varyText(now->subject, curveKnob(), session_.view.range);
      if (scene_.curve && scene_.curve->design == session_.design && scene_.curve->vary == vary) {
        return;
      }
      curveWorker_->start(
          [this, now, vary](std::stop_token stop,
                            const Worker::Progress& progress) -> Worker::Deliver {
            auto c = std::make_shared<const Curved>(curveOf(*now, vary, progress, std::move(stop)));
            return [this, c] {
              scene_.curve = {c, false, ""};
              markCurrency();
              emit sceneChanged();
            };
          },
          [this](const QString& why) {
            scene_.curve = {nullptr, false, why.toStdString()};
            emit sceneChanged();
          });
    } catch (const std::exception& e) {
      scene_.curve = {nullptr, false, e.what()};
      emit sceneChanged();
    }
  } else if (view == "map") {
    try {
      const std::string a = varyText(now->subject, mapKnob(0), session_.view.range);
      const std::string b = varyText(now->subject, mapKnob(1), session_.view.range);
      if (scene_.map && scene_.map->design == session_.design && scene_.map->vary[0] == a &&
          scene_.map->vary[1] == b) {
        return;
      }
      mapWorker_->start(
          [this, now, a, b](std::stop_token stop,
                            const Worker::Progress& progress) -> Worker::Deliver {
            auto m = std::make_shared<const Mapped>(mapOf(*now, a, b, progress, std::move(stop)));
            return [this, m] {
              scene_.map = {m, false, ""};
              markCurrency();
              emit sceneChanged();
            };
          },
          [this](const QString& why) {
            scene_.map = {nullptr, false, why.toStdString()};
            emit sceneChanged();
          });
    } catch (const std::exception& e) {
      scene_.map = {nullptr, false, e.what()};
      emit sceneChanged();
    }
  }
}

void Studio::judgeBaseline() {
  if (!session_.baseline) {
    baselineWorker_->cancel();
    scene_.baseline.reset();
    scene_.baselineCurve = {};
    emit sceneChanged();
    emit verdictChanged();
    return;
  }
  const Design design = *session_.baseline;
  try {
    EvaluationPtr known;
    for (const EvaluationPtr& e : {scene_.baseline, scene_.now}) {
      if (e && e->settled && e->subject.design == design) known = e;
    }
    if (known && scene_.baseline != known) {
      scene_.baseline = known;
      emit sceneChanged();
      emit verdictChanged();
    }
    if (machines_.find(design.machine) == machines_.end()) {
      machines_[design.machine] = find_machine(design.machine);
    }
    std::shared_ptr<const Subject> subject;
    if (!known) {
      subject = std::make_shared<const Subject>(subjectOf(design, machines_[design.machine]));
    }
    std::string vary;
    if (session_.view.name == "bottleneck" && scene_.now) {
      vary = varyText(scene_.now->subject, curveKnob(), session_.view.range);
    }
    const bool curveKnown = scene_.baselineCurve && scene_.baselineCurve->design == design &&
                            scene_.baselineCurve->vary == vary;
    if (known && (vary.empty() || curveKnown)) return;
    baselineWorker_->start(
        [this, known, subject, vary](std::stop_token stop,
                                     const Worker::Progress& progress) -> Worker::Deliver {
          const EvaluationPtr e = known ? known : evaluate(*subject, stop);
          std::shared_ptr<const Curved> c;
          if (!vary.empty()) c = std::make_shared<const Curved>(curveOf(*e, vary, progress, stop));
          return [this, e, c] {
            if (!session_.baseline || !(e->subject.design == *session_.baseline)) return;
            scene_.baseline = e;
            if (c) scene_.baselineCurve = {c, true, ""};
            emit sceneChanged();
            emit verdictChanged();
            explore();  // its curve, if that could not be asked for before
          };
        },
        [this](const QString& why) { emit message(tr("baseline A: %1").arg(why)); });
  } catch (const std::exception& e) {
    emit message(tr("baseline A: %1").arg(QString::fromUtf8(e.what())));
  }
}

bool Studio::sameButFor(const Design& a, const Design& b, const std::string& knob) const {
  return a.with(knob, "") == b.with(knob, "");
}

void Studio::markCurrency() {
  const Design& d = session_.design;
  const bool fine = error_.isEmpty();
  scene_.help.current = fine && scene_.help && scene_.help->design == d;
  if (scene_.curve) {
    const std::string& knob = scene_.curve->curve.knob.name;
    scene_.curve.current = fine && knob == curveKnob() && sameButFor(scene_.curve->design, d, knob);
  }
  if (scene_.map) {
    const Plane& p = scene_.map->plane;
    const std::string &a = p.knobs[0].name, &b = p.knobs[1].name;
    scene_.map.current = fine && a == mapKnob(0) && b == mapKnob(1) &&
                         sameButFor(scene_.map->design.with(a, ""), d.with(a, ""), b);
  }
  const auto ofThis = [&](const auto& late) {
    return fine && late && scene_.now && late->schedule == scene_.now->choice.schedule &&
           late->design.workload == d.workload && late->design.machine == d.machine;
  };
  scene_.simulation.current = ofThis(scene_.simulation) &&
                              geometryOnly(scene_.simulation->machine, scene_.now->subject.machine);
  scene_.run.current = ofThis(scene_.run);
}

void Studio::simulate() {
  if (!scene_.now || !error_.isEmpty()) return;
  job_->start(
      [this, now = scene_.now](std::stop_token stop,
                               const Worker::Progress& progress) -> Worker::Deliver {
        auto s = std::make_shared<const Simulated>(simulated(*now, progress, std::move(stop)));
        return [this, s] {
          scene_.simulation = {s, false, ""};
          markCurrency();
          emit sceneChanged();
          emit message(tr("simulated"));
        };
      },
      [this](const QString& why) { emit message(why); });
}

void Studio::run() {
  if (!scene_.now || !error_.isEmpty()) return;
  job_->start(
      [this, now = scene_.now](std::stop_token stop, const Worker::Progress&) -> Worker::Deliver {
        auto r = std::make_shared<const Ran>(ran(*now, std::move(stop)));
        return [this, r] {
          scene_.run = {r, false, ""};
          markCurrency();
          emit sceneChanged();
          emit verdictChanged();
          emit message(
              tr("ran on this machine: %1 GFLOPS").arg(r->result.rate.value() / 1e9, 0, 'f', 1));
        };
      },
      [this](const QString& why) { emit message(why); });
}

void Studio::painted() {
  if (shownEdit_ < 0) return;
  frameMs_ = static_cast<double>(clock_.nsecsElapsed() - shownEdit_) / 1e6;
  shownEdit_ = -1;
  emit frameMeasured();
}

}  // namespace tcsim::gui
