// Chains on disk: right results, what moves and what memory takes as predicted, and what happens
// when runs are killed, files are wrong or there already.
#include "chains/run_chain.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <sstream>

#include "chains/tensor_files.hpp"
#include "core/error.hpp"
#include "core/fusion/fuse.hpp"
#include "kernels/contract.hpp"
#include "tests/core/fusion/any_schedule.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/scratch.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

namespace fs = std::filesystem;
using fusion::Buffering;
using fusion::FusedNode;
using fusion::OperationTree;

// A folder that is empty at first, and gone at the end.
class ChainRuns : public ::testing::Test {
 protected:
  ChainRuns() { fs::create_directory(folder_); }
  ~ChainRuns() override { fs::remove_all(folder_); }

  ChainRunOptions options() const {
    ChainRunOptions o;
    o.folder = folder_;
    o.fill = true;
    return o;
  }
  static FusedNode planned(const OperationTree& tree, std::int64_t memory,
                           Buffering buffering = Buffering::single) {
    return fusion::chosen_program(tree, {{Bytes(memory), buffering, {}}, {}}).node;
  }
  static FusedNode unfused(const OperationTree& tree, std::int64_t memory) {
    return fusion::unfused_program(tree, {Bytes(memory), Buffering::single, {}}).node;
  }
  std::string bytes_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  template <class E, class F>
  static std::string refusal(F&& f) {
    try {
      f();
    } catch (const E& e) {
      return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }

  const Machine machine_ = assumed_machine();
  const fs::path folder_ = test::scratch("chain");
};

TEST_F(ChainRuns, Of_random_chains_are_right_and_as_predicted) {
  std::mt19937_64 random(test::new_seed());
  for (int trial = 0; trial < 12; ++trial) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    Program program = fusion::random_chain_program(random, 2 + trial % 3, 7);
    if (trial % 3 == 0) program = with_type(program, ElementType::f32);
    const OperationTree tree = fusion::operation_tree(program);
    ChainRunOptions o = options();
    o.buffering = trial % 2 == 0 ? Buffering::single : Buffering::twofold;
    const FusedNode node =
        planned(tree, std::uniform_int_distribution<std::int64_t>(128, 4000)(random), o.buffering);
    SCOPED_TRACE(to_text(program) + to_text(tree, node));
    const ChainRun ran = run_chain(tree, node, machine_, o);
    EXPECT_EQ(ran.moved, fusion::traffic(tree, node, o.buffering));
    EXPECT_LE(check_chain(tree, folder_, random()), 1);
  }
}

// Any legal schedule, with places and tiles that no optimizer would choose: what is read ahead
// waits for its place in memory, and for what is yet to be written. Both ways give the same bytes.
TEST_F(ChainRuns, Of_random_schedules_are_the_same_read_ahead) {
  std::mt19937_64 random(test::new_seed());
  for (int trial = 0; trial < 12; ++trial) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 2 + trial % 3, 5));
    const FusedNode node = fusion::AnySchedule(tree, random).draw();
    SCOPED_TRACE(to_text(tree, node));
    ChainRunOptions o = options();
    run_chain(tree, node, machine_, o);
    EXPECT_LE(check_chain(tree, folder_, random()), 1);
    const std::string result = tree.array(tree.statement(tree.roots().front()).out).name + ".h5";
    const std::string in_turn = bytes_of(result);
    o.force = true;
    o.buffering = Buffering::twofold;
    EXPECT_EQ(run_chain(tree, node, machine_, o).moved,
              fusion::traffic(tree, node, Buffering::twofold));
    EXPECT_EQ(bytes_of(result), in_turn);
  }
}

TEST_F(ChainRuns, Check_finds_a_wrong_element) {
  const OperationTree tree = fusion::ccsd(2, 2);  // every element is looked at
  run_chain(tree, planned(tree, 1 << 16), machine_, options());
  EXPECT_LE(check_chain(tree, folder_, 1), 1);
  const std::vector<std::int64_t> extents{2, 2, 2, 2};
  const std::vector<fusion::Range> all{{0, 2}, {0, 2}, {0, 2}, {0, 2}};
  std::vector<double> values(16);
  TensorFile::open(folder_ / "S.h5", extents, ElementType::f64).read(all, values.data());
  values[10] += 1e-9;
  TensorFile::create(folder_ / "S.h5", extents, extents, ElementType::f64)
      .write(all, values.data());
  EXPECT_GT(check_chain(tree, folder_, 1), 1);
}

TEST_F(ChainRuns, Killed_go_on_to_the_same_bytes) {
  const OperationTree tree = fusion::four_index(6, 5);
  const FusedNode node = unfused(tree, 3000);
  ChainRunOptions o = options();
  run_chain(tree, node, machine_, o);
  const std::string right = bytes_of("B.h5");
  o.force = true;
  std::mt19937_64 random(test::new_seed());
  for (int trial = 0; trial < 4; ++trial) {
    const double end = std::uniform_real_distribution(0.0, 0.95)(random);
    const pid_t child = fork();
    if (child == 0) {
      ChainRunOptions killed = o;
      killed.progress = [&](double share) {
        if (share > end) kill(getpid(), SIGKILL);
      };
      run_chain(tree, node, machine_, killed);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    ChainRunOptions resumed = o;
    resumed.buffering = trial % 2 == 0 ? Buffering::single : Buffering::twofold;
    o.buffering = resumed.buffering;
    resumed.force = false;
    resumed.resume = true;
    run_chain(tree, node, machine_, resumed);
    EXPECT_EQ(bytes_of("B.h5"), right);
    EXPECT_FALSE(fs::exists(folder_ / "T1.h5"));
  }
}

// Also what has no part that was done, and inputs that were being made.
TEST_F(ChainRuns, Killed_at_once_go_on) {
  const OperationTree tree = fusion::four_index(6, 5);
  const FusedNode node = planned(tree, 1 << 20);
  ASSERT_EQ(to_text(tree, node).find("store T"), std::string::npos);
  const pid_t child = fork();
  if (child == 0) {
    ChainRunOptions killed = options();
    killed.progress = [](double) { kill(getpid(), SIGKILL); };
    run_chain(tree, node, machine_, killed);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  fs::rename(folder_ / "A.h5", folder_ / "A.h5.part");
  ChainRunOptions resumed = options();
  EXPECT_NE(refusal<InputError>([&] { run_chain(tree, node, machine_, resumed); }).find("--resume"),
            std::string::npos);
  resumed.resume = true;
  EXPECT_EQ(run_chain(tree, node, machine_, resumed).done_before, 0);
  EXPECT_LE(check_chain(tree, folder_, 1), 1);
  EXPECT_FALSE(fs::exists(folder_ / "tcsim-run.json"));
}

TEST_F(ChainRuns, Stop_when_asked_and_go_on) {
  const OperationTree tree = fusion::four_index(6, 5);
  const FusedNode node = unfused(tree, 3000);
  std::stop_source source;
  ChainRunOptions o = options();
  o.stop = source.get_token();
  o.progress = [&](double share) {
    if (share > 0.6) source.request_stop();
  };
  EXPECT_THROW(run_chain(tree, node, machine_, o), Interrupted);
  o = options();
  o.resume = true;
  EXPECT_GT(run_chain(tree, node, machine_, o).done_before, 0);
  EXPECT_LE(check_chain(tree, folder_, 1), 1);
}

TEST_F(ChainRuns, Say_what_is_wrong_before_they_begin) {
  const OperationTree tree = fusion::ccsd(3, 4);
  const FusedNode node = unfused(tree, 2000);
  ChainRunOptions o = options();
  o.fill = false;
  const auto run = [&] { run_chain(tree, node, machine_, o); };
  EXPECT_NE(refusal<InputError>(run).find("no such file"), std::string::npos);
  o.fill = true;
  o.resume = true;
  EXPECT_NE(refusal<InputError>(run).find("no run ended here"), std::string::npos);
  o.resume = false;
  o.folder = folder_ / "nowhere";
  EXPECT_NE(refusal<InputError>(run).find("is no folder"), std::string::npos);
  o.folder = folder_;
  run();
  EXPECT_NE(refusal<InputError>(run).find("S.h5: is there already"), std::string::npos);
  const std::string before = bytes_of("S.h5");

  // Another shape, another type, another file, half a file: nothing of the user's is touched.
  o.force = true;
  TensorFile::create(folder_ / "D.h5", {3, 5}, {3, 5}, ElementType::f64);
  EXPECT_NE(refusal<InputError>(run).find("[3, 5], and the chain's is [3, 4]"), std::string::npos);
  TensorFile::create(folder_ / "D.h5", {3, 4}, {3, 4}, ElementType::f32);
  EXPECT_NE(refusal<InputError>(run).find("not f64"), std::string::npos);
  std::ofstream(folder_ / "D.h5") << "no tensor";
  EXPECT_NE(refusal<InputError>(run).find("no HDF5 file"), std::string::npos);
  fs::remove(folder_ / "D.h5");
  fs::resize_file(folder_ / "A.h5", 1000);
  EXPECT_NE(refusal<InputError>(run).find("A.h5"), std::string::npos);
  EXPECT_EQ(bytes_of("S.h5"), before);
}

// A disk that is full while a run goes on, whichever thread finds it.
TEST_F(ChainRuns, Say_that_a_tile_cannot_be_written) {
  const OperationTree tree = fusion::four_index(12, 10);
  ChainRunOptions o = options();
  const FusedNode node = unfused(tree, 60000);
  run_chain(tree, node, machine_, o);  // makes the inputs
  o.force = true;
  for (Buffering buffering : {Buffering::single, Buffering::twofold}) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit size{20000, 20000};
      setrlimit(RLIMIT_FSIZE, &size);
      o.buffering = buffering;
      try {
        run_chain(tree, node, machine_, o);
        _exit(0);
      } catch (const InputError& e) {
        const bool clear = e.place().ends_with(".h5") && e.mend() == "look at the room on its disk";
        _exit(clear ? 1 : 2);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status))
        << "signal " << WTERMSIG(status) << ", buffering " << static_cast<int>(buffering);
    EXPECT_EQ(WEXITSTATUS(status), 1);
  }
}

TEST_F(ChainRuns, Count_the_chunks_that_tiles_have_a_part_of) {
  const TensorFile file = TensorFile::create(folder_ / "t.h5", {10, 9}, {4, 5}, ElementType::f64);
  EXPECT_EQ(file.chunks({{4, 4}, {5, 4}}), Bytes(4 * 4 * 8));
  EXPECT_EQ(file.chunks({{3, 2}, {4, 2}}), Bytes(8 * 9 * 8));
  EXPECT_EQ(file.chunks({{9, 1}, {0, 1}}), Bytes(2 * 5 * 8));
}

TEST_F(ChainRuns, Leave_files_alone_that_are_not_theirs) {
  const OperationTree tree = fusion::ccsd(2, 3);
  const FusedNode node = planned(tree, 1 << 16);  // nothing between statements is on disk
  ASSERT_EQ(to_text(tree, node).find("store T"), std::string::npos);
  std::ofstream(folder_ / "T1.h5") << "mine";
  run_chain(tree, node, machine_, options());
  EXPECT_EQ(bytes_of("T1.h5"), "mine");
}

TEST_F(ChainRuns, Resume_the_schedule_that_ended_alone) {
  const OperationTree tree = fusion::ccsd(3, 4);
  std::ofstream(folder_ / "tcsim-run.json") << R"({"schedule": "do S", "done": 1})";
  ChainRunOptions o = options();
  o.resume = true;
  const auto run = [&] { run_chain(tree, unfused(tree, 2000), machine_, o); };
  EXPECT_NE(refusal<InputError>(run).find("another schedule"), std::string::npos);
  std::ofstream(folder_ / "tcsim-run.json") << "{";
  EXPECT_NE(refusal<InputError>(run).find("says nothing of a run"), std::string::npos);
}

}  // namespace
}  // namespace tcsim::chains
