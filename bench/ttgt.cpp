#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "bench/matrix_view.hpp"
#include "bench/peer.hpp"
#include "bench/transpose.hpp"
#include "bench/yardstick.hpp"
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

// The orders of fused dimensions that occur in a tensor, least copied first, each once.
std::vector<Matrices> sensible(const Contraction& c) {
  std::vector<Matrices> all;
  for (TensorId m : {TensorId::C, TensorId::A}) {
    for (TensorId n : {TensorId::C, TensorId::B}) {
      for (TensorId k : {TensorId::A, TensorId::B}) {
        const Matrices one = matrices(c, m, n, k);
        const bool known = std::ranges::any_of(all, [&](const Matrices& other) {
          return std::ranges::all_of(all_tensors, [&](TensorId t) {
            return one[t].rows == other[t].rows && one[t].columns == other[t].columns;
          });
        });
        if (!known) all.push_back(one);
      }
    }
  }
  std::ranges::stable_sort(all, {}, [&](const Matrices& one) { return copied(c, one); });
  return all;
}

// One tensor on its way into or out of the multiplications, as a matrix for each place of a batch.
template <class T>
class Side {
 public:
  Side(const Contraction& c, TensorId t, const Sides& sides, const Group& batch) {
    if (const auto view = matrix_view(c, t, sides.rows, sides.columns)) {
      view_ = *view;
      for (DimId d : batch) batch_.push_back(c.stride(t, d).value());
      return;
    }
    const std::int64_t height = extent(c, sides.rows), width = extent(c, sides.columns);
    // The group that begins with the tensor's stride-one dimension runs fastest in the copy too, so
    // that runs are copied.
    const bool by_rows = !sides.columns.empty() && sides.columns.front() == c.fastest(t);
    view_ = {by_rows, by_rows ? width : height};
    std::vector<Transposition::Dim> dims;
    std::int64_t stride = 1;
    const auto add = [&](DimId d) {
      const std::int64_t e = c.dim(d).extent, from = c.stride(t, d).value();
      dims.push_back(t == TensorId::C ? Transposition::Dim{e, stride, from}
                                      : Transposition::Dim{e, from, stride});
      return std::exchange(stride, stride * e);
    };
    for (DimId d : by_rows ? sides.columns : sides.rows) add(d);
    for (DimId d : by_rows ? sides.rows : sides.columns) add(d);
    for (DimId d : batch) batch_.push_back(add(d));
    transposition_.emplace(std::move(dims));
    buffer_.emplace(stride * size_of(c.type()));
  }

  MatrixView view() const { return view_; }
  bool copied() const { return transposition_.has_value(); }
  // From one place along each dimension of the batch to the next, in what in() or place() give.
  const std::vector<std::int64_t>& batch() const { return batch_; }

  // The matrices of an operand.
  const T* in(const T* tensor) const {
    if (!copied()) return tensor;
    (*transposition_)(tensor, matrix());
    return matrix();
  }
  // Where the result goes, and what takes it to the tensor then.
  T* place(T* tensor) const { return copied() ? matrix() : tensor; }
  void out(T* tensor) const {
    if (copied()) (*transposition_)(static_cast<const T*>(matrix()), tensor);
  }

 private:
  T* matrix() const { return reinterpret_cast<T*>(buffer_->data()); }

  MatrixView view_;
  std::vector<std::int64_t> batch_;
  std::optional<Transposition> transposition_;
  std::optional<Block> buffer_;
};

// In one order of the fused dimensions.
template <class T>
class Order {
 public:
  Order(const Contraction& c, const Matrices& all, const Group& batch)
      : m_(extent(c, all[TensorId::A].rows)),
        n_(extent(c, all[TensorId::B].columns)),
        k_(extent(c, all[TensorId::A].columns)),
        a_(c, TensorId::A, all[TensorId::A], batch),
        b_(c, TensorId::B, all[TensorId::B], batch),
        c_(c, TensorId::C, all[TensorId::C], batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch_.dims.push_back(
          {c.dim(batch[i]).extent, {a_.batch()[i], b_.batch()[i], c_.batch()[i]}});
    }
    std::ranges::reverse(batch_.dims);
  }

  std::string how() const {
    std::string tensors;
    if (a_.copied()) tensors += "A";
    if (b_.copied()) tensors += "B";
    if (c_.copied()) tensors += "C";
    return fmt::format("{}x{}x{}, {}", m_, n_, k_,
                       tensors.empty() ? "nothing transposed" : tensors + " transposed");
  }

  void run(const Gemm& gemm, const T* a, const T* b, T* c) const {
    const T *left = a_.in(a), *right = b_.in(b);
    T* const to = c_.place(c);
    batch_.run(3, [&](const std::int64_t* offset) {
      multiply(gemm, m_, n_, k_, left + offset[0], a_.view(), right + offset[1], b_.view(), T{0},
               to + offset[2], c_.view());
    });
    c_.out(c);
  }

 private:
  std::int64_t m_, n_, k_;
  Side<T> a_, b_, c_;
  LoopNest batch_;
};

template <class T>
class Ttgt : public PeerOf<T> {
 public:
  Ttgt(const Contraction& c, const Gemm& gemm)
      : contraction_(c),
        gemm_(gemm),
        batch_(in_order_of(c, TensorId::C, DimClass::batch)),
        orders_(sensible(c)),
        order_(std::make_unique<Order<T>>(c, orders_.front(), batch_)) {}

  std::string name() const override { return "TTGT " + gemm_.name(); }
  std::string how() const override { return order_->how(); }

  void execute(const T* a, const T* b, T* c) override { order_->run(gemm_, a, b, c); }

  // At most two have their buffers at a time.
  void choose_way(const T* a, const T* b, T* c) override {
    const auto quickest_of_two = [&](const Order<T>& order) {
      Seconds best(std::numeric_limits<double>::infinity());
      for (int i = 0; i < 2; ++i) {
        best = std::min(best, time_of([&] { order.run(gemm_, a, b, c); }));
      }
      return best;
    };
    Seconds best = orders_.size() > 1 ? quickest_of_two(*order_) : Seconds(0);
    for (std::size_t i = 1; i < orders_.size(); ++i) {
      auto other = std::make_unique<Order<T>>(contraction_, orders_[i], batch_);
      if (const Seconds time = quickest_of_two(*other); time < best) {
        best = time;
        order_ = std::move(other);
      }
    }
  }

 private:
  Contraction contraction_;
  Gemm gemm_;
  Group batch_;
  std::vector<Matrices> orders_;
  std::unique_ptr<Order<T>> order_;
};

}  // namespace

std::unique_ptr<Peer> make_ttgt(const Contraction& c, const Gemm& gemm) {
  if (c.type() == ElementType::f64) return std::make_unique<Ttgt<double>>(c, gemm);
  return std::make_unique<Ttgt<float>>(c, gemm);
}

}  // namespace tcsim::bench
