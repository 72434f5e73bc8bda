#include "core/model/copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <set>

#include "core/machine/toml.hpp"
#include "core/model/window.hpp"
#include "core/plan/walk.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// The slow twin: every copy of a plan, element by element, through caches that are lists.
struct CopyTwin {
  const Plan& plan;
  std::vector<SetAssociative> shapes;
  std::int64_t line;  // bytes
  ByTensor<CopiedAgain> again{};
  ByTensor<int> copies{};
  std::vector<std::list<std::int64_t>> caches{};  // fully associative
  std::set<std::int64_t> seen{};

  void touch(std::vector<double>& lost, ArrayId a, std::int64_t element) {
    const std::int64_t at = (plan.base(a).value() + element * plan.element().value()) / line;
    const bool is_new = seen.insert(at).second;
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      auto& lines = caches[l];
      const auto place = std::ranges::find(lines, at);
      const bool there = place != lines.end();
      if (there) lines.erase(place);
      lines.push_front(at);
      if (std::ssize(lines) > static_cast<std::int64_t>(shapes[l].lines())) lines.pop_back();
      if (there) return;
      if (!is_new) lost[l] += 1;
    }
  }

  void pack(const PackPlan& pack, const Tile& tile) {
    const TensorId t = pack.tensor;
    ++copies[t];
    again[t].source.resize(shapes.size());
    again[t].buffer.resize(shapes.size());
    caches.assign(shapes.size(), {});
    seen.clear();
    std::int64_t place = 0;  // of the batch
    std::int64_t shift = 0;  // of it, in the buffer
    // Of lanes the right operand has a column, too.
    const std::int64_t column =
        plan.lanes() ? plan.offset(t, DimClass::n, tile[DimClass::n].begin) : 0;
    const auto read = [&](std::int64_t row, std::int64_t k) {
      touch(again[t].source, array_of(t),
            plan.offset(t, DimClass::batch, place) + column + plan.offset(t, pack.rows, row) +
                plan.offset(t, DimClass::k, k));
    };
    const auto copy = [&](std::span<const PackBlock> blocks) {
      if (blocks.size() == 1) {
        const PackBlock& b = blocks.front();
        const std::int64_t outer = pack.along_rows ? b.k_size : b.rows;
        const std::int64_t inner = pack.along_rows ? b.rows : b.k_size;
        for (std::int64_t i = 0; i < outer; ++i) {
          for (std::int64_t j = 0; j < inner; ++j) {
            pack.along_rows ? read(b.row + j, b.k + i) : read(b.row + i, b.k + j);
          }
        }
        for (std::int64_t i = 0; i < pack.panel * b.k_size; ++i) {
          touch(again[t].buffer, pack.buffer, b.destination + shift + i);
        }
        return;
      }
      for (std::int64_t k = 0; k < blocks.front().k_size; ++k) {
        for (std::int64_t row = 0; row < pack.panel; ++row) {
          for (const PackBlock& b : blocks) {
            if (row < b.rows) read(b.row + row, b.k + k);
          }
        }
        for (const PackBlock& b : blocks) {
          for (std::int64_t i = 0; i < pack.panel; ++i) {
            touch(again[t].buffer, pack.buffer, b.destination + shift + k * pack.panel + i);
          }
        }
      }
    };
    const Interval batch = tile[DimClass::batch];
    for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
      for (std::int64_t b = 0; b < pack.places && b < batch.size; ++b) {
        place = batch.begin + b;
        shift = (place % pack.places - batch.begin % pack.places) * pack.place;
        copy(blocks);
      }
    });
  }
  void kernel(const KernelCall&) {}
};

// Where there are few copies all of them are made, so nothing is left to chance.
TEST(Copied_again, Is_what_a_twin_counts_of_few_copies) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  int compared = 0;
  double lost = 0;
  for (int i = 0; i < 3000; ++i) {
    const Contraction c = test::random_contraction(random);
    const Schedule s = test::random_schedule(c, random);
    const Bytes line(random.pick(std::vector<std::int64_t>{8, 16, 64}));
    const Nest nest(c, s, line);
    const Plan plan(c, s);
    const std::vector<SetAssociative> caches{
        {1, random.between(2, 6)}, {1, random.between(7, 20)}, {1, random.between(65, 90)}};
    CopyTwin twin{plan, caches, line.value()};
    walk(plan, twin);
    for (TensorId t : {TensorId::A, TensorId::B}) {
      if (twin.copies[t] == 0 || twin.copies[t] > 4) continue;
      const CopiedAgain found = copied_again(c, s, nest, nest.pack_depth(t), caches, line);
      ++compared;
      for (std::size_t l = 0; l < caches.size(); ++l) {
        lost += twin.again[t].source[l];
        EXPECT_NEAR(found.source[l], twin.again[t].source[l], 1e-6)
            << c.label() << ' ' << c.sizes() << ' ' << to_line(s, c) << " level " << l;
        EXPECT_NEAR(found.buffer[l], twin.again[t].buffer[l], 1e-6) << to_line(s, c);
      }
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(lost, 100);
}

// 24 copies of 4.7 million elements, whose source's stride-one dimension lies behind others: the
// beginnings of four copies had three times as many lines that come back as there are.
TEST(Copied_again, Beginning_of_a_large_copy_stands_for_all_of_it) {
  const Contraction c =
      parse_contraction("edbc-beacf-fad", parse_sizes("a=86,b=85,c=27,d=11,e=41,f=7"),
                        Layout::column_major, ElementType::f32);
  const Machine machine = find_machine("e5-2680v4");
  const Schedule s = parse_schedule(
      "groups m=ebc n=d k=af for k by 301 { for m by 15696 { pack A in L3 { for m by 24 { for n by "
      "4 { kernel 24x4 } } } } }",
      c, "test");
  const Nest nest(c, s, common_line(machine));
  const std::vector<SetAssociative> caches = sets_of_caches(machine);
  const int depth = nest.pack_depth(TensorId::A);
  const CopiedAgain found = copied_again(c, s, nest, depth, caches, common_line(machine));
  constexpr std::int64_t one_copy = 5'000'000;
  const CopiedAgain whole = copied_again(c, s, nest, depth, caches, common_line(machine), one_copy);
  EXPECT_GT(whole.source[1], 1e6);
  EXPECT_NEAR(found.source[1] / whole.source[1], 1, 0.2);
}

}  // namespace
}  // namespace tcsim
