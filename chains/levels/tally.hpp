// What one process of a run moved, held and computed, counted where it did so, and how long that
// took; in the end that of all processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "chains/levels/run_levels.hpp"
#include "core/levels/count.hpp"
#include "core/levels/schedule.hpp"
#include "processes/processes.hpp"

namespace tcsim::chains {

inline Seconds now_in_run() {
  return Seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// Adds what passes between its begin and its end.
class Timed {
 public:
  explicit Timed(Seconds& to) : to_(to), begin_(now_in_run()) {}
  ~Timed() { to_ += now_in_run() - begin_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Seconds& to_;
  Seconds begin_;
};

class Tally {
 public:
  Tally(const fusion::OperationTree& tree, const levels::Hierarchy& hierarchy);

  // Throws UnsupportedError where the level would hold more than its capacity.
  void take(int level, std::int64_t bytes);
  void give_back(int level, std::int64_t bytes);
  void moved_in(const levels::Hold& hold, std::int64_t bytes, std::int64_t rows);
  void moved_out(const levels::Hold& hold, std::int64_t bytes, std::int64_t rows);
  void ran(int statement, std::int64_t multiply_adds, std::int64_t tile_bytes);

  // Over a link, by its inner level; and of arithmetic.
  Seconds& on_link(int level) { return seconds_[static_cast<std::size_t>(level)]; }
  Seconds& arithmetic() { return arithmetic_; }

  // Collective: counts, and times of the process that took longest, into the run's.
  void gather(const Processes& team, LevelRun& run) const;

 private:
  levels::Moved& moved(const levels::Hold& hold);

  const fusion::OperationTree& tree_;
  const levels::Hierarchy& hierarchy_;
  levels::Counts counts_;           // `busiest` is empty
  std::vector<std::int64_t> held_;  // bytes, by level
  std::vector<Seconds> seconds_;
  Seconds arithmetic_{0};
};

}  // namespace tcsim::chains
