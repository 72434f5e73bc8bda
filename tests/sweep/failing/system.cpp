#include "tests/sweep/failing/system.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "tests/sweep/failing/recorder.hpp"

namespace tcsim::test {

namespace {

struct State {
  std::atomic<bool> on = false;
  std::string folder, real_folder;  // as it was given, and without links
  Failure failure;
  std::atomic<std::int64_t> counts[call_kinds] = {};
};
State state;
Recorder* recorder = nullptr;
thread_local bool inside = false;  // these functions' own calls are no calls

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

bool watched() { return state.on && !inside; }
bool in_folder(const std::string& path) {
  const auto in = [&](const std::string& folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
  };
  return in(state.folder) || in(state.real_folder);
}
bool is_folder(const std::string& path) {
  return path == state.folder || path == state.real_folder;
}

// Whether this call fails, with errno.
bool fails(Call call) {
  const std::int64_t n = state.counts[static_cast<int>(call)]++;
  const Failure& f = state.failure;
  if (f.call != call || f.which < 0 || !(f.for_good ? n >= f.which : n == f.which)) return false;
  errno = f.error;
  return true;
}

std::string path_of(int file) {
  const Inside here;
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t n = readlink(link, path, sizeof path);
  return n < 0 ? "" : std::string(path, static_cast<std::size_t>(n));
}

bool path_fails(const char* path, Call call) {
  if (!watched()) return false;
  {
    const Inside here;
    if (!in_folder(path)) return false;
  }
  return fails(call);
}

bool file_fails(int file, Call call) {
  if (!watched()) return false;
  const std::string path = path_of(file);
  const Inside here;
  // The folder itself can be synced.
  if (!in_folder(path) && !is_folder(path)) return false;
  return fails(call);
}

// The bytes that a write which fails writes nevertheless.
std::size_t half_of(std::size_t n) { return state.failure.half ? n / 2 : 0; }

}  // namespace

std::string to_text(Call call) {
  return std::vector<std::string>{"open",   "write",    "sync",   "rename",
                                  "remove", "truncate", "memory", "thread"}
      [static_cast<std::size_t>(call)];
}

void begin_failing(const std::filesystem::path& folder, const Failure& failure) {
  state.folder = folder.string();
  state.real_folder = std::filesystem::weakly_canonical(folder).string();
  state.failure = failure;
  for (auto& n : state.counts) n = 0;
  state.on = true;
}

std::vector<std::int64_t> end_failing() {
  state.on = false;
  return {std::begin(state.counts), std::end(state.counts)};
}

void begin_recording(const std::filesystem::path& folder, std::uint32_t seed) {
  delete recorder;
  recorder = new Recorder(folder, seed);
  begin_failing(folder, {});
}

std::vector<PowerCut> end_recording() {
  end_failing();
  recorder->cut("the end");
  std::vector<PowerCut> all = recorder->cuts();
  delete recorder;
  recorder = nullptr;
  return all;
}

namespace {

int open_as(const char* symbol, const char* path, int flags, mode_t mode) {
  using Open = int (*)(const char*, int, ...);
  const auto call = next<Open>(symbol);
  if ((flags & O_CREAT) != 0 && path_fails(path, Call::open)) return -1;
  return call(path, flags, mode);
}

// Of a file that is about to lose its name: its bytes may still be what the disk has.
void losing(const char* path) {
  if (recorder == nullptr || !watched()) return;
  const Inside here;
  if (in_folder(path)) recorder->hold(path);
}

int sync_as(const char* symbol, int file) {
  if (file_fails(file, Call::sync)) return -1;
  const bool record = recorder != nullptr && watched();
  const std::string path = record ? path_of(file) : "";
  const bool ours = record && (in_folder(path) || is_folder(path));
  if (ours) {
    const Inside here;
    recorder->cut("before the sync of " + path);
  }
  const int code = next<int (*)(int)>(symbol)(file);
  if (ours && code == 0) {
    const Inside here;
    recorder->synced(file, is_folder(path));
  }
  return code;
}

int remove_as(const char* symbol, const char* path) {
  if (path_fails(path, Call::remove)) return -1;
  losing(path);
  return next<int (*)(const char*)>(symbol)(path);
}

template <class Offset>
ssize_t write_at_as(const char* symbol, int file, const void* bytes, size_t n, Offset at) {
  const auto call = next<ssize_t (*)(int, const void*, size_t, Offset)>(symbol);
  if (!file_fails(file, Call::write)) return call(file, bytes, n, at);
  const int error = errno;
  const std::size_t half = half_of(n);
  if (half > 0) return call(file, bytes, half, at);
  errno = error;
  return -1;
}

}  // namespace

}  // namespace tcsim::test

using tcsim::test::Call;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : mode_t{0};
  va_end(rest);
  return tcsim::test::open_as("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : mode_t{0};
  va_end(rest);
  return tcsim::test::open_as("open64", path, flags, mode);
}
ssize_t write(int file, const void* bytes, size_t n) {
  const auto call = tcsim::test::next<ssize_t (*)(int, const void*, size_t)>("write");
  if (!tcsim::test::file_fails(file, Call::write)) return call(file, bytes, n);
  const int error = errno;
  const std::size_t half = tcsim::test::half_of(n);
  if (half > 0) return call(file, bytes, half);
  errno = error;
  return -1;
}
ssize_t pwrite(int file, const void* bytes, size_t n, off_t at) {
  return tcsim::test::write_at_as("pwrite", file, bytes, n, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t n, off64_t at) {
  return tcsim::test::write_at_as("pwrite64", file, bytes, n, at);
}
int fsync(int file) { return tcsim::test::sync_as("fsync", file); }
int fdatasync(int file) { return tcsim::test::sync_as("fdatasync", file); }
int rename(const char* from, const char* to) noexcept {
  if (tcsim::test::path_fails(to, Call::rename)) return -1;
  tcsim::test::losing(to);
  return tcsim::test::next<int (*)(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) noexcept { return tcsim::test::remove_as("unlink", path); }
int remove(const char* path) noexcept { return tcsim::test::remove_as("remove", path); }
int ftruncate(int file, off_t size) noexcept {
  if (tcsim::test::file_fails(file, Call::truncate)) return -1;
  return tcsim::test::next<int (*)(int, off_t)>("ftruncate")(file, size);
}
int ftruncate64(int file, off64_t size) noexcept {
  if (tcsim::test::file_fails(file, Call::truncate)) return -1;
  return tcsim::test::next<int (*)(int, off64_t)>("ftruncate64")(file, size);
}

#ifndef TCSIM_SANITIZED
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
  if (tcsim::test::watched() && tcsim::test::fails(Call::thread)) return EAGAIN;
  return tcsim::test::next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
      "pthread_create")(thread, attributes, routine, argument);
}
// SQLite's memory and operator new's; the C library's own memory has other ways.
void* malloc(size_t n) noexcept {
  static const auto call = tcsim::test::next<void* (*)(size_t)>("malloc");
  if (tcsim::test::watched() && tcsim::test::fails(Call::memory)) return nullptr;
  return call(n);
}
#endif

}  // extern "C"
