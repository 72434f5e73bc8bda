#include "core/workload/suite.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/source_dir.hpp"

namespace tcsim {
namespace {

using test::message_of;

Suite tccg() { return load_suite(TCSIM_SOURCE_DIR "/data/tccg.toml"); }

constexpr const char* good = R"(schema = 1
name = "mine"
[[workload]]
label = "ab-ac-cb"
sizes = "a=2,b=3,c=4"
)";

TEST(Tccg, Has_the_36_contractions_of_table_4) {
  const Suite suite = tccg();
  EXPECT_EQ(suite.name, "tccg");
  EXPECT_EQ(suite.source, "acmtc-sc19, Table 4");
  ASSERT_EQ(suite.workloads.size(), 36U);
  std::set<std::string> labels;
  for (std::size_t i = 0; i < 36; ++i) {
    const Contraction& c = suite.workloads[i];
    EXPECT_EQ(c.name(), "tccg:" + std::to_string(i + 1));
    EXPECT_EQ(c.layout(), Layout::column_major);
    EXPECT_EQ(c.type(), ElementType::f64);
    labels.insert(c.label());
  }
  EXPECT_EQ(labels.size(), 36U);
}

// Read from the paper by eye: the first, the last, and those whose sizes differ.
TEST(Tccg, Agrees_with_table_4_where_we_read_it_by_hand) {
  const auto expect = [suite = tccg()](std::size_t number, const char* label, const char* sizes) {
    const Contraction& c = suite.workloads.at(number - 1);
    EXPECT_EQ(c.label(), label);
    EXPECT_EQ(c.sizes(), sizes);
  };
  expect(1, "ab-acd-dbc", "a=312,b=312,c=312,d=312");
  expect(7, "abc-bda-dc", "a=312,b=312,c=24,d=312");
  expect(8, "abcd-aebf-dfce", "a=72,b=72,c=72,d=72,e=72,f=72");
  expect(15, "abcd-aefc-fbed", "a=72,b=72,c=72,d=72,e=72,f=72");
  expect(16, "abcd-dbea-ec", "a=72,b=72,c=72,d=72,e=72");  // the paper's f=72 has no index
  expect(17, "abcd-deca-be", "a=72,b=72,c=72,d=72,e=72");
  expect(18, "abcd-ea-ebcd", "a=72,b=72,c=72,d=72,e=72");
  expect(23, "abcd-ebad-ce", "a=72,b=72,c=24,d=72,e=72");
  expect(25, "abcde-ecbfa-fd", "a=48,b=32,c=32,d=24,e=48,f=48");
  expect(26, "abcde-efbad-cf", "a=48,b=32,c=24,d=32,e=48,f=32");
  expect(27, "abcde-efcad-bf", "a=48,b=24,c=32,d=32,e=48,f=32");
  expect(29, "abcdef-degb-gfac", "a=24,b=16,c=16,d=24,e=16,f=16,g=24");
  expect(36, "abcdef-efgc-gdab", "a=24,b=16,c=16,d=24,e=16,f=16,g=24");
}

TEST(Tccg, Number_8_has_two_times_72_to_the_6_flops) {
  EXPECT_EQ(tccg().workloads[7].flops(), 2.0 * 139314069504);
}

// acmtc-sc19, Table 2, column "Computation, Predict", rows L3: 4.76E+06 and 6.72E+06 lines, which
// is every tensor once. By hand for abcdef-degb-gfac: C 24*16*16*24*16*16, A 24*16*24*16, B
// 24*16*24*16 elements, 37748736 + 147456 + 147456 = 38043648, over 8 in a line.
TEST(Tccg, Tensors_have_the_lines_that_table_2_counts) {
  const auto lines = [](const Contraction& c) {
    Elements all;
    for (TensorId t : all_tensors) all += c.size(t);
    return all.value() * size_of(c.type()).value() / 64;
  };
  const Suite suite = tccg();
  EXPECT_EQ(lines(suite.workloads[28]), 4755456);
  EXPECT_EQ(lines(suite.workloads[17]), 6719112);
}

TEST(Tccg, Element_type_can_be_replaced) {
  const Suite suite = load_suite(TCSIM_SOURCE_DIR "/data/tccg.toml", {ElementType::f32, {}});
  for (const Contraction& c : suite.workloads) EXPECT_EQ(c.type(), ElementType::f32);
}

TEST(Suites, Layout_of_convolutions_can_be_replaced) {
  const Suite suite = find_suite("resnet18", {std::nullopt, "nhwc"});
  EXPECT_EQ(suite.workloads.at(1).label(), "O[n,y,x,k] += I[n,y+r,x+s,c] * W[r,s,c,k]");
  EXPECT_EQ(find_suite("tccg", {std::nullopt, "nhwc"}).workloads.at(0).label(),
            find_suite("tccg").workloads.at(0).label());
}

TEST(Suites, Convolutions_have_their_shapes_beside_them) {
  const Suite suite = find_suite("resnet18", {std::nullopt, "nhwc96k,nhwc64k,nhwc"});
  ASSERT_EQ(suite.shapes.size(), suite.workloads.size());
  EXPECT_EQ(suite.shapes.at(11)->k, 512);
  EXPECT_EQ(suite.workloads.at(11).label(), "O[n,y,x,k,l] += I[n,y+r,x+s,c] * W[k,r,s,c,l]");
  for (const auto& shape : find_suite("tccg").shapes) EXPECT_FALSE(shape);
}

TEST(Parse_suite, Layout_is_row_major_and_type_f64_unless_the_file_says_otherwise) {
  const Suite suite = parse_suite(good, "s.toml");
  ASSERT_EQ(suite.workloads.size(), 1U);
  EXPECT_EQ(suite.workloads[0].name(), "mine:1");
  EXPECT_EQ(suite.workloads[0].layout(), Layout::row_major);
  EXPECT_EQ(suite.workloads[0].type(), ElementType::f64);
  const Suite other =
      parse_suite("layout = \"column-major\"\ntype = \"f32\"\n" + std::string(good), "s.toml");
  EXPECT_EQ(other.workloads[0].layout(), Layout::column_major);
  EXPECT_EQ(other.workloads[0].type(), ElementType::f32);
}

TEST(Parse_suite, A_workload_may_have_a_layout_a_type_and_a_kind_of_its_own) {
  const char* text =
      "schema = 1\nname = \"mine\"\nlayout = \"column-major\"\ntype = \"f32\"\n"
      "[[workload]]\nlabel = \"ab-ac-cb\"\nsizes = \"a=2,b=3,c=4\"\n"
      "layout = \"row-major\"\ntype = \"f64\"\nkind = \"small\"\n"
      "[[workload]]\nlabel = \"ab-ac-cb\"\nsizes = \"a=2,b=3,c=4\"\n"
      "[[workload]]\nlabel = \"conv2d\"\nsizes = \"k=2,c=3,h=4,w=5\"\ntype = \"f64\"\n";
  const Suite suite = parse_suite(text, "s.toml");
  ASSERT_EQ(suite.workloads.size(), 3U);
  EXPECT_EQ(suite.workloads[0].layout(), Layout::row_major);
  EXPECT_EQ(suite.workloads[0].type(), ElementType::f64);
  EXPECT_EQ(suite.workloads[1].layout(), Layout::column_major);
  EXPECT_EQ(suite.workloads[1].type(), ElementType::f32);
  EXPECT_EQ(suite.workloads[2].type(), ElementType::f64);
  EXPECT_EQ(suite.kinds, (std::vector<std::string>{"small", "", ""}));
  EXPECT_EQ(parse_suite(text, "s.toml", {ElementType::f32, {}}).workloads[0].type(),
            ElementType::f32);
}

TEST(Hard, Has_the_16_convolutions_and_contractions_of_every_kind_type_and_layout) {
  const Suite suite = find_suite("hard");
  ASSERT_EQ(suite.kinds.size(), suite.workloads.size());
  std::map<std::string, int> of_kind;
  std::set<std::string> different;
  for (std::size_t i = 0; i < suite.workloads.size(); ++i) {
    const Contraction& c = suite.workloads[i];
    EXPECT_EQ(suite.shapes[i].has_value(), i < 16) << c.name();
    EXPECT_EQ(suite.kinds[i].empty(), i < 16) << c.name();
    if (i < 16) continue;
    ++of_kind[suite.kinds[i]];
    different.insert(c.label() + c.sizes() + to_text(c.type()) + to_text(c.layout()));
    if (suite.kinds[i] == "tiny") {
      EXPECT_LT(c.flops(), 1e6) << c.name();
    }
  }
  EXPECT_EQ(different.size(), suite.workloads.size() - 16);
  std::set<std::string> kinds;
  for (const auto& [kind, count] : of_kind) {
    kinds.insert(kind);
    EXPECT_GE(count, 8) << kind;
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"batch", "long-k", "many-small", "memory", "odd", "thin",
                                          "tiny"}));
}

struct BadSuite {
  const char* from;  // what of the good text is replaced
  const char* to;
  const char* message;
};

TEST(Parse_suite, Reports_line_and_column) {
  const std::vector<BadSuite> cases{
      {"schema = 1", "schema = 2", "s.toml:1:10: no 'schema' that this version"},
      {"schema = 1\n", "", "s.toml:1:1: no 'schema' that this version"},
      {"name = \"mine\"", "nam = \"mine\"", "s.toml:2:1: unknown key 'nam'; known here are"},
      {"name = \"mine\"", "", "s.toml:1:1: no 'name'; add it"},
      {"\"mine\"", "7", "s.toml:2:8: 'name' is not a string"},
      {"\"mine\"", "\"a:b\"", "s.toml:2:8: 'name' is \"a:b\""},
      {"name = \"mine\"", "name = \"mine\"\nlayout = \"diagonal\"",
       "s.toml:3:10: 'layout' is \"diagonal\"; use row-major or column-major"},
      {"name = \"mine\"", "name = \"mine\"\ntype = \"f16\"",
       "s.toml:3:8: 'type' is \"f16\"; use f64 or f32"},
      {"sizes = ", "size = ", "s.toml:5:1: unknown key 'size'; known here are label, sizes"},
      {"label = \"ab-ac-cb\"", "", "s.toml:3:1: no 'label'"},
      {"ab-ac-cb", "ab-ac-cx", "s.toml:4:9: \"ab-ac-cx\" column 8: index 'x' is in one"},
      {"b=3", "b=0", "s.toml:5:9: \"a=2,b=0,c=4\" column 7: the size of 'b' is 0"},
      {"sizes = \"a=2,b=3,c=4\"", "program = \"\"", "s.toml:4:9: 'label' beside a program; take"},
      {"label = \"ab-ac-cb\"", "program = \"\"", "s.toml:5:9: 'sizes' beside a program; take"},
      {"label = \"ab-ac-cb\"\nsizes = \"a=2,b=3,c=4\"", "program = 7",
       "s.toml:4:11: 'program' is not a string"},
      {"label = \"ab-ac-cb\"\nsizes = \"a=2,b=3,c=4\"", "program = \"program x dims 3\"",
       "s.toml:4:11: program:1:16: a dimension or a tensor expected, found '3'"},
      {"label = ", "layout = \"diagonal\"\nlabel = ",
       "s.toml:4:10: 'layout' is \"diagonal\"; use row-major or column-major"},
      {"label = ", "type = 7\nlabel = ", "s.toml:4:8: 'type' is not a string"},
      {"label = ", "kind = \"\"\nlabel = ", "s.toml:4:8: 'kind' is \"\"; give a word without ','"},
      {"label = ", "kind = \"a,b\"\nlabel = ", "s.toml:4:8: 'kind' is \"a,b\"; give a word"},
      {"label = ", "kind = \"a\\u0007\"\nlabel = ", "s.toml:4:8: 'kind' has a control character"},
      {"label = \"ab-ac-cb\"\nsizes = \"a=2,b=3,c=4\"",
       "label = \"conv2d\"\nsizes = \"k=2\"\nlayout = \"row-major\"",
       "s.toml:6:10: 'layout' of a convolution; take it out"},
      {"label = \"ab-ac-cb\"\nsizes = \"a=2,b=3,c=4\"", "program = \"\"\ntype = \"f32\"",
       "s.toml:5:8: 'type' beside a program; take it out"},
      {"[[workload]]", "[[workloads]]", "s.toml:3:3: unknown key 'workloads'"},
      {"[[workload]]", "[workload]", "s.toml:3:1: no [[workload]]"},
      {"name = \"mine\"", "name = \"mine", "s.toml:2:"}};
  for (const BadSuite& c : cases) {
    SCOPED_TRACE(c.to);
    std::string text = good;
    text.replace(text.find(c.from), std::string_view(c.from).size(), c.to);
    const std::string error = message_of<InputError>([&] { parse_suite(text, "s.toml"); });
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

TEST(Parse_suite, A_workload_may_be_a_program_that_says_its_layout_and_type) {
  const char* text =
      "schema = 1\nname = \"mine\"\n[[workload]]\nprogram = \"\"\"\n"
      "program x dims a=2 b=3 c=4\nf32 input A[a, c] column-major\n"
      "f32 input B[c, b] column-major\nf32 output C[a, b] column-major\n"
      "C[a, b] += A[a, c] * B[c, b]\n\"\"\"\n";
  const Contraction c = parse_suite(text, "s.toml").workloads.at(0);
  EXPECT_EQ(c.name(), "mine:1");
  EXPECT_EQ(c.label(), "ab-ac-cb");
  EXPECT_EQ(c.layout(), Layout::column_major);
  EXPECT_EQ(c.type(), ElementType::f32);
  EXPECT_EQ(parse_suite(text, "s.toml", {ElementType::f64, {}}).workloads.at(0).type(),
            ElementType::f64);
  std::string two = text;
  two.insert(two.rfind("\"\"\""), "C[a, b] += A[a, c] * B[c, b]");
  EXPECT_EQ(message_of<UnsupportedError>([&] { parse_suite(two, "s.toml"); }),
            "s.toml:4:11: x: it has 2 statements: chains are not done yet; one statement that "
            "multiplies two tensors is");
}

TEST(Parse_suite, Needs_a_workload) {
  const std::string error =
      message_of<InputError>([] { parse_suite("schema = 1\nname = \"mine\"\n", "s.toml"); });
  EXPECT_EQ(error, "s.toml:1:1: no [[workload]]; add at least one, with label and sizes");
}

TEST(Load_suite, Names_a_file_that_cannot_be_read) {
  for (const char* file : {"/nowhere/suite.toml", TCSIM_SOURCE_DIR}) {
    const std::string error = message_of<InputError>([&] { load_suite(file); });
    EXPECT_EQ(error.rfind(std::string(file) + ": cannot be read", 0), 0U) << error;
  }
}

}  // namespace
}  // namespace tcsim
