// What is emitted for large problems names the sizes that wide arithmetic gives.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "emit/emit.hpp"
#include "tests/core/large_problems.hpp"

namespace tcsim::test {
namespace {

std::string text_of(const Wide& n) { return n.str(); }

// A minus right before four digits or more: others are results such as -1.
bool names_a_negative_size(const std::string& code) {
  for (std::size_t i = code.find('-'); i != code.npos; i = code.find('-', i + 1)) {
    const auto digits = code.substr(i + 1, 4);
    if (digits.size() == 4 &&
        std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      return true;
    }
  }
  return false;
}

TEST(Emit, Sizes_and_strides_of_large_problems_are_right_or_refused) {
  Random random(new_seed());
  int right = 0, refused = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string why;
    const double most = std::pow(10.0, static_cast<double>(random.between(1, 7)));
    const auto c = random_large_contraction(random, most, why);
    if (!c) continue;
    const Schedule s = random_schedule(*c, random);
    if (long_tables(*c, s)) continue;
    SCOPED_TRACE(c->label() + " " + c->sizes() + " " + to_line(s, *c));
    try {
      const Plan plan(*c, s);
      const std::string code = emit_c(plan, {});
      const auto expect = [&](const std::string& part) {
        EXPECT_NE(code.find(part), code.npos) << part;
      };
      for (TensorId t : all_tensors) {
        expect(fmt::format("{0} = allocate({1}, sizeof({2}))", to_text(t),
                           text_of(wide_size(*c, t)),
                           c->type() == ElementType::f64 ? "double" : "float"));
      }
      Wide place = 0;
      const Wide page = 4096 / wide_element(*c);
      for (TensorId t : {TensorId::A, TensorId::B}) {
        if (!plan.pack(t)) continue;
        expect(place == 0 ? fmt::format("packed_{} = work;", to_text(t))
                          : fmt::format("packed_{} = work + {};", to_text(t), text_of(place)));
        place += wide_round_up(Wide(plan.pack(t)->capacity), page);
      }
      for (DimClass g : all_dim_classes) {
        if (!s.groups[g].empty())
          expect(fmt::format("below {}\n", text_of(wide_extent(*c, s.groups[g]))));
      }
      EXPECT_FALSE(names_a_negative_size(code));
      ++right;
    } catch (const UnsupportedError& e) {
      EXPECT_TRUE(says_too_large(e.what())) << e.what();
      ++refused;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(right, 100);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace tcsim::test
