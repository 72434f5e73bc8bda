#include <fmt/format.h>

#include <new>
#include <sstream>

#include "cli/command.hpp"
#include "cli/out_file.hpp"
#include "cli/pages.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "cli/visible_stream.hpp"
#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/saved/session.hpp"
#include "core/stop.hpp"
#include "core/text/safe.hpp"
#include "core/units/nearest.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* argument_option = "argument";

// An option whose value may be left out is followed by its value or by another argument:
// "--counters papi", "--counters tccg:1". It is its value if it is one of the option's words.
std::vector<std::string> with_implied_values(const po::options_description& options,
                                             const std::vector<std::string>& args) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < args.size(); ++i) {
    all.push_back(args[i]);
    if (!args[i].starts_with("--")) continue;
    const auto* option = options.find_nothrow(args[i].substr(2), false);
    const auto* words =
        option == nullptr ? nullptr : dynamic_cast<const Words*>(option->semantic().get());
    if (words == nullptr || words->implied().empty()) continue;
    const bool given = i + 1 < args.size() && words->has(args[i + 1]);
    all.back() += "=" + (given ? args[++i] : words->implied());
  }
  return all;
}

[[noreturn]] void refuse_option(const Command& command, const std::string& option,
                                const po::options_description& options) {
  std::vector<std::string> known;
  for (const auto& o : options.options()) known.push_back("--" + o->long_name());
  const std::string meant = nearest(option, known);
  throw UsageError(command.name, fmt::format("there is no option '{}'", option),
                   (meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant)) +
                       fmt::format("see 'tcsim help {}'", command.name));
}

// What a session says counts where the command line does not.
void store_session(const std::string& file, const po::options_description& all,
                   const po::positional_options_description& positional, Options& options) {
  std::vector<std::string> args;
  bool known = true;
  for (const std::string& word : to_arguments(load_session(file).design)) {
    if (word.starts_with("--")) known = all.find_nothrow(word.substr(2), false) != nullptr;
    if (known) args.push_back(word);
  }
  po::store(po::command_line_parser(args).options(all).positional(positional).run(), options);
}

Options parse(const Command& command, const std::vector<std::string>& args) {
  const po::options_description visible = options_of(command);
  po::options_description all;
  all.add(visible).add_options()(argument_option, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(argument_option, -1);
  Options options;
  try {
    po::store(
        po::command_line_parser(with_implied_values(visible, args))
            .options(all)
            .positional(positional)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        options);
    if (options.count("session") != 0) {
      store_session(options["session"].as<std::string>(), all, positional, options);
    }
    po::notify(options);
  } catch (const BadValue& e) {
    throw UsageError(e.get_option_name(), e.problem(), e.mend());
  } catch (const po::unknown_option& e) {
    refuse_option(command, e.get_option_name(), visible);
  } catch (const po::error& e) {
    throw UsageError(command.name, e.what(), fmt::format("see 'tcsim help {}'", command.name));
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
    throw UsageError(command.name,
                     fmt::format("'{}' is one argument too many", arguments(options).back()),
                     fmt::format("see 'tcsim help {}'", command.name));
  }
  context.quiet = options["quiet"].as<bool>();
  context.verbose = options["verbose"].as<bool>();
  if (options.count("out") == 0 || command.owns_out) return command.run(options, context);

  OutFile file(options["out"].as<std::string>());
  std::ostringstream text;
  VisibleStream out(text);
  Context to_file{out, context.err, context.stop, context.terminal, context.quiet, context.verbose};
  const Exit code = command.run(options, to_file);
  if (out.bad() || text.bad()) throw std::bad_alloc();  // which streams keep for themselves
  if (!to_file.helper) file.write(text.str());
  return code;
}

// One line that quotes at most a line of what was given.
std::string message_of(const std::exception& e) {
  const auto* error = dynamic_cast<const Error*>(&e);
  if (error == nullptr) return shortened(e.what());
  constexpr std::size_t most_mend = 2000;  // lists what there is
  return Error(shortened(error->place()), shortened(error->problem()),
               shortened(error->mend(), most_mend))
      .what();
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command* c : all_commands()) {
    if (c->name == name) return *c;
    names.push_back(c->name);
  }
  throw UsageError("", fmt::format("there is no command '{}'", name), one_of(name, names));
}

Exit help(const std::vector<std::string>& names, Context& context) {
  if (names.empty()) print_overview(context.out);
  for (const std::string& name : names) print_help(find_command(name), context.out);
  return Exit::done;
}

// For the build, which installs what they print: --man, --completion SHELL; and for what that
// installs, which asks for the names of machines.
Exit print_completion(const std::vector<std::string>& args, Context& context) {
  const std::string shell = args.size() == 2 ? args[1] : "";
  if (shell == "machines") {
    for (const std::string& name : shipped_machines()) {
      if (is_visible(name)) context.out << name << "\n";
    }
    return Exit::done;
  }
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    throw UsageError("--completion", fmt::format("'{}' is no shell that is known", shell),
                     "use one of bash, zsh, fish");
  }
  print_completion(shell == "bash"  ? Shell::bash
                   : shell == "zsh" ? Shell::zsh
                                    : Shell::fish,
                   context.out);
  return Exit::done;
}

Exit dispatch(const std::vector<std::string>& args, Context& context) {
  if (args.empty()) {
    print_overview(context.err);
    return Exit::usage;
  }
  const std::vector<std::string> rest(args.begin() + 1, args.end());
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") return help(rest, context);
  if (args[0] == "--version") {
    context.out << "tcsim " << version << "\n" << built_with;
    return Exit::done;
  }
  if (args[0] == "--man") {
    print_manual(context.out);
    return Exit::done;
  }
  if (args[0] == "--completion") return print_completion(args, context);
  return run(find_command(args[0]), rest, context);
}

}  // namespace

std::vector<const Command*> all_commands() {
  return {
#define TCSIM_COMMAND(name) &name##_command(),
#include "cli/commands.inc"
#undef TCSIM_COMMAND
  };
}

po::options_description options_of(const Command& command) {
  po::options_description options("Options", 100, 60);
  command.declare(options);
  options.add_options()("quiet", po::bool_switch(), "no progress, no notes")(
      "verbose", po::bool_switch(), "say more about what is being done")(
      "help,h", po::bool_switch(), "this page");
  return options;
}

std::vector<std::string> arguments(const Options& options) {
  if (options.count(argument_option) == 0) return {};
  return options[argument_option].as<std::vector<std::string>>();
}

Exit main(const std::vector<std::string>& args, Context& plain) {
  const StopScope heed(plain.stop);
  VisibleStream out(plain.out), err(plain.err);
  Context context{out, err, plain.stop, plain.terminal, plain.quiet, plain.verbose};
  const auto fail = [&](const std::exception& e, Exit code) {
    context.err << "tcsim: " << message_of(e) << "\n";
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
    context.err << "tcsim: not enough memory; use smaller sizes\n";
    return Exit::unsupported;
  } catch (const std::exception& e) {
    return fail(e, Exit::input);
  }
}

}  // namespace tcsim::cli
