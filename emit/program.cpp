// main() of the emitted file: fills, runs, times, checks. It knows the contraction only, so that a
// mistake of the nest cannot hide there (kernels/check.cpp does the same).
#include <fmt/format.h>

#include <algorithm>

#include "core/units/text.hpp"
#include "emit/parts.hpp"
#include "emit/text.hpp"

namespace tcsim::emit {

namespace {

constexpr std::string_view head = R"(
#ifndef TCSIM_NO_MAIN

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t @hash(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Reproducible numbers in [-1, 1). */
static void @fill($T *data, size_t size, uint64_t tensor) {
  const uint64_t start = @hash(@hash($SEEDu) + tensor);
  for (size_t i = 0; i < size; ++i) {
    const int64_t number = (int64_t)@hash(start + i) >> $SHIFT;
    data[i] = ($T)number / $SCALE;
  }
}

/* Elements of C again, from the definition. The largest error as a fraction of the bound
   (K + 2) u sum|a b| (Higham, Accuracy and Stability, 3.1): above 1 is wrong. */
static double @check(const $T *A, const $T *B, const $T *C, size_t samples) {
  double worst = 0;
  for (size_t s = 0; s < samples; ++s) {
    /* One element of each of so many parts of C. */
    const size_t part = $CSIZE / samples, rest = $CSIZE % samples;
    const size_t place = part * s + @least(s, rest) + @hash(@hash($SEEDu) ^ s) % (part + (s < rest));
$INDICES    long double sum = 0, magnitude = 0;
$SUM    const long double off = sum > C[place] ? sum - C[place] : C[place] - sum;
    if (off == 0) continue;
    const double error = (double)(off / ($TERMS.0L * $UNIT * magnitude));
    if (!(error <= worst)) worst = error == error ? error : HUGE_VAL;
  }
  return worst;
}

static double @now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int @compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Bytes to write so that nothing else is left in the caches. */
static size_t @all_caches(void) {
  size_t bytes = (size_t)64 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (last > 0 && 2 * (size_t)last > bytes) bytes = 2 * (size_t)last;
#endif
  return bytes;
}

int main(int argc, char **argv) {
  const int repetitions = argc > 1 ? atoi(argv[1]) : 5;
  if (repetitions < 1 || repetitions > 10000) {
    fprintf(stderr, "%s: '%s' repetitions; give 1 to 10000\n", argv[0], argv[1]);
    return 2;
  }
  const size_t flushed = @all_caches();
  $T *const A = @allocate($ASIZE, sizeof($T));
  $T *const B = @allocate($BSIZE, sizeof($T));
  $T *const C = @allocate($CSIZE, sizeof($T));
  volatile char *const other = @allocate(flushed, 1);
  double *const seconds = @allocate((size_t)repetitions, sizeof(double));
  if (A == NULL || B == NULL || C == NULL || other == NULL || seconds == NULL) {
    fprintf(stderr, "%s: no memory for A ($ABYTES), B ($BBYTES) and C ($CBYTES)\n", argv[0]);
    return 2;
  }
  @fill(A, $ASIZE, 0);
  @fill(B, $BSIZE, 1);
  for (size_t i = 0; i < flushed; i += 64) other[i] = 1;
  for (int r = -1; r < repetitions; ++r) { /* the first one warms up */
    for (size_t i = 0; i < flushed; i += 64) (void)other[i];
    const double begin = @now();
    if (@contract(A, B, C) != 0) {
      fprintf(stderr, "%s: no memory for the workspace\n", argv[0]);
      return 2;
    }
    if (r >= 0) seconds[r] = @now() - begin;
  }
  const double error = @check(A, B, C, $SAMPLES);
  qsort(seconds, (size_t)repetitions, sizeof(double), @compare);
  const size_t half = (size_t)repetitions / 2;
  const double median =
      repetitions % 2 == 1 ? seconds[half] : 0.5 * (seconds[half - 1] + seconds[half]);
$KERNEL  printf("$NAME: %.3f ms, %.2f GFLOPS (median of %d, best %.3f ms), kernel %s $MRx$NR\n",
         1e3 * median, $FLOPS / median / 1e9, repetitions, 1e3 * seconds[0], kernel);
  printf("check %s: largest error %.2g of its bound, %d elements\n", error <= 1 ? "passed" : "FAILED",
         error, $SAMPLES);
  free(A);
  free(B);
  free(C);
  free((void *)other);
  free(seconds);
  @contract_release();
  return error <= 1 ? 0 : 1;
}

#endif /* TCSIM_NO_MAIN */
)";

// "i_a + 72 * i_b": an element of t by its dimensions.
std::string element_of(const Contraction& c, TensorId t) {
  std::string sum;
  for (DimId d : c.memory_order(t)) {
    if (!sum.empty()) sum += " + ";
    if (c.stride(t, d).value() > 1) sum += fmt::format("{} * ", c.stride(t, d).value());
    sum += fmt::format("i_{}", c.dim(d).name);
  }
  return sum.empty() ? "0" : sum;
}

// The dimensions of C that `place` stands for.
std::string indices(const Contraction& c) {
  std::string text;
  std::int64_t below = 1;
  for (DimId d : c.memory_order(TensorId::C)) {
    text += fmt::format("    const size_t i_{} = place{} % {};\n", c.dim(d).name,
                        below == 1 ? "" : fmt::format(" / {}", below), c.dim(d).extent);
    below *= c.dim(d).extent;
  }
  return text;
}

std::string sum(const Contraction& c) {
  Lines lines(2);
  for (DimId d : c.dims_of(DimClass::k)) {
    lines.add(fmt::format("for (size_t i_{0} = 0; i_{0} < {1}; ++i_{0}) {{", c.dim(d).name,
                          c.dim(d).extent));
  }
  lines.add(fmt::format("const long double a = A[{}];", element_of(c, TensorId::A)));
  lines.add(fmt::format("const long double b = B[{}];", element_of(c, TensorId::B)));
  lines.add("sum += a * b;");
  lines.add("magnitude += a * b < 0 ? -a * b : a * b;");
  lines.close(2);
  return lines.text();
}

// Enough to meet every kind of tile, few enough to cost about a tenth of a second.
std::int64_t samples(const Contraction& c) {
  constexpr std::int64_t products = 20'000'000;
  const auto affordable =
      std::clamp<std::int64_t>(products / c.extent(DimClass::k).value(), 64, 100'000);
  return std::min(affordable, c.size(TensorId::C).value());
}

}  // namespace

std::string program(const Plan& plan, const EmitOptions& options) {
  const Contraction& c = plan.contraction();
  const bool wide = c.type() == ElementType::f64;
  const auto size = [&](TensorId t) { return std::to_string(c.size(t).value()); };
  const auto bytes = [&](TensorId t) {
    return to_binary_display(c.size(t).value() * plan.element());
  };
  return fill_in(head, {{"T", element_name(plan)},
                        {"SEED", std::to_string(options.seed)},
                        {"SHIFT", wide ? "11" : "40"},
                        {"SCALE", wide ? "4503599627370496.0" : "8388608.0f"},
                        {"UNIT", wide ? "0x1p-53L" : "0x1p-24L"},
                        {"TERMS", std::to_string(c.extent(DimClass::k).value() + 2)},
                        {"ASIZE", size(TensorId::A)},
                        {"BSIZE", size(TensorId::B)},
                        {"CSIZE", size(TensorId::C)},
                        {"ABYTES", bytes(TensorId::A)},
                        {"BBYTES", bytes(TensorId::B)},
                        {"CBYTES", bytes(TensorId::C)},
                        {"INDICES", indices(c)},
                        {"SUM", sum(c)},
                        {"NAME", in_format(c.name())},
                        {"KERNEL", kernel_name(plan)},
                        {"MR", std::to_string(plan.mr())},
                        {"NR", std::to_string(plan.nr())},
                        {"FLOPS", fmt::format("{:.17g}", c.flops())},
                        {"SAMPLES", std::to_string(samples(c))}});
}

}  // namespace tcsim::emit
