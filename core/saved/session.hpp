// What somebody looks at: a design, a baseline to compare with, and the view that was open. An
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
//     [baseline]                        # the same keys
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
#include <optional>
#include <string>
#include <string_view>

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

struct Session {
  Design design;
  std::optional<Design> baseline;
  ViewState view;
  bool operator==(const Session&) const = default;
};

// Throws InputError with "file:line:column" and the mend.
Session load_session(const std::filesystem::path& file);
// The same from a text; `place` stands for the file in errors, and machine files are looked for
// beside it.
Session parse_session(std::string_view toml, const std::string& place);
// The file's text: parse_session(to_toml(s), ...) == s.
std::string to_toml(const Session& session);

}  // namespace tcsim
