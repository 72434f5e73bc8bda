#include "core/study/sampling.hpp"

#include <boost/random/sobol.hpp>
#include <cmath>
#include <stdexcept>

#include "core/hash.hpp"

namespace tcsim {

namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return splitmix64(splitmix64(a) ^ b); }

double unit(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11), -53); }

}  // namespace

struct UnitSampler::Sobol {
  explicit Sobol(int dimensions) : engine(static_cast<std::size_t>(dimensions)) {}
  boost::random::sobol engine;
  std::int64_t next = 0;  // point that the engine is at
};

UnitSampler::UnitSampler(Sampling sampling, int dimensions, std::int64_t samples,
                         std::uint64_t seed)
    : sampling_(sampling), dimensions_(dimensions), samples_(samples), seed_(seed) {
  if (dimensions < 1 || dimensions > most_sampled_knobs) {
    throw std::invalid_argument("UnitSampler: dimensions");
  }
  if (sampling == Sampling::sobol) {
    sobol_ = std::make_unique<Sobol>(dimensions);
  } else if (sampling != Sampling::latin_hypercube) {
    throw std::invalid_argument("UnitSampler: sampling");
  }
}
UnitSampler::~UnitSampler() = default;
UnitSampler::UnitSampler(UnitSampler&&) noexcept = default;

std::vector<double> UnitSampler::point(std::int64_t i) {
  std::vector<double> x(static_cast<std::size_t>(dimensions_));
  for (int d = 0; d < dimensions_; ++d) {
    if (sampling_ != Sampling::latin_hypercube) break;
    const std::uint64_t key = mixed(seed_, static_cast<std::uint64_t>(d));
    const auto place = static_cast<double>(permuted(i, samples_, key));
    const double within = unit(mixed(key ^ 0x5851f42d4c957f2du, static_cast<std::uint64_t>(i)));
    x[static_cast<std::size_t>(d)] =
        std::min((place + within) / static_cast<double>(samples_), std::nextafter(1.0, 0.0));
  }
  if (!sobol_) return x;
  if (sobol_->next != i) sobol_->engine.seed(static_cast<std::uint64_t>(i));
  sobol_->next = i + 1;
  for (int d = 0; d < dimensions_; ++d) {
    std::uint64_t bits = sobol_->engine();
    if (seed_ != 0) bits ^= mixed(seed_, static_cast<std::uint64_t>(d));
    x[static_cast<std::size_t>(d)] = unit(bits);
  }
  return x;
}

std::int64_t permuted(std::int64_t i, std::int64_t n, std::uint64_t key) {
  int half = 1;
  while (half < 31 && (std::int64_t{1} << (2 * half)) < n) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  auto x = static_cast<std::uint64_t>(i);
  do {
    std::uint64_t left = x >> half, right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (mixed(key + round, right) & mask);
      left = right;
      right = next;
    }
    x = left << half | right;
  } while (x >= static_cast<std::uint64_t>(n));
  return static_cast<std::int64_t>(x);
}

const char* to_text(Sampling s) {
  switch (s) {
    case Sampling::grid:
      return "grid";
    case Sampling::zip:
      return "zip";
    case Sampling::latin_hypercube:
      return "latin-hypercube";
    case Sampling::sobol:
      return "sobol";
  }
  return "";
}

}  // namespace tcsim
