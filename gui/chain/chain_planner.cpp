#include "gui/chain/chain_planner.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "gui/studio/measuring.hpp"

namespace tcsim::gui {

namespace {

// A plan that is there soon is shown while somebody drags; a longer one gives way to the next.
constexpr int patienceForPlanMs = 300;

using MachinePtr = std::shared_ptr<const ChainMachine>;

// The bandwidth of the outermost level that has one: the link that most chains wait for.
std::string firstCurveOf(const std::vector<Knob>& knobs) {
  if (knobs.empty()) return "";
  const auto last = std::find_if(knobs.rbegin(), knobs.rend(), [](const Knob& knob) {
    return knob.name.ends_with(".bandwidth");
  });
  return (last == knobs.rend() ? knobs.back() : *last).name;
}

}  // namespace

ChainPlanner::ChainPlanner(QObject* parent)
    : QObject(parent),
      measure_(host_machine),
      planning_(tr("planning"), patienceForPlanMs, nullptr),
      exploring_(tr("other memories"), 0, nullptr),
      loading_(tr("reading the machine"), 0, nullptr) {
  for (Worker* w : {&planning_, &exploring_, &loading_}) {
    connect(w, &Worker::busyChanged, this, &ChainPlanner::busyChanged);
    // Once what was cancelled has ended.
    connect(
        w, &Worker::busyChanged, this,
        [this](bool busy) {
          const bool before = scene_.exploring;
          if (!busy) explore();
          if (scene_.exploring != before) emit sceneChanged();
        },
        Qt::QueuedConnection);
  }
}

ChainPlanner::~ChainPlanner() {
  for (Worker* w : {&planning_, &exploring_, &loading_}) w->disconnect(this);
}

void ChainPlanner::setMeasure(std::function<Machine(const ProbeOptions&)> measure) {
  measure_ = std::move(measure);
  machines_.erase("host");
}

void ChainPlanner::ask(const ChainDesign& design) {
  if (design == design_ && (isPlanning() || scene_.current)) return;
  design_ = design;
  scene_.asked = !design.chain.empty();
  exploringStopped_ = false;
  scene_.current = scene_.answer && scene_.answer->design() == design;
  if (scene_.current) {
    planning_.cancel();
    scene_.error.clear();
  }
  // Other memories of the same chain are of use whatever its memory is.
  if (scene_.answer && !samePoints(scene_.answer->design(), design)) exploring_.cancel();
  if (scene_.current) {
    explore();
  } else {
    scene_.exploring = false;
    plan();
  }
  emit sceneChanged();
}

void ChainPlanner::chooseKnob(const std::string& knob) {
  knob_ = knob;
  exploringStopped_ = false;
  if (scene_.curve && scene_.curve->knob == knob) return;
  exploring_.cancel();
  scene_.curve.reset();
  scene_.curveOf.reset();
  scene_.curveError.clear();
  explore();
  emit sceneChanged();
}

const Machine* ChainPlanner::machine() const {
  const auto known = machines_.find(design_.machine);
  return known == machines_.end() ? nullptr : &known->second->machine;
}

void ChainPlanner::cancel() {
  planning_.cancel();
  exploring_.cancel();
  loading_.cancel();
  loadingName_.clear();
  exploringStopped_ = true;
  scene_.exploring = scene_.asked = false;
  emit sceneChanged();
}

void ChainPlanner::load() {
  if (loading_.isBusy() && loadingName_ == design_.machine) return;
  loadingName_ = design_.machine;
  loading_.start(
      [this, name = design_.machine, measure = measure_](
          const std::stop_token& stop, const Worker::Progress& progress) -> Worker::Deliver {
        auto machine = std::make_shared<ChainMachine>();
        if (name == "host") {
          ProbeOptions probe = quickProbe(stop);
          probe.progress = [&](const std::string&, double share) { progress(share); };
          machine->machine = measure(probe);
          machine->disk = load_disk(disk_file());
        } else {
          machine->machine = find_machine(name);
        }
        return [this, name, machine] {
          machines_[name] = machine;
          if (design_.machine == name) plan();
        };
      },
      [this, design = design_](const QString& why) { fail(design, why); });
}

void ChainPlanner::plan() {
  if (design_.chain.empty()) {
    planning_.cancel();
    scene_.error.clear();
    emit sceneChanged();
    return;
  }
  const auto known = machines_.find(design_.machine);
  if (known == machines_.end()) {
    planning_.cancel();
    return load();
  }
  const Machine& read = known->second->machine;
  knobs_ = levels::has_explicit_levels(read) ? levelKnobs(read) : std::vector<Knob>();
  const bool has = std::ranges::find(knobs_, knob_, &Knob::name) != knobs_.end();
  if (!has) knob_ = firstCurveOf(knobs_);
  planning_.start(
      [this, design = design_, machine = known->second](
          const std::stop_token& stop, const Worker::Progress& progress) -> Worker::Deliver {
        const ChainSubjectPtr subject = chainSubject(design, *machine);
        ChainAnswerPtr answer;
        QString error;
        try {
          answer = answerOf(subject, progress, stop);
        } catch (const Error& e) {
          error = QString::fromUtf8(e.what());
        }
        return [this, subject, answer, error] { arrived(subject, answer, error); };
      },
      [this, design = design_](const QString& why) { fail(design, why); });
}

void ChainPlanner::arrived(const ChainSubjectPtr& subject, const ChainAnswerPtr& answer,
                           const QString& error) {
  subject_ = subject;
  if (!answer) return fail(subject->design, error);
  if (!scene_.answer || !samePoints(scene_.answer->design(), answer->design())) {
    exploring_.cancel();
    scene_.points.clear();
  }
  if (scene_.answer != answer) {
    exploring_.cancel();
    scene_.changes.reset();
    scene_.curveError.clear();
  }
  scene_.answer = answer;
  if (!answer->levels) scene_.points[answer->design().memory.value()] = pointOf(*answer);
  scene_.current = answer->design() == design_;
  if (scene_.current) scene_.error.clear();
  explore();
  emit sceneChanged();
}

void ChainPlanner::fail(const ChainDesign& design, const QString& why) {
  if (!(design == design_)) return;  // nobody asks any more
  scene_.error = why.toStdString();
  emit sceneChanged();
}

void ChainPlanner::stopExploring() {
  exploringStopped_ = true;
  scene_.exploring = false;
  emit sceneChanged();
}

// The changes, then the curve.
void ChainPlanner::exploreLevels() {
  const ChainAnswerPtr answer = scene_.answer;
  const bool changes = !scene_.changes;
  const bool curve = !knob_.empty() && scene_.curveError.empty() &&
                     (!scene_.curve || scene_.curveOf != answer || scene_.curve->knob != knob_);
  scene_.exploring = changes || curve;
  if (!scene_.exploring) return;
  exploring_.start(
      [this, answer, changes, knob = knob_](const std::stop_token& stop,
                                            const Worker::Progress&) -> Worker::Deliver {
        LevelChangesPtr found;
        LevelCurvePtr along;
        std::string error;
        try {
          if (changes) {
            found = levelChanges(*answer, stop);
          } else {
            along = levelCurve(*answer, knob, stop);
          }
        } catch (const Error& e) {
          error = e.what();
          if (changes) found = std::make_shared<const std::vector<levels::LevelChange>>();
        }
        return [this, answer, knob, found, along, error] {
          if (scene_.answer != answer) return;
          if (found) scene_.changes = found;
          if (along && knob == knob_) {
            scene_.curve = along;
            scene_.curveOf = answer;
          }
          if (!found && !along) scene_.curveError = error;
          explore();
          emit sceneChanged();
        };
      },
      [this](const QString&) { stopExploring(); });
}

// One memory after another, while nothing is asked.
void ChainPlanner::explore() {
  if (exploringStopped_ || isPlanning() || exploring_.isBusy() || !scene_.current) return;
  if (scene_.answer->levels) return exploreLevels();
  const std::optional<Bytes> memory = nextMemory(scene_);
  scene_.exploring = memory.has_value();
  if (!memory) return;
  exploring_.start(
      [this, subject = scene_.answer->subject, memory = *memory](
          const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
        const std::optional<MemoryPoint> point = pointAt(*subject, memory, stop);
        return [this, subject, memory, point] {
          if (!scene_.answer || !samePoints(scene_.answer->design(), subject->design)) return;
          scene_.points[memory.value()] = point;
          explore();
          emit sceneChanged();
        };
      },
      [this](const QString&) { stopExploring(); });
}

}  // namespace tcsim::gui
