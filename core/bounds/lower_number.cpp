// Lower bounds as numbers. docs/bounds.md, "The number", has the derivation.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/bounds/lower.hpp"
#include "core/bounds/statement_loads.hpp"
#include "core/bounds/traffic.hpp"
#include "core/error.hpp"

namespace tcsim::bounds {
namespace {

using Statement = Problem::Statement;

// Sweeps of many capacities ask for the same ones again and again.
constexpr std::size_t most_remembered = 4096;
// Of the arrays that a statement shares, up to so many may be divided.
constexpr std::size_t most_divided = 4;

// The next whole number that is not below, after what rounding may have added.
long double whole(long double loads) {
  return std::max(0.0L, std::ceil(loads - std::abs(loads) * rounding));
}

void check_sizes(const Problem& problem, const Values& sizes) {
  for (const Problem::Dim& d : problem.dims) {
    const auto at = sizes.find(d.symbol);
    if (at == sizes.end()) throw UsageError(d.name, "has no extent", "give it a size");
    if (boost::multiprecision::denominator(at->second) != 1 || at->second < 1) {
      throw UsageError(d.name, "has no whole extent of at least 1", "give it one");
    }
  }
}

class Numbers {
 public:
  Numbers(const Problem& problem, const Values& sizes, const std::vector<Partition>& known)
      : users_(problem.arrays.size()) {
    check_sizes(problem, sizes);
    for (int array = 0; array < static_cast<int>(problem.arrays.size()); ++array) {
      first_.push_back(number_of(first_loads(problem, array), sizes));
      made_.push_back(number_of(most_made(problem, array), sizes));
    }
    stores_ = number_of(stored(problem), sizes);
    const bool alone = problem.statements.size() == 1;
    for (const Statement& s : problem.statements) {
      for (int array : arrays_of(s)) {
        users_[static_cast<std::size_t>(array)].push_back(statements_.size());
      }
      statements_.push_back(std::make_unique<StatementLoads>(
          problem, s, sizes, alone ? known : std::vector<Partition>()));
    }
  }

  LowerNumber at(Moves moves, std::int64_t capacity) const {
    if (capacity < 1) throw UsageError("capacity", "is below 1", "give it at least one element");
    const std::pair key(moves, capacity);
    {
      const std::scoped_lock lock(mutex_);
      if (const auto at = remembered_.find(key); at != remembered_.end()) return at->second;
    }
    LowerNumber number = number_at(moves, capacity);
    const std::scoped_lock lock(mutex_);
    if (remembered_.size() < most_remembered) remembered_.emplace(key, number);
    return number;
  }

 private:
  // Statements whose bounds are taken together.
  using Family = std::vector<std::size_t>;

  // By how much more than first loads, and by which parts of the arrays' loads.
  struct Choice {
    long double gain = 0;
    LoadShares shares;
  };

  LowerNumber number_at(Moves moves, std::int64_t capacity) const {
    LowerNumber result;
    for (long double first : first_) result.compulsory += first;
    const long double stores = moves == Moves::loads_and_stores ? stores_ : 0;
    result.compulsory = whole(result.compulsory) + whole(stores);
    Choice best = no_choice();
    for (const Family& group : joined(all(), [](std::size_t) { return true; })) {
      const Choice choice = best_of(group, capacity);
      best.gain += choice.gain;
      for (std::size_t i : group) best.shares[i] = choice.shares[i];
    }
    result.elements = result.compulsory + std::ceil(best.gain);
    if (statements_.size() > 1) {
      result.shares = std::move(best.shares);
    } else if (best.gain > 0) {
      result.exponents = *loads_of(all(), best.shares, capacity)[0].exponents;
    }
    return result;
  }

  Family all() const {
    Family family(statements_.size());
    std::iota(family.begin(), family.end(), std::size_t{0});
    return family;
  }
  Choice no_choice() const {
    return {0, LoadShares(statements_.size(), std::vector<int>(first_.size(), 0))};
  }

  // Those of the family that arrays of this kind join.
  template <class F>
  std::vector<Family> joined(const Family& family, F&& joins) const {
    std::vector<std::size_t> group(statements_.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    for (std::size_t array = 0; array < users_.size(); ++array) {
      if (!joins(array)) continue;
      const Family users = users_in(family, array);
      for (std::size_t i : users) {
        std::replace(group.begin(), group.end(), std::size_t{group[i]}, group[users.front()]);
      }
    }
    std::map<std::size_t, Family> groups;
    for (std::size_t i : family) groups[group[i]].push_back(i);
    std::vector<Family> result;
    for (auto& [first, members] : groups) result.push_back(std::move(members));
    return result;
  }

  Family users_in(const Family& family, std::size_t array) const {
    Family users;
    for (std::size_t i : users_[array]) {
      if (std::find(family.begin(), family.end(), i) != family.end()) users.push_back(i);
    }
    return users;
  }

  // Statements, and arrays that are divided between those that have them; others are not.
  struct Plan {
    Family family;
    std::vector<bool> divided;
    Choice choice;
  };

  // Of statements that share arrays with each other: from each of them on, the one that gains most
  // joins, with the arrays that are best divided for it, for as long as that gains.
  Choice best_of(const Family& group, std::int64_t capacity) const {
    Plan best{{}, {}, no_choice()};
    for (std::size_t first : group) {
      Plan plan{{first}, std::vector<bool>(users_.size()), {}};
      plan.choice = choice_of(plan.family, plan.divided, capacity);
      for (bool better = true; better;) {
        better = false;
        Plan longest = plan;
        for (std::size_t i : group) {
          for (Plan& more : joined_by(plan, i, capacity)) {
            if (more.choice.gain <= longest.choice.gain) continue;
            longest = std::move(more);
            better = true;
          }
        }
        plan = std::move(longest);
      }
      if (plan.choice.gain > best.choice.gain) best = std::move(plan);
    }
    improve(best.choice, best.family, capacity);
    return best.choice;
  }

  // With one statement more, which shares arrays or divides them.
  std::vector<Plan> joined_by(const Plan& plan, std::size_t i, std::int64_t capacity) const {
    std::vector<Plan> plans;
    if (std::find(plan.family.begin(), plan.family.end(), i) != plan.family.end()) return plans;
    Family family = plan.family;
    family.push_back(i);
    std::vector<std::size_t> shared;
    for (std::size_t array = 0; array < users_.size(); ++array) {
      const Family users = users_in(family, array);
      const bool has = std::find(users.begin(), users.end(), i) != users.end();
      if (has && users.size() > 1 && shared.size() < most_divided) shared.push_back(array);
    }
    for (std::uint32_t set = 0; set < 1u << shared.size(); ++set) {
      Plan more{family, plan.divided, {}};
      for (std::size_t at = 0; at < shared.size(); ++at) {
        if (set >> at & 1) more.divided[shared[at]] = true;
      }
      more.choice = choice_of(more.family, more.divided, capacity);
      plans.push_back(std::move(more));
    }
    return plans;
  }

  Choice choice_of(const Family& family, const std::vector<bool>& divided,
                   std::int64_t capacity) const {
    Choice choice = no_choice();
    for (std::size_t array = 0; array < users_.size(); ++array) {
      const Family users = users_in(family, array);
      for (std::size_t i : users) {
        choice.shares[i][array] =
            divided[array] ? load_parts / static_cast<int>(users.size()) : load_parts;
      }
    }
    choice.gain = gain_of(family, choice.shares, capacity);
    return choice;
  }

  bool is_divided(const LoadShares& shares, const Family& users, std::size_t array) const {
    return std::ranges::any_of(users, [&](std::size_t i) { return shares[i][array] < load_parts; });
  }

  // Each of the statements' bounds, which are taken together.
  std::vector<PartBound> loads_of(const Family& joint, const LoadShares& shares,
                                  std::int64_t capacity) const {
    std::vector<bool> common;
    for (std::size_t array = 0; array < users_.size(); ++array) {
      const Family users = users_in(joint, array);
      common.push_back(users.size() > 1 && !is_divided(shares, users, array));
    }
    std::vector<PartBound> bounds;
    for (std::size_t i : joint) {
      const auto bound = statements_[i]->best(capacity, weights_of(shares[i]), common, first_);
      if (!bound) return {};
      bounds.push_back(*bound);
    }
    return bounds;
  }

  static std::vector<long double> weights_of(const std::vector<int>& shares) {
    std::vector<long double> weights;
    for (int share : shares) weights.push_back(static_cast<long double>(share) / load_parts);
    return weights;
  }

  // How much more than first loads the family has. Statements with an array in common that is not
  // divided are taken together.
  long double gain_of(const Family& family, const LoadShares& shares, std::int64_t capacity) const {
    long double gain = 0;
    const auto is_whole = [&](std::size_t array) {
      return !is_divided(shares, users_in(family, array), array);
    };
    for (const Family& joint : joined(family, is_whole)) {
      // An array that two of them have with parts each is divided between them too.
      const std::vector<PartBound> bounds = loads_of(joint, shares, capacity);
      if (bounds.empty()) continue;
      std::vector<int> most(first_.size(), 0);
      for (std::size_t i : joint) {
        for (std::size_t array = 0; array < most.size(); ++array) {
          int& share = most[array];
          share = is_whole(array) ? std::max(share, shares[i][array]) : share + shares[i][array];
        }
      }
      const std::vector<long double> weights = weights_of(most);
      long double first = 0, made = 0;
      bool broken = false;
      for (std::size_t array = 0; array < most.size(); ++array) {
        first += weights[array] * first_[array];
        made += weights[array] * made_[array];
        broken = broken || most[array] % load_parts != 0;
      }
      const auto heaviest =
          static_cast<long double>(*std::max_element(most.begin(), most.end())) / load_parts;
      const long double loads =
          loads_together(bounds, first, heaviest * static_cast<long double>(capacity));
      // Loads are whole, and so are these parts of them.
      const long double unit = broken ? load_parts : 1;
      gain += std::max(0.0L, whole((loads * (1 - rounding) - made) * unit) / unit - first);
    }
    return gain;
  }

  // Moves parts of arrays from statement to statement for as long as it gains.
  void improve(Choice& choice, const Family& family, std::int64_t capacity) const {
    for (bool better = true; better;) {
      better = false;
      for (std::size_t array = 0; array < users_.size(); ++array) {
        const Family users = users_in(family, array);
        if (!is_divided(choice.shares, users, array)) continue;
        for (std::size_t from : users) {
          for (std::size_t to : users) {
            for (int step : {load_parts / 4, 1}) {
              while (from != to && move(choice, family, array, from, to, step, capacity)) {
                better = true;
              }
            }
          }
        }
      }
    }
  }
  bool move(Choice& choice, const Family& family, std::size_t array, std::size_t from,
            std::size_t to, int step, std::int64_t capacity) const {
    // To none would be all to the other, which is another family's.
    if (choice.shares[from][array] <= step) return false;
    LoadShares shares = choice.shares;
    shares[from][array] -= step, shares[to][array] += step;
    const long double gain = gain_of(family, shares, capacity);
    if (gain <= choice.gain) return false;
    choice = {gain, std::move(shares)};
    return true;
  }

  std::vector<long double> first_;  // of each array, elements that are loaded at least once
  std::vector<long double> made_;   // and at most so many are made
  long double stores_ = 0;
  std::vector<std::unique_ptr<StatementLoads>> statements_;
  std::vector<Family> users_;  // statements that have the array
  mutable std::mutex mutex_;
  mutable std::map<std::pair<Moves, std::int64_t>, LowerNumber> remembered_;
};

}  // namespace

LowerCurve::LowerCurve(const Problem& problem, const Values& sizes,
                       const std::vector<Partition>& known)
    : number_([numbers = std::make_shared<const Numbers>(problem, sizes, known)](
                  Moves moves, std::int64_t capacity) { return numbers->at(moves, capacity); }) {}

LowerNumber lower_bound_at(const Problem& problem, Moves moves, std::int64_t capacity,
                           const Values& sizes, const std::vector<Partition>& known) {
  return LowerCurve(problem, sizes, known).at(moves, capacity);
}

}  // namespace tcsim::bounds
