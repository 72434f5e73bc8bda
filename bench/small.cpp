#include "bench/small.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/libxsmm.hpp"
#include "bench/peers.hpp"
#include "core/error.hpp"
#include "core/plan/plan.hpp"
#include "core/workload/parse.hpp"
#include "kernels/contract.hpp"
#include "kernels/execute.hpp"

namespace tcsim::bench {

namespace {

constexpr std::uint64_t seed = 1;

SmallSize bench_size(std::int64_t rows, const Machine& machine, const SmallOptions& options) {
  const std::int64_t columns = options.columns, depth = options.depth;
  const Contraction contraction = parse_contraction(
      "ij-ik-kj", {{'i', rows}, {'j', columns}, {'k', depth}}, options.layout, ElementType::f64);
  Contractor<double> contractor(contraction, 1, machine);
  SmallSize result{rows, contraction, contractor.schedule(), {}};
  const Plan plan(contraction, result.schedule);
  Arena arena(plan);
  fill_inputs(arena, plan, seed);
  const double* const a = arena.as<double>(ArrayId::A);
  const double* const b = arena.as<double>(ArrayId::B);
  double* const c = arena.as<double>(ArrayId::C);

  Entrants entrants{contraction, contraction.flops(), {}, {}};
  const auto wanted = [&](const char* word) {
    return std::ranges::find(options.libraries, word) != options.libraries.end();
  };
  entrants.add("tcsim", kernel_used(plan), [&] { contractor(a, b, c); });
  // For BLAS, whose matrices are column by column, row-major ones are C^T = B^T A^T.
  const bool by_rows = options.layout == Layout::row_major;
  const std::int64_t m = by_rows ? columns : rows, n = by_rows ? rows : columns;
  const double *left = by_rows ? b : a, *right = by_rows ? a : b;
  if (const auto gemm = Gemm::openblas(); gemm && wanted("openblas")) {
    const GemmCall<double> call{.m = m,
                                .n = n,
                                .k = depth,
                                .a = left,
                                .lda = m,
                                .b = right,
                                .ldb = depth,
                                .c = c,
                                .ldc = m};
    entrants.add(gemm->name(), gemm->version(), [gemm, call] { (*gemm)(call); });
  }
  if (wanted("libxsmm")) {
    const int rows_of_left = static_cast<int>(m), depth_of_both = static_cast<int>(depth);
    if (const auto code = libxsmm_gemm<double>({.m = rows_of_left,
                                                .n = static_cast<int>(n),
                                                .k = depth_of_both,
                                                .lda = rows_of_left,
                                                .ldb = depth_of_both,
                                                .ldc = rows_of_left})) {
      entrants.add("libxsmm", libxsmm_version(),
                   [code, left, right, c] { (*code)(left, right, c); });
    }
  }

  result.contestants = std::move(entrants.contestants);
  const auto& works = entrants.works;
  std::vector<HotYardstick> yardsticks;
  for (std::size_t i = 0; i < works.size(); ++i) {
    std::fill_n(c, rows * columns, std::numeric_limits<double>::quiet_NaN());
    yardsticks.emplace_back(ElementType::f64, works[i], options.at_least);
    result.contestants[i].worst_error =
        check_result(arena, plan, contraction.size(TensorId::C), seed).worst_error;
  }
  for (int r = 0; r < options.repetitions; ++r) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (options.stop.stop_requested()) throw Interrupted();
      result.contestants[i].samples.add(yardsticks[i]());
    }
  }
  return result;
}

}  // namespace

std::vector<SmallSize> bench_small(const Machine& machine, const SmallOptions& options) {
  std::vector<SmallSize> sizes;
  try {
    for (std::int64_t rows = options.first; rows <= options.last; ++rows) {
      if (options.progress) {
        options.progress(static_cast<double>(rows - options.first) /
                         static_cast<double>(options.last - options.first + 1));
      }
      sizes.push_back(bench_size(rows, machine, options));
    }
  } catch (const Interrupted&) {
  }
  return sizes;
}

std::vector<SmallSummary> summary(const std::vector<SmallSize>& sizes) {
  std::vector<SmallSummary> all;
  for (const SmallSize& size : sizes) {
    for (std::size_t i = 0; i < size.contestants.size(); ++i) {
      const Contestant& c = size.contestants[i];
      if (all.size() <= i) all.push_back({c.name, 0, HUGE_VAL, 0, true});
      const double share = c.samples.of_peak();
      all[i].mean += share / static_cast<double>(sizes.size());
      all[i].correct = all[i].correct && c.correct();
      if (share < all[i].worst) {
        all[i].worst = share;
        all[i].worst_rows = size.rows;
      }
    }
  }
  return all;
}

}  // namespace tcsim::bench
