#include "core/bounds/problem_text.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/core/bounds/random_problem.hpp"

namespace tcsim::bounds {
namespace {

// IOOpt, Listing 2.
constexpr const char* conv1d =
    "affine conv1d\n"
    "loops f=Nf c=Nc x=Nx w=3\n"
    "small w\n"
    "reductions c w\n"
    "Out[f, x] += Image[c, x + w + 1] * Filter[f, c, w]  # its order does not matter\n";

TEST(BoundText, Has_loops_with_named_bounds) {
  const Problem p = parse_problem(conv1d, "test");
  ASSERT_EQ(p.dims.size(), 4u);
  EXPECT_EQ(p.dims[0].symbol, "Nf");
  EXPECT_FALSE(p.dims[0].extent);
  EXPECT_EQ(p.dims[3].symbol, "N_w");
  EXPECT_EQ(p.dims[3].extent, 3);
  EXPECT_TRUE(p.dims[3].small);
  ASSERT_EQ(p.statements.size(), 1u);
  EXPECT_EQ(p.statements[0].in[0].axes[1].terms.size(), 2u);
  EXPECT_EQ(to_text(p),
            "affine conv1d\nloops f=Nf c=Nc x=Nx w=3\nsmall w\n"
            "Out[f, x] += Image[c, x + w] * Filter[f, c, w]\n");
  EXPECT_EQ(parse_problem(to_text(p), "again"), p);
}

TEST(BoundText, Says_where_sums_begin) {
  const Problem p =
      parse_problem("affine a loops i=N j=N C[i] = A[i, j] D[i] += C[i] * A[i, 0]", "test");
  EXPECT_TRUE(p.arrays[0].starts_at_zero);
  EXPECT_FALSE(p.arrays[2].starts_at_zero);
  EXPECT_EQ(p.dims[0].symbol, p.dims[1].symbol);
  EXPECT_EQ(parse_problem(to_text(p), "again"), p);
}

TEST(BoundText, Errors_name_line_and_column) {
  struct Case {
    const char* text;
    const char* said;
  };
  const Case cases[] = {
      {"", "test:1:1: 'affine' expected, found the end"},
      {"affine", "test:1:7: the program's name expected"},
      {"affine a\nloops i", "test:2:8: '=' expected, found the end"},
      {"affine a loops i=0 C[i] += A[i]", "test:1:18: 0 is not between 1"},
      {"affine a loops i=S C[i] += A[i]", "test:1:18: S is the capacity"},
      {"affine a loops i=N i=M C[i] += A[i]", "test:1:20: loop i is there twice"},
      {"affine a loops i=3 j=N_i C[i] += A[j]", "test:1:20: N_i is already the size of i"},
      {"affine a loops i=N\nC[i] += A[k]", "test:2:11: there is no loop 'k'"},
      {"affine a loops i=N\nC[i] += A[i + i]", "test:2:15: i is there twice"},
      {"affine a loops i=N\nC[i] += A[0*i]", "test:2:11: 0 times a loop"},
      {"affine a loops i=N\nC[i] += A[2 i]", "test:2:13: ',' expected"},
      {"affine a loops i=N j=N\nC[i] += A[i]", "test:1:20: no statement has the loop j"},
      {"affine a loops i=N\nC[i] - A[i]", "test:2:6: '+=' expected, found '-'"},
      {"affine a loops i=N\nC[i] += A[i] * A[i, i]", "test:2:16: A has 2 indices, and elsewhere 1"},
      {"affine a loops i=N\nC[i] += A[i]\nC[i] = A[i]", "test:3:6: C is written before"},
      {"affine a loops i=N j=N\nreductions j\nC[i, j] += A[i]", "test:2:12: C has the reduction j"},
      {"affine a loops i=N j=N reductions\nC[i] += A[i, j]", "test:2:1: C does not have j"},
      {"affine a loops i=N small k C[i] += A[i]", "test:1:26: there is no loop 'k'"},
      {"affine a loops i=N C[i] += A[i", "test:1:31: ',' expected, found the end"},
      {"affine a loops i=9999999999999999999 C[i] += A[i]", "is not between 1 and 2^62 - 1"},
  };
  for (const Case& c : cases) {
    try {
      parse_problem(c.text, "test");
      ADD_FAILURE() << c.text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(c.said), std::string::npos) << c.text << "\n"
                                                                       << e.what();
      EXPECT_FALSE(e.mend().empty());
    }
  }
}

TEST(BoundText, Is_not_without_end) {
  std::string loops = "affine a loops";
  for (int i = 0; i < 70; ++i) loops += " i" + std::to_string(i) + "=N";
  EXPECT_THROW(parse_problem(loops + " C[i0] += A[i0]", "test"), InputError);
  std::string reads = "affine a loops i=N C[i] += A[i]";
  for (int i = 0; i < 70; ++i) reads += " * A[i]";
  EXPECT_THROW(parse_problem(reads, "test"), InputError);
}

TEST(BoundText, Random_problems_read_back) {
  test::Random random(9);
  for (int round = 0; round < 300; ++round) {
    Problem p = test::random_problem(random);
    p.name = "p";
    for (Problem::Dim& d : p.dims) {
      d.small = random.chance(20);
      if (random.chance(50)) d.extent.reset();
    }
    const Problem read = parse_problem(to_text(p), "test");
    ASSERT_EQ(read.dims, p.dims);
    ASSERT_EQ(parse_problem(to_text(read), "test"), read);
  }
}

}  // namespace
}  // namespace tcsim::bounds
