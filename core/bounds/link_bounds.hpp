// What no order of a workload's multiply-adds moves less than over each link of a machine: the
// lower bound (lower.hpp) of a store that is as large as all that lies inside the link, with ideal
// replacement. So it holds for every schedule, kernel and policy, and for levels that hold lines
// twice or once. Copies, lines of which a part is used, and prefetches only add to it.
//
// Results are sums that begin at zero in the registers, so over that link they need not come in.
// Into caches they do, since a store that misses fetches its line, unless no cache allocates
// stores.
#pragma once

#include <vector>

#include "core/bounds/lower.hpp"
#include "core/machine/machine.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bounds {

// Elements that fit inside each link: in the vector registers, and one vector more that an
// instruction may read from memory, then in the caches too.
std::vector<std::int64_t> capacities_inside(const Machine& machine, ElementType type);

// Of one workload, for any number of machines. May be asked from several threads.
class LinkBounds {
 public:
  explicit LinkBounds(const Contraction& contraction);

  // Of each link, under the machine's accounting: loads, or loads and stores. Throws TooLargeError
  // above 2^62 bytes.
  std::vector<Bytes> at(const Machine& machine) const;

 private:
  // Where results begin inside, and where they are fetched before they are first written.
  struct Curves {
    LowerCurve made, fetched;
  };
  static Curves curves_of(const Contraction& contraction);

  Contraction contraction_;
  Curves curves_;
};

}  // namespace tcsim::bounds
