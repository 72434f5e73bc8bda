#include "sim/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "core/error.hpp"
#include "core/plan/walk.hpp"
#include "sim/general.hpp"

namespace tcsim {

namespace {

using sim::ArrayOrder;

// Takes what happens in the caches and in the walk, and sums up by frames.
class TimelineRecorder {
 public:
  TimelineRecorder(Timeline& to, const Plan& plan, const ArrayOrder& order,
                   const sim::SystemConfig& config, int most_frames)
      : to_(to),
        order_(order),
        steps_(plan.steps()),
        arrays_(static_cast<std::size_t>(plan.arrays().size())),
        most_frames_(static_cast<std::size_t>(most_frames)),
        streams_(config.levels.size()),
        open_(plan.steps().size()),
        iterations_(plan.steps().size()),
        spans_(plan.steps().size()) {
    for (const sim::LevelConfig& l : config.levels) {
      to_.levels.push_back({l, std::vector<FrameTally>(arrays_)});
      line_bits_.push_back(std::countr_zero(static_cast<std::uint64_t>(l.line.value())));
    }
    held_.assign(config.levels.size() * arrays_, {});
  }

  // Of the caches.
  void request(int l, std::uint64_t address, bool hit) {
    if (l == 0) begin_touch();
    const auto level = static_cast<std::size_t>(l);
    const auto use = streams_[level].use(address >> line_bits_[level], 0);
    if (!shows()) return;
    FrameTally& tally = this->tally(level, owner(address));
    tally.requests += Lines(1);
    if (!hit) tally.misses.of(use.distance, to_.levels[level].config.lines()) += Lines(1);
  }
  void arrival(int l, std::uint64_t address) {
    const auto level = static_cast<std::size_t>(l);
    streams_[level].use(address >> line_bits_[level], 0);
  }
  void came(int l, std::uint64_t address) { change(l, address, 1); }
  void left(int l, std::uint64_t address) { change(l, address, -1); }

  // Of the walk: touches that have begun by now are over.
  void begin_iteration(const Iteration& i) {
    for (std::size_t d = i.depth + 1; d < iterations_.size(); ++d) iterations_[d] = 0;
    const Step& step = steps_[i.depth];
    open_[i.depth] = {i.depth, iterations_[i.depth]++, (*i.tile)[step.group], {now_, now_}};
  }
  void end_iteration(std::size_t depth) { close(open_[depth]); }
  void begin_pack(const PackPlan& pack, const Tile& tile) {
    const auto step = std::ranges::find_if(steps_, [&](const Step& s) {
      return s.kind == Step::Kind::move && s.tensor == pack.tensor;
    });
    pack_ = {static_cast<std::size_t>(step - steps_.begin()), 0, tile[pack.rows], {now_, now_}};
  }
  void end_pack() { close(pack_); }

  // What is written back after the last touch changes what the caches hold no more.
  void end_touches() {
    to_.touches = now_;
    to_.shown.end = std::min(to_.shown.end, now_);
    to_.shown.begin = std::min(to_.shown.begin, now_);
    if (shows()) credit_all(now_);
    ended_ = true;
    for (Timeline::Level& l : to_.levels) l.tallies.resize(to_.frames() * arrays_);
    for (const std::vector<TimelineSpan>& of_step : spans_) {
      to_.spans.insert(to_.spans.end(), of_step.begin(), of_step.end());
    }
  }

 private:
  // Lines of an array at a level, counted in its frames up to and with a touch.
  struct Held {
    std::int64_t lines = 0, counted_to = 0;
  };

  std::size_t owner(std::uint64_t address) const {
    return static_cast<std::size_t>(index(order_.owner(address)));
  }
  // Touches have numbers from 1 on in here: the one that goes on is now_.
  bool shows() const { return !ended_ && now_ > to_.shown.begin && now_ <= to_.shown.end; }
  FrameTally& tally(std::size_t level, std::size_t array) {
    return to_.levels[level].tallies[frame_ * arrays_ + array];
  }

  void begin_touch() {
    const bool showed = shows();
    if (showed && (now_ == to_.shown.end || now_ == frame_end_)) credit_all(now_);
    ++now_;
    if (!shows()) return;
    if (!showed) {
      for (Held& h : held_) h.counted_to = now_ - 1;
      frame_end_ = now_ - 1 + to_.frame;
    } else if (now_ > frame_end_) {
      if (++frame_ == most_frames_) halve();
      frame_end_ = to_.shown.begin + (static_cast<std::int64_t>(frame_) + 1) * to_.frame;
      for (Timeline::Level& l : to_.levels) l.tallies.resize((frame_ + 1) * arrays_);
    }
  }

  // Two neighbours become one frame.
  void halve() {
    to_.frame *= 2;
    for (Timeline::Level& l : to_.levels) {
      for (std::size_t f = 0; f < frame_; ++f) {
        for (std::size_t a = 0; a < arrays_; ++a) {
          FrameTally& half = l.tallies[f / 2 * arrays_ + a];
          const FrameTally& from = l.tallies[f * arrays_ + a];
          if (f % 2 == 0) {
            half = from;
          } else {
            half += from;
          }
        }
      }
    }
    // Of an odd number the last one is half a frame yet: what comes belongs to it.
    for (Timeline::Level& l : to_.levels) l.tallies.resize((frame_ + 1) / 2 * arrays_);
    frame_ /= 2;
    for (std::vector<TimelineSpan>& of_step : spans_) {
      std::erase_if(of_step, [&](const TimelineSpan& s) { return !lasts(s); });
    }
  }

  void change(int l, std::uint64_t address, std::int64_t lines) {
    if (ended_) return;
    const auto level = static_cast<std::size_t>(l);
    const std::size_t array = owner(address);
    Held& h = held_[level * arrays_ + array];
    if (shows()) credit(level, array, now_ - 1);
    h.lines += lines;
  }
  // Counts lines that were there after the touches up to and with `touch`, which are of this frame.
  void credit(std::size_t level, std::size_t array, std::int64_t touch) {
    Held& h = held_[level * arrays_ + array];
    tally(level, array).held += Lines(h.lines * (touch - h.counted_to));
    h.counted_to = touch;
  }
  void credit_all(std::int64_t touch) {
    for (std::size_t l = 0; l < to_.levels.size(); ++l) {
      for (std::size_t a = 0; a < arrays_; ++a) credit(l, a, touch);
    }
  }

  bool lasts(const TimelineSpan& s) const { return s.touches.end - s.touches.begin >= to_.frame; }
  void close(TimelineSpan& s) {
    s.touches.end = now_;
    const bool seen = s.touches.end > to_.shown.begin && s.touches.begin < to_.shown.end;
    if (seen && lasts(s)) spans_[s.step].push_back(s);
  }

  Timeline& to_;
  const ArrayOrder& order_;
  const std::vector<Step>& steps_;
  std::size_t arrays_, most_frames_;
  std::vector<int> line_bits_;
  std::vector<sim::ReuseDistance> streams_;
  std::int64_t now_ = 0;        // touches of the core that have begun
  std::int64_t frame_end_ = 0;  // the frame's last touch
  std::size_t frame_ = 0;       // that goes on
  bool ended_ = false;
  std::vector<Held> held_;  // by level and array
  std::vector<TimelineSpan> open_;
  std::vector<std::int64_t> iterations_;  // of each loop, that have begun
  TimelineSpan pack_;
  std::vector<std::vector<TimelineSpan>> spans_;  // by step, each in the order of time
};

struct TimelineObserver : sim::NoObserver {
  explicit TimelineObserver(TimelineRecorder* recorder) : to(recorder) {}
  TimelineRecorder* to;
  void request(int level, int, std::uint64_t address, bool, bool hit) {
    to->request(level, address, hit);
  }
  void arrival(int level, int, std::uint64_t address) { to->arrival(level, address); }
  void came(int level, int, std::uint64_t address) { to->came(level, address); }
  void left(int level, int, std::uint64_t address) { to->left(level, address); }
};

using TimelineSink = sim::SystemSink<TimelineObserver>;

class TimelineVisitor {
 public:
  TimelineVisitor(sim::PlanVisitor<TimelineSink>& visitor, TimelineRecorder& recorder,
                  sim::Watch& watch)
      : visitor_(visitor), recorder_(recorder), watch_(watch) {}

  bool skips(const Iteration& iteration) {
    recorder_.begin_iteration(iteration);
    return false;
  }
  void done(std::size_t depth) { recorder_.end_iteration(depth); }
  void pack(const PackPlan& pack, const Tile& tile) {
    watch_.look(visitor_.tally().multiply_adds);
    recorder_.begin_pack(pack, tile);
    visitor_.pack(pack, tile);
    recorder_.end_pack();
  }
  void kernel(const KernelCall& call) {
    watch_.look(visitor_.tally().multiply_adds);
    visitor_.kernel(call);
  }

 private:
  sim::PlanVisitor<TimelineSink>& visitor_;
  TimelineRecorder& recorder_;
  sim::Watch& watch_;
};

}  // namespace

FrameTally& FrameTally::operator+=(const FrameTally& o) {
  requests += o.requests;
  misses += o.misses;
  held += o.held;
  return *this;
}

std::vector<TimelineSpan> Timeline::at(std::int64_t touch) const {
  std::vector<TimelineSpan> there;
  std::ranges::copy_if(spans, std::back_inserter(there), [&](const TimelineSpan& s) {
    return s.touches.begin <= touch && touch < s.touches.end;
  });
  return there;
}

FrameTally Timeline::total(std::size_t level, std::size_t f) const {
  FrameTally all;
  for (ArrayId a : arrays.ids()) all += at(level, f, a);
  return all;
}

std::string to_text(const Timeline& t, const TimelineSpan& s) {
  const Step& step = t.steps[s.step];
  if (step.kind == Step::Kind::move) return fmt::format("pack {}", to_text(step.tensor));
  const std::int64_t last = s.indices.begin + s.indices.size - 1;
  return s.indices.size == 1 ? fmt::format("{} {}", to_text(step.group), last)
                             : fmt::format("{} {}-{}", to_text(step.group), s.indices.begin, last);
}

Timeline timeline(const Plan& plan, const sim::SystemConfig& config, int frames,
                  const TouchRange& part, const SimulationOptions& options) {
  sim::check(plan, config);
  if (frames < 1 || frames > most_timeline_frames) {
    throw UsageError("timeline", fmt::format("there cannot be {} frames", frames),
                     fmt::format("ask for 1 to {}", most_timeline_frames));
  }
  if (part.begin < 0 || part.begin >= part.end) {
    throw UsageError("timeline", fmt::format("{}..{} is no part of the run", part.begin, part.end),
                     "give the first touch and the one behind the last");
  }
  Timeline result;
  result.arrays = plan.arrays();
  result.steps = plan.steps();
  result.shown = part;
  const ArrayOrder order(plan);
  TimelineRecorder recorder(result, plan, order, config, frames);
  sim::System<TimelineObserver> system(config, order.ends, TimelineObserver(&recorder));
  TimelineSink sink(system, config.levels.front(), plan.element().value());
  sim::PlanVisitor<TimelineSink> visitor(plan, sink);
  sim::Watch watch(options, plan.contraction().flops() / 2, true);
  walk(plan, TimelineVisitor(visitor, recorder, watch));
  recorder.end_touches();
  watch.finish();
  return result;
}

}  // namespace tcsim
