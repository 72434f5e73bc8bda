// Caches behind one another with every rule that a SystemConfig can name, simulated access by
// access; docs/simulator.md, "Rules of a level", is its specification. Plain LRU levels are
// simulated several times faster by sim/hierarchy.hpp.
//
// An observer, a template argument, is told what happens (sim/events.hpp); without one nothing is
// paid.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/cache.hpp"
#include "sim/config.hpp"
#include "sim/events.hpp"
#include "sim/prefetcher.hpp"
#include "sim/victim_cache.hpp"

namespace tcsim::sim {

template <class Observer = NoObserver>
class System {
 public:
  // `ends`: address behind the last byte of each owner, ascending; what lies beyond the last one
  // belongs to it. Bytes are counted by owner.
  System(const SystemConfig& config, std::vector<std::uint64_t> ends, Observer observer = {});

  Observer& observer() { return observer_; }

  // The core reads or writes `bytes` >= 1 bytes: every line that they touch, in order.
  void access(int core, std::uint64_t address, std::uint64_t bytes, bool write);

  // Dirty lines are written back, level after level from the core outward, cache by cache, in the
  // order of Cache::dirty_slots() and then those of the victim cache, and stay, clean.
  void drain();

  // A line that the first cache of a level has from the beginning; within a set later ones were
  // used later. Nothing is counted.
  void put(int level, std::uint64_t line, bool dirty) { insert(level, 0, {line, dirty, false}); }

  int level_count() const { return level_count_; }
  // Of all caches of a level, and of one of them.
  LevelEvents events(int level) const;
  const LevelEvents& events(int level, int instance) const {
    return levels_[level].instances[instance].events;
  }
  int instance_count(int level) const { return static_cast<int>(levels_[level].instances.size()); }
  const OwnerBytes& bytes(int level, int owner) const { return levels_[level].owners[owner]; }
  // Moves the counts of bytes by owner out, and begins anew.
  std::vector<OwnerBytes> take_bytes(int level);

 private:
  // Bytes of one or more lines.
  struct Span {
    std::uint64_t begin = 0, end = 0;
  };
  struct Instance {
    Cache cache;
    Prefetcher prefetcher;
    VictimCache victims;
    LevelEvents events;
  };
  struct LevelState {
    LevelConfig config;
    int line_bits = 0;
    bool is_exclusive = false, prefetches = false;
    std::vector<Instance> instances;
    std::vector<Instance*> of_core;
    std::vector<OwnerBytes> owners;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  bool exclusive(int l) const { return l < level_count() && levels_[at(l)].is_exclusive; }
  int instance_of(int l, int core) const { return core / levels_[at(l)].config.shared_by; }
  int any_core(int l, int instance) const { return instance * levels_[at(l)].config.shared_by; }
  Instance& instance(int l, int core) { return *levels_[at(l)].of_core[at(core)]; }
  Cache& cache(int l, int core) { return instance(l, core).cache; }
  Span span_of(int l, std::uint64_t line) const {
    const int bits = levels_[at(l)].line_bits;
    return {line << bits, (line + 1) << bits};
  }
  template <class F>
  void for_each_line(int l, Span span, F&& f) {
    const int bits = levels_[at(l)].line_bits;
    for (std::uint64_t line = span.begin >> bits; line <= (span.end - 1) >> bits; ++line) f(line);
  }
  OwnerBytes& owner(int l, std::uint64_t address) {
    std::size_t i = 0;
    while (i + 1 < ends_.size() && address >= ends_[i]) ++i;
    return levels_[at(l)].owners[i];
  }
  LevelEvents& count(int l, int core) { return instance(l, core).events; }
  void count_in(int l, int core, Span s) {
    const Bytes bytes(static_cast<std::int64_t>(s.end - s.begin));
    count(l, core).bytes_in += bytes;
    owner(l, s.begin).in += bytes;
  }
  void count_out(int l, int core, Span s) {
    const Bytes bytes(static_cast<std::int64_t>(s.end - s.begin));
    count(l, core).bytes_out += bytes;
    owner(l, s.begin).out += bytes;
  }

  // Every line of the span is asked of level l; whether one comes dirty, from an exclusive level.
  bool fetch(int l, int core, Span span);
  // What a cache has of a line that it is asked for.
  struct Asked {
    Instance& here;
    Cache::Slot slot;  // where it is
    bool found;
  };
  Asked ask(int l, int core, std::uint64_t line, bool write);
  bool read_line(int l, int core, std::uint64_t line);
  void write(int l, int core, Span span);
  void write_line(int l, int core, std::uint64_t line, Span bytes);
  void write_through(int l, int core, Span bytes);
  bool fetch_from_outside(int l, int core, std::uint64_t line);
  void install(int l, int core, Cache::Line line);
  std::optional<Cache::Line> insert(int l, int core, Cache::Line line);
  void remove(int l, int cache, Cache::Slot slot);
  void leave(int l, int core, Cache::Line line);
  void write_back(int l, int core, Span span, bool dirty);
  void write_back_line(int l, int core, std::uint64_t line, Span bytes, bool dirty);
  std::vector<Span> flush(int l, int instance, Span span);
  std::vector<Span> flush_inside(int l, int instance, Span span);
  void hit(Instance& here, Cache::Slot slot, bool refresh);
  static bool among_victims(const Instance& here, Cache::Slot slot, std::uint64_t line) {
    return slot == Cache::absent && here.victims.exists() && here.victims.has(line);
  }
  Cache::Slot take_back(int l, int core, std::uint64_t line);
  // Prefetches wait until the access that led to them is done, so that they cannot take away what
  // it is about to put in.
  void notice(int l, int core, std::uint64_t line, bool missed);
  void run_prefetches();

  std::vector<LevelState> levels_;
  int level_count_ = 0;
  std::vector<std::uint64_t> ends_;
  struct Wanted {
    int level, core;
    std::uint64_t line;
  };
  std::vector<Wanted> prefetches_;
  Observer observer_;
};

template <class Observer>
System<Observer>::System(const SystemConfig& config, std::vector<std::uint64_t> ends,
                         Observer observer)
    : ends_(std::move(ends)), observer_(std::move(observer)) {
  check(config);
  for (std::size_t l = 0; l < config.levels.size(); ++l) {
    const LevelConfig& c = config.levels[l];
    LevelState level;
    level.config = c;
    level.line_bits = std::countr_zero(static_cast<std::uint64_t>(c.line.value()));
    level.is_exclusive = c.inclusion == Inclusion::exclusive;
    level.prefetches = c.prefetch != Prefetch::none;
    const int instances = (config.cores + c.shared_by - 1) / c.shared_by;
    for (int i = 0; i < instances; ++i) {
      level.instances.push_back(
          {Cache(c, cache_seed(config, l, at(i))), Prefetcher(c), VictimCache(c.victim_lines), {}});
    }
    for (int core = 0; core < config.cores; ++core) {
      level.of_core.push_back(&level.instances[at(core / c.shared_by)]);
    }
    level.owners.resize(ends_.size());
    levels_.push_back(std::move(level));
  }
  level_count_ = static_cast<int>(levels_.size());
}

template <class Observer>
LevelEvents System<Observer>::events(int level) const {
  LevelEvents all;
  for (const Instance& i : levels_[level].instances) all += i.events;
  return all;
}

template <class Observer>
std::vector<OwnerBytes> System<Observer>::take_bytes(int level) {
  std::vector<OwnerBytes> taken(ends_.size());
  std::swap(taken, levels_[level].owners);
  return taken;
}

template <class Observer>
void System<Observer>::access(int core, std::uint64_t address, std::uint64_t bytes, bool is_write) {
  const Span span{address, address + bytes};
  if (is_write) {
    write(0, core, span);
  } else {
    fetch(0, core, span);
  }
  if (!prefetches_.empty()) run_prefetches();
}

template <class Observer>
bool System<Observer>::fetch(int l, int core, Span span) {
  if (l == level_count()) return false;
  bool dirty = false;
  for_each_line(l, span, [&](std::uint64_t line) { dirty |= read_line(l, core, line); });
  return dirty;
}

template <class Observer>
void System<Observer>::hit(Instance& here, Cache::Slot slot, bool refresh) {
  if (here.cache.take_prefetched(slot)) ++here.events.useful_prefetches;
  if (refresh) here.cache.use(slot);
}

// A line of the victim cache goes back into the cache, as one that comes, and the line that has to
// leave for it takes its place.
template <class Observer>
Cache::Slot System<Observer>::take_back(int l, int core, std::uint64_t line) {
  Instance& here = instance(l, core);
  const auto back = here.victims.take(line);
  if (const auto left = insert(l, core, *back)) here.victims.put(*left);
  return here.cache.find(line);
}

template <class Observer>
std::optional<Cache::Line> System<Observer>::insert(int l, int core, Cache::Line line) {
  const auto victim = cache(l, core).insert(line);
  if (victim) observer_.left(l, instance_of(l, core), span_of(l, victim->number).begin);
  observer_.came(l, instance_of(l, core), span_of(l, line.number).begin);
  return victim;
}

template <class Observer>
void System<Observer>::remove(int l, int cache, Cache::Slot slot) {
  Cache& c = levels_[at(l)].instances[at(cache)].cache;
  const std::uint64_t line = c.number(slot);
  c.remove(slot);
  observer_.left(l, cache, span_of(l, line).begin);
}

// Tells the observer and counts; a line of the victim cache goes back into the cache.
template <class Observer>
auto System<Observer>::ask(int l, int core, std::uint64_t line, bool write) -> Asked {
  Instance& here = instance(l, core);
  Cache::Slot slot = here.cache.find(line);
  const bool is_victim = among_victims(here, slot, line);
  const bool found = is_victim || slot != Cache::absent;
  observer_.request(l, instance_of(l, core), span_of(l, line).begin, write, found);
  ++(found ? here.events.hits : here.events.misses);
  if (is_victim) {
    ++here.events.victim_hits;
    slot = take_back(l, core, line);
  }
  return {here, slot, found};
}

template <class Observer>
bool System<Observer>::read_line(int l, int core, std::uint64_t line) {
  LevelState& level = levels_[at(l)];
  const auto [here, slot, found] = ask(l, core, line, false);
  bool dirty = false;
  if (found) {
    hit(here, slot, true);
    if (level.is_exclusive) {  // the line moves inward, with what was written to it
      dirty = here.cache.dirty(slot);
      remove(l, instance_of(l, core), slot);
    }
  } else {
    dirty = fetch_from_outside(l, core, line);
    if (!level.is_exclusive) {
      install(l, core, {line, dirty, false});
      dirty = false;
    }
  }
  if (level.prefetches) notice(l, core, line, !found);
  return dirty;
}

template <class Observer>
bool System<Observer>::fetch_from_outside(int l, int core, std::uint64_t line) {
  ++count(l, core).fetches;
  count_in(l, core, span_of(l, line));
  return fetch(l + 1, core, span_of(l, line));
}

template <class Observer>
void System<Observer>::write(int l, int core, Span span) {
  if (l == level_count()) return;
  for_each_line(l, span, [&](std::uint64_t line) {
    const Span whole = span_of(l, line);
    write_line(l, core, line, {std::max(span.begin, whole.begin), std::min(span.end, whole.end)});
  });
}

template <class Observer>
void System<Observer>::write_line(int l, int core, std::uint64_t line, Span bytes) {
  LevelState& level = levels_[at(l)];
  const bool keeps = level.config.write == WritePolicy::write_back;
  const auto [here, slot, found] = ask(l, core, line, true);
  if (found) {
    hit(here, slot, level.config.write_hit_refreshes);
    if (keeps) here.cache.set_dirty(slot, true);
    if (!keeps) write_through(l, core, bytes);
  } else if (level.config.write_allocate && !exclusive(l)) {
    const bool dirty = fetch_from_outside(l, core, line);
    install(l, core, {line, dirty || keeps, false});
    if (!keeps) write_through(l, core, bytes);
  } else {
    write_through(l, core, bytes);
  }
  if (level.prefetches) notice(l, core, line, !found);
}

template <class Observer>
void System<Observer>::write_through(int l, int core, Span bytes) {
  ++count(l, core).writes_through;
  count_out(l, core, bytes);
  write(l + 1, core, bytes);
}

template <class Observer>
void System<Observer>::install(int l, int core, Cache::Line line) {
  LevelState& level = levels_[at(l)];
  ++count(l, core).fills;
  Instance& here = instance(l, core);
  auto victim = insert(l, core, line);
  if (victim && here.victims.exists()) victim = here.victims.put(*victim);
  if (!victim) return;
  ++count(l, core).evictions;
  if (level.config.inclusion == Inclusion::inclusive) {
    victim->dirty |= !flush_inside(l, instance_of(l, core), span_of(l, victim->number)).empty();
  }
  leave(l, core, *victim);
}

template <class Observer>
void System<Observer>::leave(int l, int core, Cache::Line line) {
  const Span span = span_of(l, line.number);
  LevelEvents& events = count(l, core);
  if (line.dirty) {
    ++events.write_backs;
  } else if (exclusive(l + 1)) {
    ++events.clean_victims;
  } else {
    return;
  }
  count_out(l, core, span);
  write_back(l + 1, core, span, line.dirty);
}

template <class Observer>
void System<Observer>::write_back(int l, int core, Span span, bool dirty) {
  if (l == level_count()) return;
  for_each_line(l, span, [&](std::uint64_t line) { write_back_line(l, core, line, span, dirty); });
}

template <class Observer>
void System<Observer>::write_back_line(int l, int core, std::uint64_t line, Span bytes,
                                       bool dirty) {
  LevelState& level = levels_[at(l)];
  Cache& c = cache(l, core);
  const Span whole = span_of(l, line);
  const Span part{std::max(bytes.begin, whole.begin), std::min(bytes.end, whole.end)};
  const bool passes_through = level.config.write == WritePolicy::write_through && dirty;
  const auto pass_on = [&] {
    ++count(l, core).write_backs;
    count_out(l, core, part);
    write_back(l + 1, core, part, true);
  };
  Cache::Slot slot = c.find(line);
  const bool is_victim = among_victims(instance(l, core), slot, line);
  if (is_victim || slot != Cache::absent) {
    observer_.arrival(l, instance_of(l, core), whole.begin);
    if (is_victim) slot = take_back(l, core, line);
    if (level.config.write_back_refreshes) c.use(slot);
    if (dirty && !passes_through) c.set_dirty(slot, true);
    if (passes_through) pass_on();
    return;
  }
  const bool puts_in = exclusive(l) || (level.config.write_allocate &&
                                        level.config.write_back_miss == WriteBackMiss::allocate);
  if (!puts_in) return pass_on();
  observer_.arrival(l, instance_of(l, core), whole.begin);
  const bool partial = part.end - part.begin < whole.end - whole.begin;
  const bool came_dirty = partial && fetch_from_outside(l, core, line);
  install(l, core, {line, came_dirty || (dirty && !passes_through), false});
  if (passes_through) pass_on();
}

// Lines of the span leave the caches inside this one; the dirty ones come out.
template <class Observer>
auto System<Observer>::flush_inside(int l, int instance, Span span) -> std::vector<Span> {
  std::vector<Span> out;
  if (l == 0) return out;
  const int cores = levels_[at(l)].config.shared_by, per = levels_[l - 1].config.shared_by;
  const int first = any_core(l, instance) / per;
  const int last = std::min(first + cores / per, static_cast<int>(levels_[l - 1].instances.size()));
  for (int i = first; i < last; ++i) {
    for (Span s : flush(l - 1, i, span)) out.push_back(s);
  }
  return out;
}

// The same for this cache as well. A dirty line crosses the link outside each cache on its way, as
// if it had been written back.
template <class Observer>
auto System<Observer>::flush(int l, int instance, Span span) -> std::vector<Span> {
  LevelState& level = levels_[at(l)];
  Cache& c = level.instances[at(instance)].cache;
  std::vector<Span> inner = flush_inside(l, instance, span), out;
  for_each_line(l, span, [&](std::uint64_t line) {
    const Cache::Slot slot = c.find(line);
    const auto victim =
        slot == Cache::absent ? level.instances[at(instance)].victims.take(line) : std::nullopt;
    if (slot == Cache::absent && !victim) return;
    const Span whole = span_of(l, line);
    const auto within = [&](Span s) { return s.begin < whole.end && whole.begin < s.end; };
    const bool was_dirty = victim ? victim->dirty : c.dirty(slot);
    const bool dirty = std::ranges::any_of(inner, within) || was_dirty;
    std::erase_if(inner, within);
    ++level.instances[instance].events.invalidations;
    if (!victim) remove(l, instance, slot);
    if (dirty) out.push_back(whole);
  });
  out.insert(out.end(), inner.begin(), inner.end());  // not held here: they pass
  for (Span s : out) {
    ++level.instances[instance].events.write_backs;
    count_out(l, any_core(l, instance), s);
  }
  return out;
}

template <class Observer>
void System<Observer>::notice(int l, int core, std::uint64_t line, bool missed) {
  LevelState& level = levels_[at(l)];
  Prefetcher& prefetcher = level.instances[instance_of(l, core)].prefetcher;
  prefetcher.request(line, missed, [&](std::uint64_t wanted) {
    prefetches_.push_back({l, core, wanted});
  });
}

template <class Observer>
void System<Observer>::run_prefetches() {
  for (std::size_t i = 0; i < prefetches_.size(); ++i) {  // which may lead to more of them
    const Wanted w = prefetches_[i];
    const Instance& here = instance(w.level, w.core);
    if (here.cache.find(w.line) != Cache::absent || here.victims.has(w.line)) continue;
    ++count(w.level, w.core).prefetches;
    const bool dirty = fetch_from_outside(w.level, w.core, w.line);
    install(w.level, w.core, {w.line, dirty, true});
  }
  prefetches_.clear();
}

template <class Observer>
void System<Observer>::drain() {
  for (int l = 0; l < level_count(); ++l) {
    for (std::size_t i = 0; i < levels_[at(l)].instances.size(); ++i) {
      Cache& c = levels_[at(l)].instances[i].cache;
      for (Cache::Slot slot : c.dirty_slots()) {
        const std::uint64_t line = c.number(slot);
        if (!c.dirty(slot)) continue;
        c.set_dirty(slot, false);
        leave(l, any_core(l, static_cast<int>(i)), {line, true, false});
      }
      VictimCache& victims = levels_[at(l)].instances[i].victims;
      for (std::uint64_t line : victims.dirty_lines()) {
        if (!victims.take_dirty(line)) continue;
        leave(l, any_core(l, static_cast<int>(i)), {line, true, false});
      }
    }
  }
}

}  // namespace tcsim::sim
