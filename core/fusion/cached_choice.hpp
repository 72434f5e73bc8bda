// Whether to fuse a chain inside caches, and how: the program of the family (cached_tree.hpp) that
// the model takes for the quickest, beside the chain that is not fused.
//
// For each structure searches begin with tiles whose held intermediates fill a part of a cache, of
// each cache in turn, and go downhill by the model's rough count: other tiles of one loop, other
// orders. Of what they met, the best of each kind is judged by the model with the schedules of its
// leaves, and from the best of those it goes downhill once more. A kind is a structure, the order
// of its loops and, to a factor of two, how much is held.
#pragma once

#include <functional>
#include <optional>

#include "core/fusion/cached_model.hpp"
#include "core/fusion/cached_tree.hpp"

namespace tcsim::fusion {

// Predicted traffic is about so far off at the tiles that a search ends at, which are those where
// the model is optimistic: docs/fusion.md, "How near the model is".
inline constexpr double traffic_error = 0.05;
// Predicted times that are no further apart are a tie.
inline constexpr double tie = 0.01;
// Cautious times that are no further apart are the same.
inline constexpr double same_time = 1e-3;

struct CachedProgram {
  FusedNode node;
  ChainTraffic traffic;
  ChainTiming timing;
  Seconds cautious;  // the time if each link moves more than predicted by traffic_error
  Seconds links;     // all of them together, but for that to the registers
};

struct CachedChoice {
  CachedProgram unfused;
  std::optional<CachedProgram> fused;  // the quickest that fuses anything; none of one statement
  int roughly = 0, judged = 0;         // programs looked at

  // Whether fusing is predicted to be quicker. Of times that tie the cautious ones decide: where
  // arithmetic decides, a link may be near or far from deciding. Where those are the same, the one
  // that moves less.
  bool fuses() const;
  const CachedProgram& best() const { return fuses() ? *fused : unfused; }
};

struct CachedChoiceOptions {
  int judged = 40;                             // programs judged with schedules, at most
  std::function<void(double share)> progress;  // may be empty
};

// Deterministic. Throws as CachedModel; heeds StopScope.
CachedProgram judged(CachedModel& model, FusedNode node);
CachedChoice choose_cached(CachedModel& model, const CachedChoiceOptions& options = {});

}  // namespace tcsim::fusion
