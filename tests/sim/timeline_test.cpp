#include "sim/timeline.hpp"

#include <gtest/gtest.h>

#include <list>
#include <thread>

#include "core/error.hpp"
#include "tests/core/build.hpp"
#include "tests/seed.hpp"
#include "tests/sim/any_caches.hpp"
#include "tests/sim/caches.hpp"
#include "tests/sim/system_twin.hpp"

namespace tcsim {
namespace {

using plans::Random;
using test::caches;

// Where the core's touches stand while a plan is walked, and which iterations there are: every one
// of them, with its number from the tile alone.
struct AllSpans {
  explicit AllSpans(const Plan& p, const sim::SystemConfig& config)
      : plan(p),
        order(p),
        system(config, order.ends, {}),
        sink(system, config.levels.front(), p.element().value()),
        visitor(p, sink) {
    ranges.push_back(p.all());
    walk(p, *this);
  }
  std::int64_t now() const { return sink.touches().value(); }

  bool skips(const Iteration& i) {
    const Step& step = plan.steps()[i.depth];
    const Interval outer = ranges.back()[step.group], own = (*i.tile)[step.group];
    std::int64_t number = 0;
    for (std::int64_t at = 0; at < own.begin - outer.begin; ++number) {
      at += step.tile_at(at, outer.size);
    }
    open.push_back({i.depth, number, own, {now(), 0}});
    ranges.push_back(*i.tile);
    return false;
  }
  void done(std::size_t) {
    ranges.pop_back();
    open.back().touches.end = now();
    spans.push_back(open.back());
    open.pop_back();
  }
  void pack(const PackPlan& pack, const Tile& tile) {
    const std::int64_t begin = now();
    visitor.pack(pack, tile);
    for (std::size_t s = 0; s < plan.steps().size(); ++s) {
      const Step& step = plan.steps()[s];
      if (step.kind != Step::Kind::move || step.tensor != pack.tensor) continue;
      spans.push_back({s, 0, tile[pack.rows], {begin, now()}});
    }
  }
  void kernel(const KernelCall& call) { visitor.kernel(call); }

  const Plan& plan;
  sim::ArrayOrder order;
  sim::System<sim::NoObserver> system;
  sim::SystemSink<sim::NoObserver> sink;
  sim::PlanVisitor<sim::SystemSink<sim::NoObserver>> visitor;
  std::vector<Tile> ranges;
  std::vector<TimelineSpan> open, spans;
};

// The tallies of every single touch, by a look at what each level holds after it, and lists of
// lines for the streams.
class SlowTimeline {
 public:
  SlowTimeline(const Plan& plan, const sim::SystemConfig& config)
      : plan_(plan), config_(config), streams_(config.levels.size()) {
    twin::System system(config);
    system.on_request = [&](int l, std::uint64_t line, bool found) {
      const auto level = static_cast<std::size_t>(l);
      if (l == 0) touches.emplace_back(config.levels.size(), std::vector<FrameTally>(arrays()));
      const std::int64_t distance = test::use(streams_[level], line);
      FrameTally& t = touches.back()[level][owner(level, line)];
      t.requests += Lines(1);
      if (found) return;
      (distance < 0                               ? t.misses.compulsory
       : distance >= config.levels[level].lines() ? t.misses.capacity
                                                  : t.misses.conflict) += Lines(1);
    };
    system.on_arrival = [&](int l, std::uint64_t line) {
      test::use(streams_[static_cast<std::size_t>(l)], line);
    };
    for (const test::Touch& t : test::touches_of(plan, config)) {
      const auto line = static_cast<std::uint64_t>(config.levels.front().line.value());
      system.access(0, t.address / line * line, line, t.write);
      for (std::size_t l = 0; l < config.levels.size(); ++l) {
        for (std::uint64_t held : system.lines_of(static_cast<int>(l))) {
          touches.back()[l][owner(l, held)].held += Lines(1);
        }
      }
    }
  }

  std::vector<std::vector<std::vector<FrameTally>>> touches;  // by touch, level and array

 private:
  std::size_t arrays() const { return static_cast<std::size_t>(plan_.arrays().size()); }
  std::size_t owner(std::size_t level, std::uint64_t line) const {
    const std::int64_t address =
        static_cast<std::int64_t>(line) * config_.levels[level].line.value();
    return test::owner(plan_, address);
  }
  const Plan& plan_;
  const sim::SystemConfig& config_;
  std::vector<std::list<std::uint64_t>> streams_;
};

void expect_same(const Timeline& fast, const SlowTimeline& slow, const AllSpans& all, int frames,
                 const TouchRange& part) {
  const auto touches = static_cast<std::int64_t>(slow.touches.size());
  ASSERT_EQ(fast.touches, touches);
  const TouchRange shown{std::min(part.begin, touches), std::min(part.end, touches)};
  ASSERT_EQ(fast.shown, shown);
  std::int64_t frame = 1;
  while ((shown.end - shown.begin + frame - 1) / frame > frames) frame *= 2;
  ASSERT_EQ(fast.frame, frame);
  for (std::size_t l = 0; l < fast.levels.size(); ++l) {
    ASSERT_EQ(fast.levels[l].tallies.size(),
              fast.frames() * static_cast<std::size_t>(fast.arrays.size()));
    for (std::size_t f = 0; f < fast.frames(); ++f) {
      const TouchRange of = fast.touches_of(f);
      for (ArrayId a : fast.arrays.ids()) {
        FrameTally sum;
        for (std::int64_t t = of.begin; t < of.end; ++t) {
          sum += slow.touches[static_cast<std::size_t>(t)][l][static_cast<std::size_t>(index(a))];
        }
        ASSERT_EQ(fast.at(l, f, a), sum) << "level " << l << " frame " << f << " " << index(a);
        ASSERT_EQ(fast.held(l, f, a),
                  static_cast<double>(sum.held.value()) / static_cast<double>(of.end - of.begin));
      }
    }
  }
  std::vector<TimelineSpan> wanted;
  for (const TimelineSpan& s : all.spans) {
    if (s.touches.end > shown.begin && s.touches.begin < shown.end &&
        s.touches.end - s.touches.begin >= frame) {
      wanted.push_back(s);
    }
  }
  std::ranges::sort(wanted, {},
                    [](const TimelineSpan& s) { return std::tuple(s.step, s.touches.begin); });
  ASSERT_EQ(fast.spans, wanted);
}

TEST(Timeline, Equals_a_look_at_the_caches_after_every_touch) {
  const std::uint64_t seed = test::new_seed();
  int parts = 0, many = 0;
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(testing::Message() << "case " << i);
    Random random(static_cast<unsigned>(seed) + static_cast<unsigned>(i));
    const Contraction c = plans::random_contraction(random, random.chance(40));
    if (c.flops() > 8000) continue;
    const Plan plan(c, plans::random_schedule(c, random));
    const sim::SystemConfig config = test::any_caches(random);
    const int frames = static_cast<int>(random.one_of<std::int64_t>({1, 2, 3, 16, 17, 4096}));
    const SlowTimeline slow(plan, config);
    const AllSpans spans(plan, config);
    const auto touches = static_cast<std::int64_t>(slow.touches.size());
    TouchRange part;
    if (random.chance(60)) {
      part.begin = random.between(0, touches + 5);
      part.end = part.begin + random.between(1, touches + 5);
      ++parts;
    }
    const Timeline line = timeline(plan, config, frames, part);
    many += line.frame > 1;
    expect_same(line, slow, spans, frames, part);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(parts, 0);
  EXPECT_GT(many, 0);
}

const char* const packed_in_l1 =
    "groups m=j n=i k=k for n by 24 { for k by 28 { pack A in L1 { pack B in L1 { for n by 6 { for "
    "m by 8 { kernel 8x6 } } } } } }";

// Sums over the frames are what attribute() says.
TEST(Timeline, Adds_up_to_the_simulation_and_its_reasons) {
  const Contraction c = test::matmul(48, 40, 56);
  const Plan plan(c, test::schedule(packed_in_l1));
  auto config = caches({{8, 4}, {16, 8}, {64, 8}});
  config.levels[2].inclusion = Inclusion::inclusive;
  const Attribution a = attribute(plan, config);
  const Timeline line = timeline(plan, config, 100);
  EXPECT_EQ(line.touches, a.simulation.touches.value());
  EXPECT_GT(line.frames(), 50u);
  for (std::size_t l = 0; l < 3; ++l) {
    FrameTally all;
    for (std::size_t f = 0; f < line.frames(); ++f) {
      all += line.total(l, f);
      double held = 0;
      for (ArrayId id : line.arrays.ids()) held += line.held(l, f, id);
      EXPECT_LE(held, static_cast<double>(config.levels[l].lines()));
    }
    EXPECT_EQ(all.misses, a.levels[l].total());
    EXPECT_EQ(all.requests, a.simulation.levels[l].hits + a.simulation.levels[l].misses);
  }
}

// 48 columns by 24 are two iterations, in each of which k has two, which pack both operands.
TEST(Timeline, Names_iterations_and_packs) {
  const Contraction c = test::matmul(48, 40, 56);
  const Timeline line = timeline(Plan(c, test::schedule(packed_in_l1)), caches({{8, 4}, {16, 8}}),
                                 most_timeline_frames);
  std::vector<std::size_t> of_step(6);
  for (const TimelineSpan& s : line.spans) {
    if (s.step < of_step.size()) ++of_step[s.step];
  }
  EXPECT_EQ(of_step, (std::vector<std::size_t>{2, 4, 4, 4, 16, 80}));
  const TimelineSpan& last = *(std::ranges::find(line.spans, 1u, &TimelineSpan::step) - 1);
  EXPECT_EQ(last.number, 1);
  EXPECT_EQ(last.indices, (Interval{24, 24}));
  EXPECT_EQ(last.touches.end, line.touches);
  EXPECT_EQ(to_text(line, last), "n 24-47");
  std::string under_way;
  for (const TimelineSpan& s : line.at(0)) under_way += to_text(line, s) + "; ";
  EXPECT_EQ(under_way, "n 0-23; k 0-27; pack A; ");
  const auto short_ones =
      timeline(Plan(c, test::schedule(packed_in_l1)), caches({{8, 4}, {16, 8}}), 8).spans;
  EXPECT_LT(short_ones.size(), line.spans.size());
}

TEST(Timeline, Refuses_frames_and_parts_that_cannot_be) {
  const Contraction c = test::matmul(16, 16, 16);
  const Plan plan(c, test::schedule("groups m=j n=i k=k for m by 8 { for n by 8 { kernel 8x8 } }"));
  const auto config = caches({{8, 4}});
  EXPECT_THROW(timeline(plan, config, 0), UsageError);
  EXPECT_THROW(timeline(plan, config, most_timeline_frames + 1), UsageError);
  EXPECT_THROW(timeline(plan, config, 8, {5, 5}), UsageError);
  EXPECT_THROW(timeline(plan, config, 8, {-1, 5}), UsageError);
  const Timeline behind = timeline(plan, config, 8, {1 << 30, (1 << 30) + 1});
  EXPECT_EQ(behind.frames(), 0u);
  EXPECT_TRUE(behind.spans.empty());
}

TEST(Timeline, Stops_when_asked) {
  const Contraction c = test::matmul(400, 400, 400);
  const Plan plan(c, test::schedule("groups m=j n=i k=k for m by 8 { for n by 8 { kernel 8x8 } }"));
  std::stop_source source;
  SimulationOptions options;
  options.stop = source.get_token();
  source.request_stop();
  EXPECT_THROW(timeline(plan, caches({{64, 8}}), 100, {}, options), Interrupted);
}

}  // namespace
}  // namespace tcsim
