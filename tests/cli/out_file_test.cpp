#include "cli/out_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;

std::string said(const std::function<void()>& f) {
  try {
    f();
  } catch (const UsageError& e) {
    return e.what();
  }
  return "nothing";
}

// A folder of its own, which is gone afterwards.
class OutFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::scratch("out_file_test");
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

TEST_F(OutFiles, Holds_what_would_have_gone_to_standard_output) {
  const auto args = with_matmul("predict", {"--format", "json"});
  auto to_file = args;
  to_file.insert(to_file.end(), {"--out", path("a.json")});
  const Ran r = tcsim(to_file);
  EXPECT_EQ(r.code, Exit::done);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(read("a.json"), tcsim(args).out);
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutFiles, A_command_that_fails_leaves_what_was_there) {
  write("a", "before");
  EXPECT_EQ(tcsim(with_matmul("predict", {"--set", "L9.ways=1", "--out", path("a")})).code,
            Exit::usage);
  EXPECT_EQ(read("a"), "before");
  EXPECT_EQ(tcsim(with_matmul("predict", {"--set", "L9.ways=1", "--out", path("new")})).code,
            Exit::usage);
  EXPECT_EQ(files(), 1u) << "neither the new file nor a part of it";
}

TEST_F(OutFiles, Takes_the_place_of_the_old_file_when_all_is_written) {
  write("a", "before");
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  OutFile out(path("a"));
  EXPECT_EQ(read("a"), "before");
  out.write("after");
  EXPECT_EQ(read("a"), "after");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutFiles, A_link_stays_a_link) {
  write("a", "before");
  fs::create_symlink("a", path("link"));
  OutFile(path("link")).write("after");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read("a"), "after");
}

TEST_F(OutFiles, What_is_no_regular_file_is_written_directly) {
  OutFile("/dev/null").write("text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  // A device that is always full.
  EXPECT_EQ(said([] { OutFile("/dev/full").write("text"); }),
            "--out /dev/full: the file cannot be written: No space left on device; make room, or "
            "name a file on another disk");
}

// Somebody who knows the names that will be tried may have taken them.
TEST_F(OutFiles, No_link_is_followed_and_no_file_of_others_is_written) {
  write("victim", "before");
  const std::string part = "a." + std::to_string(getpid()) + ".";
  fs::create_symlink("victim", path(part + "0.part"));
  fs::create_symlink("nowhere", path(part + "1.part"));
  write(part + "2.part", "another's");
  OutFile(path("a")).write("text");
  EXPECT_EQ(read("a"), "text");
  EXPECT_FALSE(fs::is_symlink(path("a")));
  EXPECT_EQ(read("victim"), "before");
  EXPECT_TRUE(fs::is_symlink(path(part + "0.part")));
  EXPECT_FALSE(fs::exists(path("nowhere")));
  EXPECT_EQ(read(part + "2.part"), "another's");
}

TEST_F(OutFiles, A_write_that_fails_half_way_leaves_what_was_there_and_says_why) {
  write("a", "before");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = said([&] { OutFile(path("a")).write(std::string(10000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(error.find("the file cannot be written: File too large"), std::string::npos) << error;
  EXPECT_EQ(read("a"), "before");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutFiles, What_cannot_be_written_is_refused_before_any_work) {
  EXPECT_EQ(said([&] { OutFile(path("none/a")); }),
            "--out " + path("none/a") +
                ": the file cannot be written: No such file or directory; name another one");
  EXPECT_EQ(said([&] { OutFile(path("")); }),
            "--out " + path("") + ": the file cannot be written: it is a folder; name a file");
  EXPECT_EQ(said([] { OutFile(""); }),
            "--out : the file cannot be written: it has no name; name a file");
}

}  // namespace
}  // namespace tcsim::cli
