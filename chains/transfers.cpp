#include "chains/transfers.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/stop.hpp"

namespace tcsim::chains {

using fusion::Hold;
using fusion::Range;
using fusion::Ranges;

namespace {

using Clock = std::chrono::steady_clock;

// What is known of a tile when it is opened: the same for both ways.
struct Tile {
  int array = 0;
  Hold::Kind kind = Hold::Kind::buffer;
  std::vector<Range> at;
  std::int64_t begin = 0, end = 0;  // in memory, of its copy
  std::int64_t bytes = 0;
  bool read = false;  // otherwise it begins as zeros
};

// Names the tiles, in the order of the walk.
class Tiles {
 public:
  explicit Tiles(const TransferOf& of) : of_(of), read_(of.tree) {}

  Tile next(const Hold& hold, const Ranges& ranges) {
    const fusion::TilePlaces::Place& place = of_.places.of(hold);
    Tile tile{hold.array, hold.kind, ranges_of(of_.tree, hold.array, ranges), 0, 0, 0, false};
    tile.bytes = product(extents_of(tile.at)) * of_.tree.array(hold.array).element.value();
    tile.begin = place.begin.value() + turns_[&hold]++ % place.copies * place.size.value();
    tile.end = tile.begin + place.size.value();
    tile.read = read_.is_read(hold, ranges);
    return tile;
  }

 private:
  const TransferOf& of_;
  std::map<const Hold*, std::int64_t> turns_;
  fusion::TilesRead read_;
};

// Moves single tiles, and counts. Reading and writing may be on two threads: each has numbers of
// its own, and files see to themselves.
class Mover {
 public:
  explicit Mover(const TransferOf& of) : of_(of) {
    moved_.arrays.resize(of.tree.arrays.size());
    if (of.cold) in_ = Block(*of.cold), out_ = Block(*of.cold);
  }

  void read(const Tile& tile) {
    moved_.reading += timed(tile, [&](TensorFile& file, fusion::DiskTraffic::OfArray& of) {
      std::byte* const values = of_.memory + tile.begin;
      of_.cold ? file.read(tile.at, values, in_, *of_.cold) : file.read(tile.at, values);
      moved_.chunks_read += file.chunks(tile.at);
      of.read += tile.bytes;
      ++of.reads;
    });
  }
  void write(const Tile& tile) {
    moved_.writing += timed(tile, [&](TensorFile& file, fusion::DiskTraffic::OfArray& of) {
      const std::byte* const values = of_.memory + tile.begin;
      of_.cold ? file.write(tile.at, values, out_, *of_.cold) : file.write(tile.at, values);
      moved_.chunks_written += file.chunks(tile.at);
      of.written += tile.bytes;
      ++of.writes;
    });
  }
  void zero(const Tile& tile) const {
    std::memset(of_.memory + tile.begin, 0, static_cast<std::size_t>(tile.bytes));
  }
  Moved take() { return std::move(moved_); }

 private:
  template <class F>
  Seconds timed(const Tile& tile, F&& move) {
    const auto begin = Clock::now();
    TensorFile& file = of_.files.at(of_.tree.array(tile.array).name);
    move(file, moved_.arrays[static_cast<std::size_t>(tile.array)]);
    if (of_.cold) file.forget();
    return Seconds(std::chrono::duration<double>(Clock::now() - begin).count());
  }

  const TransferOf& of_;
  Moved moved_;
  Block in_, out_;
};

class InTurn : public Transfers {
 public:
  explicit InTurn(const TransferOf& of)
      : of_(of), tiles_(of_), mover_(of_), open_(of.tree.arrays.size()) {}

  std::byte* open(const Hold& hold, const Ranges& ranges) override {
    Tile& tile = open_[static_cast<std::size_t>(hold.array)];
    tile = tiles_.next(hold, ranges);
    if (tile.read) {
      mover_.read(tile);
    } else {
      mover_.zero(tile);
    }
    return of_.memory + tile.begin;
  }
  void close(const Hold& hold) override {
    if (hold.kind != Hold::Kind::store) return;
    mover_.write(open_[static_cast<std::size_t>(hold.array)]);
  }
  Moved finish() override { return mover_.take(); }

 private:
  const TransferOf of_;
  Tiles tiles_;
  Mover mover_;
  std::vector<Tile> open_;  // by array
};

// The reader walks ahead and gives each tile a number; the walk that computes comes to the same
// numbers later. A tile may come into its place in memory when every earlier one that had some of
// that place is done: closed, and written if it is stored. So nothing waits for what comes behind
// it in the walk, and nothing can wait for ever.
class Ahead : public Transfers {
 public:
  explicit Ahead(const TransferOf& of) : of_(of), mover_(of_), open_(of.tree.arrays.size()) {
    try {
      reader_ = std::thread([this] { guarded([this] { read_all(); }); });
      writer_ = std::thread([this] { guarded([this] { write_all(); }); });
    } catch (const std::system_error&) {
      end();
      throw UnsupportedError("--overlap", "the system gives no threads to read and write",
                             "leave it out, or allow more threads and memory");
    }
  }
  ~Ahead() override { end(); }

  std::byte* open(const Hold& hold, const Ranges&) override {
    std::unique_lock lock(mutex_);
    const std::int64_t number = opened_++;
    open_[static_cast<std::size_t>(hold.array)] = number;
    changed_.notify_all();
    wait(lock, [&] { return number < named_; });
    Item& item = items_.at(number);
    wait(lock, [&] { return item.tile.read ? item.ready : free_for(number); });
    lock.unlock();
    if (!item.tile.read) mover_.zero(item.tile);
    return of_.memory + item.tile.begin;
  }
  void close(const Hold& hold) override {
    {
      const std::lock_guard lock(mutex_);
      const std::int64_t number = open_[static_cast<std::size_t>(hold.array)];
      if (hold.kind == Hold::Kind::store) {
        to_write_.push_back(number);
      } else {
        items_.erase(number);
      }
    }
    changed_.notify_all();
  }
  Moved finish() override {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return items_.empty(); });
    return mover_.take();
  }

 private:
  // Tiles that the reader is ahead, at most: those that need no reading cost it nothing.
  static constexpr std::int64_t most_ahead = 64;
  // Between two looks whether the run was asked to stop.
  static constexpr auto look = std::chrono::milliseconds(50);

  struct Item {
    Tile tile;
    bool ready = false;
  };

  void end() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread* thread : {&reader_, &writer_}) {
      if (thread->joinable()) thread->join();
    }
  }

  // Of the thread that computes.
  template <class F>
  void wait(std::unique_lock<std::mutex>& lock, F&& done) {
    while (!failure_ && !done()) {
      changed_.wait_for(lock, look);
      StopScope::heed();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  // What is in items_ is not done.
  bool free_for(std::int64_t number) const {
    const Tile& tile = items_.at(number).tile;
    return std::all_of(items_.begin(), items_.find(number), [&](const auto& other) {
      const Tile& earlier = other.second.tile;
      const bool apart = earlier.end <= tile.begin || tile.end <= earlier.begin;
      return apart && !(tile.read && earlier.kind == Hold::Kind::store && overlap(earlier, tile));
    });
  }
  // Whether they have elements of one file in common.
  bool overlap(const Tile& a, const Tile& b) const {
    if (of_.tree.array(a.array).name != of_.tree.array(b.array).name) return false;
    return std::equal(a.at.begin(), a.at.end(), b.at.begin(), [](const Range& x, const Range& y) {
      return x.begin < y.begin + y.size && y.begin < x.begin + x.size;
    });
  }

  // A visitor of walk(), on the reader's thread.
  struct Reader {
    Ahead& all;
    Tiles tiles;

    void open(const Hold& hold, const Ranges& ranges) {
      Tile tile = tiles.next(hold, ranges);
      std::unique_lock lock(all.mutex_);
      const auto wait = [&](auto&& done) {
        all.changed_.wait(lock, [&] { return all.stopping_ || done(); });
        if (all.stopping_) throw Interrupted();
      };
      wait([&] { return all.named_ - all.opened_ < most_ahead; });
      const std::int64_t number = all.named_++;
      Item& item = all.items_.emplace(number, Item{std::move(tile)}).first->second;
      all.changed_.notify_all();
      if (!item.tile.read) return;
      wait([&] { return all.free_for(number); });
      lock.unlock();
      all.mover_.read(item.tile);
      lock.lock();
      item.ready = true;
      all.changed_.notify_all();
    }
    void close(const Hold&, const Ranges&) {}
    void run(int, const Ranges&) {}
  };

  void read_all() {
    Ranges ranges = fusion::all_of(of_.tree);
    Reader reader{*this, Tiles(of_)};
    walk(of_.node, ranges, reader);
  }
  void write_all() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !to_write_.empty(); });
      if (stopping_) return;
      const std::int64_t number = to_write_.front();
      to_write_.pop_front();
      const Item& item = items_.at(number);
      lock.unlock();
      mover_.write(item.tile);
      lock.lock();
      items_.erase(number);
      changed_.notify_all();
    }
  }
  template <class F>
  void guarded(F&& work) {
    try {
      const StopScope scope(of_.stop);
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    changed_.notify_all();
  }

  const TransferOf of_;
  Mover mover_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Item> items_;  // by number: those that are named and not done
  std::int64_t named_ = 0, opened_ = 0;
  std::vector<std::int64_t> open_;  // by array
  std::deque<std::int64_t> to_write_;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread reader_, writer_;
};

}  // namespace

std::unique_ptr<Transfers> transfers_in_turn(const TransferOf& of) {
  return std::make_unique<InTurn>(of);
}
std::unique_ptr<Transfers> transfers_ahead(const TransferOf& of) {
  return std::make_unique<Ahead>(of);
}

}  // namespace tcsim::chains
