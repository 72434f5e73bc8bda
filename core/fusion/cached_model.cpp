#include "core/fusion/cached_model.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/fusion/reuse_windows.hpp"
#include "core/model/countable.hpp"
#include "core/stop.hpp"

namespace tcsim::fusion {

namespace {

// What a leaf's tile needs at least beside its first touches, where the tile of one tensor stays in
// a cache and the others pass it: lines of A, B and C (twice, as it comes and goes).
double passes(const Contraction& c, double elements, double line) {
  const std::array extents{static_cast<double>(c.extent(DimClass::m).value()),
                           static_cast<double>(c.extent(DimClass::n).value()),
                           static_cast<double>(c.extent(DimClass::k).value())};
  double best = HUGE_VAL;
  for (std::size_t stays = 0; stays < 3; ++stays) {  // the dimension that the tile lacks
    const double first = extents[(stays + 1) % 3], second = extents[(stays + 2) % 3];
    const double along = extents[stays];
    double a = std::min(first, std::sqrt(elements));
    const double b = std::min(second, elements / a);
    a = std::min(first, elements / b);
    // The tensor that has `first` and `along` passes once for each tile of `second`.
    const auto weight = [&](std::size_t lacks) { return lacks == 2 ? 2.0 : 1.0; };
    const std::size_t lacks_second = (stays + 2) % 3, lacks_first = (stays + 1) % 3;
    best = std::min(best, weight(lacks_second) * first * along * (second / b - 1) +
                              weight(lacks_first) * second * along * (first / a - 1));
  }
  return best * static_cast<double>(c.extent(DimClass::batch).value()) / line;
}

Bytes times_of(double n, Bytes bytes) {
  return Bytes(std::llround(n * static_cast<double>(bytes.value())));
}

// By touch of a statement: of first touches, the share that misses each cache, and of those of
// what is written, the share whose lines are written back.
struct Shares {
  std::vector<double> misses, written;
};

}  // namespace

CachedModel::CachedModel(LeafSchedules& schedules)
    : schedules_(schedules), counts_(most_counted_lines) {
  common_line(schedules.machine());
}
CachedModel::~CachedModel() = default;

const LeafModel& CachedModel::model_of(const Leaf& leaf) {
  std::unique_ptr<LeafModel>& known = leaves_[leaf];
  if (known) return *known;
  StopScope::heed();
  const LeafSchedules::Chosen& chosen = schedules_.of(leaf);
  auto model = std::make_unique<LeafModel>();
  model->tile = leaf.tile;
  model->groups = chosen.schedule.groups;
  model->warm = warm_lines(chosen.contraction, chosen.schedule, schedules_.machine(), counts_);
  model->nest.emplace(chosen.contraction, chosen.schedule, common_line(schedules_.machine()));
  ByGroup<double> whole;
  for (DimClass g : all_dim_classes) {
    whole[g] = static_cast<double>(model->nest->ranges(0, g)[0].size);
  }
  model->execution.emplace(*model->nest, 0, whole, 3);
  known = std::move(model);
  return *known;
}

ChainTraffic CachedModel::traffic(const FusedNode& node, Tiles tiles) {
  const OperationTree& tree = schedules_.tree();
  const Machine& machine = schedules_.machine();
  const Bytes line = common_line(machine);
  const std::int64_t element = size_of(element_type(tree)).value();
  Storey storey(tree, node, static_cast<double>(line.value()) / static_cast<double>(element));
  const int statements = static_cast<int>(tree.statements.size());
  std::vector<std::map<Leaf, double>> calls;     // and how many
  std::vector<const LeafModel*> whole, packing;  // by statement: of a whole tile; that packs most
  std::vector<double> packed;
  for (int s = 0; s < statements; ++s) {
    calls.push_back(storey.calls(s));
    const std::vector<std::int64_t>& ranges = storey.node(storey.leaf(s)).ranges;
    std::pair<double, const Leaf*> most{0, nullptr};
    for (const auto& [leaf, times] : calls.back()) {
      bool is_whole = true;
      std::size_t i = 0;
      for (int index : tree.statement(s).indices) is_whole &= leaf.tile[i++] == ranges[slot(index)];
      if (is_whole && times > most.first) most = {times, &leaf};
    }
    assert(most.second != nullptr);
    if (tiles == Tiles::whole) {
      const Leaf leaf = *most.second;
      double runs = 1;
      std::size_t i = 0;
      for (int index : tree.statement(s).indices) {
        runs *= static_cast<double>(tree.extent(index)) / static_cast<double>(leaf.tile[i++]);
      }
      calls.back() = {{leaf, runs}};
      most.second = &calls.back().begin()->first;
    }
    whole.push_back(&model_of(*most.second));
    packing.push_back(whole.back());
    for (const auto& [leaf, times] : calls.back()) {
      if (model_of(leaf).packed() > packing.back()->packed()) packing.back() = &model_of(leaf);
    }
    packed.push_back(packing.back()->packed());
  }
  storey.measure(packed);
  const ReuseWindows counter(tree, machine, storey, whole, packing, &counts_.sets());

  std::vector<Rows> in(slot(statements)), out(slot(statements));  // of each, cache by cache
  const std::size_t caches = counter.caches(), rows = slot(storey.rows());
  for (int s = 0; s < statements; ++s) {
    in[slot(s)].assign(caches * rows, 0);
    out[slot(s)].assign(caches * rows, 0);
  }
  // Of what is read of an intermediate: the chance that it is gone by then, or is pushed out later.
  std::vector<std::vector<double>> read_gone(tree.arrays.size());
  std::vector<ByTensor<Shares>> shares(slot(statements));
  std::vector<Shares> of_packed(slot(statements));
  // Consumers first, as what they push out is written back by what makes it.
  for (int s = statements; s-- > 0;) {
    const LeafModel& leaf = *whole[slot(s)];
    const auto share_of = [&](const ReuseWindows::Touch& x, const std::vector<double>& worst,
                              int inside) {
      Shares all{std::vector<double>(caches, 0), std::vector<double>(caches, 0)};
      for (const ReuseWindows::Reuse& reuse : counter.classes(x)) {
        const std::vector<double> gone = counter.gone(x, reuse);
        // Within its hold, a tile that comes again was written before and is added to.
        const bool again =
            reuse.common >= 0 && inside >= 0 && storey.is_inside(reuse.common, inside);
        for (std::size_t l = 0; l < caches; ++l) {
          all.misses[l] += reuse.share * gone[l];
          const double pushed = again || worst.empty() ? gone[l] : std::max(gone[l], worst[l]);
          all.written[l] += reuse.share * pushed;
        }
      }
      return all;
    };
    for (TensorId t : all_tensors) {
      const int a = array_of(tree, s, t);
      const bool made = t == TensorId::C && storey.hold(a) >= 0;
      Shares& here = shares[slot(s)][t];
      here = share_of({storey.leaf(s), a, t}, made ? read_gone[slot(a)] : std::vector<double>{},
                      made ? storey.hold(a) : -1);
      if (t == TensorId::C || storey.hold(a) < 0) continue;
      std::vector<double>& worst = read_gone[slot(a)];
      worst = here.misses;
      const double first = leaf.warm.first[tcsim::array_of(t)];
      for (std::size_t l = 0; l < caches; ++l) {
        double again = leaf.warm.in[l][tcsim::array_of(t)];
        worst[l] = std::max(worst[l], std::min(1.0, again / first));
      }
    }
    std::vector<double> worst(caches, 0);
    for (std::size_t l = 0; l < caches; ++l) {
      const WarmLines& warm = packing[slot(s)]->warm;
      for (ArrayId b : warm.arrays.ids()) worst[l] = std::max(worst[l], warm.gone[l][b]);
    }
    if (packed[slot(s)] > 0) of_packed[slot(s)] = share_of({storey.leaf(s), -1, {}}, worst, -1);
  }

  ChainTraffic all(tree, machine);
  for (int s = 0; s < statements; ++s) {
    double results = 0;
    for (const auto& [leaf, n] : calls[slot(s)]) {
      const LeafModel& model = model_of(leaf);
      const WarmLines& warm = model.warm;
      for (ArrayId a : warm.arrays.ids()) {
        const bool buffer = warm.arrays.is_buffer(a);
        const TensorId t = warm.arrays.tensor_of(a);
        const int row = buffer ? storey.packed_row() : storey.row(array_of(tree, s, t));
        const Shares& share = buffer ? of_packed[slot(s)] : shares[slot(s)][t];
        const bool writes = buffer || t == TensorId::C;
        for (std::size_t l = 0; l < caches; ++l) {
          in[slot(s)][l * rows + slot(row)] +=
              n * (warm.in[l][a] + warm.first[a] * share.misses[l]);
          out[slot(s)][l * rows + slot(row)] +=
              n * (warm.out[l][a] + (writes ? warm.first[a] * share.written[l] : 0));
        }
        for (Phase phase : all_phases) {
          Moved& moved = all.at(s, 0, row);
          moved.in += times_of(n, warm.registers.at(phase, a).in);
          moved.out += times_of(n, warm.registers.at(phase, a).out);
        }
      }
      double tile = n;
      const IndexSet kept = tree.array(tree.statement(s).out).set();
      std::size_t i = 0;
      for (int index : tree.statement(s).indices) {
        if (contains(kept, index)) tile *= static_cast<double>(leaf.tile[i]);
        ++i;
      }
      results += tile;
    }
    // Calls after the first one of a tile load what they add to.
    double once = 1;
    for (int i : tree.array(tree.statement(s).out).indices) {
      once *= static_cast<double>(tree.extent(i));
    }
    all.at(s, 0, storey.row(tree.statement(s).out)).in +=
        std::llround(std::max(0.0, results - once)) * Bytes(element);
    for (std::size_t l = 0; l < caches; ++l) {
      const bool all_leave =
          l + 1 < caches && machine.levels[l + 1].inclusion.value == Inclusion::exclusive;
      for (std::size_t row = 0; row < rows; ++row) {
        const double lines = in[slot(s)][l * rows + row];
        const double changed = all_leave ? lines : out[slot(s)][l * rows + row];
        if (!((lines + changed) * static_cast<double>(line.value()) < most_link_bytes / 16)) {
          throw TooLargeError(tree.name, "too large, because 2^62 bytes or more would move",
                              "use smaller sizes");
        }
        all.at(s, static_cast<int>(l) + 1, static_cast<int>(row)) = {std::llround(lines) * line,
                                                                     std::llround(changed) * line};
      }
    }
  }
  all.share_out_packed();
  return all;
}

double CachedModel::roughly(const FusedNode& node) {
  const OperationTree& tree = schedules_.tree();
  const Machine& machine = schedules_.machine();
  const Bytes line = common_line(machine);
  const Bytes element = size_of(element_type(tree));
  const double in_line = static_cast<double>(line.value()) / static_cast<double>(element.value());
  Storey storey(tree, node, in_line);
  const int statements = static_cast<int>(tree.statements.size());
  std::vector<LeafModel> models(slot(statements));
  std::vector<const LeafModel*> leaves;
  std::vector<double> times;
  for (int s = 0; s < statements; ++s) {
    LeafModel& m = models[slot(s)];
    const int n = storey.leaf(s);
    double runs = 1;
    for (int i : tree.statement(s).indices) {
      const std::int64_t tile = storey.node(n).ranges[slot(i)];
      m.tile.push_back(tile);
      runs *= static_cast<double>(tree.extent(i)) / static_cast<double>(tile);
    }
    times.push_back(runs);
    m.warm.first = PerArray(3);
    for (TensorId t : all_tensors) {
      m.warm.first[tcsim::array_of(t)] = storey.lines(array_of(tree, s, t), n);
    }
    const Contraction c = contraction_of(tree, s, m.tile);
    for (int l = 0; l < machine.cache_count(); ++l) {
      const double capacity =
          static_cast<double>(kept_lines(machine, LevelId{l}).value()) * in_line;
      m.warm.in.emplace_back(3);
      m.warm.in.back()[ArrayId::A] = passes(c, 0.7 * capacity, in_line);
    }
    leaves.push_back(&m);
  }
  storey.measure(std::vector<double>(slot(statements), 0));
  const ReuseWindows counter(tree, machine, storey, leaves, leaves, nullptr);
  double seconds = 0;
  for (int s = 0; s < statements; ++s) {
    std::vector<double> lines(counter.caches(), 0);
    for (std::size_t l = 0; l < lines.size(); ++l)
      lines[l] = models[slot(s)].warm.in[l][ArrayId::A];
    for (TensorId t : all_tensors) {
      const ReuseWindows::Touch x{storey.leaf(s), array_of(tree, s, t), t};
      const double first = models[slot(s)].warm.first[tcsim::array_of(t)];
      for (const ReuseWindows::Reuse& reuse : counter.classes(x)) {
        const std::vector<double> gone = counter.gone(x, reuse);
        for (std::size_t l = 0; l < lines.size(); ++l) {
          lines[l] += (t == TensorId::C ? 2 : 1) * first * reuse.share * gone[l];
        }
      }
    }
    double slowest = tree.flops(s) / machine.peak(element).value();
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const double bytes = times[slot(s)] * lines[l] * static_cast<double>(line.value());
      const LevelId level{static_cast<int>(l) + 1};
      const double link = bytes / machine.bandwidth(level).value();
      slowest = std::max(slowest, link);
      seconds += links_weight * link;
    }
    seconds += slowest;
  }
  return seconds;
}

}  // namespace tcsim::fusion
