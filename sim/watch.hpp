// Heeds a request to stop, and reports progress now and then, during a walk.
#pragma once

#include <chrono>

#include "core/error.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"
#include "sim/simulate.hpp"

namespace tcsim::sim {

class Watch {
 public:
  // `report`: whether this one calls options.progress.
  Watch(const SimulationOptions& options, double all, bool report)
      : options_(options), all_(all), report_(report && options.progress) {}

  // Throws Interrupted when asked to stop.
  void look(double done) {
    if (options_.stop.stop_requested()) throw Interrupted();
    if (!report_ || ++calls_ % calls_per_look != 0) return;
    const auto now = Clock::now();
    if (now - reported_ < std::chrono::milliseconds(100)) return;
    reported_ = now;
    options_.progress(done / all_);
  }
  void finish() const {
    if (report_) options_.progress(1);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int calls_per_look = 64;  // looking at the clock costs as much as 10 touches

  const SimulationOptions& options_;
  double all_;
  bool report_;
  int calls_ = 0;
  Clock::time_point reported_ = Clock::now();
};

// A visitor of walk() that heeds the watch around a PlanVisitor.
template <class Visitor>
class Watched {
 public:
  Watched(Visitor& visitor, Watch& watch) : visitor_(visitor), watch_(watch) {}
  void pack(const PackPlan& pack, const Tile& tile) {
    watch_.look(visitor_.tally().multiply_adds);
    visitor_.pack(pack, tile);
  }
  void kernel(const KernelCall& call) {
    watch_.look(visitor_.tally().multiply_adds);
    visitor_.kernel(call);
  }

 private:
  Visitor& visitor_;
  Watch& watch_;
};

}  // namespace tcsim::sim
