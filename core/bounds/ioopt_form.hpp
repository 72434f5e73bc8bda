// The lower bound with the terms of lower order of IOOpt's Fig. 6.
//
// Its game is another one than tcsim's (lower.hpp): each multiply-add gives a new value, which
// needs a place beside the sum that it adds to; tcsim's sums are added to in place. There it stands
// on three steps, the first two of Elango et al. (POPL 2015), the third of section 5.1:
//
//   - What no run makes is taken away from the graph and counted: the elements of all arrays, and
//     those of the output once more, as a reduction gets broadcasts from its first value and from
//     its last (section 5.3).
//   - For each of them a run is made an input in its place, and taken off again. That is the first
//     that uses the element, of loops with the reductions outermost; and for each reduction the
//     first that follows along it. A run that is the first of several is taken off once.
//   - The runs that add to a sum, without the first of each, fall into parts: of all loads, the S
//     elements that a part may have had before are taken off once.
//
// So the form is T (runs - |C|) / (most runs in a part) + elements + |C| - first runs - S. The
// paper prints what comes out and not how; that these steps give every row is what tests show, and
// docs/bounds.md has what they do not prove.
#pragma once

#include <optional>
#include <vector>

#include "core/bounds/lower.hpp"
#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

// elements + |C| - first runs - S, of loads. Nothing where first runs are not counted: where an
// index sums three dimensions or more, a dimension is in two indices of an access, or an array has
// two accesses. Extents count as above the strides.
std::optional<Expression> ioopt_lower_order(const Problem& problem,
                                            const Problem::Statement& statement);

// What a partition proves of all runs but the first of each sum.
Expression ioopt_leading(const Partition& partition, const Problem& problem,
                         const Problem::Statement& statement);

// The compulsory traffic, or the best of these partitions with the terms of lower order. Of a
// problem with one statement; nothing as above.
std::optional<Expression> ioopt_lower_form(const Problem& problem, const LowerBound& bound,
                                           Moves moves);

}  // namespace tcsim::bounds
