// Ways to compute a contraction with libraries that a user would pick. Column-major or row-major,
// f64, one thread; each overwrites C.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/gemm.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

// Made for one contraction. Buffers are made with it, as those of the executor are with its arena.
class Peer {
 public:
  virtual ~Peer() = default;
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  virtual std::string name() const = 0;  // "TTGT OpenBLAS"
  virtual void run(const double* a, const double* b, double* c) = 0;
  // What it does for this contraction, such as what it transposes.
  virtual std::string how() const = 0;
};

// Transpose, GEMM, transpose: of all orders of the fused dimensions that occur in a tensor the one
// is taken with which least has to be transposed. What is a matrix already is not copied. A batch
// is a loop around it. Throws std::invalid_argument unless the elements are f64.
std::unique_ptr<Peer> make_ttgt(const Contraction& contraction, const Gemm& gemm);

// Loops around GEMM on parts of the tensors that are matrices where they are: nothing is copied.
// Of all such parts the one with the most operations for each element is taken.
std::unique_ptr<Peer> make_loop_over_gemm(const Contraction& contraction, const Gemm& gemm);

// Eigen's tensor module, compiled for this processor's instruction set, or null if there is no code
// for these ranks or no such module.
std::unique_ptr<Peer> make_eigen(const Contraction& contraction);
bool eigen_installed();
std::string eigen_version();  // "3.4.0, avx512"

}  // namespace tcsim::bench
