// The form of what is printed.
#pragma once

namespace tcsim::cli {

enum class Format { table, json, csv };

}  // namespace tcsim::cli
