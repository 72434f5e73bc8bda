// Sweeps on a system that fails: each call once, and for good; a power cut at each sync. Afterwards
// the sweep goes on and has the same bytes.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <new>

#include "core/error.hpp"
#include "sweep/store.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"
#include "tests/seed.hpp"
#include "tests/sweep/failing/system.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::Failure;

Study few_chains() {
  return study_of(
      "schema = 1\nname = \"few\"\nmachines = [\"i7-6700k\"]\ncompute = \"predict\"\n"
      "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=32,j=24,k=16\"\n"
      "[[knob]]\nname = \"L3.capacity\"\nvalues = [\"4MiB\", \"8MiB\", \"16MiB\"]\n"
      "[[knob]]\nname = \"memory.bandwidth\"\nvalues = [\"0.5x\", \"2x\"]\n");
}

SweepOptions into(const fs::path& folder, bool resume, int threads = 1) {
  SweepOptions o;
  o.folder = folder;
  o.version = "test";
  o.resume = resume;
  o.threads = threads;
  o.keep_every = 0;  // every chain is committed
  return o;
}

std::map<std::string, std::string> results_in(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const char* name :
       {"results.csv", "results.jsonl", "results.sqlite", "schedules.csv", "report.html"}) {
    all[name] = file_text(folder / name);
  }
  return all;
}

class Failing_system : public testing::Test {
 protected:
  void SetUp() override {
    const Folder whole("whole");
    ASSERT_TRUE(sweep(study_, into(whole.path(), false)).complete);
    expected_ = results_in(whole.path());
    ASSERT_GT(expected_.at("results.csv").size(), 500u);
  }

  // What a sweep says, "" where it is complete. Another exception fails the test.
  std::string said(bool resume) const {
    try {
      return sweep(study_, into(folder_.path(), resume, threads_)).complete ? "" : "stopped";
    } catch (const Error& e) {
      return e.what();
    } catch (const std::bad_alloc&) {
      return "no memory";
    }
  }

  // As it would be without that failure.
  std::string with(const Failure& failure) {
    fs::remove_all(folder_.path());
    test::begin_failing(folder_.path(), failure);
    std::string told = said(false);
    counts_ = test::end_failing();
    return told;
  }
  std::int64_t count(Call call) const { return counts_[static_cast<std::size_t>(call)]; }

  void expect_goes_on(const std::string& what) const {
    EXPECT_EQ(said(true), "") << what;
    EXPECT_TRUE(results_in(folder_.path()) == expected_) << what << ": other results";
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(folder_.path())) {
      names.push_back(e.path().filename().string());
    }
    EXPECT_EQ(names.size(), 6u) << what << ": " << fmt::format("{}", fmt::join(names, " "));
  }

  // Every call of that kind fails, one after the other. Most are told, with those words; nobody
  // needs what the others did, such as what the store does when it is closed for the last time.
  void expect_all_told(Call call, int error, bool half, bool for_good, const std::string& words) {
    EXPECT_EQ(with({}), "");
    const std::int64_t all = count(call);
    EXPECT_GT(all, 0) << to_text(call);
    std::int64_t told_of = 0;
    for (std::int64_t n = 0; n < all; ++n) {
      const std::string what =
          fmt::format("{} {} of {}, errno {}{}{}", to_text(call), n, all, error,
                      half ? ", half" : "", for_good ? ", for good" : "");
      const std::string told = with({call, n, error, half, for_good});
      EXPECT_TRUE(told.empty() || told.find(words) != told.npos) << what << ": " << told;
      told_of += told.empty() ? 0 : 1;
      expect_goes_on(what + ": " + told);
      if (HasFailure()) return;
    }
    // A write that is short once is gone on with.
    if (!half || for_good) {
      EXPECT_GT(told_of, 0) << to_text(call);
    }
  }

  const Study study_ = few_chains();
  const Folder folder_{"failing"};
  std::map<std::string, std::string> expected_;
  std::vector<std::int64_t> counts_;
  int threads_ = 1;
};

TEST_F(Failing_system, A_full_disk_is_told_as_a_full_disk_and_loses_nothing) {
  for (const bool half : {false, true}) {
    expect_all_told(Call::write, ENOSPC, half, true, "make room");
  }
}

TEST_F(Failing_system, A_file_that_may_not_grow_is_told) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit some{1 << 30, before.rlim_max};  // beyond all that is written here
  setrlimit(RLIMIT_FSIZE, &some);
  expect_all_told(Call::write, EFBIG, false, true, "allow larger files (ulimit -f)");
  setrlimit(RLIMIT_FSIZE, &before);
}

TEST_F(Failing_system, Every_write_that_fails_is_told_and_loses_nothing) {
  expect_all_told(Call::write, EIO, false, false, "");
  expect_all_told(Call::write, EIO, true, false, "");
}

TEST_F(Failing_system, Every_sync_that_fails_is_told_and_loses_nothing) {
  expect_all_told(Call::sync, EIO, false, false, "");
}

TEST_F(Failing_system, Every_change_of_a_name_or_a_size_that_fails_loses_nothing) {
  for (const Call call : {Call::open, Call::rename, Call::remove}) {
    expect_all_told(call, EACCES, false, false, "");
    expect_all_told(call, EACCES, false, true, "");
  }
}

// Whatever asked for it: the sweep says so, goes on without, or is ended.
TEST_F(Failing_system, Memory_that_is_not_there_loses_nothing) {
#ifdef TCSIM_SANITIZED
  GTEST_SKIP() << "sanitizers give memory by themselves";
#endif
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  EXPECT_EQ(with({}), "");
  const auto all = static_cast<std::uint64_t>(count(Call::memory));
  EXPECT_GT(all, 1000u);
  int told = 0;
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const auto n = static_cast<std::int64_t>(random() % all);
    const std::string what = fmt::format("allocation {} of {}", n, all);
    // In a process of its own: some libraries end one that has no memory where they may not throw.
    const pid_t child = fork();
    if (child == 0) {
      dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
      _exit(with({Call::memory, n, ENOMEM, false, false}).empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool ended = WIFEXITED(status);
    EXPECT_TRUE(ended || WTERMSIG(status) == SIGABRT) << what << ": signal " << WTERMSIG(status);
    told += ended && WEXITSTATUS(status) == 1 ? 1 : 0;
    expect_goes_on(what);
  }
  EXPECT_GT(told, 0);
}

TEST_F(Failing_system, Threads_that_are_not_there_lose_nothing) {
#ifdef TCSIM_SANITIZED
  GTEST_SKIP() << "sanitizers start threads by themselves";
#endif
  threads_ = 3;
  EXPECT_EQ(with({}), "");
  const std::int64_t all = count(Call::thread);
  EXPECT_GT(all, 0);
  for (std::int64_t n = 0; n < all; ++n) {
    EXPECT_EQ(with({Call::thread, n, EAGAIN, false, false}), "");
    expect_goes_on(fmt::format("thread {}", n));
  }
}

TEST_F(Failing_system, A_power_cut_at_any_moment_loses_no_result) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  fs::create_directories(folder_.path());
  test::begin_recording(folder_.path(), seed);
  EXPECT_EQ(said(false), "");
  const std::vector<test::PowerCut> cuts = test::end_recording();
  EXPECT_GT(cuts.size(), 20u);
  int whole = 0, refused = 0;
  for (const test::PowerCut& cut : cuts) {
    fs::remove_all(folder_.path());
    fs::create_directories(folder_.path());
    for (const auto& [name, bytes] : cut.files) {
      std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    }
    const std::string told = said(true);
    if (told.empty()) {
      EXPECT_TRUE(results_in(folder_.path()) == expected_) << cut.where << ": other results";
      ++whole;
    } else {
      // Where a disk mixes times, what it has may be no store at all.
      EXPECT_FALSE(cut.exact) << cut.where << ": " << told;
      EXPECT_NE(told.find("; "), told.npos) << "nothing that mends it: " << told;
      ++refused;
    }
    if (HasFailure()) return;
  }
  std::cout << cuts.size() << " power cuts: " << whole << " went on, " << refused << " refused\n";
}

// What a commit that was told as failed kept nevertheless is computed and written again.
TEST_F(Failing_system, Points_that_are_written_twice_must_be_the_same) {
  fs::create_directories(folder_.path());
  Store store(folder_.path() / "store.sqlite", {{"name", "x"}});
  ChainResult chain;
  PointResult& p = chain.points.emplace_back();
  p.schedule = "some";
  p.link_bytes = {1, 2};
  store.add(chain);
  store.commit();
  store.add(chain);
  store.commit();
  EXPECT_EQ(store.points(), 1);
  p.link_bytes = {1, 3};
  try {
    store.add(chain);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("point 0 is there with other figures"), std::string::npos);
  }
  EXPECT_EQ(store.points(), 1);
}

}  // namespace
}  // namespace tcsim
