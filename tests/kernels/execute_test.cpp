#include "kernels/execute.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "core/plan/walk.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "kernels/ahead.hpp"
#include "kernels/crew.hpp"
#include "kernels/shapes.hpp"
#include "tests/core/random_convolution.hpp"
#include "tests/environment.hpp"
#include "tests/groups.hpp"
#include "tests/kernels/build.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// Small whole numbers: every sum below is then exact, in whatever order it is formed.
template <class T>
std::vector<long double> fill_with_integers(Random& random, Arena& arena, const Plan& plan,
                                            TensorId t) {
  std::vector<long double> copy(static_cast<std::size_t>(plan.contraction().size(t).value()));
  for (std::size_t i = 0; i < copy.size(); ++i) {
    const std::int64_t number = between(random, -8, 8);
    arena.as<T>(array_of(t))[i] = static_cast<T>(number);
    copy[i] = static_cast<long double>(number);
  }
  return copy;
}

template <class T>
std::vector<long double> contents(Arena& arena, const Plan& plan, TensorId t) {
  const T* data = arena.as<T>(array_of(t));
  return {data, data + plan.contraction().size(t).value()};
}

// Runs the schedule with whole numbers and compares with the definition, then with the usual
// inputs and compares with check_result().
template <class T>
void expect_correct(Random& random, const Contraction& c, const Schedule& schedule) {
  check(schedule, c, {"L1", "L2", "L3"}, "test");
  const Plan plan(c, schedule);
  SCOPED_TRACE(fmt::format("{} {} {} {}: {}", c.label(), c.sizes(), to_text(c.layout()),
                           kernel_used(plan), to_line(schedule, c)));
  Arena arena(plan);
  const auto a = fill_with_integers<T>(random, arena, plan, TensorId::A);
  const auto b = fill_with_integers<T>(random, arena, plan, TensorId::B);
  // What was in C and in the buffers must not matter.
  std::fill_n(arena.as<T>(ArrayId::C), c.size(TensorId::C).value(),
              std::numeric_limits<T>::quiet_NaN());
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (const PackPlan* pack = plan.pack(t)) {
      std::fill_n(arena.as<T>(pack->buffer), pack->capacity, std::numeric_limits<T>::quiet_NaN());
    }
  }
  execute(plan, arena);
  EXPECT_EQ(contents<T>(arena, plan, TensorId::C), evaluate(c, a, b));
  EXPECT_EQ(contents<T>(arena, plan, TensorId::A), a);
  EXPECT_EQ(contents<T>(arena, plan, TensorId::B), b);

  fill_inputs(arena, plan, 7);
  execute(plan, arena);
  const Check result = check_result(arena, plan, c.size(TensorId::C), 7);
  EXPECT_TRUE(result.ok()) << result.worst_error;
  EXPECT_EQ(result.checked, c.size(TensorId::C));
}

void expect_correct(Random& random, const Contraction& c, const Schedule& schedule) {
  if (c.type() == ElementType::f64) {
    expect_correct<double>(random, c, schedule);
  } else {
    expect_correct<float>(random, c, schedule);
  }
}

void expect_random_cases_correct(ElementType type, std::int64_t mr, std::int64_t nr, int cases) {
  for (int i = 0; i < cases; ++i) {
    const std::uint64_t seed =
        static_cast<std::uint64_t>(mr * 1000 + nr) * 100'000 + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c = random_contraction(random, type, 6000);
    expect_correct(random, c, random_schedule(random, c, mr, nr));
    if (testing::Test::HasFailure()) return;
  }
}

void expect_random_convolutions_correct(ElementType type, std::int64_t mr, std::int64_t nr,
                                        int cases) {
  for (int i = 0; i < cases; ++i) {
    const std::uint64_t seed =
        static_cast<std::uint64_t>(mr * 1000 + nr) * 100'000 + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c = test::random_convolution(
        [&](std::int64_t low, std::int64_t high) { return between(random, low, high); }, type);
    expect_correct(random, c, random_schedule(random, c, mr, nr));
    if (testing::Test::HasFailure()) return;
  }
}

// With the instruction set that the shape is made for.
class Every_shape : public testing::TestWithParam<KernelShape> {
 protected:
  void SetUp() override {
    const InstructionSet needs = GetParam().needs;
    if (!can_run(needs)) GTEST_SKIP() << "this processor has no " << to_text(needs);
    limit_.emplace("TCSIM_ISA", to_text(needs));
  }

 private:
  std::optional<test::Variable> limit_;
};

TEST_P(Every_shape, Computes_random_contractions_in_random_schedules) {
  const KernelShape& shape = GetParam();
  expect_random_cases_correct(shape.type, shape.mr.value(), shape.nr.value(), 300);
}

// Groups of more than 1024 places are looked up in short tables (core/plan/offsets.hpp).
TEST_P(Every_shape, Finds_the_places_of_long_groups) {
  const KernelShape& shape = GetParam();
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  for (int cases = 0; cases < 60;) {
    const Contraction c = random_contraction(random, shape.type, 40000);
    const auto is_long = [&](DimClass g) { return c.extent(g) > Elements(1024); };
    if (std::ranges::none_of(all_dim_classes, is_long)) continue;
    ++cases;
    expect_correct(random, c, random_schedule(random, c, shape.mr.value(), shape.nr.value()));
    if (HasFailure()) return;
  }
}

// Channels last: columns are evenly apart within a row of the image, and places along k jump from
// one row of the filter to the next. Nothing is packed, so kernels follow both.
TEST_P(Every_shape, Reads_images_as_they_lie) {
  const KernelShape& shape = GetParam();
  const std::int64_t mr = shape.mr.value(), nr = shape.nr.value();
  for (const auto& [x, c, stride] : {std::tuple{nr, 8, 1}, {2 * nr + 3, 5, 2}, {5L, 3, 1}}) {
    const Contraction layer = contraction_of(
        parse_convolution("conv2d",
                          fmt::format("n=2,k={},c={},y=3,x={},r=3,s=2,stride={},layout=nhwc{}k",
                                      2 * mr, c, x, stride, mr),
                          shape.type));
    for (const char* order :
         {"for n by {1} {{ for m by {0} {{ kernel {0}x{1} }} }}",
          "for m by {0} {{ for n by {1} {{ kernel {0}x{1} }} }}",
          "for k by 7 {{ for n by {1} {{ for m by {0} {{ kernel {0}x{1} }} }} }}"}) {
      const std::int64_t columns = std::min(nr, 2 * 3 * x);
      const std::string text =
          "groups m=lk n=xyn k=csr " + fmt::format(fmt::runtime(order), mr, columns);
      SCOPED_TRACE(layer.sizes() + " " + text);
      Random random(static_cast<std::uint64_t>(x * c));
      expect_correct(random, layer, parse_schedule(text, layer, "s"));
    }
  }
}

// The left operand's tile is larger than a first cache, so that what is read next is asked for.
TEST_P(Every_shape, Asks_for_large_tiles_that_it_reads_later) {
  const KernelShape& shape = GetParam();
  const std::int64_t mr = shape.mr.value(), nr = shape.nr.value();
  const std::int64_t channels = (32 << 10) / (mr * 6 * size_of(shape.type).value()) + 1;
  const Contraction layer = contraction_of(parse_convolution(
      "conv2d", fmt::format("k={},c={},y=2,x={},r=3,s=2,layout=nhwc{}k", 3 * mr, channels, nr, mr),
      shape.type));
  for (const char* order :
       {"for m by {0} {{ for n by {1} {{ kernel {0}x{1} }} }}",
        "for n by {1} {{ for m by {0} {{ kernel {0}x{1} }} }}",
        "for m by {2} {{ for n by {1} {{ for m by {0} {{ kernel {0}x{1} }} }} }}"}) {
    const std::string text =
        "groups m=lk n=xyn k=csr " + fmt::format(fmt::runtime(order), mr, nr, 2 * mr);
    SCOPED_TRACE(layer.sizes() + " " + text);
    Random random(static_cast<std::uint64_t>(mr * nr));
    expect_correct(random, layer, parse_schedule(text, layer, "s"));
  }
}

// Depthwise layers with channels last: each lane is a channel of its own. Channels that fill the
// tiles and such that do not, rows of the image that columns cross, weights packed and in place.
TEST_P(Every_shape, Has_lanes_for_channels) {
  const KernelShape& shape = GetParam();
  const std::int64_t mr = shape.mr.value(), nr = shape.nr.value();
  Random random(static_cast<std::uint64_t>(mr * nr));
  for (int i = 0; i < 30; ++i) {
    const std::int64_t channels = between(random, 1, 3) * mr + (i % 3 == 0 ? 5 : 0);
    const Contraction layer = contraction_of(parse_convolution(
        "conv2d",
        fmt::format("n=2,k={0},c={0},groups={0},y={1},x={2},r={3},s={4},stride={5},layout=nhwc",
                    channels, between(random, 1, 4), between(random, 1, 2 * nr + 3),
                    between(random, 1, 3), between(random, 1, 3), between(random, 1, 2)),
        shape.type));
    const bool m_inside = between(random, 0, 1) == 1, packed = i % 2 == 0;
    std::string text = fmt::format("kernel {}x{}", mr, nr);
    for (const bool m : {m_inside, !m_inside}) {
      const std::int64_t tile =
          std::min(m ? mr : nr, layer.extent(m ? DimClass::batch : DimClass::m).value());
      text = fmt::format("for {} by {} {{ {} }}", m ? "m" : "n", tile, text);
    }
    if (packed) text = fmt::format("pack B in L1 {{ {} }}", text);
    if (i % 5 == 0) text = fmt::format("for k by 1 {{ {} }}", text);
    const Schedule schedule = parse_schedule("groups m=g n=xynk k=csr " + text, layer, "s");
    SCOPED_TRACE(layer.sizes() + " " + text);
    expect_correct(random, layer, schedule);
    if (HasFailure()) return;
  }
}

// Matrices in a batch whose index has stride one everywhere: both operands lie as kernels of lanes
// read them.
TEST_P(Every_shape, Has_lanes_for_a_batch_of_matrices) {
  const KernelShape& shape = GetParam();
  const std::int64_t mr = shape.mr.value(), nr = shape.nr.value();
  for (const std::int64_t rest : {std::int64_t{0}, std::int64_t{1}}) {
    const Contraction c = parse_contraction(
        "han-hkan-hk", parse_sizes(fmt::format("h={},a=3,n={},k=7", 4 * mr + rest, nr)),
        Layout::column_major, shape.type);
    for (const char* order : {"for n by {1} {{ for m by {0} {{ kernel {0}x{1} }} }}",
                              "for m by {0} {{ for n by {1} {{ kernel {0}x{1} }} }}"}) {
      Random random(static_cast<std::uint64_t>(mr));
      expect_correct(
          random, c,
          parse_schedule("groups m=h n=an k=k " + fmt::format(fmt::runtime(order), mr, nr), c,
                         "s"));
    }
  }
}

// Both operands have places of their own besides: the left one's run in group batch, outside or
// inside loops over lanes.
TEST_P(Every_shape, Has_lanes_for_rows_and_columns) {
  const KernelShape& shape = GetParam();
  const std::int64_t mr = shape.mr.value(), nr = shape.nr.value();
  for (const char* label : {"han-hka-hkn", "hna-hkn-kha", "anh-kah-nkh", "han-ha-hn"}) {
    const std::string rest = std::string(label) == "han-ha-hn" ? "" : ",k=7";
    const Contraction c = parse_contraction(
        label, parse_sizes(fmt::format("h={},a=5,n={}{}", 3 * mr + 1, nr + 2, rest)),
        Layout::column_major, shape.type);
    const bool exchanged = c.dim_class(*std::ranges::find_if(c.dims_of(TensorId::C), [&](DimId d) {
      return c.dim(d).name == 'n';
    })) == DimClass::m;
    const char* const left = exchanged ? "B" : "A";
    for (const char* order :
         {"for batch by 1 {{ for n by {1} {{ for m by {0} {{ kernel {0}x{1} }} }} }}",
          "for m by {0} {{ for batch by 1 {{ for n by {1} {{ kernel {0}x{1} }} }} }}",
          "for m by {0} {{ for n by {1} {{ for batch by 1 {{ kernel {0}x{1} }} }} }}",
          "for m by {0} {{ for batch by 1 {{ pack {2} in L1 {{ for n by {1} {{ kernel {0}x{1} }} "
          "}} }} }}"}) {
      Random random(static_cast<std::uint64_t>(mr));
      expect_correct(
          random, c,
          parse_schedule(fmt::format("groups m=h n=n{} batch=a ", rest.empty() ? "" : " k=k") +
                             fmt::format(fmt::runtime(order), mr, nr, left),
                         c, "s"));
      if (HasFailure()) return;
    }
  }
}

TEST_P(Every_shape, Computes_random_convolutions_in_random_schedules) {
  const KernelShape& shape = GetParam();
  expect_random_convolutions_correct(shape.type, shape.mr.value(), shape.nr.value(), 150);
}

// Sizes that are not multiples of any shape, all of k in two pieces: whole tiles, partial tiles on
// both sides and both the overwriting and the adding pass go through the vector code.
TEST_P(Every_shape, Computes_a_matrix_product_with_ragged_edges) {
  const KernelShape& shape = GetParam();
  const std::int64_t mr = shape.mr.value(), nr = shape.nr.value();
  const Contraction c =
      contraction("mn", "mk", "kn", {{'m', 2 * mr + 3}, {'n', 3 * nr + 1}, {'k', 37}},
                  Layout::column_major, shape.type);
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = loop(
      DimClass::k, 20,
      pack(TensorId::B, "L3",
           pack(TensorId::A, "L2", loop(DimClass::n, nr, loop(DimClass::m, mr, kernel(mr, nr))))));
  EXPECT_EQ(kernel_used(Plan(c, s)), fmt::format("{} {}x{}", to_text(shape.needs), mr, nr));
  Random random(1);
  expect_correct(random, c, s);
}

INSTANTIATE_TEST_SUITE_P(Execute, Every_shape, testing::ValuesIn(kernel_shapes()),
                         [](const auto& shape) {
                           return fmt::format("{}_{}_{}x{}", to_text(shape.param.needs),
                                              to_text(shape.param.type), shape.param.mr.value(),
                                              shape.param.nr.value());
                         });

TEST(Execute, Tiles_that_no_kernel_has_are_covered_by_several) {
  for (const auto& [mr, nr] :
       {std::pair{1, 1}, {5, 7}, {3, 2}, {13, 1}, {52, 1}, {120, 1}, {100, 3}, {70, 31}}) {
    for (ElementType type : {ElementType::f64, ElementType::f32}) {
      expect_random_cases_correct(type, mr, nr, 60);
    }
  }
}

// C is larger than what is in the caches without being asked for.
TEST(Execute, Results_in_short_pieces_and_single_ones_go_to_a_large_C) {
  for (ElementType type : {ElementType::f64, ElementType::f32}) {
    const Contraction c =
        parse_contraction("abc-acd-db", parse_sizes("a=67,b=59,c=43,d=3"), Layout::row_major, type);
    for (const char* rows : {"ca", "ac"}) {
      for (const char* loops : {"for n by 12 { for m by 16 { kernel 16x12 } }",
                                "for k by 2 { for m by 48 { for n by 8 { kernel 48x8 } } }"}) {
        Random random(3);
        const std::string text =
            fmt::format("groups m={} n=b k=d pack A in L2 {{ {} }}", rows, loops);
        expect_correct(random, c, parse_schedule(text, c, "s"));
      }
    }
  }
}

TEST(Execute, Products_without_sums_are_written_line_by_line) {
  for (const std::int64_t mr : {1, 4, 21, 64}) {
    for (ElementType type : {ElementType::f64, ElementType::f32}) {
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        Random random(seed);
        const Contraction c = random_product(random, type, 20000);
        expect_correct(random, c, random_schedule(random, c, mr, 1));
        if (HasFailure()) return;
      }
    }
  }
}

// A batch without sums: each place of a line has a number of its own.
TEST(Execute, Lines_of_lanes_are_multiplied_place_by_place) {
  for (ElementType type : {ElementType::f64, ElementType::f32}) {
    for (const char* order : {"for n by 1 { for m by 16 { kernel 16x1 } }",
                              "for m by 16 { for n by 1 { kernel 16x1 } }",
                              "pack A in L1 { for n by 1 { for m by 16 { kernel 16x1 } } }"}) {
      const Contraction c = parse_contraction("hgn-hg-hgn", {{'h', 21}, {'g', 5}, {'n', 40}},
                                              Layout::column_major, type);
      Random random(5);
      expect_correct(random, c, parse_schedule(std::string("groups m=hg n=n ") + order, c, "s"));
    }
  }
}

TEST(Execute, A_full_reduction_gives_a_scalar) {
  // C = sum over a=3, b=5 of A[ab] B[ba].
  const Contraction c = contraction("", "ab", "ba", {{'a', 3}, {'b', 5}});
  Schedule s;
  s.groups = test::groups(c, {"", "", "ba", ""});
  s.root = loop(DimClass::k, 4, kernel(4, 4));
  Random random(2);
  expect_correct(random, c, s);
}

TEST(Execute, An_outer_product_needs_no_k) {
  const Contraction c = contraction("ba", "a", "b", {{'a', 9}, {'b', 10}}, Layout::row_major);
  Schedule s;
  s.groups = test::groups(c, {"a", "b", "", ""});
  s.root = pack(TensorId::A, "L2",
                pack(TensorId::B, "L1", loop(DimClass::m, 4, loop(DimClass::n, 4, kernel(4, 4)))));
  Random random(3);
  expect_correct(random, c, s);
}

// k by 100, and inside it by 30: pieces of 30, 30, 30, 10, and the next ones begin at 100 and not
// at 90 + 30. The buffers have to follow.
TEST(Execute, K_tiles_that_do_not_divide_each_other_are_packed_in_place) {
  const Contraction c = contraction("mn", "mk", "kn", {{'m', 17}, {'n', 9}, {'k', 250}});
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = pack(TensorId::B, "L3",
                pack(TensorId::A, "L2",
                     loop(DimClass::k, 100,
                          loop(DimClass::m, 8,
                               loop(DimClass::k, 30,
                                    loop(DimClass::n, 4, loop(DimClass::m, 4, kernel(4, 4))))))));
  Random random(4);
  expect_correct(random, c, s);
}

TEST(Execute, Names_the_code_it_uses) {
  const Contraction c = contraction("mn", "mk", "kn", {{'m', 4}, {'n', 6}, {'k', 3}});
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = pack(TensorId::A, "L2", pack(TensorId::B, "L1", kernel(4, 6)));
  const char* const best = to_text(best_instruction_set());
  EXPECT_EQ(kernel_used(Plan(c, s)), fmt::format("{} 4x6", best));
  s.root = pack(TensorId::A, "L2", kernel(8, 12));
  EXPECT_EQ(kernel_used(Plan(c, s)), fmt::format("{} 8x12, B in place", best));
}

// Kernel calls as (m, n, k, offsets, first_writer).
using Calls = std::vector<std::array<std::int64_t, 9>>;

struct Single {
  void pack(const PackPlan&, const Tile&) { calls.push_back({}); }
  void kernel(const KernelCall& call) {
    const Tile& t = *call.tile;
    const Interval m = t[DimClass::m], n = t[DimClass::n], k = t[DimClass::k];
    calls.push_back({m.begin, m.size, n.begin, n.size, k.begin, k.size, call.left_offset,
                     call.right_offset, call.first_writer});
  }
  Calls calls;
};

struct Blocks {
  void pack(const PackPlan&, const Tile&) { calls.push_back({}); }
  void block(const KernelBlock& block) {
    const Interval k = (*block.tile)[DimClass::k];
    for_each_call(block, [&](Interval m, Interval n, std::int64_t left, std::int64_t right) {
      calls.push_back({m.begin, m.size, n.begin, n.size, k.begin, k.size, left < 0 ? -1 : left,
                       right < 0 ? -1 : right, block.first_writer});
    });
  }
  Calls calls;
};

TEST(Walk, Blocks_are_the_kernel_calls_in_their_order) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c = random_contraction(random, ElementType::f64, 3000);
    const Plan plan(c, random_schedule(random, c, 8, 6));
    Single single;
    walk(plan, single);
    Blocks blocks;
    walk(plan, blocks);
    ASSERT_EQ(blocks.calls, single.calls) << to_line(plan.schedule(), plan.contraction());
  }
}

// The left operand's tiles of all rounds, and what is said in each of the one after it.
struct AllRounds {
  explicit AllRounds(const Plan& p) : plan(p), rounds(p) { rounds.begin(p.all()); }
  void pack(const PackPlan&, const Tile&) {}
  void kernel(const KernelCall&) {
    if (!calls.empty()) ++calls.back();
  }
  bool skips(const Iteration& it) {
    rounds.enter(it.depth, *it.tile);
    if (!rounds.any() || it.depth != rounds.turn()) return false;
    const Tile& tile = *it.tile;
    tiles.push_back(tile);
    calls.push_back(0);
    said.push_back(rounds.next());
    const std::int64_t panels = (tile[DimClass::m].size + plan.mr() - 1) / plan.mr();
    expected_calls.push_back(panels * rounds.calls_per_panel(tile));
    return false;
  }
  const Plan& plan;
  Rounds rounds;
  std::vector<Tile> tiles;
  std::vector<std::optional<Rounds::Panels>> said;
  std::vector<std::int64_t> calls, expected_calls;
};

// Whether a loop over the batch stands inside others: then a round may say nothing.
bool goes_through_batch(const Plan& plan) {
  bool inside = false;
  for (const Step& s : plan.steps()) {
    if (s.kind != Step::Kind::loop) continue;
    if (inside && s.group == DimClass::batch) return true;
    inside = true;
  }
  return false;
}

TEST(Rounds, Say_what_the_next_one_reads) {
  int next = 0, exact = 0, rounds = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c = random_contraction(random, ElementType::f64, 3000);
    const Plan plan(c, random_schedule(random, c, 4, 3));
    AllRounds all(plan);
    walk(plan, all);
    for (std::size_t i = 0; i < all.tiles.size(); ++i) {
      std::optional<Rounds::Panels> expected;
      const auto panels = [&](std::size_t at) {
        return Rounds::Panels{all.tiles[at][DimClass::m], all.tiles[at][DimClass::k]};
      };
      const auto batch = [&](std::size_t at) { return all.tiles[at][DimClass::batch]; };
      if (i + 1 < all.tiles.size() && panels(i + 1) != panels(i) &&
          (batch(i) == batch(i + 1) || !plan.follows(plan.left(), DimClass::batch))) {
        expected = panels(i + 1);
      }
      if (!all.said[i] && goes_through_batch(plan)) expected.reset();
      ASSERT_EQ(all.said[i], expected) << to_line(plan.schedule(), c) << " round " << i;
      next += expected.has_value();
      exact += all.calls[i] == all.expected_calls[i];
      ++rounds;
    }
  }
  EXPECT_GT(next, 300);
  // Tiles that do not divide each other, or two kernels, take more.
  EXPECT_GT(exact, rounds / 2);
}

TEST(Execute, Stops_when_asked) {
  const Contraction c = contraction("mn", "mk", "kn", {{'m', 64}, {'n', 64}, {'k', 1}});
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = loop(DimClass::n, 1, loop(DimClass::m, 2, loop(DimClass::m, 1, kernel(1, 1))));
  const Plan plan(c, s);
  Arena arena(plan);
  std::stop_source source;
  EXPECT_NO_THROW(execute(plan, arena, source.get_token()));
  source.request_stop();
  EXPECT_THROW(execute(plan, arena, source.get_token()), Interrupted);
}

TEST(PreparedPlan, Has_as_many_threads_as_are_wanted) {
  const Contraction c = parse_contraction("ij-ik-kj", parse_sizes("i=200,j=150,k=40"),
                                          Layout::column_major, ElementType::f64);
  const Plan plan(c, parse_schedule("groups m=i n=j k=k for n by 30 { for m by 8 { for n by 6 { "
                                    "kernel 8x6 } } }",
                                    c, "test"));
  Arena arena(plan);
  EXPECT_EQ(PreparedPlan(plan, arena, 1).threads(), 1);
  EXPECT_EQ(PreparedPlan(plan, arena, 2).threads(), 2);
}

// The plan has a table of offsets for each tensor and group; a thread has none as long as a group.
TEST(ExecutionMemory, Has_the_tables_of_the_plan_and_of_every_thread) {
  const Contraction c = parse_contraction("ij-ik-kj", parse_sizes("i=20000,j=15,k=40"),
                                          Layout::column_major, ElementType::f64);
  const Schedule s = parse_schedule(
      "groups m=i n=j k=k for n by 15 { for m by 8 { for n by 6 { kernel 8x6 } } }", c, "test");
  const auto of = [&](int threads) { return execution_memory(c, s, threads).tables.value(); };
  constexpr std::int64_t i = 20000, j = 15, k = 40, entry = sizeof(std::int64_t);
  EXPECT_GE(of(1), 2 * (i + j + k) * entry);
  EXPECT_LT(of(3) - of(2), i * entry);
  EXPECT_EQ(of(3) - of(2), of(2) - of(1));
  // A buffer for results whose rows are apart in C: a region of 96 rows by 160 columns, f64.
  const auto of_one = [&](const char* label) {
    const Contraction one = parse_contraction(label, parse_sizes("i=96,j=2000,k=9"),
                                              Layout::column_major, ElementType::f64);
    return execution_memory(one,
                            parse_schedule("groups m=i n=j k=k for n by 160 { for k by 4 { for "
                                           "n by 8 { for m by 24 { kernel 24x8 } } } }",
                                           one, "test"),
                            1)
        .tables;
  };
  EXPECT_GE((of_one("ji-ik-kj") - of_one("ij-ik-kj")).value(), 96 * 160 * 8 + (96 + 160) * entry);
}

}  // namespace
}  // namespace tcsim
