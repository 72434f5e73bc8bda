#include "cli/kernel_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <vector>

#include "cli/result.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;
using Kernels = std::vector<const MeasuredKernel*>;

std::string type_of(const MeasuredKernel& m) { return fmt::format("f{}", 8 * m.element.value()); }

std::string shape_of(const MeasuredKernel& m) {
  return fmt::format("{}x{}", m.rows.value(), m.columns.value());
}

std::string day_of(const KernelCatalog& c) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(c.day.year()),
                     static_cast<unsigned>(c.day.month()), static_cast<unsigned>(c.day.day()));
}

Kernels chosen(const KernelCatalog& catalog, const KernelChoice& choice) {
  Kernels kernels;
  for (const MeasuredKernel& m : catalog.kernels) {
    if (choice.element.value_or(m.element) != m.element) continue;
    if (choice.scheme.value_or(m.scheme) == m.scheme) kernels.push_back(&m);
  }
  return kernels;
}

// Those of the whole catalog.
std::set<const MeasuredKernel*> all_candidates(const KernelCatalog& catalog) {
  std::set<const MeasuredKernel*> all;
  for (KernelScheme scheme : all_kernel_schemes) {
    for (Bytes element : {Bytes(8), Bytes(4)}) {
      const Kernels some = catalog.candidates(element, scheme);
      all.insert(some.begin(), some.end());
    }
  }
  return all;
}

// "64" or "64 to 128".
std::string longest_of(const Kernels& kernels) {
  const auto k = [](const MeasuredKernel* m) { return m->longest().k; };
  const auto least = k(*std::ranges::min_element(kernels, {}, k));
  const auto most = k(*std::ranges::max_element(kernels, {}, k));
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

// Of one instruction set, type and scheme.
void print_grid(const Kernels& kernels, const std::set<const MeasuredKernel*>& candidates,
                std::ostream& out) {
  std::map<int, std::map<Elements, std::string>> cells;  // by vectors, columns
  std::map<int, Elements> rows;
  std::set<Elements> columns;
  for (const MeasuredKernel* m : kernels) {
    cells[m->vectors][m->columns] =
        fmt::format("{:.1f}{}", 100 * m->longest().of_peak, candidates.contains(m) ? "*" : " ");
    rows[m->vectors] = m->rows;
    columns.insert(m->columns);
  }
  out << fmt::format("\n{}, {}, {}, k = {}\n", type_of(*kernels[0]), kernels[0]->instruction_set,
                     to_text(kernels[0]->scheme), longest_of(kernels));
  const auto line = [&](const std::string& first, auto&& cell) {
    std::string text = fmt::format("{:>9}", first);
    for (const auto& [vectors, r] : rows) text += fmt::format("{:>11}", cell(vectors, r));
    out << text.substr(0, text.find_last_not_of(' ') + 1) << "\n";
  };
  line("vectors", [](int vectors, Elements) { return fmt::format("{} ", vectors); });
  line("rows", [](int, Elements r) { return fmt::format("{} ", r.value()); });
  for (Elements c : columns) {
    line(fmt::format("{}", c.value()), [&](int vectors, Elements) { return cells[vectors][c]; });
  }
}

void print_table(const KernelCatalog& catalog, const Kernels& kernels, std::ostream& out) {
  const auto candidates = all_candidates(catalog);
  out << fmt::format(
      "{}, first cache {}, measured {}\n{}\n% of the multiply-add peak at the longest k; *: a "
      "candidate, at least {:.0f} % of the best of its type and scheme\n",
      catalog.processor, to_text(catalog.first_cache), day_of(catalog), catalog.method,
      100 * candidate_share);
  using Class = std::tuple<Bytes, std::string, KernelScheme>;
  std::vector<std::pair<Class, Kernels>> classes;  // in the order of the catalog
  for (const MeasuredKernel* m : kernels) {
    const Class c{m->element, m->instruction_set, m->scheme};
    auto place = std::ranges::find(classes, c, &std::pair<Class, Kernels>::first);
    if (place == classes.end()) place = classes.insert(place, {c, {}});
    place->second.push_back(m);
  }
  for (const auto& [c, some] : classes) print_grid(some, candidates, out);
}

ordered_json kernel_json(const MeasuredKernel& m, bool candidate) {
  ordered_json j{{"mr", m.rows.value()},   {"nr", m.columns.value()},
                 {"type", type_of(m)},     {"instruction_set", m.instruction_set},
                 {"vectors", m.vectors},   {"scheme", to_text(m.scheme)},
                 {"candidate", candidate}, {"points", ordered_json::array()}};
  for (const KernelPoint& p : m.points) {
    j["points"].push_back({{"k", p.k}, {"gflops", p.rate.value() / 1e9}, {"of_peak", p.of_peak}});
  }
  return j;
}

void print_json(const KernelCatalog& catalog, const Kernels& kernels, const std::string& command,
                std::ostream& out) {
  const auto candidates = all_candidates(catalog);
  ordered_json c{{"schema", kernel_catalog_schema},
                 {"tcsim_version", catalog.tcsim_version},
                 {"processor", catalog.processor},
                 {"first_cache_bytes", catalog.first_cache.value()},
                 {"day", day_of(catalog)},
                 {"method", catalog.method},
                 {"repetitions", catalog.repetitions},
                 {"candidate_share", candidate_share},
                 {"kernels", ordered_json::array()}};
  for (const MeasuredKernel* m : kernels) {
    c["kernels"].push_back(kernel_json(*m, candidates.contains(m)));
  }
  out << json_text({{"schema", results_schema},
                    {"command", command},
                    {"tcsim_version", version},
                    {"catalog", c}})
      << "\n";
}

void print_csv(const KernelCatalog& catalog, const Kernels& kernels, const std::string& command,
               std::ostream& out) {
  const auto candidates = all_candidates(catalog);
  out << csv_line({"schema", "command", "tcsim_version", "processor", "shape", "type",
                   "instruction_set", "k", "gflops", "of_peak", "vectors", "scheme", "candidate",
                   "day"});
  for (const MeasuredKernel* m : kernels) {
    for (const KernelPoint& p : m->points) {
      out << csv_line({fmt::format("{}", results_schema), command, version, catalog.processor,
                       shape_of(*m), type_of(*m), m->instruction_set, fmt::format("{}", p.k),
                       csv_number(p.rate.value() / 1e9), csv_number(p.of_peak),
                       fmt::format("{}", m->vectors), to_text(m->scheme),
                       candidates.contains(m) ? "true" : "false", day_of(catalog)});
    }
  }
}

}  // namespace

void print(const KernelCatalog& catalog, const KernelChoice& choice, const std::string& command,
           Format format, std::ostream& out) {
  const Kernels kernels = chosen(catalog, choice);
  switch (format) {
    case Format::table:
      return print_table(catalog, kernels, out);
    case Format::json:
      return print_json(catalog, kernels, command, out);
    case Format::csv:
      return print_csv(catalog, kernels, command, out);
  }
}

}  // namespace tcsim::cli
