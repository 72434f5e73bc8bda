#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/model/predict.hpp"
#include "tests/core/build.hpp"
#include "tests/core/model/elements_in.hpp"

namespace tcsim {
namespace {

// acmtc-sc19, Table 1: data movement of a one-level tiled matrix multiplication (loops i2, j2, k2
// over tiles) for every choice of which tiles span their whole dimension. Cache lines are one word
// and the cache is ideal for the tile: it holds one tile and nothing more.
TEST(Listing3, Reproduces_the_eight_cases_of_table_1) {
  constexpr std::int64_t n = 40, t = 8;
  for (int whole = 0; whole < 8; ++whole) {
    const std::int64_t ti = whole & 1 ? n : t, tj = whole & 2 ? n : t, tk = whole & 4 ? n : t;
    SCOPED_TRACE(fmt::format("Ti={} Tj={} Tk={}", ti, tj, tk));
    const std::int64_t footprint = ti * tk + tk * tj + ti * tj;
    const Machine m = test::machine({{1, footprint + 1}}, 8);
    const Schedule s = test::schedule(fmt::format(
        "groups m=i n=j k=k for m by {} {{ for n by {} {{ for k by {} {{ for m by 1 {{ for n by 1 "
        "{{ kernel 1x1 }} }} }} }} }}",
        ti, tj, tk));
    const Traffic got = listing3_traffic(test::matmul(n, n, n), s, m);
    // The table's rows of i2: A is reloaded for every tile of j unless k fits whole (then A's tile
    // survives the j loop), B for every tile of i unless j and k fit whole, C is loaded once.
    const std::int64_t a = n * n * (tk == n ? 1 : n / tj);
    const std::int64_t b = n * n * (tj == n && tk == n ? 1 : n / ti);
    EXPECT_EQ(test::elements_in(got, 1, ArrayId::A), a);
    EXPECT_EQ(test::elements_in(got, 1, ArrayId::B), b);
    EXPECT_EQ(test::elements_in(got, 1, ArrayId::C), n * n);
  }
}

}  // namespace
}  // namespace tcsim
