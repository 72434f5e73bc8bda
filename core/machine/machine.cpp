#include "core/machine/machine.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

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

void check_level(const Level& l, bool last, const std::string& place) {
  check_name(l, place);
  const bool outermost = l.kind == LevelKind::memory || l.kind == LevelKind::disk;
  if (last != outermost || l.kind == LevelKind::scratchpad) {
    throw InputError(place,
                     fmt::format("{} is a {} {}", l.name, to_text(l.kind),
                                 last ? "and the last level" : "and not the last level"),
                     "a machine has caches, from the core outward, then one memory or disk");
  }
  if (l.kind == LevelKind::cache) {
    check_cache(l, place);
  } else if (l.ways.value != 0 || l.line.value != Bytes(0)) {
    throw InputError(place, fmt::format("{} has ways or a line", l.name), "only caches have them");
  } else if (l.capacity.value < Bytes(0)) {
    throw InputError(place, fmt::format("{} has a negative capacity", l.name),
                     "give a size, or none for an unlimited one");
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

void check_neighbours(const Machine& machine, std::size_t outer, const std::string& place) {
  const Level& in = machine.levels[outer - 1];
  const Level& out = machine.levels[outer];
  const bool unlimited = out.capacity.value == Bytes(0);
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

void require_plain_caches(const Machine& machine) {
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    const auto refuse = [&](const std::string& what) {
      throw UnsupportedError(fmt::format("{}: {}", machine.name, level.name),
                             what + " is not modelled or simulated yet",
                             "use an LRU, write-back, write-allocate cache with inclusion "
                             "\"neither\"");
    };
    if (level.kind != LevelKind::cache) refuse(fmt::format("a {} inside", to_text(level.kind)));
    if (level.replacement != Replacement::lru) {
      refuse(fmt::format("replacement {}", to_text(level.replacement)));
    }
    if (level.inclusion != Inclusion::neither) {
      refuse(fmt::format("inclusion {}", to_text(level.inclusion)));
    }
    if (level.write != WritePolicy::write_back) refuse(to_text(level.write));
    if (!level.write_allocate) refuse("a cache without write-allocate");
  }
}

std::string Machine::link(LevelId l) const {
  const auto i = static_cast<std::size_t>(index(l));
  if (i == 0) return levels[0].name + "-register";
  return levels[i - 1].name + "-" + levels[i].name;
}

FlopsPerSecond Machine::peak(Bytes element) const {
  const double lanes = core.vector_bits.value / (8.0 * static_cast<double>(element.value()));
  return FlopsPerSecond(2 * lanes * core.fma_per_cycle.value * core.frequency.value.value());
}

void check_at(const Machine& machine, const MachinePlaces& places) {
  const std::vector<Level>& levels = machine.levels;
  if (levels.size() < 2) {
    throw InputError(places.machine, fmt::format("a machine of {} levels", levels.size()),
                     "give at least one cache, then one memory or disk");
  }
  check_core(machine.core, places.core);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    check_level(levels[i], i + 1 == levels.size(), places.levels[i]);
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

std::string content_hash(const Machine& machine) {
  // The text is the identity: appending to it, or changing its order, changes every stored hash.
  std::string text = "tcsim-machine-1\n";
  for (const Level& l : machine.levels) {
    text += fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", l.name, to_text(l.kind),
                        l.capacity.value.value(), l.ways.value, l.line.value.value(),
                        to_text(l.replacement), to_text(l.inclusion), to_text(l.write),
                        l.write_allocate, l.shared_by, to_text(l.bandwidth.value),
                        l.latency ? fmt::format("{}", l.latency->value.value()) : "-");
  }
  const Core& c = machine.core;
  text += fmt::format("core {} {} {} {} {}\n", c.frequency.value.value(), c.vector_bits.value,
                      c.vector_registers.value, c.fma_per_cycle.value, c.fma_latency.value.value());
  const Accounting& a = machine.accounting;
  text += fmt::format("accounting {} {} {}\n", a.write_backs, a.compute_roof, a.packing);

  // FNV-1a, 64 bits.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char ch : text) hash = (hash ^ static_cast<unsigned char>(ch)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

const char* to_text(Origin o) {
  switch (o) {
    case Origin::measured:
      return "measured";
    case Origin::vendor:
      return "vendor";
    case Origin::published:
      return "published";
    case Origin::assumed:
      return "assumed";
    case Origin::hypothetical:
      return "hypothetical";
  }
  return "";
}

const char* to_text(LevelKind k) {
  switch (k) {
    case LevelKind::cache:
      return "cache";
    case LevelKind::scratchpad:
      return "scratchpad";
    case LevelKind::memory:
      return "memory";
    case LevelKind::disk:
      return "disk";
  }
  return "";
}

const char* to_text(Replacement) { return "lru"; }

const char* to_text(Inclusion i) {
  switch (i) {
    case Inclusion::inclusive:
      return "inclusive";
    case Inclusion::exclusive:
      return "exclusive";
    case Inclusion::neither:
      return "neither";
  }
  return "";
}

const char* to_text(WritePolicy w) {
  return w == WritePolicy::write_back ? "write-back" : "write-through";
}

}  // namespace tcsim
