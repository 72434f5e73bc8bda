#include "core/optimize/blis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text/safe.hpp"
#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Bytes of one way of a cache.
std::int64_t way(const Level& cache) { return cache.sets() * cache.line.value.value(); }

// Rows of `row` bytes that fit a cache beside a panel of `panel` bytes that streams past and a way
// for C, in multiples of `step`, at least one step.
Elements rows(const Level& cache, std::int64_t panel, std::int64_t row, Elements step) {
  const std::int64_t ways =
      std::max<std::int64_t>(1, cache.ways.value - 1 - ceil_div(panel, way(cache)));
  const std::int64_t steps = ways * way(cache) / row / step.value();
  return std::max<std::int64_t>(1, steps) * step;
}

}  // namespace

BlisBlocks blis_blocks(const Machine& machine, const Kernel& kernel, ElementType type) {
  const Level& l1 = machine.level(LevelId{0});
  if (l1.kind != LevelKind::cache) {
    throw UnsupportedError(fmt::format("{}: {}", machine.name, l1.name),
                           "block sizes need a cache as the innermost level",
                           "name a machine with caches");
  }
  const std::int64_t mr = kernel.mr.value(), nr = kernel.nr.value();
  const std::int64_t element = size_of(type).value();
  // C_Ar = floor((W - 1) / (1 + nr / mr)) ways for the panel of A.
  const std::int64_t ways_of_a = (l1.ways.value - 1) * mr / (mr + nr);
  const std::int64_t kc = ways_of_a > 0 ? ways_of_a * way(l1) / (mr * element)
                                        : way(l1) / (2 * mr * element);  // equation 6
  BlisBlocks blocks{kernel.mr, kernel.nr, Elements(std::max<std::int64_t>(1, kc)), {}, {}};
  const std::int64_t depth = blocks.kc.value() * element;  // bytes of a row of A, a column of B
  const auto cache = [&](int l) -> const Level* {
    if (l >= machine.cache_count()) return nullptr;
    const Level& level = machine.level(LevelId{l});
    return level.kind == LevelKind::cache ? &level : nullptr;
  };
  if (const Level* l2 = cache(1)) {
    blocks.mc = rows(*l2, nr * depth, depth, kernel.mr);
    if (const Level* l3 = cache(2)) {
      blocks.nc = rows(*l3, blocks.mc->value() * depth, depth, kernel.nr);
    }
  }
  return blocks;
}

std::string to_blis(const BlisBlocks& b, ElementType type, const std::string& machine) {
  std::string text = fmt::format("// {}, {}x{} {}: block sizes by the caches' geometry\n",
                                 in_comment(machine), b.mr.value(), b.nr.value(), to_text(type));
  text += "//                                           s      d      c      z\n";
  const auto line = [&](const char* name, const std::optional<Elements>& size) {
    if (!size) {
      text += fmt::format("// {} is free: there is no cache for its block\n", name);
      return;
    }
    const bool f64 = type == ElementType::f64;
    text += fmt::format("bli_blksz_init_easy( &blkszs[ BLIS_{} ], {:>5}, {:>5},    -1,    -1 );\n",
                        name, f64 ? -1 : size->value(), f64 ? size->value() : -1);
  };
  line("MR", b.mr);
  line("NR", b.nr);
  line("MC", b.mc);
  line("KC", b.kc);
  line("NC", b.nc);
  return text;
}

}  // namespace tcsim
