// What the caches hold while a plan runs: the run is cut into frames, each of as many touches of
// the core, and of each frame and level one learns which array holds how many lines, what was asked
// for, and what was missed and why (sim/attribution.hpp). Beside that, when which iteration of
// which loop ran and when was packed: the schedule as a profiler shows a program.
//
// A frame has a power of two of touches, the smallest with which there are no more frames than were
// asked for; the last one may be shorter. What lasts less than a frame is not among the spans: to
// see it, ask for a part of the run. The caches are those of the whole run, whatever part is shown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plan/touch_range.hpp"
#include "sim/attribution.hpp"
#include "sim/simulate.hpp"

namespace tcsim {

// Of one array in one frame at one level.
struct FrameTally {
  Lines requests;  // from inside, as LevelCounts::hits and misses
  MissCauses misses;
  Lines held;  // lines that are there after a touch of the core, summed over the frame's touches
  FrameTally& operator+=(const FrameTally& o);
  bool operator==(const FrameTally&) const = default;
};

// An iteration of a loop, or a pack.
struct TimelineSpan {
  std::size_t step = 0;     // of Timeline::steps
  std::int64_t number = 0;  // of the iteration within its loop, from 0 on
  Interval indices;         // of the loop's group; of a pack, the rows that it copies
  TouchRange touches;       // of all of it, though a part may lie outside what is shown
  bool operator==(const TimelineSpan&) const = default;
};

struct Timeline {
  Arrays arrays;
  std::vector<Step> steps;   // of the plan
  std::int64_t touches = 0;  // of the whole run
  TouchRange shown;          // within it
  std::int64_t frame = 1;    // touches of each frame but the last
  struct Level {
    sim::LevelConfig config;
    std::vector<FrameTally> tallies;  // entry f * arrays.size() + a: frame f, array a
    bool operator==(const Level&) const = default;
  };
  std::vector<Level> levels;
  std::vector<TimelineSpan> spans;  // by step, then by time

  std::size_t frames() const {
    return static_cast<std::size_t>((shown.end - shown.begin + frame - 1) / frame);
  }
  TouchRange touches_of(std::size_t f) const {
    const std::int64_t begin = shown.begin + static_cast<std::int64_t>(f) * frame;
    return {begin, std::min(begin + frame, shown.end)};
  }
  const FrameTally& at(std::size_t level, std::size_t f, ArrayId a) const {
    return levels[level]
        .tallies[f * static_cast<std::size_t>(arrays.size()) + static_cast<std::size_t>(index(a))];
  }
  // What goes on with a touch, the outermost first.
  std::vector<TimelineSpan> at(std::int64_t touch) const;
  // Of all arrays together.
  FrameTally total(std::size_t level, std::size_t f) const;
  // Lines of an array that are there on average over the frame's touches.
  double held(std::size_t level, std::size_t f, ArrayId a) const {
    const TouchRange t = touches_of(f);
    return static_cast<double>(at(level, f, a).held.value()) / static_cast<double>(t.end - t.begin);
  }
};

// "k 28-55", "pack A".
std::string to_text(const Timeline& timeline, const TimelineSpan& span);

inline constexpr int most_timeline_frames = 1 << 12;

// Simulates the plan access by access on one thread, as attribute() does; memory grows with the
// number of lines that are touched. `frames` is from 1 to most_timeline_frames. `part` ends where
// the run does, at the latest; of a part that begins behind that no frame is shown. Throws as
// simulate(), and UsageError for other frames or a part that is empty or begins below 0.
Timeline timeline(const Plan& plan, const sim::SystemConfig& config, int frames,
                  const TouchRange& part = {}, const SimulationOptions& options = {});

}  // namespace tcsim
