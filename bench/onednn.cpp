#include "bench/onednn.hpp"

#include <dlfcn.h>

#include "bench/module.hpp"
#include "bench/peer_limit.hpp"

namespace tcsim::bench {

namespace {

// What is found in the module, and in what it depends on.
struct Onednn {
  MakeOnednnConvolution* make = nullptr;
  std::string version;
  // OpenMP's, of the calling thread. Null where oneDNN has no threads.
  int (*get_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
};

template <class F>
F* function(void* module, const char* name) {
  return reinterpret_cast<F*>(dlsym(module, name));
}

// `make` is null where there is none of use.
const Onednn& onednn() {
  static const Onednn found = []() -> Onednn {
    limit_peer("ONEDNN_MAX_CPU_ISA", "AVX2", "SSE41");
    void* const module = load_module("tcsim_onednn");
    if (module == nullptr) return {};
    OnednnVersion version;
    function<GetOnednnVersion>(module, "tcsim_onednn_version")(version);
    Onednn all{function<MakeOnednnConvolution>(module, "tcsim_onednn_convolution"), version.number};
    if (version.threads == "no threads") return all;
    if (version.threads != "OpenMP") return {};
    all.get_threads = function<int()>(module, "omp_get_max_threads");
    all.set_threads = function<void(int)>(module, "omp_set_num_threads");
    if (all.get_threads == nullptr || all.set_threads == nullptr) return {};
    return all;
  }();
  return found;
}

}  // namespace

bool onednn_installed() { return onednn().make != nullptr; }
std::string onednn_version() { return onednn().version; }

OneThread::OneThread() {
  if (onednn().set_threads == nullptr) return;
  before_ = onednn().get_threads();
  onednn().set_threads(1);
}

OneThread::~OneThread() {
  if (before_ > 0) onednn().set_threads(before_);
}

OnednnProblem onednn_problem(const PlainConvolution& p, bool padded) {
  OnednnProblem to;
  to.axes = static_cast<int>(p.shape.axes.size());
  to.n = p.shape.n;
  to.groups = p.shape.groups;
  to.k = p.shape.k;
  to.c = p.shape.c;
  to.stride = p.shape.stride;
  to.dilation = p.shape.dilation;
  for (std::size_t i = 0; i < p.shape.axes.size(); ++i) {
    const ConvolutionShape::Axis& axis = p.shape.axes[i];
    to.output[i] = axis.output;
    to.filter[i] = axis.filter;
    to.image[i] = padded ? axis.padded() : axis.image;
    to.before[i] = padded ? 0 : axis.before;
    to.after[i] = padded ? 0 : axis.after;
  }
  to.image_data = padded ? p.padded.data() : p.image.data();
  to.weights = p.weights.data();
  return to;
}

void for_each_way(const OnednnProblem& problem, OnednnLayout layout, bool reorders,
                  const std::function<void(std::unique_ptr<OnednnConvolution>)>& visit) {
  if (!onednn_installed()) return;
  bool more = true;
  for (int way = 0; more; ++way) {
    std::unique_ptr<OnednnConvolution> one(onednn().make(problem, layout, reorders, way, more));
    if (one) visit(std::move(one));
  }
}

}  // namespace tcsim::bench
