// Memory is a contract: what a run of a chain takes, counted by the program's own malloc() and
// mmap(), is what was predicted, and never more than it may.
#include <gtest/gtest.h>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "chains/plan_chain.hpp"
#include "core/error.hpp"
#include "core/units/text.hpp"
#include "kernels/contract.hpp"
#include "kernels/generated_kernels.hpp"
#include "tests/chains/counted_memory.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/scratch.hpp"

namespace tcsim::chains {
namespace {

namespace fs = std::filesystem;
using fusion::Buffering;
using fusion::OperationTree;

struct Taken {
  RunMemory predicted;
  std::int64_t taken = 0;
};

Taken taken_by(const OperationTree& tree, const fusion::FusedNode& node, const Machine& machine,
               const ChainRunOptions& options) {
  const std::int64_t before = test::memory_now();
  test::watch_memory();
  const ChainRun ran = run_chain(tree, node, machine, options);
  EXPECT_EQ(ran.moved, fusion::traffic(tree, node, options.buffering));
  return {ran.memory, test::most_memory() - before};
}

class RunMemories : public ::testing::TestWithParam<Buffering> {
 protected:
  RunMemories() { fs::create_directory(folder_); }
  ~RunMemories() override { fs::remove_all(folder_); }

  ChainPlan planned(Bytes memory, bool cold = false) const {
    ChainPlanOptions plan;
    plan.cold = cold;
    plan.limits.memory = memory;
    plan.limits.buffering = GetParam();
    return plan_chain(tree_, machine_, plan);
  }
  ChainRunOptions options(Bytes memory) const {
    ChainRunOptions o;
    o.folder = folder_;
    o.fill = o.force = true;
    o.memory = memory;
    o.buffering = GetParam();
    return o;
  }

  const OperationTree tree_ = fusion::four_index(32, 30);
  const Machine machine_ = assumed_machine();
  const fs::path folder_ = test::scratch("memory");
};

TEST_P(RunMemories, Are_as_predicted_and_within_the_limit) {
  for (const bool cold : {false, true}) {
    SCOPED_TRACE(cold);
    const Bytes limit(std::int64_t{20} << 20);
    const ChainPlan plan = planned(limit, cold);
    ChainRunOptions how = options(limit);
    how.cold = cold;
    for (const auto& [program, figures] :
         {std::pair{&plan.fusion.chosen, &plan.chosen}, {&plan.fusion.unfused, &plan.unfused}}) {
      const Taken run = taken_by(tree_, program->node, machine_, how);
      EXPECT_LE(run.predicted.all(),
                figures->memory.all());  // of files that are there it knows the chunks
      EXPECT_LE(figures->memory.all(), limit);
      EXPECT_LE(run.taken, run.predicted.all().value());
      // What the executor, HDF5 and the C library do not take of what they may.
      EXPECT_GE(run.taken,
                run.predicted.all().value() - (std::int64_t{2} << 20) - generated_kernels_memory());
    }
  }
}

// Where larger tiles and what they pack do not fit by a little, they do not become as small as they
// can be: that would be hundreds of millions of transfers.
TEST_P(RunMemories, Leave_tiles_what_is_left) {
  const auto reads = [&](const ChainPlan& plan) { return plan.fusion.chosen.traffic.sum().reads; };
  ChainPlanOptions least;
  least.limits.buffering = GetParam();
  least.limits.memory = fusion::least_memory(tree_, GetParam());
  const ChainPlan smallest = plan_tiles(tree_, machine_, least);
  EXPECT_LT(1000 * reads(planned(Bytes(std::int64_t{16} << 20), true)), reads(smallest));
}

// Whose chunks are as large as a run with more memory made them.
TEST_P(RunMemories, Do_with_files_of_larger_chunks) {
  const OperationTree tree = fusion::pair_of(900);
  ChainPlanOptions plan;
  plan.limits.buffering = GetParam();
  plan.limits.memory = Bytes(std::int64_t{64} << 20);
  run_chain(tree, plan_chain(tree, machine_, plan).fusion.chosen.node, machine_,
            options(plan.limits.memory));
  plan.limits.memory = Bytes(std::int64_t{16} << 20);
  const ChainPlan little = plan_chain(tree, machine_, plan);
  const ChainRun ran =
      run_chain(tree, little.fusion.chosen.node, machine_, options(plan.limits.memory));
  EXPECT_LE(ran.memory.all(), little.chosen.memory.all());
}

// A child that may not have more address space than it has and the limit says.
TEST_P(RunMemories, Need_no_more_than_the_system_was_told) {
  const Bytes limit(std::int64_t{20} << 20);
  const ChainPlan plan = planned(limit);
  run_chain(tree_, plan.fusion.chosen.node, machine_, options(limit));  // makes the inputs
  // Of a thread for reading and one for writing.
  const std::int64_t stacks = GetParam() == Buffering::twofold ? std::int64_t{2} * (8 << 20) : 0;
  const auto exit_code = [&](std::int64_t most_more) {
    const pid_t child = fork();
    if (child == 0) {
      mallopt(M_ARENA_MAX, 1);
      malloc_trim(0);
      std::int64_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      const auto most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + most_more);
      const rlimit address_space{most, most};
      setrlimit(RLIMIT_AS, &address_space);
      try {
        run_chain(tree_, plan.fusion.chosen.node, machine_, options(limit));
        _exit(0);
      } catch (const UnsupportedError&) {
        _exit(1);
      } catch (...) {
        _exit(2);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(exit_code(limit.value() + stacks), 0);
  EXPECT_EQ(exit_code(plan.chosen.memory.tiles.value() / 2), 1);  // a clear refusal
}

TEST_P(RunMemories, That_are_refused_say_what_would_do) {
  try {
    planned(Bytes(std::int64_t{2} << 20));
    FAIL() << "nothing was thrown";
  } catch (const UnsupportedError& e) {
    const std::string what = e.what();
    const std::string before = "give at least ";
    const std::size_t begin = what.find(before);
    ASSERT_NE(begin, std::string::npos) << what;
    const std::string least =
        what.substr(begin + before.size(), what.find(',', begin) - begin - before.size());
    EXPECT_LE(planned(parse_bytes(least)).chosen.memory.all(), parse_bytes(least)) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Buffers, RunMemories,
                         ::testing::Values(Buffering::single, Buffering::twofold));

}  // namespace
}  // namespace tcsim::chains
