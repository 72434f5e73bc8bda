// The inputs of a run and the test of its result. Both know the contraction only: a mistake in a
// plan's offsets cannot hide here.
#include <cmath>
#include <limits>

#include "core/hash.hpp"
#include "core/stop.hpp"
#include "kernels/execute.hpp"

namespace tcsim {

namespace {

// A multiple of 2^-23 (2^-52 for double) in [-1, 1).
template <class T>
T number(std::uint64_t bits) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto fraction = static_cast<std::int64_t>(bits) >> (64 - digits);
  return static_cast<T>(fraction) / static_cast<T>(std::int64_t{1} << (digits - 1));
}

template <class T>
void fill(Arena& arena, const Plan& plan, std::uint64_t seed) {
  StopCheck check;
  for (TensorId t : {TensorId::A, TensorId::B}) {
    T* data = arena.as<T>(array_of(t));
    const std::uint64_t start = splitmix64(splitmix64(seed) + static_cast<std::uint64_t>(index(t)));
    const std::int64_t size = plan.contraction().size(t).value();
    for (std::int64_t i = 0; i < size; ++i) {
      data[i] = number<T>(splitmix64(start + static_cast<std::uint64_t>(i)));
      check();
    }
  }
}

// A summed dimension: how often, and how far to go in A and in B.
struct SummedDim {
  std::int64_t extent, in_a, in_b;
};

struct Sums {
  long double value = 0;
  long double magnitude = 0;  // sum |a b|
};

template <class T>
void add_products(const std::vector<SummedDim>& dims, std::size_t first, const T* a, const T* b,
                  Sums& sums, StopCheck& stop) {
  if (first == dims.size()) {
    const long double product = static_cast<long double>(*a) * static_cast<long double>(*b);
    sums.value += product;
    sums.magnitude += std::fabs(product);
    stop();
    return;
  }
  const SummedDim& d = dims[first];
  for (std::int64_t i = 0; i < d.extent; ++i) {
    add_products(dims, first + 1, a + i * d.in_a, b + i * d.in_b, sums, stop);
  }
}

double error_of(long double c, const Sums& sums, std::int64_t products, long double roundoff) {
  const long double difference = std::fabs(c - sums.value);
  if (difference == 0) return 0;
  const long double bound = static_cast<long double>(products + 2) * roundoff * sums.magnitude;
  const auto error = static_cast<double>(difference / bound);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

template <class T>
Check compare(Arena& arena, const Plan& plan, Elements samples, std::uint64_t seed) {
  StopCheck stop;
  const Contraction& c = plan.contraction();
  std::vector<SummedDim> summed;
  for (DimId d : c.dims_of(DimClass::k)) {
    summed.push_back(
        {c.dim(d).extent, c.stride(TensorId::A, d).value(), c.stride(TensorId::B, d).value()});
  }
  const auto order = c.memory_order(TensorId::C);
  const std::int64_t size = c.size(TensorId::C).value();
  const std::int64_t count = std::min(size, samples.value());
  const std::int64_t products = c.extent(DimClass::k).value();
  const long double roundoff = std::numeric_limits<T>::epsilon() / 2;

  Check check;
  check.checked = Elements(count);
  for (std::int64_t s = 0; s < count; ++s) {
    // One element of each of `count` equal parts of C; wide, since s * size may pass 2^63.
    const auto start = static_cast<std::int64_t>(static_cast<__int128>(s) * size / count);
    const auto end = static_cast<std::int64_t>(static_cast<__int128>(s + 1) * size / count);
    const std::uint64_t draw = splitmix64(splitmix64(seed) ^ static_cast<std::uint64_t>(s));
    const std::int64_t place =
        start + static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(end - start));

    const T* a = arena.as<T>(ArrayId::A);
    const T* b = arena.as<T>(ArrayId::B);
    std::int64_t rest = place;
    for (DimId d : order) {
      const std::int64_t i = rest % c.dim(d).extent;
      rest /= c.dim(d).extent;
      a += i * c.stride(TensorId::A, d).value();
      b += i * c.stride(TensorId::B, d).value();
    }
    Sums sums;
    add_products(summed, 0, a, b, sums, stop);
    const long double found = arena.as<T>(ArrayId::C)[place];
    check.worst_error = std::max(check.worst_error, error_of(found, sums, products, roundoff));
  }
  return check;
}

}  // namespace

void fill_inputs(Arena& arena, const Plan& plan, std::uint64_t seed) {
  if (plan.contraction().type() == ElementType::f64) {
    fill<double>(arena, plan, seed);
  } else {
    fill<float>(arena, plan, seed);
  }
}

Check check_result(Arena& arena, const Plan& plan, Elements samples, std::uint64_t seed) {
  return plan.contraction().type() == ElementType::f64 ? compare<double>(arena, plan, samples, seed)
                                                       : compare<float>(arena, plan, samples, seed);
}

}  // namespace tcsim
