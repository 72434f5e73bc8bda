#include "core/bounds/lower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error.hpp"
#include "tests/core/bounds/random_problem.hpp"
#include "tests/draws.hpp"

namespace tcsim::bounds {
namespace {

using test::problem;
using test::Random;

using Run = std::vector<std::int64_t>;

TEST(BoundLower, A_matrix_product_has_the_known_form) {
  const Problem p = problem("C[i,j] += A[i,k] * B[k,j]");
  const LowerBound bound = lower_bound(p, Moves::loads);
  EXPECT_EQ(to_text(bound.runs), "N_i N_j N_k");
  EXPECT_EQ(to_text(bound.moves), "max(N_i N_j + N_i N_k + N_j N_k, 2 N_i N_j N_k / sqrt(S))");
  EXPECT_EQ(to_text(lower_bound(p, Moves::loads_and_stores).compulsory),
            "2 N_i N_j + N_i N_k + N_j N_k");
}

// By hand: S = 4, T = 8, a part of 12 elements has (12 / 3)^(3/2) = 8 runs, so 1000 runs load 1000.
// The first part: 8 loads in an empty memory are (8/3)^(3/2) = 4.35 runs, 3.65 less than the rate.
TEST(BoundLower, A_matrix_product_has_the_number_worked_out_by_hand) {
  const Problem p = problem("C[i,j] += A[i,k] * B[k,j]", {{"i", 10}, {"j", 10}, {"k", 10}});
  const LowerNumber n = lower_bound_at(p, Moves::loads, 4, sizes_of(p));
  EXPECT_EQ(n.compulsory, 300);
  EXPECT_GE(n.elements, 1003);
  EXPECT_LE(n.elements, 1004);
  ASSERT_TRUE(n.exponents);
  EXPECT_EQ(n.exponents->access, std::vector<Rational>(3, Rational(1, 2)));
  EXPECT_EQ(lower_bound_at(p, Moves::loads, 1000, sizes_of(p)).elements, 300);
  EXPECT_FALSE(lower_bound_at(p, Moves::loads, 1000, sizes_of(p)).exponents);
  EXPECT_EQ(lower_bound_at(p, Moves::loads_and_stores, 4, sizes_of(p)).elements, n.elements + 100);
}

// IOOpt, Fig. 6: BFXYCHW / S without small dimensions, 2 BFXYC sqrt(HW / S) with H and W small. The
// first is better by 9/4 where the exponents are 2/3 each, not 1, 1 and 0.
TEST(BoundLower, A_convolution_has_the_papers_small_dimensions) {
  const LowerBound bound =
      lower_bound(problem("O[b,f,x,y] += I[b,c,x+h,y+w] * W[f,c,h,w]"), Moves::loads);
  std::set<std::string> forms;
  for (const Partition& p : bound.partitions) forms.insert(to_text(p.loads));
  EXPECT_TRUE(forms.contains("9 N_b N_c N_f N_h N_w N_x N_y / (4 S)"));
  EXPECT_TRUE(forms.contains("2 N_b N_c N_f sqrt(N_h) sqrt(N_w) N_x N_y / sqrt(S)"));
  EXPECT_EQ(to_text(bound.compulsory),
            "N_b N_c (N_h + N_x - 1) (N_w + N_y - 1) + N_b N_f N_x N_y + N_c N_f N_h N_w");
}

TEST(BoundLower, Statements_without_a_common_array_add_up) {
  const Program two = parse_program(
      "program two\ndims i=20 j=20 k=20 l=20\n"
      "f64 input A[i, k]\nf64 input B[k, j]\nf64 output C[i, j]\n"
      "f64 input D[i, l]\nf64 input E[l, j]\nf64 output F[i, j]\n"
      "C[i, j] += A[i, k] * B[k, j]\nF[i, j] += D[i, l] * E[l, j]\n",
      "test");
  const Problem p = problem_of(two);
  const auto at = [&](const Problem& of) {
    return lower_bound_at(of, Moves::loads, 9, sizes_of(of)).elements;
  };
  EXPECT_EQ(at(p), at(problem_of(p, 0)) + at(problem_of(p, 1)));
  EXPECT_EQ(to_text(lower_bound(p, Moves::loads).runs), "N_i N_j N_k + N_i N_j N_l");
}

TEST(BoundLower, An_intermediate_is_made_in_the_fast_memory) {
  const Program chain = parse_program(
      "program chain\ndims i=20 j=20 k=20 l=20\n"
      "f64 input A[i, k]\nf64 input B[k, j]\nf64 intermediate T[i, j]\nf64 input D[j, l]\n"
      "f64 output O[i, l]\n"
      "T[i, j] += A[i, k] * B[k, j]\nO[i, l] += T[i, j] * D[j, l]\n",
      "test");
  const Problem p = problem_of(chain);
  const LowerNumber large = lower_bound_at(p, Moves::loads, 100000, sizes_of(p));
  EXPECT_EQ(large.elements, 4 * 400);
  const LowerNumber small = lower_bound_at(p, Moves::loads_and_stores, 4, sizes_of(p));
  EXPECT_EQ(small.compulsory, 5 * 400);
  // One product's 2 20^3 / 2 loads, without the elements of T, and D, O and O's stores.
  EXPECT_GE(small.elements, 8000 - 400 + 3 * 400);
}

TEST(BoundLower, Reports_sizes_that_cannot_be) {
  const Problem p = problem("C[i] += A[i]");
  EXPECT_THROW(lower_bound_at(p, Moves::loads, 0, sizes_of(p)), UsageError);
  EXPECT_THROW(lower_bound_at(p, Moves::loads, 1, {}), UsageError);
  EXPECT_THROW(lower_bound_at(p, Moves::loads, 1, {{"N_i", Rational(1, 2)}}), UsageError);
}

TEST(BoundLower, Dimensions_that_are_said_to_be_small_leave_the_others_out) {
  Problem p = problem("O[b,f,x,y] += I[b,c,x+h,y+w] * W[f,c,h,w]");
  for (Problem::Dim& d : p.dims) d.small = d.name == "h" || d.name == "w";
  const LowerBound bound = lower_bound(p, Moves::loads);
  EXPECT_EQ(to_text(bound.moves), "max(" + to_text(bound.compulsory) +
                                      ", 2 N_b N_c N_f sqrt(N_h) sqrt(N_w) N_x N_y / sqrt(S))");
}

TEST(BoundLower, Of_known_extents_one_expression_for_each_power_of_the_capacity_is_left) {
  const LowerBound bound = lower_bound(
      problem("O[b,f,x,y] += I[b,c,x+h,y+w] * W[f,c,h,w]",
              {{"b", 1}, {"f", 64}, {"c", 32}, {"x", 272}, {"y", 272}, {"h", 3}, {"w", 3}}),
      Moves::loads_and_stores);
  EXPECT_EQ(to_text(bound.moves),
            "max(N_b N_c (N_h + N_x - 1) (N_w + N_y - 1) + N_b N_f N_x N_y + N_c N_f N_h N_w, "
            "9 N_b N_c N_f N_h N_w N_x N_y / (4 S), "
            "2 N_b N_c N_f sqrt(N_h) sqrt(N_w) N_x N_y / sqrt(S)) + N_b N_f N_x N_y");
}

// What the best expression says is no more than the number, where T is whole.
TEST(BoundLower, The_number_is_at_least_the_expression) {
  Random random(5);
  int above = 0;
  for (int round = 0; round < 25; ++round) {
    const Problem p =
        random.chance(30) ? test::random_problem(random, 40) : test::random_contraction(random, 40);
    const LowerBound bound = lower_bound(p, Moves::loads);
    Values at = sizes_of(p);
    const std::int64_t capacity = 60 * random.between(1, 20);
    at["S"] = capacity;
    const LowerNumber n = lower_bound_at(p, Moves::loads, capacity, at);
    ASSERT_GE(n.elements * 1.001L, bound.moves.value(at))
        << p.name << capacity << " " << to_text(bound.moves);
    const LowerNumber sure = lower_bound_at(p, Moves::loads, capacity, at, bound.partitions);
    ASSERT_GE(sure.elements * (1 + 1e-12L), bound.moves.value(at))
        << p.name << capacity << " " << to_text(bound.moves);
    if (n.elements > n.compulsory) ++above;
  }
  EXPECT_GT(above, 4);
}

// What a sequence of runs moves with an ideal memory of so many elements: what is needed last goes.
struct Moved {
  std::int64_t loads = 0, stores = 0;
};

Moved ideal(const Problem& p, const std::vector<Run>& runs, std::size_t capacity) {
  const Problem::Statement& s = p.statements[0];
  const std::vector<DimId> dims = dims_of(s);
  using Element = std::vector<std::int64_t>;
  std::vector<std::set<Element>> needs;
  std::map<Element, std::vector<std::size_t>> uses;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    needs.emplace_back();
    for (const Problem::Access& a : accesses_of(s)) {
      needs.back().insert(test::element(a, dims, runs[i]));
    }
    for (const Element& e : needs.back()) uses[e].push_back(i);
  }
  std::set<Element> here, made;
  Moved moved;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const Element& e : needs[i]) {
      if (here.contains(e)) continue;
      if (here.size() == capacity) {
        const auto next_use = [&](const Element& x) {
          const std::vector<std::size_t>& at = uses[x];
          const auto next = std::lower_bound(at.begin(), at.end(), i);
          return next == at.end() ? runs.size() : *next;
        };
        const auto last = std::max_element(
            here.begin(), here.end(),
            [&](const Element& x, const Element& y) { return next_use(x) < next_use(y); });
        if ((*last)[0] == s.out.array) ++moved.stores;
        here.erase(last);
      }
      here.insert(e);
      const bool zero = p.arrays[static_cast<std::size_t>(e[0])].starts_at_zero;
      if (!zero || !made.insert(e).second) ++moved.loads;
    }
  }
  for (const Element& e : here) moved.stores += e[0] == s.out.array ? 1 : 0;
  return moved;
}

// A nest of tiles in any order, or all runs shuffled.
std::vector<Run> any_order(const Problem& p, Random& random) {
  std::vector<std::size_t> order;
  Run tile;
  for (std::size_t d = 0; d < p.dims.size(); ++d) {
    order.push_back(d);
    tile.push_back(random.between(1, *p.dims[d].extent));
  }
  random.shuffle(order);
  std::vector<Run> runs{{}};
  for (const Problem::Dim& d : p.dims) {
    std::vector<Run> longer;
    for (const Run& r : runs) {
      for (std::int64_t i = 0; i < *d.extent; ++i) {
        longer.push_back(r);
        longer.back().push_back(i);
      }
    }
    runs = std::move(longer);
  }
  const bool snake = random.chance(50);
  std::sort(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
    bool back = false;
    for (std::size_t d : order) {
      if (a[d] / tile[d] != b[d] / tile[d]) return (a[d] < b[d]) != back;
      if (snake && a[d] / tile[d] % 2 == 1) back = !back;
    }
    for (std::size_t d : order) {
      if (a[d] != b[d]) return a[d] < b[d];
    }
    return false;
  });
  if (random.chance(5)) random.shuffle(runs);
  return runs;
}

TEST(BoundLower, No_schedule_of_a_small_program_moves_less) {
  Random random(6);
  int above_compulsory = 0, close = 0;
  for (int round = 0; round < tcsim::test::draws(300); ++round) {
    const Problem p = random.chance(20)
                          ? test::random_problem(random, random.chance(50) ? 3 : 6)
                          : test::random_contraction(random, random.chance(50) ? 5 : 9);
    std::int64_t runs = 1;
    for (const Problem::Dim& d : p.dims) runs *= *d.extent;
    if (runs > 700) continue;
    const auto capacity = static_cast<std::size_t>(random.between(3, 12));
    const auto at = [&](Moves moves) {
      return lower_bound_at(p, moves, static_cast<std::int64_t>(capacity), sizes_of(p));
    };
    const LowerNumber loads = at(Moves::loads), all = at(Moves::loads_and_stores);
    long double least = INFINITY;
    for (int schedule = 0; schedule < 12; ++schedule) {
      const Moved moved = ideal(p, any_order(p, random), capacity);
      ASSERT_LE(loads.elements, moved.loads) << p.name << " S=" << capacity;
      ASSERT_LE(all.elements, moved.loads + moved.stores) << p.name << " S=" << capacity;
      least = std::min(least, static_cast<long double>(moved.loads));
    }
    if (loads.exponents) ++above_compulsory;
    if (loads.exponents && least <= 1.5L * loads.elements) ++close;
  }
  EXPECT_GT(above_compulsory, tcsim::test::draws(30));
  EXPECT_GT(close, tcsim::test::draws(5));
}

}  // namespace
}  // namespace tcsim::bounds
