#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/schedule/schedule.hpp"
#include "tests/core/damaged.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/groups.hpp"

namespace tcsim {
namespace {

using test::message_of;
using test::Random;

constexpr const char* example =
    "groups m=ab n=cd k=fe\n"
    "for n by 2592 {\n"
    "  for k by 432 {\n"
    "    pack B in L3 {\n"
    "      for m by 288 {\n"
    "        pack A in L2 {\n"
    "          for n by 8 {\n"
    "            for m by 24 {\n"
    "              kernel 24x8\n"
    "            }\n"
    "          }\n"
    "        }\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

// Every letter is one of its dimensions.
const Contraction& letters() {
  static const Contraction c = [] {
    std::string all;
    Sizes sizes;
    for (char base : {'A', 'a'}) {
      for (int i = 0; i < 26; ++i) {
        const char name = static_cast<char>(base + i);
        all += name;
        sizes[name] = 1;
      }
    }
    return parse_contraction(all + "," + all + "->", sizes, Layout::row_major, ElementType::f64);
  }();
  return c;
}

Schedule example_tree() {
  const auto loop = [](DimClass g, std::int64_t tile) { return Node{Loop{g, Elements(tile), {}}}; };
  return {test::groups(letters(), {"ab", "cd", "fe", ""}),
          nested({loop(DimClass::n, 2592), loop(DimClass::k, 432),
                  Node{Move{Move::Kind::pack, TensorId::B, "L3", {}}}, loop(DimClass::m, 288),
                  Node{Move{Move::Kind::pack, TensorId::A, "L2", {}}}, loop(DimClass::n, 8),
                  loop(DimClass::m, 24)},
                 Kernel{Elements(24), Elements(8)})};
}

TEST(Schedule_text, Is_what_the_header_shows) {
  EXPECT_EQ(to_text(example_tree(), letters()), example);
  EXPECT_EQ(parse_schedule(example, letters(), "x"), example_tree());
}

TEST(Schedule_text, Fits_on_one_line) {
  const std::string line =
      "groups m=ab n=cd k=fe for n by 2592 { for k by 432 { pack B in L3 { for m by 288 { "
      "pack A in L2 { for n by 8 { for m by 24 { kernel 24x8 } } } } } } }";
  EXPECT_EQ(to_line(example_tree(), letters()), line);
  EXPECT_EQ(parse_schedule(line, letters(), "x"), example_tree());
}

TEST(Schedule_text, White_space_and_comments_are_free) {
  const Schedule s = parse_schedule(
      "# first\r\n groups\tm=a # rows\n k=b n=c\nfor m by 2{kernel 2x4}# last", letters(), "x");
  EXPECT_EQ(to_line(s, letters()), "groups m=a n=c k=b for m by 2 { kernel 2x4 }");
}

TEST(Schedule_text, Says_what_threads_divide) {
  const std::string line = "groups m=a n=c k=b parallel n for m by 2 { kernel 2x4 }";
  const Schedule s = parse_schedule(line, letters(), "x");
  EXPECT_EQ(s.parallel, DimClass::n);
  EXPECT_EQ(to_line(s, letters()), line);
  EXPECT_NE(s, parse_schedule("groups m=a n=c k=b for m by 2 { kernel 2x4 }", letters(), "x"));
}

TEST(Schedule_text, Groups_may_all_be_empty) {
  const Schedule s = parse_schedule("groups kernel 1x1", letters(), "x");
  EXPECT_EQ(s.groups, (Groups{}));
  EXPECT_EQ(to_text(s, letters()), "groups\nkernel 1x1\n");
}

struct Bad {
  const char* text;
  const char* message;  // begins what() of the error
};

TEST(Schedule_text, Errors_have_line_and_column) {
  const std::vector<Bad> cases{
      {"", "s:1:1: \"groups\" expected, found the end; a schedule begins with"},
      {"groups m=a parallel kernel 2x4",
       "s:1:21: group m, n, k or batch expected, found \"kernel\""},
      {"# nothing\n", "s:2:1: \"groups\" expected, found the end"},
      {"for m by 2 { }", "s:1:1: \"groups\" expected, found \"for\""},
      {"groups x=a", "s:1:8: group m, n, k or batch expected, found \"x=a\""},
      {"groups m=a\n  m=b", "s:2:3: this group is there already"},
      {"groups m= n=b", "s:1:10: dimensions expected after '='"},
      {"groups m=a1b", "s:1:11: a dimension is not a letter"},
      {"groups m=a", "s:1:11: one statement expected, found the end; write for GROUP"},
      {"groups m=a loop", "s:1:12: one statement expected, found \"loop\""},
      {"groups\nfor m by 2 {\n}", "s:3:1: one statement expected, found \"}\""},
      {"groups\nfor m by 2 {", "s:2:13: one statement expected, found the end"},
      {"groups for x by 2 {", "s:1:12: group m, n, k or batch expected, found \"x\""},
      {"groups for m in 2 {", "s:1:14: \"by\" expected, found \"in\"; write a loop as"},
      {"groups for m by two {", "s:1:17: a tile size expected, found \"two\""},
      {"groups for m by 2.5 {", "s:1:17: a tile size expected, found \"2.5\""},
      {"groups for m by 0 {", "s:1:17: 0 is not between 1 and 2^40"},
      {"groups for m by -1 {", "s:1:17: -1 is not between 1 and 2^40"},
      {"groups for m by 1099511627777 {", "s:1:17: 1099511627777 is not between 1 and"},
      {"groups for m by 99999999999999999999 {", "s:1:17: 99999999999999999999 is not"},
      {"groups for m by 2 kernel 2x2", "s:1:19: \"{\" expected, found \"kernel\""},
      {"groups pack C in L1 {", "s:1:13: A or B expected, found \"C\""},
      {"groups load D in L1 {", "s:1:13: A, B or C expected, found \"D\"; write a load as load A"},
      {"groups seq m {", "s:1:12: \"{\" expected, found \"m\"; write a sequence as"},
      {"groups seq over x {", "s:1:17: group m, n, k or batch expected, found \"x\""},
      {"groups seq { }", "s:1:14: \"part\" expected, found \"}\""},
      {"groups seq { kernel 1x1 }", "s:1:14: \"part\" expected, found \"kernel\""},
      {"groups seq { part 3 { kernel 1x1 } }", "s:1:19: \"{\" expected, found \"3\""},
      {"groups seq over m { part { kernel 1x1 } }", "s:1:26: a part's size expected, found \"{\""},
      {"groups kernel 1x1 of 0", "s:1:22: 0 is not between 1 and 64"},
      {"groups m=a n=1", "s:1:14: a dimension is not a letter"},
      {"groups pack A L1 {", "s:1:15: \"in\" expected, found \"L1\""},
      {"groups pack A in {", "s:1:18: the name of a level expected, found \"{\""},
      {"groups pack A in", "s:1:17: the name of a level expected, found the end"},
      {"groups kernel", "s:1:14: a kernel's size expected, found the end"},
      {"groups kernel 24", "s:1:15: a kernel's size expected, found \"24\""},
      {"groups kernel 24x", "s:1:15: a kernel's size expected, found \"24x\""},
      {"groups kernel 24x8x2", "s:1:15: a kernel's size expected, found \"24x8x2\""},
      {"groups kernel 24x0", "s:1:18: 0 is not between 1 and 2^40"},
      {"groups kernel 1x1 }", "s:1:19: the end expected, found \"}\"; a schedule is one"},
      {"groups for m by 2 { kernel 1x1\n kernel 1x1 }",
       "s:2:2: \"}\" expected, found \"kernel\"; a body holds one statement"},
      {"groups for m by 2 { kernel 1x1",
       "s:1:31: \"}\" expected, found the end; a body holds one statement"}};
  for (const Bad& c : cases) {
    SCOPED_TRACE(c.text);
    const std::string error =
        message_of<InputError>([&] { parse_schedule(c.text, letters(), "s"); });
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

TEST(Schedule_text, Largest_tile_is_two_to_the_40) {
  const Schedule s = parse_schedule("groups for m by 1099511627776 { kernel 1x1 }", letters(), "x");
  EXPECT_EQ(std::get<Loop>(s.root.is).tile, Elements(std::int64_t{1} << 40));
}

std::string nested_loops(int count) {
  std::string text = "groups ";
  for (int i = 0; i < count; ++i) text += "for m by 1 {";
  text += "kernel 1x1";
  return text + std::string(static_cast<std::size_t>(count), '}');
}

TEST(Schedule_text, Nesting_is_limited_so_that_no_text_overflows_the_stack) {
  EXPECT_NO_THROW(
      parse_schedule(nested_loops(199), letters(), "x"));  // 200 statements with the kernel
  // Each loop takes 12 columns after "groups ", so the 201st statement stands at 8 + 200 * 12.
  for (int count : {200, 1000000}) {
    const std::string error =
        message_of<InputError>([&] { parse_schedule(nested_loops(count), letters(), "x"); });
    EXPECT_EQ(error.rfind("x:1:2408: more than 200 statements inside each other", 0), 0U) << error;
  }
}

// Trees that no check() would accept: the text form does not depend on their sense.
Schedule any_tree(Random& random) {
  Schedule s;
  for (Group& group : s.groups) {
    for (std::int64_t n = random.between(0, 3); n > 0; --n) {
      group.push_back(DimId{static_cast<int>(random.between(0, 51))});
    }
  }
  const auto number = [&] {
    return Elements(random.between(1, std::int64_t{1} << random.between(0, 40)));
  };
  const std::vector<std::string> levels{"L1", "L2", "memory", "HBM-2e", "for", "by", "x=y", "é"};
  const auto kernel = [&] {
    const Elements mr = number(), nr = number();
    return Node{Kernel{mr, nr, static_cast<int>(random.chance(80) ? 0 : random.between(1, 64)),
                       random.chance(30)}};
  };
  // From the inside out, with other trees beside it.
  const auto tree = [&](const auto& self, std::int64_t depth) -> Node {
    Node root = kernel();
    for (std::int64_t n = random.between(0, depth); n > 0; --n) {
      if (random.chance(60)) {
        root = {Loop{DimClass(random.between(0, 3)), number(), root}};
      } else if (random.chance(70)) {
        const auto kind = Move::Kind(random.between(0, 2));
        const auto last = kind == Move::Kind::pack ? 1 : 2;
        root = {Move{kind, TensorId(random.between(0, last)), random.pick(levels), root}};
      } else {
        Seq seq;
        if (random.chance(50)) seq.over = DimClass(random.between(0, 3));
        const auto size = [&] { return seq.over ? number() : Elements(0); };
        seq.parts.push_back({size(), root});
        while (depth > 1 && random.chance(40)) seq.parts.push_back({size(), self(self, depth / 3)});
        root = {seq};
      }
    }
    return root;
  };
  s.root = tree(tree, random.between(0, 30));
  return s;
}

TEST(Schedule_text, Both_forms_read_back_exactly) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Schedule s = any_tree(random);
    ASSERT_EQ(parse_schedule(to_text(s, letters()), letters(), "x"), s);
    ASSERT_EQ(parse_schedule(to_line(s, letters()), letters(), "x"), s);
  }
}

std::string damaged(std::string text, Random& random) {
  static const std::vector<std::string> scraps{"{",
                                               "}",
                                               " ",
                                               "\n",
                                               "#",
                                               "=",
                                               "x",
                                               "for",
                                               "pack",
                                               "seq",
                                               "over",
                                               "part",
                                               "load",
                                               "kernel",
                                               "groups",
                                               "by",
                                               "in",
                                               "m",
                                               "k",
                                               "A",
                                               "C",
                                               "0",
                                               "9",
                                               "-",
                                               "99999999999999999999",
                                               "\xff",
                                               std::string(1, '\0')};
  return test::damaged(std::move(text), scraps, random);
}

TEST(Schedule_text, Damaged_text_parses_or_is_reported_with_its_place) {
  int parsed = 0, reported = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::string text =
        damaged(random.chance(50) ? example : to_line(any_tree(random), letters()), random);
    try {
      const Schedule s = parse_schedule(text, letters(), "place");
      ASSERT_EQ(parse_schedule(to_text(s, letters()), letters(), "x"), s) << text;
      ++parsed;
    } catch (const InputError& e) {
      ASSERT_EQ(std::string(e.what()).rfind("place:", 0), 0U) << e.what();
      ++reported;
    }
  }
  // Both happen often, or the damage is not what this test means.
  EXPECT_GT(parsed, 1000);
  EXPECT_GT(reported, 1000);
}

}  // namespace
}  // namespace tcsim
