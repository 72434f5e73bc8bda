// A study made of a design that somebody looks at.
#pragma once

#include <string>
#include <vector>

#include "core/saved/design.hpp"
#include "core/study/study.hpp"

namespace tcsim {

struct DraftKnob {
  std::string name;   // "L3.capacity"
  std::string range;  // "2MiB..256MiB"
  int points = 17;    // on a logarithmic scale
};

// The design's workload on its machine with its figures overridden, and the knobs that vary, all
// combinations of them. Its cost model is the study's; a schedule that the design keeps is no part
// of a study.
struct StudyDraft {
  std::string name, description;
  Design design;
  bool whole_suite = false;           // all workloads of the design's suite, where it has one
  std::vector<std::string> machines;  // beside the design's, with the same figures overridden
  std::vector<DraftKnob> knobs;
  std::vector<std::string> constraints;  // "L2.capacity >= 4 * L1.capacity"
  Compute compute = Compute::optimize;
  StudyObjective objective = StudyObjective::time;
};

// The text of its file, as parse_study() reads it.
std::string to_toml(const StudyDraft& draft);

}  // namespace tcsim
