// tcsim bench regret: what the model's choice costs. The optimizer's schedule of a contraction
// races a small neighbourhood of it on the real machine.
//
// Every schedule runs once with cold caches; those within `margin` of the best run more, and the
// fastest by median is the winner. Picking the fastest of many noisy medians flatters it, so the
// model's pick and the winner then race each other anew, turn by turn, and only those times count.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/yardstick.hpp"
#include "core/machine/machine.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

struct Neighbour {
  Tiling tiling;
  std::string difference;  // from the one in the middle: "k of L2 512 to 256", "kernel 16x14"
};

// Up to `count` tilings that differ from `tiling` in one thing and from each other in their
// schedules: a tile twice or half as large, two loops of the outermost band exchanged, another
// kernel, other groups, and all blocks by the rule of BLIS. One of each kind first.
std::vector<Neighbour> neighbourhood(const Contraction& contraction, const Machine& machine,
                                     const Tiling& tiling, std::size_t count);

struct Raced {
  std::string difference;  // "" for the model's pick
  Schedule schedule;
  std::string kernel;
  Seconds predicted;  // by the window model
  Samples samples;    // of the first race
  bool correct = true;
};

struct RegretCase {
  Contraction workload;
  std::vector<Raced> raced;  // the model's pick first
  std::size_t winner = 0;    // of the first race, in `raced`; 0 if it is the pick
  // Of the second race; without a value if the pick won the first.
  std::optional<Samples> pick_again, winner_again;
  // Time of the pick over that of the best found, less one: 0 if the pick is the best.
  double regret() const;
  // Predicted time of the winner over the pick's, less one: what the model takes it to lose.
  double predicted_loss() const;
  bool correct() const;
};

struct RegretOptions {
  std::size_t neighbours = 12;
  int repetitions = 3;   // of the first race
  int second_race = 5;   // turns
  double margin = 0.15;  // beyond it one repetition is enough
  std::uint64_t seed = 1;
  std::function<void(double share)> progress;  // of one contraction
  std::stop_token stop;
};

// Throws UnsupportedError if there is too little memory, and Interrupted.
RegretCase bench_regret(const Contraction& contraction, const Machine& machine,
                        ColdYardstick& yardstick, const RegretOptions& options);

// A pick within this of the best found counts as well chosen.
inline constexpr double well_chosen = 0.05;

struct RegretSummary {
  std::size_t cases = 0, well_chosen = 0;
  double mean = 0, worst = 0;  // regret; the mean is geometric, of 1 + regret
};
RegretSummary summary(const std::vector<RegretCase>& cases);

}  // namespace tcsim::bench
