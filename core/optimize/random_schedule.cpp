#include "core/optimize/random_schedule.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/optimize/tiling.hpp"
#include "core/schedule/path.hpp"

namespace tcsim {

namespace {

// Source of these: chosen.
constexpr std::int64_t least_fill = 30, most_fill = 100;  // percent of a cache
constexpr std::int64_t least_kernel_k = 8, most_kernel_k = 64;
constexpr std::int64_t unpacked_of = 6;  // one operand of so many is read in place
constexpr int enough_failures = 20;      // of a tile to grow

// Extents of the groups m, n and k.
using Tile = std::array<std::int64_t, 3>;

class Draw {
 public:
  Draw(const Contraction& contraction, const Machine& machine, std::uint64_t seed)
      : contraction_(contraction), machine_(machine), engine_(seed) {}

  Schedule schedule() {
    Schedule s;
    draw_groups(s.groups);
    const std::vector<Kernel> kernels = kernel_choices(machine_.core, contraction_.type());
    const Kernel kernel = kernels[static_cast<std::size_t>(between(0, std::ssize(kernels) - 1))];
    unit_ = {kernel.mr.value(), kernel.nr.value(), least_kernel_k};
    const std::vector<Tile> bands = draw_tiles();
    s.root = nested(spine(bands), kernel);
    assert(is_legal(s, contraction_));
    return s;
  }

 private:
  // Not std's distribution, which differs between libraries.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

  template <class Sequence>
  void shuffle(Sequence& s) {
    for (auto i = std::ssize(s) - 1; i > 0; --i) {
      std::swap(s[static_cast<std::size_t>(i)], s[static_cast<std::size_t>(between(0, i))]);
    }
  }

  void draw_groups(Groups& groups) {
    exchanged_ = between(0, 1) == 1 && !(contraction_.dims_of(DimClass::m).empty() &&
                                         contraction_.dims_of(DimClass::n).empty());
    for (DimClass g : all_dim_classes) {
      DimClass of = g;
      if (exchanged_ && g == DimClass::m) of = DimClass::n;
      if (exchanged_ && g == DimClass::n) of = DimClass::m;
      for (DimId d : contraction_.dims_of(of)) groups[g].push_back(d);
      shuffle(groups[g]);
    }
    for (std::size_t c = 0; c < loop_classes.size(); ++c) {
      whole_[c] = 1;
      for (DimId d : groups[loop_classes[c]]) whole_[c] *= contraction_.dim(d).extent;
    }
  }

  // Elements of the three operands in a tile, not counting what overlaps twice.
  static double elements(const Tile& t) {
    const auto m = static_cast<double>(t[0]), n = static_cast<double>(t[1]),
               k = static_cast<double>(t[2]);
    return m * n + m * k + n * k;
  }

  // Grows along any groups by whole kernels until nothing more fits.
  Tile grown(Tile tile, double most) {
    for (int failures = 0; failures < enough_failures;) {
      const auto c = static_cast<std::size_t>(between(0, 2));
      Tile larger = tile;
      larger[c] =
          std::min(whole_[c], (tile[c] + std::max(tile[c] / 4, unit_[c])) / unit_[c] * unit_[c]);
      if (larger == tile || elements(larger) > most) {
        ++failures;
      } else {
        tile = larger;
      }
    }
    return tile;
  }

  // Of each cache, innermost first.
  std::vector<Tile> draw_tiles() {
    std::vector<Tile> bands;
    Tile tile{std::min(unit_[0], whole_[0]), std::min(unit_[1], whole_[1]),
              std::min(between(least_kernel_k, most_kernel_k), whole_[2])};
    for (int l = 0; l < machine_.cache_count(); ++l) {
      const double fits = static_cast<double>(machine_.level(LevelId{l}).capacity.value.value()) /
                          static_cast<double>(size_of(contraction_.type()).value());
      const auto fill = static_cast<double>(between(least_fill, most_fill)) / 100;
      tile = grown(tile, fill * fits);
      bands.push_back(tile);
    }
    return bands;
  }

  std::vector<Node> spine(const std::vector<Tile>& bands) {
    std::vector<Node> all;
    if (contraction_.extent(DimClass::batch) > Elements(1)) {
      all.push_back({Loop{DimClass::batch, Elements(1), {}}});
    }
    // The band inside whose loops each operand is packed; that of the innermost cache is for
    // machines with one.
    const std::int64_t outermost = std::ssize(bands) - 1;
    std::array<std::int64_t, 2> packed_in{};
    for (std::int64_t& band : packed_in) {
      band = between(1, unpacked_of) == 1
                 ? -1
                 : between(std::min<std::int64_t>(1, outermost), outermost);
    }
    for (std::int64_t b = outermost; b >= 0; --b) {
      std::array<std::size_t, 3> order{0, 1, 2};
      shuffle(order);
      for (std::size_t c : order) {
        all.push_back({Loop{loop_classes[c], Elements(bands[static_cast<std::size_t>(b)][c]), {}}});
      }
      for (TensorId t : {TensorId::A, TensorId::B}) {
        if (packed_in[t == TensorId::A ? 0 : 1] != b) continue;
        all.push_back(
            {Move{Move::Kind::pack, t, machine_.level(LevelId{static_cast<int>(b)}).name, {}}});
      }
    }
    std::array<std::size_t, 2> order{0, 1};
    shuffle(order);
    for (std::size_t c : order) {
      all.push_back({Loop{loop_classes[c], Elements(std::min(unit_[c], whole_[c])), {}}});
    }
    return all;
  }

  const Contraction& contraction_;
  const Machine& machine_;
  std::mt19937_64 engine_;
  bool exchanged_ = false;
  Tile whole_{}, unit_{};
};

}  // namespace

Schedule random_schedule(const Contraction& contraction, const Machine& machine,
                         std::uint64_t seed) {
  return Draw(contraction, machine, seed).schedule();
}

}  // namespace tcsim
