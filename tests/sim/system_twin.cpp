#include "tests/sim/system_twin.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace tcsim::twin {

namespace {

// Splits the ways [from, to) in two; the left half is the smaller one.
int middle(int from, int to) { return from + (to - from) / 2; }

}  // namespace

void Set::point_away(int way) {
  int from = 0, to = ways();
  while (to - from > 1) {
    const int m = middle(from, to);
    tree_[{from, to}] = way < m;
    if (way < m) {
      to = m;
    } else {
      from = m;
    }
  }
}

void Set::mark(int way) {
  marked_.insert(way);
  if (static_cast<int>(marked_.size()) == ways()) marked_ = {way};
}

void Set::use(std::uint64_t line) {
  const int way = way_of(line);
  if (config_->qlru) {
    const int age = ages_[std::size_t(way)];
    ages_[std::size_t(way)] = age == 3   ? config_->qlru->from_3
                              : age == 2 ? config_->qlru->from_2
                                         : 0;
    if (!config_->qlru->update_on_miss_only) ages_ = aged(way);
    return;
  }
  switch (config_->replacement) {
    case Replacement::lru:
      order_.remove(way);
      order_.push_front(way);
      break;
    case Replacement::tree_plru:
      point_away(way);
      break;
    case Replacement::bit_plru:
      mark(way);
      break;
    case Replacement::srrip:
    case Replacement::brrip:
      prediction_[way] = 0;
      break;
    case Replacement::fifo:
    case Replacement::random:
      break;
  }
}

int Set::victim() {
  switch (config_->replacement) {
    case Replacement::lru:
    case Replacement::fifo:
      return order_.back();
    case Replacement::random:
      return static_cast<int>(sim::draw(seed_, number_, victims_++) % std::uint64_t(ways()));
    case Replacement::tree_plru: {
      int from = 0, to = ways();
      while (to - from > 1) (tree_[{from, to}] ? from : to) = middle(from, to);
      return from;
    }
    case Replacement::bit_plru:
      for (int way = 0; way < ways(); ++way) {
        if (!marked_.contains(way)) return way;
      }
      return 0;  // the only way
    case Replacement::srrip:
    case Replacement::brrip:
      while (true) {
        for (const auto& [way, p] : prediction_) {
          if (p == 3) return way;
        }
        for (auto& [way, p] : prediction_) ++p;
      }
  }
  return -1;
}

// The ages after an access of a way, -1 for one of none, as the definitions read.
std::vector<int> Set::aged(int way) const {
  std::vector<int> others = ages_, after = ages_;
  if (way >= 0) others.erase(others.begin() + way);
  const int oldest = *std::ranges::max_element(ages_);
  const int oldest_other = *std::ranges::max_element(others);
  for (int i = 0; i < ways(); ++i) {
    int& age = after[std::size_t(i)];
    switch (config_->qlru->update) {
      case 0:
        age += 3 - oldest;
        break;
      case 1:
        if (i != way) age += 3 - oldest_other;
        break;
      case 2:
        if (oldest != 3) ++age;
        break;
      default:
        if (oldest != 3 && i != way) ++age;
    }
  }
  return after;
}

std::optional<WayState> Set::insert_qlru(WayState state) {
  if (config_->qlru->update_on_miss_only) ages_ = aged(-1);
  std::vector<int> empty;
  for (int i = 0; i < ways(); ++i) {
    if (!ways_.contains(i)) empty.push_back(i);
  }
  std::optional<WayState> gone;
  int way = 0;
  if (!empty.empty()) {
    way = config_->qlru->replace == 2 ? empty.back() : empty.front();
  } else {
    const auto old = std::ranges::find(ages_, 3);
    if (old != ages_.end()) way = int(old - ages_.begin());
    gone = ways_[way];
  }
  ways_[way] = state;
  order_.remove(way);
  order_.push_front(way);
  ages_[std::size_t(way)] = config_->qlru->insertion;
  if (config_->qlru->rare_insertion && sim::draw(seed_, number_, fills_++) % 16 == 0) {
    ages_[std::size_t(way)] = *config_->qlru->rare_insertion;
  }
  if (!config_->qlru->update_on_miss_only) ages_ = aged(way);
  return gone;
}

std::optional<WayState> Set::insert(WayState state) {
  int way = 0;
  while (way < ways() && ways_.contains(way)) ++way;
  std::optional<WayState> gone;
  if (config_->qlru) return insert_qlru(state);
  if (way == ways() || config_->empty_ways == sim::EmptyWays::tree) {
    way = victim();
    if (ways_.contains(way)) gone = ways_[way];
  }
  ways_[way] = state;
  order_.remove(way);
  order_.push_front(way);
  point_away(way);
  mark(way);
  prediction_[way] = 2;
  if (config_->replacement == Replacement::brrip && sim::draw(seed_, number_, fills_++) % 32 != 0) {
    prediction_[way] = 3;
  }
  return gone;
}

std::vector<std::uint64_t> Set::dirty_in_order() const {
  std::vector<std::uint64_t> all;
  const bool ordered = !config_->qlru && (config_->replacement == Replacement::lru ||
                                          config_->replacement == Replacement::fifo);
  std::vector<int> order(order_.rbegin(), order_.rend());
  if (!ordered) std::sort(order.begin(), order.end());
  for (int way : order) {
    const auto found = ways_.find(way);
    if (found != ways_.end() && found->second.dirty) all.push_back(found->second.line);
  }
  return all;
}

System::System(const sim::SystemConfig& config) : events(config.levels.size()), config_(config) {}

// Bit by bit.
std::uint64_t set_number(const sim::LevelConfig& level, std::uint64_t line) {
  const auto sets = std::uint64_t(level.sets);
  const auto bit = [](std::uint64_t x, int i) { return i < 64 ? x >> i & 1 : 0; };
  if (level.index.hashed) {
    int bits = 0;  // of the last set's number
    while ((sets - 1) >> bits != 0) ++bits;
    if (bits == 0) return 0;
    std::uint64_t number = 0;
    for (int i = 0; i < 64; ++i) {
      std::uint64_t sum = 0;
      for (int j = i; j < 64; j += bits) sum += bit(line, j);
      number |= (sum % 2) << i;
    }
    return number % sets;
  }
  const std::uint64_t address = line * std::uint64_t(level.line.value());
  std::uint64_t slice = 0, slices = 1;
  for (std::uint64_t mask : level.index.masks) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 64; ++i) sum += bit(address, i) * bit(mask, i);
    slice += sum % 2 * slices;
    slices *= 2;
  }
  return slice * (sets / slices) + line % (sets / slices);
}

Set& System::set(int l, int core, std::uint64_t line) {
  const std::uint64_t number = set_number(level(l), line);
  auto& sets = instance(l, core).sets;
  const std::uint64_t seed =
      sim::cache_seed(config_, std::size_t(l), std::size_t(core / level(l).shared_by));
  return sets.try_emplace(number, &level(l), seed, number).first->second;
}

std::list<WayState>::iterator System::victim(int l, int core, std::uint64_t line) {
  auto& all = instance(l, core).victims;
  return std::find_if(all.begin(), all.end(), [&](const WayState& s) { return s.line == line; });
}

// The line in its set, into which it comes from the victim cache first if it is there.
WayState* System::find(int l, int core, std::uint64_t line, bool request) {
  Set& here = set(l, core, line);
  auto& all = instance(l, core).victims;
  const auto found = victim(l, core, line);
  if (found != all.end()) {
    if (request) ++count(l).victim_hits;
    const WayState back = *found;
    all.erase(found);
    if (const auto gone = here.insert(back)) all.push_back(*gone);
  }
  return here.find(line);
}

std::vector<std::uint64_t> System::lines(int l, Range r) const {
  std::vector<std::uint64_t> all;
  for (std::uint64_t line = r.first / size(l); line * size(l) < r.second; ++line) {
    all.push_back(line);
  }
  return all;
}

void System::access(int core, std::uint64_t address, std::uint64_t bytes, bool is_write) {
  if (is_write) {
    write(0, core, {address, address + bytes});
  } else {
    read(0, core, {address, address + bytes});
  }
  for (; !wanted_.empty(); wanted_.pop_front()) {
    const auto [l, c, line] = wanted_.front();
    if (set(l, c, line).find(line)) continue;
    if (victim(l, c, line) != instance(l, c).victims.end()) continue;
    ++count(l).prefetches;
    const bool dirty = get(l, c, line);
    put(l, c, {line, dirty, true});
  }
}

// The line comes from the next level, dirty or not.
bool System::get(int l, int core, std::uint64_t line) {
  ++count(l).fetches;
  count(l).bytes_in += level(l).line;
  return l + 1 < levels() && read(l + 1, core, {line * size(l), (line + 1) * size(l)});
}

bool System::read(int l, int core, Range r) {
  bool dirty = false;
  for (std::uint64_t line : lines(l, r)) {
    WayState* found = find(l, core, line, true);
    if (on_request) on_request(l, line, found != nullptr);
    if (found) {
      ++count(l).hits;
      count(l).useful_prefetches += found->prefetched;
      found->prefetched = false;
      set(l, core, line).use(line);
      if (exclusive(l)) {
        dirty |= found->dirty;
        set(l, core, line).remove(line);
      }
    } else {
      ++count(l).misses;
      const bool came_dirty = get(l, core, line);
      if (exclusive(l)) {
        dirty |= came_dirty;
      } else {
        put(l, core, {line, came_dirty, false});
      }
    }
    ask_prefetcher(l, core, line, found == nullptr);
  }
  return dirty;
}

void System::write(int l, int core, Range r) {
  if (l == levels()) return;
  for (std::uint64_t line : lines(l, r)) {
    const Range part{std::max(r.first, line * size(l)), std::min(r.second, (line + 1) * size(l))};
    const bool through = level(l).write == WritePolicy::write_through;
    bool goes_on = through;
    WayState* found = find(l, core, line, true);
    if (on_request) on_request(l, line, found != nullptr);
    ++(found ? count(l).hits : count(l).misses);
    if (found) {
      count(l).useful_prefetches += found->prefetched;
      found->prefetched = false;
      if (!through) found->dirty = true;
      if (level(l).write_hit_refreshes) set(l, core, line).use(line);
    } else if (level(l).write_allocate && !exclusive(l)) {
      const bool came_dirty = get(l, core, line);
      put(l, core, {line, came_dirty || !through, false});
    } else {
      goes_on = true;
    }
    if (goes_on) {
      ++count(l).writes_through;
      out(l, part);
      write(l + 1, core, part);
    }
    ask_prefetcher(l, core, line, found == nullptr);
  }
}

void System::put(int l, int core, WayState state) {
  ++count(l).fills;
  auto gone = set(l, core, state.line).insert(state);
  if (!gone) return;
  auto& victims = instance(l, core).victims;
  victims.push_back(*gone);
  if (std::int64_t(victims.size()) <= level(l).victim_lines) return;
  gone = victims.front();
  victims.pop_front();
  ++count(l).evictions;
  if (level(l).inclusion == Inclusion::inclusive && expel(l, core, gone->line)) gone->dirty = true;
  send(l, core, *gone);
}

// Takes the line of level l out of everything inside it; whether some of it was dirty.
bool System::expel(int l, int core, std::uint64_t line) {
  bool any = false;
  const int first = core / level(l).shared_by * level(l).shared_by;
  // The dirty bytes that have come out so far, by the core that they come from.
  std::map<int, std::vector<Range>> dirty;
  for (int inner = 0; inner < l; ++inner) {
    std::map<int, std::vector<Range>> next;
    for (int c = first; c < std::min(first + level(l).shared_by, config_.cores);
         c += level(inner).shared_by) {
      std::vector<Range> inside, out_of;
      for (int d = c; d < c + level(inner).shared_by; ++d) {
        inside.insert(inside.end(), dirty[d].begin(), dirty[d].end());
      }
      for (std::uint64_t x : lines(inner, {line * size(l), (line + 1) * size(l)})) {
        WayState* found = set(inner, c, x).find(x);
        const auto kept = victim(inner, c, x);
        const bool is_victim = kept != instance(inner, c).victims.end();
        if (is_victim) found = &*kept;
        if (!found) continue;
        const Range all{x * size(inner), (x + 1) * size(inner)};
        bool is_dirty = found->dirty;
        std::vector<Range> others;
        for (Range r : inside) {
          if (r.first < all.second && all.first < r.second) {
            is_dirty = true;
          } else {
            others.push_back(r);
          }
        }
        inside = others;
        if (is_victim) {
          instance(inner, c).victims.erase(kept);
        } else {
          set(inner, c, x).remove(x);
        }
        ++count(inner).invalidations;
        if (is_dirty) out_of.push_back(all);
      }
      out_of.insert(out_of.end(), inside.begin(), inside.end());
      for (Range r : out_of) {
        ++count(inner).write_backs;
        out(inner, r);
      }
      next[c] = out_of;
    }
    dirty = next;
  }
  for (const auto& [c, ranges] : dirty) any |= !ranges.empty();
  return any;
}

void System::send(int l, int core, WayState state) {
  if (!state.dirty && !exclusive(l + 1)) return;
  ++(state.dirty ? count(l).write_backs : count(l).clean_victims);
  const Range all{state.line * size(l), (state.line + 1) * size(l)};
  out(l, all);
  arrive(l + 1, core, all, state.dirty);
}

void System::arrive(int l, int core, Range r, bool dirty) {
  if (l == levels()) return;
  const bool through = dirty && level(l).write == WritePolicy::write_through;
  for (std::uint64_t line : lines(l, r)) {
    const Range part{std::max(r.first, line * size(l)), std::min(r.second, (line + 1) * size(l))};
    const auto pass_on = [&] {
      ++count(l).write_backs;
      out(l, part);
      arrive(l + 1, core, part, true);
    };
    if (WayState* found = find(l, core, line, false)) {
      if (on_arrival) on_arrival(l, line);
      if (dirty && !through) found->dirty = true;
      if (level(l).write_back_refreshes) set(l, core, line).use(line);
      if (through) pass_on();
    } else if (exclusive(l) || (level(l).write_allocate &&
                                level(l).write_back_miss == sim::WriteBackMiss::allocate)) {
      if (on_arrival) on_arrival(l, line);
      bool is_dirty = dirty && !through;
      if (part.second - part.first < size(l) && get(l, core, line)) is_dirty = true;
      put(l, core, {line, is_dirty, false});
      if (through) pass_on();
    } else {
      pass_on();
    }
  }
}

void System::ask_prefetcher(int l, int core, std::uint64_t line, bool missed) {
  const std::uint64_t in_page = std::max<std::uint64_t>(1, 4096 / size(l));
  const auto want = [&](std::uint64_t next) {
    if (next / in_page == line / in_page) wanted_.emplace_back(l, core, next);
  };
  if (level(l).prefetch == Prefetch::next_line && missed) want(line + 1);
  if (streams(level(l).prefetch)) {
    const std::uint64_t first = line / in_page * in_page;
    for (std::int64_t place :
         ask_streamer(l, core, line / in_page, static_cast<std::int64_t>(line - first))) {
      wanted_.emplace_back(l, core, first + static_cast<std::uint64_t>(place));
    }
  }
  const bool pairs = level(l).prefetch == Prefetch::adjacent_line ||
                     level(l).prefetch == Prefetch::streamer_and_adjacent_line;
  if (pairs && missed) want(line % 2 == 0 ? line + 1 : line - 1);
  if (level(l).prefetch != Prefetch::stride) return;
  auto& streams = instance(l, core).streams;
  const std::uint64_t page = line / in_page, place = page % 64;
  const auto found = streams.find(place);
  if (found == streams.end() || found->second.first != page) {
    streams[place] = {page, {line, 0}};
    return;
  }
  const auto [last, step] = found->second.second;
  const auto now = static_cast<std::int64_t>(line) - static_cast<std::int64_t>(last);
  found->second.second = {line, now};
  if (now == step && now != 0) want(line + static_cast<std::uint64_t>(now));
}

// From all that was asked of the page, once more from the beginning.
std::vector<std::int64_t> System::ask_streamer(int l, int core, std::uint64_t page,
                                               std::int64_t place) {
  auto& pages = instance(l, core).pages;
  auto known = std::find_if(pages.begin(), pages.end(),
                            [&](const auto& entry) { return entry.first == page; });
  if (known == pages.end()) {
    if (pages.size() == 32) pages.pop_back();
    known = pages.insert(pages.begin(), {page, {}});
  }
  pages.splice(pages.begin(), pages, known);
  std::vector<std::int64_t>& asked = pages.front().second;
  if (!asked.empty() && asked.back() == place) return {};
  asked.push_back(place);
  // The last ones that go one way.
  std::size_t from = asked.size() - 1;
  const bool up = from > 0 && asked[from] > asked[from - 1];
  while (from > 0 && (asked[from] > asked[from - 1]) == up) --from;
  std::set<std::int64_t> named;
  std::vector<std::int64_t> wanted;
  for (std::size_t i = from + 2; i < asked.size(); ++i) {
    wanted.clear();
    for (std::int64_t by = 1; by <= level(l).prefetch_ahead && wanted.size() < 2; ++by) {
      const std::int64_t next = up ? asked[i] + by : asked[i] - by;
      const auto in_page = std::max<std::int64_t>(1, 4096 / static_cast<std::int64_t>(size(l)));
      if (next >= 0 && next < in_page && named.insert(next).second) wanted.push_back(next);
    }
  }
  return wanted;
}

void System::drain() {
  for (int l = 0; l < levels(); ++l) {
    for (int core = 0; core < config_.cores; core += level(l).shared_by) {
      for (auto& [number, s] : instance(l, core).sets) {
        for (std::uint64_t line : s.dirty_in_order()) {
          WayState* state = s.find(line);
          if (!state || !state->dirty) continue;
          state->dirty = false;
          send(l, core, {line, true, false});
        }
      }
      std::vector<std::uint64_t> dirty;
      for (const WayState& s : instance(l, core).victims) {
        if (s.dirty) dirty.push_back(s.line);
      }
      for (std::uint64_t line : dirty) {
        const auto s = victim(l, core, line);
        if (s == instance(l, core).victims.end() || !s->dirty) continue;
        s->dirty = false;
        send(l, core, {line, true, false});
      }
    }
  }
}

}  // namespace tcsim::twin
