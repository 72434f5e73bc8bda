// The kept machine file: where it is, when it counts, and what happens to a damaged one.
#include "microbench/keep.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "core/machine/toml.hpp"
#include "microbench/host.hpp"
#include "tests/environment.hpp"
#include "tests/scratch.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

Machine small(const std::string& description) {
  return parse_machine(
      "schema = 1\nname = \"host\"\ndescription = \"" + description +
          "\"\n[core]\nfrequency = \"2GHz\"\nvector_bits = 256\nvector_registers = 16\n"
          "fma_per_cycle = 2\nfma_latency = 4\n"
          "[[level]]\nname = \"L1\"\ncapacity = \"32KiB\"\nways = 8\nline = \"64B\"\n"
          "bandwidth = \"20GB/s\"\n"
          "[[level]]\nname = \"memory\"\nkind = \"memory\"\nbandwidth = \"4GB/s\"\n",
      "small");
}

class Keep : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::scratch("keep");
    file_ = folder_ / "deep" / "host.toml";
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The machine that comes back where "this" processor is asked for; counts the probes.
  Machine get() {
    return kept_or_probed(
        file_, [](const Machine& m) { return m.description == "this"; },
        [this] {
          ++probes_;
          return small("this");
        });
  }
  void damage(const std::string& text) const {
    fs::create_directories(file_.parent_path());
    std::ofstream(file_) << text;
  }

  fs::path folder_, file_;
  int probes_ = 0;
};

TEST_F(Keep, The_first_use_probes_and_the_second_reads) {
  EXPECT_EQ(get(), small("this"));
  EXPECT_EQ(probes_, 1);
  EXPECT_EQ(load_machine(file_), small("this"));
  EXPECT_EQ(get(), small("this"));
  EXPECT_EQ(probes_, 1);
}

TEST_F(Keep, No_partial_file_is_left_beside_the_kept_one) {
  ASSERT_TRUE(keep(small("this"), file_));
  EXPECT_EQ(std::distance(fs::directory_iterator(file_.parent_path()), fs::directory_iterator()),
            1);
}

TEST_F(Keep, A_damaged_or_outdated_file_is_probed_anew_and_mended) {
  const std::string good = to_toml(small("this"));
  for (const std::string& bad : {std::string(), std::string("\x01\x02"),
                                 good.substr(0, good.size() / 2), std::string("schema = 99\n")}) {
    damage(bad);
    const int before = probes_;
    EXPECT_EQ(get(), small("this")) << bad;
    EXPECT_EQ(probes_, before + 1) << bad;
    EXPECT_EQ(load_machine(file_), small("this")) << bad;
  }
}

TEST_F(Keep, Another_processors_file_is_probed_anew) {
  damage(to_toml(small("other")));
  EXPECT_EQ(get().description, "this");
  EXPECT_EQ(probes_, 1);
}

TEST_F(Keep, A_folder_that_cannot_be_written_keeps_nothing) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "deep") << "a file in the folder's place";
  EXPECT_FALSE(keep(small("this"), file_));
  EXPECT_EQ(get().description, "this");
  EXPECT_FALSE(keep(small("this"), ""));
  // A folder in the file's place: the partial file goes away.
  fs::remove(folder_ / "deep");
  fs::create_directories(file_);
  EXPECT_FALSE(keep(small("this"), file_));
  EXPECT_EQ(std::distance(fs::directory_iterator(file_.parent_path()), fs::directory_iterator()),
            1);
}

TEST(HostFile, It_follows_the_xdg_base_directories) {
  const test::Variable home("HOME", "/home/me");
  {
    const test::Variable xdg("XDG_CACHE_HOME", "/var/cache/me");
    EXPECT_EQ(host_file(), "/var/cache/me/tcsim/host.toml");
  }
  {
    const test::Variable xdg("XDG_CACHE_HOME", nullptr);
    EXPECT_EQ(host_file(), "/home/me/.cache/tcsim/host.toml");
  }
  for (const char* ignored : {"", "relative"}) {  // the specification: absolute or ignored
    const test::Variable xdg("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(host_file(), "/home/me/.cache/tcsim/host.toml") << ignored;
  }
  const test::Variable xdg("XDG_CACHE_HOME", nullptr);
  {
    const test::Variable limit("TCSIM_ISA", "avx2");  // another machine, as it were
    EXPECT_EQ(host_file(), "/home/me/.cache/tcsim/avx2/host.toml");
  }
  const test::Variable no_home("HOME", nullptr);
  EXPECT_TRUE(host_file().empty());
}

}  // namespace
}  // namespace tcsim
