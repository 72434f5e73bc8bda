#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "bench/matrix_view.hpp"
#include "bench/peer.hpp"
#include "bench/transpose.hpp"
#include "core/units/enum_array.hpp"
#include "microbench/memory.hpp"

namespace tcsim::bench {

namespace {

// A tensor's rows and columns in the matrix multiplication.
struct Sides {
  Group rows, columns;
};

using Matrices = EnumArray<TensorId, Sides, 3>;

Matrices matrices(const Contraction& c, TensorId m_from, TensorId n_from, TensorId k_from) {
  const Group m = in_order_of(c, m_from, DimClass::m), n = in_order_of(c, n_from, DimClass::n),
              k = in_order_of(c, k_from, DimClass::k);
  return {{Sides{m, k}, Sides{k, n}, Sides{m, n}}};
}

bool in_place(const Contraction& c, TensorId t, const Matrices& all) {
  return matrix_view(c, t, all[t].rows, all[t].columns).has_value();
}

double copied(const Contraction& c, const Matrices& all) {
  double elements = 0;
  for (TensorId t : all_tensors) {
    if (!in_place(c, t, all)) elements += static_cast<double>(c.size(t).value());
  }
  return elements;
}

Matrices least_copied(const Contraction& c) {
  std::optional<Matrices> best;
  for (TensorId m : {TensorId::C, TensorId::A}) {
    for (TensorId n : {TensorId::C, TensorId::B}) {
      for (TensorId k : {TensorId::A, TensorId::B}) {
        const Matrices all = matrices(c, m, n, k);
        if (!best || copied(c, all) < copied(c, *best)) best = all;
      }
    }
  }
  return *best;
}

// One tensor on its way into or out of the multiplication.
class Side {
 public:
  Side(const Contraction& c, TensorId t, const Sides& sides) {
    if (const auto view = matrix_view(c, t, sides.rows, sides.columns)) {
      view_ = *view;
      return;
    }
    const std::int64_t height = extent(c, sides.rows), width = extent(c, sides.columns);
    // The group that begins with the tensor's stride-one dimension runs fastest in the copy too, so
    // that runs are copied.
    const bool by_rows = !sides.columns.empty() && sides.columns.front() == c.fastest(t);
    view_ = {by_rows, by_rows ? width : height};
    std::vector<Transposition::Dim> dims;
    std::int64_t stride = 1;
    const auto add = [&](const Group& group) {
      for (DimId d : group) {
        const std::int64_t e = c.dim(d).extent, from = c.stride(t, d).value();
        dims.push_back(t == TensorId::C ? Transposition::Dim{e, stride, from}
                                        : Transposition::Dim{e, from, stride});
        stride *= e;
      }
    };
    add(by_rows ? sides.columns : sides.rows);
    add(by_rows ? sides.rows : sides.columns);
    transposition_.emplace(std::move(dims));
    buffer_.emplace(height * width * size_of(ElementType::f64));
  }

  MatrixView view() const { return view_; }
  bool copied() const { return transposition_.has_value(); }

  // The matrix of an operand.
  const double* in(const double* tensor) const {
    if (!copied()) return tensor;
    (*transposition_)(tensor, matrix());
    return matrix();
  }
  // Where the result goes, and what takes it to the tensor then.
  double* place(double* tensor) const { return copied() ? matrix() : tensor; }
  void out(double* tensor) const {
    if (copied()) (*transposition_)(matrix(), tensor);
  }

 private:
  double* matrix() const { return reinterpret_cast<double*>(buffer_->data()); }

  MatrixView view_;
  std::optional<Transposition> transposition_;
  std::optional<Block> buffer_;
};

class Ttgt : public Peer {
 public:
  Ttgt(const Contraction& c, const Gemm& gemm, const Matrices& all)
      : gemm_(gemm),
        m_(extent(c, all[TensorId::A].rows)),
        n_(extent(c, all[TensorId::B].columns)),
        k_(extent(c, all[TensorId::A].columns)),
        a_(c, TensorId::A, all[TensorId::A]),
        b_(c, TensorId::B, all[TensorId::B]),
        c_(c, TensorId::C, all[TensorId::C]) {
    for (DimId d : c.dims_of(DimClass::batch)) batch_.dims.push_back(loop_over(c, d));
  }

  std::string name() const override { return "TTGT " + gemm_.name(); }

  std::string how() const override {
    std::string tensors;
    if (a_.copied()) tensors += "A";
    if (b_.copied()) tensors += "B";
    if (c_.copied()) tensors += "C";
    return fmt::format("{}x{}x{}, {}", m_, n_, k_,
                       tensors.empty() ? "nothing transposed" : tensors + " transposed");
  }

  void run(const double* a, const double* b, double* c) override {
    batch_.run(3, [&](const std::int64_t* offset) {
      double* to = c + offset[2];
      multiply(gemm_, m_, n_, k_, a_.in(a + offset[0]), a_.view(), b_.in(b + offset[1]), b_.view(),
               0, c_.place(to), c_.view());
      c_.out(to);
    });
  }

 private:
  Gemm gemm_;
  std::int64_t m_, n_, k_;
  Side a_, b_, c_;
  LoopNest batch_;
};

}  // namespace

std::unique_ptr<Peer> make_ttgt(const Contraction& c, const Gemm& gemm) {
  if (c.type() != ElementType::f64) throw std::invalid_argument("a peer for f64 only");
  return std::make_unique<Ttgt>(c, gemm, least_copied(c));
}

}  // namespace tcsim::bench
