// import(export(m)) is m in every field that a format carries: random machines through each format.
// hwloc, likwid and the kernel have no exporter in tcsim; small writers here stand in for them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "exchange/exchange.hpp"
#include "tests/core/machine_files.hpp"
#include "tests/core/random_machine.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

// A random machine of caches L1, L2, ... and one memory, with the policies that pycachesim knows.
class Plain : public RandomMachine {
 public:
  using RandomMachine::RandomMachine;

  Machine next() {
    Machine m = RandomMachine::next();
    while (!usable(m)) m = RandomMachine::next();
    std::erase_if(m.levels, [](const Level& l) { return l.kind == LevelKind::disk; });
    int cores = 1;
    for (std::size_t i = 0; i < m.levels.size(); ++i) {
      Level& l = m.levels[i];
      const bool cache = l.kind == LevelKind::cache;
      l.name = cache ? fmt::format("L{}", i + 1) : "memory";
      l.replacement.value = std::array{Replacement::lru, Replacement::fifo,
                                       Replacement::random}[static_cast<std::size_t>(number(0, 2))];
      l.inclusion.value = i > 0 && flip() ? Inclusion::exclusive : Inclusion::neither;
      l.prefetch = Prefetch::none;
      l.prefetch_ahead = usual_prefetch_ahead;
      l.index = {};
      l.victim_lines = 0;
      if (l.write == WritePolicy::write_through) l.write_allocate = false;
      l.shared_by = cores *= number(1, 3);
      l.series.clear();
    }
    m.core.peaks.clear();
    return m;
  }

 private:
  static bool usable(const Machine& m) {
    int memories = 0, scratchpads = 0;
    for (const Level& l : m.levels) {
      memories += l.kind == LevelKind::memory;
      scratchpads += l.kind == LevelKind::scratchpad;
    }
    return memories == 1 && scratchpads == 0;
  }
};

// What every format that knows sets and policies carries of the caches.
void expect_same_caches(const Machine& a, const Machine& b) {
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (std::size_t i = 0; i + 1 < a.levels.size(); ++i) {
    const Level &x = a.levels[i], &y = b.levels[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.capacity.value, y.capacity.value) << x.name;
    EXPECT_EQ(x.ways.value, y.ways.value) << x.name;
    EXPECT_EQ(x.line.value, y.line.value) << x.name;
  }
}
void expect_same_policies(const Machine& a, const Machine& b) {
  for (std::size_t i = 0; i + 1 < a.levels.size(); ++i) {
    const Level &x = a.levels[i], &y = b.levels[i];
    EXPECT_EQ(x.replacement.value, y.replacement.value) << x.name;
    EXPECT_EQ(x.inclusion.value, y.inclusion.value) << x.name;
    EXPECT_EQ(x.write, y.write) << x.name;
    EXPECT_EQ(x.write_allocate, y.write_allocate) << x.name;
    EXPECT_EQ(x.prefetch, y.prefetch) << x.name;
  }
}

constexpr int tries = 100;

class RoundTrip : public testing::Test {
 protected:
  const std::uint32_t seed_ = static_cast<std::uint32_t>(test::new_seed());
  Plain random_{seed_};
  testing::ScopedTrace trace_{__FILE__, __LINE__, fmt::format("seed {}", seed_)};
};

TEST_F(RoundTrip, Kerncraft_carries_core_caches_links_and_measurements) {
  for (int t = 0; t < tries; ++t) {
    Machine m = random_.next();
    m.core.vector_bits.value = 128 << random_.number(0, 2);
    // One table for each level: every kernel for every number of cores, one working set for each.
    const std::array sets{"AVX-512", "AVX2", "SSE", "plain"};
    std::vector<std::pair<AccessMix, std::string>> kernels;
    for (AccessMix mix : all_access_mixes) {
      if (random_.flip()) {
        kernels.emplace_back(mix, sets[static_cast<std::size_t>(random_.number(0, 3))]);
      }
    }
    for (Level& l : m.levels) {
      for (const auto& [mix, set] : kernels) {
        for (int cores = 1; cores <= 4; cores *= 2) {
          BandwidthSeries s{mix, Bytes(8), set, cores, Bytes(1000 * cores), {}, Hertz(0), false};
          for (int n = random_.number(1, 5); n > 0; --n) {
            s.repetitions.emplace_back(random_.real(-3, 18));
          }
          l.series.push_back(s);
        }
      }
    }
    const Exported out = export_kerncraft(m);
    EXPECT_EQ(recognise(out.text), ImportFormat::kerncraft);
    const Machine back = import_machine(ImportFormat::kerncraft, out.text, "t.yml").machine;
    SCOPED_TRACE(out.text);
    expect_same_caches(m, back);
    expect_same_policies(m, back);
    EXPECT_EQ(back.description, visible(m.description.empty() ? m.name : m.description));
    EXPECT_EQ(back.core.frequency.value, m.core.frequency.value);
    EXPECT_EQ(back.core.vector_bits.value, m.core.vector_bits.value);
    EXPECT_DOUBLE_EQ(back.core.fma_per_cycle.value, m.core.fma_per_cycle.value);
    for (std::size_t i = 0; i < m.levels.size(); ++i) {
      const Level &x = m.levels[i], &y = back.levels[i];
      EXPECT_EQ(x.shared_by, y.shared_by) << x.name;
      EXPECT_EQ(x.series, y.series) << x.name;
      EXPECT_EQ(y.bandwidth.value.unit, Bandwidth::Unit::bytes_per_cycle);
      if (x.bandwidth.value.unit == Bandwidth::Unit::bytes_per_cycle) {
        EXPECT_EQ(x.bandwidth.value, y.bandwidth.value) << x.name;
      } else {
        EXPECT_NEAR(y.bandwidth.value.at(m.core.frequency.value) /
                        x.bandwidth.value.at(m.core.frequency.value),
                    1, 1e-14);
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(RoundTrip, Pycachesim_carries_sizes_policies_and_victims) {
  for (int t = 0; t < tries; ++t) {
    const Machine m = random_.next();
    const Exported out = export_pycachesim(m);
    EXPECT_EQ(recognise(out.text), ImportFormat::pycachesim);
    const Machine back = import_machine(ImportFormat::pycachesim, out.text, "t.json").machine;
    SCOPED_TRACE(out.text);
    expect_same_caches(m, back);
    expect_same_policies(m, back);
    if (HasFailure()) return;
  }
}

TEST_F(RoundTrip, Dinero_carries_sizes_and_policies_of_powers_of_two) {
  for (int t = 0; t < tries; ++t) {
    Machine m = random_.next();
    std::int64_t capacity = 1024;
    for (Level& l : m.levels) {
      if (l.kind != LevelKind::cache) continue;
      l.inclusion.value = Inclusion::neither;
      l.prefetch = random_.flip() ? Prefetch::next_line : Prefetch::none;
      l.write_allocate = random_.flip();
      l.ways.value = 1 << random_.number(0, 4);
      capacity <<= random_.number(0, 6);
      capacity = std::max(capacity, l.ways.value * l.line.value.value());
      l.capacity.value = Bytes(capacity);
    }
    const Exported out = export_dinero(m);
    EXPECT_EQ(recognise(out.text), ImportFormat::dinero);
    const Machine back = import_machine(ImportFormat::dinero, out.text, "t").machine;
    SCOPED_TRACE(out.text);
    expect_same_caches(m, back);
    expect_same_policies(m, back);
    if (HasFailure()) return;
  }
}

// hwloc's objects, from the outermost cache in; `l` levels are still to come.
std::string hwloc_objects(const Machine& m, int l, int cores) {
  if (l < 0) {
    std::string text;
    for (int c = 0; c < cores; ++c)
      text += "<object type=\"Core\"><object type=\"PU\"/></object>\n";
    return text;
  }
  const Level& level = m.level(LevelId{l});
  std::string text;
  for (int n = 0; n < cores / level.shared_by; ++n) {
    text += fmt::format(
        "<object type=\"L{0}Cache\" depth=\"{0}\" cache_size=\"{1}\" cache_linesize=\"{2}\" "
        "cache_associativity=\"{3}\" cache_type=\"0\">\n<info name=\"Inclusive\" value=\"{4}\"/>\n",
        l + 1, level.capacity.value.value(), level.line.value.value(), level.ways.value,
        level.inclusion.value == Inclusion::inclusive ? 1 : 0);
    text += hwloc_objects(m, l - 1, level.shared_by) + "</object>\n";
  }
  return text;
}

TEST_F(RoundTrip, Hwloc_carries_geometry_sharing_inclusion_and_memory) {
  for (int t = 0; t < tries; ++t) {
    Machine m = random_.next();
    for (Level& l : m.levels) {
      l.inclusion.value = random_.flip() ? Inclusion::inclusive : Inclusion::neither;
    }
    m.levels.back().capacity.value = Bytes(std::int64_t{1} << 60);
    const int cores = m.levels.back().shared_by;
    const std::string xml = fmt::format(
        "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n<object type=\"Machine\">\n"
        "<info name=\"CPUModel\" value=\"some &lt;processor&gt;\"/>\n"
        "<object type=\"NUMANode\" local_memory=\"{}\"/>\n{}</object></topology>\n",
        m.levels.back().capacity.value.value(), hwloc_objects(m, m.cache_count() - 1, cores));
    EXPECT_EQ(recognise(xml), ImportFormat::hwloc);
    const Machine back = import_machine(ImportFormat::hwloc, xml, "t.xml").machine;
    expect_same_caches(m, back);
    EXPECT_EQ(back.description, "some <processor>");
    EXPECT_EQ(back.levels.back().capacity.value, m.levels.back().capacity.value);
    for (std::size_t i = 0; i < m.levels.size(); ++i) {
      EXPECT_EQ(m.levels[i].shared_by, back.levels[i].shared_by) << m.levels[i].name;
      if (i + 1 < m.levels.size()) {
        EXPECT_EQ(m.levels[i].inclusion.value, back.levels[i].inclusion.value);
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(RoundTrip, Likwid_carries_geometry_sharing_and_inclusion) {
  for (int t = 0; t < tries; ++t) {
    Machine m = random_.next();
    m.levels[0].shared_by = 1;
    const int threads = random_.number(1, 4);
    std::string csv = fmt::format(
        "STRUCT,Info,3\nCPU name:,some processor,\nSTRUCT,Hardware Thread Topology,3\nSockets:,1,\n"
        "Cores per socket:,{},\nThreads per core:,{},\n",
        m.levels.back().shared_by, threads);
    for (int l = 0; l < m.cache_count(); ++l) {
      Level& level = m.levels[static_cast<std::size_t>(l)];
      level.inclusion.value = random_.flip() ? Inclusion::inclusive : Inclusion::neither;
      std::string group;
      for (int c = 0; c < level.shared_by * threads; ++c) group += fmt::format(" {}", c);
      csv += fmt::format(
          "STRUCT,Cache Topology L{0},9\nLevel:,{0},\nSize:,{1:.2f} kB,\nType:,Unified cache,\n"
          "Associativity:,{2},\nNumber of sets:,{3},\nCache line size:,{4},\nCache type:,{5},\n"
          "Shared by threads:,{6},\nCache groups:,{7},\n",
          l + 1, static_cast<double>(level.capacity.value.value()) / 1024, level.ways.value,
          level.sets(), level.line.value.value(),
          level.inclusion.value == Inclusion::inclusive ? "Inclusive" : "Non Inclusive",
          level.shared_by * threads, group.substr(1));
    }
    EXPECT_EQ(recognise(csv), ImportFormat::likwid);
    const Machine back = import_machine(ImportFormat::likwid, csv, "t.csv").machine;
    SCOPED_TRACE(csv);
    expect_same_caches(m, back);
    for (std::size_t i = 0; i < m.levels.size(); ++i) {
      EXPECT_EQ(m.levels[i].shared_by, back.levels[i].shared_by) << m.levels[i].name;
      if (i + 1 < m.levels.size()) {
        EXPECT_EQ(m.levels[i].inclusion.value, back.levels[i].inclusion.value);
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(MachineFiles, The_kernels_files_carry_geometry_and_sharing) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Plain random(seed);
  for (int t = 0; t < 20; ++t) {
    Machine m = random.next();
    m.levels[0].shared_by = 1;
    const fs::path cpu = folder_ / fmt::format("cpu{}", t);
    for (int l = 0; l < m.cache_count(); ++l) {
      const Level& level = m.level(LevelId{l});
      const fs::path index = cpu / fmt::format("index{}", l);
      fs::create_directories(index);
      const auto file = [&](const char* name, const std::string& text) {
        std::ofstream(index / name) << text << "\n";
      };
      file("type", l == 0 ? "Data" : "Unified");
      file("level", fmt::format("{}", l + 1));
      file("size", fmt::format("{}", level.capacity.value.value()));
      file("ways_of_associativity", fmt::format("{}", level.ways.value));
      file("coherency_line_size", fmt::format("{}", level.line.value.value()));
      file("number_of_sets", fmt::format("{}", level.sets()));
      file("shared_cpu_list", fmt::format("0-{}", 2 * level.shared_by - 1));
    }
    const Machine back = import_machine_file(cpu).machine;
    expect_same_caches(m, back);
    for (int l = 0; l < m.cache_count(); ++l) {
      EXPECT_EQ(m.level(LevelId{l}).shared_by, back.level(LevelId{l}).shared_by);
    }
    if (HasFailure()) return;
  }
}

TEST_F(MachineFiles, Shipped_machines_of_caches_go_through_every_export_that_can_say_them) {
  for (const std::string& name : shipped_machines()) {
    const Machine m = find_machine(name);
    if (m.levels[0].kind != LevelKind::cache) {
      EXPECT_THROW(export_kerncraft(m), UnsupportedError) << name;
      EXPECT_THROW(export_pycachesim(m), UnsupportedError) << name;
      EXPECT_THROW(export_dinero(m), UnsupportedError) << name;
      continue;
    }
    const Machine back =
        import_machine(ImportFormat::kerncraft, export_kerncraft(m).text, "t.yml").machine;
    expect_same_caches(m, back);
    EXPECT_EQ(m.core.frequency.value, back.core.frequency.value);
    expect_same_caches(
        m, import_machine(ImportFormat::pycachesim, export_pycachesim(m).text, "t.json").machine);
  }
}

TEST_F(MachineFiles, What_a_format_cannot_say_is_refused_with_the_knob_that_leaves_it_out) {
  const Machine m = find_machine("i7-6700k");
  const auto refused = [&](auto exporter, const char* knob) {
    const Machine changed = override_knob(m, knob).machine;
    return error_of<UnsupportedError>([&] { exporter(changed); });
  };
  EXPECT_EQ(refused(export_pycachesim, "L2.replacement=tree-plru"),
            "i7-6700k: L2: pycachesim has no replacement tree-plru; leave it out with --set "
            "L2.replacement=lru");
  EXPECT_EQ(refused(export_kerncraft, "L2.inclusion=inclusive"),
            "i7-6700k: L2: kerncraft has no inclusive caches; leave it out with --set "
            "L2.inclusion=neither");
  EXPECT_EQ(refused(export_pycachesim, "L1.prefetch=stride"),
            "i7-6700k: L1: pycachesim has no prefetch stride; leave it out with --set "
            "L1.prefetch=none");
  EXPECT_EQ(refused(export_pycachesim, "L3.index=hashed"),
            "i7-6700k: L3: pycachesim has no index hashed; leave it out with --set "
            "L3.index=modulo");
  EXPECT_EQ(refused(export_pycachesim, "L1.write=write-through"),
            "i7-6700k: L1: pycachesim has no write-through with write-allocate; leave it out with "
            "--set L1.write_allocate=false");
  EXPECT_EQ(refused(export_dinero, "L3.inclusion=exclusive"),
            "i7-6700k: L3: Dinero IV has no exclusive caches; leave it out with --set "
            "L3.inclusion=neither");
  EXPECT_EQ(refused(export_dinero, "L1.prefetch=stride"),
            "i7-6700k: L1: Dinero IV has no prefetch stride; leave it out with --set "
            "L1.prefetch=none");
  EXPECT_EQ(refused(export_dinero, "L1.victim_lines=4"),
            "i7-6700k: L1: Dinero IV has no victim cache; leave it out with --set "
            "L1.victim_lines=0");
  EXPECT_EQ(refused(export_dinero, "L3.index=sliced-4"),
            "i7-6700k: L3: Dinero IV has no index sliced-4; leave it out with --set "
            "L3.index=modulo");
  // 35 MiB of 20 ways; what is offered can be exported.
  const Machine xeon = find_machine("e5-2680v4");
  EXPECT_EQ(error_of<UnsupportedError>([&] { export_dinero(xeon); }),
            "e5-2680v4: L3: Dinero IV has no capacity of 35MiB, only powers of two; leave it out "
            "with --set L3.ways=16 --set L3.capacity=32MiB");
  Machine mended = override_knob(xeon, "L3.ways=16").machine;
  mended = override_knob(mended, "L3.capacity=32MiB").machine;
  EXPECT_TRUE(export_dinero(mended).text.ends_with(
      "-l3-usize 32m -l3-ubsize 64 -l3-uassoc 16 -l3-urepl l -l3-ufetch d -l3-uwalloc a -l3-uwback "
      "a\n"));
}

TEST_F(MachineFiles, What_an_export_loses_is_listed) {
  Machine m = find_machine("i7-6700k");
  m.levels[0].latency = Figure<Cycles>{Cycles(4), Origin::vendor, ""};
  BandwidthSeries s{AccessMix::load,        Bytes(8), "AVX2", 1, Bytes(16384),
                    {BytesPerSecond(1e11)}, Hertz(0), false};
  m.levels[0].series = {s, s};
  m.levels[0].series[1].element = Bytes(4);
  const std::vector<std::string> lost = export_kerncraft(m).lost;
  const auto has = [&](const std::string& item) {
    return std::find(lost.begin(), lost.end(), item) != lost.end();
  };
  EXPECT_TRUE(has("L1.latency"));
  EXPECT_TRUE(has("core.vector_registers and core.fma_latency"));
  EXPECT_TRUE(has(
      "1 of 2 measured series: f32, peaks, all instruction sets but one for each mix, all working "
      "sets but one for each number of cores"));
}

}  // namespace
}  // namespace tcsim
