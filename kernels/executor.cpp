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
  result_tile_ = {result_.data(), result_columns_.data()};
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
  tasks_[waiting_].kc = 0;
  walk(plan_, *this, part);
  finish(result_tile_);
}

template <class T>
void Executor<T>::stop_if_asked() const {
  if (stop_.stop_requested()) throw Interrupted();
}

template <class T>
void Executor<T>::pack(const PackPlan& pack, const Tile& tile) {
  stop_if_asked();
  finish(result_tile_);  // it reads what is about to be overwritten
  (pack.tensor == left_.id() ? left_ : right_).pack(tile);
}

template <class T>
void Executor<T>::block(const KernelBlock& block) {
  stop_if_asked();
  const Tile& tile = *block.tile;
  const Range ks = tile[at(DimClass::k)];
  const std::int64_t batch = tile[at(DimClass::batch)].begin;
  T* const c = c_ + plan_.offset(TensorId::C, DimClass::batch, batch);
  const Update<T> update{update_.alpha, block.first_k ? update_.beta : 1};
  const auto kind = update.kind();
  left_.at(ks, batch);
  right_.at(ks, batch);
  // Where the whole block lies evenly, every call is the first one, so many rows and columns on.
  const Range all_m = tile[at(DimClass::m)], all_n = tile[at(DimClass::n)];
  const bool even = whole_ && rows_together(all_m) && left_.is_even(all_m) && right_.is_even(all_n);
  KernelTask<T> first{};
  std::int64_t row_step = 0, column_step = 0;
  if (even) {
    const Panel<T> left = left_.panel(all_m.begin, block.left_offset);
    const Panel<T> right = right_.panel(all_n.begin, block.right_offset);
    row_step = left_.packed() ? ks.size : left.apart;
    column_step = right_.packed() ? ks.size : right.apart;
    first = {ks.size, left, right,         {c + c_rows_[all_m.begin], c_columns_ + all_n.begin},
             update,  kind, mr_ * row_step};
  }
  for_each_call(block, [&](Range m, Range n, std::int64_t left_offset, std::int64_t right_offset) {
    if (--until_asked_ == 0) {
      until_asked_ = calls_unasked;
      stop_if_asked();
    }
    KernelTask<T>& next = tasks_[1 - waiting_];
    if (even && m.size == mr_ && n.size == nr_) {
      const std::int64_t i = m.begin - all_m.begin, j = n.begin - all_n.begin;
      next = first;
      next.left.first += i * row_step;
      next.right.first += j * column_step;
      next.c.first += i;
      next.c.columns += j;
      finish(next.c);
      waiting_ = 1 - waiting_;
      return;
    }
    const bool neighbours = rows_together(m) && left_.run(m.begin) >= m.size;
    if (whole_ && neighbours && m.size == mr_ && n.size == nr_ && right_.run(n.begin) >= nr_) {
      next.kc = ks.size;
      next.left = left_.panel(m.begin, left_offset);
      next.right = right_.panel(n.begin, right_offset);
      next.c = {c + c_rows_[m.begin], c_columns_ + n.begin};
      next.update = update;
      next.kind = kind;
      next.left_ahead = left_.to_next(m);
      finish(next.c);
      waiting_ = 1 - waiting_;
      return;
    }
    finish(result_tile_);
    const bool vectors = m.size % family_.lanes == 0 && (neighbours || c_rows_apart_);
    const bool left = left_.packed() || (vectors && left_.run(m.begin) >= m.size);
    const bool right = right_.run(n.begin) >= n.size;
    call_part(m, n,
              {ks.size,
               left ? left_.panel(m.begin, left_offset) : left_.copy(m),
               right ? right_.panel(n.begin, right_offset) : right_.copy(n),
               {},
               update,
               kind,
               left_.to_next(m)},
              c);
  });
}

template <class T>
void Executor<T>::finish(const ResultTile<T>& ahead) {
  KernelTask<T>& task = tasks_[waiting_];
  if (task.kc == 0) return;
  whole_(task, ahead);
  task.kc = 0;
}

// Covers what is not one call of whole vectors with rows side by side in C: pieces that are so go
// straight there, others by way of a buffer.
template <class T>
void Executor<T>::call_part(Range m, Range n, KernelTask<T> task, T* c) {
  const std::int64_t lanes = family_.lanes;
  const Panel<T> left = task.left, right = task.right;
  const T beta = task.update.beta;
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
    task.left.first = left.first + i;
    task.update.beta = direct ? beta : 0;
    task.kind = task.update.kind();
    for (std::int64_t j = 0; j < n.size; j += width) {
      const std::int64_t columns = std::min(width, n.size - j);
      task.right.first = right.first + j * right.apart;
      task.c =
          direct ? ResultTile<T>{c + c_rows_[m.begin + i], c_columns_ + n.begin + j} : result_tile_;
      family_.of(vectors, columns)(task, task.c);
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
