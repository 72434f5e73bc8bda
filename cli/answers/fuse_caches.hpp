// What to fuse of a chain whose tensors are all in memory, on a machine's caches, and the records
// of it. For the command line and for the Python module.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/fusion/cached_choice.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/machine/machine.hpp"
#include "sim/simulate_chain.hpp"

namespace tcsim::cli {

struct CachedRequest {
  std::optional<std::string> schedule;  // a fused one, as text or a file's name, beside the choice
  bool simulate = false;                // also the exact traffic
  std::stop_token stop;
  std::function<void(const std::string& what, double share)> progress;  // may be empty
};

// One way to do the chain.
struct CachedWay {
  std::string name;  // "fused", "unfused", "given"
  fusion::CachedProgram program;
  std::optional<ChainSimulation> simulated;
  Seconds simulated_time;
};

struct CachedAnswer {
  fusion::Chain chain;
  fusion::OperationTree tree;
  Machine machine;              // as the user named it
  std::vector<CachedWay> ways;  // a given one first, then fused (where there is any), unfused
  bool fuses = false;
  double faster = 1;  // the fused one, by predicted time
  // Of each way, statement by statement: the tile that most calls have, and its schedule.
  std::vector<std::vector<std::pair<std::string, std::string>>> leaves;
};

// Throws InputError, with the place, where the given schedule is not legal, Interrupted, and as
// fusion::CachedModel and simulate_chain().
CachedAnswer cached_answer(const CachedRequest& request, fusion::Chain chain,
                           const Machine& machine);

void print_table(const CachedAnswer& answer, std::ostream& out);
nlohmann::ordered_json json_of(const CachedAnswer& answer);

}  // namespace tcsim::cli
