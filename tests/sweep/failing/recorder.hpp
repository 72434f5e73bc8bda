// What a disk has of a folder's files after a power cut. Internal to the failing system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/sweep/failing/system.hpp"

namespace tcsim::test {

class Recorder {
 public:
  Recorder(std::filesystem::path folder, std::uint32_t seed);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The power is cut now.
  void cut(const std::string& where);
  // What an open file has is on the disk, or the folder's names are.
  void synced(int file, bool folder);
  // The file of that name is about to lose it. It stays open, so that no new file gets its number.
  void hold(const std::string& path);

  const std::vector<PowerCut>& cuts() const { return cuts_; }

 private:
  using Names = std::map<std::string, ino_t>;
  Names names() const;
  std::string bytes_now(ino_t file) const;
  std::string bytes_synced(ino_t file) const;
  // Each 512 bytes as they were synced or as they are.
  std::string torn(ino_t file);
  void add(const std::string& where, bool exact, Files files);

  std::filesystem::path folder_;
  std::mt19937 random_;
  Names synced_names_;
  std::map<ino_t, std::string> synced_;
  std::map<ino_t, int> held_;
  std::vector<PowerCut> cuts_;
  std::set<Files> known_;
};

}  // namespace tcsim::test
