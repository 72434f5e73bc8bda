#include "bench/peer_limit.hpp"

#include <cstdlib>

#include "core/machine/instruction_limit.hpp"

namespace tcsim::bench {

void limit_peer(const char* variable, const char* avx2, const char* plain) {
  const int bits = most_vector_bits();
  if (bits < 512) setenv(variable, bits == 256 ? avx2 : plain, 0);
}

}  // namespace tcsim::bench
