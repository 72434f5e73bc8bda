// Which rows of a study's results to show: "bottleneck = L3-memory and L3.capacity >= 8MiB".
// Internal to sweep/.
#pragma once

#include <string>

#include "sweep/result_folder.hpp"

namespace tcsim {

// A condition of SQL over ResultFolder::join(), "1" for an empty filter. A filter is comparisons
// (< <= > >= = !=) of a column with a value, with "and" between. Numbers may carry units; texts are
// equal or not. Throws UsageError that says which part cannot be read.
std::string filter_sql(const ResultFolder& folder, const std::string& filter);

}  // namespace tcsim
