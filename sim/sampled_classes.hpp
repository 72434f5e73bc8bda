// The classes of sets that a sample draws (sim/sample.hpp), each with caches of its own, and what
// their counts say of all classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/sample.hpp"
#include "sim/system.hpp"

namespace tcsim::sim {

// log2 of the longest line: a class consists of whole ones.
int region_bits_of(const SystemConfig& config);

// Classes of sets that know nothing of each other: class_count(), but 1 where a level prefetches or
// has a victim cache.
std::int64_t independent_classes(const SystemConfig& config);

// Calls part(address, bytes) for what of an access lies in each region of 2^bits bytes.
template <class Part>
void for_each_region(std::uint64_t address, std::uint64_t bytes, int bits, Part&& part) {
  const std::uint64_t region = std::uint64_t{1} << bits;
  for (std::uint64_t left = bytes; left > 0;) {
    const std::uint64_t here = std::min(left, region - (address & (region - 1)));
    part(address, here);
    address += here;
    left -= here;
  }
}

class SampledClasses {
 public:
  // Draws `count` of the classes by the seed. Throws as sample() does.
  SampledClasses(const SystemConfig& config, std::int64_t count);

  void access(int core, std::uint64_t address, std::uint64_t bytes, bool write) {
    for_each_region(address, bytes, region_bits_, [&](std::uint64_t at, std::uint64_t part) {
      const std::uint64_t number = at >> region_bits_;
      if (System<>* system = of_class_[number & (of_class_.size() - 1)]) {
        // Lines are numbered without the bits that name the class.
        const std::uint64_t inside = at & ((std::uint64_t{1} << region_bits_) - 1);
        system->access(core, ((number >> class_bits_) << region_bits_) | inside, part, write);
      }
    });
  }
  void drain() {
    for (auto& system : systems_) system->drain();
  }
  SampledSimulation estimates() const;
  // Of each class that was drawn.
  std::vector<double> misses(int level) const {
    std::vector<double> all;
    for (const auto& s : systems_) all.push_back(static_cast<double>(s->events(level).misses));
    return all;
  }

 private:
  int region_bits_, class_bits_;
  std::vector<std::unique_ptr<System<>>> systems_;
  std::vector<System<>*> of_class_;
};

}  // namespace tcsim::sim
