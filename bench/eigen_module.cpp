// Eigen's tensor module for the ranks that TCCG has, since it fixes ranks when it is compiled. A
// shared object of its own for each instruction set: its inline functions have the names of those
// that the rest of the program uses, and the linker would keep one copy for both. Nothing but
// tcsim_eigen_contract is visible outside.
#include "bench/eigen_module.hpp"

#include <unsupported/Eigen/CXX11/Tensor>

namespace {

template <int rank>
auto tensor(const double* data, const std::int64_t* extents) {
  Eigen::array<Eigen::Index, rank> e;
  for (int i = 0; i < rank; ++i) e[static_cast<std::size_t>(i)] = extents[i];
  return Eigen::TensorMap<const Eigen::Tensor<double, rank>>(data, e);
}

template <int rank_a, int rank_b, int pairs>
void contract(const TcsimEigenContraction& x) {
  constexpr int rank_c = rank_a + rank_b - 2 * pairs;
  Eigen::array<Eigen::IndexPair<Eigen::Index>, pairs> summed;
  for (int i = 0; i < pairs; ++i) {
    summed[static_cast<std::size_t>(i)] = {x.pairs_a[i], x.pairs_b[i]};
  }
  const auto a = tensor<rank_a>(x.a, x.extents_a);
  const auto b = tensor<rank_b>(x.b, x.extents_b);
  const auto product = a.contract(b, summed);
  Eigen::array<Eigen::Index, rank_c> extents;
  Eigen::array<int, rank_c> order;
  bool in_order = true;
  for (int i = 0; i < rank_c; ++i) {
    const auto at = static_cast<std::size_t>(i);
    order[at] = x.shuffle[i];
    in_order = in_order && x.shuffle[i] == i;
    int left = x.shuffle[i];
    const auto find = [&](int rank, const std::int64_t* from, const int* pair) {
      for (int d = 0; d < rank; ++d) {
        bool is_summed = false;
        for (int p = 0; p < pairs; ++p) is_summed = is_summed || pair[p] == d;
        if (!is_summed && left-- == 0) extents[at] = from[d];
      }
    };
    find(rank_a, x.extents_a, x.pairs_a);
    find(rank_b, x.extents_b, x.pairs_b);
  }
  Eigen::TensorMap<Eigen::Tensor<double, rank_c>> c(x.c, extents);
  if (in_order) {
    c = product;
  } else {
    c = product.shuffle(order);
  }
}

}  // namespace

bool tcsim_eigen_contract(int rank_a, int rank_b, int pairs, const TcsimEigenContraction* x) {
  const auto try_one = [&]<int a, int b, int p>() {
    if (rank_a != a || rank_b != b || pairs != p) return false;
    if (x != nullptr) contract<a, b, p>(*x);
    return true;
  };
  // Rank of A at least that of B.
  return try_one.template operator()<3, 3, 2>() || try_one.template operator()<3, 2, 1>() ||
         try_one.template operator()<4, 4, 2>() || try_one.template operator()<4, 2, 1>() ||
         try_one.template operator()<5, 2, 1>() || try_one.template operator()<4, 4, 1>();
}
