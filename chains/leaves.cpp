#include "chains/leaves.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "kernels/generated_kernels.hpp"

namespace tcsim::chains {

using fusion::FusedNode;
using fusion::Hold;
using fusion::OperationTree;
using fusion::Ranges;

namespace {

// A schedule with more would be prepared for longer than it is worth.
constexpr std::size_t most_shapes = 2000;
constexpr std::size_t most_visits = 1000000;

[[noreturn]] void refuse(const OperationTree& tree) {
  throw UnsupportedError(tree.name, "the schedule's tiles have too many shapes",
                         "use tiles that divide their ranges");
}

// Enters each loop once with its whole tile and once with what is left behind the last whole one.
// Where a loop begins does not matter to shapes.
template <class F>
class Shapes {
 public:
  Shapes(const OperationTree& tree, F& f) : tree_(tree), f_(f), held_(tree.arrays.size()) {}

  void find(const FusedNode& node, Ranges& ranges) {
    if (++visits_ > most_visits) refuse(tree_);
    if (const auto* loop = std::get_if<fusion::TileLoop>(&node.is)) {
      fusion::Range& range = ranges[static_cast<std::size_t>(loop->index)];
      const fusion::Range whole = range;
      const std::int64_t tile = std::min(loop->tile, whole.size);
      for (const std::int64_t size : {tile, whole.size % tile}) {
        range.size = size;
        if (size > 0) find(*loop->body, ranges);
      }
      range = whole;
    } else if (const auto* parts = std::get_if<fusion::InOrder>(&node.is)) {
      for (const FusedNode& part : parts->parts) find(part, ranges);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      held_[static_cast<std::size_t>(hold->array)] = ranges;
      find(*hold->body, ranges);
    } else {
      f_(fusion::leaf_at(tree_, std::get<fusion::Do>(node.is).statement, ranges, held_).leaf);
    }
  }

 private:
  const OperationTree& tree_;
  F& f_;
  std::vector<Ranges> held_;  // by array
  std::size_t visits_ = 0;
};

}  // namespace

template <class T>
struct Leaves<T>::Live {
  Live(const fusion::Leaf& of, const Contraction& contraction, const Schedule& schedule,
       int threads, const PackMemory& room)
      : shape(of), plan(contraction, schedule), crew(plan, threads, room) {}

  fusion::Leaf shape;
  Plan plan;
  Crew<T> crew;
};

template <class T>
Leaves<T>::Leaves(LeafSchedules& schedules, const FusedNode& node, Bytes kept)
    : schedules_(schedules),
      usual_(schedules.tree().statements.size()),
      live_(schedules.tree().statements.size()) {
  const auto met = [&](const fusion::Leaf& shape) { prepare(shape); };
  Shapes shapes(schedules.tree(), met);
  Ranges ranges = fusion::all_of(schedules.tree());
  shapes.find(node, ranges);
  keeps_all_ = tables() <= kept;
}

template <class T>
Leaves<T>::~Leaves() = default;

template <class T>
void Leaves<T>::prepare(const fusion::Leaf& shape) {
  std::optional<fusion::Leaf>& usual = usual_[static_cast<std::size_t>(shape.statement)];
  if (!usual) usual = shape;
  if (shapes_.contains(shape)) return;
  if (shapes_.size() == most_shapes) refuse(schedules_.tree());
  const LeafSchedules::Of& of = schedules_.of(shape, shape == *usual);
  for (TensorId t : all_tensors) packs_[t] = std::max(packs_[t], of.memory.packs[t]);
  shapes_.emplace(shape, &of);
}

template <class T>
Seconds Leaves<T>::arithmetic() const {
  Seconds sum{};
  for (const std::optional<fusion::Leaf>& usual : usual_) {
    const double flops = schedules_.tree().flops(usual->statement);
    sum += Seconds(flops / shapes_.at(*usual)->rate.value());
  }
  return sum;
}

template <class T>
Bytes Leaves<T>::tables() const {
  Bytes sum;
  for (const auto& [shape, of] : shapes_) sum += of->memory.tables;
  return sum;
}

template <class T>
Bytes Leaves<T>::memory() const {
  Bytes sum(generated_kernels_memory());
  for (TensorId t : all_tensors) sum += schedules_.threads() * Memory::taken(packs_[t]);
  if (keeps_all_) return sum + tables();
  std::vector<Bytes> others(usual_.size());
  for (const auto& [shape, of] : shapes_) {
    const auto s = static_cast<std::size_t>(shape.statement);
    if (shape == usual_[s]) {
      sum += of->memory.tables;
    } else {
      others[s] = std::max(others[s], of->memory.tables);
    }
  }
  for (Bytes other : others) sum += other;
  return sum;
}

template <class T>
void Leaves<T>::make_room() {
  room_ = PackMemory(packs_, schedules_.threads());
}

template <class T>
typename Leaves<T>::Live& Leaves<T>::live(const fusion::Leaf& shape) {
  const auto s = static_cast<std::size_t>(shape.statement);
  std::unique_ptr<Live>& at = keeps_all_ ? kept_[shape] : live_[s][shape == usual_[s] ? 0 : 1];
  if (!at || at->shape != shape) {
    at.reset();
    at = std::make_unique<Live>(shape, fusion::contraction_of(schedules_.tree(), shape),
                                shapes_.at(shape)->schedule, schedules_.threads(), room_);
  }
  return *at;
}

template <class T>
void Leaves<T>::run(const fusion::Leaf& shape, const T* left, const T* right, T* out, T beta,
                    std::stop_token stop) {
  live(shape).crew.run({left, right, out}, {T{1}, beta}, std::move(stop));
}

template class Leaves<float>;
template class Leaves<double>;

}  // namespace tcsim::chains
