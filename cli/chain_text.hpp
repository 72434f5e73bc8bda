// What tcsim fuse reads and says of a chain, wherever its tensors are. For the command line and for
// the Python module.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/fusion/chain_request.hpp"
#include "core/fusion/fused_schedule.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::cli {

// A schedule's text, or that of the file of this name; `place` is for errors about it. Throws
// InputError where it is no fused schedule.
struct GivenFused {
  fusion::FusedNode node;
  std::string place;
};
GivenFused given_fused(const std::string& given, const fusion::OperationTree& tree);

// Each line two further in.
std::string indented(const std::string& text);
// A line for each product of many factors.
std::string order_lines(const fusion::Chain& chain);

// The record that begins with the chain and the machine.
nlohmann::ordered_json json_of(const fusion::Chain& chain, const fusion::OperationTree& tree,
                               const Machine& machine);
// The records of all chains that were asked for.
void print_chains(std::vector<nlohmann::ordered_json> records, std::ostream& out);

}  // namespace tcsim::cli
