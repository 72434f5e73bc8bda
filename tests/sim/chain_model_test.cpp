// The model of chains inside caches: what is exact against the simulation, what can be said by
// hand, and the choice where it is clear.
#include "core/fusion/cached_model.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/fusion/cached_choice.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "sim/simulate_chain.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using fusion::CachedChoice;
using fusion::CachedModel;
using fusion::ChainTraffic;
using fusion::FusedNode;
using fusion::LeafSchedules;
using fusion::OperationTree;
using fusion::TiledTree;
using fusion::two_products;

constexpr int row_T = 0, row_A = 1, row_B = 2, row_C = 3, row_D = 4;

// Caches of 12, 64 and 512 KiB.
Machine zen5_of(std::vector<std::string> sets) {
  Machine m = find_machine("zen5");
  sets.insert(sets.begin(), {"L1.capacity=12KiB", "L2.capacity=64KiB", "L3.capacity=512KiB"});
  for (const std::string& s : sets) m = override_knob(m, s).machine;
  return m;
}

FusedNode fused_by(const OperationTree& tree, const std::string& text) {
  const FusedNode node = fusion::parse_fused(text, tree, "given");
  fusion::check_cached(tree, node, "given");
  return node;
}

// Tiles in whole lines, so that none share any.
void even_tiles(std::mt19937_64& random, TiledTree& tiled, std::vector<std::int64_t> ranges) {
  std::ranges::shuffle(tiled.loops, random);
  for (TiledTree::Loop& l : tiled.loops) {
    std::int64_t& range = ranges[static_cast<std::size_t>(l.index)];
    l.tile = 8 * std::uniform_int_distribution<std::int64_t>(1, range / 8)(random);
    while (range % l.tile != 0) l.tile -= 8;
    range = l.tile;
  }
  for (TiledTree& part : tiled.parts) even_tiles(random, part, ranges);
}

// Everything fits into every cache, so that what moves is what is touched, once, and the core's own
// loads and stores.
TEST(Cached_model, Counts_what_is_touched_where_everything_fits) {
  std::mt19937_64 random(test::new_seed());
  const Machine machine = zen5_of({"L1.capacity=4MiB", "L2.capacity=8MiB", "L3.capacity=16MiB"});
  for (int i = 0; i < 12; ++i) {
    const auto extent = [&] {
      return 8 * std::uniform_int_distribution<std::int64_t>(1, 5)(random);
    };
    const OperationTree tree =
        two_products(fmt::format("i={} j={} k={} l={}", extent(), extent(), extent(), extent()));
    const std::vector<TiledTree> structures = fusion::cached_structures(tree);
    TiledTree tiled = structures[random() % structures.size()];
    std::vector<std::int64_t> ranges;
    for (const OperationTree::Index& index : tree.indices) ranges.push_back(index.extent);
    even_tiles(random, tiled, ranges);
    const FusedNode node = to_node(tree, tiled);
    LeafSchedules schedules(tree, machine);
    const ChainTraffic predicted = CachedModel(schedules).traffic(node);
    const ChainTraffic counted = simulate_chain(node, schedules).traffic;
    for (int l = 0; l < 4; ++l) {
      for (int row : {row_T, row_A, row_B, row_C, row_D}) {
        EXPECT_EQ(predicted.of_array(l, row), counted.of_array(l, row))
            << l << " " << predicted.arrays[static_cast<std::size_t>(row)] << "\n"
            << to_text(tree, node);
      }
    }
  }
}

// What the core loads and stores is exact for whatever tiles.
TEST(Cached_model, Knows_what_the_core_loads_and_stores) {
  std::mt19937_64 random(test::new_seed());
  const Machine machine = zen5_of({});
  for (int i = 0; i < 12; ++i) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + i % 3, 9));
    const std::vector<TiledTree> structures = fusion::cached_structures(tree);
    TiledTree tiled = structures[random() % structures.size()];
    for (TiledTree::Loop& l : tiled.loops) l.tile = 1 + static_cast<std::int64_t>(random() % 9);
    const FusedNode node = to_node(tree, tiled);
    LeafSchedules schedules(tree, machine);
    const ChainTraffic predicted = CachedModel(schedules).traffic(node);
    const ChainTraffic counted = simulate_chain(node, schedules).traffic;
    for (std::size_t s = 0; s < tree.statements.size(); ++s) {
      EXPECT_EQ(predicted.moved[s][0], counted.moved[s][0]) << to_text(tree, node);
    }
  }
}

// T has 2 MiB in tiles of 32 KiB. L2 and L3 have a tile, L3 alone what is touched between the
// making of two tiles.
TEST(Cached_model, A_held_tile_comes_in_once_and_goes_out_at_the_end) {
  const OperationTree tree = two_products("i=512 j=512 k=8 l=8");
  LeafSchedules schedules(tree, zen5_of({}));
  CachedModel model(schedules);
  const ChainTraffic tiles =
      model.traffic(fused_by(tree, "for i by 64 { for j by 64 { hold T { seq { do T do C } } } }"));
  EXPECT_EQ(tiles.of_array(3, row_T), (Moved{Bytes(32768), Bytes(32768)}));
  const ChainTraffic whole = model.traffic(fusion::unfused(tree));
  const std::int64_t all = 512 * 512 * 8;
  EXPECT_EQ(whole.at(0, 3, row_T), (Moved{Bytes(all), Bytes(all)}));
  EXPECT_EQ(whole.of_array(3, row_T), (Moved{Bytes(2 * all), Bytes(all)}));
}

// L3 has the last four fifths of T when its beginning is read, and loses each line before that is
// read too.
TEST(Cached_model, What_is_read_in_the_order_it_was_made_is_gone) {
  const OperationTree tree = two_products("i=1024 j=80 k=8 l=8");
  LeafSchedules schedules(tree, zen5_of({}));
  const ChainTraffic whole = CachedModel(schedules).traffic(fusion::unfused(tree));
  const ChainTraffic counted = simulate_chain(fusion::unfused(tree), schedules).traffic;
  const Bytes all(1024 * 80 * 8);
  EXPECT_EQ(counted.at(1, 3, row_T).in, all);
  EXPECT_EQ(whole.at(1, 3, row_T).in, all);
}

struct Times {
  double fused, unfused;
};
Times simulated(const CachedChoice& choice, LeafSchedules& schedules) {
  const auto seconds = [&](const FusedNode& node) {
    return timing(simulate_chain(node, schedules).traffic, schedules.tree(), schedules.machine())
        .total.value();
  };
  return {seconds(choice.fused->node), seconds(choice.unfused.node)};
}

// T is four times as large as L3, and little is computed with it.
TEST(Cached_choice, Fuses_where_the_intermediate_alone_fills_the_memory_link) {
  const OperationTree tree = two_products("i=512 j=512 k=16 l=16");
  LeafSchedules schedules(tree, zen5_of({"memory.bandwidth=0.25x"}));
  CachedModel model(schedules);
  const CachedChoice choice = choose_cached(model);
  ASSERT_TRUE(choice.fused);
  EXPECT_TRUE(choice.fuses());
  EXPECT_EQ(&choice.best(), &*choice.fused);
  EXPECT_LT(3 * choice.fused->timing.total.value(), choice.unfused.timing.total.value());
  const Times times = simulated(choice, schedules);
  EXPECT_LT(3 * times.fused, times.unfused);
}

// T fits into L2 as a whole, and B and D would come again for each of its tiles.
TEST(Cached_choice, Is_not_the_slower_one_where_the_intermediate_stays_in_a_cache_anyway) {
  const OperationTree tree = two_products("i=64 j=64 k=512 l=512");
  LeafSchedules schedules(tree, zen5_of({"memory.bandwidth=0.25x", "L3.bandwidth=0.25x"}));
  CachedModel model(schedules);
  const CachedChoice choice = choose_cached(model);
  ASSERT_TRUE(choice.fused);
  const Times times = simulated(choice, schedules);
  EXPECT_FALSE(choice.fuses() && times.fused > 1.01 * times.unfused);
  EXPECT_FALSE(!choice.fuses() && times.unfused > 1.01 * times.fused);
}

TEST(Cached_choice, Of_one_statement_has_nothing_to_fuse) {
  const OperationTree tree = fusion::operation_tree(parse_program(R"(
program one
dims i=40 j=30 k=50
f64 input A[i, k]  f64 input B[k, j]
f64 output C[i, j]
C[i, j] += A[i, k] * B[k, j]
)",
                                                                  "test"));
  LeafSchedules schedules(tree, zen5_of({}));
  CachedModel model(schedules);
  const CachedChoice choice = choose_cached(model);
  EXPECT_FALSE(choice.fused);
  EXPECT_FALSE(choice.fuses());
  EXPECT_EQ(&choice.best(), &choice.unfused);
}

// Indices of one place, joins of two intermediates, tensors of many axes.
TEST(Cached_choice, Is_a_legal_schedule_of_any_chain) {
  std::mt19937_64 random(test::new_seed());
  for (int i = 0; i < 8; ++i) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + i % 4, 7));
    LeafSchedules schedules(tree, zen5_of({"L1.capacity=768B", "L2.capacity=2KiB"}));
    CachedModel model(schedules);
    fusion::CachedChoiceOptions options;
    options.judged = 4;
    const CachedChoice choice = choose_cached(model, options);
    EXPECT_EQ(choice.unfused.node, fusion::unfused(tree));
    if (!choice.fused) continue;
    EXPECT_NO_THROW(fusion::check_cached(tree, choice.fused->node, "chosen"))
        << to_text(tree, choice.fused->node);
    EXPECT_NE(choice.fused->node, choice.unfused.node);
    const ChainTraffic counted = simulate_chain(choice.fused->node, schedules).traffic;
    EXPECT_EQ(choice.fused->traffic.moved[0][0], counted.moved[0][0]);
  }
}

TEST(Cached_choice, Is_the_same_each_time) {
  const OperationTree tree = two_products("i=96 j=160 k=24 l=40");
  const auto chosen = [&] {
    LeafSchedules schedules(tree, zen5_of({}));
    CachedModel model(schedules);
    fusion::CachedChoiceOptions options;
    options.judged = 8;
    return choose_cached(model, options);
  };
  const CachedChoice once = chosen(), again = chosen();
  EXPECT_EQ(once.fused->node, again.fused->node);
  EXPECT_EQ(once.fused->traffic, again.fused->traffic);
}

// Attention of several heads: the heads are a batch.
TEST(Cached_choice, Holds_a_tile_of_the_scores_of_attention) {
  const OperationTree tree = fusion::operation_tree(parse_program(R"(
program attention
dims h=4 q=256 k=256 d=32
f64 input Q[h, q, d]  f64 input K[h, k, d]  f64 input V[h, k, d]
f64 intermediate S[h, q, k]
f64 output O[h, q, d]
S[h, q, k] += Q[h, q, d] * K[h, k, d]
O[h, q, d] += S[h, q, k] * V[h, k, d]
)",
                                                                  "test"));
  LeafSchedules schedules(tree, zen5_of({"memory.bandwidth=0.25x"}));
  CachedModel model(schedules);
  const CachedChoice choice = choose_cached(model);
  ASSERT_TRUE(choice.fused);
  EXPECT_TRUE(choice.fuses());
  const Bytes scores(4 * 256 * 256 * 8);
  const ChainTraffic counted = simulate_chain(choice.fused->node, schedules).traffic;
  EXPECT_LT(10 * counted.of_array(3, 0).in, scores);
  EXPECT_LT(10 * choice.fused->traffic.of_array(3, 0).in, scores);
}

TEST(Cached_structures, Are_all_ways_to_cut_and_to_put_in_parentheses) {
  const OperationTree tree = fusion::four_index(3, 2);
  const std::vector<TiledTree> all = fusion::cached_structures(tree);
  EXPECT_EQ(to_node(tree, all.front()), fusion::unfused(tree));
  // Cuts between four statements, each block of n fused in as many ways as the Catalan number of
  // n - 1: 1+1+1+1, three of 2+1+1, 2+2, two of 3+1 with 2 each, 4 with 5.
  EXPECT_EQ(all.size(), 1U + 3 + 1 + 4 + 5);
  for (const TiledTree& t : all) {
    EXPECT_NO_THROW(fusion::check_cached(tree, to_node(tree, t), "structure"));
  }
  EXPECT_EQ(fusion::cached_structures(tree, 6).size(), 6U);
}

}  // namespace
}  // namespace tcsim
