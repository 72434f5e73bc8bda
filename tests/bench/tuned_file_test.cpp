// The file of tuned schedules, and several processes that write it.
#include "bench/tuned_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/workload/parse.hpp"
#include "tests/processes.hpp"
#include "tests/scratch.hpp"

namespace tcsim::bench {
namespace {

namespace fs = std::filesystem;

Tuned entry(int size) {
  const Contraction c =
      parse_contraction("ij-ik-kj", parse_sizes("i=" + std::to_string(size) + ",j=8,k=8"),
                        Layout::row_major, ElementType::f64);
  Tuned t;
  t.key = tuned_key_here(c, 1);
  t.schedule = "kernel 1x1";
  t.measured = t.predicted = FlopsPerSecond(1e9);
  t.of_peak = 0.5;
  t.date = "2026-11-22";
  return t;
}

class TunedFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::scratch("tuned");
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path file() const { return folder_ / "cache" / "tuned.toml"; }
  void add(int size) const {
    EXPECT_TRUE(change_tuned(file(), [&](TunedSchedules& all) { all.add(entry(size), {}); }));
  }

  fs::path folder_;
};

TEST_F(TunedFile, Is_made_with_its_folder_and_grows) {
  EXPECT_TRUE(load_tuned(file()).all().empty());
  add(1);
  add(2);
  const TunedSchedules all = load_tuned(file());
  ASSERT_EQ(all.all().size(), 2u);
  EXPECT_EQ(all.all()[1], entry(2));
}

TEST_F(TunedFile, Processes_that_write_at_the_same_time_lose_nothing) {
  constexpr int writers = 4, entries = 25;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < entries; ++i) add(1 + w * entries + i);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) test::reap(child);
  const TunedSchedules all = load_tuned(file());
  EXPECT_EQ(all.all().size(), std::size_t{writers} * entries);
  for (int i = 1; i <= writers * entries; ++i) EXPECT_NE(all.find(entry(i).key), nullptr) << i;
}

TEST_F(TunedFile, A_damaged_one_is_named_and_not_written_over) {
  add(1);
  std::ofstream(file(), std::ios::app) << "\n[[tuned]\n";
  EXPECT_THROW(load_tuned(file()), InputError);
  EXPECT_THROW(change_tuned(file(), [](TunedSchedules&) {}), InputError);
  EXPECT_TRUE(forget_all_tuned(file()));
  EXPECT_FALSE(forget_all_tuned(file()));
  EXPECT_TRUE(load_tuned(file()).all().empty());
}

TEST_F(TunedFile, Without_a_folder_nothing_is_kept) {
  EXPECT_FALSE(change_tuned({}, [](TunedSchedules&) {}));
  EXPECT_FALSE(change_tuned("/proc/no/tuned.toml", [](TunedSchedules&) {}));
  EXPECT_TRUE(load_tuned({}).all().empty());
  EXPECT_FALSE(forget_all_tuned({}));
}

}  // namespace
}  // namespace tcsim::bench
