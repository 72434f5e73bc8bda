#include "tests/sim/twin.hpp"
#include "core/plan/walk.hpp"

#include <algorithm>

namespace tcsim::twin {

namespace {

class Walk {
 public:
  Walk(const Plan& plan, const ByArray<std::int64_t>& bases, std::int64_t line_bytes,
       Caches& caches)
      : registers(plan.arrays()),
        plan_(plan),
        bases_(bases),
        c_(plan.contraction()),
        line_bytes_(line_bytes),
        caches_(caches) {
    for (DimClass g : all_dim_classes) tile_[g] = {0, plan.extent(g)};
  }

  void step(std::size_t depth) {
    const Step& s = plan_.steps()[depth];
    if (s.kind == Step::Kind::kernel) return kernel();
    if (s.kind == Step::Kind::move) {
      pack(*plan_.pack(s.tensor));
      packed_at_[s.tensor] = tile_;
      step(depth + 1);
      packed_at_.erase(s.tensor);
      return;
    }
    const Interval outer = tile_[s.group];
    const std::int64_t head = std::min(s.head, outer.size);
    for (std::int64_t i = 0; i < head; i += s.head_tile) {
      tile_[s.group] = {outer.begin + i, std::min(s.head_tile, head - i)};
      step(depth + 1);
    }
    for (std::int64_t i = head; i < outer.size; i += s.tile) {
      tile_[s.group] = {outer.begin + i, std::min(s.tile, outer.size - i)};
      step(depth + 1);
    }
    tile_[s.group] = outer;
  }

  std::int64_t touches = 0;
  LinkTraffic registers;

 private:
  // Offset of an element of t, from the indices of the groups.
  std::int64_t offset(TensorId t, ByGroup<std::int64_t> fused) const {
    std::int64_t place = 0;
    for (DimClass g : all_dim_classes) {
      for (DimId d : plan_.schedule().groups[g]) {
        const std::int64_t extent = c_.dim(d).extent;
        place += fused[g] % extent * c_.stride(t, d).value();
        fused[g] /= extent;
      }
    }
    return place;
  }

  std::int64_t tensor_offset(TensorId t, std::int64_t m, std::int64_t n, std::int64_t k) const {
    return offset(t, {m, n, k, tile_[DimClass::batch].begin});
  }

  // One element; `run_` begins anew with every row or column of an operand.
  void touch(ArrayId a, std::int64_t element, bool write) {
    const std::int64_t line = (bases_[a] + element * plan_.element().value()) / line_bytes_;
    caches_.touch(line, write);
    if (line != previous_line_) ++touches;
    previous_line_ = line;
  }
  void new_run() { previous_line_ = -1; }

  void count(Phase p, ArrayId a, bool store) {
    Moved& moved = registers.at(p, a);
    (store ? moved.out : moved.in) += plan_.element();
  }

  void operand(TensorId t, DimClass group, std::int64_t panel, std::int64_t p) {
    new_run();
    const Interval rows = tile_[group], ks = tile_[DimClass::k];
    if (const auto packed = packed_at_.find(t); packed != packed_at_.end()) {
      const Tile& outer = packed->second;
      const PackPlan& pack = *plan_.pack(t);
      Tile place = outer;  // of the batch
      place[DimClass::batch] = tile_[DimClass::batch];
      const std::int64_t start =
          pack.offset(place, rows.begin - outer[group].begin, ks.begin - outer[DimClass::k].begin);
      for (std::int64_t i = 0; i < panel; ++i) {
        touch(pack.buffer, start + p * panel + i, false);
        count(Phase::compute, pack.buffer, false);
      }
      return;
    }
    for (std::int64_t i = rows.begin; i < rows.begin + rows.size; ++i) {
      touch(array_of(t), tensor_offset(t, i, i, ks.begin + p), false);
      count(Phase::compute, array_of(t), false);
    }
  }

  // Of the right operand each lane, which is a row, has columns of its own.
  void lanes(std::int64_t p) {
    const Interval ms = tile_[DimClass::m], ns = tile_[DimClass::n];
    const ArrayId right = array_of(plan_.right());
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      new_run();
      for (std::int64_t m = ms.begin; m < ms.begin + ms.size; ++m) {
        touch(right, tensor_offset(plan_.right(), m, n, tile_[DimClass::k].begin + p), false);
        count(Phase::compute, right, false);
      }
    }
  }

  void kernel() {
    const Interval ms = tile_[DimClass::m], ns = tile_[DimClass::n];
    const Interval ks = tile_[DimClass::k];
    for (std::int64_t p = 0; p < ks.size; ++p) {
      operand(plan_.left(), DimClass::m, plan_.mr(), p);
      if (plan_.lanes() && packed_at_.contains(plan_.right())) {
        operand(plan_.right(), DimClass::m, plan_.mr(), p);
      } else if (plan_.lanes()) {
        lanes(p);
      } else {
        operand(plan_.right(), DimClass::n, plan_.nr(), p);
      }
    }
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      new_run();
      for (std::int64_t m = ms.begin; m < ms.begin + ms.size; ++m) {
        touch(ArrayId::C, tensor_offset(TensorId::C, m, n, 0), true);
        count(Phase::compute, ArrayId::C, true);
        if (ks.begin > 0) count(Phase::compute, ArrayId::C, false);
      }
    }
  }

  void pack(const PackPlan& plan) {
    caches_.phase = Phase::packing;
    const ArrayId source = array_of(plan.tensor), buffer = plan.buffer;
    const auto fastest = c_.fastest(plan.tensor);
    const bool rows_outside = fastest && c_.dim_class(*fastest) == DimClass::k;
    const Interval batch = tile_[DimClass::batch];
    const std::int64_t first = batch.begin % plan.places;
    const auto copies = [&](std::span<const PackBlock> blocks) {
      const std::int64_t shift = (tile_[DimClass::batch].begin % plan.places - first) * plan.place;
      const auto copy = [&](std::int64_t row, std::int64_t k) {
        // Of lanes the right operand has a column of its own, too.
        const std::int64_t column = plan_.lanes() ? tile_[DimClass::n].begin : row;
        touch(source, tensor_offset(plan.tensor, row, column, k), false);
        count(Phase::packing, source, false);
      };
      const auto write = [&](std::int64_t place) {
        touch(buffer, place + shift, true);
        count(Phase::packing, buffer, true);
      };
      if (blocks.size() > 1) {
        for (std::int64_t k = 0; k < blocks[0].k_size; ++k) {
          new_run();
          for (std::int64_t i = 0; i < plan.panel; ++i) {
            for (const PackBlock& b : blocks) {
              if (i < b.rows) copy(b.row + i, b.k + k);
            }
          }
          for (const PackBlock& b : blocks) {
            new_run();
            for (std::int64_t i = 0; i < plan.panel; ++i) write(b.destination + k * plan.panel + i);
          }
        }
        return;
      }
      const PackBlock& b = blocks[0];
      if (rows_outside) {
        for (std::int64_t i = 0; i < b.rows; ++i) {
          new_run();
          for (std::int64_t k = 0; k < b.k_size; ++k) copy(b.row + i, b.k + k);
        }
      } else {
        for (std::int64_t k = 0; k < b.k_size; ++k) {
          new_run();
          for (std::int64_t i = 0; i < b.rows; ++i) copy(b.row + i, b.k + k);
        }
      }
      new_run();
      for (std::int64_t i = 0; i < plan.panel * b.k_size; ++i) write(b.destination + i);
    };
    const bool follows = plan_.follows(plan.tensor, DimClass::batch);
    const Tile here = tile_;
    for_each_block(plan, here, [&](std::span<const PackBlock> blocks) {
      for (std::int64_t b = 0; b < (follows ? batch.size : 1); ++b) {
        tile_[DimClass::batch] = {batch.begin + b, 1};
        copies(blocks);
      }
      tile_[DimClass::batch] = batch;
    });
    caches_.phase = Phase::compute;
  }

  const Plan& plan_;
  ByArray<std::int64_t> bases_;
  const Contraction& c_;
  std::int64_t line_bytes_;
  Caches& caches_;
  Tile tile_;
  std::map<TensorId, Tile> packed_at_;
  std::int64_t previous_line_ = -1;
};

}  // namespace

LinkTraffic walk(const Plan& plan, const ByArray<std::int64_t>& bases, std::int64_t line_bytes,
                 Caches& caches) {
  Walk walk(plan, bases, line_bytes, caches);
  walk.step(0);
  return walk.registers;
}

Simulation simulate(const Plan& plan, const Machine& machine) {
  const std::int64_t line = machine.levels.front().line.value.value();
  std::vector<sim::CacheShape> shapes;
  for (int l = 0; l < machine.cache_count(); ++l) {
    shapes.push_back({machine.level(LevelId{l}).sets(), machine.level(LevelId{l}).ways.value});
  }
  std::vector<std::pair<std::int64_t, ArrayId>> arrays;
  for (ArrayId a : plan.arrays().ids()) {
    arrays.emplace_back(plan.base(a).value() / line, a);
  }
  std::ranges::sort(arrays);
  Caches caches(shapes, arrays);
  ByArray<std::int64_t> bases(plan.arrays().size());
  for (ArrayId a : plan.arrays().ids()) bases[a] = plan.base(a).value();
  Walk walk(plan, bases, line, caches);
  walk.step(0);
  caches.drain();

  Simulation result;
  result.touches = Lines(walk.touches);
  result.traffic.links.push_back(walk.registers);
  std::int64_t asked = walk.touches;
  for (std::size_t l = 1; l <= shapes.size(); ++l) {
    LinkTraffic link(plan.arrays());
    std::int64_t in = 0, out = 0;
    for (Phase p : all_phases) {
      for (ArrayId a : link.arrays.ids()) {
        link.at(p, a) = {Bytes(caches.in[{l, p, a}] * line), Bytes(caches.out[{l, p, a}] * line)};
        in += caches.in[{l, p, a}];
        out += caches.out[{l, p, a}];
      }
    }
    result.traffic.links.push_back(link);
    LevelCounts counts;
    counts.hits = Lines(asked - in);
    counts.misses = counts.fetches = Lines(in);
    counts.write_backs = Lines(out);
    counts.fills = Lines(caches.fills[l - 1]);
    counts.evictions = Lines(caches.evictions[l - 1]);
    result.levels.push_back(counts);
    asked = in;
  }
  return result;
}

}  // namespace tcsim::twin
