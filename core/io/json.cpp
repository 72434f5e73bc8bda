#include "core/io/json.hpp"

#include <nlohmann/json.hpp>

namespace tcsim {

namespace {

std::string dumped(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& document) { return dumped(document, 2); }
std::string json_line(const nlohmann::ordered_json& value) { return dumped(value, -1); }

}  // namespace tcsim
