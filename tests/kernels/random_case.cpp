#include "tests/kernels/random_case.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/schedule/path.hpp"
#include "tests/core/composition.hpp"
#include "tests/kernels/build.hpp"

namespace tcsim {

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution(low, high)(random);
}

Contraction random_contraction(Random& random, ElementType type, std::int64_t work) {
  static constexpr std::array<std::int64_t, 12> extents{1, 2, 3, 4, 5, 7, 8, 11, 13, 24, 29, 50};
  const std::int64_t count = between(random, 2, 8);
  std::vector<Dimension> dims;
  std::array<std::string, 3> tensors;  // A, B, C
  for (std::int64_t i = 0; i < count; ++i) {
    const char name = static_cast<char>('a' + i);
    std::int64_t extent = extents[static_cast<std::size_t>(between(random, 0, 11))];
    if (extent > work) extent = 1;
    work /= extent;
    dims.push_back({name, extent});
    // Three of ten for each of m, n and k, one for batch; all k (a full reduction) and no k (an
    // outer product) come about by themselves.
    const std::int64_t draw = between(random, 0, 9);
    if (draw < 3 || draw >= 6) tensors[0] += name;
    if (draw >= 3) tensors[1] += name;
    if (draw < 6 || draw == 9) tensors[2] += name;
  }
  for (auto& t : tensors) std::shuffle(t.begin(), t.end(), random);
  const Layout layout = between(random, 0, 1) ? Layout::row_major : Layout::column_major;
  return contraction(tensors[2], tensors[0], tensors[1], dims, layout, type);
}

Contraction random_product(Random& random, ElementType type, std::int64_t work) {
  while (true) {
    const Contraction c = random_contraction(random, type, work);
    if (c.extent(DimClass::k) == Elements(1) && c.dim_count() > 2) return c;
  }
}

namespace {

// What a path from the root may hold next, while it is built from the outside inwards.
class PathBuilder {
 public:
  PathBuilder(Random& random, const Contraction& c, const Schedule& schedule, std::int64_t mr,
              std::int64_t nr)
      : random_(random), panels_{mr, nr}, lanes_(holds_lanes(c, schedule.groups)) {
    for (DimClass g : {DimClass::m, DimClass::n, DimClass::k, DimClass::batch}) {
      range(g) = extent_of(c, schedule.groups[g]);
    }
    const bool exchanged = left_operand(c, schedule.groups) == TensorId::B;
    sides_ = {exchanged ? TensorId::B : TensorId::A, exchanged ? TensorId::A : TensorId::B};
    for (bool& wanted : pack_wanted_) wanted = between(random_, 0, 3) > 0;
  }

  Node build(bool has_batch) {
    const bool anywhere = has_batch && between(random_, 0, 1);
    if (has_batch && !anywhere) add_batch(1);
    for (std::int64_t i = between(random_, 0, 8); i > 0; --i) {
      if (anywhere && between(random_, 0, 2) == 0) {
        add_batch(between(random_, 1, range(DimClass::batch)));
        continue;
      }
      const std::int64_t what = between(random_, 0, 4);
      if (what < 3)
        add_loop(DimClass{static_cast<int>(what)}, false);
      else
        add_pack(static_cast<std::size_t>(what - 3));
    }
    for (int side : between(random_, 0, 1) ? std::array{0, 1} : std::array{1, 0}) {
      if (between(random_, 0, 1)) add_pack(static_cast<std::size_t>(side));
      add_loop(DimClass{side}, true);
      add_pack(static_cast<std::size_t>(side));
    }
    if (anywhere) add_batch(1);
    Node inner = kernel(panels_[0], panels_[1]);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (auto* l = std::get_if<Loop>(&step->is))
        inner = loop(l->group, l->tile.value(), inner);
      else
        inner = pack(std::get<Move>(step->is).tensor, std::get<Move>(step->is).level, inner);
    }
    return inner;
  }

 private:
  std::int64_t& range(DimClass g) { return ranges_[g]; }

  void add_batch(std::int64_t tile) {
    if (one_place_) return;
    range(DimClass::batch) = tile;
    one_place_ = tile == 1;
    steps_.push_back(loop(DimClass::batch, tile, kernel(1, 1)));
  }

  // `last`: down to what the kernel takes.
  void add_loop(DimClass g, bool last) {
    const bool is_row = g != DimClass::k;
    const auto side = static_cast<std::size_t>(index(g));
    const std::int64_t panel = is_row ? panels_[side] : 1;
    if (last && range(g) <= panel) return;
    // Of lanes both operands' micropanels have rows of m.
    const bool packed =
        is_row && (lanes_ ? side == 0 && (packed_[0] || packed_[1]) : packed_[side]);
    const std::int64_t step = packed ? panel : 1;
    const std::int64_t most = (last ? panel : range(g)) / step;
    if (most < 1) return;
    range(g) = step * between(random_, 1, most);
    steps_.push_back(loop(g, range(g), kernel(1, 1)));
  }

  void add_pack(std::size_t side) {
    if (!std::exchange(pack_wanted_[side], false)) return;
    const bool outer = !packed_[0] && !packed_[1];
    if (lanes_ && side == 1 && range(DimClass::n) > 1) {
      range(DimClass::n) = 1;
      steps_.push_back(loop(DimClass::n, 1, kernel(1, 1)));
    }
    packed_[side] = true;
    steps_.push_back(pack(sides_[side], outer ? "L3" : "L2", kernel(1, 1)));
  }

  Random& random_;
  std::array<std::int64_t, 2> panels_;
  ByGroup<std::int64_t> ranges_{1, 1, 1, 1};
  std::array<TensorId, 2> sides_;  // left, right
  std::array<bool, 2> pack_wanted_{}, packed_{};
  bool lanes_;
  bool one_place_ = false;   // of the batch
  std::vector<Node> steps_;  // their bodies are filled in at the end
};

}  // namespace

Schedule random_schedule(Random& random, const Contraction& c, std::int64_t mr, std::int64_t nr) {
  Schedule schedule;
  const bool exchanged = between(random, 0, 1) == 1;
  const bool lanes = !c.dims_of(DimClass::batch).empty() && between(random, 0, 1) == 1;
  for (int d = 0; d < c.dim_count(); ++d) {
    DimClass g = c.dim_class(DimId{d});
    if (exchanged && g == DimClass::m)
      g = DimClass::n;
    else if (exchanged && g == DimClass::n)
      g = DimClass::m;
    // What the left operand shares with C alone has the place of the batch, which has its own.
    if (lanes && (g == DimClass::m || g == DimClass::batch)) {
      g = g == DimClass::m ? DimClass::batch : DimClass::m;
    }
    schedule.groups[g].push_back(DimId{d});
  }
  for (auto& group : schedule.groups) std::shuffle(group.begin(), group.end(), random);
  // Where the left operand has nothing of its own, some of the batch may stay there.
  Group &batch = schedule.groups[DimClass::batch], &rows = schedule.groups[DimClass::m];
  if (lanes && batch.empty() && rows.size() > 1 && between(random, 0, 1) == 1) {
    batch.push_back(rows.back());
    rows.pop_back();
  }
  PathBuilder path(random, c, schedule, mr, nr);
  schedule.root = path.build(!schedule.groups[DimClass::batch].empty());
  if (between(random, 1, 3) == 1) {
    test::compose(schedule, c,
                  [&](std::int64_t low, std::int64_t high) { return between(random, low, high); });
  }
  return schedule;
}

std::vector<long double> evaluate(const Contraction& c, const std::vector<long double>& a,
                                  const std::vector<long double>& b) {
  std::vector<std::int64_t> at_dim(static_cast<std::size_t>(c.dim_count()), 0);
  const auto place = [&](TensorId t) {
    const IndexedTensor& tensor = c.tensor(t);
    std::int64_t offset = 0;
    for (auto i = tensor.order.rbegin(); i != tensor.order.rend(); ++i) {
      const auto axis = static_cast<std::size_t>(*i);
      std::int64_t at_axis = 0;
      for (const Affine::Term& term : tensor.axes[axis].terms) {
        at_axis += term.coefficient * at_dim[static_cast<std::size_t>(index(term.dim))];
      }
      offset = offset * tensor.extents[axis] + at_axis;
    }
    return static_cast<std::size_t>(offset);
  };
  std::vector<long double> result(static_cast<std::size_t>(c.size(TensorId::C).value()), 0);
  while (true) {
    result[place(TensorId::C)] += a[place(TensorId::A)] * b[place(TensorId::B)];
    int d = 0;
    while (d < c.dim_count() && ++at_dim[static_cast<std::size_t>(d)] == c.dim(DimId{d}).extent) {
      at_dim[static_cast<std::size_t>(d++)] = 0;
    }
    if (d == c.dim_count()) return result;
  }
}

}  // namespace tcsim
