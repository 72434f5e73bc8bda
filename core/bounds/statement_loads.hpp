// What one statement's own bound says of the loads of its arrays, as a number at its sizes.
// docs/bounds.md, "The number", has the derivation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "core/bounds/lower.hpp"

namespace tcsim::bounds {

// What some hundred operations in long double can be wrong by, relatively, with much to spare.
inline constexpr long double rounding = 1e-15L;

long double number_of(const Expression& e, const Values& sizes);

// What a statement's exponents are of.
struct ExponentBases {
  std::vector<int> array;           // of each access
  std::vector<long double> extent;  // of each dimension
  // A stride that is told apart (strides.hpp): of the places of r, `longer` have one place of q
  // more than the others, `shorter`, which have `places`. `quotient` is the dimension q.
  struct Stride {
    std::size_t quotient;
    long double places, longer, shorter;
  };
  std::vector<Stride> strides;
};

// Exponents at a statement's sizes.
struct Candidate {
  Candidate(Exponents exponents, const ExponentBases& bases);
  // The most runs that touch so many elements: elements^sigma x factor. With strides runs have
  // weights, and all together that of `runs` times as many.
  long double most(long double elements) const;

  Exponents exponents;
  std::map<int, long double> share;  // the exponent of an array: of all accesses to it
  long double sigma = 0, factor = 1, runs = 1;
};

// What a part can do of a statement's runs: no more weight of them than most() of the weight of the
// elements that it touches; all of them weigh `runs`.
struct PartBound {
  const Exponents* exponents;
  long double sigma, factor, runs;
  long double most(long double weight) const;
};

// The loads that follow for statements that run in one memory, before rounding, elements that are
// made among them; of these loads so many are known to be there at `first`. Where there are
// several, sigma of what each does not share with the others must be 1 at least: a part does then
// most where it does all of one.
long double loads_together(std::span<const PartBound> bounds, long double first,
                           long double capacity);

// Over the capacity. May be asked from several threads.
class StatementLoads {
 public:
  // Besides what is searched for, `known` exponents are taken.
  StatementLoads(const Problem& problem, const Problem::Statement& statement, const Values& sizes,
                 const std::vector<Partition>& known);
  ~StatementLoads();

  // The best one that is found where a load of an array counts as much as its weight says, 0 to 1;
  // `common` arrays are shared with other statements. By index in the problem, as `first`: loads
  // that are known to be there.
  std::optional<PartBound> best(std::int64_t capacity, std::span<const long double> weights,
                                const std::vector<bool>& common,
                                std::span<const long double> first) const;

 private:
  class Search;

  std::optional<PartBound> bound_by(const Candidate& candidate,
                                    std::span<const long double> weights,
                                    const std::vector<bool>& common) const;
  // Those that are good for about 2^power elements.
  const std::vector<Candidate>& near_power(int power) const;

  long double runs_;
  std::vector<int> arrays_;
  // Of the statement, and of it with its strides told apart.
  std::vector<std::unique_ptr<const Search>> searches_;
  std::vector<Candidate> known_;
  mutable std::shared_mutex mutex_;  // of near_, whose vectors stay as they are
  mutable std::map<int, std::vector<Candidate>> near_;
};

}  // namespace tcsim::bounds
