// The set of a line by modulo.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace tcsim::sim {

class SetModulo {
 public:
  explicit SetModulo(std::uint64_t sets)
      : sets_(sets),
        magic_(std::numeric_limits<std::uint64_t>::max() / sets + 1),
        masked_(std::has_single_bit(sets)) {}

  std::uint64_t operator()(std::uint64_t line) const {
    if (masked_) return line & (sets_ - 1);
    // By two multiplications (Lemire, Kaser, Kurz 2019, exact for 32 bits).
    __extension__ using Wide = unsigned __int128;
    if (line >> 32 == 0) return static_cast<std::uint64_t>((Wide{magic_ * line} * sets_) >> 64);
    return line % sets_;
  }

 private:
  std::uint64_t sets_, magic_;  // 2^64 / sets, rounded up
  bool masked_;
};

}  // namespace tcsim::sim
