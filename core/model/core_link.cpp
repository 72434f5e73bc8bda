#include "core/model/core_link.hpp"

#include <cmath>

namespace tcsim {

namespace {

// Sum over all ranges at depth d, each rounded up to whole panels.
double padded(const Nest& nest, int d, DimClass g, double panel) {
  double sum = 0;
  for (const auto& r : nest.ranges(d, g)) sum += r.times * std::ceil(r.size / panel) * panel;
  return sum;
}

}  // namespace

LinkTraffic core_link(const Nest& nest, Bytes element) {
  const Spine& spine = nest.spine();
  const int kernel = nest.depth() - 1;
  const auto extent = [&](DimClass g) { return static_cast<double>(spine.extents[at(g)]); };
  const auto bytes = [&](double elements) {
    return Bytes(std::llround(elements) * element.value());
  };
  const double batch = extent(DimClass::batch);
  LinkTraffic link;

  const double results = extent(DimClass::m) * extent(DimClass::n) * batch;
  const double k_tiles = nest.tiles(kernel, DimClass::k);
  link.at(Phase::compute, ArrayId::C) = {bytes(results * (k_tiles - 1)), bytes(results * k_tiles)};

  for (TensorId t : {TensorId::A, TensorId::B}) {
    const bool is_left = t == spine.left;
    const DimClass rows = is_left ? DimClass::m : DimClass::n;
    const DimClass others = is_left ? DimClass::n : DimClass::m;
    const auto panel = static_cast<double>(is_left ? spine.mr : spine.nr);
    const int pack = nest.pack_depth(t);
    // A packed micropanel is read whole, padding included.
    const double read = pack < 0 ? extent(rows) : padded(nest, kernel, rows, panel);
    const ArrayId from = pack < 0 ? array_of(t) : buffer_of(t);
    link.at(Phase::compute, from).in =
        bytes(read * extent(DimClass::k) * nest.tiles(kernel, others) * batch);
    if (pack < 0) continue;
    const double times = nest.tiles(pack, others) * extent(DimClass::k) * batch;
    link.at(Phase::packing, array_of(t)).in = bytes(extent(rows) * times);
    link.at(Phase::packing, buffer_of(t)).out = bytes(padded(nest, pack, rows, panel) * times);
  }
  return link;
}

}  // namespace tcsim
