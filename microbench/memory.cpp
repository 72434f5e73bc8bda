#include "microbench/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

std::size_t round_up(std::size_t x) { return (x + huge_page - 1) / huge_page * huge_page; }

}  // namespace

Block::Block(Bytes size)
    // Whole huge pages, so that the last piece gets one too.
    : size_(round_up(static_cast<std::size_t>(std::max<std::int64_t>(1, size.value())))) {
  mapped_ = size_ + huge_page;  // mmap aligns to small pages only
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    throw UnsupportedError("probe", "no memory for a block of " + to_display(size),
                           "free some, or name a machine file with --machine");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = static_cast<std::byte*>(mapping_) + (round_up(address) - address);
  madvise(data_, size_, MADV_HUGEPAGE);  // a wish: without it the measurement is only noisier
  std::fill_n(reinterpret_cast<double*>(data_), size_ / sizeof(double), 1.0);
}

Block::~Block() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Block::Block(Block&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      size_(other.size_),
      data_(other.data_) {}

Block& Block::operator=(Block&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
  return *this;
}

Bytes Block::on_huge_pages() const {
  // The kernel may have joined the mapping with its neighbours: whatever overlaps counts, at most
  // the block itself.
  std::ifstream smaps("/proc/self/smaps");
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  std::int64_t kib = 0;
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long from = 0, to = 0;
    long value = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) {
      inside = from < begin + size_ && to > begin;
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %ld kB", &value) == 1) {
      kib += value;
    }
  }
  return std::min(Bytes(kib * 1024), size());
}

Bytes free_memory() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    long kib = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %ld kB", &kib) == 1) return Bytes(kib * 1024);
  }
  return Bytes(0);
}

}  // namespace tcsim
