// What is emitted of a fused schedule, compiled and run on the files of a run. Without a C compiler
// and pkg-config these tests are skipped.
#include "emit/fused.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "chains/run_chain.hpp"
#include "core/fusion/fuse.hpp"
#include "kernels/contract.hpp"
#include "tests/core/fusion/any_schedule.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/scratch.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;
using fusion::FusedNode;
using fusion::OperationTree;

class EmittedChains : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run("cc --version && pkg-config --exists hdf5") != 0) {
      GTEST_SKIP() << "there is no cc, or no pkg-config that knows hdf5";
    }
    fs::create_directory(folder_);
  }
  ~EmittedChains() override { fs::remove_all(folder_); }

  static int run(const std::string& command) {
    const int status = std::system(("(" + command + ") >/dev/null 2>&1").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  int compile(const OperationTree& tree, const FusedNode& node) const {
    std::ofstream(path("chain.c")) << emit_fused_c(tree, node, {{"a remark */ that ends nothing"}});
    return run(
        fmt::format("cc -std=c11 -Wall -Wextra -Wshadow -Werror -O1 {} $(pkg-config --cflags "
                    "--libs hdf5) -o {}",
                    path("chain.c"), path("chain")));
  }
  // Inputs, made by a run; its results are gone.
  void make_inputs(const OperationTree& tree, const FusedNode& node) const {
    chains::ChainRunOptions options;
    options.folder = folder_;
    options.fill = true;
    run_chain(tree, node, assumed_machine(), options);
    for (int root : tree.roots()) {
      fs::remove(folder_ / (tree.array(tree.statement(root).out).name + ".h5"));
    }
  }

  const fs::path folder_ = test::scratch("emit_fused");
};

TEST_F(EmittedChains, Of_random_schedules_are_right) {
  std::mt19937_64 random(test::new_seed());
  for (int trial = 0; trial < 6; ++trial) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    Program program = fusion::random_chain_program(random, 1 + trial % 3, 6);
    if (trial % 3 == 0) program = with_type(program, ElementType::f32);
    const OperationTree tree = fusion::operation_tree(program);
    const FusedNode node = fusion::AnySchedule(tree, random).draw();
    SCOPED_TRACE(to_text(program) + to_text(tree, node));
    make_inputs(tree, node);
    ASSERT_EQ(compile(tree, node), 0);
    ASSERT_EQ(run(path("chain") + " " + folder_.string()), 0);
    EXPECT_LE(chains::check_chain(tree, folder_, random()), 1);
    for (const OperationTree::Array& a : tree.arrays) {
      EXPECT_EQ(fs::exists(folder_ / (a.name + ".h5")), !a.is_intermediate()) << a.name;
    }
  }
}

TEST_F(EmittedChains, Say_what_is_wrong_with_their_files) {
  const OperationTree tree = fusion::ccsd(3, 4);
  const FusedNode node =
      fusion::unfused_program(tree, {Bytes(2000), fusion::Buffering::single, {}}).node;
  ASSERT_EQ(compile(tree, node), 0);
  EXPECT_EQ(run(path("chain")), 2);
  EXPECT_EQ(run(path("chain") + " " + folder_.string()), 1);  // there are no inputs
  make_inputs(tree, node);
  EXPECT_EQ(run(path("chain") + " " + folder_.string()), 0);
  const OperationTree other = fusion::ccsd(4, 4);
  ASSERT_EQ(
      compile(other,
              fusion::unfused_program(other, {Bytes(2000), fusion::Buffering::single, {}}).node),
      0);
  EXPECT_EQ(run(path("chain") + " " + folder_.string()), 1);  // of another shape
}

}  // namespace
}  // namespace tcsim
