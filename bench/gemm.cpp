#include "bench/gemm.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <limits>

#include "core/error.hpp"

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
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
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

// For tests where no BLAS is installed, and for nothing that is timed.
void plain_gemm(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                const int* k, const double*, const double* a, const int* lda, const double* b,
                const int* ldb, const double* beta, double* c, const int* ldc) {
  const auto place = [](std::int64_t row, std::int64_t column, bool transposed, std::int64_t ld) {
    return transposed ? column + row * ld : row + column * ld;
  };
  for (std::int64_t j = 0; j < *n; ++j) {
    for (std::int64_t i = 0; i < *m; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; p < *k; ++p) {
        sum +=
            a[place(i, p, *transpose_a == 'T', *lda)] * b[place(p, j, *transpose_b == 'T', *ldb)];
      }
      double& to = c[i + j * *ldc];
      to = *beta == 0 ? sum : sum + *beta * to;
    }
  }
}

int to_int(std::int64_t x) {
  if (x <= std::numeric_limits<int>::max()) return static_cast<int>(x);
  throw UnsupportedError("dgemm", fmt::format("a matrix of {} rows or columns", x),
                         "use smaller sizes");
}

}  // namespace

std::optional<Gemm> Gemm::openblas() {
  static const std::optional<Gemm> loaded = []() -> std::optional<Gemm> {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void* library = load_openblas();
    if (library == nullptr) return {};
    auto* code = symbol<Code>(library, "dgemm_");
    if (code == nullptr) return {};
    if (auto* threads = symbol<void(int)>(library, "openblas_set_num_threads")) threads(1);
    auto* config = symbol<const char*()>(library, "openblas_get_config");
    return Gemm("OpenBLAS",
                fmt::format("{}, {} kernels", config == nullptr ? "" : second_word(config()),
                            openblas_core(library)),
                code);
  }();
  return loaded;
}

std::optional<Gemm> Gemm::blis() {
  static const std::optional<Gemm> loaded = []() -> std::optional<Gemm> {
    setenv("BLIS_NUM_THREADS", "1", 1);
    void* library = load({"libblis.so.4", "libblis.so.5", "libblis.so"});
    if (library == nullptr) return {};
    auto* code = symbol<Code>(library, "dgemm_");
    if (code == nullptr) return {};
    auto* version = symbol<const char*()>(library, "bli_info_get_version_str");
    auto* arch = symbol<int()>(library, "bli_arch_query_id");
    auto* arch_name = symbol<const char*(int)>(library, "bli_arch_string");
    return Gemm("BLIS",
                fmt::format("{}, {} kernels", version == nullptr ? "" : version(),
                            arch == nullptr || arch_name == nullptr ? "" : arch_name(arch())),
                code);
  }();
  return loaded;
}

Gemm Gemm::plain() { return {"plain loops", "", plain_gemm}; }

void Gemm::operator()(const GemmCall& call) const {
  const int m = to_int(call.m), n = to_int(call.n), k = to_int(call.k);
  const int lda = to_int(call.lda), ldb = to_int(call.ldb), ldc = to_int(call.ldc);
  const double one = 1;
  code_(call.transpose_a ? "T" : "N", call.transpose_b ? "T" : "N", &m, &n, &k, &one, call.a, &lda,
        call.b, &ldb, &call.beta, call.c, &ldc);
}

}  // namespace tcsim::bench
