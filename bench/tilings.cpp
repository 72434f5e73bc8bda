#include "bench/tilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "bench/onednn.hpp"
#include "bench/plain_convolution.hpp"
#include "core/bounds/nest.hpp"
#include "core/bounds/upper.hpp"
#include "core/machine/share.hpp"
#include "core/model/window.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/registers.hpp"
#include "kernels/execute.hpp"

namespace tcsim::bench {

namespace {

constexpr int checked_in_tilings = 500;

std::size_t class_place(DimClass g) {
  return static_cast<std::size_t>(std::ranges::find(loop_classes, g) - loop_classes.begin());
}

// The group in which a fused dimension lies, whose parts are all in one.
DimClass group_with(const Groups& groups, const std::vector<DimId>& dims) {
  for (DimClass g : all_dim_classes) {
    if (std::ranges::find(groups[g], dims.front()) != groups[g].end()) return g;
  }
  return DimClass::batch;
}

// The tree with its innermost kernel replaced.
Node with_kernel(const Node& node, const Node& kernel) {
  if (const Loop* loop = std::get_if<Loop>(&node.is)) {
    return Loop{loop->group, loop->tile, with_kernel(*loop->body, kernel)};
  }
  if (const Move* move = std::get_if<Move>(&node.is)) {
    return Move{move->kind, move->tensor, move->level, with_kernel(*move->body, kernel)};
  }
  if (const Seq* seq = std::get_if<Seq>(&node.is)) {
    Seq all{seq->over, {}};
    for (const Seq::Part& part : seq->parts) {
      all.parts.push_back({part.size, with_kernel(part.node, kernel)});
    }
    return all;
  }
  return kernel;
}

// ttile's Fig. 10.
struct Published {
  const char* layer;
  Composition composition;
};
const std::vector<Published>& published() {
  static const std::vector<Published> all{
      {"yolo9000:1", {2, {{1, 8}}}},           {"yolo9000:2", {4, {{1, 4}}}},
      {"yolo9000:3", {1, {{1, 10}, {2, 12}}}}, {"yolo9000:4", {2, {{1, 8}, {2, 13}}}},
      {"yolo9000:5", {4, {{1, 4}}}},           {"yolo9000:6", {2, {{1, 8}, {5, 12}}}},
      {"yolo9000:7", {1, {{2, 11}, {1, 12}}}}, {"yolo9000:8", {2, {{2, 10}, {1, 14}}}},
      {"yolo9000:9", {2, {{1, 8}, {1, 9}}}},   {"yolo9000:10", {2, {{1, 8}, {1, 9}}}},
      {"yolo9000:11", {3, {{1, 8}, {1, 9}}}},  {"resnet18:1", {2, {{1, 14}}}},
      {"resnet18:2", {2, {{1, 14}}}},          {"resnet18:3", {2, {{1, 14}}}},
      {"resnet18:4", {2, {{1, 14}}}},          {"resnet18:5", {2, {{1, 14}}}},
      {"resnet18:6", {4, {{1, 4}}}},           {"resnet18:7", {2, {{1, 14}}}},
      {"resnet18:8", {2, {{1, 14}}}},          {"resnet18:9", {1, {{1, 14}}}},
      {"resnet18:10", {4, {{1, 7}}}},          {"resnet18:11", {4, {{1, 7}}}},
      {"resnet18:12", {4, {{1, 7}}}},
  };
  return all;
}

}  // namespace

std::optional<Tiling> recommended_tiling(const Contraction& contraction, const Machine& machine,
                                         const Tiling& own) {
  const Machine one = view_of_one_core(machine);
  const std::int64_t element = size_of(contraction.type()).value();
  std::vector<double> capacities, weights;
  for (int l = 0; l < one.cache_count(); ++l) {
    capacities.push_back(
        static_cast<double>(one.level(LevelId{l}).capacity.value / Bytes(element)));
    weights.push_back(1 / one.bandwidth(LevelId{l + 1}).value());
  }
  const auto found = bounds::upper_bounds(
      bounds::nest_of(contraction, bounds::Moves::loads_and_stores), capacities, weights);
  if (!found) return {};
  Tiling tiling = own;
  for (std::size_t l = 0; l < found->size(); ++l) {
    const bounds::UpperBound& bound = (*found)[l];
    tiling.tiles[l] = {1, 1, 1};
    std::vector<DimClass> order;
    for (DimId d : bound.tiling.permutation) {
      const std::size_t at = bounds::place(d);
      const DimClass g = group_with(own.groups, bound.nest.dims[at]);
      if (g == DimClass::batch) continue;
      const std::int64_t tile = bound.tiling.tiles[at];
      tiling.tiles[l][class_place(g)] *= tile;
      // A group's loop stands where the first of its dimensions' does that runs.
      const std::int64_t range =
          l + 1 < found->size() ? (*found)[l + 1].tiling.tiles[at] : bound.nest.nest.extents[at];
      if (tile < range && std::ranges::find(order, g) == order.end()) order.push_back(g);
    }
    for (DimClass g : loop_classes) {
      if (std::ranges::find(order, g) == order.end()) order.insert(order.begin(), g);
    }
    std::copy_n(order.begin(), order.size(), tiling.orders[l].begin());
  }
  // Sizes that the loops cannot have become those that take as many steps.
  snap(contraction, common_line(machine), tiling);
  return tiling;
}

std::int64_t Composition::columns() const {
  std::int64_t all = 0;
  for (const Part& p : parts) all += std::int64_t{p.tiles} * p.columns;
  return all;
}

std::string Composition::text() const {
  std::string text;
  for (const Part& p : parts) {
    text += fmt::format("{}{}{}H{}K", text.empty() ? "" : " + ",
                        p.tiles == 1 ? "" : fmt::format("{} ", p.tiles), p.columns, vectors);
  }
  return text;
}

std::optional<Composition> composition_of(const std::string& layer) {
  for (const Published& p : published()) {
    if (layer == p.layer) return p.composition;
  }
  return {};
}

std::optional<Schedule> composed(const Contraction& contraction, const Machine& machine,
                                 const Tiling& own, const Composition& composition) {
  const std::int64_t rows = composition.vectors * lanes_of(machine.core, contraction.type());
  std::int64_t row = even_row(contraction, own.groups, DimClass::n);
  // Columns of a 1 x 1 filter go on into the next row.
  if (row == 0 && group_extent(contraction, own, 1) % composition.columns() == 0) {
    row = composition.columns();
  }
  if (row == 0 || row % composition.columns() != 0) return {};
  for (const Composition::Part& p : composition.parts) {
    const Kernel kernel{Elements(rows), Elements(p.columns)};
    if (!fits_registers(kernel, machine.core, contraction.type())) return {};
  }
  Tiling tiling = own;
  tiling.kernel = Kernel{Elements(rows), Elements(row)};  // a row at a time, which is then parted
  tiling.m_inside = false;
  snap(contraction, common_line(machine), tiling);
  if (!tiling.in_place.right) return {};
  Node parts;
  const auto part_of = [&](const Composition::Part& p, std::int64_t times) {
    const Node kernel = Kernel{Elements(rows), Elements(p.columns)};
    if (p.tiles * times == 1) return kernel;
    return Node(Loop{DimClass::n, Elements(p.columns), kernel});
  };
  const std::int64_t times = row / composition.columns();
  if (composition.parts.size() == 1) {
    parts = part_of(composition.parts[0], times);
  } else {
    Seq seq{DimClass::n, {}};
    for (const Composition::Part& p : composition.parts) {
      seq.parts.push_back({Elements(times * p.tiles * p.columns), part_of(p, times)});
    }
    parts = std::move(seq);
  }
  Schedule schedule = build(contraction, machine, tiling);
  schedule.root = with_kernel(schedule.root, parts);
  if (!is_legal(schedule, contraction)) return {};
  return schedule;
}

SuiteCase bench_tilings(const std::vector<Tiled>& tilings, const ConvolutionShape& shape,
                        ColdYardstick& yardstick, const SuiteOptions& options) {
  const PlainConvolution plain(shape, options.seed);
  // Of each its own tensors, as the weights' layouts differ.
  struct Runner {
    Runner(const Tiled& tiled) : plan(tiled.contraction, tiled.schedule), arena(plan) {}
    Plan plan;
    Arena arena;
    std::optional<PreparedPlan> execution;
  };
  std::vector<std::unique_ptr<Runner>> runners;
  const OneThread one_thread;
  Entrants entrants{tilings.front().contraction, shape.flops(), {}, {}};
  for (const Tiled& t : tilings) {
    Runner& r = *runners.emplace_back(std::make_unique<Runner>(t));
    write_image(plain, t.contraction, r.arena.as<float>(ArrayId::A));
    write_weights(plain, t.contraction, r.arena.as<float>(ArrayId::B));
    r.execution.emplace(r.plan, r.arena);
    entrants.add(t.name, t.how.empty() ? kernel_used(r.plan) : t.how,
                 [&r, &options] { (*r.execution)(options.stop); });
  }
  SuiteCase result{tilings.front().contraction, tilings.front().schedule,
                   std::move(entrants.contestants)};
  const auto output = [&](std::size_t i) { return runners[i]->arena.as<float>(ArrayId::C); };
  const auto size = static_cast<std::size_t>(plain.outputs());
  race(result, entrants.works,
       {[&](std::size_t i) {
          std::fill_n(output(i), size, std::numeric_limits<float>::quiet_NaN());
        },
        [&](std::size_t i) {
          return worst_error(plain, plain_output(shape, tilings[i].contraction, output(i)),
                             checked_in_tilings, options.seed);
        }},
       yardstick, options);
  return result;
}

}  // namespace tcsim::bench
