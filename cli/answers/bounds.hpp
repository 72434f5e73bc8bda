// How little any order of a workload's multiply-adds can move, as asked for, and its record. For
// the command line and for the Python module.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/bounds/closed_form.hpp"
#include "core/bounds/lower.hpp"
#include "core/bounds/problem.hpp"
#include "core/bounds/upper.hpp"
#include "core/bounds/upper_schedule.hpp"
#include "core/workload/contraction.hpp"
#include "core/workload/request.hpp"

namespace tcsim::cli::bounding {

struct BoundsRequest {
  std::vector<std::string> cache;  // capacities: "32KiB", or a bare number of elements; 32KiB
  bounds::Moves moves = bounds::Moves::loads_and_stores;
  std::string notation = "text";  // of expressions: text, latex, python
  // Forms that only JSON and --symbolic print take time, and are made for them.
  bool forms = false;
  bool print_forms = false;  // in the table
};

struct Work {
  std::string name;
  bounds::Problem problem;
  Bytes element;                        // the smallest of its elements
  std::optional<Contraction> workload;  // unless it is an affine program
};

// An affine program's file or text.
bool is_affine(const std::string& name);
// All that a name stands for: an affine program, a chain, a program, or contractions. Throws what
// reading it throws.
std::vector<Work> works(const WorkloadRequest& request);
Work work_of(const Contraction& workload);

struct Row {
  std::int64_t capacity;
  bounds::LowerNumber lower;
  std::optional<bounds::ProblemUpperBound> upper;   // none where no multiply-add fits
  std::optional<bounds::ScheduledBound> scheduled;  // of a contraction or convolution
  std::string order, tiles;                         // of each statement
};

struct Answer {
  Work work;
  bounds::LowerBound lower;
  std::optional<double> operations;
  std::vector<Row> rows;  // none where a size is not known
  // Of one statement, where they are known and asked for.
  std::optional<bounds::Expression> lower_form = {};
  std::optional<bounds::ClosedForm> closed = {};
};

// Throws UsageError for a capacity.
Answer answer(const BoundsRequest& request, Work work);

nlohmann::ordered_json json_of(const Answer& answer, const BoundsRequest& request);
void print_table(const Answer& answer, const BoundsRequest& request, std::ostream& out);
void print_csv(const std::vector<Answer>& all, std::ostream& out);

}  // namespace tcsim::cli::bounding
