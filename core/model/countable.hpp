// How large a problem may be so that every number of its answer is right (docs/design.md, "How far
// tcsim counts"): tensors of less than 2^53 elements, so that indices, extents and strides are
// exact where the model computes with doubles, and less than 2^62 bytes over a link, so that any
// sum of some of them fits in 64 bits.
#pragma once

#include <cmath>
#include <string>

#include "core/error.hpp"
#include "core/machine/machine.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// A number of the answer passes what tcsim counts to: exit code 4.
class TooLargeError : public UnsupportedError {
 public:
  using UnsupportedError::UnsupportedError;
};

inline constexpr double most_link_bytes = 0x1p62;

// Throws TooLargeError if a tensor has too many elements.
void require_countable(const Contraction& contraction);

// Throws TooLargeError: as many bytes or more would pass the link.
[[noreturn]] void refuse_link(const Contraction& contraction, const std::string& link);

// Turns lines that a model expects over one link into bytes. Throws TooLargeError where they are
// too many together.
class LineCounter {
 public:
  // The link inward from machine.levels[level].
  LineCounter(const Contraction& contraction, const Machine& machine, LevelId level, Bytes line)
      : contraction_(contraction), machine_(machine), level_(level), line_(line) {}

  Bytes bytes(double lines) {
    sum_ += lines * static_cast<double>(line_.value());
    if (!(sum_ < most_link_bytes)) refuse_link(contraction_, machine_.link(level_));
    return std::llround(lines) * line_;
  }

 private:
  const Contraction& contraction_;
  const Machine& machine_;
  LevelId level_;
  Bytes line_;
  double sum_ = 0;
};

}  // namespace tcsim
