#include "tests/chains/counted_memory.hpp"

#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

std::atomic<std::int64_t> now{0}, most{0};

void add(std::int64_t bytes) {
  const std::int64_t sum = now += bytes;
  std::int64_t before = most;
  while (sum > before && !most.compare_exchange_weak(before, sum)) {
  }
}
void* added(void* place) {
  if (place != nullptr) add(static_cast<std::int64_t>(malloc_usable_size(place)));
  return place;
}
void removed(void* place) {
  if (place != nullptr) now -= static_cast<std::int64_t>(malloc_usable_size(place));
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return added(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return added(__libc_calloc(count, size)); }
void* memalign(std::size_t at, std::size_t size) { return added(__libc_memalign(at, size)); }
void* aligned_alloc(std::size_t at, std::size_t size) { return memalign(at, size); }
int posix_memalign(void** place, std::size_t at, std::size_t size) {
  *place = memalign(at, size);
  return *place == nullptr ? ENOMEM : 0;
}
void* realloc(void* place, std::size_t size) {
  removed(place);
  return added(__libc_realloc(place, size));
}
void free(void* place) {
  removed(place);
  __libc_free(place);
}

void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  const long place = syscall(SYS_mmap, at, size, protection, flags, file, offset);
  if (place != -1) add(static_cast<std::int64_t>(size));
  return reinterpret_cast<void*>(place);
}
int munmap(void* at, std::size_t size) noexcept {
  now -= static_cast<std::int64_t>(size);
  return static_cast<int>(syscall(SYS_munmap, at, size));
}

}  // extern "C"

namespace tcsim::test {

std::int64_t memory_now() { return now; }
void watch_memory() { most = now.load(); }
std::int64_t most_memory() { return most; }

}  // namespace tcsim::test
