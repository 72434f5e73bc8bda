// Chooses a schedule: loop order, tile sizes at every cache level, kernel and order of dimensions.
// The innermost-loop choices of acmtc-sc19 are solved over real tile sizes as geometric programs
// (core/optimize/relaxation.hpp). From the best of them a local search over whole tiles minimises
// what the window model predicts (core/optimize/search.hpp). It ends where the time is proven to be
// near the least of the family (core/optimize/bound.hpp), or at a limit.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/bound.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

enum class Objective {
  time,    // the slowest link, then the next one, and so on (acmtc-sc19, Eq. 4 and 6)
  sum,     // seconds of all links together (ioopt's objective)
  energy,  // joules: bytes of every link times the machine's energy per byte
};
const char* to_text(Objective);

// How good the choice is known to be: by the window model's count no schedule of the family comes
// below `relaxed_bound`, and no legal schedule whatever below `any_bound` (core/optimize/bound.hpp
// has the proof).
struct Certificate {
  Objective objective = Objective::time;
  double relaxed_bound = 0;  // seconds, or joules
  double achieved = 0;
  double gap = 0;        // achieved / relaxed_bound - 1
  std::string family;    // family_words()
  double any_bound = 0;  // of bound_of_all(); no more than relaxed_bound

  // Whether the family's bound holds for all schedules.
  bool any_schedule() const { return any_bound >= relaxed_bound; }
  double any_gap() const { return achieved / any_bound - 1; }
  // Whom the family's bound binds, as part of a sentence: "no schedule of the family (kernels
  // within 8x6, A and B packed)", or "no schedule at all".
  std::string bound_words() const;
};

// An answer, from which a search for another machine can begin: a point of the family, and what it
// was rewritten to, if it was (core/optimize/rewrites.hpp).
struct Incumbent {
  Tiling tiling;
  std::optional<Schedule> rewritten;
  bool operator==(const Incumbent&) const = default;
};
// Whether the core has its kernel: one of kernel_choices(), or where it was rewritten one that the
// registers hold.
bool fits_core(const Contraction& contraction, const Core& core, const Incumbent& incumbent);
// Writes it as a schedule. Copies lie in this machine's outermost cache.
Schedule build(const Contraction& contraction, const Machine& machine, const Incumbent& incumbent);

struct OptimizeOptions {
  Objective objective = Objective::time;
  // What is judged first, for example the answer for a machine that differs a little. The answer is
  // never worse than the best of them. One that is proven good enough is returned at once.
  std::vector<Incumbent> incumbents;
  // The schedule is to run on this machine: what packs and calls lose counts even where the machine
  // does not say what was measured (core/optimize/search.hpp, losses_count()). Tensors that fill
  // at most half of the first cache are expected to be there.
  bool to_run = false;
  // Where losses count, the answer may be rewritten too. For what runs.
  bool rewrite = false;
  // Looks no harder than at first, whatever the gap: for a caller that asks often.
  bool soon = false;
  // How the answer is predicted, and what comes near it compared. Counting takes some milliseconds.
  Detail detail = Detail::counted;
  bool dividing = false;  // only tiles that divide the tile outside them, in register tiles
  // What several calls count, shared, so that the later ones are quicker.
  // Not null only where those calls are on one thread.
  SharedCounts* counts = nullptr;
};

// Of a schedule that is to run.
inline OptimizeOptions for_running() {
  OptimizeOptions options;
  options.to_run = true;
  options.rewrite = true;
  return options;
}

struct Optimized {
  Schedule schedule;
  Tiling tiling;           // what `schedule` was built or rewritten from
  bool rewritten = false;  // which of the two
  Prediction prediction;   // by the window model
  Certificate certificate;
  int choices = 0;    // relaxed problems solved
  int evaluated = 0;  // schedules that the window model judged

  Incumbent incumbent() const {
    return {tiling, rewritten ? std::optional(schedule) : std::nullopt};
  }
};

// Deterministic. Throws UnsupportedError for a machine that the window model does not cover or that
// does not say what the objective needs, TooLargeError (core/model/countable.hpp), and Interrupted.
Optimized optimize(const Contraction& contraction, const Machine& machine,
                   const OptimizeOptions& options, std::stop_token stop = {});
Optimized optimize(const Contraction& contraction, const Machine& machine,
                   std::stop_token stop = {});

}  // namespace tcsim
