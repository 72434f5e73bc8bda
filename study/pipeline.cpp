#include "study/pipeline.hpp"

#include "study/beyond.hpp"
#include "study/sweep.hpp"

#ifdef TCSIM_HAS_TBB
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#endif

namespace tcsim {

namespace {

void pump_alone(const Study& study, std::stop_token stop, const std::function<std::int64_t()>& next,
                const std::function<void(const ChainResult&)>& accept) {
  Anchors anchors(study, stop);
  Evaluator evaluator(study, anchors, stop, beyond(study, stop));
  for (std::int64_t chain = next(); chain >= 0; chain = next()) accept(evaluator.evaluate(chain));
}

}  // namespace

#ifdef TCSIM_HAS_TBB

bool has_threads() { return true; }

void pump(const Study& study, int threads, std::stop_token stop,
          const std::function<std::int64_t()>& next,
          const std::function<void(const ChainResult&)>& accept) {
  if (threads == 1) return pump_alone(study, stop, next, accept);
  Anchors anchors(study, stop);
  tbb::enumerable_thread_specific<Evaluator> evaluators(
      [&] { return Evaluator(study, anchors, stop, beyond(study, stop)); });
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_pipeline(
        static_cast<std::size_t>(2 * threads),
        tbb::make_filter<void, std::int64_t>(tbb::filter_mode::serial_in_order,
                                             [&](tbb::flow_control& flow) {
                                               const std::int64_t chain = next();
                                               if (chain < 0) flow.stop();
                                               return chain;
                                             }) &
            tbb::make_filter<std::int64_t, ChainResult>(
                tbb::filter_mode::parallel,
                [&](std::int64_t chain) { return evaluators.local().evaluate(chain); }) &
            tbb::make_filter<ChainResult, void>(tbb::filter_mode::serial_out_of_order, accept));
  });
}

#else

bool has_threads() { return false; }

void pump(const Study& study, int, std::stop_token stop, const std::function<std::int64_t()>& next,
          const std::function<void(const ChainResult&)>& accept) {
  pump_alone(study, stop, next, accept);
}

#endif

}  // namespace tcsim
