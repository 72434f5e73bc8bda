#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/machine/actions.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/machine/diff.hpp"
#include "core/text/safe.hpp"

namespace tcsim::cli {

namespace {

using Json = nlohmann::ordered_json;

// Sources and remarks may be long sentences.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 44;
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

void print_table(const Machine& a, const Machine& b, const std::vector<Difference>& all,
                 std::ostream& out) {
  if (all.empty()) {
    out << fmt::format("{} and {} are the same machine\n", a.name, b.name);
    return;
  }
  Rows rows;
  for (const Difference& d : all) {
    rows.push_back({d.figure, shortened(d.a), shortened(d.b),
                    d.factor ? fmt::format("{:.4g}x", *d.factor) : "",
                    d.changes_results ? "" : "no result"});
  }
  out << aligned({"figure", a.name, b.name, "factor", "changes"}, rows);
  if (content_hash(a) == content_hash(b)) {
    out << fmt::format("same content hash {}: both give the same results\n", content_hash(a));
  }
}

}  // namespace

Exit diff_machines(const Names& names, const Options& options, Context& context) {
  want(names, 2, "diff");
  const Format form = format(options);
  const Machine a = named_machine(names[0], options, context);
  const Machine b = named_machine(names[1], options, context);
  const std::vector<Difference> all = differences(a, b);
  if (form == Format::json) {
    Json j{{"schema", 1}, {"command", "machine diff"}, {"tcsim_version", version}};
    for (const Machine* m : {&a, &b}) {
      j["machines"].push_back({{"name", m->name}, {"hash", content_hash(*m)}});
    }
    j["same_results"] = content_hash(a) == content_hash(b);
    j["differences"] = Json::array();
    for (const Difference& d : all) {
      Json one{{"figure", d.figure}, {"a", d.a}, {"b", d.b}};
      if (d.factor) one["factor"] = *d.factor;
      one["changes_results"] = d.changes_results;
      j["differences"].push_back(one);
    }
    context.out << json_text(j) << "\n";
  } else if (form == Format::csv) {
    context.out << csv_line({"figure", "a", "b", "factor", "changes_results"});
    for (const Difference& d : all) {
      context.out << csv_line({d.figure, d.a, d.b, d.factor ? fmt::format("{}", *d.factor) : "",
                               d.changes_results ? "true" : "false"});
    }
  } else {
    print_table(a, b, all, context.out);
  }
  return all.empty() ? Exit::done : Exit::no;
}

}  // namespace tcsim::cli
