#include "bench/small_tiles.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "chains/levels/run_levels.hpp"
#include "core/levels/plan.hpp"
#include "core/workload/program.hpp"
#include "kernels/contract.hpp"

namespace tcsim::bench {

namespace fs = std::filesystem;

namespace {

// Rows of the matrices, and what holds small tiles of them: 7 x 7 results.
constexpr std::int64_t matrix_rows = 96;
constexpr Bytes room_of_small_tiles{512};

levels::Hierarchy hierarchy_of(const Processes& team, Bytes local) {
  levels::Hierarchy h;
  h.levels = {{"local", local, team.size(), BytesPerSecond(1e9), Seconds(0)},
              {"global", Bytes(0), 1, BytesPerSecond(1e9), Seconds(0)},
              {"disk", Bytes(0), 1, BytesPerSecond(0), Seconds(0)}};
  h.rate = FlopsPerSecond(1e9);
  return h;
}

// Of the process that it took longest.
Seconds total_of(const Processes& team, const chains::LevelRun& run) {
  std::int64_t most = 0;
  for (const auto& one : team.gathered({std::llround(run.total.value() * 1e9)})) {
    most = std::max(most, one.front());
  }
  return Seconds(1e-9 * static_cast<double>(most));
}

}  // namespace

fusion::OperationTree product_chain(std::int64_t rows) {
  return fusion::operation_tree(parse_program(
      fmt::format("program product\ndims i={0} j={0} k={0}\nf64 input A[i, k]\nf64 input B[k, "
                  "j]\nf64 output C[i, j]\nC[i, j] += A[i, k] * B[k, j]\n",
                  rows),
      "the probe"));
}

std::vector<Seconds> small_tile_times(const Processes& team, const fs::path& folder,
                                      int repetitions, BytesPerSecond bandwidth, Seconds row,
                                      const std::function<void()>& step) {
  const fusion::OperationTree tree = product_chain(matrix_rows);
  const levels::Hierarchy large = hierarchy_of(team, Bytes(0));
  const levels::Hierarchy small = hierarchy_of(team, room_of_small_tiles);
  const levels::LevelPlan few = levels::prescribe(tree, large);
  const levels::LevelPlan many = levels::prescribe(tree, small);
  const levels::Moved one = few.counts.links.front().busiest_sum();
  const levels::Moved all = many.counts.links.front().busiest_sum();
  const auto transfers = static_cast<double>(all.transfers() - one.transfers());
  const Seconds moving =
      Seconds(static_cast<double>(all.bytes() - one.bytes()) / bandwidth.value()) +
      row * static_cast<double>(all.rows - one.rows);
  // Of the first process, for all.
  const std::int64_t number = team.gathered({::getpid()}).front().front();
  const fs::path own = folder / fmt::format("tcsim-levels-{}-run", number);
  const auto remove = [&] {
    std::error_code ignored;
    if (team.rank() == 0) fs::remove_all(own, ignored);
  };
  const auto run = [&](const levels::Hierarchy& h, const levels::LevelPlan& plan) {
    chains::LevelRunOptions options;
    options.folder = own;
    options.fill = options.force = true;
    return total_of(team, chains::run_levels(tree, h, plan.node, assumed_machine(), team, options));
  };
  std::vector<Seconds> times;
  try {
    team.on_first([&] { fs::create_directories(own); });
    run(large, few);  // inputs are there
    for (int r = 0; r < repetitions; ++r) {
      step();
      const Seconds more = run(small, many) - run(large, few) - moving;
      times.push_back(std::max(Seconds(0), more) * (1 / transfers));
    }
  } catch (...) {
    remove();
    throw;
  }
  remove();
  return times;
}

}  // namespace tcsim::bench
