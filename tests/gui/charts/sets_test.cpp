// The picture and the table of the sets of a cache.
#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "gui/charts/charts.hpp"
#include "sim/set_words.hpp"

namespace tcsim::gui {
namespace {

EvaluationPtr judged(const Design& d) {
  return evaluate(subjectOf(d, find_machine(d.machine)), {});
}

Late<SetsSeen> lateSets(SetsSeen seen) {
  return {std::make_shared<const SetsSeen>(std::move(seen)), true, ""};
}

const Scene& setsOfProduct() {
  static const Scene scene = [] {
    Design d;
    d.workload = {"ij-ik-kj", "i=60,j=50,k=40", {}, {}};
    d.machine = "i7-6700k";
    Scene s;
    s.now = judged(d);
    s.sets = lateSets(setsSeen(*s.now, "L1", [](double) {}, {}));
    return s;
  }();
  return scene;
}

// Of so many accesses that they are not simulated unless somebody asks.
Scene unseenSets() {
  Design d;
  d.workload.name = "tccg:29";
  d.machine = "e5-2680v4";
  Scene s;
  s.now = judged(d);
  return s;
}

TEST(Sets, Show_each_set_over_windows_and_by_tensor) {
  Scene s = setsOfProduct();
  const SetUse& use = s.sets->use;
  ASSERT_EQ(use.sets(), 64);
  const Plot p = setsPlot(s);
  EXPECT_EQ(p.title, "L1: lines wanted, over time, all tensors");
  EXPECT_NE(p.subtitle.find(set_words(use, s.now->subject.contraction)[1]), std::string::npos);
  EXPECT_EQ(p.cells.scale, "lines wanted of one set, which has 8 ways");
  ASSERT_EQ(p.cells.columns, 64u);
  ASSERT_EQ(p.cells.rows, use.film.size());
  ASSERT_EQ(p.cells.values.size(), 64 * use.film.size());
  ASSERT_EQ(p.cells.readings.size(), p.cells.values.size());
  // The last window, of all tensors and of one.
  const SetWindow& last = use.film.back();
  std::vector<double> all(64), ofB(64);
  for (ArrayId a : use.arrays.ids()) {
    for (std::size_t set = 0; set < 64; ++set) {
      const double lines = last.wanted[static_cast<std::size_t>(index(a)) * 64 + set];
      all[set] += lines;
      if (a == ArrayId::B) ofB[set] = lines;
    }
  }
  const auto lastRow = [](const Plot& plot) {
    return std::vector<double>(plot.cells.values.end() - 64, plot.cells.values.end());
  };
  EXPECT_EQ(lastRow(p), all);
  s.view.tensor = "B";
  EXPECT_EQ(setsPlot(s).title, "L1: lines wanted, over time, B");
  EXPECT_EQ(lastRow(setsPlot(s)), ofB);
  EXPECT_EQ(setsTable(s).rows.size(), 64 * use.film.size());
  // By tensor: A is the row at the top.
  s.view.show = "requests-by-tensor";
  const Plot rows = setsPlot(s);
  EXPECT_EQ(rows.cells.rows, static_cast<std::size_t>(use.arrays.size()));
  EXPECT_EQ(rows.y.ticks.back().second, "A");
  double requests = 0;
  for (const double v : lastRow(rows)) requests += v;
  EXPECT_EQ(requests, static_cast<double>(use.total(ArrayId::A).requests.value()));
  const Table table = setsTable(s);
  ASSERT_EQ(table.rows.size(), 64u * static_cast<std::size_t>(use.arrays.size()));
  EXPECT_EQ(*table.rows[7][2].value, static_cast<double>(use.of(ArrayId::A)[7].requests.value()));
  s.sets.current = false;
  EXPECT_TRUE(setsPlot(s).hollow);
}

// The sentence is about the tensor that is shown, if it crowds.
TEST(Sets, Say_of_the_tensor_that_is_shown_how_it_crowds) {
  Design d;
  d.workload = {"ij-ik-kj", "i=64,j=512,k=64", {}, {}};
  d.machine = "i7-6700k";
  d.schedule =
      "groups m=j n=i k=k for k by 64 { for m by 48 { for n by 6 { for m by 8 { kernel 8x6 } } } }";
  Scene s;
  s.now = judged(d);
  s.sets = lateSets(setsSeen(*s.now, "L1", [](double) {}, {}));
  const std::vector<std::string> words = set_words(s.sets->use, s.now->subject.contraction);
  ASSERT_GE(words.size(), 3u);
  for (std::size_t i = 1; i < words.size(); ++i) {
    s.view.tensor = words[i].substr(0, words[i].find(' '));
    EXPECT_NE(setsPlot(s).subtitle.find(words[i]), std::string::npos) << words[i];
  }
  s.view.tensor = "";
  EXPECT_NE(setsPlot(s).subtitle.find(words[1]), std::string::npos);
}

// 8192 sets share 128 columns, and the one that is asked for most shows.
TEST(Sets, Of_many_share_a_column_and_the_most_shows) {
  Scene s = setsOfProduct();
  SetUse use = s.sets->use;
  use.level.sets = 8192;
  for (auto& array : use.counts) array.resize(8192);
  use.counts[1][70] = {};
  use.counts[1][70].requests = Lines(1000000);
  SetWindow window;
  window.wanted.resize(static_cast<std::size_t>(use.arrays.size()) * 8192);
  window.conflicts = window.wanted;
  window.wanted[8192 + 8191] = 77;
  use.film = {window};
  s.sets = lateSets(SetsSeen{s.sets->design, s.sets->machine, s.sets->schedule, use});
  const Plot p = setsPlot(s);
  EXPECT_EQ(p.cells.columns, 128u);
  EXPECT_EQ(p.cells.values.back(), 77);
  EXPECT_NE(p.cells.scale.find("the most of 64 sets"), std::string::npos) << p.cells.scale;
  EXPECT_NE(p.cells.readings.back().find("sets 8128-8191: 77 lines wanted in one set at most"),
            std::string::npos)
      << p.cells.readings.back();
  s.view.show = "requests-by-tensor";
  const Plot rows = setsPlot(s);
  const std::size_t ofB = (rows.cells.rows - 2) * 128;  // A is above it
  EXPECT_EQ(rows.cells.values[ofB + 1], 1000000);
}

TEST(Sets, Say_why_there_is_no_picture) {
  Scene s = unseenSets();
  EXPECT_NE(setsPlot(s).missing.find("Press Simulate the sets"), std::string::npos);
  EXPECT_EQ(setsTable(s).rows.size(), 3u);  // the caches
  s.sets = {nullptr, false, "too large"};
  EXPECT_EQ(setsPlot(s).missing, "too large");
  s = setsOfProduct();
  s.sets = {};
  EXPECT_EQ(setsPlot(s).missing, "The sets are being simulated.");
}

TEST(Sets, Of_another_level_or_policy_are_not_current) {
  const SetsSeen& seen = *setsOfProduct().sets.value;
  EXPECT_TRUE(seen.isOn(seen.machine, "L1"));
  EXPECT_FALSE(seen.isOn(seen.machine, "L2"));
  EXPECT_TRUE(seen.isOn(
      subjectOf(seen.design.with("memory.bandwidth", "3B/cycle"), find_machine("i7-6700k")).machine,
      "L1"));
  EXPECT_FALSE(seen.isOn(
      subjectOf(seen.design.with("L1.index", "hashed"), find_machine("i7-6700k")).machine, "L1"));
  EXPECT_EQ(cacheNamed(seen.machine, "L2"), "L2");
  EXPECT_EQ(cacheNamed(seen.machine, "L9"), "L1");
}

}  // namespace
}  // namespace tcsim::gui
