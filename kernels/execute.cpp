#include "kernels/execute.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/error.hpp"
#include "kernels/fetch_ahead.hpp"
#include "kernels/pack.hpp"
#include "kernels/shapes.hpp"

namespace tcsim {

namespace {

bool all_packed(const Plan& plan) { return plan.pack(TensorId::A) && plan.pack(TensorId::B); }

const KernelShape* vector_shape(const Plan& plan) {
  if (!all_packed(plan)) return nullptr;
  return runnable_shape(Elements(plan.mr()), Elements(plan.nr()), plan.contraction().type());
}

// Where element (row r, column p of k) of an operand lies: base + rows[r] + ks[p].
template <class T>
struct Operand {
  const T* base;
  const std::int64_t* rows;
  const std::int64_t* ks;
};

// The visitor of walk() that moves and multiplies real numbers.
template <class T>
class Executor {
 public:
  Executor(const Plan& plan, Arena& arena, std::stop_token stop)
      : plan_(plan),
        stop_(std::move(stop)),
        mr_(plan.mr()),
        nr_(plan.nr()),
        c_(arena.as<T>(ArrayId::C)),
        c_rows_(plan.offsets(TensorId::C, DimClass::m)),
        c_columns_(plan.offsets(TensorId::C, DimClass::n)),
        c_runs_(contiguous_runs(c_rows_, plan.extent(DimClass::m))),
        result_(static_cast<std::size_t>(mr_ * nr_)),
        left_(plan, plan.left(), mr_, arena),
        right_(plan, plan.right(), nr_, arena) {
    if (const KernelShape* shape = vector_shape(plan)) code_ = microkernel<T>(*shape);
    for (std::int64_t j = 0; j < nr_; ++j) result_columns_.push_back(j * mr_);
    for (std::int64_t r = 0; r < std::max(mr_, nr_); ++r) panel_rows_.push_back(r);
  }

  void pack(const PackPlan& pack, const Tile& tile) {
    stop_if_asked();
    Side& side = pack.tensor == plan_.left() ? left_ : right_;
    (*side.packer)(tile, side.tensor, side.buffer);
    side.ahead->after(tile, side.tensor);
  }

  void kernel(const KernelCall& call) {
    // Asking costs an atomic load, so not at every call.
    if (++calls_ % 256 == 0) stop_if_asked();
    if (code_) {
      multiply_vectors(call);
    } else {
      multiply_plainly(call);
    }
  }

 private:
  // One operand: the tensor and, if it is packed, its buffer.
  struct Side {
    Side(const Plan& plan, TensorId t, std::int64_t panel_size, Arena& arena)
        : id(t), tensor(arena.as<T>(array_of(t))), buffer(arena.as<T>(buffer_of(t))) {
      const PackPlan* pack = plan.pack(t);
      if (!pack) return;
      packer.emplace(plan, *pack);
      ahead.emplace(plan, *pack);
      for (std::int64_t p = 0; p < plan.extent(DimClass::k); ++p)
        panel_ks.push_back(p * panel_size);
    }

    TensorId id;
    const T* tensor;
    T* buffer;
    std::optional<Packer<T>> packer;
    std::optional<FetchAhead<T>> ahead;
    std::vector<std::int64_t> panel_ks;  // where column p of a micropanel begins
  };

  void stop_if_asked() const {
    if (stop_.stop_requested()) throw Interrupted();
  }

  T* c_of(const Tile& tile) const {
    return c_ + plan_.offset(TensorId::C, DimClass::batch, tile[at(DimClass::batch)].begin);
  }

  void multiply_vectors(const KernelCall& call) {
    const Range m = (*call.tile)[at(DimClass::m)], n = (*call.tile)[at(DimClass::n)];
    const std::int64_t kc = (*call.tile)[at(DimClass::k)].size;
    const T* left = left_.buffer + call.left_offset;
    const T* right = right_.buffer + call.right_offset;
    // A step of k takes as many cycles as there are accumulators; a line in that time is less than
    // memory gives, and does not crowd out what the kernel loads.
    left_.ahead->fetch(kc * 3 / 4 + 1);
    right_.ahead->fetch(kc * 3 / 4 + 1);
    if (n.size == nr_ && m.size == mr_ && c_runs_[static_cast<std::size_t>(m.begin)] >= mr_) {
      T* c = c_of(*call.tile) + c_rows_[m.begin];
      return code_(kc, left, right, c, c_columns_ + n.begin, call.first_k);
    }
    // A part of a tile, or rows that are apart in C. Panels are padded with zeros, so a whole tile
    // can be computed and a part of it kept.
    code_(kc, left, right, result_.data(), result_columns_.data(), true);
    store(*call.tile, call.first_k);
  }

  // C (+)= result_, of which the tile's part is kept.
  void store(const Tile& tile, bool overwrite) {
    const Range m = tile[at(DimClass::m)], n = tile[at(DimClass::n)];
    const std::int64_t* rows = c_rows_ + m.begin;
    for (std::int64_t j = 0; j < n.size; ++j) {
      T* c = c_of(tile) + c_columns_[n.begin + j];
      const T* from = result_.data() + j * mr_;
      if (overwrite) {
        for (std::int64_t i = 0; i < m.size; ++i) c[rows[i]] = from[i];
      } else {
        for (std::int64_t i = 0; i < m.size; ++i) c[rows[i]] += from[i];
      }
    }
  }

  Operand<T> operand(const Side& side, DimClass group, std::int64_t offset,
                     const Tile& tile) const {
    if (offset >= 0) return {side.buffer + offset, panel_rows_.data(), side.panel_ks.data()};
    const std::int64_t batch = tile[at(DimClass::batch)].begin;
    return {side.tensor + plan_.offset(side.id, DimClass::batch, batch),
            plan_.offsets(side.id, group) + tile[at(group)].begin,
            plan_.offsets(side.id, DimClass::k) + tile[at(DimClass::k)].begin};
  }

  void multiply_plainly(const KernelCall& call) {
    const Tile& tile = *call.tile;
    const Operand<T> left = operand(left_, DimClass::m, call.left_offset, tile);
    const Operand<T> right = operand(right_, DimClass::n, call.right_offset, tile);
    const std::int64_t m = tile[at(DimClass::m)].size, n = tile[at(DimClass::n)].size;
    std::fill(result_.begin(), result_.end(), T{0});
    for (std::int64_t p = 0; p < tile[at(DimClass::k)].size; ++p) {
      const T* l = left.base + left.ks[p];
      const T* r = right.base + right.ks[p];
      for (std::int64_t j = 0; j < n; ++j) {
        const T factor = r[right.rows[j]];
        T* sum = result_.data() + j * mr_;
        for (std::int64_t i = 0; i < m; ++i) sum[i] += l[left.rows[i]] * factor;
      }
    }
    store(tile, call.first_k);
  }

  const Plan& plan_;
  std::stop_token stop_;
  std::int64_t mr_, nr_;
  T* c_;
  const std::int64_t* c_rows_;
  const std::int64_t* c_columns_;
  std::vector<std::int64_t> c_runs_;  // of neighbours in C among the rows
  std::vector<T> result_;             // one tile, mr_ x nr_, columns of mr_
  std::vector<std::int64_t> result_columns_;
  std::vector<std::int64_t> panel_rows_;  // 0, 1, 2...: rows within a micropanel
  Side left_, right_;
  Microkernel<T> code_ = nullptr;
  std::uint64_t calls_ = 0;
};

}  // namespace

std::string kernel_used(const Plan& plan) {
  const KernelShape* shape = vector_shape(plan);
  const char* code = shape              ? to_text(shape->needs)
                     : all_packed(plan) ? "plain loop"
                                        : "in-place loop";
  return fmt::format("{} {}x{}", code, plan.mr(), plan.nr());
}

void execute(const Plan& plan, Arena& arena, std::stop_token stop) {
  if (plan.contraction().type() == ElementType::f64) {
    walk(plan, Executor<double>(plan, arena, std::move(stop)));
  } else {
    walk(plan, Executor<float>(plan, arena, std::move(stop)));
  }
}

}  // namespace tcsim
