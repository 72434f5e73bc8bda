// Files, TOML, names and JSON: what comes from outside and what leaves.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"
#include "core/machine/toml.hpp"
#include "core/saved/session.hpp"
#include "core/study/cost_toml.hpp"
#include "core/study/study.hpp"
#include "core/text/name.hpp"
#include "core/workload/suite.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

class Read_file : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string why(const fs::path& file, std::size_t most = most_file_bytes) {
    return refusal_of([&] { read_file(file, "name another", most); });
  }
  fs::path folder_ =
      fs::temp_directory_path() /
      (std::string("tcsim_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Read_file, Has_all_bytes) {
  std::string bytes(300'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
  EXPECT_EQ(read_file(write("a", bytes), ""), bytes);
  EXPECT_EQ(read_file(write("empty", ""), ""), "");
  EXPECT_EQ(read_file(write("b", bytes), "", bytes.size()), bytes);
}

TEST_F(Read_file, Says_why_it_reads_nothing) {
  EXPECT_EQ(why(folder_ / "none"), (folder_ / "none").string() +
                                       ": cannot be read: No such file or directory; name another");
  EXPECT_NE(why(folder_).find("cannot be read: it is a folder"), std::string::npos);
  EXPECT_NE(why("/dev/zero").find("cannot be read: it is a device"), std::string::npos);
  const std::string large = why(write("large", std::string((1 << 20) + 1, 'x')), 1 << 20);
  EXPECT_NE(large.find("it has more than 1 MiB"), std::string::npos) << large;
}

TEST_F(Read_file, Takes_pipes_up_to_the_limit) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(why(pipe).find("nothing is written to that pipe"), std::string::npos) << why(pipe);
  const std::string bytes(200'000, 'x');
  const auto write_later = [&](std::size_t times) {
    return std::jthread([&, times] {
      std::ofstream out(pipe, std::ios::binary);  // waits for a reader
      for (std::size_t i = 0; i < times; ++i) out << bytes;
    });
  };
  {
    const std::jthread writer = write_later(1);
    EXPECT_EQ(read_file(pipe, ""), bytes);
  }
  std::signal(SIGPIPE, SIG_IGN);  // the reader leaves
  const std::jthread writer = write_later(20);
  const std::string large = why(pipe, 1 << 20);
  EXPECT_NE(large.find("it has more than 1 MiB"), std::string::npos) << large;
}

// In text, not as a path: "a", "a.a" ...
std::string key_of(int n) {
  std::string key = "a";
  for (int i = 1; i < n; ++i) key += ".a";
  return key;
}

TEST(Toml, Limits_are_told_with_their_place) {
  EXPECT_EQ(refusal_of([] { parse_toml("x = 1\n" + key_of(most_key_parts) + " = 1", "f"); }), "");
  for (const char* form : {"{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}", "\"q\".'r'.{} = 1"}) {
    const std::string text = "x = 1\n" + fmt::format(fmt::runtime(form), key_of(40'000));
    const std::string why = refusal_of([&] { parse_toml(text, "f"); });
    EXPECT_EQ(why.substr(0, 4), "f:2:") << form;
    EXPECT_NE(why.find("a key of more than 32 parts"), std::string::npos) << why;
  }
  const auto nested = [](int n, const std::string& open, const std::string& close) {
    std::string text = "x = ";
    for (int i = 0; i < n; ++i) text += open;
    text += "1";
    for (int i = 0; i < n; ++i) text += close;
    return text;
  };
  EXPECT_EQ(refusal_of([&] { parse_toml(nested(most_toml_depth, "[", "]"), "f"); }), "");
  for (const auto& [open, close] : std::vector<std::pair<std::string, std::string>>{
           {"[", "]"}, {"{ a = ", " }"}, {"[\n", "\n]"}, {"[{ a.b = ", "}]"}}) {
    const std::string why =
        refusal_of([&, o = open, c = close] { parse_toml(nested(20'000, o, c), "f"); });
    EXPECT_NE(why.find("more than 32 lists or tables within one another"), std::string::npos)
        << why;
  }
  const std::string large = "# " + std::string(most_toml_bytes, 'x');
  EXPECT_NE(refusal_of([&] { parse_toml(large, "f"); }).find("f: it has more than 16 MiB"),
            std::string::npos);
}

TEST(Toml, What_strings_and_comments_have_does_not_count) {
  const std::string dots(100, '.'), brackets(100, '[');
  const toml::table t = parse_toml(
      "a = \"" + dots + brackets + "\"\nb = '" + brackets + "\\'\nc = \"\\\"" + brackets +
          "\"\nd = \"\"\"\n\"" + brackets + "\\\"\"\"\"\ne = '''\n'" + brackets +
          "'''\nf = \"\" # " + brackets + dots + "\"\ng = [" +
          [] {
            std::string list;
            for (int i = 0; i < 100; ++i)
              list += "1.5, {x.y = 1.25}, [0.5], 2020-01-01T00:00:00.5,";
            return list;
          }() +
          "]\n\"" + dots + "\" = 1\n",
      "f");
  EXPECT_EQ(t.size(), 8u);
}

TEST(Toml, Faults_have_line_and_column) {
  EXPECT_EQ(refusal_of([] { parse_toml("x = 1\ny = =", "f"); }).substr(0, 6), "f:2:5:");
  EXPECT_NE(refusal_of([] { parse_toml("x = \"\xff\"", "f"); }), "");
  for (const char* cut : {"\"", "'", "\"\"\"", "'''", "x = \"\\", "[", "{", "a.", "#", "\"\\"}) {
    EXPECT_EQ(refusal_of([&] { parse_toml(cut, "f"); }).empty(), std::string(cut) == "#") << cut;
  }
}

// As deep as the limits allow, and taken apart again.
TEST(Toml, The_deepest_that_is_read_can_be_taken_apart) {
  std::string text = "[" + key_of(most_key_parts) + "]\n" + key_of(most_key_parts) + " = ";
  for (int i = 0; i < most_toml_depth; ++i) text += "{" + key_of(most_key_parts) + " = ";
  text += "1" + std::string(most_toml_depth, '}');
  EXPECT_EQ(refusal_of([&] { parse_toml(text, "f"); }), "");
}

TEST(Toml, Every_reader_has_the_limits) {
  const std::string deep = "schema = 1\n" + key_of(40'000) + " = 1\n";
  const StudySources none{};
  for (const auto& read : std::vector<std::function<void()>>{
           [&] { parse_machine(deep, "f"); },
           [&] { parse_study(deep, "f", none); },
           [&] { parse_session(deep, "f"); },
           [&] { parse_suite(deep, "f", {}); },
           [&] { parse_cost_model(deep, "f"); },
       }) {
    EXPECT_EQ(refusal_of(read).substr(0, 30), "f:2:64: a key of more than 32 ");
  }
}

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
  EXPECT_EQ(refusal_of([&] { parse_machine(machine("m", "L1"), "f"); }), "");
  const std::string level = refusal_of([&] { parse_machine(machine("m", "L\\u00001"), "f"); });
  EXPECT_EQ(level,
            "f:10:8: a level's name has a control character (U+0000) at byte 2; use printable "
            "characters in UTF-8");
  EXPECT_NE(refusal_of([&] {
              parse_machine(machine("m\\n", "L1"), "f");
            }).find("f:2:8: the machine's name has a control character (U+000A) at byte 2"),
            std::string::npos);
  EXPECT_NE(refusal_of([] {
              parse_suite(
                  "schema = 1\nname = \"s\\u001b\"\n[[workload]]\nlabel = \"ij-ik-kj\"\n"
                  "sizes = \"i=4,j=4,k=4\"\n",
                  "f", {});
            }).find("f:2:8: 'name' has a control character (U+001B) at byte 2"),
            std::string::npos);
  EXPECT_NE(refusal_of([] {
              parse_study("schema = 1\nname = \"s\\u0000\"\n", "f", {});
            }).find("f:2:8: the study's name has a control character (U+0000) at byte 2"),
            std::string::npos);
}

TEST(Json, Is_written_whatever_it_says) {
  const nlohmann::ordered_json j{{"file", "a\xff\xc3.toml"}, {"name", "Größe"}};
  EXPECT_EQ(json_line(j), "{\"file\":\"a\uFFFD\uFFFD.toml\",\"name\":\"Größe\"}");
  EXPECT_EQ(nlohmann::json::parse(json_text(j))["name"], "Größe");
}

}  // namespace
}  // namespace tcsim
