// A Plan is a checked schedule joined with its contraction: everything that an interpreter needs
// to walk the tree with real offsets (core/plan/walk.hpp).
//
// Its arrays are the tensors and the buffers of the path's Moves (core/plan/arrays.hpp). All live
// in one arena; base() gives each array's place in it. The arena itself starts at a multiple of 2
// MiB, so that the bits of an address that choose a cache set are known without running anything.
//
// Walking costs a few nanoseconds a kernel call. An address in a tensor is a sum of one offset for
// each group, since no dimension is in two (core/plan/offsets.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/plan/arrays.hpp"
#include "core/plan/offsets.hpp"
#include "core/plan/pack_order.hpp"
#include "core/plan/tile.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

class Plan {
 public:
  // `schedule` must have passed check(). Throws UnsupportedError if it is not a single path of
  // loops and packs (only_path()), an array has 2^47 bytes or more, or a group more than 2^30
  // elements.
  Plan(const Contraction& contraction, const Schedule& schedule);

  const Contraction& contraction() const { return contraction_; }
  const Schedule& schedule() const { return schedule_; }
  const Path& path() const { return path_; }
  const std::vector<Step>& steps() const { return path_.steps; }
  std::int64_t mr() const { return path_.mr; }
  std::int64_t nr() const { return path_.nr; }
  // block_depth() of the path.
  std::size_t block_depth() const { return block_depth_; }

  bool follows(TensorId t, DimClass g) const { return path_.follows(t, g); }
  bool along_k() const { return path_.along_k; }    // kernels' vectors run along k
  Kernel kernel() const { return path_.kernel(); }  // the largest, where there are two
  bool lanes() const { return path_.lanes; }        // kernels' vectors run along the batch
  TensorId left() const { return path_.left; }      // has the rows (group m) and k
  TensorId right() const { return path_.right(); }  // has the columns (group n) and k
  std::int64_t extent(DimClass group) const { return path_.extents[group]; }
  // Every group whole.
  Tile all() const {
    Tile tile;
    for (DimClass g : all_dim_classes) tile[g] = {0, extent(g)};
    return tile;
  }

  // Element offset within tensor t of index i of `group`; 0 for a group that t lacks.
  std::int64_t offset(TensorId t, DimClass group, std::int64_t i) const {
    return offsets_[t][group][i];
  }
  const Offsets& offsets(TensorId t, DimClass group) const { return offsets_[t][group]; }
  // A table with each of those offsets, for code that goes from one to the next, or nullptr for a
  // group that t lacks. It may be as long as the tensor, so to look up single entries is slow, and
  // it is made when first asked for. Throws UnsupportedError if memory is short, and Interrupted.
  const std::int64_t* offset_table(TensorId t, DimClass group) const;

  // The pack of a tensor, or nullptr where the schedule reads it in place.
  const PackPlan* pack(TensorId t) const {
    const auto& p = packs_[t];
    return p ? &*p : nullptr;
  }

  // Where in its tensor the pack of a tile begins, beside its rows and places along k: at the first
  // place of the batch, and of the right operand of lanes at its column.
  std::int64_t source_of(const PackPlan& pack, const Tile& tile) const {
    const std::int64_t of_batch = offset(pack.tensor, DimClass::batch, tile[DimClass::batch].begin);
    if (!lanes() || pack.tensor == left()) return of_batch;
    return of_batch + offset(pack.tensor, DimClass::n, tile[DimClass::n].begin);
  }

  const Arrays& arrays() const { return arrays_; }
  Bytes element() const { return size_of(contraction_.type()); }
  // First byte of an array in the arena, a multiple of 4096; arrays do not overlap.
  Bytes base(ArrayId a) const { return bases_[a]; }
  Bytes size(ArrayId a) const {
    const TensorId t = arrays_.tensor_of(a);
    if (arrays_.is_buffer(a)) return pack(t)->capacity * element();
    return contraction_.size(t).value() * element();
  }
  Bytes arena_size() const { return arena_size_; }

 private:
  Contraction contraction_;
  Schedule schedule_;
  Path path_;
  Arrays arrays_;
  std::size_t block_depth_ = 0;
  ByTensor<ByGroup<Offsets>> offsets_;
  // Of long groups, shared by copies of the plan.
  struct LongTable {
    std::mutex filling;
    std::vector<std::int64_t> entries;
  };
  std::shared_ptr<ByTensor<ByGroup<LongTable>>> tables_;
  ByTensor<std::optional<PackPlan>> packs_;
  ByArray<Bytes> bases_;
  Bytes arena_size_{};
};

// The packed copies of a schedule's only path, whose Moves are in `arrays`. Throws
// UnsupportedError if one has 2^47 bytes or more.
ByTensor<std::optional<PackPlan>> pack_plans(const Contraction& contraction,
                                             const Schedule& schedule, const Path& path,
                                             const Arrays& arrays);

// First byte of each tensor in the arena, from that of the first one on.
ByTensor<Bytes> tensor_places(const Contraction& contraction);

}  // namespace tcsim
