// bounds: how little any order of a workload's multiply-adds can move, and what a schedule does.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "cli/bounds_curve.hpp"
#include "cli/describe.hpp"
#include "cli/request.hpp"
#include "cli/result.hpp"
#include "cli/table.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "cli/work.hpp"
#include "core/bounds/closed_form.hpp"
#include "core/bounds/ioopt_form.hpp"
#include "core/bounds/lower.hpp"
#include "core/bounds/problem_text.hpp"
#include "core/bounds/traffic.hpp"
#include "core/bounds/upper.hpp"
#include "core/bounds/upper_schedule.hpp"
#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "core/workload/contraction_view.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

using bounds::Moves;
using bounds::Problem;
using nlohmann::ordered_json;

// The capacity that is meant where none is given.
constexpr const char* usual_capacity = "32KiB";

struct Work {
  std::string name;
  Problem problem;
  Bytes element;                        // the smallest of its elements
  std::optional<Contraction> workload;  // unless it is an affine program
};

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

std::optional<ElementType> type_of(const Options& options) {
  if (options.count("type") == 0) return std::nullopt;
  return options["type"].as<std::string>() == "f32" ? ElementType::f32 : ElementType::f64;
}

Work affine_work(const Options& options, const std::string& given) {
  Work work{"", {}, Bytes(8), {}};
  if (bounds::is_problem_file(given)) {
    work.problem = bounds::load_problem(given);
  } else {
    work.problem = bounds::parse_problem(given, "WORKLOAD");
  }
  if (options.count("size") != 0) set_sizes(work.problem, options["size"].as<std::string>());
  if (const auto type = type_of(options)) work.element = size_of(*type);
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

bool is_affine(const std::vector<std::string>& given) {
  return !given.empty() && (bounds::is_problem_file(given[0]) || bounds::is_problem_text(given[0]));
}
bool is_chain(const std::vector<std::string>& given) {
  return given.size() == 1 && fusion::names_chain(given[0]);
}

std::vector<Work> works(const Options& options) {
  const std::vector<std::string> given = arguments(options);
  if (is_affine(given)) {
    return {affine_work(options, given[0])};
  }
  // A chain is no contraction, but it has bounds.
  if (is_chain(given)) {
    if (options.count("layout") != 0) {
      throw UsageError("--layout", "a chain's bounds know no memory order", "leave the option out");
    }
    fusion::ChainRequest request;
    request.name = given[0];
    if (options.count("size") != 0) request.sizes = options["size"].as<std::string>();
    request.type = type_of(options);
    std::vector<Work> all;
    for (const fusion::Chain& chain : fusion::find_chains(request)) {
      all.push_back(program_work(chain.program));
    }
    return all;
  }
  if (!given.empty() && is_program_file(given[0]) && options.count("type") == 0 &&
      options.count("size") == 0 && options.count("layout") == 0) {
    return {program_work(load_program(given[0]))};
  }
  std::vector<Work> all;
  for (const Contraction& c : workloads(options)) {
    all.push_back(program_work(program_of(c)));
    all.back().name = c.name();
    all.back().workload = c;
  }
  return all;
}

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

std::vector<std::string> names_of(const Problem& problem, std::size_t statement) {
  std::vector<std::string> names;
  for (DimId d : bounds::dims_of(problem.statements[statement])) {
    names.push_back(problem.dim(d).name);
  }
  return names;
}

// Forms that only JSON or --symbolic print take time, and are made for them.
Answer answer(const Options& options, Work work, Moves moves, bool for_json) {
  Answer a{std::move(work), {}, {}, {}};
  a.lower = bounds::lower_bound(a.work.problem, moves);
  const bool one = a.work.problem.statements.size() == 1;
  if (one && (for_json || options.count("symbolic") != 0)) {
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
  if (options.count("cache") != 0) capacities = options["cache"].as<std::vector<std::string>>();
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

std::string written(const bounds::Expression& e, const std::string& notation) {
  if (notation == "latex") return bounds::to_latex(e);
  if (notation == "python") return bounds::to_python(e);
  return bounds::to_text(e);
}

std::string notation_of(const Options& options) {
  return options.count("symbolic") != 0 ? options["symbolic"].as<std::string>() : "text";
}

Moves moves_of(const Options& options) {
  const bool paper =
      options.count("accounting") != 0 && options["accounting"].as<std::string>() == "paper";
  return paper ? Moves::loads : Moves::loads_and_stores;
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

ordered_json json_of_answer(const Answer& a, const Options& options) {
  ordered_json j{{"schema", results_schema}, {"command", "bounds"}, {"tcsim_version", version}};
  j["workload"] = a.work.workload ? json_of(*a.work.workload) : ordered_json{{"name", a.work.name}};
  j["accounting"] = {{"name", moves_of(options) == Moves::loads ? "paper" : "honest"}};
  const std::string notation = notation_of(options);
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

void print_table(const Answer& a, const Options& options, std::ostream& out) {
  out << visible(a.work.name) << ": elements over the link to a memory of S elements, "
      << (moves_of(options) == Moves::loads ? "loads" : "loads and stores")
      << ", ideal replacement\n";
  if (options.count("symbolic") != 0 || a.rows.empty()) {
    const std::string notation = notation_of(options);
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

Exit run_bounds(const Options& options, Context& context) {
  if (options["run"].as<bool>() && options.count("curve") == 0) {
    throw UsageError("--run", "it is for marks on a curve", "add --curve 16KiB..64MiB");
  }
  if (options.count("curve") != 0) {
    if (is_affine(arguments(options)) || is_chain(arguments(options))) {
      throw UsageError("--curve", "has schedules, which affine programs and chains have not",
                       "name a contraction or a convolution, or several capacities with --cache");
    }
    return run_bounds_curve(options, workloads(options), moves_of(options), context);
  }
  const Format form = format(options);
  std::vector<Answer> all;
  std::vector<Work> asked = works(options);
  const bool suite = asked.size() > 1;
  for (Work& work : asked) {
    if (context.stop.stop_requested()) throw Interrupted();
    all.push_back(answer(options, std::move(work), moves_of(options), form == Format::json));
    if (form != Format::table) continue;
    if (all.size() > 1) context.out << "\n";
    print_table(all.back(), options, context.out);
  }
  if (form == Format::csv) print_csv(all, context.out);
  if (form != Format::json) return Exit::done;
  if (!suite) {
    context.out << json_text(json_of_answer(all[0], options)) << "\n";
    return Exit::done;
  }
  ordered_json j{{"schema", results_schema},
                 {"command", "bounds"},
                 {"tcsim_version", version},
                 {"results", ordered_json::array()}};
  for (const Answer& a : all) j["results"].push_back(json_of_answer(a, options));
  context.out << json_text(j) << "\n";
  return Exit::done;
}

}  // namespace

const Command& bounds_command() {
  static const Command command{
      "bounds",
      "WORKLOAD",
      "how little any order of its multiply-adds can move, proven, and what one moves that is "
      "there",
      "tcsim bounds tccg:8 --symbolic --cache 32KiB --cache 1MiB",
      [](po::options_description& o) {
        declare_workload(o);
        o.add_options()("symbolic", words({"text", "latex", "python"})->implied("text"),
                        "print expressions of the sizes and the capacity S")(
            "cache", po::value<std::vector<std::string>>(),
            "capacity of the memory: 32KiB, or a bare number of elements (repeatable) [32KiB]")(
            "curve", po::value<std::string>(),
            "over the capacity instead, LOW..HIGH or LOW..HIGH:POINTS: lower and upper bound, the "
            "best schedule in a store of S, and in an LRU cache of S")(
            "no-simulate", po::bool_switch(), "with --curve: leave the simulations out")(
            "run", po::bool_switch(),
            "with --curve: also run a schedule for the machine here, a mark for each link")(
            "machine", po::value<std::string>()->default_value("host"),
            "of --run: a shipped name, a file, or host: this machine, measured on first use")(
            "set", po::value<std::vector<std::string>>(),
            "of --run: override a figure of the machine: L3.capacity=64MiB (repeatable)")(
            "model", words({"window", "listing3"}, "window"),
            "of --run: that predicts the traffic")("threads", whole(1, 1),
                                                   "of --run: simulate on at most so many")(
            "accounting", words({"honest", "paper"}, "honest"),
            "honest counts loads and stores, paper loads alone");
        declare_schedule(o);
        declare_run(o);
        declare_output(o);
      },
      run_bounds};
  return command;
}

}  // namespace tcsim::cli
