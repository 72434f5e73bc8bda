// Tables of energy and area in Accelergy's form, worked out by hand; the numbers are those that
// Accelergy printed for a small accelerator with a floating-point unit (exercises of its tutorial
// at ISPASS 2020).
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/study/cost.hpp"
#include "exchange/costs.hpp"

namespace tcsim {
namespace {

const CostTables energies{R"(ERT:
    version: '0.4'
    tables:
      - name: system_top_level.DRAM[1..1]
        actions:
          - name: leak
            arguments:
                global_cycle_seconds: 1e-09
                action_latency_cycles: 1
            energy: 0.0
          - name: write
            energy: 512.0
          - name: read
            energy: 512.0
      - name: system_top_level.shared_glb[1..1]
        actions:
          - name: write
            arguments: {}
            energy: 26.121552
          - name: read
            arguments: {}
            energy: 32.342452
          - name: leak
            arguments: {global_cycle_seconds: 1e-09}
            energy: 0.003351
      - name: system_top_level.psum_spad[1..168]
        actions:
          - name: read
            energy: 0.753696
      - name: system_top_level.mac[1..168]
        actions:
          - name: compute
            arguments: {}
            energy: 51.979
          - name: leak
            arguments: {}
            energy: 0.5
)",
                          "run/timeloop-mapper.ERT.yaml"};
const CostTables areas{R"(ART:
    version: '0.4'
    tables:
      - name: system_top_level.shared_glb[1..1]
        area: 429751.88776
      - name: system_top_level.mac[1..168]
        area: 4120.0
)",
                       "timeloop-mapper.ART.yaml"};

Machine base() { return find_machine("i7-6700k"); }  // 4 GHz

ImportedCosts imported(const std::vector<CostTables>& tables,
                       const std::vector<std::string>& components = {"L3=shared_glb:8B",
                                                                     "core=mac"}) {
  std::vector<CostComponent> all;
  for (const std::string& c : components) all.push_back(parse_cost_component(c, "--component"));
  return import_accelergy(tables, base(), all, "accelerator");
}

// pJ per byte.
double energy(const Machine& m, const std::string& level) {
  return 1e12 * std::ranges::find(m.levels, level, &Level::name)->energy->value.value();
}

TEST(Accelergy, Energies_and_areas_become_a_cost_model) {
  const ImportedCosts costs = imported({energies, areas});
  const CostModel model = parse_cost_model(costs.toml, "text");
  EXPECT_EQ(model.name, "accelerator");
  EXPECT_EQ(model.source, "Accelergy's tables timeloop-mapper.ERT.yaml, timeloop-mapper.ART.yaml");
  const Machine with = model.with_energy(base());
  EXPECT_DOUBLE_EQ(energy(with, "L3"), (32.342452 + 26.121552) / 2 / 8);
  EXPECT_DOUBLE_EQ(energy(with, "memory"), 512.0 / 64) << "a line of the last cache";
  EXPECT_DOUBLE_EQ(model.fma_energy(base(), Bytes(8)), 51.979e-12);
  const auto parts = model.parts(base());
  EXPECT_DOUBLE_EQ(parts[0].area.value(), 168 * 4120e-6);
  EXPECT_DOUBLE_EQ(parts[0].power, 168 * 0.5e-12 * 4e9) << "a cycle of the machine's";
  EXPECT_DOUBLE_EQ(parts[3].area.value(), 0.42975188776);
  EXPECT_DOUBLE_EQ(parts[3].power, 0.003351e-12 / 1e-9) << "a cycle of the table's";
  EXPECT_EQ(costs.ignored, std::vector<std::string>{"system_top_level.psum_spad"});
  EXPECT_TRUE(std::ranges::count(costs.notes, "L2 has no component, and no cost") == 1);
  EXPECT_NE(costs.toml.find("shared_glb: read 32.3425 pJ, write 26.1216 pJ for 8B"),
            std::string::npos)
      << costs.toml;
}

TEST(Accelergy, Names_match_without_being_told) {
  CostTables own = energies;
  const auto at = own.text.find("shared_glb");
  own.text.replace(at, 10, "l2");
  const ImportedCosts costs = imported({own}, {});
  const CostModel model = parse_cost_model(costs.toml, "text");
  EXPECT_DOUBLE_EQ(energy(model.with_energy(base()), "L2"), (32.342452 + 26.121552) / 2 / 64);
  EXPECT_DOUBLE_EQ(model.fma_energy(base(), Bytes(8)), 51.979e-12);
  EXPECT_FALSE(model.area(base()).has_value()) << "no table of areas";
}

TEST(Accelergy, Of_an_action_with_several_arguments_the_dearest_counts) {
  const CostTables old{
      "ERT:\n  version: 0.3\n  tables:\n  - name: a.L1\n    actions:\n"
      "    - {name: read, arguments: {data_delta: 0}, energy: 1}\n"
      "    - {name: read, arguments: {data_delta: 1}, energy: 8}\n",
      "old.yaml"};
  const CostModel model = parse_cost_model(imported({old}, {}).toml, "text");
  EXPECT_DOUBLE_EQ(energy(model.with_energy(base()), "L1"), 8.0 / 64);
}

TEST(Accelergy, Is_told_from_other_files) {
  EXPECT_TRUE(is_accelergy(energies.text));
  EXPECT_TRUE(is_accelergy("# made today\nART:\n"));
  EXPECT_FALSE(is_accelergy("kerncraft version: 0.8\nPART: 1\n"));
}

template <class E>
std::string refusal(const std::vector<CostTables>& tables,
                    const std::vector<std::string>& components = {}) {
  try {
    imported(tables, components);
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

TEST(Accelergy, What_is_damaged_has_its_line) {
  const auto with = [](std::string text) {
    return std::vector<CostTables>{{std::move(text), "t.yaml"}};
  };
  const std::pair<const char*, const char*> wrong[] = {
      {"", "t.yaml:1: no mapping"},
      {"ERT: 7\n", "neither ERT nor ART"},
      {"ERT: {version: 0.4}\n", "tables"},
      {"ERT:\n  tables:\n  - actions: []\n", "t.yaml:3: a table without a name"},
      {"ERT:\n  tables:\n  - name: L1\n", "actions"},
      {"ERT:\n  tables:\n  - name: L1\n    actions:\n    - energy: 1\n", "t.yaml:5: an action"},
      {"ERT:\n  tables:\n  - name: L1\n    actions:\n    - name: read\n",
       "t.yaml:5: energy is no number"},
      {"ERT:\n  tables:\n  - {name: L1, actions: [{name: read, energy: -1}]}\n", "at least 0"},
      {"ERT:\n  tables:\n  - {name: L1, actions: [{name: read, energy: .nan}]}\n", "no number"},
      {"ART:\n  tables:\n  - {name: L1, area: wide}\n", "area is no number"},
      {"ERT:\n  tables:\n  - {name: L1, actions: [{name: leak, energy: 1, arguments: "
       "{global_cycle_seconds: 0}}]}\n",
       "a cycle of no time"},
      {"ERT: [\n", "t.yaml:2"},
  };
  for (const auto& [text, words] : wrong) {
    const std::string said = refusal<InputError>(with(text));
    EXPECT_NE(said.find(words), std::string::npos) << text << "\n" << said;
  }
}

TEST(Accelergy, What_cannot_be_meant_is_refused) {
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"L3=glb"}, "there is no 'glb'"}, {{"L9=mac"}, "no level 'L9'"},
      {{"shared_glb"}, "names no part"}, {{"L3="}, "names no component"},
      {{"=mac"}, "names no part"},       {{"L3=shared_glb:2MiB"}, "at a time"},
  };
  for (const auto& [components, words] : wrong) {
    const std::string said = refusal<UsageError>({energies}, components);
    EXPECT_NE(said.find(words), std::string::npos) << components[0] << "\n" << said;
  }
  const CostTables twice{
      "ART:\n  tables:\n  - {name: a.glb, area: 1}\n  - {name: b.glb, area: 1}\n", "t.yaml"};
  EXPECT_NE(refusal<UsageError>({twice}, {"L3=glb"}).find("a.glb and b.glb"), std::string::npos);
  EXPECT_EQ(refusal<UsageError>({twice}, {"L3=a.glb"}), "");
  EXPECT_NE(refusal<UsageError>({twice}).find("no component is called"), std::string::npos);
}

}  // namespace
}  // namespace tcsim
