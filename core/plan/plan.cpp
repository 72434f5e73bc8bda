#include "core/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/io/available_memory.hpp"

namespace tcsim {

namespace {

// Of the machine that runs a plan. A simulated machine with other lines sees the same order.
constexpr std::int64_t line_bytes = 64;
constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t max_array_bytes = std::int64_t{1} << 47;
constexpr std::int64_t max_extent = std::int64_t{1} << 30;  // of a group: its offsets are a table

void limit_array(const Contraction& c, const Array& a, std::int64_t rows, std::int64_t columns) {
  const std::int64_t most = (max_array_bytes - 1) / size_of(c.type()).value();
  if (rows > most / columns) {
    throw UnsupportedError(c.name(), fmt::format("{} has 2^47 bytes or more", to_text(a)),
                           "use smaller sizes");
  }
}

void limit_extent(const Contraction& c, DimClass group, std::int64_t extent) {
  if (extent > max_extent) {
    throw UnsupportedError(c.name(),
                           fmt::format("group {} has more than 2^30 elements", to_text(group)),
                           "use smaller sizes");
  }
}

// A group's dimensions as digits of its fused index.
std::vector<Digit> digits_of(const Contraction& c, TensorId t, const Group& group) {
  std::vector<Digit> digits;
  for (DimId d : group) digits.push_back({c.dim(d).extent, c.stride(t, d).value()});
  return digits;
}

// How many places of the dimensions, in this order, are neighbours in t.
std::int64_t neighbours(const Contraction& c, TensorId t, std::span<const DimId> dims) {
  std::int64_t run = 1;
  for (DimId d : dims) {
    if (c.dim(d).extent == 1) continue;
    if (c.stride(t, d).value() != run) break;
    run *= c.dim(d).extent;
  }
  return run;
}

// Sets the order in which a pack is filled.
void choose_filling(PackPlan& pack, const Contraction& c, const Schedule& schedule) {
  const std::int64_t line = line_bytes / size_of(c.type()).value();
  const std::int64_t page = page_bytes / size_of(c.type()).value();
  pack.k_chunk = line;
  const auto fastest = c.fastest(pack.tensor);
  if (!fastest) return;
  std::int64_t run = 1;  // neighbours in its group
  for (DimClass g : {pack.rows, DimClass::k}) {
    const Group& group = schedule.groups[g];
    const auto place = std::ranges::find(group, *fastest);
    if (place == group.end()) continue;
    pack.along_rows = g == pack.rows;
    for (auto d = group.begin(); d != place; ++d) pack.apart *= c.dim(*d).extent;
    run = neighbours(c, pack.tensor, {place, group.end()});
  }
  if (pack.apart > 1) {
    pack.strips = std::min(round_up(run, line), page);
    pack.k_chunk = std::max(line, 4 * page / pack.strips / line * line);
  } else if (pack.along_rows) {
    // Rows that lie side by side, since columns may go on where those end.
    pack.panel_group = std::max<std::int64_t>(1, std::min(run, page) / pack.panel);
    pack.k_chunk = std::max(line, 4 * page / (pack.panel_group * pack.panel) / line * line);
  } else {
    pack.k_chunk = std::min(round_up(run, line), page);
  }
}

}  // namespace

ByTensor<std::optional<PackPlan>> pack_plans(const Contraction& contraction,
                                             const Schedule& schedule, const Path& path,
                                             const Arrays& arrays) {
  ByTensor<std::optional<PackPlan>> packs;
  ByGroup<std::int64_t> range = path.extents;
  for (std::size_t depth = 0; depth < path.steps.size(); ++depth) {
    const Step& s = path.steps[depth];
    if (s.kind == Step::Kind::loop) range[s.group] = std::min(range[s.group], s.largest_tile());
    if (s.kind != Step::Kind::move) continue;
    PackPlan pack;
    pack.tensor = s.tensor;
    pack.buffer = arrays.made_at(static_cast<int>(depth));
    pack.rows = path.rows_of(s.tensor);
    pack.panel = path.panel_of(s.tensor);
    for (std::size_t inner = depth + 1; inner < path.steps.size(); ++inner) {
      const Step& l = path.steps[inner];
      if (l.kind == Step::Kind::loop && (l.group == pack.rows || l.group == DimClass::k)) {
        pack.layout.push_back({l.group == pack.rows, l.tile});
      }
    }
    const std::int64_t rows = round_up(range[pack.rows], pack.panel);
    limit_array(contraction, arrays[pack.buffer], rows, range[DimClass::k]);
    pack.place = rows * range[DimClass::k];
    if (path.follows(s.tensor, DimClass::batch)) pack.places = range[DimClass::batch];
    limit_array(contraction, arrays[pack.buffer], pack.place, pack.places);
    pack.capacity = pack.place * pack.places;
    choose_filling(pack, contraction, schedule);
    packs[s.tensor] = std::move(pack);
  }
  return packs;
}

Plan::Plan(const Contraction& contraction, const Schedule& schedule)
    : contraction_(contraction),
      schedule_(schedule),
      path_(only_path(contraction, schedule)),
      arrays_(path_.steps),
      tables_(std::make_shared<ByTensor<ByGroup<LongTable>>>()),
      bases_(arrays_.size()) {
  for (TensorId t : all_tensors) {
    limit_array(contraction_, {t}, contraction_.size(t).value(), 1);
  }
  for (DimClass g : all_dim_classes) limit_extent(contraction_, g, extent(g));
  for (DimClass g : all_dim_classes) {
    for (TensorId t : all_tensors) {
      if (path_.follows(t, g)) {
        offsets_[t][g] = Offsets(digits_of(contraction_, t, schedule_.groups[g]));
      }
    }
  }

  block_depth_ = tcsim::block_depth(path_);

  packs_ = pack_plans(contraction_, schedule_, path_, arrays_);

  // Buffers first and side by side, so that together they spread evenly over the cache sets.
  std::int64_t place = 0;
  for (ArrayId a : arrays_.ids()) {
    if (!arrays_.is_buffer(a)) continue;
    bases_[a] = Bytes(place);
    place = round_up(place + size(a).value(), page_bytes);
  }
  const ByTensor<Bytes> tensors = tensor_places(contraction_);
  const std::int64_t behind_buffers = place;
  for (TensorId t : all_tensors) {
    bases_[array_of(t)] = Bytes(behind_buffers) + tensors[t];
    const Bytes end = bases_[array_of(t)] + size(array_of(t));
    place = std::max(place, round_up(end.value(), page_bytes));
  }
  arena_size_ = Bytes(place);
}

const std::int64_t* Plan::offset_table(TensorId t, DimClass group) const {
  const Offsets& offsets = offsets_[t][group];
  if (offsets.table() || !follows(t, group)) return offsets.table();
  LongTable& table = (*tables_)[t][group];
  const std::lock_guard lock(table.filling);
  if (table.entries.empty()) {
    require_available(static_cast<double>(extent(group)) * sizeof(std::int64_t),
                      contraction_.name(), "its tables of offsets", "use smaller sizes");
    table.entries = table_of(offsets.digits());
  }
  return table.entries.data();
}

ByTensor<Bytes> tensor_places(const Contraction& contraction) {
  ByTensor<Bytes> places;
  std::int64_t place = 0;
  for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) {
    places[t] = Bytes(place);
    const std::int64_t size = contraction.size(t).value() * size_of(contraction.type()).value();
    place = round_up(place + size, page_bytes);
  }
  return places;
}

}  // namespace tcsim
