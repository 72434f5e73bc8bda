#include "microbench/stream.hpp"

#include <algorithm>
#include <memory>

namespace tcsim {

namespace {

constexpr long page = 4096;
constexpr long short_pass = 1 << 20;  // bytes: well below a repetition

// Where a thread is in its arrays; a line of its own.
struct alignas(64) Cursor {
  long at = 0;
};

void run(AccessMix mix, const ElementLoops& loops, std::byte* block, const StreamLayout& layout,
         long begin, long bytes, long passes) {
  std::byte* const a = block + layout.offset[0] + begin;
  std::byte* const b = block + layout.offset[1] + begin;
  std::byte* const c = block + layout.offset[2] + begin;
  switch (mix) {
    case AccessMix::load_fma_store:
      return loops.load_fma_store(a, bytes, passes);
    case AccessMix::load:
      return loops.load(a, bytes, passes);
    case AccessMix::copy:
      return loops.copy(a, b, bytes, passes);
    case AccessMix::triad:
      return loops.triad(a, b, c, bytes, passes);
  }
}

}  // namespace

int array_count(AccessMix mix) {
  return mix == AccessMix::copy ? 2 : mix == AccessMix::triad ? 3 : 1;
}

int counted_per_byte(AccessMix mix) {
  return mix == AccessMix::load ? 1 : mix == AccessMix::triad ? 3 : 2;
}

StreamLayout::StreamLayout(AccessMix mix, Bytes wanted) {
  const int arrays = array_count(mix);
  array = std::max(1L, static_cast<long>(wanted.value()) / arrays / loop_step) * loop_step;
  working_set = Bytes(array * arrays);
  const long stride = (array + page - 1) / page * page;
  const long stagger = page / arrays / loop_step * loop_step;
  for (int i = 0; i < arrays; ++i) offset[i] = i * (stride + stagger);
}

Bytes StreamLayout::end() const {
  return Bytes(array + *std::max_element(std::begin(offset), std::end(offset)));
}

Bytes block_for(Bytes working_set) {
  return std::max({StreamLayout(AccessMix::load, working_set).end(),
                   StreamLayout(AccessMix::copy, working_set).end(),
                   StreamLayout(AccessMix::triad, working_set).end()});
}

Work stream_work(AccessMix mix, const ElementLoops& loops, Bytes working_set,
                 const std::vector<Block>& blocks) {
  const StreamLayout layout(mix, working_set);
  const auto cursors = std::make_shared<std::vector<Cursor>>(blocks.size());
  Work work;
  if (layout.array <= short_pass) work.grain = layout.array / loop_step;
  const auto block = [&blocks](int thread) {
    return blocks[static_cast<std::size_t>(thread)].data();
  };
  work.prepare = [=, &loops](int thread) {
    run(mix, loops, block(thread), layout, 0, layout.array, 1);
  };
  work.run = [=, &loops](int thread, long units) {
    long& at = (*cursors)[static_cast<std::size_t>(thread)].at;
    for (long left = units * loop_step; left > 0;) {
      const bool whole = at == 0 && left >= layout.array;
      const long passes = whole ? left / layout.array : 1;
      const long bytes = whole ? layout.array : std::min(left, layout.array - at);
      run(mix, loops, block(thread), layout, at, bytes, passes);
      left -= bytes * passes;
      at = (at + bytes) % layout.array;
    }
  };
  return work;
}

std::vector<BytesPerSecond> stream_rates(AccessMix mix, int threads, const Timed& timing) {
  const double unit = static_cast<double>(loop_step) * counted_per_byte(mix) * threads;
  std::vector<BytesPerSecond> rates;
  for (Seconds s : timing.units) rates.emplace_back(unit / s.value());
  return rates;
}

}  // namespace tcsim
