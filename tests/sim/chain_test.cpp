// Chains on caches: the simulator against a twin that does every leaf of every loop by itself,
// element by element; and what can be said by hand.
#include "sim/simulate_chain.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/error.hpp"
#include "core/fusion/cached_tree.hpp"
#include "core/model/kernel_time.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/seed.hpp"
#include "tests/sim/twin.hpp"

namespace tcsim {
namespace {

using fusion::FusedNode;
using fusion::Hold;
using fusion::LeafSchedules;
using fusion::MemoryMap;
using fusion::OperationTree;
using fusion::TiledTree;

Level cache(const std::string& name, std::int64_t sets, std::int64_t ways, double rate) {
  Level l;
  l.name = name;
  l.capacity.value = Bytes(sets * ways * 64);
  l.ways.value = ways;
  l.line.value = Bytes(64);
  l.bandwidth.value = Bandwidth{rate, Bandwidth::Unit::bytes_per_cycle};
  return l;
}

Machine chain_machine() {
  Machine m;
  m.name = "small";
  m.core.frequency.value = Hertz(1e9);
  m.core.vector_bits.value = 256;
  m.core.vector_registers.value = 16;
  m.core.fma_per_cycle.value = 2;
  m.core.fma_latency.value = Cycles(4);
  m.levels = {cache("L1", 4, 4, 64), cache("L2", 16, 4, 32), cache("L3", 64, 8, 16)};
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  memory.bandwidth.value = Bandwidth{4, Bandwidth::Unit::bytes_per_cycle};
  m.levels.push_back(memory);
  return m;
}

FusedNode parsed(const OperationTree& tree, const std::string& text) {
  const FusedNode node = fusion::parse_fused(text, tree, "given");
  fusion::check_cached(tree, node, "given");
  return node;
}

// All loops, holds and leaves of a schedule by a recursion of its own, on caches made of lists.
class TwinOfChain {
 public:
  TwinOfChain(const FusedNode& node, LeafSchedules& schedules)
      : tree_(schedules.tree()),
        machine_(schedules.machine()),
        schedules_(schedules),
        memory_(node, schedules),
        caches_(shapes(machine_), first_lines(memory_)),
        result_{fusion::ChainTraffic(tree_, machine_), {}, 0} {
    for (const OperationTree::Index& i : tree_.indices) {
      begin_.push_back(0);
      size_.push_back(i.extent);
    }
    for (const OperationTree::Array& a : tree_.arrays) {
      std::vector<std::int64_t> begins, sizes;
      for (int i : a.indices) {
        begins.push_back(0);
        sizes.push_back(tree_.extent(i));
      }
      in_memory_.push_back({begins, sizes});
    }
    visit(node);
    caches_.drain();
    settle();
    result_.traffic.share_out_packed();
  }

  const ChainSimulation& result() const { return result_; }

 private:
  struct Box {
    std::vector<std::int64_t> begins, sizes;  // by axis
  };

  static std::vector<sim::CacheShape> shapes(const Machine& machine) {
    std::vector<sim::CacheShape> all;
    for (int l = 0; l < machine.cache_count(); ++l) {
      all.push_back({machine.level(LevelId{l}).sets(), machine.level(LevelId{l}).ways.value});
    }
    return all;
  }
  static std::vector<std::pair<std::int64_t, ArrayId>> first_lines(const MemoryMap& memory) {
    std::vector<std::pair<std::int64_t, ArrayId>> all;
    for (std::size_t row = 0; row < memory.arrays().size(); ++row) {
      all.emplace_back(memory.arrays()[row].base.value() / 64, ArrayId{static_cast<int>(row)});
    }
    std::ranges::sort(all);
    return all;
  }

  void visit(const FusedNode& node) {
    if (const auto* loop = std::get_if<fusion::TileLoop>(&node.is)) {
      const auto i = static_cast<std::size_t>(loop->index);
      const std::int64_t begin = begin_[i], size = size_[i];
      for (begin_[i] = begin; begin_[i] < begin + size; begin_[i] += loop->tile) {
        size_[i] = std::min(loop->tile, begin + size - begin_[i]);
        visit(*loop->body);
      }
      begin_[i] = begin;
      size_[i] = size;
    } else if (const auto* parts = std::get_if<fusion::InOrder>(&node.is)) {
      for (const FusedNode& part : parts->parts) visit(part);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      Box& box = in_memory_[static_cast<std::size_t>(hold->array)];
      const auto& indices = tree_.array(hold->array).indices;
      for (std::size_t axis = 0; axis < indices.size(); ++axis) {
        box.begins[axis] = begin_[static_cast<std::size_t>(indices[axis])];
        box.sizes[axis] = size_[static_cast<std::size_t>(indices[axis])];
      }
      visit(*hold->body);
    } else {
      run(std::get<fusion::Do>(node.is).statement);
    }
  }

  void run(int s) {
    if (s != running_) settle();
    running_ = s;
    ++result_.calls;
    const OperationTree::Statement& statement = tree_.statement(s);
    fusion::Leaf leaf;
    leaf.statement = s;
    bool adds = false;
    std::int64_t results = 1;
    for (int i : statement.indices) {
      const auto at = static_cast<std::size_t>(i);
      leaf.tile.push_back(size_[at]);
      const auto& out = tree_.array(statement.out).indices;
      if (std::ranges::find(out, i) == out.end()) {
        adds |= begin_[at] > 0;
      } else {
        results *= size_[at];
      }
    }
    const std::array<int, 3> arrays{statement.left, statement.right, statement.out};
    std::array<std::int64_t, 3> bases{};
    for (std::size_t t = 0; t < 3; ++t) {
      const Box& box = in_memory_[static_cast<std::size_t>(arrays[t])];
      leaf.places[TensorId{static_cast<int>(t)}] = box.sizes;
      std::int64_t stride = 1, element = 0;
      for (std::size_t axis = box.sizes.size(); axis-- > 0;) {
        const int i = tree_.array(arrays[t]).indices[axis];
        element += (begin_[static_cast<std::size_t>(i)] - box.begins[axis]) * stride;
        stride *= box.sizes[axis];
      }
      bases[t] = memory_.arrays()[static_cast<std::size_t>(memory_.of(arrays[t]))].base.value() +
                 element * tree_.array(arrays[t]).element.value();
    }
    const LeafSchedules::Chosen& chosen = schedules_.of(leaf);
    const Plan plan(chosen.contraction, chosen.schedule);
    ByArray<std::int64_t> places(plan.arrays().size());
    ByArray<int> rows(plan.arrays().size());
    for (ArrayId a : plan.arrays().ids()) {
      const bool packed = plan.arrays().is_buffer(a);
      const auto t = static_cast<std::size_t>(index(plan.arrays().tensor_of(a)));
      places[a] = packed ? plan.base(a).value() : bases[t];
      rows[a] = packed ? memory_.packed() : memory_.of(arrays[t]);
    }
    const LinkTraffic core = twin::walk(plan, places, 64, caches_);
    for (Phase p : all_phases) {
      for (ArrayId a : core.arrays.ids()) result_.traffic.at(s, 0, rows[a]) += core.at(p, a);
    }
    if (adds) result_.traffic.at(s, 0, rows[ArrayId::C]).in += results * plan.element();
  }

  void settle() {
    for (std::size_t l = 1; l <= shapes(machine_).size(); ++l) {
      for (int row = 0; row <= memory_.packed(); ++row) {
        for (Phase p : all_phases) {
          std::int64_t& in = caches_.in[{l, p, ArrayId{row}}];
          std::int64_t& out = caches_.out[{l, p, ArrayId{row}}];
          if (running_ >= 0) {
            int writer = running_;
            for (const OperationTree::Array& a : tree_.arrays) {
              if (result_.traffic.arrays[static_cast<std::size_t>(row)] != a.name) continue;
              if (a.producer >= 0) writer = a.producer;
            }
            result_.traffic.at(running_, static_cast<int>(l), row).in += Bytes(64 * in);
            result_.traffic.at(writer, static_cast<int>(l), row).out += Bytes(64 * out);
          }
          in = out = 0;
        }
      }
    }
  }

  const OperationTree& tree_;
  const Machine& machine_;
  LeafSchedules& schedules_;
  MemoryMap memory_;
  twin::Caches caches_;
  std::vector<std::int64_t> begin_, size_;
  std::vector<Box> in_memory_;
  int running_ = -1;
  ChainSimulation result_;
};

void random_tiles(std::mt19937_64& random, TiledTree& tiled, std::vector<std::int64_t> ranges) {
  std::ranges::shuffle(tiled.loops, random);
  for (TiledTree::Loop& l : tiled.loops) {
    std::int64_t& range = ranges[static_cast<std::size_t>(l.index)];
    l.tile = std::uniform_int_distribution<std::int64_t>((range + 2) / 3, range)(random);
    range = l.tile;
  }
  for (TiledTree& part : tiled.parts) random_tiles(random, part, ranges);
}

FusedNode random_fused(std::mt19937_64& random, const OperationTree& tree) {
  const std::vector<TiledTree> structures = fusion::cached_structures(tree);
  TiledTree tiled = structures[random() % structures.size()];
  std::vector<std::int64_t> ranges;
  for (const OperationTree::Index& i : tree.indices) ranges.push_back(i.extent);
  random_tiles(random, tiled, ranges);
  return fusion::to_node(tree, tiled);
}

TEST(Simulate_chain, Agrees_with_a_walk_of_each_element_through_lists) {
  std::mt19937_64 random(test::new_seed());
  for (int i = 0; i < 30; ++i) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + i % 3, 9));
    const FusedNode node = random_fused(random, tree);
    ASSERT_NO_THROW(fusion::check_cached(tree, node, "random")) << to_text(tree, node);
    Machine machine = chain_machine();
    LeafSchedules schedules(tree, machine);
    const ChainSimulation counted = simulate_chain(node, schedules);
    const TwinOfChain twin(node, schedules);
    EXPECT_EQ(counted.calls, twin.result().calls);
    EXPECT_EQ(counted.traffic, twin.result().traffic) << to_text(tree, node);
  }
}

// The other engine: what rules other machines have.
TEST(Simulate_chain, Counts_the_same_by_the_engine_with_all_rules) {
  std::mt19937_64 random(test::new_seed());
  for (int i = 0; i < 6; ++i) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + i % 3, 9));
    const FusedNode node = random_fused(random, tree);
    LeafSchedules schedules(tree, chain_machine());
    Machine other = chain_machine();
    other.levels[0].inclusion.value = Inclusion::neither;
    other.levels[2].inclusion.value = Inclusion::inclusive;  // never loses a line that L2 has
    other.levels[2].capacity.value = Bytes(64 << 20);
    other.levels[2].ways.value = 64;
    Machine same = other;
    same.levels[2].inclusion.value = Inclusion::neither;
    LeafSchedules with(tree, other), without(tree, same);
    EXPECT_EQ(simulate_chain(node, with).traffic, simulate_chain(node, without).traffic)
        << to_text(tree, node);
  }
}

TEST(Simulate_chain, Of_one_statement_counts_what_the_contraction_does) {
  const OperationTree tree = fusion::operation_tree(parse_program(R"(
program one
dims i=40 j=30 k=50
f64 input A[i, k]  f64 input B[k, j]
f64 output C[i, j]
C[i, j] += A[i, k] * B[k, j]
)",
                                                                  "test"));
  LeafSchedules schedules(tree, chain_machine());
  const FusedNode node = fusion::unfused(tree);
  const ChainSimulation chain = simulate_chain(node, schedules);
  const LeafSchedules::Chosen* chosen = nullptr;
  fusion::for_each_call(tree, node, [&](const fusion::LeafCall& call) {
    chosen = &schedules.of(call.leaf);
    EXPECT_FALSE(call.adds);
  });
  ASSERT_NE(chosen, nullptr);
  const Simulation one = simulate(Plan(chosen->contraction, chosen->schedule), chain_machine());
  EXPECT_EQ(chain.calls, 1);
  EXPECT_EQ(chain.touches, one.touches);
  const Accounting honest;
  for (int l = 0; l < 4; ++l) {
    const LinkTraffic& link = one.traffic.links[static_cast<std::size_t>(l)];
    EXPECT_EQ(chain.traffic.counted(honest, l), link.counted(honest)) << l;
    Moved c;
    for (Phase p : all_phases) c += link.at(p, ArrayId::C);
    EXPECT_EQ(chain.traffic.of_array(l, 0), c) << l;
  }
  const fusion::ChainTiming t = timing(chain.traffic, tree, chain_machine());
  EXPECT_EQ(
      t.total,
      timing(one.traffic, peak_time(chosen->contraction, chain_machine()), chain_machine()).total);
}

// T has 64 KiB, L3 32 KiB. As a whole it comes in, goes out and comes in again. In tiles of 4 KiB
// at one address it comes in once, and goes out at the end.
TEST(Simulate_chain, A_held_tile_stays_in_the_cache) {
  const OperationTree tree = fusion::two_products("i=128 j=64 k=2 l=2");
  LeafSchedules schedules(tree, chain_machine());
  const int t = 0;  // the first row
  ASSERT_EQ(fusion::memory_rows(tree)[t], "T");
  const ChainSimulation whole = simulate_chain(fusion::unfused(tree), schedules);
  EXPECT_EQ(whole.traffic.of_array(3, t), (Moved{Bytes(2 * 65536), Bytes(65536)}));
  const ChainSimulation tiles =
      simulate_chain(parsed(tree, "for i by 8 { hold T { seq { do T do C } } }"), schedules);
  EXPECT_EQ(tiles.calls, 32);
  EXPECT_EQ(tiles.traffic.of_array(3, t), (Moved{Bytes(4096), Bytes(4096)}));
}

TEST(Simulate_chain, What_is_added_to_is_loaded_first) {
  const OperationTree tree = fusion::two_products("i=8 j=16 k=4 l=8");
  LeafSchedules schedules(tree, chain_machine());
  const auto loaded = [&](const std::string& text) {
    const ChainSimulation s = simulate_chain(parsed(tree, text), schedules);
    return s.traffic.of_array(0, 3 + 1).in;
  };
  ASSERT_EQ(fusion::memory_rows(tree)[4], "D");
  const int c = 3;
  ASSERT_EQ(fusion::memory_rows(tree)[c], "C");
  const auto results_loaded = [&](const std::string& text) {
    return simulate_chain(parsed(tree, text), schedules).traffic.of_array(0, c).in;
  };
  EXPECT_EQ(results_loaded("hold T { seq { do T do C } }"), Bytes(0));
  EXPECT_EQ(results_loaded("for j by 4 { hold T { seq { do T do C } } }"), Bytes(3 * 64 * 8));
  EXPECT_GT(loaded("hold T { seq { do T do C } }"), Bytes(0));
}

TEST(Simulate_chain, Refuses_what_moves_between_memory_and_disk) {
  const OperationTree tree = fusion::two_products("i=8 j=16 k=4 l=8");
  const auto said = [&](const std::string& text) -> std::string {
    try {
      parsed(tree, text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(said("load A { hold T { seq { do T do C } } }"),
            "given: 'load A' where all tensors are in memory; leave it out, or say --memory for a "
            "chain whose tensors are on disk");
  EXPECT_EQ(said("seq { do T do C }"),
            "given: intermediate T is not held; put hold T around the two statements that have "
            "it");
  EXPECT_EQ(said("hold T { seq { do C do T } }"),
            "given: 'do C' where 'do T' was not yet done; put it behind that, both in one hold T");
}

}  // namespace
}  // namespace tcsim
