// Lower bounds on data movement (IOOpt, section 5): what no order of a program's runs moves less
// than. docs/bounds.md says what is counted and proves each step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/bounds/exponents.hpp"
#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

// What counts between the fast memory of S elements, empty at first, and the slow one. A run has
// all its elements in the fast memory.
enum class Moves {
  loads,             // an element that is written counts when it is read before its sums are added
  loads_and_stores,  // and when it is written back: C counts twice
};

// The runs fall into parts of T loads each. What a part can do follows from how many elements it
// can touch (partitioning, section 5.1); with the exponents' sum sigma over accesses above 1, the
// best T is S / (sigma - 1).
struct Partition {
  Exponents exponents;
  // The exponents are those of the statement with its strides told apart (strides.hpp).
  bool strides_split = false;
  Rational sigma;
  // The bound on loads that follows, for all sizes with a whole T.
  Expression loads;
};

// Of one statement, with any exponents for which the inequality holds and sigma is above 1.
Partition partition_by(const Exponents& exponents, const Problem& problem,
                       const Problem::Statement& statement);

struct LowerBound {
  Expression runs;        // arithmetic complexity: multiply-adds
  Expression compulsory;  // each element once, and what is stored
  // Of a program with one statement; those that none of the others exceeds everywhere. With all
  // extents known, the best of them for each power of S; they hold for all extents.
  std::vector<Partition> partitions;
  Expression moves;  // the largest of all that is known
};

// Of all choices of small dimensions (where some are said to be small: of those with them).
// Statements that share no array add up. Of those that do it is the best of families without a
// common array, and all together, with equal parts of the loads of what they share.
LowerBound lower_bound(const Problem& problem, Moves moves);

// Which parts of the loads of each array count for the bound of each statement, by statement and
// array: a load counts once.
inline constexpr int load_parts = 16;  // of an array's loads; a power of two, so sums are exact
using LoadShares = std::vector<std::vector<int>>;

struct LowerNumber {
  long double elements = 0;  // whole
  long double compulsory = 0;
  // Of a program with several statements; nothing of a statement whose bound is no more than the
  // first loads of its arrays. What is left of an array's loads counts as first loads.
  LoadShares shares;
  // What proves it, of a program with one statement, where that is no compulsory traffic.
  std::optional<Exponents> exponents;
};

// The proven numbers of a problem at its sizes, over the capacity: with a whole T, with the first
// part beginning in an empty memory, and with exponents that are good for these sizes. A number may
// be above the expression; it is no less than the `known` partitions of a program with one
// statement prove. Exponents are searched for at powers of two of the capacity, once each; between
// two, the best of what both found proves the number. May be asked from several threads.
class LowerCurve {
 public:
  // Throws UsageError where a size has no value, is no whole number or below 1.
  LowerCurve(const Problem& problem, const Values& sizes, const std::vector<Partition>& known = {});

  // Throws UsageError where the capacity is below one element.
  LowerNumber at(Moves moves, std::int64_t capacity) const { return number_(moves, capacity); }

 private:
  std::function<LowerNumber(Moves, std::int64_t)> number_;
};

// One of them.
LowerNumber lower_bound_at(const Problem& problem, Moves moves, std::int64_t capacity,
                           const Values& sizes, const std::vector<Partition>& known = {});

}  // namespace tcsim::bounds
