#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim {
namespace {

using test::message_of;
using test::Random;

constexpr std::uint64_t seeds = 3000;

Plan plan_of(std::string_view label, std::string_view sizes, std::string_view schedule,
             Layout layout = Layout::column_major) {
  const Contraction c = parse_contraction(label, parse_sizes(sizes), layout, ElementType::f64);
  const Schedule s = parse_schedule(schedule, c, "schedule");
  check(s, c, test::random_levels(), "schedule");
  return Plan(c, s);
}

// Calls body(plan) for many small contractions and schedules.
template <class F>
void for_random_plans(F&& body) {
  for (std::uint64_t seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    const Contraction c = test::random_contraction(random);
    const Schedule s = test::random_schedule(c, random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.label() + ' ' + c.sizes() + ' ' +
                 to_line(s, c));
    check(s, c, test::random_levels(), "random schedule");
    body(Plan(c, s));
  }
}

// Counts the kernel's work for every iteration (batch, m, n, k), and by whom C was written first.
class Coverage {
 public:
  explicit Coverage(const Plan& plan) : plan_(plan) {
    const std::size_t results = size(DimClass::batch) * size(DimClass::m) * size(DimClass::n);
    begun_.resize(results);
    visits_.resize(results * size(DimClass::k));
  }

  void pack(const PackPlan&, const Tile&) {}

  void kernel(const KernelCall& call) {
    const Tile& tile = *call.tile;
    EXPECT_LE(tile[DimClass::m].size, plan_.mr());
    EXPECT_LE(tile[DimClass::n].size, plan_.nr());
    EXPECT_EQ(tile[DimClass::batch].size, 1);
    EXPECT_EQ(call.first_writer, tile[DimClass::k].begin == 0);
    each(tile, DimClass::m, [&](std::size_t m) {
      each(tile, DimClass::n, [&](std::size_t n) {
        const auto b = static_cast<std::size_t>(tile[DimClass::batch].begin);
        const std::size_t result = (b * size(DimClass::m) + m) * size(DimClass::n) + n;
        // Adding to a C that nobody has written, or overwriting a sum, would be wrong.
        EXPECT_EQ(call.first_writer, begun_[result] == 0);
        begun_[result] = 1;
        each(tile, DimClass::k, [&](std::size_t k) { ++visits_[result * size(DimClass::k) + k]; });
      });
    });
  }

  bool complete() const {
    return std::all_of(visits_.begin(), visits_.end(), [](int n) { return n == 1; });
  }

 private:
  std::size_t size(DimClass c) const { return static_cast<std::size_t>(plan_.extent(c)); }

  template <class F>
  static void each(const Tile& tile, DimClass c, F&& f) {
    const Interval range = tile[c];
    for (std::int64_t i = 0; i < range.size; ++i) f(static_cast<std::size_t>(range.begin + i));
  }

  const Plan& plan_;
  std::vector<int> begun_, visits_;
};

TEST(Walk, Covers_every_iteration_once_and_overwrites_each_result_first) {
  for_random_plans([](const Plan& plan) {
    Coverage coverage(plan);
    walk(plan, coverage);
    EXPECT_TRUE(coverage.complete());
  });
}

// A packed buffer that knows which element of the operand each of its places holds.
class TracedBuffer {
 public:
  TracedBuffer(const Plan& plan, TensorId tensor)
      : pack_(plan.pack(tensor)), follows_batch_(plan.follows(tensor, DimClass::batch)) {
    if (pack_) places_.resize(static_cast<std::size_t>(pack_->capacity));
  }

  // Fills the buffer by for_each_block; no place may be written twice or lie outside.
  void fill(const Tile& tile) {
    std::fill(places_.begin(), places_.end(), Place{});
    Tile one = tile;
    for (std::int64_t b = 0; b < std::min(pack_->places, tile[DimClass::batch].size); ++b) {
      one[DimClass::batch] = {tile[DimClass::batch].begin + b, 1};
      fill_place(one);
    }
  }

  void fill_place(const Tile& tile) {
    const Interval rows = tile[pack_->rows], ks = tile[DimClass::k];
    std::int64_t elements = 0, written = 0;
    for_each_block(*pack_, tile, [&](std::span<const PackBlock> blocks) {
      for (const PackBlock& block : blocks) {
        EXPECT_EQ(block.k_size, blocks[0].k_size);
        EXPECT_EQ((block.row - rows.begin) % pack_->panel, 0);
        EXPECT_EQ(block.rows, std::min(pack_->panel, rows.begin + rows.size - block.row));
        EXPECT_GE(block.k, ks.begin);
        EXPECT_GT(block.k_size, 0);
        EXPECT_LE(block.k + block.k_size, ks.begin + ks.size);
        ASSERT_GE(block.destination, 0);
        ASSERT_LE(block.destination + block.k_size * pack_->panel, pack_->capacity);
        for (std::int64_t p = 0; p < block.k_size; ++p) {
          for (std::int64_t r = 0; r < pack_->panel; ++r) {
            Place& place =
                places_[static_cast<std::size_t>(block.destination + p * pack_->panel + r)];
            EXPECT_EQ(place.what, Place::What::nothing);
            ++written;
            place.what = r < block.rows ? Place::What::element : Place::What::zero;
            if (r >= block.rows) continue;
            ++elements;
            place.row = block.row + r;
            place.k = block.k + p;
            place.batch = batch_of(tile);
          }
        }
      }
    });
    // No place twice and as many elements as the tile has: every element once.
    EXPECT_EQ(elements, rows.size * ks.size);
    EXPECT_EQ(written, (rows.size + pack_->panel - 1) / pack_->panel * pack_->panel * ks.size);
  }

  // What the kernel reads at `offset` is the micropanel of its tile.
  void read(const Tile& tile, std::int64_t offset) const {
    if (!pack_) {
      EXPECT_EQ(offset, -1);
      return;
    }
    const Interval rows = tile[pack_->rows], ks = tile[DimClass::k];
    ASSERT_GE(offset, 0);
    ASSERT_LE(offset + ks.size * pack_->panel, pack_->capacity);
    for (std::int64_t p = 0; p < ks.size; ++p) {
      for (std::int64_t r = 0; r < pack_->panel; ++r) {
        const Place& place = places_[static_cast<std::size_t>(offset + p * pack_->panel + r)];
        if (r >= rows.size) {
          EXPECT_EQ(place.what, Place::What::zero);
          continue;
        }
        EXPECT_EQ(place.what, Place::What::element);
        EXPECT_EQ(place.row, rows.begin + r);
        EXPECT_EQ(place.k, ks.begin + p);
        EXPECT_EQ(place.batch, batch_of(tile));
      }
    }
  }

 private:
  struct Place {
    enum class What { nothing, element, zero };
    What what = What::nothing;
    std::int64_t row = -1, k = -1, batch = -1;
  };

  // A tensor that has not the batch is packed once for all places of it.
  std::int64_t batch_of(const Tile& tile) const {
    return follows_batch_ ? tile[DimClass::batch].begin : 0;
  }

  const PackPlan* pack_;
  bool follows_batch_;
  std::vector<Place> places_;
};

class TracedBuffers {
 public:
  explicit TracedBuffers(const Plan& plan)
      : plan_(plan), left_(plan, plan.left()), right_(plan, plan.right()) {}

  void pack(const PackPlan& pack, const Tile& tile) {
    ++packs;
    (pack.tensor == plan_.left() ? left_ : right_).fill(tile);
  }
  void kernel(const KernelCall& call) {
    left_.read(*call.tile, call.left_offset);
    right_.read(*call.tile, call.right_offset);
  }

  int packs = 0;

 private:
  const Plan& plan_;
  TracedBuffer left_, right_;
};

// The keystone: whatever fills the buffers by for_each_block, and whatever computes from them by
// the kernel's offsets, means the same elements.
TEST(Walk, Kernels_find_in_the_buffers_what_the_packs_put_there) {
  int packs = 0;
  for_random_plans([&](const Plan& plan) {
    TracedBuffers buffers(plan);
    walk(plan, buffers);
    packs += buffers.packs;
  });
  EXPECT_GT(packs, 10000);  // the random schedules do pack
}

TEST(Walk, Nested_tiles_of_k_that_do_not_divide_keep_their_micropanels_whole) {
  // k tiles: 0..10, 10..20, 20..23, each cut again at 4 and 8; blocks may not cross either.
  const Plan plan = plan_of("ab-ac-cb", "a=5,b=3,c=23",
                            "groups m=a n=b k=c pack A in L2 { for k by 10 { for k by 4 { "
                            "for m by 2 { kernel 2x3 }}}}");
  TracedBuffers buffers(plan);
  walk(plan, buffers);
  EXPECT_EQ(buffers.packs, 1);
}

TEST(Plan, Offsets_are_those_of_the_fused_index) {
  for_random_plans([](const Plan& plan) {
    const Contraction& c = plan.contraction();
    for (TensorId t : all_tensors) {
      for (DimClass g : all_dim_classes) {
        for (std::int64_t i = 0; i < plan.extent(g); ++i) {
          // Peel the fused index, the first dimension of the group being the fastest.
          std::int64_t rest = i, offset = 0;
          for (DimId d : plan.schedule().groups[g]) {
            offset += rest % c.dim(d).extent * c.stride(t, d).value();
            rest /= c.dim(d).extent;
          }
          EXPECT_EQ(plan.offset(t, g, i), offset) << to_text(t) << ' ' << to_text(g) << ' ' << i;
        }
      }
    }
  });
}

TEST(Plan, Offsets_of_all_groups_together_name_every_element_of_a_tensor_once) {
  for_random_plans([](const Plan& plan) {
    for (TensorId t : all_tensors) {
      std::vector<int> seen(static_cast<std::size_t>(plan.contraction().size(t).value()));
      std::vector<std::int64_t> offsets{0};
      for (DimClass g : all_dim_classes) {
        if (!plan.follows(t, g)) continue;
        std::vector<std::int64_t> next;
        for (std::int64_t o : offsets) {
          for (std::int64_t i = 0; i < plan.extent(g); ++i)
            next.push_back(o + plan.offset(t, g, i));
        }
        offsets = std::move(next);
      }
      for (std::int64_t o : offsets) ++seen.at(static_cast<std::size_t>(o));
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ssize(seen)) << to_text(t);
    }
  });
}

TEST(Plan, Arrays_begin_on_pages_and_do_not_overlap) {
  for_random_plans([](const Plan& plan) {
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;  // begin, end
    for (ArrayId a : plan.arrays().ids()) {
      const Array& array = plan.arrays()[a];
      const std::int64_t elements = array.made_by ? plan.pack(array.tensor)->capacity
                                                  : plan.contraction().size(array.tensor).value();
      const std::int64_t begin = plan.base(a).value();
      EXPECT_EQ(begin % 4096, 0) << to_text(array);
      EXPECT_GT(elements, 0) << to_text(array);
      spans.push_back({begin, begin + elements * plan.element().value()});
    }
    std::sort(spans.begin(), spans.end());
    EXPECT_GE(spans.front().first, 0);
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].first, spans[i - 1].second);
    EXPECT_LE(spans.back().second, plan.arena_size().value());
  });
}

TEST(Plan, Steps_are_the_tree_from_the_outside_in) {
  const Plan plan = plan_of("hab-hac-hcb", "a=7,b=5,c=3,h=2",
                            "groups m=a n=b k=c batch=h for batch by 1 { pack B in L3 { "
                            "for m by 4 { kernel 4x5 }}}");
  const std::vector<Step>& steps = plan.steps();
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0].kind, Step::Kind::loop);
  EXPECT_EQ(steps[0].group, DimClass::batch);
  EXPECT_EQ(steps[1].kind, Step::Kind::move);
  EXPECT_EQ(steps[1].tensor, TensorId::B);
  EXPECT_EQ(steps[1].level, "L3");
  EXPECT_EQ(steps[2].group, DimClass::m);
  EXPECT_EQ(steps[2].tile, 4);
  EXPECT_EQ(steps[3].kind, Step::Kind::kernel);
  EXPECT_EQ(plan.mr(), 4);
  EXPECT_EQ(plan.nr(), 5);
}

TEST(Plan, Left_operand_has_the_rows_of_the_kernel) {
  EXPECT_EQ(plan_of("ab-ac-cb", "a=7,b=5,c=3", "groups m=a n=b k=c kernel 7x5").left(),
            TensorId::A);
  const Plan exchanged = plan_of("ab-ac-cb", "a=7,b=5,c=3",
                                 "groups m=b n=a k=c pack A in L2 { pack B in L1 { kernel 5x7 }}");
  EXPECT_EQ(exchanged.left(), TensorId::B);
  EXPECT_EQ(exchanged.right(), TensorId::A);
  EXPECT_EQ(exchanged.pack(TensorId::B)->panel, 5);
  EXPECT_EQ(exchanged.pack(TensorId::B)->rows, DimClass::m);
  EXPECT_EQ(exchanged.pack(TensorId::A)->panel, 7);
  // With an empty m the other group decides: n holds A's dimension, so A is the right operand.
  EXPECT_EQ(plan_of("a-ac-c", "a=7,c=3", "groups n=a k=c kernel 1x7").left(), TensorId::B);
  EXPECT_EQ(plan_of("a-ac-c", "a=7,c=3", "groups m=a k=c kernel 7x1").left(), TensorId::A);
}

struct Events {
  std::vector<std::string> seen;

  static std::string text(const Interval& r) {
    return std::to_string(r.begin) + "+" + std::to_string(r.size);
  }
  void pack(const PackPlan& pack, const Tile& tile) {
    seen.push_back(std::string("pack ") + to_text(pack.tensor) + " rows " + text(tile[pack.rows]) +
                   " k " + text(tile[DimClass::k]));
  }
  void kernel(const KernelCall& call) {
    seen.push_back("kernel m " + text((*call.tile)[DimClass::m]) + " n " +
                   text((*call.tile)[DimClass::n]) + " k " + text((*call.tile)[DimClass::k]) +
                   " left " + std::to_string(call.left_offset) + " right " +
                   std::to_string(call.right_offset) + (call.first_writer ? " first" : ""));
  }
};

// Worked by hand. A's block of m 0+5 and k 0+2 has 2-row micropanels: rows 0-1, 2-3, 4 and a zero,
// each 2 x 2 elements along k, so they stand at 0, 4 and 8. The second k tile has one k only: 2
// elements each.
TEST(Walk, Visits_a_small_schedule_in_the_order_worked_out_by_hand) {
  const Plan plan = plan_of("ab-ac-cb", "a=5,b=2,c=3",
                            "groups m=a n=b k=c for k by 2 { pack A in L1 { for m by 2 { "
                            "kernel 2x2 }}}");
  EXPECT_EQ(plan.pack(TensorId::A)->capacity, 12);  // 6 rows with the padding, 2 of k
  Events events;
  walk(plan, events);
  EXPECT_EQ(events.seen, (std::vector<std::string>{
                             "pack A rows 0+5 k 0+2",
                             "kernel m 0+2 n 0+2 k 0+2 left 0 right -1 first",
                             "kernel m 2+2 n 0+2 k 0+2 left 4 right -1 first",
                             "kernel m 4+1 n 0+2 k 0+2 left 8 right -1 first",
                             "pack A rows 0+5 k 2+1",
                             "kernel m 0+2 n 0+2 k 2+1 left 0 right -1",
                             "kernel m 2+2 n 0+2 k 2+1 left 2 right -1",
                             "kernel m 4+1 n 0+2 k 2+1 left 4 right -1",
                         }));
}

// Worked by hand. Inside the pack m runs by 4 and then k by 3, so the buffer of 6 rows (panel 2)
// and 5 of k is: m 0+4 at 0 (4 rows x 5), in it k 0+3 at 0 (4 x 3) and k 3+2 at 12 (4 x 2); m 4+2
// at 20 (2 rows x 5), in it k 0+3 at 20 and k 3+2 at 26.
TEST(Pack, Layout_is_contiguous_at_every_level_as_worked_out_by_hand) {
  const Plan plan = plan_of("ab-ac-cb", "a=6,b=1,c=5",
                            "groups m=a n=b k=c pack A in L2 { for m by 4 { for k by 3 { "
                            "for m by 2 { kernel 2x1 }}}}");
  const PackPlan& pack = *plan.pack(TensorId::A);
  const Tile all{Interval{0, 6}, Interval{0, 1}, Interval{0, 5}, Interval{0, 1}};
  EXPECT_EQ(pack.capacity, 30);
  EXPECT_EQ(pack.offset(all, 0, 0), 0);
  EXPECT_EQ(pack.offset(all, 0, 2), 4);  // third column of the first micropanel
  EXPECT_EQ(pack.offset(all, 2, 0), 6);  // second micropanel, after 2 x 3 elements
  EXPECT_EQ(pack.offset(all, 0, 3), 12);
  EXPECT_EQ(pack.offset(all, 2, 3), 16);  // after 2 x 2 elements
  EXPECT_EQ(pack.offset(all, 4, 0), 20);
  EXPECT_EQ(pack.offset(all, 4, 4), 28);
}

// In column-major order b is A's stride-one dimension. In the group m=ab with a=4 the next b is 4
// rows further, so the micropanels of 4 rows that begin at rows 0, 4, ... read neighbours: all 12.
TEST(Pack, Micropanels_that_share_source_lines_are_filled_together) {
  const Plan plan = plan_of("abc-bak-kc", "a=4,b=12,c=1,k=3",
                            "groups m=ab n=c k=k pack A in L2 { for m by 4 { kernel 4x1 }}");
  std::vector<std::vector<std::int64_t>> rows;
  for_each_block(*plan.pack(TensorId::A),
                 Tile{Interval{0, 48}, Interval{0, 1}, Interval{0, 3}, Interval{0, 1}},
                 [&](std::span<const PackBlock> blocks) {
                   rows.emplace_back();
                   for (const PackBlock& b : blocks) {
                     EXPECT_EQ(b.k, 0);
                     EXPECT_EQ(b.k_size, 3);
                     rows.back().push_back(b.row);
                   }
                 });
  EXPECT_EQ(
      rows,
      (std::vector<std::vector<std::int64_t>>{{0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44}}));
}

// The same along k: in the group k=lk with l=3 neighbours along k, which has stride one, are 3
// columns apart, and 700 of them take two turns of at most a page, 512; a tile that begins at
// column 3 lacks the first.
TEST(Pack, Columns_that_share_source_lines_are_filled_together) {
  const Plan plan =
      plan_of("ac-kal-klc", "a=2,c=1,k=700,l=3", "groups m=a n=c k=lk pack A in L2 { kernel 2x1 }");
  std::vector<std::vector<std::int64_t>> columns;
  for_each_block(*plan.pack(TensorId::A),
                 Tile{Interval{0, 2}, Interval{0, 1}, Interval{3, 2097}, Interval{0, 1}},
                 [&](std::span<const PackBlock> blocks) {
                   columns.emplace_back();
                   for (const PackBlock& b : blocks) {
                     EXPECT_EQ(b.k_size, 3);
                     columns.back().push_back(b.k);
                   }
                 });
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].size(), 511u);
  EXPECT_EQ(columns[0].front(), 3);
  EXPECT_EQ(columns[0].back(), 511 * 3);
  EXPECT_EQ(columns[1].size(), 188u);
  EXPECT_EQ(columns[1].front(), 512 * 3);
  EXPECT_EQ(columns[1].back(), 699 * 3);
}

TEST(Plan, Refuses_arrays_and_tables_that_no_machine_holds) {
  const auto message = [](const char* label, const char* sizes, const char* schedule) {
    return message_of<UnsupportedError>([&] { plan_of(label, sizes, schedule); });
  };
  // A has 2^24 * 2^20 elements of 8 bytes, which is 2^47.
  EXPECT_EQ(message("ab-ac-cb", "a=16777216,b=1,c=1048576",
                    "groups m=a n=b k=c for m by 1 { kernel 1x1 }"),
            "ab-ac-cb: A has 2^47 bytes or more; use smaller sizes");
  // 2^40 elements would fit, but not one offset for each of them.
  EXPECT_EQ(message("ab,ab->", "a=1048576,b=1048576", "groups k=ab kernel 1x1"),
            "ab,ab->: group k has more than 2^30 elements; use smaller sizes");
}

// Long groups have a whole table only when somebody asks, and copies of the plan share it.
TEST(Plan, Table_of_a_long_group_has_each_offset) {
  const Plan plan =
      plan_of("abc-bdca-d", "a=13,b=11,c=17,d=3", "groups m=cba k=d for m by 8 { kernel 8x1 }");
  ASSERT_EQ(plan.offsets(TensorId::A, DimClass::m).table(), nullptr);
  const Plan copy = plan;
  const std::int64_t* const table = plan.offset_table(TensorId::A, DimClass::m);
  for (std::int64_t i = 0; i < plan.extent(DimClass::m); ++i) {
    ASSERT_EQ(table[i], plan.offset(TensorId::A, DimClass::m, i)) << i;
  }
  EXPECT_EQ(copy.offset_table(TensorId::A, DimClass::m), table);
  EXPECT_EQ(plan.offset_table(TensorId::B, DimClass::m), nullptr);
}

}  // namespace
}  // namespace tcsim
