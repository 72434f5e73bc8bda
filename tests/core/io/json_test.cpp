#include "core/io/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tcsim {
namespace {

TEST(Json, Is_written_whatever_it_says) {
  const nlohmann::ordered_json j{{"file", "a\xff\xc3.toml"}, {"name", "Größe"}};
  EXPECT_EQ(json_line(j), "{\"file\":\"a\uFFFD\uFFFD.toml\",\"name\":\"Größe\"}");
  EXPECT_EQ(nlohmann::json::parse(json_text(j))["name"], "Größe");
}

}  // namespace
}  // namespace tcsim
