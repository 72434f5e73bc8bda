#include "sweep/pipeline.hpp"

#include <algorithm>
#include <atomic>

#include "core/threads.hpp"
#include "sweep/beyond.hpp"

namespace tcsim {

void pump(const Study& study, int threads, std::stop_token stop,
          const std::function<std::int64_t()>& next,
          const std::function<void(const ChainResult&)>& accept) {
  Anchors anchors(study, stop);
  std::atomic<bool> failed = false;
  const auto useful = std::min<std::int64_t>(threads, Chains(study).size());
  run_on_threads(static_cast<int>(useful), [&] {
    try {
      Evaluator evaluator(study, anchors, stop, beyond(study, stop));
      for (std::int64_t chain = next(); chain >= 0 && !failed; chain = next()) {
        accept(evaluator.evaluate(chain));
      }
    } catch (...) {
      failed = true;
      throw;
    }
  });
}

}  // namespace tcsim
