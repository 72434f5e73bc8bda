#include "core/bounds/ioopt_form.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/bounds/touched.hpp"
#include "core/bounds/traffic.hpp"

namespace tcsim::bounds {
namespace {

using Access = Problem::Access;
using Statement = Problem::Statement;

// Places along a dimension: from `low`, and below `high` or among the last `last` where that is
// said. Extents are taken to be so long that the ends do not meet.
struct Range {
  std::int64_t low = 0;
  std::optional<std::int64_t> high = {}, last = {};

  bool is_empty() const { return high && (last || *high <= low); }
  Expression size(const Expression& extent) const {
    if (last) return *last;
    return high ? Expression(*high - low) : extent - low;
  }
};

Range common(const Range& a, const Range& b) {
  const auto less = [](const std::optional<std::int64_t>& x, const std::optional<std::int64_t>& y) {
    return x && y ? std::min(*x, *y) : x ? x : y;
  };
  return {std::max(a.low, b.low), less(a.high, b.high), less(a.last, b.last)};
}

// Runs, by dimension; those that are not here have all places.
using Box = std::map<DimId, Range>;

Box common(Box a, const Box& b) {
  for (const auto& [d, range] : b) {
    const auto [at, fresh] = a.emplace(d, range);
    if (!fresh) at->second = common(at->second, range);
  }
  return a;
}

constexpr Range only_first{0, 1, {}};

// Loops with the reductions outermost.
std::vector<DimId> loops_of(const Statement& statement) {
  std::vector<DimId> loops = reductions_of(statement);
  const std::vector<DimId> kept = dims_of(statement.out);
  loops.insert(loops.end(), kept.begin(), kept.end());
  return loops;
}

// The first run of each of the access's elements, as boxes apart from each other. Of a sum a x + b
// y with x in the outer loop, an element has an earlier run where x can go b down and y a up.
std::optional<std::vector<Box>> first_runs(const Access& access, const std::vector<DimId>& loops) {
  std::vector<Box> boxes{{}};
  std::set<DimId> used;
  for (const Affine& axis : access.axes) {
    std::vector<Affine::Term> terms = axis.terms;
    for (const Affine::Term& t : terms) {
      if (!used.insert(t.dim).second) return {};
    }
    if (terms.size() < 2) continue;
    if (terms.size() > 2 || terms[0].coefficient < 1 || terms[1].coefficient < 1) return {};
    const auto is_outer = [&](DimId a, DimId b) {
      return std::find(loops.begin(), loops.end(), a) < std::find(loops.begin(), loops.end(), b);
    };
    if (!is_outer(terms[0].dim, terms[1].dim)) std::swap(terms[0], terms[1]);
    const std::int64_t divisor = std::gcd(terms[0].coefficient, terms[1].coefficient);
    const std::int64_t down = terms[1].coefficient / divisor, up = terms[0].coefficient / divisor;
    std::vector<Box> split;
    for (const Box& box : boxes) {
      split.push_back(box);
      split.back()[terms[0].dim] = {0, down, {}};
      split.push_back(box);
      split.back()[terms[0].dim] = {down, {}, {}};
      split.back()[terms[1].dim] = {0, {}, up};
    }
    boxes = std::move(split);
  }
  for (Box& box : boxes) {
    for (DimId d : loops) {
      if (!used.contains(d)) box[d] = only_first;
    }
  }
  return boxes;
}

// Those in `inside` and in any of the boxes from `next` on: each alone, less what two share, ...
Expression runs_in_any(const Problem& problem, const std::vector<DimId>& loops,
                       const std::vector<Box>& boxes, std::size_t next, const Box& inside) {
  Expression runs;
  for (std::size_t i = next; i < boxes.size(); ++i) {
    const Box both = common(inside, boxes[i]);
    if (std::any_of(both.begin(), both.end(), [](const auto& r) { return r.second.is_empty(); })) {
      continue;
    }
    Expression size = 1;
    for (DimId d : loops) {
      const Expression extent = Expression::symbol(problem.dim(d).symbol);
      const auto at = both.find(d);
      size *= at == both.end() ? extent : at->second.size(extent);
    }
    runs += size - runs_in_any(problem, loops, boxes, i + 1, both);
  }
  return runs;
}

}  // namespace

std::optional<Expression> ioopt_lower_order(const Problem& problem, const Statement& statement) {
  const std::vector<DimId> loops = loops_of(statement), reductions = reductions_of(statement);
  const std::vector<Access> accesses = accesses_of(statement);
  if (arrays_of(statement).size() != accesses.size()) return {};
  Expression elements;
  std::vector<Box> boxes;
  for (const Access& a : accesses) {
    const auto found = first_runs(a, loops);
    if (!found) return {};
    // Each element has one.
    const Expression own = runs_in_any(problem, loops, *found, 0, {});
    elements += boxes.empty() ? 2 * own : own;
    boxes.insert(boxes.end(), found->begin(), found->end());
  }
  for (DimId along : reductions) {
    Box box;
    for (DimId d : reductions) box[d] = only_first;
    box[along] = {1, 2, {}};
    boxes.push_back(std::move(box));
  }
  return elements - runs_in_any(problem, loops, boxes, 0, {}) - Expression::symbol(capacity_symbol);
}

Expression ioopt_leading(const Partition& partition, const Problem& problem,
                         const Statement& statement) {
  const Expression outputs = touched(problem, statement.out);
  const Expression runs = runs_of(problem, statement);
  return partition.loads * outputs / runs * kept(runs / outputs - 1);
}

std::optional<Expression> ioopt_lower_form(const Problem& problem, const LowerBound& bound,
                                           Moves moves) {
  if (problem.statements.size() != 1) return {};
  const Statement& statement = problem.statements[0];
  const std::optional<Expression> more = ioopt_lower_order(problem, statement);
  if (!more) return {};
  const Expression stores = moves == Moves::loads_and_stores ? stored(problem) : Expression();
  std::vector<Expression> leading;
  for (const Partition& p : bound.partitions) {
    leading.push_back(ioopt_leading(p, problem, statement));
  }
  const Expression compulsory = bound.compulsory - stores;
  if (leading.empty()) return compulsory + stores;
  return largest({compulsory, largest(leading) + *more}) + stores;
}

}  // namespace tcsim::bounds
