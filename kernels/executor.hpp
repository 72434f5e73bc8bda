// The visitor of walk() that moves and multiplies real numbers. It owns the tables that a plan's
// execution needs and can run many times, on any tensors of the plan's shapes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"
#include "kernels/ahead.hpp"
#include "kernels/lines.hpp"
#include "kernels/microkernel.hpp"
#include "kernels/operand.hpp"
#include "kernels/replay.hpp"
#include "kernels/result_buffer.hpp"

namespace tcsim {

template <class T>
struct Tensors {
  const T* a;
  const T* b;
  T* c;
};

// Room for the packed copies, as many elements each as PackPlan::capacity says; up to a vector
// behind them is read, too.
template <class T>
struct PackBuffers {
  T* a;
  T* b;
};

template <class T>
class Executor {
 public:
  // The plan and the buffers must outlive it.
  Executor(const Plan& plan, PackBuffers<T> buffers);

  // C = alpha A B + beta C, C being only written where beta is zero; all of it, or the part of C
  // that `part` names. Throws Interrupted soon after a stop was requested; C is then incomplete.
  void run(const Tensors<T>& tensors, Update<T> update, std::stop_token stop = {});
  void run(const Tensors<T>& tensors, Update<T> update, const Tile& part, std::stop_token stop);

  // From now on each run goes through the plan, however small it is.
  void walk_always() {
    replay_.give_up();
    give_up_blocks();
  }
  // Whether the next run of all of the plan does again what one before it noted.
  bool replays() const { return replay_.has(plan_.all()); }
  // Whether the last run was such a one, and by code of its own.
  bool generated() const { return replay_.generated(); }
  // Whether blocks of calls are noted, and those that lie alike done again.
  bool replays_blocks() const {
    return std::ranges::any_of(noted_blocks_, [](const auto& b) { return b.replay.is_complete(); });
  }

  // As a visitor of walk().
  void pack(const PackPlan& pack, const Tile& tile);
  bool skips(const Iteration& iteration);
  void done(std::size_t depth);
  void block(const KernelBlock& block);

 private:
  // What a round's kernel calls ask for of the left operand, for the round after it.
  struct Asking {
    Rounds::Panels next;
    std::int64_t calls = 0;  // for each panel of mr rows
    std::int64_t lines = 0;  // by each call, 0 where none are asked for
    std::int64_t done = 0;   // calls
  };
  // A block of calls that is noted for those that lie alike.
  struct NotedBlock {
    Replay<T> replay;
    Tile tile{};
    bool first_writer = true;
    bool is_set = false;  // in this run
  };
  static Bytes bytes(std::int64_t elements) { return Bytes(elements * std::int64_t{sizeof(T)}); }
  std::int64_t right_again() const;
  void begin_round(const Tile& round);
  // What the next call asks for.
  void trickle(Trickle<T>& asks);
  void stop_if_asked() const;
  // So many tiles were done: looks now and then.
  void count_tiles(std::int64_t tiles) {
    if ((until_asked_ -= tiles) > 0) return;
    until_asked_ = tiles_unasked;
    stop_if_asked();
  }
  void walk_part(const Tile& part);
  Place<T> place(const Tensors<T>& tensors, std::int64_t batch) const;
  // What may be done instead of walking: the calls that were noted, for each place of the batch.
  void replay(const Tensors<T>& tensors, const Tile& part);
  void finish(const ResultTile<T>& ahead);
  void end_region();
  void ask_for_results(Interval m, Interval n, T* c) const;
  void call_part(Interval m, Interval n, KernelTask<T> task, T* c);
  void store(Interval m, Interval n, T* c, T beta);
  // A block's kernel calls have these in common.
  struct Calls {
    Interval ks;
    Update<T> update;
    T* c;               // where C begins, of the block's batch
    bool first_writer;  // `update` has the whole contraction's beta
    std::int64_t batch;
    Interval behind = {};  // columns: the next task asks for what is read next behind them, if any
    bool rows_inside = true;  // m runs inside n
  };
  void at(const Interval& ks, std::int64_t batch);
  Microkernel<T> code_for(std::int64_t rows, std::int64_t columns) const;
  std::int64_t vectors_of(std::int64_t rows) const;
  // KernelTask::lanes_short of so many rows.
  std::int64_t lanes_short(std::int64_t rows) const { return -rows & (family_.lanes - 1); }
  std::int64_t tiles_from(Interval m, Interval n, bool rows_inside, std::int64_t most) const;
  void next_lines(std::int64_t m, Interval n, Fetch<T>& fetch) const;
  KernelTask<T>& add(Microkernel<T> code, Interval m, std::int64_t column, Calls& calls,
                     std::int64_t left_offset);
  void tile(Interval m, Interval n, Calls& calls, std::int64_t left_offset,
            std::int64_t right_offset);
  std::int64_t rows_to_split(Interval m, bool rows_inside) const;
  void single(Interval m, Interval n, const Calls& calls, std::int64_t left_offset,
              std::int64_t right_offset);
  // Where each lane has columns of its own (Plan::lanes()): how many lanes, from this one on, are
  // neighbours in the right operand, and tiles that no single call takes.
  std::int64_t lane_run(std::int64_t m) const { return lane_runs_[m]; }
  void right_panel(std::int64_t m, std::int64_t n, std::int64_t offset, Panel<T>& panel) const;
  Microkernel<T> along_k(std::int64_t rows, std::int64_t columns) const;
  void tile_along_k(Interval m, Interval n, Calls& calls, std::int64_t left_offset,
                    std::int64_t right_offset);
  void tile_by_lane(Interval m, Interval n, Calls& calls, std::int64_t left_offset,
                    std::int64_t right_offset);
  void single_by_lane(Interval m, Interval n, const Calls& calls, std::int64_t left_offset,
                      std::int64_t right_offset);
  // From the right operand's lanes of a tile to those of the next one.
  std::int64_t lanes_onwards(Interval m) const {
    if (!lanes_) return 0;
    return packed_lanes() ? right_.to_next(m) : m.size;
  }
  void begin_along_k(const KernelTask<T>& task, std::int64_t columns, std::int64_t ahead);
  bool packed_lanes() const { return lanes_ != nullptr && right_.packed(); }
  void calls(const KernelBlock& block);
  void walk_calls(const KernelBlock& block, Calls& calls);
  bool replays_block(const KernelBlock& block, Calls& calls);
  void give_up_blocks() {
    for (NotedBlock& noted : noted_blocks_) noted.replay.give_up();
  }
  bool lies_as(const NotedBlock& noted, const KernelBlock& block) const;
  void lines(const KernelBlock& block, const Calls& calls);
  void lines(Interval block, Interval m, Interval n, const Calls& calls, std::int64_t left_offset,
             std::int64_t right_offset);
  bool lines_of_place(const Iteration& iteration);
  void write_lines(const T* left, std::int64_t columns, Update<T> update);
  void list_lines(Interval m);
  std::int64_t ahead_in_c(Interval block, Interval m, Interval n, std::int64_t j) const;
  std::int64_t row_tiles_from(std::int64_t row, std::int64_t most) const;
  bool rows_together(Interval m) const { return c_row_runs_[m.begin] >= m.size; }
  // Where results of a row and of a column are, and tables of those from one of them on.
  bool by_buffer() const { return results_.regions().used(); }
  std::int64_t c_row(std::int64_t i) const {
    return by_buffer() ? results_.row(i) : plan_.offset(TensorId::C, DimClass::m, i);
  }
  std::int64_t c_column(std::int64_t j) const {
    return by_buffer() ? results_.column(j) : c_column_table_[j];  // one after another
  }
  const std::int64_t* c_rows_from(std::int64_t i) const {
    return by_buffer() ? results_.rows_from(i) : c_row_table_ + i;
  }
  const std::int64_t* c_columns_from(std::int64_t j) const {
    return by_buffer() ? results_.columns_from(j) : c_column_table_ + j;
  }

  const Plan& plan_;
  std::stop_token stop_;
  const std::int64_t mr_, nr_;
  const KernelFamily<T>& family_;
  const MultiplyLines<T> multiply_lines_;
  // Where results are formed: in C, or in this buffer, region by region.
  ResultBuffer<T> results_;
  const std::int64_t* c_row_table_;
  const std::int64_t* c_column_table_;
  const std::int64_t c_size_;
  Runs c_row_runs_;        // of neighbours there among the rows
  bool c_rows_apart_;      // no vector's worth of C's rows is together
  bool asks_for_results_;  // which kernels do not write
  bool lines_;             // its blocks write lines of C (writes_lines()), no kernels are called
  std::vector<LinePiece> line_pieces_;
  std::array<LineColumn<T>, 16> line_columns_;  // that are written together
  Interval listed_{}, wanted_{};                // the rows of those, and for which they were listed
  // Of the loop over places of the batch that writes their lines, if there is one.
  std::size_t places_depth_ = std::numeric_limits<std::size_t>::max();
  // Regions of results_ are what is inside so many steps; 0: there is one, or blocks have their
  // own.
  std::size_t region_depth_ = 0;
  // Rows that are neighbours in C: where the first one is there, and how many.
  struct StoredRun {
    std::int64_t row, size;
  };
  std::vector<StoredRun> stored_runs_;  // of a part of a tile
  std::vector<T> result_;               // one tile
  std::int64_t result_rows_;            // of that tile: whole vectors
  std::vector<std::int64_t> result_columns_;
  ResultTile<T> result_tile_;
  Operand<T> left_, right_;
  Rounds rounds_;
  bool asks_ahead_ = false;
  std::int64_t right_again_ = 0, first_row_ = 0;
  const T* right_end_ = nullptr;  // of what the last task along k reads of the right operand
  Asking asking_;
  Replay<T> replay_;
  std::array<NotedBlock, 2> noted_blocks_;  // those of the last tiles of a loop are smaller
  std::int64_t blocks_ = 1;                 // of a run
  // Of Plan::lanes(), else none: the right operand's offsets of group m, and runs of neighbours.
  const Offsets* lanes_ = nullptr;
  const std::int64_t* lane_table_ = nullptr;
  Runs lane_runs_;
  T* c_ = nullptr;
  Update<T> update_{1, 0};
  // A task waits until the one after it is known, since it fetches that one's lines of C (`ahead`).
  // kc is 0 if none waits.
  std::array<KernelTask<T>, 2> tasks_{};
  std::array<Microkernel<T>, 2> codes_{};  // that do them
  std::array<bool, 2> first_writers_{};    // Calls::first_writer of theirs
  std::size_t waiting_ = 0;                // which of them
  // The stretches of the present ks, and those before, which the waiting task may have.
  std::array<std::vector<Stretch>, 2> stretches_;
  std::size_t present_ = 0;
  Interval ks_{};
  static constexpr std::int64_t tiles_unasked = 1024;
  std::int64_t until_asked_ = tiles_unasked;  // tiles until it looks whether it is asked to stop
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace tcsim
