// Problems up to the limits of what tcsim counts to and past them: every number is what wide
// arithmetic gives, or there is an error that names the limit (core/model/countable.hpp).
#include "core/model/countable.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/model/core_link.hpp"
#include "core/model/held_tiles.hpp"
#include "core/model/predict.hpp"
#include "core/model/window.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/build.hpp"
#include "tests/core/large_problems.hpp"

namespace tcsim::test {
namespace {

Machine small_caches() { return machine({{64, 8}, {512, 8}, {4096, 16}}); }

// Fully associative, of 2^62 bytes: whatever is touched again is there.
Machine endless_caches() { return machine({{1, std::int64_t{1} << 56}}); }

class Large {
 public:
  Large(const Contraction& c, const Schedule& s)
      : contraction(c), schedule(s), core(wide_core_link(c, s)) {}

  // Whether the answer is to be a refusal, as far as the registers and the sizes say.
  bool must_be_refused() const {
    return too_many_elements() || core.total() >= most_link_bytes_wide;
  }
  bool too_many_elements() const {
    return std::ranges::any_of(
        all_tensors, [&](TensorId t) { return wide_size(contraction, t) >= Wide(1) << 53; });
  }
  // No line is asked for more often than elements are, so no link can pass more.
  Wide most_of(const Machine& m) const {
    return 2 * core.total() / wide_element(contraction) * m.levels[0].line.value.value();
  }

  void expect_right(const Machine& m, const Traffic& traffic, const Timing& t) {
    expect_core(traffic.links[0]);
    for (std::size_t l = 0; l < traffic.links.size(); ++l) {
      const LinkTraffic& link = traffic.links[l];
      EXPECT_LT(wide_total(link), most_link_bytes_wide);
      const Wide counted = wide_counted(link, m.accounting);
      EXPECT_EQ(counted, link.counted(m.accounting).value());
      const double seconds = to_double(counted) / m.bandwidth(LevelId{static_cast<int>(l)}).value();
      EXPECT_NEAR(t.links[l].value(), seconds, 1e-12 * seconds);
    }
    EXPECT_EQ(t.total, std::max(t.compute, *std::ranges::max_element(t.links)));
    for (std::size_t l = 1; l < traffic.links.size(); ++l) expect_bounds(m, traffic, l);
  }

  const Contraction& contraction;
  const Schedule& schedule;
  WideLink core;

 private:
  void expect_core(const LinkTraffic& link) {
    ASSERT_EQ(link.arrays, core.arrays);
    for (Phase p : all_phases) {
      for (ArrayId a : core.arrays.ids()) {
        EXPECT_EQ(core.at(p, a).in, link.at(p, a).in.value()) << to_text(core.arrays[a]);
        EXPECT_EQ(core.at(p, a).out, link.at(p, a).out.value()) << to_text(core.arrays[a]);
      }
    }
  }

  static Wide wide_counted(const LinkTraffic& link, const Accounting& accounting) {
    Wide sum = 0;
    for (Phase p : all_phases) {
      for (const Moved& m : link.moved[p]) {
        sum += m.in.value();
        if (accounting.write_backs) sum += m.out.value();
      }
    }
    return sum;
  }

  // Each tensor comes in once at least; no line comes more often than elements are touched, nor
  // over an outer link more often than over the one inside it. Lines are rounded to whole ones.
  void expect_bounds(const Machine& m, const Traffic& traffic, std::size_t l) {
    const LinkTraffic& link = traffic.links[l];
    const double line = static_cast<double>(m.levels[0].line.value.value());
    const double element = to_double(wide_element(contraction));
    for (ArrayId a : link.arrays.ids()) {
      const std::string name = to_text(link.arrays[a]);
      for (Phase p : all_phases) {
        const Moved& moved = link.at(p, a);
        EXPECT_GE(moved.in, Bytes(0));
        EXPECT_GE(moved.out, Bytes(0));
        const double touched = to_double(core.at(p, a).in + core.at(p, a).out) / element * line;
        EXPECT_LE(static_cast<double>(moved.in.value()), touched * (1 + 1e-12) + 2 * line)
            << name << " " << l;
        if (l == 1) continue;
        EXPECT_LE(moved.in, traffic.links[l - 1].at(p, a).in) << name << " " << l;
      }
      if (link.arrays.is_buffer(a)) continue;
      const double once = to_double(wide_size(contraction, link.arrays.tensor_of(a))) * element;
      const double in = static_cast<double>(
          (link.at(Phase::compute, a).in + link.at(Phase::packing, a).in).value());
      EXPECT_GE(in, once * (1 - 1e-12)) << name << " " << l;
    }
  }
};

std::string text_of(const Contraction& c, const Schedule& s) {
  return c.label() + " " + c.sizes() + " " + to_text(c.type()) + " " + to_text(c.layout()) + " " +
         to_line(s, c);
}

TEST(Countable, Predictions_are_what_wide_arithmetic_gives_or_are_refused) {
  Random random(new_seed());
  int right = 0, refused = 0, beyond_doubles = 0;
  for (int i = 0; i < 200; ++i) {
    std::string why;
    const double most = std::pow(10.0, static_cast<double>(random.between(1, 9)));
    const auto c = random_large_contraction(random, most, why);
    if (!c) {
      EXPECT_TRUE(says_too_large(why)) << why;
      ++refused;
      continue;
    }
    const Schedule s = random_schedule(*c, random);
    SCOPED_TRACE(text_of(*c, s));
    check(s, *c, random_levels(), "test");
    const Machine m = small_caches();
    Large large(*c, s);
    for (ModelKind model : {ModelKind::window, ModelKind::listing3}) {
      try {
        const Prediction p = predict(*c, s, m, model);
        EXPECT_FALSE(large.must_be_refused());
        if (model == ModelKind::listing3) {
          EXPECT_EQ(wide_total(p.traffic.links[0]), large.core.total());
          continue;
        }
        large.expect_right(m, p.traffic, p.timing);
        ++right;
        beyond_doubles += large.core.total() > (Wide(1) << 53);
      } catch (const TooLargeError& e) {
        EXPECT_TRUE(says_too_large(e.what())) << e.what();
        EXPECT_TRUE(large.must_be_refused() || large.most_of(m) >= most_link_bytes_wide)
            << e.what();
        ++refused;
      }
    }
    if (HasFailure()) return;
  }
  std::cout << right << " right, " << refused << " refused, " << beyond_doubles
            << " beyond what a double holds\n";
  // The sizes reach from below the limits to past them.
  EXPECT_GT(right, 30);
  EXPECT_GT(refused, 20);
  EXPECT_GT(beyond_doubles, 0);
}

// Tiles of two sizes are counted each for itself.
TEST(Countable, Lines_of_two_tile_sizes_add_up) {
  const Contraction c =
      parse_contraction("efb-gcbfdha-gdbecah", parse_sizes("a=7,b=2,c=5,d=6,e=1,f=9,g=10,h=3"),
                        Layout::column_major, ElementType::f32);
  const Schedule s = parse_schedule(
      "groups m=f n=e k=hcdag batch=b for batch by 1 { seq over k {"
      " part 4306 { for k by 1314 { for m by 3 { for m by 1 { kernel 6x4 } } } }"
      " part 1994 { for k by 245 { for m by 3 { for m by 1 { kernel 6x4 } } } } } }",
      c, "test");
  check(s, c, random_levels(), "test");
  const Traffic traffic = predict(c, s, small_caches()).traffic;
  const auto in = static_cast<double>(traffic.links[1].at(Phase::compute, ArrayId::A).in.value());
  // What tcsim simulate counts on i7-6700k with L2.ways=8 and L3.capacity=4MiB.
  EXPECT_NEAR(in, 5.093e6, 0.02 * 5.093e6);
}

// Where everything stays in the cache, each tensor comes in once and C leaves once: whole numbers
// of lines, exact whatever their size.
TEST(Countable, First_touches_are_exact_up_to_the_limit) {
  Random random(new_seed());
  const Machine m = endless_caches();
  int large = 0;
  for (int i = 0; i < 300; ++i) {
    std::string why;
    const auto c = random_large_contraction(random, 1e6, why);
    if (!c) continue;
    const Schedule s = random_schedule(*c, random);
    SCOPED_TRACE(text_of(*c, s));
    try {
      const LinkTraffic link = predict(*c, s, m).traffic.links[1];
      for (TensorId t : all_tensors) {
        const Wide bytes = wide_round_up(wide_size(*c, t) * wide_element(*c), 64);
        const ArrayId a = array_of(t);
        const Wide in =
            wide(link.at(Phase::compute, a).in.value()) + link.at(Phase::packing, a).in.value();
        EXPECT_EQ(in, bytes) << to_text(t);
        if (t == TensorId::C) {
          EXPECT_EQ(bytes, link.at(Phase::compute, a).out.value());
        }
        large += bytes > Wide(1) << 40;
      }
    } catch (const TooLargeError& e) {
      EXPECT_TRUE(says_too_large(e.what())) << e.what();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(large, 5);
}

TEST(Countable, Optimized_schedules_are_counted_right_or_refused) {
  Random random(new_seed());
  const Machine m = small_caches();
  int right = 0, refused = 0;
  // A quarter is refused: one in a thousand runs of 25 draws would see none.
  for (int i = 0; i < 25 || (refused == 0 && i < 100); ++i) {
    std::string why;
    const double most = std::pow(10.0, static_cast<double>(random.between(2, 8)));
    const auto c = random_large_contraction(random, most, why);
    if (!c) {
      EXPECT_TRUE(says_too_large(why)) << why;
      ++refused;
      continue;
    }
    SCOPED_TRACE(c->label() + " " + c->sizes());
    try {
      const Optimized o = optimize(*c, m);
      SCOPED_TRACE(to_line(o.schedule, *c));
      check(o.schedule, *c, {"L1", "L2", "L3", "memory"}, "test");
      Large large(*c, o.schedule);
      EXPECT_FALSE(large.must_be_refused());
      large.expect_right(m, o.prediction.traffic, o.prediction.timing);
      EXPECT_GT(o.certificate.relaxed_bound, 0);
      EXPECT_EQ(o.certificate.achieved, o.prediction.timing.total.value());
      EXPECT_GE(o.certificate.gap, -1e-9);
      EXPECT_LT(o.certificate.gap, 1e3);
      const Bytes whole = held_tiles(*c, o.schedule, m).back().capacity;
      EXPECT_GT(whole, Bytes(0));
      ++right;
    } catch (const TooLargeError& e) {
      EXPECT_TRUE(says_too_large(e.what())) << e.what();
      ++refused;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(right, 3);
  EXPECT_GT(refused, 0);
  std::cout << right << " right, " << refused << " refused\n";
}

// In 64 bits that wrap around, 5000 would give negative bytes, and 1500 a register link below
// L1-L2.
TEST(Countable, Six_indices_of_5000_or_1500_are_refused_and_of_500_are_not) {
  const auto of = [](std::int64_t n) {
    return parse_contraction("abcd-aebf-dfce",
                             {{'a', n}, {'b', n}, {'c', n}, {'d', n}, {'e', n}, {'f', n}},
                             Layout::row_major, ElementType::f64);
  };
  for (std::int64_t n : {1500, 5000}) {
    EXPECT_EQ(message_of<TooLargeError>([&] { optimize(of(n), small_caches()); }),
              "abcd-aebf-dfce: too large, because 2^62 bytes (4.6 EB) or more would pass link "
              "L1-register; use smaller sizes");
  }
  const Contraction c = of(500);
  const Optimized o = optimize(c, small_caches());
  EXPECT_EQ(wide_total(o.prediction.traffic.links[0]), wide_core_link(c, o.schedule).total());
}

// 2^18 x 2^18 x 2^18 by a kernel of one result: A and B, element by element, are 2^58 bytes, and C
// stays in the registers along k.
TEST(Countable, Limits_are_where_they_are_said_to_be) {
  const auto bytes = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    const Contraction c = matmul(m, n, k);
    const Schedule s = schedule("groups m=j n=i k=k for n by 1 { for m by 1 { kernel 1x1 } }");
    return wide_total(core_link(c, Nest(c, s, Bytes(64)), "L1"));
  };
  const std::int64_t n = std::int64_t{1} << 18;
  EXPECT_EQ(bytes(n, n, n), (Wide(1) << 58) + (Wide(1) << 39));
  EXPECT_EQ(bytes(4 * n, n, 4 * n - 1), (Wide(1) << 62) - (Wide(1) << 42) + (Wide(1) << 41));
  EXPECT_THROW(bytes(4 * n, n, 4 * n), TooLargeError);
  // 2^53 elements are one too many to be indexed exactly.
  const std::int64_t half = std::int64_t{1} << 26;
  EXPECT_NO_THROW(require_countable(matmul(half, 1, 2 * half - 1)));
  EXPECT_EQ(message_of<TooLargeError>([&] { require_countable(matmul(half, 1, 2 * half)); }),
            "ij-ik-kj: too large, because tensor A has 2^53 elements or more; use smaller sizes");
}

}  // namespace
}  // namespace tcsim::test
