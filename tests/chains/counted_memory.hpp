// What this program has of memory, by its own count: malloc() and its kin, and mmap(). With GNU's
// library alone, and without sanitizers, which have a malloc() of their own.
#pragma once

#include <cstdint>

namespace tcsim::test {

std::int64_t memory_now();
// From now on.
void watch_memory();
std::int64_t most_memory();

}  // namespace tcsim::test
