// Local search over tilings, judged by the window model. Moves change one tile, one loop order, the
// order of the register loops, the kernel or the order of dimensions within groups. Many tilings
// are compared coarsely (Detail::coarse), and the best of them are judged in full. Windows are
// taken longer than they are (set_margin()): at the edge of a cache one line more makes a schedule
// fall, and the model is least certain there.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/predict.hpp"
#include "core/model/window.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/tiling.hpp"

namespace tcsim {

// Lines. Larger tiles are not counted set by set while searching. Source: chosen, since counting
// them takes a millisecond or more (core/model/shared_counts.hpp).
inline constexpr double counted_lines = 16384;

// What the objective counts. time: seconds of the slowest link or of the compute roof. sum: seconds
// of all links together. energy: joules; the machine must have a figure for every link.
double cost(const Prediction& prediction, const Machine& machine, Objective objective);
// What none that the bound holds for costs less than.
double least_cost(const ProvenBound& bound, const Machine& machine, Objective objective);

// Whether what the core loses in packs and calls counts beside a link: where some of it was
// measured on this machine, or the schedule is to run. A probe cannot always tell what packs lose
// from noise, and what they usually lose is then nearer than nothing. Where all is assumed, as of
// another processor, it must not outweigh a link.
bool losses_count(const Machine& machine, const OptimizeOptions& options);
// Whether a score begins with the expected time (core/optimize/exposed.hpp).
bool estimates(const Machine& machine, const OptimizeOptions& options);
// Of the family: where losses count, rows of either operand.
RowOrders row_orders(const Machine& machine, const OptimizeOptions& options);

// How good a schedule is; compared lexicographically, less is better. For Objective::time the first
// entry is the slowest of all links and of the compute roof, in steps of 0.1 %.
//  - With losses_count() the core counts as one more link, which computes and then waits
//    (exposed()). The core alone follows, and then the sum over links.
//  - Else, where no link is slower than whole vectors at the peak, what the core waits for and what
//    kernels take beyond that follow, in steps of 0.5 %, and then the sum over links. Likewise for
//    lanes, kernels along k, and where has_few_places(), then in steps of 2 % first.
//  - Where it is a link, the others follow from slow to fast (acmtc-sc19, Eq. 6) in steps of 20 %,
//    lest one be spoilt for a percent of another, and then their sum.
// For the other objectives it is their cost.
using Score = std::vector<double>;
// Whether m or n has a few places only (read_once()), or k and there is no batch: whatever the
// tiles, most of what is moved is moved once.
bool has_few_places(const Contraction& contraction);
Score score(const Contraction& contraction, const Schedule& schedule, const Prediction& prediction,
            const Machine& machine, const OptimizeOptions& options);

class Search {
 public:
  // `rows` as in groupings(), `may` as by may_read_in_place().
  Search(const Contraction& contraction, const Machine& machine, const OptimizeOptions& options,
         RowOrders rows, InPlace may, std::stop_token stop);

  // Whether the family that it searches has these groups.
  bool has_groups(const Groups& groups) const;

  // From now on windows are taken `margin` times as long as they are. Forgets what was judged.
  void set_margin(double margin);

  // Also trades one tile for another of its level from now on: half of one, twice the other. What
  // both take of a cache stays about the same, where each change alone makes things worse.
  void trade_tiles() { trades_ = true; }

  // Tries no other kernels from now on.
  void keep_to_kernel(const Kernel& kernel);
  const std::vector<Kernel>& kernels() const { return kernels_; }

  // What a tiling scores by the coarse count, made to fit the family.
  Score judge_coarsely(Tiling tiling);
  // Makes a tiling one of the family, as snap() does.
  void snap_to_family(Tiling& tiling) const;
  // Goes downhill by the coarse count until no move is better or `budget` tilings were judged.
  void descend_coarsely(Tiling start, int budget);
  // Judges the best `count` of the coarse ones in full, and the best of other ways that could still
  // be better, then goes downhill from the best of all.
  void refine(int count, int budget);
  // Goes downhill from a tiling, judging in full.
  void descend_in_full(Tiling start, int budget);
  // The same over tiles alone, in small steps, one of a level or two in turn: at the edge of a
  // cache the coarse count is too coarse. Returns where it went, the best one last.
  std::vector<Tiling> descend_finely(Tiling start, int budget);
  // Judges one tiling in full, as it is.
  void judge(const Tiling& tiling);
  // Tilings of the family one move away. Several may make the same schedule.
  std::vector<Tiling> neighbours(const Tiling& tiling) const;

  // Of those judged in full. Throws std::logic_error if there is none.
  const Tiling& best() const;
  int evaluated() const { return evaluated_; }

 private:
  using Known = std::unordered_map<std::string, Score>;

  static void resize(Tiling& tiling, std::size_t l, std::size_t c, std::int64_t wanted);
  std::vector<std::int64_t> tile_wishes(const Tiling& tiling, std::size_t l, std::size_t c) const;
  std::vector<std::int64_t> whole_dims(const Group& group) const;
  std::int64_t line_period(const Tiling& tiling, TensorId t, std::size_t c) const;
  Score coarse_score(const Tiling& tiling);
  Score full_score(const Tiling& tiling);
  Score judged(const Tiling& tiling, Detail detail);
  double promising(const Score& coarse) const;
  std::vector<Tiling> nearby(const Tiling& tiling) const;
  template <class Judge, class Moves>
  Score descend(Tiling tiling, Score score, int budget, Judge&& judge, Moves&& moves);
  template <class Judge>
  Score descend(Tiling tiling, Score score, int budget, Judge&& judge);

  const Contraction& contraction_;
  const Machine& machine_;
  const OptimizeOptions& options_;
  std::stop_token stop_;
  InPlace may_;
  std::vector<Groups> groupings_;
  std::vector<Kernel> kernels_;
  SharedCounts counts_{counted_lines};
  Known coarse_, full_;
  std::vector<std::pair<Score, Tiling>> finalists_;  // best coarse ones, best first
  // Best coarse ones, by order of dimensions and what is packed.
  std::map<std::string, std::pair<Score, Tiling>> best_of_ways_;
  double margin_ = 1;
  bool trades_ = false;
  std::optional<Tiling> best_;
  Score best_score_;
  int evaluated_ = 0;
};

}  // namespace tcsim
