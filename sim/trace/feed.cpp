#include "sim/trace/feed.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "core/error.hpp"
#include "core/stop.hpp"
#include "core/threads.hpp"

namespace tcsim::sim {

namespace {

constexpr std::size_t queued_batches = 8;  // in turn; bounds the memory

// The batches that wait: a ring, of which every reader is at a place of its own.
class Queue {
 public:
  explicit Queue(int readers) : taken_(static_cast<std::size_t>(readers)) {}

  // Room for the next batch, once all readers are done with what is there; nullptr if they stopped.
  TraceBatch* room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return closed_ || given_ < *std::ranges::min_element(taken_) + size; });
    return closed_ ? nullptr : &ring_[given_ % size];
  }
  void give() {
    {
      const std::lock_guard lock(mutex_);
      ++given_;
    }
    changed_.notify_all();
  }
  // The next batch for a reader; nullptr at the end.
  const TraceBatch* next(std::size_t reader) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || ended_ || taken_[reader] < given_; });
    if (closed_ || taken_[reader] == given_) return nullptr;
    return &ring_[taken_[reader] % size];
  }
  void done(std::size_t reader) {
    {
      const std::lock_guard lock(mutex_);
      ++taken_[reader];
    }
    changed_.notify_all();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }
  // Somebody failed: nobody waits any more.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  static constexpr std::uint64_t size = queued_batches;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<TraceBatch, size> ring_;
  std::uint64_t given_ = 0;
  std::vector<std::uint64_t> taken_;  // by reader
  bool ended_ = false, closed_ = false;
};

}  // namespace

TraceMerger::TraceMerger(std::span<const std::unique_ptr<TraceReader>> traces, std::int64_t grain)
    : grain_(traces.size() == 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(grain)),
      left_(grain_) {
  for (const auto& trace : traces) sources_.push_back({trace.get(), {}, false, false});
}

bool TraceMerger::next(TraceBatch& batch) {
  batch.clear();
  std::size_t ended = 0;
  while (ended < sources_.size() && batch.room() > 0) {
    Source& source = sources_[turn_];
    const int core = static_cast<int>(turn_);
    if (sources_.size() == 1 && !source.has_front) {
      const std::size_t count = source.reader->add_to(batch);
      records_ += static_cast<std::int64_t>(count);
      batch.end_turn(core, count);
      if (batch.room() == 0) break;
    }
    if (!source.has_front && !source.at_end) {
      source.has_front = source.reader->next(source.front);
      source.at_end = !source.has_front;
    }
    if (source.has_front) {
      TraceRecord& front = source.front;
      TraceRecord part = front;
      part.count = std::min({front.count, left_, TraceBatch::longest_run});
      batch.add(part);
      batch.end_turn(core, 1);
      front.address += static_cast<std::uint64_t>(front.stride) * part.count;
      front.count -= part.count;
      if (front.count == 0) {
        source.has_front = false;
        ++records_;
      }
      left_ -= part.count;
      ended = 0;
    } else {
      ++ended;
    }
    if (source.has_front && left_ > 0) continue;
    if (!source.at_end && left_ > 0) continue;
    turn_ = (turn_ + 1) % sources_.size();
    left_ = grain_;
  }
  return !batch.accesses().empty();
}

void feed(TraceMerger& merger, int readers, std::stop_token stop,
          const std::function<void(int, const TraceBatch&)>& use) {
  if (available_threads(readers + 2) < readers + 2) {
    const StopScope scope(stop);
    for (TraceBatch batch; merger.next(batch);) {
      StopScope::heed();
      for (int i = 0; i < readers; ++i) use(i, batch);
    }
    return;
  }
  Queue queue(readers);
  run_together(readers + 1, [&](int i) {
    const StopScope scope(stop);
    try {
      if (i == readers) {
        while (TraceBatch* batch = queue.room()) {
          StopScope::heed();
          if (!merger.next(*batch)) break;
          queue.give();
        }
        return queue.end();
      }
      const auto reader = static_cast<std::size_t>(i);
      while (const TraceBatch* batch = queue.next(reader)) {
        StopScope::heed();
        use(i, *batch);
        queue.done(reader);
      }
    } catch (...) {
      queue.close();
      throw;
    }
  });
}

}  // namespace tcsim::sim
