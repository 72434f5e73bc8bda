// Lists as people write them.
#pragma once

#include <string>
#include <vector>

namespace tcsim {

// The words of "a,b".
std::vector<std::string> comma_list(const std::string& text);

}  // namespace tcsim
