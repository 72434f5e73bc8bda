// The slow and obvious counterpart of sim/system.hpp: a set is a map from ways to lines and a list
// of ways in the order of use or coming; policies are written as their definitions read.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/config.hpp"
#include "sim/policy/policy.hpp"
#include "sim/system.hpp"

namespace tcsim::twin {

struct WayState {
  std::uint64_t line = 0;
  bool dirty = false, prefetched = false;
};

class Set {
 public:
  Set() = default;
  Set(const sim::LevelConfig* config, std::uint64_t seed, std::uint64_t number)
      : config_(config), seed_(seed), number_(number), ages_(std::size_t(config->ways), 3) {}

  WayState* find(std::uint64_t line) {
    for (auto& [way, state] : ways_) {
      if (state.line == line) return &state;
    }
    return nullptr;
  }
  void use(std::uint64_t line);
  std::optional<WayState> insert(WayState state);
  void remove(std::uint64_t line) { ways_.erase(way_of(line)); }
  std::vector<std::uint64_t> dirty_in_order() const;
  std::vector<std::uint64_t> lines() const {
    std::vector<std::uint64_t> all;
    for (const auto& [way, state] : ways_) all.push_back(state.line);
    return all;
  }

 private:
  int ways() const { return static_cast<int>(config_->ways); }
  int way_of(std::uint64_t line) const {
    for (const auto& [way, state] : ways_) {
      if (state.line == line) return way;
    }
    return -1;
  }
  int victim();
  std::vector<int> aged(int way) const;
  std::optional<WayState> insert_qlru(WayState state);
  void point_away(int way);
  void mark(int way);

  const sim::LevelConfig* config_ = nullptr;
  std::uint64_t seed_ = 0, number_ = 0;
  std::map<int, WayState> ways_;
  std::list<int> order_;                      // ways, the latest used (LRU) or come (FIFO) first
  std::map<std::pair<int, int>, bool> tree_;  // of the ways [from, to): the victim is on the right
  std::set<int> marked_;                      // bit-PLRU
  std::map<int, int> prediction_;             // RRIP
  std::uint64_t victims_ = 0, fills_ = 0;
  std::vector<int> ages_;  // QLRU, also of empty ways
};

// The set of a line.
std::uint64_t set_number(const sim::LevelConfig& level, std::uint64_t line);

class System {
 public:
  explicit System(const sim::SystemConfig& config);
  void access(int core, std::uint64_t address, std::uint64_t bytes, bool write);
  void drain();

  // What the first cache of a level holds in its sets.
  std::vector<std::uint64_t> lines_of(int l) {
    std::vector<std::uint64_t> all;
    for (const auto& [number, set] : instance(l, 0).sets) {
      for (std::uint64_t line : set.lines()) all.push_back(line);
    }
    return all;
  }

  std::vector<sim::LevelEvents> events;
  // Called where they are there: a line is asked for and found or not, and one is written back to
  // a level that has it then.
  std::function<void(int level, std::uint64_t line, bool found)> on_request;
  std::function<void(int level, std::uint64_t line)> on_arrival;

 private:
  struct Instance {
    std::map<std::uint64_t, Set> sets;
    std::list<WayState> victims;  // the oldest first
    std::map<std::uint64_t, std::pair<std::uint64_t, std::pair<std::uint64_t, std::int64_t>>>
        streams;  // by page modulo 64: page, last line, last step
    // Pages, the one with the latest request first, and the places in it that were asked for.
    std::list<std::pair<std::uint64_t, std::vector<std::int64_t>>> pages;
  };
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // bytes [from, to)

  const sim::LevelConfig& level(int l) const { return config_.levels[std::size_t(l)]; }
  sim::LevelEvents& count(int l) { return events[std::size_t(l)]; }
  int levels() const { return static_cast<int>(config_.levels.size()); }
  bool exclusive(int l) const { return l < levels() && level(l).inclusion == Inclusion::exclusive; }
  std::uint64_t size(int l) const { return std::uint64_t(level(l).line.value()); }
  Instance& instance(int l, int core) { return caches_[{l, core / level(l).shared_by}]; }
  Set& set(int l, int core, std::uint64_t line);
  std::list<WayState>::iterator victim(int l, int core, std::uint64_t line);
  WayState* find(int l, int core, std::uint64_t line, bool request);
  std::vector<std::uint64_t> lines(int l, Range r) const;
  void out(int l, Range r) { count(l).bytes_out += Bytes(std::int64_t(r.second - r.first)); }
  bool read(int l, int core, Range r);
  void write(int l, int core, Range r);
  bool get(int l, int core, std::uint64_t line);
  void put(int l, int core, WayState state);
  void send(int l, int core, WayState state);
  void arrive(int l, int core, Range r, bool dirty);
  bool expel(int l, int core, std::uint64_t line);
  void ask_prefetcher(int l, int core, std::uint64_t line, bool missed);
  std::vector<std::int64_t> ask_streamer(int l, int core, std::uint64_t page, std::int64_t place);

  sim::SystemConfig config_;
  std::map<std::pair<int, int>, Instance> caches_;
  std::list<std::tuple<int, int, std::uint64_t>> wanted_;
};

}  // namespace tcsim::twin
