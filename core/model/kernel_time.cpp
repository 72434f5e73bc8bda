#include "core/model/kernel_time.hpp"

#include <algorithm>

#include "core/schedule/registers.hpp"
#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Instructions that a core works on at once. Source: Intel's reorder buffer from Haswell on; AMD's
// from Zen 2 on holds 224, later ones of both more.
constexpr double reorder_window = 192;

// How many places along k are neighbours in both operands, from any multiple of it on, `longest` at
// most. In a packed copy all are.
std::int64_t piece_along_k(const Contraction& c, const Schedule& schedule, const Path& path,
                           std::int64_t longest) {
  ByTensor<bool> packed{};
  for (const Step& s : path.steps) packed[s.tensor] |= s.kind == Step::Kind::move;
  if (packed[TensorId::A] && packed[TensorId::B]) return longest;
  std::int64_t piece = 1;
  for (DimId d : schedule.groups[DimClass::k]) {
    const std::int64_t extent = c.dim(d).extent;
    if (extent == 1) continue;
    const auto together = [&](TensorId t) {
      return packed[t] || c.stride(t, d) == Elements(piece);
    };
    if (!together(TensorId::A) || !together(TensorId::B)) break;
    piece *= extent;
  }
  return std::min(piece, longest);
}

}  // namespace

Seconds peak_time(const Contraction& contraction, const Machine& machine) {
  return Seconds(contraction.flops() / machine.peak(size_of(contraction.type())).value());
}

Seconds whole_vectors_time(const Contraction& contraction, const Groups& groups, bool along_k,
                           const Machine& machine) {
  const Seconds peak = peak_time(contraction, machine);
  if (along_k) return peak;
  const std::int64_t rows = extent_of(contraction, groups[DimClass::m]);
  const std::int64_t lanes = lanes_of(machine.core, contraction.type());
  return peak * (static_cast<double>(ceil_div(rows, lanes) * lanes) / static_cast<double>(rows));
}

TileSizes kernel_tiles(const Path& path, DimClass group) {
  TileSizes sizes{{path.extents[group], 1}};
  for (const Step& s : path.steps) {
    if (s.kind != Step::Kind::loop || s.group != group) continue;
    TileSizes inner;
    const auto add = [&](std::int64_t size, double times) {
      const auto known = std::ranges::find(inner, size, &TileSizes::value_type::first);
      if (known != inner.end()) {
        known->second += times;
      } else {
        inner.emplace_back(size, times);
      }
    };
    for (const auto& [range, times] : sizes) {
      s.for_each_size(range, [&, t = times](std::int64_t size, std::int64_t count) {
        add(size, t * static_cast<double>(count));
      });
    }
    sizes = std::move(inner);
  }
  return sizes;
}

double step_cycles(const Core& core, std::int64_t lanes, std::int64_t rows, std::int64_t columns,
                   std::int64_t k) {
  const auto v = static_cast<double>(ceil_div(rows, lanes)), n = static_cast<double>(columns);
  const double instructions = static_cast<double>(k) * (v * n + v + n);
  const double tiles_at_once = std::max(1.0, reorder_window / instructions);
  return std::max(v * n / core.fma_per_cycle.value, core.fma_latency.value.value() / tiles_at_once);
}

double vectors_along_k(const Contraction& contraction, const Schedule& schedule, const Path& path,
                       std::int64_t lanes) {
  std::int64_t longest = 1;
  for (const auto& [size, count] : kernel_tiles(path, DimClass::k)) {
    longest = std::max(longest, size);
  }
  const std::int64_t piece = piece_along_k(contraction, schedule, path, longest);
  return static_cast<double>(ceil_div(piece, lanes)) / static_cast<double>(piece);
}

Seconds kernel_time(const Contraction& contraction, const Schedule& schedule,
                    const Machine& machine) {
  const Path path = only_path(contraction, schedule);
  const Core& core = machine.core;
  const std::int64_t lanes = lanes_of(core, contraction.type());
  const double vectors = path.along_k ? vectors_along_k(contraction, schedule, path, lanes) : 1;
  double cycles = 0;
  const TileSizes columns = kernel_tiles(path, DimClass::n), sums = kernel_tiles(path, DimClass::k);
  for (const auto& [rows, row_tiles] : kernel_tiles(path, DimClass::m)) {
    for (const auto& [n, column_tiles] : columns) {
      for (const auto& [k, k_tiles] : sums) {
        const double step = path.along_k
                                ? vectors * static_cast<double>(rows * n) / core.fma_per_cycle.value
                                : step_cycles(core, lanes, rows, n, k);
        cycles += row_tiles * column_tiles * k_tiles * static_cast<double>(k) * step;
      }
    }
  }
  cycles *= static_cast<double>(path.extents[DimClass::batch]);
  return std::max(peak_time(contraction, machine), Seconds(cycles / core.frequency.value.value()));
}

}  // namespace tcsim
