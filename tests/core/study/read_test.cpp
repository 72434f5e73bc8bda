// Study files: what they mean, and what is said about wrong ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "core/study/design.hpp"
#include "tests/core/study/study_file.hpp"

namespace tcsim {
namespace {

const std::string head =
    "schema = 1\nname = \"t\"\nworkloads = [\"tccg:29\"]\nmachines = [\"i7-6700k\"]\n";

std::string knob(const std::string& name, const std::string& rest) {
  return "[[knob]]\nname = \"" + name + "\"\n" + rest + "\n";
}

TEST(Study_file, A_grid_runs_its_last_knob_fastest) {
  const Study s = study_of(head + knob("L2.capacity", "values = [\"128KiB\", \"256KiB\"]") +
                           knob("L3.capacity", "range = \"2MiB..8MiB\"\npoints = 3"));
  ASSERT_EQ(s.design_count(), 7);  // with the machine as it is
  Designs designs(s);
  LeftOut why;
  const double expected[6][2] = {{131072, 2 << 20}, {131072, 4 << 20}, {131072, 8 << 20},
                                 {262144, 2 << 20}, {262144, 4 << 20}, {262144, 8 << 20}};
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto d = designs.at(i + 1, why);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->values, (std::vector<double>{expected[i][0], expected[i][1]}));
    EXPECT_EQ(d->with.levels[2].capacity.value.value(), expected[i][1]);
  }
  EXPECT_TRUE(designs.at(0, why)->base);
}

TEST(Study_file, A_workload_may_be_a_convolution_or_a_statement) {
  const auto workload = [](const std::string& lines) {
    return study_of("schema = 1\nname = \"s\"\nmachines = [\"i7-6700k\"]\n[[workload]]\n" + lines +
                    knob("L3.capacity", "values = [\"1x\"]"))
        .workloads.front()
        .contraction();
  };
  const Contraction conv =
      workload("label = \"conv2d\"\nsizes = \"k=8,c=4,y=6,x=6,r=3,s=3,layout=nhwc\"\n");
  EXPECT_EQ(conv.label(), "O[n,y,x,k] += I[n,y+r,x+s,c] * W[r,s,c,k]");
  EXPECT_EQ(conv.type(), ElementType::f32);
  const Contraction statement = workload(
      "label = \"O[k,y] += I[2*y+r of 20] * W[k,r]\"\nsizes = \"k=8,y=6,r=3\"\ntype = \"f64\"\n");
  EXPECT_EQ(statement.size(TensorId::A), Elements(20));
  EXPECT_EQ(statement.type(), ElementType::f64);
}

TEST(Study_file, A_zip_takes_values_in_the_order_of_the_file) {
  const Study s =
      study_of(head + "sampling = \"zip\"\n" +
               knob("L3.capacity", "values = [\"8MiB\", \"2MiB\", \"4MiB\"]") +
               knob("memory.bandwidth", "values = [\"4B/cycle\", \"8B/cycle\", \"1x\"]"));
  EXPECT_EQ(s.design_count(), 4);
  Designs designs(s);
  LeftOut why;
  EXPECT_EQ(designs.at(1, why)->values, (std::vector<double>{8 << 20, 4}));
  EXPECT_EQ(designs.at(2, why)->values, (std::vector<double>{2 << 20, 8}));
}

TEST(Study_file, Constraints_and_impossible_machines_leave_designs_out) {
  const Study s = study_of("constraints = [\"L3.capacity >= 8 * L2.capacity\"]\n" + head +
                           knob("L2.capacity", "values = [\"256KiB\", \"16MiB\"]") +
                           knob("L3.capacity", "values = [\"1MiB\", \"8MiB\"]"));
  Designs designs(s);
  LeftOut why;
  EXPECT_FALSE(designs.at(1, why));
  EXPECT_EQ(why.reason, "L3.capacity >= 8 * L2.capacity");
  EXPECT_TRUE(designs.at(2, why));
  EXPECT_FALSE(designs.at(3, why));
  EXPECT_EQ(why.reason, no_such_machine);
  EXPECT_NE(why.detail.find("L3"), std::string::npos) << why.detail;
}

TEST(Study_file, Chains_cover_every_point_once) {
  for (const char* extra : {"", "sampling = \"sobol\"\nsamples = 100\n"}) {
    const std::string points = *extra ? "" : "points = 150";
    const Study s =
        study_of(std::string(extra) +
                 "schema = 1\nname = \"t\"\nworkloads = [\"tccg:29\", \"tccg:1\"]\n"
                 "machines = [\"i7-6700k\", \"zen5\"]\n" +
                 knob("L3.bandwidth",
                      *extra ? "range = \"0.5x..1x\"" : "values = [\"0.5x\", \"1x\", \"0.75x\"]") +
                 knob("memory.bandwidth", "range = \"0.1x..1x\"\n" + points));
    const Chains chains(s);
    std::vector<int> seen(static_cast<std::size_t>(s.point_count()));
    for (std::int64_t i = 0; i < chains.size(); ++i) {
      const Chain c = chains.at(i);
      EXPECT_GT(c.count, 0);
      EXPECT_LE(c.count, 64);
      for (std::int64_t d = c.first; d < c.first + c.count; ++d) {
        const std::int64_t point = d * 2 + static_cast<std::int64_t>(c.workload);
        ++seen[static_cast<std::size_t>(point)];
        EXPECT_EQ(chains.of(point), i);
      }
    }
    for (int n : seen) EXPECT_EQ(n, 1);
  }
}

TEST(Study_file, Reading_many_values_stops_when_asked) {
  std::string values;
  for (int i = 1; i <= 1000; ++i) values += fmt::format("{}\"{}B/cycle\"", i > 1 ? "," : "", i);
  const std::string list = head + knob("memory.bandwidth", "values = [" + values + "]");
  const std::string range = head + knob("memory.bandwidth", "range = \"1x..2x\"\npoints = 1000000");
  EXPECT_EQ(study_of(list).design_count(), 1001);
  std::stop_source stop;
  stop.request_stop();
  for (const std::string& text : {list, range}) {
    EXPECT_THROW(parse_study(text, "study.toml", shipped_sources("study.toml"), stop.get_token()),
                 Interrupted);
  }
}

TEST(Study_file, Cost_models_have_formulas_and_tables) {
  const Study s = study_of(
      head +
      "[cost]\nprice = \"2 * area\"\n[cost.core]\narea = 4\nfma = \"20 * (element / 8) ^ 2\"\n"
      "[[cost.level]]\nname = \"caches\"\narea = \"2 * capacity / 1MiB\"\n"
      "energy = { capacity = [\"32KiB\", \"8MiB\"], value = [1, 16] }\n"
      "[[cost.level]]\nname = \"memory\"\nenergy = 200\npower = 0.5\n");
  const Machine& m = s.machines[0].machine;  // 32 KiB, 256 KiB, 8 MiB
  EXPECT_DOUBLE_EQ(*s.cost->area(m), 4 + 2 * (0.03125 + 0.25 + 8));
  EXPECT_DOUBLE_EQ(*s.cost->cost(m), 2 * *s.cost->area(m));
  EXPECT_DOUBLE_EQ(s.cost->power(m), 0.5);
  EXPECT_DOUBLE_EQ(s.cost->fma_energy(m, Bytes(4)), 5e-12);
  EXPECT_NEAR(m.levels[0].energy->value.value(), 1e-12, 1e-20);
  // 8 times the capacity of 256, at 16 times in all: the exponent is 1/2
  EXPECT_NEAR(m.levels[1].energy->value.value(), std::sqrt(8.0) * 1e-12, 1e-20);
  EXPECT_NEAR(m.levels[3].energy->value.value(), 200e-12, 1e-20);
}

TEST(Study_file, Faults_are_told_with_their_line_and_their_mend) {
  struct Case {
    std::string text, said;
  };
  const std::string range = "range = \"2MiB..8MiB\"";
  const Case cases[] = {
      {"", "study.toml:"},
      {"name = \"t\"", "the study has no schema"},
      {"schema = 2\nname = \"t\"", "study.toml:1:10: unknown schema"},
      {"schema = 1\nname = \"t\"\nmachines = [\"zen5\"]", "the study has no workload"},
      {"schema = 1\nname = \"t\"\nworkloads = [\"tccg\"]", "the study has no machine"},
      {head + "objectiv = \"time\"\n",
       "study.toml:5:1: unknown key 'objectiv' in a study; did you mean 'objective'?"},
      {head + "objective = \"speed\"\n", "study.toml:5:13: objective 'speed' is unknown"},
      {head + "workloads = 3", "study.toml:5:"},
      {"schema = 1\nname = \"t\"\nworkloads = [\"tccg:99\"]\nmachines = [\"zen5\"]",
       "study.toml:3:14: tccg:99: suite tccg has no workload 99; use tccg:1 to tccg:36"},
      {"schema = 1\nname = \"t\"\nworkloads = [\"tccg\"]\nmachines = [\"zen6\"]",
       "study.toml:4:13: 'zen6': no such machine"},
      {"schema = 1\nname = \"t\"\nworkloads = [\"tccg:1\", \"tccg\"]\nmachines = [\"zen5\"]",
       "workload 'tccg:1' comes twice"},
      {head + knob("L4.capacity", range), "study.toml:6:8: L4.capacity: no such knob"},
      {head + knob("L3.capacity", "range = \"8MiB..2MiB\""), "study.toml:7:9: L3.capacity begins"},
      {head + knob("L3.capacity", "range = \"8MiB\""), "'8MiB' is no range"},
      {head + knob("L3.capacity", "range = \"1..2 furlongs\""), "study.toml:7:9: L3.capacity:"},
      {head + knob("L3.capacity", ""), "L3.capacity has no values"},
      {head + knob("L3.capacity", "values = [\"2MiB\", \"2MiB\"]"), "2 MiB comes twice"},
      {head + knob("L3.capacity", range + "\npionts = 3"), "did you mean 'points'?"},
      {head + knob("L3.capacity", range + "\npoints = 1"), "points is 1"},
      {head + knob("L3.capacity", range) + knob("L3.capacity", range), "varies twice"},
      {head + "sampling = \"sobol\"\n" + knob("L3.capacity", range), "the study has no samples"},
      {head + "samples = 5\n" + knob("L3.capacity", range), "takes no samples"},
      {head + "sampling = \"zip\"\n" + knob("L2.ways", "values = [4, 8]") +
           knob("L3.ways", "values = [4, 8, 16]"),
       "L3.ways has 3 values and L2.ways has 2"},
      {head + knob("L1.bandwidth", "range = \"1x..2x\"\npoints = 100000") +
           knob("L2.bandwidth", "range = \"0.1x..0.2x\"\npoints = 100000"),
       "more than 1000000000 points"},
      {head + "constraints = [\"L3.size > 1\"]\n", "study.toml:5:16: i7-6700k has no L3.size"},
      {head + "constraints = [\"L3.capacity\"]\n", "'L3.capacity' does not compare"},
      {head + "constraints = [\"area < 3\"]\n", "nothing says what the area is"},
      {head + "constraints = [\"L3.capacity >= \"]\n",
       "study.toml:5:16: 'L3.capacity >= ', column"},
      {head + "objective = \"energy\"\n", "what a byte of i7-6700k's L1 costs in energy"},
      {head + "objective = \"area\"\n", "nothing says what the area is; add a cost model"},
      {head + "cost = \"44nm\"\n", "'44nm': no such cost model; did you mean '45nm'?"},
      {head + "[cost.core]\narea = \"vector_bit\"\n", "did you mean 'vector_bits'?"},
      {head + "[cost]\nprice = \"weight\"\n", "'weight' is not known in a price"},
      {head + "[[cost.level]]\nname = \"memory\"\narea = \"ways\"\n",
       "the area of i7-6700k is no number"},
      {head + "[set]\n\"L3.capacity\" = \"1KiB\"\n", "i7-6700k with these settings"},
      {head + "[set]\nL3.capacity = \"1KiB\"\n", "put the knob's name in quotes"},
      {head + "[set]\n\"L1.replacement\" = \"fifo\"\n", "replacement fifo is not modelled"},
      {head + "[[workload]]\nlabel = \"ij-ik-kj\"\n", "[[workload]] has no sizes"},
      {head + "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=1\"\n", "study.toml:6:9: "},
      {head + "[[workload]]\nname = \"tccg:3\"\nweight = -1\n",
       "weight is no number greater than 0"},
      {head + "seed = -1\n", "seed is no whole number"},
      {head + "=\n", "study.toml:5:1: "},
  };
  for (const Case& c : cases) {
    try {
      study_of(c.text);
      ADD_FAILURE() << c.text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(c.said), std::string::npos)
          << e.what() << "\nwanted: " << c.said;
      EXPECT_TRUE(std::string(e.what()).starts_with("study.toml:")) << e.what();
    }
  }
}

TEST(Study_file, Its_meaning_changes_with_what_changes_results_alone) {
  const std::string text = head + knob("L3.capacity", "range = \"2MiB..8MiB\"");
  const auto one = meaning(study_of(text));
  EXPECT_EQ(one, meaning(study_of("# a comment\n" + text)));
  EXPECT_EQ(one, meaning(study_of("description = \"d\"\n" + text)));
  for (const char* other :
       {"seed = 3\n", "accounting = \"paper\"\n", "compute = \"predict\"\n",
        "constraints = [\"L3.ways > 1\"]\n", "objective = \"traffic\"\n", "cost = \"45nm\"\n"}) {
    EXPECT_NE(one, meaning(study_of(other + text))) << other;
  }
}

TEST(Study_file, Shipped_studies_can_be_read) {
  int studies = 0;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(TCSIM_SOURCE_DIR) / "data/studies")) {
    const Study s =
        parse_study(file_text(file.path()), file.path().string(), shipped_sources(file.path()));
    EXPECT_EQ(s.name, file.path().stem());
    EXPECT_FALSE(s.description.empty());
    EXPECT_GT(s.design_count(), 10);
    ++studies;
  }
  EXPECT_GE(studies, 3);
}

}  // namespace
}  // namespace tcsim
