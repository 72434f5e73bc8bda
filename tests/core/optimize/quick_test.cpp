#include "core/optimize/quick.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/machine/toml.hpp"
#include "core/model/kernel_time.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/small_contraction.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

TEST(Quick_schedule, Is_legal_and_computes_as_fast_as_what_is_searched) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  for (const char* name : {"i7-6700k", "gold-6130"}) {
    const Machine machine = find_machine(name);
    double ratios = 0;
    int count = 0;
    while (count < 60) {
      const Contraction c = test::small_contraction(random);
      if (!fits_first_cache(c, machine)) continue;
      SCOPED_TRACE(
          fmt::format("{} {} {} {}", c.label(), c.sizes(), to_text(c.layout()), to_text(c.type())));
      const Schedule quick = quick_schedule(c, machine);
      ASSERT_NO_THROW(check(quick, c, {"L1", "L2", "L3"}, "quick"));
      const Schedule searched = optimize(c, machine, for_running()).schedule;
      ratios += std::log(kernel_time(c, quick, machine) / kernel_time(c, searched, machine));
      ++count;
    }
    EXPECT_LT(std::exp(ratios / count), 1.25) << name;  // 1.05, and 1.17 at most of 300 draws
  }
}

TEST(Quick_schedule, Is_for_plain_tensors_that_the_first_cache_has_room_for) {
  const Machine machine = find_machine("i7-6700k");  // 32 KiB
  const auto fits = [&](const char* sizes) {
    return fits_first_cache(
        parse_contraction("ij-ik-kj", parse_sizes(sizes), Layout::row_major, ElementType::f64),
        machine);
  };
  EXPECT_TRUE(fits("i=32,j=32,k=48"));  // 8 KiB and twice 12
  EXPECT_FALSE(fits("i=32,j=32,k=49"));
}

// Rows that are together in C end where tiles do.
TEST(Quick_schedule, Keeps_to_rows_and_packs_nothing_that_is_read_well) {
  const Contraction c = parse_contraction("acb-ab-cb", parse_sizes("a=10,b=7,c=9"),
                                          Layout::column_major, ElementType::f64);
  const Schedule s = quick_schedule(c, find_machine("gold-6130"));
  EXPECT_EQ(to_line(s, c).find("pack"), std::string::npos) << to_line(s, c);
}

// Of kernels and orders the one with the fewest calls, and no pack where rows are together in C for
// five at a time.
TEST(Quick_schedule, Has_few_calls_and_packs) {
  const Machine machine = find_machine("gold-6130");
  const auto chosen = [&](const char* label, const char* sizes, Layout layout) {
    const Contraction c = parse_contraction(label, parse_sizes(sizes), layout, ElementType::f64);
    return to_line(quick_schedule(c, machine), c);
  };
  EXPECT_EQ(chosen("ab-ak-kb", "a=20,b=13,k=10", Layout::row_major),
            "groups m=b n=a k=k for n by 10 { kernel 13x10 }");
  EXPECT_EQ(chosen("bca-ba-c", "a=21,b=5,c=23", Layout::column_major),
            "groups m=ba n=c for m by 5 { for n by 12 { kernel 5x12 } }");
}

}  // namespace
}  // namespace tcsim
