// What is exported to cycle-level simulators and to Timeloop, read back by the formats' own
// parsers: JSON, YAML; the classes for gem5 are run by tests/python/test_exports.py.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "exchange/exchange.hpp"

namespace tcsim {
namespace {

Machine skylake() { return find_machine("i7-6700k"); }

std::string refusal(Exported (*exported)(const Machine&), const Machine& machine) {
  try {
    exported(machine);
  } catch (const UnsupportedError& e) {
    return e.what();
  }
  return "";
}

bool loses(const Exported& out, const std::string& words) {
  return std::any_of(out.lost.begin(), out.lost.end(),
                     [&](const std::string& l) { return l.find(words) != std::string::npos; });
}

TEST(Export_champsim, Caches_are_those_of_the_machine) {
  const Machine m = skylake();
  const Exported out = export_champsim(m);
  const auto j = nlohmann::json::parse(out.text);
  EXPECT_EQ(j["block_size"], 64);
  EXPECT_EQ(j["ooo_cpu"][0]["frequency"], std::llround(m.core.frequency.value.value() / 1e6));
  const char* names[] = {"L1D", "L2C", "LLC"};
  for (int l = 0; l < 3; ++l) {
    const Level& level = m.level(LevelId{l});
    EXPECT_EQ(j[names[l]]["sets"], level.sets());
    EXPECT_EQ(j[names[l]]["ways"], level.ways.value);
    EXPECT_EQ(j[names[l]]["replacement"], "lru");
    EXPECT_EQ(j[names[l]]["prefetcher"], "no");
    if (level.latency) {
      EXPECT_EQ(j[names[l]]["latency"], std::llround(level.latency->value.value()));
    } else {
      EXPECT_FALSE(j[names[l]].contains("latency"));
      EXPECT_TRUE(loses(out, level.name));
    }
  }
  EXPECT_TRUE(loses(out, "DRAM"));
}

TEST(Export_champsim, What_it_has_no_word_for_is_refused_with_the_knob) {
  const Machine m = skylake();
  const auto with = [&](const char* knob) { return override_knob(m, knob).machine; };
  EXPECT_NE(refusal(export_champsim, with("L2.replacement=fifo")).find("L2.replacement=lru"),
            std::string::npos);
  EXPECT_NE(refusal(export_champsim, with("L3.inclusion=exclusive")).find("L3.inclusion=neither"),
            std::string::npos);
  EXPECT_NE(refusal(export_champsim, with("L3.capacity=6MiB")).find("only powers of two"),
            std::string::npos);
  EXPECT_NE(refusal(export_champsim, with("L1.write=write-through")).find("write=write-back"),
            std::string::npos);
  Machine two = m;
  two.levels.erase(two.levels.begin() + 1);
  EXPECT_NE(refusal(export_champsim, two).find("2 caches"), std::string::npos);
}

TEST(Export_champsim, A_mend_mends) {
  Machine m = find_machine("e5-2680v4");  // its L3 has 28672 sets
  EXPECT_NE(refusal(export_champsim, m), "");
  const std::string set = "--set ";
  for (int i = 0; i < 5; ++i) {
    const std::string text = refusal(export_champsim, m);
    if (text.empty()) break;
    const std::size_t at = text.find(set);
    ASSERT_NE(at, std::string::npos) << text;
    m = override_knob(m, text.substr(at + set.size())).machine;
  }
  EXPECT_EQ(refusal(export_champsim, m), "");
}

TEST(Export_timeloop, Buffers_are_as_large_and_as_fast_as_the_levels) {
  const Machine m = skylake();
  const Exported out = export_timeloop(m);
  const YAML::Node root = YAML::Load(out.text)["architecture"];
  EXPECT_EQ(root["version"].as<double>(), 0.4);
  const auto node = [&](const std::string& name) -> YAML::Node {
    for (const auto& n : root["nodes"]) {
      if (n["name"].as<std::string>() == name) return n;
    }
    ADD_FAILURE() << "no node " << name;
    return YAML::Node();
  };
  EXPECT_EQ(root["nodes"][0].Tag(), "!Container");
  EXPECT_DOUBLE_EQ(node(m.name)["attributes"]["global_cycle_seconds"].as<double>(),
                   1 / m.core.frequency.value.value());
  for (int l = 0; l < m.cache_count(); ++l) {
    const Level& level = m.level(LevelId{l});
    const YAML::Node a = node(level.name)["attributes"];
    EXPECT_EQ(a["depth"].as<std::int64_t>() * a["width"].as<std::int64_t>() / 8,
              level.capacity.value.value());
    EXPECT_DOUBLE_EQ(a["shared_bandwidth"].as<double>() * 8 * m.core.frequency.value.value(),
                     level.bandwidth.value.at(m.core.frequency.value).value());
    EXPECT_TRUE(loses(out, "policy of " + level.name));
  }
  EXPECT_EQ(node("lane")["spatial"]["meshX"].as<double>(),
            m.core.vector_bits.value / 64 * m.core.fma_per_cycle.value);
  // From the outermost inward, as Timeloop wants it.
  EXPECT_EQ(root["nodes"][1]["name"].as<std::string>(), "memory");
  EXPECT_EQ(root["nodes"][2]["name"].as<std::string>(), m.level(LevelId{2}).name);
}

TEST(Export_gem5, Caches_are_classes_with_the_machines_figures) {
  Machine m = override_knob(skylake(), "L2.replacement=tree-plru").machine;
  m = override_knob(m, "L3.inclusion=exclusive").machine;
  const std::string text = export_gem5(m).text;
  for (int l = 0; l < m.cache_count(); ++l) {
    const Level& level = m.level(LevelId{l});
    EXPECT_NE(text.find("class " + level.name + "Cache(Cache):\n    size = \"" +
                        std::to_string(level.capacity.value.value()) +
                        "B\"\n    assoc = " + std::to_string(level.ways.value) + "\n"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(text.find("replacement_policy = TreePLRURP()"), std::string::npos);
  EXPECT_NE(text.find("clusivity = \"mostly_excl\""), std::string::npos);
  EXPECT_NE(text.find("writeback_clean = True"), std::string::npos);
  EXPECT_NE(text.find("CACHES = [L1Cache, L2Cache, L3Cache]"), std::string::npos);
  EXPECT_NE(refusal(export_gem5, override_knob(m, "L2.replacement=bit-plru").machine)
                .find("L2.replacement=tree-plru"),
            std::string::npos);
  EXPECT_NE(refusal(export_gem5, override_knob(m, "L3.inclusion=inclusive").machine), "");
}

TEST(Export_simulators, Every_shipped_machine_is_exported_or_refused_with_a_mend) {
  for (const std::string& name : shipped_machines()) {
    const Machine m = find_machine(name);
    for (auto* exported : {export_gem5, export_champsim, export_timeloop}) {
      try {
        const Exported out = exported(m);
        EXPECT_FALSE(out.text.empty());
        EXPECT_FALSE(out.lost.empty());
      } catch (const UnsupportedError& e) {
        EXPECT_FALSE(e.mend().empty()) << name << ": " << e.what();
      }
    }
  }
}

}  // namespace
}  // namespace tcsim
