#include "kernels/executor.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/plan/walk.hpp"
#include "core/schedule/rounds.hpp"
#include "core/stop.hpp"
#include "core/units/divisor.hpp"
#include "kernels/shapes.hpp"
#include "kernels/vector_code.hpp"

namespace tcsim {

namespace {

// How far ahead kernels along k ask for what they read once: tiles, and as many as make 8 KiB.
// Source: measured on an Intel Xeon (virtual machine), cold caches, 2 x 14 and 64 places along k: 2
// to 16 are alike, 1 takes 3 % longer, none 25 %. On an AMD EPYC (Zen 4), 1 x 14 and 12 places
// along k, pieces of 8640 bytes: 2 tiles 3.0 ms, 4 KiB 1.7, 8 KiB 1.6, 16 KiB 1.8, none 2.7.
constexpr std::int64_t least_tiles_ahead = 2;
template <class T>
std::int64_t tiles_ahead(std::int64_t elements_of_tile) {
  constexpr std::int64_t elements = (8 << 10) / sizeof(T);
  return std::max(least_tiles_ahead, ceil_div(elements, elements_of_tile));
}

// What the first tiles of a task may have to be asked for: 32 KiB. Source: chosen, a first cache.
// What would be asked for ahead of larger tiles fills the second cache: 4000 x 4000 by 1 x 14 on an
// AMD EPYC (Zen 3) takes 6.9 ms so and 4.5 without.
template <class T>
constexpr std::int64_t most_begun = (32 << 10) / sizeof(T);

// Of so many neighbours along k or more, a page, the hardware foresees enough. Source: measured on
// an AMD EPYC (Zen 1), 31 x 31 by 4 x 3, 1320 places along k: 28 ms with asking, 24 without.
template <class T>
constexpr std::int64_t foreseen = (4 << 10) / sizeof(T);

// Asks for as many elements as `count` from `from` on.
template <class T>
void ask_for(const T* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += line_elements<T>) __builtin_prefetch(from + i, 0, 2);
  __builtin_prefetch(from + count - 1, 0, 2);
}

// A result from here on is asked for, where no kernel does. Source: measured on an Intel Xeon
// (Granite Rapids, memory's latency 361 ns). From memory, C of 0.7 to 83 MB in broken tiles of 16
// and 48 rows and by single elements: 0.92 to 0.97 of the time. In the second cache or nearer 1.0
// to 1.1, 1.4 where elements are single.
constexpr Bytes asked_result{512 << 10};

// Fewer rows are copied sooner than a kernel goes over them. Source: measured on an Intel Xeon,
// runs of 2 to 12 rows, 24x8 in f64 and 48x8 in f32.
constexpr std::int64_t least_rows_to_split = 4;

// Neighbours in C from which on they are a line. Source: chosen.
constexpr std::int64_t least_line = 4;

// Elements of C that are written between asking for a line and writing it: 8 KiB. Source: measured
// on an AMD EPYC (Zen 4). Pieces of 64 B to 8 KiB that are 1 MiB apart: 10 to 12 GB/s, so 15 to 19,
// where 2 KiB before 11 to 18. One long line beside an operand of 20 KiB or more, which stops the
// hardware from foreseeing it: 12 and 21 GB/s.
template <class T>
constexpr std::int64_t asked_before = (8 << 10) / sizeof(T);

// Blocks of kernel calls from which on it pays to note one for those that lie alike. Source:
// chosen.
constexpr std::int64_t many_blocks = 16;

// How many blocks of kernel calls the plan has, if all of k is in each; else 0.
std::int64_t blocks_of_sums(const Plan& plan) {
  std::int64_t blocks = 1;
  ByGroup<std::int64_t> range;
  for (DimClass g : all_dim_classes) range[g] = plan.extent(g);
  for (std::size_t d = 0; d < plan.steps().size(); ++d) {
    const Step& s = plan.steps()[d];
    if (s.kind != Step::Kind::loop) continue;
    if (s.group == DimClass::k) return 0;
    if (d < plan.block_depth()) blocks *= ceil_div(range[s.group], s.tile);
    range[s.group] = std::min(range[s.group], s.largest_tile());
  }
  return blocks;
}

}  // namespace

template <class T>
Executor<T>::Executor(const Plan& plan, PackBuffers<T> buffers)
    : plan_(plan),
      mr_(plan.mr()),
      nr_(plan.nr()),
      family_(kernel_family<T>(instruction_set_for(plan.kernel(), plan.contraction().type()))),
      multiply_lines_(lines_code<T>(instruction_set_for(plan.kernel(), plan.contraction().type()))),
      results_(plan, family_.lanes, transpose_code<T>()),
      c_row_table_(plan.offset_table(TensorId::C, DimClass::m)),
      c_column_table_(plan.offset_table(TensorId::C, DimClass::n)),
      c_size_(plan.contraction().size(TensorId::C).value()),
      c_row_runs_(by_buffer() ? Runs::of_all(plan.extent(DimClass::m))
                              : Runs::of_neighbours(plan.offsets(TensorId::C, DimClass::m))),
      result_rows_(ceil_div(mr_, family_.lanes) * family_.lanes),
      left_(plan, plan.left(), DimClass::m, family_.lanes,
            plan.left() == TensorId::A ? buffers.a : buffers.b),
      right_(plan, plan.right(),
             plan.pack(plan.right()) ? plan.path().rows_of(plan.right()) : DimClass::n, 0,
             plan.right() == TensorId::A ? buffers.a : buffers.b),
      rounds_(plan),
      replay_(family_),
      noted_blocks_{NotedBlock{Replay<T>(family_)}, NotedBlock{Replay<T>(family_)}} {
  asks_ahead_ = asks_ahead(plan.contraction(), plan.schedule().groups, plan.path());
  right_again_ = right_again();
  // Whether lines are written depends on the plan alone, so that each thread's part and each run
  // does the same. A few calls of one kernel each are left to those where they can be replayed.
  const std::int64_t calls = ceil_div(plan.extent(DimClass::m), mr_) * plan.extent(DimClass::n);
  const bool replayed = Replay<T>::suits(plan) && vectors_of(mr_) > 0 &&
                        calls <= static_cast<std::int64_t>(Replay<T>::most_calls);
  lines_ =
      writes_lines(plan.path()) && !replayed && !by_buffer() && c_row_runs_.longest() >= least_line;
  if (lines_ || by_buffer() || !Replay<T>::suits(plan)) replay_.give_up();
  blocks_ = blocks_of_sums(plan);
  const bool noted = !lines_ && !by_buffer() && !plan.lanes() && !plan.along_k() && !asks_ahead_;
  if (!noted || blocks_ < many_blocks) give_up_blocks();
  if (const std::size_t block = plan.block_depth(); lines_ && block > 0) {
    const Step& around = plan.steps()[block - 1];
    const bool places = around.kind == Step::Kind::loop && around.group == DimClass::batch;
    if (places && around.tile == 1) places_depth_ = block - 1;
  }
  if (by_buffer() && !results_.regions().within_blocks) region_depth_ = results_.regions().depth;
  c_rows_apart_ = c_row_runs_.longest() < family_.lanes;
  asks_for_results_ = !by_buffer() && bytes(c_size_) > asked_result;
  result_.resize(static_cast<std::size_t>(result_rows_ * nr_));
  for (std::int64_t j = 0; j < nr_; ++j) result_columns_.push_back(j * result_rows_);
  result_tile_ = {result_.data(), result_columns_.data()};
  if (!plan.lanes()) return;
  lanes_ = &plan.offsets(plan.right(), DimClass::m);
  lane_table_ = plan.offset_table(plan.right(), DimClass::m);
  // In a copy all lanes are neighbours.
  lane_runs_ =
      right_.packed() ? Runs::of_all(plan.extent(DimClass::m)) : Runs::of_neighbours(*lanes_);
}

template <class T>
void Executor<T>::run(const Tensors<T>& tensors, Update<T> update, std::stop_token stop) {
  run(tensors, update, plan_.all(), std::move(stop));
}

template <class T>
void Executor<T>::run(const Tensors<T>& tensors, Update<T> update, const Tile& part,
                      std::stop_token stop) {
  stop_ = std::move(stop);
  update_ = update;
  for (NotedBlock& noted : noted_blocks_) noted.is_set = false;
  left_.read(plan_.left() == TensorId::A ? tensors.a : tensors.b);
  right_.read(plan_.right() == TensorId::A ? tensors.a : tensors.b);
  Tile rest = part;
  if (replay_.has(part)) return replay(tensors, rest);
  c_ = tensors.c;
  if (replay_.may_begin()) {
    Interval& batch = rest[DimClass::batch];
    const Interval all = batch;
    batch.size = 1;
    replay_.begin(part, place(tensors, batch.begin), result_tile_);
    walk_part(rest);
    replay_.end();
    batch = {all.begin + 1, all.size - 1};
    if (batch.size == 0) return;
    if (replay_.has(part)) return replay(tensors, rest);
  }
  walk_part(rest);
}

template <class T>
void Executor<T>::walk_part(const Tile& part) {
  tasks_[waiting_].kc = 0;
  ks_ = {};
  asking_ = {};
  rounds_.begin(part);
  first_row_ = part[DimClass::m].begin;
  const bool one_region =
      by_buffer() && !results_.regions().within_blocks && results_.regions().depth == 0;
  if (one_region) results_.begin(part);
  walk(plan_, *this, part);
  finish(result_tile_);
  if (one_region) end_region();
}

// The region's results go to C.
template <class T>
void Executor<T>::end_region() {
  finish(result_tile_);
  results_.end(c_, results_.region()[DimClass::k].begin == 0 ? update_.beta : 1);
}

template <class T>
Place<T> Executor<T>::place(const Tensors<T>& tensors, std::int64_t batch) const {
  const auto at = [&](const Operand<T>& o) -> const T* {
    if (o.packed()) return o.buffer();
    return (o.id() == TensorId::A ? tensors.a : tensors.b) +
           plan_.offset(o.id(), DimClass::batch, batch);
  };
  return {at(left_), at(right_), tensors.c + plan_.offset(TensorId::C, DimClass::batch, batch)};
}

template <class T>
void Executor<T>::replay(const Tensors<T>& tensors, const Tile& part) {
  stop_if_asked();
  const Interval batch = part[DimClass::batch];
  replay_.set(update_, batch.size);
  std::int64_t at = batch.begin;
  const auto pack = [&](TensorId tensor, Tile tile) {
    tile[DimClass::batch] = {at, 1};
    (tensor == left_.id() ? left_ : right_).pack(tile);
  };
  Place<T> here = place(tensors, at);
  for (; at < batch.begin + batch.size - 1; ++at) {
    if (at % tiles_unasked == 0) stop_if_asked();
    const Place<T> next = place(tensors, at + 1);
    replay_.run(here, replay_.first_tile(next), pack);
    here = next;
  }
  replay_.run(here, result_tile_, pack);
}

template <class T>
void Executor<T>::stop_if_asked() const {
  if (stop_.stop_requested()) throw Interrupted();
}

template <class T>
void Executor<T>::pack(const PackPlan& pack, const Tile& tile) {
  stop_if_asked();
  finish(result_tile_);  // it reads what is about to be overwritten
  replay_.note_pack(pack.tensor, tile);
  (pack.tensor == left_.id() ? left_ : right_).pack(tile);
}

// The outermost loop over rows inside which the right operand stays in the second cache: the rows
// that it runs over, or 0 where there is none.
template <class T>
std::int64_t Executor<T>::right_again() const {
  const std::int64_t whole = plan_.contraction().size(plan_.right()).value();
  ByGroup<std::int64_t> range;
  for (DimClass g : all_dim_classes) range[g] = plan_.extent(g);
  for (const Step& s : plan_.steps()) {
    if (s.kind != Step::Kind::loop) continue;
    const std::int64_t inside = range[DimClass::n] * range[DimClass::k];
    const bool stays = bytes(std::min(inside, whole)) <= asked_beyond_second;
    if (s.group == DimClass::m && stays) return range[s.group];
    range[s.group] = std::min(range[s.group], s.largest_tile());
  }
  return 0;
}

template <class T>
bool Executor<T>::skips(const Iteration& iteration) {
  if (iteration.depth == places_depth_) return lines_of_place(iteration);
  if (iteration.depth + 1 == region_depth_) results_.begin(*iteration.tile);
  if (!asks_ahead_) return false;
  rounds_.enter(iteration.depth, *iteration.tile);
  if (iteration.depth == rounds_.turn()) begin_round(*iteration.tile);
  return false;
}

template <class T>
void Executor<T>::done(std::size_t depth) {
  if (depth + 1 == region_depth_) end_region();
}

template <class T>
void Executor<T>::begin_round(const Tile& round) {
  asking_ = {};
  if (bytes(round[DimClass::m].size * round[DimClass::k].size) <= asked_beyond_first) return;
  const std::optional<Rounds::Panels> next = rounds_.next();
  if (!next) return;
  asking_.next = *next;
  asking_.calls = rounds_.calls_per_panel(round);
  const std::int64_t lines = mr_ * next->ks.size / line_elements<T> + 1;
  const bool neighbours =
      next->rows.size >= mr_ && left_.neighbours({next->rows.begin, mr_}, next->ks) != nullptr;
  if (neighbours && asking_.calls > 1) asking_.lines = ceil_div(lines, asking_.calls);
}

template <class T>
void Executor<T>::trickle(Trickle<T>& asks) {
  asks.times = 0;
  if (asking_.lines == 0) return;
  const std::int64_t call = asking_.done++;
  const std::int64_t row = call / asking_.calls * mr_;
  if (row + mr_ > asking_.next.rows.size) return;
  const T* panel = left_.neighbours({asking_.next.rows.begin + row, mr_}, asking_.next.ks);
  if (panel == nullptr) return;
  // Rarely enough that a loop without any pays.
  constexpr std::int64_t least_steps = 16;
  const std::int64_t together = std::max<std::int64_t>(1, asking_.lines * least_steps / ks_.size);
  const std::int64_t times = ceil_div(asking_.lines, together);
  asks.first = panel + call % asking_.calls * asking_.lines * line_elements<T>;
  asks.times = times;
  asks.lines = together;
  asks.every = std::max<std::int64_t>(1, ks_.size / (times + 1));
}

// Where along k and in the batch the next calls are.
template <class T>
void Executor<T>::at(const Interval& ks, std::int64_t batch) {
  left_.at(ks, batch);
  right_.at(ks, batch);
  if (ks == ks_) return;
  ks_ = ks;
  present_ = 1 - present_;
  std::vector<Stretch>& stretches = stretches_[present_];
  stretches.assign(1, {ks.size});
  const auto runs = [](const Operand<T>& o) { return !o.packed() && o.follows_k(); };
  std::int64_t begin = 0;
  for (std::int64_t k = 0; k < ks.size;) {
    std::int64_t run = ks.size - k;
    for (const Operand<T>* o : {&left_, &right_}) {
      if (runs(*o)) run = std::min(run, o->k_run(k));
    }
    k += run;
    if (k >= ks.size) break;
    const Stretch next{ks.size - k, runs(left_) ? left_.jump(k) : 0,
                       runs(right_) ? right_.jump(k) : 0};
    if (next.left_jump == 0 && next.right_jump == 0) continue;
    stretches.back().kc = k - std::exchange(begin, k);
    stretches.push_back(next);
  }
}

template <class T>
void Executor<T>::block(const KernelBlock& block) {
  if (!by_buffer() || !results_.regions().within_blocks) return calls(block);
  results_.for_each_region(block, [this](const KernelBlock& region) {
    results_.begin(*region.tile);
    calls(region);
    end_region();
  });
}

template <class T>
void Executor<T>::calls(const KernelBlock& block) {
  stop_if_asked();
  const Tile& tiles_of = *block.tile;
  const Interval& ks = tiles_of[DimClass::k];
  const std::int64_t batch = tiles_of[DimClass::batch].begin;
  at(ks, batch);
  Calls calls{ks,
              {update_.alpha, block.first_writer ? update_.beta : 1},
              c_ + plan_.offset(TensorId::C, DimClass::batch, batch),
              block.first_writer,
              batch};
  if (by_buffer()) {
    calls.update.beta = ks.begin == results_.region()[DimClass::k].begin ? 0 : 1;
    calls.c = results_.place(batch);
  }
  if (lines_) return lines(block, calls);
  if (!replay_.noting() && replays_block(block, calls)) return;
  walk_calls(block, calls);
}

// Whether the rows and columns of a block are as far apart as those of one that is noted.
template <class T>
bool Executor<T>::lies_as(const NotedBlock& noted, const KernelBlock& block) const {
  const auto range = [&](DimClass g) { return std::pair((*block.tile)[g], noted.tile[g]); };
  const auto [m, rows] = range(DimClass::m);
  const auto [n, columns] = range(DimClass::n);
  const auto [ks, noted_ks] = range(DimClass::k);
  if (m.size != rows.size || n.size != columns.size || ks != noted_ks) return false;
  if (block.first_writer != noted.first_writer) return false;
  const auto one_run = [&](Interval i) {
    return rows_together(i) && (left_.packed() || left_.run(i.begin) >= i.size);
  };
  const bool rows_alike = m.begin == rows.begin || (one_run(m) && one_run(rows)) ||
                          (lie_alike(c_row_table_, m, rows) && left_.lies_alike(m, rows));
  return rows_alike && lie_alike(c_column_table_, n, columns) && right_.lies_alike(n, columns);
}

// Does a block as one that is noted, or notes it if there are no two yet. False where neither
// suits.
template <class T>
bool Executor<T>::replays_block(const KernelBlock& block, Calls& calls) {
  const Tile& tile = *block.tile;
  const auto here = [&]() -> Place<T> {
    const std::int64_t row = tile[DimClass::m].begin, column = tile[DimClass::n].begin;
    return {left_.row(row, block.left_offset), right_.row(column, block.right_offset),
            calls.c + c_row(row) + c_column(column)};
  };
  for (NotedBlock& noted : noted_blocks_) {
    if (!noted.replay.may_begin()) continue;
    if (!noted.replay.is_complete()) {
      finish(result_tile_);
      noted.tile = tile;
      noted.first_writer = block.first_writer;
      noted.replay.begin(tile, here(), result_tile_);
      walk_calls(block, calls);
      finish(result_tile_);
      noted.replay.end();
      return true;
    }
    if (!lies_as(noted, block)) continue;
    finish(result_tile_);
    if (!std::exchange(noted.is_set, true)) noted.replay.set(update_, blocks_);
    noted.replay.run(here(), result_tile_, [](TensorId, const Tile&) {});
    count_tiles(noted.replay.tiles());
    return true;
  }
  return false;
}

template <class T>
void Executor<T>::walk_calls(const KernelBlock& block, Calls& calls) {
  const Tile& tiles_of = *block.tile;
  const Interval& ks = calls.ks;
  const Interval ms = tiles_of[DimClass::m], ns = tiles_of[DimClass::n];
  const bool rows_inside = calls.rows_inside = block.rows_inside;
  const std::int64_t outer_step = rows_inside ? block.column_tile : block.row_tile;
  const std::int64_t inner_step = rows_inside ? block.row_tile : block.column_tile;
  const std::int64_t outer_size = rows_inside ? ns.size : ms.size;
  const std::int64_t inner_size = rows_inside ? ms.size : ns.size;
  const std::int64_t rows_ahead = 8 * block.row_tile;
  const std::int64_t row_tile = std::min(block.row_tile, ms.size);
  const std::int64_t column_tile = std::min(block.column_tile, ns.size);
  const std::int64_t outer_tile = rows_inside ? column_tile : row_tile;
  const Microkernel<T> whole = code_for(row_tile, column_tile);
  const bool first_rows = right_again_ == 0 || (ms.begin - first_row_) % right_again_ == 0;
  const bool rounds_here = asks_ahead_ && rounds_.turn() == plan_.block_depth();
  for (std::int64_t o = 0; o < outer_size; o += outer_step) {
    // The last tiles along the outer loop may be smaller than the others, but are as many.
    const std::int64_t outer = std::min(outer_step, outer_size - o);
    const std::int64_t rows = rows_inside ? row_tile : outer;
    const std::int64_t columns = rows_inside ? outer : column_tile;
    const Microkernel<T> code = outer == outer_tile ? whole : code_for(rows, columns);
    if (rounds_here) {
      Tile round = tiles_of;
      round[DimClass::m] = {ms.begin + o, std::min(outer_step, ms.size - o)};
      rounds_.enter(rounds_.turn(), round);
      begin_round(round);
    }
    for (std::int64_t i = 0, tiles; i < inner_size; i += tiles * inner_step) {
      const std::int64_t row = rows_inside ? i : o, column = rows_inside ? o : i;
      const Interval m{ms.begin + row, std::min(block.row_tile, ms.size - row)};
      const Interval n{ns.begin + column, std::min(block.column_tile, ns.size - column)};
      const std::int64_t left_offset = block.left_offset + row * ks.size;
      const std::int64_t right_offset = block.right_offset + (lanes_ ? row : column) * ks.size;
      // The table may be as long as C, and only an entry here and there is read.
      if (c_rows_apart_) __builtin_prefetch(c_row_table_ + m.begin + rows_ahead);
      // What is read next is asked for, tile by tile, where an operand in place is new.
      const bool is_new = row == 0 && first_rows && !right_.packed() && !lanes_ && !plan_.along_k();
      // Kernels along k: how far ahead, and of how many tiles from here on there is something
      // there.
      const std::int64_t elements = ks.size * n.size;
      const bool may_ask =
          plan_.along_k() && row == 0 && elements <= most_begun<T> && ks.size < foreseen<T>;
      const std::int64_t ahead = may_ask ? tiles_ahead<T>(elements) : 0;
      const std::int64_t asking =
          may_ask ? std::max<std::int64_t>(0, ceil_div(right_.end() - n.begin, n.size) - ahead) : 0;
      // Rows share what the first of them asks for.
      const bool alone = rows_inside && asking > 0;
      std::int64_t most = alone ? 1 : (inner_size - i) / inner_step;
      if (asking > 0) most = std::min(most, asking);
      tiles = code && m.size == rows && n.size == columns
                  ? tiles_from(m, n, rows_inside, std::min(most, tiles_unasked))
                  : 0;
      if (is_new || lanes_) calls.behind = n;
      if (tiles == 0) {
        tile(m, n, calls, left_offset, right_offset);
        tiles = 1;
      } else {
        KernelTask<T>& task = add(code, m, n.begin, calls, left_offset);
        right_panel(m.begin, n.begin, right_offset, task.right);
        task.tiles = tiles;
        asking_.done += tiles - 1;
        if (tiles > 1 || plan_.along_k()) {  // of one tile nobody goes on
          task.onwards = rows_inside ? Onwards{left_.to_next(m), lanes_onwards(m), m.size, 0}
                                     : Onwards{0, right_.to_next(n), 0, n.size};
          if (is_new && !rows_inside) task.fetch.onwards = task.onwards.right;
        }
        if (plan_.along_k() && row == 0) {
          if (asking > 0) task.right_ahead = ahead * right_.to_next(n);
          task.right_is_new = plan_.contraction().is_plain(right_.id());
          const bool few = may_ask && std::min(ahead, tiles) * elements <= most_begun<T>;
          if (task.right_is_new && few && task.onwards.right != 0) {
            begin_along_k(task, n.size, ahead);
          }
        }
        if (tiles > 1 && rows_inside) {
          task.left_ends = left_.to_next({m.begin + (tiles - 1) * m.size, m.size}) == 0;
        }
      }
      count_tiles(tiles);
    }
  }
}

// What the first tiles of a task along k read nobody has asked for, unless it lies behind what the
// task before has read.
template <class T>
void Executor<T>::begin_along_k(const KernelTask<T>& task, std::int64_t columns,
                                std::int64_t ahead) {
  const T* from = task.right.first;
  const bool goes_on = from == std::exchange(right_end_, from + task.tiles * task.onwards.right);
  if (goes_on) return;
  std::int64_t kc = task.kc;
  columns *= std::min(ahead, task.tiles);
  for (const Stretch *next = task.stretches, *end = next + task.more_stretches;; ++next) {
    if (task.right.apart == kc) {
      ask_for(from, columns * kc);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) ask_for(from + j * task.right.apart, kc);
    }
    if (next == end) return;
    from += kc + next->right_jump;
    kc = next->kc;
  }
}

template <class T>
void Executor<T>::lines(const KernelBlock& block, const Calls& calls) {
  const Interval ms = (*block.tile)[DimClass::m], ns = (*block.tile)[DimClass::n];
  const std::int64_t rows = block.rows_inside ? ms.size : block.row_tile;
  for (std::int64_t i = 0; i < ms.size; i += rows) {
    lines(ms, {ms.begin + i, std::min(rows, ms.size - i)}, ns, calls, block.left_offset + i,
          block.right_offset + (lanes_ ? i : 0));
  }
}

template <class T>
void Executor<T>::lines(Interval block, Interval m, Interval n, const Calls& calls,
                        std::int64_t left_offset, std::int64_t right_offset) {
  const T* const left = left_.origin(calls.batch, left_offset);
  for (std::int64_t i = 0; i < m.size; i += listed_.size) {
    const Interval rest{m.begin + i, m.size - i};
    if (wanted_ != rest) list_lines(rest);
    for (std::int64_t j = 0; j < n.size;) {
      std::int64_t columns = 0;
      for (; columns < std::ssize(line_columns_) && j < n.size; ++columns, ++j) {
        const T* const right = packed_lanes() ? right_.origin(calls.batch, right_offset) + i
                                              : right_.row(n.begin + j, right_offset + j);
        T* const to = calls.c + c_column_table_[n.begin + j];
        const std::int64_t ahead = ahead_in_c(block, listed_, n, j);
        const bool is_there = to + c_row(listed_.begin) + ahead < c_ + c_size_;
        line_columns_[static_cast<std::size_t>(columns)] = {right, to, is_there ? ahead : 0};
      }
      write_lines(left + (left_.packed() ? i : 0), columns, calls.update);
    }
  }
}

// All lines of an iteration of the loop over places of the batch around a block of one column: a
// place may have but one line, which is quicker than a block. Whether there was no more to do.
template <class T>
bool Executor<T>::lines_of_place(const Iteration& iteration) {
  const Tile& tile = *iteration.tile;
  const Interval m = tile[DimClass::m], n = tile[DimClass::n];
  if (n.size != 1) return false;
  const std::int64_t batch = tile[DimClass::batch].begin;
  if (wanted_ != m) {
    at(tile[DimClass::k], batch);
    list_lines(m);
  }
  if (listed_.size != m.size) return false;
  const Offsets& c_places = plan_.offsets(TensorId::C, DimClass::batch);
  const T* const right = right_.origin(batch, iteration.right_offset) +
                         (packed_lanes() ? 0 : right_.place(n.begin, 0));
  const std::int64_t later =
      std::min(batch + ceil_div(asked_before<T>, m.size), plan_.extent(DimClass::batch) - 1);
  const std::int64_t ahead =
      m.size >= asked_before<T> ? asked_before<T> : c_places[later] - c_places[batch];
  line_columns_.front() = {right, c_ + c_places[batch] + c_column_table_[n.begin], ahead};
  write_lines(left_.origin(batch, iteration.left_offset), 1, update_);
  return true;
}

// Those that are listed.
template <class T>
void Executor<T>::write_lines(const T* left, std::int64_t columns, Update<T> update) {
  multiply_lines_({left, update, lanes_ != nullptr, line_pieces_.data(), std::ssize(line_pieces_),
                   line_columns_.data(), columns});
  count_tiles(columns * (1 + listed_.size / mr_));
}

// From column j of these rows m of a block to what is asked for meanwhile, in C: further on where
// lines are long, or one behind the other; else in a later column, and behind the last one in the
// rows that come next, those of the block and then those of the next columns, if there are any.
template <class T>
std::int64_t Executor<T>::ahead_in_c(Interval block, Interval m, Interval n, std::int64_t j) const {
  const std::int64_t* const columns = c_column_table_ + n.begin;
  const std::int64_t lines = std::ssize(line_pieces_);
  const bool together = lines == 1 && columns[std::min(j + 1, n.size - 1)] <= columns[j] + m.size;
  if (together || m.size >= lines * asked_before<T>) return asked_before<T>;
  const std::int64_t later = j + ceil_div(asked_before<T>, m.size);
  std::int64_t row = m.begin + later / n.size * m.size, column = later % n.size;
  if (row >= block.begin + block.size && n.begin + n.size < plan_.extent(DimClass::n)) {
    row -= block.size;
    column = std::min(column + n.size, plan_.extent(DimClass::n) - 1 - n.begin);
  }
  const std::int64_t to_column = columns[column] - columns[j];
  if (row == m.begin) return to_column;
  return to_column + c_row(std::min(row, plan_.extent(DimClass::m) - 1)) - c_row(m.begin);
}

// The lines of these rows, or of the first ones of many. They are the same for every column and
// place of the batch, and stay until others are listed.
template <class T>
void Executor<T>::list_lines(Interval m) {
  constexpr std::size_t most_pieces = 1024;
  wanted_ = m;
  line_pieces_.clear();
  std::int64_t i = m.begin;
  const std::int64_t end = m.begin + m.size;
  while (i < end && line_pieces_.size() < most_pieces) {
    const std::int64_t count =
        std::min({c_row_runs_[i], end - i, left_.packed() ? end - i : left_.run(i),
                  lanes_ ? lane_run(i) : end - i});
    const std::int64_t after = i - m.begin;
    const std::int64_t right = !lanes_ ? 0 : right_.packed() ? after : lane_table_[i];
    line_pieces_.push_back({left_.place(i, after), right, c_row_table_[i], count});
    i += count;
  }
  listed_ = {m.begin, i - m.begin};
}

// A task for one tile, which waits from now on; the one before it is done. The tile's first column
// is `column`. The caller says where the right operand begins.
//
// What is written here must not be read again in wider pieces: a load of two stores waits until
// they have left the core, behind those of C that the kernel before made. So nothing is returned or
// handed on as a structure in memory.
template <class T>
KernelTask<T>& Executor<T>::add(Microkernel<T> code, Interval m, std::int64_t column, Calls& calls,
                                std::int64_t left_offset) {
  const std::vector<Stretch>& stretches = stretches_[present_];
  KernelTask<T>& task = tasks_[1 - waiting_];
  codes_[1 - waiting_] = code;
  first_writers_[1 - waiting_] = calls.first_writer;
  task.kc = stretches.front().kc;
  task.left = left_.panel(m.begin, left_offset);
  task.c = {calls.c + c_row(m.begin), c_columns_from(column), c_rows_from(m.begin)};
  task.update = calls.update;
  task.kind = calls.update.kind();
  task.lanes_short = lanes_short(m.size);
  task.left_ahead = asking_.lines > 0 ? 0 : left_.to_next(m);
  task.left_ends = false;
  trickle(task.trickle);
  task.right_ahead = 0;
  task.tiles = 1;
  task.stretches = stretches.data() + 1;
  task.more_stretches = std::ssize(stretches) - 1;
  task.fetch.runs = 0;
  if (calls.behind.size > 0) next_lines(m.begin, calls.behind, task.fetch);
  calls.behind.size = 0;
  // The waiting kernel asks for as many columns as it has, which are not more than nr.
  finish(column + nr_ <= plan_.extent(DimClass::n) ? task.c : result_tile_);
  waiting_ = 1 - waiting_;
  return task;
}

// The kernel of tiles of that size, or null where they take several calls.
template <class T>
Microkernel<T> Executor<T>::code_for(std::int64_t rows, std::int64_t columns) const {
  if (plan_.along_k()) return along_k(rows, columns);
  const std::int64_t vectors = vectors_of(rows);
  if (vectors == 0 || columns > family_.columns_for(static_cast<int>(vectors))) return nullptr;
  if (!lanes_) return family_.of(rows, columns);
  return rows == family_.lanes ? family_.by_lane[columns - 1] : nullptr;
}

// How many vectors a kernel has for so many rows, 0 where it has none.
template <class T>
std::int64_t Executor<T>::vectors_of(std::int64_t rows) const {
  const std::int64_t vectors = family_.vectors(rows);
  const bool whole = family_.has_parts() || vectors * family_.lanes == rows;
  return whole && family_.columns_for(static_cast<int>(vectors)) > 0 ? vectors : 0;
}

// What kernels read of the right operand in place for the columns behind n. Only the last stretch
// along k is new there: an image's next row. By lanes, of those from m on.
template <class T>
void Executor<T>::next_lines(std::int64_t m, Interval n, Fetch<T>& fetch) const {
  const Interval next{n.begin + n.size, n.size};
  if (lanes_) {
    right_.last_lines(next, fetch);
    if (fetch.runs > 0) fetch.first += (*lanes_)[m];
    fetch.onwards = mr_;
  } else {
    const std::int64_t kc = stretches_[present_].back().kc;
    right_.lines(next, ks_.size - kc, kc, fetch);
  }
}

// How many tiles, up to `most`, a kernel can take one after the other along the inner loop. 0 if it
// cannot take even this one.
template <class T>
std::int64_t Executor<T>::tiles_from(Interval m, Interval n, bool rows_inside,
                                     std::int64_t most) const {
  if (plan_.along_k()) {
    const bool reads = left_.is_along_k() && right_.is_along_k();
    if (!reads || !left_.is_even(m) || !right_.is_even(n)) return 0;
    return rows_inside ? left_.tiles(m.begin, m.size, most) : right_.tiles(n.begin, n.size, most);
  }
  const std::int64_t in_c = c_row_runs_[m.begin];
  if (std::min(in_c, left_.run(m.begin)) < m.size) return 0;
  if (!right_.follows_k() || !right_.is_even(n)) return 0;
  if (lanes_) {
    if (lane_run(m.begin) < m.size) return 0;
    if (rows_inside) most = std::min(most, lane_run(m.begin) / m.size);
  }
  if (most == 1) return 1;
  if (rows_inside) {
    if (m.size != mr_) return 1;
    most = left_.tiles(m.begin, mr_, most);
    return in_c >= most * mr_ ? most : row_tiles_from(m.begin, most);
  }
  return right_.tiles(n.begin, n.size, most);
}

// How many tiles of mr rows, one after the other and up to `most`, have rows that are neighbours in
// C.
template <class T>
std::int64_t Executor<T>::row_tiles_from(std::int64_t row, std::int64_t most) const {
  std::int64_t tiles = 0;
  while (tiles < most) {
    const std::int64_t together = c_row_runs_[row + tiles * mr_] / mr_;
    if (together == 0) break;
    tiles += together;
  }
  return std::min(tiles, most);
}

// How many rows of a tile kernels with masks take before they take the others. Where rows of the
// left operand in place are no longer neighbours, there or in C, that saves a copy for each tile of
// columns.
template <class T>
std::int64_t Executor<T>::rows_to_split(Interval m, bool rows_inside) const {
  if (!family_.has_parts() || left_.packed() || !rows_inside || c_rows_apart_) return m.size;
  const std::int64_t in_place = left_.run(m.begin);  // 0 where kernels cannot read it at all
  const std::int64_t first = std::min(in_place, c_row_runs_[m.begin]);
  return first >= least_rows_to_split ? std::min(first, m.size) : m.size;
}

// A tile of another size than the schedule's kernel, at an edge, or whose columns in place are not
// all evenly apart. A kernel takes those that are.
template <class T>
void Executor<T>::tile(Interval m, Interval n, Calls& calls, std::int64_t left_offset,
                       std::int64_t right_offset) {
  if (lanes_) return tile_by_lane(m, n, calls, left_offset, right_offset);
  if (plan_.along_k()) return tile_along_k(m, n, calls, left_offset, right_offset);
  if (const std::int64_t first = rows_to_split(m, calls.rows_inside); first < m.size) {
    tile({m.begin, first}, n, calls, left_offset, right_offset);
    return tile({m.begin + first, m.size - first}, n, calls, left_offset, right_offset);
  }
  const std::int64_t vectors = vectors_of(m.size);
  // Tall kernels would read the rows again for each column.
  const bool tall = vectors > KernelFamily<T>::most_vectors && n.size > 1;
  if (vectors == 0 || tall || !rows_together(m) || left_.run(m.begin) < m.size ||
      !right_.follows_k()) {
    return single(m, n, calls, left_offset, right_offset);
  }
  const std::int64_t most = family_.columns_for(static_cast<int>(vectors));
  for (std::int64_t j = 0, columns; j < n.size; j += columns) {
    const std::int64_t even =
        right_.packed() ? n.size - j : std::min(n.size - j, right_.run(n.begin + j));
    const std::int64_t calls_for_them = ceil_div(even, most);
    columns = ceil_div(even, calls_for_them);
    KernelTask<T>& task = add(family_.of(m.size, columns), m, n.begin + j, calls, left_offset);
    task.right = right_.panel(n.begin + (right_.packed() ? 0 : j), right_offset);
    if (right_.packed()) task.right.first += j;
  }
}

// The kernel along k of so many rows and columns, or null where there is none.
template <class T>
Microkernel<T> Executor<T>::along_k(std::int64_t rows, std::int64_t columns) const {
  if (rows > KernelFamily<T>::most_rows || columns > family_.columns_along_k(rows)) return nullptr;
  return family_.along_k[rows - 1][columns - 1];
}

// Any rows and columns, by kernels along k that read as many as are evenly apart. An operand that
// is packed has one here.
template <class T>
void Executor<T>::tile_along_k(Interval m, Interval n, Calls& calls, std::int64_t left_offset,
                               std::int64_t right_offset) {
  if (!left_.is_along_k() || !right_.is_along_k()) {
    return single(m, n, calls, left_offset, right_offset);
  }
  constexpr std::int64_t most_rows = KernelFamily<T>::most_rows;
  for (std::int64_t i = 0, rows; i < m.size; i += rows) {
    rows = std::min({m.size - i, left_.run(m.begin + i), most_rows});
    const std::int64_t most_columns = family_.columns_along_k(rows);
    for (std::int64_t j = 0, columns; j < n.size; j += columns) {
      columns = std::min({n.size - j, right_.run(n.begin + j), most_columns});
      add(along_k(rows, columns), {m.begin + i, rows}, n.begin + j, calls, left_offset).right =
          right_.panel(n.begin + j, right_offset);
    }
  }
}

// One tile that no kernel takes as it lies: its rows are no whole vectors or not all neighbours in
// C, or an operand in place has to be copied.
template <class T>
void Executor<T>::single(Interval m, Interval n, const Calls& calls, std::int64_t left_offset,
                         std::int64_t right_offset) {
  // Without masks whole vectors need no copy, what is left of the rows does.
  const std::int64_t rest = m.size & (family_.lanes - 1);
  if (!family_.has_parts() && !plan_.along_k() && rest > 0 && rest < m.size && rows_together(m) &&
      !left_.packed() && left_.run(m.begin) >= m.size) {
    single({m.begin, m.size - rest}, n, calls, left_offset, right_offset);
    return single({m.begin + m.size - rest, rest}, n, calls, left_offset, right_offset);
  }
  replay_.give_up();
  give_up_blocks();
  if (asks_for_results_) ask_for_results(m, n, calls.c);
  finish(result_tile_);
  const bool neighbours = rows_together(m) && (plan_.along_k() || left_.run(m.begin) >= m.size);
  const bool whole = family_.has_parts() || m.size % family_.lanes == 0;
  const bool vectors = whole && (neighbours || c_rows_apart_);
  bool left = left_.packed() || (vectors && !plan_.along_k() && left_.run(m.begin) >= m.size);
  bool right = right_.run(n.begin) >= n.size;
  const std::vector<Stretch>& stretches = stretches_[present_];
  // The jumps between stretches are those of both operands.
  const bool in_stretches = stretches.size() > 1 && left && right;
  if (stretches.size() > 1 && !in_stretches) {
    left = left_.packed();
    right = right_.packed();
  }
  KernelTask<T> task{calls.ks.size,
                     left ? left_.panel(m.begin, left_offset) : left_.copy(m),
                     right ? right_.panel(n.begin, right_offset) : right_.copy(n),
                     {},
                     calls.update,
                     calls.update.kind()};
  task.left_ahead = left_.to_next(m);
  if (in_stretches) {
    task.kc = stretches.front().kc;
    task.stretches = stretches.data() + 1;
    task.more_stretches = std::ssize(stretches) - 1;
  }
  call_part(m, n, task, calls.c);
}

// The lines of C that a tile is in, to be written.
template <class T>
void Executor<T>::ask_for_results(Interval m, Interval n, T* c) const {
  asm volatile("");  // or GCC takes the function for one that does nothing, and calls of it away
  const std::int64_t* const rows = c_rows_from(m.begin);
  for (std::int64_t j = n.begin; j < n.begin + n.size; ++j) {
    T* const column = c + c_column(j);
    for (std::int64_t i = 0, run; i < m.size; i += run) {
      run = c_rows_apart_ ? 1 : std::min(c_row_runs_[m.begin + i], m.size - i);
      for (std::int64_t r = 0; r < run; r += line_elements<T>) {
        __builtin_prefetch(column + rows[i] + r, 1);
      }
    }
  }
}

template <class T>
void Executor<T>::right_panel(std::int64_t m, std::int64_t n, std::int64_t offset,
                              Panel<T>& panel) const {
  panel = right_.panel(n, offset);
  if (lanes_ && !right_.packed()) panel.first += (*lanes_)[m];
}

// Vector by vector. Results that fill no vector, or whose rows are apart in C, go there by way of a
// buffer; so do those of a left operand that has to be copied.
template <class T>
void Executor<T>::tile_by_lane(Interval m, Interval n, Calls& calls, std::int64_t left_offset,
                               std::int64_t right_offset) {
  const std::int64_t most = family_.columns_for(1);
  const bool in_one_stretch = stretches_[present_].size() == 1;
  for (std::int64_t i = 0, rows; i < m.size; i += rows) {
    rows = std::min<std::int64_t>(m.size - i, family_.lanes);
    const Interval lanes{m.begin + i, rows};
    const bool left = left_.follows_k() && left_.run(lanes.begin) >= rows;
    if (!right_.follows_k() || lane_run(lanes.begin) < rows || !(left || in_one_stretch)) {
      single_by_lane(lanes, n, calls, left_offset + i, right_offset + i);
      continue;
    }
    const bool whole = rows == family_.lanes, direct = whole && left && rows_together(lanes);
    if (!direct) finish(result_tile_);
    for (std::int64_t j = 0, columns; j < n.size; j += columns) {
      const Interval columns_at{n.begin + j, std::min({n.size - j, right_.run(n.begin + j), most})};
      columns = columns_at.size;
      if (direct) {
        KernelTask<T>& task =
            add(family_.by_lane[columns - 1], lanes, columns_at.begin, calls, left_offset + i);
        right_panel(lanes.begin, columns_at.begin, right_offset + i, task.right);
        continue;
      }
      const std::vector<Stretch>& stretches = stretches_[present_];
      KernelTask<T> task{stretches.front().kc,
                         left ? left_.panel(lanes.begin, left_offset + i) : left_.copy(lanes),
                         {},
                         result_tile_,
                         {calls.update.alpha, 0},
                         Update<T>{calls.update.alpha, 0}.kind(),
                         family_.lanes - rows};
      right_panel(lanes.begin, columns_at.begin, right_offset + i, task.right);
      task.stretches = stretches.data() + 1;
      task.more_stretches = std::ssize(stretches) - 1;
      (whole ? family_.by_lane : family_.lane_part)[columns - 1](task, result_tile_);
      store(lanes, columns_at, calls.c, calls.update.beta);
    }
  }
}

// Lanes that are apart in the right operand, one by one.
template <class T>
void Executor<T>::single_by_lane(Interval m, Interval n, const Calls& calls,
                                 std::int64_t left_offset, std::int64_t right_offset) {
  finish(result_tile_);
  const std::int64_t* const rows = c_rows_from(m.begin);
  for (std::int64_t j = n.begin; j < n.begin + n.size; ++j) {
    for (std::int64_t i = m.begin; i < m.begin + m.size; ++i) {
      const auto left = left_.along_k(m.begin, i, left_offset);
      auto right = packed_lanes() ? right_.along_k(m.begin, i, right_offset)
                                  : right_.along_k(j, j, right_offset);
      if (!packed_lanes()) right.row += lane_table_[i];
      T sum = 0;
      for (std::int64_t p = 0; p < calls.ks.size; ++p) sum += left[p] * right[p];
      T& to = calls.c[rows[i - m.begin] + c_column(j)];
      const T old = calls.update.beta == 0 ? 0 : calls.update.beta * to;
      to = old + calls.update.alpha * sum;
    }
  }
}

template <class T>
void Executor<T>::finish(const ResultTile<T>& ahead) {
  KernelTask<T>& task = tasks_[waiting_];
  if (task.kc == 0) return;
  const auto note = [&](Replay<T>& replay) {
    if (!replay.noting()) return;
    const std::int64_t column = task.c.columns - c_column_table_;
    replay.note(codes_[waiting_], task, first_writers_[waiting_],
                column + nr_ <= plan_.extent(DimClass::n));
  };
  note(replay_);
  for (NotedBlock& noted : noted_blocks_) note(noted.replay);
  codes_[waiting_](task, ahead);
  task.kc = 0;
}

// Covers a part of a tile with several kernels. Whole vectors of rows that are neighbours in C go
// straight there, others by way of a buffer.
template <class T>
void Executor<T>::call_part(Interval m, Interval n, KernelTask<T> task, T* c) {
  const std::int64_t lanes = family_.lanes;
  const Panel<T> left = task.left, right = task.right;
  const T beta = task.update.beta;
  // A column goes on in as few kernels as can be, since each goes through all of k.
  std::int64_t tallest = KernelFamily<T>::most_vectors;
  while (n.size == 1 && family_.columns_for(static_cast<int>(tallest) + 1) > 0) ++tallest;
  const std::int64_t even = ceil_div(ceil_div(m.size, lanes), ceil_div(m.size, tallest * lanes));
  for (std::int64_t i = 0, rows = 0; i < m.size; i += rows) {
    rows = std::min(m.size - i, even * lanes);
    const bool direct =
        (family_.has_parts() || rows >= lanes) && rows_together({m.begin + i, rows});
    if (direct && !family_.has_parts()) rows = rows / lanes * lanes;
    const std::int64_t vectors = ceil_div(rows, lanes);
    const std::int64_t most = family_.columns_for(static_cast<int>(vectors));
    const std::int64_t pieces = ceil_div(n.size, most);
    const std::int64_t width = ceil_div(n.size, pieces);
    task.left.first = left.first + i;
    task.lanes_short = family_.has_parts() ? lanes_short(rows) : 0;
    task.update.beta = direct ? beta : 0;
    task.kind = task.update.kind();
    for (std::int64_t j = 0; j < n.size; j += width) {
      const std::int64_t columns = std::min(width, n.size - j);
      task.right.first = right.first + j * right.apart;
      task.c = direct ? ResultTile<T>{c + c_row(m.begin + i), c_columns_from(n.begin + j)}
                      : result_tile_;
      family_.of(family_.has_parts() ? rows : vectors * lanes, columns)(task, task.c);
      if (!direct) store({m.begin + i, rows}, {n.begin + j, columns}, c, beta);
    }
  }
}

// C = beta C + result_ for a part of it.
template <class T>
void Executor<T>::store(Interval m, Interval n, T* c, T beta) {
  const std::int64_t* const rows = c_rows_from(m.begin);
  stored_runs_.clear();
  for (std::int64_t i = 0, run; i < m.size && !c_rows_apart_; i += run) {
    run = std::min(c_row_runs_[m.begin + i], m.size - i);
    stored_runs_.push_back({rows[i], run});
  }
  for (std::int64_t j = 0; j < n.size; ++j) {
    T* const to = c + c_column(n.begin + j);
    const T* from = result_.data() + j * result_rows_;
    if (c_rows_apart_) {
      if (beta == 0) {
        for (std::int64_t i = 0; i < m.size; ++i) to[rows[i]] = from[i];
      } else {
        for (std::int64_t i = 0; i < m.size; ++i) to[rows[i]] = beta * to[rows[i]] + from[i];
      }
      continue;
    }
    for (const auto& [row, size] : stored_runs_) {
      T* const side_by_side = to + row;
      if (beta == 0) {
        for (std::int64_t r = 0; r < size; ++r) side_by_side[r] = from[r];
      } else {
        for (std::int64_t r = 0; r < size; ++r) side_by_side[r] = beta * side_by_side[r] + from[r];
      }
      from += size;
    }
  }
}

template class Executor<float>;
template class Executor<double>;

}  // namespace tcsim
