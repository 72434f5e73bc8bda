#include <fmt/format.h>

#include "cli/pages.hpp"
#include "cli/values.hpp"
#include "core/text/safe.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

// What may stand after an option.
enum class Follows { nothing, words, machine, file };

struct Completed {
  std::string name;  // "--format"
  std::string what;
  Follows follows;
  std::vector<std::string> words;
  bool optional = false;  // the value
};

std::vector<Completed> options_to_complete(const Command& command) {
  std::vector<Completed> all;
  const po::options_description options = options_of(command);
  for (const auto& option : options.options()) {
    Completed c{"--" + option->long_name(), option->description(), Follows::file, {}};
    const auto* one_of = dynamic_cast<const Words*>(option->semantic().get());
    if (one_of != nullptr) {
      c.follows = Follows::words;
      c.words = one_of->words();
      c.optional = !one_of->implied().empty();
    } else if (option->semantic()->max_tokens() == 0) {
      c.follows = Follows::nothing;
    } else if (option->long_name() == "machine") {
      c.follows = Follows::machine;
    }
    all.push_back(std::move(c));
  }
  return all;
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command* c : all_commands()) names.push_back(c->name);
  return names;
}

// Text between single quotes, for all three shells; `special` gets a backslash.
std::string escaped(const std::string& text, const std::string& special) {
  std::string safe;
  for (char c : text) {
    if (special.find(c) != std::string::npos) safe += '\\';
    safe += c;
  }
  return in_single_quotes(safe);
}

// A name a line. The names are those of files, so no shell may read them as code.
constexpr const char* machines_command = "tcsim --completion machines 2>/dev/null";

void print_bash(std::ostream& out) {
  out << fmt::format(
      "# bash completion of tcsim\n"
      "_tcsim() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local word words=\"\" options=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} help --help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  if [ \"$before\" = --machine ]; then\n"
      "    COMPREPLY=()\n"
      "    while IFS= read -r word; do\n"
      "      printf -v word %q \"$word\"\n"
      "      [[ $word == \"$current\"* ]] && COMPREPLY+=(\"$word\")\n"
      "    done < <(echo host; {})\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}} $before\" in\n",
      spaced(command_names()), machines_command);
  for (const Command* c : all_commands()) {
    for (const Completed& option : options_to_complete(*c)) {
      if (option.follows == Follows::words) {
        out << fmt::format("    \"{} {}\") words=\"{}\" ;;\n", c->name, option.name,
                           spaced(option.words));
      }
    }
    if (const auto words = argument_words(*c); !words.empty()) {
      out << fmt::format("    \"{0} {0}\") words=\"{1}\" ;;\n", c->name, spaced(words));
    }
  }
  out << fmt::format(
      "    \"help help\") words=\"{}\" ;;\n  esac\n  case \"${{COMP_WORDS[1]}}\" in\n",
      spaced(command_names()));
  for (const Command* c : all_commands()) {
    std::string names;
    for (const Completed& option : options_to_complete(*c)) names += " " + option.name;
    out << fmt::format("    {}) options=\"{}\" ;;\n", c->name, names.substr(1));
  }
  out << "  esac\n"
         "  # An empty answer lets the shell complete files.\n"
         "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  elif [[ $current == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- "
         "\"$current\"))\n"
         "  else COMPREPLY=(); fi\n"
         "}\n"
         "complete -o default -F _tcsim tcsim\n";
}

void print_zsh(std::ostream& out) {
  out << fmt::format(
      "#compdef tcsim\n"
      "_tcsim_machines() {{\n"
      "  compadd -- host ${{(f)\"$({})\"}}\n"
      "  _files\n"
      "}}\n"
      "_tcsim() {{\n"
      "  local -a commands\n"
      "  commands=(\n",
      machines_command);
  for (const Command* c : all_commands()) {
    out << fmt::format("    '{}:{}'\n", c->name, escaped(c->summary, ":"));
  }
  out << "    'help:describe a command'\n  )\n"
         "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  local command=${words[2]}\n"
         "  shift words\n  (( CURRENT-- ))\n"
         "  case $command in\n";
  for (const Command* c : all_commands()) {
    out << fmt::format("    {}) _arguments \\\n", c->name);
    for (const Completed& option : options_to_complete(*c)) {
      const std::string what = escaped(option.what, "[]:");
      const std::string value = option.name.substr(2);
      // "*": may be given again.
      switch (option.follows) {
        case Follows::nothing:
          out << fmt::format("      '{}[{}]' \\\n", option.name, what);
          break;
        case Follows::words:
          out << fmt::format("      '{}{}[{}]{}:{}:({})' \\\n", option.name,
                             option.optional ? "=-" : "=", what, option.optional ? ":" : "", value,
                             spaced(option.words));
          break;
        case Follows::machine:
          out << fmt::format("      '{}=[{}]:{}:_tcsim_machines' \\\n", option.name, what, value);
          break;
        case Follows::file:
          out << fmt::format("      '*{}=[{}]:{}:_files' \\\n", option.name, what, value);
          break;
      }
    }
    if (const auto words = argument_words(*c); !words.empty()) {
      out << fmt::format("      '1:what:({})' \\\n", spaced(words));
    }
    out << "      '*:argument:_files' ;;\n";
  }
  out << "    help) _describe command commands ;;\n  esac\n}\n_tcsim \"$@\"\n";
}

void print_fish(std::ostream& out) {
  out << "# fish completion of tcsim\n";
  for (const Command* c : all_commands()) {
    out << fmt::format("complete -c tcsim -f -n __fish_use_subcommand -a {} -d '{}'\n", c->name,
                       escaped(c->summary, ""));
  }
  for (const Command* c : all_commands()) {
    const std::string start =
        fmt::format("complete -c tcsim -n '__fish_seen_subcommand_from {}'", c->name);
    for (const Completed& option : options_to_complete(*c)) {
      std::string value;
      if (option.follows == Follows::words) {
        value = fmt::format("{} -a '{}' ", option.optional ? "-f" : "-x", spaced(option.words));
      } else if (option.follows == Follows::machine) {
        value = fmt::format("-r -a 'host ({})' ", machines_command);
      } else if (option.follows == Follows::file) {
        value = "-r ";
      }
      out << fmt::format("{} -l {} {}-d '{}'\n", start, option.name.substr(2), value,
                         escaped(option.what, ""));
    }
    if (const auto words = argument_words(*c); !words.empty()) {
      out << fmt::format("{} -a '{}'\n", start, spaced(words));
    }
  }
  out << fmt::format(
      "complete -c tcsim -f -n __fish_use_subcommand -a help -d 'describe a command'\n"
      "complete -c tcsim -f -n '__fish_seen_subcommand_from help' -a '{}'\n",
      spaced(command_names()));
}

}  // namespace

void print_completion(Shell shell, std::ostream& out) {
  switch (shell) {
    case Shell::bash:
      return print_bash(out);
    case Shell::zsh:
      return print_zsh(out);
    case Shell::fish:
      return print_fish(out);
  }
}

}  // namespace tcsim::cli
