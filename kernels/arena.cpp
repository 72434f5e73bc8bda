#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
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

[[noreturn]] void refuse(const Contraction& c, const std::string& what, Bytes need,
                         const std::string& have) {
  const auto of = [&](TensorId t) { return to_display(c.size(t).value() * size_of(c.type())); };
  throw UnsupportedError(
      fmt::format("{} {}", c.name(), c.sizes()),
      fmt::format("{} need {} (A {}, B {}, C {}), {}", what, to_display(need), of(TensorId::A),
                  of(TensorId::B), of(TensorId::C), have),
      c.type() == ElementType::f64 ? "use smaller sizes, or f32" : "use smaller sizes");
}

void require(const Contraction& c, const std::string& what, Bytes need) {
  const Bytes have = available_memory();
  if (need <= have) return;
  refuse(c, what, need, fmt::format("this machine has {} available", to_display(have)));
}

}  // namespace

void require_memory(const Contraction& c) {
  double need = 0;  // three tensors may need more than an int64_t of bytes
  for (TensorId t : all_tensors) {
    need += static_cast<double>(c.size(t).value()) * static_cast<double>(size_of(c.type()).value());
  }
  constexpr double most = 0x1p62;
  require(c, "its tensors", Bytes(static_cast<std::int64_t>(std::min(need, most))));
}

void require_memory(const Plan& plan) {
  require(plan.contraction(), "its tensors and buffers", plan.arena_size());
}

Arena::Arena(const Plan& plan) : plan_(&plan) {
  require_memory(plan);
  size_ =
      (static_cast<std::size_t>(plan.arena_size().value()) + huge_page - 1) / huge_page * huge_page;
  // Pages come as zeros. One huge page more, and cut the ends off, since mmap aligns to small ones.
  const std::size_t mapped = size_ + huge_page;
  void* place = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    refuse(plan.contraction(), "its tensors and buffers", plan.arena_size(),
           "which the system does not give");
  }
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
