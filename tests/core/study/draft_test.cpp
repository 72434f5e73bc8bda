// Studies made of designs.
#include "core/study/draft.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "tests/core/study/study_file.hpp"

namespace tcsim {
namespace {

TEST(Study_draft, Is_a_study_of_the_design_with_its_figures) {
  StudyDraft draft;
  draft.name = "a \"quoted\" name";
  draft.design.workload = {"tccg:29", "", {}, {}};
  draft.design.machine = "e5-2680v4";
  draft.design.accounting = "paper";
  draft.design.overrides = {{"L3.capacity", "64MiB"}};
  draft.design.schedule = "is not looked at";
  draft.knobs = {{"memory.bandwidth", "4B/cycle..16B/cycle", 5}, {"L2.capacity", "0.5x..2x", 3}};
  draft.compute = Compute::predict;
  const Study study = study_of(to_toml(draft));
  EXPECT_EQ(study.name, draft.name);
  EXPECT_EQ(study.compute, Compute::predict);
  EXPECT_EQ(study.design_count(), 1 + 5 * 3);
  EXPECT_EQ(study.knobs, (std::vector<std::string>{"memory.bandwidth", "L2.capacity"}));
  EXPECT_EQ(study.settings, (std::vector<std::string>{"L3.capacity=64MiB"}));
  EXPECT_EQ(study.machines[0].given, "e5-2680v4");
  const Machine expected = changed_machine(find_machine("e5-2680v4"), draft.design);
  EXPECT_EQ(content_hash(study.machines[0].machine), content_hash(expected));
}

TEST(Study_draft, May_be_of_a_suite_several_machines_and_have_constraints) {
  StudyDraft draft;
  draft.name = "wide";
  draft.design.workload = {"resnet18:3", "", {}, {}};
  draft.design.machine = "e5-2680v4";
  draft.design.cost = "45nm";
  draft.whole_suite = true;
  draft.machines = {"i7-6700k"};
  draft.knobs = {{"L2.capacity", "0.5x..2x", 3}};
  draft.constraints = {"L2.capacity <= L3.capacity", "area <= 500mm2"};
  draft.objective = StudyObjective::energy;
  const Study study = study_of(to_toml(draft));
  EXPECT_EQ(study.workloads.size(), 12u);
  ASSERT_EQ(study.machines.size(), 2u);
  EXPECT_EQ(study.machines[1].given, "i7-6700k");
  EXPECT_EQ(study.constraints.size(), 2u);
  EXPECT_EQ(study.objective, StudyObjective::energy);
  // A label has no suite.
  draft.design.workload = {"ij-ik-kj", "i=96,j=72,k=80", {}, {}};
  EXPECT_EQ(study_of(to_toml(draft)).workloads.size(), 1u);
}

TEST(Study_draft, Says_all_of_a_label) {
  StudyDraft draft;
  draft.name = "label";
  draft.design.workload = {"ij-ik-kj", "i=96,j=72,k=80", Layout::column_major, ElementType::f32};
  draft.design.machine = "i7-6700k";
  const Study study = study_of(to_toml(draft));
  ASSERT_EQ(study.workloads.size(), 1u);
  const Contraction& c = study.workloads[0].contraction();
  EXPECT_EQ(c.sizes(), "i=96,j=72,k=80");
  EXPECT_EQ(c.layout(), Layout::column_major);
  EXPECT_EQ(c.type(), ElementType::f32);
}

}  // namespace
}  // namespace tcsim
