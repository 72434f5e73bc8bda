// What a process may have where its machine, or its container, has little.
#include "core/io/available_memory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "core/error.hpp"
#include "tests/scratch.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

class Available_memory : public testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal: 100 kB\nMemFree:  1 kB\nMemAvailable:    80 kB\n");
    write("proc/self/cgroup", "4:memory:/other\n0::/a/b\n");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::int64_t available() const {
    return available_memory(folder_ / "proc", folder_ / "groups").value();
  }
  const fs::path folder_ = test::scratch("available_memory");
};

TEST_F(Available_memory, Is_what_the_kernel_says) { EXPECT_EQ(available(), 80 * 1024); }

TEST_F(Available_memory, Is_what_the_narrowest_group_leaves) {
  write("groups/a/memory.max", "50000\n");
  write("groups/a/memory.current", "20000\n");
  EXPECT_EQ(available(), 30000);
  write("groups/a/b/memory.max", "max\n");
  write("groups/a/b/memory.current", "20000\n");
  EXPECT_EQ(available(), 30000);
  write("groups/a/b/memory.max", "25000\n");
  EXPECT_EQ(available(), 5000);
  // Files that were read and can be read again.
  write("groups/a/b/memory.stat", "anon 1\ninactive_file 1500\n");
  EXPECT_EQ(available(), 6500);
  write("groups/a/b/memory.current", "90000\n");
  write("groups/a/b/memory.stat", "");
  EXPECT_EQ(available(), 0);
}

TEST_F(Available_memory, Is_unlimited_where_nothing_says_how_much) {
  fs::remove_all(folder_);
  EXPECT_EQ(available(), std::numeric_limits<std::int64_t>::max());
}

TEST_F(Available_memory, What_is_needed_is_compared_before_it_is_asked_for) {
  EXPECT_NO_THROW(require_available(1000, "x", "its tables", "use less"));
  try {
    require_available(0x1p61, "x", "its tables", "use less", "A 1, B 2");
    FAIL();
  } catch (const UnsupportedError& e) {
    const std::string text = e.what();
    EXPECT_TRUE(text.starts_with("x: its tables need 2.306 EB (A 1, B 2), this machine has "))
        << text;
    EXPECT_TRUE(text.ends_with(" available; use less")) << text;
  }
}

}  // namespace
}  // namespace tcsim
