#include "core/schedule/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

namespace {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

// Calls f(path) at every kernel, with the steps up to there.
template <class F>
void follow(const Node& node, Path& path, F& f) {
  Step step;
  const auto go_on = [&](const Node& inner) {
    path.steps.push_back(step);
    follow(inner, path, f);
    path.steps.pop_back();
  };
  std::visit(Cases{[&](const Loop& loop) {
                     step.group = loop.group;
                     step.tile = loop.tile.value();
                     go_on(*loop.body);
                   },
                   [&](const Seq& seq) {
                     for (const Seq::Part& part : seq.parts) {
                       if (!seq.over) {
                         follow(part.node, path, f);
                         continue;
                       }
                       step.kind = Step::Kind::part;
                       step.group = *seq.over;
                       step.begin += step.tile;
                       step.tile = part.size.value();
                       go_on(part.node);
                     }
                   },
                   [&](const Move& move) {
                     step.kind = Step::Kind::move;
                     step.moves = move.kind;
                     step.tensor = move.tensor;
                     step.level = move.level;
                     go_on(*move.body);
                   },
                   [&](const Kernel& kernel) {
                     step.kind = Step::Kind::kernel;
                     path.mr = kernel.mr.value();
                     path.nr = kernel.nr.value();
                     path.statement = kernel.statement;
                     path.along_k = kernel.along_k;
                     path.steps.push_back(step);
                     f(path);
                     path.steps.pop_back();
                   }},
             node.is);
}

template <class F>
void for_each_path(const Contraction& contraction, const Schedule& schedule, F f) {
  assert(is_legal(schedule, contraction));
  Path path;
  path.left = left_operand(contraction, schedule.groups);
  path.lanes = holds_lanes(contraction, schedule.groups);
  path.rows = holds_rows(contraction, schedule.groups);
  for (DimClass g : all_dim_classes) {
    path.extents[g] = extent_of(contraction, schedule.groups[g]);
  }
  follow(schedule.root, path, f);
}

[[noreturn]] void refuse(const Contraction& contraction, const std::string& what) {
  throw UnsupportedError(contraction.name(), fmt::format("the schedule has {}", what),
                         "these are not done yet: use loops and packs around one kernel");
}

// What follows the part at `depth` of a path: the tile of the loop over its range, which is the
// whole part where there is no such loop, and the steps inside that.
struct Within {
  std::int64_t tile;
  std::vector<Step> steps;
};
Within within(const Path& path, std::size_t depth) {
  const Step& part = path.steps[depth];
  const Step& next = path.steps[depth + 1];
  const bool loop = next.kind == Step::Kind::loop && next.group == part.group;
  const auto from = path.steps.begin() + static_cast<std::ptrdiff_t>(depth + (loop ? 2 : 1));
  return {loop ? next.tile : part.tile, {from, path.steps.end()}};
}

// Two parts of one range as a loop of two tile sizes.
Path composed(const Contraction& contraction, const Path& a, const Path& b) {
  const auto part = std::ranges::find(a.steps, Step::Kind::part, &Step::kind);
  const auto depth = static_cast<std::size_t>(part - a.steps.begin());
  if (part == a.steps.end() || depth >= b.steps.size() ||
      !std::equal(a.steps.begin(), part, b.steps.begin())) {
    refuse(contraction, "several parts in sequence (seq)");
  }
  const DimClass g = part->group;
  const Within first = within(a, depth), second = within(b, depth);
  const bool alike = first.steps == second.steps && a.along_k == b.along_k &&
                     (g == DimClass::m || a.mr == b.mr) && (g == DimClass::n || a.nr == b.nr);
  if (!alike) refuse(contraction, "parts of a range that differ in more than their tile");
  for (const Step& s : a.steps) {
    if (s.kind == Step::Kind::move && a.follows(s.tensor, g)) {
      refuse(contraction,
             fmt::format("parts of a range that the pack of {} holds", to_text(s.tensor)));
    }
  }
  for (const Step& s : first.steps) {
    const bool again = s.kind == Step::Kind::part || (s.kind == Step::Kind::loop && s.group == g);
    if (again || s.kind == Step::Kind::move) {
      refuse(contraction, "parts of a range with more than a loop over it inside");
    }
  }
  Path path = a;
  path.mr = std::max(a.mr, b.mr);
  path.nr = std::max(a.nr, b.nr);
  path.steps.resize(depth);
  Step& loop = path.steps.emplace_back();
  loop.group = g;
  loop.head = part->tile;
  loop.head_tile = first.tile;
  loop.tile = second.tile;
  path.steps.insert(path.steps.end(), first.steps.begin(), first.steps.end());
  return path;
}

}  // namespace

std::int64_t extent_of(const Contraction& contraction, const Group& group) {
  std::int64_t n = 1;
  for (DimId d : group) n *= contraction.dim(d).extent;
  return n;
}

bool keep_to_rows(const std::vector<Step>& steps, DimClass group, std::int64_t extent,
                  std::int64_t row) {
  std::int64_t around = 0;  // tiles begin at multiples of it; 0: at the first place alone
  for (const Step& s : steps) {
    if (s.kind != Step::Kind::loop || s.group != group || s.tile >= extent) continue;
    if (row % s.tile == 0 && around % s.tile == 0) return true;
    around = std::gcd(around, s.tile);
  }
  return false;
}

std::int64_t neighbours_in(const Contraction& c, std::initializer_list<TensorId> tensors,
                           const Group& group) {
  std::int64_t together = 1;
  for (DimId d : group) {
    if (c.dim(d).extent == 1) continue;
    const auto apart = [&](TensorId t) { return c.stride(t, d) != Elements(together); };
    if (std::ranges::any_of(tensors, apart)) break;
    together *= c.dim(d).extent;
  }
  return together;
}

bool Path::follows(TensorId t, DimClass group) const {
  switch (group) {
    case DimClass::m:
      return t == left || t == TensorId::C || lanes;
    case DimClass::n:
      return t != left;
    case DimClass::k:
      return t != TensorId::C;
    case DimClass::batch:
      return !rows || t != right();
  }
  return false;
}

bool follows(const Contraction& contraction, const Groups& groups, TensorId t, DimClass group) {
  Path path;
  path.left = left_operand(contraction, groups);
  path.lanes = holds_lanes(contraction, groups);
  path.rows = holds_rows(contraction, groups);
  return path.follows(t, group);
}

bool writes_lines(const Path& path) {
  return path.extents[DimClass::k] == 1 && path.nr == 1 && !path.along_k;
}

std::size_t block_depth(const Path& path) {
  std::size_t depth = path.steps.size() - 1;
  ByGroup<bool> in_block{};
  while (depth > 0) {
    const Step& s = path.steps[depth - 1];
    if (s.kind != Step::Kind::loop || (s.group != DimClass::m && s.group != DimClass::n)) break;
    if (std::exchange(in_block[s.group], true)) break;
    --depth;
    if (s.head > 0) break;  // tiles of one size, and then others: a block of each
  }
  return depth;
}

Node nested(std::vector<Node> steps, Node inside) {
  Node root = std::move(inside);
  for (std::size_t i = steps.size(); i-- > 0;) {
    Node outer = std::move(steps[i]);
    auto* const loop = std::get_if<Loop>(&outer.is);
    (loop ? loop->body : std::get<Move>(outer.is).body) = std::move(root);
    root = std::move(outer);
  }
  return root;
}

std::vector<Kernel> kernels_of(const Node& root) {
  Path path;
  std::vector<Kernel> kernels;
  const auto add = [&](const Path& p) { kernels.push_back(p.kernel()); };
  follow(root, path, add);
  return kernels;
}

bool holds_lanes(const Contraction& contraction, const Groups& groups) {
  const Group& m = groups[DimClass::m];
  return !m.empty() && contraction.dim_class(m[0]) == DimClass::batch;
}

namespace {

// The class of a group's dimensions, by the first that has several places: those of one place may
// be in any group (check()).
std::optional<DimClass> class_of(const Contraction& contraction, const Group& group) {
  const auto first =
      std::ranges::find_if(group, [&](DimId d) { return contraction.dim(d).extent > 1; });
  if (first == group.end()) return {};
  return contraction.dim_class(*first);
}

}  // namespace

bool holds_rows(const Contraction& contraction, const Groups& groups) {
  const auto outermost = class_of(contraction, groups[DimClass::batch]);
  return holds_lanes(contraction, groups) && outermost && *outermost != DimClass::batch;
}

TensorId left_operand(const Contraction& contraction, const Groups& groups) {
  if (holds_lanes(contraction, groups)) {
    const auto columns = class_of(contraction, groups[DimClass::n]);
    if (columns) return *columns == DimClass::m ? TensorId::B : TensorId::A;
    const auto rows = class_of(contraction, groups[DimClass::batch]);
    if (rows && *rows != DimClass::batch) return *rows == DimClass::m ? TensorId::A : TensorId::B;
    const auto row = std::ranges::find_if(groups[DimClass::m],
                                          [&](DimId d) { return contraction.dim(d).extent > 1; });
    const auto neighbours = [&](TensorId t) {
      return row != groups[DimClass::m].end() && contraction.stride(t, *row) == Elements(1);
    };
    return neighbours(TensorId::A) && !neighbours(TensorId::B) ? TensorId::B : TensorId::A;
  }
  for (DimClass g : {DimClass::m, DimClass::n}) {
    const Group& dims = groups[g];
    if (!dims.empty()) return contraction.dim_class(dims[0]) == g ? TensorId::A : TensorId::B;
  }
  return TensorId::A;
}

std::vector<Path> paths_of(const Contraction& contraction, const Schedule& schedule) {
  std::vector<Path> paths;
  for_each_path(contraction, schedule, [&](const Path& path) { paths.push_back(path); });
  return paths;
}

Path only_path(const Contraction& contraction, const Schedule& schedule) {
  std::vector<Path> paths;
  for_each_path(contraction, schedule, [&](const Path& path) {
    for (const Step& s : path.steps) {
      if (s.kind == Step::Kind::move && s.moves != Move::Kind::pack) {
        refuse(contraction, fmt::format("explicit moves ({})", to_text(s.moves)));
      }
    }
    if (paths.size() == 2) refuse(contraction, "more than two parts in sequence (seq)");
    paths.push_back(path);
  });
  const Path path = paths.size() == 2 ? composed(contraction, paths[0], paths[1]) : paths.front();
  for (const Step& s : path.steps) {
    if (s.kind == Step::Kind::part) refuse(contraction, "parts of a range (seq over)");
  }
  return path;
}

std::int64_t Step::iterations(std::int64_t size) const {
  std::int64_t all = 0;
  for_each_size(size, [&](std::int64_t, std::int64_t times) { all += times; });
  return all;
}

double Step::mean_tile(double size) const {
  if (head == 0) return std::min(size, static_cast<double>(tile));
  return size / static_cast<double>(iterations(static_cast<std::int64_t>(std::ceil(size))));
}

}  // namespace tcsim
