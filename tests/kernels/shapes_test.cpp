#include "kernels/shapes.hpp"
#include "kernels/vector_code.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "tests/kernels/guarded.hpp"

namespace tcsim {
namespace {

TEST(Kernel_shapes, Rows_are_whole_vectors_and_accumulators_fit_the_registers) {
  // 16 registers up to AVX2, 32 with AVX-512; two must be left for the operands.
  for (const KernelShape& s : kernel_shapes()) {
    const bool wide = s.needs == InstructionSet::avx512;
    const std::int64_t bytes = wide ? 64 : s.needs == InstructionSet::avx2 ? 32 : 16;
    const std::int64_t row_bytes = s.mr.value() * size_of(s.type).value();
    EXPECT_EQ(row_bytes % bytes, 0);
    EXPECT_LE(row_bytes / bytes * s.nr.value(), (wide ? 32 : 16) - 2);
  }
}

TEST(Kernel_shapes, Preferred_shape_follows_the_vector_width) {
  const auto shape = [](int bits, ElementType type) {
    const KernelShape s = preferred_shape(bits, type);
    return std::pair{s.mr.value(), s.nr.value()};
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(shape(512, ElementType::f64), Pair(24, 8));
  EXPECT_EQ(shape(512, ElementType::f32), Pair(48, 8));
  EXPECT_EQ(shape(256, ElementType::f64), Pair(8, 6));
  EXPECT_EQ(shape(256, ElementType::f32), Pair(16, 6));
  EXPECT_EQ(shape(128, ElementType::f64), Pair(4, 6));
  EXPECT_EQ(shape(128, ElementType::f32), Pair(8, 6));
  EXPECT_THROW(preferred_shape(384, ElementType::f64), std::invalid_argument);
}

TEST(Kernel_shapes, Best_instruction_set_can_run_and_includes_the_lesser_ones) {
  EXPECT_TRUE(can_run(InstructionSet::plain));
  EXPECT_TRUE(can_run(best_instruction_set()));
  if (best_instruction_set() == InstructionSet::avx512) {
    EXPECT_TRUE(can_run(InstructionSet::avx2));
  }
}

TEST(Kernel_shapes, Rows_that_fill_a_vector_run_on_the_best_instruction_set) {
  const auto set = [](std::int64_t mr, std::int64_t nr, ElementType type) {
    return instruction_set_for({Elements(mr), Elements(nr)}, type);
  };
  const InstructionSet best = best_instruction_set();
  for (const KernelShape& s : kernel_shapes()) {
    const bool narrow = best == InstructionSet::avx512 && s.needs == InstructionSet::avx2 &&
                        s.mr.value() * size_of(s.type).value() < 64;
    EXPECT_EQ(set(s.mr.value(), s.nr.value(), s.type), narrow ? InstructionSet::avx2 : best)
        << s.mr.value() << 'x' << s.nr.value();
  }
  EXPECT_EQ(set(5, 7, ElementType::f64), best);
}

// Small whole numbers, so that sums are exact.
template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>((i * 7 + 3) % 11) - 5;
  return v;
}

// Every member of every family against the definition, with strides that leave gaps, columns of the
// right operand that are neighbours or not, and every kind of update.
template <class T>
void expect_members_multiply(InstructionSet set, bool apart, int lanes_short) {
  if (!can_run(set)) return;
  const KernelFamily<T>& family = kernel_family<T>(set);
  if (lanes_short >= (family.has_parts() ? family.lanes : 1)) return;
  for (int vectors = 1; vectors <= KernelFamily<T>::most_vectors; ++vectors) {
    const int rows = vectors * family.lanes - lanes_short;
    ASSERT_GE(family.columns_for(vectors), 2);
    for (int columns = 1; columns <= family.columns_for(vectors); ++columns) {
      for (const auto& [kc, alpha, beta] :
           {std::tuple{1, T{1}, T{0}}, {7, T{-2}, T{0}}, {40, T{1}, T{1}}, {5, T{3}, T{2}}}) {
        SCOPED_TRACE(fmt::format("{} {}x{} k {}", to_text(set), rows, columns, kc));
        const std::int64_t left_step = rows + 3;
        const std::int64_t right_step = apart ? 2 : columns + 2, distance = apart ? 2 * kc + 1 : 1;
        // It ends with the last row: nothing behind it may be read.
        const std::vector<T> left = numbers<T>((kc - 1) * left_step + rows);
        const std::vector<T> right = numbers<T>(kc * right_step + columns * distance);
        std::vector<std::int64_t> places;
        for (int j = 0; j < columns; ++j) places.push_back((columns - 1 - j) * (rows + 1));
        std::vector<T> c = numbers<T>(columns * (rows + 1)), expected = c;
        for (int j = 0; j < columns; ++j) {
          for (int i = 0; i < rows; ++i) {
            T sum = 0;
            for (int p = 0; p < kc; ++p) {
              sum += left[static_cast<std::size_t>(p * left_step + i)] *
                     right[static_cast<std::size_t>(p * right_step + j * distance)];
            }
            T& to = expected[static_cast<std::size_t>(places[static_cast<std::size_t>(j)] + i)];
            to = alpha * sum + (beta == 0 ? T{0} : beta * to);
            // What C held must not matter where it is not read.
            if (beta == 0) {
              c[static_cast<std::size_t>(places[static_cast<std::size_t>(j)] + i)] =
                  std::numeric_limits<T>::quiet_NaN();
            }
          }
        }
        // What is asked for meanwhile changes nothing.
        std::vector<T> trickled = c, compiled = c;
        for (std::vector<T>* to : {&c, &trickled, &compiled}) {
          const ResultTile<T> tile{to->data(), places.data()};
          KernelTask<T> task{kc,
                             {left.data(), left_step},
                             {right.data(), right_step, distance},
                             tile,
                             {alpha, beta},
                             Update<T>{alpha, beta}.kind(),
                             lanes_short};
          if (to == &trickled) task.trickle = {left.data(), 4, 3, 2};
          (to == &compiled ? family.compiled(rows, columns) : family.of(rows, columns))(task, tile);
        }
        ASSERT_EQ(trickled, expected);
        ASSERT_EQ(compiled, expected);
        ASSERT_EQ(c, expected);
      }
    }
  }
}

// Stretches of k of any length, rows and columns at any distance, C's rows apart.
template <class T>
void expect_members_along_k_multiply(InstructionSet set) {
  if (!can_run(set)) return;
  const KernelFamily<T>& family = kernel_family<T>(set);
  for (int rows = 1; rows <= KernelFamily<T>::most_rows; ++rows) {
    ASSERT_GE(family.columns_along_k(rows), 3);
    for (int columns = 1; columns <= family.columns_along_k(rows); ++columns) {
      for (const auto& [kc, stretches, alpha, beta] : {std::tuple{1, 1, T{1}, T{0}},
                                                       {family.lanes, 1, T{-2}, T{0}},
                                                       {40, 1, T{1}, T{1}},
                                                       {5, 3, T{3}, T{2}},
                                                       {37, 2, T{1}, T{0}}}) {
        SCOPED_TRACE(
            fmt::format("{} {}x{} along k {} x {}", to_text(set), rows, columns, stretches, kc));
        const std::int64_t left_jump = 2, right_jump = 3;
        const std::int64_t left_apart = stretches * (kc + left_jump) + 1;
        const std::int64_t right_apart = stretches * (kc + right_jump) + 2;
        const std::vector<T> left = numbers<T>(rows * left_apart);
        const std::vector<T> right = numbers<T>(columns * right_apart);
        std::vector<std::int64_t> places, row_places;
        for (int j = 0; j < columns; ++j) places.push_back((columns - 1 - j) * (2 * rows + 1));
        for (int i = 0; i < rows; ++i) row_places.push_back(100 + 2 * i);
        std::vector<T> c = numbers<T>(columns * (2 * rows + 1)), expected = c;
        for (int j = 0; j < columns; ++j) {
          for (int i = 0; i < rows; ++i) {
            T sum = 0;
            for (int s = 0; s < stretches; ++s) {
              for (int p = 0; p < kc; ++p) {
                sum += left[static_cast<std::size_t>(i * left_apart + s * (kc + left_jump) + p)] *
                       right[static_cast<std::size_t>(j * right_apart + s * (kc + right_jump) + p)];
              }
            }
            const auto at = static_cast<std::size_t>(places[static_cast<std::size_t>(j)] + 2 * i);
            expected[at] = alpha * sum + (beta == 0 ? T{0} : beta * expected[at]);
            if (beta == 0) c[at] = std::numeric_limits<T>::quiet_NaN();
          }
        }
        const ResultTile<T> tile{c.data(), places.data(), row_places.data()};
        const std::vector<Stretch> more(static_cast<std::size_t>(stretches - 1),
                                        {kc, left_jump, right_jump});
        KernelTask<T> task{kc,
                           {left.data(), 1, left_apart},
                           {right.data(), 1, right_apart},
                           tile,
                           {alpha, beta},
                           Update<T>{alpha, beta}.kind()};
        task.stretches = more.data();
        task.more_stretches = std::ssize(more);
        family.along_k[rows - 1][columns - 1](task, tile);
        ASSERT_EQ(c, expected);
      }
    }
  }
}

// Each lane has columns of its own. Of fewer lanes than a vector has nothing behind them is read.
template <class T>
void expect_members_by_lane_multiply(InstructionSet set) {
  if (!can_run(set)) return;
  const KernelFamily<T>& family = kernel_family<T>(set);
  for (int rows = 1; rows <= family.lanes; ++rows) {
    const bool whole = rows == family.lanes;
    for (int columns = 1; columns <= family.columns_for(1); ++columns) {
      for (const auto& [kc, stretches, alpha, beta] : {std::tuple{1, 1, T{1}, T{0}},
                                                       {7, 1, T{-2}, T{0}},
                                                       {20, 1, T{1}, T{1}},
                                                       {5, 3, T{3}, T{2}}}) {
        SCOPED_TRACE(fmt::format("{} {} by lane {} k {}", to_text(set), rows, columns, kc));
        const std::int64_t left_step = rows + 3, left_jump = 2, right_jump = 3;
        const std::int64_t right_step = columns * (rows + 1), apart = rows + 1;
        const std::int64_t steps = kc * stretches;
        const auto left_at = [&](std::int64_t p) { return p * left_step + p / kc * left_jump; };
        const auto right_at = [&](std::int64_t p) { return p * right_step + p / kc * right_jump; };
        const std::vector<T> left = numbers<T>(left_at(steps - 1) + rows);
        const std::vector<T> right = numbers<T>(right_at(steps - 1) + (columns - 1) * apart + rows);
        std::vector<std::int64_t> places;
        for (int j = 0; j < columns; ++j) places.push_back((columns - 1 - j) * family.lanes);
        std::vector<T> c = numbers<T>(columns * family.lanes), expected = c;
        for (int j = 0; j < columns; ++j) {
          for (int i = 0; i < rows; ++i) {
            T sum = 0;
            for (std::int64_t p = 0; p < steps; ++p) {
              sum += left[static_cast<std::size_t>(left_at(p) + i)] *
                     right[static_cast<std::size_t>(right_at(p) + j * apart + i)];
            }
            const auto at = static_cast<std::size_t>(places[static_cast<std::size_t>(j)] + i);
            expected[at] = alpha * sum + (beta == 0 ? T{0} : beta * expected[at]);
            if (beta == 0) c[at] = std::numeric_limits<T>::quiet_NaN();
          }
        }
        const ResultTile<T> tile{c.data(), places.data()};
        const std::vector<Stretch> more(static_cast<std::size_t>(stretches - 1),
                                        {kc, left_jump, right_jump});
        KernelTask<T> task{kc,
                           {left.data(), left_step},
                           {right.data(), right_step, apart},
                           tile,
                           {alpha, beta},
                           Update<T>{alpha, beta}.kind(),
                           family.lanes - rows};
        task.stretches = more.data();
        task.more_stretches = std::ssize(more);
        (whole ? family.by_lane : family.lane_part)[columns - 1](task, tile);
        for (int j = 0; j < columns; ++j) {
          for (int i = 0; i < rows; ++i) {
            const auto at = static_cast<std::size_t>(places[static_cast<std::size_t>(j)] + i);
            ASSERT_EQ(c[at], expected[at]) << "row " << i << " column " << j;
          }
        }
      }
    }
  }
}

TEST(Kernel_family, Every_member_by_lane_multiplies) {
  for (InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512}) {
    expect_members_by_lane_multiply<double>(set);
    expect_members_by_lane_multiply<float>(set);
  }
}

TEST(Kernel_family, Every_member_along_k_multiplies) {
  for (InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512}) {
    expect_members_along_k_multiply<double>(set);
    expect_members_along_k_multiply<float>(set);
  }
}

TEST(Kernel_family, Every_member_multiplies) {
  for (InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512}) {
    for (const bool apart : {false, true}) {
      for (const int lanes_short : {0, 1, 5, 15}) {
        expect_members_multiply<double>(set, apart, lanes_short);
        expect_members_multiply<float>(set, apart, lanes_short);
      }
    }
  }
}

// Vectors along k, in two stretches that fill none: what lies between them is no number and comes
// into no sum, and nothing before the first place or behind the last one is read.
template <class T>
void expect_nothing_read_beside_stretches(InstructionSet set) {
  if (!can_run(set)) return;
  const KernelFamily<T>& family = kernel_family<T>(set);
  constexpr std::int64_t gap = 3, columns = 2;
  for (std::int64_t kc = 1; kc <= 2 * family.lanes + 1; ++kc) {
    const std::int64_t apart = 2 * (kc + gap);
    const auto is_read = [&](std::int64_t i) { return i % (kc + gap) < kc; };
    const auto number = [&](std::int64_t i) {
      return is_read(i) ? static_cast<T>(i % 7 - 3) : std::numeric_limits<T>::quiet_NaN();
    };
    // The last column's second stretch ends where the memory does.
    const std::int64_t all = columns * apart - gap;
    const test::Guarded<T> at_begin(number), at_end([&](std::int64_t i) {
      return number(i - (test::Guarded<T>::count - all) + apart * test::Guarded<T>::count);
    });
    for (const T* first : {at_begin.begin(), at_end.end() - all}) {
      for (std::int64_t rows = 1; rows <= columns; ++rows) {
        SCOPED_TRACE(fmt::format("{} {} x {} k {}", to_text(set), rows, columns, kc));
        std::vector<T> c(4, 1);
        const std::vector<std::int64_t> column{0, 2}, row{0, 1};
        const Stretch next{kc, gap, gap};
        KernelTask<T> task{
            kc,     {first, 1, apart},     {first, 1, apart}, {c.data(), column.data(), row.data()},
            {1, 0}, Update<T>{1, 0}.kind()};
        task.stretches = &next;
        task.more_stretches = 1;
        family.along_k[rows - 1][columns - 1](task, task.c);
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) {
            T sum = 0;
            for (std::int64_t k = 0; k < 2 * kc + gap; ++k) {
              if (is_read(k)) sum += first[i * apart + k] * first[j * apart + k];
            }
            ASSERT_EQ(c[static_cast<std::size_t>(2 * j + i)], sum) << i << ' ' << j;
          }
        }
      }
    }
  }
}

// Lanes with columns of their own that fill no vector.
template <class T>
void expect_nothing_read_behind_lanes(InstructionSet set) {
  if (!can_run(set)) return;
  const KernelFamily<T>& family = kernel_family<T>(set);
  const test::Guarded<T> numbers([](std::int64_t i) { return static_cast<T>(i % 7 - 3); });
  for (std::int64_t rows = 1; rows < family.lanes; ++rows) {
    for (const std::int64_t step : {std::int64_t{1}, family.lanes - rows, rows + 2}) {
      for (const std::int64_t kc : {1, 2, 5}) {
        SCOPED_TRACE(fmt::format("{} {} rows, k {} step {}", to_text(set), rows, kc, step));
        const std::int64_t apart = kc * step + 3;
        const T* const left = numbers.end() - (kc - 1) * step - rows;
        const T* const right = left - apart;
        std::vector<T> c(static_cast<std::size_t>(2 * family.lanes));
        const std::vector<std::int64_t> columns{0, family.lanes};
        KernelTask<T> task{
            kc,     {left, step},          {right, step, apart}, {c.data(), columns.data()},
            {1, 0}, Update<T>{1, 0}.kind()};
        task.lanes_short = family.lanes - rows;
        family.lane_part[1](task, task.c);
        for (std::int64_t j = 0; j < 2; ++j) {
          for (std::int64_t i = 0; i < rows; ++i) {
            T sum = 0;
            for (std::int64_t k = 0; k < kc; ++k) {
              sum += left[k * step + i] * right[k * step + j * apart + i];
            }
            ASSERT_EQ(c[static_cast<std::size_t>(j * family.lanes + i)], sum) << i << ' ' << j;
          }
        }
      }
    }
  }
}

TEST(Kernel_family, Reads_nothing_behind_lanes_that_fill_no_vector) {
  for (InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512}) {
    expect_nothing_read_behind_lanes<double>(set);
    expect_nothing_read_behind_lanes<float>(set);
  }
}

TEST(Kernel_family, Reads_nothing_beside_stretches_along_k) {
  for (InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512}) {
    expect_nothing_read_beside_stretches<double>(set);
    expect_nothing_read_beside_stretches<float>(set);
  }
}

}  // namespace
}  // namespace tcsim
