// What can be said about the commands from their table alone: help pages, the manual, and the
// shells' completion.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace tcsim::cli {

void print_overview(std::ostream& out);
void print_help(const Command& command, std::ostream& out);

// tcsim(1), for man.
void print_manual(std::ostream& out);

enum class Shell { bash, zsh, fish };
void print_completion(Shell shell, std::ostream& out);

// Words that the command's first argument is one of: show, check of "show|check FILE..."; none if
// it is something else.
std::vector<std::string> argument_words(const Command& command);

}  // namespace tcsim::cli
