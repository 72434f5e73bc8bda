#include <array>
#include <cmath>

#include "core/model/core_link.hpp"
#include "core/model/countable.hpp"
#include "core/model/nest.hpp"
#include "core/model/window.hpp"

namespace tcsim {

namespace {

// Lines of t that the kernels below step d touch: of its packed copy if it has one.
double operand_lines(const Nest& nest, TensorId t, const Extents& e) {
  return t != TensorId::C && nest.pack_depth(t) >= 0 ? nest.buffer_lines(t, e)
                                                     : nest.tensor_lines(t, e);
}

}  // namespace

Traffic listing3_traffic(const Contraction& contraction, const Schedule& schedule,
                         const Machine& machine) {
  const Bytes line = common_line(machine);
  const Nest nest(contraction, schedule, line);
  const Extents whole = nest.whole();
  const std::vector<Extents> narrowed = nest.narrowed(0, whole);

  Traffic traffic;
  traffic.links.assign(machine.levels.size(), LinkTraffic(nest.arrays()));
  traffic.links[0] = core_link(contraction, nest, machine.levels.front().name);
  for (int l = 0; l < machine.cache_count(); ++l) {
    LinkTraffic& link = traffic.links[static_cast<std::size_t>(l) + 1];
    LineCounter count(contraction, machine, LevelId{l + 1}, line);
    const auto capacity = static_cast<double>(kept_lines(machine, LevelId{l}).value());
    for (TensorId t : all_tensors) {
      // DF and DM of Listing 3, with the visits of a loop counted over all its executions.
      double moved = operand_lines(nest, t, whole);
      for (int d = 0; d < nest.depth() - 1; ++d) {
        const Step& s = nest.step(d);
        if (s.kind != Step::Kind::loop || nest.path().follows(t, s.group)) continue;
        double footprint = 0;
        for (TensorId u : all_tensors) {
          footprint += operand_lines(nest, u, narrowed[static_cast<std::size_t>(d) + 1]);
        }
        if (footprint >= capacity) {
          moved *= static_cast<double>(nest.tiles(d + 1, s.group)) /
                   static_cast<double>(nest.tiles(d, s.group));
        }
      }
      const ArrayId read = nest.read_as(t);
      Moved& m = link.at(Phase::compute, read);
      m.in = count.bytes(moved);
      if (t == TensorId::C) m.out = count.bytes(moved);
      const int pack = nest.pack_depth(t);
      if (pack < 0) continue;
      // Eq. 12 and 14: the tensor, once for every iteration of the loops that it does not follow
      // around its Pack; stored to the level of the buffer, so it leaves the levels inside.
      double times = 1;
      for (DimClass g : all_dim_classes) {
        if (!nest.path().follows(t, g)) times *= static_cast<double>(nest.tiles(pack, g));
      }
      link.at(Phase::packing, array_of(t)).in = count.bytes(nest.tensor_lines(t, whole) * times);
      bool inside = true;
      for (int inner = 0; inner <= l; ++inner) {
        inside = inside && machine.level(LevelId{inner}).name != nest.step(pack).level;
      }
      if (inside) {
        link.at(Phase::packing, read).out = count.bytes(nest.buffer_lines(t, whole) * times);
      }
    }
  }
  return traffic;
}

}  // namespace tcsim
