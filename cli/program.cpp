#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* argument_option = "argument";

void print_overview(std::ostream& out) {
  out << "tcsim: how much data a tensor contraction moves, how long that takes, and what would\n"
         "change if the hardware changed.\n\n"
         "Usage: tcsim COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands:\n";
  for (const Command* c : all_commands()) {
    out << fmt::format("  {:<34}{}\n", c->name + " " + c->arguments, c->summary);
  }
  out << "\nWORKLOAD is tccg:8 (a suite and a number; a suite alone means all of it),\n"
         "abcd-aebf-dfce with --size a=72,b=72,... (output first), einsum aebf,dfce->abcd, or a\n"
         "suite's .toml file.\n\n"
         "'tcsim COMMAND --help' describes one command, 'tcsim --version' prints the version.\n\n"
         "Example: tcsim report tccg:9\n";
}

po::options_description options_of(const Command& command) {
  po::options_description options("Options", 100, 60);
  command.declare(options);
  options.add_options()("quiet", po::bool_switch(), "no progress, no notes")(
      "verbose", po::bool_switch(), "say more about what is being done")("help", po::bool_switch(),
                                                                         "this page");
  return options;
}

void print_help(const Command& command, std::ostream& out) {
  out << fmt::format("tcsim {}: {}\n\nUsage: tcsim {} {} [OPTIONS]\n\n", command.name,
                     command.summary, command.name, command.arguments);
  out << options_of(command) << fmt::format("\nExample: {}\n", command.example);
}

Options parse(const Command& command, const std::vector<std::string>& args) {
  po::options_description all = options_of(command);
  all.add_options()(argument_option, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(argument_option, -1);
  Options options;
  try {
    po::store(
        po::command_line_parser(args)
            .options(all)
            .positional(positional)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        options);
    po::notify(options);
  } catch (const po::error& e) {
    throw UsageError("tcsim " + command.name, e.what(),
                     fmt::format("see 'tcsim {} --help'", command.name));
  }
  return options;
}

Exit run(const Command& command, const std::vector<std::string>& args, Context& context) {
  const Options options = parse(command, args);
  if (options["help"].as<bool>()) {
    print_help(command, context.out);
    return Exit::done;
  }
  if (static_cast<int>(arguments(options).size()) > command.most_arguments) {
    throw UsageError("tcsim " + command.name,
                     fmt::format("'{}' is one argument too many", arguments(options).back()),
                     fmt::format("see 'tcsim {} --help'", command.name));
  }
  context.quiet = options["quiet"].as<bool>();
  context.verbose = options["verbose"].as<bool>();
  if (options.count("out") == 0) return command.run(options, context);

  const auto file = options["out"].as<std::string>();
  const auto refuse = [&] {
    throw UsageError("--out " + file, "the file cannot be written", "name another one");
  };
  if (!std::ofstream(file, std::ios::app)) refuse();  // before the work, not after it
  std::ostringstream text;
  Context to_file{text,          context.err,    context.stop, context.terminal,
                  context.quiet, context.verbose};
  const Exit code = command.run(options, to_file);
  std::ofstream out(file, std::ios::binary);
  out << text.str();
  out.close();
  if (!out) refuse();
  return code;
}

Exit dispatch(const std::vector<std::string>& args, Context& context) {
  if (args.empty()) {
    print_overview(context.err);
    return Exit::usage;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    print_overview(context.out);
    return Exit::done;
  }
  if (args[0] == "--version") {
    context.out << "tcsim " << version << "\n";
    return Exit::done;
  }
  std::string names;
  for (const Command* c : all_commands()) {
    if (c->name == args[0]) return run(*c, {args.begin() + 1, args.end()}, context);
    names += (names.empty() ? "" : ", ") + c->name;
  }
  throw UsageError("tcsim", fmt::format("there is no command '{}'", args[0]),
                   "use one of " + names);
}

}  // namespace

std::vector<const Command*> all_commands() {
  return {&report_command(),  &list_command(),     &machine_command(), &optimize_command(),
          &predict_command(), &simulate_command(), &run_command()};
}

std::vector<std::string> arguments(const Options& options) {
  if (options.count(argument_option) == 0) return {};
  return options[argument_option].as<std::vector<std::string>>();
}

Exit main(const std::vector<std::string>& args, Context& context) {
  const auto fail = [&](const std::exception& e, Exit code) {
    context.err << "tcsim: " << e.what() << "\n";
    return code;
  };
  try {
    return dispatch(args, context);
  } catch (const UsageError& e) {
    return fail(e, Exit::usage);
  } catch (const InputError& e) {
    return fail(e, Exit::input);
  } catch (const UnsupportedError& e) {
    return fail(e, Exit::unsupported);
  } catch (const Interrupted& e) {
    return fail(e, Exit::interrupted);
  } catch (const std::bad_alloc&) {
    context.err << "tcsim: not enough memory\n";
    return Exit::unsupported;
  } catch (const std::exception& e) {
    return fail(e, Exit::input);
  }
}

}  // namespace tcsim::cli
