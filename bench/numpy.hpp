// NumPy contracts arrays in a Python that runs within this program. It is the NumPy that Debian's
// python3 imports: libpython3 is looked for when a benchmark runs, tcsim is not built with it.
#pragma once

#include <memory>
#include <string>

#include "bench/peer.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

// "1.24.2"; "" where there is no libpython3, or it finds no NumPy. Looked for once.
const std::string& numpy_version();

// The quickest of einsum()'s own loops, einsum(optimize=True), and matmul() of transposed arrays.
// One thread. Null where there is no NumPy. A call that fails says why on standard error and leaves
// C as it is.
std::unique_ptr<Peer> make_numpy(const Contraction& contraction);

}  // namespace tcsim::bench
