#include "sim/set_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "sim/general.hpp"
#include "sim/set_hash.hpp"

namespace tcsim {

namespace {

using sim::ArrayOrder;

// Takes what happens at one level, and counts.
class SetRecorder {
 public:
  SetRecorder(SetUse& use, std::size_t level, const ArrayOrder& order, std::stop_token stop)
      : use_(use),
        level_(static_cast<int>(level)),
        order_(order),
        stop_(std::move(stop)),
        hash_(use.level),
        line_bits_(std::countr_zero(static_cast<std::uint64_t>(use.level.line.value()))),
        sets_(static_cast<std::size_t>(use.sets())),
        places_(use.sets() * use.level.ways) {
    const auto arrays = static_cast<std::size_t>(use.arrays.size());
    use_.counts.assign(arrays, std::vector<SetTally>(sets_));
    use_.demand.resize(sets_);
    use_.spread.resize(arrays);
    held_.resize(arrays * sets_);
    window_.wanted.resize(arrays * sets_);
    window_.conflicts.resize(arrays * sets_);
    const auto cells = static_cast<std::int64_t>(arrays * sets_);
    most_windows_ = static_cast<std::size_t>(
        std::clamp<std::int64_t>(set_film_cells / cells, 2, most_set_windows));
  }

  void request(int l, std::uint64_t address, bool hit) {
    if (l == 0) {
      ++now_;
      constexpr std::int64_t look_every = 1 << 16;
      if (now_ % look_every == 0 && stop_.stop_requested()) throw Interrupted();
    }
    if (l != level_) return;
    const Place at = place_of(address);
    const auto use = this->use(at, address);
    SetTally& counts = at.counts(use_);
    counts.requests += Lines(1);
    if (!hit) {
      Lines& cause = counts.misses.of(use.distance, use_.level.lines());
      cause += Lines(1);
      if (&cause == &counts.misses.conflict) ++window_.conflicts[cell(at)];
    }
    if (lines_ == places_) close_window();
  }
  void arrival(int l, std::uint64_t address) {
    if (l != level_) return;
    use(place_of(address), address);
    if (lines_ == places_) close_window();
  }
  // A line that comes with touch t of the core and leaves with touch u is there after u - t of
  // them.
  void came(int l, std::uint64_t address) {
    if (l != level_) return;
    const Place at = place_of(address);
    at.counts(use_).fills += Lines(1);
    if (ended_) return;
    ++held_[cell(at)];
    at.counts(use_).resident -= Lines(now_);
  }
  void left(int l, std::uint64_t address) {
    if (l != level_ || ended_) return;
    const Place at = place_of(address);
    --held_[cell(at)];
    at.counts(use_).resident += Lines(now_);
  }

  // After the last touch; what is written back then changes what the sets hold no more.
  void end_touches() {
    ended_ = true;
    use_.touches = Lines(now_);
    for (std::size_t c = 0; c < held_.size(); ++c) {
      use_.counts[c / sets_][c % sets_].resident += Lines(held_[c] * (now_ + 1));
    }
  }
  void finish() {
    if (lines_ > 0) close_window();
  }

 private:
  struct Place {
    std::size_t array, set;
    SetTally& counts(SetUse& use) const { return use.counts[array][set]; }
  };
  std::size_t cell(const Place& at) const { return at.array * sets_ + at.set; }
  Place place_of(std::uint64_t address) const {
    return {static_cast<std::size_t>(index(order_.owner(address))),
            static_cast<std::size_t>(hash_.set_of(address >> line_bits_))};
  }

  sim::ReuseDistance::Use use(const Place& at, std::uint64_t address) {
    // The mark of a line is the window in which it was last used.
    const auto window = static_cast<std::uint64_t>(use_.windows);
    const auto used = stream_.use(address >> line_bits_, window);
    if (used.distance && used.last_mark == window) return used;
    if (lines_++ == 0) window_.touch = Lines(now_ - 1);
    ++window_.wanted[cell(at)];
    return used;
  }

  void close_window() {
    const auto arrays = use_.counts.size();
    const auto ways = static_cast<std::uint64_t>(use_.level.ways);
    const auto beyond = [&](std::uint64_t lines) {
      return Lines(static_cast<std::int64_t>(lines - std::min(lines, ways)));
    };
    for (std::size_t s = 0; s < sets_; ++s) {
      std::uint64_t all = 0;
      for (std::size_t a = 0; a < arrays; ++a) all += window_.wanted[a * sets_ + s];
      SetDemand& demand = use_.demand[s];
      demand.most = std::max(demand.most, Lines(static_cast<std::int64_t>(all)));
      demand.beyond += beyond(all);
    }
    for (std::size_t a = 0; a < arrays; ++a) {
      ArraySpread& spread = use_.spread[a];
      std::int64_t lines = 0;
      for (std::size_t s = 0; s < sets_; ++s) {
        const std::uint32_t wanted = window_.wanted[a * sets_ + s];
        lines += wanted;
        spread.sets += wanted > 0;
        spread.beyond += beyond(wanted);
        use_.counts[a][s].wanted += Lines(wanted);
      }
      spread.lines += Lines(lines);
      spread.room += std::min(lines, use_.sets());
    }
    keep_window();
    ++use_.windows;
    lines_ = 0;
    std::ranges::fill(window_.wanted, 0);
    std::ranges::fill(window_.conflicts, 0);
  }

  // In the film, of which every second one goes when it is full.
  void keep_window() {
    window_.number = use_.windows;
    if (window_.number % use_.step != 0) return;
    if (use_.film.size() == most_windows_) {
      use_.step *= 2;
      std::erase_if(use_.film, [&](const SetWindow& w) { return w.number % use_.step != 0; });
      if (window_.number % use_.step != 0) return;
    }
    use_.film.push_back(window_);
  }

  SetUse& use_;
  int level_;
  const ArrayOrder& order_;
  std::stop_token stop_;
  sim::SetHash hash_;
  int line_bits_;
  std::size_t sets_;
  std::int64_t places_;
  std::size_t most_windows_ = 2;
  sim::ReuseDistance stream_;
  std::int64_t now_ = 0;            // touches of the core that have begun
  bool ended_ = false;              // they have
  std::int64_t lines_ = 0;          // different ones in the window
  SetWindow window_;                // that goes on
  std::vector<std::int64_t> held_;  // lines, by array and set
};

struct SetObserver {
  SetRecorder* to;
  void request(int level, int, std::uint64_t address, bool, bool hit) {
    to->request(level, address, hit);
  }
  void arrival(int level, int, std::uint64_t address) { to->arrival(level, address); }
  void came(int level, int, std::uint64_t address) { to->came(level, address); }
  void left(int level, int, std::uint64_t address) { to->left(level, address); }
};

// Without the levels that change nothing further in: an inclusive one takes lines away there, and
// an exclusive one gives dirty lines, which are written back in the end.
sim::SystemConfig up_to(const sim::SystemConfig& config, std::size_t level) {
  sim::SystemConfig part = config;
  while (part.levels.size() > level + 1 && part.levels.back().inclusion == Inclusion::neither) {
    part.levels.pop_back();
  }
  return part;
}

}  // namespace

SetTally& SetTally::operator+=(const SetTally& o) {
  requests += o.requests;
  misses += o.misses;
  fills += o.fills;
  wanted += o.wanted;
  resident += o.resident;
  return *this;
}

SetTally SetUse::total(ArrayId a) const {
  SetTally all;
  for (const SetTally& c : of(a)) all += c;
  return all;
}

SetTally SetUse::total(std::int64_t set) const {
  SetTally all;
  for (const auto& array : counts) all += array[static_cast<std::size_t>(set)];
  return all;
}

SetTally SetUse::total() const {
  SetTally all;
  for (ArrayId a : arrays.ids()) all += total(a);
  return all;
}

std::size_t cache_named(const sim::SystemConfig& config, std::string_view name,
                        const std::string& place) {
  std::string known;
  for (std::size_t l = 0; l < config.levels.size(); ++l) {
    if (config.levels[l].name == name) return l;
    known += (l == 0 ? "" : ", ") + config.levels[l].name;
  }
  throw UsageError(place, fmt::format("there is no cache '{}'", name), "use one of " + known);
}

SetUse set_use(const Plan& plan, const sim::SystemConfig& config, std::size_t level,
               const SimulationOptions& options) {
  sim::check(plan, config);
  const sim::SystemConfig part = up_to(config, level);
  SetUse result;
  result.level = part.levels[level];
  result.arrays = plan.arrays();
  const ArrayOrder order(plan);
  SetRecorder recorder(result, level, order, options.stop);
  sim::System<SetObserver> system(part, order.ends, SetObserver{&recorder});
  sim::SystemSink<SetObserver> sink(system, part.levels.front(), plan.element().value());
  sim::PlanVisitor<sim::SystemSink<SetObserver>> visitor(plan, sink);
  sim::Watch watch(options, plan.contraction().flops() / 2, true);
  walk(plan, sim::Watched(visitor, watch));
  recorder.end_touches();
  if (part.drain) system.drain();
  recorder.finish();
  watch.finish();
  return result;
}

}  // namespace tcsim
