// Numbers between pages that may not be read: a kernel that loads what lies before the first or
// behind the last one ends the program.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <stdexcept>

namespace tcsim::test {

template <class T>
class Guarded {
 public:
  static constexpr std::int64_t count = (64 << 10) / sizeof(T);

  // number(i) for i < count.
  template <class F>
  explicit Guarded(F&& number) {
    void* const all = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::runtime_error("no memory");
    pages_ = static_cast<char*>(all);
    if (mprotect(pages_ + guard, bytes - 2 * guard, PROT_READ | PROT_WRITE) != 0) {
      throw std::runtime_error("no memory that may be written");
    }
    for (std::int64_t i = 0; i < count; ++i) begin()[i] = number(i);
  }
  ~Guarded() { munmap(pages_, bytes); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* begin() const { return reinterpret_cast<T*>(pages_ + guard); }
  T* end() const { return begin() + count; }

 private:
  static constexpr std::size_t guard = 64 << 10, bytes = 2 * guard + count * sizeof(T);
  char* pages_ = nullptr;
};

}  // namespace tcsim::test
