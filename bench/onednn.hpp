// oneDNN, loaded when a benchmark runs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/onednn_module.hpp"
#include "bench/plain_convolution.hpp"

namespace tcsim::bench {

bool onednn_installed();
std::string onednn_version();  // "2.6.3"; "" without it

// As long as it lives, oneDNN has no threads beside the one that calls: OpenMP's number of threads
// is set to one for this thread, and set back. A oneDNN with threads of another kind counts as not
// installed.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = 0;  // 0: nothing to set back
};

// With the zeros around the image in the image, or left to oneDNN. Precondition of the first: there
// is padding. `convolution` must outlive it.
OnednnProblem onednn_problem(const PlainConvolution& convolution, bool padded);

// Calls `visit` with every way in which oneDNN computes the problem, one after the other; never
// without oneDNN. Precondition: a OneThread lives.
void for_each_way(const OnednnProblem& problem, OnednnLayout layout, bool reorders,
                  const std::function<void(std::unique_ptr<OnednnConvolution>)>& visit);

}  // namespace tcsim::bench
