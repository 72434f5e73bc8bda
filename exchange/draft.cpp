#include "exchange/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/text/safe.hpp"

namespace tcsim::exchange {

namespace {

// What stands in where neither the file nor a base machine says anything: round figures of a server
// core of the 2020s.
constexpr double usual_bandwidths[] = {64, 32, 16, 8};  // B/cycle: L1, L2, L3, further out
constexpr std::int64_t usual_ways = 8;
constexpr Bytes usual_line(64);
constexpr Hertz usual_frequency(2e9);
constexpr int usual_vector_bits = 256, usual_registers = 16;
constexpr double usual_fma_per_cycle = 2;
constexpr Cycles usual_fma_latency(4);

class Finisher {
 public:
  Finisher(Draft draft, std::string place, const ImportOptions& options)
      : draft_(std::move(draft)), place_(std::move(place)), base_(options.base) {
    result_.ignored = draft_.ignored;
    result_.notes = draft_.notes;
    Machine& m = result_.machine;
    m.name = visible(!options.name.empty() ? options.name : draft_.name);
    m.description = visible(draft_.description);
    for (DraftLevel& d : draft_.caches) {
      d.name = visible(d.name);
      for (BandwidthSeries& s : d.series) s.instruction_set = visible(s.instruction_set);
    }
    for (BandwidthSeries& s : draft_.memory.series) s.instruction_set = visible(s.instruction_set);
    if (base_) {
      m.accounting = base_->accounting;
      m.tlbs = base_->tlbs;
      if (m.description.empty()) m.description = base_->description;
    }
  }

  Imported imported() {
    if (draft_.caches.empty()) {
      throw InputError(place_, "no data cache in it", "give a file that describes one");
    }
    Machine& m = result_.machine;
    core(m.core);
    for (std::size_t i = 0; i < draft_.caches.size(); ++i) cache(draft_.caches[i], i);
    memory();
    lower_to_inner();
    check_with_places();
    return std::move(result_);
  }

 private:
  // What the file says, or the base, or a guess.
  template <class T>
  Figure<T> figure(const std::string& knob, const std::optional<T>& said, const Figure<T>* base,
                   T guess, const std::string& guess_text) {
    if (said) return {*said, draft_.origin, draft_.format};
    if (base != nullptr) return *base;
    result_.assumed.push_back(knob + ": " + guess_text);
    return {guess, Origin::assumed, "not in " + draft_.format};
  }
  template <class T>
  Figure<T> figure(const std::string& knob, const std::optional<T>& said, const Figure<T>* base,
                   T guess) {
    return figure(knob, said, base, guess, fmt::format("{}", guess));
  }

  const Level* base_level(const std::string& name) const {
    if (!base_) return nullptr;
    for (const Level& l : base_->levels) {
      if (l.name == name) return &l;
    }
    return nullptr;
  }

  void core(Core& c) {
    const Core* b = base_ ? &base_->core : nullptr;
    if (b) c.overhead = b->overhead;
    c.frequency = figure("core.frequency", draft_.frequency, b ? &b->frequency : nullptr,
                         usual_frequency, to_text(usual_frequency));
    c.vector_registers = figure<int>("core.vector_registers", {},
                                     b ? &b->vector_registers : nullptr, usual_registers);
    c.fma_latency = figure<Cycles>("core.fma_latency", {}, b ? &b->fma_latency : nullptr,
                                   usual_fma_latency, fmt::format("{}", usual_fma_latency.value()));
    std::optional<double> fma_per_cycle;
    if (draft_.flops_per_cycle) {
      const double flops = *draft_.flops_per_cycle;
      if (!draft_.vector_bits && !b) {
        // Two multiply-adds per cycle, as most wide cores have; flops = 2 x bits / 64 x 2.
        const double bits = std::clamp(flops * 16, 64.0, 4096.0);
        const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(bits)));
        result_.assumed.push_back(
            fmt::format("core.vector_bits: {} (of {} flops per cycle)", power, flops));
        c.vector_bits = {power, Origin::assumed, "not in " + draft_.format};
      } else {
        c.vector_bits = draft_.vector_bits
                            ? Figure<int>{*draft_.vector_bits, draft_.origin, draft_.format}
                            : b->vector_bits;
      }
      fma_per_cycle = flops / (2 * c.vector_bits.value / 64.0);
    } else {
      c.vector_bits = figure("core.vector_bits", draft_.vector_bits, b ? &b->vector_bits : nullptr,
                             usual_vector_bits);
    }
    c.fma_per_cycle = figure("core.fma_per_cycle", fma_per_cycle, b ? &b->fma_per_cycle : nullptr,
                             usual_fma_per_cycle);
  }

  void cache(const DraftLevel& d, std::size_t i) {
    const Level* b = base_level(d.name);
    if (b != nullptr && b->kind != LevelKind::cache) b = nullptr;
    Level l;
    l.name = d.name;
    l.line =
        figure(d.name + ".line", d.line, b ? &b->line : nullptr, usual_line, to_text(usual_line));
    geometry(d, b, l);
    if (d.replacement) {
      l.replacement = {*d.replacement, draft_.origin, draft_.format};
    } else if (b != nullptr) {
      l.replacement = b->replacement;
    } else {
      l.replacement.source = "not in " + draft_.format;
    }
    if (d.inclusion) {
      l.inclusion = {*d.inclusion, draft_.origin, draft_.format};
    } else if (b != nullptr) {
      l.inclusion = b->inclusion;
    } else {
      l.inclusion.source = "not in " + draft_.format;
    }
    l.write = d.write.value_or(b ? b->write : l.write);
    l.write_allocate = d.write_allocate.value_or(b ? b->write_allocate : l.write_allocate);
    l.prefetch = d.prefetch.value_or(b ? b->prefetch : l.prefetch);
    rates(d, b, i, l);
    result_.machine.levels.push_back(std::move(l));
  }

  // Capacity and ways; a virtual machine may report figures that are no whole number of sets.
  void geometry(const DraftLevel& d, const Level* b, Level& l) {
    const std::int64_t line = l.line.value.value();
    if (line < 1) throw InputError(d.place, d.name + " has lines of no bytes", "give a line of 64");
    const auto product = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      std::int64_t xy = 0, xyz = 0;
      if (__builtin_mul_overflow(x, y, &xy) || __builtin_mul_overflow(xy, z, &xyz)) {
        throw InputError(d.place, d.name + ": sets x ways x line is out of range",
                         "check the three numbers");
      }
      return xyz;
    };
    std::optional<std::int64_t> ways = d.ways;
    if (!ways && d.sets && d.capacity) {
      const std::int64_t way = product(*d.sets, line, 1);
      if (way > 0 && d.capacity->value() >= way) ways = d.capacity->value() / way;
    }
    l.ways = figure(d.name + ".ways", ways, b ? &b->ways : nullptr, usual_ways);
    std::optional<Bytes> capacity = d.capacity;
    if (!capacity && d.sets) capacity = Bytes(product(*d.sets, l.ways.value, line));
    if (!capacity) {
      throw InputError(d.place, d.name + " has no size", "give a file that tells it");
    }
    l.capacity = {*capacity, draft_.origin, draft_.format};
    const std::int64_t set = product(l.ways.value, line, 1);
    if (set < 1 || capacity->value() % set == 0) return;
    l.capacity = {Bytes(std::max<std::int64_t>(1, capacity->value() / set) * set), Origin::assumed,
                  "rounded to whole sets from " + to_text(*capacity)};
    result_.notes.push_back(
        fmt::format("{}.capacity: {} is no whole number of {}-way sets, {} is used", d.name,
                    to_text(*capacity), l.ways.value, to_text(l.capacity.value)));
  }

  void rates(const DraftLevel& d, const Level* b, std::size_t i, Level& l) {
    l.shared_by = d.shared_by.value_or(b ? b->shared_by : 1);
    l.series = d.series;
    if (d.bandwidth) {
      l.bandwidth = *d.bandwidth;
    } else {
      const Bandwidth guess{usual_bandwidths[std::min(i, std::size(usual_bandwidths) - 1)],
                            Bandwidth::Unit::bytes_per_cycle};
      l.bandwidth = figure<Bandwidth>(d.name + ".bandwidth", {}, b ? &b->bandwidth : nullptr, guess,
                                      to_text(guess));
    }
    if (b != nullptr) l.latency = b->latency;
  }

  void memory() {
    const Level* b =
        base_ && base_->levels.back().kind == LevelKind::memory ? &base_->levels.back() : nullptr;
    DraftLevel& d = draft_.memory;
    Level l;
    l.name = d.name = b != nullptr ? b->name : "memory";
    l.kind = LevelKind::memory;
    if (d.capacity) {
      l.capacity = {*d.capacity, draft_.origin, draft_.format};
    } else if (b != nullptr) {
      l.capacity = b->capacity;
    }
    rates(d, b, std::size(usual_bandwidths) - 1, l);
    const int inner = result_.machine.levels.back().shared_by;
    if (!d.shared_by && b == nullptr) l.shared_by = inner;
    result_.machine.levels.push_back(std::move(l));
  }

  void lower_to_inner() {
    std::vector<Level>& levels = result_.machine.levels;
    const Hertz f = result_.machine.core.frequency.value;
    for (std::size_t i = 1; i < levels.size(); ++i) {
      Figure<Bandwidth>& outer = levels[i].bandwidth;
      const Bandwidth inner = levels[i - 1].bandwidth.value;
      if (outer.value.at(f) <= inner.at(f)) continue;
      const std::string was = to_text(outer.value);
      outer.value = inner;
      outer.source += fmt::format("{}lowered from {} to that of {}",
                                  outer.source.empty() ? "" : "; ", was, levels[i - 1].name);
      result_.notes.push_back(
          fmt::format("{}.bandwidth: {} is faster than {} inside it, {} is used", levels[i].name,
                      was, levels[i - 1].name, to_text(inner)));
    }
  }

  // check() with the draft's places.
  void check_with_places() const {
    try {
      check(result_.machine, place_);
    } catch (const InputError& e) {
      for (const DraftLevel& d : draft_.caches) {
        if (!d.place.empty() && e.problem().starts_with(d.name)) {
          throw InputError(d.place, e.problem(), e.mend());
        }
      }
      throw;
    }
  }

  Draft draft_;
  std::string place_;
  const std::optional<Machine>& base_;
  Imported result_;
};

}  // namespace

Imported finish(Draft draft, const std::string& place, const ImportOptions& options) {
  return Finisher(std::move(draft), place, options).imported();
}

std::vector<const Level*> caches_and_one_memory(const Machine& machine, const std::string& format) {
  std::vector<const Level*> caches;
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    if (level.kind != LevelKind::cache) {
      throw UnsupportedError(
          fmt::format("{}: {}", machine.name, level.name),
          fmt::format("{} has no place for a {} inside another level", format, to_text(level.kind)),
          "export a machine of caches and one memory");
    }
    caches.push_back(&level);
  }
  return caches;
}

void cannot_say(const Machine& machine, const Level& level, const std::string& format,
                const std::string& problem, const std::string& knob) {
  throw UnsupportedError(fmt::format("{}: {}", machine.name, level.name),
                         fmt::format("{} has no {}", format, problem),
                         fmt::format("leave it out with --set {}.{}", level.name, knob));
}

}  // namespace tcsim::exchange
