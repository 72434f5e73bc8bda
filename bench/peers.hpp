// Which libraries there are to compare with, and what each of them makes of a contraction.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/gemm.hpp"
#include "bench/peer.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

struct Library {
  std::string word;     // as on the command line: "openblas"
  std::string name;     // "OpenBLAS"
  std::string version;  // of what was found; "" if it is missing
  std::string mend;     // how to get it: "apt-get install libopenblas0-serial"
  bool installed = false;
  std::vector<std::string> peers = {};  // names of those that compute contractions with it
};

// Installed or not: "openblas", "blis", "mkl", "tblis", "libxsmm", "eigen", "numpy".
std::vector<Library> contraction_libraries();
std::vector<Library> small_libraries();        // "openblas", "libxsmm"
std::vector<Library> convolution_libraries();  // "onednn"

// The peers of those libraries, by word, that are installed and have code for the contraction.
std::vector<std::unique_ptr<Peer>> peers_for(const Contraction& contraction,
                                             const std::vector<std::string>& words);

}  // namespace tcsim::bench
