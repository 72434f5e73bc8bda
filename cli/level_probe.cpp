#include "cli/level_probe.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/statistics.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "microbench/host.hpp"

namespace tcsim::cli {

using bench::DeviceTuning;
using bench::LinkFigure;
using bench::LinkTimes;
using bench::MeasuredLevels;
using bench::TileTimes;
using nlohmann::ordered_json;

namespace {

template <class Quantity>
std::vector<double> numbers(const std::vector<Quantity>& quantities) {
  std::vector<double> all;
  for (const Quantity& q : quantities) all.push_back(q.value());
  return all;
}

std::string gigabytes(Bytes tile, const std::vector<Seconds>& times) {
  const double rate = static_cast<double>(tile.value()) / median(numbers(times));
  return fmt::format("{:.4g} GB/s", rate / 1e9);
}

// Links by name, the outermost first.
std::vector<std::pair<std::string, const LinkTimes*>> links(const MeasuredLevels& m) {
  std::vector<std::pair<std::string, const LinkTimes*>> all{{"global-disk", &m.disk},
                                                            {"local-global", &m.global}};
  if (m.device) all.emplace_back("device-local", &m.device->link);
  return all;
}

void print_table(const MeasuredLevels& m, const Machine& machine, std::ostream& out) {
  out << fmt::format("explicit levels of {} process{}, on {} computer{}; disk of {}\n", m.processes,
                     m.processes == 1 ? "" : "es", m.processes / m.on_this_computer,
                     m.processes == m.on_this_computer ? "" : "s", visible(m.folder));
  Rows rows;
  for (const auto& [name, times] : links(m)) {
    const LinkFigure f = link_figure(*times);
    rows.push_back({name, times->through, gigabytes(times->large.tile, times->large.in),
                    gigabytes(times->large.tile, times->large.out),
                    fmt::format("{:.4g} GB/s", f.bandwidth.value() / 1e9),
                    fmt::format("{:.1f} %", 100 * f.spread), to_display(f.transfer),
                    to_display(Seconds(median(numbers(times->small.in)))),
                    to_display(Seconds(median(numbers(times->small.out))))});
  }
  out << aligned(
      {"link", "through", "in", "out", "both", "spread", "a transfer", "4 KiB in", "4 KiB out"},
      rows, "  ");
  const std::vector<double> rates = numbers(m.products);
  out << fmt::format("  products: {:.4g} Gflop/s a process, spread {:.1f} %, by {}\n",
                     median(rates) / 1e9, 100 * relative_spread(rates),
                     m.device ? visible(m.device->name) : "tcsim's executor");
  if (m.device) {
    for (const DeviceTuning& t : m.device->tunings) {
      out << fmt::format(
          "  CLBlast's sizes, {}: {:.4g} Gflop/s before, {:.4g} after {} tries, matrices of {} "
          "rows\n",
          t.element == Bytes(8) ? "f64" : "f32", t.before.value() / 1e9, t.after.value() / 1e9,
          t.tried, t.rows);
    }
  }
  if (!m.tile_bytes.empty()) {
    const std::vector<double> thin = numbers(m.tile_bytes);
    out << fmt::format("  thin tiles: {:.4g} ns a byte, spread {:.1f} %\n", 1e9 * median(thin),
                       100 * relative_spread(thin));
  }
  if (!m.rows.empty()) {
    const std::vector<double> of_rows = numbers(m.rows);
    out << fmt::format("  short rows of tiles: {} each beyond their bytes, spread {:.1f} %\n",
                       to_display(Seconds(median(of_rows))), 100 * relative_spread(of_rows));
  }
  if (!m.tiles.empty()) {
    const std::vector<double> tiles = numbers(m.tiles);
    out << fmt::format(
        "  small tiles in a run: {} each beyond their bytes, spread {:.1f} %, with starting a "
        "statement on them\n",
        to_display(Seconds(median(tiles))), 100 * relative_spread(tiles));
  }
  for (const Level& l : machine.levels) {
    if (l.capacity.value == Bytes(0)) continue;
    out << fmt::format("  {}: {}, {}\n", l.name, to_binary_display(l.capacity.value),
                       l.capacity.source);
  }
  for (const std::string& remark : machine.remarks) out << "  " << visible(remark) << "\n";
}

ordered_json json_of(const TileTimes& t) {
  return {{"tile_bytes", t.tile.value()},
          {"in_seconds", numbers(t.in)},
          {"out_seconds", numbers(t.out)}};
}

void print_json(const MeasuredLevels& m, const Machine& machine, std::ostream& out) {
  ordered_json j{{"schema", 1},
                 {"command", "probe --levels"},
                 {"tcsim_version", version},
                 {"folder", m.folder},
                 {"processes", m.processes},
                 {"on_this_computer", m.on_this_computer},
                 {"device", nullptr},
                 {"links", ordered_json::array()}};
  if (m.device) {
    j["device"] = m.device->name;
    j["tunings"] = ordered_json::array();
    for (const DeviceTuning& t : m.device->tunings) {
      j["tunings"].push_back({{"element_bytes", t.element.value()},
                              {"rows", t.rows},
                              {"before_flops_per_second", t.before.value()},
                              {"after_flops_per_second", t.after.value()},
                              {"tried", t.tried},
                              {"sizes", t.sizes}});
    }
  }
  for (const auto& [name, times] : links(m)) {
    const LinkFigure f = link_figure(*times);
    j["links"].push_back({{"link", name},
                          {"through", times->through},
                          {"bandwidth_bytes_per_second", f.bandwidth.value()},
                          {"spread", f.spread},
                          {"transfer_seconds", f.transfer.value()},
                          {"small", json_of(times->small)},
                          {"large", json_of(times->large)}});
  }
  j["products_flops_per_second"] = numbers(m.products);
  if (!m.tile_bytes.empty()) j["tile_byte_seconds"] = numbers(m.tile_bytes);
  if (!m.rows.empty()) j["row_seconds"] = numbers(m.rows);
  j["small_tile_seconds"] = numbers(m.tiles);
  j["capacities"] = ordered_json::array();
  for (const Level& l : machine.levels) {
    if (l.capacity.value == Bytes(0)) continue;
    j["capacities"].push_back({{"level", l.name}, {"bytes", l.capacity.value.value()}});
  }
  j["remarks"] = machine.remarks;
  out << json_text(j) << "\n";
}

void print_csv(const MeasuredLevels& m, std::ostream& out) {
  out << "link,through,tile_bytes,repetition,in_seconds,out_seconds\n";
  for (const auto& [name, times] : links(m)) {
    for (const TileTimes* tile : {&times->small, &times->large}) {
      for (std::size_t r = 0; r < tile->in.size(); ++r) {
        out << csv_line({name, times->through, std::to_string(tile->tile.value()),
                         std::to_string(r + 1), csv_number(tile->in[r].value()),
                         csv_number(tile->out[r].value())});
      }
    }
  }
}

}  // namespace

void print(const MeasuredLevels& measured, const Machine& machine, Format format,
           std::ostream& out) {
  switch (format) {
    case Format::json:
      return print_json(measured, machine, out);
    case Format::csv:
      return print_csv(measured, out);
    case Format::table:
      return print_table(measured, machine, out);
  }
}

std::filesystem::path levels_file() {
  const std::filesystem::path host = host_file();
  return host.empty() ? host : host.parent_path() / "levels.toml";
}

}  // namespace tcsim::cli
