// What "tcsim machine" can do, one file for each word.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace tcsim::cli {

using Names = std::vector<std::string>;

// Of --from: tables of energy and area, which become a cost model (exchange/costs.hpp).
inline constexpr const char* accelergy = "accelergy";

Exit show_machines(const Names& names, const Options& options, Context& context);
// Exit::input if a file has an error, Exit::done with warnings.
Exit check_machines(const Names& names, const Options& options, Context& context);
// Exit::no if the two differ.
Exit diff_machines(const Names& names, const Options& options, Context& context);
Exit import_machines(const Names& names, const Options& options, Context& context);
Exit export_machines(const Names& names, const Options& options, Context& context);

// Throws UsageError unless there are so many names.
void want(const Names& names, std::size_t wanted, const std::string& action);

}  // namespace tcsim::cli
