// What the workloads of a suite take together on a machine, one after the other, each by a schedule
// of its own: the sum that decides between two machines where no single workload does.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct SuiteTotal {
  struct Row {
    std::string workload;
    double flops = 0;
    Seconds time;
    std::string bottleneck;
    double of_peak = 0;  // share of the FMA peak of its element type
  };
  std::vector<Row> rows;

  // The next workload, as it is predicted on the machine.
  void add(const Contraction& contraction, const Machine& machine, const Prediction& prediction);

  Seconds time() const;         // of all
  FlopsPerSecond rate() const;  // all multiply-adds over all the time
  double of_peak() const;       // geometric mean
  // How many workloads each bottleneck decides, the most first; equals as they came.
  std::vector<std::pair<std::string, int>> bottlenecks() const;
};

// "all 36: 1.23 s, 45.6 GFLOPS, geometric mean 71.2 % of the FMA peak; limited by compute in 20,
// L3-memory in 16". Precondition: there are rows.
std::string total_words(const SuiteTotal& total);

}  // namespace tcsim
