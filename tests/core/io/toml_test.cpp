#include "core/io/toml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/saved/session.hpp"
#include "core/study/cost_toml.hpp"
#include "core/study/study.hpp"
#include "core/workload/suite.hpp"
#include "tests/core/refusal.hpp"

namespace tcsim {
namespace {

// In text, not as a path: "a", "a.a" ...
std::string key_of(int n) {
  std::string key = "a";
  for (int i = 1; i < n; ++i) key += ".a";
  return key;
}

TEST(Toml, Limits_are_told_with_their_place) {
  EXPECT_EQ(test::refusal_of([] { parse_toml("x = 1\n" + key_of(most_key_parts) + " = 1", "f"); }),
            "");
  for (const char* form : {"{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}", "\"q\".'r'.{} = 1"}) {
    const std::string text = "x = 1\n" + fmt::format(fmt::runtime(form), key_of(40'000));
    const std::string why = test::refusal_of([&] { parse_toml(text, "f"); });
    EXPECT_EQ(why.substr(0, 4), "f:2:") << form;
    EXPECT_NE(why.find("a key of more than 32 parts"), std::string::npos) << why;
  }
  const auto nested = [](int n, const std::string& open, const std::string& close) {
    std::string text = "x = ";
    for (int i = 0; i < n; ++i) text += open;
    text += "1";
    for (int i = 0; i < n; ++i) text += close;
    return text;
  };
  EXPECT_EQ(test::refusal_of([&] { parse_toml(nested(most_toml_depth, "[", "]"), "f"); }), "");
  for (const auto& [open, close] : std::vector<std::pair<std::string, std::string>>{
           {"[", "]"}, {"{ a = ", " }"}, {"[\n", "\n]"}, {"[{ a.b = ", "}]"}}) {
    const std::string why =
        test::refusal_of([&, o = open, c = close] { parse_toml(nested(20'000, o, c), "f"); });
    EXPECT_NE(why.find("more than 32 lists or tables within one another"), std::string::npos)
        << why;
  }
  const std::string large = "# " + std::string(most_toml_bytes, 'x');
  EXPECT_NE(test::refusal_of([&] { parse_toml(large, "f"); }).find("f: it has more than 16 MiB"),
            std::string::npos);
}

TEST(Toml, What_strings_and_comments_have_does_not_count) {
  const std::string dots(100, '.'), brackets(100, '[');
  const toml::table t = parse_toml(
      "a = \"" + dots + brackets + "\"\nb = '" + brackets + "\\'\nc = \"\\\"" + brackets +
          "\"\nd = \"\"\"\n\"" + brackets + "\\\"\"\"\"\ne = '''\n'" + brackets +
          "'''\nf = \"\" # " + brackets + dots + "\"\ng = [" +
          [] {
            std::string list;
            for (int i = 0; i < 100; ++i)
              list += "1.5, {x.y = 1.25}, [0.5], 2020-01-01T00:00:00.5,";
            return list;
          }() +
          "]\n\"" + dots + "\" = 1\n",
      "f");
  EXPECT_EQ(t.size(), 8u);
}

TEST(Toml, Faults_have_line_and_column) {
  EXPECT_EQ(test::refusal_of([] { parse_toml("x = 1\ny = =", "f"); }).substr(0, 6), "f:2:5:");
  EXPECT_NE(test::refusal_of([] { parse_toml("x = \"\xff\"", "f"); }), "");
  for (const char* cut : {"\"", "'", "\"\"\"", "'''", "x = \"\\", "[", "{", "a.", "#", "\"\\"}) {
    EXPECT_EQ(test::refusal_of([&] { parse_toml(cut, "f"); }).empty(), std::string(cut) == "#")
        << cut;
  }
}

// As deep as the limits allow, and taken apart again.
TEST(Toml, The_deepest_that_is_read_can_be_taken_apart) {
  std::string text = "[" + key_of(most_key_parts) + "]\n" + key_of(most_key_parts) + " = ";
  for (int i = 0; i < most_toml_depth; ++i) text += "{" + key_of(most_key_parts) + " = ";
  text += "1" + std::string(most_toml_depth, '}');
  EXPECT_EQ(test::refusal_of([&] { parse_toml(text, "f"); }), "");
}

TEST(Toml, Every_reader_has_the_limits) {
  const std::string deep = "schema = 1\n" + key_of(40'000) + " = 1\n";
  const StudySources none{};
  for (const auto& read : std::vector<std::function<void()>>{
           [&] { parse_machine(deep, "f"); },
           [&] { parse_study(deep, "f", none); },
           [&] { parse_session(deep, "f"); },
           [&] { parse_suite(deep, "f", {}); },
           [&] { parse_cost_model(deep, "f"); },
       }) {
    EXPECT_EQ(test::refusal_of(read).substr(0, 30), "f:2:64: a key of more than 32 ");
  }
}

}  // namespace
}  // namespace tcsim
