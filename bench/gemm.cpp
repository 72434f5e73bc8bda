#include "bench/gemm.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <limits>

#include "bench/peer_limit.hpp"
#include "core/error.hpp"
#include "core/machine/instruction_limit.hpp"

namespace tcsim::bench {

namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// The first of these names that the loader finds. The name without a number, which may be that of
// an interface to come, is the last.
void* load(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

bool has_avx512() {
#if defined(__x86_64__)
  return most_vector_bits() >= 512 && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

std::string openblas_core(void* library) {
  auto* name = symbol<const char*()>(library, "openblas_get_corename");
  return name == nullptr ? "" : name();
}

// Debian 12's OpenBLAS takes processors that came after it for the last one that it knows.
void* load_openblas() {
  const auto names = {"libopenblas.so.0", "libopenblas.so"};
  void* library = load(names);
  if (library == nullptr || !has_avx512() || std::getenv("OPENBLAS_CORETYPE") != nullptr) {
    return library;
  }
  std::string core = openblas_core(library);
  std::ranges::transform(core, core.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array with_avx512{"skylakex", "cooperlake", "sapphirerapids", "zen4"};
  if (std::ranges::find(with_avx512, core) != with_avx512.end()) return library;
  // It reads the variable once, when it is loaded.
  dlclose(library);
  setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  return load(names);
}

// "OpenBLAS 0.3.21 NO_LAPACKE ..." to "0.3.21".
std::string second_word(const std::string& text) {
  const auto begin = text.find(' ');
  if (begin == std::string::npos) return text;
  return text.substr(begin + 1, text.find(' ', begin + 1) - begin - 1);
}

// "Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build ..." to "2024.2-Product".
std::string mkl_version(const std::string& text) {
  const std::string word = "Version ";
  const auto at = text.find(word);
  return at == std::string::npos ? "unknown version" : second_word(text.substr(at));
}

// For tests where no BLAS is installed, and for nothing that is timed.
template <class T>
void plain_gemm(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                const int* k, const T*, const T* a, const int* lda, const T* b, const int* ldb,
                const T* beta, T* c, const int* ldc) {
  const auto place = [](std::int64_t row, std::int64_t column, bool transposed, std::int64_t ld) {
    return transposed ? column + row * ld : row + column * ld;
  };
  for (std::int64_t j = 0; j < *n; ++j) {
    for (std::int64_t i = 0; i < *m; ++i) {
      T sum = 0;
      for (std::int64_t p = 0; p < *k; ++p) {
        sum +=
            a[place(i, p, *transpose_a == 'T', *lda)] * b[place(p, j, *transpose_b == 'T', *ldb)];
      }
      T& to = c[i + j * *ldc];
      to = *beta == 0 ? sum : sum + *beta * to;
    }
  }
}

template <class T>
BlasRoutines<T> routines_of(void* library) {
  const auto name = [](const char* routine) {
    return std::string(sizeof(T) == sizeof(double) ? "d" : "s") + routine;
  };
  using R = BlasRoutines<T>;
  return {symbol<typename R::Gemm>(library, name("gemm_").c_str()),
          symbol<typename R::Gemv>(library, name("gemv_").c_str()),
          symbol<typename R::Dot>(library, name("dot_").c_str())};
}

int to_int(std::int64_t x) {
  if (x <= std::numeric_limits<int>::max()) return static_cast<int>(x);
  throw UnsupportedError("gemm", fmt::format("a matrix of {} rows or columns", x),
                         "use smaller sizes");
}

}  // namespace

// None where it lacks a gemm.
std::optional<Gemm> Gemm::loaded(const std::string& name, const std::string& version,
                                 void* library) {
  Gemm gemm(name, version);
  gemm.f64_ = routines_of<double>(library);
  gemm.f32_ = routines_of<float>(library);
  if (gemm.f64_.gemm == nullptr || gemm.f32_.gemm == nullptr) return {};
  return gemm;
}

std::optional<Gemm> Gemm::openblas() {
  static const std::optional<Gemm> found = []() -> std::optional<Gemm> {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    limit_peer("OPENBLAS_CORETYPE", "Haswell", "Nehalem");
    void* library = load_openblas();
    if (library == nullptr) return {};
    if (auto* threads = symbol<void(int)>(library, "openblas_set_num_threads")) threads(1);
    auto* config = symbol<const char*()>(library, "openblas_get_config");
    return loaded("OpenBLAS",
                  fmt::format("{}, {} kernels", config == nullptr ? "" : second_word(config()),
                              openblas_core(library)),
                  library);
  }();
  return found;
}

std::optional<Gemm> Gemm::blis() {
  static const std::optional<Gemm> found = []() -> std::optional<Gemm> {
    setenv("BLIS_NUM_THREADS", "1", 1);
    void* library = load({"libblis.so.4", "libblis.so.5", "libblis.so"});
    if (library == nullptr) return {};
    auto* version = symbol<const char*()>(library, "bli_info_get_version_str");
    auto* arch = symbol<int()>(library, "bli_arch_query_id");
    auto* arch_name = symbol<const char*(int)>(library, "bli_arch_string");
    return loaded("BLIS",
                  fmt::format("{}, {} kernels", version == nullptr ? "" : version(),
                              arch == nullptr || arch_name == nullptr ? "" : arch_name(arch())),
                  library);
  }();
  return found;
}

std::optional<Gemm> Gemm::mkl() {
  static const std::optional<Gemm> found = []() -> std::optional<Gemm> {
    setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 1);
    limit_peer("MKL_ENABLE_INSTRUCTIONS", "AVX2", "SSE4_2");
    void* library = load({"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"});
    if (library == nullptr) return {};
    std::array<char, 200> text{};
    if (auto* version = symbol<void(char*, int)>(library, "mkl_get_version_string")) {
      version(text.data(), static_cast<int>(text.size()) - 1);
    }
    return loaded("MKL", mkl_version(text.data()), library);
  }();
  return found;
}

Gemm Gemm::plain() {
  Gemm gemm("plain loops", "");
  gemm.f64_.gemm = plain_gemm<double>;
  gemm.f32_.gemm = plain_gemm<float>;
  return gemm;
}

std::optional<Gemm> Gemm::find(const std::string& word) {
  if (word == "openblas") return openblas();
  if (word == "blis") return blis();
  if (word == "mkl") return mkl();
  return {};
}

template <>
const BlasRoutines<double>& Gemm::routines() const {
  return f64_;
}
template <>
const BlasRoutines<float>& Gemm::routines() const {
  return f32_;
}

template <class T>
void Gemm::operator()(const GemmCall<T>& call) const {
  const int m = to_int(call.m), n = to_int(call.n), k = to_int(call.k);
  const int lda = to_int(call.lda), ldb = to_int(call.ldb), ldc = to_int(call.ldc);
  const int one_step = 1;
  const T one = 1;
  const BlasRoutines<T>& blas = routines<T>();
  // Steps from element to element of op(A)'s only row and op(B)'s only column.
  const int* const along_a = call.transpose_a ? &one_step : &lda;
  const int* const along_b = call.transpose_b ? &ldb : &one_step;
  if (m == 1 && n == 1 && blas.dot != nullptr && call.beta == 0) {
    *call.c = blas.dot(&k, call.a, along_a, call.b, along_b);
  } else if (n == 1 && k > 1 && blas.gemv != nullptr) {
    blas.gemv(call.transpose_a ? "T" : "N", call.transpose_a ? &k : &m, call.transpose_a ? &m : &k,
              &one, call.a, &lda, call.b, along_b, &call.beta, call.c, &one_step);
  } else if (m == 1 && k > 1 && blas.gemv != nullptr) {
    // The row C^T = B^T A^T.
    blas.gemv(call.transpose_b ? "N" : "T", call.transpose_b ? &n : &k, call.transpose_b ? &k : &n,
              &one, call.b, &ldb, call.a, along_a, &call.beta, call.c, &ldc);
  } else {
    blas.gemm(call.transpose_a ? "T" : "N", call.transpose_b ? "T" : "N", &m, &n, &k, &one, call.a,
              &lda, call.b, &ldb, &call.beta, call.c, &ldc);
  }
}

template void Gemm::operator()(const GemmCall<double>&) const;
template void Gemm::operator()(const GemmCall<float>&) const;

}  // namespace tcsim::bench
