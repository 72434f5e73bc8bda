#include "core/optimize/runners_up.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/model/countable.hpp"
#include "core/optimize/rewrites.hpp"
#include "core/optimize/search.hpp"

namespace tcsim {

std::vector<Schedule> runners_up(const Contraction& contraction, const Machine& machine,
                                 const Optimized& chosen, std::size_t count,
                                 const OptimizeOptions& options, std::stop_token stop) {
  const Machine one = view_of_one_core(machine);
  const bool losses = losses_count(one, options);
  const RowOrders rows = row_orders(one, options);
  const InPlace may = may_read_in_place(contraction, kernel_choices(one.core, contraction), rows);
  const Search search(contraction, one, options, rows, may, stop);
  SharedCounts counts;
  std::vector<std::pair<Score, Schedule>> ranked;
  std::set<std::string> known{to_line(chosen.schedule, contraction)};
  const auto add = [&](Schedule s) {
    if (stop.stop_requested()) throw Interrupted();
    s.parallel = chosen.schedule.parallel;
    if (!known.insert(to_line(s, contraction)).second) return;
    try {
      const Prediction p = predict(contraction, s, one, counts, 1, Detail::full);
      ranked.emplace_back(score(contraction, s, p, one, options), std::move(s));
    } catch (const TooLargeError&) {
      // What cannot be predicted does not run either.
    }
  };
  if (chosen.rewritten) add(build(contraction, one, chosen.tiling));
  for (const Tiling& t : search.neighbours(chosen.tiling)) add(build(contraction, one, t));
  const ReadInPlace in_place = losses ? ReadInPlace::well : ReadInPlace::any;
  for (Schedule& s : rewrites(contraction, one, chosen.schedule, in_place)) add(std::move(s));
  std::ranges::stable_sort(ranked, {}, &std::pair<Score, Schedule>::first);
  std::vector<Schedule> best;
  for (auto& [score, schedule] : ranked) {
    if (best.size() == count) break;
    best.push_back(std::move(schedule));
  }
  return best;
}

}  // namespace tcsim
