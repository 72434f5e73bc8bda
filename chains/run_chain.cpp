#include "chains/run_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include "chains/inputs.hpp"
#include "chains/journal.hpp"
#include "chains/leaves.hpp"
#include "chains/tensor_files.hpp"
#include "chains/tensors.hpp"
#include "chains/transfers.hpp"
#include "core/error.hpp"
#include "core/fusion/chunks.hpp"
#include "core/fusion/tile_places.hpp"
#include "core/fusion/walk.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"
#include "kernels/memory.hpp"

namespace tcsim::chains {

namespace {

namespace fs = std::filesystem;
using fusion::FusedNode;
using fusion::Hold;
using fusion::OperationTree;
using fusion::Range;
using fusion::Ranges;

// Of the memory that a run may take, a chunk of each open file is at most this part.
constexpr std::int64_t chunks_in_memory = 64;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Bytes most_chunk(Bytes memory) {
  const std::int64_t part = memory.value() / chunks_in_memory;
  const Bytes whole(part / fusion::least_chunk.value() * fusion::least_chunk.value());
  return std::clamp(whole, fusion::least_chunk, fusion::usual_chunk);
}

std::vector<const FusedNode*> schedules(const FusedNode& node, const FusedNode* also) {
  if (also == nullptr) return {&node};
  return {&node, also};
}

// Between these a run is noted as done so far: one after another, each with files of its own.
std::vector<const FusedNode*> parts_of(const FusedNode& node) {
  const auto* all = std::get_if<fusion::InOrder>(&node.is);
  if (all == nullptr) return {&node};
  std::vector<const FusedNode*> parts;
  for (const FusedNode& part : all->parts) parts.push_back(&part);
  return parts;
}

// `of`: what the file of an array takes. HDF5 opens one at a time, and has for a moment a chunk
// more of one that it reads.
template <class F>
Bytes files_memory(const OperationTree& tree, const FusedNode& node, const ChainRunOptions& options,
                   F&& of) {
  Bytes most;
  for (const FusedNode* part : parts_of(node)) {
    Bytes sum;
    for (const auto& [name, use] : files_of(tree, *part)) sum += of(use.array);
    most = std::max(most, sum);
  }
  const Bytes chunk = most_chunk(options.memory);
  if (options.cold) most += Bytes(2 * Block::taken(chunk).value());
  return most + hdf5_itself + file_tables + chunk;
}

// Of a file, at most. One that a run makes is not HDF5's while it is used; an input that is there
// may be.
Bytes file_memory(const OperationTree& tree, int array, Bytes memory, bool is_made) {
  const double whole = tree.bytes(array);
  const Bytes most = most_chunk(memory);
  const bool small = whole < static_cast<double>(most.value());
  const Bytes tables = is_made ? Bytes(0) : file_tables;
  return tables + (small ? Bytes(static_cast<std::int64_t>(whole)) : most);
}

template <class T>
class Runner {
 public:
  Runner(const OperationTree& tree, const FusedNode& node, LeafSchedules& leaf_schedules,
         const ChainRunOptions& options)
      : tree_(tree),
        options_(options),
        chunks_(tree, schedules(node, options.also)),
        journal_(options.folder, to_text(tree, node)),
        planned_(fusion::traffic(tree, node, options.buffering)),
        parts_(parts_of(node)),
        node_(node),
        schedules_(leaf_schedules),
        places_(tree, node, options.buffering),
        held_(tree.arrays.size()),
        values_(tree.arrays.size()) {
    result_.moved.arrays.resize(tree.arrays.size());
    result_.moved.statements.resize(tree.statements.size());
    result_.parts = static_cast<int>(parts_.size());
  }

  ChainRun run() {
    const StopScope scope(options_.stop);
    look_at_files();
    prepare();
    make_inputs();
    const double start = now();
    for (int p = result_.done_before; p < result_.parts; ++p) {
      run_part(*parts_[static_cast<std::size_t>(p)]);
      journal_.note(p + 1);
    }
    for (int a = 0; a < static_cast<int>(tree_.arrays.size()); ++a) {
      if (!tree_.array(a).is_intermediate() || !is_stored(a)) continue;
      fs::remove(file_of(options_.folder, tree_, a));
    }
    journal_.remove();
    result_.total = Seconds(now() - start);
    return std::move(result_);
  }

  // As a visitor of walk().
  void open(const Hold& hold, const Ranges& ranges) {
    const auto array = static_cast<std::size_t>(hold.array);
    held_[array] = ranges;
    values_[array] = reinterpret_cast<T*>(transfers_->open(hold, ranges));
    bytes_ += copies(hold, options_.buffering) * bytes_of(hold.array, ranges);
    result_.moved.memory = std::max(result_.moved.memory, Bytes(bytes_));
  }
  void close(const Hold& hold, const Ranges& ranges) {
    bytes_ -= copies(hold, options_.buffering) * bytes_of(hold.array, ranges);
    transfers_->close(hold);
  }
  void run(int s, const Ranges& ranges) {
    StopScope::heed();
    const double begin = now();
    const OperationTree::Statement& statement = tree_.statement(s);
    const fusion::LeafCall call = fusion::leaf_at(tree_, s, ranges, held_);
    const auto part_of = [&](TensorId t) {
      const int array = fusion::array_of(tree_, s, t);
      return values_[static_cast<std::size_t>(array)] + call.offset[t];
    };
    leaves_->run(call.leaf, part_of(TensorId::A), part_of(TensorId::B), part_of(TensorId::C), T{1},
                 options_.stop);
    fusion::DiskTraffic::OfStatement& of = result_.moved.statements[static_cast<std::size_t>(s)];
    ++of.runs;
    for (int a : {statement.left, statement.right, statement.out, statement.out}) {
      of.passed += bytes_of(a, ranges);
    }
    result_.computing += Seconds(now() - begin);
    done_ += 2 * static_cast<double>(product(call.leaf.tile));
    options_.progress(std::min(1.0, done_ / tree_.flops()));
  }

 private:
  // What can be known of them to go wrong, before anything is written.
  void look_at_files() {
    const fs::path& folder = options_.folder;
    if (!has_tensor_files()) TensorFile::open(folder, {}, fusion::element_type(tree_));
    result_.done_before = journal_.done_before(options_.resume, result_.parts);
    double room = 0;
    for (int a = 0; a < static_cast<int>(tree_.arrays.size()); ++a) {
      const OperationTree::Array& array = tree_.array(a);
      const fs::path path = file_of(folder, tree_, a);
      if (array.producer < 0) {
        if (options_.fill && !fs::exists(path)) {
          if (missing_.emplace(array.name, a).second) room += tree_.bytes(a);
        } else {
          file_memory_[array.name] = opened(a).memory();
        }
      } else if (is_stored(a)) {
        room += tree_.bytes(a);
        if (fs::exists(path) && !options_.force && !options_.resume) {
          throw InputError(path.string(), "is there already",
                           "move it, or say --force to overwrite it, or --resume");
        }
      }
    }
    const double free = static_cast<double>(fs::space(folder).available);
    if (!options_.resume && room > free) {
      throw UnsupportedError(
          folder.string(), fmt::format("{} are written and {} are free", shown(room), shown(free)),
          "make room");
    }
  }
  static std::string shown(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }
  bool is_stored(int a) const { return planned_.arrays[static_cast<std::size_t>(a)].writes > 0; }

  // All memory that it takes, and that it may.
  void prepare() {
    RunMemory& m = result_.memory;
    m.tiles = Memory::taken(places_.size());
    m.files = files_memory(tree_, node_, options_, [&](int a) {
      const auto there = file_memory_.find(tree_.array(a).name);
      return there != file_memory_.end() ? there->second
                                         : file_memory(tree_, a, options_.memory, true);
    });
    leaves_ = std::make_unique<Leaves<T>>(schedules_, node_);
    m.leaves = leaves_->memory();
    if (m.all() > options_.memory) {
      throw UnsupportedError(
          tree_.name,
          fmt::format("the run takes {}: tiles {}, packed operands and tables {}, files {}",
                      to_text(m.all()), to_text(m.tiles), to_text(m.leaves), to_text(m.files)),
          "allow that much with --memory, or give a schedule of smaller tiles");
    }
    if (m.all() > available_memory()) {
      throw UnsupportedError(tree_.name,
                             fmt::format("the run takes {} and {} are free", to_text(m.all()),
                                         to_text(available_memory())),
                             "give less with --memory");
    }
    memory_ = Memory(places_.size());
    leaves_->make_room();
  }

  void make_inputs() {
    if (!options_.resume) journal_.note(0);  // from here on it can be resumed
    for (const auto& [name, array] : missing_) {
      const int a = array;
      make_input(tree_, a, file_of(options_.folder, tree_, a), options_.numbers,
                 [&](const fs::path& path) { return created(path, a); });
    }
    if (!options_.cold) return;
    for (int a = 0; a < static_cast<int>(tree_.arrays.size()); ++a) {
      if (tree_.array(a).producer < 0) opened(a).forget();
    }
  }

  TensorFile opened(int a) const {
    return TensorFile::open(file_of(options_.folder, tree_, a), tree_.extents(a),
                            fusion::element_type(tree_), most_chunk(options_.memory));
  }
  TensorFile created(const fs::path& path, int a) const {
    return TensorFile::create(path, tree_.extents(a), chunks_.of(a, most_chunk(options_.memory)),
                              fusion::element_type(tree_));
  }

  void run_part(const FusedNode& part) {
    std::map<std::string, TensorFile> files;
    std::vector<TensorFile*> made;
    for (const auto& [name, use] : files_of(tree_, part)) {
      TensorFile file = use.made ? created(file_of(options_.folder, tree_, use.array), use.array)
                                 : opened(use.array);
      TensorFile& there = files.emplace(name, std::move(file)).first->second;
      if (use.made) made.push_back(&there);
    }
    // Where an error ends the part, its threads have to end before their files.
    struct Ending {
      std::unique_ptr<Transfers>& transfers;
      ~Ending() { transfers.reset(); }
    } const ending{transfers_};
    std::optional<Bytes> cold;
    if (options_.cold) cold = most_chunk(options_.memory);
    const TransferOf of{tree_, part, places_, memory_.data(), files, cold, options_.stop};
    transfers_ = options_.buffering == fusion::Buffering::twofold ? transfers_ahead(of)
                                                                  : transfers_in_turn(of);
    Ranges ranges = fusion::all_of(tree_);
    walk(part, ranges, *this);
    const Moved moved = transfers_->finish();
    transfers_.reset();
    const double begin = now();
    for (TensorFile* file : made) file->flush();
    result_.reading += moved.reading;
    result_.writing += moved.writing + Seconds(now() - begin);
    result_.chunks_read += moved.chunks_read;
    result_.chunks_written += moved.chunks_written;
    for (std::size_t a = 0; a < moved.arrays.size(); ++a) {
      fusion::DiskTraffic::OfArray& sum = result_.moved.arrays[a];
      sum.read += moved.arrays[a].read;
      sum.written += moved.arrays[a].written;
      sum.reads += moved.arrays[a].reads;
      sum.writes += moved.arrays[a].writes;
    }
  }

  // Of an array's current tile.
  std::int64_t bytes_of(int array, const Ranges& ranges) const {
    constexpr std::int64_t element = sizeof(T);
    return product(extents_of(ranges_of(tree_, array, ranges))) * element;
  }

  const OperationTree& tree_;
  const ChainRunOptions& options_;
  const fusion::Chunks chunks_;
  const Journal journal_;
  const fusion::DiskTraffic planned_;
  const std::vector<const FusedNode*> parts_;
  const FusedNode& node_;
  LeafSchedules& schedules_;
  const fusion::TilePlaces places_;
  std::map<std::string, int> missing_;        // inputs, by name
  std::map<std::string, Bytes> file_memory_;  // of files that are there
  std::unique_ptr<Leaves<T>> leaves_;
  Memory memory_;
  std::unique_ptr<Transfers> transfers_;  // of the part that runs; it may use memory_
  std::vector<Ranges> held_;              // by array
  std::vector<T*> values_;                // by array: what is held, row-major
  std::int64_t bytes_ = 0;
  ChainRun result_;
  double done_ = 0;
};

template <class T>
RunFigures figures_of(const OperationTree& tree, const FusedNode& node,
                      LeafSchedules& leaf_schedules, const ChainRunOptions& options) {
  const Leaves<T> leaves(leaf_schedules, node);
  RunFigures f;
  f.memory.tiles = Memory::taken(fusion::TilePlaces(tree, node, options.buffering).size());
  f.memory.leaves = leaves.memory();
  f.memory.files = files_memory(tree, node, options, [&](int a) {
    return file_memory(tree, a, options.memory, tree.array(a).producer >= 0);
  });
  f.arithmetic = leaves.arithmetic();
  return f;
}

template <class F>
auto with_schedules(const OperationTree& tree, const Machine& machine,
                    const ChainRunOptions& options, F&& f) {
  if (options.leaves != nullptr) return f(*options.leaves);
  LeafSchedules own(tree, machine, options.threads);
  return f(own);
}

}  // namespace

RunFigures run_figures(const OperationTree& tree, const FusedNode& node, const Machine& machine,
                       const ChainRunOptions& options) {
  return with_schedules(tree, machine, options, [&](LeafSchedules& leaves) {
    return fusion::element_type(tree) == ElementType::f64
               ? figures_of<double>(tree, node, leaves, options)
               : figures_of<float>(tree, node, leaves, options);
  });
}

ChainRun run_chain(const OperationTree& tree, const FusedNode& node, const Machine& machine,
                   const ChainRunOptions& options) {
  return with_schedules(tree, machine, options, [&](LeafSchedules& leaves) {
    if (fusion::element_type(tree) == ElementType::f64)
      return Runner<double>(tree, node, leaves, options).run();
    return Runner<float>(tree, node, leaves, options).run();
  });
}

}  // namespace tcsim::chains
