// Schedules that were found by running them (tcsim tune), as a file keeps them: TOML with
// schema = 1 and a table [[tuned]] for each. docs/kernels.md, "Tuning", has its fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/optimize/optimize.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// For what a schedule was tuned. Where one of these differs, so may the best schedule.
struct TunedKey {
  std::string label, sizes;  // as Contraction has them
  Layout layout = Layout::row_major;
  ElementType type = ElementType::f64;
  Objective objective = Objective::time;
  int threads = 1;
  std::string processor, instruction_set;  // "AMD EPYC", "avx512"
  bool operator==(const TunedKey&) const = default;
};
// The contraction's name does not count.
TunedKey tuned_key(const Contraction& contraction, int threads, std::string processor,
                   std::string instruction_set);

// Which schedule ran, in few bytes.
std::int64_t fingerprint(const Schedule& schedule, const Contraction& contraction);

// The winner of one search, or of several that followed one another.
struct Tuned {
  TunedKey key;
  std::string schedule;     // to_line()
  FlopsPerSecond measured;  // median
  FlopsPerSecond predicted;
  double of_peak = 0;               // measured, as a share of the peak beside it
  double ratio = 1;                 // of its speed to that of the model's choice, beside each other
  std::string date;                 // "2026-11-22"
  std::vector<std::int64_t> tried;  // fingerprints of all that ran, the model's choice among them
  bool operator==(const Tuned&) const = default;

  // "tuned on 2026-11-22: 231 candidates, 1.07 times the model's choice"
  std::string words() const;
};

class TunedSchedules {
 public:
  const std::vector<Tuned>& all() const { return all_; }
  // nullptr if there is none.
  const Tuned* find(const TunedKey& key) const;

  // Puts it in the place of the one with the same key. If that is not the one that the search began
  // with (another process was quicker), the one with the higher ratio stays. What was tried by
  // either is kept.
  void add(Tuned entry, const std::optional<std::string>& began_with);
  // Of a contraction, whatever its threads, objective and processor. Returns how many there were.
  std::size_t forget(const Contraction& contraction);

  bool operator==(const TunedSchedules&) const = default;

 private:
  std::vector<Tuned> all_;
};

// Throws InputError with "PLACE:LINE:COLUMN", and how to begin anew. Schedules are texts here: who
// uses one parses and checks it.
TunedSchedules parse_tuned(std::string_view text, const std::string& place);
std::string to_toml(const TunedSchedules& tuned);

}  // namespace tcsim
