#include "sim/simulate.hpp"

#include <fmt/format.h>

#include <bit>
#include <chrono>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "sim/hierarchy.hpp"

namespace tcsim {

namespace {

using sim::Hierarchy;
using sim::LineRun;

constexpr std::int64_t max_line_bytes = 4096;  // arrays begin at multiples of this

// The line size that all caches share, after a check that the machine can be simulated.
std::int64_t line_bytes_of(const Machine& machine, Bytes element) {
  if (machine.cache_count() < 1) {
    throw UnsupportedError(machine.name, "the machine has no cache to simulate",
                           "give it a cache inside its memory");
  }
  require_plain_caches(machine);
  const std::int64_t line = machine.levels.front().line.value.value();
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    const std::string place = fmt::format("{}: {}", machine.name, level.name);
    if (level.line.value.value() != line) {
      throw UnsupportedError(
          place,
          fmt::format("its lines have {} bytes, those of {} {}", level.line.value.value(),
                      machine.levels.front().name, line),
          "give all caches the same line size");
    }
    if (level.sets() < 1 || level.sets() * level.ways.value > sim::max_lines) {
      throw UnsupportedError(place,
                             fmt::format("{} sets of {} ways", level.sets(), level.ways.value),
                             "simulate a cache of 1 to 2^31 - 1 lines");
    }
  }
  if (line < element.value() || line > max_line_bytes ||
      !std::has_single_bit(static_cast<std::uint64_t>(line))) {
    throw UnsupportedError(
        machine.name, fmt::format("lines of {} bytes are not simulated", line),
        fmt::format("use a power of two from {} to {} bytes", element.value(), max_line_bytes));
  }
  return line;
}

Hierarchy hierarchy_of(const Plan& plan, const Machine& machine, std::int64_t line) {
  if (plan.arena_size().value() / line >= sim::max_lines) {
    throw UnsupportedError(
        plan.contraction().name(),
        fmt::format("its arrays have {} bytes, 2^31 - 1 lines or more", plan.arena_size().value()),
        "use smaller sizes or longer lines");
  }
  std::vector<sim::CacheShape> caches;
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    caches.push_back({level.sets(), level.ways.value});
  }
  std::array<std::uint32_t, array_count> first_lines{};
  for (ArrayId a : all_arrays) {
    const bool is_there = !is_buffer(a) || plan.pack(tensor_of(a)) != nullptr;
    first_lines[static_cast<std::size_t>(index(a))] =
        is_there ? static_cast<std::uint32_t>(plan.base(a).value() / line) : sim::no_lines;
  }
  return Hierarchy(caches, first_lines, std::countr_zero(static_cast<std::uint64_t>(line)));
}

// Visits a plan's packs and kernels and touches what they touch.
class Simulator {
 public:
  Simulator(const Plan& plan, const Machine& machine, const SimulationOptions& options)
      : plan_(plan),
        options_(options),
        element_(plan.element().value()),
        line_(line_bytes_of(machine, plan.element())),
        line_shift_(std::countr_zero(static_cast<std::uint64_t>(line_))),
        caches_(hierarchy_of(plan, machine, line_)) {
    for (TensorId t : all_tensors) {
      for (DimClass g : all_dim_classes) {
        runs_[static_cast<std::size_t>(index(t))][at(g)] =
            contiguous_runs(plan.offsets(t, g), plan.extent(g));
      }
    }
  }

  void pack(const PackPlan& pack, const Tile& tile) {
    caches_.enter(Phase::packing);
    const bool along_k = !pack.along_rows;
    const std::int64_t start =
        plan_.offset(pack.tensor, DimClass::batch, tile[at(DimClass::batch)].begin);
    const ArrayId buffer = buffer_of(pack.tensor);
    for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
      heed_stop();
      if (blocks.size() > 1) {
        pack_together(pack, blocks, start);
      } else {
        const PackBlock& block = blocks.front();
        const Range rows{block.row, block.rows}, ks{block.k, block.k_size};
        const DimClass outer = along_k ? pack.rows : DimClass::k;
        const DimClass inner = along_k ? DimClass::k : pack.rows;
        const Range outer_range = along_k ? rows : ks, inner_range = along_k ? ks : rows;
        for (std::int64_t i = 0; i < outer_range.size; ++i) {
          touch_row<false>(pack.tensor, inner, inner_range,
                           start + plan_.offset(pack.tensor, outer, outer_range.begin + i));
        }
        caches_.write(lines_of(buffer, block.destination, pack.panel * block.k_size), buffer);
      }
      for (const PackBlock& block : blocks) {
        registers_.at(Phase::packing, array_of(pack.tensor)).in +=
            Bytes(block.rows * block.k_size * element_);
        registers_.at(Phase::packing, buffer).out += Bytes(pack.panel * block.k_size * element_);
      }
    });
    caches_.enter(Phase::compute);
  }

  void kernel(const KernelCall& call) {
    heed_stop();
    const Tile& tile = *call.tile;
    const Range ms = tile[at(DimClass::m)], ns = tile[at(DimClass::n)], ks = tile[at(DimClass::k)];
    const std::int64_t batch = tile[at(DimClass::batch)].begin;
    const TensorId left = plan_.left(), right = plan_.right();
    const bool left_packed = call.left_offset >= 0, right_packed = call.right_offset >= 0;
    if (left_packed && right_packed) {
      caches_.read(sim::TwoStreams{address(buffer_of(left), call.left_offset),
                                   address(buffer_of(right), call.right_offset),
                                   static_cast<std::uint32_t>(plan_.mr() * element_),
                                   static_cast<std::uint32_t>(plan_.nr() * element_),
                                   buffer_of(left), buffer_of(right), ks.size});
    } else {
      const std::int64_t left_start = plan_.offset(left, DimClass::batch, batch);
      const std::int64_t right_start = plan_.offset(right, DimClass::batch, batch);
      for (std::int64_t p = 0; p < ks.size; ++p) {
        touch_operand(left, DimClass::m, ms, call.left_offset, plan_.mr(), p, ks, left_start);
        touch_operand(right, DimClass::n, ns, call.right_offset, plan_.nr(), p, ks, right_start);
      }
    }
    const std::int64_t c_start = plan_.offset(TensorId::C, DimClass::batch, batch);
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      touch_row<true>(TensorId::C, DimClass::m, ms,
                      c_start + plan_.offset(TensorId::C, DimClass::n, n));
    }
    count_registers(left, left_packed, (left_packed ? plan_.mr() : ms.size) * ks.size);
    count_registers(right, right_packed, (right_packed ? plan_.nr() : ns.size) * ks.size);
    Moved& c = registers_.at(Phase::compute, ArrayId::C);
    c.out += Bytes(ms.size * ns.size * element_);
    if (!call.first_k) c.in += Bytes(ms.size * ns.size * element_);
    report(ms.size * ns.size * ks.size);
  }

  Simulation finish() {
    caches_.drain();
    if (options_.progress) options_.progress(1);
    Simulation result;
    result.touches = caches_.touches();
    result.traffic.links.push_back(registers_);
    Lines asked = caches_.touches();
    for (int l = 1; l <= caches_.cache_count(); ++l) {
      LinkTraffic link;
      Lines missed, written;
      for (Phase p : all_phases) {
        for (ArrayId a : all_arrays) {
          const Lines in = caches_.fills(l, p, a), out = caches_.write_backs(l, p, a);
          link.at(p, a) = {Bytes(in.value() * line_), Bytes(out.value() * line_)};
          missed += in;
          written += out;
        }
      }
      result.traffic.links.push_back(link);
      result.levels.push_back({asked - missed, missed, written});
      asked = missed;
    }
    return result;
  }

 private:
  // Blocks that share source lines: column by column, rows of all blocks in turn, then the columns.
  void pack_together(const PackPlan& pack, std::span<const PackBlock> blocks, std::int64_t start) {
    const ArrayId source = array_of(pack.tensor), buffer = buffer_of(pack.tensor);
    const std::int64_t* row_offsets = plan_.offsets(pack.tensor, pack.rows);
    const std::int64_t* k_offsets = plan_.offsets(pack.tensor, DimClass::k);
    for (std::int64_t p = 0; p < blocks.front().k_size; ++p) {
      std::uint32_t previous = sim::no_lines;
      for (std::int64_t r = 0; r < pack.panel; ++r) {
        for (const PackBlock& block : blocks) {
          if (r >= block.rows) continue;
          const LineRun line =
              lines_of(source, start + row_offsets[block.row + r] + k_offsets[block.k + p], 1);
          if (line.first != previous) caches_.read(line, source);
          previous = line.first;
        }
      }
      for (const PackBlock& block : blocks) {
        caches_.write(lines_of(buffer, block.destination + p * pack.panel, pack.panel), buffer);
      }
    }
  }

  std::uint64_t address(ArrayId a, std::int64_t element) const {
    return static_cast<std::uint64_t>(plan_.base(a).value() + element * element_);
  }

  LineRun lines_of(ArrayId a, std::int64_t first, std::int64_t count) const {
    return {static_cast<std::uint32_t>(address(a, first) >> line_shift_),
            static_cast<std::uint32_t>((address(a, first + count) - 1) >> line_shift_)};
  }

  // Touches the tensor's elements of one range of a group, one by one; `start` is the offset of
  // the other groups.
  template <bool write>
  void touch_row(TensorId t, DimClass group, Range range, std::int64_t start) {
    const std::int64_t* offsets = plan_.offsets(t, group);
    const auto& runs = runs_[static_cast<std::size_t>(index(t))][at(group)];
    const std::int64_t end = range.begin + range.size;
    std::uint32_t previous = sim::no_lines;
    for (std::int64_t i = range.begin; i < end;) {
      const std::int64_t count = std::min<std::int64_t>(runs[static_cast<std::size_t>(i)], end - i);
      LineRun lines = lines_of(array_of(t), start + offsets[i], count);
      i += count;
      if (lines.first == previous) ++lines.first;
      previous = lines.last;
      if (lines.first > lines.last) continue;
      if constexpr (write) {
        caches_.write(lines, array_of(t));
      } else {
        caches_.read(lines, array_of(t));
      }
    }
  }

  // Column (or row) p of one operand of a kernel, packed at `offset` or in place.
  void touch_operand(TensorId t, DimClass group, Range range, std::int64_t offset,
                     std::int64_t panel, std::int64_t p, Range ks, std::int64_t start) {
    if (offset >= 0) {
      caches_.read(lines_of(buffer_of(t), offset + p * panel, panel), buffer_of(t));
    } else {
      touch_row<false>(t, group, range, start + plan_.offset(t, DimClass::k, ks.begin + p));
    }
  }

  void count_registers(TensorId t, bool packed, std::int64_t loads) {
    registers_.at(Phase::compute, packed ? buffer_of(t) : array_of(t)).in +=
        Bytes(loads * element_);
  }

  void heed_stop() const {
    if (options_.stop.stop_requested()) throw Interrupted();
  }

  void report(std::int64_t multiply_adds) {
    using Clock = std::chrono::steady_clock;
    done_ += static_cast<double>(multiply_adds);
    if (!options_.progress || ++calls_ % calls_per_look != 0) return;
    const auto now = Clock::now();
    if (now - reported_ < std::chrono::milliseconds(100)) return;
    reported_ = now;
    options_.progress(done_ / (plan_.contraction().flops() / 2));
  }

  static constexpr int calls_per_look = 64;  // looking at the clock costs as much as 10 touches

  const Plan& plan_;
  const SimulationOptions& options_;
  std::int64_t element_;
  std::int64_t line_;
  int line_shift_;
  Hierarchy caches_;
  LinkTraffic registers_;
  std::array<std::array<std::vector<std::int64_t>, 4>, 3> runs_;
  double done_ = 0;
  int calls_ = 0;
  std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

}  // namespace

Simulation simulate(const Plan& plan, const Machine& machine, const SimulationOptions& options) {
  if (machine.core.cores > 1) return simulate(plan, view_of_one_core(machine), options);
  Simulator simulator(plan, machine, options);
  walk(plan, simulator);
  return simulator.finish();
}

}  // namespace tcsim
