#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "core/units/text.hpp"
#include "kernels/execute.hpp"

namespace tcsim {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

// Memory that can be had without swapping, by the kernel's own estimate; unlimited if it keeps
// silent.
Bytes available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key, rest;
  while (info >> key) {
    std::int64_t kib = 0;
    if (key == "MemAvailable:" && info >> kib) return Bytes(kib * 1024);
    std::getline(info, rest);
  }
  return Bytes(std::numeric_limits<std::int64_t>::max());
}

[[noreturn]] void refuse(const Plan& plan, const std::string& have) {
  throw UnsupportedError(
      plan.contraction().name(),
      fmt::format("its tensors and buffers need {}, {}", to_display(plan.arena_size()), have),
      "use smaller sizes, or f32");
}

}  // namespace

Arena::Arena(const Plan& plan) : plan_(&plan) {
  const Bytes have = available_memory();
  if (plan.arena_size() > have) {
    refuse(plan, fmt::format("this machine has {} available", to_display(have)));
  }
  size_ =
      (static_cast<std::size_t>(plan.arena_size().value()) + huge_page - 1) / huge_page * huge_page;
  // Pages come as zeros. One huge page more, and cut the ends off, since mmap aligns to small ones.
  const std::size_t mapped = size_ + huge_page;
  void* place = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) refuse(plan, "which the system does not give");
  auto* begin = static_cast<std::byte*>(place);
  const std::size_t skipped =
      (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  data_ = begin + skipped;
  if (skipped > 0) munmap(begin, skipped);
  munmap(data_ + size_, mapped - skipped - size_);
  // Advice only: without huge pages the arena is slower, not wrong. Page faults now, so that no
  // timed run pays for them.
  madvise(data_, size_, MADV_HUGEPAGE);
  madvise(data_, size_, MADV_POPULATE_WRITE);
}

Arena::~Arena() { munmap(data_, size_); }

}  // namespace tcsim
