#include "core/model/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

#include "core/model/counted_cache.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"

namespace tcsim {

namespace {

// Source of these: chosen, so that counting takes some milliseconds.
constexpr int pieces_walked = 5;
constexpr double largest_piece = 60000;         // touches of lines, about
constexpr std::int64_t smallest_piece = 20000;  // or several iterations
constexpr std::int64_t least_touches = 8000;    // before a piece, to fill the cache
constexpr std::int64_t most_touches = 40000;    // the same; a cache that is not full then stays so
constexpr std::int64_t longest_tables = 2000000;
constexpr double largest_copied = 1 << 25;  // elements
constexpr double largest_tensors = 1e8;
// Of a pack that is larger than a piece, only the end matters to what comes behind it.
constexpr std::int64_t end_of_pack = 16384;  // elements

class PieceWalk {
 public:
  PieceWalk(const Contraction& contraction, const Schedule& schedule, const Nest& nest,
            const SetAssociative& cache, Bytes line)
      : nest_(nest),
        plan_(contraction, schedule),
        cache_(cache),
        capacity_(static_cast<std::int64_t>(cache.lines())),
        element_(plan_.element().value()),
        line_bits_(0),
        none_{PerArray(nest.arrays().size()), PerArray(nest.arrays().size())},
        found_{0, none_, {}, PerArray(nest.arrays().size())},
        here_(none_),
        measured_(none_.kernels),
        about_(none_.kernels) {
    while ((std::int64_t{1} << line_bits_) < line.value()) ++line_bits_;
    for (TensorId t : all_tensors) {
      const bool packed = t != TensorId::C && plan_.pack(t) != nullptr;
      read_as_[t] = packed ? plan_.pack(t)->buffer : array_of(t);
    }
    for (ArrayId a : nest.arrays().ids()) begin_[a] = plan_.base(a).value();
    dirty_.assign(static_cast<std::size_t>(plan_.arena_size().value() >> line_bits_) + 1, false);
  }

  std::optional<CountedPieces> count() {
    depth_ = choose_depth();
    if (depth_ < 0) return {};
    total_ = work(plan_.all());
    for (std::size_t d = 0; d + 1 < plan_.steps().size(); ++d) {
      if (plan_.steps()[d].kind == Step::Kind::loop) deepest_ = static_cast<int>(d);
    }
    walk(plan_, *this);
    if (state_ == State::running && measuring_) end_piece();
    if (found_.each.empty() || never_full_) return {};
    const PerArray all = all_touches();
    found_.depth = depth_;
    const PerArray times = shares(all, measured_);
    for (std::size_t i = 0; i < found_.each.size(); ++i) {
      add(found_.fetched, found_.each[i], times);
      found_.each[i] = scaled(found_.each[i], shares(all, touches_of_[i]));
    }
    for (ArrayId a : nest_.arrays().ids()) found_.written[a] *= times[a];
    return found_;
  }

  // As a visitor of walk() has them.
  bool skips(const Iteration& it) {
    const double inside = work(*it.tile);
    const int d = static_cast<int>(it.depth);
    if (d == depth_ && state_ == State::running) between_iterations();
    if (state_ == State::running) {
      if (d == depth_) touches_inside(d + 1, extents_of(*it.tile), 1, about_);
      return false;
    }
    if (piece_ == pieces_walked || done_ + inside <= start()) {
      done_ += inside;
      return true;
    }
    if (d == depth_) {  // only its end, to fill the cache
      const double touches = touches_inside(d + 1, extents_of(*it.tile));
      const double end = std::min(1.0, static_cast<double>(least_touches) / touches);
      from_ = std::max(start(), done_ + inside * (1 - end));
    }
    if (d >= depth_ && done_ + inside <= from_) {
      done_ += inside;
      return true;
    }
    if (d == deepest_) {
      state_ = State::running;
      measuring_ = false;
      touches_ = filled_ = 0;
    }
    return false;
  }

  void pack(const PackPlan& pack, const Tile& tile) {
    const bool of_piece = nest_.pack_depth(pack.tensor) > depth_;
    if (state_ != State::running && !of_piece) return;
    std::int64_t left = tile[pack.rows].size * tile[DimClass::k].size;
    if (static_cast<double>(left) > largest_copied) return;
    packs_ = true;
    const std::int64_t start =
        plan_.offset(pack.tensor, DimClass::batch, tile[DimClass::batch].begin);
    const std::int64_t* const places = plan_.offsets(pack.tensor, DimClass::batch);
    for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
      const bool counts = of_piece || left <= end_of_pack;
      for (const PackBlock& b : blocks) left -= b.rows * b.k_size;
      if (!counts) return;
      for_each_place(pack, tile, places, [&](std::int64_t shift, std::int64_t destination) {
        if (blocks.size() > 1) {
          copy_together(pack, blocks, start + shift, destination);
        } else {
          copy_alone(pack, blocks.front(), start + shift, destination);
        }
      });
    });
    packs_ = false;
  }

  void kernel(const KernelCall& call) {
    const Tile& tile = *call.tile;
    const Interval ms = tile[DimClass::m], ns = tile[DimClass::n], ks = tile[DimClass::k];
    const TensorId left = plan_.left(), right = plan_.right();
    const std::int64_t batch = tile[DimClass::batch].begin;
    const std::int64_t left_start = plan_.offset(left, DimClass::batch, batch);
    const std::int64_t right_start = plan_.offset(right, DimClass::batch, batch);
    for (std::int64_t p = 0; p < ks.size; ++p) {
      operand(left, DimClass::m, ms, call.left_offset, plan_.mr(), p, ks, left_start);
      if (plan_.lanes()) {
        lanes(ms, ns, right_start + plan_.offset(right, DimClass::k, ks.begin + p));
      } else {
        operand(right, DimClass::n, ns, call.right_offset, plan_.nr(), p, ks, right_start);
      }
    }
    const std::int64_t start = plan_.offset(TensorId::C, DimClass::batch, batch);
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      row(TensorId::C, DimClass::m, ms, start + plan_.offset(TensorId::C, DimClass::n, n));
    }
    done_ += work(tile);
  }

 private:
  enum class State { seeking, running };

  static double work(const Tile& tile) {
    double all = 1;
    for (DimClass g : all_dim_classes) all *= static_cast<double>(tile[g].size);
    return all;
  }

  static double work_of(const Extents& e) {
    double all = 1;
    for (DimClass g : all_dim_classes) all *= e[g];
    return all;
  }

  // Adds `times` the lines that kernels touch of each array, about: the mean of where columns
  // begin.
  void touches_of(const Extents& e, double times, PerArray& to) const {
    const auto in_line =
        static_cast<double>(std::int64_t{1} << line_bits_) / static_cast<double>(element_);
    const double mr = static_cast<double>(plan_.mr()), nr = static_cast<double>(plan_.nr());
    // Of m and n: so many calls, and the last one.
    const auto for_each_call = [](double extent, double side, const auto& f) {
      const double whole = std::floor(extent / side), rest = extent - whole * side;
      if (whole > 0) f(std::min(side, extent), whole);
      if (rest > 0) f(rest, 1.0);
    };
    const double k = e[DimClass::k] * e[DimClass::batch] * times;
    for_each_call(e[DimClass::m], mr, [&](double m, double rows) {
      for_each_call(e[DimClass::n], nr, [&](double n, double columns) {
        const double calls = rows * columns;
        const auto operand = [&](TensorId t, DimClass g, double side, double extent) {
          Extents column{1, 1, 1, 1};
          column[g] = extent;
          const bool packed = read_as_[t] != array_of(t);
          to[read_as_[t]] +=
              calls * k * (packed ? std::ceil(side / in_line) : nest_.tile_lines(t).lines(column));
        };
        operand(plan_.left(), DimClass::m, mr, m);
        if (plan_.lanes()) {
          to[read_as_[plan_.right()]] += calls * k * n * (m / in_line + 1);
        } else {
          operand(plan_.right(), DimClass::n, nr, n);
        }
        to[ArrayId::C] += calls * e[DimClass::batch] * times * n * (m / in_line + 1);
      });
    });
  }

  static Extents extents_of(const Tile& tile) {
    Extents e;
    for (DimClass g : all_dim_classes) e[g] = static_cast<double>(tile[g].size);
    return e;
  }

  // Adds those of kernels and copies, when step d finds so many indices.
  void touches_inside(int d, const Extents& e, double times, PerArray& to) const {
    touches_of(e, times, to);
    const std::vector<Extents> narrowed = nest_.narrowed(d, e);
    for (int p = d; p < nest_.depth(); ++p) {
      if (nest_.step(p).kind != Step::Kind::move) continue;
      const Extents& copied = narrowed[static_cast<std::size_t>(p)];
      const TensorId t = nest_.step(p).tensor;
      const DimClass rows = plan_.pack(t)->rows;
      to[array_of(t)] += times * work_of(e) / work_of(copied) * copied[rows] * copied[DimClass::k];
    }
  }
  double touches_inside(int d, const Extents& e) const {
    PerArray touches(nest_.arrays().size());
    touches_inside(d, e, 1, touches);
    return sum(touches);
  }
  double sum(const PerArray& touches) const {
    double all = 0;
    for (ArrayId a : nest_.arrays().ids()) all += touches[a];
    return all;
  }
  // Of each array, how many times as much `all` has as `some`; of one that some lack, as all of
  // them together.
  PerArray shares(const PerArray& all, const PerArray& some) const {
    PerArray times(nest_.arrays().size());
    const double together = sum(all) / sum(some);
    for (ArrayId a : nest_.arrays().ids()) {
      times[a] = some[a] > 0 ? all[a] / some[a] : together;
    }
    return times;
  }

  // The outermost loop whose iterations are no larger than a piece; -1 if there is none.
  int choose_depth() const {
    Extents e;
    for (DimClass g : all_dim_classes) e[g] = static_cast<double>(plan_.extent(g));
    const std::vector<Extents> narrowed = nest_.narrowed(0, e);
    for (int d = 0; d + 1 < nest_.depth(); ++d) {
      if (nest_.step(d).kind != Step::Kind::loop) continue;
      if (touches_inside(d + 1, narrowed[static_cast<std::size_t>(d) + 1]) <= largest_piece) {
        return d;
      }
    }
    return -1;
  }

  // Of all iterations of that loop.
  PerArray all_touches() const {
    PerArray touches(nest_.arrays().size());
    Extents e;
    const auto visit = [&](const auto& self, std::size_t i, double times) -> void {
      if (i == all_dim_classes.size()) {
        touches_inside(depth_ + 1, e, times, touches);
        return;
      }
      const DimClass g = all_dim_classes[i];
      for (const Nest::Occurrence& r : nest_.ranges(depth_ + 1, g)) {
        e[g] = static_cast<double>(r.size);
        self(self, i + 1, times * static_cast<double>(r.times));
      }
    };
    visit(visit, 0, 1);
    return touches;
  }

  // Unevenly apart: pieces at every fifth of a walk would all lie in the same way to lines and sets
  // where the walk repeats itself as often.
  double start() const {
    const double at = 0.5 + piece_ * std::numbers::phi;
    return (static_cast<double>(piece_) + at - std::floor(at)) / pieces_walked * total_;
  }

  // At the end of an iteration of a piece: what comes next.
  void between_iterations() {
    if (!measuring_ && touches_ >= least_touches) {
      if (filled_ < capacity_ && touches_ < most_touches) return;
      if (filled_ < capacity_) never_full_ = true;
      measuring_ = true;
      touches_ = 0;
      about_ = none_.kernels;
    } else if (measuring_ && touches_ >= smallest_piece) {
      end_piece();
      state_ = State::seeking;
      measuring_ = false;
      // A piece that went beyond the beginning of the next one has done for it.
      while (++piece_ < pieces_walked && start() < done_) {
      }
    }
  }

  void end_piece() {
    if (sum(about_) <= 0) return;
    for (ArrayId a : nest_.arrays().ids()) measured_[a] += about_[a];
    touches_of_.push_back(about_);
    found_.each.push_back(here_);
    here_ = none_;
  }

  void add(CountedPieces::Fetched& to, const CountedPieces::Fetched& more,
           const PerArray& times) const {
    for (ArrayId a : nest_.arrays().ids()) {
      to.kernels[a] += times[a] * more.kernels[a];
      to.packing[a] += times[a] * more.packing[a];
    }
  }
  CountedPieces::Fetched scaled(const CountedPieces::Fetched& lines, const PerArray& times) const {
    CountedPieces::Fetched all = none_;
    add(all, lines, times);
    return all;
  }

  void operand(TensorId t, DimClass group, Interval range, std::int64_t offset, std::int64_t panel,
               std::int64_t p, Interval ks, std::int64_t start) {
    if (offset >= 0) {
      touch(read_as_[t], offset + p * panel, panel, false);
    } else {
      row(t, group, range, start + plan_.offset(t, DimClass::k, ks.begin + p));
    }
  }

  // The right operand's columns at one place along k, for each lane one of its own.
  void lanes(Interval ms, Interval ns, std::int64_t start) {
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      row(plan_.right(), DimClass::m, ms, start + plan_.offset(plan_.right(), DimClass::n, n));
    }
  }

  // A tensor's elements of one range of a group.
  void row(TensorId t, DimClass group, Interval range, std::int64_t start) {
    const std::int64_t* offsets = plan_.offsets(t, group);
    std::int64_t last = -1;
    for (std::int64_t i = range.begin; i < range.begin + range.size; ++i) {
      const std::int64_t element = start + (offsets != nullptr ? offsets[i] : 0);
      const std::int64_t line = line_of(array_of(t), element);
      if (line != last) touch_line(array_of(t), line, t == TensorId::C);
      last = line;
    }
  }

  void copy_alone(const PackPlan& pack, const PackBlock& b, std::int64_t start,
                  std::int64_t shift) {
    const Interval rows{b.row, b.rows}, ks{b.k, b.k_size};
    const DimClass outer = pack.along_rows ? DimClass::k : pack.rows;
    const DimClass inner = pack.along_rows ? pack.rows : DimClass::k;
    const Interval outer_range = pack.along_rows ? ks : rows;
    for (std::int64_t i = outer_range.begin; i < outer_range.begin + outer_range.size; ++i) {
      row(pack.tensor, inner, pack.along_rows ? rows : ks,
          start + plan_.offset(pack.tensor, outer, i));
    }
    touch(pack.buffer, b.destination + shift, pack.panel * b.k_size, true);
  }

  void copy_together(const PackPlan& pack, std::span<const PackBlock> blocks, std::int64_t start,
                     std::int64_t shift) {
    const ArrayId source = array_of(pack.tensor);
    for (std::int64_t p = 0; p < blocks.front().k_size; ++p) {
      for (std::int64_t r = 0; r < pack.panel; ++r) {
        for (const PackBlock& b : blocks) {
          if (r >= b.rows) continue;
          touch(source,
                start + plan_.offset(pack.tensor, pack.rows, b.row + r) +
                    plan_.offset(pack.tensor, DimClass::k, b.k + p),
                1, false);
        }
      }
      for (const PackBlock& b : blocks) {
        touch(pack.buffer, b.destination + shift + p * pack.panel, pack.panel, true);
      }
    }
  }

  std::int64_t line_of(ArrayId a, std::int64_t element) const {
    return (begin_[a] + element * element_) >> line_bits_;
  }

  void touch(ArrayId a, std::int64_t first, std::int64_t count, bool writes) {
    const std::int64_t last = line_of(a, first + count - 1);
    for (std::int64_t l = line_of(a, first); l <= last; ++l) touch_line(a, l, writes);
  }

  void touch_line(ArrayId a, std::int64_t line, bool writes) {
    ++touches_;
    const bool there = cache_.touch(line, [&](std::int64_t old) {
      const auto left = static_cast<std::size_t>(old);
      if (dirty_[left] && measuring_) found_.written[owner(old)] += 1;
      dirty_[left] = false;
    });
    if (writes) dirty_[static_cast<std::size_t>(line)] = true;
    if (there) return;
    ++filled_;
    if (measuring_) (packs_ ? here_.packing : here_.kernels)[a] += 1;
  }

  // The array in which a line lies.
  ArrayId owner(std::int64_t line) const {
    ArrayId at = ArrayId::A;
    std::int64_t nearest = -1;
    for (ArrayId a : nest_.arrays().ids()) {
      const std::int64_t first = begin_[a] >> line_bits_;
      if (first <= line && first > nearest) nearest = first, at = a;
    }
    return at;
  }

  const Nest& nest_;
  Plan plan_;
  CountedCache cache_;
  std::int64_t capacity_;
  std::int64_t element_;
  int line_bits_;
  ByTensor<ArrayId> read_as_{};
  ByArray<std::int64_t> begin_{max_arrays};
  std::vector<bool> dirty_;
  CountedPieces::Fetched none_;
  CountedPieces found_;
  CountedPieces::Fetched here_;       // by the present piece
  std::vector<PerArray> touches_of_;  // of each piece, as about_
  int depth_ = -1;
  State state_ = State::seeking;
  bool measuring_ = false, packs_ = false, never_full_ = false;
  int piece_ = 0;
  double total_ = 0, done_ = 0, from_ = 0;  // multiply-adds
  PerArray measured_, about_;               // touches, as touches_inside() has them
  int deepest_ = -1;                        // loop
  std::int64_t touches_ = 0, filled_ = 0;
};

}  // namespace

std::optional<CountedPieces> count_pieces(const Contraction& contraction, const Schedule& schedule,
                                          const Nest& nest, const SetAssociative& cache,
                                          Bytes line) {
  std::int64_t tables = 0;
  for (DimClass g : all_dim_classes) tables += nest.path().extents[g];
  double elements = 0;
  for (TensorId t : all_tensors) elements += static_cast<double>(contraction.size(t).value());
  if (!nest.has_plan() || tables > longest_tables || elements > largest_tensors) return {};
  return PieceWalk(contraction, schedule, nest, cache, line).count();
}

}  // namespace tcsim
