#include "core/model/core_link.hpp"

#include <initializer_list>

#include "core/model/countable.hpp"

namespace tcsim {

namespace {

// Sum over all ranges at depth d, each rounded up to whole panels.
std::int64_t padded(const Nest& nest, int d, DimClass g, std::int64_t panel) {
  std::int64_t sum = 0;
  for (const auto& r : nest.ranges(d, g)) sum += r.times * ((r.size + panel - 1) / panel * panel);
  return sum;
}

// Bytes of one link, whose sum has to be a number that tcsim counts to.
class Counter {
 public:
  Counter(const Contraction& contraction, const std::string& innermost)
      : contraction_(contraction), innermost_(innermost) {}

  // As many bytes as the product of the factors, times an element's.
  Bytes bytes(std::initializer_list<std::int64_t> factors) {
    const Bytes element = size_of(contraction_.type());
    auto about = static_cast<double>(element.value());
    for (std::int64_t f : factors) about *= static_cast<double>(f);
    sum_ += about;
    if (!(sum_ < most_link_bytes)) refuse_link(contraction_, innermost_ + "-register");
    std::int64_t product = 1;
    for (std::int64_t f : factors) product *= f;
    return product * element;
  }

 private:
  const Contraction& contraction_;
  const std::string& innermost_;
  double sum_ = 0;
};

}  // namespace

LinkTraffic core_link(const Contraction& contraction, const Nest& nest,
                      const std::string& innermost) {
  const Path& path = nest.path();
  const int kernel = nest.depth() - 1;
  const auto extent = [&](DimClass g) { return path.extents[g]; };
  const std::int64_t batch = extent(DimClass::batch);
  Counter count(contraction, innermost);
  LinkTraffic link(nest.arrays());

  const std::int64_t results = extent(DimClass::m) * extent(DimClass::n) * batch;
  const std::int64_t k_tiles = nest.tiles(kernel, DimClass::k);
  link.at(Phase::compute, ArrayId::C) = {count.bytes({results, k_tiles - 1}),
                                         count.bytes({results, k_tiles})};

  for (TensorId t : {TensorId::A, TensorId::B}) {
    const DimClass rows = path.rows_of(t);
    const DimClass others = rows == DimClass::m ? DimClass::n : DimClass::m;
    const std::int64_t panel = path.panel_of(t);
    const int pack = nest.pack_depth(t);
    // A packed micropanel is read whole, padding included.
    const std::int64_t read = pack < 0 ? extent(rows) : padded(nest, kernel, rows, panel);
    const ArrayId from = nest.read_as(t);
    const std::int64_t k = extent(DimClass::k);
    if (path.lanes && t != path.left && pack < 0) {  // each lane has columns of its own
      link.at(Phase::compute, from).in =
          count.bytes({extent(DimClass::m), extent(DimClass::n), k, batch});
      continue;
    }
    link.at(Phase::compute, from).in = count.bytes({read, k, nest.tiles(kernel, others), batch});
    if (pack < 0) continue;
    // All of the tensor, for each iteration of loops that it does not follow.
    std::int64_t packs = 1;
    for (DimClass g : {others, DimClass::batch}) {
      packs *= path.follows(t, g) ? extent(g) : nest.tiles(pack, g);
    }
    link.at(Phase::packing, array_of(t)).in = count.bytes({extent(rows), packs, k});
    link.at(Phase::packing, from).out = count.bytes({padded(nest, pack, rows, panel), packs, k});
  }
  return link;
}

}  // namespace tcsim
