// A network's contractions as a suite. The Python module reads the model (tcsim.from_onnx), through
// the package onnx; this runs it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/workload/suite.hpp"

namespace tcsim::cli {

struct OnnxSuite {
  Suite suite;
  std::vector<int> counts;                            // how often each workload is in the model
  std::vector<std::pair<std::string, int>> left_out;  // what, and how often
};

// `dims`: "batch=1,sequence=128", what the model leaves open; may be empty. $TCSIM_PYTHON is the
// interpreter, python3 otherwise. Throws UnsupportedError where there is no such interpreter with
// tcsim and onnx, InputError and UsageError with what it says of the model.
OnnxSuite read_onnx(const std::string& model, const std::string& dims);

}  // namespace tcsim::cli
