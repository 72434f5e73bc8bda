#include "kernels/executor.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "kernels/shapes.hpp"

namespace tcsim {

template <class T>
Executor<T>::Executor(const Plan& plan, PackBuffers<T> buffers)
    : plan_(plan),
      mr_(plan.mr()),
      nr_(plan.nr()),
      family_(kernel_family<T>(
          instruction_set_for(Elements(mr_), Elements(nr_), plan.contraction().type()))),
      c_rows_(plan.offsets(TensorId::C, DimClass::m)),
      c_columns_(plan.offsets(TensorId::C, DimClass::n)),
      c_row_runs_(contiguous_runs(c_rows_, plan.extent(DimClass::m))),
      result_rows_((mr_ + family_.lanes - 1) / family_.lanes * family_.lanes),
      left_(plan, plan.left(), DimClass::m, family_.lanes,
            plan.left() == TensorId::A ? buffers.a : buffers.b),
      right_(plan, plan.right(), DimClass::n, 0,
             plan.right() == TensorId::A ? buffers.a : buffers.b) {
  c_rows_apart_ =
      std::ranges::all_of(c_row_runs_, [this](std::int64_t run) { return run < family_.lanes; });
  const std::int64_t vectors = result_rows_ / family_.lanes;
  whole_ = mr_ == result_rows_ && vectors <= KernelFamily<T>::most_vectors &&
                   nr_ <= family_.columns_for(static_cast<int>(vectors))
               ? family_.of(vectors, nr_)
               : nullptr;
  result_.resize(static_cast<std::size_t>(result_rows_ * nr_));
  for (std::int64_t j = 0; j < nr_; ++j) result_columns_.push_back(j * result_rows_);
}

template <class T>
void Executor<T>::run(const Tensors<T>& tensors, Update<T> update, std::stop_token stop) {
  run(tensors, update, plan_.all(), std::move(stop));
}

template <class T>
void Executor<T>::run(const Tensors<T>& tensors, Update<T> update, const Tile& part,
                      std::stop_token stop) {
  stop_ = std::move(stop);
  left_.read(plan_.left() == TensorId::A ? tensors.a : tensors.b);
  right_.read(plan_.right() == TensorId::A ? tensors.a : tensors.b);
  c_ = tensors.c;
  update_ = update;
  waiting_.kc = 0;
  walk(plan_, *this, part);
  finish(result());
}

template <class T>
void Executor<T>::stop_if_asked() const {
  if (stop_.stop_requested()) throw Interrupted();
}

template <class T>
void Executor<T>::pack(const PackPlan& pack, const Tile& tile) {
  stop_if_asked();
  finish(result());  // it reads what is about to be overwritten
  (pack.tensor == left_.id() ? left_ : right_).pack(tile);
}

template <class T>
void Executor<T>::block(const KernelBlock& block) {
  stop_if_asked();
  const Tile& tile = *block.tile;
  const Range ks = tile[at(DimClass::k)];
  const std::int64_t batch = tile[at(DimClass::batch)].begin;
  T* const c = c_ + plan_.offset(TensorId::C, DimClass::batch, batch);
  const T beta = block.first_k ? update_.beta : 1;
  for_each_call(block, [&](Range m, Range n, std::int64_t left_offset, std::int64_t right_offset) {
    const bool together = rows_together(m);
    const bool vectors = m.size % family_.lanes == 0 && (together || c_rows_apart_);
    const Panel<T> left =
        left_.packed() ? left_.in_buffer(left_offset) : left_.in_place(m, ks, batch, vectors);
    const Panel<T> right =
        right_.packed() ? right_.in_buffer(right_offset) : right_.in_place(n, ks, batch, true);
    if (whole_ && together && m.size == mr_ && n.size == nr_ && left.lasting && right.lasting) {
      return call_whole({ks.size,
                         left,
                         right,
                         {c + c_rows_[m.begin], c_columns_ + n.begin},
                         left_.to_next(m, ks.size),
                         beta});
    }
    finish(result());
    call_part(m, n, c, left, right, ks.size, beta);
  });
}

template <class T>
void Executor<T>::call_whole(const Call& next) {
  finish(next.c);
  waiting_ = next;
}

template <class T>
void Executor<T>::finish(ResultTile<T> ahead) {
  if (waiting_.kc == 0) return;
  whole_(waiting_.kc, waiting_.left.first, waiting_.left.step, waiting_.right.first,
         waiting_.right.step, waiting_.c, {update_.alpha, waiting_.beta}, ahead,
         waiting_.left_ahead);
  waiting_.kc = 0;
}

// Covers what is not one call of whole vectors with rows side by side in C: pieces that are so go
// straight there, others by way of a buffer.
template <class T>
void Executor<T>::call_part(Range m, Range n, T* c, Panel<T> left, Panel<T> right, std::int64_t kc,
                            T beta) {
  const std::int64_t lanes = family_.lanes;
  const auto together = [&](std::int64_t i) {
    return std::min(c_row_runs_[static_cast<std::size_t>(m.begin + i)], m.size - i);
  };
  for (std::int64_t i = 0, rows = 0; i < m.size; i += rows) {
    const bool direct = together(i) >= lanes;
    rows = direct ? together(i) / lanes * lanes : 1;
    if (!direct) {
      while (i + rows < m.size && together(i + rows) < lanes) ++rows;
    }
    rows = std::min(rows, KernelFamily<T>::most_vectors * lanes);
    const std::int64_t vectors = (rows + lanes - 1) / lanes;
    const std::int64_t most = family_.columns_for(static_cast<int>(vectors));
    const std::int64_t pieces = (n.size + most - 1) / most;
    const std::int64_t width = (n.size + pieces - 1) / pieces;
    for (std::int64_t j = 0; j < n.size; j += width) {
      const std::int64_t columns = std::min(width, n.size - j);
      const std::int64_t* const to = c_columns_ + n.begin + j;
      const ResultTile<T> tile = direct ? ResultTile<T>{c + c_rows_[m.begin + i], to} : result();
      family_.of(vectors, columns)(kc, left.first + i, left.step, right.first + j, right.step, tile,
                                   {update_.alpha, direct ? beta : 0}, tile, left_.to_next(m, kc));
      if (!direct) store({m.begin + i, rows}, {n.begin + j, columns}, c, beta);
    }
  }
}

// C = beta C + result_ for a part of it.
template <class T>
void Executor<T>::store(Range m, Range n, T* c, T beta) {
  const std::int64_t* rows = c_rows_ + m.begin;
  for (std::int64_t j = 0; j < n.size; ++j) {
    T* const to = c + c_columns_[n.begin + j];
    const T* const from = result_.data() + j * result_rows_;
    if (beta == 0) {
      for (std::int64_t i = 0; i < m.size; ++i) to[rows[i]] = from[i];
    } else {
      for (std::int64_t i = 0; i < m.size; ++i) to[rows[i]] = beta * to[rows[i]] + from[i];
    }
  }
}

template class Executor<float>;
template class Executor<double>;

}  // namespace tcsim
