// Small contractions and batches of them, whose packs and kernel calls are noted once and done
// again.
#include "kernels/replay.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <stop_token>
#include <string_view>
#include <type_traits>

#include "core/error.hpp"
#include "core/workload/parse.hpp"
#include "kernels/executor.hpp"
#include "kernels/generated_calls.hpp"
#include "kernels/generated_kernels.hpp"
#include "kernels/instruction_set.hpp"
#include "kernels/memory.hpp"
#include "tests/draws.hpp"
#include "tests/kernels/random_case.hpp"

namespace tcsim {
namespace {

template <class T>
class Runner {
 public:
  Runner(const Contraction& contraction, const std::string& schedule)
      : contraction_(contraction),
        plan_(contraction, parse_schedule(schedule, contraction, "test")),
        a_(room(TensorId::A)),
        b_(room(TensorId::B)),
        executor_(plan_, {a_.data(), b_.data()}) {}

  bool replays() const { return executor_.replays(); }
  bool generated() const { return executor_.generated(); }
  bool replays_blocks() const { return executor_.replays_blocks(); }

  // C = alpha A B + beta C of whole numbers that are new each time, against the definition.
  void expect_right(Random& random, T alpha, T beta) {
    const auto draw = [&](TensorId t) {
      std::vector<T> v(static_cast<std::size_t>(contraction_.size(t).value()));
      for (T& x : v) x = static_cast<T>(between(random, -8, 8));
      return v;
    };
    const std::vector<T> a = draw(TensorId::A), b = draw(TensorId::B);
    std::vector<T> c = draw(TensorId::C);
    const auto wide = [](const std::vector<T>& v) {
      return std::vector<long double>(v.begin(), v.end());
    };
    std::vector<long double> expected = evaluate(contraction_, wide(a), wide(b));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = alpha * expected[i] + beta * static_cast<long double>(c[i]);
    }
    executor_.run({a.data(), b.data(), c.data()}, {alpha, beta});
    ASSERT_EQ(wide(c), expected) << contraction_.label() << " alpha " << alpha << " beta " << beta;
  }

 private:
  std::vector<T> room(TensorId t) const {
    const PackPlan* const pack = plan_.pack(t);
    // Whatever was there must not be taken for a packed element.
    return std::vector<T>(pack ? static_cast<std::size_t>(pack->capacity) + 64 : 0,
                          std::numeric_limits<T>::quiet_NaN());
  }

  Contraction contraction_;
  Plan plan_;
  std::vector<T> a_, b_;
  Executor<T> executor_;
};

template <class T>
void expect_replays(const Contraction& c, const std::string& schedule, bool replays) {
  SCOPED_TRACE(schedule);
  Random random(3);
  Runner<T> runner(c, schedule);
  EXPECT_FALSE(runner.replays());
  for (const auto& [alpha, beta] : {std::pair{1, 0}, {1, 1}, {-2, 3}, {3, 0}}) {
    runner.expect_right(random, static_cast<T>(alpha), static_cast<T>(beta));
    EXPECT_EQ(runner.replays(), replays);
  }
}

// What is done often becomes code of its own, for each kind of update: the results are the same.
template <class T>
void expect_generated(const Contraction& c, const std::string& schedule) {
  SCOPED_TRACE(schedule);
  Random random(4);
  Runner<T> runner(c, schedule);
  for (const T beta : {T{0}, T{1}}) {
    for (int i = 0; i < 1 + Replay<T>::tiles_worth_code && !runner.generated(); ++i) {
      runner.expect_right(random, 1, beta);
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(runner.generated(), generates_code());
    runner.expect_right(random, 1, beta);
    runner.expect_right(random, -2, 3);
    EXPECT_FALSE(runner.generated());
  }
}

Contraction batch(ElementType type, std::int64_t h) {
  return parse_contraction("hab-hka-hbk", {{'h', h}, {'a', 9}, {'b', 7}, {'k', 6}},
                           Layout::column_major, type);
}

// Either operand in place or packed, k in one piece or several, one kernel or many.
TEST(Replay, Does_again_what_small_contractions_take) {
  for (const std::int64_t h : {1, 5}) {
    const Contraction c =
        parse_contraction("abh-akh-kbh", {{'h', h}, {'a', 16}, {'b', 7}, {'k', 6}},
                          Layout::column_major, ElementType::f64);
    const std::string groups = "groups m=a n=b k=k batch=h for batch by 1 { ";
    for (const char* inside :
         {"kernel 16x7 }", "for k by 2 { for n by 3 { kernel 16x3 } } }",
          "pack A in L1 { kernel 16x7 } }", "pack B in L1 { for n by 4 { kernel 16x4 } } }",
          "for k by 4 { pack A in L1 { pack B in L1 { for m by 8 { for n by 2 { kernel 8x2 } } } } "
          "} }"}) {
      expect_replays<double>(c, groups + inside, true);
      if (best_instruction_set() != InstructionSet::plain) {
        expect_generated<double>(c, groups + inside);
      }
    }
  }
}

// Each result against the definition, whether blocks are done again or not.
template <class T>
void expect_blocks(const char* label, const std::string& schedule, bool replays) {
  SCOPED_TRACE(fmt::format("{} {}", label, schedule));
  // 50 rows of 12 for each of 7 places; 11 columns.
  std::map<char, std::int64_t> sizes{{'a', 12}, {'c', 50}, {'d', 7}, {'b', 11}, {'k', 5}};
  if (std::string_view(label).find('h') != std::string_view::npos) sizes['h'] = 3;
  const Contraction c =
      parse_contraction(label, sizes, Layout::column_major,
                        std::is_same_v<T, double> ? ElementType::f64 : ElementType::f32);
  Random random(5);
  Runner<T> runner(c, schedule);
  for (const auto& [alpha, beta] : {std::pair{1, 0}, {1, 0}, {1, 1}, {-2, 3}, {1, 0}}) {
    runner.expect_right(random, static_cast<T>(alpha), static_cast<T>(beta));
    EXPECT_EQ(runner.replays_blocks(), replays);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Of whole tiles and of the last ones; by rows and by columns, packed and in place, beside a batch.
TEST(Replay, Does_blocks_again_that_lie_alike) {
  const std::string groups = "groups m=acd n=b k=k ";
  int cases = 0;
  for (const char* label : {"acdb-akcd-kb", "acdb-akcd-bk", "acbd-kb-akcd"}) {
    for (const char* inside :
         {"for m by 12 { for n by 4 { for m by 8 { kernel 8x4 } } }",
          "for m by 12 { for m by 4 { for n by 4 { kernel 4x4 } } }",
          "for m by 36 { for m by 12 { for n by 4 { for m by 4 { kernel 4x4 } } } }",
          "for n by 5 { for m by 24 { for n by 3 { for m by 12 { kernel 12x3 } } } }"}) {
      if (cases++ % test::one_of != 0) continue;
      expect_blocks<double>(label, groups + inside, true);
      expect_blocks<float>(label, groups + inside, true);
    }
  }
  for (const char* label : {"acdb-kacd-kb", "acdb-ackd-bk"}) {
    for (const char* inside :
         {"pack A in L1 { for m by 24 { pack B in L1 { for n by 6 { for m by 8 { kernel 8x6 } } } "
          "} }",
          "pack B in L1 { for m by 60 { pack A in L1 { for m by 4 { for n by 6 { kernel 4x6 } } } "
          "} }"}) {
      expect_blocks<double>(label, groups + inside, true);
    }
  }
  expect_blocks<double>("acdbh-akcdh-kbh",
                        "groups m=acd n=b k=k batch=h for m by 12 { for batch by 1 { for n by 4 { "
                        "for m by 4 { kernel 4x4 } } } }",
                        true);
}

// Few blocks, sums in pieces, operands that are copied for each kernel.
TEST(Replay, Walks_through_other_blocks) {
  const std::string groups = "groups m=acd n=b k=k ";
  expect_blocks<double>("acdb-akcd-kb", groups + "for m by 12 { for n by 4 { kernel 12x4 } }",
                        false);
  expect_blocks<double>("acdb-akcd-kb",
                        groups +
                            "for m by 12 { for k by 2 { for n by 4 { for m by 4 { kernel 4x4 "
                            "} } } }",
                        false);
  expect_blocks<double>("acdb-kacd-kb",
                        groups + "for m by 12 { for n by 4 { for m by 8 { kernel 8x4 } } }", false);
}

// An operand that is copied for each kernel, more calls or packs than are noted, a batch that is
// not the outermost loop.
TEST(Replay, Leaves_the_rest_to_the_walk) {
  expect_replays<float>(batch(ElementType::f32, 3),
                        "groups m=a n=b k=k batch=h for batch by 1 { for n by 2 { kernel 16x2 } }",
                        false);
  const Contraction c =
      parse_contraction("abh-akh-kbh", {{'h', 3}, {'a', 16}, {'b', 60}, {'k', 10}},
                        Layout::column_major, ElementType::f64);
  for (const char* schedule :
       {"groups m=a n=b k=k batch=h for batch by 1 { for n by 2 { for k by 5 { kernel 16x2 } } }",
        "groups m=a n=b k=k batch=h for batch by 1 { for k by 2 { pack B in L1 { for n by 14 { "
        "kernel 16x14 } } } }"}) {
    expect_replays<double>(c, schedule, false);
  }
}

TEST(Replay, Stops_when_asked) {
  const Contraction c =
      parse_contraction("abh-akh-kbh", {{'h', 5000}, {'a', 8}, {'b', 2}, {'k', 2}},
                        Layout::column_major, ElementType::f64);
  const Plan plan(
      c, parse_schedule("groups m=a n=b k=k batch=h for batch by 1 { kernel 8x2 }", c, "test"));
  Executor<double> executor(plan, {nullptr, nullptr});
  const auto zeros = [&](TensorId t) {
    return std::vector<double>(static_cast<std::size_t>(c.size(t).value()));
  };
  const std::vector<double> a = zeros(TensorId::A), b = zeros(TensorId::B);
  std::vector<double> to = zeros(TensorId::C);
  executor.run({a.data(), b.data(), to.data()}, {1, 0});
  ASSERT_TRUE(executor.replays());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(executor.run({a.data(), b.data(), to.data()}, {1, 0}, stop.get_token()),
               Interrupted);
}

}  // namespace
}  // namespace tcsim
