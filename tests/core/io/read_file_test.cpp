#include "core/io/read_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/core/refusal.hpp"
#include "tests/scratch.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

class Read_file : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string why(const fs::path& file, std::size_t most = most_file_bytes) {
    return test::refusal_of([&] { read_file(file, "name another", most); });
  }
  fs::path folder_ = test::scratch(testing::UnitTest::GetInstance()->current_test_info()->name());
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

}  // namespace
}  // namespace tcsim
