#include "core/machine/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "core/machine/fields.hpp"
#include "core/machine/places.hpp"
#include "core/text/name.hpp"
#include "core/text/safe.hpp"

namespace tcsim {

namespace {

bool positive(double x) { return std::isfinite(x) && x > 0; }

class Inspector {
 public:
  Inspector(const Machine& machine, const MachinePlaces& places) : m_(machine), at_(places) {}

  std::vector<Finding> all() {
    if (m_.levels.size() < 2) {
      error(at_.machine, fmt::format("a machine of {} levels", m_.levels.size()),
            "give at least one cache, then memory or disk");
      return findings_;
    }
    require_printable(m_.name, at_.name, "the machine's name");
    core();
    for (std::size_t i = 0; i < m_.tlbs.size(); ++i) tlb(m_.tlbs[i], at_.tlbs[i]);
    if (m_.method && m_.method->repetitions < 0) {
      error(at_.machine, "the method has a negative number of repetitions",
            "give a whole number, or none if it is unknown");
    }
    for (std::size_t i = 0; i < m_.levels.size(); ++i) {
      const std::size_t before = errors_;
      level(i);
      order(i);
      // Further out only what is sound by itself can be compared.
      sound_.push_back(errors_ == before);
      if (i > 0 && sound_[i] && sound_[i - 1]) neighbours(i);
    }
    return findings_;
  }

 private:
  void error(const std::string& place, const std::string& problem, const std::string& mend) {
    findings_.push_back({Severity::error, place, problem, mend});
    ++errors_;
  }
  void warn(const std::string& place, const std::string& problem, const std::string& mend) {
    findings_.push_back({Severity::warning, place, problem, mend});
  }

  void require_printable(const std::string& name, const std::string& place, const char* what) {
    const std::string fault = fault_of_name(name);
    if (!fault.empty()) error(place, fmt::format("{} {}", what, fault), name_mend);
  }

  // What is out of its range; `subject` names what a field is of, or the field. In the table it
  // is behind `prefix`.
  template <class Owner, class Subject>
  void ranges(const Owner& owner, const TablePlace& at, std::string_view prefix, Subject subject) {
    for_each_field<Owner>([&](const auto& field) {
      const auto* value = value_of(owner, field);
      if (!field.range || value == nullptr) return;
      const std::optional<double> number = number_of(*value);
      if (field.range->holds(*number)) return;
      const std::string problem = fmt::format(fmt::runtime(field.problem), *number);
      error(at.of({std::string(prefix) + std::string(field.name)}),
            fmt::format("{} {}", subject(field), problem),
            fmt::format("give {}{}", field.example, field.limits));
    });
  }

  void core() {
    const Core& c = m_.core;
    ranges(c, at_.core, "", [](const Declared& f) { return fmt::format("core.{}", f.name); });
    ranges(c.overhead, at_.core, overhead_prefix,
           [](const Declared& f) { return fmt::format("core.{}{}", overhead_prefix, f.name); });
    for (std::size_t i = 0; i < c.peaks.size(); ++i) series(c.peaks[i], "core", at_.peaks[i]);
  }

  void tlb(const Tlb& t, const std::string& place) {
    if (t.name.empty()) error(place, "a TLB has no name", "name it, such as \"L1 DTLB\"");
    require_printable(t.name, place, "a TLB's name");
    if (t.entries < 1 || t.ways < 1 || t.entries % t.ways != 0) {
      error(place, fmt::format("{} has {} entries and {} ways", t.name, t.entries, t.ways),
            "entries are a whole number of ways; a fully associative TLB has as many ways as "
            "entries");
    }
    if (t.page < Bytes(1) || !std::has_single_bit(static_cast<std::uint64_t>(t.page.value()))) {
      error(place, fmt::format("{} has pages of {} bytes", t.name, t.page.value()),
            "a page is a power of two, such as 4KiB");
    }
  }

  template <class Series>
  void series(const Series& s, const std::string& owner, const std::string& place) {
    const auto must = [&](bool ok, const std::string& problem, const char* mend) {
      if (!ok) error(place, fmt::format("a series of {} {}", owner, problem), mend);
    };
    must(s.element == Bytes(4) || s.element == Bytes(8),
         fmt::format("has elements of {} bytes", s.element.value()), "elements have 4 or 8 bytes");
    must(!s.instruction_set.empty(), "has no instruction set", "name it, such as \"AVX2\"");
    must(s.cores >= 1, fmt::format("was taken on {} cores", s.cores), "give at least 1");
    must(!s.repetitions.empty(), "has no repetitions", "give at least one, or take the series out");
    const auto bad = std::find_if(s.repetitions.begin(), s.repetitions.end(),
                                  [](const auto& r) { return !positive(r.value()); });
    if (bad != s.repetitions.end()) {
      must(false, fmt::format("has a repetition of {}", bad->value()), "a rate is greater than 0");
    }
  }

  // Knobs are written LEVEL.FIELD=VALUE, so a level's name has neither dots nor spaces nor "=".
  void name(std::size_t i) {
    const std::string& name = m_.levels[i].name;
    const std::string place = at_.levels[i].of({"name"});
    if (name.empty()) error(place, "a level has no name", "name it, such as \"L1\"");
    if (name == "core" || name == "caches") {
      error(place, fmt::format("a level is named '{}'", name),
            "'core' names the compute core, 'caches' all caches together");
    }
    require_printable(name, place, "a level's name");
    if (name.find_first_of(".= ") != std::string::npos) {
      error(place, fmt::format("level name '{}' has a dot, space or '='", visible(name)),
            "use letters and digits, such as \"L1\"");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (m_.levels[j].name != name) continue;
      error(place, fmt::format("two levels are named {}", name),
            "give each level a name of its own");
    }
  }

  void cache(const Level& l, const TablePlace& at) {
    const std::int64_t capacity = l.capacity.value.value();
    const std::int64_t line = l.line.value.value();
    const std::int64_t ways = l.ways.value;
    if (line < 8 || line > 4096 || !std::has_single_bit(static_cast<std::uint64_t>(line))) {
      return error(at.of({"line"}), fmt::format("{} has lines of {} bytes", l.name, line),
                   "a line is a power of two from 8 to 4096 bytes, such as 64B");
    }
    if (ways < 1) {
      return error(at.of({"ways"}), fmt::format("{} has {} ways", l.name, ways),
                   "give a whole number of at least 1");
    }
    if (capacity < 1) {
      return error(at.of({"capacity"}),
                   fmt::format("{} has a capacity of {} bytes", l.name, capacity),
                   "a cache's capacity is sets x ways x line");
    }
    const std::int64_t lines = capacity / line;
    if (capacity % line == 0 && lines % ways == 0) return;
    const double sets =
        static_cast<double>(capacity) / static_cast<double>(line) / static_cast<double>(ways);
    error(at.of({"capacity", "sets", "ways"}),
          fmt::format("{}: capacity {} with {} ways and lines of {} gives {:.6g} sets", l.name,
                      to_text(l.capacity.value), ways, to_text(l.line.value), sets),
          "a cache's capacity is a whole number of sets x ways x line");
  }

  void level(std::size_t i) {
    const Level& l = m_.levels[i];
    const TablePlace& at = at_.levels[i];
    name(i);
    if (l.kind == LevelKind::cache) {
      cache(l, at);
    } else if (l.ways.value != 0 || l.line.value != Bytes(0)) {
      error(at.of({"ways", "line"}), fmt::format("{} has ways or a line", l.name),
            "only caches have them");
    } else if (l.capacity.value < Bytes(0)) {
      error(at.of({"capacity"}), fmt::format("{} has a negative capacity", l.name),
            "give a size, or none for an unlimited one");
    } else if (l.kind == LevelKind::scratchpad && l.capacity.value < Bytes(1)) {
      error(at.of({"capacity"}), fmt::format("scratchpad {} has no capacity", l.name),
            "give a size such as 1GiB");
    }
    ranges(l, at, "", [&](const Declared&) { return l.name; });
    if (l.prefetch_ahead != usual_prefetch_ahead && !streams(l.prefetch)) {
      warn(at.of({"prefetch_ahead"}),
           fmt::format("{} prefetches {} lines ahead, and has no streamer", l.name,
                       l.prefetch_ahead),
           "give it the prefetch streamer, or take prefetch_ahead out");
    }
    if (l.victim_lines != 0 && l.inclusion.value == Inclusion::exclusive) {
      warn(at.of({"victim_lines"}),
           fmt::format("{} is exclusive, has a victim cache and is not simulated", l.name),
           "take victim_lines out; an exclusive level holds victims itself");
    }
    if (sliced_unevenly(l)) {
      warn(at.of({"index", "capacity", "sets", "ways"}),
           fmt::format("{} has {} sets in {} slices and is not simulated", l.name, l.sets(),
                       l.index.slices()),
           "give a number of sets that is a multiple of the slices, or another index");
    }
    if (i == 0 && l.inclusion.value != Inclusion::neither) {
      warn(at.of({"inclusion"}),
           fmt::format("{} is {} of the levels inside it, and there is none", l.name,
                       to_text(l.inclusion.value)),
           "say \"neither\" of the innermost level");
    }
    bandwidth_series(i);
  }

  static bool sliced_unevenly(const Level& l) {
    return l.kind == LevelKind::cache && l.ways.value > 0 && l.line.value > Bytes(0) &&
           l.index.is_sliced() && l.sets() % l.index.slices() != 0;
  }

  void bandwidth_series(std::size_t i) {
    const Level& l = m_.levels[i];
    for (std::size_t j = 0; j < l.series.size(); ++j) {
      const BandwidthSeries& s = l.series[j];
      const std::string& place = at_.series[i][j];
      series(s, l.name, place);
      if (s.working_set < Bytes(1)) {
        error(place,
              fmt::format("a series of {} has a working set of {} bytes", l.name,
                          s.working_set.value()),
              "give a size such as 16KiB");
      }
      if (s.frequency.value() != 0 && !positive(s.frequency.value())) {
        error(place, fmt::format("a series of {} ran at {}", l.name, s.frequency.value()),
              "give a frequency such as 2.6GHz, or none if it is unknown");
      }
    }
  }

  // Caches and scratchpads, then memories, then disks.
  void order(std::size_t i) {
    const std::vector<Level>& levels = m_.levels;
    const auto rank = [](const Level& l) {
      return l.kind == LevelKind::disk ? 2 : l.kind == LevelKind::memory ? 1 : 0;
    };
    const char* mend =
        "from the core outward a machine has caches or scratchpads, then memory or disk";
    const std::string place = at_.levels[i].of({"kind"});
    if (i + 1 == levels.size() && rank(levels[i]) == 0) {
      error(place,
            fmt::format("{} is a {} and the last level", levels[i].name, to_text(levels[i].kind)),
            mend);
    }
    if (i > 0 && rank(levels[i]) < rank(levels[i - 1])) {
      error(place,
            fmt::format("{} is a {} outside {}, a {}", levels[i].name, to_text(levels[i].kind),
                        levels[i - 1].name, to_text(levels[i - 1].kind)),
            mend);
    }
  }

  void neighbours(std::size_t outer) {
    const Level& in = m_.levels[outer - 1];
    const Level& out = m_.levels[outer];
    const TablePlace& at = at_.levels[outer];
    const std::string size = at.of({"capacity", "sets", "ways"});
    const Bytes small = in.capacity.value, large = out.capacity.value;
    const bool unlimited = large == Bytes(0);
    if (small == Bytes(0)) {
      error(at_.levels[outer - 1].of({"capacity"}),
            fmt::format("{} lies outside {}, which is unlimited", out.name, in.name),
            fmt::format("give {} a capacity", in.name));
    } else if (!unlimited && large < small) {
      const std::string problem = fmt::format("{} ({}) is smaller than {} inside it ({})", out.name,
                                              to_text(large), in.name, to_text(small));
      // What an exclusive cache holds comes on top of what those inside it hold.
      if (out.inclusion.value == Inclusion::exclusive) {
        warn(size, problem, "a tile for it alone is smaller than the tile inside");
      } else {
        error(size, problem, "list the levels from the core outward; capacities do not shrink");
      }
    } else if (!unlimited) {
      shares(outer, size);
    }
    const Hertz f = m_.core.frequency.value;
    // Links of explicit levels have nothing to do with one another: a disk may be faster than a
    // network.
    if (in.kind == LevelKind::cache && out.bandwidth.value.at(f) > in.bandwidth.value.at(f)) {
      error(at.of({"bandwidth"}),
            fmt::format("{} ({}) is faster than {} inside it ({})", out.name,
                        to_text(out.bandwidth.value), in.name, to_text(in.bandwidth.value)),
            "check the units; an outer level is not faster than the level inside it");
    }
    doubts(in, out, at);
  }

  // How much of a larger cache a core has, and an inclusive cache for those inside it.
  void shares(std::size_t outer, const std::string& place) {
    const Level& in = m_.levels[outer - 1];
    const Level& out = m_.levels[outer];
    if (out.kind != LevelKind::cache || in.kind != LevelKind::cache) return;
    const auto share = [](const Level& l) {
      return static_cast<double>(l.capacity.value.value()) / l.shared_by;
    };
    const double inside =
        static_cast<double>(in.capacity.value.value()) * out.shared_by / in.shared_by;
    if (out.inclusion.value == Inclusion::inclusive &&
        static_cast<double>(out.capacity.value.value()) < inside) {
      warn(place,
           fmt::format("{} ({}) is inclusive and cannot hold the {} of {} cores ({})", out.name,
                       to_text(out.capacity.value), in.name, out.shared_by,
                       to_text(Bytes(std::llround(inside)))),
           "check capacity, sharing and inclusion");
    } else if (share(out) < share(in)) {
      warn(place,
           fmt::format("each of {}'s {} cores has {} of it, less than of {} ({})", out.name,
                       out.shared_by, to_text(Bytes(std::llround(share(out)))), in.name,
                       to_text(Bytes(std::llround(share(in))))),
           "with all cores at work a tile for it is no larger than the tile inside; check "
           "shared_by");
    } else if (out.capacity.value == in.capacity.value &&
               out.inclusion.value != Inclusion::exclusive) {
      warn(place,
           fmt::format("{} is as small as {} inside it ({})", out.name, in.name,
                       to_text(in.capacity.value)),
           "a tile for it is no larger than the tile inside; check the capacities");
    }
  }

  void doubts(const Level& in, const Level& out, const TablePlace& at) {
    if (out.kind == LevelKind::cache && in.kind == LevelKind::cache &&
        out.line.value < in.line.value) {
      warn(at.of({"line"}),
           fmt::format("{} has shorter lines ({}) than {} inside it ({})", out.name,
                       to_text(out.line.value), in.name, to_text(in.line.value)),
           "check both; lines rarely shrink outward");
    }
    if (in.latency && out.latency && out.latency->value < in.latency->value) {
      warn(at.of({"latency"}),
           fmt::format("{} answers sooner ({} cycles) than {} inside it ({})", out.name,
                       out.latency->value.value(), in.name, in.latency->value.value()),
           "check both latencies");
    }
    if (out.kind == LevelKind::cache && out.shared_by < in.shared_by) {
      warn(at.of({"shared_by"}),
           fmt::format("{} is shared by {} cores and {} inside it by {}", out.name, out.shared_by,
                       in.name, in.shared_by),
           "as many or more cores share an outer level");
    }
  }

  const Machine& m_;
  const MachinePlaces& at_;
  std::vector<Finding> findings_;
  std::size_t errors_ = 0;
  std::vector<bool> sound_;
};

}  // namespace

MachinePlaces same_place(const Machine& machine, const std::string& place) {
  MachinePlaces places{place,
                       {place},
                       std::vector<TablePlace>(machine.levels.size(), {place}),
                       {},
                       std::vector<std::string>(machine.core.peaks.size(), place),
                       std::vector<std::string>(machine.tlbs.size(), place),
                       place};
  for (const Level& l : machine.levels) places.series.emplace_back(l.series.size(), place);
  return places;
}

std::vector<Finding> inspect_at(const Machine& machine, const MachinePlaces& places) {
  return Inspector(machine, places).all();
}

std::vector<Finding> inspect(const Machine& machine, const std::string& place) {
  return inspect_at(machine, same_place(machine, place));
}

void throw_first_error(const std::vector<Finding>& findings) {
  for (const Finding& f : findings) {
    if (f.severity == Severity::error) throw InputError(f.place, f.problem, f.mend);
  }
}

void check(const Machine& machine, const std::string& place) {
  throw_first_error(inspect(machine, place));
}

bool InspectedFile::ok() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& f) { return f.severity == Severity::error; });
}

const char* to_text(Severity s) { return s == Severity::error ? "error" : "warning"; }

}  // namespace tcsim
