// Any bytes are a study whose designs can be asked for and whose chains cover them, or are reported
// as an InputError.
#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/study/design.hpp"
#include "core/workload/parse.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  static const Machine machine = find_machine("e5-2680v4");
  static const Machine levels = find_machine("gpu-cluster-node");
  static const Contraction contraction = parse_contraction(
      "ij-ik-kj", parse_sizes("i=40,j=48,k=56"), Layout::row_major, ElementType::f64);
  // Other files are not what is tried here.
  const StudySources sources{
      [](const std::string& name) {
        if (name != "m" && name != "l") throw UsageError(name, "no such machine", "");
        return name == "m" ? machine : levels;
      },
      [](const std::string& name) {
        if (name != "w") throw UsageError(name, "no such suite", "");
        return std::vector<Contraction>{contraction};
      },
      [](const fusion::ChainRequest& request) {
        if (request.sizes.empty()) throw UsageError(request.name, "no such chain", "");
        return fusion::find_chains(request);
      },
      [](const std::string& name) -> std::string { throw UsageError(name, "no such model", ""); }};
  try {
    const Study study = parse_study(bytes, "fuzz", sources);
    meaning(study);
    Designs designs(study);
    LeftOut why;
    const std::int64_t n = study.design_count();
    for (std::int64_t i : {std::int64_t{0}, n / 2, n - 1}) designs.at(i, why);
    const Chains chains(study);
    const Chain last = chains.at(chains.size() - 1);
    if (last.first + last.count != n) std::abort();
  } catch (const InputError&) {
  }
}
