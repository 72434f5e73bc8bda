// The studio's long jobs, which somebody asks for and may cancel.
#include "gui/studio/measuring.hpp"
#include "gui/studio/studio.hpp"

namespace tcsim::gui {

void Studio::cancelJob() {
  if (measuring_) failHostPins("the measurement of this machine was cancelled");
  measuring_ = false;
  job_->cancel();
  mapWorker_->cancel();
  suiteWorker_->cancel();
  stopPins();
  boundsWorker_->cancel();
  bounding_.reset();
  detailWorker_->cancel();
  looking_.reset();
  emit message(tr("cancelled"));
}

void Studio::measureHost() {
  if (measuring_) return;
  measuring_ = true;
  emit message(tr("measuring this machine, a few seconds"));
  job_->start(
      [this, measure = measure_](std::stop_token stop,
                                 const Worker::Progress& progress) -> Worker::Deliver {
        ProbeOptions probe = quickProbe(std::move(stop));
        probe.progress = [&](const std::string&, double share) { progress(share); };
        const Machine m = measure(probe);
        return [this, m] {
          measuring_ = false;
          machines_[hostMachine] = m;
          if (session_.design.machine == hostMachine) {
            base_ = m;
            error_.clear();
            emit sessionChanged();
            judge();
          }
          judgePins();
          rest_.start();  // what waited until it was done
        };
      },
      [this](const QString& why) {
        measuring_ = false;
        if (session_.design.machine == hostMachine) fail(why);
        failHostPins(why.toStdString());
        rest_.start();
      });
}

bool Studio::mayBegin() {
  if (measuring_) emit message(tr("this machine is being measured, undisturbed; Esc ends that"));
  return !measuring_ && scene_.now && error_.isEmpty();
}

void Studio::simulate() {
  if (!mayBegin()) return;
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
  if (!mayBegin()) return;
  job_->start(
      [this, now = scene_.now, program = runProgram_](
          const std::stop_token& stop, const Worker::Progress& progress) -> Worker::Deliver {
        auto r = std::make_shared<const Ran>(ranApart(*now, program, progress, stop));
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

}  // namespace tcsim::gui
