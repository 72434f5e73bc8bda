// What follows when the design rests: the curve, the map, and those of the baseline.
#include "core/machine/toml.hpp"
#include "gui/studio/studio.hpp"

namespace tcsim::gui {

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
  } else if (view == "bounds") {
    exploreBounds(false);
  } else if (view == "sets" || view == "timeline") {
    exploreDetail(false);
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

void Studio::simulateInDetail() {
  if (mayBegin()) exploreDetail(true);
}

template <class Seen>
void Studio::lookCloser(const std::string& what, Late<Seen> Scene::*late,
                        std::function<Seen(const Worker::Progress&, std::stop_token)> see) {
  if (detailWorker_->isBusy() && looking_ == scene_.now && lookingAt_ == what) return;
  looking_ = scene_.now;
  lookingAt_ = what;
  detailWorker_->start(
      [this, late, see = std::move(see)](std::stop_token stop,
                                         const Worker::Progress& progress) -> Worker::Deliver {
        auto seen = std::make_shared<const Seen>(see(progress, std::move(stop)));
        return [this, late, seen] {
          scene_.*late = {seen, false, ""};
          markCurrency();
          emit sceneChanged();
        };
      },
      [this, late](const QString& why) {
        scene_.*late = {nullptr, false, why.toStdString()};
        emit sceneChanged();
      });
}

void Studio::exploreDetail(bool asked) {
  const EvaluationPtr now = scene_.now;
  markCurrency();
  const std::string level = cacheNamed(now->subject.machine, session_.view.level);
  if (level.empty()) return;
  if (session_.view.name == "sets") {
    if (scene_.sets.current || !(asked || simulatedSoon(*now))) return;
    lookCloser<SetsSeen>(level, &Scene::sets, [now, level](const auto& progress, auto stop) {
      return setsSeen(*now, level, progress, std::move(stop));
    });
    return;
  }
  // Who has waited for the whole run waits for a part of it.
  const bool again = scene_.timeline && scene_.timeline->schedule == now->choice.schedule;
  if (scene_.timeline.current || !(asked || again || simulatedSoon(*now))) return;
  const TouchRange part = session_.view.part;
  lookCloser<TimelineSeen>(to_text(part), &Scene::timeline,
                           [now, part](const auto& progress, auto stop) {
                             return timelineSeen(*now, part, progress, std::move(stop));
                           });
}

void Studio::simulateBounds() {
  if (mayBegin()) exploreBounds(true);
}

void Studio::exploreBounds(bool simulate) {
  const EvaluationPtr now = scene_.now;
  const auto sameCurve = [&](const BoundCurve& curve) {
    return curve.isOf(*now) && curve.capacities == boundCapacities(*now);
  };
  if (scene_.bounds && sameCurve(*scene_.bounds.value) &&
      (!simulate || !scene_.bounds->lru.empty())) {
    return;
  }
  if (boundsWorker_->isBusy() && bounding_ && (boundsSimulated_ || !simulate) &&
      bounding_->subject.design.workload == now->subject.design.workload &&
      bounding_->subject.machine == now->subject.machine) {
    return;
  }
  bounding_ = now;
  boundsSimulated_ = simulate;
  boundsWorker_->start(
      [this, now, simulate, before = scene_.bounds.value](
          std::stop_token stop, const Worker::Progress& progress) -> Worker::Deliver {
        auto b = std::make_shared<const BoundCurve>(
            boundCurveOf(*now, before.get(), simulate, progress, std::move(stop)));
        return [this, b] {
          scene_.bounds = {b, false, ""};
          markCurrency();
          emit sceneChanged();
        };
      },
      [this](const QString& why) {
        scene_.bounds = {nullptr, false, why.toStdString()};
        emit sceneChanged();
      });
}

std::vector<std::string> Studio::wantedOfBaseline(const Design& design) const {
  if (!scene_.now) return {};
  const Subject& subject = scene_.now->subject;
  const auto vary = [&](int which) {
    return varyText(subject, mapKnob(which), session_.view.range);
  };
  if (session_.view.name == "bottleneck") {
    const auto& c = scene_.baselineCurve;
    if (c && c->design == design && c->vary == vary(0)) return {};
    return {vary(0)};
  }
  if (session_.view.name == "map") {
    const auto& m = scene_.baselineMap;
    if (m && m->design == design && m->vary[0] == vary(0) && m->vary[1] == vary(1)) return {};
    return {vary(0), vary(1)};
  }
  return {};
}

void Studio::judgeBaseline() {
  if (!session_.baseline) {
    baselineWorker_->cancel();
    scene_.baseline.reset();
    scene_.baselineCurve = {};
    scene_.baselineMap = {};
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
      if (design.machine == hostMachine) return measureHost();  // and then here again
      machines_[design.machine] = find_machine(design.machine);
    }
    std::shared_ptr<const Subject> subject;
    if (!known) {
      subject = std::make_shared<const Subject>(subjectOf(design, machines_[design.machine]));
    }
    // Along the same values as the design's own curve or map.
    const std::vector<std::string> vary = wantedOfBaseline(design);
    if (known && vary.empty()) return;
    baselineWorker_->start(
        [this, known, subject, vary](std::stop_token stop,
                                     const Worker::Progress& progress) -> Worker::Deliver {
          const EvaluationPtr e = known ? known : evaluate(*subject, stop);
          std::shared_ptr<const Curved> c;
          std::shared_ptr<const Mapped> m;
          if (vary.size() == 1) {
            c = std::make_shared<const Curved>(curveOf(*e, vary[0], progress, stop));
          } else if (vary.size() == 2) {
            m = std::make_shared<const Mapped>(mapOf(*e, vary[0], vary[1], progress, stop));
          }
          return [this, e, c, m] {
            if (!session_.baseline || !(e->subject.design == *session_.baseline)) return;
            scene_.baseline = e;
            if (c) scene_.baselineCurve = {c, true, ""};
            if (m) scene_.baselineMap = {m, true, ""};
            emit sceneChanged();
            emit verdictChanged();
            explore();  // its curve or map, if that could not be asked for before
          };
        },
        [this](const QString& why) { emit message(tr("baseline A: %1").arg(why)); });
  } catch (const std::exception& e) {
    emit message(tr("baseline A: %1").arg(QString::fromUtf8(e.what())));
  }
}

}  // namespace tcsim::gui
