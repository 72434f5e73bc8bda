#include "core/model/shared_counts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/model/predict.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// Machines that differ in one cache, which has more sets or another way in each, or in all lines.
std::vector<Machine> machines() {
  const std::vector<test::CacheSpec> caches = {{8, 4}, {32, 8}, {128, 12}};
  std::vector<Machine> all = {test::machine(caches)};
  for (std::size_t l = 0; l < caches.size(); ++l) {
    for (const auto& [sets, ways] : {std::pair{2, 0}, std::pair{1, 1}}) {
      std::vector<test::CacheSpec> other = caches;
      other[l].sets *= sets;
      other[l].ways += ways;
      all.push_back(test::machine(other));
    }
  }
  all.push_back(test::machine(caches, 128));
  for (Machine& m : all) {
    for (Level& l : m.levels) l.bandwidth.value.value = 10;
  }
  return all;
}

void expect_same(const Prediction& found, const Prediction& alone) {
  EXPECT_EQ(found.timing.total, alone.timing.total);
  EXPECT_TRUE(found.traffic == alone.traffic);
}

// Each prediction is made with what all before it have counted, then once more.
void expect_same_everywhere(const Contraction& c, int tile, SharedCounts& counts) {
  const Schedule schedule = parse_schedule(
      fmt::format(
          "groups m=j n=i k=k for k by {} {{ pack B in L2 {{ for n by 32 {{ pack A in L1 {{ "
          "for m by 8 {{ for n by 4 {{ kernel 8x4 }} }} }} }} }} }}",
          tile),
      c, "test");
  const std::vector<Machine> all = machines();
  for (std::size_t m = 0; m < all.size(); ++m) {
    SCOPED_TRACE(fmt::format("{} {} {} tile {} on machine {}", c.sizes(), to_text(c.layout()),
                             to_text(c.type()), tile, m));
    SharedCounts own;
    const Prediction alone = predict(c, schedule, all[m], own);
    expect_same(predict(c, schedule, all[m], counts), alone);
    expect_same(predict(c, schedule, all[m], counts), alone);
  }
}

// Contractions differ in sizes, layout and type alone, schedules in a tile; they pack both.
TEST(Shared_counts, Change_no_prediction) {
  test::Random random(test::new_seed());
  SharedCounts counts;
  for (int trial = 0; trial < test::draws(7); ++trial) {
    const std::int64_t i = random.between(50, 90), j = random.between(50, 90),
                       k = random.between(50, 90);
    for (const ElementType type : {ElementType::f64, ElementType::f32}) {
      for (const Layout layout : {Layout::row_major, Layout::column_major}) {
        const Contraction c =
            parse_contraction("ij-ik-kj", {{'i', i}, {'j', j}, {'k', k}}, layout, type);
        for (const int tile : {24, 40}) expect_same_everywhere(c, tile, counts);
      }
    }
  }
}

TEST(Shared_counts, Tell_copies_apart) {
  const Contraction c = test::matmul(300, 300, 300);
  const Schedule schedule = parse_schedule(
      "groups m=j n=i k=k pack B in L2 { for n by 100 { pack A in L2 { for m by 8 { for n by 4 { "
      "kernel 8x4 } } } } }",
      c, "test");
  const Bytes line(64);
  const Nest nest(c, schedule, line);
  const std::vector<SetAssociative> caches = {{8, 4}};
  SharedCounts counts;
  for (int depth : {0, 2, 0}) {
    const CopiedAgain alone = copied_again(c, schedule, nest, depth, caches, line);
    const CopiedAgain& found = counts.copied(c, schedule, nest, depth, caches, line);
    EXPECT_EQ(found.source, alone.source);
    EXPECT_EQ(found.buffer, alone.buffer);
  }
  EXPECT_NE(counts.copied(c, schedule, nest, 0, caches, line).source,
            copied_again(c, schedule, nest, 2, caches, line).source);
}

}  // namespace
}  // namespace tcsim
