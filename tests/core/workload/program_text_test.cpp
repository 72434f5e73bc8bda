// The text form of programs: what it means, that it reads back, and what is said of other texts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/workload/program.hpp"
#include "core/workload/request.hpp"
#include "tests/core/damaged.hpp"
#include "tests/core/random_program.hpp"
#include "tests/scratch.hpp"

namespace tcsim {
namespace {

using test::message_of;
using test::Random;

constexpr const char* canonical_conv =
    "program conv\n"
    "dims h=56 w=56 f=64 c=64 r=3 s=3\n"
    "f64 input I[64, 113, 58]\n"
    "f32 input W[64, 64, 3, 3] column-major\n"
    "f64 output O[64, 56, 56] order 2 0 1\n"
    "O[f, h, w] += I[c, 2*h + r, w + s] * W[f, c, r, s]\n";

// The same program as its parts.
Program conv() {
  using Role = Program::Role;
  enum { h, w, f, c, r, s };
  const auto one = [](int d) { return Affine{{{DimId{d}, 1}}}; };
  Program::Parts p;
  p.name = "conv";
  p.dims = {{"h", 56}, {"w", 56}, {"f", 64}, {"c", 64}, {"r", 3}, {"s", 3}};
  p.tensors = {{"I", {64, 113, 58}, {2, 1, 0}, ElementType::f64, Role::input},
               {"W", {64, 64, 3, 3}, {0, 1, 2, 3}, ElementType::f32, Role::input},
               {"O", {64, 56, 56}, {2, 0, 1}, ElementType::f64, Role::output}};
  const Affine rows{{{DimId{h}, 2}, {DimId{r}, 1}}}, columns{{{DimId{w}, 1}, {DimId{s}, 1}}};
  p.statements = {{{TensorIndex{2}, {one(f), one(h), one(w)}},
                   {{TensorIndex{0}, {one(c), rows, columns}},
                    {TensorIndex{1}, {one(f), one(c), one(r), one(s)}}}}};
  return Program(p);
}

TEST(Program_text, Is_what_the_parts_say) {
  EXPECT_EQ(to_text(conv()), canonical_conv);
  EXPECT_EQ(parse_program(canonical_conv, "x"), conv());
}

TEST(Program_text, Prints_canonically) {
  const char* loose =
      "# a layer\r\nprogram conv dims h=56 w = 56 f=64\n c=64 r=3 s=3 # six\n"
      "f64 input I[c,113,58] row-major f32 input W[ f, c, r, s ] order 0 1 2 3\n"
      "f64 output O[f,h,w]order 2 0 1 O[f,h,w]+=I[1*c,r+2*h,s+w]*W[f,c,r,s]";
  EXPECT_EQ(to_text(parse_program(loose, "x")), canonical_conv);
}

TEST(Program_text, Orders_of_one_axis_are_all_the_same) {
  for (const char* order : {"", "row-major", "column-major", "order 0"}) {
    const Program p = parse_program(
        "program x dims i=3 f64 input A[i] " + std::string(order) + " f64 output s[] s[] += A[i]",
        "x");
    EXPECT_EQ(to_text(p), "program x\ndims i=3\nf64 input A[3]\nf64 output s[]\ns[] += A[i]\n");
  }
}

TEST(Program_text, Names_may_be_in_quotes) {
  const std::string rest = "\ndims\nf64 input A[]\nf64 output s[]\ns[] += A[]\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"\"tccg:8\"", "tccg:8"}, {"\"a \\\"b\\\" \\\\\"", "a \"b\" \\"},
      {"\"dims\"", "dims"},     {"\"#\"", "#"},
      {"\"\u00e9\"", "\u00e9"}, {"x_1", "x_1"}};
  for (const auto& [written, name] : cases) {
    const std::string text = "program " + written + rest;
    const Program p = parse_program(text, "x");
    EXPECT_EQ(p.name(), name);
    EXPECT_EQ(to_text(p), text);
  }
  EXPECT_EQ(to_text(parse_program("program \"x\"" + rest, "x")), "program x" + rest);
}

struct BadProgram {
  const char* text;
  const char* message;  // begins what() of the error
};

TEST(Program_text, Errors_have_line_and_column) {
  const std::vector<BadProgram> cases{
      {"", "p:1:1: 'program' expected, found the end; a program begins with its name"},
      {"# nothing\n", "p:2:1: 'program' expected, found the end"},
      {"program", "p:1:8: the program's name expected, found the end"},
      {"program dims i=3", "p:1:9: the program's name expected, found 'dims'"},
      {"program 3x dims", "p:1:9: the program's name expected, found '3x'"},
      {"program \"x dims\nf64", "p:1:9: the name has no end; end it with \""},
      {"program \"x\\\"", "p:1:9: the name has no end"},
      {"program \"x\\", "p:1:9: '\\' is followed by neither"},
      {"program \"\\n\" dims", "p:1:9: '\\' is followed by neither"},
      {"program \"\" dims i=3", "p:1:9: the program's name is empty"},
      {"program \"\xff\" dims i=3", "p:1:9: the program's name is not UTF-8 at byte 1"},
      {"program x i=3", "p:1:11: 'dims' expected, found 'i'"},
      {"program x dims i", "p:1:17: '=' expected, found the end; write dimensions as"},
      {"program x dims i=", "p:1:18: an extent expected, found the end"},
      {"program x dims i=3.5", "p:1:19: a dimension or a tensor expected, found '.'"},
      {"program x dims i=-3", "p:1:18: an extent expected, found '-'"},
      {"program x dims i=0", "p:1:18: 0 is not between 1 and 2^62 - 1"},
      {"program x dims i=4611686018427387904", "p:1:18: 4611686018427387904 is not between"},
      {"program x dims i=99999999999999999999", "p:1:18: 99999999999999999999 is not between"},
      {"program x dims i=3 i=4 f64 input A[i] s[] += A[i]", "p:1:39: there is no tensor 's'"},
      {"program x dims i=3 j\nA[i] += B[i]", "p:2:1: '=' expected, found 'A'"},
      {"program x dims h-w=3", "p:1:16: a dimension or a tensor expected, found 'h-w'"},
      {"program x dims i=3 f64 in A[i]", "p:1:24: input, output or intermediate expected, found"},
      {"program x dims i=3 f64 input f32[i]", "p:1:30: the tensor's name expected, found 'f32'"},
      {"program x dims i=3 f64 input A(i)", "p:1:31: '[' expected, found '('; write a tensor"},
      {"program x dims i=3 f64 input A[i i]", "p:1:34: ',' expected, found 'i'"},
      {"program x dims i=3 f64 input A[i,]", "p:1:34: an extent expected, found ']'"},
      {"program x dims i=3 f64 input A[j]", "p:1:32: there is no dimension 'j'; give a number"},
      {"program x dims i=3 f64 input A[i+1]", "p:1:33: ',' expected, found '+'"},
      {"program x dims i=3 f64 input A[", "p:1:32: an extent expected, found the end"},
      {"program x dims i=3 f64 input A[i,i] order 0", "p:1:37: there are 2 axes, and 1 in the"},
      {"program x dims i=3 f64 input A[i,i] order 0 2", "p:1:45: there are 2 axes, and this is"},
      {"program x dims i=3 f64 input A[i,i] order 0 1 0", "p:1:47: there are 2 axes; give each"},
      {"program x dims i=3 f64 input A[i,i] order 0 0 f64 output s[] s[] += A[i,i]",
       "p:1:30: the order of tensor A does not name each of its 2 axes once"},
      {"program x dims i=3 f64 input A[i] 3", "p:1:35: a tensor expected, found '3'; write a sta"},
      {"program x dims i=3 f64 input A[i] s[]", "p:1:35: there is no tensor 's'; declare it"},
      {"program x dims i=3 f64 output s[] s[] = 0", "p:1:39: '+=' expected, found '='"},
      {"program x dims i=3 f64 output s[] s[] +=", "p:1:41: a tensor expected, found the end"},
      {"program x dims i=3 f64 input A[i] A[i+]", "p:1:39: a dimension expected, found ']'"},
      {"program x dims i=3 f64 input A[i] A[i+1]", "p:1:40: '*' expected, found ']'; write an"},
      {"program x dims i=3 f64 input A[i] A[2i]", "p:1:37: a coefficient expected, found '2i'"},
      {"program x dims i=3 f64 input A[i] A[i*2]", "p:1:38: ',' expected, found '*'; write an"},
      {"program x dims i=3 f64 input A[i] A[0*i]", "p:1:37: 0 is not between 1 and 2^62 - 1"},
      {"program x dims i=3 f64 input A[i] A[i-1]", "p:1:37: a dimension expected, found 'i-1'"},
      {"program x dims i=3 f64 input A[i] A[j]", "p:1:37: there is no dimension 'j'; declare it"},
      {"program x dims i=3 f64 input A[i] A[]", "p:1:38: '+=' expected, found the end"},
      // The rules, shown where they are broken.
      {"program x\ndims i=3\nf64 input A[i]\nf64 output s[]\ns[] += A[i + i]",
       "p:5:10: 'i' is twice in one sum; write 2*i for i + i"},
      {"program x\ndims i=3\nf64 input A[i]\nf64 output s[]\ns[] += A[2*i]",
       "p:5:10: the axis of tensor A has 3 places, and its index goes to 4, counted from 0; give"},
      {"program x\ndims i=3\nf64 input A[i]\nf64 output s[]\ns[i] += A[i]",
       "p:5:1: tensor s has 0 axes and is indexed by 1"},
      {"program x\ndims i=3\nf64 input A[i]\nf64 output s[]\nA[i] += A[i]",
       "p:5:1: tensor A is an input and is written"},
      {"program x\ndims i=3 j=2\nf64 input A[i]\nf64 output s[]\ns[] += A[i]",
       "p:2:10: dimension 'j' is in no statement"},
      {"program x\ndims i=3 i=2\nf64 input A[i]\nf64 output s[]\ns[] += A[i]",
       "p:2:10: there is a dimension 'i' already"},
      {"program x\ndims i=3\nf64 input A[i]\nf64 output s[]", "p:1:9: there is no statement"},
      {"program x\ndims i=3\nf64 input A[i]\nf64 output s[]\ns[] += A[i] * A[i] * A[i]",
       "p:5:20: a statement multiplies two tensors; use an intermediate"}};
  for (const BadProgram& c : cases) {
    SCOPED_TRACE(c.text);
    const std::string error = message_of<InputError>([&] { parse_program(c.text, "p"); });
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

// Of anything at most 64: no text of repeated parts takes time or memory.
TEST(Program_text, Parts_are_limited) {
  const auto times = [](int n, const std::string& part) {
    std::string all;
    for (int i = 0; i < n; ++i) {
      std::string one = part;
      const auto at = one.find('@');
      if (at != std::string::npos) one.replace(at, 1, std::to_string(i));
      all += one;
    }
    return all;
  };
  const std::string io = " f64 input A[] f64 output s[] ";
  const auto dims = [&](int n) {
    return "program x dims" + times(n, " i@=2") + " f64 input A[63, i0] f64 output s[] " +
           times(n, "s[] += A[i@, i0]");
  };
  const auto tensors = [&](int n) {
    return "program x dims" + times(n - 1, " f64 input A@[]") + " f64 output s[]" +
           times(n - 1, " s[] += A@[]");
  };
  const auto axes = [&](int n) {
    return "program x dims i=1 f64 input A[" + times(n - 1, "1, ") + "1] f64 output s[] s[] += A[" +
           times(n - 1, "i, ") + "i]";
  };
  const auto terms = [&](int n) {
    return "program x dims" + times(64, " i@=1") + " f64 input A[1] f64 output s[] s[] += A[i0" +
           times(n - 1, " + i@") + "]";
  };
  EXPECT_NO_THROW(parse_program(dims(64), "x"));
  EXPECT_NO_THROW(parse_program(tensors(64), "x"));
  EXPECT_NO_THROW(parse_program(axes(64), "x"));
  EXPECT_NO_THROW(parse_program("program x dims" + io + times(64, "s[] += A[] "), "x"));
  for (int n : {65, 100000}) {
    const auto refused = [&](const std::string& text, const std::string& what) {
      const std::string error = message_of<InputError>([&] { parse_program(text, "x"); });
      EXPECT_NE(error.find("there are more than 64 " + what), std::string::npos) << error;
    };
    refused(dims(n), "dimensions");
    refused(tensors(n), "tensors");
    refused("program x dims" + times(n, " f64 output s@[]"), "tensors");
    refused(axes(n), "axes");
    refused("program x dims i=1 f64 input A[i] f64 output s[] s[] += A[" + times(n, "i, ") + "i]",
            "axes");
    refused(terms(65), "terms");
    refused("program x dims" + io + times(n, "s[] += A[] "), "statements");
  }
}

TEST(Program_text, Names_are_limited) {
  const std::string longest(64, 'a');
  const auto text = [](const std::string& name) {
    return "program x dims " + name + "=3 f64 input A[" + name + "] f64 output s[] s[] += A[" +
           name + "]";
  };
  EXPECT_NO_THROW(parse_program(text(longest), "x"));
  for (int n : {65, 1000000}) {
    const std::string error = message_of<InputError>(
        [&] { parse_program(text(std::string(static_cast<std::size_t>(n), 'a')), "x"); });
    EXPECT_EQ(error.rfind("x:1:16: a dimension or a tensor expected, found '" +
                              std::string(32, 'a') + "'...;",
                          0),
              0U)
        << error.substr(0, 200);
  }
}

TEST(Program_text, Reads_back_exactly) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Program p = test::random_program(random);
    const std::string text = to_text(p);
    const Program read = parse_program(text, "x");
    ASSERT_EQ(read, p) << text;
    ASSERT_EQ(to_text(read), text);
  }
}

std::string damaged_program(std::string text, Random& random) {
  static const std::vector<std::string> scraps{"[",      "]",
                                               " ",      "\n",
                                               "#",      "=",
                                               ",",      "+",
                                               "*",      "+=",
                                               "\"",     "\\",
                                               "f64",    "input",
                                               "output", "intermediate",
                                               "dims",   "order",
                                               "h",      "q",
                                               "0",      "9",
                                               "-",      "99999999999999999999",
                                               "\xff",   std::string(1, '\0')};
  return test::damaged(std::move(text), scraps, random);
}

TEST(Program_text, Damaged_text_parses_or_is_reported_with_its_place) {
  int parsed = 0, reported = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::string text = damaged_program(
        random.chance(50) ? canonical_conv : to_text(test::random_program(random)), random);
    try {
      const Program p = parse_program(text, "place");
      ASSERT_EQ(parse_program(to_text(p), "x"), p) << text;
      ++parsed;
    } catch (const InputError& e) {
      ASSERT_EQ(std::string(e.what()).rfind("place:", 0), 0U) << e.what();
      ++reported;
    }
  }
  // Both happen often, or the damage is not what this test means.
  EXPECT_GT(parsed, 300);
  EXPECT_GT(reported, 1000);
}

TEST(Program_file, Is_known_by_its_suffix_and_read) {
  EXPECT_TRUE(is_program_file("my-layer.program"));
  EXPECT_FALSE(is_program_file("abcd-aebf-dfce"));
  EXPECT_FALSE(is_label("my-layer.program"));
  EXPECT_FALSE(is_label("a->b.program"));
  const auto file = test::scratch("test.program");
  std::ofstream(file) << canonical_conv;
  EXPECT_EQ(load_program(file), conv());
  std::ofstream(file) << "program x\n dims 5";
  EXPECT_EQ(message_of<InputError>([&] {
              load_program(file);
            }).rfind(file.string() + ":2:7: a dimension or a tensor expected, found '5'", 0),
            0U);
  std::filesystem::remove(file);
  EXPECT_EQ(message_of<InputError>([&] {
              load_program(file);
            }).rfind(file.string() + ": cannot be read", 0),
            0U);
}

}  // namespace
}  // namespace tcsim
