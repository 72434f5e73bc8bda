// The studio's long jobs, which somebody asks for and may cancel.
#include "gui/session/studio.hpp"
#include "microbench/host.hpp"

namespace tcsim::gui {

void Studio::cancelJob() {
  job_->cancel();
  mapWorker_->cancel();
  emit message(tr("cancelled"));
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
          machines_[hostMachine] = m;
          if (session_.design.machine != hostMachine) return;
          base_ = m;
          error_.clear();
          emit sessionChanged();
          judge();
        };
      },
      [this](const QString& why) { fail(why); });
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

}  // namespace tcsim::gui
