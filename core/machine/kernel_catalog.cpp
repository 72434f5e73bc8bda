#include "core/machine/kernel_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/io/toml.hpp"
#include "core/machine/toml_reader.hpp"
#include "core/text/name.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

// Shares are measured a little above 1; a percentage is far beyond.
constexpr double most_of_peak = 10;

// A text that ends up in tables.
std::string line_of_text(const MachineReader& r, const toml::table& table, std::string_view key,
                         std::string_view what) {
  const toml::node& node = r.required(table, key, what);
  std::string text = r.text(node, key);
  require_name(text, r.at(node), std::string(key));
  if (text.empty()) r.fail(node, fmt::format("{} is empty", key), kernel_catalog_mend);
  return text;
}

std::chrono::year_month_day read_day(const MachineReader& r, const toml::node& node) {
  const auto* date = node.as_date();
  if (date == nullptr) r.fail(node, "day is no date", "write it as in 2026-01-31, without quotes");
  const toml::date d = date->get();
  return {std::chrono::year(d.year), std::chrono::month(d.month), std::chrono::day(d.day)};
}

KernelPoint read_point(const MachineReader& r, const toml::node& node) {
  constexpr std::string_view what = "a point";
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    r.fail(node, "a point is no table", "write { k = 4, flops_per_second = 1e9, of_peak = 0.5 }");
  }
  r.known_keys(*table, what, {"k", "flops_per_second", "of_peak"});
  KernelPoint p;
  p.k = r.count(r.required(*table, "k", what), "k");
  const toml::node& rate = r.required(*table, "flops_per_second", what);
  p.rate = FlopsPerSecond(r.number(rate, "flops_per_second"));
  const toml::node& share = r.required(*table, "of_peak", what);
  p.of_peak = r.number(share, "of_peak");
  if (p.of_peak > most_of_peak) {
    r.fail(share, fmt::format("of_peak is more than {}", most_of_peak),
           "it is a share, not a percentage: 0.85");
  }
  return p;
}

MeasuredKernel read_kernel(const MachineReader& r, const toml::table& table) {
  constexpr std::string_view what = "[[kernel]]";
  r.known_keys(table, what,
               {"instruction_set", "element", "scheme", "vectors", "rows", "columns", "points"});
  const auto required = [&](std::string_view key) -> const toml::node& {
    return r.required(table, key, what);
  };
  MeasuredKernel m;
  m.instruction_set = line_of_text(r, table, "instruction_set", what);
  m.element = r.bytes(required("element"), "element");
  if (m.element != Bytes(4) && m.element != Bytes(8)) {
    r.fail(required("element"), "element is neither 4B nor 8B", "f32 is \"4B\", f64 is \"8B\"");
  }
  m.scheme = r.choice(required("scheme"), "scheme", all_kernel_schemes);
  m.vectors = r.small_count(required("vectors"), "vectors");
  m.rows = Elements(r.count(required("rows"), "rows"));
  if (m.rows.value() % m.vectors != 0) {
    r.fail(required("rows"),
           fmt::format("{} rows are no whole number for each of {} vectors", m.rows.value(),
                       m.vectors),
           "give a multiple of vectors");
  }
  m.columns = Elements(r.count(required("columns"), "columns"));
  const toml::node& points = required("points");
  m.points = r.list(table, "points",
                    [&](const toml::node& n, std::string_view) { return read_point(r, n); });
  if (m.points.empty()) r.fail(points, "points is empty", kernel_catalog_mend);
  const auto rises = [](const KernelPoint& a, const KernelPoint& b) { return a.k >= b.k; };
  if (std::adjacent_find(m.points.begin(), m.points.end(), rises) != m.points.end()) {
    r.fail(points, "the points' k do not rise", "list the shortest first, each once");
  }
  return m;
}

using Tile = std::tuple<std::string, Bytes, KernelScheme, int, Elements>;
Tile tile_of(const MeasuredKernel& m) {
  return {m.instruction_set, m.element, m.scheme, m.vectors, m.columns};
}

std::string point_text(const KernelPoint& p) {
  return fmt::format("  {{ k = {}, flops_per_second = {}, of_peak = {} }},\n", p.k, p.rate.value(),
                     p.of_peak);
}

std::string kernel_text(const MeasuredKernel& m) {
  std::string text = fmt::format(
      "\n[[kernel]]\ninstruction_set = {}\nelement = {}\nscheme = \"{}\"\nvectors = {}\nrows = "
      "{}\ncolumns = {}\npoints = [\n",
      toml_string(m.instruction_set), toml_string(to_text(m.element)), to_text(m.scheme), m.vectors,
      m.rows.value(), m.columns.value());
  for (const KernelPoint& p : m.points) text += point_text(p);
  return text + "]\n";
}

}  // namespace

const char* to_text(KernelScheme scheme) {
  switch (scheme) {
    case KernelScheme::packed:
      return "packed";
    case KernelScheme::in_place:
      return "in-place";
  }
  throw std::logic_error("no such scheme");
}

std::vector<const MeasuredKernel*> KernelCatalog::candidates(Bytes element,
                                                             KernelScheme scheme) const& {
  std::vector<const MeasuredKernel*> chosen;
  double best = 0;
  for (const MeasuredKernel& m : kernels) {
    if (m.element != element || m.scheme != scheme) continue;
    chosen.push_back(&m);
    best = std::max(best, m.longest().of_peak);
  }
  std::erase_if(chosen, [&](const MeasuredKernel* m) {
    return m->longest().of_peak < candidate_share * best;
  });
  return chosen;
}

KernelCatalog parse_kernel_catalog(std::string_view toml, const std::string& place) {
  constexpr std::string_view what = "a catalog of kernels";
  const toml::table root = parse_toml(toml, place);
  const MachineReader r(place);
  const toml::node* schema = root.get("schema");
  if (schema == nullptr) throw InputError(place + ":1:1", "no schema", kernel_catalog_mend);
  if (schema->value_exact<std::int64_t>() != kernel_catalog_schema) {
    r.fail(*schema, "unknown schema",
           fmt::format("this tcsim reads schema = {}: {}", kernel_catalog_schema,
                       kernel_catalog_mend));
  }
  r.known_keys(root, what,
               {"schema", "tcsim_version", "processor", "first_cache", "day", "method",
                "repetitions", "kernel"});
  KernelCatalog c;
  c.tcsim_version = line_of_text(r, root, "tcsim_version", what);
  c.processor = line_of_text(r, root, "processor", what);
  c.first_cache = r.bytes(r.required(root, "first_cache", what), "first_cache");
  c.day = read_day(r, r.required(root, "day", what));
  c.method = line_of_text(r, root, "method", what);
  c.repetitions = r.small_count(r.required(root, "repetitions", what), "repetitions");
  r.required(root, "kernel", what);
  std::set<Tile> seen;
  std::map<std::pair<std::string, Bytes>, std::int64_t> lanes;
  r.each_table(root, "kernel", "kernel", [&](const toml::table& t) {
    MeasuredKernel m = read_kernel(r, t);
    if (!seen.insert(tile_of(m)).second) {
      r.fail(t,
             fmt::format("{}x{} of {}, {}, is there twice", m.rows.value(), m.columns.value(),
                         m.instruction_set, to_text(m.scheme)),
             "take one out");
    }
    const std::int64_t rows = m.rows.value() / m.vectors;
    if (const auto first = lanes.try_emplace({m.instruction_set, m.element}, rows).first;
        first->second != rows) {
      r.fail(*t.get("rows"),
             fmt::format("a vector has {} rows here and {} above", rows, first->second),
             "give rows and vectors that agree");
    }
    c.kernels.push_back(std::move(m));
  });
  if (c.kernels.empty()) r.fail(*root.get("kernel"), "there is no kernel", kernel_catalog_mend);
  return c;
}

std::string to_toml(const KernelCatalog& c) {
  std::string text = fmt::format(
      "schema = {}\ntcsim_version = {}\nprocessor = {}\nfirst_cache = {}\nday = "
      "{:04}-{:02}-{:02}\nmethod = {}\nrepetitions = {}\n",
      kernel_catalog_schema, toml_string(c.tcsim_version), toml_string(c.processor),
      toml_string(to_text(c.first_cache)), static_cast<int>(c.day.year()),
      static_cast<unsigned>(c.day.month()), static_cast<unsigned>(c.day.day()),
      toml_string(c.method), c.repetitions);
  for (const MeasuredKernel& m : c.kernels) text += kernel_text(m);
  return text;
}

}  // namespace tcsim
