#include "core/schedule/path.hpp"

#include <fmt/format.h>

#include <cassert>
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
  for (DimClass g : all_dim_classes) {
    path.extents[g] = extent_of(contraction, schedule.groups[g]);
  }
  follow(schedule.root, path, f);
}

[[noreturn]] void refuse(const Contraction& contraction, const std::string& what) {
  throw UnsupportedError(contraction.name(), fmt::format("the schedule has {}", what),
                         "these are not done yet: use loops and packs around one kernel");
}

}  // namespace

std::int64_t extent_of(const Contraction& contraction, const Group& group) {
  std::int64_t n = 1;
  for (DimId d : group) n *= contraction.dim(d).extent;
  return n;
}

bool has_group(TensorId t, TensorId left, DimClass group) {
  switch (group) {
    case DimClass::m:
      return t == left || t == TensorId::C;
    case DimClass::n:
      return t != left;
    case DimClass::k:
      return t != TensorId::C;
    case DimClass::batch:
      return true;
  }
  return false;
}

Node nested(std::vector<Node> steps, Kernel kernel) {
  Node root{kernel};
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
  const auto add = [&](const Path& p) {
    kernels.push_back({Elements(p.mr), Elements(p.nr), p.statement});
  };
  follow(root, path, add);
  return kernels;
}

TensorId left_operand(const Contraction& contraction, const Groups& groups) {
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
  Path only;
  for_each_path(contraction, schedule, [&](const Path& path) {
    if (!only.steps.empty()) refuse(contraction, "several parts in sequence (seq)");
    for (const Step& s : path.steps) {
      if (s.kind == Step::Kind::part) refuse(contraction, "parts of a range (seq over)");
      if (s.kind == Step::Kind::move && s.moves != Move::Kind::pack) {
        refuse(contraction, fmt::format("explicit moves ({})", to_text(s.moves)));
      }
    }
    only = path;
  });
  return only;
}

}  // namespace tcsim
