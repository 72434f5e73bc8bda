#include <dlfcn.h>
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <utility>
#include <vector>

#include "bench/eigen_module.hpp"
#include "bench/module.hpp"
#include "bench/peer.hpp"
#include "kernels/instruction_set.hpp"

namespace tcsim::bench {

namespace {

// Null if it was not built, or this processor has neither instruction set.
TcsimEigenContract* code() {
  static TcsimEigenContract* const found = []() -> TcsimEigenContract* {
    void* const module =
        load_module(fmt::format("tcsim_eigen_{}", to_text(best_instruction_set())));
    if (module == nullptr) return nullptr;
    return reinterpret_cast<TcsimEigenContract*>(dlsym(module, "tcsim_eigen_contract"));
  }();
  return found;
}

int place(const std::vector<DimId>& dims, DimId d) {
  return static_cast<int>(std::ranges::find(dims, d) - dims.begin());
}

class EigenTensor : public PeerOf<double> {
 public:
  // Precondition: code() has these ranks; no batch.
  explicit EigenTensor(const Contraction& c, TensorId left, TensorId right)
      : swapped_(left == TensorId::B) {
    const std::vector<DimId> a = c.memory_order(left), b = c.memory_order(right);
    x_.rank_a = static_cast<int>(a.size());
    x_.rank_b = static_cast<int>(b.size());
    std::vector<DimId> product;
    for (std::size_t i = 0; i < a.size(); ++i) {
      x_.extents_a[i] = c.dim(a[i]).extent;
      if (c.dim_class(a[i]) == DimClass::k) {
        x_.pairs_a[x_.pairs] = static_cast<int>(i);
        x_.pairs_b[x_.pairs++] = place(b, a[i]);
      } else {
        product.push_back(a[i]);
      }
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      x_.extents_b[i] = c.dim(b[i]).extent;
      if (c.dim_class(b[i]) != DimClass::k) product.push_back(b[i]);
    }
    const std::vector<DimId> to = c.memory_order(TensorId::C);
    for (std::size_t i = 0; i < to.size(); ++i) x_.shuffle[i] = place(product, to[i]);
  }

  std::string name() const override { return "Eigen"; }
  std::string how() const override { return swapped_ ? "B.contract(A)" : "A.contract(B)"; }

  void execute(const double* a, const double* b, double* c) override {
    x_.a = swapped_ ? b : a;
    x_.b = swapped_ ? a : b;
    x_.c = c;
    code()(x_.rank_a, x_.rank_b, x_.pairs, &x_);
  }

 private:
  bool swapped_;
  TcsimEigenContraction x_{};
};

}  // namespace

bool eigen_installed() { return code() != nullptr; }

std::string eigen_version() {
  return fmt::format("{}.{}.{}, {}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION,
                     to_text(best_instruction_set()));
}

std::unique_ptr<Peer> make_eigen(const Contraction& c) {
  if (c.type() != ElementType::f64 || code() == nullptr || !c.dims_of(DimClass::batch).empty())
    return {};
  // There is code for a first operand that has at least the second's rank.
  TensorId left = TensorId::A, right = TensorId::B;
  if (c.dims_of(left).size() < c.dims_of(right).size()) std::swap(left, right);
  const auto rank = [&](TensorId t) { return static_cast<int>(c.dims_of(t).size()); };
  if (!code()(rank(left), rank(right), static_cast<int>(c.dims_of(DimClass::k).size()), nullptr)) {
    return {};
  }
  return std::make_unique<EigenTensor>(c, left, right);
}

}  // namespace tcsim::bench
