// Files of other tools, read. The files are the fuzz targets' corpora: real output of hwloc 2.9 and
// likwid 5.2 ("two-cores"), and hand-made ones of larger machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "exchange/exchange.hpp"
#include "tests/core/machine_files.hpp"
#include "tests/source_dir.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

fs::path corpus(const std::string& file) {
  return fs::path(TCSIM_SOURCE_DIR) / "tests" / "fuzz" / "corpus" / file;
}
Imported import_corpus(const std::string& file, const ImportOptions& options = {}) {
  return import_machine_file(corpus(file), {}, options);
}

// name, capacity, ways, line, cores of each cache.
struct Row {
  std::string name;
  std::int64_t capacity, ways, line;
  int shared_by;
  Inclusion inclusion;
  bool operator==(const Row&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Row& r) {
  return out << r.name << " " << r.capacity << " " << r.ways << " " << r.line << " " << r.shared_by
             << " " << to_text(r.inclusion);
}
std::vector<Row> caches(const Machine& m) {
  std::vector<Row> rows;
  for (const Level& l : m.levels) {
    if (l.kind != LevelKind::cache) continue;
    rows.push_back({l.name, l.capacity.value.value(), l.ways.value, l.line.value.value(),
                    l.shared_by, l.inclusion.value});
  }
  return rows;
}
using Rows = std::vector<Row>;
constexpr Inclusion neither = Inclusion::neither, inclusive = Inclusion::inclusive;

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

TEST(ImportHwloc, Real_output_gives_caches_memory_and_the_processor) {
  const Imported i = import_corpus("hwloc_fuzz/two-cores.xml");
  EXPECT_EQ(i.machine.name, "two-cores");
  EXPECT_EQ(i.machine.description, "AMD EPYC");
  EXPECT_EQ(caches(i.machine), (Rows{{"L1", 32768, 8, 64, 1, neither},
                                     {"L2", 1048576, 8, 64, 1, inclusive},
                                     {"L3", 33554432, 16, 64, 2, neither}}));
  EXPECT_EQ(i.machine.levels[3].capacity,
            (Figure<Bytes>{Bytes(25276502016), Origin::vendor, "hwloc XML"}));
  EXPECT_EQ(i.machine.levels[3].shared_by, 2);
  EXPECT_EQ(i.machine.levels[1].inclusion,
            (Figure<Inclusion>{Inclusion::inclusive, Origin::vendor, "hwloc XML"}));
  // What it does not tell is assumed, and said to be.
  EXPECT_TRUE(has(i.assumed, "L1.bandwidth: 64B/cycle"));
  EXPECT_TRUE(has(i.assumed, "core.frequency: 2GHz"));
  EXPECT_EQ(i.machine.levels[0].bandwidth.origin, Origin::assumed);
  EXPECT_EQ(i.machine.levels[0].replacement,
            (Figure<Replacement>{Replacement::lru, Origin::assumed, "not in hwloc XML"}));
}

TEST(ImportHwloc, Hardware_threads_are_not_cores) {
  const Imported i = import_corpus("hwloc_fuzz/i7-6700k.xml");
  EXPECT_EQ(caches(i.machine), (Rows{{"L1", 32768, 8, 64, 1, neither},
                                     {"L2", 262144, 4, 64, 1, neither},
                                     {"L3", 8388608, 16, 64, 4, neither}}));
}

TEST(ImportHwloc, A_base_machine_gives_what_is_missing) {
  setenv("TCSIM_DATA_DIR", TCSIM_SOURCE_DIR, 1);
  const Machine base = find_machine("i7-6700k");
  const Imported i = import_corpus("hwloc_fuzz/i7-6700k.xml", {"mine", base});
  EXPECT_TRUE(i.assumed.empty());
  EXPECT_EQ(i.machine.name, "mine");
  EXPECT_EQ(i.machine.core, base.core);
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_EQ(i.machine.levels[l].bandwidth, base.levels[l].bandwidth) << l;
  }
  EXPECT_EQ(i.machine.levels[0].replacement, base.levels[0].replacement);
  EXPECT_EQ(i.machine.levels[0].capacity.source, "hwloc XML");
  unsetenv("TCSIM_DATA_DIR");
}

TEST(ImportHwloc, Version_1_has_other_names) {
  const Imported i = import_corpus("hwloc_fuzz/hwloc1.xml");
  EXPECT_EQ(caches(i.machine),
            (Rows{{"L1", 32768, 8, 64, 1, neither}, {"L2", 4194304, 16, 64, 2, neither}}));
  EXPECT_EQ(i.machine.levels[2].capacity.value, Bytes(8589934592));
}

TEST(ImportHwloc, Cores_with_other_caches_are_pointed_out) {
  const Imported i = import_corpus("hwloc_fuzz/hybrid.xml");
  EXPECT_EQ(caches(i.machine), (Rows{{"L1", 49152, 12, 64, 1, neither},
                                     {"L2", 1310720, 10, 64, 1, neither},
                                     {"L3", 25165824, 12, 64, 3, neither}}));
  EXPECT_TRUE(
      has(i.notes, "2 of 3 cores have other caches than the first, whose caches were taken"));
}

TEST(ImportHwloc, Faults_are_one_line_with_the_place) {
  const auto error = [](const std::string& xml) {
    return error_of([&] { import_machine(ImportFormat::hwloc, xml, "t.xml"); });
  };
  EXPECT_EQ(error("<topology>\n<object type=\"Machine\">\n</topology>"),
            "t.xml:3: mismatched tag; mend the XML there");
  EXPECT_EQ(error("<html/>"), "t.xml:1: no topology of hwloc; give the output of lstopo");
  EXPECT_EQ(error("<topology/>"), "t.xml: no object in the topology; give the output of lstopo");
  EXPECT_EQ(error("<topology><object type=\"Machine\"/></topology>"),
            "t.xml: no data cache in it; give a file that describes one");
  const std::string cache =
      "<topology><object type=\"Machine\">\n<object type=\"L1Cache\" depth=\"1\" "
      "cache_size=\"32K\" "
      "cache_linesize=\"64\">\n<object type=\"Core\"/></object></object></topology>";
  EXPECT_EQ(error(cache), "t.xml:2: cache_size '32K' is no number; give the output of lstopo");
  std::string deep = "<topology>";
  for (int n = 0; n < 100; ++n) deep += "<object type=\"Group\">";
  EXPECT_EQ(error(deep), "t.xml:1: objects are nested too deep; give the output of lstopo");
  // Entities that multiply are expat's business, and it stops them.
  std::string bomb = "<!DOCTYPE t [<!ENTITY a \"aaaaaaaaaa\">";
  for (char c = 'b'; c <= 'k'; ++c) {
    bomb += std::string("<!ENTITY ") + c + " \"";
    for (int n = 0; n < 10; ++n) bomb += std::string("&") + static_cast<char>(c - 1) + ";";
    bomb += "\">";
  }
  EXPECT_NE(error(bomb + "]><topology><object type=\"&k;\"/></topology>"), "no error");
}

TEST(ImportLikwid, Real_output_gives_sets_ways_and_sharing) {
  const Imported i = import_corpus("likwid_fuzz/two-cores.csv");
  EXPECT_EQ(i.machine.description, "AMD EPYC");
  EXPECT_EQ(caches(i.machine), (Rows{{"L1", 32768, 8, 64, 1, neither},
                                     {"L2", 1048576, 8, 64, 1, neither},
                                     {"L3", 33554432, 16, 64, 2, neither}}));
  // 24105.6 MB of 2^20 bytes.
  EXPECT_EQ(i.machine.levels[3].capacity.value, Bytes(25276553626));
  EXPECT_TRUE(i.ignored.empty());
}

TEST(ImportLikwid, Without_extended_output_ways_and_lines_are_assumed) {
  const Imported i = import_corpus("likwid_fuzz/two-cores-no-ways.csv");
  EXPECT_EQ(i.machine.levels[2].ways,
            (Figure<std::int64_t>{8, Origin::assumed, "not in likwid-topology CSV"}));
  EXPECT_TRUE(has(i.assumed, "L3.ways: 8"));
  EXPECT_TRUE(has(i.assumed, "L3.line: 64B"));
  EXPECT_EQ(i.machine.levels[2].capacity.value, Bytes(33554432));
}

TEST(ImportLikwid, Two_sockets_of_fourteen_cores_share_as_the_groups_say) {
  const Imported i = import_corpus("likwid_fuzz/e5-2680v4.csv");
  EXPECT_EQ(caches(i.machine), (Rows{{"L1", 32768, 8, 64, 1, neither},
                                     {"L2", 262144, 8, 64, 1, neither},
                                     {"L3", 36700160, 20, 64, 14, inclusive}}));
  EXPECT_EQ(i.machine.levels[3].shared_by, 28);
  EXPECT_EQ(i.machine.levels[3].capacity.value, Bytes(std::int64_t{128} << 30));
}

TEST(ImportLikwid, Faults_are_one_line_with_the_place) {
  const auto error = [](const std::string& csv) {
    return error_of([&] { import_machine(ImportFormat::likwid, csv, "t.csv"); });
  };
  EXPECT_EQ(error("hello\n"), "t.csv:1: no section STRUCT; give the output of likwid-topology -O");
  EXPECT_EQ(error("STRUCT,Info,3\nCPU name:,x,\n"),
            "t.csv: no data cache in it; give a file that describes one");
  EXPECT_EQ(error("STRUCT,Cache Topology L1,3\nLevel:,one,\n"),
            "t.csv:2: Level 'one' is no count; give a whole number of at least 1");
  EXPECT_EQ(error("STRUCT,Cache Topology L1,3\nLevel:,1,\nSize:,32 KB,\n"),
            "t.csv:3: '32 KB' is no size; give one such as 32 kB or 1 MB");
  EXPECT_EQ(error("\nSTRUCT,Cache Topology L1,9\nLevel:,1,\nSize:,32 kB,\nAssociativity:,8,\n"
                  "Number of sets:,128,\nCache line size:,64,\n"),
            "t.csv:2: L1: 128 sets, 8 ways and lines of 64B contradict its size 32KiB; check the "
            "four numbers");
  EXPECT_EQ(error("STRUCT,Cache Topology L1,3\nLevel:,1,\n"),
            "t.csv:1: L1 has no size; give a file that tells it");
}

class Kernel : public MachineFiles {
 protected:
  void add(const std::string& index,
           const std::vector<std::pair<std::string, std::string>>& files) const {
    fs::create_directories(folder_ / index);
    for (const auto& [name, text] : files) std::ofstream(folder_ / index / name) << text << "\n";
  }
};

TEST_F(Kernel, Cache_files_are_read_innermost_first_and_threads_are_not_cores) {
  add("index3", {{"type", "Unified"},
                 {"level", "3"},
                 {"size", "35M"},
                 {"ways_of_associativity", "20"},
                 {"coherency_line_size", "64"},
                 {"number_of_sets", "28672"},
                 {"shared_cpu_list", "0-13,28-41"}});
  add("index0", {{"type", "Data"},
                 {"level", "1"},
                 {"size", "32K"},
                 {"ways_of_associativity", "8"},
                 {"coherency_line_size", "64"},
                 {"number_of_sets", "64"},
                 {"shared_cpu_list", "0,28"}});
  add("index1", {{"type", "Instruction"}, {"level", "1"}, {"size", "32K"}});
  const Imported i = import_machine_file(folder_);
  EXPECT_EQ(i.machine.name, "kernel");
  EXPECT_EQ(caches(i.machine),
            (Rows{{"L1", 32768, 8, 64, 1, neither}, {"L3", 36700160, 20, 64, 14, neither}}));
}

TEST_F(Kernel, What_the_kernel_hides_is_assumed_and_what_cannot_be_is_rounded) {
  // 32 KiB in 128 sets of 64 B lines is 4 ways.
  add("index0", {{"type", "Data"},
                 {"level", "1"},
                 {"size", "32K"},
                 {"number_of_sets", "128"},
                 {"coherency_line_size", "64"}});
  // 1000 KiB / (7 x 64) = 2285.7 sets, rounded down to 2285 x 448 B.
  add("index2",
      {{"type", "Unified"}, {"level", "2"}, {"size", "1000K"}, {"ways_of_associativity", "7"}});
  const Imported i = import_machine_file(folder_);
  EXPECT_EQ(caches(i.machine),
            (Rows{{"L1", 32768, 4, 64, 1, neither}, {"L2", 1023680, 7, 64, 1, neither}}));
  EXPECT_TRUE(has(i.assumed, "L2.line: 64B"));
  EXPECT_TRUE(
      has(i.notes, "L2.capacity: 1000KiB is no whole number of 7-way sets, 1023680B is used"));
}

TEST_F(Kernel, A_folder_without_caches_is_an_error) {
  EXPECT_THROW(import_machine_file(folder_), InputError);
  EXPECT_THROW(import_machine_file(folder_ / "none"), InputError);
  add("index0", {{"type", "Data"}, {"level", "1"}, {"size", "huge"}});
  EXPECT_THROW(import_machine_file(folder_), InputError);
}

TEST(ImportKerncraft, A_whole_file_gives_core_caches_links_and_measurements) {
  const Imported i = import_corpus("kerncraft_fuzz/skylake-sp.yml");
  const Machine& m = i.machine;
  EXPECT_EQ(m.description, "Intel(R) Xeon(R) Test CPU @ 2.40GHz");
  EXPECT_EQ(m.core.frequency.value, Hertz(2.4e9));
  EXPECT_EQ(m.core.vector_bits.value, 512);
  EXPECT_EQ(m.core.fma_per_cycle.value, 2);  // 32 flops / (2 x 8 lanes)
  EXPECT_EQ(caches(m), (Rows{{"L1", 32768, 8, 64, 1, neither},
                             {"L2", 1048576, 16, 64, 1, neither},
                             {"L3", 8650752, 11, 64, 6, Inclusion::exclusive}}));
  EXPECT_FALSE(m.levels[2].write_allocate);
  // L1's link has no rate of its own: the median of update on one core.
  EXPECT_EQ(m.levels[0].bandwidth.value, (Bandwidth{277.65e9, Bandwidth::Unit::bytes_per_second}));
  EXPECT_EQ(m.levels[0].bandwidth.origin, Origin::measured);
  EXPECT_EQ(m.levels[1].bandwidth.value, (Bandwidth{64, Bandwidth::Unit::bytes_per_cycle}));
  EXPECT_EQ(m.levels[2].bandwidth.value, (Bandwidth{16, Bandwidth::Unit::bytes_per_cycle}));
  EXPECT_EQ(m.levels[3].bandwidth.value, (Bandwidth{24.85e9, Bandwidth::Unit::bytes_per_second}));
  EXPECT_EQ(m.levels[3].shared_by, 6);
  // One series for each kernel and number of cores, with all repetitions where the file has them.
  ASSERT_EQ(m.levels[0].series.size(), 4u);
  EXPECT_EQ(m.levels[0].series[1],
            (BandwidthSeries{
                AccessMix::load,
                Bytes(8),
                "AVX-512",
                2,
                Bytes(21120),
                {BytesPerSecond(507.43e9), BytesPerSecond(508.49e9), BytesPerSecond(506.08e9)},
                Hertz(0),
                false}));
  EXPECT_EQ(m.levels[0].series[3].mix, AccessMix::load_fma_store);
  ASSERT_EQ(m.levels[3].series.size(), 2u);
  EXPECT_EQ(m.levels[3].series[1].repetitions, std::vector{BytesPerSecond(24.85e9)});
}

TEST(ImportKerncraft, What_is_not_read_is_listed) {
  const Imported i = import_corpus("kerncraft_fuzz/skylake-sp.yml");
  for (const char* field : {"threads per core", "transparent hugepage", "overlapping model",
                            "non-overlapping model", "L1: performance counter metrics",
                            "L1: transfers overlap", "MEM: penalty cycles per read stream",
                            "measurements of triad", "L1: measurements with 2 threads per core"}) {
    EXPECT_TRUE(has(i.ignored, field)) << field;
  }
}

TEST(ImportKerncraft, Faults_are_one_line_with_the_place) {
  const auto error = [](const std::string& yaml) {
    return error_of([&] { import_machine(ImportFormat::kerncraft, yaml, "t.yml"); });
  };
  const std::string head_lines = "kerncraft version: 0.8.3\nmemory hierarchy:\n- level: L1\n";
  EXPECT_EQ(error("a: [1\n"), "t.yml:2: end of sequence flow not found; mend the YAML there");
  EXPECT_EQ(error("- 1\n"), "t.yml:1: no mapping; give a machine file of kerncraft");
  EXPECT_EQ(error("clock: 2.4 GHz\n"),
            "t.yml:1: no memory hierarchy; add a list \"memory hierarchy\"");
  EXPECT_EQ(error("clock: fast\n"),
            "t.yml:1: clock is no quantity with a unit; write it as in 2.4 GHz");
  EXPECT_EQ(error(head_lines + "  cache per group: {ways: 8, cl_size: 64}\n"),
            "t.yml:3: L1: sets is no count; write a whole number of at least 1");
  EXPECT_EQ(error(head_lines + "  cache per group:\n    sets: 64\n    ways: many\n"),
            "t.yml:6: L1: ways is no count; write a whole number of at least 1");
  EXPECT_EQ(error(head_lines + "  cache per group: {sets: 64, ways: 8, cl_size: 64,\n"
                               "    replacement_policy: PLRU}\n"),
            "t.yml:5: replacement_policy 'PLRU' is unknown; known are LRU, FIFO, RR");
  EXPECT_EQ(error(head_lines + "  cache per group: {sets: 64, ways: 8, cl_size: 64}\n"
                               "  size per group: 48.00 kB\n"),
            "t.yml:5: L1: 64 sets, 8 ways and lines of 64B contradict its size 48.00 kB; check the "
            "four numbers");
  EXPECT_EQ(
      error(head_lines + "  cache per group: {sets: 64, ways: 8, cl_size: 48}\n"
                         "- level: MEM\n  cores per group: 1\n"),
      "t.yml:3: L1 has lines of 48 bytes; a line is a power of two from 8 to 4096 bytes, such "
      "as 64B");
  // A list that an alias repeats, and a node that contains itself.
  EXPECT_NE(error(head_lines + "  cache per group: &a {sets: *a, ways: 8}\n"), "no error");
}

TEST(ImportPycachesim, Links_order_the_caches_and_victims_make_them_exclusive) {
  const Imported i = import_corpus("pycachesim_fuzz/three-levels.json");
  EXPECT_EQ(caches(i.machine), (Rows{{"L1", 32768, 8, 64, 1, neither},
                                     {"L2", 262144, 8, 64, 1, neither},
                                     {"L3", 20971520, 16, 64, 1, Inclusion::exclusive}}));
  EXPECT_EQ(i.machine.levels[1].replacement.value, Replacement::fifo);
  EXPECT_EQ(i.machine.levels[2].replacement.value, Replacement::random);
  EXPECT_FALSE(i.machine.levels[2].write_allocate);
  EXPECT_EQ(i.ignored, std::vector<std::string>{"L3: subblock_size"});
}

TEST(ImportPycachesim, Faults_are_one_line_with_the_place) {
  const auto error = [](const std::string& json) {
    return error_of([&] { import_machine(ImportFormat::pycachesim, json, "t.json"); });
  };
  EXPECT_EQ(error("{\"L1\": {\"sets\": 64,\n\"ways\": True}}"),
            "t.json:2: no JSON there; give a dictionary of caches in JSON, with true, false and "
            "null");
  EXPECT_EQ(error("[]"), "t.json:1: no dictionary; write { \"L1\": { \"sets\": 64, ... } }");
  EXPECT_EQ(
      error("{\n\"L1\": {\"sets\": 64, \"ways\": 8, \"cl_size\": 64, \"load_from\": \"L7\"}}"),
      "t.json:2: L1: load_from names no cache; name another cache of the dictionary, or null "
      "for memory");
  EXPECT_EQ(error("{\"L1\": {\"sets\": 0}}"),
            "t.json:1: L1: sets is no count; give a whole number of at least 1");
  const std::string geometry = "\"sets\": 64, \"ways\": 8, \"cl_size\": 64";
  EXPECT_EQ(error("{\"L1\": {" + geometry + ", \"load_from\": \"L2\"},\n\"L2\": {" + geometry +
                  ", \"load_from\": \"L1\"}}"),
            "t.json:1: no first level; leave one cache that none refers to");
  EXPECT_EQ(error("{\"L1\": {" + geometry + "},\n\"L2\": {" + geometry + "}}"),
            "t.json:2: L1 and L2 are both a first level; refer to each but one by load_from and "
            "store_to");
  EXPECT_EQ(error("{\"L1\": {" + geometry + ", \"write_back\": 1}}"),
            "t.json:1: L1: write_back is neither true nor false; write true or false");
}

TEST(ImportDinero, Options_set_levels_and_the_rest_is_listed) {
  const Imported i = import_corpus("dinero_fuzz/two-levels");
  EXPECT_EQ(caches(i.machine),
            (Rows{{"L1", 32768, 8, 64, 1, neither}, {"L2", 262144, 4, 64, 1, neither}}));
  EXPECT_EQ(i.machine.levels[1].replacement.value, Replacement::fifo);
  EXPECT_EQ(i.machine.levels[1].prefetch, Prefetch::next_line);
  EXPECT_EQ(i.ignored,
            (std::vector<std::string>{"-l1-isize", "-l1-ibsize", "-l2-uccc", "-informat"}));
  // Dinero's defaults.
  const Machine plain =
      import_machine(ImportFormat::dinero, "-l1-usize 1m -l1-ubsize 32", "t").machine;
  EXPECT_EQ(plain.levels[0].ways.value, 1);
  EXPECT_EQ(plain.levels[0].capacity.value, Bytes(1048576));
}

TEST(ImportDinero, Faults_are_one_line_with_the_place) {
  const auto error = [](const std::string& text) {
    return error_of([&] { import_machine(ImportFormat::dinero, text, "t"); });
  };
  EXPECT_EQ(error("-l1-dsize 32q"), "t:1: -l1-dsize '32q' is no size; write one such as 32k");
  EXPECT_EQ(error("-l1-dbsize 64 \\\n -l1-dsize"),
            "t:2: '-l1-dsize' has no value; write the value behind it");
  EXPECT_EQ(error("-l1-dsize 32k"),
            "t:1: level 1 lacks size or block size; add -l1-dsize and "
            "-l1-dbsize");
  EXPECT_EQ(error("-l1-dsize 32k -l1-dbsize 64 -l1-drepl x"),
            "t:1: -l1-drepl 'x' is nothing that a machine can say; known are l, f, r");
  EXPECT_EQ(error("hello"), "t: no data cache in it; give a file that describes one");
}

TEST(Import, Text_that_is_no_UTF_8_is_shown_and_can_be_written) {
  const std::string csv =
      "STRUCT,Info,3\nCPU name:,a\xff\xc3\xa9 \xed\xa0\x80\xf0\x9f\x98\x80\xc3,\n"
      "STRUCT,Cache Topology L1,3\nLevel:,1,\nSize:,32 kB,\n";
  const Machine m = import_machine(ImportFormat::likwid, csv, "t.csv").machine;
  // \xff is never UTF-8, \xed\xa0\x80 a surrogate, the last \xc3 cut short.
  EXPECT_EQ(m.description, "a\\xff\xc3\xa9 \\xed\\xa0\\x80\xf0\x9f\x98\x80\\xc3");
  EXPECT_EQ(parse_machine(to_toml(m), "t"), m);
}

TEST(Recognise, Each_format_is_told_by_its_text) {
  const std::vector<std::pair<std::string, ImportFormat>> texts{
      {"<?xml version=\"1.0\"?>\n<topology version=\"2.0\">", ImportFormat::hwloc},
      {"STRUCT,Info,3\n", ImportFormat::likwid},
      {"# comment\nkerncraft version: 0.8\n", ImportFormat::kerncraft},
      {" {\"L1\": {}}", ImportFormat::pycachesim},
      {"dineroIV -l1-dsize 32k", ImportFormat::dinero}};
  for (const auto& [text, format] : texts) EXPECT_EQ(recognise(text), format) << text;
  EXPECT_FALSE(recognise("schema = 1\n"));
  EXPECT_THROW(import_machine_file(corpus("machine_fuzz/i7-6700k.toml")), UsageError);
}

}  // namespace
}  // namespace tcsim
