// What simulate --timeline prints.
#include <fmt/format.h>

#include <algorithm>

#include "cli/simulation/counts.hpp"
#include "cli/simulation/views.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"

namespace tcsim::cli {

using nlohmann::ordered_json;

namespace {

// "k 28-55, m 0-7": what is under way with a touch, the outermost first.
std::string loops_text(const Timeline& t, std::int64_t touch) {
  std::string text;
  for (const TimelineSpan& s : t.at(touch)) {
    text += (text.empty() ? "" : ", ") + to_text(t, s);
  }
  return text.empty() ? "-" : text;
}

std::vector<ArrayId> arrays_held(const Timeline& t, std::size_t level) {
  std::vector<ArrayId> held;
  for (ArrayId a : t.arrays.ids()) {
    for (std::size_t f = 0; f < t.frames(); ++f) {
      if (t.at(level, f, a).held == Lines(0)) continue;
      held.push_back(a);
      break;
    }
  }
  return held;
}

}  // namespace

ordered_json timeline_json(const Timeline& t) {
  ordered_json j{{"line_touches", t.touches},
                 {"begin", t.shown.begin},
                 {"end", t.shown.end},
                 {"frame", t.frame},
                 {"levels", ordered_json::array()},
                 {"spans", ordered_json::array()}};
  for (std::size_t l = 0; l < t.levels.size(); ++l) {
    ordered_json level{{"level", t.levels[l].config.name}, {"lines", t.levels[l].config.lines()}};
    for (ArrayId a : t.arrays.ids()) {
      ordered_json of{{"resident_lines", ordered_json::array()},
                      {"requests", ordered_json::array()},
                      {"compulsory", ordered_json::array()},
                      {"capacity", ordered_json::array()},
                      {"conflict", ordered_json::array()}};
      for (std::size_t f = 0; f < t.frames(); ++f) {
        const FrameTally& c = t.at(l, f, a);
        of["resident_lines"].push_back(t.held(l, f, a));
        of["requests"].push_back(c.requests.value());
        of["compulsory"].push_back(c.misses.compulsory.value());
        of["capacity"].push_back(c.misses.capacity.value());
        of["conflict"].push_back(c.misses.conflict.value());
      }
      level["by_tensor"][to_text(t.arrays[a])] = std::move(of);
    }
    j["levels"].push_back(std::move(level));
  }
  for (const TimelineSpan& s : t.spans) {
    j["spans"].push_back({{"step", s.step},
                          {"text", step_text(t.steps[s.step])},
                          {"number", s.number},
                          {"first_index", s.indices.begin},
                          {"indices", s.indices.size},
                          {"begin", s.touches.begin},
                          {"end", s.touches.end}});
  }
  return j;
}

void print_timeline(const Timeline& t, std::ostream& out) {
  out << fmt::format("  timeline of {} line touches", t.touches);
  if (t.shown.begin > 0 || t.shown.end < t.touches) {
    out << fmt::format(", of which {}..{}", t.shown.begin, t.shown.end);
  }
  out << fmt::format(", {} frame{} of {}\n\n", t.frames(), t.frames() == 1 ? "" : "s", t.frame);
  Rows rows;
  for (std::size_t f = 0; f < t.frames(); ++f) {
    rows.push_back(
        {fmt::format("{}", t.touches_of(f).begin), loops_text(t, t.touches_of(f).begin)});
  }
  out << aligned({"from touch", "under way"}, rows, "  ") << "\n";
  for (std::size_t l = 0; l < t.levels.size(); ++l) {
    const std::vector<ArrayId> arrays = arrays_held(t, l);
    std::vector<std::string> header{t.levels[l].config.name + " from touch"};
    for (ArrayId a : arrays) header.push_back(to_text(t.arrays[a]));
    for (const char* name : {"of lines", "requests", "compulsory", "capacity", "conflict"}) {
      header.emplace_back(name);
    }
    rows.clear();
    for (std::size_t f = 0; f < t.frames(); ++f) {
      std::vector<std::string> row{fmt::format("{}", t.touches_of(f).begin)};
      for (ArrayId a : arrays) row.push_back(fmt::format("{:.1f}", t.held(l, f, a)));
      row.push_back(fmt::format("{}", t.levels[l].config.lines()));
      const FrameTally all = t.total(l, f);
      for (Lines n :
           {all.requests, all.misses.compulsory, all.misses.capacity, all.misses.conflict}) {
        row.push_back(fmt::format("{}", n.value()));
      }
      rows.push_back(std::move(row));
    }
    out << aligned(header, rows, "  ") << "\n";
  }
}

void print_timeline_csv(const std::vector<Result>& results, std::ostream& out) {
  out << csv_line({"schema", "command", "tcsim_version", "workload", "sizes", "machine",
                   "machine_hash", "level", "from_touch", "to_touch", "tensor", "resident_lines",
                   "requests", "compulsory", "capacity", "conflict"});
  for (const Result& r : results) {
    if (!r.timeline) continue;
    const Timeline& t = *r.timeline;
    for (std::size_t l = 0; l < t.levels.size(); ++l) {
      for (std::size_t f = 0; f < t.frames(); ++f) {
        const TouchRange of = t.touches_of(f);
        for (ArrayId a : t.arrays.ids()) {
          const FrameTally& c = t.at(l, f, a);
          std::vector<std::string> cells{fmt::format("{}", results_schema),
                                         r.command,
                                         version,
                                         r.workload.name(),
                                         r.workload.sizes(),
                                         r.machine.name,
                                         content_hash(r.machine),
                                         t.levels[l].config.name,
                                         fmt::format("{}", of.begin),
                                         fmt::format("{}", of.end),
                                         to_text(t.arrays[a]),
                                         csv_number(t.held(l, f, a))};
          for (Lines n : {c.requests, c.misses.compulsory, c.misses.capacity, c.misses.conflict}) {
            cells.push_back(fmt::format("{}", n.value()));
          }
          out << csv_line(cells);
        }
      }
    }
  }
}

}  // namespace tcsim::cli
