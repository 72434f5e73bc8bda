// Code that is made while the program runs, against what was compiled: exactly equal.
#include "kernels/generated_calls.hpp"
#include "kernels/generated_kernels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <vector>

#include "kernels/vector_code.hpp"
#include "tests/draws.hpp"
#include "tests/kernels/guarded.hpp"
#include "tests/kernels/random_case.hpp"

namespace tcsim {
namespace {

template <class T>
class Generated_against {
 public:
  explicit Generated_against(const KernelFamily<T>& family) : family_(family) {
    for (std::vector<T>* v : {&left_, &right_, &c_}) {
      v->resize(elements);
      // Whole numbers: a compiler that does not optimize fuses no multiply-add.
      for (T& x : *v) x = static_cast<T>(between(random_, -100, 100));
    }
  }

  // The calls, by members and by code of their own.
  void expect_equal(const std::vector<PlacedCall<T>>& calls) {
    const auto code = GeneratedCalls<T>::make(family_, calls);
    ASSERT_NE(code, nullptr);
    EXPECT_GT(code->bytes(), 0U);
    std::vector<T> by_code = c_;
    (*code)(left_.data(), right_.data(), by_code.data());
    ASSERT_EQ(by_code, done(calls));
  }
  // What C is after the calls.
  std::vector<T> done(std::vector<PlacedCall<T>> calls) const {
    std::vector<T> c = c_;
    for (PlacedCall<T>& call : calls) {
      call.task.left.first = left_.data() + call.left;
      call.task.right.first = right_.data() + call.right;
      call.task.c.first = c.data() + call.c;
      call.code(call.task, call.task.c);
    }
    return c;
  }

  // The same after a call of one tile, element by element.
  std::vector<T> by_element(const PlacedCall<T>& call, int rows, int columns) const {
    std::vector<T> c = c_;
    const KernelTask<T>& task = call.task;
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        T& to = c[static_cast<std::size_t>(call.c + task.c.columns[j] + i)];
        T sum = task.update.beta == 0 ? T{0} : to;
        for (std::int64_t k = 0; k < task.kc; ++k) {
          const auto in_left = static_cast<std::size_t>(call.left + k * task.left.step + i);
          const auto in_right =
              static_cast<std::size_t>(call.right + k * task.right.step + j * task.right.apart);
          sum += left_[in_left] * right_[in_right];
        }
        to = sum;
      }
    }
    return c;
  }

  // A call of a member, whose tile of C begins at `c`; no two elements of a tile are the same.
  PlacedCall<T> call(Microkernel<T> code, int rows, int columns, std::int64_t kc,
                     std::int64_t tiles, bool apart, bool by_lane, std::int64_t c, bool adds) {
    std::vector<std::int64_t>& places = tables_.emplace_back();
    const std::int64_t height = rows * tiles + 3;
    for (int j = 0; j < columns; ++j) places.push_back((columns - 1 - j) * height);
    std::vector<std::int64_t>& rows_of_c = tables_.emplace_back();
    for (std::int64_t i = 0; i < rows * tiles; ++i) rows_of_c.push_back(i);
    const std::int64_t distance = by_lane ? rows + 5 : apart ? 2 * kc + 1 : 1;
    PlacedCall<T> made{code, {}, between(random_, 0, 9), between(random_, 0, 9), c};
    made.task.kc = kc;
    made.task.left = {nullptr, rows * tiles + between(random_, 0, 3)};
    made.task.right = {nullptr, by_lane ? columns * distance : apart ? 2 : columns + 1, distance};
    made.task.c = {nullptr, places.data(), rows_of_c.data()};
    made.task.update = {1, adds ? T{1} : T{0}};
    made.task.kind = made.task.update.kind();
    made.task.lanes_short = -rows & (family_.lanes - 1);
    made.task.tiles = tiles;
    made.task.onwards = {rows, by_lane ? rows : 0, rows, 0};
    return made;
  }

  const KernelFamily<T>& family() const { return family_; }
  // Somewhere that may be asked for.
  const T* somewhere() const { return left_.data(); }

 private:
  static constexpr std::size_t elements = 40000;
  const KernelFamily<T>& family_;
  Random random_{5};
  std::vector<T> left_, right_, c_;
  std::deque<std::vector<std::int64_t>> tables_;
};

template <class T>
void expect_every_member(InstructionSet set) {
  if (!can_run(set)) return;
  Generated_against<T> against(kernel_family<T>(set));
  const KernelFamily<T>& family = against.family();
  for (const std::int64_t kc : {1, 2, 5, 9, 10, 37}) {
    for (int vectors = 1; vectors <= KernelFamily<T>::most_vectors; ++vectors) {
      for (int columns = 1; columns <= family.columns_for(vectors); ++columns) {
        SCOPED_TRACE(fmt::format("{} {} x {} k {}", to_text(set), vectors, columns, kc));
        for (const bool apart : {false, true}) {
          for (int lanes_short = 0; lanes_short < family.lanes; ++lanes_short) {
            if (lanes_short % 4 == 0 && lanes_short > 0 && family.lanes > 8) continue;
            const int rows = vectors * family.lanes - lanes_short;
            // One of each kind: a caller may have either.
            const Microkernel<T> code =
                apart ? family.of(rows, columns) : family.compiled(rows, columns);
            const std::int64_t tiles = lanes_short == 0 ? 3 : 1;
            against.expect_equal(
                {against.call(code, rows, columns, kc, tiles, apart, false, 0, false),
                 against.call(code, rows, columns, kc + 1, tiles, apart, false, 17, true)});
          }
        }
        if (vectors == 1) {
          against.expect_equal({against.call(family.by_lane[columns - 1], family.lanes, columns, kc,
                                             2, true, true, 3, true)});
        }
      }
    }
  }
}

// Rows that fill no vector: the others are neither read nor written.
template <class T>
void expect_every_part(InstructionSet set) {
  if (!can_run(set)) return;
  Generated_against<T> against(kernel_family<T>(set));
  const KernelFamily<T>& family = against.family();
  for (int vectors = 1; vectors <= KernelFamily<T>::most_tall && family.has_parts(); ++vectors) {
    for (int columns = 1; columns <= family.columns_for(vectors); ++columns) {
      for (int lanes_short = 1; lanes_short < family.lanes; ++lanes_short) {
        const int rows = vectors * family.lanes - lanes_short;
        for (const bool apart : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} x {}", to_text(set), rows, columns));
          const PlacedCall<T> call = against.call(family.compiled(rows, columns), rows, columns, 11,
                                                  1, apart, false, 5, apart);
          ASSERT_EQ(against.done({call}), against.by_element(call, rows, columns));
        }
      }
    }
  }
}

TEST(Kernel_family, Writes_the_rows_of_a_part_alone) {
  for (InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512}) {
    expect_every_part<double>(set);
    expect_every_part<float>(set);
  }
  if (can_run(InstructionSet::avx2)) {
    EXPECT_TRUE(kernel_family<float>(InstructionSet::avx2).has_parts());
  }
}

TEST(Generated_calls, Are_equal_to_every_member) {
  if (!generates_code()) GTEST_SKIP() << "built without Xbyak";
  for (InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    expect_every_member<double>(set);
    expect_every_member<float>(set);
  }
}

// All that a task may ask for: many tiles, stretches of k, an update that multiplies, and lines
// that are read later, of C, of the left operand and of any other place.
template <class T>
void expect_kernels_as_compiled(InstructionSet set) {
  if (!can_run(set)) return;
  Generated_against<T> against(kernel_family<T>(set));
  const KernelFamily<T>& family = against.family();
  GeneratedKernels<T> kernels(static_cast<int>(family.lanes * sizeof(T)), 16 << 20);
  const std::vector<Stretch> stretches{{3, 2, 5}, {1, 1, 1}, {11, -4, 0}};
  const std::vector<std::function<void(KernelTask<T>&)>> asks = {
      [](auto&) {},
      [](auto& task) { task.left_ahead = 100; },
      [](auto& task) {
        task.left_ahead = 8;
        task.left_ends = true;
      },
      [&](auto& task) {
        task.trickle = {against.somewhere(), 2, 3, 2};
      },
      [&](auto& task) {
        task.fetch = {against.somewhere(), 3, 2, 100, 0};
      },
      [&](auto& task) {
        task.fetch = {against.somewhere(), 200, 1, 64, 10};
        task.left_ahead = 8;
      }};
  for (int vectors = 1; vectors <= KernelFamily<T>::most_vectors; ++vectors) {
    for (int columns = 1; columns <= family.columns_for(vectors); ++columns) {
      for (int lanes_short = 0; lanes_short < std::min(family.lanes, 8); ++lanes_short) {
        const int rows = vectors * family.lanes - lanes_short;
        const Microkernel<T> compiled = family.compiled(rows, columns);
        const Microkernel<T> made = kernels.of(vectors, columns, lanes_short > 0, true);
        ASSERT_NE(made, nullptr);
        ASSERT_EQ(kernels.of(vectors, columns, lanes_short > 0, false), made);
        for (const std::int64_t kc : {1, 3, 26, 61}) {
          if ((lanes_short > 1 || test::one_of > 1) && kc != 26) continue;
          for (const bool apart : {false, true}) {
            SCOPED_TRACE(fmt::format("{} {} x {} k {}", to_text(set), rows, columns, kc));
            for (std::size_t i = 0; i < 3 * asks.size(); ++i) {
              PlacedCall<T> call = against.call(compiled, rows, columns, kc,
                                                lanes_short == 0 ? 3 : 1, apart, false, 5, false);
              call.task.update =
                  std::array<Update<T>, 3>{{{1, 0}, {1, 1}, {2, -1}}}[i / asks.size()];
              call.task.kind = call.task.update.kind();
              asks[i % asks.size()](call.task);
              if (i % 2 == 0) {
                call.task.stretches = stretches.data();
                call.task.more_stretches = std::ssize(stretches);
              }
              const std::vector<T> expected = against.done({call});
              call.code = made;
              ASSERT_EQ(against.done({call}), expected) << i;
            }
          }
        }
      }
    }
  }
}

TEST(Generated_kernels, Do_what_compiled_ones_do) {
  if (!generates_code()) GTEST_SKIP() << "built without Xbyak";
  for (InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    expect_kernels_as_compiled<double>(set);
    expect_kernels_as_compiled<float>(set);
  }
}

// Whole vectors are loaded where rows fill none, but never from behind the last place along k: with
// places nearer than lanes are short, as in windows of an image, or further, and where stretches
// jump back.
template <class T>
void expect_nothing_read_behind_the_end(InstructionSet set) {
  if (!can_run(set)) return;
  Generated_against<T> against(kernel_family<T>(set));
  const KernelFamily<T>& family = against.family();
  const test::Guarded<T> left([](std::int64_t i) { return static_cast<T>(i % 17 - 8); });
  for (int lanes_short = 1; lanes_short < family.lanes; ++lanes_short) {
    const int vectors = 1 + lanes_short % 2, rows = vectors * family.lanes - lanes_short;
    for (const std::int64_t step : {1, lanes_short - 1, lanes_short, lanes_short + 1, rows}) {
      for (const std::int64_t kc : {1, 2, 3, 4, 6, 9, 23}) {
        SCOPED_TRACE(fmt::format("{} {} x 2 k {} step {}", to_text(set), rows, kc, step));
        PlacedCall<T> call =
            against.call(family.of(rows, 2), rows, 2, kc, 1, false, false, 5, true);
        call.task.left.step = step;
        call.task.left.first = left.end() - (kc - 1) * step - rows;
        const Stretch back{kc, -kc * step - 30, 0};
        const auto done = [&](bool compiled, bool of_its_own) {
          std::vector<T> c(1000, 1);
          KernelTask<T> task = call.task;
          task.right.first = against.somewhere();
          task.c.first = c.data();
          if (of_its_own) {
            const PlacedCall<T> placed{call.code, task, 0, 0, 0};
            (*GeneratedCalls<T>::make(family, {{placed}}))(task.left.first, task.right.first,
                                                           task.c.first);
            return c;
          }
          task.stretches = &back;
          task.more_stretches = kc > 3 ? 1 : 0;
          (compiled ? family.compiled(rows, 2) : call.code)(task, task.c);
          return c;
        };
        ASSERT_EQ(done(false, false), done(true, false));
        if (kc <= 3) {
          ASSERT_EQ(done(false, true), done(true, false));
        }
      }
    }
  }
}

TEST(Generated_kernels, Read_nothing_behind_the_last_place) {
  if (!generates_code()) GTEST_SKIP() << "built without Xbyak";
  for (InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    expect_nothing_read_behind_the_end<double>(set);
    expect_nothing_read_behind_the_end<float>(set);
  }
}

TEST(Generated_kernels, Are_made_up_to_a_limit) {
  if (!generates_code()) GTEST_SKIP() << "built without Xbyak";
  GeneratedKernels<float> kernels(32, 20000);
  ASSERT_NE(kernels.of(1, 1, false, true), nullptr);
  EXPECT_EQ(kernels.of(1, 2, false, false), nullptr);
  int made = 1;
  for (int columns = 2; columns <= 12; ++columns) {
    made += kernels.of(1, columns, false, true) != nullptr ? 1 : 0;
  }
  EXPECT_GE(made, 2);
  EXPECT_LT(made, 12);
  EXPECT_NE(kernels.of(1, 1, false, true), nullptr);
}

TEST(Generated_calls, Are_not_made_of_what_they_do_not_know) {
  const InstructionSet set = best_instruction_set();
  Generated_against<double> against(kernel_family<double>(set));
  const KernelFamily<double>& family = against.family();
  const PlacedCall<double> good =
      against.call(family.of(family.lanes, 2), family.lanes, 2, 3, 1, true, false, 0, false);
  const auto made = [&](auto&& change) {
    PlacedCall<double> call = good;
    change(call);
    return GeneratedCalls<double>::make(family, std::vector{call}) != nullptr;
  };
  EXPECT_EQ(made([](auto&) {}), generates_code() && set != InstructionSet::plain);
  EXPECT_FALSE(made([&](auto& call) { call.code = family.along_k[0][1]; }));
  EXPECT_FALSE(made([](auto& call) { call.task.kind = Update<double>::Kind::any; }));
  EXPECT_FALSE(made([](auto& call) { call.task.more_stretches = 1; }));
  EXPECT_FALSE(made([](auto& call) { call.task.right.apart = std::int64_t{1} << 40; }));
  for (std::int64_t PlacedCall<double>::*begin :
       {&PlacedCall<double>::left, &PlacedCall<double>::right, &PlacedCall<double>::c}) {
    EXPECT_FALSE(made([&](auto& call) { call.*begin = std::int64_t{1} << 40; }));
  }
  // 64 MiB are the most that steps may be apart.
  constexpr std::int64_t most = (1 << 26) / sizeof(double);
  EXPECT_FALSE(made([](auto& call) { call.task.left.step = most; }));
  EXPECT_EQ(made([](auto& call) { call.task.left.step = most - 1; }), made([](auto&) {}));
  EXPECT_FALSE(made([](auto& call) { call.task.tiles = 1 + GeneratedCalls<double>::most_tiles; }));
}

}  // namespace
}  // namespace tcsim
