#include "core/text/name.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/study/cost_toml.hpp"
#include "core/study/study.hpp"
#include "core/workload/suite.hpp"
#include "tests/core/refusal.hpp"

namespace tcsim {
namespace {

TEST(Name, Is_printable_UTF_8) {
  for (const char* good : {"L1", "Größe", "内存", "a b", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(fault_of_name(good), "") << good;
  }
  using namespace std::string_literals;
  for (const std::string& control : {"L\0"s, "\n"s, "\x1b[31m"s, "\x7f"s, "\xc2\x9b"s}) {
    EXPECT_NE(fault_of_name(control).find("has a control character"), std::string::npos);
  }
  EXPECT_EQ(fault_of_name("L\0001"s), "has a control character (U+0000) at byte 2");
  // Alone, cut off, longer than need be, a surrogate, beyond the last one.
  for (const std::string& bad :
       {"\x80"s, "\xff"s, "a\xc3"s, "\xe2\x82"s, "\xc0\x80"s, "\xe0\x80\xaf"s, "\xed\xa0\x80"s,
        "\xf4\x90\x80\x80"s, "\xf8\x88\x80\x80\x80"s}) {
    EXPECT_NE(fault_of_name(bad).find("is not UTF-8 at byte"), std::string::npos);
  }
}

TEST(Name, With_control_characters_is_refused_where_it_is_read) {
  const auto machine = [](const std::string& name, const std::string& level) {
    return "schema = 1\nname = \"" + name +
           "\"\n[core]\nfrequency = \"4.0GHz\"\nvector_bits = 256\nvector_registers = 16\n"
           "fma_per_cycle = 2\nfma_latency = 4\n[[level]]\nname = \"" +
           level +
           "\"\nkind = \"cache\"\ncapacity = \"32KiB\"\nways = 8\nline = \"64B\"\n"
           "bandwidth = \"19B/cycle\"\n[[level]]\nname = \"memory\"\nkind = \"memory\"\n"
           "bandwidth = \"6B/cycle\"\n";
  };
  EXPECT_EQ(test::refusal_of([&] { parse_machine(machine("m", "L1"), "f"); }), "");
  const std::string level =
      test::refusal_of([&] { parse_machine(machine("m", "L\\u00001"), "f"); });
  EXPECT_EQ(level,
            "f:10:8: a level's name has a control character (U+0000) at byte 2; use printable "
            "characters in UTF-8");
  EXPECT_NE(test::refusal_of([&] {
              parse_machine(machine("m\\n", "L1"), "f");
            }).find("f:2:8: the machine's name has a control character (U+000A) at byte 2"),
            std::string::npos);
  EXPECT_NE(test::refusal_of([] {
              parse_suite(
                  "schema = 1\nname = \"s\\u001b\"\n[[workload]]\nlabel = \"ij-ik-kj\"\n"
                  "sizes = \"i=4,j=4,k=4\"\n",
                  "f", {});
            }).find("f:2:8: 'name' has a control character (U+001B) at byte 2"),
            std::string::npos);
  EXPECT_NE(test::refusal_of([] {
              parse_study("schema = 1\nname = \"s\\u0000\"\n", "f", {});
            }).find("f:2:8: the study's name has a control character (U+0000) at byte 2"),
            std::string::npos);
}

}  // namespace
}  // namespace tcsim
