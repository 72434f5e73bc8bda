#include "bench/kernels.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "bench/yardstick.hpp"
#include "core/error.hpp"
#include "kernels/shapes.hpp"
#include "kernels/vector_code.hpp"
#include "microbench/memory.hpp"

namespace tcsim::bench {

namespace {

constexpr std::array<std::int64_t, 6> depths{4, 8, 16, 32, 64, 128};

Bytes first_cache() {
  const long size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  return Bytes(size > 0 ? size : 32 << 10);
}

// Left, right and C one behind the other, each from a line of its own.
struct Places {
  std::int64_t left = 0, right, c, end;  // bytes
  Places(const KernelShape& s, std::int64_t k) {
    const auto after = [&](std::int64_t begin, std::int64_t elements) {
      constexpr std::int64_t line = 64;
      return begin + (elements * size_of(s.type).value() + line - 1) / line * line;
    };
    right = after(left, s.mr.value() * k);
    c = after(right, s.nr.value() * k);
    end = after(c, s.mr.value() * s.nr.value());
  }
};

template <class T>
KernelPoint measure(const KernelShape& shape, std::int64_t k, Block& block,
                    const KernelOptions& options) {
  const Places places(shape, k);
  const auto at = [&](std::int64_t byte) { return reinterpret_cast<T*>(block.data() + byte); };
  T *left = at(places.left), *right = at(places.right), *c = at(places.c);
  // Zeros, since C would grow without bound.
  std::fill(left, at(places.end), T{0});
  std::vector<std::int64_t> columns;
  for (std::int64_t j = 0; j < shape.nr.value(); ++j) columns.push_back(j * shape.mr.value());

  const KernelFamily<T>& family = kernel_family<T>(shape.needs);
  const auto code = family.of(shape.mr.value() / family.lanes, shape.nr.value());
  const std::int64_t mr = shape.mr.value(), nr = shape.nr.value();
  const ResultTile<T> tile{c, columns.data()};
  const KernelTask<T> task{k, {left, mr}, {right, nr}, tile, {1, 1}, Update<T>::Kind::add};
  // As many calls as hide what a call through std::function costs.
  const std::int64_t calls = std::max<std::int64_t>(1, 4096 / k);
  const auto work = [&] {
    for (std::int64_t i = 0; i < calls; ++i) code(task, tile);
  };
  const double flops = 2.0 * static_cast<double>(calls * mr * nr * k);
  HotYardstick yardstick(shape.type, work, options.at_least);
  Samples samples(flops, Bytes(0));
  for (int r = 0; r < options.repetitions; ++r) {
    if (options.stop.stop_requested()) throw Interrupted();
    samples.add(yardstick());
  }
  return {k, samples.rate(), samples.of_peak()};
}

template <class T>
void list(InstructionSet set, ElementType type, std::vector<KernelShape>& shapes) {
  const KernelFamily<T>& family = kernel_family<T>(set);
  for (int vectors = 1; vectors <= family.most_vectors; ++vectors) {
    for (int columns = 1; columns <= family.columns_for(vectors); ++columns) {
      shapes.push_back({Elements(vectors * family.lanes), Elements(columns), set, type});
    }
  }
}

}  // namespace

double MeasuredKernel::best_of_peak() const {
  double best = 0;
  for (const KernelPoint& p : points) best = std::max(best, p.of_peak);
  return best;
}

std::vector<MeasuredKernel> bench_kernels(const KernelOptions& options) {
  std::vector<KernelShape> shapes;
  for (InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::plain}) {
    if (!can_run(set)) continue;
    list<double>(set, ElementType::f64, shapes);
    list<float>(set, ElementType::f32, shapes);
  }
  Block block(first_cache());
  std::vector<MeasuredKernel> all;
  for (const KernelShape& s : shapes) {
    MeasuredKernel m{s, {}};
    for (std::int64_t k : depths) {
      if (Places(s, k).end > first_cache().value()) break;
      if (options.progress) {
        options.progress((static_cast<double>(all.size()) +
                          static_cast<double>(m.points.size()) / depths.size()) /
                         static_cast<double>(shapes.size()));
      }
      m.points.push_back(s.type == ElementType::f64 ? measure<double>(s, k, block, options)
                                                    : measure<float>(s, k, block, options));
    }
    all.push_back(std::move(m));
  }
  return all;
}

}  // namespace tcsim::bench
