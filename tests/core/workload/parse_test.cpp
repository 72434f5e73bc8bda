#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim {
namespace {

using test::message_of;

Contraction parse(std::string_view label, std::string_view sizes,
                  Layout layout = Layout::row_major) {
  return parse_contraction(label, parse_sizes(sizes), layout, ElementType::f64);
}

std::string error_of(std::string_view label, std::string_view sizes) {
  return message_of<UsageError>([&] { parse(label, sizes); });
}

std::string names(const Contraction& c, const std::vector<DimId>& dims) {
  std::string s;
  for (DimId d : dims) s += c.dim(d).name;
  return s;
}

constexpr const char* six = "a=2,b=3,c=4,d=5,e=6,f=7";

TEST(Parse_contraction, Tccg_label_has_the_output_first) {
  const Contraction c = parse("abcd-aebf-dfce", six);
  EXPECT_EQ(names(c, c.dims_of(TensorId::C)), "abcd");
  EXPECT_EQ(names(c, c.dims_of(TensorId::A)), "aebf");
  EXPECT_EQ(names(c, c.dims_of(TensorId::B)), "dfce");
  EXPECT_EQ(c.name(), "abcd-aebf-dfce");
  EXPECT_EQ(c.label(), "abcd-aebf-dfce");
}

TEST(Parse_contraction, Einsum_label_has_the_output_last_and_means_the_same) {
  const Contraction c = parse("aebf,dfce->abcd", six);
  EXPECT_EQ(c.name(), "aebf,dfce->abcd");
  EXPECT_EQ(c.label(), "abcd-aebf-dfce");
}

TEST(Parse_contraction, Dimensions_are_in_alphabetical_order) {
  const Contraction c = parse("zb-za-ab", "z=2,a=3,b=4");
  EXPECT_EQ(c.sizes(), "a=3,b=4,z=2");
}

TEST(Parse_contraction, Classes_follow_from_the_tensors_that_a_dimension_indexes) {
  // h is in all three; a and b are in A and C, c in B and C, e and f in A and B.
  const Contraction c = parse("habc-faehb-hecf", "a=2,b=3,c=4,e=5,f=6,h=7");
  EXPECT_EQ(names(c, c.dims_of(DimClass::m)), "ab");
  EXPECT_EQ(names(c, c.dims_of(DimClass::n)), "c");
  EXPECT_EQ(names(c, c.dims_of(DimClass::k)), "fe");  // the order of A
  EXPECT_EQ(names(c, c.dims_of(DimClass::batch)), "h");
  EXPECT_EQ(c.extent(DimClass::k), Elements(30));
  EXPECT_EQ(c.size(TensorId::A), Elements(6 * 2 * 5 * 7 * 3));
  EXPECT_EQ(c.flops(), 2.0 * 2 * 3 * 4 * 5 * 6 * 7);
}

TEST(Parse_contraction, Strides_follow_the_layout) {
  const Contraction row = parse("ab-ac-cb", "a=2,b=3,c=5");
  EXPECT_EQ(row.stride(TensorId::A, DimId{0}), Elements(5));  // A[a][c]: c runs fastest
  EXPECT_EQ(row.stride(TensorId::A, DimId{2}), Elements(1));
  EXPECT_EQ(row.stride(TensorId::A, DimId{1}), Elements(0));  // b does not index A
  EXPECT_EQ(names(row, row.memory_order(TensorId::A)), "ca");
  const Contraction column = parse("ab-ac-cb", "a=2,b=3,c=5", Layout::column_major);
  EXPECT_EQ(column.stride(TensorId::A, DimId{0}), Elements(1));
  EXPECT_EQ(column.stride(TensorId::A, DimId{2}), Elements(2));
  EXPECT_EQ(names(column, column.memory_order(TensorId::A)), "ac");
}

TEST(Parse_contraction, Full_reduction_has_a_scalar_output) {
  for (const char* label : {"ab,ab->", "-ab-ab"}) {
    const Contraction c = parse(label, "a=3,b=4");
    EXPECT_EQ(c.size(TensorId::C), Elements(1)) << label;
    EXPECT_EQ(names(c, c.dims_of(DimClass::k)), "ab") << label;
    EXPECT_EQ(c.label(), "-ab-ab") << label;
  }
}

TEST(Parse_contraction, Outer_product_sums_over_nothing) {
  const Contraction c = parse("a,b->ab", "a=3,b=4");
  EXPECT_TRUE(c.dims_of(DimClass::k).empty());
  EXPECT_EQ(c.extent(DimClass::k), Elements(1));
}

TEST(Parse_contraction, Upper_and_lower_case_letters_are_different_indices) {
  const Contraction c = parse("aA-aB-BA", "A=2,B=3,a=4");
  EXPECT_EQ(c.dim_count(), 3);
  EXPECT_EQ(c.size(TensorId::C), Elements(8));
}

struct BadLabel {
  const char* label;
  const char* sizes;
  const char* message;  // begins what() of the error
};

TEST(Parse_contraction, Reports_a_bad_label_with_its_column) {
  const std::vector<BadLabel> cases{
      // e and x stand alone; the later one is reported.
      {"abcd-aebf-dfcx", "a=2",
       "\"abcd-aebf-dfcx\" column 14: index 'x' is in one tensor only; add it to another "
       "tensor or take it out, or is it 'e', which is in one tensor only too?"},
      {"abx-ac-cb", "a=2",
       "\"abx-ac-cb\" column 3: index 'x' is in one tensor only; add it to another "
       "tensor or take it out"},
      {"ab-a1-1b", "a=2", "\"ab-a1-1b\" column 5: '1' cannot be an index"},
      {"ab,bc ->ac", "a=2", "\"ab,bc ->ac\" column 6: ' ' cannot be an index"},
      {"ab-ab", "a=2",
       "\"ab-ab\" column 6: '-' expected after tensor 2 of 3, found the end; write"},
      {"ab-ac-cb-d", "a=2", "\"ab-ac-cb-d\" column 9: '-' after the last of 3 tensors"},
      {"ab->ab", "a=2", "\"ab->ab\" column 3: ',' expected after tensor 1 of 3, found '-'"},
      {"ab,bc", "a=2", "\"ab,bc\" column 6: '->' expected after tensor 2 of 3, found the end"},
      {"ab,bc,ca->a", "a=2",
       "\"ab,bc,ca->a\" column 6: '->' expected after tensor 2 of 3, found ','"},
      {"", "a=2", "\"\" column 1: '-' expected after tensor 1 of 3, found the end"},
      {"ab--ab", "a=2", "\"ab--ab\" column 4: A has no index"},
      {"ab,->ab", "a=2", "\"ab,->ab\" column 4: B has no index"},
      {"ab-aca-cb", "a=2", "\"ab-aca-cb\" column 6: index 'a' is repeated in A"},
      {"aba-ac-cb", "a=2", "\"aba-ac-cb\" column 3: index 'a' is repeated in C"},
      {"ab-ac-cb", "a=2,b=2", "\"ab-ac-cb\" column 5: index 'c' has no size; add c=SIZE"},
      {"ab-ac-cb", "a=2,b=2,c=2,x=9",
       "\"ab-ac-cb\": 'x' has a size but is not an index; take out x=9"}};
  for (const BadLabel& c : cases) {
    SCOPED_TRACE(c.label);
    const std::string error = error_of(c.label, c.sizes);
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

TEST(Parse_sizes, Reads_each_index_once) {
  EXPECT_EQ(parse_sizes("b=72,a=1,Z=9223372036854775807"),
            (Sizes{{'a', 1}, {'b', 72}, {'Z', 9223372036854775807}}));
}

TEST(Parse_sizes, Takes_blanks_around_every_part) {
  EXPECT_EQ(parse_sizes(" a = 72,\tb =3 "), (Sizes{{'a', 72}, {'b', 3}}));
}

struct BadSizes {
  const char* text;
  const char* message;
};

TEST(Parse_sizes, Reports_bad_sizes_with_their_column) {
  const std::vector<BadSizes> cases{
      {"", "\"\" column 1: index expected"},
      {"a=72,", "\"a=72,\" column 6: index expected"},
      {"a=72, ,b=3", "\"a=72, ,b=3\" column 7: index expected"},
      {"a = 7 2", "\"a = 7 2\" column 5: the size of 'a' is \"7 2\", not a whole number"},
      {"a b=3", "\"a b=3\" column 3: '=' expected after 'a'"},
      {"a72", "\"a72\" column 2: '=' expected after 'a'"},
      {"a", "\"a\" column 2: '=' expected after 'a'"},
      {"a=2,b=", "\"a=2,b=\" column 7: the size of 'b' is \"\", not a whole number"},
      {"a=2.5", "\"a=2.5\" column 3: the size of 'a' is \"2.5\", not a whole number"},
      {"a=0", "\"a=0\" column 3: the size of 'a' is 0; a size is at least 1"},
      {"a=-3", "\"a=-3\" column 3: the size of 'a' is -3; a size is at least 1"},
      {"a=9223372036854775808",
       "\"a=9223372036854775808\" column 3: the size of 'a' is 2^63 or more"},
      {"a=-9223372036854775809",
       "\"a=-9223372036854775809\" column 3: the size of 'a' is -9223372036854775809"},
      {"a=1,b=2,a=3", "\"a=1,b=2,a=3\" column 9: 'a' has a size already"}};
  for (const BadSizes& c : cases) {
    SCOPED_TRACE(c.text);
    const std::string error = message_of<UsageError>([&] { parse_sizes(c.text); });
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

TEST(Contraction, Refuses_tensors_of_two_to_the_62_bytes) {
  // 2^20 x 2^20 x 2^19 elements of 8 bytes are 2^62 bytes.
  const std::string error = error_of("ab-abc-c", "a=1048576,b=1048576,c=524288");
  EXPECT_EQ(error, "ab-abc-c: tensor A has 2^62 bytes or more; use smaller sizes");
  EXPECT_NO_THROW(parse("ab-abc-c", "a=1048576,b=1048576,c=524287"));
}

TEST(Contraction, Checks_again_what_the_parser_checks) {
  const auto make = [](std::int64_t extent, std::vector<DimId> a, std::vector<DimId> b) {
    return message_of<UsageError>([&] {
      Contraction("x", {{'a', extent}}, {std::move(a), std::move(b), {}}, Layout::row_major,
                  ElementType::f64);
    });
  };
  const DimId a{0};
  EXPECT_EQ(make(3, {a}, {a}), "(no error)");
  EXPECT_EQ(make(0, {a}, {a}).rfind("x: size of index 'a' is 0", 0), 0U);
  EXPECT_EQ(make(3, {a, a}, {a}).rfind("x: index 'a' is repeated in A", 0), 0U);
  EXPECT_EQ(make(3, {a}, {}).rfind("x: index 'a' is in one tensor only", 0), 0U);
}

TEST(Parse_contraction, Label_and_sizes_of_any_contraction_read_back) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random random(seed);
    const Contraction c = test::random_contraction(random);
    const Contraction again = parse(c.label(), c.sizes(), c.layout());
    EXPECT_EQ(again.label(), c.label());
    EXPECT_EQ(again.sizes(), c.sizes());
    for (TensorId t : all_tensors) EXPECT_EQ(again.dims_of(t), c.dims_of(t));
  }
}

// Row-major A[i][k][l] with l = 1: neighbours lie along k.
TEST(Contraction, Fastest_dimension_is_one_along_which_there_are_neighbours) {
  const Contraction c = parse_contraction("ijl-ikl-kj", {{'i', 4}, {'j', 3}, {'k', 5}, {'l', 1}},
                                          Layout::row_major, ElementType::f64);
  ASSERT_TRUE(c.fastest(TensorId::A));
  EXPECT_EQ(c.dim(*c.fastest(TensorId::A)).name, 'k');
  const Contraction one =
      parse_contraction("i-ik-k", {{'i', 1}, {'k', 1}}, Layout::row_major, ElementType::f64);
  EXPECT_FALSE(one.fastest(TensorId::A));
}

}  // namespace
}  // namespace tcsim
