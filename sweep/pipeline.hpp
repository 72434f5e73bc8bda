// Chains through an evaluator on every thread. Internal to sweep/.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "core/study/evaluate.hpp"
#include "core/study/study.hpp"

namespace tcsim {

// Takes chains from `next` until that is negative, and hands what came out to `accept`, on
// `threads` threads or as many as there are: both may be called by several at once. Throws
// Interrupted, or what evaluating throws.
void pump(const Study& study, int threads, std::stop_token stop,
          const std::function<std::int64_t()>& next,
          const std::function<void(const ChainResult&)>& accept);

}  // namespace tcsim
