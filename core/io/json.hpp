// JSON as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tcsim {

// On several lines. What is not UTF-8 in it (the path of a file may be anything) stands there as
// U+FFFD: a document is always written.
std::string json_text(const nlohmann::ordered_json& document);
// The same on one line.
std::string json_line(const nlohmann::ordered_json& value);

}  // namespace tcsim
