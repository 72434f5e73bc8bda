// The command line as a table: each command declares its name, its line in the overview, its
// arguments, an example and its options, and help pages, the manual and the shells' completion come
// from that (cli/pages.hpp). A command gets parsed options and a Context, writes data to
// Context::out, and throws the errors of core/error.hpp.
//
// A new command is one file in commands/, which defines NAME_command(), and its line in
// commands.inc.
#pragma once

#include <boost/program_options.hpp>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

namespace tcsim::cli {

// Exit codes (docs/design.md, "Results").
enum class Exit : int {
  done = 0,
  no = 1,
  usage = 2,
  input = 3,
  unsupported = 4,
  interrupted = 130
};

struct Context {
  std::ostream& out;      // data
  std::ostream& err;      // everything else
  std::stop_token stop;   // Ctrl-C
  bool terminal = false;  // err is a terminal: show progress
  bool quiet = false;
  bool verbose = false;
  bool helper = false;  // set by a command: another process of the same run writes what is printed
};

using Options = boost::program_options::variables_map;

struct Command {
  std::string name;
  std::string arguments;  // "WORKLOAD"; words to choose from come first: "show|check NAME..."
  std::string summary;    // one line
  std::string example;    // works as pasted
  void (*declare)(boost::program_options::options_description&);
  Exit (*run)(const Options&, Context&);
  int most_arguments = 1;
  bool owns_out = false;  // --out is for something else than what is printed
};

#define TCSIM_COMMAND(name) const Command& name##_command();
#include "cli/commands.inc"
#undef TCSIM_COMMAND

// In the order of the overview.
std::vector<const Command*> all_commands();

// All options of the command, those that every command has included.
boost::program_options::options_description options_of(const Command& command);

// Positional arguments of the command, after its name.
std::vector<std::string> arguments(const Options& options);

// The whole program. Never throws.
Exit main(const std::vector<std::string>& args, Context& context);

}  // namespace tcsim::cli
