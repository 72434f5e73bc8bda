#include "core/optimize/exposed.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/schedule/spine.hpp"

namespace tcsim {

namespace {

constexpr double pack_cycles = 1800, run_cycles = 60, scatter_cycles = 3;
constexpr double call_cycles = 40, partial_cycles = 40;  // the latter on top, of an odd tile
// Of what kernels read of packed operands: not hidden if it comes from the second and third cache.
constexpr double second_share = 0.1, third_share = 1;
constexpr double apart_share =
    0.03;                      // more computation where the right operand's columns are apart
constexpr double page = 4096;  // bytes
constexpr double most_strips = 64;

double ceil_div(double a, double b) { return std::ceil(a / b); }

// Elements of t that follow one another in memory, in a tile of `ranges` of the groups. What a pack
// transposes across micropanels it reads by so many at most (Plan's PackPlan::strips).
double run_length(const Contraction& c, const Schedule& schedule, TensorId t,
                  const std::array<std::int64_t, 4>& ranges) {
  // How far a tile covers each dimension: whole ones first, in the group's order.
  std::array<std::int64_t, 128> covered{};
  for (DimClass g : all_dim_classes) {
    std::int64_t left = ranges[at(g)];
    for (char name : schedule.groups[at(g)]) {
      const std::int64_t extent = c.dim(dim_named(c, name)).extent;
      covered[static_cast<std::size_t>(name)] = std::min(extent, left);
      left = (left + extent - 1) / extent;
    }
  }
  double run = 1;
  for (DimId d : c.memory_order(t)) {
    const std::int64_t part = covered[static_cast<std::size_t>(c.dim(d).name)];
    run *= static_cast<double>(part);
    if (part < c.dim(d).extent) break;
  }
  const auto fastest = c.fastest(t);
  const auto leads = [&](char name) { return fastest && c.dim(*fastest).name == name; };
  for (DimClass g : all_dim_classes) {
    const std::string& names = schedule.groups[at(g)];
    if (std::any_of(names.begin() + !names.empty(), names.end(), leads)) {
      return std::min(run, most_strips);
    }
  }
  return run;
}

}  // namespace

Seconds exposed(const Contraction& c, const Schedule& schedule, const Prediction& prediction,
                const Machine& machine) {
  const Spine spine(c, schedule);
  double seconds = 0;
  const std::size_t links = prediction.traffic.links.size();
  for (std::size_t l = 0; l < links; ++l) {
    const LinkTraffic& link = prediction.traffic.links[l];
    Bytes bytes, second, third;
    for (ArrayId a : all_arrays) {
      // Memory is too slow to hide what has to come from there, and an operand in place lies too
      // far apart for the hardware to fetch it from further than the second cache.
      if (a == ArrayId::C || l + 1 == links || (!is_buffer(a) && l > 1)) {
        bytes += link.counted(machine.accounting, a);
      } else {
        bytes += link.at(Phase::packing, a).in + link.at(Phase::packing, a).out;
        if (l == 1) second += link.at(Phase::compute, a).in;
        if (l == 2) third += link.at(Phase::compute, a).in;
      }
    }
    const auto bandwidth = machine.bandwidth(LevelId{static_cast<int>(l)});
    seconds += (bytes / bandwidth + second_share * (second / bandwidth) +
                third_share * (third / bandwidth))
                   .value();
  }

  const std::string& m = schedule.groups[at(DimClass::m)];
  const bool scattered = m.empty() || c.stride(TensorId::C, dim_named(c, m.front())) != Elements(1);
  const std::string& n = schedule.groups[at(DimClass::n)];
  const bool packed = std::ranges::any_of(spine.steps, [&](const Step& s) {
    return s.kind == Step::Kind::pack && s.tensor == spine.right();
  });
  if (!packed && !n.empty() && c.stride(spine.right(), dim_named(c, n.front())) != Elements(1)) {
    seconds += apart_share * prediction.timing.compute.value();
  }
  const double results = static_cast<double>(spine.mr * spine.nr);
  const auto element = static_cast<double>(size_of(c.type()).value());
  double cycles = 0, times = 1;  // that the current step is done
  double whole = 1;              // share of kernel calls of all rows and columns of the kernel
  std::array<std::int64_t, 4> range = spine.extents;
  for (const Step& s : spine.steps) {
    switch (s.kind) {
      case Step::Kind::loop: {
        std::int64_t& r = range[at(s.group)];
        const double steps = ceil_div(static_cast<double>(r), static_cast<double>(s.tile));
        times *= steps;
        const bool registers = (s.group == DimClass::m && s.tile == spine.mr) ||
                               (s.group == DimClass::n && s.tile == spine.nr);
        if (registers && r % s.tile != 0) whole *= 1 - 1 / steps;
        r = std::min(r, s.tile);
        break;
      }
      case Step::Kind::pack: {
        const DimClass rows = s.tensor == spine.left ? DimClass::m : DimClass::n;
        const double elements =
            static_cast<double>(range[at(rows)]) * static_cast<double>(range[at(DimClass::k)]);
        const double run = std::min(run_length(c, schedule, s.tensor, range), page / element);
        cycles += times * (pack_cycles + elements / run * run_cycles);
        break;
      }
      case Step::Kind::kernel:
        if (range[at(DimClass::m)] < spine.mr || range[at(DimClass::n)] < spine.nr) whole = 0;
        cycles += times * (call_cycles + (1 - whole) * partial_cycles);
        if (scattered) cycles += times * results * scatter_cycles;
    }
  }
  return Seconds(seconds + cycles / machine.core.frequency.value.value());
}

}  // namespace tcsim
