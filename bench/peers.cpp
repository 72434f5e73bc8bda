#include "bench/peers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/libxsmm.hpp"
#include "bench/numpy.hpp"
#include "bench/onednn.hpp"
#include "bench/tblis.hpp"

namespace tcsim::bench {

namespace {

Library of(const char* word, const char* name, const char* mend, const std::optional<Gemm>& g) {
  const std::string transposing = fmt::format("TTGT {}", name),
                    in_place = fmt::format("loops {}", name);
  return {word, name, g ? g->version() : "", mend, g.has_value(), {transposing, in_place}};
}

Library openblas() {
  return of("openblas", "OpenBLAS", "apt-get install libopenblas0-serial", Gemm::openblas());
}

Library libxsmm() {
  return {"libxsmm",
          "libxsmm",
          libxsmm_version(),
          "apt-get install libxsmm-dev, then configure and build tcsim again, or put a "
          "libxsmm.so of version 1 where the loader finds it",
          libxsmm_installed(),
          {"loops libxsmm"}};
}

}  // namespace

std::vector<Library> contraction_libraries() {
  return {openblas(),
          of("blis", "BLIS", "apt-get install libblis4-serial", Gemm::blis()),
          of("mkl", "MKL",
             "install oneMKL (its Python package mkl will do) and name the folder of libmkl_rt.so "
             "in LD_LIBRARY_PATH",
             Gemm::mkl()),
          {"tblis",
           "TBLIS",
           Tblis::found() ? "shared library" : "",
           "build TBLIS and name the folder of libtblis.so in LD_LIBRARY_PATH",
           Tblis::found().has_value(),
           {"TBLIS"}},
          libxsmm(),
          {"eigen",
           "Eigen",
           eigen_installed() ? eigen_version() : "",
           "configure tcsim with -DTCSIM_BENCH=ON and build it, for a processor with AVX2",
           eigen_installed(),
           {"Eigen"}},
          {"numpy",
           "NumPy",
           numpy_version(),
           "apt-get install python3-numpy and the libpython3 of that version",
           !numpy_version().empty(),
           {"NumPy"}}};
}

std::vector<Library> small_libraries() { return {openblas(), libxsmm()}; }

std::vector<Library> convolution_libraries() {
  return {{"onednn", "oneDNN", onednn_version(),
           "apt-get install libdnnl-dev, or another on OpenMP, then configure and "
           "build tcsim again",
           onednn_installed()}};
}

std::vector<std::unique_ptr<Peer>> peers_for(const Contraction& c,
                                             const std::vector<std::string>& words) {
  if (!c.is_plain()) return {};  // none of them computes convolutions
  const auto wanted = [&](const char* word) {
    return std::ranges::find(words, word) != words.end();
  };
  std::vector<std::unique_ptr<Peer>> all;
  const auto add_gemm = [&](const std::optional<Gemm>& gemm) {
    if (!gemm) return;
    all.push_back(make_ttgt(c, *gemm));
    all.push_back(make_loop_over_gemm(c, *gemm));
  };
  const auto add = [&](std::unique_ptr<Peer> peer) {
    if (peer) all.push_back(std::move(peer));
  };
  for (const char* word : {"openblas", "blis", "mkl"}) {
    if (wanted(word)) add_gemm(Gemm::find(word));
  }
  if (wanted("tblis") && Tblis::found()) add(make_tblis(c, *Tblis::found()));
  if (wanted("libxsmm")) add(make_loop_over_libxsmm(c));
  if (wanted("eigen")) add(make_eigen(c));
  if (wanted("numpy")) add(make_numpy(c));
  return all;
}

}  // namespace tcsim::bench
