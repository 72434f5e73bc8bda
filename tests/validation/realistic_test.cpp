// The model on schedules that somebody might write by hand: nested tiles that fill 30 to 100 % of
// each cache, in any order, packed or not, of contractions with one to three dimensions a group.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sim/validate.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim {
namespace {

using test::Random;

constexpr std::array<std::int64_t, 3> kernel{8, 6, 1};

// Extents of the groups m, n and k.
using Extents3 = std::array<std::int64_t, 3>;

// Elements of the three tiles together.
std::int64_t footprint(const Extents3& t) { return t[0] * t[1] + t[0] * t[2] + t[1] * t[2]; }

// Grows `tile` by whole kernels along random groups until it has about `elements`.
Extents3 grown(Extents3 tile, const Extents3& whole, std::int64_t elements, Random& random) {
  for (int failed = 0; failed < 20;) {
    const auto g = static_cast<std::size_t>(random.between(0, 2));
    Extents3 larger = tile;
    const std::int64_t unit = g == 2 ? 8 : kernel[g];
    larger[g] = std::min(whole[g], (tile[g] + std::max(tile[g] / 4, unit)) / unit * unit);
    if (larger == tile || footprint(larger) > elements) {
      ++failed;
    } else {
      tile = larger;
    }
  }
  return tile;
}

Schedule realistic_schedule(const Contraction& c, const Machine& m, Random& random) {
  Schedule s;
  Extents3 whole{};
  constexpr std::array classes{DimClass::m, DimClass::n, DimClass::k};
  for (std::size_t g = 0; g < 3; ++g) {
    for (DimId d : c.dims_of(classes[g])) s.groups[classes[g]].push_back(d);
    random.shuffle(s.groups[classes[g]]);
    whole[g] = c.extent(classes[g]).value();
  }
  std::vector<Extents3> bands;  // innermost first
  Extents3 tile{std::min(kernel[0], whole[0]), std::min(kernel[1], whole[1]),
                std::min<std::int64_t>(32, whole[2])};
  for (int l = 0; l < m.cache_count(); ++l) {
    const std::int64_t elements = m.level(LevelId{l}).capacity.value / size_of(c.type());
    tile = grown(tile, whole, elements * random.between(30, 100) / 100, random);
    bands.push_back(tile);
  }
  // Each operand is packed between two bands, or not at all in one schedule of six.
  std::array<std::int64_t, 2> packed_at{};
  for (auto& p : packed_at) p = random.between(0, 5) == 0 ? -1 : random.between(0, 1);
  std::vector<Node> spine;
  for (std::size_t b = bands.size(); b-- > 0;) {
    std::vector<std::size_t> order{0, 1, 2};
    random.shuffle(order);
    for (std::size_t g : order) spine.push_back({Loop{classes[g], Elements(bands[b][g]), {}}});
    for (std::size_t t = 0; t < 2; ++t) {
      if (packed_at[t] == static_cast<std::int64_t>(bands.size() - 1 - b)) {
        const std::string level = b + 1 == bands.size() ? "L3" : "L2";
        spine.push_back({Move{Move::Kind::pack, t == 0 ? TensorId::A : TensorId::B, level, {}}});
      }
    }
  }
  std::vector<std::size_t> order{0, 1};
  random.shuffle(order);
  for (std::size_t g : order) {
    spine.push_back({Loop{classes[g], Elements(std::min(kernel[g], whole[g])), {}}});
  }
  s.root = nested(spine, Kernel{Elements(kernel[0]), Elements(kernel[1])});
  check(s, c, {"L1", "L2", "L3", "memory"}, "random");
  return s;
}

Contraction realistic_contraction(Random& random) {
  const auto size = [&](std::int64_t about) {
    return random.between(about * 3 / 4, about * 5 / 4);
  };
  const Layout layout = random.chance(50) ? Layout::row_major : Layout::column_major;
  switch (random.between(0, 2)) {
    case 0:
      return test::matmul(size(240), size(240), size(240), layout);
    case 1:
      return parse_contraction(
          "abc-bda-dc", {{'a', size(16)}, {'b', size(16)}, {'c', size(240)}, {'d', size(240)}},
          layout, ElementType::f64);
    default:
      return parse_contraction("abcd-aebf-dfce",
                               {{'a', size(16)},
                                {'b', size(16)},
                                {'c', size(16)},
                                {'d', size(16)},
                                {'e', size(16)},
                                {'f', size(16)}},
                               layout, ElementType::f64);
  }
}

// A whole count of schedules, TCSIM_SCHEDULES, instead of one that takes a few seconds.
int schedules(int few) {
  const char* many = std::getenv("TCSIM_SCHEDULES");
  return many == nullptr ? few : std::atoi(many);
}

ValidationSummary errors_of(const Machine& m, std::uint64_t seed, int few) {
  const int count = schedules(few);
  Random random(seed);
  std::vector<Validated> all;
  for (int i = 0; i < count; ++i) {
    const Contraction c = realistic_contraction(random);
    const Schedule s = realistic_schedule(c, m, random);
    all.push_back(validate(c, s, m, {.explain = 1e9}));
  }
  const ValidationSummary s = summary(all);
  fmt::print("{} links: median {:.3f} %, 90th percentile {:.2f} %, worst {:.1f} %\n", s.links,
             100 * s.median, 100 * s.p90, 100 * s.worst);
  return s;
}

// 8 KiB, 64 KiB and 512 KiB, for tensors of half a megabyte each. The limits are those of
// docs/validation.md, with room for the few schedules of a quick run.
TEST(Realistic, Schedules_on_set_associative_caches) {
  SCOPED_TRACE("seed 7");
  const ValidationSummary s = errors_of(test::machine({{16, 8}, {128, 8}, {512, 16}}), 7, 50);
  EXPECT_LE(s.median, 0.05);
  EXPECT_LE(s.p90, 0.20);
}

TEST(Realistic, The_same_on_fully_associative_caches) {
  SCOPED_TRACE("seed 7");
  const ValidationSummary s = errors_of(test::machine({{1, 128}, {1, 1024}, {1, 8192}}), 7, 8);
  EXPECT_LE(s.median, 0.05);
  EXPECT_LE(s.p90, 0.30);
}

// A victim cache of the level inside it (acmtc-sc19, 5.5): no worse than levels that promise
// nothing.
TEST(Realistic, Exclusive_outer_levels) {
  SCOPED_TRACE("seed 8");
  Machine m = test::machine({{16, 8}, {128, 8}, {512, 16}});
  for (std::size_t outer : {std::size_t{2}, std::size_t{1}}) {
    m.levels[outer].inclusion.value = Inclusion::exclusive;
    const ValidationSummary s = errors_of(m, 8, 12);
    EXPECT_LE(s.median, 0.06);
    EXPECT_LE(s.p90, 0.30);
  }
}

// Predicted as levels that promise nothing; what they take away from the caches inside is missing,
// so the prediction is low.
TEST(Realistic, Inclusive_outer_levels) {
  SCOPED_TRACE("seed 9");
  Machine m = test::machine({{16, 8}, {128, 8}, {512, 16}});
  for (std::size_t outer : {std::size_t{2}, std::size_t{1}}) {
    m.levels[outer].inclusion.value = Inclusion::inclusive;
    const ValidationSummary s = errors_of(m, 9, 12);
    EXPECT_LE(s.median, 0.10);
    EXPECT_LE(s.p90, 0.40);
  }
}

// Nothing of what the model leaves to chance is there: no sets, tiles that divide, buffers and
// rows of whole lines, and windows that fit with room or not at all.
TEST(Realistic, Ideal_tiles_in_fully_associative_caches_agree_exactly) {
  const Machine m = test::machine({{1, 256}, {1, 4096}});
  // Both operands along k, so that packs fill one micropanel after another. Where the rows run
  // along memory they fill several side by side, and the kernels find what came last still there.
  const Contraction c = parse_contraction("ij-ik-jk", {{'i', 96}, {'j', 96}, {'k', 128}},
                                          Layout::row_major, ElementType::f64);
  for (const char* text :
       {"groups m=j n=i k=k for k by 32 { pack A in L2 { pack B in L2 { for n by 6 { for m by 8 { "
        "kernel 8x6 } } } } }",
        "groups m=j n=i k=k for n by 48 { for k by 64 { pack A in L2 { pack B in L2 { for m by 8 { "
        "for n by 6 { kernel 8x6 } } } } } }",
        "groups m=j n=i k=k pack B in L2 { for m by 48 { pack A in L2 { for n by 6 { for m by 8 { "
        "kernel 8x6 } } } } }"}) {
    const Schedule s = test::schedule(text);
    for (const ValidatedLink& link : validate(c, s, m).links) {
      EXPECT_EQ(link.all.predicted, link.all.simulated) << text << m.link(link.level);
      for (const Compared& tensor : link.by_tensor) {
        EXPECT_EQ(tensor.predicted, tensor.simulated) << text << m.link(link.level);
      }
    }
  }
}

}  // namespace
}  // namespace tcsim
