// What of a hostile text reaches a terminal, a spreadsheet or a compiler.
#include "core/text/safe.hpp"

#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <cstdio>
#include <string>

namespace tcsim {
namespace {

TEST(SafeText, Visible_text_stays_as_it_is) {
  for (const char* text : {"", "i7-6700k", "C:\\x\\n", "\"a\" 'b' $(c) `d`", "µs × Größe 机 😀"}) {
    EXPECT_EQ(visible(text), text);
    EXPECT_TRUE(is_visible(text)) << text;
  }
}

TEST(SafeText, What_acts_on_a_terminal_is_shown) {
  EXPECT_EQ(visible("a\033[2Jb"), "a\\u001b[2Jb");
  EXPECT_EQ(visible("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(visible(std::string("a\0b\x7f", 4)), "a\\u0000b\\u007f");
  EXPECT_EQ(visible("a\u009b2Jb"), "a\\u009b2Jb") << "one character, which begins a command too";
  EXPECT_EQ(visible("a\u202eb\u2066c\u2028"), "a\\u202eb\\u2066c\\u2028");
  EXPECT_EQ(visible_lines("a\n\tb\033\r\n"), "a\n\tb\\u001b\\r\n");
  EXPECT_FALSE(is_visible("a\nb"));
}

TEST(SafeText, Bytes_that_are_no_utf8_are_shown) {
  EXPECT_EQ(visible("a\xff\xfe"), "a\\xff\\xfe");
  EXPECT_EQ(visible("\x9b"
                    "2J"),
            "\\x9b2J");
  EXPECT_EQ(visible("\xc0\x8a"), "\\xc0\\x8a") << "a newline, longer than need be";
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(visible("cut \xe2\x82"), "cut \\xe2\\x82");
}

// However a text is cut, the pieces together are what the whole would have been.
TEST(SafeText, Written_in_pieces_it_is_the_same) {
  const std::string text = "a\033b\u00b5\u009b\u2028\U0001f600\xff\xe2\x82\n\xc3";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    for (std::size_t j = i; j <= text.size(); ++j) {
      VisibleWriter write;
      std::string all = write(text.substr(0, i));
      all += write(text.substr(i, j - i));
      all += write(text.substr(j));
      all += write.rest();
      EXPECT_EQ(all, visible_lines(text)) << i << " " << j;
    }
  }
}

TEST(SafeText, A_cell_of_csv_is_quoted_where_it_must_be) {
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_line({"a", "", "b,c"}), "a,,\"b,c\"\n");
}

TEST(SafeText, No_cell_of_csv_is_a_formula) {
  EXPECT_EQ(csv_cell("=1+2"), "'=1+2");
  EXPECT_EQ(csv_cell("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("-2+3"), "'-2+3");
  EXPECT_EQ(csv_cell("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
  EXPECT_EQ(csv_cell("\uff1d1"), "'\uff1d1");
  // Behind what some programs pass over.
  EXPECT_EQ(csv_cell("\t=1"), "\\t=1");
  EXPECT_EQ(csv_cell("\r=1"), "\\r=1");
  EXPECT_EQ(csv_cell("\n=1"), "\\n=1");
  EXPECT_EQ(csv_cell("a=1"), "a=1");
}

TEST(SafeText, Numbers_in_csv_stay_numbers) {
  for (const char* number : {"-1", "-0.25", "-1e-300", "-9223372036854775808", "-inf", "12"}) {
    EXPECT_EQ(csv_cell(number), number);
  }
  EXPECT_EQ(csv_cell("-1 "), "'-1 ");
}

TEST(SafeText, Nothing_ends_a_comment) {
  EXPECT_EQ(in_comment("a\n#include \"/etc/passwd\""), "a\\n#include \"/etc/passwd\"");
  EXPECT_EQ(in_comment("a */ b"), "a * / b");
  EXPECT_EQ(in_comment("a /* b"), "a / * b");
  EXPECT_EQ(in_comment("*/*/"), "* / * /");
  EXPECT_EQ(in_comment("the next line too \\"), "the next line too");
  EXPECT_EQ(in_comment("?\?/\n"), "? ?/\\n");
  EXPECT_EQ(in_comment("\\\r"), "\\\\r");
}

TEST(SafeText, Nothing_begins_or_ends_in_markup) {
  EXPECT_EQ(in_markup("<script>\"a\" & b"), "&lt;script&gt;&quot;a&quot; &amp; b");
  EXPECT_EQ(in_markup("' onload='x"), "&#39; onload=&#39;x");
  EXPECT_EQ(in_markup("]]><!--"), "]]&gt;&lt;!--");
  EXPECT_EQ(in_markup("a\033\n\u202eb\xff"), "a\\u001b\n\\u202eb\\xff");
  EXPECT_EQ(in_markup("&lt;"), "&amp;lt;") << "what looks escaped was not";
}

TEST(SafeText, Toml_reads_back_what_was_written) {
  for (const std::string text :
       {"", "plain", "\"", "\\", "\\\"", "a\nb\r\t\033\x7f", "'''\"\"\"", "\u009b\u202e",
        "]\n[machine]\nx = 1 # ", "\U0001f600", "\\u0041"}) {
    const toml::table read = toml::parse("x = " + toml_string(text));
    EXPECT_EQ(read.size(), 1u) << text;
    EXPECT_EQ(read["x"].value<std::string>(), text);
  }
  EXPECT_EQ(toml_string("a\nb"), "\"a\\u000Ab\"");
  // No byte that is no UTF-8 is written: TOML would not be read at all.
  EXPECT_EQ(toml::parse("x = " + toml_string("a\xff\xe2\x82"))["x"].value<std::string>(),
            "a\\xff\\xe2\\x82");
}

// What a shell makes of the word, by asking one.
std::string read_by(const std::string& shell, const std::string& word) {
  FILE* pipe = popen(
      ("exec " + shell + " <<'END_OF_TEST'\nprintf %s. " + word + "\nEND_OF_TEST\n").c_str(), "r");
  std::string all;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) all += static_cast<char>(c);
  return pclose(pipe) == 0 ? all : "no such shell";
}

TEST(SafeText, A_word_of_a_shell_is_one_word_and_no_command) {
  for (const std::string word :
       {"plain", "", "two words", "a'b", "'; touch /x; '", "$(id) `id` $HOME", "*", "~", "a\\",
        "#x", "-rf", "!x", "a\"b", "a&b|c;d<e>f", "\u00b5\xff", "{a,b}", "=ls"}) {
    EXPECT_EQ(read_by("sh", shell_word(word)), word + ".");
  }
  for (const std::string word : {"a\nb", "\n", "a\033[201~b\r", "it's\t\\n", "\x7f"}) {
    const std::string written = shell_word(word);
    EXPECT_TRUE(is_visible(written)) << "pasted into a terminal it would act: " << written;
    EXPECT_EQ(read_by("bash", written), word + ".");
  }
  EXPECT_EQ(shell_word("L3.capacity=4MiB"), "L3.capacity=4MiB");
  EXPECT_EQ(shell_word("=ls"), "'=ls'") << "zsh would take it for a path";
  EXPECT_EQ(in_single_quotes("it's"), "it'\\''s");
}

TEST(SafeText, Quotes_of_sql_are_doubled) {
  EXPECT_EQ(quoted_sql("a\"; DROP TABLE b; --"), "\"a\"\"; DROP TABLE b; --\"");
  EXPECT_EQ(sql_text("it's"), "'it''s'");
}

TEST(SafeText, A_message_quotes_at_most_a_line) {
  EXPECT_EQ(shortened("as it is"), "as it is");
  EXPECT_EQ(shortened("a\nb"), "a\\nb");
  const std::string head = shortened(std::string(1000000, 'x') + "end");
  EXPECT_LE(head.size(), most_quoted + 5);
  EXPECT_TRUE(head.starts_with("xxx") && head.ends_with("xend")) << head;
  EXPECT_EQ(shortened("0123456789abcdef", 8), "012345 ... ef");
  // No character is cut apart, wherever it lies.
  for (std::size_t before = 0; before < 8; ++before) {
    std::string text(before, 'x');
    for (int i = 0; i < 50; ++i) text += "\U0001f600";
    EXPECT_EQ(shortened(text, 40).find("\\x"), std::string::npos) << shortened(text, 40);
  }
}

}  // namespace
}  // namespace tcsim
