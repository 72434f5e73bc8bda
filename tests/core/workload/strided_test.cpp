#include "core/workload/strided.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/workload/parse.hpp"

namespace tcsim {
namespace {

Contraction product() {
  return parse_contraction("ij-ik-kj", {{'i', 4}, {'j', 6}, {'k', 5}}, Layout::row_major,
                           ElementType::f64);
}

const Strided dense_a{{4, 5}, {5, 1}}, dense_b{{5, 6}, {6, 1}}, dense_c{{4, 6}, {6, 1}};

std::int64_t stride(const Contraction& c, TensorId t, char name) {
  for (int d = 0; d < c.dim_count(); ++d) {
    if (c.dim(DimId{d}).name == name) return c.stride(t, DimId{d}).value();
  }
  return -1;
}

std::string refusal(const Strided& a, const Strided& b, const Strided& c) {
  try {
    strided(product(), {a, b, c});
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Strided, Dense_tensors_stay_as_they_are) {
  const Contraction c = strided(product(), {dense_a, dense_b, dense_c});
  EXPECT_EQ(c.label(), product().label());
  EXPECT_EQ(c.layout(), Layout::row_major);
}

TEST(Strided, Strides_are_those_that_are_given) {
  // A transposed, B with padded rows, C a slice of a padded transposed array.
  const Contraction c =
      strided(product(), {Strided{{4, 5}, {1, 4}}, {{5, 6}, {9, 1}}, {{4, 6}, {1, 7}}});
  EXPECT_EQ(stride(c, TensorId::A, 'i'), 1);
  EXPECT_EQ(stride(c, TensorId::A, 'k'), 4);
  EXPECT_EQ(stride(c, TensorId::B, 'k'), 9);
  EXPECT_EQ(stride(c, TensorId::C, 'j'), 7);
  EXPECT_EQ(c.layout(), Layout::mixed);
}

TEST(Strided, Operands_may_leave_elements_out) {
  const Contraction c = strided(product(), {Strided{{4, 5}, {15, 3}}, dense_b, dense_c});
  EXPECT_EQ(stride(c, TensorId::A, 'k'), 3);
  EXPECT_EQ(stride(c, TensorId::A, 'i'), 15);
}

TEST(Strided, An_axis_of_one_element_lies_anywhere) {
  const Contraction one = parse_contraction("ij-ik-kj", {{'i', 4}, {'j', 1}, {'k', 5}},
                                            Layout::row_major, ElementType::f64);
  const Contraction c = strided(one, {dense_a, Strided{{5, 1}, {2, 0}}, Strided{{4, 1}, {3, 99}}});
  EXPECT_EQ(stride(c, TensorId::B, 'k'), 2);
  EXPECT_EQ(stride(c, TensorId::C, 'i'), 3);
}

TEST(Strided, What_no_executor_takes_is_refused_with_a_sentence) {
  const auto says = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos && text.find("dense array") != std::string::npos;
  };
  EXPECT_TRUE(says(refusal({{4, 5}, {5, -1}}, dense_b, dense_c), "backward along axis 1"));
  EXPECT_TRUE(says(refusal({{4, 5}, {0, 1}}, dense_b, dense_c), "repeats"));
  EXPECT_TRUE(says(refusal({{4, 5}, {3, 1}}, dense_b, dense_c), "no whole number"));
  EXPECT_TRUE(says(refusal({{4, 5}, {7, 3}}, dense_b, dense_c), "no whole number"));
  EXPECT_TRUE(says(refusal(dense_a, dense_b, {{4, 6}, {12, 2}}), "2 elements apart"));
  EXPECT_NE(refusal({{4, 6}, {6, 1}}, dense_b, dense_c).find("shape (4, 6)"), std::string::npos);
}

}  // namespace
}  // namespace tcsim
