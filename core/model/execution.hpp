// One execution of a part of a nest, seen from a line: how much every array touches after the
// line's last touch and before its first. Two executions of the same part, one after the other,
// then show what lies between two touches of the line (docs/design.md, "The window model").
//
// A Move is a sequence of two children: the copy, which touches the tensor and the buffer, and what
// is inside, which touches the buffer. One rule holds for the children of a sequence: later ones
// come after the line's last touch, earlier ones before its first.
#pragma once

#include <utility>
#include <vector>

#include "core/model/nest.hpp"

namespace tcsim {

class Execution {
 public:
  // The steps of `nest`, which must outlive this, from depth `from` on, when step `from` finds
  // `extents`. `told_apart`: how many loops around a line have their first, last and inner
  // positions told apart; further in, a line counts as an inner one, since that moves a window by
  // little.
  Execution(const Nest& nest, int from, const Extents& extents, int told_apart);

  // Distinct lines of each array, and the extents, of the steps from depth d on.
  const PerArray& full(int d) const { return full_[static_cast<std::size_t>(d)]; }
  const Extents& extents(int d) const { return narrowed_[static_cast<std::size_t>(d)]; }

  // A tile of about so many lines of tensor t, as the nest goes over them: a part of the smallest
  // node that holds them, or several of the whole (the loop around it runs over `outer`).
  Extents box(TensorId t, double lines, DimClass outer) const;

  // Lines of each array on the two sides of a line x, for a share of x's lines.
  struct Sides {
    PerArray after, before;
    double share = 1;
  };

  // Of the lines of x at every position that is told apart: after x here, before x in `next`, a
  // later execution of the same steps. x is touched by the kernel, by a copy, or by both.
  std::vector<Sides> sides(ArrayId x, const Execution& next) const;

  // Of one line of x, at these fused indices: from where `from` begins, or of a buffer from where
  // its copy does. `after` and `before` of this execution.
  Sides sides_of(ArrayId x, const Extents& at) const;

  // The same within one execution, for lines that one child of the sequence at step `from` touches
  // last and the next one first: a buffer's, between the copy and what is inside.
  std::vector<Sides> handed_over(ArrayId buffer) const;

 private:
  // Where a line lies: iterations of the loops whose positions are told apart, by depth, and how
  // far it is within one iteration, from 0 to 1.
  struct Places {
    std::vector<std::pair<int, double>> iterations;
    double part = 0.5;
  };

  template <class F>
  void visit_positions(ArrayId x, int from, F&& f) const;
  DimClass goes_along(TensorId t, int d) const;
  double iteration(int d, const Places& places) const;
  double way_through(ArrayId buffer, const Places& places) const;
  int leaf(ArrayId x) const;
  double count(int d) const;
  void add(PerArray& side, int d, ArrayId a, double lines) const;
  // Shares of what a copy reads and of what it writes.
  struct Copied {
    double read, written;
    Copied rest() const { return {1 - read, 1 - written}; }
  };
  Copied before_writing(int d, double written) const;
  void add_copied(PerArray& side, int d, const Copied& share) const;
  Sides kernel_sides(ArrayId x, const Places& places) const;
  void outward(Sides& s, ArrayId x, int d, const Places& places) const;
  void beside_earlier(Sides& s, ArrayId x, int d, const Places& places) const;
  Sides sides_at(ArrayId x, const Places& places) const;

  const Nest& nest_;
  int from_;
  int told_apart_;
  std::vector<Extents> narrowed_;
  std::vector<PerArray> full_;
};

}  // namespace tcsim
