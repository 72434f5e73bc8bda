// The set of a line where the index of its level is not modulo (core/machine/set_index.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/config.hpp"

namespace tcsim::sim {

class SetHash {
 public:
  explicit SetHash(const LevelConfig& level)
      : sets_(static_cast<std::uint64_t>(level.sets)),
        in_slice_(static_cast<std::uint64_t>(level.sets_in_slice())),
        piece_bits_(level.index.hashed ? static_cast<int>(std::bit_width(sets_ - 1)) : 0),
        flip_(level.slice_flip) {
    const int line_bits = std::countr_zero(static_cast<std::uint64_t>(level.line.value()));
    for (std::uint64_t mask : level.index.masks) masks_.push_back(mask >> line_bits);
  }

  std::uint64_t set_of(std::uint64_t line) const {
    if (masks_.empty()) {
      if (piece_bits_ == 0) return line % sets_;
      std::uint64_t number = line;
      for (std::uint64_t rest = line >> piece_bits_; rest != 0; rest >>= piece_bits_) {
        number ^= rest;
      }
      return number % sets_;
    }
    std::uint64_t slice = flip_;
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      slice ^= std::uint64_t{static_cast<unsigned>(__builtin_parityll(line & masks_[i]))} << i;
    }
    return slice * in_slice_ + line % in_slice_;
  }

 private:
  std::uint64_t sets_, in_slice_;
  int piece_bits_;
  std::uint64_t flip_;
  std::vector<std::uint64_t> masks_;  // of line numbers
};

}  // namespace tcsim::sim
