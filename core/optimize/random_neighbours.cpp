#include "core/optimize/random_neighbours.hpp"

#include <random>
#include <set>
#include <string>

#include "core/machine/share.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/search.hpp"

namespace tcsim {

namespace {

// Source of these: chosen.
constexpr std::uint64_t most_moves = 3;
constexpr std::size_t tries = 5;  // for each that is wanted

}  // namespace

std::vector<Tiling> random_neighbours(const Contraction& contraction, const Machine& machine,
                                      const Tiling& tiling, std::size_t count, std::uint64_t seed) {
  const Machine one = view_of_one_core(machine);
  const OptimizeOptions options;
  const InPlace may = may_read_in_place(contraction, kernel_choices(one.core, contraction));
  const Search search(contraction, one, options, false, may, {});
  std::mt19937_64 engine(seed);
  const auto schedule = [&](const Tiling& t) {
    return to_line(build(contraction, one, t), contraction);
  };
  std::set<std::string> known{schedule(tiling)};
  std::vector<Tiling> drawn;
  for (std::size_t i = 0; i < tries * count && drawn.size() < count; ++i) {
    Tiling t = tiling;
    for (std::uint64_t moves = 1 + engine() % most_moves; moves > 0; --moves) {
      std::vector<Tiling> beside = search.neighbours(t);
      if (beside.empty()) break;
      t = std::move(beside[engine() % beside.size()]);
    }
    if (known.insert(schedule(t)).second) drawn.push_back(std::move(t));
  }
  return drawn;
}

}  // namespace tcsim
