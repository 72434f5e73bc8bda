// What simulate --sets prints.
#include <fmt/format.h>

#include <algorithm>

#include "cli/simulation/views.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "sim/set_words.hpp"

namespace tcsim::cli {

using nlohmann::ordered_json;

namespace {

// What is said of an array in a set, under the names that JSON and CSV have for it.
struct CountOf {
  const char* name;
  Lines (*count)(const SetTally&);
};
constexpr CountOf counts_of[] = {
    {"requests", [](const SetTally& c) { return c.requests; }},
    {"misses", [](const SetTally& c) { return c.misses.total(); }},
    {"compulsory", [](const SetTally& c) { return c.misses.compulsory; }},
    {"capacity", [](const SetTally& c) { return c.misses.capacity; }},
    {"conflict", [](const SetTally& c) { return c.misses.conflict; }},
    {"fills", [](const SetTally& c) { return c.fills; }}};
constexpr const char* resident = "resident_lines";
constexpr const char* wanted = "wanted_lines";

// Sets that the table has in one row, so that rows are few.
constexpr std::int64_t most_rows = 16;

std::string index_text(const SetUse& use) { return to_text(use.level.index); }

std::string average(double v) { return fmt::format("{:.1f}", v); }

std::vector<std::string> count_cells(const SetUse& use, const SetTally& c) {
  return {fmt::format("{}", c.requests.value()), fmt::format("{}", c.misses.total().value()),
          fmt::format("{}", c.misses.conflict.value()), average(use.a_touch(c.resident)),
          average(use.a_window(c.wanted))};
}

ordered_json array_json(const SetUse& use, ArrayId a) {
  const ArraySpread& spread = use.spread_of(a);
  ordered_json j{{"lines_a_window", use.a_window(spread.lines)},
                 {"sets_a_window", use.a_window(Lines(spread.sets))},
                 {"room_a_window", use.a_window(Lines(spread.room))},
                 {"beyond_a_window", use.a_window(spread.beyond)}};
  for (const CountOf& f : counts_of) {
    for (const SetTally& c : use.of(a)) j[f.name].push_back(f.count(c).value());
  }
  for (const SetTally& c : use.of(a)) j[resident].push_back(use.a_touch(c.resident));
  for (const SetTally& c : use.of(a)) j[wanted].push_back(use.a_window(c.wanted));
  return j;
}

}  // namespace

bool is_of_sets(const Result& r, std::size_t link) {
  return r.sets && r.machine.level(LevelId{static_cast<int>(link)}).name == r.sets->level.name;
}

ordered_json sets_json(const Result& r) {
  const SetUse& use = *r.sets;
  ordered_json j{{"sets", use.sets()},
                 {"ways", use.level.ways},
                 {"index", index_text(use)},
                 {"line_touches", use.touches.value()},
                 {"windows", use.windows},
                 {"text", set_words(use, r.workload)},
                 {"crowded", ordered_json::array()}};
  for (const CrowdedArray& c : crowded_arrays(use, r.workload)) {
    ordered_json one{{"tensor", to_text(use.arrays[c.array])}, {"conflict_share", c.conflicts}};
    if (c.cause) {
      one["dimension"] = std::string(1, c.cause->dimension);
      one["apart_bytes"] = c.cause->apart.value();
      one["falls_on_sets"] = c.cause->falls_on;
    }
    j["crowded"].push_back(std::move(one));
  }
  for (const SetDemand& d : use.demand) {
    j["most_wanted_lines"].push_back(d.most.value());
    j["beyond_lines"].push_back(use.a_window(d.beyond));
  }
  for (ArrayId a : use.arrays.ids()) j["by_tensor"][to_text(use.arrays[a])] = array_json(use, a);
  return j;
}

void print_sets(const Result& r, std::ostream& out) {
  const SetUse& use = *r.sets;
  out << fmt::format(
      "  sets of {}: {} of {} {}, index {}; {} window{} of up to {} different lines\n\n",
      use.level.name, use.sets(), use.level.ways, use.level.ways == 1 ? "way" : "ways",
      index_text(use), use.windows, use.windows == 1 ? "" : "s", use.sets() * use.level.ways);
  Rows rows;
  for (ArrayId a : use.arrays.ids()) {
    const ArraySpread& spread = use.spread_of(a);
    std::vector<std::string> row{to_text(use.arrays[a])};
    std::ranges::copy(count_cells(use, use.total(a)), std::back_inserter(row));
    row.push_back(average(use.a_window(Lines(spread.sets))));
    row.push_back(average(use.a_window(Lines(spread.room))));
    rows.push_back(std::move(row));
  }
  out << aligned({"tensor", "requests", "misses", "conflict", "resident", "wanted", "in sets",
                  "could be in"},
                 rows, "  ")
      << "\n";
  rows.clear();
  const std::int64_t step = (use.sets() + most_rows - 1) / most_rows;
  for (std::int64_t from = 0; from < use.sets(); from += step) {
    const std::int64_t to = std::min(from + step, use.sets());
    SetTally all;
    SetDemand demand;
    for (std::int64_t s = from; s < to; ++s) {
      all += use.total(s);
      const SetDemand& d = use.demand[static_cast<std::size_t>(s)];
      demand.most = std::max(demand.most, d.most);
      demand.beyond += d.beyond;
    }
    std::vector<std::string> row{to == from + 1 ? fmt::format("{}", from)
                                                : fmt::format("{}-{}", from, to - 1)};
    std::ranges::copy(count_cells(use, all), std::back_inserter(row));
    row.push_back(average(use.a_window(demand.beyond)));
    row.push_back(fmt::format("{}", demand.most.value()));
    rows.push_back(std::move(row));
  }
  out << aligned({"sets", "requests", "misses", "conflict", "resident", "wanted", "beyond ways",
                  "most of one"},
                 rows, "  ")
      << "\n";
  for (const std::string& words : set_words(use, r.workload)) out << "  " << words << "\n";
  out << "\n";
}

void print_sets_csv(const std::vector<Result>& results, std::ostream& out) {
  std::vector<std::string> cells{"schema",  "command",      "tcsim_version", "workload", "sizes",
                                 "machine", "machine_hash", "level",         "set",      "tensor"};
  for (const CountOf& f : counts_of) cells.emplace_back(f.name);
  cells.insert(cells.end(), {resident, wanted});
  out << csv_line(cells);
  for (const Result& r : results) {
    if (!r.sets) continue;
    const SetUse& use = *r.sets;
    for (std::int64_t s = 0; s < use.sets(); ++s) {
      for (ArrayId a : use.arrays.ids()) {
        const SetTally& c = use.of(a)[static_cast<std::size_t>(s)];
        cells = {fmt::format("{}", results_schema),
                 r.command,
                 version,
                 r.workload.name(),
                 r.workload.sizes(),
                 r.machine.name,
                 content_hash(r.machine),
                 use.level.name,
                 fmt::format("{}", s),
                 to_text(use.arrays[a])};
        for (const CountOf& f : counts_of) cells.push_back(fmt::format("{}", f.count(c).value()));
        cells.push_back(csv_number(use.a_touch(c.resident)));
        cells.push_back(csv_number(use.a_window(c.wanted)));
        out << csv_line(cells);
      }
    }
  }
}

}  // namespace tcsim::cli
