#include "kernels/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/error.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20, small_page = 4096;
// Up to here small pages do: a first-level TLB holds them all.
constexpr std::int64_t in_small_pages = std::int64_t{64} << 10;
// A vector that begins with the last element may be read.
constexpr std::int64_t slack = 256;
constexpr std::size_t at_once = std::size_t{64} << 20;  // is touched between two looks at the stop

}  // namespace

Bytes Memory::taken(Bytes size) {
  if (size.value() == 0) return size;
  const std::int64_t wanted = size.value() + slack;
  const std::int64_t page = wanted <= in_small_pages ? small_page : huge_page;
  return Bytes((wanted + page - 1) / page * page);
}

Bytes Memory::most_within(Bytes taken) {
  const std::int64_t small = std::min<std::int64_t>(taken.value(), in_small_pages);
  const std::int64_t most =
      std::max(taken.value() / huge_page * huge_page, small / small_page * small_page);
  return Bytes(std::max<std::int64_t>(most - slack, 0));
}

Memory::Memory(Bytes size) : size_(static_cast<std::size_t>(taken(size).value())) {
  if (size_ == 0) return;
  // One huge page more, and cut the ends off, since mmap aligns to small ones.
  const std::size_t mapped = size_ + huge_page;
  void* place = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    throw UnsupportedError("memory", fmt::format("the system does not give {}", to_display(size)),
                           "use smaller sizes, or fewer threads");
  }
  auto* begin = static_cast<std::byte*>(place);
  const std::size_t skipped =
      (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  data_ = begin + skipped;
  if (skipped > 0) munmap(begin, skipped);
  munmap(data_ + size_, mapped - skipped - size_);
  // Advice only: without huge pages it is slower, not wrong.
  madvise(data_, size_, MADV_HUGEPAGE);
  try {
    StopCheck check(1);
    for (std::size_t done = 0; done < size_; done += at_once, check()) {
      madvise(data_ + done, std::min(at_once, size_ - done), MADV_POPULATE_WRITE);
    }
  } catch (...) {
    munmap(data_, size_);
    throw;
  }
}

Memory::~Memory() {
  if (data_) munmap(data_, size_);
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace tcsim
