// Tables for people.
#pragma once

#include <string>
#include <vector>

namespace tcsim::cli {

using Rows = std::vector<std::vector<std::string>>;

// Columns side by side, as wide as their widest cell; each line begins with `indent`.
std::string aligned(const std::vector<std::string>& columns, const Rows& rows,
                    const std::string& indent = "");

}  // namespace tcsim::cli
