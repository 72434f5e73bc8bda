// The rules of programs, and the programs that are contractions.
#include "core/workload/program.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "core/error.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/suite.hpp"
#include "tests/core/random_program.hpp"

namespace tcsim {
namespace {

using test::message_of;
using test::Random;

constexpr const char* conv_text =
    "program conv\n"
    "dims h=56 w=56 f=64 c=64 r=3 s=3\n"
    "f64 input I[64, 58, 58]\n"
    "f64 input W[64, 64, 3, 3] column-major\n"
    "f64 output O[64, 56, 56] order 0 2 1\n"
    "O[f, h, w] += I[c, h + r, w + s] * W[f, c, r, s]\n";

// Two products, the first of which is kept for the second.
constexpr const char* chain_text =
    "program chain\n"
    "dims i=4 j=5 k=6 l=7\n"
    "f64 input A[i, k]\n"
    "f64 input B[k, j]\n"
    "f64 intermediate T[i, j]\n"
    "f64 input D[j, l]\n"
    "f64 output E[i, l]\n"
    "T[i, j] += A[i, k] * B[k, j]\n"
    "E[i, l] += T[i, j] * D[j, l]\n";

constexpr const char* product_text =
    "program mm\n"
    "dims i=4 j=5 k=6\n"
    "f64 input A[i, k]\n"
    "f64 input B[k, j]\n"
    "f64 output C[i, j]\n"
    "C[i, j] += A[i, k] * B[k, j]\n";

Program parsed(std::string_view text) { return parse_program(text, "x"); }

std::vector<std::int64_t> values(const std::vector<Elements>& all) {
  std::vector<std::int64_t> v;
  for (Elements e : all) v.push_back(e.value());
  return v;
}

TEST(Program, Strides_follow_the_memory_order) {
  const Program conv = parsed(conv_text);
  EXPECT_EQ(values(strides(conv.tensors()[0])), (std::vector<std::int64_t>{58 * 58, 58, 1}));
  EXPECT_EQ(values(strides(conv.tensors()[1])),
            (std::vector<std::int64_t>{1, 64, 64 * 64, 64 * 64 * 3}));
  // Order 0 2 1: f has stride one, then w, then h.
  EXPECT_EQ(values(strides(conv.tensors()[2])), (std::vector<std::int64_t>{1, 64 * 56, 64}));
  EXPECT_EQ(size(conv.tensors()[2]), Elements(64 * 56 * 56));
}

TEST(Program, Terms_are_in_the_order_of_the_dimensions) {
  const Program conv = parsed(conv_text);
  std::string text = conv_text;
  text.replace(text.find("h + r"), 5, "r + h");
  EXPECT_EQ(parsed(text), conv);
}

TEST(Program, Says_what_an_access_is) {
  const Program conv = parsed(conv_text);
  const Program::Access& image = conv.statements()[0].in[0];
  EXPECT_EQ(to_text(conv, image), "I[c, h + r, w + s]");
  EXPECT_EQ(to_text(conv, image.axes[1]), "h + r");
}

TEST(Program, Elements_can_be_replaced) {
  const Program chain = parsed(chain_text), single = with_type(chain, ElementType::f32);
  for (const Program::Tensor& t : single.tensors()) EXPECT_EQ(t.type, ElementType::f32);
  EXPECT_EQ(with_type(single, ElementType::f64), chain);
  // 2^59 elements of 4 bytes, but not of 8.
  const Program large =
      parsed("program x dims i=576460752303423488\nf32 input A[i]\nf32 output s[]\ns[] += A[i]\n");
  EXPECT_EQ(message_of<UsageError>([&] { with_type(large, ElementType::f64); }),
            "x: tensor A has 2^62 bytes or more; use smaller extents");
}

TEST(Identifier, Is_a_letter_then_letters_digits_and_underscores) {
  for (const char* good : {"h", "H2", "x_y", "inputs", "dim"}) {
    EXPECT_TRUE(is_identifier(good)) << good;
  }
  EXPECT_TRUE(is_identifier(std::string(64, 'a')));
  EXPECT_FALSE(is_identifier(std::string(65, 'a')));
  for (const char* bad : {"", "2", "_x", "x-y", "é", "x y", "f64", "dims", "row-major"}) {
    EXPECT_FALSE(is_identifier(bad)) << bad;
  }
}

struct Broken {
  const char* of;  // the text whose parts are changed
  std::function<void(Program::Parts&)> change;
  const char* message;  // begins what() of the error
  std::string where;    // of the fault: what its indices name
};

std::string where(const Program::Fault& f) {
  std::string text;
  const auto add = [&](const char* what, int i) {
    if (i >= 0) text += (text.empty() ? "" : " ") + std::string(what) + " " + std::to_string(i);
  };
  add("dim", f.dim), add("tensor", f.tensor), add("statement", f.statement);
  add("access", f.access), add("axis", f.axis);
  return text;
}

TEST(Program, Refuses_what_breaks_a_rule) {
  using Parts = Program::Parts;
  using Role = Program::Role;
  const std::int64_t huge = std::int64_t{1} << 61;
  const std::vector<Broken> cases{
      {product_text, [](Parts& p) { p.name = ""; }, "the program's name is empty", ""},
      {product_text, [](Parts& p) { p.name = "a\nb"; },
       "a\nb: the program's name has a control character (U+000A) at byte 2", ""},
      {product_text, [](Parts& p) { p.name = "\xff"; }, "\xff: the program's name is not UTF-8",
       ""},
      {product_text, [](Parts& p) { p.statements.clear(); }, "mm: there is no statement; add", ""},
      {product_text,
       [](Parts& p) {
         p.dims.resize(65, {"z", 1});
       },
       "mm: there are more than 64 dimensions", ""},
      {product_text, [](Parts& p) { p.tensors.resize(65); }, "mm: there are more than 64 tensors",
       ""},
      {product_text, [](Parts& p) { p.statements.resize(65); },
       "mm: there are more than 64 statements", ""},
      {product_text, [](Parts& p) { p.dims[1].name = "2j"; },
       "mm: a dimension cannot be named \"2j\"", "dim 1"},
      {product_text, [](Parts& p) { p.dims[2].name = "i"; }, "mm: there is a dimension 'i' already",
       "dim 2"},
      {product_text, [](Parts& p) { p.dims[0].extent = 0; }, "mm: the extent of 'i' is 0", "dim 0"},
      {product_text, [](Parts& p) { p.tensors[1].name = "output"; },
       "mm: a tensor cannot be named \"output\"", "tensor 1"},
      {product_text, [](Parts& p) { p.tensors[1].name = "A"; }, "mm: there is a tensor 'A' already",
       "tensor 1"},
      {product_text, [](Parts& p) { p.tensors[0].extents[0] = -4; },
       "mm: tensor A has an extent of -4", "tensor 0"},
      {product_text,
       [&](Parts& p) {
         p.tensors[0].extents = {huge, huge};
       },
       "mm: tensor A has 2^62 bytes or more", "tensor 0"},
      {product_text, [](Parts& p) { p.tensors[0].extents.resize(65, 1); },
       "mm: there are more than 64 axes", "tensor 0"},
      {product_text,
       [](Parts& p) {
         p.tensors[2].order = {1, 1};
       },
       "mm: the order of tensor C does not name each of its 2 axes once", "tensor 2"},
      {product_text, [](Parts& p) { p.tensors[2].order = {1}; },
       "mm: the order of tensor C does not name each of its 2 axes once", "tensor 2"},
      {product_text, [](Parts& p) { p.statements[0].in.clear(); },
       "mm: a statement reads 0 tensors", "statement 0"},
      {product_text, [](Parts& p) { p.statements[0].in.resize(3); },
       "mm: a statement reads 3 tensors", "statement 0"},
      {product_text, [](Parts& p) { p.statements[0].in[1].tensor = TensorIndex{3}; },
       "mm: an access is of no tensor", "statement 0 access 2"},
      {product_text, [](Parts& p) { p.statements[0].in[0].axes.pop_back(); },
       "mm: tensor A has 2 axes and is indexed by 1", "statement 0 access 1"},
      {product_text, [](Parts& p) { p.statements[0].in[0].axes[1].terms.clear(); },
       "mm: an axis of tensor A has no dimension", "statement 0 access 1 axis 1"},
      {product_text, [](Parts& p) { p.statements[0].in[0].axes[1].terms[0].dim = DimId{-1}; },
       "mm: a term is of no dimension", "statement 0 access 1 axis 1"},
      {product_text, [](Parts& p) { p.statements[0].in[0].axes[1].terms[0].coefficient = 0; },
       "mm: the coefficient of 'k' is 0", "statement 0 access 1 axis 1"},
      {product_text,
       [](Parts& p) {
         p.statements[0].in[0].axes[1].terms.assign(2, {DimId{0}, 1});
       },
       "mm: 'i' is twice in one sum; write 2*i for i + i", "statement 0 access 1 axis 1"},
      {conv_text, [](Parts& p) { p.tensors[0].extents[2] = 57; },
       "conv: the axis of tensor I has 57 places, and its index goes to 57, counted from 0; give "
       "the axis 58 places",
       "statement 0 access 1 axis 2"},
      {product_text, [](Parts& p) { p.tensors[2].role = Role::input; },
       "mm: tensor C is an input and is written", "statement 0 access 0"},
      {product_text, [](Parts& p) { p.tensors[0].role = Role::output; },
       "mm: tensor A is an output and is read", "statement 0 access 1"},
      {product_text, [](Parts& p) { p.tensors[0].role = Role::intermediate; },
       "mm: intermediate A is read before a statement has written it", "statement 0 access 1"},
      {conv_text,
       [](Parts& p) {
         p.statements[0].out.axes[1].terms.push_back({DimId{4}, 1});
         p.tensors[2].extents[1] = 58;
       },
       "conv: tensor O is written, and its axis is no single dimension",
       "statement 0 access 0 axis 1"},
      {product_text,
       [](Parts& p) {
         p.statements[0].out.axes[1].terms[0].coefficient = 2;
         p.tensors[2].extents[1] = 9;
       },
       "mm: tensor C is written, and its axis is no single dimension",
       "statement 0 access 0 axis 1"},
      {product_text, [](Parts& p) { p.statements[0].out.axes[1] = p.statements[0].out.axes[0]; },
       "mm: tensor C is written along a diagonal, twice 'i'", "statement 0 access 0 axis 1"},
      {chain_text, [](Parts& p) { p.tensors[2].extents[1] = 6; },
       "chain: intermediate T has 6 places along 'j', of which 5 are written",
       "statement 0 access 0 axis 1"},
      {chain_text, [](Parts& p) { p.statements.push_back(p.statements[0]); },
       "chain: intermediate T is written by two statements", "statement 2 access 0"},
      {chain_text, [](Parts& p) { p.statements.push_back(p.statements[1]); },
       "chain: intermediate T is read twice", "statement 2 access 1"},
      {chain_text, [](Parts& p) { p.statements[1].in[1] = p.statements[1].in[0]; },
       "chain: intermediate T is read twice", "statement 1 access 2"},
      {chain_text, [](Parts& p) { std::swap(p.statements[0], p.statements[1]); },
       "chain: intermediate T is read before a statement has written it", "statement 0 access 1"},
      {chain_text, [](Parts& p) { p.statements[0].in[0] = p.statements[0].out; },
       "chain: intermediate T is read before a statement has written it", "statement 0 access 1"},
      {chain_text, [](Parts& p) { p.statements.pop_back(); }, "chain: intermediate T is never read",
       "tensor 2"},
      {product_text,
       [](Parts& p) {
         p.tensors.push_back({"X", {}, {}, ElementType::f64, Role::input});
       },
       "mm: input X is never read", "tensor 3"},
      {product_text,
       [](Parts& p) {
         p.tensors.push_back({"X", {}, {}, ElementType::f64, Role::output});
       },
       "mm: output X is never written", "tensor 3"},
      {product_text,
       [](Parts& p) {
         p.dims.push_back({"z", 3});
       },
       "mm: dimension 'z' is in no statement", "dim 3"}};
  for (const Broken& c : cases) {
    SCOPED_TRACE(c.message);
    Program::Parts parts = parsed(c.of).parts();
    c.change(parts);
    const std::string error = message_of<UsageError>([&] { Program p(parts); });
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
    const auto fault = Program::fault_of(parts);
    ASSERT_TRUE(fault);
    EXPECT_EQ(where(*fault), c.where);
  }
}

TEST(Program, Accepts_what_the_rules_allow) {
  // No dimension at all.
  EXPECT_NO_THROW(parsed("program x dims f64 input A[] f64 output s[] s[] += A[]"));
  // The sum of two products; an output longer than what is written; an input read twice; one that
  // is broadcast.
  EXPECT_NO_THROW(
      parsed("program x dims i=3 j=4 k=2\nf64 input A[i, k]\nf64 input b[j]\nf64 output C[9, j]\n"
             "C[i, j] += A[i, k] * b[j]\nC[i, j] += b[j]\nC[i, j] += A[i, k] * b[j]\n"));
  EXPECT_NO_THROW(
      parsed("program x dims i=3 j=3 k=2\nf64 input A[i, k]\nf64 output C[i, j]\n"
             "C[i, j] += A[i, k] * A[j, k]\n"));
}

// Against whole numbers of 128 bits: nothing wraps around.
TEST(Program, Is_right_or_refused_up_to_two_to_the_62) {
  int inside = 0, outside = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto any = [&](int bits) {
      const std::int64_t power = std::int64_t{1} << random.between(0, bits);
      return std::max<std::int64_t>(1, power + random.between(-2, 2));
    };
    Program::Parts p;
    p.name = "x";
    __extension__ typedef __int128 Wide;
    Wide reach = 0;
    Affine sum;
    for (int d = 0; d < random.between(1, 3); ++d) {
      p.dims.push_back({std::string(1, static_cast<char>('a' + d)), any(62)});
      sum.terms.push_back({DimId{d}, any(62)});
      reach += Wide{sum.terms.back().coefficient} * (p.dims.back().extent - 1);
    }
    // Often just enough, or one too few.
    const Wide near = reach + random.between(0, 2);
    const bool fits = near >= 1 && near < (Wide{1} << 61);
    const std::int64_t extent =
        fits && random.chance(70) ? static_cast<std::int64_t>(near) : any(61);
    const ElementType type = random.chance(50) ? ElementType::f64 : ElementType::f32;
    p.tensors.push_back({"A", {extent}, {0}, type, Program::Role::input});
    p.tensors.push_back({"s", {}, {}, type, Program::Role::output});
    p.statements.push_back({{TensorIndex{1}, {}}, {{TensorIndex{0}, {sum}}}});
    const bool countable = std::ranges::all_of(
        sum.terms, [](const Affine::Term& t) { return t.coefficient < std::int64_t{1} << 62; });
    const bool right =
        countable && reach < extent && Wide{extent} * size_of(type).value() < (Wide{1} << 62);
    ASSERT_EQ(!Program::fault_of(p), right);
    (right ? inside : outside)++;
  }
  EXPECT_GT(inside, 1000);
  EXPECT_GT(outside, 1000);
}

void expect_equal(const Contraction& a, const Contraction& b) {
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.label(), b.label());
  EXPECT_EQ(a.sizes(), b.sizes());
  EXPECT_EQ(a.layout(), b.layout());
  EXPECT_EQ(a.type(), b.type());
  EXPECT_EQ(a.flops(), b.flops());
  ASSERT_EQ(a.dim_count(), b.dim_count());
  for (TensorId t : all_tensors) {
    EXPECT_EQ(a.dims_of(t), b.dims_of(t));
    EXPECT_EQ(a.size(t), b.size(t));
    EXPECT_EQ(a.memory_order(t), b.memory_order(t));
  }
  for (int i = 0; i < a.dim_count(); ++i) {
    const DimId d{i};
    EXPECT_EQ(a.dim_class(d), b.dim_class(d));
    for (TensorId t : all_tensors) EXPECT_EQ(a.stride(t, d), b.stride(t, d));
  }
}

// Of the program's tensors along the contraction's dimensions.
void expect_strides(const Program& p, const Contraction& c) {
  for (TensorId t : all_tensors) {
    const auto i = static_cast<std::size_t>(index(t));
    std::vector<std::int64_t> expected;
    for (DimId d : c.dims_of(t)) expected.push_back(c.stride(t, d).value());
    EXPECT_EQ(values(strides(p.tensors()[i])), expected);
    EXPECT_EQ(size(p.tensors()[i]), c.size(t));
  }
}

TEST(Contraction_view, Tccg_is_the_same_through_programs) {
  const Suite suite = find_suite("tccg");
  ASSERT_EQ(suite.workloads.size(), 36U);
  for (const Contraction& c : suite.workloads) {
    SCOPED_TRACE(c.name());
    const Program p = program_of(c);
    expect_strides(p, c);
    expect_equal(contraction_of(p), c);
    expect_equal(contraction_of(parsed(to_text(p))), c);
  }
}

TEST(Contraction_view, Any_label_is_the_same_through_programs) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Contraction c = test::random_contraction(random);
    const Program p = program_of(c);
    expect_strides(p, c);
    const bool told =
        std::ranges::any_of(all_tensors, [&](TensorId t) { return c.dims_of(t).size() > 1; });
    if (told) expect_equal(contraction_of(parsed(to_text(p))), c);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(Contraction_view, Is_row_major_where_no_tensor_tells) {
  const Contraction dot =
      parse_contraction("a,a->", {{'a', 4}}, Layout::column_major, ElementType::f64);
  EXPECT_EQ(contraction_of(program_of(dot)).layout(), Layout::row_major);
}

TEST(Contraction_view, Has_the_labels_dimensions_in_whatever_order_the_program_has_them) {
  const Contraction c = contraction_of(
      parsed("program \"abc-acd-db\"\ndims d=7 b=5 c=6 a=4\nf32 output Z[a, b, c] column-major\n"
             "f32 input Y[d, b] column-major\nf32 input X[a, c, d] column-major\n"
             "Z[a, b, c] += X[a, c, d] * Y[d, b]\n"));
  expect_equal(c, parse_contraction("abc-acd-db", parse_sizes("a=4,b=5,c=6,d=7"),
                                    Layout::column_major, ElementType::f32));
}

// A convolution's dimensions, strides and memory orders are the program's.
TEST(Contraction_view, Has_the_sums_strides_and_orders_of_the_program) {
  const Contraction c = contraction_of(parsed(conv_text));
  EXPECT_EQ(c.label(), "O[h,w,f] += I[c,h+r,w+s] * W[s,r,c,f]");
  EXPECT_EQ(c.sizes(), "c=64,f=64,h=56,r=3,s=3,w=56");
  EXPECT_EQ(c.layout(), Layout::mixed);
  EXPECT_FALSE(c.is_plain(TensorId::A));
  EXPECT_TRUE(c.is_plain(TensorId::B));
  EXPECT_TRUE(c.is_plain(TensorId::C));
  const auto stride = [&](TensorId t, char name) {
    int d = 0;
    while (c.dim(DimId{d}).name != name) ++d;
    return c.stride(t, DimId{d}).value();
  };
  EXPECT_EQ(stride(TensorId::A, 'h'), 58);
  EXPECT_EQ(stride(TensorId::A, 'r'), 58);
  EXPECT_EQ(stride(TensorId::A, 'w'), 1);
  EXPECT_EQ(stride(TensorId::A, 'c'), 58 * 58);
  EXPECT_EQ(stride(TensorId::A, 'f'), 0);
  EXPECT_EQ(stride(TensorId::C, 'h'), 64 * 56);
  EXPECT_EQ(stride(TensorId::C, 'f'), 1);
  EXPECT_EQ(c.size(TensorId::A), Elements(64 * 58 * 58));
  EXPECT_EQ(c.used(TensorId::A), 64 * 58 * 58);
  EXPECT_EQ(c.extent(DimClass::k), Elements(64 * 9));
  expect_equal(contraction_of(program_of(c)), c);
}

// Strides leave elements out: of 7 places 0, 1, 3, 4 and 6 are read by 3*x + r, r below 2.
TEST(Contraction_view, Counts_the_elements_that_are_used) {
  const Contraction c =
      contraction_of(parsed("program s dims k=2 x=3 r=2\nf64 input I[9]\nf64 input W[k, r]\n"
                            "f64 output O[k, x]\nO[k, x] += I[3*x + r] * W[k, r]\n"));
  EXPECT_EQ(c.used(TensorId::A), 6);
  EXPECT_EQ(c.size(TensorId::A), Elements(9));
  EXPECT_EQ(c.label(), "O[k,x] += I[3*x+r of 9] * W[k,r]");
}

struct NotYet {
  const char* from;  // what of the product is replaced
  const char* to;
  const char* problem;
};

// One of each reason.
TEST(Contraction_view, Says_in_one_error_what_is_missing) {
  const auto message = [](std::string_view text) {
    return message_of<UnsupportedError>([&] { contraction_of(parsed(text)); });
  };
  const std::string mend = " not done yet; one statement that multiplies two tensors is";
  EXPECT_EQ(message(chain_text), "chain: it has 2 statements: chains are" + mend);
  const std::vector<NotYet> cases{
      {" * B[k, j]", "", "A[i, k] alone is summed: statements of one input are"},
      {" * B[k, j]", " * A[i, k]", "tensor A is multiplied with itself: that is"},
      {"f64 output", "f32 output", "tensor A is f64 and C f32: two types are"},
      {"A[i, k] *", "A[i, i] *", "tensor A is indexed by i twice: diagonals are"},
      {"C[i, j]\n", "C[i, 8]\n",
       "tensor C has 8 places along j, which has 5: outputs of which a part is written are"},
      {"A[i, k] *", "A[] *", "tensor A has no axis: scalars as inputs are"},
      {"C[i, j] +=", "C[i] +=", "dimension j is in one tensor only: such dimensions are"}};
  for (const NotYet& c : cases) {
    SCOPED_TRACE(c.to);
    std::string text = product_text;
    text.replace(text.find(c.from), std::string_view(c.from).size(), c.to);
    // What follows from that in the declarations.
    const auto declare = [&](const char* from, const char* to) {
      text.replace(text.find(from), std::string_view(from).size(), to);
    };
    const std::string to = c.to;
    if (to.empty() || to == " * A[i, k]") declare("f64 input B[k, j]\n", "");
    if (to == "A[i, i] *") declare("A[i, k]\n", "A[i, i]\n");
    if (to == "A[] *") declare("A[i, k]\n", "A[]\n");
    if (to == "C[i] +=") declare("C[i, j]\n", "C[i]\n");
    EXPECT_EQ(message(text), "mm: " + std::string(c.problem) + mend);
  }
  EXPECT_EQ(message("program x dims a=2 b=3 row=4\nf64 input A[a, row]\nf64 input B[row, b]\n"
                    "f64 output C[a, b]\nC[a, b] += A[a, row] * B[row, b]\n"),
            "x: dimension row has a name of several letters: such names are" + mend);
  EXPECT_EQ(message("program x dims a=2 b=3 c=5 k=4\nf64 input A[a, 11]\nf64 input B[k, b]\n"
                    "f64 output C[a, b]\nC[a, b] += A[a, b + c + k] * B[k, b]\n"),
            "x: tensor A is indexed by b + c + k: sums of three dimensions are" + mend);
}

}  // namespace
}  // namespace tcsim
