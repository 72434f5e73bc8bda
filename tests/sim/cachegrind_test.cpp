// A real compiled program under valgrind's cachegrind, and the accesses that valgrind's lackey saw
// of it through tcsim's caches. Skipped where valgrind is not installed.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/simulate_trace.hpp"
#include "sim/system.hpp"
#include "sim/trace/trace.hpp"
#include "tests/scratch.hpp"

namespace tcsim::sim {
namespace {

struct Counts {
  std::int64_t refs = 0, misses = 0, last_misses = 0;
  bool operator==(const Counts&) const = default;
};
struct Report {
  Counts instructions, reads, writes;
};

LevelConfig level(const char* name, std::int64_t bytes, std::int64_t ways) {
  LevelConfig l;
  l.name = name;
  l.ways = ways;
  l.sets = bytes / (64 * ways);
  return l;
}
constexpr const char* shapes = "--I1=4096,2,64 --D1=4096,4,64 --LL=32768,8,64";

class Cachegrind : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::system("valgrind --version > /dev/null 2>&1") != 0) return;
    folder_ = test::scratch("cachegrind");
    std::filesystem::create_directory(folder_);
    // Without an environment both tools give the program the same stack.
    const std::string program = CACHEGRIND_PROGRAM, valgrind = "env -i valgrind --tool=";
    const std::string quiet = " > /dev/null 2>&1";
    ran_ = std::system((valgrind + "cachegrind --cachegrind-out-file=" + file("out") + " " +
                        shapes + " " + program + quiet)
                           .c_str()) == 0 &&
           std::system((valgrind + "lackey --trace-mem=yes --log-file=" + file("trace") + " " +
                        program + quiet)
                           .c_str()) == 0;
  }
  static void TearDownTestSuite() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  void SetUp() override {
    if (!ran_) GTEST_SKIP() << "valgrind with cachegrind and lackey is not there";
  }
  static std::string file(const char* name) { return (folder_ / name).string(); }

  // "summary: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw"
  static Report reported() {
    std::ifstream in(file("out"));
    Report r;
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("summary:")) continue;
      std::istringstream numbers(line.substr(8));
      for (Counts* c : {&r.instructions, &r.reads, &r.writes}) {
        numbers >> c->refs >> c->misses >> c->last_misses;
      }
    }
    return r;
  }

 private:
  static inline std::filesystem::path folder_;
  static inline bool ran_ = false;
};

// Cachegrind's own rules (its manual, 5.1 and 5.7): a reference counts one miss however many lines
// it touches; one that misses in I1 or D1 goes to LL whole; writes are treated as reads, and
// nothing is written back; a modify is one read.
TEST_F(Cachegrind, Counts_the_same_misses_in_both_levels) {
  System<> i1({"t", {level("I1", 4096, 2)}}, {0}), d1({"t", {level("D1", 4096, 4)}}, {0});
  System<> ll({"t", {level("LL", 32768, 8)}}, {0});
  const auto misses = [](System<>& system, const TraceRecord& r) {
    const std::int64_t before = system.events(0, 0).misses;
    system.access(0, r.address, r.bytes, false);
    return system.events(0, 0).misses > before;
  };
  Report ours;
  const auto trace = open_trace(file("trace"));
  for (TraceRecord r; trace->next(r);) {
    const bool code = r.kind == AccessKind::instruction;
    Counts& counts = code                          ? ours.instructions
                     : r.kind == AccessKind::write ? ours.writes
                                                   : ours.reads;
    ++counts.refs;
    if (!misses(code ? i1 : d1, r)) continue;
    ++counts.misses;
    counts.last_misses += misses(ll, r);
  }
  const Report theirs = reported();
  EXPECT_GT(theirs.reads.misses, 1000);
  EXPECT_GT(theirs.reads.refs, 200000);
  EXPECT_EQ(ours.instructions, theirs.instructions);
  EXPECT_EQ(ours.reads, theirs.reads);
  EXPECT_EQ(ours.writes, theirs.writes);
}

// Line by line, as tcsim counts, there are as many misses but for references that lie in two lines
// and miss both.
TEST_F(Cachegrind, Is_what_a_simulated_trace_gives_line_by_line) {
  SystemConfig config{"t", {level("D1", 4096, 4), level("LL", 32768, 8)}};
  std::vector<std::unique_ptr<TraceReader>> traces;
  traces.push_back(open_trace(file("trace")));
  const TraceSimulation s = simulate(traces, config);
  std::int64_t in_two_lines = 0;
  const auto trace = open_trace(file("trace"));
  for (TraceRecord r; trace->next(r);) {
    in_two_lines +=
        r.kind != AccessKind::instruction && r.address / 64 != (r.address + r.bytes - 1) / 64;
  }
  const Report theirs = reported();
  const std::int64_t misses = theirs.reads.misses + theirs.writes.misses;
  EXPECT_GE(s.levels[0].misses.value(), misses);
  EXPECT_LE(s.levels[0].misses.value(), misses + in_two_lines);
}

}  // namespace
}  // namespace tcsim::sim
