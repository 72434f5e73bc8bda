#include "core/schedule/spine.hpp"

#include <utility>

namespace tcsim {

DimId dim_named(const Contraction& contraction, char name) {
  int i = 0;
  while (contraction.dim(DimId{i}).name != name) ++i;
  return DimId{i};
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

Node nested(std::vector<Node> spine, Kernel kernel) {
  Node root{kernel};
  for (std::size_t i = spine.size(); i-- > 0;) {
    Node outer = std::move(spine[i]);
    auto& body = std::holds_alternative<Loop>(outer.is) ? std::get<Loop>(outer.is).body
                                                        : std::get<Pack>(outer.is).body;
    body.push_back(std::move(root));
    root = std::move(outer);
  }
  return root;
}

TensorId left_operand(const Contraction& contraction, const std::array<std::string, 4>& groups) {
  for (DimClass g : {DimClass::m, DimClass::n}) {
    const std::string& names = groups[at(g)];
    if (names.empty()) continue;
    return contraction.dim_class(dim_named(contraction, names[0])) == g ? TensorId::A : TensorId::B;
  }
  return TensorId::A;
}

Kernel kernel_of(const Schedule& schedule) {
  const Node* node = &schedule.root;
  while (!std::holds_alternative<Kernel>(node->is)) {
    const auto* loop = std::get_if<Loop>(&node->is);
    node = &(loop ? loop->body : std::get<Pack>(node->is).body).front();
  }
  return std::get<Kernel>(node->is);
}

Spine::Spine(const Contraction& contraction, const Schedule& schedule)
    : left(left_operand(contraction, schedule.groups)) {
  for (DimClass g : all_dim_classes) {
    for (char name : schedule.groups[at(g)]) {
      extents[at(g)] *= contraction.dim(dim_named(contraction, name)).extent;
    }
  }
  for (const Node* node = &schedule.root;;) {
    Step s;
    if (const auto* loop = std::get_if<Loop>(&node->is)) {
      s.group = loop->group;
      s.tile = loop->tile.value();
      node = &loop->body.front();
    } else if (const auto* pack = std::get_if<Pack>(&node->is)) {
      s.kind = Step::Kind::pack;
      s.tensor = pack->tensor;
      s.level = pack->level;
      node = &pack->body.front();
    } else {
      const auto& kernel = std::get<Kernel>(node->is);
      mr = kernel.mr.value();
      nr = kernel.nr.value();
      s.kind = Step::Kind::kernel;
      steps.push_back(s);
      return;
    }
    steps.push_back(s);
  }
}

}  // namespace tcsim
