// Copies a tensor into another order of its dimensions, in squares through vector registers.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/matrix_view.hpp"

namespace tcsim::bench {

class Transposition {
 public:
  struct Dim {
    std::int64_t extent;
    std::int64_t from, to;  // strides in elements
  };
  // Every element is named once on both sides.
  explicit Transposition(std::vector<Dim> dims);

  // The two do not overlap. T is float or double.
  template <class T>
  void operator()(const T* from, T* to) const;

 private:
  template <class T>
  void copy_runs(const T* from, T* to) const;
  template <class T>
  void copy_squares(const T* from, T* to) const;

  bool runs_ = false;  // the fastest dimension is the same on both sides
  Dim fast_{1, 1, 1};  // of `from`; of both with runs_
  Dim slow_{1, 1, 1};  // the fastest of `to`, without runs_
  LoopNest others_;    // outermost: largest stride in `to`
  std::vector<std::int64_t> rows_, columns_;
};

}  // namespace tcsim::bench
