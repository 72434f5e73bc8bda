#include "kernels/pack.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/plan/walk.hpp"
#include "kernels/operand.hpp"
#include "kernels/vector_code.hpp"
#include "tests/groups.hpp"
#include "tests/kernels/build.hpp"
#include "tests/kernels/random_case.hpp"

namespace tcsim {
namespace {

using Numbers = std::vector<double>;

// What lies in the buffer of A after packing `tile` of the tensor 1, 2, 3...
Numbers packed_counting(const Plan& plan, const Tile& tile) {
  const PackPlan& pack = *plan.pack(TensorId::A);
  Numbers tensor(static_cast<std::size_t>(plan.contraction().size(TensorId::A).value()));
  std::iota(tensor.begin(), tensor.end(), 1);
  Numbers buffer(static_cast<std::size_t>(pack.capacity), -1);
  Packer<double>(plan, pack)(tile, tensor.data(), buffer.data());
  return buffer;
}

// A is 3 x 2 in micropanels of 2 rows: rows 0 and 1 of each column of k, then row 2 and a zero.
Schedule panels_of_two() {
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = pack(TensorId::A, "L1", loop(DimClass::m, 2, loop(DimClass::n, 2, kernel(2, 2))));
  return s;
}

TEST(Pack, Copies_along_rows_that_are_contiguous) {
  // Column-major: A = [1 4; 2 5; 3 6].
  const Contraction c = contraction("mn", "mk", "kn", {{'m', 3}, {'n', 2}, {'k', 2}});
  const Plan plan(c, panels_of_two());
  EXPECT_EQ(packed_counting(plan, plan.all()), (Numbers{1, 2, 4, 5, 3, 0, 6, 0}));
}

// Behind the last rows of what is packed there may be no page.
TEST(Operand, Has_no_rows_behind_the_last_ones) {
  const Contraction c = contraction("mn", "mk", "kn", {{'m', 5}, {'n', 2}, {'k', 3}});
  Numbers tensor(15, 1), buffer(15 + 3);
  const Plan packed(c, panels_of_two());
  Operand<double> copy(packed, TensorId::A, DimClass::m, 0, buffer.data());
  copy.read(tensor.data());
  Tile part = packed.all();
  part[DimClass::m] = {0, 4};
  copy.pack(part);
  copy.at({0, 3}, 0);
  EXPECT_EQ(copy.to_next({0, 2}), 3 * 2);
  EXPECT_EQ(copy.to_next({2, 2}), 0);
  copy.pack(packed.all());
  EXPECT_EQ(copy.to_next({2, 2}), 3 * 2);
  EXPECT_EQ(copy.to_next({4, 1}), 0);
  Schedule s = panels_of_two();
  s.root = loop(DimClass::m, 2, loop(DimClass::n, 2, kernel(2, 2)));
  const Plan plan(c, s);
  Operand<double> in_place(plan, TensorId::A, DimClass::m, 0, nullptr);
  in_place.read(tensor.data());
  in_place.at({0, 3}, 0);
  EXPECT_EQ(in_place.to_next({2, 2}), 2);
  EXPECT_EQ(in_place.to_next({4, 1}), 0);
}

TEST(Pack, Transposes_where_k_is_contiguous) {
  // Row-major: A = [1 2; 3 4; 5 6].
  const Contraction c =
      contraction("mn", "mk", "kn", {{'m', 3}, {'n', 2}, {'k', 2}}, Layout::row_major);
  const Plan plan(c, panels_of_two());
  EXPECT_EQ(packed_counting(plan, plan.all()), (Numbers{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(Pack, Gathers_where_nothing_is_contiguous) {
  // A[x m k] with the batch index x at stride one: element (x, m, k) is 1 + x + 2 m + 6 k.
  const Contraction c = contraction("xmn", "xmk", "xkn", {{'x', 2}, {'m', 3}, {'n', 2}, {'k', 2}});
  Schedule s = panels_of_two();
  s.groups = test::groups(c, {"m", "n", "k", "x"});
  s.root = loop(DimClass::batch, 1, s.root);
  const Plan plan(c, s);
  Tile second = plan.all();
  second[DimClass::batch] = {1, 1};
  EXPECT_EQ(packed_counting(plan, second), (Numbers{2, 4, 8, 10, 6, 0, 12, 0}));
}

TEST(Pack, Follows_the_loops_inside_it) {
  // m by 4 outside k by 2 outside m by 2, column-major 6 x 3, element (m, k) is 1 + m + 6 k:
  // rows 0-3: k 0-1 (rows 0-1, rows 2-3), then k 2 (both); then rows 4-5 in the same way.
  const Contraction c = contraction("mn", "mk", "kn", {{'m', 6}, {'n', 2}, {'k', 3}});
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = pack(TensorId::A, "L1",
                loop(DimClass::m, 4, loop(DimClass::k, 2, loop(DimClass::m, 2, kernel(2, 2)))));
  const Plan plan(c, s);
  EXPECT_EQ(packed_counting(plan, plan.all()),
            (Numbers{1, 2, 7, 8, 3, 4, 9, 10, 13, 14, 15, 16, 5, 6, 11, 12, 17, 18}));
}

// Tensors too large for a list of places, with neighbours along rows and along k, as a loop over
// all elements copies them.
TEST(Pack, Copies_large_tensors_as_a_loop_does) {
  for (const char* a : {"mpkq", "pmqk", "kqmp", "qmkp", "mkpq", "kmqp", "kpqm", "kqpm"}) {
    for (const std::int64_t rows : {1, 4, 5, 8, 11, 24}) {
      SCOPED_TRACE(fmt::format("{} {}", a, rows));
      const Contraction c =
          contraction("mpn", a, "kqn", {{'m', 29}, {'p', 7}, {'n', 2}, {'k', 19}, {'q', 5}});
      Schedule s;
      s.groups = test::groups(c, {"mp", "n", "kq", ""});
      s.root = loop(
          DimClass::m, 120,
          pack(TensorId::A, "L1", loop(DimClass::k, 64, loop(DimClass::m, rows, kernel(rows, 2)))));
      const Plan plan(c, s);
      for (const Interval m : {Interval{0, 120}, Interval{120, 83}}) {
        Tile tile = plan.all();
        tile[DimClass::m] = m;
        const PackPlan& pack = *plan.pack(TensorId::A);
        Numbers expected(static_cast<std::size_t>(pack.capacity), -1);
        for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
          for (const PackBlock& b : blocks) {
            for (std::int64_t k = 0; k < b.k_size; ++k) {
              for (std::int64_t r = 0; r < pack.panel; ++r) {
                const double element =
                    r < b.rows
                        ? static_cast<double>(plan.offset(TensorId::A, DimClass::m, b.row + r) +
                                              plan.offset(TensorId::A, DimClass::k, b.k + k) + 1)
                        : 0;
                expected[static_cast<std::size_t>(b.destination + k * pack.panel + r)] = element;
              }
            }
          }
        });
        ASSERT_EQ(packed_counting(plan, tile), expected);
      }
    }
  }
}

// Places of the batch are neighbours in runs of 7, which a pack of several cuts: a run of 2 is
// packed place by place, a whole one together, and the next packs begin anew.
TEST(Pack, Packs_places_in_runs_of_any_length) {
  const Contraction c =
      contraction("hgmn", "hmkg", "hkng", {{'h', 7}, {'g', 3}, {'m', 9}, {'n', 2}, {'k', 12}});
  Schedule s;
  s.groups = test::groups(c, {"m", "n", "k", "hg"});
  s.root =
      loop(DimClass::batch, 11,
           pack(TensorId::A, "L1", loop(DimClass::batch, 1, loop(DimClass::m, 4, kernel(4, 2)))));
  const Plan plan(c, s);
  const PackPlan& pack = *plan.pack(TensorId::A);
  Numbers tensor(static_cast<std::size_t>(c.size(TensorId::A).value()));
  std::iota(tensor.begin(), tensor.end(), 1);
  Packer<double> packer(plan, pack);
  for (const Interval batch : {Interval{5, 11}, Interval{0, 11}, Interval{13, 8}}) {
    Tile tile = plan.all();
    tile[DimClass::batch] = batch;
    Numbers buffer(static_cast<std::size_t>(pack.capacity), -1), expected = buffer;
    packer(tile, tensor.data(), buffer.data());
    for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
      for (const PackBlock& b : blocks) {
        for (std::int64_t p = 0; p < batch.size; ++p) {
          const std::int64_t at = batch.begin + p;
          const std::int64_t to =
              b.destination - pack.place_of(tile) + at % pack.places * pack.place;
          for (std::int64_t k = 0; k < b.k_size; ++k) {
            for (std::int64_t r = 0; r < pack.panel; ++r) {
              expected[static_cast<std::size_t>(to + k * pack.panel + r)] =
                  r < b.rows
                      ? static_cast<double>(1 + plan.offset(TensorId::A, DimClass::batch, at) +
                                            plan.offset(TensorId::A, DimClass::m, b.row + r) +
                                            plan.offset(TensorId::A, DimClass::k, b.k + k))
                      : 0;
            }
          }
        }
      }
    });
    EXPECT_EQ(buffer, expected) << batch.begin;
  }
}

// Every number of rows and columns around whole squares of every vector length, rows and columns at
// places in no order, and nothing written beside them.
template <class T>
void expect_transposes(Transpose<T> code, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  for (std::int64_t row_count = 0; row_count <= 35; ++row_count) {
    for (std::int64_t column_count = 0; column_count <= 35; ++column_count) {
      std::vector<std::int64_t> rows(static_cast<std::size_t>(row_count));
      std::vector<std::int64_t> columns(static_cast<std::size_t>(column_count));
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = static_cast<std::int64_t>(i) * (column_count + 3) + between(random, 0, 3);
      for (std::size_t i = 0; i < columns.size(); ++i)
        columns[i] = static_cast<std::int64_t>(i) * (row_count + 2) + 1;
      std::shuffle(rows.begin(), rows.end(), random);
      std::shuffle(columns.begin(), columns.end(), random);
      std::vector<T> from(static_cast<std::size_t>(row_count * (column_count + 3) + 3));
      std::iota(from.begin(), from.end(), T{1});
      std::vector<T> to(static_cast<std::size_t>(column_count * (row_count + 2) + 1), T{0});
      std::vector<T> expected = to;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t c = 0; c < columns.size(); ++c)
          expected[static_cast<std::size_t>(columns[c]) + r] =
              from[static_cast<std::size_t>(rows[r]) + c];
      }
      const Rows<T> source{from.data(), rows.data()};
      code(row_count, column_count, source, source, to.data(), columns.data());
      ASSERT_EQ(to, expected) << row_count << " rows, " << column_count << " columns";
    }
  }
}

TEST(Pack, Transposes_any_number_of_rows_and_columns) {
  for (InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512}) {
    if (!can_run(set)) continue;
    SCOPED_TRACE(to_text(set));
    expect_transposes<double>(transpose_code<double>(set), 11);
    expect_transposes<float>(transpose_code<float>(set), 12);
  }
}

// Checks at every kernel call that the micropanels hold what the call will multiply.
struct PanelReader {
  const Plan& plan;
  const Numbers& a;
  const Numbers& b;
  Numbers buffer_a, buffer_b;
  Packer<double> packer_a, packer_b;

  void pack(const PackPlan& pack, const Tile& tile) {
    if (pack.tensor == TensorId::A)
      packer_a(tile, a.data(), buffer_a.data());
    else
      packer_b(tile, b.data(), buffer_b.data());
  }

  void kernel(const KernelCall& call) {
    expect_panel(*call.tile, plan.left(), DimClass::m, plan.mr(), call.left_offset);
    const TensorId right = plan.right();
    expect_panel(*call.tile, right, plan.path().rows_of(right), plan.path().panel_of(right),
                 call.right_offset);
  }

  void expect_panel(const Tile& tile, TensorId t, DimClass rows, std::int64_t panel,
                    std::int64_t offset) const {
    const Numbers& tensor = t == TensorId::A ? a : b;
    const Numbers& buffer = t == TensorId::A ? buffer_a : buffer_b;
    std::int64_t batch = plan.offset(t, DimClass::batch, tile[DimClass::batch].begin);
    if (plan.lanes()) batch += plan.offset(t, DimClass::n, tile[DimClass::n].begin);
    const Interval r = tile[rows], k = tile[DimClass::k];
    for (std::int64_t p = 0; p < k.size; ++p) {
      for (std::int64_t i = 0; i < panel; ++i) {
        const double expected =
            i < r.size ? tensor[static_cast<std::size_t>(batch + plan.offset(t, rows, r.begin + i) +
                                                         plan.offset(t, DimClass::k, k.begin + p))]
                       : 0;
        ASSERT_EQ(buffer.at(static_cast<std::size_t>(offset + p * panel + i)), expected);
      }
    }
  }
};

// Of a plan that packs both operands.
void expect_panels(const Plan& plan) {
  const auto counting = [&](TensorId t) {
    Numbers numbers(static_cast<std::size_t>(plan.contraction().size(t).value()));
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
  };
  const Numbers a = counting(TensorId::A), b = counting(TensorId::B);
  const PackPlan &pack_a = *plan.pack(TensorId::A), &pack_b = *plan.pack(TensorId::B);
  walk(plan, PanelReader{plan, a, b, Numbers(static_cast<std::size_t>(pack_a.capacity), -1),
                         Numbers(static_cast<std::size_t>(pack_b.capacity), -1),
                         Packer<double>(plan, pack_a), Packer<double>(plan, pack_b)});
}

TEST(Pack, Kernels_find_their_micropanels_in_random_schedules) {
  int compared = 0;
  for (std::uint64_t seed = 0; compared < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c = random_contraction(random, ElementType::f64, 6000);
    const Schedule s = random_schedule(random, c, between(random, 1, 9), between(random, 1, 9));
    const Plan plan(c, s);
    if (!plan.pack(TensorId::A) || !plan.pack(TensorId::B)) continue;
    SCOPED_TRACE(to_line(s, c));
    expect_panels(plan);
    if (HasFailure()) return;
    ++compared;
  }
}

// b is A's stride-one dimension and behind a in m: strips of a rows that micropanels and tiles cut
// anywhere, or nowhere.
TEST(Pack, Strips_are_cut_by_micropanels_and_tiles) {
  for (const std::int64_t a : {3, 8, 11, 16, 48}) {
    for (const std::int64_t b : {1, 7, 40}) {
      for (const std::int64_t panel : {1, 5, 8, 24}) {
        for (const std::int64_t tile : {7, 24, 33, 96}) {
          SCOPED_TRACE(fmt::format("a={} b={} panel {} tile {}", a, b, panel, tile));
          const Contraction c =
              contraction("abd", "bka", "kd", {{'a', a}, {'b', b}, {'d', 2}, {'k', 5}});
          Schedule s;
          s.groups = test::groups(c, {"ab", "d", "k", ""});
          const std::int64_t rows = std::min(tile, a * b), mr = std::min(panel, rows);
          s.root = pack(TensorId::B, "L1",
                        loop(DimClass::m, rows,
                             pack(TensorId::A, "L1",
                                  loop(DimClass::k, 3, loop(DimClass::m, mr, kernel(mr, 2))))));
          expect_panels(Plan(c, s));
          if (HasFailure()) return;
        }
      }
    }
  }
}

// The same along k, in micropanels of one row: b is A's stride-one dimension and behind a in k, and
// tiles of k begin and end anywhere within the strips of a steps.
// One row for each place of the batch b, which runs fastest: lines hold several places.
template <class T>
void expect_places_along_k() {
  constexpr ElementType type = sizeof(T) == 4 ? ElementType::f32 : ElementType::f64;
  for (const std::int64_t places : {4, 7, 16}) {
    for (const std::int64_t ks : {5, 66, 290}) {
      SCOPED_TRACE(fmt::format("{} places, tiles of {}", places, ks));
      const Contraction c =
          contraction("bmn", "bkfm", "kfnb", {{'b', 19}, {'m', 3}, {'n', 2}, {'k', 29}, {'f', 10}},
                      Layout::column_major, type);
      Schedule s;
      s.groups = test::groups(c, {"m", "n", "fk", "b"});
      s.root = loop(DimClass::batch, places,
                    loop(DimClass::k, ks,
                         pack(TensorId::A, "L1",
                              pack(TensorId::B, "L1",
                                   loop(DimClass::batch, 1,
                                        loop(DimClass::k, (ks + 1) / 2,
                                             loop(DimClass::m, 1, kernel(1, 2))))))));
      const Plan plan(c, s);
      const PackPlan& packed = *plan.pack(TensorId::A);
      std::vector<T> tensor(static_cast<std::size_t>(c.size(TensorId::A).value()));
      std::iota(tensor.begin(), tensor.end(), T{1});
      std::vector<T> buffer(static_cast<std::size_t>(packed.capacity), T{-1}), expected = buffer;
      Packer<T> packer(plan, packed);
      for (std::int64_t k = 0; k < 290; k += ks) {
        for (std::int64_t b = 0; b < 19; b += places) {
          Tile tile = plan.all();
          tile[DimClass::batch] = {b, std::min<std::int64_t>(places, 19 - b)};
          tile[DimClass::k] = {k, std::min<std::int64_t>(ks, 290 - k)};
          packer(tile, tensor.data(), buffer.data());
          for_each_place(packed, tile, plan.offsets(TensorId::A, DimClass::batch),
                         [&](std::int64_t shift, std::int64_t to) {
                           for_each_block(packed, tile, [&](std::span<const PackBlock> blocks) {
                             for (const PackBlock& block : blocks) {
                               for (std::int64_t i = 0; i < block.k_size; ++i) {
                                 const std::int64_t from =
                                     shift + plan.offset(TensorId::A, DimClass::batch, b) +
                                     plan.offset(TensorId::A, DimClass::m, block.row) +
                                     plan.offset(TensorId::A, DimClass::k, block.k + i);
                                 expected[static_cast<std::size_t>(packed.place_of(tile) + to +
                                                                   block.destination + i)] =
                                     static_cast<T>(from + 1);
                               }
                             }
                           });
                         });
          ASSERT_EQ(buffer, expected) << "k " << k << " b " << b;
        }
      }
    }
  }
}

TEST(Pack, Rows_of_several_places_run_along_k) {
  expect_places_along_k<double>();
  expect_places_along_k<float>();
}

TEST(Pack, Lines_along_k_are_cut_by_tiles) {
  for (const std::int64_t a : {2, 3, 8, 11, 33}) {
    for (const std::int64_t b : {1, 7, 40}) {
      for (const std::int64_t tile : {5, 24, 66, 2000}) {
        SCOPED_TRACE(fmt::format("a={} b={} tile {}", a, b, tile));
        const Contraction c =
            contraction("de", "badf", "fabe", {{'a', a}, {'b', b}, {'d', 5}, {'e', 3}, {'f', 4}});
        Schedule s;
        s.groups = test::groups(c, {"d", "e", "abf", ""});
        const std::int64_t ks = std::min(tile, 4 * a * b);
        s.root = pack(
            TensorId::B, "L1",
            loop(DimClass::k, ks,
                 loop(DimClass::m, 2,
                      pack(TensorId::A, "L1",
                           loop(DimClass::k, (ks + 1) / 2, loop(DimClass::m, 1, kernel(1, 3)))))));
        expect_panels(Plan(c, s));
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace tcsim
