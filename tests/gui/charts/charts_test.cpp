// Charts and tables as functions of a scene: their numbers are those that the libraries give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/bounds/link_bounds.hpp"
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"
#include "tests/core/made_up_catalog.hpp"

namespace tcsim::gui {
namespace {

Design paperExample() {
  Design d;
  d.workload.name = "tccg:29";
  d.machine = "e5-2680v4";
  d.accounting = "paper";
  return d;
}

EvaluationPtr evaluated(const Design& d) {
  return evaluate(subjectOf(d, find_machine(d.machine)), {});
}

template <class T>
Late<T> late(T value, bool current = true) {
  return {std::make_shared<const T>(std::move(value)), current, ""};
}

// Shared by all tests: the values are immutable.
const Scene& example() {
  static const Scene scene = [] {
    Scene s;
    s.now = evaluated(paperExample());
    s.help = late(help(*s.now, {}));
    s.curve = late(
        curveOf(*s.now, varyText(s.now->subject, "memory.bandwidth", "0.25x..4x"), nullptr, {}));
    s.map = late(mapOf(*s.now, varyText(s.now->subject, "memory.bandwidth", "0.5x..2x:4"),
                       varyText(s.now->subject, "L3.capacity", "0.5x..2x:3"), nullptr, {}));
    s.kernels = late(test::made_up_catalog());
    s.bounds = late(boundCurveOf(*s.now, nullptr, false, [](double) {}, {}));
    return s;
  }();
  return scene;
}

TEST(Evaluation, Is_what_the_optimizer_says_to_the_last_digit) {
  const Evaluation& e = *example().now;
  Machine m = find_machine("e5-2680v4");
  m.accounting = Accounting::paper();
  const Optimized best = optimize(find_workload({"tccg:29", "", {}, {}}), m);
  EXPECT_EQ(e.choice.schedule, best.schedule);
  EXPECT_EQ(e.time(), best.prediction.timing.total);
  EXPECT_EQ(e.certificate->gap, best.certificate.gap);
  EXPECT_TRUE(e.settled);
  EXPECT_EQ(e.bottleneck, "L3-memory");
}

TEST(Evaluation, Following_an_edit_is_no_slower_a_schedule_and_not_settled) {
  const Evaluation& before = *example().now;
  const Design larger = before.subject.design.with("L3.capacity", "70MiB");
  SharedCounts counts;
  const Subject subject = subjectOf(larger, before.subject.base);
  const auto after = follow(subject, before, counts, 10, {});
  EXPECT_FALSE(after->settled);
  EXPECT_LE(after->time(), before.time() * (1 + 1e-9));
  // Without time for a search, the schedule is the one before, judged on the new machine.
  const auto at_once = follow(subject, before, counts, 0, {});
  EXPECT_EQ(predict(subject.contraction, at_once->choice.schedule, subject.machine).timing.total,
            at_once->time());
}

TEST(Evaluation, A_kept_schedule_is_predicted_and_not_searched_for) {
  Design d = paperExample();
  d.schedule = to_text(example().now->choice.schedule, example().now->subject.contraction);
  const auto e = evaluated(d);
  EXPECT_TRUE(e->settled);
  EXPECT_FALSE(e->certificate);
  EXPECT_EQ(e->time(), example().now->time());
}

TEST(Evaluation, A_range_stays_where_it_is_while_its_knob_moves) {
  const Machine base = find_machine("e5-2680v4");
  const Design d = paperExample();
  const std::string before = varyText(subjectOf(d, base), "L3.capacity", "0.5x..2x");
  EXPECT_EQ(varyText(subjectOf(d.with("L3.capacity", "20MiB"), base), "L3.capacity", "0.5x..2x"),
            before);
  EXPECT_EQ(before, "L3.capacity=18350080..73400320");
  EXPECT_THROW(varyText(subjectOf(d, base), "L3.capacity", "much"), UsageError);
}

Pinned pinOf(const std::string& name, EvaluationPtr evaluation) {
  Pinned p;
  p.pin.name = name;
  if (evaluation) p.pin.design = evaluation->subject.design;
  p.evaluation = std::move(evaluation);
  return p;
}

TEST(Time, Has_a_bar_for_each_link_and_names_the_one_that_decides) {
  const Plot p = timePlot(example());
  ASSERT_EQ(p.bars.size(), 5u);
  const Timing& t = example().now->prediction().timing;
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_DOUBLE_EQ(p.bars[l].to, t.links[l].value() * 1e3) << l;  // milliseconds
    EXPECT_EQ(p.bars[l].strong, l == 3) << l;
  }
  EXPECT_TRUE(p.bars[4].ghost);  // the paper's accounting leaves the FMA peak out
  EXPECT_EQ(p.x.label, "time [ms]");
  const Table table = timeTable(example());
  ASSERT_EQ(table.rows.size(), 5u);
  EXPECT_EQ(table.rows[3][0].text, "L3-memory");
  EXPECT_EQ(*table.rows[3][3].value, t.links[3].value());
  EXPECT_EQ(table.rows[3][4].text, "yes");
}

TEST(Time, Pins_are_marks_on_the_bars_and_two_columns_more_each) {
  Scene s = example();
  s.pins = {pinOf("A", evaluated(paperExample().with("memory.bandwidth", "3.04B/cycle"))),
            pinOf("unknown", nullptr), pinOf("same", s.now)};
  const Plot p = timePlot(s);
  ASSERT_EQ(p.bars.size(), 5u);
  ASSERT_EQ(p.lines.size(), 2u);
  EXPECT_EQ(p.lines[0].name, "pinned: A");
  EXPECT_NE(p.lines[0].ink, p.lines[1].ink);
  for (std::size_t l = 0; l < 5; ++l) {
    EXPECT_DOUBLE_EQ(p.lines[1].x[l], p.bars[l].to) << l;
    // On its bar, and not where another pin's is.
    EXPECT_LT(std::abs(p.lines[0].y[l] - p.bars[l].at), p.bars[l].thickness / 2) << l;
    EXPECT_GT(p.lines[0].y[l], p.lines[1].y[l]) << l;
  }
  EXPECT_DOUBLE_EQ(p.lines[0].x[3], 2 * p.bars[3].to);
  EXPECT_EQ(p.lines[0].readings[3],
            "A: " + to_display(s.pins[0].evaluation->prediction().timing.links[3]));
  const Table table = timeTable(s);
  ASSERT_EQ(table.columns.size(), 9u);
  EXPECT_EQ(table.columns[7], "pinned_same_seconds");
  EXPECT_EQ(*table.rows[3][6].value, s.now->time() / s.pins[0].evaluation->time());
  EXPECT_EQ(*table.rows[3][8].value, 1);
  const Table compare = compareTable(s);
  ASSERT_EQ(compare.rows.size(), 4u);
  EXPECT_EQ(compare.rows[0][0].text, "now");
  EXPECT_EQ(compare.rows[1][0].text, "A");
  EXPECT_EQ(compare.rows[1][2].text, "0.5 times");
  EXPECT_EQ(compare.rows[1][3].text, "L3-memory");
  EXPECT_EQ(compare.rows[2][0].text, "unknown");
  EXPECT_EQ(compare.rows[2][1].text, "");
  EXPECT_EQ(*compare.rows[3][2].value, 1);
  s.pins[1].error = "there is no such machine";
  EXPECT_EQ(compareTable(s).rows[2][3].text, "cannot be judged");
}

// Links are those of the same name, and the outermost one; not those of the same number.
TEST(Time, A_pin_with_fewer_caches_is_compared_link_by_link) {
  Scene s = example();
  Subject two = subjectOf(paperExample(), find_machine("e5-2680v4"));
  two.machine.levels.erase(two.machine.levels.begin() + 2);  // L3
  s.pins = {pinOf("two", evaluate(two, {}))};
  const Timing& theirs = s.pins[0].evaluation->prediction().timing;
  ASSERT_EQ(theirs.links.size(), 3u);
  const Plot p = timePlot(s);
  ASSERT_EQ(p.lines.size(), 1u);
  EXPECT_EQ(p.lines[0].x.size(), 4u);  // two links, memory's, computing
  EXPECT_EQ(p.lines[0].readings[2], "two: L2-memory " + to_display(theirs.links[2]));
  EXPECT_NEAR(p.lines[0].y[2], p.bars[3].at, p.bars[3].thickness / 2);
  const Table table = timeTable(s);
  EXPECT_FALSE(table.rows[2][5].value);  // L2-L3
  EXPECT_EQ(*table.rows[3][5].value, theirs.links[2].value());
  const Table bytes = trafficTable(s);
  for (const auto& row : bytes.rows) {
    EXPECT_EQ(row.size(), bytes.columns.size());
    EXPECT_EQ(row.back().value.has_value(), row[0].text != "L2-L3") << row[0].text;
  }
  const TileBoxes boxes = tileBoxes(s);
  EXPECT_TRUE(boxes.boxes[1].pins.empty());  // L3's
  EXPECT_EQ(boxes.boxes[2].pins.size(), 1u);
  const Table tiles = tilesTable(s);
  EXPECT_EQ(tiles.columns.back(), "pinned_two_filled");
  for (const auto& row : tiles.rows) EXPECT_EQ(row.size(), tiles.columns.size());
}

TEST(Traffic, Roofline_and_tiles_have_the_pins_too) {
  Scene s = example();
  s.pins = {pinOf("A", evaluated(paperExample().with("L2.capacity", "1MiB")))};
  const Evaluation& a = *s.pins[0].evaluation;
  const Plot traffic = trafficPlot(s);
  const auto named = [](const Plot& p) {
    return std::ranges::find(p.lines, "pinned: A", &Line::name);
  };
  ASSERT_NE(named(traffic), traffic.lines.end());
  EXPECT_EQ(named(traffic)->x.size(), 4u);
  const Table bytes = trafficTable(s);
  EXPECT_EQ(bytes.columns.back(), "pinned_A_predicted_bytes");
  for (const auto& row : bytes.rows) EXPECT_EQ(row.size(), bytes.columns.size());
  EXPECT_EQ(*bytes.rows[0].back().value,
            static_cast<double>(
                a.prediction().traffic.links[0].counted(a.subject.machine.accounting).value()));
  const Plot roofline = rooflinePlot(s);
  ASSERT_NE(named(roofline), roofline.lines.end());
  EXPECT_EQ(named(roofline)->y[0], a.gflops());
  EXPECT_EQ(rooflineTable(s).rows.size(), 8u);
  EXPECT_EQ(rooflineTable(s).rows[4][0].text, "L1-register of A");
  const TileBoxes boxes = tileBoxes(s);
  ASSERT_EQ(boxes.boxes[2].pins.size(), 1u);  // L2's
  EXPECT_EQ(boxes.boxes[2].pins[0].name, "A");
  EXPECT_GT(boxes.boxes[2].pins[0].filled, 0);
}

TEST(Bottleneck, Pins_are_curves_along_the_same_values) {
  Scene s = example();
  s.pins = {pinOf("A", evaluated(paperExample().with("L1.bandwidth", "40B/cycle")))};
  s.pins[0].curve =
      std::make_shared<const Curved>(curveOf(*s.pins[0].evaluation, s.curve->vary, nullptr, {}));
  const Plot p = bottleneckPlot(s);
  const auto line = std::ranges::find(p.lines, "pinned: A", &Line::name);
  ASSERT_NE(line, p.lines.end());
  EXPECT_EQ(line->readings[0].rfind("A: memory.bandwidth", 0), 0u) << line->readings[0];
  const Table table = bottleneckTable(s);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(table.columns.back(), "pinned_A_bottleneck");
  EXPECT_EQ(*table.rows[0][table.columns.size() - 2].value,
            s.pins[0].curve->curve.points[0].choice.time().value());
  // Along another knob it is not drawn.
  s.pins[0].curve = std::make_shared<const Curved>(curveOf(
      *s.pins[0].evaluation, varyText(s.now->subject, "L2.capacity", "0.5x..2x:3"), nullptr, {}));
  EXPECT_EQ(bottleneckPlot(s).lines.size(), p.lines.size() - 1);
}

TEST(Bottleneck, Bands_meet_at_the_crossovers_and_cover_the_range) {
  const Curve& curve = example().curve->curve;
  const Plot p = bottleneckPlot(example());
  ASSERT_EQ(curve.crossovers.size(), 1u);
  ASSERT_EQ(p.regions.size(), 2u);
  EXPECT_EQ(p.regions[0].label, "L3-memory");
  EXPECT_EQ(p.regions[1].label, "L1-register");
  EXPECT_EQ(p.regions[0].to, curve.crossovers[0].value);
  EXPECT_EQ(p.regions[1].from, curve.crossovers[0].value);
  EXPECT_EQ(p.regions[0].from, p.x.low);
  EXPECT_EQ(p.regions[1].to, p.x.high);
  // 7.279 B/cycle, +19.7 %: docs/whatif.md.
  EXPECT_EQ(p.rules.at(0).label, "7.279 B/cycle  (+19.7 %)");
  EXPECT_NE(p.subtitle.find("ends at 11.44B/cycle"), std::string::npos) << p.subtitle;
}

TEST(Bottleneck, The_line_bends_at_the_crossover_and_ends_where_both_sides_meet) {
  const Curve& curve = example().curve->curve;
  const Plot p = bottleneckPlot(example());
  const Line& line = p.lines.front();
  ASSERT_EQ(line.x.size(), curve.points.size() + 1);
  EXPECT_EQ(line.readings.size(), line.x.size());
  EXPECT_TRUE(std::is_sorted(line.x.begin(), line.x.end()));
  const auto bend = std::find(line.x.begin(), line.x.end(), curve.crossovers[0].value);
  ASSERT_NE(bend, line.x.end());
  const double flat = curve.points.back().choice.prediction.rate.value() / 1e9;
  EXPECT_NEAR(line.y[static_cast<std::size_t>(bend - line.x.begin())], flat, flat * 1e-3);
  // This machine lies on it.
  EXPECT_EQ(p.lines.back().x.at(0), 6.08);
  EXPECT_EQ(p.lines.back().y.at(0), example().now->gflops());
}

// Memory was measured at 0.9, 1 and 1.1 times its figure.
Machine measuredMemory() {
  Machine m = find_machine("e5-2680v4");
  BandwidthSeries series;
  series.instruction_set = "AVX2";
  series.working_set = Bytes(1 << 30);
  series.frequency = m.core.frequency.value;
  const Level& memory = m.levels.back();
  for (double f : {0.9, 1.0, 1.1}) {
    series.repetitions.push_back(f * memory.bandwidth.value.at(m.core.frequency.value));
  }
  m.levels.back().series = {series};
  return m;
}

TEST(Bottleneck, Measured_rates_have_a_band_and_a_crossover_an_interval) {
  Scene s;
  s.now = evaluate(subjectOf(paperExample(), measuredMemory()), {});
  ASSERT_TRUE(s.now->sure);
  EXPECT_EQ(s.now->sure->share("L3-memory"), 1);
  s.curve =
      late(curveOf(*s.now, varyText(s.now->subject, "memory.bandwidth", "0.25x..4x"), nullptr, {}));
  const Curve& curve = s.curve->curve;
  const Plot p = bottleneckPlot(s);
  ASSERT_EQ(p.bands.size(), 1u);
  const Band& band = p.bands[0];
  ASSERT_EQ(band.x.size(), curve.points.size() + curve.crossovers.size());
  EXPECT_TRUE(std::is_sorted(band.x.begin(), band.x.end()));
  // Left of the crossover memory decides in all draws: GFLOPS are as far apart as its bandwidths.
  const double gflops = curve.points[0].choice.prediction.rate.value() / 1e9;
  EXPECT_NEAR(band.low[0], 0.9 * gflops, 1e-9);
  EXPECT_NEAR(band.high[0], 1.1 * gflops, 1e-9);
  EXPECT_NEAR(band.low.back(), band.high.back(), 1e-9);
  ASSERT_EQ(curve.crossovers.size(), 1u);
  ASSERT_EQ(p.regions.size(), 3u);
  EXPECT_EQ(p.regions[2].label, "");
  EXPECT_NEAR(p.regions[2].from / curve.crossovers[0].value, 1 / 1.1, 2e-3);
  EXPECT_NEAR(p.regions[2].to / curve.crossovers[0].value, 1 / 0.9, 2e-3);
  const Table table = bottleneckTable(s);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(table.columns[6], "bottleneck_share");
  EXPECT_TRUE(bottleneckPlot(example()).bands.empty());
}

// Of a slider that is moved a little; a figure that was set by --set would have none.
TEST(Evaluation, A_knob_that_is_turned_keeps_what_is_known_of_the_spread) {
  const Machine base = measuredMemory();
  const auto at =
      evaluate(subjectOf(paperExample().with("memory.bandwidth", "6B/cycle"), base), {});
  ASSERT_TRUE(at->sure);
  EXPECT_NEAR(at->sure->high / at->time(), 1 / 0.9, 1e-12);
  EXPECT_NEAR(at->sure->low / at->time(), 1 / 1.1, 1e-12);
}

TEST(Bottleneck, Moved_on_inputs_make_it_hollow_and_none_say_why) {
  Scene s = example();
  s.curve.current = false;
  EXPECT_TRUE(bottleneckPlot(s).hollow);
  EXPECT_TRUE(bottleneckPlot(s).lines.front().hollow);
  s.curve = {nullptr, false, "no such knob"};
  EXPECT_EQ(bottleneckPlot(s).missing, "no such knob");
  EXPECT_FALSE(bottleneckPlot(Scene{}).missing.empty());
}

TEST(Map, A_pin_is_dashed_outlines_a_mark_and_columns) {
  Scene s = example();
  EXPECT_EQ(mapPlot(s).lines.size(), 1u);
  // With a quicker L1 the bottleneck stays at memory, so all outlines between links are A's.
  s.pins = {pinOf("A", s.now)};
  const std::shared_ptr<const Mapped> pinned = s.pins[0].map = s.map.value;
  s.now = evaluated(paperExample().with("L1.bandwidth", "40B/cycle"));
  s.map = late(mapOf(*s.now, pinned->vary[0], pinned->vary[1], nullptr, {}));
  const Plot p = mapPlot(s);
  ASSERT_EQ(p.lines.size(), 2u);
  EXPECT_EQ(p.lines[0].name, "pinned: A");
  EXPECT_EQ(p.lines[0].x, p.lines[1].x);  // the knobs of the map are those of the pin
  Scene alone;
  alone.now = s.pins[0].evaluation;
  alone.map = {pinned, true, ""};
  std::vector<double> expected, ghosts;
  for (const Segment& o : mapPlot(alone).outlines) expected.push_back(o.x0);
  for (const Segment& o : p.outlines) {
    if (o.ghost) ghosts.push_back(o.x0);
  }
  EXPECT_EQ(ghosts, expected);
  EXPECT_FALSE(ghosts.empty());
  const Table table = mapTable(s), before = mapTable(alone);
  ASSERT_EQ(table.columns.size(), before.columns.size() + 2);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    EXPECT_EQ(table.rows[i][5].value, before.rows[i][2].value);
    const bool none = !before.rows[i][2].value;
    EXPECT_EQ(table.rows[i][6].text, none ? "" : before.rows[i][4].text);
  }
  // Of other knobs it is not drawn.
  s.map = late(mapOf(*s.now, pinned->vary[0], varyText(s.now->subject, "L2.capacity", "0.5x..2x:3"),
                     nullptr, {}));
  EXPECT_EQ(mapPlot(s).lines.size(), 1u);
}

TEST(Map, Cells_are_the_points_and_outlines_part_the_bottlenecks) {
  const Plane& plane = example().map->plane;
  const Plot p = mapPlot(example());
  ASSERT_EQ(p.cells.columns, 4u);
  ASSERT_EQ(p.cells.rows, 3u);
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t r = 0; r < 3; ++r) {
      const PlanePoint& q = plane.points[c * 3 + r];
      const double cell = p.cells.values[r * 4 + c];
      if (q.choice) {
        EXPECT_DOUBLE_EQ(cell, q.choice->time().value() * 1e3);
      } else {
        EXPECT_TRUE(std::isnan(cell));
      }
    }
  }
  std::size_t borders = 0;
  for (std::size_t c = 0; c + 1 < 4; ++c) {
    for (std::size_t r = 0; r < 3; ++r) {
      borders += plane.points[c * 3 + r].bottleneck != plane.points[(c + 1) * 3 + r].bottleneck;
    }
  }
  EXPECT_GT(borders, 0u);
  EXPECT_EQ(p.outlines.size(), borders);  // none between rows: L3 changes nothing here
}

// As the machine files of slow caches would have it; here all cells are made to be alike.
TEST(Map, Says_where_nothing_changes) {
  Scene s = example();
  Mapped same = *s.map.value;
  for (PlanePoint& q : same.plane.points) {
    if (q.choice) q.choice = s.now->choice;
  }
  s.map = late(same);
  const Plot p = mapPlot(s);
  EXPECT_EQ(p.title, "Nothing changes over memory.bandwidth and L3.capacity");
  EXPECT_NE(p.subtitle.find("Every one of these machines takes 20.86 ms"), std::string::npos);
  EXPECT_EQ(mapPlot(example()).title.find("Nothing"), std::string::npos);
}

TEST(Map, A_cost_model_marks_what_is_worth_it) {
  Scene s = example();
  Design d = paperExample();
  d.cost = "45nm";
  s.now = evaluated(d);
  const Mapped before = *s.map.value;
  s.map = late(mapOf(*s.now, before.vary[0], before.vary[1], nullptr, {}));
  ASSERT_TRUE(s.map->costs);
  const Plot p = mapPlot(s);
  ASSERT_EQ(p.lines.size(), 2u);
  EXPECT_EQ(p.lines[0].name, "none as quick is smaller");
  EXPECT_EQ(p.lines[0].x.size(),
            static_cast<std::size_t>(std::ranges::count(s.map->costs->front, true)));
  EXPECT_EQ(mapTable(s).columns.size(), mapTable(example()).columns.size() + 2);
}

TEST(Roofline, Every_point_has_a_name) {
  const Plot p = rooflinePlot(example());
  std::string names;
  for (const Label& l : p.labels) {
    names += l.text + " ";
    EXPECT_TRUE(l.ofMark);
    const bool marked = std::ranges::any_of(p.lines, [&](const Line& line) {
      return line.marked && line.x == std::vector<double>{l.x} &&
             line.y == std::vector<double>{l.y};
    });
    EXPECT_TRUE(marked) << l.text;
  }
  EXPECT_EQ(names, "L1-register L1-L2 L2-L3 L3-memory ");
}

TEST(Subtitle, Has_as_many_lines_whether_a_figure_is_turned_or_not) {
  Scene s = example();
  const auto lines = [](const Plot& p) { return std::ranges::count(p.subtitle, '\n'); };
  const auto before = lines(trafficPlot(s));
  s.now = evaluated(paperExample().with("L3.capacity", "9616640B"));
  EXPECT_EQ(lines(trafficPlot(s)), before);
  EXPECT_NE(trafficPlot(s).subtitle.find("L3.capacity 9.17"), std::string::npos)
      << trafficPlot(s).subtitle;
}

TEST(Roofline, The_point_of_the_link_that_decides_touches_its_roof) {
  const Table table = rooflineTable(example());
  ASSERT_EQ(table.rows.size(), 4u);
  for (const auto& row : table.rows) {
    const double roof = *row[3].value, rate = *row[4].value;
    if (row[0].text == "L3-memory") {
      EXPECT_NEAR(roof, rate, 1e-9 * rate);
    } else {
      EXPECT_GT(roof, rate);
    }
  }
}

TEST(Roofline, No_point_is_right_of_what_no_order_exceeds) {
  const Scene s = example();
  const std::vector<Bytes> least =
      bounds::LinkBounds(s.now->subject.contraction).at(s.now->subject.machine);
  const Table table = rooflineTable(s);
  const Plot p = rooflinePlot(s);
  for (std::size_t l = 0; l < 4; ++l) {
    const auto& row = table.rows.at(l);
    const double most = s.now->subject.contraction.flops() / static_cast<double>(least[l].value());
    EXPECT_EQ(*row[6].value, most);
    EXPECT_LE(*row[1].value, most);
    const auto upright = std::ranges::count_if(p.lines, [&](const Line& line) {
      return line.x == std::vector<double>{most, most};
    });
    EXPECT_GE(upright, 1) << l;
    EXPECT_GE(p.x.high, most);
  }
}

TEST(Tiles, Boxes_hold_no_more_than_their_caches_and_count_what_they_hold) {
  const TileBoxes boxes = tileBoxes(example());
  ASSERT_EQ(boxes.boxes.size(), 4u);
  EXPECT_EQ(boxes.boxes[0].name, "memory");
  EXPECT_EQ(boxes.boxes[3].name, "L1");
  for (std::size_t b = 1; b < 4; ++b) {
    double sum = 0;
    for (const auto& part : boxes.boxes[b].parts) sum += part.share;
    EXPECT_NEAR(sum, boxes.boxes[b].filled, 1e-12);
    EXPECT_LE(sum, 1);
  }
  // One measure for all: what memory has to hold is the most, and every part has some length.
  double most = 0;
  for (const auto& part : boxes.boxes[0].parts) most += part.bytes;
  EXPECT_EQ(most, boxes.boxes[0].bytes);
  EXPECT_EQ(boxes.high, most);
  for (const TileBox& box : boxes.boxes) {
    for (const auto& part : box.parts) EXPECT_GT(part.bytes, boxes.low);
  }
  EXPECT_NE(boxes.measure.find("logarithmic"), std::string::npos);
  // m 32 x n 36 x k 24 of f64 in L1: A 6 KiB, B 6.75 KiB (group m is B's), C 9 KiB.
  const auto l1 = tilesTable(example()).rows.at(0);
  EXPECT_EQ(*l1[2].value * *l1[4].value * 8, *l1[6].value);
  EXPECT_EQ(*l1[3].value * *l1[4].value * 8, *l1[5].value);
  EXPECT_EQ(*l1[2].value * *l1[3].value * 8, *l1[7].value);
}

TEST(Tiles, Halos_stand_apart_from_the_rest_of_their_image) {
  EXPECT_EQ(tileBoxes(example()).legend, "");
  Scene s = example();
  Design layer;
  layer.workload = {"conv2d", "k=64,c=64,y=56,x=56,r=3,s=3,layout=nhwc", {}, {}};
  layer.machine = "i7-6700k";
  // 28 tiles of two rows, for which four of 58 pixels are read, of 64 channels each: 58 KiB. Of
  // 58 x 58 pixels each has a 28th for itself on average: 30 KiB.
  layer.schedule =
      "groups m=k n=xyn k=csr for n by 112 { for n by 14 { for m by 8 { kernel 8x14 } } }";
  s.now = evaluated(layer);
  const TileBoxes boxes = tileBoxes(s);
  EXPECT_NE(boxes.legend, "");
  const TileBox& l2 = boxes.boxes.at(2);
  EXPECT_EQ(l2.name, "L2");
  double sum = 0;
  std::string labels;
  for (const auto& part : l2.parts) {
    sum += part.share;
    labels += part.label + ", ";
    EXPECT_EQ(part.halo, part.label.find("halo") != std::string::npos);
  }
  EXPECT_NEAR(sum, l2.filled, 1e-12);
  EXPECT_EQ(labels, "A 30.04 KiB, A halo 27.96 KiB, B 144 KiB, C 28 KiB, ");
  const auto row = tilesTable(s).rows.at(1);
  EXPECT_EQ(*row[5].value, 58 * 1024);
  EXPECT_EQ(*row[8].value, 58 * 1024 - std::round(58 * 58 * 64 / 28.0) * 4);
  for (const auto& part : boxes.boxes[0].parts) EXPECT_FALSE(part.halo);
}

TEST(Traffic, Simulated_bytes_stand_beside_the_predicted_ones_until_the_inputs_move_on) {
  Scene s = example();
  EXPECT_EQ(trafficTable(s).rows[0][4].text, "");
  Design small;
  small.workload = {"ij-ik-kj", "i=96,j=96,k=96", {}, {}};
  small.machine = "i7-6700k";
  s.now = evaluated(small);
  s.simulation = late(simulated(*s.now, nullptr, {}));
  const Table table = trafficTable(s);
  const Accounting& a = s.now->subject.machine.accounting;
  ASSERT_EQ(table.rows.size(), 24u);
  for (std::size_t l = 0; l < 4; ++l) {
    const auto& row = table.rows[6 * l];
    EXPECT_EQ(*row[2].value, s.now->prediction().traffic.links[l].counted(a).value());
    EXPECT_EQ(*row[4].value, s.simulation->simulation.traffic.links[l].counted(a).value());
    double sum = 0;
    for (std::size_t i = 1; i < 6; ++i) sum += *table.rows[6 * l + i][2].value;
    EXPECT_EQ(sum, *row[2].value);
    EXPECT_EQ(*row[8].value, s.now->bounds.at(l).value());
    EXPECT_LE(*row[8].value, *row[4].value);
  }
  EXPECT_EQ(trafficPlot(s).lines.size(), 4u);
  s.simulation.current = false;
  EXPECT_EQ(trafficTable(s).rows[0][4].text, "");
  const Plot p = trafficPlot(s);
  EXPECT_TRUE(std::any_of(p.bars.begin(), p.bars.end(), [](const Bar& b) { return b.ghost; }));
}

TEST(Traffic, Is_in_a_unit_of_one_to_three_digits) {
  EXPECT_STREQ(byteUnitOf(999).name, "B");
  EXPECT_STREQ(byteUnitOf(1000).name, "kB");
  EXPECT_STREQ(byteUnitOf(2.1e9).name, "GB");
  EXPECT_STREQ(byteUnitOf(1.5e15).name, "PB");
  EXPECT_EQ(byteUnitOf(1e30).bytes, 1e18);
}

TEST(Worth, Knobs_that_bring_something_have_a_row_and_the_others_are_folded) {
  Scene s = example();
  Design d = paperExample();
  s.worth = late(worthOf(*s.now, {}));
  const Table plain = worthTable(s);
  EXPECT_EQ(plain.columns.size(), 2u);
  d.cost = "45nm";
  s.now = evaluated(d);
  s.worth = late(worthOf(*s.now, {}));
  const Table table = worthTable(s);
  ASSERT_EQ(table.columns.size(), 4u);
  const auto& knobs = s.worth->knobs;
  std::size_t row = 0;
  std::string idle;
  for (const Worth& w : knobs) {
    if (w.gain > 0) {
      EXPECT_EQ(table.rows.at(row)[0].text, w.knob.name);
      EXPECT_EQ(*table.rows.at(row)[1].value, 1 + w.gain);
      EXPECT_EQ(table.rows.at(row)[2].value, w.per_area());
      EXPECT_EQ(table.rows.at(row)[3].value, w.per_watt());
      ++row;
    } else {
      idle += (idle.empty() ? "" : ", ") + w.knob.name;
    }
  }
  EXPECT_EQ(table.rows.size(), row);
  EXPECT_GE(row, 1u);
  EXPECT_EQ(idleKnobs(s), idle);
  EXPECT_NE(idle.find("L3.capacity"), std::string::npos);
}

TEST(Cost, Bars_are_what_each_part_takes_and_without_a_model_it_is_asked_for) {
  Scene s = example();
  EXPECT_NE(costPlot(s).missing.find("No cost model is chosen"), std::string::npos);
  EXPECT_TRUE(costTable(s).rows.empty());
  Design d = paperExample();
  d.cost = "45nm";
  s.now = evaluated(d);
  const DesignCost& cost = *s.now->cost;
  const Plot p = costPlot(s);
  EXPECT_TRUE(p.missing.empty());
  ASSERT_EQ(p.bars.size(), 2 * cost.parts.size());
  EXPECT_TRUE(p.lines.empty());
  ASSERT_EQ(p.y.ticks.size(), cost.parts.size());
  EXPECT_EQ(p.y.ticks[0].second, "core");
  EXPECT_EQ(p.y.ticks[4].second, "L3-memory");
  const Table table = costTable(s);
  ASSERT_EQ(table.rows.size(), cost.parts.size() + 1);
  double sum = 0;
  for (std::size_t i = 0; i < cost.parts.size(); ++i) {
    const double joules = *table.rows[i][2].value + *table.rows[i][3].value;
    // All bars are of one unit, beginning with what works.
    EXPECT_NEAR(
        p.bars[2 * i + 1].to / p.bars[1].to * (*table.rows[0][2].value + *table.rows[0][3].value),
        joules, 1e-9 * joules);
    sum += joules;
  }
  EXPECT_NEAR(sum, cost.energy->value(), 1e-9 * sum);
  EXPECT_EQ(*table.rows.back()[1].value, *cost.area);
  s.pins = {pinOf("A", s.now)};
  ASSERT_EQ(costPlot(s).lines.size(), 1u);
  EXPECT_EQ(costPlot(s).lines[0].x.size(), cost.parts.size());
  const Table pinned = costTable(s);
  EXPECT_EQ(pinned.columns.back(), "pinned_A_joules");
  EXPECT_EQ(*pinned.rows.back().back().value, cost.energy->value());
}

// Two schemes of four vectors beside one another, with an empty column between them.
TEST(Kernels, Are_cells_of_rows_by_columns_and_candidates_are_outlined) {
  const Plot p = kernelsPlot(example());
  EXPECT_EQ(p.missing, "");
  EXPECT_EQ(p.title, "Microkernels by themselves, f64, avx512");
  EXPECT_NE(p.x.label.find("packed | in-place"), std::string::npos) << p.x.label;
  ASSERT_EQ(p.cells.columns, 9u);
  ASSERT_EQ(p.cells.rows, 14u);
  const auto cell = [&](std::size_t column, std::size_t row) { return row * 9 + column; };
  EXPECT_DOUBLE_EQ(p.cells.values[cell(0, 0)], 20);
  EXPECT_DOUBLE_EQ(p.cells.values[cell(1, 13)], 96);
  EXPECT_DOUBLE_EQ(p.cells.values[cell(2, 7)], 81.6);
  EXPECT_DOUBLE_EQ(p.cells.values[cell(7, 7)], 60);  // in place
  EXPECT_NE(p.cells.readings[cell(7, 7)].find("in-place, k = 8: 60.0 % of the peak"),
            std::string::npos)
      << p.cells.readings[cell(7, 7)];
  EXPECT_EQ(std::ranges::count_if(p.cells.values, [](double v) { return !std::isnan(v); }), 6);
  // Three candidates, none beside another: four sides each.
  EXPECT_EQ(p.outlines.size(), 12u);
  const auto around = [&](double x, double y) {
    return std::ranges::count_if(p.outlines, [&](const Segment& s) {
      return std::abs((s.x0 + s.x1) / 2 - x) + std::abs((s.y0 + s.y1) / 2 - y) == 0.5;
    });
  };
  EXPECT_EQ(around(1, 13), 4);
  EXPECT_EQ(around(2, 7), 4);
  EXPECT_EQ(around(7, 7), 4);
  EXPECT_EQ(p.x.ticks.size(), 6u);  // the rows of vectors that there are
  EXPECT_EQ(p.x.ticks[1].second, "16");

  const Table table = kernelsTable(example());
  ASSERT_EQ(table.rows.size(), 7u);  // of both types
  EXPECT_EQ(table.rows[1][0].text, "16x14");
  EXPECT_EQ(table.rows[1][7].value, 96);
  EXPECT_EQ(table.rows[1][8].text, "yes");
}

TEST(Kernels, Say_why_there_is_no_picture) {
  Scene s = example();
  s.kernels = {nullptr, false, "they have not been measured; run 'tcsim probe --kernels'"};
  EXPECT_EQ(kernelsPlot(s).missing, s.kernels.error);
  KernelCatalog other = test::made_up_catalog();
  std::erase_if(other.kernels, [](const MeasuredKernel& m) { return m.element == Bytes(8); });
  s.kernels = late(std::move(other));
  EXPECT_NE(kernelsPlot(s).missing.find("no kernels of f64"), std::string::npos);
}

// A small product, whose LRU caches are simulated at once.
const Scene& product() {
  static const Scene scene = [] {
    Design d;
    d.workload = {"ij-ik-kj", "i=60,j=50,k=40", {}, {}};
    d.machine = "i7-6700k";
    Scene s;
    s.now = evaluated(d);
    s.bounds = late(boundCurveOf(*s.now, nullptr, false, [](double) {}, {}));
    s.simulation = late(simulated(*s.now, [](double) {}, {}));
    return s;
  }();
  return scene;
}

const Line* lineNamed(const Plot& p, const std::string& part) {
  for (const Line& line : p.lines) {
    if (line.name.find(part) != std::string::npos) return &line;
  }
  return nullptr;
}

TEST(Bounds, Lines_are_the_librarys_in_bytes_and_do_not_cross) {
  const Plot p = boundsPlot(product());
  const BoundCurve& curve = *product().bounds.value;
  // By doublings: 1 KiB, of 128 elements of f64, to 64 MiB.
  ASSERT_EQ(curve.capacities.size(), 17u);
  EXPECT_EQ(curve.capacities.front(), 128);
  EXPECT_EQ(curve.capacities.back(), 1 << 23);
  const auto points = bounds::bound_curve(product().now->subject.contraction, curve.capacities,
                                          {.moves = bounds::Moves::loads_and_stores});
  const Line *lower = lineNamed(p, "lower bound"), *schedule = lineNamed(p, "explicit store"),
             *lru = lineNamed(p, "LRU cache");
  ASSERT_TRUE(lower && schedule && lru);
  ASSERT_EQ(lower->x.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(lower->x[i], 1024.0 * std::exp2(static_cast<double>(i)));
    EXPECT_DOUBLE_EQ(lower->y[i], static_cast<double>(points[i].lower.elements) * 8 / 1e9);
    EXPECT_LE(lower->y[i], schedule->y[i]);
    EXPECT_LE(lower->y[i], lru->y[i]);
  }
  EXPECT_DOUBLE_EQ(schedule->y[3], points[3].upper->cost.moved * 8 / 1e9);
  // All in the store: A and B once, C in and out.
  EXPECT_DOUBLE_EQ(lru->y.back(), (2 * 3000 + 2400 + 2000) * 8 / 1e9);
  EXPECT_TRUE(p.x.log && p.y.log);
  EXPECT_EQ(p.x.ticks.front().second, "512 B");  // the registers lie left of the curve
  EXPECT_EQ(p.x.ticks.at(1).second, "4 KiB");
}

TEST(Bounds, Marks_are_the_machines_links_at_what_lies_inside_them) {
  const Plot p = boundsPlot(product());
  const Line *predicted = lineNamed(p, "predicted"), *simulated = lineNamed(p, "simulated");
  ASSERT_TRUE(predicted && simulated);
  EXPECT_EQ(lineNamed(p, "measured"), nullptr);  // it did not run
  // 16 registers of 32 bytes and one more, then L1 of 32 KiB.
  EXPECT_EQ(predicted->x.at(0), 17 * 32);
  EXPECT_EQ(predicted->x.at(1), 17 * 32 + 32768);
  const Evaluation& e = *product().now;
  for (std::size_t l = 0; l < 4; ++l) {
    const auto& link = e.prediction().traffic.links[l];
    EXPECT_DOUBLE_EQ(predicted->y.at(l),
                     static_cast<double>(link.counted(e.subject.machine.accounting).value()) / 1e9);
    EXPECT_FALSE(predicted->joined);
  }
  const Table table = boundsTable(product());
  ASSERT_EQ(table.rows.size(), 17u + 4);
  EXPECT_EQ(table.rows[18][0].text, "L1-L2");
  EXPECT_EQ(*table.rows[18][2].value, static_cast<double>(e.bounds[1].value()));
  EXPECT_EQ(*table.rows[18][7].value, predicted->y[1] * 1e9);
  EXPECT_EQ(*table.rows[18][8].value, simulated->y[1] * 1e9);
  EXPECT_EQ(table.rows[18][9].text, "");
  // Of other inputs there are none.
  Scene before = product();
  before.bounds.current = false;
  EXPECT_TRUE(boundsPlot(before).hollow);
  EXPECT_EQ(lineNamed(boundsPlot(before), "predicted"), nullptr);
  EXPECT_EQ(boundsTable(before).rows.size(), 17u);
  before.bounds = {nullptr, false, "too many"};
  EXPECT_EQ(boundsPlot(before).missing, "too many");
}

TEST(Bounds, Caches_of_a_large_workload_are_simulated_when_asked) {
  EXPECT_TRUE(example().bounds->lru.empty());
  EXPECT_EQ(lineNamed(boundsPlot(example()), "LRU"), nullptr);
  Design d;
  d.workload = {"ij-ik-kj", "i=150,j=130,k=110", {}, {}};
  d.machine = "i7-6700k";
  const auto e = evaluated(d);
  std::vector<double> shares;
  const auto note = [&](double share) { shares.push_back(share); };
  const BoundCurve without = boundCurveOf(*e, nullptr, false, note, {});
  EXPECT_TRUE(without.lru.empty());
  EXPECT_EQ(shares.back(), 1);
  shares.clear();
  // The bounds are there already.
  const BoundCurve with = boundCurveOf(*e, &without, true, note, {});
  EXPECT_EQ(with.lru.size(), with.capacities.size());
  EXPECT_EQ(shares.size(), with.capacities.size());
  EXPECT_GT(shares.front(), 0.5);
  EXPECT_EQ(shares.back(), 1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(boundCurveOf(*e, nullptr, false, note, stop.get_token()), Interrupted);
  EXPECT_THROW(boundCurveOf(*e, &without, true, note, stop.get_token()), Interrupted);
}

TEST(Tables, Csv_has_all_digits_and_quotes_what_needs_it) {
  const Table t{{"a", "b"}, {{"x, y", Cell("0.333", 1.0 / 3)}, {"say \"so\"", ""}}};
  EXPECT_EQ(toCsv(t), "a,b\n\"x, y\",0.3333333333333333\n\"say \"\"so\"\"\",\n");
  EXPECT_EQ(toTabs(t), "a\tb\nx, y\t0.333\nsay \"so\"\t\n");
}

TEST(Bounds, Pins_of_the_same_workload_are_marks) {
  Scene s = example();
  ASSERT_TRUE(s.bounds.current);
  const std::size_t rows = boundsTable(s).rows.size(), lines = boundsPlot(s).lines.size();
  Design other = paperExample();
  other.workload.name = "tccg:30";
  s.pins = {pinOf("A", evaluated(paperExample().with("L2.capacity", "1MiB"))),
            pinOf("another workload", evaluated(other)), pinOf("unknown", nullptr)};
  const Plot p = boundsPlot(s);
  ASSERT_EQ(p.lines.size(), lines + 1);
  const auto line = std::ranges::find(p.lines, "pinned: A", &Line::name);
  ASSERT_NE(line, p.lines.end());
  ASSERT_EQ(line->x.size(), 4u);
  const Table table = boundsTable(s);
  ASSERT_EQ(table.rows.size(), rows + 4);
  EXPECT_EQ(table.rows[rows + 1][0].text, "L1-L2 of A");
  EXPECT_EQ(*table.rows[rows + 1][7].value, line->y[1] * 1e9);
}

TEST(Views, Every_one_has_a_table_and_its_rows_are_as_wide_as_its_header) {
  Scene s = example();
  Design d = paperExample();
  d.cost = "45nm";
  s.now = evaluated(d);
  s.suite = late(suiteJudged({"resnet18:2", "", {}, {}}, s.now->subject.machine, nullptr, {}));
  Pinned pin = pinOf("A", s.now);
  pin.curve = s.curve.value;
  pin.map = s.map.value;
  pin.suite = s.suite.value;
  s.pins = {pin, pinOf("unknown", nullptr)};
  for (const ViewKind& kind : viewKinds()) {
    const Table table = kind.table(s);
    EXPECT_FALSE(table.rows.empty()) << kind.id;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << kind.id;
    kind.table(Scene{});
    if (kind.plot != nullptr) {
      EXPECT_FALSE(kind.plot(Scene{}).missing.empty()) << kind.id;
    }
    EXPECT_EQ(&viewKind(kind.id), &kind);
  }
  EXPECT_THROW(viewKind("nosuch"), UsageError);
}

}  // namespace
}  // namespace tcsim::gui
