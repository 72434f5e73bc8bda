// A workload as a person names it: "tccg:8", "tccg" (all of a suite), a suite's .toml file, the
// .program file of a program that is a contraction (core/workload/program.hpp), a label such as
// "abcd-aebf-dfce" or "aebf,dfce->abcd" with sizes, "conv2d" with its own
// (core/workload/convolution.hpp), or a statement such as "O[y,x] += I[y+r,x+s] * W[r,s]" with
// sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/workload/contraction.hpp"

namespace tcsim {

struct WorkloadRequest {
  std::string name;                 // the suite and number, the program's file, or the label
  std::string sizes;                // of a label, a convolution or a statement: "a=72,b=72,..."
  std::optional<Layout> layout;     // of a label; row-major unless it is said
  std::optional<ElementType> type;  // f64, or the suite's or program's, unless it is said
  std::string image_layout = {};    // of a suite's convolutions, as SuiteOverrides has it

  bool operator==(const WorkloadRequest&) const = default;
};

// Whether the text can only be a statement: it has "+=" or a bracket.
bool is_statement(const std::string& name);
// Whether the text can only be a label: TCCG form or einsum.
bool is_label(const std::string& name);
// Whether it is named with sizes: a label, a statement or a convolution.
bool needs_sizes(const std::string& name);

// All of the suite that "tccg:8" is of; none where a request names no suite.
std::optional<WorkloadRequest> whole_suite(const WorkloadRequest& request);

// All that it names, at least one. Throws UsageError, which says what is missing or too much, and
// for a suite's file what load_suite() throws, for a program's load_program() and contraction_of().
std::vector<Contraction> find_workloads(const WorkloadRequest& request);
// The same where one is wanted; throws UsageError for a suite without a number.
Contraction find_workload(const WorkloadRequest& request);

}  // namespace tcsim
