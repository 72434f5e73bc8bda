#include "core/model/execution.hpp"

#include <algorithm>
#include <cmath>

namespace tcsim {

namespace {

// Positions along a buffer that are told apart, at least. Source: chosen.
constexpr double parts_of_buffer = 4;
// A box has so many lines fewer than it is to have, as a share, and is good enough. Source: chosen.
constexpr double enough_lines = 0.02;

std::size_t at(int d) { return static_cast<std::size_t>(d); }

// Which iteration of a loop that its array follows a line belongs to: 0 to count - 1, and the share
// of the lines for which it stands.
struct Position {
  double iteration, share;
};

// The ends are told from the inner iterations; `finely`, also where in between.
std::vector<Position> positions(double count, bool finely) {
  if (finely && count <= 8) {
    std::vector<Position> all;
    for (double i = 0; i < count; ++i) {
      all.push_back({std::min(i, count - 1), std::min(1.0, count - i) / count});
    }
    return all;
  }
  const double end = std::min(0.5, 1 / count), inner = 1 - 2 * end;
  std::vector<Position> all{{0, end}, {count - 1, end}};
  const int parts = inner <= 0 ? 0 : finely ? 4 : 1;
  for (int i = 0; i < parts; ++i) {
    all.push_back({(i + 0.5) / parts * (count - 1), inner / parts});
  }
  return all;
}

}  // namespace

Execution::Execution(const Nest& nest, int from, const Extents& extents, int told_apart)
    : nest_(nest), from_(from), told_apart_(told_apart), narrowed_(nest.narrowed(from, extents)) {
  full_.resize(narrowed_.size());
  for (int d = from; d < nest.depth(); ++d) full_[at(d)] = nest.lines(d, narrowed_);
}

Extents Execution::box(TensorId t, double lines, DimClass outer) const {
  const ArrayId a = array_of(t);
  int d = from_;
  while (d + 1 < nest_.depth() && full_[at(d)][a] > lines && full_[at(d + 1)][a] > 0) ++d;
  Extents e = narrowed_[at(d)];
  const double times = lines / full_[at(d)][a];
  if (times < 1) {  // of the kernel or a copy, as the nest has no smaller node
    e[goes_along(t, d)] *= times;
    return e;
  }
  const DimClass grows = d == from_ ? outer : nest_.step(d - 1).group;
  if (d == from_ || nest_.step(d - 1).kind == Step::Kind::loop) {
    const double tile = e[grows], most = d == from_ ? HUGE_VAL : narrowed_[at(d - 1)][grows];
    e[grows] *= times;
    // Tiles may share lines. Twice as many never have more than twice the lines.
    for (int i = 0; i < 4 && times > 1; ++i) {
      const double missing = lines / nest_.tensor_lines(t, e);
      if (missing < 1 + enough_lines) break;
      e[grows] = std::clamp(e[grows] * missing, tile, most);
    }
  }
  return e;
}

// The group along which the step at d, a copy of t or the kernel, goes over what it touches of t.
DimClass Execution::goes_along(TensorId t, int d) const {
  if (d + 1 == nest_.depth()) return t == TensorId::C ? DimClass::n : DimClass::k;
  const DimClass rows = nest_.path().rows_of(t);
  const auto panel = static_cast<double>(nest_.path().panel_of(t));
  return extents(d)[rows] > panel ? rows : DimClass::k;
}

// Calls f(places, share) for the positions of x within the steps from `from` on. How far a line
// is through its buffer matters finely, since packing goes through it in the same order.
template <class F>
void Execution::visit_positions(ArrayId x, int from, F&& f) const {
  Places places;
  auto& loops = places.iterations;
  for (int d = from; d < leaf(x) && static_cast<int>(loops.size()) < told_apart_; ++d) {
    if (nest_.follows(x, d) && count(d) > 1) loops.emplace_back(d, 0);
  }
  const bool buffer = nest_.arrays().is_buffer(x);
  const auto visit = [&](const auto& self, std::size_t i, double share) -> void {
    if (i == loops.size()) return f(places, share);
    for (const Position& p : positions(count(loops[i].first), buffer && i == 0)) {
      loops[i].second = p.iteration;
      self(self, i + 1, share * p.share);
    }
  };
  const double along = loops.empty() ? 1 : count(loops.front().first);
  const double parts = buffer && told_apart_ > 1 ? std::ceil(parts_of_buffer / along) : 1;
  for (double i = 0; i < parts; ++i) {
    places.part = (i + 0.5) / parts;
    visit(visit, 0, 1 / parts);
  }
}

std::vector<Execution::Sides> Execution::sides(ArrayId x, const Execution& next) const {
  std::vector<Sides> all;
  all.reserve(27);  // three positions of each of three loops
  visit_positions(x, from_, [&](const Places& places, double share) {
    Sides& s = all.emplace_back(sides_at(x, places));
    if (&next != this) s.before = next.sides_at(x, places).before;
    s.share = share;
  });
  return all;
}

std::vector<Execution::Sides> Execution::handed_over(ArrayId buffer) const {
  std::vector<Sides> all;
  visit_positions(buffer, from_ + 1, [&](const Places& places, double share) {
    Sides inside = kernel_sides(buffer, places);
    for (int d = nest_.depth() - 2; d > from_; --d) outward(inside, buffer, d, places);
    inside.after.fill(0);
    inside.share = share;
    add_copied(inside.after, from_, before_writing(from_, way_through(buffer, places)).rest());
    all.push_back(inside);
  });
  return all;
}

Execution::Sides Execution::sides_of(ArrayId x, const Extents& at) const {
  Places places;
  Extents rest = at;
  for (int d = from_; d < leaf(x); ++d) {
    if (!nest_.follows(x, d)) continue;
    const DimClass g = nest_.step(d).group;
    const double tile = extents(d + 1)[g];
    const double i = std::min(std::floor(rest[g] / tile), std::ceil(count(d)) - 1);
    rest[g] -= i * tile;
    places.iterations.emplace_back(d, i);
  }
  return sides_at(x, places);
}

double Execution::iteration(int d, const Places& places) const {
  for (const auto& [depth, i] : places.iterations) {
    if (depth == d) return std::min(i, count(d) - 1);
  }
  return (count(d) - 1) / 2;
}

// Share of a buffer that its copy fills before the line.
double Execution::way_through(ArrayId buffer, const Places& places) const {
  for (const auto& [d, i] : places.iterations) {
    if (nest_.follows(buffer, d)) return std::min(1.0, (i + places.part) / count(d));
  }
  return places.part;
}

// Depth of the last step that touches x.
int Execution::leaf(ArrayId x) const {
  if (nest_.arrays().is_buffer(x) || x == ArrayId::C) return nest_.depth() - 1;
  const int pack = nest_.pack_depth(nest_.arrays().tensor_of(x));
  return pack < 0 ? nest_.depth() - 1 : pack;
}

// Iterations of the loop at d, not rounded.
double Execution::count(int d) const {
  const DimClass g = nest_.step(d).group;
  return extents(d)[g] / extents(d + 1)[g];
}

// Adds lines that a child of the sequence at d touches: no more than the whole sequence does.
void Execution::add(PerArray& side, int d, ArrayId a, double lines) const {
  side[a] = std::min(full(d)[a], side[a] + lines);
}

// What the copy of the move at d has done when it has written so much of the buffer and goes on
// writing: it has read a part before it writes any of it.
Execution::Copied Execution::before_writing(int d, double written) const {
  const double part = nest_.read_at_once(nest_.step(d).tensor, extents(d));
  if (part <= 0) return {written, written};
  return {std::min(1.0, (std::floor(written / part) + 1) * part), written};
}

// Adds shares of what the copy of the move at d touches.
void Execution::add_copied(PerArray& side, int d, const Copied& share) const {
  const ArrayId source = array_of(nest_.step(d).tensor), buffer = nest_.arrays().made_at(d);
  add(side, d, source, share.read * full(d)[source]);
  add(side, d, buffer, share.written * full(d)[buffer]);
}

// The sides of a line that is last touched by the last child of the sequence at d. An earlier child
// that touches the line as well has its first touch.
void Execution::beside_earlier(Sides& s, ArrayId x, int d, const Places& places) const {
  const bool is_first_touch = x == array_of(nest_.step(d).tensor) || x == nest_.arrays().made_at(d);
  if (is_first_touch) s.before.fill(0);
  add_copied(s.before, d,
             is_first_touch ? before_writing(d, way_through(x, places)) : Copied{1, 1});
}

// At the kernel: A and B advance together along k, C comes after both.
Execution::Sides Execution::kernel_sides(ArrayId x, const Places& places) const {
  PerArray u = full(nest_.depth() - 1);
  u[x] = std::max(0.0, u[x] - 1);
  Sides s{u, u};
  const double done = x == ArrayId::C ? 1 : places.iterations.empty() ? places.part : 0.5;
  for (ArrayId a : u.ids()) {
    const double before = a == ArrayId::C ? (x == ArrayId::C ? 0.5 : 0) : done;
    s.before[a] *= before;
    s.after[a] *= 1 - before;
  }
  return s;
}

// From the sides within step d + 1 to those within step d.
void Execution::outward(Sides& s, ArrayId x, int d, const Places& places) const {
  if (nest_.step(d).kind == Step::Kind::move) return beside_earlier(s, x, d, places);
  const ByArray<bool>& follows = nest_.follows(d);
  if (!follows[x]) return;  // last touched in the last iteration, first in the first
  const double c = count(d);
  if (c <= 1) return;
  const PerArray& inner = full(d + 1);
  const PerArray& whole = full(d);
  // Several neighbouring iterations touch a line that is longer than a tile, or in a halo: the last
  // of them counts for what comes after, the first for what comes before.
  const double touching = std::clamp(c * inner[x] / std::max(1.0, whole[x]), 1.0, c);
  const double around = (touching - 1) / 2, last = c - 1 - around;
  const double p = std::clamp(iteration(d, places), around, std::max(around, last));
  const double earlier = p - around, later = std::max(0.0, last - p);
  for (ArrayId a : inner.ids()) {
    if (follows[a]) {
      const double fresh = (whole[a] - inner[a]) / (c - 1);  // lines that each iteration adds
      s.after[a] += later * fresh;
      s.before[a] += earlier * fresh;
    } else {
      if (later > 0) s.after[a] = inner[a];
      if (earlier > 0) s.before[a] = inner[a];
    }
  }
}

Execution::Sides Execution::sides_at(ArrayId x, const Places& places) const {
  Sides s;
  int d = leaf(x);
  if (d == nest_.depth() - 1) {
    s = kernel_sides(x, places);
  } else {
    // In the copy: half of it on either side, and the later child after it.
    s.before = s.after = PerArray(nest_.arrays().size());
    add_copied(s.before, d, {0.5, 0.5});
    add_copied(s.after, d, {0.5, 0.5});
    for (ArrayId a : nest_.arrays().ids()) add(s.after, d, a, full(d + 1)[a]);
  }
  for (--d; d >= from_; --d) outward(s, x, d, places);
  return s;
}

}  // namespace tcsim
