#include "cli/answers/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/bounds_numbers.hpp"
#include "cli/describe.hpp"
#include "cli/result.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/bounds/ioopt_form.hpp"
#include "core/bounds/problem_text.hpp"
#include "core/bounds/traffic.hpp"
#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/text/list.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/program.hpp"

namespace tcsim::cli::bounding {

using bounds::Moves;
using bounds::Problem;
using nlohmann::ordered_json;

namespace {

// The capacity that is meant where none is given.
constexpr const char* usual_capacity = "32KiB";

// "Nx=56,w=3" of the loops or of the names of their bounds.
void set_sizes(Problem& problem, const std::string& text) {
  for (const std::string& one : comma_list(text)) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) {
      throw UsageError("--size", fmt::format("'{}' is no size", one), "write --size x=56,w=3");
    }
    const std::string name = one.substr(0, equals);
    bool found = false;
    for (Problem::Dim& d : problem.dims) {
      if (d.name != name && d.symbol != name) continue;
      const std::int64_t extent = parse_count(one.substr(equals + 1), name);
      if (d.extent && *d.extent != extent) {
        throw UsageError("--size", fmt::format("{} is {} already", name, *d.extent),
                         "leave it out");
      }
      found = true;
      // Loops that share a size have it all.
      const std::string symbol = d.symbol;
      for (Problem::Dim& other : problem.dims) {
        if (other.symbol == symbol) other.extent = extent;
      }
    }
    if (!found) {
      throw UsageError("--size", fmt::format("there is no loop and no size '{}'", name),
                       "name those of the program");
    }
  }
}

Work affine_work(const WorkloadRequest& request) {
  const std::string& given = request.name;
  Work work{"", {}, Bytes(8), {}};
  if (bounds::is_problem_file(given)) {
    work.problem = bounds::load_problem(given);
  } else {
    work.problem = bounds::parse_problem(given, "WORKLOAD");
  }
  if (!request.sizes.empty()) set_sizes(work.problem, request.sizes);
  if (request.type) work.element = size_of(*request.type);
  work.name = work.problem.name;
  return work;
}

Work program_work(const Program& program) {
  Work work{program.name(), bounds::problem_of(program), Bytes(8), {}};
  for (const Program::Tensor& t : program.tensors()) {
    work.element = std::min(work.element, size_of(t.type));
  }
  return work;
}

}  // namespace

bool is_affine(const std::string& name) {
  return bounds::is_problem_file(name) || bounds::is_problem_text(name);
}

Work work_of(const Contraction& workload) {
  Work work = program_work(program_of(workload));
  work.name = workload.name();
  work.workload = workload;
  return work;
}

std::vector<Work> works(const WorkloadRequest& asked) {
  if (is_affine(asked.name)) return {affine_work(asked)};
  // A chain is no contraction, but it has bounds.
  if (fusion::names_chain(asked.name)) {
    if (asked.layout) {
      throw UsageError("--layout", "a chain's bounds know no memory order", "leave the option out");
    }
    fusion::ChainRequest request;
    request.name = asked.name;
    request.sizes = asked.sizes;
    request.type = asked.type;
    std::vector<Work> all;
    for (const fusion::Chain& chain : fusion::find_chains(request)) {
      all.push_back(program_work(chain.program));
    }
    return all;
  }
  if (is_program_file(asked.name) && !asked.type && asked.sizes.empty() && !asked.layout) {
    return {program_work(load_program(asked.name))};
  }
  std::vector<Work> all;
  for (const Contraction& c : find_workloads(asked)) all.push_back(work_of(c));
  return all;
}

namespace {

std::vector<std::string> names_of(const Problem& problem, std::size_t statement) {
  std::vector<std::string> names;
  for (DimId d : bounds::dims_of(problem.statements[statement])) {
    names.push_back(problem.dim(d).name);
  }
  return names;
}

}  // namespace

Answer answer(const BoundsRequest& request, Work work) {
  Answer a{std::move(work), {}, {}, {}};
  const Moves moves = request.moves;
  a.lower = bounds::lower_bound(a.work.problem, moves);
  const bool one = a.work.problem.statements.size() == 1;
  if (one && request.forms) {
    a.lower_form = bounds::ioopt_lower_form(a.work.problem, a.lower, moves);
    a.closed = bounds::closed_form(a.work.problem, 0, moves);
  }
  const bounds::Values sizes = bounds::sizes_of(a.work.problem);
  for (const Problem::Dim& d : a.work.problem.dims) {
    if (!d.extent) return a;
  }
  a.operations = static_cast<double>(a.lower.runs.value(sizes));
  const bounds::LowerCurve lower(a.work.problem, sizes, a.lower.partitions);
  std::vector<std::string> capacities{usual_capacity};
  if (!request.cache.empty()) capacities = request.cache;
  for (const std::string& text : capacities) {
    const std::int64_t capacity = elements_of(text, a.work.element, "--cache");
    Row row{capacity,
            lower.at(moves, capacity),
            bounds::upper_bound(a.work.problem, moves, static_cast<double>(capacity)),
            {},
            "",
            ""};
    for (std::size_t i = 0; row.upper && i < row.upper->statements.size(); ++i) {
      const bounds::UpperBound& u = row.upper->statements[i];
      const std::vector<std::string> names = names_of(a.work.problem, i);
      const std::string between = i == 0 ? "" : "; ";
      row.order += between + bounds::permutation_text(u, names);
      row.tiles += between + bounds::tiles_text(u, names);
    }
    if (a.work.workload) {
      row.scheduled =
          bounds::scheduled_upper_bound(*a.work.workload, moves, static_cast<double>(capacity));
    }
    a.rows.push_back(std::move(row));
  }
  return a;
}

namespace {

std::string written(const bounds::Expression& e, const std::string& notation) {
  if (notation == "latex") return bounds::to_latex(e);
  if (notation == "python") return bounds::to_python(e);
  return bounds::to_text(e);
}

double ratio_of(const Row& r) { return r.upper->moved / static_cast<double>(r.lower.elements); }

// "1/2", "all"
std::string part_text(int share) {
  const int divisor = std::gcd(share, bounds::load_parts);
  if (divisor == bounds::load_parts) return "all";
  return fmt::format("{}/{}", share / divisor, bounds::load_parts / divisor);
}

std::string statements_text(const std::vector<std::size_t>& statements) {
  std::vector<std::size_t> numbers;
  for (std::size_t i : statements) numbers.push_back(i + 1);
  return fmt::format("statement{} {}", numbers.size() > 1 ? "s" : "", fmt::join(numbers, " and "));
}

// How the bounds of several statements make one of all; nothing of one statement.
std::string sharing_text(const Problem& problem, const bounds::LowerNumber& lower) {
  if (lower.shares.empty()) return "";
  if (lower.elements == lower.compulsory) return "first loads are more than statements prove";
  std::vector<std::string> shared;
  for (std::size_t array = 0; array < problem.arrays.size(); ++array) {
    std::vector<std::size_t> users, counting;
    int sum = 0;
    for (std::size_t i = 0; i < problem.statements.size(); ++i) {
      const std::vector<int> own = bounds::arrays_of(problem.statements[i]);
      if (std::find(own.begin(), own.end(), static_cast<int>(array)) == own.end()) continue;
      users.push_back(i);
      if (lower.shares[i][array] > 0) counting.push_back(i);
      sum += lower.shares[i][array];
    }
    if (users.size() < 2) continue;
    const std::string name = visible(problem.arrays[array].name);
    if (counting.empty()) {
      shared.push_back(name + " counts with its first loads");
    } else if (counting.size() == 1) {
      shared.push_back(fmt::format("{} counts for {}", name, statements_text(counting)));
    } else if (sum > bounds::load_parts) {
      shared.push_back(fmt::format("the bounds of {} add up though they share {}",
                                   statements_text(counting), name));
    } else {
      std::vector<std::string> parts;
      for (std::size_t i : counting) {
        parts.push_back(
            fmt::format("{} for {}", part_text(lower.shares[i][array]), statements_text({i})));
      }
      shared.push_back(fmt::format("of the loads of {} count {}", name, fmt::join(parts, " and ")));
    }
  }
  if (shared.empty()) return "the statements share no array, so their bounds add up";
  return fmt::format("{}", fmt::join(shared, "; "));
}

// Where the closed form is of no use: for large S it falls below what any schedule moves.
std::string left_domain_text(const Answer& a, const Row& r) {
  bounds::Values at = bounds::sizes_of(a.work.problem);
  at[bounds::capacity_symbol] = r.capacity;
  if (!a.closed || a.closed->holds(at)) return "";
  return fmt::format(
      "the upper form does not hold, as Delta = {:.1f} is below 1 or above a dimension; the number "
      "does",
      static_cast<double>(a.closed->side.value(at)));
}

ordered_json json_of_row(const Answer& a, const Row& r) {
  ordered_json j{{"cache_elements", r.capacity},
                 {"operations", *a.operations},
                 {"lower_elements", lower_json(r.lower.elements)},
                 {"compulsory_elements", lower_json(r.lower.compulsory)},
                 {"lower_reason", nullptr},
                 {"upper_elements", nullptr},
                 {"upper_symbolic_holds", nullptr},
                 {"ratio", nullptr},
                 {"permutation", nullptr},
                 {"tiles", nullptr},
                 {"schedule", nullptr},
                 {"schedule_elements", nullptr},
                 {"schedule_lru_elements", nullptr}};
  if (const std::string why = sharing_text(a.work.problem, r.lower); !why.empty()) {
    j["lower_reason"] = why;
  }
  if (r.upper) {
    j["upper_elements"] = r.upper->moved;
    j["ratio"] = ratio_of(r);
  }
  if (a.closed) j["upper_symbolic_holds"] = left_domain_text(a, r).empty();
  if (!r.order.empty()) {
    j["permutation"] = r.order;
    j["tiles"] = r.tiles;
  }
  if (r.scheduled) {
    j["schedule"] = to_line(r.scheduled->schedule, *a.work.workload);
    j["schedule_elements"] = r.scheduled->bound.cost.moved;
    j["schedule_lru_elements"] = r.scheduled->lru_capacity;
  }
  return j;
}

}  // namespace

ordered_json json_of(const Answer& a, const BoundsRequest& request) {
  ordered_json j{{"schema", results_schema}, {"command", "bounds"}, {"tcsim_version", version}};
  j["workload"] =
      a.work.workload ? cli::json_of(*a.work.workload) : ordered_json{{"name", a.work.name}};
  j["accounting"] = {{"name", request.moves == Moves::loads ? "paper" : "honest"}};
  const std::string& notation = request.notation;
  j["notation"] = notation;
  j["operations_symbolic"] = written(a.lower.runs, notation);
  j["lower_symbolic"] = written(a.lower.moves, notation);
  j["lower_form_symbolic"] = nullptr;
  if (a.lower_form) j["lower_form_symbolic"] = written(*a.lower_form, notation);
  j["upper_symbolic"] = nullptr;
  if (a.closed) j["upper_symbolic"] = written(a.closed->moved, notation);
  if (a.rows.size() == 1) {
    j.update(json_of_row(a, a.rows[0]));
  } else {
    j["bounds"] = ordered_json::array();
    for (const Row& r : a.rows) j["bounds"].push_back(json_of_row(a, r));
  }
  return j;
}

void print_table(const Answer& a, const BoundsRequest& request, std::ostream& out) {
  out << visible(a.work.name) << ": elements over the link to a memory of S elements, "
      << (request.moves == Moves::loads ? "loads" : "loads and stores") << ", ideal replacement\n";
  if (request.print_forms || a.rows.empty()) {
    const std::string& notation = request.notation;
    out << "  multiply-adds  " << written(a.lower.runs, notation) << "\n"
        << "  lower bound    " << written(a.lower.moves, notation) << "\n";
    if (a.lower_form) {
      out << "  lower form     " << written(*a.lower_form, notation)
          << "\n    (ioopt's, whose new sums have a place beside the old ones: not proven)\n";
    }
    if (a.closed) {
      out << "  upper form     " << written(a.closed->moved_by_side, notation)
          << "\n    with Delta = " << written(a.closed->side, notation)
          << "\n    (ioopt's, N / T tiles of real sizes: not proven as the number is)\n";
    }
  }
  if (a.rows.empty()) return;
  Rows rows;
  for (const Row& r : a.rows) {
    rows.push_back({std::to_string(r.capacity), fmt::format("{:.0f}", *a.operations),
                    lower_text(r.lower.compulsory), lower_text(r.lower.elements),
                    r.upper ? fmt::format("{:.0f}", r.upper->moved) : "-",
                    r.upper ? fmt::format("{:.3f}", ratio_of(r)) : "-",
                    r.scheduled ? fmt::format("{:.0f}", r.scheduled->lru_capacity) : "-",
                    r.order.empty() ? "-" : r.tiles});
  }
  out << aligned({"S", "multiply-adds", "compulsory", "lower bound", "upper bound", "ratio",
                  "LRU needs", "reached by tiles, outermost first"},
                 rows, "  ");
  for (const Row& r : a.rows) {
    for (const std::string& why : {sharing_text(a.work.problem, r.lower), left_domain_text(a, r)}) {
      if (!why.empty()) out << fmt::format("  S = {}: {}\n", r.capacity, why);
    }
  }
}

void print_csv(const std::vector<Answer>& all, std::ostream& out) {
  out << "workload,cache_elements,operations,compulsory_elements,lower_elements,upper_elements,"
         "ratio,"
         "permutation,tiles\n";
  for (const Answer& a : all) {
    for (const Row& r : a.rows) {
      out << fmt::format(
          "{},{},{:.0f},{},{},{},{},{},{}\n", csv_cell(a.work.name), r.capacity, *a.operations,
          lower_text(r.lower.compulsory), lower_text(r.lower.elements),
          r.upper ? fmt::format("{:.0f}", r.upper->moved) : "",
          r.upper ? fmt::format("{}", ratio_of(r)) : "", csv_cell(r.order), csv_cell(r.tiles));
    }
  }
}

}  // namespace tcsim::cli::bounding
