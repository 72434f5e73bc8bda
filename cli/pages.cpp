#include "cli/pages.hpp"

#include <fmt/format.h>

#include "cli/values.hpp"
#include "cli/version.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* about =
    "how much data a tensor contraction moves, how long that takes, and what would change if the "
    "hardware changed";

constexpr std::size_t summary_column = 24;  // of the overview

constexpr const char* workloads_text =
    "WORKLOAD is tccg:8 (a suite and a number; a suite alone means all of it),\n"
    "abcd-aebf-dfce with --size a=72,b=72,... (output first), einsum aebf,dfce->abcd,\n"
    "conv2d with --size k=64,c=64,y=56,x=56,r=3,s=3,stride=1, any statement such as\n"
    "\"O[y] += I[2*y+r] * W[r]\" with --size, a suite's .toml or a program's .program file.\n";

std::string usage(const Command& c) {
  return fmt::format("tcsim {}{}{}", c.name, c.arguments.empty() ? "" : " ", c.arguments);
}

// For man: no character of the text is taken for a request or an escape.
std::string roff(const std::string& text) {
  std::string safe;
  bool at_start = true;
  for (char c : text) {
    if (at_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
    at_start = c == '\n';
  }
  return safe;
}

// A line of the table as a sentence.
std::string sentence(const std::string& text) {
  return roff(text) + (text.ends_with('.') ? "" : ".");
}

void print_manual_command(const Command& c, std::ostream& out) {
  out << fmt::format(".SS {}\n{}\n.PP\n.B {}\n[\\fIOPTIONS\\fR]\n", roff(c.name),
                     sentence(c.summary), roff(usage(c)));
  const po::options_description options = options_of(c);
  for (const auto& option : options.options()) {
    out << fmt::format(".TP\n.B {} {}\n{}\n", roff(option->format_name()),
                       roff(option->format_parameter()), sentence(option->description()));
  }
  out << fmt::format(".PP\nExample:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(c.example));
}

}  // namespace

std::vector<std::string> argument_words(const Command& command) {
  const std::string first = command.arguments.substr(0, command.arguments.find(' '));
  if (first.find_first_not_of("abcdefghijklmnopqrstuvwxyz|") != std::string::npos) return {};
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < first.size();) {
    const std::size_t end = std::min(first.find('|', begin), first.size());
    words.push_back(first.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void print_overview(std::ostream& out) {
  out << "tcsim: how much data a tensor contraction moves, how long that takes, and what would\n"
         "change if the hardware changed.\n\n"
         "Usage: tcsim COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands:\n";
  for (const Command* c : all_commands()) {
    std::string usage = "  " + c->name + " " + c->arguments;
    if (usage.size() + 1 >= summary_column) {
      out << usage << "\n";
      usage.clear();
    }
    out << fmt::format("{:<{}}{}\n", usage, summary_column, c->summary);
  }
  out << "\n"
      << workloads_text
      << "\n'tcsim help COMMAND' describes one command, 'man tcsim' all of them, 'tcsim "
         "--version'\n"
         "prints the version.\n\n"
         "Example: tcsim report tccg:9\n";
}

void print_help(const Command& command, std::ostream& out) {
  out << fmt::format("tcsim {}: {}\n\nUsage: {} [OPTIONS]\n\n", command.name, command.summary,
                     usage(command));
  out << options_of(command) << fmt::format("\nExample: {}\n", command.example);
}

void print_manual(std::ostream& out) {
  out << fmt::format(".TH TCSIM 1 \"\" \"tcsim {}\" \"User commands\"\n.SH NAME\ntcsim \\- {}\n",
                     version, about)
      << ".SH SYNOPSIS\n.B tcsim\n\\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n"
      << ".SH DESCRIPTION\n"
      << roff(workloads_text) << ".SH COMMANDS\n";
  for (const Command* c : all_commands()) print_manual_command(*c, out);
  out << ".SH EXIT STATUS\n"
         ".TP\n.B 0\nDone.\n"
         ".TP\n.B 1\nThe answer is no: a check failed.\n"
         ".TP\n.B 2\nThe command line cannot be meant.\n"
         ".TP\n.B 3\nAn input file is wrong.\n"
         ".TP\n.B 4\nThis machine cannot do that.\n"
         ".TP\n.B 130\nInterrupted.\n"
         ".SH ENVIRONMENT\n"
         ".TP\n.B TCSIM_DATA_DIR\nFolder of the files that ship with tcsim.\n"
         ".TP\n.B XDG_CACHE_HOME\nWhere the measured machine and the catalog of its kernels are "
         "kept, in tcsim/host.toml and tcsim/kernels.toml (otherwise ~/.cache).\n";
}

}  // namespace tcsim::cli
