// Simulates a plan on caches with any rules, access by access (sim/system.hpp).
#pragma once

#include <bit>

#include "sim/plan_visitor.hpp"
#include "sim/sampled_classes.hpp"
#include "sim/simulate.hpp"
#include "sim/system.hpp"
#include "sim/watch.hpp"

namespace tcsim::sim {

// Whether touching a line twice in a row is not the same as touching it once: where a use moves the
// line further than its coming did (RRIP), and where each write goes on by itself.
bool counts_every_element(const LevelConfig& innermost);

// Elements side by side become accesses to lines, or each element one where that matters.
template <class Observer>
class SystemSink {
 public:
  SystemSink(System<Observer>& system, const LevelConfig& innermost, std::int64_t element)
      : system_(system),
        line_bits_(std::countr_zero(static_cast<std::uint64_t>(innermost.line.value()))),
        element_(counts_every_element(innermost) ? element : 0) {}

  // Of regions of 2^region_bits bytes (sim/sampled_classes.hpp) only those of the share reach the
  // system; touches count all.
  void select(int region_bits, Share share) {
    region_bits_ = region_bits;
    share_ = static_cast<std::uint64_t>(share.number);
    share_mask_ = static_cast<std::uint64_t>(share.of) - 1;
  }

  // Bytes that moved until now belong to the phase that ends.
  void enter(Phase phase) {
    for (int l = 0; l < system_.level_count(); ++l) take(l);
    phase_ = phase;
  }
  void begin_row() { previous_ = none; }
  template <bool write>
  void touch(ArrayId, std::uint64_t address, std::int64_t bytes) {
    if (element_ > 0) {
      for (std::int64_t i = 0; i < bytes; i += element_) {
        ++touches_;
        access(address + std::uint64_t(i), std::uint64_t(element_), write);
      }
      return;
    }
    const std::uint64_t end = address + std::uint64_t(bytes), last = (end - 1) >> line_bits_;
    std::uint64_t first = address >> line_bits_;
    if (first == previous_) address = ++first << line_bits_;
    previous_ = last;
    if (first > last) return;
    touches_ += static_cast<std::int64_t>(last - first + 1);
    access(address, end - address, write);
  }
  void read(const TwoStreams& s) {
    for (std::int64_t step = 0; step < s.steps; ++step) {
      const auto i = static_cast<std::uint64_t>(step);
      begin_row();
      touch<false>(s.left_array, s.left + i * s.left_bytes, s.left_bytes);
      begin_row();
      touch<false>(s.right_array, s.right + i * s.right_bytes, s.right_bytes);
    }
  }

  Lines touches() const { return Lines(touches_); }
  // Bytes outside each level so far, by phase; arrays in the order of `owners`.
  void collect() { enter(phase_); }
  const std::vector<ByPhase<std::vector<OwnerBytes>>>& bytes() const { return bytes_; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  void access(std::uint64_t address, std::uint64_t bytes, bool write) {
    if (share_mask_ == 0) return system_.access(0, address, bytes, write);
    for_each_region(address, bytes, region_bits_, [&](std::uint64_t at, std::uint64_t some) {
      if (((at >> region_bits_) & share_mask_) == share_) system_.access(0, at, some, write);
    });
  }

  void take(int l) {
    bytes_.resize(static_cast<std::size_t>(system_.level_count()));
    auto& all = bytes_[static_cast<std::size_t>(l)][phase_];
    const std::vector<OwnerBytes> more = system_.take_bytes(l);
    all.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) {
      all[i].in += more[i].in;
      all[i].out += more[i].out;
    }
  }

  System<Observer>& system_;
  int line_bits_;
  std::int64_t element_;  // 0: lines
  int region_bits_ = 0;
  std::uint64_t share_ = 0, share_mask_ = 0;
  std::uint64_t previous_ = none;
  std::int64_t touches_ = 0;
  Phase phase_ = Phase::compute;
  std::vector<ByPhase<std::vector<OwnerBytes>>> bytes_;
};

// Arrays of a plan in the order of addresses, and where each ends.
struct ArrayOrder {
  explicit ArrayOrder(const Plan& plan);
  ArrayId owner(std::uint64_t address) const {
    std::size_t i = 0;
    while (address >= ends[i] && i + 1 < ends.size()) ++i;
    return arrays[i];
  }
  std::vector<ArrayId> arrays;
  std::vector<std::uint64_t> ends;
};

LevelCounts counts_of(const LevelEvents& events);
using PhaseBytes = std::vector<ByPhase<std::vector<OwnerBytes>>>;  // by level
// What a system and its sink have counted.
Simulation result_of(const SystemConfig& config, const ArrayOrder& order,
                     const std::vector<LevelEvents>& events, const PhaseBytes& bytes, Lines touches,
                     const LinkTraffic& registers);
template <class Observer>
Simulation result_of(const SystemConfig& config, const ArrayOrder& order,
                     const System<Observer>& system, const PhaseBytes& bytes, Lines touches,
                     const LinkTraffic& registers) {
  std::vector<LevelEvents> events;
  for (int l = 0; l < system.level_count(); ++l) events.push_back(system.events(l));
  return result_of(config, order, events, bytes, touches, registers);
}

// check() of sim/config.hpp, and whether lines go with the plan's elements and arrays.
void check(const Plan& plan, const SystemConfig& config);

// `config` has passed check(). Several threads simulate classes of sets, where levels do not
// prefetch or have victim caches; each walks the whole plan.
Simulation simulate_general(const Plan& plan, const SystemConfig& config,
                            const SimulationOptions& options);
// A share of the sets alone, on one thread.
Traffic simulate_general(const Plan& plan, const SystemConfig& config, Share share,
                         const SimulationOptions& options);

}  // namespace tcsim::sim
