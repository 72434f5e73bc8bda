// diff: two folders of a sweep's results, compared by what they mean.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/request.hpp"
#include "cli/result.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "sweep/compare.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

void print_table(const Comparison& c, std::ostream& out) {
  for (const std::string& s : c.settings) out << s << "\n";
  out << fmt::format("{} points in both", c.common);
  if (c.points_only_a > 0) out << fmt::format(", {} only in the first", c.points_only_a);
  if (c.points_only_b > 0) out << fmt::format(", {} only in the second", c.points_only_b);
  out << "\n";
  if (!c.only_a.empty()) out << "only the first has " << joined(c.only_a) << "\n";
  if (!c.only_b.empty()) out << "only the second has " << joined(c.only_b) << "\n";
  if (c.same()) {
    out << "the same results\n";
    return;
  }
  if (c.columns.empty()) return;
  out << fmt::format("\n  {:<28}{:>10}{:>12}  {}\n", "figure", "points", "largest", "where");
  for (const ColumnDifference& d : c.columns) {
    out << fmt::format("  {:<28}{:>10}{:>12}  {}: {}, {}\n", d.column, d.points,
                       d.largest > 0 ? fmt::format("{:.3g} %", 100 * d.largest) : "", d.where, d.a,
                       d.b);
  }
}

void print_json(const Comparison& c, std::ostream& out) {
  nlohmann::ordered_json j;
  j["schema"] = results_schema;
  j["command"] = "diff";
  j["tcsim_version"] = version;
  j["same"] = c.same();
  j["settings"] = c.settings;
  j["points"] = c.common;
  j["points_only_a"] = c.points_only_a;
  j["points_only_b"] = c.points_only_b;
  j["columns_only_a"] = c.only_a;
  j["columns_only_b"] = c.only_b;
  j["columns"] = nlohmann::ordered_json::array();
  for (const ColumnDifference& d : c.columns) {
    j["columns"].push_back({{"column", d.column},
                            {"points", d.points},
                            {"largest", d.largest},
                            {"where", d.where},
                            {"a", d.a},
                            {"b", d.b}});
  }
  out << json_text(j) << "\n";
}

Exit run_diff(const Options& options, Context& context) {
  const auto given = arguments(options);
  if (given.size() != 2) {
    throw UsageError("diff", "two folders are compared", "give both, such as a-results b-results");
  }
  const double percent = options["tolerance"].as<double>();
  if (!(percent >= 0)) {
    throw UsageError("--tolerance", fmt::format("{} is below 0", percent), "give percent");
  }
  const Comparison c = compare_results(given[0], given[1], percent / 100, context.stop);
  if (format(options) == Format::json) {
    print_json(c, context.out);
  } else {
    print_table(c, context.out);
  }
  return c.same() ? Exit::done : Exit::no;
}

}  // namespace

const Command& diff_command() {
  static const Command command{
      "diff",
      "FOLDER FOLDER",
      "two folders of a sweep's results: the same points, and the same figures?",
      "tcsim diff before-results after-results --tolerance 0.1",
      [](po::options_description& o) {
        o.add_options()("tolerance", po::value<double>()->default_value(0),
                        "percent that numbers may differ by");
        declare_output(o);
      },
      run_diff,
      2};
  return command;
}

}  // namespace tcsim::cli
