#include "gui/charts/tiles.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/model/held_tiles.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/path.hpp"
#include "emit/emit.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

std::string extentsText(const std::array<std::int64_t, 3>& e) {
  return fmt::format("m {} \u00d7 n {} \u00d7 k {}", e[0], e[1], e[2]);
}

// From below the smallest part to the largest sum.
void addMeasure(TileBoxes& all) {
  constexpr int step = 5;  // doublings between two ticks: 1 KiB, 32 KiB, 1 MiB
  double least = HUGE_VAL, most = 0;
  for (const TileBox& box : all.boxes) {
    most = std::max({most, box.bytes, box.capacityBytes});
    for (const TileBox::Part& part : box.parts) {
      if (part.bytes > 0) least = std::min(least, part.bytes);
    }
  }
  if (!(most > 0)) return;
  // The smallest has some length too.
  all.low = std::exp2(std::floor(std::log2(std::min(least, most))) - 2);
  all.high = most;
  for (int e = 0; e < 63; e += step) {
    const double v = std::exp2(e);
    if (v >= all.low && v <= all.high) {
      all.ticks.emplace_back(v, to_binary_display(Bytes(std::int64_t{1} << e)));
    }
  }
  all.measure =
      "logarithmic: each of the fine lines is 32 times the size of the one before; the thick one "
      "is what the cache holds";
}

double filledShare(const HeldInCache& h) {
  return static_cast<double>(h.tile->total().value()) / static_cast<double>(h.capacity.value());
}

Cell filledCell(double share) { return {fmt::format("{:.0f} %", 100 * share), share}; }

// How full a pin's tile makes its cache of that name; none where no tile fits or there is none.
std::optional<double> filledBy(const Pinned& pin, const std::string& cache) {
  if (!pin.evaluation) return {};
  const Subject& s = pin.evaluation->subject;
  for (const HeldInCache& h :
       held_tiles(s.contraction, pin.evaluation->choice.schedule, s.machine)) {
    if (s.machine.level(h.cache).name == cache && h.tile) return filledShare(h);
  }
  return {};
}

}  // namespace

TileBoxes tileBoxes(const Scene& scene) {
  TileBoxes all;
  all.title = "Tiles: the largest of the schedule that each cache can hold";
  if (!scene.now) {
    all.missing = whyMissing(scene);
    return all;
  }
  const Evaluation& e = *scene.now;
  const Contraction& c = e.subject.contraction;
  const Machine& m = e.subject.machine;
  const Path path = only_path(c, e.choice.schedule);
  for (const Kernel& k : kernels_of(e.choice.schedule.root)) {
    all.kernel += fmt::format("{}{}\u00d7{}", all.kernel.empty() ? "kernel " : ", then ",
                              k.mr.value(), k.nr.value());
  }
  TileBox memory;
  memory.name = m.levels.back().name;
  memory.tile = extentsText(
      {path.extents[DimClass::m], path.extents[DimClass::n], path.extents[DimClass::k]});
  for (TensorId t : all_tensors) {
    const Bytes size = c.size(t).value() * size_of(c.type());
    const double bytes = static_cast<double>(size.value());
    memory.parts.push_back(
        {fmt::format("{} {}", to_text(t), to_binary_display(size)), 0, bytes, inkOf(t), true});
    memory.bytes += bytes;
  }
  all.boxes.push_back(memory);
  const auto held = held_tiles(c, e.choice.schedule, m);
  for (std::size_t l = held.size(); l-- > 0;) {
    const HeldInCache& h = held[l];
    TileBox box;
    box.name = m.level(h.cache).name;
    box.capacity = to_binary_display(h.capacity);
    const double capacity = static_cast<double>(h.capacity.value());
    box.capacityBytes = capacity;
    if (h.tile) {
      box.tile = extentsText(h.tile->extents);
      box.bytes = static_cast<double>(h.tile->total().value());
      box.filled = box.bytes / capacity;
      for (TensorId t : all_tensors) {
        const auto add = [&](const char* what, Bytes bytes, bool halo) {
          const double size = static_cast<double>(bytes.value());
          box.parts.push_back({fmt::format("{}{} {}", to_text(t), what, to_binary_display(bytes)),
                               size / capacity, size, inkOf(t), h.tile->whole[t], halo});
        };
        const Bytes halo = h.tile->halo[t];
        add("", h.tile->bytes[t] - halo, false);
        if (halo == Bytes(0)) continue;
        add(" halo", halo, true);
        all.legend = "hatched: the halo, which a neighbouring tile of the image has as well";
      }
    }
    for (std::size_t i = 0; i < scene.pins.size(); ++i) {
      const auto filled = filledBy(scene.pins[i], box.name);
      if (filled) box.pins.push_back({scene.pins[i].pin.name, *filled, pinInk(i)});
    }
    all.boxes.push_back(box);
  }
  addMeasure(all);
  return all;
}

Table tilesTable(const Scene& scene) {
  Table table{{"cache", "capacity_bytes", "m", "n", "k", "A_bytes", "B_bytes", "C_bytes",
               "halo_bytes", "filled"},
              {}};
  for (const Pinned& pin : scene.pins) {
    if (pin.evaluation) table.columns.push_back(pinColumn(pin, "filled"));
  }
  if (!scene.now) return table;
  const Evaluation& e = *scene.now;
  for (const HeldInCache& h :
       held_tiles(e.subject.contraction, e.choice.schedule, e.subject.machine)) {
    const auto size = [](Bytes b) {
      return Cell(to_binary_display(b), static_cast<double>(b.value()));
    };
    std::vector<Cell> row{e.subject.machine.level(h.cache).name, size(h.capacity)};
    if (h.tile) {
      for (std::int64_t x : h.tile->extents)
        row.push_back(numberCell(static_cast<double>(x), "{}"));
      for (Bytes b : h.tile->bytes) row.push_back(size(b));
      Bytes halo;
      for (Bytes b : h.tile->halo) halo += b;
      row.push_back(size(halo));
      row.push_back(filledCell(filledShare(h)));
    } else {
      row.resize(10);
    }
    for (const Pinned& pin : scene.pins) {
      if (!pin.evaluation) continue;
      const auto filled = filledBy(pin, e.subject.machine.level(h.cache).name);
      row.push_back(filled ? filledCell(*filled) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string scheduleText(const Scene& scene) {
  if (!scene.now) return whyMissing(scene);
  return to_text(scene.now->choice.schedule, scene.now->subject.contraction);
}

std::string scheduleAsC(const Scene& scene) {
  if (!scene.now || !scene.now->settled) return "";
  try {
    return emit_c(Plan(scene.now->subject.contraction, scene.now->choice.schedule));
  } catch (const Error& e) {
    return fmt::format("/* {} */\n", e.what());
  }
}

Table scheduleTable(const Scene& scene) {
  Table table{{"depth", "step", "group or tensor", "tile or level"}, {}};
  if (!scene.now) return table;
  const Path path = only_path(scene.now->subject.contraction, scene.now->choice.schedule);
  for (std::size_t d = 0; d < path.steps.size(); ++d) {
    const Step& s = path.steps[d];
    const Cell depth(fmt::format("{}", d), static_cast<double>(d));
    switch (s.kind) {
      case Step::Kind::loop:
        table.rows.push_back(
            {depth, "for", to_text(s.group),
             s.head > 0 ? Cell(fmt::format("{} up to {}, then {}", s.head_tile, s.head, s.tile))
                        : Cell(fmt::format("{}", s.tile), static_cast<double>(s.tile))});
        break;
      case Step::Kind::move:
        table.rows.push_back({depth, "pack", to_text(s.tensor), s.level});
        break;
      case Step::Kind::part:
        break;
      case Step::Kind::kernel:
        table.rows.push_back({depth, "kernel", "", fmt::format("{}x{}", path.mr, path.nr)});
        break;
    }
  }
  return table;
}

}  // namespace tcsim::gui
