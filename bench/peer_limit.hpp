// Peers under TCSIM_ISA (core/machine/instruction_limit.hpp): each has a variable of its own for
// the widest vectors that it uses, and reads it once.
#pragma once

namespace tcsim::bench {

// Sets a peer's variable to what it calls AVX2, or what has vectors of 128 bits, where TCSIM_ISA
// allows no more and the variable is not set. Before the peer is loaded or asked.
void limit_peer(const char* variable, const char* avx2, const char* plain);

}  // namespace tcsim::bench
