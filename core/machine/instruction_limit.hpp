// TCSIM_ISA, an environment variable: "avx2" or "plain" lets tcsim measure, choose and run as if
// this processor had no wider vectors. "avx512" and an empty text limit nothing.
#pragma once

namespace tcsim {

// Bits of the widest vectors that may be used, where the processor has them: 128, 256 or 512.
// Throws UsageError for another text.
int most_vector_bits();

}  // namespace tcsim
