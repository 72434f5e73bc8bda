// The system of this program, made to fail on purpose: the calls that change files (SQLite's are
// the same), the memory and the threads that it gives. The program that links it has them instead
// of the C library's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TCSIM_SANITIZED 1  // they give memory and threads by themselves
#endif

namespace tcsim::test {

enum class Call { open, write, sync, rename, remove, truncate, memory, thread };
inline constexpr int call_kinds = 8;
std::string to_text(Call call);

// What fails, from begin_failing() to end_failing().
struct Failure {
  Call call = Call::open;
  std::int64_t which = -1;  // of the calls of that kind, from 0; negative: none
  int error = 0;            // errno
  bool half = false;        // a write that fails writes half of its bytes first
  bool for_good = false;    // and so do all later ones of that kind
};
// Of files in `folder` alone; memory and threads of everything.
void begin_failing(const std::filesystem::path& folder, const Failure& failure);
// Calls of each kind since.
std::vector<std::int64_t> end_failing();

// What files a folder has, by name, with their bytes.
using Files = std::map<std::string, std::string>;

// From begin_recording() on, at each sync of a file in the folder or of the folder itself: what the
// disk may have if the power is cut there. A name is on the disk when its folder was synced, bytes
// when their file was; the others may be there or not.
struct PowerCut {
  std::string where;
  bool exact = true;  // names or bytes are all of one time; otherwise each by chance
  Files files;
};
void begin_recording(const std::filesystem::path& folder, std::uint32_t seed);
std::vector<PowerCut> end_recording();

}  // namespace tcsim::test
