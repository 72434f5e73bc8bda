#include "core/text/list.hpp"

namespace tcsim {

std::vector<std::string> comma_list(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace tcsim
