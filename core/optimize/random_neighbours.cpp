#include "core/optimize/random_neighbours.hpp"

#include <random>
#include <set>
#include <string>

#include "core/machine/share.hpp"
#include "core/optimize/rewrites.hpp"
#include "core/optimize/search.hpp"

namespace tcsim {

namespace {

// Source of these: chosen.
constexpr std::uint64_t most_moves = 3;
constexpr std::size_t tries = 5;  // for each that is wanted

}  // namespace

std::vector<Schedule> random_neighbours(const Contraction& contraction, const Machine& machine,
                                        const Incumbent& chosen, std::size_t count,
                                        std::uint64_t seed) {
  const Machine one = view_of_one_core(machine);
  const OptimizeOptions options;
  const InPlace may = may_read_in_place(contraction, kernel_choices(one.core, contraction));
  const ReadInPlace in_place = losses_count(one, options) ? ReadInPlace::well : ReadInPlace::any;
  const Search search(contraction, one, options, RowOrders::neighbours, may, {});
  std::mt19937_64 engine(seed);
  // Goes one to three moves.
  const auto walk = [&](auto from, auto&& moves) {
    for (std::uint64_t left = 1 + engine() % most_moves; left > 0; --left) {
      auto beside = moves(from);
      if (beside.empty()) break;
      from = std::move(beside[engine() % beside.size()]);
    }
    return from;
  };
  const auto beside = [&] {
    if (chosen.rewritten) {
      return walk(build(contraction, one, chosen),
                  [&](const Schedule& s) { return rewrites(contraction, one, s, in_place); });
    }
    return build(contraction, one,
                 walk(chosen.tiling, [&](const Tiling& t) { return search.neighbours(t); }));
  };
  std::set<std::string> known{to_line(build(contraction, one, chosen), contraction)};
  std::vector<Schedule> drawn;
  for (std::size_t i = 0; i < tries * count && drawn.size() < count; ++i) {
    Schedule s = beside();
    if (known.insert(to_line(s, contraction)).second) drawn.push_back(std::move(s));
  }
  return drawn;
}

}  // namespace tcsim
