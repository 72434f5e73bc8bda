#include "chains/levels/run_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "chains/leaves.hpp"
#include "chains/levels/chain_files.hpp"
#include "chains/levels/device_pieces.hpp"
#include "chains/levels/global_memory.hpp"
#include "chains/levels/level_schedules.hpp"
#include "chains/levels/staging.hpp"
#include "chains/levels/tally.hpp"
#include "chains/rows.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/plan/arrays.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"
#include "kernels/memory.hpp"

namespace tcsim::chains {

using fusion::FusedNode;
using fusion::OperationTree;
using fusion::Range;
using fusion::Ranges;
using levels::Hierarchy;
using levels::Hold;
using levels::Kind;
using levels::Loop;
using levels::Node;
using levels::Sequence;

namespace {

std::size_t place(int i) { return static_cast<std::size_t>(i); }

template <class T>
class LevelRunner {
 public:
  LevelRunner(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node,
              const Machine& machine, const Processes& team, const LevelRunOptions& options)
      : tree_(tree),
        hierarchy_(hierarchy),
        node_(node),
        team_(team),
        options_(options),
        shared_(hierarchy.links() - 1),
        files_(tree, hierarchy, node, options),
        parts_(disk_parts(node)),
        schedules_(tree, machine, options.threads),
        leaf_schedule_(at_level(node, 0)),
        held_(tree.arrays.size()),
        held_at_(tree.arrays.size()),
        stored_(tree.arrays.size(),
                std::vector<std::set<std::vector<std::int64_t>>>(place(hierarchy.links()))),
        processes_around_(tree.indices.size()),
        tally_(tree, hierarchy) {
    run_.parts = static_cast<int>(parts_.size());
  }

  LevelRun run() {
    const StopScope scope(options_.stop);
    prepare();
    team_.on_first([&] {
      run_.done_before = files_.look(run_.parts);
      files_.make_inputs();
    });
    run_.done_before = static_cast<int>(team_.gathered({run_.done_before}).front().front());
    if (team_.size() == 1) {
      run_parts_or_say();
    } else {
      // The others wait for this one, and would for ever.
      try {
        run_parts_or_say();
      } catch (const Interrupted& e) {
        team_.end(e.what(), 130);
      } catch (const InputError& e) {
        team_.end(e.what(), 3);
      } catch (const std::exception& e) {
        team_.end(e.what(), 4);
      }
    }
    run_.chunks = staging_.chunks();
    tally_.gather(team_, run_);
    return std::move(run_);
  }

 private:
  // An array's current tile in one level.
  struct Held {
    int level = 0;
    std::vector<Range> at;
    T* values = nullptr;     // null: in several processes, or in the device
    bool unset = false;      // it begins as zeros, which are not there yet
    std::int64_t begin = 0;  // in its level's memory
    typename GlobalMemory<T>::Tile tile;
  };

  static std::vector<std::int64_t> corner_of(const std::vector<Range>& at) {
    std::vector<std::int64_t> corner;
    for (const Range& r : at) corner.push_back(r.begin);
    return corner;
  }

  void prepare() {
    team_.on_each(
        [&] { leaves_ = std::make_unique<Leaves<T>>(schedules_, leaf_schedule_, usual_tables); });
    run_.executor = leaves_->memory();
    const std::vector<std::int64_t> room = room_of(tree_, hierarchy_.links(), team_.size(), node_);
    if (options_.device) open_device_if_there_is(room.front());
    Bytes all = run_.executor + Staging<T>::memory();
    std::vector<Bytes> bytes;
    for (int l = 0; l <= shared_; ++l) {
      bytes.push_back(in_device(l) ? Bytes(0)
                                   : Bytes(room[place(l)] * static_cast<std::int64_t>(sizeof(T))));
      all += Memory::taken(bytes.back());
    }
    if (device_ != nullptr) all += device_->on_host();
    const Bytes node(all.value() * team_.on_this_node());
    team_.on_first([&] {
      if (node <= available_memory()) return;
      throw UnsupportedError(tree_.name,
                             fmt::format("the run takes {} on this computer and {} are free",
                                         to_text(node), to_text(available_memory())),
                             "give smaller levels, such as --set " +
                                 hierarchy_.level(shared_).name + ".capacity=64MiB");
    });
    team_.on_each([&] {
      for (int l = 0; l < shared_; ++l) private_.emplace_back(bytes[place(l)]);
      leaves_->make_room();
      if (team_.rank() == 0) staging_.make_room();
    });
    private_used_.assign(place(shared_), 0);
    global_ = global_memory<T>(team_, room.back());
  }

  // All processes have one each, or none.
  void open_device_if_there_is(std::int64_t elements) {
    try {
      team_.on_each([&] {
        if (shared_ == 0) {
          throw UnsupportedError("--device", "the innermost level is shared with the disk",
                                 "take a machine of three levels");
        }
        ByTensor<std::int64_t> matrices{};
        const auto tiles = levels::tiles_of(tree_, hierarchy_, node_);
        for (int s = 0; s < static_cast<int>(tree_.statements.size()); ++s) {
          std::vector<std::int64_t> tile;
          for (int i : tree_.statement(s).indices) {
            tile.push_back(tiles[place(s)].front()[place(i)]);
          }
          const ByTensor<std::int64_t> of = matrix_elements(tree_, s, tile);
          for (TensorId t : all_tensors) matrices[t] = std::max(matrices[t], of[t]);
        }
        if constexpr (std::is_same_v<T, double>) {
          device_ = options_.devices.f64(tree_, elements, matrices, options_.tuned);
        } else {
          device_ = options_.devices.f32(tree_, elements, matrices, options_.tuned);
        }
        run_.device = device_->name();
      });
    } catch (const UnsupportedError& e) {
      device_.reset();
      run_.device.clear();
      run_.no_device = e.what();
    }
  }

  void run_parts_or_say() {
    try {
      run_parts();
    } catch (const DeviceFailure& e) {
      throw UnsupportedError(
          e.place(), e.problem(),
          "say --resume without --device, and the host goes on behind the last part that was done");
    }
  }

  void run_parts() {
    team_.barrier();
    const Seconds start = now_in_run();
    ranges_ = fusion::all_of(tree_);
    for (int p = run_.done_before; p < run_.parts; ++p) {
      const Node& part = *parts_[place(p)];
      if (team_.rank() == 0) files_.open(part);
      visit(part);
      global_->fence();
      if (team_.rank() != 0) continue;
      const Timed timed(tally_.on_link(shared_));
      files_.done(p + 1);
    }
    if (team_.rank() == 0) files_.finish();
    team_.barrier();
    run_.total = now_in_run() - start;
  }

  void visit(const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      visit_loop(*loop);
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      for (const Node& part : parts->parts) {
        visit(part);
        if (!inside_) global_->fence();
      }
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      if (hold->level == shared_) {
        hold_shared(*hold);
      } else {
        hold_private(*hold);
      }
    } else if (number_ == team_.rank()) {
      run_statement(std::get<levels::Do>(node.is).statement);
    }
  }

  // Of processes that share loops inside, the product.
  std::int64_t sharing(const Loop& loop) const {
    const Hold around{Kind::buffer, 0, loop.level, *loop.body};
    std::int64_t product = 1;
    for (const Loop* l : shared_inside(hierarchy_, around)) product *= l->processes;
    return product;
  }

  void visit_loop(const Loop& loop) {
    Range& range = ranges_[place(loop.index)];
    const Range whole = range;
    const bool was_inside = inside_;
    const std::int64_t before = number_;
    const std::int64_t inner = loop.processes > 1 ? sharing(loop) : 1;
    inside_ = inside_ || loop.level < shared_;
    processes_around_[place(loop.index)] += loop.processes > 1;
    std::int64_t tile = 0;
    for (std::int64_t begin = 0; begin < whole.size; begin += loop.tile, ++tile) {
      StopScope::heed();
      number_ = before * loop.processes + tile % loop.processes;
      if (loop.processes > 1 && team_.rank() / inner != number_) continue;
      range = {whole.begin + begin, std::min(loop.tile, whole.size - begin)};
      visit(*loop.body);
    }
    processes_around_[place(loop.index)] -= loop.processes > 1;
    number_ = before;
    inside_ = was_inside;
    range = whole;
  }

  // Whether this process holds it: it is at work, or has a tile of the loops inside that it shares.
  bool holds(const std::vector<const Loop*>& inside) const {
    std::int64_t number = team_.rank();
    for (auto l = inside.rbegin(); l != inside.rend(); ++l) {
      const std::int64_t size = ranges_[place((*l)->index)].size;
      if (number % (*l)->processes >= (size + (*l)->tile - 1) / (*l)->tile) return false;
      number /= (*l)->processes;
    }
    return number == number_;
  }

  // Whether several processes add to the same tile of the array.
  bool is_added(const Hold& hold, const std::vector<const Loop*>& inside) const {
    const fusion::IndexSet of = tree_.array(hold.array).set();
    for (const Loop* l : inside) {
      if (!fusion::contains(of, l->index)) return true;
    }
    for (std::size_t i = 0; i < processes_around_.size(); ++i) {
      if (processes_around_[i] > 0 && !fusion::contains(of, static_cast<int>(i))) return true;
    }
    return false;
  }

  bool is_first(const Hold& hold, const std::vector<Range>& at) {
    return stored_[place(hold.array)][place(hold.level)].insert(corner_of(at)).second;
  }

  // What begins as zeros need not be cleared the first time where one process alone puts all of it
  // there before it gets any. Plans hold an array at every level inside its home, and tiles inside
  // begin as zeros as well.
  bool comes_from_inside(const Hold& hold) const { return team_.size() == 1 && hold.level > 0; }
  // Whoever gets it nevertheless shall see it.
  static void spoil([[maybe_unused]] T* values, [[maybe_unused]] std::int64_t elements) {
#ifndef NDEBUG
    std::fill_n(values, elements, std::numeric_limits<T>::quiet_NaN());
#endif
  }

  static std::int64_t bytes_of(const std::vector<Range>& at) {
    return elements_of(at) * static_cast<std::int64_t>(sizeof(T));
  }

  // All processes together. The first one has the disk.
  void hold_shared(const Hold& hold) {
    std::vector<Range> at = fusion::ranges_of(tree_, hold.array, ranges_);
    const bool first = hold.kind != Kind::load && is_first(hold, at);
    const bool read = hold.kind == Kind::load || (hold.kind == Kind::store && !first);
    const bool all_is_put = first && comes_from_inside(hold);
    const std::int64_t bytes = bytes_of(at);
    const std::int64_t rows =
        count_rows(fusion::ranges_of(tree_, hold.array, fusion::all_of(tree_)), at);
    tally_.take(hold.level, bytes);
    Held mine{hold.level, at, nullptr, false, 0, global_->open(at)};
    mine.values = global_->whole(mine.tile);
    if (read) {
      if (team_.rank() == 0) tally_.moved_in(hold, move_staged(hold, mine, true), rows);
    } else if (!all_is_put) {
      const Timed timed(tally_.on_link(hold.level));
      global_->clear(mine.tile);
    } else {
      spoil(mine.values, elements_of(mine.at));
    }
    global_->fence();
    held_[place(hold.array)].push_back(mine);
    const Ranges around = std::exchange(held_at_[place(hold.array)], ranges_);
    visit(*hold.body);
    held_at_[place(hold.array)] = around;
    held_[place(hold.array)].pop_back();
    global_->fence();
    if (hold.kind == Kind::store) {
      if (team_.rank() == 0) tally_.moved_out(hold, move_staged(hold, mine, false), rows);
      global_->fence();
    }
    global_->close(mine.tile);
    tally_.give_back(hold.level, bytes);
  }

  // Between an array's file and its tile; bytes that were moved.
  std::int64_t move_staged(const Hold& hold, const Held& held, bool in) {
    const Timed timed(tally_.on_link(hold.level));
    return staging_.move(files_.of(hold.array), *global_, held.tile, in);
  }

  bool in_device(int level) const { return device_ != nullptr && level == 0; }

  // Room for a tile in a level of this process.
  void open_private(Held& tile, std::int64_t elements) {
    std::int64_t& used = private_used_[place(tile.level)];
    tile.begin = used;
    if (!in_device(tile.level)) {
      tile.values = reinterpret_cast<T*>(private_[place(tile.level)].data()) + used;
    }
    used += round_up(elements, tile_alignment);
  }

  void hold_private(const Hold& hold) {
    const std::vector<const Loop*> inside = shared_inside(hierarchy_, hold);
    if (!holds(inside)) return;
    const bool was_inside = std::exchange(inside_, true);
    std::vector<Held>& of = held_[place(hold.array)];
    Held mine{hold.level, fusion::ranges_of(tree_, hold.array, ranges_), nullptr, false, 0, {}};
    const std::int64_t elements = elements_of(mine.at), bytes = bytes_of(mine.at);
    tally_.take(hold.level, bytes);
    const std::int64_t used = private_used_[place(hold.level)];
    open_private(mine, elements);
    const bool added = hold.kind == Kind::store && is_added(hold, inside);
    // Processes add at the same time: what is there stays there, and is read when it is added to.
    const bool adds = added && hold.level + 1 == shared_;
    const bool may_begin = (hold.kind == Kind::store && !added) || comes_from_inside(hold);
    const bool first = hold.kind != Kind::load && may_begin && is_first(hold, mine.at);
    const bool read =
        hold.kind == Kind::load || (hold.kind == Kind::store && !adds && (added || !first));
    std::int64_t rows = 0;
    if (read) {
      const Timed timed(tally_.on_link(hold.level));
      rows = count_rows(of.back().at, mine.at);
      if (in_device(hold.level)) {
        send_tile(*device_, mine.begin, mine.at,
                  [&](const std::vector<Range>& part, T* to) { get(of.back(), part, to); });
      } else {
        get(of.back(), mine.at, mine.values);
      }
      tally_.moved_in(hold, bytes, rows);
    } else if (in_device(hold.level)) {
      const Timed timed(tally_.on_link(hold.level));
      device_->clear(mine.begin, elements);
    } else if (hold.level == 0 && inside.empty()) {
      mine.unset = true;
    } else if (first && comes_from_inside(hold)) {
      spoil(mine.values, elements);
    } else {
      const Timed timed(tally_.on_link(hold.level));
      std::fill_n(mine.values, elements, T{});
    }
    of.push_back(mine);
    const Ranges around = std::exchange(held_at_[place(hold.array)], ranges_);
    visit(*hold.body);
    held_at_[place(hold.array)] = around;
    of.pop_back();
    if (hold.kind == Kind::store) {
      const Timed timed(tally_.on_link(hold.level));
      rows = count_rows(of.back().at, mine.at);
      const auto back = [&](const std::vector<Range>& part, const T* from) {
        adds ? global_->add(of.back().tile, part, from) : put(of.back(), part, from);
      };
      if (in_device(hold.level)) {
        fetch_tile(*device_, mine.begin, mine.at, back);
      } else {
        back(mine.at, mine.values);
      }
      if (adds) tally_.moved_in(hold, bytes, rows);
      tally_.moved_out(hold, bytes, rows);
    }
    private_used_[place(hold.level)] = used;
    tally_.give_back(hold.level, bytes);
    inside_ = was_inside;
  }

  // A part of a tile, which lies by itself inside.
  void get(const Held& from, const std::vector<Range>& part, T* to) {
    if (from.level == shared_) return global_->get(from.tile, part, to);
    copy_out(from.at, part, from.values, to);
  }
  void put(const Held& to, const std::vector<Range>& part, const T* from) {
    if (to.level == shared_) return global_->put(to.tile, part, from);
    copy_in(to.at, part, to.values, from);
  }

  void run_statement(int s) {
    StopScope::heed();
    const Timed timed(tally_.arithmetic());
    const fusion::LeafCall call = fusion::leaf_at(tree_, s, ranges_, held_at_);
    if (device_ != nullptr) {
      ByTensor<std::int64_t> begin{};
      for (TensorId t : all_tensors) {
        begin[t] = held_[place(fusion::array_of(tree_, s, t))].back().begin + call.offset[t];
      }
      device_->run(call.leaf, begin);
    } else {
      run_leaf(s, call);
    }
    const std::int64_t points = product(call.leaf.tile);
    const OperationTree::Statement& of = tree_.statement(s);
    std::int64_t bytes = 0;
    for (int a : {of.left, of.right, of.out, of.out}) {
      bytes += bytes_of(fusion::ranges_of(tree_, a, ranges_));
    }
    tally_.ran(s, points, bytes);
    done_ += 2 * static_cast<double>(points) * team_.size();
    options_.progress(std::min(1.0, done_ / tree_.flops()));
  }

  // Whether the statement's result there is not set yet: what is summed begins.
  bool is_first_sum(int s) const {
    const auto out = place(tree_.statement(s).out);
    if (!held_[out].back().unset) return false;
    const fusion::IndexSet own = tree_.array(tree_.statement(s).out).set();
    return std::ranges::all_of(tree_.statement(s).indices, [&](int i) {
      return fusion::contains(own, i) || ranges_[place(i)].begin == held_at_[out][place(i)].begin;
    });
  }

  void run_leaf(int s, const fusion::LeafCall& call) {
    const auto part_of = [&](TensorId t) {
      return held_[place(fusion::array_of(tree_, s, t))].back().values + call.offset[t];
    };
    leaves_->run(call.leaf, part_of(TensorId::A), part_of(TensorId::B), part_of(TensorId::C),
                 is_first_sum(s) ? T{0} : T{1}, options_.stop);
  }

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  const Node& node_;
  const Processes& team_;
  const LevelRunOptions& options_;
  const int shared_;  // the level
  ChainFiles files_;
  const std::vector<const Node*> parts_;
  LeafSchedules schedules_;
  const FusedNode leaf_schedule_;
  std::unique_ptr<Leaves<T>> leaves_;
  std::unique_ptr<GlobalMemory<T>> global_;
  std::vector<Memory> private_;             // by level
  std::vector<std::int64_t> private_used_;  // elements
  Staging<T> staging_;
  std::unique_ptr<Device<T>> device_;  // that has level 0

  Ranges ranges_;
  std::vector<std::vector<Held>> held_;  // by array, the innermost last
  std::vector<Ranges> held_at_;          // by array, of the innermost
  // By array and level: corners of tiles that this process stored.
  std::vector<std::vector<std::set<std::vector<std::int64_t>>>> stored_;
  std::vector<int> processes_around_;  // by index: loops around that processes share
  std::int64_t number_ = 0;            // of the process that is at work, as far as loops say
  bool inside_ = false;                // of loops or holds of levels that are not shared

  Tally tally_;
  LevelRun run_;
  double done_ = 0;
};

}  // namespace

void check_folder(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node,
                  const LevelRunOptions& options) {
  ChainFiles(tree, hierarchy, node, options).look(static_cast<int>(disk_parts(node).size()));
}

LevelRun run_levels(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node,
                    const Machine& machine, const Processes& team, const LevelRunOptions& options) {
  check_processes(hierarchy, team.size());
  if (!team.same(to_text(tree, hierarchy, node))) {
    throw UnsupportedError("--run", "processes have different plans",
                           "start the same tcsim with the same options and files everywhere");
  }
  if (fusion::element_type(tree) == ElementType::f64) {
    return LevelRunner<double>(tree, hierarchy, node, machine, team, options).run();
  }
  return LevelRunner<float>(tree, hierarchy, node, machine, team, options).run();
}

}  // namespace tcsim::chains
