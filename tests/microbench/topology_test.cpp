// Sources of the topology, made up in a folder or in a text, and how they are brought together.
#include "microbench/topology.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>

#include "core/error.hpp"
#include "microbench/team.hpp"
#include "tests/scratch.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    root_ = test::scratch("topology");
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  fs::path root_;
};

// Two packages of two cores of two threads, numbered as Linux often does: threads of a core four
// apart, packages alternating.
class Kernel : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    write("cpu/online", "0-7");
    for (int cpu = 0; cpu < 8; ++cpu) {
      const int core = cpu % 4;
      const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/";
      const std::string siblings = std::to_string(core) + "," + std::to_string(core + 4);
      write(folder + "topology/thread_siblings_list", siblings);
      write(folder + "topology/physical_package_id", std::to_string(core % 2));
      cache(folder + "cache/index0/", "1", "32K", "8", siblings);
      cache(folder + "cache/index1/", "2", "8M", "16", core % 2 == 0 ? "0,2,4,6" : "1,3,5,7");
    }
    write("node/online", "0-1");
    write("node/node0/cpulist", "0,2,4,6");
    write("node/node0/meminfo", "Node 0 MemTotal:       1048576 kB\nNode 0 MemFree: 7 kB");
    write("node/node1/cpulist", "1,3,5,7");
    write("node/node1/meminfo", "Node 1 MemTotal:       2097152 kB");
  }
  void cache(const std::string& folder, const std::string& level, const std::string& size,
             const std::string& ways, const std::string& sharers) const {
    write(folder + "type", "Unified");
    write(folder + "level", level);
    write(folder + "size", size);
    write(folder + "ways_of_associativity", ways);
    write(folder + "coherency_line_size", "64");
    write(folder + "shared_cpu_list", sharers);
  }
};

TEST_F(Kernel, Packages_cores_threads_nodes_and_sharing_are_read) {
  const Topology t = ask_kernel(root_, 0);
  EXPECT_EQ(t.packages, 2);
  EXPECT_EQ(t.cores, 4);
  EXPECT_EQ(t.threads, 8);
  EXPECT_EQ(t.caches, (std::vector<CacheGeometry>{{1, Bytes(32768), 8, Bytes(64), 1, {}, ""},
                                                  {2, Bytes(8388608), 16, Bytes(64), 2, {}, ""}}));
  EXPECT_EQ(t.nodes, (std::vector<NumaNode>{{0, 2, Bytes(1 << 30)}, {1, 2, Bytes(2LL << 30)}}));
}

TEST_F(Kernel, Cores_that_share_a_cache_stand_together) {
  EXPECT_EQ(ask_kernel(root_, 0).core_cpus,
            (std::vector<std::vector<int>>{{0, 4}, {2, 6}, {1, 5}, {3, 7}}));
}

TEST_F(Kernel, A_machine_without_cache_files_is_unsupported) {
  EXPECT_THROW(ask_kernel(root_ / "none", 0), UnsupportedError);
}

TEST(Cpus, One_allowed_processor_of_each_core_is_measured) {
  Topology t;
  t.core_cpus = {{0, 4}, {2, 6}, {1, 5}};
  EXPECT_EQ(one_cpu_per_core(t, {0, 1, 2, 3, 4, 5, 6}), (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(one_cpu_per_core(t, {4, 6}), (std::vector<int>{4, 6}));
  // A topology that does not know the processor: at least that one.
  EXPECT_EQ(one_cpu_per_core(t, {9}), (std::vector<int>{9}));
}

CacheGeometry cache(int level, std::int64_t bytes, std::int64_t ways, int shared_by) {
  return {level, Bytes(bytes), ways, Bytes(64), shared_by, {}, ""};
}

TEST(Merge, The_first_source_that_knows_a_figure_decides_and_gaps_are_filled) {
  Topology first, second;
  first.source = "first";
  first.caches = {{1, Bytes(32768), 0, Bytes(64), 0, true, ""}};
  first.cores = 2;
  second.source = "second";
  second.caches = {cache(1, 32768, 8, 1), cache(2, 1 << 20, 16, 2)};
  second.packages = 1;
  second.nodes = {{0, 2, Bytes(5)}};
  const MergedTopology m = merge({first, second});
  EXPECT_EQ(m.remarks, std::vector<std::string>());
  EXPECT_EQ(m.topology.source, "first, second");
  EXPECT_EQ(m.topology.caches,
            (std::vector<CacheGeometry>{{1, Bytes(32768), 8, Bytes(64), 1, true, ""},
                                        cache(2, 1 << 20, 16, 2)}));
  EXPECT_EQ(m.topology.cores, 2);
  EXPECT_EQ(m.topology.packages, 1);
  EXPECT_EQ(m.topology.nodes, second.nodes);
}

TEST(Merge, A_disagreement_is_said_with_who_says_what) {
  Topology a, b, c;
  a.source = "a";
  a.caches = {cache(3, 32 << 20, 16, 2)};
  b = a;
  b.source = "b";
  c.source = "c";
  c.caches = {cache(3, 320 << 20, 16, 0)};
  const MergedTopology m = merge({a, b, c});
  EXPECT_EQ(m.remarks, (std::vector<std::string>{
                           "L3 capacity: the sources disagree: 32MiB (a, b) or 320MiB (c); taken: "
                           "32MiB"}));
  EXPECT_EQ(m.topology.caches, a.caches);
}

TEST(Merge, What_a_source_had_to_guess_counts_only_if_nobody_knows) {
  Topology guessing, knowing;
  guessing.source = "guessing";
  guessing.caches = {{1, Bytes(32768), 8, Bytes(64), 1, {}, "ways assumed"}};
  knowing.source = "knowing";
  knowing.caches = {cache(1, 49152, 12, 1)};
  EXPECT_EQ(merge({guessing, knowing}).topology.caches, knowing.caches);
  EXPECT_EQ(merge({guessing}).topology.caches, guessing.caches);
}

TEST(Sources, Asking_them_leaves_the_thread_where_it_may_run) {
  const std::vector<int> before = allowed_cpus();
  try {
    ask_sources(before.front());
  } catch (const UnsupportedError& e) {
    GTEST_SKIP() << e.what();
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Sources, This_machine_is_described_alike_by_all_that_are_asked) {
  std::vector<Topology> sources;
  try {
    sources = ask_sources(0);
  } catch (const UnsupportedError& e) {
    GTEST_SKIP() << e.what();
  }
  const MergedTopology all = merge(sources);
  ASSERT_FALSE(all.topology.caches.empty());
  EXPECT_GE(all.topology.cores, 1);
  // The first decides, so asking only that one gives the same caches.
  const auto first = merge(ask_sources(0, 1)).topology.caches;
  ASSERT_EQ(first.size(), all.topology.caches.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].capacity, all.topology.caches[i].capacity);
    EXPECT_EQ(first[i].ways, all.topology.caches[i].ways);
  }
}

#if defined(TCSIM_HAVE_HWLOC)
// A machine as hwloc 2 writes it: one package, an L3 of 8 MiB for two cores of two threads.
constexpr const char* xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0xf"
      nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="Package" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1"
        complete_nodeset="0x1" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1"
          complete_nodeset="0x1" gp_index="3" local_memory="4294967296"/>
      <object type="L3Cache" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1"
          complete_nodeset="0x1" gp_index="4" cache_size="8388608" depth="3"
          cache_linesize="64" cache_associativity="16" cache_type="0">
        <info name="Inclusive" value="1"/>
        <object type="L1Cache" cpuset="0x5" complete_cpuset="0x5" nodeset="0x1"
            complete_nodeset="0x1" gp_index="5" cache_size="32768" depth="1"
            cache_linesize="64" cache_associativity="-1" cache_type="1">
          <object type="Core" os_index="0" cpuset="0x5" complete_cpuset="0x5" nodeset="0x1"
              complete_nodeset="0x1" gp_index="6">
            <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
                complete_nodeset="0x1" gp_index="7"/>
            <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1"
                complete_nodeset="0x1" gp_index="8"/>
          </object>
        </object>
        <object type="L1Cache" cpuset="0xa" complete_cpuset="0xa" nodeset="0x1"
            complete_nodeset="0x1" gp_index="9" cache_size="32768" depth="1"
            cache_linesize="64" cache_associativity="-1" cache_type="1">
          <object type="Core" os_index="1" cpuset="0xa" complete_cpuset="0xa" nodeset="0x1"
              complete_nodeset="0x1" gp_index="10">
            <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
                complete_nodeset="0x1" gp_index="11"/>
            <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x1"
                complete_nodeset="0x1" gp_index="12"/>
          </object>
        </object>
      </object>
    </object>
  </object>
</topology>)";

TEST_F(Files, Hwloc_tells_caches_sharing_inclusion_cores_and_nodes) {
  write("machine.xml", xml);
  const Topology t = ask_hwloc(0, root_ / "machine.xml");
  // Fully associative: as many ways as lines, 32768 / 64.
  EXPECT_EQ(t.caches,
            (std::vector<CacheGeometry>{{1, Bytes(32768), 512, Bytes(64), 1, {}, ""},
                                        {3, Bytes(8388608), 16, Bytes(64), 2, true, ""}}));
  EXPECT_EQ(t.packages, 1);
  EXPECT_EQ(t.cores, 2);
  EXPECT_EQ(t.threads, 4);
  EXPECT_EQ(t.core_cpus, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(t.nodes, (std::vector<NumaNode>{{0, 2, Bytes(4294967296)}}));
}

TEST_F(Files, Hwloc_of_a_damaged_file_is_unsupported) {
  write("damaged.xml", "<topology");
  EXPECT_THROW(ask_hwloc(0, root_ / "damaged.xml"), UnsupportedError);
}
#endif

}  // namespace
}  // namespace tcsim
