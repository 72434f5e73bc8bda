// tcsim bench small: matrix multiplications that are called again and again with operands in the
// caches. What a library does besides multiplying shows here. With row-major matrices vectors run
// along the columns, and any number of rows can be as fast as any other; with column-major ones
// they run along the rows, and all but multiples of a vector's length leave a part of one empty.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/suite.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::bench {

struct SmallOptions {
  std::int64_t first = 8, last = 50;  // rows
  std::int64_t columns = 128, depth = 128;
  Layout layout = Layout::row_major;
  int repetitions = 5;
  Seconds at_least{0.002};             // of one repetition
  std::vector<std::string> libraries;  // that take part, words of bench/peers.hpp
  std::function<void(double share)> progress;
  std::stop_token stop;
};

// C = A B of f64.
struct SmallSize {
  std::int64_t rows = 0;
  Contraction workload;
  Schedule schedule;
  std::vector<Contestant> contestants;  // tcsim, then the libraries, in the same order in each
};

// The sizes that were complete when it was stopped. tcsim's part is a Contractor for
// `machine`, made once, as a program would that calls it again.
std::vector<SmallSize> bench_small(const Machine& machine, const SmallOptions& options);

struct SmallSummary {
  std::string name;
  double mean = 0, worst = 0;  // shares of the peak
  std::int64_t worst_rows = 0;
  bool correct = true;
};
// Of each contestant.
std::vector<SmallSummary> summary(const std::vector<SmallSize>& sizes);

}  // namespace tcsim::bench
