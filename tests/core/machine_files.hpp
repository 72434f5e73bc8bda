// Machine files for tests: a small one in parts, and a folder for others.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "tests/scratch.hpp"
#include "tests/source_dir.hpp"

namespace tcsim::machine_files {

namespace fs = std::filesystem;

inline const std::string head = "schema = 1\nname = \"small\"\n";  // lines 1 and 2
inline const std::string core_table =                              // lines 3 to 8
    "[core]\nfrequency = \"2GHz\"\nvector_bits = 256\nvector_registers = 16\n"
    "fma_per_cycle = 2\nfma_latency = 4\n";
inline const std::string memory =
    "[[level]]\nname = \"memory\"\nkind = \"memory\"\nbandwidth = \"4GB/s\"\n";

// A cache's table begins in line 9 of file_with() and its keys in line 11.
inline std::string cache_with(const std::string& keys) {
  return "[[level]]\nname = \"L1\"\n" + keys + "bandwidth = \"10B/cycle\"\n";
}
inline std::string file_with(const std::string& keys) {
  return head + core_table + cache_with(keys) + memory;
}
inline const std::string plain_keys = "capacity = \"32KiB\"\nways = 8\nline = \"64B\"\n";

inline Machine parse(const std::string& text) { return parse_machine(text, "m.toml"); }

// what() of the Error that f throws.
template <class E = InputError>
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

inline std::string parse_error(const std::string& text) {
  return error_of([&] { parse(text); });
}

inline Machine valid() { return parse(file_with(plain_keys)); }

// The shipped files of the source tree, wherever tcsim may be installed.
class MachineFiles : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TCSIM_DATA_DIR", TCSIM_SOURCE_DIR, 1);
    folder_ = test::scratch("machine");
    fs::create_directories(folder_);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    unsetenv("TCSIM_DATA_DIR");
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  fs::path folder_;
};

}  // namespace tcsim::machine_files
