// What somebody looks at: a design, others to compare with, and the view that was open. An
// immutable value that tcsim-gui saves; both programs read it from a file:
//
//     schema = 1
//     [design]
//     workload = "tccg:29"              # or a label, with size, layout and type
//     machine = "e5-2680v4"             # a shipped name, a file beside this one, or "host"
//     set = ["L3.capacity=64MiB"]       # overrides, in the order in which they apply
//     accounting = "paper"              # otherwise what the machine says
//     schedule = "groups m=acf ..."     # kept; otherwise the best one is chosen
//     cost = "45nm"                     # a cost model, for energy and area
//     [[pin]]                           # any number, each put aside under a name
//     name = "a larger L3"              # and the keys of a design
//     [view]
//     name = "bottleneck"
//     knob = "memory.bandwidth"         # along which the curve runs
//     second = "L3.capacity"            # the other one of the map
//     range = "0.25x..4x"
//     level = "L1"                      # whose sets are shown
//     show = "wanted"                   # of the sets
//     tensor = "B"                      # of which tensor; otherwise of all
//     part = "1000..2000"               # line touches that the timeline shows
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/touch_range.hpp"
#include "core/saved/design.hpp"

namespace tcsim {

struct ViewState {
  std::string name = "time";
  std::string knob, second;  // empty: what fits the workload
  std::string range = "0.25x..4x";
  std::string level, show, tensor = {};  // of the sets; empty: the innermost, the first, all
  TouchRange part = {};                  // of the timeline
  bool operator==(const ViewState&) const = default;
};

// A design that was put aside to compare with.
struct Pin {
  std::string name;  // no two of a session are the same
  Design design;
  bool operator==(const Pin&) const = default;
};

struct Session {
  Design design;
  std::vector<Pin> pins;  // in the order in which they are shown
  ViewState view;
  bool operator==(const Session&) const = default;
};

// The first of A, B, ..., Z, A2, ... that no pin has.
std::string free_pin_name(const std::vector<Pin>& pins);

// Throws InputError with "file:line:column" and the mend. A table [baseline], as files had it
// before there were several, is a pin by the name of A.
Session load_session(const std::filesystem::path& file);
// The same from a text; `place` stands for the file in errors, and machine files are looked for
// beside it.
Session parse_session(std::string_view toml, const std::string& place);
// The file's text: parse_session(to_toml(s), ...) == s.
std::string to_toml(const Session& session);

}  // namespace tcsim
