// Devices that are lost in a run, too small, or without f64: a clear error, or the host computes
// and says why; and what is on the disk goes on.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "chains/levels/run_levels.hpp"
#include "chains/run_chain.hpp"
#include "core/error.hpp"
#include "tests/chains/levels/device_double.hpp"
#include "tests/chains/levels/level_runs.hpp"
#include "tests/core/levels/random_levels.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

class DeviceRuns : public LevelRuns {
 protected:
  LevelRunOptions on_a_device(DeviceCalls& calls) const {
    LevelRunOptions o = options();
    o.device = true;
    o.devices = doubles(calls);
    return o;
  }
};

// On as many processes as there are.
TEST_F(DeviceRuns, Give_what_the_host_gives) {
  const std::uint64_t seed = team_.rank() == 0 ? test::new_seed() : 0;
  std::mt19937_64 random(static_cast<std::uint64_t>(shared(static_cast<std::int64_t>(seed))));
  levels::RandomLevels draw(random);
  for (int trial = 0; trial < 9; ++trial) {
    empty();
    Program program = fusion::random_chain_program(random, 1 + trial % 3, 5);
    if (trial % 4 == 0) program = with_type(program, ElementType::f32);
    const OperationTree tree = fusion::operation_tree(program);
    Hierarchy h = with_team(draw.hierarchy());
    for (auto& l : h.levels) l.capacity = Bytes(0);
    const LevelPlan plan = draw.plan(tree, h);
    const std::uint64_t places = random();
    SCOPED_TRACE(to_text(program) + to_text(tree, h, plan.node));
    DeviceCalls calls;
    const LevelRun ran = run(tree, h, plan, on_a_device(calls));
    EXPECT_EQ(ran.counts, plan.counts);
    EXPECT_EQ(ran.device, "a double");
    EXPECT_EQ(ran.no_device, "");
    if (team_.rank() == 0) {
      EXPECT_EQ(check_chain(tree, folder_, places), 0);
    }
    if (shared(HasFailure() ? 1 : 0) != 0) return;
  }
}

// Whichever call fails: one error, results of parts before it stay, and the host goes on.
TEST_F(DeviceRuns, Lost_at_any_call_say_so_and_go_on_from_the_disk) {
  if (team_.size() > 1) return;  // it ends all processes: see `dies`
  // Of few tiles, so that there are few calls.
  InTwoParts chain(team_);
  chain.h.levels[0].capacity = Bytes(12000);
  chain.h.levels[1].capacity = Bytes(30000);
  chain.plan = levels::prescribe(chain.tree, chain.h, levels::unfused(chain.tree, chain.h));
  DeviceCalls all;
  run(chain.tree, chain.h, chain.plan, on_a_device(all));
  const std::vector<double> right = result();
  ASSERT_GT(all.done, 8);
  int later = 0;
  for (std::int64_t n = 1; n <= all.done; ++n) {
    SCOPED_TRACE(n);
    empty();
    DeviceCalls calls{0, n};
    const std::string why = refusal_of<UnsupportedError>(
        [&] { run(chain.tree, chain.h, chain.plan, on_a_device(calls)); });
    EXPECT_NE(why.find("the device: "), std::string::npos) << why;
    EXPECT_NE(why.find(" failed; say --resume without --device, and the host goes on behind the "
                       "last part that was done"),
              std::string::npos)
        << why;
    EXPECT_EQ(calls.done, n);  // it is not asked again
    LevelRunOptions o = options();
    o.resume = true;
    const LevelRun ran = run(chain.tree, chain.h, chain.plan, o);
    EXPECT_EQ(ran.parts, 2);
    EXPECT_EQ(fs::exists(folder_ / "tcsim-run.json"), false);
    EXPECT_EQ(result(), right);
    later += ran.done_before;
  }
  EXPECT_GT(later, 0);
  EXPECT_LT(later, all.done);
}

TEST_F(DeviceRuns, Without_what_they_need_are_on_the_host) {
  const InTwoParts chain(team_);
  DeviceCalls calls;
  const auto none = [&](const DeviceFacts& facts) {
    empty();
    LevelRunOptions o = options();
    o.device = true;
    o.devices.f64 = [&](const OperationTree&, std::int64_t tiles,
                        const ByTensor<std::int64_t>& matrices,
                        const std::vector<TunedDevice>&) -> std::unique_ptr<Device<double>> {
      // One process alone has no such device: then none has.
      if (team_.rank() == team_.size() - 1) require_able(facts, Bytes(8), tiles, matrices);
      return std::make_unique<DeviceDouble<double>>(chain.tree, tiles, matrices, calls);
    };
    const LevelRun ran = run(chain.tree, chain.h, chain.plan, o);
    EXPECT_EQ(ran.device, "");
    EXPECT_EQ(ran.counts, chain.plan.counts);
    if (team_.rank() == 0) {
      EXPECT_EQ(check_chain(chain.tree, folder_, 1), 0);
    }
    return ran.no_device;
  };
  EXPECT_EQ(
      none({"a small one", true, Bytes(1000), Bytes(1000)})
          .find("--device: a small one has 1 kB, 1 kB in one piece; tiles and matrices take "),
      0u);
  EXPECT_EQ(none({"a phone", false, Bytes(1000000), Bytes(1000000)}),
            "--device: a phone has no f64 (cl_khr_fp64); use --type f32, or another device");
}

TEST(DeviceFacts, Say_what_a_device_can) {
  const ByTensor<std::int64_t> matrices{10, 20, 30};
  const auto why = [&](const DeviceFacts& facts, Bytes element) -> std::string {
    try {
      EXPECT_EQ(require_able(facts, element, 40, matrices), element * 60);
    } catch (const UnsupportedError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(why({"it", true, Bytes(800), Bytes(320)}, Bytes(8)), "");
  EXPECT_EQ(why({"it", false, Bytes(400), Bytes(160)}, Bytes(4)), "");
  EXPECT_NE(why({"it", false, Bytes(800), Bytes(320)}, Bytes(8)), "");
  EXPECT_EQ(why({"it", true, Bytes(799), Bytes(320)}, Bytes(8)),
            "--device: it has 799 B, 320 B in one piece; tiles and matrices take 800 B, 320 B in "
            "one piece; give the innermost level less");
  EXPECT_NE(why({"it", true, Bytes(800), Bytes(319)}, Bytes(8)), "");
}

// For the script `dies`: the second process loses its device.

TEST_F(DeadRuns, DISABLED_By_a_lost_device) {
  const InTwoParts chain(team_);
  DeviceCalls calls;
  LevelRunOptions o = in_given_folder();
  o.device = true;
  o.devices = doubles(calls);
  o.progress = [&](double share) {
    if (team_.rank() == 1 && share > 0.6) calls.fails = calls.done + 1;
  };
  run(chain.tree, chain.h, chain.plan, o);
}

}  // namespace
}  // namespace tcsim::chains
