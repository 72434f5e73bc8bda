// Products of matrices by a BLAS that is found when a benchmark runs. They all define the same
// names (dgemm_), so a program cannot be linked with several: each is loaded, with its names kept
// to itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tcsim::bench {

// C = op(A) op(B) + beta C, matrices column by column: op(A) has m rows and k columns, op(B) k and
// n. A leading dimension is the distance between columns as stored. T is float or double.
template <class T>
struct GemmCall {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  std::int64_t lda = 1;
  const T* b = nullptr;
  std::int64_t ldb = 1;
  T beta = 0;
  T* c = nullptr;
  std::int64_t ldc = 1;
};

// The routines of one type that are called. Those but gemm may be null.
template <class T>
struct BlasRoutines {
  using Gemm = void(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                    const int* k, const T* alpha, const T* a, const int* lda, const T* b,
                    const int* ldb, const T* beta, T* c, const int* ldc);
  using Gemv = void(const char* transpose, const int* m, const int* n, const T* alpha, const T* a,
                    const int* lda, const T* x, const int* step_x, const T* beta, T* y,
                    const int* step_y);
  using Dot = T(const int* n, const T* x, const int* step_x, const T* y, const int* step_y);

  Gemm* gemm = nullptr;
  Gemv* gemv = nullptr;
  Dot* dot = nullptr;
};

// One implementation of BLAS on one thread.
class Gemm {
 public:
  // Empty if the library is not installed. They are loaded once and stay loaded. OpenBLAS is told
  // to use its AVX-512 kernels where the processor has that but is unknown to it, unless
  // OPENBLAS_CORETYPE is set already.
  static std::optional<Gemm> openblas();
  static std::optional<Gemm> blis();
  static std::optional<Gemm> mkl();
  // Three loops: slow, and always there.
  static Gemm plain();
  // Those of them that are installed, by word: "openblas", "blis", "mkl".
  static std::optional<Gemm> find(const std::string& word);

  const std::string& name() const { return name_; }        // "OpenBLAS"
  const std::string& version() const { return version_; }  // "0.3.21, SkylakeX kernels"

  // A result of one row or column is a product of a matrix and a vector, one of one element a
  // product of two vectors: a program that knows calls gemv or dot. Throws UnsupportedError for an
  // extent of 2^31 or more, which 32-bit BLAS cannot name.
  template <class T>
  void operator()(const GemmCall<T>& call) const;

 private:
  Gemm(std::string name, std::string version)
      : name_(std::move(name)), version_(std::move(version)) {}
  static std::optional<Gemm> loaded(const std::string& name, const std::string& version,
                                    void* library);
  template <class T>
  const BlasRoutines<T>& routines() const;

  std::string name_, version_;
  BlasRoutines<double> f64_;
  BlasRoutines<float> f32_;
};

}  // namespace tcsim::bench
