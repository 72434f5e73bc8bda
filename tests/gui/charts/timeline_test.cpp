// The picture and the table of what the caches hold over time, and parts of pictures.
#include <gtest/gtest.h>

#include <cmath>

#include "core/machine/toml.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/zoom.hpp"

namespace tcsim::gui {
namespace {

Scene timelineScene(const char* workload, const char* sizes, const TouchRange& part = {}) {
  Design d;
  d.workload = {workload, sizes, {}, {}};
  d.machine = "i7-6700k";
  d.schedule =
      "groups m=j n=i k=k for n by 24 { for k by 28 { pack A in L1 { pack B in L1 { for n by 6 { "
      "for m by 8 { kernel 8x6 } } } } } }";
  Scene s;
  s.now = evaluate(subjectOf(d, find_machine(d.machine)), {});
  s.timeline = {std::make_shared<const TimelineSeen>(timelineSeen(*s.now, part, [](double) {}, {})),
                true, ""};
  return s;
}

const Scene& packedProduct() {
  static const Scene scene = timelineScene("ij-ik-kj", "i=48,j=40,k=56");
  return scene;
}

TEST(Timeline_view, Shows_all_that_is_known_of_each_frame) {
  const Timeline& t = packedProduct().timeline->line;
  const Plot p = timelinePlot(packedProduct());
  EXPECT_EQ(p.missing, "");
  EXPECT_NE(p.subtitle.find(std::to_string(t.frames()) + " frames of " + std::to_string(t.frame)),
            std::string::npos)
      << p.subtitle;
  EXPECT_EQ(p.x.low, 0);
  EXPECT_EQ(p.x.high, static_cast<double>(t.touches));
  EXPECT_FALSE(p.zoomsUpward);
  std::vector<std::string> rows;
  for (auto i = p.y.ticks.rbegin(); i != p.y.ticks.rend(); ++i) rows.push_back(i->second);
  EXPECT_EQ(rows, (std::vector<std::string>{"L1 holds", "L1 misses", "L2 holds", "L2 misses",
                                            "L3 holds", "L3 misses", "for n by 24", "for k by 28",
                                            "pack A", "pack B", "for n by 6", "for m by 8"}));
  // All that is held is stacked: the topmost edge of L1's strip.
  double top = 0;
  const double foot = p.y.ticks.back().first - 0.5;
  for (const Band& b : p.bands) {
    ASSERT_EQ(b.x.size(), 2 * t.frames());
    if (b.low.front() >= foot) top = std::max(top, b.high.front() - foot);
  }
  double lines = 0;
  for (ArrayId a : t.arrays.ids()) lines += t.held(0, 0, a);
  EXPECT_NEAR(top, lines / static_cast<double>(t.levels[0].config.lines()), 1e-9);
  // A bar for each span that lasts a frame, and words for the cursor everywhere.
  EXPECT_EQ(p.bars.size(), t.spans.size());
  EXPECT_EQ(p.readings.size(), 2 * t.levels.size() * t.frames() + t.spans.size());
  const FrameTally last = t.total(1, t.frames() - 1);
  const std::string misses = "L2 misses " + std::to_string(last.misses.total().value()) + " of " +
                             std::to_string(last.requests.value()) + " requests";
  EXPECT_TRUE(std::ranges::any_of(p.readings, [&](const Reading& r) {
    return r.x1 == p.x.high && r.text.find(misses) != std::string::npos;
  })) << misses;
  EXPECT_TRUE(std::ranges::any_of(p.readings, [&](const Reading& r) {
    return r.text.starts_with("n 24-47, iteration 2: touches ");
  }));

  const Table table = timelineTable(packedProduct());
  EXPECT_EQ(table.rows.size(),
            t.levels.size() * t.frames() * static_cast<std::size_t>(t.arrays.size()));
  double requests = 0, wanted = 0;
  for (const auto& row : table.rows) {
    if (row[0].text == "L3") requests += *row[5].value;
  }
  for (std::size_t f = 0; f < t.frames(); ++f) {
    wanted += static_cast<double>(t.total(2, f).requests.value());
  }
  EXPECT_EQ(requests, wanted);
}

TEST(Timeline_view, Of_a_part_can_be_zoomed_out_to_the_whole_run) {
  const Scene s = timelineScene("ij-ik-kj", "i=48,j=40,k=56", {1000, 1200});
  const Plot p = timelinePlot(s);
  EXPECT_EQ(p.x.low, 1000);
  EXPECT_EQ(p.x.high, 1200);
  ASSERT_TRUE(p.wholeX);
  EXPECT_EQ(*p.wholeX, std::pair(0.0, static_cast<double>(s.timeline->line.touches)));
  EXPECT_EQ(p.x.label, "line touches of the core");
  EXPECT_EQ(p.x.ticks.front().second, "1000");
  for (const Bar& b : p.bars) {
    EXPECT_GE(b.from, p.x.low);
    EXPECT_LE(b.to, p.x.high);
  }
  const Scene behind = timelineScene("ij-ik-kj", "i=48,j=40,k=56", {1 << 30, (1 << 30) + 5});
  EXPECT_NE(timelinePlot(behind).missing.find("nothing of it is in"), std::string::npos);
}

TEST(Timeline_view, Says_what_is_missing) {
  Scene s = packedProduct();
  s.timeline = {};
  EXPECT_EQ(timelinePlot(s).missing, "The run is being simulated.");
  EXPECT_EQ(timelineTable(s).rows.size(), 3u);  // the caches
  s.timeline.error = "no such thing";
  EXPECT_EQ(timelinePlot(s).missing, "no such thing");
  Design d;
  d.workload.name = "tccg:29";
  d.machine = "e5-2680v4";
  Scene large;
  large.now = evaluate(subjectOf(d, find_machine(d.machine)), {});
  EXPECT_NE(timelinePlot(large).missing.find("Press Simulate the run"), std::string::npos);
}

TEST(Zoom, Keeps_what_is_under_the_cursor_and_stays_within_the_whole) {
  const Span whole{0, 100};
  const Span half = zoomed(whole, whole, false, 0.25, 0.5);
  EXPECT_EQ(half, (Span{12.5, 62.5}));  // 25 is at a quarter of both
  EXPECT_EQ(zoomed(half, whole, false, 0.25, 2), whole);
  EXPECT_EQ(zoomed(half, whole, false, 0.5, HUGE_VAL), whole);
  EXPECT_EQ(zoomed(whole, whole, false, 1, 0.5), (Span{50, 100}));
  // Out at an end: what would lie beyond it comes in at the other.
  EXPECT_EQ(zoomed({0, 20}, whole, false, 0.5, 2), (Span{0, 40}));
  EXPECT_EQ(zoomed(whole, whole, false, 0, 1e-9), (Span{0, 0.1}));
  EXPECT_EQ(moved(half, whole, false, 0.5), (Span{37.5, 87.5}));
  EXPECT_EQ(moved(half, whole, false, 9), (Span{50, 100}));
  EXPECT_EQ(moved(half, whole, false, -9), (Span{0, 50}));
  const Span decades = zoomed({1, 1e4}, {1, 1e4}, true, 0.5, 0.5);
  EXPECT_NEAR(decades.low, 10, 1e-9);
  EXPECT_NEAR(decades.high, 1000, 1e-9);
  EXPECT_NEAR(moved(decades, {1, 1e4}, true, 0.5).low, 100, 1e-9);
}

TEST(Zoom, Cuts_what_reaches_beyond_and_leaves_out_what_is_outside) {
  Plot p;
  p.x.ticks = {{1, "one"}, {5, "five"}};
  p.regions = {{0, 4, "in", Ink::A}, {8, 9, "out", Ink::A}};
  p.bars.resize(3);
  p.bars[0].to = 10, p.bars[0].at = 3, p.bars[0].label = "long";
  p.bars[1].to = 1, p.bars[1].at = 3;
  p.bars[2].from = 3, p.bars[2].to = 4, p.bars[2].at = 3, p.bars[2].label = "inside";
  p.rules.resize(2);
  p.rules[0].at = 4;
  p.rules[1].at = 9;
  p.labels = {{3, 3, "in", Ink::A}, {3, 9, "out", Ink::A}};
  p.outlines = {{0, 3, 9, 3}, {0, 0, 1, 1}};
  const Plot part = partOf(p, {2, 6}, {2, 6});
  ASSERT_EQ(part.regions.size(), 1u);
  EXPECT_EQ(part.regions[0].from, 2);
  ASSERT_EQ(part.bars.size(), 2u);
  EXPECT_EQ(part.bars[0].to, 6);
  EXPECT_EQ(part.bars[0].label, "");  // its end is not there
  EXPECT_EQ(part.bars[1].label, "inside");
  ASSERT_EQ(part.rules.size(), 1u);
  EXPECT_EQ(part.rules[0].at, 4);
  ASSERT_EQ(part.labels.size(), 1u);
  EXPECT_EQ(part.labels[0].text, "in");
  EXPECT_EQ(part.outlines.size(), 1u);
  ASSERT_EQ(part.x.ticks.size(), 1u);
  EXPECT_EQ(part.x.ticks[0].second, "five");
  EXPECT_EQ(part.x.low, 2);
  EXPECT_EQ(part.y.high, 6);
  // Nothing named is left: not the renderer's own numbers.
  EXPECT_EQ(partOf(p, {2, 3}, {2, 6}).x.ticks.size(), 1u);
}

}  // namespace
}  // namespace tcsim::gui
