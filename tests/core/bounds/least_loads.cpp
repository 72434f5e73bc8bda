#include "tests/core/bounds/least_loads.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

namespace tcsim::test {

namespace {

// Calls visit(point) for each point of begin <= point < end, the last dimension fastest.
void for_each_point(const std::vector<int>& begin, const std::vector<int>& end,
                    const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> point = begin;
  while (true) {
    visit(point);
    std::size_t d = point.size();
    while (d > 0 && ++point[d - 1] == end[d - 1]) {
      point[d - 1] = begin[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

class Unroller {
 public:
  explicit Unroller(const TinyNest& nest) : nest_(nest), numbers_(nest.arrays.size()) {
    // Outputs get the first numbers.
    for (std::size_t a = 0; a < nest.arrays.size(); ++a) {
      for_each_point(std::vector<int>(nest.extents.size(), 0), nest.extents,
                     [&](const std::vector<int>& point) { number(a, point); });
      if (a == 0) result_.outputs = result_.elements;
    }
  }

  void add(const std::vector<int>& point) {
    std::vector<int> instance;
    for (std::size_t a = 0; a < nest_.arrays.size(); ++a) instance.push_back(number(a, point));
    result_.instances.push_back(instance);
  }

  Unrolled result() const { return result_; }

 private:
  int number(std::size_t array, const std::vector<int>& point) {
    std::vector<int> at;
    for (const TinyNest::Axis& axis : nest_.arrays[array]) {
      int sum = 0;
      for (const auto& [dim, coefficient] : axis) {
        sum += coefficient * point[static_cast<std::size_t>(dim)];
      }
      at.push_back(sum);
    }
    const auto [found, is_new] = numbers_[array].try_emplace(at, result_.elements);
    if (is_new) ++result_.elements;
    return found->second;
  }

  const TinyNest& nest_;
  std::vector<std::map<std::vector<int>, int>> numbers_;
  Unrolled result_;
};

}  // namespace

std::int64_t TinyNest::iterations() const {
  std::int64_t all = 1;
  for (int extent : extents) all *= extent;
  return all;
}

Unrolled unroll(const TinyNest& nest) {
  Unroller unroller(nest);
  for_each_point(std::vector<int>(nest.extents.size(), 0), nest.extents,
                 [&](const std::vector<int>& point) { unroller.add(point); });
  return unroller.result();
}

Unrolled unroll(const TinyNest& nest, const std::vector<int>& permutation,
                const std::vector<int>& tiles) {
  const std::size_t dims = nest.extents.size();
  std::vector<int> counts;  // of tiles, in the order of the permutation
  for (int d : permutation) {
    const auto at = static_cast<std::size_t>(d);
    counts.push_back((nest.extents[at] + tiles[at] - 1) / tiles[at]);
  }
  Unroller unroller(nest);
  for_each_point(std::vector<int>(dims, 0), counts, [&](const std::vector<int>& tile) {
    std::vector<int> begin(dims), end(dims);
    for (std::size_t i = 0; i < dims; ++i) {
      const auto d = static_cast<std::size_t>(permutation[i]);
      begin[d] = tile[i] * tiles[d];
      end[d] = std::min(nest.extents[d], begin[d] + tiles[d]);
    }
    for_each_point(begin, end, [&](const std::vector<int>& point) { unroller.add(point); });
  });
  return unroller.result();
}

std::optional<std::int64_t> ideal_cost(const Unrolled& nest, int capacity, OutputCost output) {
  const std::size_t count = nest.instances.size();
  // By instance and operand, the next instance that needs the element; `count` for none.
  std::vector<std::vector<std::size_t>> next(count);
  std::vector<std::size_t> ahead(static_cast<std::size_t>(nest.elements), count);
  for (std::size_t i = count; i > 0; --i) {
    for (int e : nest.instances[i - 1]) {
      next[i - 1].push_back(ahead[static_cast<std::size_t>(e)]);
    }
    for (int e : nest.instances[i - 1]) ahead[static_cast<std::size_t>(e)] = i - 1;
  }
  std::map<int, std::size_t> held;  // element, next use
  std::vector<bool> was_held(static_cast<std::size_t>(nest.elements));
  std::int64_t cost = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<int>& needs = nest.instances[i];
    if (std::ssize(needs) > capacity) return {};
    for (std::size_t o = 0; o < needs.size(); ++o) {
      const int e = needs[o];
      if (!held.contains(e)) {
        if (std::ssize(held) == capacity) {
          auto victim = held.end();
          for (auto h = held.begin(); h != held.end(); ++h) {
            if (std::find(needs.begin(), needs.end(), h->first) != needs.end()) continue;
            if (victim == held.end() || h->second > victim->second) victim = h;
          }
          held.erase(victim);
        }
        const bool again = was_held[static_cast<std::size_t>(e)];
        cost += e >= nest.outputs ? 1 : again ? output.again : output.first;
        was_held[static_cast<std::size_t>(e)] = true;
      }
      held[e] = next[i][o];
    }
    std::erase_if(held, [&](const auto& h) { return h.second == count; });
  }
  return cost;
}

std::optional<std::int64_t> least_tiled_cost(const TinyNest& nest, int capacity,
                                             OutputCost output) {
  const std::size_t dims = nest.extents.size();
  std::vector<int> ones;  // whose order does not matter
  std::vector<int> varied;
  for (std::size_t d = 0; d < dims; ++d) {
    (nest.extents[d] == 1 ? ones : varied).push_back(static_cast<int>(d));
  }
  std::vector<int> ends;
  for (int extent : nest.extents) ends.push_back(extent + 1);
  std::optional<std::int64_t> least;
  for_each_point(std::vector<int>(dims, 1), ends, [&](const std::vector<int>& tiles) {
    std::sort(varied.begin(), varied.end());
    do {
      std::vector<int> permutation = varied;
      permutation.insert(permutation.end(), ones.begin(), ones.end());
      const auto cost = ideal_cost(unroll(nest, permutation, tiles), capacity, output);
      if (cost && (!least || *cost < *least)) least = cost;
    } while (std::next_permutation(varied.begin(), varied.end()));
  });
  return least;
}

namespace {

struct State {
  std::uint64_t done = 0, held = 0;
  bool operator==(const State&) const = default;
};
struct StateHash {
  std::size_t operator()(const State& s) const {
    std::uint64_t h = s.done * 0x9e3779b97f4a7c15u ^ (s.held + 0x7f4a7c15u) * 0xc2b2ae3d27d4eb4fu;
    return static_cast<std::size_t>(h ^ (h >> 29));
  }
};

class Search {
 public:
  Search(const Unrolled& nest, int capacity, OutputCost output)
      : capacity_(capacity), output_(output), outputs_(nest.outputs) {
    for (const std::vector<int>& instance : nest.instances) {
      std::uint64_t needs = 0;
      for (int e : instance) needs |= std::uint64_t{1} << e;
      needs_.push_back(needs);
    }
    users_.resize(static_cast<std::size_t>(nest.elements));
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      for (std::size_t e = 0; e < users_.size(); ++e) {
        if ((needs_[i] >> e & 1) != 0) users_[e] |= std::uint64_t{1} << i;
      }
    }
    all_ = needs_.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << needs_.size()) - 1;
  }

  std::optional<std::int64_t> run(std::size_t most) {
    for (std::uint64_t needs : needs_) {
      if (std::popcount(needs) > capacity_) return {};
    }
    relax({}, 0);
    for (std::size_t f = 0; f < queue_.size(); ++f) {
      while (!queue_[f].empty()) {
        const auto [state, cost] = queue_[f].back();
        queue_[f].pop_back();
        if (cost > best_.at(state)) continue;
        if (state.done == all_) return cost;
        if (best_.size() > most) return {};
        expand(state, cost);
      }
    }
    return {};
  }

 private:
  std::int64_t price(std::size_t e, std::uint64_t done) const {
    if (static_cast<int>(e) >= outputs_) return 1;
    return (users_[e] & done) == 0 ? output_.first : output_.again;
  }
  // What must be brought at least: every element that is needed still and not there.
  std::int64_t ahead(const State& s) const {
    std::int64_t sum = 0;
    for (std::size_t e = 0; e < users_.size(); ++e) {
      if ((users_[e] & ~s.done) != 0 && (s.held >> e & 1) == 0) sum += price(e, s.done);
    }
    return sum;
  }
  void relax(const State& state, std::int64_t cost) {
    const auto [found, is_new] = best_.try_emplace(state, cost);
    if (!is_new && found->second <= cost) return;
    found->second = cost;
    const auto f = static_cast<std::size_t>(cost + ahead(state));
    if (queue_.size() <= f) queue_.resize(f + 1);
    queue_[f].emplace_back(state, cost);
  }
  // What can be computed is: it costs nothing and only frees elements. An output's element is
  // brought right before something is added to it, so none loses its cheaper first stay by that.
  State settled(State s) const {
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if ((needs_[i] & ~s.held) == 0) s.done |= std::uint64_t{1} << i;
    }
    for (std::size_t e = 0; e < users_.size(); ++e) {
      if ((users_[e] & ~s.done) == 0) s.held &= ~(std::uint64_t{1} << e);
    }
    return s;
  }
  void expand(const State& s, std::int64_t cost) {
    for (std::size_t e = 0; e < users_.size(); ++e) {
      const std::uint64_t bit = std::uint64_t{1} << e;
      if ((s.held & bit) != 0 || (users_[e] & ~s.done) == 0) continue;
      const std::int64_t then = cost + price(e, s.done);
      if (std::popcount(s.held) < capacity_) {
        relax(settled({s.done, s.held | bit}), then);
        continue;
      }
      for (std::uint64_t rest = s.held; rest != 0; rest &= rest - 1) {
        relax(settled({s.done, (s.held & ~(rest & -rest)) | bit}), then);
      }
    }
  }

  int capacity_;
  OutputCost output_;
  int outputs_;
  std::vector<std::uint64_t> needs_, users_;  // by instance: elements; by element: instances
  std::uint64_t all_ = 0;
  std::unordered_map<State, std::int64_t, StateHash> best_;
  std::vector<std::vector<std::pair<State, std::int64_t>>> queue_;  // by cost and what is ahead
};

}  // namespace

std::optional<std::int64_t> least_cost(const Unrolled& nest, int capacity, OutputCost output,
                                       std::size_t most) {
  return Search(nest, capacity, output).run(most);
}

}  // namespace tcsim::test
