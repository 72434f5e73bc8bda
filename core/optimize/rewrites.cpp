#include "core/optimize/rewrites.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "core/optimize/exposed.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"
#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Source: x86-64.
constexpr Bytes bytes_of_line{64};

// A schedule of one path, as a list.
struct Draft {
  Groups groups;
  std::vector<Step> steps;  // without the kernel
  Kernel kernel;
};

bool is_loop(const Step& s) { return s.kind == Step::Kind::loop; }
bool is_pack_of(const Step& s, TensorId t) { return s.kind == Step::Kind::move && s.tensor == t; }
bool packs(const Draft& d, TensorId t) {
  return std::ranges::any_of(d.steps, [&](const Step& s) { return is_pack_of(s, t); });
}

// The dimensions of a group as they follow one another in a tensor, others behind them.
Group in_order_of(const Contraction& contraction, TensorId t, Group group) {
  const auto order = contraction.memory_order(t);
  const auto place = [&](DimId d) { return std::ranges::find(order, d) - order.begin(); };
  std::ranges::stable_sort(group, {}, place);
  return group;
}

class Rewriter {
 public:
  Rewriter(const Contraction& contraction, const Machine& machine, const Schedule& schedule,
           ReadInPlace may)
      : c_(contraction),
        machine_(machine),
        may_(may),
        schedule_(schedule),
        path_(only_path(contraction, schedule)) {
    from_ = {schedule.groups, path_.steps, path_.kernel()};
    from_.steps.pop_back();
  }

  std::vector<Schedule> all() {
    const bool plain = c_.is_plain(TensorId::A) && c_.is_plain(TensorId::B);
    const bool one_size =
        std::ranges::none_of(from_.steps, [](const Step& s) { return s.head > 0; });
    if (!plain || !one_size) return {};
    if (!path_.lanes && !path_.along_k) change_kernel();
    move_packs();
    for (const TensorId t : {TensorId::A, TensorId::B}) pack_places(t);
    change_loops();
    fit_sums();
    change_orders();
    return std::move(all_);
  }

 private:
  std::int64_t extent(DimClass g) const { return path_.extents[g]; }

  // Steps that may stand anywhere: those in front of the loops over kernels.
  std::size_t outer_steps() const { return block_depth(path_); }

  // What tiles of a group are made of.
  std::int64_t unit_of(DimClass g) const {
    if (writes_lines(path_)) return 1;
    return g == DimClass::m ? path_.mr : g == DimClass::n ? path_.nr : 1;
  }

  void change_kernel() {
    const std::int64_t lanes = lanes_of(machine_.core, c_.type());
    const Group& m = from_.groups[DimClass::m];
    const std::int64_t most = extent(DimClass::m);
    constexpr std::int64_t most_vectors = 4;
    for (const Kernel& kernel : kernel_choices(machine_.core, c_.type())) {
      const std::int64_t nr =
          from_.kernel.nr == Elements(1) ? 1 : narrowed(kernel, extent(DimClass::n)).nr.value();
      const std::int64_t usual = std::min(kernel.mr.value(), ceil_div(most, lanes) * lanes);
      with_rows(usual, 0, nr);
      if (!have_masks(c_, lanes)) continue;
      for (const TensorId t : {TensorId::C, path_.left}) {
        const std::int64_t row = neighbours_in(c_, {t}, m);
        if (row < 2) continue;
        if (row <= kernel.mr.value()) {
          with_rows(row, 0, nr);
        } else if (row < most) {
          with_rows(kernel.mr.value(), row, nr);
          const std::int64_t even = ceil_div(row, ceil_div(row, kernel.mr.value()));
          if (row % even == 0) with_rows(even, 0, nr);
        }
      }
      if (most <= most_vectors * lanes) with_rows(std::min(most, kernel.mr.value()), 0, nr);
    }
  }
  // Kernels of mr rows by nr columns, which go no further than `row` where that is not 0.
  void with_rows(std::int64_t mr, std::int64_t row, std::int64_t nr) {
    Draft d = from_;
    d.kernel.mr = Elements(mr);
    d.kernel.nr = Elements(nr);
    const std::size_t outer = outer_steps();
    const bool m_inside = outer == d.steps.size() || d.steps.back().group == DimClass::m;
    d.steps.resize(outer);
    // Tiles of whole kernels, or of whole rows of them.
    const std::int64_t unit = row > 0 ? row : writes_lines(path_) ? 1 : mr;
    for (Step& s : d.steps) {
      if (!is_loop(s)) continue;
      if (s.group == DimClass::m) s.tile = std::max<std::int64_t>(1, s.tile / unit) * unit;
      if (s.group == DimClass::n) s.tile = std::max<std::int64_t>(1, s.tile / nr) * nr;
    }
    if (row > 0) d.steps.push_back(loop_over(DimClass::m, row));
    const Step over_m = loop_over(DimClass::m, mr), over_n = loop_over(DimClass::n, nr);
    for (const bool inside : {m_inside, !m_inside}) {
      Draft both = d;
      both.steps.push_back(inside ? over_n : over_m);
      both.steps.push_back(inside ? over_m : over_n);
      add(std::move(both));
    }
  }

  static Step loop_over(DimClass g, std::int64_t tile) {
    Step s;
    s.group = g;
    s.tile = tile;
    return s;
  }
  Step pack_of(TensorId t) const {
    Step pack;
    pack.kind = Step::Kind::move;
    pack.tensor = t;
    pack.level = machine_.level(LevelId{machine_.cache_count() - 1}).name;
    return pack;
  }

  void move_packs() {
    const std::size_t outer = outer_steps();
    for (const TensorId t : {TensorId::A, TensorId::B}) {
      Draft without = from_;
      std::erase_if(without.steps, [&](const Step& s) { return is_pack_of(s, t); });
      const bool packed = packs(from_, t);
      if (packed) add(without);
      // Of what is read once, a copy takes longer than reading it.
      if (!packed && extent(t == path_.left ? DimClass::n : DimClass::m) == 1) continue;
      const Step pack = pack_of(t);
      for (std::size_t i = 0; i + (packed ? 1 : 0) <= outer; ++i) {
        Draft d = without;
        d.steps.insert(d.steps.begin() + static_cast<std::ptrdiff_t>(i), pack);
        add(std::move(d));
      }
    }
  }

  // The batch dimension behind whose places there are others in t, where it leads or comes behind
  // neighbours that are a few lines at most; the batch's end where there is none.
  Group::const_iterator close_places(TensorId t) const {
    constexpr Bytes few_lines = 4 * bytes_of_line;
    const Group& batch = from_.groups[DimClass::batch];
    Bytes together = size_of(c_.type());
    for (DimId d : c_.memory_order(t)) {
      const auto in_batch = std::ranges::find(batch, d);
      if (in_batch != batch.end()) return in_batch;
      together = c_.dim(d).extent * together;
      if (together > few_lines) break;
    }
    return batch.end();
  }

  // Copies of an operand in which places of the batch are close to one another: of several places,
  // so that they use up its lines, or pages, and of as many rows as a cache has room for or as lie
  // together.
  void pack_places(TensorId t) {
    const Group& batch = from_.groups[DimClass::batch];
    const auto in_batch = close_places(t);
    if (in_batch == batch.end() || path_.lanes || path_.along_k) return;
    const DimClass rows = path_.rows_of(t);
    const std::size_t outer = outer_steps();
    Draft without = from_;
    without.steps.clear();
    std::size_t before = 0;  // the loop over places stands behind so many
    std::int64_t sums = extent(DimClass::k);
    for (std::size_t i = 0; i < from_.steps.size(); ++i) {
      const Step& s = from_.steps[i];
      const bool is_outer = i < outer;
      if (is_pack_of(s, t)) continue;
      if (is_outer && is_loop(s) && s.group == rows) continue;
      if (is_loop(s) && s.group == DimClass::batch) {
        before = without.steps.size();
        continue;
      }
      if (is_loop(s) && s.group == DimClass::k) sums = std::min(sums, s.tile);
      without.steps.push_back(s);
    }
    const auto with = [&](std::int64_t row_tile, std::int64_t places) {
      Draft d = without;
      const std::array steps{loop_over(rows, row_tile), loop_over(DimClass::batch, places),
                             pack_of(t), loop_over(DimClass::batch, 1)};
      d.steps.insert(d.steps.begin() + static_cast<std::ptrdiff_t>(before), steps.begin(),
                     steps.end());
      add(std::move(d));
    };
    const std::int64_t line = bytes_of_line / size_of(c_.type());
    std::int64_t whole = 1;
    for (auto d = batch.begin(); d <= in_batch; ++d) whole *= c_.dim(*d).extent;
    std::int64_t known = 0;
    for (const std::int64_t places : {std::min(line, whole), whole, extent(DimClass::batch)}) {
      if (std::exchange(known, places) == places) continue;
      const std::int64_t unit = unit_of(rows);
      for (int level = 0; level < machine_.cache_count(); ++level) {
        const Bytes half(machine_.level(LevelId{level}).capacity.value.value() / 2);
        const std::int64_t tile = half / size_of(c_.type()) / (places * sums) / unit * unit;
        if (tile > 0) with(tile, places);
      }
      std::int64_t together = 1;
      for (DimId d : from_.groups[rows]) {
        together *= c_.dim(d).extent;
        with(ceil_div(together, unit) * unit, places);
      }
    }
  }

  void change_loops() {
    const std::size_t outer = outer_steps();
    for (std::size_t i = 0; i < outer; ++i) {
      const Step& s = from_.steps[i];
      if (!is_loop(s)) continue;
      Draft without = from_;
      without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
      add(without);
      for (std::size_t j = 0; j < outer; ++j) {
        if (j == i) continue;
        Draft d = without;
        d.steps.insert(d.steps.begin() + static_cast<std::ptrdiff_t>(j), s);
        add(std::move(d));
      }
      const auto resized = [&](std::int64_t tile) {
        Draft d = from_;
        const std::int64_t unit = unit_of(s.group);
        d.steps[i].tile = std::max<std::int64_t>(1, tile / unit) * unit;
        add(std::move(d));
      };
      if (s.group == DimClass::batch && s.tile == 1) continue;
      resized(s.tile * 2);
      resized(s.tile / 2);
      std::int64_t whole = 1;
      for (DimId d : from_.groups[s.group]) resized(whole *= c_.dim(d).extent);
    }
    if (extent(DimClass::batch) > 1) {
      // Places that are packed together.
      for (std::size_t i = 0; i < outer; ++i) {
        if (!is_loop(from_.steps[i]) || from_.steps[i].group != DimClass::batch) continue;
        if (from_.steps[i].tile > 1) break;
        Step some = from_.steps[i];
        some.tile = bytes_of_line / size_of(c_.type());
        for (std::size_t j = 0; j <= i; ++j) {
          Draft d = from_;
          d.steps.insert(d.steps.begin() + static_cast<std::ptrdiff_t>(j), some);
          add(std::move(d));
        }
      }
    }
    // The loops over kernels, the other way round.
    if (from_.steps.size() == outer + 2) {
      Draft d = from_;
      std::swap(d.steps[outer], d.steps[outer + 1]);
      add(std::move(d));
    }
  }

  // One loop along k, of tiles for which half of a cache has room with all rows and columns, or of
  // as many columns of the left operand in place as the hardware foresees.
  void fit_sums() {
    if (extent(DimClass::k) == 1) return;
    Draft without = from_;
    const auto is_along_k = [](const Step& s) { return is_loop(s) && s.group == DimClass::k; };
    const auto inner = without.steps.begin() + static_cast<std::ptrdiff_t>(outer_steps());
    without.steps.erase(std::remove_if(without.steps.begin(), inner, is_along_k), inner);
    const auto kernels = static_cast<std::ptrdiff_t>(from_.steps.size() - outer_steps());
    std::int64_t each = 0;  // elements of both operands for one place along k
    for (const TensorId t : {TensorId::A, TensorId::B}) {
      each += extent(path_.rows_of(t));
    }
    const auto with = [&](std::int64_t tile) {
      Draft d = without;
      d.steps.insert(d.steps.end() - kernels, loop_over(DimClass::k, tile));
      add(std::move(d));
    };
    const std::int64_t line = bytes_of_line / size_of(c_.type());
    for (int level = 0; level < machine_.cache_count(); ++level) {
      const Bytes half(machine_.level(LevelId{level}).capacity.value.value() / 2);
      const std::int64_t tile = half / size_of(c_.type()) / each / line * line;
      if (tile >= line) with(tile);
    }
    const bool streams = !path_.lanes && !path_.along_k && !packs(from_, path_.left);
    if (streams && extent(DimClass::k) > most_streams) with(most_streams);
  }

  void change_orders() {
    for (DimClass g : all_dim_classes) {
      const Group& group = from_.groups[g];
      if (group.size() < 2) continue;
      if (g == DimClass::m && (path_.lanes || path_.along_k)) continue;
      for (const TensorId t : {TensorId::A, TensorId::B, TensorId::C}) {
        Draft d = from_;
        d.groups[g] = in_order_of(c_, t, group);
        for (const TensorId other : {TensorId::A, TensorId::B, TensorId::C}) {
          Draft both = d;
          bring_forward(other, both.groups[g]);
          if (both.groups[g] != group) add(std::move(both));
        }
      }
    }
  }

  // What lies together in a tensor becomes the second of a group.
  void bring_forward(TensorId t, Group& group) const {
    const auto fastest = c_.fastest(t);
    const auto place = fastest ? std::ranges::find(group, *fastest) : group.end();
    if (place == group.end() || place == group.begin()) return;
    std::rotate(group.begin() + 1, place, place + 1);
  }

  // Whether kernels read an operand well in place: no tile goes over the end of what is together
  // there.
  bool reads_well(const Draft& d, TensorId t) const {
    // Rows that fill no vector are read with masks, as by a kernel of several vectors.
    Kernel kernel = d.kernel;
    const std::int64_t lanes = lanes_of(machine_.core, c_.type());
    if (!path_.along_k && !path_.lanes && have_masks(c_, lanes)) {
      kernel.mr = Elements(std::max(kernel.mr.value(), 2 * lanes));
    }
    const InPlace good = reads_well_in_place(c_, d.groups, kernel);
    if (path_.along_k || path_.lanes) return t == path_.left ? good.left : good.right;
    if (t == left_operand(c_, d.groups)) {
      const std::int64_t row = neighbours_in(c_, {t}, d.groups[DimClass::m]);
      return good.left && keeps_to(d, DimClass::m, d.kernel.mr.value(), row);
    }
    const std::int64_t row = even_row(c_, d.groups, DimClass::n);
    return good.right && (row == 0 || keeps_to(d, DimClass::n, d.kernel.nr.value(), row));
  }
  bool keeps_to(const Draft& d, DimClass g, std::int64_t tile, std::int64_t row) const {
    if (row % tile == 0 || row == extent(g)) return true;
    return keep_to_rows(d.steps, g, extent(g), row);
  }

  // What an operand's packed copy takes, 0 without one.
  Bytes packed(const Draft& d, TensorId t) const {
    ByGroup<std::int64_t> range = path_.extents;
    for (const Step& s : d.steps) {
      if (is_loop(s)) range[s.group] = std::min(range[s.group], s.tile);
      if (!is_pack_of(s, t)) continue;
      const std::int64_t places = path_.follows(t, DimClass::batch) ? range[DimClass::batch] : 1;
      return range[path_.rows_of(t)] * range[DimClass::k] * places * size_of(c_.type());
    }
    return Bytes(0);
  }
  Bytes half_of_last_cache() const {
    return Bytes(machine_.level(LevelId{machine_.cache_count() - 1}).capacity.value.value() / 2);
  }

  // Without loops that do nothing, if it is legal and what is in place is read well.
  void add(Draft d) {
    ByGroup<std::int64_t> range = path_.extents;
    std::vector<Step> steps;
    for (Step& s : d.steps) {
      if (is_loop(s)) {
        if (s.tile >= range[s.group]) continue;
        range[s.group] = s.tile;
        const auto same_steps = [&](const Step& outer) {
          return is_loop(outer) && outer.group == s.group && outer.tile % s.tile == 0;
        };
        while (!steps.empty() && same_steps(steps.back())) steps.pop_back();
      }
      steps.push_back(std::move(s));
    }
    d.steps = std::move(steps);
    if (range[DimClass::batch] > 1) return;
    for (const TensorId t : {TensorId::A, TensorId::B}) {
      const bool was = !packs(from_, t) && d.kernel == from_.kernel && d.groups == from_.groups;
      const bool may = may_ == ReadInPlace::any || was || packs(d, t) || reads_well(d, t);
      if (!may) return;
    }
    const Bytes most = half_of_last_cache();
    for (const TensorId t : {TensorId::A, TensorId::B}) {
      if (packed(d, t) > std::max(packed(from_, t), most)) return;
    }
    std::vector<Node> nodes;
    for (const Step& s : d.steps) {
      if (is_loop(s)) {
        nodes.emplace_back(Loop{s.group, Elements(s.tile), {}});
      } else {
        nodes.emplace_back(Move{s.moves, s.tensor, s.level, {}});
      }
    }
    Schedule schedule{d.groups, nested(std::move(nodes), d.kernel)};
    schedule.parallel = schedule_.parallel;
    const bool known = schedule == schedule_ || std::ranges::count(all_, schedule) > 0;
    if (!known && is_legal(schedule, c_)) all_.push_back(std::move(schedule));
  }

  const Contraction& c_;
  const Machine& machine_;
  const ReadInPlace may_;
  const Schedule& schedule_;
  const Path path_;
  Draft from_;
  std::vector<Schedule> all_;
};

}  // namespace

std::vector<Schedule> rewrites(const Contraction& contraction, const Machine& machine,
                               const Schedule& schedule, ReadInPlace may) {
  return Rewriter(contraction, machine, schedule, may).all();
}

std::vector<Schedule> exchanged(const Contraction& contraction, const Machine& machine,
                                const Schedule& schedule) {
  const Path path = only_path(contraction, schedule);
  const bool plain = contraction.is_plain(TensorId::A) && contraction.is_plain(TensorId::B);
  if (!plain || path.lanes || path.along_k || path.extents[DimClass::k] == 1) return {};
  const std::int64_t calls =
      ceil_div(path.extents[DimClass::m], path.mr) * ceil_div(path.extents[DimClass::n], path.nr);
  if (calls <= most_noted) return {};
  Groups groups = schedule.groups;
  const std::int64_t together = neighbours_in(contraction, {TensorId::C}, groups[DimClass::m]);
  std::swap(groups[DimClass::m], groups[DimClass::n]);
  if (groups[DimClass::m].empty()) return {};
  const TensorId left = left_operand(contraction, groups);
  groups[DimClass::m] = in_order_of(contraction, left, groups[DimClass::m]);
  groups[DimClass::n] = in_order_of(contraction, TensorId::C, groups[DimClass::n]);
  const std::int64_t rows = extent_of(contraction, groups[DimClass::m]);
  const std::int64_t columns = extent_of(contraction, groups[DimClass::n]);
  const std::int64_t lanes = lanes_of(machine.core, contraction.type());
  const std::string& last = machine.level(LevelId{machine.cache_count() - 1}).name;
  std::vector<Schedule> all;
  for (const Kernel& choice : kernel_choices(machine.core, contraction.type())) {
    if (together >= choice.mr.value()) continue;
    Kernel kernel = narrowed(choice, columns);
    kernel.mr = Elements(std::min(choice.mr.value(), ceil_div(rows, lanes) * lanes));
    const InPlace good = reads_well_in_place(contraction, groups, kernel);
    std::vector<Node> nodes;
    if (path.extents[DimClass::batch] > 1) {
      nodes.emplace_back(Loop{DimClass::batch, Elements(1), {}});
    }
    for (const TensorId t : {TensorId::A, TensorId::B}) {
      if (t == left ? good.left : good.right) continue;
      nodes.emplace_back(Move{Move::Kind::pack, t, last, {}});
    }
    if (kernel.nr.value() < columns) nodes.emplace_back(Loop{DimClass::n, kernel.nr, {}});
    if (kernel.mr.value() < rows) nodes.emplace_back(Loop{DimClass::m, kernel.mr, {}});
    Schedule other{groups, nested(std::move(nodes), kernel)};
    if (is_legal(other, contraction) && std::ranges::count(all, other) == 0) {
      all.push_back(std::move(other));
    }
  }
  return all;
}

}  // namespace tcsim
