// Traces of several cores as one stream, parsed on a thread of its own. Records travel in batches
// through a queue of a few, so that memory does not grow with the traces; every reader of the
// stream gets every batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "sim/trace/trace.hpp"

namespace tcsim::sim {

// Cores take turns: `grain` accesses of one, then of the next, until each trace is at its end; a
// modify is one. Where there is one core runs stay whole up to
// TraceBatch::longest_run.
class TraceMerger {
 public:
  TraceMerger(std::span<const std::unique_ptr<TraceReader>> traces, std::int64_t grain);
  // The next batch, in the place of what was there; false at the end.
  bool next(TraceBatch& batch);
  std::int64_t records() const { return records_; }  // of the traces, so far

 private:
  // A trace, and the record of it that is at hand.
  struct Source {
    TraceReader* reader = nullptr;
    TraceRecord front;
    bool has_front = false, at_end = false;
  };

  std::vector<Source> sources_;
  std::uint64_t grain_;
  std::int64_t records_ = 0;
  std::size_t turn_ = 0;  // the source whose turn it is
  std::uint64_t left_;    // accesses until the next one's
};

// Calls use(i, batch) for every batch in order, for each 0 <= i < readers on a thread of its own;
// another one parses. Where the system has not so many threads all is done on this one. Throws what
// the first of them throws; Interrupted once asked to stop.
void feed(TraceMerger& merger, int readers, std::stop_token stop,
          const std::function<void(int, const TraceBatch&)>& use);

}  // namespace tcsim::sim
