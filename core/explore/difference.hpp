// What an edit of the machine, the workload or the accounting changed, in words.
#pragma once

#include <string>
#include <vector>

#include "core/explore/knob.hpp"
#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// A schedule on a machine and what it costs there, as somebody looks at it.
struct PredictedDesign {
  const Contraction& contraction;
  const Machine& machine;
  const Schedule& schedule;
  const Prediction& prediction;
};

// One sentence each: the time and the bottleneck, the tiles that each cache holds, kernel and loop
// order, and links that carry at least 1 % more or less.
// Of two workloads only time and bottleneck are compared.
std::vector<std::string> difference_words(const PredictedDesign& before,
                                          const PredictedDesign& after);

// The answer to what is asked by turning one knob: "L3 capacity 2 times (70 MiB): nothing changes,
// L3-memory limits as before." Empty where the knob is the same on both machines, or the two are
// not of the same work.
std::string answer_words(const PredictedDesign& before, const PredictedDesign& after,
                         const Knob& knob);

}  // namespace tcsim
