#include "cli/answers/fuse_caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/chain_text.hpp"
#include "cli/describe.hpp"
#include "cli/table.hpp"
#include "core/fusion/leaf.hpp"
#include "core/model/predict.hpp"
#include "core/stop.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using fusion::ChainTraffic;
using fusion::LeafSchedules;
using fusion::OperationTree;
using nlohmann::ordered_json;

std::string extents_text(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (std::int64_t e : extents) text += (text.empty() ? "" : "x") + std::to_string(e);
  return text;
}

// The schedules of whole tiles, one for each statement.
std::vector<std::pair<std::string, std::string>> leaves_of(const CachedWay& way,
                                                           LeafSchedules& schedules) {
  const OperationTree& tree = schedules.tree();
  std::vector<std::pair<std::string, std::string>> leaves(tree.statements.size());
  const auto tiles = fusion::tiles_of(tree, way.program.node);
  fusion::for_each_leaf(tree, way.program.node, [&](const fusion::Leaf& leaf) {
    auto& [tile, schedule] = leaves[static_cast<std::size_t>(leaf.statement)];
    if (leaf.tile != tiles[static_cast<std::size_t>(leaf.statement)]) return;
    const LeafSchedules::Chosen& chosen = schedules.of(leaf);
    tile = extents_text(leaf.tile);
    schedule = to_line(chosen.schedule, chosen.contraction);
  });
  return leaves;
}

int links(const CachedAnswer& a) { return static_cast<int>(a.machine.levels.size()); }

std::vector<std::string> link_row(const CachedAnswer& a, std::vector<std::string> row,
                                  const ChainTraffic& traffic, Seconds time) {
  for (int l = 0; l < links(a); ++l) {
    row.push_back(to_display(traffic.counted(a.machine.accounting, l)));
  }
  row.push_back(to_display(time));
  return row;
}

std::string verdict_line(const CachedAnswer& a) {
  const auto way = std::ranges::find(a.ways, "fused", &CachedWay::name);
  if (way == a.ways.end()) return "  nothing to fuse\n";
  const double slower = 1 / a.faster;
  std::string line =
      a.fuses
          ? fmt::format("  fuse: predicted {:.2f} times as fast", a.faster)
          : fmt::format("  do not fuse: the best found is predicted to take {:.2f} times as long",
                        slower);
  if (std::abs(slower - 1) <= fusion::tie) {
    const double cautious = way->program.cautious / a.ways.back().program.cautious;
    line = fmt::format("  {}: the times tie, and the {} chain {}", a.fuses ? "fuse" : "do not fuse",
                       a.fuses ? "fused" : "unfused",
                       std::abs(cautious - 1) > fusion::same_time
                           ? "is quicker if links move more than predicted"
                           : "uses the links less");
  }
  if (way->simulated) {
    line += fmt::format("; simulated {:.2f} times as fast",
                        a.ways.back().simulated_time / way->simulated_time);
  }
  return line + "\n";
}

ordered_json json_of_cached_way(const CachedAnswer& a, const CachedWay& w) {
  ordered_json j;
  j["schedule"] = to_text(a.tree, w.program.node);
  j["leaves"] = ordered_json::array();
  const auto& leaves = a.leaves[static_cast<std::size_t>(&w - a.ways.data())];
  for (std::size_t s = 0; s < a.tree.statements.size(); ++s) {
    j["leaves"].push_back({{"tensor", a.tree.array(a.tree.statements[s].out).name},
                           {"tile", leaves[s].first},
                           {"schedule", leaves[s].second}});
  }
  j["levels"] = ordered_json::array();
  const std::vector<std::string> names = fusion::memory_rows(a.tree);
  for (int l = 0; l < links(a); ++l) {
    const LevelId level{l};
    ordered_json one{
        {"name", a.machine.level(level).name},
        {"link", a.machine.link(level)},
        {"predicted_bytes", w.program.traffic.counted(a.machine.accounting, l).value()},
        {"simulated_bytes", nullptr}};
    if (w.simulated) {
      one["simulated_bytes"] = w.simulated->traffic.counted(a.machine.accounting, l).value();
    }
    one["by_tensor"] = ordered_json::array();
    for (int row = 0; row < static_cast<int>(names.size()); ++row) {
      const Moved m = w.program.traffic.of_array(l, row);
      ordered_json tensor{{"tensor", names[static_cast<std::size_t>(row)]},
                          {"predicted_in_bytes", m.in.value()},
                          {"predicted_out_bytes", m.out.value()}};
      if (w.simulated) {
        const Moved s = w.simulated->traffic.of_array(l, row);
        tensor["simulated_in_bytes"] = s.in.value();
        tensor["simulated_out_bytes"] = s.out.value();
      }
      one["by_tensor"].push_back(std::move(tensor));
    }
    j["levels"].push_back(std::move(one));
  }
  j["predicted_seconds"] = w.program.timing.total.value();
  j["simulated_seconds"] = nullptr;
  if (w.simulated) j["simulated_seconds"] = w.simulated_time.value();
  return j;
}

}  // namespace

CachedAnswer cached_answer(const CachedRequest& request, fusion::Chain chain,
                           const Machine& machine) {
  const StopScope scope(request.stop);
  CachedAnswer a{std::move(chain), {}, machine, {}, false, 1, {}};
  a.tree = fusion::operation_tree(a.chain.program);
  LeafSchedules schedules(a.tree, a.machine);
  fusion::CachedModel model(schedules);
  const auto show = [&](const std::string& what, double share) {
    if (request.progress) request.progress(a.tree.name + ": " + what, share);
  };
  if (request.schedule) {
    GivenFused given = given_fused(*request.schedule, a.tree);
    fusion::check_cached(a.tree, given.node, given.place);
    a.ways.push_back({"given", fusion::judged(model, std::move(given.node)), {}, {}});
  }
  fusion::CachedChoiceOptions search;
  search.progress = [&](double share) { show("fusing", share); };
  fusion::CachedChoice choice = fusion::choose_cached(model, search);
  a.fuses = choice.fuses();
  if (choice.fused) {
    a.faster = choice.unfused.timing.total / choice.fused->timing.total;
    a.ways.push_back({"fused", std::move(*choice.fused), {}, {}});
  }
  a.ways.push_back({"unfused", std::move(choice.unfused), {}, {}});
  for (CachedWay& way : a.ways) {
    a.leaves.push_back(leaves_of(way, schedules));
    if (!request.simulate) continue;
    SimulationOptions simulation;
    simulation.stop = request.stop;
    simulation.progress = [&](double share) { show("simulating " + way.name, share); };
    way.simulated = simulate_chain(way.program.node, schedules, simulation);
    way.simulated_time = timing(way.simulated->traffic, a.tree, schedules.machine()).total;
  }
  return a;
}

void print_table(const CachedAnswer& a, std::ostream& out) {
  const OperationTree& tree = a.tree;
  double bytes = 0;
  std::vector<std::string> seen;
  for (int i = 0; i < static_cast<int>(tree.arrays.size()); ++i) {
    if (std::ranges::find(seen, tree.array(i).name) != seen.end()) continue;
    seen.push_back(tree.array(i).name);
    bytes += tree.bytes(i);
  }
  out << fmt::format("{}: {} contraction{}, {:.4g} Gflop, tensors of {} in memory\n",
                     visible(tree.name), tree.statements.size(),
                     tree.statements.size() == 1 ? "" : "s", tree.flops() / 1e9,
                     to_display(Bytes(std::llround(std::min(bytes, 0x1p61)))));
  out << fmt::format("machine {}, one core\n", visible(a.machine.name)) << warning_line(a.machine);
  out << order_lines(a.chain) << "\n";
  Rows rows;
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    rows.push_back(
        {tree.statement_text(s),
         to_display(Bytes(std::llround(std::min(0x1p61, tree.bytes(tree.statement(s).out)))))});
  }
  out << aligned({"statement", "its result"}, rows, "  ") << "\n";

  std::vector<std::string> columns{"program", ""};
  for (int l = 0; l < links(a); ++l) columns.push_back(a.machine.link(LevelId{l}));
  columns.emplace_back("time");
  rows.clear();
  for (const CachedWay& w : a.ways) {
    rows.push_back(link_row(a, {w.name, "predicted"}, w.program.traffic, w.program.timing.total));
    if (!w.simulated) continue;
    rows.push_back(link_row(a, {"", "simulated"}, w.simulated->traffic, w.simulated_time));
  }
  out << aligned(columns, rows, "  ") << verdict_line(a) << "\n";

  columns = {"tensor", "program"};
  for (int l = 1; l < links(a); ++l) columns.push_back(a.machine.link(LevelId{l}));
  rows.clear();
  const auto counted = [&](const ChainTraffic& t, int l, int row) {
    const Moved m = t.of_array(l, row);
    return m.in + (a.machine.accounting.write_backs ? m.out : Bytes(0));
  };
  const std::vector<std::string> names = fusion::memory_rows(tree);
  for (int row = 0; row < static_cast<int>(names.size()); ++row) {
    for (const CachedWay& w : a.ways) {
      std::vector<std::string> cells{
          &w == &a.ways.front() ? names[static_cast<std::size_t>(row)] : "", w.name};
      for (int l = 1; l < links(a); ++l) {
        std::string cell = to_display(counted(w.program.traffic, l, row));
        if (w.simulated) cell += " / " + to_display(counted(w.simulated->traffic, l, row));
        cells.push_back(std::move(cell));
      }
      rows.push_back(std::move(cells));
    }
  }
  out << aligned(columns, rows, "  ");
  if (a.ways.front().simulated) out << "  predicted / simulated\n";
  const CachedWay& shown = a.ways.front();
  out << "\n" << shown.name << ":\n" << indented(to_text(tree, shown.program.node)) << "\n";
  rows.clear();
  for (std::size_t s = 0; s < tree.statements.size(); ++s) {
    const auto& [tile, schedule] = a.leaves.front()[s];
    rows.push_back({tree.array(tree.statements[s].out).name, tile, schedule});
  }
  out << aligned({"leaf", "tile", "schedule"}, rows, "  ");
}

ordered_json json_of(const CachedAnswer& a) {
  ordered_json j = json_of(a.chain, a.tree, a.machine);
  add_warnings(j, a.machine);
  j["accounting"] = json_of(a.machine.accounting);
  j["fuse"] = a.fuses;
  for (const CachedWay& w : a.ways) j[w.name] = json_of_cached_way(a, w);
  return j;
}

}  // namespace tcsim::cli
