// A catalog of kernels that nobody measured.
#pragma once

#include <vector>

#include "core/machine/kernel_catalog.hpp"

namespace tcsim::test {

// avx512, k = 4, 8, ... with these shares of a peak of 60.1 GFLOPS.
inline MeasuredKernel made_up_kernel(int vectors, int columns, std::vector<double> shares,
                                     Bytes element = Bytes(8),
                                     KernelScheme scheme = KernelScheme::packed) {
  MeasuredKernel m{
      "avx512",          element, scheme, vectors, Elements(vectors * (64 / element.value())),
      Elements(columns), {}};
  std::int64_t k = 4;
  for (double share : shares) {
    m.points.push_back({k, FlopsPerSecond(share * 60.1e9), share});
    k *= 2;
  }
  return m;
}

inline KernelCatalog made_up_catalog() {
  using namespace std::chrono_literals;
  return {"0.1.0",
          "A \"made up\" processor",
          Bytes(48 << 10),
          2026y / 1 / 31,
          "medians; processor time",
          5,
          {made_up_kernel(1, 1, {0.1, 0.2}), made_up_kernel(2, 14, {0.5, 1.0 / 3, 0.96}),
           made_up_kernel(3, 8, {0.99, 0.816}), made_up_kernel(4, 6, {0.2, 0.81}),
           made_up_kernel(3, 8, {0.3}, Bytes(4)),
           made_up_kernel(3, 8, {0.5, 0.6}, Bytes(8), KernelScheme::in_place),
           made_up_kernel(2, 8, {0.7, 0.5}, Bytes(8), KernelScheme::in_place)}};
}

// As many as a measurement finds: all that the registers of AVX-512 hold, in both types and
// schemes.
inline KernelCatalog made_up_family() {
  KernelCatalog c = made_up_catalog();
  c.kernels.clear();
  for (KernelScheme scheme : all_kernel_schemes) {
    for (Bytes element : {Bytes(8), Bytes(4)}) {
      for (int vectors = 1; vectors <= 4; ++vectors) {
        for (int columns = 1; columns <= 14 && vectors * (columns + 1) <= 32; ++columns) {
          const double most = 1 - 1.0 / (1 + vectors * columns);
          c.kernels.push_back(made_up_kernel(vectors, columns, {most / 2, most}, element, scheme));
        }
      }
    }
  }
  return c;
}

}  // namespace tcsim::test
