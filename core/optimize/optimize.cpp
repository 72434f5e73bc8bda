#include "core/optimize/optimize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/model/countable.hpp"
#include "core/model/kernel_time.hpp"
#include "core/model/window.hpp"
#include "core/optimize/exposed.hpp"
#include "core/optimize/relaxation.hpp"
#include "core/optimize/rewrites.hpp"
#include "core/optimize/search.hpp"
#include "core/plan/parts.hpp"
#include "core/schedule/registers.hpp"

namespace tcsim {

namespace {

// Source of these constants: chosen. The program bench_optimize prints the gaps, the tilings and
// the time that they give; docs/history/optimizer.md has what was tried.

// Share of the innermost cache that two long panels fill.
constexpr double panel_fill = 0.8;
// Share of the relaxed footprint that the first tiles fill: room for what streams past.
constexpr double start_fill = 0.6;
// Gap to the proven bound, as a fraction: small enough, and as good as none.
constexpr double enough = 0.01;
constexpr double closed = 1e-3;
// Loads and stores of the preferred kernel, as a share of the least time of all. Above the first,
// other kernels compete; above the second, the search also begins with long panels.
constexpr double loads_decide = 0.99;
constexpr double loads_matter = 0.9;

// How hard to look. While the gap is not proven small enough, the next effort follows.
struct Effort {
  std::size_t starts;  // relaxed choices to start from
  int coarse;          // tilings judged coarsely from each start
  int finalists;       // the best of those, judged in full
  int full;            // tilings judged in full from the best finalist on
  double margin;       // windows are taken so many times as long as they are
};
constexpr Effort efforts[] = {{2, 110, 2, 8, 1.05}, {6, 400, 8, 100, 1.05}, {8, 400, 16, 200, 1}};
// Where the compute roof decides, fewer tilings reach it: the coarse ones are divided by this.
constexpr int at_roof_divisor = 2;
// Tilings more that are then judged by what the core waits for.
constexpr int polish = 150;
constexpr int polish_finalists = 3;
// Other ways to run that are tried, and tilings that are judged of each.
constexpr std::size_t most_ways = 6, most_ways_of_small = 2;
constexpr int polish_of_way = 60;
// Schedules that are rewritten at a time, how often, and those that may be judged as the answer is,
// where it is estimated and elsewhere: the coarse count of some is lower than they are.
constexpr std::size_t most_drafts = 12, few_drafts = 3, best_estimated = 4, best_drafts = 12;
constexpr std::size_t best_exchanged = 2;
constexpr int most_rounds = 6, more_rewrites = 3;
// Of the logarithm of a time, in the steps of a score: what more effort, another kernel and another
// round of rewriting have to bring where losses count, and what a rewritten schedule has to promise
// by the coarse count, more than the estimate may be wrong by.
constexpr double worth_going_on = 40, promised = 95;
// The same where nothing is estimated, in steps of cost_step: what the family is left for.
constexpr double leaving = 5, cost_step = 1e-3;
// Where those efforts leave a gap, tilings that are judged besides, by trades too, and the best of
// them judged in full.
constexpr int trades = 300;
constexpr int trade_finalists = 4;
// And with each kernel, whose tiles change in small steps.
constexpr int fine = 120;
// Multiply-adds up to which a problem is judged in full from every start. It needs caches of a few
// lines only, and those have steep edges, which a coarse judgement misses.
constexpr double small_problem = 1 << 20;

RelaxationProblem relaxation(const Contraction& c, const Machine& machine, const Kernel& kernel,
                             const Tiling& tiling) {
  RelaxationProblem p;
  const auto batch = static_cast<double>(c.extent(DimClass::batch).value());
  for (std::size_t g = 0; g < 3; ++g) {
    p.extents[g] = static_cast<double>(group_extent(c, tiling, g));
  }
  const Bytes element = size_of(c.type());
  p.smallest = {static_cast<double>(kernel.mr.value()), static_cast<double>(kernel.nr.value()), 1};
  for (std::size_t l = 0; l < machine.levels.size(); ++l) {
    const LevelId level{static_cast<int>(l)};
    p.seconds_per_element.push_back(batch * (element / machine.bandwidth(level)).value());
    if (static_cast<int>(l) < machine.cache_count()) {
      p.capacity.push_back(static_cast<double>(kept_lines(machine, level).value() *
                                               (common_line(machine) / element)));
    }
  }
  p.output_weight = machine.accounting.write_backs ? 2 : 1;
  const TensorId left = left_operand(c, tiling.groups);
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (c.is_plain(t)) continue;
    const bool is_left = t == left;
    p.share[is_left ? 0 : 1] = c.used(t) / (batch * p.extents[is_left ? 0 : 1] * p.extents[2]);
  }
  if (machine.accounting.compute_roof) p.least_seconds = peak_time(c, machine).value();
  return p;
}

// Loops outermost first, the innermost class last. The order of the others lets the larger operand
// be packed once.
std::array<DimClass, 3> order_with_innermost(int innermost) {
  switch (innermost) {
    case 0:
      return {DimClass::n, DimClass::k, DimClass::m};
    case 1:
      return {DimClass::m, DimClass::k, DimClass::n};
    default:
      return {DimClass::n, DimClass::m, DimClass::k};
  }
}

// The relaxed tiles, made smaller: what streams past needs room too.
Tiling tiling_of(const Relaxed& relaxed, Tiling tiling) {
  tiling.tiles.clear();
  tiling.orders.clear();
  for (std::size_t l = 0; l < relaxed.tiles.size(); ++l) {
    std::array<std::int64_t, 3> tile;
    for (std::size_t c = 0; c < 3; ++c) {
      tile[c] =
          std::max<std::int64_t>(1, std::llround(relaxed.tiles[l][c] * std::sqrt(start_fill)));
    }
    tiling.tiles.push_back(tile);
    tiling.orders.push_back(order_with_innermost(relaxed.innermost[l]));
  }
  return tiling;
}

// The innermost cache holds one kernel's panels of A and B and nothing else. So k is long, and
// loads of C are few.
Tiling with_long_panels(Tiling tiling, std::int64_t k) {
  tiling.tiles.front() = {tiling.kernel.mr.value(), tiling.kernel.nr.value(), k};
  for (auto& tile : tiling.tiles) tile[2] = std::max(tile[2], k);
  return tiling;
}

// The innermost cache's tiles at every level, so that operands are packed bit by bit and stay
// there.
Tiling with_inner_tiles(Tiling tiling) {
  tiling.tiles.assign(tiling.tiles.size(), tiling.tiles.front());
  tiling.orders.assign(tiling.orders.size(), tiling.orders.front());
  return tiling;
}

void require_energy(const Machine& machine) {
  for (std::size_t l = 0; l < machine.levels.size(); ++l) {
    if (machine.levels[l].energy) continue;
    const std::string& name = machine.levels[l].name;
    throw UnsupportedError(
        fmt::format("{}: {}", machine.name, name), "no figure says what a byte costs in energy",
        fmt::format("give the level energy = \"25pJ/B\", or add --set {}.energy=25pJ/B", name));
  }
}

// Has the copies of a schedule without parts lie in a level.
void put_copies(Node& node, const std::string& level) {
  if (Loop* loop = std::get_if<Loop>(&node.is)) return put_copies(*loop->body, level);
  if (Move* move = std::get_if<Move>(&node.is)) {
    move->level = level;
    put_copies(*move->body, level);
  }
}

// Tensors so small are contracted again and again, and copies of the operands fit beside them.
bool stays_in_first_cache(const Contraction& contraction, const Machine& machine) {
  Bytes all;
  for (TensorId t : all_tensors) all += contraction.size(t).value() * size_of(contraction.type());
  return machine.cache_count() > 0 && 2 * all <= machine.level(LevelId{0}).capacity.value;
}

class Optimizer {
 public:
  Optimizer(const Contraction& contraction, const Machine& machine, const OptimizeOptions& options,
            std::stop_token stop)
      : contraction_(contraction),
        machine_(machine),
        options_(options),
        stop_(stop),
        kernels_(kernel_choices(machine.core, contraction)),
        losses_(losses_count(machine, options)),
        rows_(row_orders(machine, options)),
        bound_(proven_bound(contraction, machine, kernels_, rows_)),
        least_(least_cost(bound_, machine, options.objective)),
        least_of_all_(least_cost(bound_of_all(contraction, machine), machine, options.objective)),
        loads_(share_of_loads()),
        may_(may_read_in_place(contraction, kernels_, rows_)),
        // Where the roof decides, it is the bound of schedules with rows apart too. Where losses
        // count, so do those of packs, which such schedules do without.
        search_(contraction, machine, options,
                at_roof() ? std::max(rows_, RowOrders::apart) : rows_, may_, stop),
        counts_(options.counts != nullptr ? options.counts : &own_counts_) {}

  Optimized run() {
    search();
    return certified();
  }

  // What was found elsewhere, with what this machine's model and bounds say of it.
  Optimized certified(Optimized found) {
    found.prediction =
        predict(contraction_, found.schedule, machine_, *counts_, 1, options_.detail);
    choices_ = found.choices;
    drafts_ = found.evaluated;
    best_ = std::move(found);
    return certified();
  }

 private:
  void search() {
    for (std::size_t l = 0; l < bound_.bytes.size(); ++l) {
      if (bound_.bytes[l] < most_link_bytes) continue;
      refuse_link(contraction_, machine_.link(LevelId{static_cast<int>(l)}));
    }
    // Other kernels have fewer rows of C side by side than the preferred one. They are worth it
    // only where its loads decide the time, or where few tiles cover C, so that the rest at the end
    // matters.
    // Where kernels read an image in place, its rows and weights fit some of them better; and one
    // of them may be the one that reads the left operand in place.
    if (options_.objective == Objective::time && loads_ <= loads_decide && !small() && !image() &&
        kernel_in_place() == kernels_.front()) {
      search_.keep_to_kernel(kernels_.front());
    }
    for (const Incumbent& incumbent : options_.incumbents) {
      try {
        if (incumbent.rewritten) keep_rewritten(incumbent);
        keep(in_family(incumbent.tiling));
      } catch (const TooLargeError&) {
        // It was good for another machine; the search may find one that is good for this one.
      }
    }
    const bool soon = options_.soon || !options_.incumbents.empty();
    if (!best_ || open_gap() > closed) {
      for (const Effort& effort : efforts) {
        const double before = best_ ? score_of(*best_).front() : HUGE_VAL;
        look(effort);
        keep(search_.best());
        // What the core loses may keep the gap open whatever the tiles.
        if (estimates() && score_of(*best_).front() > before - worth_going_on) break;
        // With incumbents the caller asks often and wants an answer soon.
        if (open_gap() <= enough || soon) break;
      }
      if (open_gap() > enough && !soon && !estimates()) {
        search_.trade_tiles();
        search_.descend_coarsely(best_->tiling, trades);
        // Other kernels want other tiles, which single moves do not lead to.
        for (const Kernel& kernel : loads_ > loads_decide ? kernels_ : std::vector<Kernel>()) {
          if (kernel == best_->tiling.kernel) continue;
          Tiling other = best_->tiling;
          other.kernel = kernel;
          search_.descend_coarsely(other, trades);
        }
        search_.refine(trade_finalists, trades);
        keep(search_.best());
        look_finely();
      }
      if ((at_roof() || losses_) && open_gap() <= enough && !soon) {
        search_.descend_coarsely(best_->tiling, polish);
        search_.refine(1, 0);
        keep(search_.best());
      }
      const bool may_leave = !options_.dividing && !image();
      const bool leaves_to_run = estimates() && options_.rewrite && may_leave;
      if (losses_ && !soon && (at_roof() || !leaves_to_run)) look_at_other_ways();
      const bool leaves_gap = !estimates() && gap() > enough && may_leave;
      if ((leaves_to_run || leaves_gap) && !soon) {
        bool better = rewrite(other_ways(kernels_, most_drafts), most_drafts);
        for (int i = 0; i < more_rewrites && better && leaves_gap; ++i) {
          better = rewrite({}, few_drafts);
        }
      } else if (leaves_gap && best_->rewritten) {
        rewrite({}, few_drafts);  // its tiles are another machine's
      }
    }
  }

  Optimized certified() {
    // What was rewritten may be outside the family, whose bound then says nothing of it.
    if (best_->rewritten &&
        !outside_family(contraction_, best_->schedule, machine_, rows_).empty()) {
      least_ = least_of_all_;
    }
    best_->certificate = {
        options_.objective, least_, achieved(), gap(), family_words(contraction_, kernels_, rows_),
        least_of_all()};
    best_->choices = choices_;
    best_->evaluated = search_.evaluated() + drafts_;
    return *std::move(best_);
  }

  // The least time of the preferred kernel's loads and stores, as a share of the least time of all.
  double share_of_loads() const {
    const std::span<const Kernel> first(kernels_.data(), 1);
    const ProvenBound bound = proven_bound(contraction_, machine_, first, rows_);
    return bound.links.front() / bound.time;
  }

  bool estimates() const { return tcsim::estimates(machine_, options_); }
  bool at_roof() const { return options_.objective == Objective::time && bound_.computing; }
  bool image() const {
    return !contraction_.is_plain(TensorId::A) || !contraction_.is_plain(TensorId::B);
  }
  // Every order of dimensions, kernel and packs, with the tiles of the best: the best by the coarse
  // count first.
  std::vector<Tiling> other_ways(std::span<const Kernel> kernels, std::size_t most) {
    std::vector<std::pair<Score, Tiling>> ways;
    for (const Groups& groups : groupings(contraction_, std::max(rows_, RowOrders::apart))) {
      for (const Kernel& kernel : kernels) {
        for (const InPlace in_place : {InPlace{}, {true, false}, {false, true}, {true, true}}) {
          if (in_place.right && !may_.right) continue;
          Tiling way = best_->tiling;
          way.groups = groups;
          way.kernel = kernel;
          way.in_place = in_place;
          search_.snap_to_family(way);
          ways.emplace_back(search_.judge_coarsely(way), way);
        }
      }
    }
    std::ranges::stable_sort(ways, {}, &std::pair<Score, Tiling>::first);
    const auto alike = [](const auto& a, const auto& b) { return a.first == b.first; };
    ways.erase(std::unique(ways.begin(), ways.end(), alike), ways.end());
    std::vector<Tiling> best;
    for (std::size_t i = 0; i < std::min(ways.size(), most); ++i) best.push_back(ways[i].second);
    return best;
  }
  // Single moves seldom lead to them, so each gets tiles of its own. Of kernels that were left
  // aside the estimate must promise more than it may be wrong by.
  void look_at_other_ways() {
    const std::vector<Kernel> first = search_.kernels();
    look_at_ways(first);
    keep(search_.best());
    if (first == kernels_ || !estimates()) return;
    std::vector<Kernel> others = kernels_;
    std::erase_if(others, [&](const Kernel& k) { return std::ranges::count(first, k) > 0; });
    look_at_ways(others);
    const Tiling found = search_.best();
    if (std::ranges::count(first, found.kernel) > 0) return keep(found);
    const Optimized before = *best_;
    keep(found);
    if (score_of(*best_).front() > score_of(before).front() - worth_going_on) best_ = before;
  }
  void look_at_ways(std::span<const Kernel> kernels) {
    for (const Tiling& way : other_ways(kernels, small() ? most_ways_of_small : most_ways)) {
      search_.descend_coarsely(way, polish_of_way);
    }
    search_.refine(polish_finalists, 0);
  }
  // The score by which schedules are rewritten: where nothing is estimated, what the certificate
  // speaks of comes first.
  Score draft_score(const Schedule& schedule, const Prediction& prediction) const {
    Score s = score(contraction_, schedule, prediction, machine_, options_);
    if (!estimates()) {
      const double all = cost(prediction, machine_, options_.objective);
      s.insert(s.begin(), std::round(std::log(all) / cost_step));
    }
    return s;
  }
  // What the family leaves out, from the best and from other ways on: of the schedules beside them
  // the most promising ones are rewritten in turn, so many at a time. Returns whether one was
  // taken.
  bool rewrite(const std::vector<Tiling>& ways, std::size_t most) {
    struct Draft {
      Score score;
      Schedule schedule;
    };
    const auto judged = [&](Schedule s) {
      if (stop_.stop_requested()) throw Interrupted();
      ++drafts_;
      try {
        const Prediction p = predict(contraction_, s, machine_, *counts_, 1, Detail::coarse);
        return Draft{draft_score(s, p), std::move(s)};
      } catch (const TooLargeError&) {
        return Draft{{HUGE_VAL}, std::move(s)};
      }
    };
    const double worth = estimates() ? worth_going_on : leaving;
    const ReadInPlace may = losses_ ? ReadInPlace::well : ReadInPlace::any;
    const Draft start = judged(best_->schedule);
    std::set<std::string> known{to_line(start.schedule, contraction_)};
    std::vector<Draft> drafts{start};
    for (const Tiling& way : ways) {
      Schedule s = build(contraction_, machine_, way);
      if (known.insert(to_line(s, contraction_)).second) drafts.push_back(judged(std::move(s)));
    }
    const auto keep_best = [](std::vector<Draft>& all, std::size_t count) {
      std::ranges::stable_sort(all, {}, &Draft::score);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), count)), all.end());
    };
    if (estimates()) {
      std::vector<Draft> others;
      for (Schedule& s : exchanged(contraction_, machine_, start.schedule)) {
        if (known.insert(to_line(s, contraction_)).second) others.push_back(judged(std::move(s)));
      }
      keep_best(others, best_exchanged);
      std::ranges::move(others, std::back_inserter(drafts));
    }
    std::vector<Draft> best = drafts;
    for (int round = 0; round < most_rounds; ++round) {
      std::vector<Draft> next;
      for (const Draft& from : drafts) {
        for (Schedule& s : rewrites(contraction_, machine_, from.schedule, may)) {
          if (known.insert(to_line(s, contraction_)).second) next.push_back(judged(std::move(s)));
        }
      }
      keep_best(next, most);
      if (next.empty()) break;
      const double before = best.front().score.front();
      best.insert(best.end(), next.begin(), next.end());
      keep_best(best, estimates() ? best_estimated : best_drafts);
      if (round > 0 && best.front().score.front() > before - worth) break;
      drafts = std::move(next);
    }
    // The first that holds what it promises when it is judged as the answer is; where nothing is
    // estimated, the best by that.
    bool taken = false;
    const double really = draft_score(best_->schedule, best_->prediction).front();
    for (Draft& d : best) {
      if (estimates() && d.score.front() > std::max(start.score.front(), really) - promised) break;
      if (d.schedule == best_->schedule) continue;
      const double before = draft_score(best_->schedule, best_->prediction).front();
      if (!estimates() && d.score.front() > before - worth) continue;
      try {
        Optimized rewritten = *best_;
        rewritten.prediction =
            predict(contraction_, d.schedule, machine_, *counts_, 1, options_.detail);
        rewritten.schedule = std::move(d.schedule);
        if (draft_score(rewritten.schedule, rewritten.prediction).front() > before - worth)
          continue;
        best_ = std::move(rewritten);
        best_->rewritten = true;
        taken = true;
        if (estimates()) break;
      } catch (const TooLargeError&) {
        // Counted coarsely it was not.
      }
    }
    return taken;
  }
  // Everything in place and as a whole, a few columns of the left operand at a time from beginning
  // to end.
  Tiling with_streams(Tiling tiling) const {
    tiling.in_place = {true, true};
    tiling.m_inside = true;
    for (auto& tile : tiling.tiles) {
      for (std::size_t g = 0; g < tile.size(); ++g) tile[g] = group_extent(contraction_, tiling, g);
    }
    std::int64_t& k = tiling.tiles.front()[at(DimClass::k)];
    k = std::min(k, most_streams);
    return tiling;
  }
  // The first kernel that reads the left operand in place, in the plain order; the preferred one
  // where none does.
  Kernel kernel_in_place() const {
    const Groups plain = groupings(contraction_).front();
    for (const Kernel& kernel : kernels_) {
      if (reads_well_in_place(contraction_, plain, kernel).left) return kernel;
    }
    return kernels_.front();
  }
  bool small() const { return contraction_.flops() <= 2 * small_problem; }

  // The longest k for which the preferred kernel's panels fit into the innermost cache.
  std::int64_t longest_k() const {
    const Lines lines = kept_lines(machine_, LevelId{0});
    const std::int64_t in_line = common_line(machine_) / size_of(contraction_.type());
    const std::int64_t panels = kernels_.front().mr.value() + kernels_.front().nr.value();
    return std::llround(panel_fill * static_cast<double>(lines.value() * in_line / panels));
  }

  // Equal to the family's bound where they differ by rounding alone.
  double least_of_all() const {
    constexpr double rounding = 1e-9;
    return least_of_all_ >= least_ * (1 - rounding) ? least_ : least_of_all_;
  }
  double achieved() const { return cost(best_->prediction, machine_, options_.objective); }
  double gap() const { return achieved() / least_ - 1; }
  // What searching on may gain by: where computing decides, kernels that take longer than they have
  // to are no reason.
  double open_gap() const {
    if (!at_roof()) return gap();
    return std::max(slowest_link(best_->prediction.timing), bound_.time).value() / least_ - 1;
  }
  Score score_of(const Optimized& o) const {
    return score(contraction_, o.schedule, o.prediction, machine_, options_);
  }

  // Judges a tiling as the model does and keeps the best.
  void keep(const Tiling& tiling) {
    if (best_ && !best_->rewritten && tiling == best_->tiling) return;
    Optimized o;
    o.tiling = tiling;
    o.schedule = build(contraction_, machine_, tiling);
    keep(std::move(o));
  }
  // Likewise what one was rewritten to, unless this core's registers do not hold its kernel.
  void keep_rewritten(const Incumbent& incumbent) {
    if (!fits_core(contraction_, machine_.core, incumbent)) return;
    Optimized o;
    o.tiling = in_family(incumbent.tiling);
    o.schedule = build(contraction_, machine_, incumbent);
    o.rewritten = true;
    keep(std::move(o));
  }
  void keep(Optimized o) {
    o.prediction = predict(contraction_, o.schedule, machine_, *counts_, 1, options_.detail);
    // Scores go by steps of a thousandth. An incumbent is not given up for even that.
    const double costs = cost(o.prediction, machine_, options_.objective);
    const bool worse = best_ && !options_.incumbents.empty() && costs > achieved();
    const auto better = [&] {
      return o.rewritten && !estimates() ? costs < achieved() : score_of(o) < score_of(*best_);
    };
    if (!best_ || (!worse && better())) best_ = std::move(o);
  }

  // Another machine's tiling, made to fit this one: its number of levels, a kernel of its core.
  Tiling in_family(Tiling t) const {
    if (std::find(kernels_.begin(), kernels_.end(), t.kernel) == kernels_.end()) {
      t.kernel = kernels_.front();
    }
    if (!search_.has_groups(t.groups)) t.groups = groupings(contraction_).front();
    const auto caches = static_cast<std::size_t>(machine_.cache_count());
    t.tiles.resize(caches, t.tiles.back());
    t.orders.resize(caches, t.orders.back());
    t.in_place.right &= may_.right;
    snap(contraction_, common_line(machine_), t, options_.dividing);
    return t;
  }

  void look(const Effort& effort) {
    search_.set_margin(effort.margin);
    if (best_) search_.judge(best_->tiling);
    for (const Incumbent& i : options_.incumbents) search_.judge(in_family(i.tiling));
    Tiling tiling;
    tiling.groups = groupings(contraction_).front();
    tiling.kernel = kernels_.front();
    const std::int64_t extent_of_k = group_extent(contraction_, tiling, at(DimClass::k));
    int solved = 0;
    for (const Relaxed& relaxed :
         solve_best(relaxation(contraction_, machine_, tiling.kernel, tiling), effort.starts,
                    solved, stop_)) {
      Tiling start = tiling_of(relaxed, tiling);
      const int coarse = at_roof() ? effort.coarse / at_roof_divisor : effort.coarse;
      search_.descend_coarsely(start, coarse);
      if (may_.right && options_.incumbents.empty()) {
        Tiling there = start;
        there.in_place = {true, true};
        there.kernel = kernel_in_place();
        search_.descend_coarsely(there, coarse);
      }
      if (options_.incumbents.empty() && has_few_places(contraction_)) {
        search_.descend_coarsely(with_streams(start), coarse);
      }
      if (loads_ > loads_matter && options_.incumbents.empty() && longest_k() < extent_of_k) {
        search_.descend_coarsely(with_long_panels(start, longest_k()), effort.coarse);
      }
      if (effort.margin > 1 || !small()) continue;
      for (const Kernel& kernel : kernels_) {
        start.kernel = kernel;
        search_.descend_in_full(start, effort.full);
        search_.descend_in_full(with_inner_tiles(start), effort.full);
      }
    }
    choices_ = std::max(choices_, solved);
    search_.refine(effort.finalists, effort.full);
  }

  // From the best with each kernel. What lies at the very edge of a cache is judged as the model
  // does on the way there: it may be too far.
  void look_finely() {
    const Tiling start = best_->tiling;
    for (const Kernel& kernel : kernels_) {
      Tiling tiling = start;
      tiling.kernel = kernel;
      for (const Tiling& t : search_.descend_finely(tiling, fine)) keep(t);
    }
  }

  const Contraction& contraction_;
  const Machine& machine_;
  const OptimizeOptions& options_;
  std::stop_token stop_;
  std::vector<Kernel> kernels_;
  bool losses_;     // losses_count()
  RowOrders rows_;  // row_orders()
  ProvenBound bound_;
  double least_;         // cost by it
  double least_of_all_;  // of all schedules
  double loads_;         // share_of_loads()
  InPlace may_;
  Search search_;
  SharedCounts own_counts_;
  SharedCounts* counts_;
  std::optional<Optimized> best_;
  int choices_ = 0;
  int drafts_ = 0;  // schedules that rewrite() judged
};

}  // namespace

std::string Certificate::bound_words() const {
  return any_schedule() ? "no schedule at all"
                        : fmt::format("no schedule of the family ({})", family);
}

const char* to_text(Objective objective) {
  switch (objective) {
    case Objective::time:
      return "time";
    case Objective::sum:
      return "sum";
    case Objective::energy:
      return "energy";
  }
  return "";
}

bool fits_core(const Contraction& contraction, const Core& core, const Incumbent& incumbent) {
  if (incumbent.rewritten) return fits_registers(*incumbent.rewritten, core, contraction.type());
  return std::ranges::count(kernel_choices(core, contraction), incumbent.tiling.kernel) > 0;
}

Schedule build(const Contraction& contraction, const Machine& machine, const Incumbent& incumbent) {
  if (!incumbent.rewritten) return build(contraction, machine, incumbent.tiling);
  Schedule schedule = *incumbent.rewritten;
  put_copies(schedule.root, machine.level(LevelId{machine.cache_count() - 1}).name);
  return schedule;
}

Optimized optimize(const Contraction& contraction, const Machine& machine, std::stop_token stop) {
  return optimize(contraction, machine, {}, std::move(stop));
}

Optimized optimize(const Contraction& contraction, const Machine& machine,
                   const OptimizeOptions& options, std::stop_token stop) {
  if (machine.core.cores > 1) {
    Optimized best = optimize(contraction, view_of_one_core(machine), options, std::move(stop));
    const int threads = threads_worth(contraction, machine.core.cores);
    if (options.to_run && sums_are_worth_dividing(contraction, best.schedule,
                                                  only_path(contraction, best.schedule), threads)) {
      best.schedule.parallel = DimClass::k;
    }
    return best;
  }
  if (options.objective == Objective::energy) require_energy(machine);
  require_countable(contraction);
  const bool once_and_to_run = options.to_run && options.incumbents.empty();
  if (once_and_to_run && estimates(machine, options) &&
      stays_in_first_cache(contraction, machine)) {
    Machine hot = in_first_cache(machine);
    // Assumed ones are what packs wait for memory; measured ones are of the first cache.
    Overhead& lost = hot.core.overhead;
    for (Figure<Cycles>* wait : {&lost.pack, &lost.piece}) {
      if (wait->origin == Origin::assumed) wait->value = Cycles(0);
    }
    Optimized found = Optimizer(contraction, hot, options, stop).run();
    return Optimizer(contraction, machine, options, stop).certified(std::move(found));
  }
  return Optimizer(contraction, machine, options, std::move(stop)).run();
}

}  // namespace tcsim
