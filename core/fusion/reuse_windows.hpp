// Between the touches of a line by two leaves of a fused schedule: which leaf touched it last, what
// lies in between, and whether a cache keeps it that long (core/fusion/cached_model.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/fusion/storey.hpp"
#include "core/machine/machine.hpp"
#include "core/model/execution.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/model/set_counts.hpp"
#include "core/model/window.hpp"

namespace tcsim::fusion {

// Lines of a tile whose rows are counted set by set. Source: chosen, as core/optimize/search.hpp.
inline constexpr double most_counted_lines = 16384;

// A leaf by itself: what it moves beside its first touches, and where in it a line is touched.
struct LeafModel {
  std::vector<std::int64_t> tile;  // by dimension
  Groups groups;
  WarmLines warm;
  std::optional<Nest> nest;  // none of a rough one
  std::optional<Execution> execution;

  double packed() const {
    double lines = 0;
    for (ArrayId a : warm.arrays.ids()) lines += warm.arrays.is_buffer(a) ? warm.first[a] : 0;
    return lines;
  }
};

// Of one schedule.
class ReuseWindows {
 public:
  // By statement, a leaf of whole tiles and the one that packs most; all outlive this. Without a
  // counter, roughly: by the length of windows alone.
  ReuseWindows(const OperationTree& tree, const Machine& machine, const Storey& storey,
               const std::vector<const LeafModel*>& leaves,
               const std::vector<const LeafModel*>& packing, SetCounter* counter);

  // What touches row x: a tensor of the leaf, or its packed operands (array -1).
  struct Touch {
    int leaf = 0;  // node
    int array = -1;
    TensorId tensor = TensorId::A;
  };

  // Each class of first touches with its share of them, outward from the leaf.
  struct Reuse {
    double share = 0;
    Touch from;
    int common = -1;  // node; -1: never touched before
  };

  std::vector<Reuse> classes(const Touch& x) const;

  // Chance at every cache that a line of the class is gone.
  std::vector<double> gone(const Touch& x, const Reuse& reuse) const;

  std::size_t caches() const { return caches_.size(); }

 private:
  const LeafModel& model(const Touch& x) const {
    return *(x.array < 0 ? packing_ : leaves_)[slot(storey_.node(x.leaf).statement)];
  }

  // Of the lines of a loop's tiles, the share that the tile before has as well: where tiles begin
  // or end within a line.
  double edges(int array, int loop, int body) const;

  // The touches of x's row inside a node, the last one first, with the share of x's lines that each
  // has.
  std::vector<std::pair<Touch, double>> touches(int n, const Touch& x) const;

  // Where a line is: along each axis, from where the current range begins.
  using Place = std::vector<double>;

  Place place_of(const Touch& x, int n, int point) const;

  // Iteration of a loop in which the line is, whose place becomes that within its tile.
  double iteration(const Storey::Node& loop, int array, Place& place) const;

  // Lines of every row that the leaf touches after (or before) the line.
  Rows beside_in_leaf(const Touch& x, const Place& place, int point, bool after) const;

  // One of the buffers, each as likely as its share of the lines.
  static ArrayId buffer_at(const LeafModel& leaf, double share);

  // What is touched after (or before) the line x from its leaf out to one execution of the child of
  // `common`.
  Rows outward(const Touch& x, int common, Place place, int point, bool after) const;

  static void add(Rows& to, const Rows& more, const Rows& most) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::min(most[i], to[i] + more[i]);
  }

  std::vector<double> gone_at(const Touch& x, const Reuse& reuse, int point) const;

  int child_of(int n, int ancestor) const {
    while (storey_.node(n).parent != ancestor) n = storey_.node(n).parent;
    return n;
  }

  std::vector<double> chances(const Rows& window, const Touch& x, int scope, int common) const;

  // Buffers are contiguous; tiles of tensors are rows, and where it matters their sets are counted.
  WindowPart part_of(int row, double lines, bool own, const SetAssociative* cache, int scope,
                     int common) const;

  // A tile of about so many lines: fewer of the outermost axis' places, or more along the loop.
  void resize(int array, std::vector<std::int64_t>& extents, double lines, int common) const;

  const OperationTree& tree_;
  const Storey& storey_;
  // By statement: the leaf of whole tiles, and the one that packs most.
  const std::vector<const LeafModel*>&leaves_, &packing_;
  SetCounter* counter_;  // none: roughly
  double line_;          // elements
  std::vector<SetAssociative> caches_;
};

}  // namespace tcsim::fusion
