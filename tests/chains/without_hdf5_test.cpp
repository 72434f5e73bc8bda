// A tcsim without HDF5 says what to install.
#include <gtest/gtest.h>

#include "chains/run_chain.hpp"
#include "chains/tensor_files.hpp"
#include "core/error.hpp"
#include "core/fusion/fuse.hpp"
#include "kernels/contract.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/scratch.hpp"

namespace tcsim::chains {
namespace {

TEST(Chains, Without_HDF5_say_what_to_install) {
  EXPECT_FALSE(has_tensor_files());
  const fusion::OperationTree tree = fusion::ccsd(2, 3);
  fusion::FuseOptions options;
  options.limits.memory = Bytes(4096);
  const fusion::Fusion fused = fusion::fuse(tree, options);
  ChainRunOptions run;
  run.folder = test::scratch("chain");
  std::filesystem::create_directory(run.folder);
  run.fill = true;
  try {
    run_chain(tree, fused.chosen.node, assumed_machine(), run);
    FAIL();
  } catch (const UnsupportedError& e) {
    EXPECT_NE(std::string(e.what()).find("libhdf5-dev"), std::string::npos) << e.what();
  }
  std::filesystem::remove_all(run.folder);
}

}  // namespace
}  // namespace tcsim::chains
