// Arithmetic of study files.
#include "core/study/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"

namespace tcsim {
namespace {

double worth(const std::string& text) {
  return Expression(text).value([](const std::string& name) {
    if (name == "core.frequency") return 2e9;
    if (name == "L3.capacity") return 8.0 * 1024 * 1024;
    return name == "x" ? 3.0 : std::nan("");
  });
}

TEST(Expression, Follows_the_usual_precedence) {
  EXPECT_EQ(worth("1 + 2 * 3"), 7);
  EXPECT_EQ(worth("(1 + 2) * 3"), 9);
  EXPECT_EQ(worth("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(worth("-2 ^ 2"), -4);
  EXPECT_EQ(worth("8 - 4 - 2"), 2);
  EXPECT_EQ(worth("16 / 4 / 2"), 2);
  EXPECT_EQ(worth("max(2, x) + min(1, 5) + log2(8) + sqrt(9)"), 10);
  EXPECT_EQ(worth("1 + 1 < 3"), 1);
  EXPECT_EQ(worth("1 + 1 >= 3"), 0);
  EXPECT_EQ(worth("x == 3"), 1);
  EXPECT_EQ(worth("x != 3"), 0);
}

TEST(Expression, Reads_units) {
  EXPECT_EQ(worth("64KiB"), 65536);
  EXPECT_EQ(worth("2.4GHz"), 2.4e9);
  EXPECT_EQ(worth("20GB/s"), 20e9);
  EXPECT_EQ(worth("6B/cycle"), 12e9);  // at 2 GHz
  EXPECT_EQ(worth("40mm2"), 40);
  EXPECT_EQ(worth("4MiB / 2MiB"), 2);
  EXPECT_EQ(worth("L3.capacity >= 2 * 4MiB"), 1);
}

TEST(Expression, Names_its_variables_once) {
  const Expression e("L3.capacity > 2 * x + x");
  EXPECT_EQ(e.variables(), (std::vector<std::string>{"L3.capacity", "x"}));
  EXPECT_TRUE(e.compares());
  EXPECT_FALSE(Expression("x + 1").compares());
}

TEST(Expression, A_comparison_with_what_is_undefined_does_not_hold) {
  for (const char* op : {"<", "<=", ">", ">=", "==", "!="}) {
    EXPECT_EQ(worth(std::string("sqrt(-1) ") + op + " 1"), 0) << op;
  }
}

TEST(Expression, Faults_are_told_with_their_column) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "column 1: something is missing"},
      {"1 +", "something is missing at the end"},
      {"1 2", "column 3: '2' is not expected"},
      {"(1", "a ')' is missing"},
      {"foo(1)", "there is no function 'foo'"},
      {"min(1)", "min needs two values"},
      {"3parsec", "parsec"},
      {"1 < 2 < 3", "'<' is not expected"},
      {"L3.capacity & 1", "'&' is not expected"},
  };
  for (const auto& [text, said] : cases) {
    try {
      const Expression e(text);
      ADD_FAILURE() << text;
    } catch (const UsageError& e) {
      EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(Expression(std::string(1000, '(')), UsageError);
  EXPECT_THROW(Expression(std::string(1000, '-') + "1"), UsageError);
}

}  // namespace
}  // namespace tcsim
