#include "chains/run_chain.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "chains/tensor_files.hpp"
#include "core/error.hpp"
#include "core/fusion/walk.hpp"
#include "core/io/read_file.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"
#include "kernels/contract.hpp"
#include "kernels/memory.hpp"

namespace tcsim::chains {

namespace {

namespace fs = std::filesystem;
using fusion::FusedNode;
using fusion::Hold;
using fusion::OperationTree;
using fusion::Range;
using fusion::Ranges;
using Extents = std::vector<std::int64_t>;

// Chunks are no smaller, as each costs an entry in HDF5's table.
constexpr std::int64_t least_chunk_bytes = std::int64_t{64} << 10;
// Tiles begin on a cache line.
constexpr std::int64_t alignment = 64;
constexpr const char* journal_name = "tcsim-run.json";
// Values of each index of a result that a check looks at.
constexpr std::int64_t most_checked = 2;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

fs::path file_of(const fs::path& folder, const OperationTree& tree, int array) {
  return folder / (tree.array(array).name + ".h5");
}

Extents extents_of(const OperationTree& tree, int array) {
  Extents extents;
  for (int i : tree.array(array).indices) extents.push_back(tree.extent(i));
  return extents;
}

ElementType type_of(const OperationTree& tree) {
  for (const OperationTree::Array& a : tree.arrays) {
    if (a.element == tree.arrays.front().element) continue;
    throw UnsupportedError(tree.name, "its tensors have elements of two types",
                           "give all of them one type");
  }
  return tree.arrays.front().element == size_of(ElementType::f64) ? ElementType::f64
                                                                  : ElementType::f32;
}

std::int64_t size_of_all(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<Range> ranges_of(const OperationTree& tree, int array, const Ranges& ranges) {
  std::vector<Range> of;
  for (int i : tree.array(array).indices) of.push_back(ranges[static_cast<std::size_t>(i)]);
  return of;
}

// The tiles in which the schedule moves each tensor: what fits into all of them, by its name.
class Chunks {
 public:
  Chunks(const OperationTree& tree, const FusedNode& node) : tree_(tree) {
    Ranges ranges = fusion::all_of(tree);
    find(node, ranges);
  }
  Extents of(int array) const {
    const auto found = tiles_.find(tree_.array(array).name);
    Extents chunk = found == tiles_.end() ? extents_of(tree_, array) : found->second;
    const Extents whole = extents_of(tree_, array);
    std::int64_t bytes = size_of_all(chunk) * tree_.array(array).element.value();
    for (std::size_t axis = chunk.size(); axis > 0 && bytes < least_chunk_bytes; --axis) {
      std::int64_t& size = chunk[axis - 1];
      const std::int64_t times =
          std::min((least_chunk_bytes - 1) / bytes + 1, whole[axis - 1] / size);
      size *= times;
      bytes *= times;
    }
    return chunk;
  }

 private:
  void find(const FusedNode& node, Ranges& ranges) {
    if (const auto* loop = std::get_if<fusion::TileLoop>(&node.is)) {
      Range& range = ranges[static_cast<std::size_t>(loop->index)];
      const Range whole = std::exchange(range, {range.begin, loop->tile});
      find(*loop->body, ranges);
      range = whole;
    } else if (const auto* parts = std::get_if<fusion::InOrder>(&node.is)) {
      for (const FusedNode& part : parts->parts) find(part, ranges);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      if (hold->kind != Hold::Kind::buffer) add(hold->array, ranges);
      find(*hold->body, ranges);
    }
  }
  void add(int array, const Ranges& ranges) {
    Extents tile;
    for (const Range& r : ranges_of(tree_, array, ranges)) tile.push_back(r.size);
    const auto [there, is_new] = tiles_.emplace(tree_.array(array).name, tile);
    if (is_new) return;
    for (std::size_t axis = 0; axis < tile.size(); ++axis) {
      there->second[axis] = std::min(there->second[axis], tile[axis]);
    }
  }

  const OperationTree& tree_;
  std::map<std::string, Extents> tiles_;
};

// Which parts of a schedule are done, in a file that is whole at any time.
class Journal {
 public:
  Journal(const fs::path& folder, std::string schedule)
      : file_(folder / journal_name), schedule_(std::move(schedule)) {}

  bool is_there() const { return fs::exists(file_); }
  // Throws InputError where it is of another schedule.
  int done() const {
    const auto fail = [&](const std::string& problem) {
      throw InputError(file_.string(), problem, "begin again, with --force");
    };
    const auto json =
        nlohmann::json::parse(read_file(file_, "run without --resume"), nullptr, false);
    if (!json.is_object() || !json["done"].is_number_integer() || !json["schedule"].is_string()) {
      fail("this says nothing of a run");
    }
    if (json["schedule"] != schedule_) fail("the run that ended here had another schedule");
    return json["done"].get<int>();
  }
  void note(int done) const {
    const fs::path part = file_.string() + ".part";
    std::ofstream(part) << nlohmann::json{{"schedule", schedule_}, {"done", done}}.dump() << "\n";
    sync(part);
    fs::rename(part, file_);
    sync(file_.parent_path());
  }
  void remove() const { fs::remove(file_); }

  static void sync(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool done = file >= 0 && ::fsync(file) == 0;
    if (file >= 0) ::close(file);
    if (!done) {
      throw InputError(path.string(), "cannot be written to the disk", "look at the room on it");
    }
  }

 private:
  fs::path file_;
  std::string schedule_;
};

// A number in [-1, 1] by the seed, the tensor and the place, whatever the order in which they are
// made: splitmix64.
class Filler {
 public:
  Filler(std::uint64_t seed, const std::string& name) : seed_(seed) {
    for (char c : name) seed_ = mixed(seed_ + static_cast<unsigned char>(c));
  }
  double at(std::int64_t place) const {
    const std::uint64_t bits = mixed(seed_ + static_cast<std::uint64_t>(place)) >> 11;
    return static_cast<double>(bits) * 0x1p-52 - 1;
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::uint64_t seed_;
};

// Calls f with the ranges of each block of an array, the last axis fastest.
template <class F>
void for_each_block(const Extents& extents, const Extents& block, F&& f) {
  std::vector<Range> at;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    at.push_back({0, std::min(block[axis], extents[axis])});
  }
  for (;;) {
    f(at);
    std::size_t axis = extents.size();
    for (; axis > 0; --axis) {
      Range& r = at[axis - 1];
      r.begin += block[axis - 1];
      if (r.begin >= extents[axis - 1]) r.begin = 0;
      r.size = std::min(block[axis - 1], extents[axis - 1] - r.begin);
      if (r.begin != 0) break;
    }
    if (axis == 0) return;
  }
}

template <class T>
class Runner {
 public:
  Runner(const OperationTree& tree, const FusedNode& node, const Machine& machine,
         const ChainRunOptions& options)
      : tree_(tree),
        node_(node),
        machine_(machine),
        options_(options),
        chunks_(tree, node),
        journal_(options.folder, to_text(tree, node)),
        planned_(fusion::traffic(tree, node)),
        held_(tree.arrays.size()),
        stored_(tree.arrays.size()) {
    result_.moved.arrays.resize(tree.arrays.size());
    result_.moved.statements.resize(tree.statements.size());
    if (const auto* all = std::get_if<fusion::InOrder>(&node.is)) {
      for (const FusedNode& part : all->parts) parts_.push_back(&part);
    } else {
      parts_.push_back(&node);
    }
  }

  ChainRun run() {
    result_.parts = static_cast<int>(parts_.size());
    prepare();
    const double start = now();
    memory_ = Memory(Bytes(planned_.memory.value() +
                           alignment * static_cast<std::int64_t>(tree_.arrays.size())));
    const StopScope scope(options_.stop);
    for (int p = 0; p < result_.parts; ++p) {
      const FusedNode& part = *parts_[static_cast<std::size_t>(p)];
      if (p < result_.done_before) continue;
      make_results_of(part);
      Ranges ranges = fusion::all_of(tree_);
      walk(part, ranges, *this);
      finish_results();
      journal_.note(p + 1);
    }
    for (std::size_t a = 0; a < tree_.arrays.size(); ++a) {
      const bool intermediate = tree_.arrays[a].producer >= 0 && tree_.arrays[a].consumer >= 0;
      if (intermediate && is_stored(static_cast<int>(a))) {
        fs::remove(file_of(options_.folder, tree_, static_cast<int>(a)));
      }
    }
    journal_.remove();
    result_.total = Seconds(now() - start);
    return std::move(result_);
  }

  // As a visitor of walk().
  void open(const Hold& hold, const Ranges& ranges) {
    Tile& tile = held_[static_cast<std::size_t>(hold.array)];
    tile.at = ranges_of(tree_, hold.array, ranges);
    tile.size = 1;
    for (const Range& r : tile.at) tile.size *= r.size;
    tile.values = reinterpret_cast<T*>(memory_.data() + used_);
    tile.room = (tile.size * element + alignment - 1) / alignment * alignment;
    used_ += tile.room;
    bytes_ += tile.size * element;
    result_.moved.memory = std::max(result_.moved.memory, Bytes(bytes_));
    const bool known = hold.kind == Hold::Kind::load ||
                       (hold.kind == Hold::Kind::store && !is_first(hold.array, tile));
    if (!known) {
      std::fill_n(tile.values, tile.size, T{0});
      return;
    }
    const double begin = now();
    file(hold).read(tile.at, tile.values);
    if (options_.cold) file(hold).forget();
    result_.reading += Seconds(now() - begin);
    fusion::DiskTraffic::OfArray& of = moved(hold.array);
    of.read += tile.size * element;
    ++of.reads;
  }
  void close(const Hold& hold, const Ranges&) {
    Tile& tile = held_[static_cast<std::size_t>(hold.array)];
    if (hold.kind == Hold::Kind::store) {
      const double begin = now();
      file(hold).write(tile.at, tile.values);
      if (options_.cold) file(hold).forget();
      result_.writing += Seconds(now() - begin);
      fusion::DiskTraffic::OfArray& of = moved(hold.array);
      of.written += tile.size * element;
      ++of.writes;
    }
    used_ -= tile.room;
    bytes_ -= tile.size * element;
  }
  void run(int s, const Ranges& ranges) {
    StopScope::heed();
    const double begin = now();
    const OperationTree::Statement& statement = tree_.statement(s);
    Extents tile;
    double runs = 2;
    for (int i : statement.indices) {
      tile.push_back(ranges[static_cast<std::size_t>(i)].size);
      runs *= static_cast<double>(tile.back());
    }
    const T* left = part_of(statement.left, ranges);
    const T* right = part_of(statement.right, ranges);
    const Tile& out = held_[static_cast<std::size_t>(statement.out)];
    const std::vector<Range> out_at = ranges_of(tree_, statement.out, ranges);
    Contractor<T>& contractor = contractor_of(s, tile);
    if (out_at == out.at) {
      contractor(left, right, out.values, T{1}, T{1}, options_.stop);
    } else {
      // The result is a part of what is held: it is made apart, and added.
      std::int64_t size = 1;
      for (const Range& r : out_at) size *= r.size;
      if (static_cast<std::int64_t>(apart_.size()) < size) {
        apart_.resize(static_cast<std::size_t>(size));
        count_beside();
      }
      contractor(left, right, apart_.data(), T{1}, T{0}, options_.stop);
      const T* from = apart_.data();
      add(out, out_at, 0, out.values, from);
    }
    fusion::DiskTraffic::OfStatement& of = result_.moved.statements[static_cast<std::size_t>(s)];
    ++of.runs;
    for (int a : {statement.left, statement.right, statement.out, statement.out}) {
      std::int64_t bytes = element;
      for (const Range& r : ranges_of(tree_, a, ranges)) bytes *= r.size;
      of.passed += bytes;
    }
    result_.computing += Seconds(now() - begin);
    done_ += runs;
    options_.progress(std::min(1.0, done_ / tree_.flops()));
  }

 private:
  static constexpr std::int64_t element = sizeof(T);

  // What is held of an array, row-major.
  struct Tile {
    std::vector<Range> at;
    std::int64_t size = 0, room = 0;  // elements; bytes of the arena
    T* values = nullptr;
  };

  fusion::DiskTraffic::OfArray& moved(int array) {
    return result_.moved.arrays[static_cast<std::size_t>(array)];
  }
  bool is_first(int array, const Tile& tile) {
    Extents corner;
    for (const Range& r : tile.at) corner.push_back(r.begin);
    return stored_[static_cast<std::size_t>(array)].insert(std::move(corner)).second;
  }

  TensorFile& file(const Hold& hold) {
    std::unique_ptr<TensorFile>& open = files_[tree_.array(hold.array).name];
    if (!open) {
      open = std::make_unique<TensorFile>(TensorFile::open(
          file_of(options_.folder, tree_, hold.array), extents_of(tree_, hold.array),
          type_of(tree_),
          hold.kind == Hold::Kind::store ? TensorFile::Access::write : TensorFile::Access::read));
    }
    count_beside();
    return *open;
  }
  void count_beside() {
    const auto files = static_cast<std::int64_t>(files_.size());
    const Bytes now =
        files * chunk_cache + Bytes(static_cast<std::int64_t>(apart_.size()) * element);
    result_.beside = std::max(result_.beside, now);
  }

  // Everything that can be known to go wrong, before anything is written.
  void prepare() {
    const fs::path& folder = options_.folder;
    if (!fs::is_directory(folder)) {
      throw InputError(folder.string(), "is no folder", "make it, and put the inputs there");
    }
    if (options_.resume) {
      if (!journal_.is_there()) {
        throw InputError(folder.string(), "no run ended here", "leave --resume out");
      }
      result_.done_before = std::clamp(journal_.done(), 0, result_.parts);
    }
    double room = 0;
    std::vector<int> missing;
    for (std::size_t i = 0; i < tree_.arrays.size(); ++i) {
      const int a = static_cast<int>(i);
      const OperationTree::Array& array = tree_.array(a);
      const fs::path path = file_of(folder, tree_, a);
      if (array.producer < 0) {
        if (options_.fill && !fs::exists(path)) {
          if (std::ranges::none_of(missing,
                                   [&](int m) { return tree_.array(m).name == array.name; })) {
            missing.push_back(a);
            room += tree_.bytes(a);
          }
        } else {
          TensorFile::open(path, extents_of(tree_, a), type_of(tree_), TensorFile::Access::read);
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
    if (planned_.memory > available_memory()) {
      throw UnsupportedError(tree_.name,
                             fmt::format("tiles take {} and {} are free", to_text(planned_.memory),
                                         to_text(available_memory())),
                             "give less with --memory");
    }
    if (!options_.resume) journal_.remove();
    for (int a : missing) fill(a);
    if (!options_.cold) return;
    for (std::size_t i = 0; i < tree_.arrays.size(); ++i) {
      const int a = static_cast<int>(i);
      if (tree_.array(a).producer >= 0) continue;
      TensorFile::open(file_of(folder, tree_, a), extents_of(tree_, a), type_of(tree_),
                       TensorFile::Access::read)
          .forget();
    }
  }
  static std::string shown(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }
  bool is_stored(int a) const { return planned_.arrays[static_cast<std::size_t>(a)].writes > 0; }

  void fill(int a) {
    const fs::path path = file_of(options_.folder, tree_, a);
    const fs::path part = path.string() + ".part";
    const Extents extents = extents_of(tree_, a);
    {
      TensorFile made = TensorFile::create(part, extents, chunks_.of(a), type_of(tree_));
      const Filler filler(options_.seed, tree_.array(a).name);
      std::vector<T> block;
      for_each_block(extents, chunks_.of(a), [&](const std::vector<Range>& at) {
        if (options_.stop.stop_requested()) throw Interrupted();
        block.clear();
        add_numbers(filler, extents, at, 0, 0, block);
        made.write(at, block.data());
      });
      made.flush();
    }
    fs::rename(part, path);
  }

  static void add_numbers(const Filler& filler, const Extents& extents,
                          const std::vector<Range>& at, std::size_t axis, std::int64_t place,
                          std::vector<T>& to) {
    if (axis == at.size()) {
      to.push_back(static_cast<T>(filler.at(place)));
      return;
    }
    for (std::int64_t i = 0; i < at[axis].size; ++i) {
      add_numbers(filler, extents, at, axis + 1, place * extents[axis] + at[axis].begin + i, to);
    }
  }

  void make_results_of(const FusedNode& part) {
    files_.clear();
    for (auto& corners : stored_) corners.clear();
    make_results(part);
  }
  void make_results(const FusedNode& node) {
    if (const auto* loop = std::get_if<fusion::TileLoop>(&node.is)) make_results(*loop->body);
    if (const auto* parts = std::get_if<fusion::InOrder>(&node.is)) {
      for (const FusedNode& part : parts->parts) make_results(part);
    }
    const auto* hold = std::get_if<Hold>(&node.is);
    if (hold == nullptr) return;
    if (hold->kind == Hold::Kind::store) {
      files_[tree_.array(hold->array).name] = std::make_unique<TensorFile>(TensorFile::create(
          file_of(options_.folder, tree_, hold->array), extents_of(tree_, hold->array),
          chunks_.of(hold->array), type_of(tree_)));
      results_.push_back(hold->array);
    }
    make_results(*hold->body);
  }
  void finish_results() {
    const double begin = now();
    for (int a : std::exchange(results_, {})) files_[tree_.array(a).name]->flush();
    files_.clear();
    result_.writing += Seconds(now() - begin);
  }

  // Where the current part of a held array begins.
  const T* part_of(int array, const Ranges& ranges) const {
    const Tile& tile = held_[static_cast<std::size_t>(array)];
    std::int64_t offset = 0;
    const std::vector<Range> at = ranges_of(tree_, array, ranges);
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      offset = offset * tile.at[axis].size + at[axis].begin - tile.at[axis].begin;
    }
    return tile.values + offset;
  }

  void add(const Tile& out, const std::vector<Range>& at, std::size_t axis, T* to, const T*& from) {
    if (axis == at.size()) {
      *to += *from++;
      return;
    }
    std::int64_t stride = 1;
    for (std::size_t inner = axis + 1; inner < at.size(); ++inner) stride *= out.at[inner].size;
    to += (at[axis].begin - out.at[axis].begin) * stride;
    if (axis + 1 == at.size()) {
      for (std::int64_t i = 0; i < at[axis].size; ++i) to[i] += *from++;
      return;
    }
    for (std::int64_t i = 0; i < at[axis].size; ++i) add(out, at, axis + 1, to + i * stride, from);
  }

  // The statement on a tile, whose operands are parts of what is held.
  Contractor<T>& contractor_of(int s, const Extents& tile) {
    const OperationTree::Statement& statement = tree_.statement(s);
    const auto held = [&](int a) {
      Extents extents;
      for (const Range& r : held_[static_cast<std::size_t>(a)].at) extents.push_back(r.size);
      return extents;
    };
    const auto key = std::tuple(s, tile, held(statement.left), held(statement.right));
    const auto known = contractors_.find(key);
    if (known != contractors_.end()) return known->second;
    const Contraction dense = fusion::contraction_of(tree_, s, tile);
    std::vector<Dimension> dims;
    for (int d = 0; d < dense.dim_count(); ++d) dims.push_back(dense.dim(DimId{d}));
    std::array<IndexedTensor, 3> tensors{dense.tensor(TensorId::A), dense.tensor(TensorId::B),
                                         dense.tensor(TensorId::C)};
    tensors[0].extents = held(statement.left);
    tensors[1].extents = held(statement.right);
    const Contraction part(dense.name(), std::move(dims), std::move(tensors), dense.type());
    return contractors_.emplace(key, Contractor<T>(part, options_.threads, machine_)).first->second;
  }

  const OperationTree& tree_;
  const FusedNode& node_;
  const Machine& machine_;
  const ChainRunOptions& options_;
  const Chunks chunks_;
  const Journal journal_;
  const fusion::DiskTraffic planned_;
  std::vector<const FusedNode*> parts_;
  std::vector<Tile> held_;                 // by array
  std::vector<std::set<Extents>> stored_;  // corners of tiles, by array
  std::map<std::string, std::unique_ptr<TensorFile>> files_;
  std::vector<int> results_;  // of the part that runs
  std::map<std::tuple<int, Extents, Extents, Extents>, Contractor<T>> contractors_;
  Memory memory_;
  std::int64_t used_ = 0, bytes_ = 0;
  std::vector<T> apart_;
  ChainRun result_;
  double done_ = 0;
};

// The chain on a few places of each index of a result, in plain loops.
class Reference {
 public:
  Reference(const OperationTree& tree, Ranges ranges) : tree_(tree), ranges_(std::move(ranges)) {
    values_.resize(tree.arrays.size());
    sizes_.resize(tree.arrays.size());
  }

  struct Value {
    double sum = 0, magnitude = 0;
  };

  template <class T>
  void read(int a, const fs::path& folder) {
    std::vector<Range> at = ranges_of(tree_, a, ranges_);
    std::int64_t size = 1;
    for (const Range& r : at) size *= r.size;
    std::vector<T> raw(static_cast<std::size_t>(size));
    TensorFile::open(file_of(folder, tree_, a), extents_of(tree_, a), type_of(tree_),
                     TensorFile::Access::read)
        .read(at, raw.data());
    std::vector<Value>& to = values_[static_cast<std::size_t>(a)];
    for (T v : raw) to.push_back({static_cast<double>(v), std::abs(static_cast<double>(v))});
  }

  const std::vector<Value>& evaluate(int s) {
    const OperationTree::Statement& statement = tree_.statement(s);
    std::vector<Value>& out = values_[static_cast<std::size_t>(statement.out)];
    std::int64_t size = 1;
    for (int i : tree_.array(statement.out).indices) size *= range(i);
    out.assign(static_cast<std::size_t>(size), {});
    const std::vector<Value>& left = values_[static_cast<std::size_t>(statement.left)];
    const std::vector<Value>& right = values_[static_cast<std::size_t>(statement.right)];
    const Steps steps{strides(statement, statement.out), strides(statement, statement.left),
                      strides(statement, statement.right)};
    add(statement, steps, 0, out.data(), left.data(), right.data());
    return out;
  }
  const std::vector<Value>& values(int a) const { return values_[static_cast<std::size_t>(a)]; }
  void forget(int a) { std::vector<Value>().swap(values_[static_cast<std::size_t>(a)]); }

 private:
  struct Steps {
    Extents out, left, right;  // by the statement's indices
  };

  std::int64_t range(int i) const { return ranges_[static_cast<std::size_t>(i)].size; }

  Extents strides(const OperationTree::Statement& s, int a) const {
    Extents strides(s.indices.size());
    std::int64_t stride = 1;
    const std::vector<int>& axes = tree_.array(a).indices;
    for (std::size_t axis = axes.size(); axis > 0; --axis) {
      const auto place = std::ranges::lower_bound(s.indices, axes[axis - 1]) - s.indices.begin();
      strides[static_cast<std::size_t>(place)] = stride;
      stride *= range(axes[axis - 1]);
    }
    return strides;
  }

  void add(const OperationTree::Statement& s, const Steps& steps, std::size_t depth, Value* out,
           const Value* left, const Value* right) const {
    if (depth == s.indices.size()) {
      out->sum += left->sum * right->sum;
      out->magnitude += left->magnitude * right->magnitude;
      return;
    }
    if (depth == 0) StopScope::heed();
    for (std::int64_t i = 0; i < range(s.indices[depth]); ++i) {
      add(s, steps, depth + 1, out + i * steps.out[depth], left + i * steps.left[depth],
          right + i * steps.right[depth]);
    }
  }

  const OperationTree& tree_;
  Ranges ranges_;
  std::vector<std::vector<Value>> values_;
  std::vector<Extents> sizes_;
};

template <class T>
double check_as(const OperationTree& tree, const fs::path& folder, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Ranges ranges = fusion::all_of(tree);
  for (int root : tree.roots()) {
    for (int i : tree.array(tree.statement(root).out).indices) {
      Range& r = ranges[static_cast<std::size_t>(i)];
      const std::int64_t size = std::min(r.size, most_checked);
      r = {std::uniform_int_distribution<std::int64_t>(0, r.size - size)(random), size};
    }
  }
  double bytes = 0;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    double n = sizeof(Reference::Value) + sizeof(T);
    for (const Range& r : ranges_of(tree, static_cast<int>(a), ranges)) {
      n *= static_cast<double>(r.size);
    }
    bytes += n;
  }
  if (bytes > static_cast<double>(available_memory().value())) {
    throw UnsupportedError("--check", fmt::format("takes {:.3g} GB of memory", bytes / 1e9),
                           "leave it out, or use smaller sizes");
  }
  Reference reference(tree, ranges);
  double worst = 0;
  double terms = 2;
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    const OperationTree::Statement& statement = tree.statement(s);
    double sums = 1;
    const fusion::IndexSet kept = tree.array(statement.out).set();
    for (int i : fusion::without(statement.indices, kept)) {
      sums *= static_cast<double>(tree.extent(i));
    }
    terms += sums + 2;
    for (int a : {statement.left, statement.right}) {
      if (tree.array(a).producer < 0) reference.read<T>(a, folder);
    }
    const std::vector<Reference::Value>& right = reference.evaluate(s);
    for (int a : {statement.left, statement.right}) reference.forget(a);
    if (tree.parent(s) >= 0) continue;
    const std::vector<Range> at = ranges_of(tree, statement.out, ranges);
    std::vector<T> found(right.size());
    TensorFile::open(file_of(folder, tree, statement.out), extents_of(tree, statement.out),
                     type_of(tree), TensorFile::Access::read)
        .read(at, found.data());
    const double unit = std::numeric_limits<T>::epsilon() / 2;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const double error = std::abs(static_cast<double>(found[i]) - right[i].sum);
      const double bound = terms * unit * right[i].magnitude;
      const double relative = error == 0 ? 0 : error / bound;
      worst = std::isnan(relative) ? std::numeric_limits<double>::infinity()
                                   : std::max(worst, relative);
    }
  }
  return worst;
}

}  // namespace

ChainRun run_chain(const OperationTree& tree, const FusedNode& node, const Machine& machine,
                   const ChainRunOptions& options) {
  if (type_of(tree) == ElementType::f64) return Runner<double>(tree, node, machine, options).run();
  return Runner<float>(tree, node, machine, options).run();
}

double check_chain(const OperationTree& tree, const fs::path& folder, std::uint64_t seed) {
  return type_of(tree) == ElementType::f64 ? check_as<double>(tree, folder, seed)
                                           : check_as<float>(tree, folder, seed);
}

}  // namespace tcsim::chains
