#include "core/bounds/lower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "core/error.hpp"
#include "tests/core/bounds/random_problem.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

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

// A run of one of the problem's statements, over its own dimensions.
using Element = std::vector<std::int64_t>;
struct Step {
  std::size_t statement;
  Run run;
};

Moved ideal(const Problem& p, const std::vector<Step>& steps, std::size_t capacity) {
  std::vector<std::set<Element>> needs;
  std::map<Element, std::vector<std::size_t>> uses;
  std::set<int> written;
  for (const Problem::Statement& s : p.statements) written.insert(s.out.array);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Problem::Statement& s = p.statements[steps[i].statement];
    const std::vector<DimId> dims = dims_of(s);
    needs.emplace_back();
    for (const Problem::Access& a : accesses_of(s)) {
      needs.back().insert(test::element(a, dims, steps[i].run));
    }
    for (const Element& e : needs.back()) uses[e].push_back(i);
  }
  std::set<Element> here, made;
  Moved moved;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Element& e : needs[i]) {
      if (here.contains(e)) continue;
      if (here.size() == capacity) {
        const auto next_use = [&](const Element& x) {
          const std::vector<std::size_t>& at = uses[x];
          const auto next = std::lower_bound(at.begin(), at.end(), i);
          return next == at.end() ? steps.size() : *next;
        };
        const auto last = std::max_element(
            here.begin(), here.end(),
            [&](const Element& x, const Element& y) { return next_use(x) < next_use(y); });
        if (written.contains(static_cast<int>((*last)[0]))) ++moved.stores;
        here.erase(last);
      }
      here.insert(e);
      const bool zero = p.arrays[static_cast<std::size_t>(e[0])].starts_at_zero;
      if (!zero || !made.insert(e).second) ++moved.loads;
    }
  }
  for (const Element& e : here) moved.stores += written.contains(static_cast<int>(e[0])) ? 1 : 0;
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
  Random random(tcsim::test::new_seed());
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
      std::vector<Step> steps;
      for (auto& run : any_order(p, random)) steps.push_back({0, std::move(run)});
      const Moved moved = ideal(p, steps, capacity);
      ASSERT_LE(loads.elements, moved.loads) << p.name << " S=" << capacity;
      ASSERT_LE(all.elements, moved.loads + moved.stores) << p.name << " S=" << capacity;
      least = std::min(least, static_cast<long double>(moved.loads));
    }
    if (loads.exponents) ++above_compulsory;
    if (loads.exponents && least <= 1.5L * loads.elements) ++close;
  }
  EXPECT_GE(above_compulsory, tcsim::test::found(30));
  EXPECT_GE(close, tcsim::test::found(1));
}

TEST(BoundLower, A_curve_says_the_same_to_several_threads) {
  const Problem p =
      problem("O[f,x] += I[c,2*x+h] * W[f,c,h]", {{"f", 64}, {"x", 100}, {"c", 30}, {"h", 3}});
  const LowerCurve shared(p, sizes_of(p));
  std::vector<std::vector<long double>> said(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<long double>& own : said) {
      threads.emplace_back([&] {
        for (std::int64_t s = 3; s < 9000; s += s / 2) {
          own.push_back(shared.at(Moves::loads, s).elements);
        }
      });
    }
  }
  std::vector<long double> alone;
  for (std::int64_t s = 3; s < 9000; s += s / 2) {
    alone.push_back(lower_bound_at(p, Moves::loads, s, sizes_of(p)).elements);
  }
  for (const auto& own : said) EXPECT_EQ(own, alone);
}

// Two or three products, of which each later one often has a matrix that is there: an input of
// both, or what another one makes. Some have an index that is a sum.
Problem random_sharing(Random& random) {
  Problem p;
  for (char name : std::string("abcde").substr(0, static_cast<std::size_t>(random.between(3, 5)))) {
    p.dims.push_back({{name}, std::string("N_") + name, random.between(2, 6), false});
  }
  const auto fresh = [&](DimId x, DimId y) {
    const int array = static_cast<int>(p.arrays.size());
    p.arrays.push_back({std::string(1, static_cast<char>('A' + array)), false});
    return Problem::Access{array, {{{{x, 1}}}, {{{y, 1}}}}};
  };
  std::vector<Problem::Access> known;
  for (std::int64_t n = random.between(2, 3); n > 0; --n) {
    std::vector<DimId> dims;
    for (int d = 0; d < static_cast<int>(p.dims.size()); ++d) dims.push_back(DimId{d});
    random.shuffle(dims);
    Problem::Access shared = fresh(dims[0], dims[1]);
    if (!known.empty() && random.chance(85)) {
      p.arrays.pop_back();
      shared = random.pick(known);
    }
    const DimId x = shared.axes[0].terms[0].dim, y = shared.axes[1].terms[0].dim;
    const DimId z = *std::ranges::find_if(dims, [&](DimId d) { return d != x && d != y; });
    if (std::ranges::any_of(p.statements,
                            [&](const auto& s) { return s.out.array == shared.array; })) {
      p.arrays[static_cast<std::size_t>(shared.array)].starts_at_zero = random.chance(80);
    }
    Problem::Statement s{fresh(x, z), {shared, fresh(y, z)}};
    known.insert(known.end(), {s.out, s.in[0], s.in[1]});
    if (random.chance(15)) s.in[1].axes = {{{{y, random.between(1, 3)}, {z, 1}}}};
    p.statements.push_back(std::move(s));
  }
  for (const Problem::Statement& s : p.statements) {
    p.name += test::accesses_text(p, s) + "; ";
  }
  for (const Problem::Dim& d : p.dims) p.name += d.name + "=" + std::to_string(*d.extent) + " ";
  return p;
}

// Of one statement after the other, or in turns.
std::vector<Step> any_steps(const Problem& p, Random& random) {
  std::vector<std::vector<Run>> runs;
  for (std::size_t i = 0; i < p.statements.size(); ++i) {
    runs.push_back(any_order(problem_of(p, i), random));
  }
  std::vector<std::size_t> at(runs.size(), 0);
  std::vector<Step> steps;
  const std::int64_t turn = random.pick<std::int64_t>({1, 3, 10, 1000});
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      for (std::int64_t k = 0; k < turn && at[i] < runs[i].size(); ++k) {
        steps.push_back({i, runs[i][at[i]++]});
        more = true;
      }
    }
  }
  return steps;
}

TEST(BoundLower, No_schedule_of_statements_that_share_arrays_moves_less) {
  Random random(tcsim::test::new_seed());
  int added = 0, above_compulsory = 0;
  for (int round = 0; round < tcsim::test::draws(200); ++round) {
    const Problem p = random_sharing(random);
    std::int64_t runs = 0;
    for (const Problem::Statement& s : p.statements) {
      std::int64_t own = 1;
      for (DimId d : dims_of(s)) own *= *p.dim(d).extent;
      runs += own;
    }
    if (runs > 700) continue;
    const std::int64_t capacity = random.between(3, 9);
    const LowerNumber loads = lower_bound_at(p, Moves::loads, capacity, sizes_of(p));
    if (loads.elements > loads.compulsory) ++above_compulsory;
    const auto counts = [](const std::vector<int>& shares) {
      return std::ranges::any_of(shares, [](int s) { return s > 0; });
    };
    if (std::ranges::count_if(loads.shares, counts) > 1) ++added;
    // The expression holds too, of S for which T is whole.
    Values at = sizes_of(p);
    at["S"] = capacity;
    const long double form = lower_bound(p, Moves::loads).moves.value(at);
    for (int schedule = 0; schedule < 8; ++schedule) {
      const auto moved = ideal(p, any_steps(p, random), static_cast<std::size_t>(capacity)).loads;
      ASSERT_LE(loads.elements, moved) << p.name << " S=" << capacity;
      ASSERT_LE(form, static_cast<long double>(moved) * (1 + 1e-12L))
          << p.name << " S=" << capacity;
    }
  }
  EXPECT_GE(above_compulsory, tcsim::test::found(30));
  EXPECT_GE(added, tcsim::test::found(20));
}

// Two products that share a matrix add up: a part that works on both does no more than one that
// works on one. Two that share two matrices have sqrt(1/2) each, where the loads of one of these
// are divided; together that is 1.41 times one of them. (Tiles of t x t of both results with
// 2 t^2 = S move as little.)
TEST(BoundLower, Of_statements_that_share_arrays_loads_count_once) {
  Problem p =
      problem_of(parse_program("program two\ndims i=500 j=500 k=500 l=500\n"
                               "f64 input A[i, k]\nf64 input B[k, j]\nf64 output C[i, j]\n"
                               "f64 input E[k, l]\nf64 output F[i, l]\n"
                               "C[i, j] += A[i, k] * B[k, j]\nF[i, l] += A[i, k] * E[k, l]\n",
                               "test"));
  const auto at = [](const Problem& of) {
    return lower_bound_at(of, Moves::loads, 100, sizes_of(of));
  };
  const LowerNumber one = at(problem_of(p, 0)), sum = at(p);
  EXPECT_NEAR(static_cast<double>(sum.elements / one.elements), 2, 1e-3);
  EXPECT_EQ(sum.shares[0][0], load_parts);
  EXPECT_EQ(sum.shares[1][0], load_parts);
  EXPECT_EQ(to_text(lower_bound(p, Moves::loads).moves),
            "max(N_i N_j + N_i N_k + N_i N_l + N_j N_k + N_k N_l, "
            "2 N_i N_j N_k / sqrt(S) + 2 N_i N_k N_l / sqrt(S), "
            "2 N_i N_k N_l / sqrt(S) + N_i N_j + N_j N_k, "
            "2 N_i N_j N_k / sqrt(S) + N_i N_l + N_k N_l)");
  const int other = p.statements[1].out.array;
  p.statements[1] = p.statements[0];
  p.statements[1].out.array = other;
  EXPECT_NEAR(static_cast<double>(at(p).elements / one.elements), std::sqrt(2.0), 1e-2);
  // Twice the same product is done in one go.
  p.statements[1] = p.statements[0];
  EXPECT_EQ(at(p).elements, one.elements);
}

// A filter without overlap is a matrix product, and one with some is between that and a filter that
// slides by one.
TEST(BoundLower, Strides_leave_less_of_an_image_to_share) {
  const auto number = [](const char* statement, std::int64_t h) {
    const Problem p = problem(statement, {{"f", 50}, {"x", 60}, {"c", 30}, {"h", h}});
    return lower_bound_at(p, Moves::loads, 100, sizes_of(p)).elements;
  };
  EXPECT_EQ(number("O[f,x] += I[c,4*x+h] * W[f,c,h]", 4),
            number("O[f,x] += I[c,x,h] * W[f,c,h]", 4));
  // By hand, h = 3 with a stride of 2: of the places of one remainder there are two, of the other
  // one, sqrt(2) + 1 in weights where 3 runs have sqrt(3).
  const auto leading = [](std::int64_t h) { return 2 * 50 * 60 * 30 * std::sqrt(double(h)) / 10; };
  const auto slid = static_cast<double>(number("O[f,x] += I[c,x+h] * W[f,c,h]", 3));
  const auto strode = static_cast<double>(number("O[f,x] += I[c,2*x+h] * W[f,c,h]", 3));
  EXPECT_NEAR(slid, leading(3), 200);
  EXPECT_NEAR(strode, leading(3) * (std::sqrt(2.0) + 1) / std::sqrt(3.0), 200);
  const Problem p = problem("O[f,x] += I[c,2*x+h] * W[f,c,h]");
  EXPECT_EQ(to_text(lower_bound(p, Moves::loads).moves),
            "max(N_c N_f N_h + N_c min(N_h N_x, N_h + 2 N_x - 2) + N_f N_x, "
            "9 N_c N_f N_h N_x / (4 S), 2 sqrt(2) N_c N_f N_h N_x / (sqrt(S) sqrt(N_h + 1)))");
}

}  // namespace
}  // namespace tcsim::bounds
