// What cannot be in a machine, told with the place of the part that is wrong.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "core/machine/places.hpp"

namespace tcsim {

namespace {

bool positive(double x) { return std::isfinite(x) && x > 0; }

void check_core(const Core& core, const std::string& place) {
  const auto must = [&](bool ok, const char* what, const auto& value, const char* mend) {
    if (!ok) throw InputError(place, fmt::format("core.{} is {}", what, value), mend);
  };
  const double frequency = core.frequency.value.value();
  must(frequency >= 1e3 && frequency <= 1e13, "frequency", core.frequency.value.value(),
       "give a frequency such as 2.6GHz");
  const int bits = core.vector_bits.value;
  must(bits >= 64 && bits <= 4096 && std::has_single_bit(static_cast<unsigned>(bits)),
       "vector_bits", bits, "give a power of two from 64 to 4096, such as 256");
  must(core.vector_registers.value >= 1, "vector_registers", core.vector_registers.value,
       "give a whole number of at least 1");
  must(core.fma_per_cycle.value >= 1e-3 && core.fma_per_cycle.value <= 1e3, "fma_per_cycle",
       core.fma_per_cycle.value, "give a number from 0.001 to 1000");
  must(positive(core.fma_latency.value.value()), "fma_latency", core.fma_latency.value.value(),
       "give a number of cycles greater than 0");
}

// Knobs are written LEVEL.FIELD=VALUE, so a level's name has neither dots nor spaces nor "=".
void check_name(const Level& level, const std::string& place) {
  if (level.name.empty()) throw InputError(place, "a level has no name", "name it, such as \"L1\"");
  if (level.name == "core") {
    throw InputError(place, "a level is named 'core'", "'core' names the compute core");
  }
  if (level.name.find_first_of(".= \t\n") != std::string::npos) {
    throw InputError(place, fmt::format("level name '{}' has a dot, space or '='", level.name),
                     "use letters and digits, such as \"L1\"");
  }
}

void check_cache(const Level& l, const std::string& place) {
  const std::int64_t capacity = l.capacity.value.value();
  const std::int64_t line = l.line.value.value();
  const std::int64_t ways = l.ways.value;
  if (line < 8 || line > 4096 || !std::has_single_bit(static_cast<std::uint64_t>(line))) {
    throw InputError(place, fmt::format("{} has lines of {} bytes", l.name, line),
                     "a line is a power of two from 8 to 4096 bytes, such as 64B");
  }
  if (ways < 1) {
    throw InputError(place, fmt::format("{} has {} ways", l.name, ways),
                     "give a whole number of at least 1");
  }
  if (capacity < 1) {
    throw InputError(place, fmt::format("{} has a capacity of {} bytes", l.name, capacity),
                     "a cache's capacity is sets x ways x line");
  }
  const std::int64_t lines = capacity / line;
  if (capacity % line != 0 || lines % ways != 0) {
    const double sets =
        static_cast<double>(capacity) / static_cast<double>(line) / static_cast<double>(ways);
    throw InputError(
        place,
        fmt::format("{}: capacity {} with {} ways and lines of {} gives {:.6g} sets", l.name,
                    to_text(l.capacity.value), ways, to_text(l.line.value), sets),
        "a cache's capacity is a whole number of sets x ways x line");
  }
}

template <class Series>
void check_series(const Series& s, const std::string& owner, const std::string& place) {
  const auto must = [&](bool ok, const std::string& problem, const char* mend) {
    if (!ok) throw InputError(place, fmt::format("a series of {} {}", owner, problem), mend);
  };
  must(s.element == Bytes(4) || s.element == Bytes(8),
       fmt::format("has elements of {} bytes", s.element.value()), "elements have 4 or 8 bytes");
  must(!s.instruction_set.empty(), "has no instruction set", "name it, such as \"AVX2\"");
  must(s.cores >= 1, fmt::format("was taken on {} cores", s.cores), "give at least 1");
  must(!s.repetitions.empty(), "has no repetitions", "give at least one, or take the series out");
  for (const auto& r : s.repetitions) {
    must(positive(r.value()), fmt::format("has a repetition of {}", r.value()),
         "a rate is greater than 0");
  }
}

void check_measured(const Level& l, const std::string& place) {
  for (const BandwidthSeries& s : l.series) {
    check_series(s, l.name, place);
    if (s.working_set < Bytes(1)) {
      throw InputError(place,
                       fmt::format("a series of {} has a working set of {} bytes", l.name,
                                   s.working_set.value()),
                       "give a size such as 16KiB");
    }
    if (s.frequency.value() != 0 && !positive(s.frequency.value())) {
      throw InputError(place, fmt::format("a series of {} ran at {}", l.name, s.frequency.value()),
                       "give a frequency such as 2.6GHz, or none if it is unknown");
    }
  }
}

void check_level(const Level& l, const std::string& place) {
  check_name(l, place);
  check_measured(l, place);
  if (l.kind == LevelKind::cache) {
    check_cache(l, place);
  } else if (l.ways.value != 0 || l.line.value != Bytes(0)) {
    throw InputError(place, fmt::format("{} has ways or a line", l.name), "only caches have them");
  } else if (l.capacity.value < Bytes(0)) {
    throw InputError(place, fmt::format("{} has a negative capacity", l.name),
                     "give a size, or none for an unlimited one");
  } else if (l.kind == LevelKind::scratchpad && l.capacity.value < Bytes(1)) {
    throw InputError(place, fmt::format("scratchpad {} has no capacity", l.name),
                     "give a size such as 1GiB");
  }
  const double bandwidth = l.bandwidth.value.value;
  if (!(bandwidth >= 1e-9 && bandwidth <= 1e18)) {
    throw InputError(place,
                     fmt::format("{} has a bandwidth of {}", l.name, l.bandwidth.value.value),
                     "give a bandwidth such as 25.6GB/s or 25.28B/cycle");
  }
  if (l.latency && !positive(l.latency->value.value())) {
    throw InputError(place, fmt::format("{} has a latency of {}", l.name, l.latency->value.value()),
                     "give a number of cycles greater than 0");
  }
  if (l.shared_by < 1) {
    throw InputError(place, fmt::format("{} is shared by {} cores", l.name, l.shared_by),
                     "give a whole number of at least 1");
  }
}

void check_tlb(const Tlb& t, const std::string& place) {
  if (t.name.empty() || t.name.find('\n') != std::string::npos) {
    throw InputError(place, fmt::format("a TLB is named '{}'", t.name),
                     "name it in one line, such as \"L1 DTLB\"");
  }
  if (t.entries < 1 || t.ways < 1 || t.entries % t.ways != 0) {
    throw InputError(place, fmt::format("{} has {} entries and {} ways", t.name, t.entries, t.ways),
                     "entries are a whole number of ways; a fully associative TLB has as many ways "
                     "as entries");
  }
  if (t.page < Bytes(1) || !std::has_single_bit(static_cast<std::uint64_t>(t.page.value()))) {
    throw InputError(place, fmt::format("{} has pages of {} bytes", t.name, t.page.value()),
                     "a page is a power of two, such as 4KiB");
  }
}

// Caches and scratchpads, then memories, then disks.
void check_order(const std::vector<Level>& levels, std::size_t i, const std::string& place) {
  const auto rank = [](const Level& l) {
    return l.kind == LevelKind::disk ? 2 : l.kind == LevelKind::memory ? 1 : 0;
  };
  const char* mend =
      "from the core outward a machine has caches or scratchpads, then memory or disk";
  if (i + 1 == levels.size() && rank(levels[i]) == 0) {
    throw InputError(
        place,
        fmt::format("{} is a {} and the last level", levels[i].name, to_text(levels[i].kind)),
        mend);
  }
  if (i > 0 && rank(levels[i]) < rank(levels[i - 1])) {
    throw InputError(
        place,
        fmt::format("{} is a {} outside {}, a {}", levels[i].name, to_text(levels[i].kind),
                    levels[i - 1].name, to_text(levels[i - 1].kind)),
        mend);
  }
}

void check_neighbours(const Machine& machine, std::size_t outer, const std::string& place) {
  const Level& in = machine.levels[outer - 1];
  const Level& out = machine.levels[outer];
  const bool unlimited = out.capacity.value == Bytes(0);
  if (in.capacity.value == Bytes(0)) {
    throw InputError(place,
                     fmt::format("{} lies outside {}, which is unlimited", out.name, in.name),
                     fmt::format("give {} a capacity", in.name));
  }
  if (!unlimited && out.capacity.value < in.capacity.value) {
    throw InputError(place,
                     fmt::format("{} ({}) is smaller than {} inside it ({})", out.name,
                                 to_text(out.capacity.value), in.name, to_text(in.capacity.value)),
                     "list the levels from the core outward; capacities do not shrink");
  }
  const Hertz f = machine.core.frequency.value;
  if (out.bandwidth.value.at(f) > in.bandwidth.value.at(f)) {
    throw InputError(
        place,
        fmt::format("{} ({}) is faster than {} inside it ({})", out.name,
                    to_text(out.bandwidth.value), in.name, to_text(in.bandwidth.value)),
        "check the units; an outer level is not faster than the level inside it");
  }
}

}  // namespace

void check_at(const Machine& machine, const MachinePlaces& places) {
  const std::vector<Level>& levels = machine.levels;
  if (levels.size() < 2) {
    throw InputError(places.machine, fmt::format("a machine of {} levels", levels.size()),
                     "give at least one cache, then memory or disk");
  }
  check_core(machine.core, places.core);
  for (const PeakSeries& p : machine.core.peaks) check_series(p, "core", places.core);
  for (const Tlb& t : machine.tlbs) check_tlb(t, places.machine);
  if (machine.method && machine.method->repetitions < 0) {
    throw InputError(places.machine, "the method has a negative number of repetitions",
                     "give a whole number, or none if it is unknown");
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    check_level(levels[i], places.levels[i]);
    check_order(levels, i, places.levels[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (levels[j].name == levels[i].name) {
        throw InputError(places.levels[i], fmt::format("two levels are named {}", levels[i].name),
                         "give each level a name of its own");
      }
    }
    if (i > 0) check_neighbours(machine, i, places.levels[i]);
  }
}

void check(const Machine& machine, const std::string& place) {
  check_at(machine, {place, place, std::vector<std::string>(machine.levels.size(), place)});
}

}  // namespace tcsim
