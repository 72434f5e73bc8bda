// The kernel's cache files, made up in a folder.
#include "microbench/geometry.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "core/error.hpp"
#include "tests/scratch.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

class Geometry : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::scratch("geometry");
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void add(const std::string& index, const std::map<std::string, std::string>& files) const {
    fs::create_directories(folder_ / index);
    for (const auto& [name, text] : files) std::ofstream(folder_ / index / name) << text << "\n";
  }
  fs::path folder_;
};

TEST_F(Geometry, Data_and_unified_caches_are_listed_innermost_first) {
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
  add("index1", {{"type", "Instruction"},
                 {"level", "1"},
                 {"size", "32K"},
                 {"ways_of_associativity", "8"},
                 {"coherency_line_size", "64"},
                 {"number_of_sets", "64"},
                 {"shared_cpu_list", "0,28"}});
  add("index2", {{"type", "Unified"},
                 {"level", "2"},
                 {"size", "256K"},
                 {"ways_of_associativity", "8"},
                 {"coherency_line_size", "64"},
                 {"number_of_sets", "512"},
                 {"shared_cpu_list", "0,28"}});
  add("power", {{"type", "Data"}, {"level", "9"}, {"size", "1K"}});
  // Two hardware threads a core: 28 of them at L3 are 14 cores.
  EXPECT_EQ(read_geometry(folder_),
            (std::vector<CacheGeometry>{{1, Bytes(32768), 8, Bytes(64), 1, {}, ""},
                                        {2, Bytes(262144), 8, Bytes(64), 1, {}, ""},
                                        {3, Bytes(36700160), 20, Bytes(64), 14, {}, ""}}));
}

TEST_F(Geometry, What_the_kernel_hides_is_assumed_and_noted) {
  // 32 KiB in 128 sets of 64 B lines is 4 ways.
  add("index0", {{"type", "Data"}, {"level", "1"}, {"size", "32K"}, {"number_of_sets", "128"}});
  // Nothing but the size: 8 ways of 64 B lines.
  add("index1", {{"type", "Unified"}, {"level", "2"}, {"size", "256K"}});
  // 1000 KiB / (7 x 64) = 2285.7 sets, rounded down to 2285 x 448 B.
  add("index2", {{"type", "Unified"},
                 {"level", "3"},
                 {"size", "1000K"},
                 {"ways_of_associativity", "7"},
                 {"coherency_line_size", "64"}});
  EXPECT_EQ(read_geometry(folder_),
            (std::vector<CacheGeometry>{
                {1, Bytes(32768), 4, Bytes(64), 1, {}, "line assumed, ways assumed"},
                {2, Bytes(262144), 8, Bytes(64), 1, {}, "line assumed, ways assumed"},
                {3, Bytes(1023680), 7, Bytes(64), 1, {}, "capacity rounded to whole sets"}}));
}

TEST_F(Geometry, A_processor_without_cache_files_is_unsupported) {
  EXPECT_THROW(read_geometry(folder_), UnsupportedError);
  EXPECT_THROW(read_geometry(folder_ / "none"), UnsupportedError);
  add("index0", {{"type", "Data"}, {"level", "1"}, {"size", "huge"}});
  EXPECT_THROW(read_geometry(folder_), UnsupportedError);
}

TEST(CpuList, Ranges_and_single_processors_are_listed) {
  EXPECT_EQ(parse_cpu_list("0"), (std::vector<int>{0}));
  EXPECT_EQ(parse_cpu_list("0-3"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(parse_cpu_list("0-1,4,8-11"), (std::vector<int>{0, 1, 4, 8, 9, 10, 11}));
  for (const char* none : {"", "x", "3-1", ",", "-3", "0-9999999999", "0-65535,0"}) {
    EXPECT_EQ(parse_cpu_list(none), std::vector<int>()) << none;
  }
}

TEST(ProcessorName, It_is_the_first_model_name) {
  EXPECT_EQ(processor_name("processor\t: 0\nmodel\t\t: 79\nmodel name\t: Intel(R) Xeon(R) \n"
                           "model name\t: other\n"),
            "Intel(R) Xeon(R)");
  EXPECT_EQ(processor_name("CPU part : 0xd0c\n"), "unknown processor");
  EXPECT_EQ(processor_name(""), "unknown processor");
}

}  // namespace
}  // namespace tcsim
