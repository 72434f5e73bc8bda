// Ways to compute a contraction with libraries that a user would pick. Any layout, f32 and f64, one
// thread; each overwrites C.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/gemm.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

// Made for one contraction. Buffers are made with it, as those of the executor are with its arena.
// The tensors have the contraction's element type.
class Peer {
 public:
  virtual ~Peer() = default;
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  virtual std::string name() const = 0;  // "TTGT OpenBLAS"
  virtual void run(const void* a, const void* b, void* c) = 0;
  // Before any clock starts: keeps the quickest of its ways on these tensors, if it has several.
  // Overwrites C.
  virtual void choose(const void* a, const void* b, void* c) = 0;
  // What it does for this contraction, such as what it transposes.
  virtual std::string how() const = 0;
};

// The same with the type known.
template <class T>
class PeerOf : public Peer {
 public:
  void run(const void* a, const void* b, void* c) final {
    execute(static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c));
  }
  void choose(const void* a, const void* b, void* c) final {
    choose_way(static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c));
  }

 private:
  virtual void execute(const T* a, const T* b, T* c) = 0;
  virtual void choose_way(const T*, const T*, T*) {}
};

// Transpose, GEMM, transpose. Of all orders of the fused dimensions that occur in a tensor the
// quickest is chosen; before, the one with which least has to be transposed. What is a matrix
// already, for each place of a batch, is not copied.
std::unique_ptr<Peer> make_ttgt(const Contraction& contraction, const Gemm& gemm);

// Loops around GEMM on parts of the tensors that are matrices where they are: nothing is copied.
// Of all such parts the one with the most operations for each element is taken.
std::unique_ptr<Peer> make_loop_over_gemm(const Contraction& contraction, const Gemm& gemm);

// The same around code that libxsmm makes for that part; null where it has none: transposed or
// large matrices.
std::unique_ptr<Peer> make_loop_over_libxsmm(const Contraction& contraction);

// Eigen's tensor module, compiled for this processor's instruction set, or null if there is no code
// for these ranks, for this type, or no such module.
std::unique_ptr<Peer> make_eigen(const Contraction& contraction);
bool eigen_installed();
std::string eigen_version();  // "3.4.0, avx512"

}  // namespace tcsim::bench
