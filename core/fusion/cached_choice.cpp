#include "core/fusion/cached_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "core/model/window.hpp"
#include "core/stop.hpp"

namespace tcsim::fusion {

namespace {

Seconds all_links(const ChainTiming& timing) {
  Seconds all;
  for (const Timing& t : timing.statements) {
    for (std::size_t l = 1; l < t.links.size(); ++l) all += t.links[l];
  }
  return all;
}

// Shares of a cache that held intermediates fill at first. Source: chosen.
constexpr std::array first_fills{0.5, 0.12};
// Programs that a descent by the rough count looks at, at most. Source: chosen.
constexpr int rough_budget = 100;
// A tile to which the loop that comes first is shrunk before the others. Source: chosen.
constexpr std::int64_t first_tile = 16;
// Tiles from which on they are whole numbers of this. Source: chosen, the rows of most kernels.
constexpr std::int64_t even_tile = 16, even = 8;

// Sizes that cover an extent evenly in some number of tiles, the largest first.
std::vector<std::int64_t> tile_sizes(std::int64_t extent) {
  std::vector<std::int64_t> sizes{extent};
  for (double count = 2; count < 2.0 * static_cast<double>(extent); count *= std::sqrt(2.0)) {
    const auto n = static_cast<std::int64_t>(std::llround(count));
    std::int64_t tile = (extent + n - 1) / n;
    if (tile > even_tile) tile = (tile + even - 1) / even * even;
    if (tile < sizes.back()) sizes.push_back(std::max<std::int64_t>(1, tile));
  }
  return sizes;
}

class ChoiceSearch {
 public:
  ChoiceSearch(CachedModel& model, const CachedChoiceOptions& options)
      : model_(model), tree_(model.schedules().tree()), options_(options) {
    for (const OperationTree::Index& i : tree_.indices) sizes_.push_back(tile_sizes(i.extent));
  }

  CachedChoice run() {
    CachedChoice choice{judged(model_, unfused(tree_)), {}, 0, 0};
    const std::vector<TiledTree> structures = cached_structures(tree_);
    const Machine& machine = model_.schedules().machine();
    for (std::size_t i = 1; i < structures.size(); ++i) {
      structure_ = static_cast<int>(i);
      TiledTree all = structures[i];
      std::vector<TiledTree::Loop*> loops;
      collect(all, loops);
      for (int l = 0; l < machine.cache_count(); ++l) {
        const double bytes = static_cast<double>(kept_lines(machine, LevelId{l}).value() *
                                                 common_line(machine).value());
        for (const double fill : first_fills) {
          for (std::size_t first = 0; first <= loops.size(); ++first) {
            TiledTree start = structures[i];
            shrink(start, fill * bytes, first);
            descend_roughly(std::move(start));
          }
        }
      }
      report(0.3 * static_cast<double>(i) / static_cast<double>(structures.size()));
    }
    choice.roughly = roughly_;
    std::vector<std::pair<double, const TiledTree*>> found;
    for (const auto& [kind, program] : kinds_) found.emplace_back(program.first, &program.second);
    if (found.empty()) return choice;
    std::ranges::stable_sort(found, {}, &std::pair<double, const TiledTree*>::first);
    // Of each kind the best by the rough count, the better kinds first.
    std::vector<std::pair<double, TiledTree>> best;
    for (const auto& [rough, tiled] : found) {
      if (judged_ >= options_.judged / 2) break;
      best.emplace_back(judge(*tiled), *tiled);
    }
    std::ranges::stable_sort(best, {}, &std::pair<double, TiledTree>::first);
    std::pair<double, TiledTree> chosen = best.front();
    for (const auto& start : best) {
      if (judged_ >= options_.judged) break;
      auto found_from = descend_judging(start);
      if (found_from.first < chosen.first) chosen = std::move(found_from);
    }
    choice.fused = judged(model_, to_node(tree_, chosen.second));
    choice.judged = judged_;
    return choice;
  }

 private:
  // Makes the largest tile smaller until what is held takes no more than so many bytes; the tile of
  // loop `first`, if there is one, before the others.
  void shrink(TiledTree& tiled, double bytes, std::size_t first) const {
    for (;;) {
      std::vector<TiledTree::Loop*> loops;
      collect(tiled, loops);
      if (held(tiled) <= bytes) return;
      const auto before = loops.begin() + static_cast<std::ptrdiff_t>(first);
      const auto widest = first < loops.size() && (*before)->tile > first_tile
                              ? before
                              : std::ranges::max_element(
                                    loops, {}, [](const TiledTree::Loop* l) { return l->tile; });
      if (widest == loops.end() || (*widest)->tile <= 1) return;
      const auto& sizes = sizes_[static_cast<std::size_t>((*widest)->index)];
      const auto smaller =
          std::ranges::find_if(sizes, [&](std::int64_t s) { return s < (*widest)->tile; });
      (*widest)->tile = smaller == sizes.end() ? 1 : *smaller;
    }
  }

  static void collect(TiledTree& tiled, std::vector<TiledTree::Loop*>& loops) {
    for (TiledTree::Loop& l : tiled.loops) loops.push_back(&l);
    for (TiledTree& part : tiled.parts) collect(part, loops);
  }

  // Bytes of the holds inside some loop, all together.
  double held(const TiledTree& tiled) const {
    double bytes = 0;
    std::vector<std::int64_t> ranges;
    for (const OperationTree::Index& i : tree_.indices) ranges.push_back(i.extent);
    const auto visit = [&](const auto& self, const FusedNode& node, int depth) -> void {
      if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
        std::int64_t& range = ranges[static_cast<std::size_t>(loop->index)];
        const std::int64_t whole = std::exchange(range, loop->tile);
        self(self, *loop->body, depth + 1);
        range = whole;
      } else if (const auto* parts = std::get_if<InOrder>(&node.is)) {
        for (const FusedNode& part : parts->parts) self(self, part, depth);
      } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
        double size = static_cast<double>(tree_.array(hold->array).element.value());
        for (int i : tree_.array(hold->array).indices) {
          size *= static_cast<double>(ranges[static_cast<std::size_t>(i)]);
        }
        if (is_fused(tiled, hold->array)) bytes += size;
        self(self, *hold->body, depth);
      }
    };
    visit(visit, to_node(tree_, tiled), 0);
    return bytes;
  }
  // Whether the innermost node with both statements of an intermediate has loops to shrink it by.
  bool is_fused(const TiledTree& tiled, int array) const {
    const auto has = [&](const auto& self, const TiledTree& t, int s) -> bool {
      if (t.parts.empty()) return t.statement == s;
      return std::ranges::any_of(t.parts, [&](const TiledTree& p) { return self(self, p, s); });
    };
    const OperationTree::Array& a = tree_.array(array);
    const auto within = [&](const auto& self, const TiledTree& t, bool loops) -> bool {
      loops |= !t.loops.empty();
      for (const TiledTree& p : t.parts) {
        if (has(has, p, a.producer) && has(has, p, a.consumer)) return self(self, p, loops);
      }
      return loops;
    };
    return within(within, tiled, false);
  }

  // Programs one step away: the next sizes of one loop, two loops of a node exchanged.
  std::vector<TiledTree> neighbours(const TiledTree& tiled, int farthest) {
    std::vector<TiledTree> all;
    TiledTree copy = tiled;
    std::vector<TiledTree::Loop*> loops;
    collect(copy, loops);
    for (TiledTree::Loop* l : loops) {
      const std::int64_t was = l->tile;
      const auto& sizes = sizes_[static_cast<std::size_t>(l->index)];
      const auto place =
          std::ranges::find_if(sizes, [&](std::int64_t s) { return s <= was; }) - sizes.begin();
      for (int step = -farthest; step <= farthest; ++step) {
        const auto to = place + step;
        if (step == 0 || to < 0 || to >= std::ssize(sizes)) continue;
        l->tile = sizes[static_cast<std::size_t>(to)];
        all.push_back(copy);
      }
      l->tile = was;
    }
    const auto exchange = [&](const auto& self, TiledTree& node) -> void {
      for (std::size_t i = 0; i < node.loops.size(); ++i) {
        for (std::size_t j = i + 1; j < node.loops.size(); ++j) {
          std::swap(node.loops[i], node.loops[j]);
          all.push_back(copy);
          std::swap(node.loops[i], node.loops[j]);
        }
      }
      for (TiledTree& part : node.parts) self(self, part);
    };
    exchange(exchange, copy);
    return all;
  }

  // Whether any loop runs: without one, statements are done as a whole.
  bool fuses(const TiledTree& tiled) const {
    return std::ranges::any_of(tiled.loops,
                               [&](const auto& l) { return l.tile < tree_.extent(l.index); }) ||
           std::ranges::any_of(tiled.parts, [&](const auto& part) { return fuses(part); });
  }

  // Programs of a kind hold about as much, in loops over the same indices in the same order.
  using Kind = std::vector<int>;
  Kind kind_of(const TiledTree& tiled) const {
    Kind kind{structure_, static_cast<int>(std::lround(std::log2(std::max(1.0, held(tiled)))))};
    const auto add = [&](const auto& self, const TiledTree& t) -> void {
      for (const TiledTree::Loop& l : t.loops) {
        if (l.tile < tree_.extent(l.index)) kind.push_back(l.index);
      }
      kind.push_back(-1);
      for (const TiledTree& part : t.parts) self(self, part);
    };
    add(add, tiled);
    return kind;
  }

  double rough(const TiledTree& tiled) {
    const std::string text = to_text(tree_, to_node(tree_, tiled));
    if (const auto known = rough_.find(text); known != rough_.end()) return known->second;
    StopScope::heed();
    ++roughly_;
    const double seconds = model_.roughly(to_node(tree_, tiled));
    rough_.emplace(text, seconds);
    if (!fuses(tiled)) return seconds;
    const auto [kind, is_new] = kinds_.try_emplace(kind_of(tiled), seconds, tiled);
    if (!is_new && seconds < kind->second.first) kind->second = {seconds, tiled};
    return seconds;
  }
  void descend_roughly(TiledTree start) {
    std::pair<double, TiledTree> best{rough(start), std::move(start)};
    const int until = roughly_ + rough_budget;
    for (bool better = true; better && roughly_ < until;) {
      better = false;
      for (TiledTree& next : neighbours(best.second, 2)) {
        if (!fuses(next)) continue;
        const double seconds = rough(next);
        if (seconds >= best.first * (1 - 1e-6)) continue;
        best = {seconds, std::move(next)};
        better = true;
        break;
      }
    }
  }

  double judge(const TiledTree& tiled) {
    const std::string text = to_text(tree_, to_node(tree_, tiled));
    if (const auto known = exact_.find(text); known != exact_.end()) return known->second;
    return exact_[text] = judge_anew(tiled);
  }
  double judge_anew(const TiledTree& tiled) {
    ++judged_;
    report(0.3 + 0.7 * judged_ / options_.judged);
    const ChainTraffic traffic = model_.traffic(to_node(tree_, tiled), CachedModel::Tiles::whole);
    const ChainTiming cautious =
        timing(traffic, tree_, model_.schedules().machine(), 1 + traffic_error);
    return cautious.total.value() + links_weight * all_links(cautious).value();
  }
  std::pair<double, TiledTree> descend_judging(std::pair<double, TiledTree> best) {
    for (bool better = true; better && judged_ < options_.judged;) {
      better = false;
      std::vector<std::pair<double, TiledTree>> next;
      for (TiledTree& n : neighbours(best.second, 1)) {
        if (!fuses(n)) continue;
        const double seconds = rough(n);
        next.emplace_back(seconds, std::move(n));
      }
      std::ranges::stable_sort(next, {}, &std::pair<double, TiledTree>::first);
      for (auto& [seconds, tiled] : next) {
        if (judged_ >= options_.judged) break;
        if (const double exact = judge(tiled); exact < best.first * (1 - 1e-6)) {
          best = {exact, std::move(tiled)};
          better = true;
          break;
        }
      }
    }
    return best;
  }

  void report(double share) const {
    if (options_.progress) options_.progress(std::min(1.0, share));
  }

  CachedModel& model_;
  const OperationTree& tree_;
  const CachedChoiceOptions& options_;
  std::vector<std::vector<std::int64_t>> sizes_;        // of tiles, by index
  std::map<std::string, double> rough_, exact_;         // seconds by text
  std::map<Kind, std::pair<double, TiledTree>> kinds_;  // the best of each
  int structure_ = 0, roughly_ = 0, judged_ = 0;
};

}  // namespace

CachedProgram judged(CachedModel& model, FusedNode node) {
  CachedProgram program{std::move(node), {}, {}, {}, {}};
  const OperationTree& tree = model.schedules().tree();
  const Machine& machine = model.schedules().machine();
  program.traffic = model.traffic(program.node);
  program.timing = timing(program.traffic, tree, machine);
  program.cautious = timing(program.traffic, tree, machine, 1 + traffic_error).total;
  program.links = all_links(program.timing);
  return program;
}

bool CachedChoice::fuses() const {
  if (!fused) return false;
  const double ratio = fused->timing.total / unfused.timing.total;
  if (std::abs(ratio - 1) > tie) return ratio < 1;
  const double cautious = fused->cautious / unfused.cautious;
  if (std::abs(cautious - 1) > same_time) return cautious < 1;
  return fused->links < unfused.links;
}

CachedChoice choose_cached(CachedModel& model, const CachedChoiceOptions& options) {
  return ChoiceSearch(model, options).run();
}

}  // namespace tcsim::fusion
