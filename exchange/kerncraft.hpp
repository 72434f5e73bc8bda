// Words of kerncraft's machine files and of likwid-bench, in both directions. Internal to
// exchange/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/machine/machine.hpp"

namespace tcsim::exchange {

// "64 B/cy", "2.4 GHz", "32.00 kB": the value without its (decimal) prefix.
struct KerncraftUnit {
  double value = 0;
  std::string unit;   // "B/cy", "Hz", "B"
  int thousands = 0;  // of the prefix: 3 for G
};
std::optional<KerncraftUnit> parse_kerncraft_unit(std::string_view text);

// The kernels of likwid-bench that move what an AccessMix moves: update, load, copy and stream.
std::optional<AccessMix> mix_of_likwid_kernel(std::string_view kernel);
const char* likwid_kernel(AccessMix mix);

// "update_avx512" -> "AVX-512" and back. Another set becomes its name in small letters:
// "update_neon".
std::string instruction_set_of_likwid_kernel(std::string_view variant);
std::string likwid_variant(AccessMix mix, const std::string& instruction_set);

// LRU, FIFO and RR (random), which pycachesim has; empty for another.
std::optional<Replacement> pycachesim_replacement(std::string_view policy);
const char* pycachesim_policy(Replacement policy);  // nullptr: it has none

}  // namespace tcsim::exchange
