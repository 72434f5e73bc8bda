// The catalog of microkernels: which are candidates, and its text. All figures are made up.
#include "core/machine/kernel_catalog.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "tests/core/damaged.hpp"
#include "tests/core/made_up_catalog.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/core/refusal.hpp"

namespace tcsim {
namespace {

using test::made_up_catalog;
using test::refusal_of;

std::vector<std::string> names(const std::vector<const MeasuredKernel*>& kernels) {
  std::vector<std::string> all;
  for (const MeasuredKernel* m : kernels) {
    all.push_back(std::to_string(m->rows.value()) + "x" + std::to_string(m->columns.value()));
  }
  return all;
}

std::string with(const std::string& part, const std::string& other) {
  std::string text = to_toml(made_up_catalog());
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

std::string refusal(const std::string& text) {
  return refusal_of([&] { parse_kernel_catalog(text, "kernels.toml"); });
}

// 0.85 x 0.96 = 0.816: exactly that is enough, and 0.81 is not. What counts is the longest k, not
// the best one: 24x8 reaches 0.99 at another, and 16x8 in place 0.7.
TEST(Kernel_catalog, Candidates_reach_85_percent_of_the_best_at_their_longest_k) {
  const KernelCatalog c = made_up_catalog();
  EXPECT_EQ(names(c.candidates(Bytes(8), KernelScheme::packed)),
            (std::vector<std::string>{"16x14", "24x8"}));
  EXPECT_EQ(names(c.candidates(Bytes(8), KernelScheme::in_place)),
            (std::vector<std::string>{"24x8"}));
  EXPECT_EQ(names(c.candidates(Bytes(4), KernelScheme::packed)),
            (std::vector<std::string>{"48x8"}));
  EXPECT_TRUE(c.candidates(Bytes(4), KernelScheme::in_place).empty());
}

TEST(Kernel_catalog, Reads_back_what_it_writes) {
  const KernelCatalog c = made_up_catalog();
  EXPECT_EQ(parse_kernel_catalog(to_toml(c), "text"), c);
  KernelCatalog other = c;
  other.kernels[2].points[1].of_peak = 0.1 + 0.2;  // all its bits
  EXPECT_NE(parse_kernel_catalog(to_toml(other), "text"), c);
  EXPECT_EQ(parse_kernel_catalog(to_toml(other), "text"), other);
}

TEST(Kernel_catalog, What_is_wrong_is_refused_with_its_place_and_a_mend) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "kernels.toml:1:1: no schema; run 'tcsim probe --kernels'"},
      {"schema = 1", "kernels.toml:1:1: a catalog of kernels has no tcsim_version"},
      {"schema = ", "kernels.toml:1:10: "},
      {with("schema = 1", "schema = 2"),
       "kernels.toml:1:10: unknown schema; this tcsim reads schema = 1: run "},
      {with("day = 2026-01-31", "day = \"today\""), "kernels.toml:5:7: day is no date"},
      {with("day = 2026-01-31", "day = 2026-02-31"), "kernels.toml:5:"},
      {with("repetitions = 5", "repetitions = 0"), "kernels.toml:7:15: repetitions is no count"},
      {with("repetitions = 5", "repeats = 5"), "unknown key 'repeats' in a catalog of kernels"},
      {with("A \\\"made", "\\u0007 \\\"made"), "has a control character (U+0007)"},
      {with("\"0.1.0\"", "\"\""), "kernels.toml:2:17: tcsim_version is empty"},
      {with("\"avx512\"", "512"), "kernels.toml:10:19: instruction_set is no text"},
      {with("\"8B\"", "\"16B\""), "kernels.toml:11:11: element is neither 4B nor 8B"},
      {with("\"packed\"", "\"unrolled\""),
       "kernels.toml:12:10: scheme 'unrolled' is unknown; known are packed, in-place"},
      {with("rows = 16", "rows = 17"), "17 rows are no whole number for each of 2 vectors"},
      {with("rows = 16", "rows = 32"), "a vector has 16 rows here and 8 above"},
      {with("columns = 14", "columns = 0"), "columns is no count"},
      {with("of_peak = 0.96", "of_peak = 96"), "it is a share, not a percentage"},
      {with("of_peak = 0.96", "of_peak = nan"), "of_peak is no number greater than 0"},
      {with("of_peak = 0.96", "share = 0.96"), "unknown key 'share' in a point"},
      {with("k = 8", "k = 4"), "the points' k do not rise"},
      {with("vectors = 2\nrows = 16\ncolumns = 14", "vectors = 1\nrows = 8\ncolumns = 1"),
       "8x1 of avx512, packed, is there twice; take one out"},
  };
  for (const auto& [text, problem] : cases) {
    EXPECT_NE(refusal(text).find(problem), std::string::npos) << problem << "\n" << refusal(text);
  }
  std::string empty = to_toml(made_up_catalog());
  empty.erase(empty.find("\n[[kernel]]"));
  EXPECT_NE(refusal(empty).find("a catalog of kernels has no kernel"), std::string::npos);
  EXPECT_NE(refusal(empty + "kernel = []\n").find("there is no kernel"), std::string::npos);
}

TEST(Kernel_catalog, A_damaged_text_is_refused_or_reads_back) {
  test::Random random(20210708);
  int read = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = test::damaged(
        to_toml(made_up_catalog()), {"[", "\"", "k = ", "-", "9e99", "\n", "{", "0"}, random);
    try {
      const KernelCatalog c = parse_kernel_catalog(text, "text");
      EXPECT_EQ(parse_kernel_catalog(to_toml(c), "again"), c) << text;
      ++read;
    } catch (const InputError& e) {
      EXPECT_FALSE(e.place().empty()) << e.what() << "\n" << text;
    }
  }
  EXPECT_LT(read, 2000);
}

}  // namespace
}  // namespace tcsim
