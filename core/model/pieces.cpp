#include "core/model/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/model/line_touches.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"

namespace tcsim {

namespace {

// Source of these: chosen, so that counting takes some milliseconds.
constexpr int pieces_walked = 5;                // in a round
constexpr int most_rounds = 4;                  // where pieces differ, or kinds are unknown
constexpr double spread = 0.1;                  // of what pieces say that are alike
constexpr double largest_piece = 60000;         // touches of lines, about
constexpr std::int64_t smallest_piece = 20000;  // or several iterations
constexpr std::int64_t least_touches = 8000;    // before a piece, to fill the cache
constexpr std::int64_t most_touches = 40000;    // the same; a cache that is not full then stays so
// A walk that takes no longer than a round of pieces is one piece.
constexpr double whole_walk = pieces_walked * (smallest_piece + most_touches);
constexpr double whole_tensors = 1 << 20;   // elements, of such a walk
constexpr double largest_copied = 1 << 25;  // elements
constexpr double largest_tensors = 1e8;
// Of a pack that is larger than a piece, only the end matters to what comes behind it.
constexpr std::int64_t end_of_pack = 16384;  // elements

class PieceWalk {
 public:
  PieceWalk(const Contraction& contraction, const Schedule& schedule, const Nest& nest,
            const SetAssociative& cache, Bytes line, double elements)
      : nest_(nest),
        elements_(elements),
        plan_(contraction, schedule),
        lines_(plan_, line, *this),
        cache_(cache),
        capacity_(static_cast<std::int64_t>(cache.lines())),
        none_(nest.arrays().size()),
        together_(none_) {
    for (TensorId t : all_tensors) {
      const bool packed = t != TensorId::C && plan_.pack(t) != nullptr;
      read_as_[t] = packed ? plan_.pack(t)->buffer : array_of(t);
    }
  }

  std::optional<CountedPieces> count() {
    depth_ = choose_depth();
    if (depth_ < 0) return {};
    total_ = work(plan_.all());
    for (std::size_t d = 0; d + 1 < plan_.steps().size(); ++d) {
      if (plan_.steps()[d].kind == Step::Kind::loop) deepest_ = static_cast<int>(d);
    }
    find_kinds();
    if (is_short()) return of_all();
    CountedPieces found{depth_, none_.lines, {}};
    for (round_ = 0; round_ < most_rounds; ++round_) {
      walk_round();
      if (pieces_.empty() || never_full_) return {};
      found = of_pieces();
      here_.assign(kinds_.size(), none_);
      if (most_kinds_are_known() && are_alike(found.each)) break;
    }
    return found;
  }

  // As a visitor of walk() has them.
  bool skips(const Iteration& it) {
    const double inside = work(*it.tile);
    const int d = static_cast<int>(it.depth);
    if (d == depth_ && state_ == State::running) between_iterations();
    if (state_ == State::running) {
      if (d == depth_) {
        kind_ = kind_of(*it.tile);
        ++iterations_;
        touches_inside(d + 1, extents_of(*it.tile), 1, here_[kind_].touches);
      }
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
    const double elements = static_cast<double>(tile[pack.rows].size * tile[DimClass::k].size);
    if (elements > largest_copied) return;
    packs_ = true;
    if (of_piece) {
      lines_.copy(pack, tile);
    } else if (is_all_) {
      measuring_ = false;
      lines_.copy(pack, tile);
      measuring_ = true;
    } else {
      lines_.copy(pack, tile, end_of_pack);
    }
    packs_ = false;
  }

  void kernel(const KernelCall& call) {
    const Tile& tile = *call.tile;
    const Interval ms = tile[DimClass::m], ns = tile[DimClass::n], ks = tile[DimClass::k];
    const TensorId left = plan_.left(), right = plan_.right();
    const std::int64_t batch = tile[DimClass::batch].begin;
    const std::int64_t left_start = plan_.offset(left, DimClass::batch, batch);
    const std::int64_t right_start = plan_.offset(right, DimClass::batch, batch);
    const DimClass right_rows = plan_.path().rows_of(right);
    const std::int64_t right_panel = plan_.path().panel_of(right);
    for (std::int64_t p = 0; p < ks.size; ++p) {
      operand(left, DimClass::m, ms, call.left_offset, plan_.mr(), p, ks, left_start);
      if (plan_.lanes() && call.right_offset < 0) {
        lanes(ms, ns, right_start + plan_.offset(right, DimClass::k, ks.begin + p));
      } else {
        operand(right, right_rows, tile[right_rows], call.right_offset, right_panel, p, ks,
                right_start);
      }
    }
    const std::int64_t start = plan_.offset(TensorId::C, DimClass::batch, batch);
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      lines_.row(TensorId::C, DimClass::m, ms, start + plan_.offset(TensorId::C, DimClass::n, n));
    }
    done_ += work(tile);
  }

 private:
  enum class State { seeking, running };

  // Iterations of the loop whose iterations are pieces, with tiles of the same sizes.
  struct Kind {
    ByGroup<std::int64_t> sizes{};
    PerArray touches;  // of all of them, as touches_inside() has them
  };
  // What a piece has of a kind.
  struct Part {
    explicit Part(int arrays) : lines(arrays), touches(arrays) {}

    CountedLines lines;
    PerArray touches;
  };

  // Goes through the pieces of a round.
  void walk_round() {
    state_ = State::seeking;
    measuring_ = false;
    piece_ = 0;
    done_ = 0;
    if (round_ > 0) cache_.clear();
    walk(plan_, *this);
    if (state_ == State::running && measuring_) end_piece();
  }

  // Whether the whole walk takes no longer than pieces of it.
  bool is_short() const {
    double touches = 0;
    for (const Kind& kind : kinds_) touches += sum_of(kind.touches);
    return touches <= whole_walk && elements_ <= whole_tensors;
  }
  CountedPieces of_all() {
    is_all_ = measuring_ = true;
    state_ = State::running;
    here_.assign(kinds_.size(), none_);
    walk(plan_, *this);
    CountedLines all = none_.lines;
    for (const Part& part : here_) {
      for (ArrayId a : nest_.arrays().ids()) add(all, part.lines, a, 1);
    }
    return {depth_, all, {}};
  }

  // What the pieces of all rounds so far say.
  CountedPieces of_pieces() {
    of_kind_.assign(kinds_.size(), none_);
    together_ = none_;
    for (const std::vector<Part>& piece : pieces_) {
      for (std::size_t i = 0; i < kinds_.size(); ++i) {
        add(of_kind_[i], piece[i]);
        add(together_, piece[i]);
      }
    }
    CountedPieces found{depth_, estimate({}), {}};
    for (const std::vector<Part>& piece : pieces_) found.each.push_back(estimate(piece));
    return found;
  }

  // Whether pieces say nearly the same, so that more of them would, too.
  static bool are_alike(const std::vector<CountedLines>& each) {
    std::vector<double> lines;
    for (const CountedLines& one : each) {
      lines.push_back(sum_of(one.kernels) + sum_of(one.packing));
    }
    const auto [least, most] = std::ranges::minmax(lines);
    return most - least <= spread * most;
  }

  static double work(const Tile& tile) { return indices_in(extents_of(tile)); }

  // Adds `times` the lines that kernels touch of each array, about: the mean of where columns
  // begin.
  void touches_of(const Extents& e, double times, PerArray& to) const {
    const double in_line = static_cast<double>(std::int64_t{1} << lines_.line_bits()) /
                           static_cast<double>(plan_.element().value());
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
        const TensorId right = plan_.right();
        if (plan_.lanes() && read_as_[right] == array_of(right)) {
          to[read_as_[right]] += calls * k * n * (m / in_line + 1);
        } else {
          const DimClass of = plan_.path().rows_of(right);
          operand(right, of, static_cast<double>(plan_.path().panel_of(right)),
                  of == DimClass::m ? m : n);
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
      const double places = plan_.follows(t, DimClass::batch) ? copied[DimClass::batch] : 1;
      to[array_of(t)] += times * indices_in(e) / indices_in(copied) * copied[plan_.pack(t)->rows] *
                         copied[DimClass::k] * places;
    }
  }
  double touches_inside(int d, const Extents& e) const {
    PerArray touches(nest_.arrays().size());
    touches_inside(d, e, 1, touches);
    return sum_of(touches);
  }

  // The outermost loop whose iterations are no larger than a piece; -1 if there is none.
  int choose_depth() const {
    const std::vector<Extents> narrowed = nest_.narrowed(0, nest_.whole());
    for (int d = 0; d + 1 < nest_.depth(); ++d) {
      if (nest_.step(d).kind != Step::Kind::loop) continue;
      if (touches_inside(d + 1, narrowed[static_cast<std::size_t>(d) + 1]) <= largest_piece) {
        return d;
      }
    }
    return -1;
  }

  // Of all iterations of that loop, by the sizes of their tiles.
  void find_kinds() {
    Kind kind{{}, none_.touches};
    const auto visit = [&](const auto& self, std::size_t i, double times) -> void {
      if (i == all_dim_classes.size()) {
        Extents e;
        for (DimClass g : all_dim_classes) e[g] = static_cast<double>(kind.sizes[g]);
        kinds_.push_back(kind);
        touches_inside(depth_ + 1, e, times, kinds_.back().touches);
        return;
      }
      const DimClass g = all_dim_classes[i];
      for (const Nest::Occurrence& r : nest_.ranges(depth_ + 1, g)) {
        kind.sizes[g] = r.size;
        self(self, i + 1, times * static_cast<double>(r.times));
      }
    };
    visit(visit, 0, 1);
    here_.assign(kinds_.size(), none_);
  }

  std::size_t kind_of(const Tile& tile) const {
    for (std::size_t i = 0; i + 1 < kinds_.size(); ++i) {
      const auto same = [&](DimClass g) { return kinds_[i].sizes[g] == tile[g].size; };
      if (std::ranges::all_of(all_dim_classes, same)) return i;
    }
    return kinds_.size() - 1;
  }

  // Whether pieces have gone through all kinds but rare ones.
  bool most_kinds_are_known() const {
    constexpr double rare = 0.05;  // share of touches. Source: chosen
    double all = 0, unknown = 0;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const auto has = [&](const std::vector<Part>& piece) { return is_enough(piece[i]); };
      const double touches = sum_of(kinds_[i].touches);
      all += touches;
      if (!has(here_) && std::ranges::none_of(pieces_, has)) unknown += touches;
    }
    return unknown <= rare * all;
  }

  // Whether it stands for its kind: the first iterations bring what those before them had not.
  bool is_enough(const Part& part) const { return sum_of(part.touches) >= smallest_piece / 2.0; }

  // Of the whole walk: what pieces have of a kind stands for all of that kind, and what they have
  // altogether for kinds of which they have little. Of kinds that `preferred` has, this one alone.
  CountedLines estimate(const std::vector<Part>& preferred) const {
    CountedLines all = none_.lines;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const bool own = !preferred.empty() && is_enough(preferred[i]);
      const Part* part = own ? &preferred[i] : &of_kind_[i];
      if (!is_enough(*part)) part = &together_;
      // Of each array; of one that the part lacks, as of all of them.
      for (ArrayId a : nest_.arrays().ids()) {
        const double times = part->touches[a] > 0
                                 ? kinds_[i].touches[a] / part->touches[a]
                                 : sum_of(kinds_[i].touches) / sum_of(part->touches);
        add(all, part->lines, a, times);
      }
    }
    return all;
  }

  // Unevenly apart: pieces at every fifth of a walk would all lie in the same way to lines and sets
  // where the walk repeats itself as often.
  double start() const {
    const double at = 0.5 + (round_ * pieces_walked + piece_) * std::numbers::phi;
    return (static_cast<double>(piece_) + at - std::floor(at)) / pieces_walked * total_;
  }

  // At the end of an iteration of a piece: what comes next.
  void between_iterations() {
    if (is_all_) return;
    if (!measuring_ && touches_ >= least_touches) {
      if (filled_ < capacity_ && touches_ < most_touches) return;
      if (filled_ < capacity_) never_full_ = true;
      measuring_ = true;
      touches_ = 0;
      here_.assign(kinds_.size(), none_);
      iterations_ = 0;
    } else if (measuring_ && touches_ >= smallest_piece &&
               (iterations_ > 1 || most_kinds_are_known())) {
      end_piece();
      state_ = State::seeking;
      measuring_ = false;
      // A piece that went beyond the beginning of the next one has done for it.
      while (++piece_ < pieces_walked && start() < done_) {
      }
    }
  }

  void end_piece() {
    double touches = 0;
    for (const Part& part : here_) touches += sum_of(part.touches);
    if (touches > 0) pieces_.push_back(here_);
  }

  void add(CountedLines& to, const CountedLines& more, ArrayId a, double times) const {
    to.kernels[a] += times * more.kernels[a];
    to.packing[a] += times * more.packing[a];
    to.written[a] += times * more.written[a];
  }
  void add(Part& to, const Part& more) const {
    for (ArrayId a : nest_.arrays().ids()) {
      add(to.lines, more.lines, a, 1);
      to.touches[a] += more.touches[a];
    }
  }

  void operand(TensorId t, DimClass group, Interval range, std::int64_t offset, std::int64_t panel,
               std::int64_t p, Interval ks, std::int64_t start) {
    if (offset >= 0) {
      lines_.touch(read_as_[t], offset + p * panel, panel, false);
    } else {
      lines_.row(t, group, range, start + plan_.offset(t, DimClass::k, ks.begin + p));
    }
  }

  // The right operand's columns at one place along k, for each lane one of its own.
  void lanes(Interval ms, Interval ns, std::int64_t start) {
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      lines_.row(plan_.right(), DimClass::m, ms,
                 start + plan_.offset(plan_.right(), DimClass::n, n));
    }
  }

  friend class LineTouches<PieceWalk>;
  static std::int64_t next(std::int64_t line) { return line; }
  void touch_line(ArrayId a, std::int64_t line, bool writes) {
    ++touches_;
    const bool there = cache_.touch(line, writes, [&](std::int64_t old, bool dirty) {
      if (dirty && measuring_) here_[kind_].lines.written[lines_.owner(old)] += 1;
    });
    if (there) return;
    ++filled_;
    if (!measuring_) return;
    CountedLines& here = here_[kind_].lines;
    (packs_ ? here.packing : here.kernels)[a] += 1;
  }

  const Nest& nest_;
  double elements_;  // of the tensors
  Plan plan_;
  LineTouches<PieceWalk> lines_;
  CountedCache cache_;
  std::int64_t capacity_;
  ByTensor<ArrayId> read_as_{};
  Part none_;
  std::vector<Kind> kinds_;
  std::vector<Part> here_;                 // of the present piece, by kind
  std::size_t kind_ = 0;                   // of the present iteration
  std::vector<std::vector<Part>> pieces_;  // those before
  std::vector<Part> of_kind_;              // of all pieces, by kind
  Part together_;                          // of all pieces
  int depth_ = -1;
  State state_ = State::seeking;
  bool measuring_ = false, packs_ = false, never_full_ = false;
  bool is_all_ = false;                     // the piece is the whole walk
  int round_ = 0, piece_ = 0;               // of the round
  double total_ = 0, done_ = 0, from_ = 0;  // multiply-adds
  int deepest_ = -1;                        // loop
  int iterations_ = 0;                      // of the present piece
  std::int64_t touches_ = 0, filled_ = 0;
};

}  // namespace

std::optional<CountedPieces> count_pieces(const Contraction& contraction, const Schedule& schedule,
                                          const Nest& nest, const SetAssociative& cache,
                                          Bytes line) {
  double elements = 0;
  for (TensorId t : all_tensors) elements += static_cast<double>(contraction.size(t).value());
  if (!nest.has_plan() || elements > largest_tensors) return {};
  return PieceWalk(contraction, schedule, nest, cache, line, elements).count();
}

}  // namespace tcsim
