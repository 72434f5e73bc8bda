// What follows when the design rests: the curve, the map, the suite, and those of the pins.
#include "gui/studio/studio.hpp"

namespace tcsim::gui {

void Studio::explore() {
  if (!scene_.now || !scene_.now->settled || !error_.isEmpty() || measuring_) return;
  const std::string& view = session_.view.name;
  const EvaluationPtr now = scene_.now;
  judgePins();
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
  } else if (view == "suite") {
    exploreSuite();
  } else if (view == "schedule") {
    simulateSchedule();
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

// Where it takes a second or two at most; F5 does it anywhere.
void Studio::simulateSchedule() {
  const EvaluationPtr now = scene_.now;
  markCurrency();
  if (scene_.simulation.current || !simulatedSoon(*now)) return;
  lookCloser<Simulated>("schedule", &Scene::simulation, [now](const auto& progress, auto stop) {
    return simulated(*now, progress, std::move(stop));
  });
}

void Studio::exploreSuite() {
  const Subject& subject = scene_.now->subject;
  const auto suite = whole_suite(subject.design.workload);
  markCurrency();
  if (!suite || scene_.suite.current) return;
  suiteWorker_->start(
      [this, suite = *suite, machine = subject.machine](
          std::stop_token stop, const Worker::Progress& progress) -> Worker::Deliver {
        auto judged = std::make_shared<const SuiteJudged>(
            suiteJudged(suite, machine, progress, std::move(stop)));
        return [this, judged] {
          scene_.suite = {judged, false, ""};
          markCurrency();
          emit sceneChanged();
        };
      },
      [this](const QString& why) {
        scene_.suite = {nullptr, false, why.toStdString()};
        emit sceneChanged();
      });
}

}  // namespace tcsim::gui
