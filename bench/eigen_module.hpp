// What the shared objects of bench/eigen_module.cpp, one for each instruction set, let be called.
#pragma once

#include <cstdint>

extern "C" {

// C = shuffle(A.contract(B)). Dimensions of a tensor are numbered from stride one outward.
struct TcsimEigenContraction {
  int rank_a, rank_b, pairs;
  std::int64_t extents_a[6], extents_b[6];
  int pairs_a[3], pairs_b[3];  // dimension pairs_a[i] of A is summed with pairs_b[i] of B
  // Dimension i of C is dimension shuffle[i] of what contract() gives: what is left of A, then of
  // B, each in order.
  int shuffle[6];
  const double *a, *b;
  double* c;
};

// Whether there is code for these ranks and pairs; if so and `contraction` is not null, runs it.
using TcsimEigenContract = bool(int rank_a, int rank_b, int pairs,
                                const TcsimEigenContraction* contraction);
[[gnu::visibility("default")]] TcsimEigenContract tcsim_eigen_contract;
}
