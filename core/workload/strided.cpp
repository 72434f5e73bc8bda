#include "core/workload/strided.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

namespace {

// Lays one tensor out anew.
class Layer {
 public:
  Layer(IndexedTensor tensor, TensorId id, const std::string& mend)
      : tensor_(std::move(tensor)), id_(id), mend_(mend) {}

  IndexedTensor at(const Strided& where) {
    if (where.extents != tensor_.extents) {
      refuse(fmt::format("has shape ({}) where ({}) is wanted", fmt::join(where.extents, ", "),
                         fmt::join(tensor_.extents, ", ")),
             "give an array of that shape");
    }
    // Those of one element lie anywhere.
    std::vector<int> alone, order;
    for (int a = 0; a < std::ssize(where.extents); ++a) {
      const auto i = static_cast<std::size_t>(a);
      (where.extents[i] == 1 ? alone : order).push_back(a);
      if (where.extents[i] == 1) continue;
      if (where.strides[i] < 0) refuse(fmt::format("runs backward along axis {}", a), mend_);
      if (where.strides[i] == 0)
        refuse(fmt::format("repeats its elements along axis {}", a), mend_);
    }
    std::ranges::stable_sort(order, {}, [&](int a) { return stride(where, a); });
    place(where, order, alone);
    tensor_.order = alone;
    tensor_.order.insert(tensor_.order.end(), order.begin(), order.end());
    return std::move(tensor_);
  }

 private:
  static std::int64_t stride(const Strided& where, int axis) {
    return where.strides[static_cast<std::size_t>(axis)];
  }

  // Places of each axis, from the innermost outward. `alone`, of one element, lie further in.
  void place(const Strided& where, const std::vector<int>& order, const std::vector<int>& alone) {
    if (order.empty()) return;
    std::int64_t apart = stride(where, order.front());
    std::int64_t step = 1;  // of one place of the axis
    if (apart > 1 && !alone.empty()) {
      tensor_.extents[static_cast<std::size_t>(alone.front())] = apart;
      step = std::exchange(apart, 1);
    } else if (apart > 1) {
      if (id_ == TensorId::C) refuse(fmt::format("has neighbours {} elements apart", apart), mend_);
      for (Affine::Term& term : axis(order.front()).terms) term.coefficient *= apart;
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto a = static_cast<std::size_t>(order[i]);
      std::int64_t reach = where.extents[a];
      if (i == 0) reach = (reach - 1) * apart + 1;
      if (i + 1 == order.size()) {
        tensor_.extents[a] = reach;
        break;
      }
      const std::int64_t next = stride(where, order[i + 1]);
      if (next % step != 0 || next / step < reach) {
        refuse(fmt::format("steps by {} elements along axis {}, no whole number of axis {}", next,
                           order[i + 1], order[i]),
               mend_);
      }
      tensor_.extents[a] = next / step;
      step = next;
    }
  }

  Affine& axis(int a) { return tensor_.axes[static_cast<std::size_t>(a)]; }

  [[noreturn]] void refuse(const std::string& problem, const std::string& mend) const {
    throw UsageError(to_text(id_), "it " + problem, mend);
  }

  IndexedTensor tensor_;
  TensorId id_;
  const std::string& mend_;
};

}  // namespace

Contraction strided(const Contraction& contraction, const std::array<Strided, 3>& where,
                    const std::string& mend) {
  std::vector<Dimension> dims;
  for (int d = 0; d < contraction.dim_count(); ++d) dims.push_back(contraction.dim(DimId{d}));
  std::array<IndexedTensor, 3> tensors;
  for (const TensorId t : all_tensors) {
    const auto i = static_cast<std::size_t>(index(t));
    tensors[i] = Layer(contraction.tensor(t), t, mend).at(where[i]);
  }
  return {contraction.name(), std::move(dims), std::move(tensors), contraction.type()};
}

}  // namespace tcsim
