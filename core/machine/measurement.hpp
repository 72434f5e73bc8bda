// What was measured on a machine and how: every repetition is kept, so that a figure's spread can
// be seen and judged later. Figures of a Machine are drawn from these; results never are, so they
// are no part of a machine's content hash.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim {

// What a bandwidth measurement does to each element: x[i] = x[i] * a + b in place (acmtc-sc19,
// 6.2), sum += x[i], y[i] = x[i], or x[i] = y[i] + a * z[i]. Bytes loaded and bytes stored count:
// of load-fma-store and copy one load and one store, of triad two loads and one store.
enum class AccessMix { load_fma_store, load, copy, triad };
inline constexpr std::array all_access_mixes{AccessMix::load_fma_store, AccessMix::load,
                                             AccessMix::copy, AccessMix::triad};

// Bandwidth of the link inward of one level, measured in one way.
struct BandwidthSeries {
  AccessMix mix = AccessMix::load_fma_store;
  Bytes element{8};             // 4 or 8
  std::string instruction_set;  // "AVX-512", "AVX2", "SSE", "plain"
  int cores = 1;                // at work at the same time; the rates are of all together
  Bytes working_set;            // of each core
  std::vector<BytesPerSecond> repetitions;
  Hertz frequency;  // sustained while measuring; 0 if unknown
  bool unstable = false;

  BytesPerSecond median() const;
  double spread() const;  // interquartile range over median
  bool operator==(const BandwidthSeries&) const = default;
};

// Multiply-adds in registers, two flops each.
struct PeakSeries {
  std::string instruction_set;
  Bytes element{8};  // 4 or 8
  int cores = 1;
  std::vector<FlopsPerSecond> repetitions;

  FlopsPerSecond median() const;
  double spread() const;  // interquartile range over median
  bool operator==(const PeakSeries&) const = default;
};

// How a machine was measured, in words.
struct Method {
  std::string affinity;  // which threads ran where
  std::string clock;     // timer and its resolution
  std::string pages;     // page size asked for and got
  std::string warm_up;
  int repetitions = 0;  // of each measurement; 0 if they differ

  bool operator==(const Method&) const = default;
};

const char* to_text(AccessMix);

}  // namespace tcsim
