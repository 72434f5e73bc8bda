// Hashes that are the same everywhere and for ever: they are in results and file names.
#pragma once

#include <cstdint>
#include <string_view>

namespace tcsim {

// SplitMix64: the finalizer of Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators" (OOPSLA 2014), in Stafford's variant 13.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// FNV-1a, 64 bits.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace tcsim
