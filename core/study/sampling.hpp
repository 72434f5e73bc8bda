// Where in the space of the knobs the designs of a study lie. Every sampling is a function of the
// design's number: nothing is stored, any design can be asked for, and a million of them take no
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tcsim {

enum class Sampling {
  grid,             // every combination, the last knob running fastest
  zip,              // the i-th value of every knob together
  latin_hypercube,  // each knob's range in as many equal parts as designs, each part used once
  sobol,            // a Sobol sequence (Joe and Kuo's direction numbers)
};
inline constexpr int most_sampled_knobs = 32;
const char* to_text(Sampling);  // "grid", "zip", "latin-hypercube", "sobol"

// Points of the unit cube for latin_hypercube and sobol.
class UnitSampler {
 public:
  // Throws std::invalid_argument for grid and zip, and dimensions outside 1 to most_sampled_knobs.
  UnitSampler(Sampling sampling, int dimensions, std::int64_t samples, std::uint64_t seed);
  ~UnitSampler();
  UnitSampler(UnitSampler&&) noexcept;

  // Coordinates in [0, 1) of the i-th of `samples` points. A Sobol sequence leaves out its first
  // point, the origin, and is shifted by the seed (exclusive or of digits) unless that is 0. Not
  // for several threads at once.
  std::vector<double> point(std::int64_t i);

 private:
  struct Sobol;
  Sampling sampling_;
  int dimensions_;
  std::int64_t samples_;
  std::uint64_t seed_;
  std::unique_ptr<Sobol> sobol_;
};

// A permutation of 0 .. n-1 without a table (a four-round Feistel network that walks until it is
// inside), and what a Latin hypercube is made of. Precondition: 0 <= i < n.
std::int64_t permuted(std::int64_t i, std::int64_t n, std::uint64_t key);

}  // namespace tcsim
