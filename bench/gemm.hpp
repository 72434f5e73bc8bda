// Matrix multiplication by a BLAS that is found when a benchmark runs. OpenBLAS and BLIS define the
// same names (dgemm_), so a program cannot be linked with both: each is loaded, with its names kept
// to itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tcsim::bench {

// C = op(A) op(B) + beta C, matrices column by column: op(A) has m rows and k columns, op(B) k and
// n. A leading dimension is the distance between columns as stored.
struct GemmCall {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  const double* a = nullptr;
  std::int64_t lda = 1;
  const double* b = nullptr;
  std::int64_t ldb = 1;
  double beta = 0;
  double* c = nullptr;
  std::int64_t ldc = 1;
};

// One implementation of dgemm on one thread.
class Gemm {
 public:
  using Code = void(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                    const int* k, const double* alpha, const double* a, const int* lda,
                    const double* b, const int* ldb, const double* beta, double* c, const int* ldc);

  // Empty if the library is not installed. They are loaded once and stay loaded. OpenBLAS is told
  // to use its AVX-512 kernels where the processor has that but is unknown to it, unless
  // OPENBLAS_CORETYPE is set already.
  static std::optional<Gemm> openblas();
  static std::optional<Gemm> blis();
  // Three loops: slow, and always there.
  static Gemm plain();

  const std::string& name() const { return name_; }        // "OpenBLAS"
  const std::string& version() const { return version_; }  // "0.3.21, SkylakeX kernels"

  // Throws UnsupportedError for an extent of 2^31 or more, which 32-bit BLAS cannot name.
  void operator()(const GemmCall& call) const;

 private:
  Gemm(std::string name, std::string version, Code* code)
      : name_(std::move(name)), version_(std::move(version)), code_(code) {}

  std::string name_, version_;
  Code* code_;
};

}  // namespace tcsim::bench
