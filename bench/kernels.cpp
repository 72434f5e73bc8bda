#include "bench/kernels.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/yardstick.hpp"
#include "core/error.hpp"
#include "core/workload/contraction.hpp"
#include "kernels/vector_code.hpp"
#include "microbench/host.hpp"
#include "microbench/memory.hpp"

namespace tcsim::bench {

namespace {

constexpr std::array<std::int64_t, 6> depths{4, 8, 16, 32, 64, 128};

ElementType type_of(const MeasuredKernel& m) {
  return m.element == Bytes(8) ? ElementType::f64 : ElementType::f32;
}

// Left, right and C one behind the other, each from a line of its own.
struct Operands {
  std::int64_t left = 0, right, c, end;  // bytes
  Operands(const MeasuredKernel& m, std::int64_t k) {
    const auto after = [&](std::int64_t begin, std::int64_t elements) {
      constexpr std::int64_t line = 64;
      return begin + (elements * m.element.value() + line - 1) / line * line;
    };
    right = after(left, m.rows.value() * k);
    c = after(right, m.columns.value() * k);
    end = after(c, m.rows.value() * m.columns.value());
  }
};

// The right operand of n columns and k places.
template <class T>
Panel<T> right_panel(KernelScheme scheme, const T* first, std::int64_t n, std::int64_t k) {
  switch (scheme) {
    case KernelScheme::packed:
      return {first, n};
    case KernelScheme::in_place:
      return {first, 1, k};
  }
  throw std::logic_error("no such scheme");
}

// As many calls as hide what one through std::function costs.
std::int64_t calls_of(std::int64_t k) { return std::max<std::int64_t>(1, 4096 / k); }

double flops_of(const MeasuredKernel& m, std::int64_t k) {
  return 2.0 * static_cast<double>(calls_of(k) * m.rows.value() * m.columns.value() * k);
}

// Times calls_of(k) calls on operands in `block`, which is all zeros: C is added to and would grow
// without bound.
template <class T>
HotYardstick yardstick(const MeasuredKernel& m, InstructionSet set, std::int64_t k, Block& block,
                       Seconds at_least) {
  const Operands places(m, k);
  const auto at = [&](std::int64_t byte) { return reinterpret_cast<T*>(block.data() + byte); };
  const std::int64_t rows = m.rows.value(), n = m.columns.value();
  std::vector<std::int64_t> columns;
  for (std::int64_t j = 0; j < n; ++j) columns.push_back(j * rows);
  const Panel<T> left{at(places.left), rows}, right = right_panel(m.scheme, at(places.right), n, k);
  return {type_of(m),
          [=, c = at(places.c), columns = std::move(columns), calls = calls_of(k),
           code = kernel_family<T>(set).of(rows, n)] {
            const ResultTile<T> tile{c, columns.data()};
            const KernelTask<T> task{k, left, right, tile, {1, 1}, Update<T>::Kind::add};
            for (std::int64_t i = 0; i < calls; ++i) code(task, tile);
          },
          at_least};
}

// A kernel at one k.
struct Series {
  std::size_t kernel;
  InstructionSet set;
  std::int64_t k;
  Samples samples;
  std::optional<HotYardstick> yardstick = {};  // from the first round on
};

struct ToMeasure {
  InstructionSet set;
  MeasuredKernel kernel;  // without points
};

template <class T>
void list(InstructionSet set, KernelScheme scheme, std::vector<ToMeasure>& all) {
  const KernelFamily<T>& family = kernel_family<T>(set);
  for (int vectors = 1; vectors <= family.most_vectors; ++vectors) {
    for (int columns = 1; columns <= family.columns_for(vectors); ++columns) {
      all.push_back({set,
                     {to_text(set),
                      Bytes(sizeof(T)),
                      scheme,
                      vectors,
                      Elements(std::int64_t{vectors} * family.lanes),
                      Elements(columns),
                      {}}});
    }
  }
}

std::vector<ToMeasure> all_kernels(const KernelOptions& options) {
  std::vector<ToMeasure> all;
  for (InstructionSet set : options.sets) {
    if (!can_run(set)) continue;
    for (KernelScheme scheme : options.schemes) {
      list<double>(set, scheme, all);
      list<float>(set, scheme, all);
    }
  }
  return all;
}

std::chrono::year_month_day today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

}  // namespace

Bytes first_cache() {
  const long size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  return Bytes(size > 0 ? size : 32 << 10);
}

KernelCatalog measure_kernels(const KernelOptions& options, const std::string& tcsim_version) {
  const Bytes room = first_cache();
  KernelCatalog catalog{
      tcsim_version,
      this_processor(),
      room,
      today(),
      "one thread, operands and result in the first cache; medians over "
      "rounds of processor time and of shares of a peak measured around each repetition",
      options.repetitions,
      {}};
  std::vector<Series> all;
  for (const auto& [set, kernel] : all_kernels(options)) {
    for (std::int64_t k : depths) {
      if (Operands(kernel, k).end > room.value()) break;
      all.push_back({catalog.kernels.size(), set, k, Samples(flops_of(kernel, k), {})});
    }
    catalog.kernels.push_back(kernel);
  }
  Block block(room);
  std::fill_n(block.data(), room.value(), std::byte{0});
  // Round after round, so that what disturbs the machine for a while disturbs few repetitions of
  // each.
  std::size_t done = 0;
  for (int r = 0; r < options.repetitions; ++r) {
    for (Series& s : all) {
      if (options.stop.stop_requested()) throw Interrupted();
      const MeasuredKernel& m = catalog.kernels[s.kernel];
      if (options.progress) {
        options.progress(
            fmt::format("kernels of {}, {}, {}, round {} of {}", m.instruction_set,
                        to_text(type_of(m)), to_text(m.scheme), r + 1, options.repetitions),
            static_cast<double>(done++) /
                static_cast<double>(all.size() * static_cast<std::size_t>(options.repetitions)));
      }
      if (!s.yardstick) {
        s.yardstick = type_of(m) == ElementType::f64
                          ? yardstick<double>(m, s.set, s.k, block, options.at_least)
                          : yardstick<float>(m, s.set, s.k, block, options.at_least);
      }
      s.samples.add((*s.yardstick)());
    }
  }
  for (const Series& s : all) {
    catalog.kernels[s.kernel].points.push_back({s.k, s.samples.rate(), s.samples.of_peak()});
  }
  std::erase_if(catalog.kernels, [](const MeasuredKernel& m) { return m.points.empty(); });
  return catalog;
}

}  // namespace tcsim::bench
