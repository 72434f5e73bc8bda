// A program as an operation tree: which dimensions are one index, and what is refused.
#include "core/fusion/operation_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/workload/program.hpp"

namespace tcsim::fusion {
namespace {

OperationTree tree_of(const std::string& text) {
  return operation_tree(parse_program("program given\n" + text, "test"));
}

std::vector<std::string> texts(const OperationTree& tree) {
  std::vector<std::string> all;
  for (int a = 0; a < static_cast<int>(tree.arrays.size()); ++a) all.push_back(tree.text(a));
  return all;
}

TEST(OperationTree, JoinsDimensionsThroughIntermediates) {
  const OperationTree tree = tree_of(R"(
dims i=3 j=4 x=3 y=4 k=5 n=6
f64 input A[i, k]  f64 input B[k, j]  f64 input C[y, n]
f64 intermediate T[i, j]
f64 output D[x, n]
T[i, j] += A[i, k] * B[k, j]
D[x, n] += T[x, y] * C[y, n]
)");
  EXPECT_EQ(texts(tree),
            (std::vector<std::string>{"T[i,j]", "A[i,k]", "B[k,j]", "D[i,n]", "C[j,n]"}));
  EXPECT_EQ(tree.indices.size(), 4U);
  EXPECT_EQ(tree.parent(0), 1);
  EXPECT_EQ(tree.children(1), std::vector<int>{0});
  EXPECT_EQ(tree.roots(), std::vector<int>{1});
}

TEST(OperationTree, JoinsThroughSeveral) {
  const OperationTree tree = tree_of(R"(
dims a=3 b=3 c=3 k=5 l=5 m=5
f64 input A[a, k]  f64 input B[k, l]  f64 input C[l, m]  f64 input D[m, k]
f64 intermediate T[a, l]  f64 intermediate U[b, m]
f64 output V[c, k]
T[a, l] += A[a, k] * B[k, l]
U[b, m] += T[b, l] * C[l, m]
V[c, k] += U[c, m] * D[m, k]
)");
  // a, b and c are one; the k that T sums is none of V's.
  EXPECT_EQ(texts(tree), (std::vector<std::string>{"T[a,l]", "A[a,k]", "B[k,l]", "U[a,m]", "C[l,m]",
                                                   "V[a,k_2]", "D[m,k_2]"}));
}

TEST(OperationTree, KeepsNamesApart) {
  const OperationTree tree = tree_of(R"(
dims i=3 j=4 k_2=2 k=5
f64 input A[i, k, k_2]  f64 input B[k, k_2, j]  f64 input C[j, k]
f64 intermediate T[i, j]
f64 output D[i, k]
T[i, j] += A[i, k, k_2] * B[k, k_2, j]
D[i, k] += T[i, j] * C[j, k]
)");
  EXPECT_EQ(texts(tree).back(), "C[j,k_3]");
}

TEST(OperationTree, HasAnArrayForEachUse) {
  const OperationTree tree = tree_of(R"(
dims a=3 b=4 p=5 q=6
f64 input C[p, a]  f64 input A[p, q]  f64 input D[q, b]
f64 intermediate T[a, q]
f64 output B[a, b]  f64 output E[a, q]
T[a, q] += C[p, a] * A[p, q]
B[a, b] += T[a, q] * D[q, b]
E[a, q] += C[p, a] * A[p, q]
)");
  EXPECT_EQ(std::ranges::count(tree.arrays, std::string("C"), &OperationTree::Array::name), 2);
  EXPECT_EQ(tree.roots(), (std::vector<int>{1, 2}));
  EXPECT_EQ(tree.flops(), 2.0 * (3 * 6 * 5 + 3 * 4 * 6 + 3 * 6 * 5));
  EXPECT_EQ(tree.bytes(tree.statement(0).left), 8.0 * 15);
}

void expect_no_tree(const std::string& text, const std::string& problem, const std::string& mend) {
  try {
    tree_of(text);
    ADD_FAILURE() << problem;
  } catch (const UnsupportedError& e) {
    EXPECT_EQ(e.place(), "given");
    EXPECT_EQ(e.problem(), problem);
    EXPECT_EQ(e.mend(), mend);
  }
}

TEST(OperationTree, IsNoneOfWhatIsNotDoneYet) {
  expect_no_tree("dims i=3 j=4\nf64 input A[i, j]\nf64 output B[i]\nB[i] += A[i, j]\n",
                 "B[i] is made of one tensor: sums of one tensor are not fused yet",
                 "write statements as T[a, q] += C[a, p] * A[p, q]");
  expect_no_tree(
      "dims x=3 r=2 f=2\nf64 input I[4]\nf64 input W[r, f]\nf64 output O[x, f]\n"
      "O[x, f] += I[x + r] * W[r, f]\n",
      "I[x + r] has the index x + r: fusing what overlaps is not done yet", "use dimensions alone");
  expect_no_tree(
      "dims i=3 j=3 k=4\nf64 input A[i, 7]\nf64 input B[k, j]\nf64 output C[i, j]\n"
      "C[i, j] += A[i, k] * B[k, j]\n",
      "k of A is 4 long and its axis 7", "make the axis as long as the dimension");
  expect_no_tree(
      "dims i=3 j=3 k=4\nf64 input A[k, k]\nf64 input B[k, j, i]\nf64 output C[i, j]\n"
      "C[i, j] += A[k, k] * B[k, j, i]\n",
      "A[k, k] has a dimension twice", "sum a diagonal beforehand");
  expect_no_tree(
      "dims i=3 j=3 k=4 l=2\nf64 input A[i, k, l]\nf64 input B[k, j]\nf64 output C[i, j]\n"
      "C[i, j] += A[i, k, l] * B[k, j]\n",
      "l is in one tensor alone in the statement that makes C[i, j]",
      "a contraction has each dimension in two tensors or three");
  expect_no_tree(
      "dims i=3 j=3 k=4\nf64 input A[i, k]\nf64 input B[k, j]\nf64 output C[i, j]\n"
      "C[i, j] += A[i, k] * B[k, j]\nC[i, j] += A[i, k] * B[k, j]\n",
      "C is written by two statements", "give each statement a tensor of its own");
}

TEST(OperationTree, HasAtMost256Indices) {
  // Statements whose own sums are all different indices.
  const auto text = [](int statements) {
    std::string dims = "dims", tensors, all, axes;
    for (int k = 0; k < 20; ++k) {
      dims += " k" + std::to_string(k) + "=1";
      axes += (k > 0 ? ", k" : "k") + std::to_string(k);
    }
    for (int s = 0; s < statements; ++s) {
      const std::string n = std::to_string(s);
      tensors += "f64 input A" + n + "[" + axes + "]\nf64 input B" + n + "[" + axes +
                 "]\nf64 output C" + n + "[]\n";
      all += "C" + n + "[] += A" + n + "[" + axes + "] * B" + n + "[" + axes + "]\n";
    }
    return dims + "\n" + tensors + all;
  };
  EXPECT_EQ(tree_of(text(12)).indices.size(), 240U);
  expect_no_tree(text(13), "it has more than 256 indices", "cut it in two");
}

TEST(OperationTree, HasContractionsOfTiles) {
  const OperationTree tree = tree_of(R"(
dims i=30 j=40 k=50
f32 input A[i, k]  f32 input B[k, j]
f32 output C[i, j]
C[i, j] += A[i, k] * B[k, j]
)");
  const Contraction c = contraction_of(tree, 0, {3, 4, 5});
  EXPECT_EQ(c.name(), "C");
  EXPECT_EQ(c.type(), ElementType::f32);
  EXPECT_EQ(c.flops(), 2.0 * 3 * 4 * 5);
}

}  // namespace
}  // namespace tcsim::fusion
