#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/describe.hpp"
#include "cli/machine/actions.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/machine/fields.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string number(const auto& value) { return fmt::format("{}", value); }
double per_second(const Machine& m, const Level& l) {
  return l.bandwidth.value.at(m.core.frequency.value).value();
}
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// --- for people ---

template <class T>
std::string with_doubt(const Figure<T>& figure) {
  return fmt::format("{}{}", to_text(figure.value),
                     figure.origin == Origin::assumed ? " (assumed)" : "");
}

std::string level_table(const Machine& m) {
  Rows rows;
  for (const Level& l : m.levels) {
    const bool cache = l.kind == LevelKind::cache;
    const auto of_cache = [&](const std::string& text) { return cache ? text : std::string("-"); };
    rows.push_back({l.name, to_text(l.kind),
                    l.capacity.value.value() > 0 ? to_text(l.capacity.value) : "-",
                    cache ? number(l.sets()) : "-", of_cache(number(l.ways.value)),
                    of_cache(to_text(l.line.value)), number(l.shared_by),
                    fmt::format("{:.1f} GB/s", per_second(m, l) / 1e9), to_text(l.bandwidth.origin),
                    l.latency ? number(l.latency->value.value()) : "-",
                    of_cache(with_doubt(l.replacement)), of_cache(with_doubt(l.inclusion))});
  }
  return aligned({"level", "kind", "capacity", "sets", "ways", "line", "shared by",
                  "bandwidth inward", "origin", "latency", "replacement", "inclusion"},
                 rows, "  ");
}

// What only few machines have.
std::string peculiarities(const Machine& m) {
  std::string text;
  for (const Level& l : m.levels) {
    std::string what;
    if (l.write != WritePolicy::write_back) what += fmt::format(", {}", to_text(l.write));
    if (!l.write_allocate) what += ", no write-allocate";
    if (l.energy) what += fmt::format(", energy {}", to_text(l.energy->value));
    if (l.exposed) what += fmt::format(", exposed {}", l.exposed->value);
    if (l.loads.value != 1) {
      what += fmt::format(", loads alone {} times the bandwidth", l.loads.value);
    }
    if (l.prefetch != Prefetch::none) what += fmt::format(", prefetch {}", to_text(l.prefetch));
    if (streams(l.prefetch)) what += fmt::format(" ({} ahead)", l.prefetch_ahead);
    if (l.victim_lines != 0) what += fmt::format(", victim cache of {} lines", l.victim_lines);
    if (l.index != SetIndex{}) what += fmt::format(", index {}", to_text(l.index));
    if (!what.empty()) text += fmt::format("  {:<10}{}\n", l.name, what.substr(2));
  }
  for (const Tlb& t : m.tlbs) {
    text += fmt::format("  TLB       {}: {} entries, {} ways, pages of {}\n", t.name, t.entries,
                        t.ways, to_text(t.page));
  }
  if (m.method) {
    const auto line = [&](const char* name, const std::string& value) {
      if (!value.empty()) text += fmt::format("  {:<10}{}\n", name, visible(value));
    };
    line("affinity", m.method->affinity);
    line("clock", m.method->clock);
    line("pages", m.method->pages);
    line("warm-up", m.method->warm_up);
    if (m.method->repetitions > 0) line("repeated", number(m.method->repetitions) + " times");
  }
  for (const std::string& remark : m.remarks)
    text += fmt::format("  remark    {}\n", visible(remark));
  std::size_t series = m.core.peaks.size();
  for (const Level& l : m.levels) series += l.series.size();
  if (series > 0) text += fmt::format("  measured  {} series; --series lists them\n", series);
  return text;
}

std::string table(const Machine& m) {
  return fmt::format("{}  {}\ncontent hash {}\n\n", m.name, visible(m.description),
                     content_hash(m)) +
         level_table(m) +
         fmt::format(
             "\n  core      {}, {}-bit vectors, {} registers, {:.4g} FMA per cycle, latency "
             "{}\n  FMA peak  {:.1f} GFLOPS f64, {:.1f} GFLOPS f32\n",
             to_text(m.core.frequency.value), m.core.vector_bits.value,
             m.core.vector_registers.value, m.core.fma_per_cycle.value,
             m.core.fma_latency.value.value(), m.peak(Bytes(8)).value() / 1e9,
             m.peak(Bytes(4)).value() / 1e9) +
         overhead_lines(m.core) +
         (m.core.cores == 1 ? "" : fmt::format("  at work   {} cores\n", m.core.cores)) +
         peculiarities(m);
}

// --- measurements, one row each ---

struct SeriesRow {
  std::string owner, mix, element, instruction_set, working_set, unit;
  int cores;
  double median, spread;
  std::size_t repetitions;
  Hertz frequency;
  bool unstable;
};

std::vector<SeriesRow> series_of(const Machine& m) {
  std::vector<SeriesRow> rows;
  for (const PeakSeries& s : m.core.peaks) {
    rows.push_back({"core", "fma", number(s.element.value()), s.instruction_set, "", "GFLOPS",
                    s.cores, s.median().value() / 1e9, s.spread(), s.repetitions.size(), Hertz(0),
                    false});
  }
  for (const Level& l : m.levels) {
    for (const BandwidthSeries& s : l.series) {
      rows.push_back({l.name, to_text(s.mix), number(s.element.value()), s.instruction_set,
                      number(s.working_set.value()), "GB/s", s.cores, s.median().value() / 1e9,
                      s.spread(), s.repetitions.size(), s.frequency, s.unstable});
    }
  }
  return rows;
}

std::string series_table(const Machine& m) {
  Rows rows;
  for (const SeriesRow& s : series_of(m)) {
    const std::string size =
        s.working_set.empty() ? "-" : to_text(Bytes(std::stoll(s.working_set)));
    rows.push_back(
        {s.owner, s.mix, s.element + "B", s.instruction_set, number(s.cores), size,
         fmt::format("{:.4g} {}", s.median, s.unit), percent(s.spread), number(s.repetitions),
         s.frequency.value() > 0 ? fmt::format("{:.4g} GHz", s.frequency.value() / 1e9) : "-",
         s.unstable ? "unstable" : ""});
  }
  return fmt::format("{}\n", m.name) +
         aligned({"level", "mix", "element", "instruction set", "cores", "working set", "median",
                  "spread", "repetitions", "frequency", ""},
                 rows, "  ");
}

void series_csv(const Machine& m, std::ostream& out) {
  for (const SeriesRow& s : series_of(m)) {
    out << csv_line({m.name, content_hash(m), s.owner, s.mix, s.element, s.instruction_set,
                     number(s.cores), s.working_set, number(s.median * 1e9),
                     s.unit == "GB/s" ? "bytes_per_second" : "flops_per_second", number(s.spread),
                     number(s.repetitions), number(s.frequency.value()),
                     s.unstable ? "true" : "false"});
  }
}

const std::vector<std::string> series_columns{"machine",         "hash",
                                              "level",           "mix",
                                              "element_bytes",   "instruction_set",
                                              "cores",           "working_set_bytes",
                                              "median",          "unit",
                                              "spread",          "repetitions",
                                              "frequency_hertz", "unstable"};

// --- JSON ---

// The unit of a value in JSON, behind its key.
template <class T>
std::string json_unit() {
  if (std::is_same_v<T, Bytes>) return "_bytes";
  if (std::is_same_v<T, Hertz>) return "_hertz";
  if (std::is_same_v<T, Cycles>) return "_cycles";
  if (std::is_same_v<T, Bandwidth>) return "_bytes_per_second";
  if (std::is_same_v<T, JoulesPerByte>) return "_joules_per_byte";
  return "";
}

template <class T>
Json json_value(const Machine& m, const T& value) {
  if constexpr (std::is_same_v<T, Bandwidth>) {
    return value.at(m.core.frequency.value).value();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (requires { value.value(); }) {
    return value.value();
  } else {
    return to_text(value);
  }
}

// KEY, KEY_origin and, where there is one, KEY_source; the unit of KEY belongs to its value only.
template <class Owner, class Member>
void put(Json& j, const Machine& m, const Owner& owner, const Field<Owner, Member>& field) {
  const auto* value = value_of(owner, field);
  if (value == nullptr) return;
  const std::string key(field.name);
  j[key + json_unit<typename Held<Member>::Value>()] = json_value(m, *value);
  const auto provenance = [&](const auto& figure) {
    j[key + "_origin"] = to_text(figure.origin);
    if (!figure.source.empty()) j[key + "_source"] = figure.source;
  };
  if constexpr (Held<Member>::is_optional) {
    provenance(*(owner.*field.member));
  } else if constexpr (Held<Member>::is_figure) {
    provenance(owner.*field.member);
  }
}

template <class Series>
Json rates(const Series& s, const char* unit) {
  Json j{{"element_bytes", s.element.value()},
         {"instruction_set", s.instruction_set},
         {"cores", s.cores},
         {fmt::format("median_{}", unit), s.median().value()},
         {"spread", s.spread()}};
  Json all = Json::array();
  for (const auto& r : s.repetitions) all.push_back(r.value());
  j[fmt::format("repetitions_{}", unit)] = all;
  return j;
}

Json level_json(const Machine& m, const Level& l) {
  Json j{{"name", l.name}, {"kind", to_text(l.kind)}};
  for_each_field<Level>([&](const auto& field) {
    const bool limited = field.name != "capacity" || l.capacity.value > Bytes(0);
    if (belongs(field, l.kind) && limited) put(j, m, l, field);
    if (field.name == "capacity" && l.kind == LevelKind::cache) j["sets"] = l.sets();
  });
  if (l.series.empty()) return j;
  j["series"] = Json::array();
  for (const BandwidthSeries& s : l.series) {
    Json one{{"mix", to_text(s.mix)}, {"working_set_bytes", s.working_set.value()}};
    one.update(rates(s, "bytes_per_second"));
    if (s.frequency.value() > 0) one["frequency_hertz"] = s.frequency.value();
    one["unstable"] = s.unstable;
    j["series"].push_back(one);
  }
  return j;
}

Json to_json(const Machine& m) {
  Json j{{"schema", 1},    {"command", "machine show"},    {"tcsim_version", version},
         {"name", m.name}, {"description", m.description}, {"hash", content_hash(m)}};
  for (const Level& l : m.levels) j["levels"].push_back(level_json(m, l));
  const Core& c = m.core;
  Json core;
  for_each_field<Core>([&](const auto& field) { put(core, m, c, field); });
  Json overhead;
  for_each_field<Overhead>([&](const auto& field) { put(overhead, m, c.overhead, field); });
  core["overhead"] = overhead;
  for (const PeakSeries& s : c.peaks) core["peaks"].push_back(rates(s, "flops_per_second"));
  j["core"] = core;
  for (const Tlb& t : m.tlbs) {
    Json tlb{{"name", t.name}};
    for_each_field<Tlb>([&](const auto& field) { put(tlb, m, t, field); });
    j["tlbs"].push_back(tlb);
  }
  if (m.method) {
    j["method"] = {{"affinity", m.method->affinity},
                   {"clock", m.method->clock},
                   {"pages", m.method->pages},
                   {"warm_up", m.method->warm_up},
                   {"repetitions", m.method->repetitions}};
  }
  if (!m.remarks.empty()) j["remarks"] = m.remarks;
  j["peak_f64_gflops"] = m.peak(Bytes(8)).value() / 1e9;
  j["peak_f32_gflops"] = m.peak(Bytes(4)).value() / 1e9;
  return j;
}

// --- CSV, one row for each level ---

const std::vector<std::string> level_columns{"machine",
                                             "hash",
                                             "level",
                                             "kind",
                                             "capacity_bytes",
                                             "sets",
                                             "ways",
                                             "line_bytes",
                                             "bandwidth_bytes_per_second",
                                             "bandwidth_origin",
                                             "shared_by",
                                             "latency_cycles",
                                             "replacement",
                                             "replacement_origin",
                                             "inclusion",
                                             "inclusion_origin",
                                             "write",
                                             "write_allocate",
                                             "prefetch",
                                             "energy_joules_per_byte",
                                             "index",
                                             "prefetch_ahead",
                                             "victim_lines"};

void level_csv(const Machine& m, std::ostream& out) {
  for (const Level& l : m.levels) {
    const bool cache = l.kind == LevelKind::cache;
    const auto of_cache = [&](const std::string& text) { return cache ? text : ""; };
    out << csv_line({m.name,
                     content_hash(m),
                     l.name,
                     to_text(l.kind),
                     number(l.capacity.value.value()),
                     number(cache ? l.sets() : 0),
                     number(l.ways.value),
                     number(l.line.value.value()),
                     number(per_second(m, l)),
                     to_text(l.bandwidth.origin),
                     number(l.shared_by),
                     l.latency ? number(l.latency->value.value()) : "",
                     of_cache(to_text(l.replacement.value)),
                     of_cache(to_text(l.replacement.origin)),
                     of_cache(to_text(l.inclusion.value)),
                     of_cache(to_text(l.inclusion.origin)),
                     of_cache(to_text(l.write)),
                     of_cache(l.write_allocate ? "true" : "false"),
                     of_cache(to_text(l.prefetch)),
                     l.energy ? number(l.energy->value.value()) : "",
                     of_cache(to_text(l.index)),
                     of_cache(number(l.prefetch_ahead)),
                     of_cache(number(l.victim_lines))});
  }
}

}  // namespace

Exit show_machines(const Names& names, const Options& options, Context& context) {
  const Format form = format(options);
  const bool series = options["series"].as<bool>();
  std::vector<Machine> machines;
  for (const std::string& name : names) machines.push_back(named_machine(name, options, context));
  if (options["toml"].as<bool>()) {
    for (const Machine& m : machines) context.out << to_toml(m);
  } else if (form == Format::json) {
    Json all = Json::array();
    for (const Machine& m : machines) all.push_back(to_json(m));
    context.out << json_text(all.size() == 1 ? all[0] : all) << "\n";
  } else if (form == Format::csv) {
    context.out << csv_line(series ? series_columns : level_columns);
    for (const Machine& m : machines) (series ? series_csv : level_csv)(m, context.out);
  } else {
    for (const Machine& m : machines) context.out << (series ? series_table(m) : table(m));
  }
  return Exit::done;
}

}  // namespace tcsim::cli
