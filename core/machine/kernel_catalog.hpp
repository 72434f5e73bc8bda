// How fast each microkernel is by itself on one machine, and which of them are worth composing
// (ttile, 5.1 and Fig. 7). A catalog says nothing of a problem: it is measured once on a machine.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim {

// How a kernel finds the columns of its right operand at one place along k. ttile has four schemes,
// which unroll over r and s or not; here the sum over k is a loop of any length, and what differs
// is how the operand lies.
enum class KernelScheme {
  packed,    // neighbours, as in a packed panel
  in_place,  // evenly apart, as the pixels of an image whose channels are k
};
inline constexpr std::array all_kernel_schemes{KernelScheme::packed, KernelScheme::in_place};
const char* to_text(KernelScheme);

// One kernel at one length of its sum.
struct KernelPoint {
  std::int64_t k = 0;
  FlopsPerSecond rate;  // median over the repetitions
  double of_peak = 0;   // median of the shares of the multiply-add peak at the time, in (0, 10]
  bool operator==(const KernelPoint&) const = default;
};

// A register tile of rows x columns.
struct MeasuredKernel {
  std::string instruction_set;  // "plain", "avx2", "avx512"
  Bytes element{8};             // 4 or 8
  KernelScheme scheme = KernelScheme::packed;
  int vectors = 1;
  Elements rows{1};  // a whole number for each vector
  Elements columns{1};
  std::vector<KernelPoint> points;  // one or more, by rising k

  const KernelPoint& longest() const { return points.back(); }
  bool operator==(const MeasuredKernel&) const = default;
};

// A kernel at its longest k that reaches this share of the best one's is a candidate. Source:
// ttile, 5.1: "We select the ones above 85% optimal".
inline constexpr double candidate_share = 0.85;

struct KernelCatalog {
  std::string tcsim_version;        // whose kernels these are
  std::string processor;            // the name that the operating system gives it
  Bytes first_cache;                // of a core; operands and result fit it
  std::chrono::year_month_day day;  // of the measurement, in UTC
  std::string method;               // in words, on one line
  int repetitions = 1;              // of each point
  std::vector<MeasuredKernel> kernels;

  // The kernels of a type and scheme whose share of the peak at their longest k is at least
  // `candidate_share` of the best one's, in the order of the catalog. They point into it.
  std::vector<const MeasuredKernel*> candidates(Bytes element, KernelScheme scheme) const&;
  std::vector<const MeasuredKernel*> candidates(Bytes, KernelScheme) const&& = delete;

  bool operator==(const KernelCatalog&) const = default;
};

inline constexpr std::int64_t kernel_catalog_schema = 1;
// What mends a catalog that is missing or wrong.
inline constexpr const char* kernel_catalog_mend = "run 'tcsim probe --kernels'";

// Reads and checks the text of a catalog. `place` stands for the file in errors. Throws InputError
// with "file:line:column"; unknown keys and kernels that are there twice are errors.
KernelCatalog parse_kernel_catalog(std::string_view toml, const std::string& place);

// The text (TOML): parse_kernel_catalog(to_toml(c)) == c, every figure to the last bit.
std::string to_toml(const KernelCatalog& catalog);

}  // namespace tcsim
