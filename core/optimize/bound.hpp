// A time that no schedule of the optimizer's family can go below, under the window model's own
// count.
//
// Every link has a bound of its own; the slowest decides. The bounds hold for all loop orders,
// tiles and orders of dimensions. They do not rest on the innermost-loop posynomial, which reuse
// along outer loops can beat.
//
// 1. Registers (link 0): a kernel of mr x nr reads each of its operands once for every register
//    tile, so at least ceil(N / nr) M K elements of the left and ceil(M / mr) N K of the right, and
//    C is stored once. Packing reads and writes at least once what may not stay in place.
//
// 2. First touches: the model counts every line of A, B and C at every link at least once, and C's
//    again when it leaves.
//
// 3. Reuse. Follow one kernel step outward through the loops. The extents (m, n, k) of what is
//    inside grow from the register tile to (M, N, K), one loop at a time.
//
//    Let a loop over n grow n from n1 to n2. A is touched again n2 / n1 - 1 times, and each of
//    these touches misses unless its window fits. The window holds at least A's lines between two
//    touches of one, m k elements, so it cannot fit if m k > S. In units of V = M N K elements the
//    growth then costs 1 / n1 - 1 / n2 for A. Likewise growing m costs 1 / m1 - 1 / m2 for B if n k
//    > S, and growing k costs w (1 / k1 - 1 / k2) for C if m n > S. Here w is 2 if what leaves
//    counts.
//
//    The extents only grow, so one of the three areas is the last to exceed S. Say it is m n. As
//    long as neither m k nor n k exceeds S, nothing is paid for A and B. Once m k does, say, n no
//    longer grows for free: at least 1 / n - 1 / N remains to be paid for A with that n, and 1 / m
//    - 1 / M for B, where m n <= S. So the cost is at least the least of
//       1 / n - 1 / N + 1 / m - 1 / M         with m n <= S   (C stays),
//       1 / m - 1 / M + w (1 / k - 1 / K)     with m k <= S   (A stays),
//       1 / n - 1 / N + w (1 / k - 1 / K)     with n k <= S   (B stays).
//    Each is smallest where its two terms are equal, or at the end of a dimension. This is the
//    2 V / sqrt(S) of Hong and Kung, for the count at hand; first touches come on top.
//
//    Where A's tiles overlap, as those of a convolution's image, at most p pairs (m, k) read one
//    element of it. So it has at least m k / p elements inside, which is all that the argument
//    needs: growing n then costs (1 / n1 - 1 / n2) / p if m k > p S. What growing m or k brings of
//    A again, its halo, is not counted. First touches count the elements that are used.
//
// 4. Computing: the compute roof; and vectors are whole, so at least ceil(M / lanes) of them for
//    each of N, K and the batch.
//
// Nothing of 2 and 3 asks whether an operand is packed, nor where: between two touches of one
// element lie m k elements of its tensor or of its copy. So for all schedules there are
// (bound_of_all()) it is enough to take in 1 every kernel that the registers hold and no pack, and
// in 4 the compute roof alone.
//
// A set-associative cache is softer. Of an array with L > S lines up to S may survive, so a growth
// beyond S costs only the share 1 - S / L. That share is the mean over u in [0, 1] of
// [L > S / (1 - u)]. So the cost is at least the mean of the hard bounds with caches of S / (1 -
// u). S is the cache's lines and two more a set, which is what the model's occupancy can round to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Least bytes over every link, as the machine's accounting counts them, and what follows.
struct ProvenBound {
  std::vector<double> bytes;  // of each link
  std::vector<Seconds> links;
  Seconds time;            // the slowest link, or computing
  bool computing = false;  // it is computing, whatever the links
};

// For schedules of the family with any of the kernels; with `rows` as in groupings(). Throws
// UnsupportedError as common_line() does.
ProvenBound proven_bound(const Contraction& contraction, const Machine& machine,
                         std::span<const Kernel> kernels, RowOrders rows = RowOrders::neighbours);

// For every schedule that check() and require_registers() let pass, whatever its kernels, packs,
// loops and groups. No more than proven_bound() for any kernels that fit. Throws as that does.
ProvenBound bound_of_all(const Contraction& contraction, const Machine& machine);

// For which schedules the bound holds, as part of a sentence: "kernels within 8x6, 12x4 or 4x12, A
// and B packed". Any loops and tiles are among them.
std::string family_words(const Contraction& contraction, std::span<const Kernel> kernels,
                         RowOrders rows = RowOrders::neighbours);

// Why the bound does not hold for this schedule, which has passed check(): "its kernel 16x3 is not
// within 8x6, 12x4 or 4x12", "it reads A in place"; empty if it does.
std::string outside_family(const Contraction& contraction, const Schedule& schedule,
                           const Machine& machine, RowOrders rows = RowOrders::neighbours);

}  // namespace tcsim
