// A workload on a machine with some figures overridden, by which schedule and in which accounting:
// an immutable value. tcsim-gui edits it by making new ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/workload/request.hpp"

namespace tcsim {

struct Override {
  std::string knob, value;  // "L3.capacity", "64MiB": as core/machine/override.hpp reads them
  bool operator==(const Override&) const = default;
};

struct Design {
  WorkloadRequest workload;
  std::string machine = "host";
  std::vector<Override> overrides;
  std::string accounting;  // "honest" or "paper"; empty: the machine's own
  std::string schedule;    // its text; empty: the best one is chosen
  std::string cost;        // a cost model (core/study/cost.hpp), by name or file; empty: none

  // The value that the knob is set to; empty if it is not.
  std::string value_of(std::string_view knob) const;
  // The same design with the knob set, in its place if it was set before; an empty value unsets it.
  Design with(const std::string& knob, const std::string& value) const;
  bool operator==(const Design&) const = default;
};

// The one knob whose override differs between designs that are the same in all else; empty if there
// is no such knob, or more than one.
std::string changed_knob(const Design& before, const Design& after);

// `base` (the design's machine as its file has it) with the overrides and the accounting applied,
// and checked. Notes about values that had to give way are added to `notes`. Throws UsageError and
// InputError, whose place is the knob or "set".
Machine changed_machine(const Machine& base, const Design& design,
                        std::vector<std::string>* notes = nullptr);
// Throws UsageError unless it is "honest" or "paper".
Accounting accounting_named(const std::string& name);

// Arguments of tcsim that say the same: the workload first, then options.
std::vector<std::string> to_arguments(const Design& design);
// A line for a POSIX shell, with the cost model for the command that takes one: "tcsim whatif
// tccg:29 --machine e5-2680v4 --vary ...".
std::string command_line(const std::string& command, const Design& design,
                         const std::vector<std::string>& more = {});

}  // namespace tcsim
