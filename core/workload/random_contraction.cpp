#include "core/workload/random_contraction.hpp"

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "core/workload/parse.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t fewest_indices = 3, most_indices = 8;
constexpr std::int64_t least_extent = 5, most_extent = 200;
// Source: chosen. The fewest are several times a first cache, the most take a second to simulate.
constexpr double least_work = 1e6, most_work = 1e8;  // multiply-adds
constexpr std::int64_t batch_of = 12;                // one index of so many is a batch

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

class DrawContraction {
 public:
  explicit DrawContraction(std::uint64_t seed) : engine_(seed) {}

  Contraction contraction() {
    std::array<std::string, 3> letters;  // of C, A and B
    Sizes sizes;
    double work = 0;
    do {
      work = draw(letters, sizes);
    } while (work < least_work || work > most_work);
    for (std::string& s : letters) shuffle(s);
    const Layout layout = between(0, 1) == 1 ? Layout::row_major : Layout::column_major;
    const ElementType type = between(0, 1) == 1 ? ElementType::f32 : ElementType::f64;
    return parse_contraction(letters[0] + "-" + letters[1] + "-" + letters[2], sizes, layout, type);
  }

 private:
  // Not std's distribution, which differs between libraries.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

  void shuffle(std::string& s) {
    for (auto i = std::ssize(s) - 1; i > 0; --i) {
      std::swap(s[static_cast<std::size_t>(i)], s[static_cast<std::size_t>(between(0, i))]);
    }
  }

  // Of a kind (prime, odd or even), as many small ones as large ones.
  std::int64_t extent() {
    const std::int64_t kind = between(0, 2);
    for (;;) {
      const double share = static_cast<double>(between(0, 1 << 20)) / (1 << 20);
      const double ratio = static_cast<double>(most_extent) / static_cast<double>(least_extent);
      const std::int64_t n =
          std::llround(static_cast<double>(least_extent) * std::pow(ratio, share));
      if (kind == 0 ? is_prime(n) : !is_prime(n) && (n % 2 == 0) == (kind == 2)) return n;
    }
  }

  // Returns the multiply-adds, or 0 where an operand has no index.
  double draw(std::array<std::string, 3>& letters, Sizes& sizes) {
    for (std::string& s : letters) s.clear();
    sizes.clear();
    double work = 1;
    const std::int64_t count = between(fewest_indices, most_indices);
    for (std::int64_t i = 0; i < count; ++i) {
      const char name = static_cast<char>('a' + i);
      const std::int64_t lacks = between(1, batch_of) == 1 ? -1 : between(0, 2);  // a tensor
      for (std::int64_t t = 0; t < 3; ++t) {
        if (t != lacks) letters[static_cast<std::size_t>(t)] += name;
      }
      sizes[name] = extent();
      work *= static_cast<double>(sizes[name]);
    }
    for (const std::string& s : letters) {
      if (s.empty()) return 0;
    }
    return work;
  }

  std::mt19937_64 engine_;
};

}  // namespace

Contraction random_contraction(std::uint64_t seed) { return DrawContraction(seed).contraction(); }

std::vector<Contraction> random_contractions(std::uint64_t seed, std::uint64_t count) {
  std::mt19937_64 engine(seed);
  std::vector<Contraction> all;
  for (; count > 0; --count) all.push_back(random_contraction(engine()));
  return all;
}

}  // namespace tcsim
