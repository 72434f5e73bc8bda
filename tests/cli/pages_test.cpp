// The manual and the shells' completion: complete, and accepted by the programs that read them.
#include "cli/pages.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// A file with `text`, and what `shell_command FILE` answers.
struct Answer {
  int code;
  std::string said;
};
Answer ask(const std::string& command, const std::string& text) {
  const fs::path file = test::scratch("pages_test");
  const fs::path said = file.string() + ".said";
  std::ofstream(file) << text;
  const int status =
      std::system((command + " " + file.string() + " >" + said.string() + " 2>&1").c_str());
  std::ifstream in(said);
  Answer answer{WEXITSTATUS(status), {std::istreambuf_iterator<char>(in), {}}};
  fs::remove(file);
  fs::remove(said);
  return answer;
}

// Long names of the options that a command's help page lists.
std::vector<std::string> options_on_page(const Command& command) {
  std::vector<std::string> names;
  for (const std::string& line : lines(tcsim({"help", command.name}).out)) {
    const auto begin = line.find("--");
    if (!line.starts_with("  -") || begin == std::string::npos) continue;
    names.push_back(line.substr(begin, line.find_first_of(" ", begin) - begin));
  }
  return names;
}

TEST(Manual, Describes_every_command_and_option) {
  const Ran r = tcsim({"--man"});
  EXPECT_EQ(r.code, Exit::done);
  std::string plain;  // without man's escapes
  for (char c : r.out) {
    if (c != '\\') plain += c;
  }
  for (const Command* c : all_commands()) {
    EXPECT_TRUE(contains(plain, ".SS " + c->name + "\n")) << c->name;
    EXPECT_TRUE(contains(plain, c->example)) << c->name;
    for (const std::string& option : options_on_page(*c)) {
      EXPECT_TRUE(contains(plain, option)) << c->name << " " << option;
    }
  }
}

TEST(Manual, Is_accepted_by_groff_without_a_warning) {
  if (!installed("groff")) GTEST_SKIP() << "groff is not installed";
  const Answer a = ask("groff -man -ww -z", tcsim({"--man"}).out);
  EXPECT_EQ(a.code, 0);
  EXPECT_EQ(a.said, "");
}

TEST(Completion, Knows_every_command_and_option_in_every_shell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran r = tcsim({"--completion", shell});
    EXPECT_EQ(r.code, Exit::done);
    for (const Command* c : all_commands()) {
      EXPECT_TRUE(contains(r.out, c->name)) << shell;
      for (const std::string& option : options_on_page(*c)) {
        const bool bare = std::string(shell) == "fish";
        EXPECT_TRUE(contains(r.out, bare ? "-l " + option.substr(2) : option))
            << shell << ": " << c->name << " " << option;
      }
    }
  }
  const Ran other = tcsim({"--completion", "csh"});
  EXPECT_EQ(other.code, Exit::usage);
  EXPECT_TRUE(contains(other.err, "use one of bash, zsh, fish")) << other.err;
}

TEST(Completion, Is_accepted_by_the_shells) {
  int asked = 0;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (!installed(shell)) continue;
    const Answer a = ask(shell + " -n", tcsim({"--completion", shell}).out);
    EXPECT_EQ(a.code, 0) << shell << a.said;
    ++asked;
  }
  if (asked == 0) GTEST_SKIP() << "none of the shells is installed";
}

// What bash offers for the last word.
std::string offered(const std::string& words) {
  return ask("bash", tcsim({"--completion", "bash"}).out + "COMP_WORDS=(" + words +
                         ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_tcsim\n"
                         "echo \"${COMPREPLY[*]}\"\n")
      .said;
}

TEST(Completion, Bash_offers_commands_options_and_their_words) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  EXPECT_EQ(offered("tcsim pre"), "predict\n");
  EXPECT_EQ(offered("tcsim run --format ''"), "table json csv\n");
  EXPECT_EQ(offered("tcsim run --counters p"), "papi\n");
  EXPECT_EQ(offered("tcsim list ''"), "workloads chains machines kernels tuned\n");
  EXPECT_EQ(offered("tcsim predict --sch"), "--schedule --scheme\n");
  EXPECT_EQ(offered("tcsim help rep"), "report\n");
  EXPECT_EQ(offered("tcsim run suite.to"), "\n") << "then the shell offers files";
}

// Names of machines are names of files, which may be anybody's.
TEST(Completion, Bash_takes_no_name_of_a_machine_for_code) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  const fs::path sprung = test::scratch("sprung");
  const std::string names = "$(touch " + sprung.string() + ")\n`touch " + sprung.string() +
                            "`\n*\na b\n;touch " + sprung.string() + "\ni7\n";
  const std::string told = "tcsim() { cat <<'END'\n" + names + "END\n}\n";
  const std::string completion = tcsim({"--completion", "bash"}).out;
  // As bash would: what is offered stands on the next command line as it is.
  const Answer a = ask("bash", told + completion +
                                   "COMP_WORDS=(tcsim run --machine '')\nCOMP_CWORD=3\n_tcsim\n"
                                   "for word in \"${COMPREPLY[@]}\"; do\n"
                                   "  eval \"printf '%s\\n' $word\"\ndone\n");
  EXPECT_EQ(a.said, "host\n" + names);
  EXPECT_FALSE(fs::exists(sprung));
  fs::remove(sprung);
}

TEST(Completion, The_first_argument_has_words_where_the_table_says_so) {
  const auto words = [](const char* arguments) {
    Command c{};
    c.arguments = arguments;
    return argument_words(c);
  };
  EXPECT_EQ(words("show|check NAME|FILE..."), (std::vector<std::string>{"show", "check"}));
  EXPECT_EQ(words("WORKLOAD"), std::vector<std::string>());
  EXPECT_EQ(words("NAME|FILE..."), std::vector<std::string>());
}

}  // namespace
}  // namespace tcsim::cli
