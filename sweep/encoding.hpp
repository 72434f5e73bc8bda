// Computed points as bytes: what the store keeps and what ranks send each other. Whatever bytes are
// decoded, nothing outside them is read.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/study/evaluate.hpp"

namespace tcsim {

// Bytes that no encoder writes.
class BadBytes : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// A chain with its points. decoded_chain() throws BadBytes.
std::string encoded(const ChainResult& result);
ChainResult decoded_chain(std::string_view bytes);

// All of a point but its number and its schedule. decoded_figures() throws BadBytes.
std::string encoded_figures(const PointResult& point);
PointResult decoded_figures(std::string_view bytes);

// CRC-32 of the texts one after another, as a whole number.
std::int64_t checksum(std::initializer_list<std::string_view> bytes);

}  // namespace tcsim
