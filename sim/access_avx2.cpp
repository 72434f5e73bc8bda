// Compiled for AVX2 between the pragmas, and called only where the processor has it. Whatever other
// files use as well is included before them: the linker keeps one copy of an inline function, and
// that one has to run everywhere.
#include <immintrin.h>

#include <cstring>

#include "sim/level.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#include "sim/access_policy.hpp"
#include "sim/access_wide.hpp"

namespace tcsim::sim {

namespace {

struct Avx2 {
  static constexpr std::uint32_t width = 8;
  using Vector [[gnu::vector_size(4 * width)]] = std::uint32_t;
  static constexpr Vector lane{0, 1, 2, 3, 4, 5, 6, 7};
  static constexpr Vector bit{1, 2, 4, 8, 16, 32, 64, 128};

  static void pick(const Vector& mask, const Vector& a, const Vector& b, Vector& to) {
    to = Vector(_mm256_blendv_epi8(__m256i(b), __m256i(a), __m256i(mask)));
  }
  static LaneMask mask_of(const Vector& mask) {
    return static_cast<LaneMask>(_mm256_movemask_ps(__m256(mask)));
  }
};

}  // namespace

Access access_avx2(std::uint32_t ways) { return access_wide_for<Avx2>(ways); }
LevelOperations operations_avx2(Replacement policy) { return operations_for<Avx2>(policy); }

}  // namespace tcsim::sim

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
