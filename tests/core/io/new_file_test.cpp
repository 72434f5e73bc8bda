// Files that appear when they are whole.
#include "core/io/new_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <system_error>

#include "tests/scratch.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

class New_file : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  const fs::path folder_ = test::scratch("new_file");
};

int error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return e.code().value();
  }
  return 0;
}

TEST_F(New_file, Has_what_was_written_when_it_is_kept) {
  const std::string much(200000, 'x');
  {
    NewFile file(folder_ / "a");
    file.write("begin ");
    file.write(much);
    file.write(" end");
    file.end();
    file.keep();
  }
  EXPECT_EQ(read("a"), "begin " + much + " end");
}

TEST_F(New_file, Is_gone_where_it_was_not_kept) {
  {
    NewFile file(folder_ / "a");
    file.write("half");
  }
  {
    NewFile file(folder_ / "b");
    file.end();
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(New_file, Opens_nothing_that_is_there) {
  std::ofstream(folder_ / "a") << "another's";
  fs::create_symlink("nowhere", folder_ / "link");
  EXPECT_EQ(error_of([&] { NewFile(folder_ / "a"); }), EEXIST);
  EXPECT_EQ(error_of([&] { NewFile(folder_ / "link"); }), EEXIST);
  EXPECT_EQ(read("a"), "another's");
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

TEST_F(New_file, Replaces_a_file_whole_or_not_at_all) {
  replace_file(folder_ / "a", "before");
  replace_file(folder_ / "a", "after");
  EXPECT_EQ(read("a"), "after");
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const int error = error_of([&] { replace_file(folder_ / "a", std::string(10000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(read("a"), "after");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(error_of([&] { replace_file(folder_ / "none/a", "x"); }), ENOENT);
}

TEST_F(New_file, What_mends_it_depends_on_what_the_system_said) {
  EXPECT_EQ(mend_of_writing(ENOSPC, "x"), "make room, or name a file on another disk");
  EXPECT_EQ(mend_of_writing(EDQUOT, "x"), mend_of_writing(ENOSPC, "x"));
  EXPECT_EQ(mend_of_writing(EFBIG, "x"), "allow larger files (ulimit -f)");
  EXPECT_EQ(mend_of_writing(EACCES, "x"), "x");
}

}  // namespace
}  // namespace tcsim
