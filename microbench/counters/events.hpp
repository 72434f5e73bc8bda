// Which events stand for which figure: data that ships with tcsim, data/counters/*.toml, one file per
// source and family of processors. docs/counters.md has the keys; an example:
//
//     schema = 1
//     source = "papi"
//     description = "Intel Core and Xeon"
//     [[link]]                                  # a link between two levels of a machine
//     name = "L1-L2"
//     in = ["L1D:REPLACEMENT"]                  # lines towards the core; the first that works
//     out = ["L2_TRANS:L1D_WB"]                 # "A + B" is the sum of two events
//     bytes = 64                                # that one count stands for
//     [[event]]                                 # something else that is worth knowing
//     name = "page faults"
//     event = "perf::PAGE-FAULTS"               # and unit = "ns" where it has one
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tcsim {

using EventSum = std::vector<std::string>;  // events whose counts are added

struct LinkEvents {
  std::string link;               // as Machine::link() calls it
  std::vector<EventSum> in, out;  // alternatives, the best first; empty: not known
  double bytes = 64;              // that one count stands for
};

struct NamedEvent {
  std::string name, event, unit;
};

struct EventFile {
  std::string name;    // the file's, without folder and extension
  std::string source;  // "papi" or "likwid"
  std::string description;
  std::vector<LinkEvents> links;
  std::vector<NamedEvent> events;
};

// Reads a file's text; `place` stands for the file in errors. Throws InputError with
// "file:line:column"; unknown keys are errors.
EventFile parse_events(std::string_view toml, const std::string& place);
EventFile load_events(const std::filesystem::path& file);

// All that ship with tcsim, by name. Throws InputError.
std::vector<EventFile> shipped_events();

}  // namespace tcsim
