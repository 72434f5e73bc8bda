#include "core/fusion/cached.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/optimize/optimize.hpp"
#include "core/plan/plan.hpp"
#include "core/stop.hpp"

namespace tcsim::fusion {

namespace {

constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t most_memory = std::int64_t{1} << 47;

void require_holds_alone(const OperationTree& tree, const FusedNode& node,
                         const std::string& place) {
  if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
    if (!loop->body.empty()) require_holds_alone(tree, *loop->body, place);
  } else if (const auto* parts = std::get_if<InOrder>(&node.is)) {
    for (const FusedNode& part : parts->parts) require_holds_alone(tree, part, place);
  } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
    if (hold->kind != Hold::Kind::buffer) {
      throw InputError(place,
                       fmt::format("'{} {}' where all tensors are in memory", to_text(hold->kind),
                                   hold_name(tree, hold->array)),
                       "leave it out, or say --memory for a chain whose tensors are on disk");
    }
    if (!hold->body.empty()) require_holds_alone(tree, *hold->body, place);
  }
}

void find_holds(const FusedNode& node, std::set<int>& held) {
  if (const auto* loop = std::get_if<TileLoop>(&node.is)) find_holds(*loop->body, held);
  if (const auto* parts = std::get_if<InOrder>(&node.is)) {
    for (const FusedNode& part : parts->parts) find_holds(part, held);
  }
  if (const auto* hold = std::get_if<Hold>(&node.is)) {
    held.insert(hold->array);
    if (!hold->body.empty()) find_holds(*hold->body, held);
  }
}

std::int64_t product(const std::vector<std::int64_t>& extents) {
  std::int64_t n = 1;
  for (std::int64_t e : extents) n *= e;
  return n;
}

}  // namespace

void check_cached(const OperationTree& tree, const FusedNode& node, const std::string& place) {
  require_holds_alone(tree, node, place);
  // In memory as a whole is the same as being loaded and stored around everything.
  FusedNode all = node;
  for (int a = static_cast<int>(tree.arrays.size()); a-- > 0;) {
    const OperationTree::Array& array = tree.array(a);
    if (array.is_intermediate()) continue;
    const Hold::Kind kind = array.producer < 0 ? Hold::Kind::load : Hold::Kind::store;
    all = Hold{kind, a, std::move(all)};
  }
  std::set<int> held;
  find_holds(node, held);
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    if (!tree.arrays[a].is_intermediate() || held.contains(static_cast<int>(a))) continue;
    throw InputError(
        place, fmt::format("intermediate {} is not held", tree.arrays[a].name),
        fmt::format("put hold {} around the two statements that have it", tree.arrays[a].name));
  }
  check(tree, all, place);
}

FusedNode unfused(const OperationTree& tree) {
  InOrder parts;
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) parts.parts.push_back(Do{s});
  FusedNode all = parts.parts.size() == 1 ? parts.parts.front() : FusedNode(std::move(parts));
  for (int a = static_cast<int>(tree.arrays.size()); a-- > 0;) {
    if (tree.array(a).is_intermediate()) all = Hold{Hold::Kind::buffer, a, std::move(all)};
  }
  return all;
}

LeafSchedules::LeafSchedules(const OperationTree& tree, const Machine& machine)
    : tree_(tree), machine_(view_of_one_core(machine)) {
  element_type(tree);
}

const LeafSchedules::Chosen& LeafSchedules::of(const Leaf& leaf) {
  if (const auto known = chosen_.find(leaf); known != chosen_.end()) return known->second;
  StopScope::heed();
  const Contraction contraction = contraction_of(tree_, leaf);
  OptimizeOptions options;
  options.soon = true;
  options.detail = Detail::full;
  Optimized best = optimize(contraction, machine_, options);
  return chosen_.emplace(leaf, Chosen{contraction, std::move(best.schedule)}).first->second;
}

std::vector<std::string> memory_rows(const OperationTree& tree) {
  std::vector<std::string> names;
  for (const OperationTree::Array& a : tree.arrays) {
    if (std::ranges::find(names, a.name) == names.end()) names.push_back(a.name);
  }
  names.emplace_back("packed");
  return names;
}

MemoryMap::MemoryMap(const FusedNode& node, LeafSchedules& schedules) {
  const OperationTree& tree = schedules.tree();
  const std::int64_t element = size_of(element_type(tree)).value();
  for (const std::string& name : memory_rows(tree)) arrays_.push_back({name, {}, {}, false});
  if (arrays_.size() > max_arrays) {
    throw UnsupportedError(tree.name, fmt::format("it has {} tensors", arrays_.size() - 1),
                           fmt::format("cut it in two: at most {} are simulated", max_arrays - 1));
  }
  writers_.assign(arrays_.size(), -1);
  for (const OperationTree::Array& a : tree.arrays) {
    const auto row = std::ranges::find(arrays_, a.name, &Array::name);
    of_.push_back(static_cast<int>(row - arrays_.begin()));
    writers_[static_cast<std::size_t>(of_.back())] = a.producer;
    row->buffer = a.is_intermediate();
  }
  arrays_.back().buffer = true;
  arrays_.back().size = Bytes(1);  // so that it has a place even where nothing is packed

  const auto at_least = [](Bytes& size, std::int64_t bytes) {
    size = std::max(size, Bytes(bytes));
  };
  for_each_leaf(tree, node, [&](const Leaf& leaf) {
    const LeafSchedules::Chosen& chosen = schedules.of(leaf);
    const Plan plan(chosen.contraction, chosen.schedule);
    at_least(arrays_.back().size, plan.base(ArrayId::C).value());  // all that is before tensors
    for (TensorId t : all_tensors) {
      const int row = of(array_of(tree, leaf.statement, t));
      at_least(arrays_[static_cast<std::size_t>(row)].size, product(leaf.places[t]) * element);
    }
  });

  std::vector<int> order{packed()};
  for (const bool buffer : {true, false}) {
    for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
      for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) {
        const int row = of(array_of(tree, s, t));
        if (arrays_[static_cast<std::size_t>(row)].buffer != buffer) continue;
        if (std::ranges::find(order, row) == order.end()) order.push_back(row);
      }
    }
  }
  std::int64_t place = 0;
  for (int row : order) {
    Array& array = arrays_[static_cast<std::size_t>(row)];
    array.base = Bytes(place);
    if (array.size.value() >= most_memory - place) {
      throw UnsupportedError(tree.name, "its tensors have 2^47 bytes or more", "use smaller sizes");
    }
    place = round_up(place + array.size.value(), page_bytes);
  }
  size_ = Bytes(place);
}

ChainTraffic::ChainTraffic(const OperationTree& tree, const Machine& machine)
    : arrays(memory_rows(tree)),
      moved(tree.statements.size(),
            std::vector(machine.levels.size(), std::vector<Moved>(arrays.size()))) {}

Moved& ChainTraffic::at(int statement, int link, int array) {
  return moved[static_cast<std::size_t>(statement)][static_cast<std::size_t>(link)]
              [static_cast<std::size_t>(array)];
}
const Moved& ChainTraffic::at(int statement, int link, int array) const {
  return moved[static_cast<std::size_t>(statement)][static_cast<std::size_t>(link)]
              [static_cast<std::size_t>(array)];
}

Moved ChainTraffic::of_array(int link, int array) const {
  Moved all;
  for (int s = 0; s < static_cast<int>(moved.size()); ++s) all += at(s, link, array);
  return all;
}

void ChainTraffic::share_out_packed() {
  const int packed = static_cast<int>(arrays.size()) - 1, all = static_cast<int>(moved.size());
  const Bytes written = of_array(0, packed).out;
  for (int l = 1; l < static_cast<int>(moved.front().size()) && written > Bytes(0); ++l) {
    const Bytes out = of_array(l, packed).out;
    Bytes given, so_far;
    for (int s = 0; s < all; ++s) {
      so_far += at(s, 0, packed).out;
      const double share =
          static_cast<double>(so_far.value()) / static_cast<double>(written.value());
      const Bytes until(std::llround(static_cast<double>(out.value()) * share));
      at(s, l, packed).out = until - given;
      given = until;
    }
  }
}

Bytes ChainTraffic::counted(const Accounting& accounting, int statement, int link) const {
  Bytes all;
  for (int a = 0; a < static_cast<int>(arrays.size()); ++a) {
    const Moved& m = at(statement, link, a);
    all += m.in + (accounting.write_backs ? m.out : Bytes(0));
  }
  return all;
}

Bytes ChainTraffic::counted(const Accounting& accounting, int link) const {
  Bytes all;
  for (int s = 0; s < static_cast<int>(moved.size()); ++s) all += counted(accounting, s, link);
  return all;
}

ChainTiming timing(const ChainTraffic& traffic, const OperationTree& tree, const Machine& machine,
                   double slower) {
  if (!machine.accounting.packing) {
    throw UnsupportedError(machine.name, "its accounting leaves packing out",
                           "use --accounting honest for a chain");
  }
  ChainTiming all;
  for (int s = 0; s < static_cast<int>(traffic.moved.size()); ++s) {
    Timing t;
    const int links = static_cast<int>(machine.levels.size());
    for (int l = 0; l < links; ++l) {
      const Bytes bytes = traffic.counted(machine.accounting, s, l);
      t.links.push_back((l > 0 ? slower : 1) * (bytes / machine.bandwidth(LevelId{l})));
      if (t.links.back() > t.total) {
        t.total = t.links.back();
        t.bottleneck = l;
      }
    }
    if (machine.accounting.compute_roof) {
      const Bytes element = size_of(element_type(tree));
      t.compute = Seconds(tree.flops(s) / machine.peak(element).value());
      if (t.compute > t.total) {
        t.total = t.compute;
        t.bottleneck = links;
      }
    }
    all.total += t.total;
    all.statements.push_back(std::move(t));
  }
  return all;
}

}  // namespace tcsim::fusion
