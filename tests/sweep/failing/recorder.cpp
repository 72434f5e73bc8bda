#include "tests/sweep/failing/recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tcsim::test {

namespace fs = std::filesystem;

namespace {

std::string bytes_of(int file) {
  std::string bytes;
  char piece[1 << 16];
  for (;;) {
    const ssize_t n = pread(file, piece, sizeof piece, static_cast<off_t>(bytes.size()));
    if (n <= 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(n));
  }
}

ino_t number_of(const fs::path& path) {
  struct stat s {};
  return lstat(path.c_str(), &s) == 0 ? s.st_ino : 0;
}

}  // namespace

Recorder::Recorder(fs::path folder, std::uint32_t seed)
    : folder_(std::move(folder)), random_(seed) {}

Recorder::~Recorder() {
  for (const auto& [number, file] : held_) ::close(file);
}

Recorder::Names Recorder::names() const {
  Names all;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    all[entry.path().filename().string()] = number_of(entry.path());
  }
  return all;
}

std::string Recorder::bytes_now(ino_t number) const {
  if (const auto held = held_.find(number); held != held_.end()) return bytes_of(held->second);
  for (const auto& [name, other] : names()) {
    if (other != number) continue;
    const int file = ::open((folder_ / name).c_str(), O_RDONLY | O_CLOEXEC);
    std::string bytes = bytes_of(file);
    ::close(file);  // and with it SQLite's locks, which nobody else asks for
    return bytes;
  }
  return "";
}

std::string Recorder::bytes_synced(ino_t number) const {
  const auto at = synced_.find(number);
  return at == synced_.end() ? "" : at->second;
}

std::string Recorder::torn(ino_t number) {
  std::string old = bytes_synced(number);
  const std::string fresh = bytes_now(number);
  constexpr std::size_t sector = 512;
  if (fresh.size() > old.size()) {
    const std::size_t sectors = (fresh.size() - old.size() + sector - 1) / sector;
    old.resize(std::min(fresh.size(), old.size() + sector * (random_() % (sectors + 1))));
  }
  for (std::size_t at = 0; at < std::min(old.size(), fresh.size()); at += sector) {
    if (random_() % 2 == 0) old.replace(at, sector, fresh.substr(at, sector));
  }
  return old;
}

void Recorder::add(const std::string& where, bool exact, Files files) {
  if (known_.insert(files).second) cuts_.push_back({where, exact, std::move(files)});
}

void Recorder::cut(const std::string& where) {
  const Names now = names();
  Files strict, names_first, bytes_first, by_chance;
  for (const auto& [name, number] : synced_names_) {
    strict[name] = bytes_synced(number);
    bytes_first[name] = bytes_now(number);
  }
  for (const auto& [name, number] : now) names_first[name] = bytes_synced(number);
  Names either = synced_names_;
  for (const auto& [name, number] : now) {
    if (random_() % 2 == 0) either[name] = number;
  }
  for (const auto& [name, number] : synced_names_) {
    if (!now.contains(name) && random_() % 2 == 0) either.erase(name);
  }
  for (const auto& [name, number] : either) by_chance[name] = torn(number);
  add(where + ", what was synced", true, std::move(strict));
  add(where + ", names first", true, std::move(names_first));
  add(where + ", bytes first", true, std::move(bytes_first));
  add(where + ", by chance", false, std::move(by_chance));
}

void Recorder::synced(int file, bool folder) {
  if (folder) {
    synced_names_ = names();
    return;
  }
  struct stat s {};
  fstat(file, &s);
  // It may be open for writing alone.
  const int readable =
      ::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC);
  synced_[s.st_ino] = bytes_of(readable);
  ::close(readable);
}

void Recorder::hold(const std::string& path) {
  const ino_t number = number_of(path);
  if (number == 0 || held_.contains(number)) return;
  held_[number] = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace tcsim::test
