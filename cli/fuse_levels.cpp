#include "cli/fuse_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/chain_text.hpp"
#include "cli/level_grid.hpp"
#include "cli/level_run.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "core/fusion/leaf.hpp"
#include "core/levels/vary.hpp"
#include "core/stop.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "processes/processes.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

using fusion::OperationTree;
using levels::Counts;
using levels::Hierarchy;
using levels::LevelPlan;
using levels::Moved;
using nlohmann::ordered_json;

// Holds and tiles that a simulation goes through without being asked for it.
constexpr double most_steps = 2e6;

void refuse_options_of_others(const Options& options) {
  for (const char* option : {"disk-read", "disk-write", "disk-transfer", "emit", "schedule"}) {
    if (options.count(option) == 0) continue;
    throw UsageError(fmt::format("--{}", option), "is for machines without explicit levels",
                     "leave it out, or take a machine with caches");
  }
  if (options["cold"].as<bool>()) {
    throw UsageError("--cold", "is for machines without explicit levels",
                     "leave it out, or take a machine with caches");
  }
}

LevelWay level_way(const LevelAnswer& a, std::string name, LevelPlan plan, bool simulate) {
  LevelWay way{std::move(name), std::move(plan), {}, {}};
  if (simulate || levels::steps(a.tree, a.hierarchy, way.plan.node) <= most_steps) {
    way.simulated = levels::simulate(a.tree, a.hierarchy, way.plan.node);
  }
  return way;
}

LevelAnswer level_answer(const Options& options, fusion::Chain chain, const Machine& machine,
                         Context& context) {
  const StopScope scope(context.stop);
  LevelAnswer a{std::move(chain), {}, machine, {}, {}, {}, Seconds(0), 0, {}, {}, {}, {}, {}, {}};
  a.tree = fusion::operation_tree(a.chain.program);
  fusion::element_type(a.tree);  // all tensors have one
  a.hierarchy = levels::hierarchy(machine, a.tree.arrays.front().element);
  a.hierarchy.overlap = options["overlap"].as<bool>();
  a.conditions = levels::fusion_conditions(a.tree, a.hierarchy);
  Progress progress(context, a.tree.name);
  levels::OptimumOptions search;
  search.progress = [&](double share) { progress.show(a.tree.name + ": fusing", share); };
  levels::LevelWays found = levels::compare(a.tree, a.hierarchy, search);
  const levels::LevelOptimum best = std::move(found.optimum);
  a.bound = best.bound;
  a.gap = best.gap();
  const bool simulate = options["simulate"].as<bool>() && !context.helper;
  a.ways.push_back(level_way(a, "optimum", best.plan, simulate));
  a.ways.push_back(level_way(a, "prescription", std::move(found.prescription), simulate));
  if (found.unfused) {
    a.ways.push_back(level_way(a, "unfused", *std::move(found.unfused), simulate));
  }
  if (options.count("run") != 0) {
    if (auto plan = other_plan(options, a, context)) {
      a.other = level_way(a, "rehearsed", *std::move(plan), simulate);
    }
    run_level_answer(options, a, context);
  }
  if (context.helper) return a;
  a.grid = level_grid(options, a, best, context);
  if (options.count("cost") != 0) a.grid_cost = options["cost"].as<std::string>();
  if (!a.grid && !options["no-whatif"].as<bool>()) {
    a.changes = levels::changes(a.tree, a.hierarchy, best);
  }
  return a;
}

std::string level_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string level_bytes(double bytes) {
  return bytes < 0x1p62 ? to_display(Bytes(static_cast<std::int64_t>(bytes)))
                        : fmt::format("{:.3g} B", bytes);
}
std::string level_bytes(std::int64_t bytes) { return to_display(Bytes(bytes)); }

void print_machine(const LevelAnswer& a, std::ostream& out) {
  const Hierarchy& h = a.hierarchy;
  out << fmt::format("machine {}: {} process{} of {:.4g} Gflop/s", visible(a.machine.name),
                     h.instances(0), h.instances(0) == 1 ? "" : "es", h.rate.value() / 1e9);
  if (h.tile_byte > Seconds(0)) {
    out << fmt::format(" and {:.4g} ns a byte of tiles", 1e9 * h.tile_byte.value());
  }
  for (int l = 0; l <= h.links(); ++l) {
    const Hierarchy::Level& level = h.level(l);
    out << fmt::format("; {}{}{}", h.instances(l) > 1 ? fmt::format("{} x ", h.instances(l)) : "",
                       visible(level.name),
                       level.capacity == Bytes(0) ? "" : " of " + to_display(level.capacity));
    if (l == h.links()) break;
    out << fmt::format(", {:.4g} GB/s", level.bandwidth.value() / 1e9);
    const char* const last = level.row > Seconds(0) ? ", " : " and ";
    if (level.transfer > Seconds(0)) out << last << to_display(level.transfer) << " a transfer";
    if (level.row > Seconds(0)) out << " and " << to_display(level.row) << " a row";
  }
  out << "\n";
  if (h.instances(0) > 1) {
    out << "each process has a link of its own, whatever the others move\n";
  }
  if (h.overlap) {
    out << "transfers and arithmetic overlap: what is loaded or stored is held twice\n";
  }
}

void print_conditions(const LevelAnswer& a, std::ostream& out) {
  if (a.conditions.empty()) return;
  Rows rows;
  for (const levels::FusionCondition& c : a.conditions) {
    std::vector<std::string> row{a.tree.array(c.array).name,      a.hierarchy.link(c.link),
                                 fmt::format("{:.4g}", c.summed), fmt::format("{:.4g}", c.kept),
                                 fmt::format("{:.4g}", c.limit),  c.pays() ? "pays" : "does not"};
    for (const LevelWay* w : a.all()) {
      row.push_back(levels::is_fused(w->plan.homes, c.array, c.link) ? "fused" : "moved");
    }
    rows.push_back(std::move(row));
  }
  std::vector<std::string> columns{"intermediate", "link", "summed", "kept", "at most", "fusing"};
  for (const LevelWay* w : a.all()) columns.push_back(w->name);
  out << aligned(columns, rows, "  ") << "\n";
}

void print_ways(const LevelAnswer& a, std::ostream& out) {
  Rows rows;
  for (const LevelWay* way : a.all()) {
    const LevelWay& w = *way;
    for (int l = a.hierarchy.links() - 1; l >= 0; --l) {
      const auto at = static_cast<std::size_t>(l);
      const Counts::OfLink& link = w.plan.counts.links[at];
      const Moved all = link.sum(), one = link.busiest_sum();
      rows.push_back({l == a.hierarchy.links() - 1 ? w.name : "", a.hierarchy.link(l),
                      level_bytes(all.in), level_bytes(all.out), std::to_string(all.transfers()),
                      level_bytes(one.bytes()), to_display(w.plan.times.links[at]),
                      fmt::format("{} in {}", to_display(w.plan.counts.high_water[at]),
                                  a.hierarchy.level(l).name),
                      !w.simulated                    ? "not simulated"
                      : *w.simulated == w.plan.counts ? "equal"
                                                      : "DIFFERS"});
    }
    rows.push_back({"", "arithmetic", "", "", "", "", to_display(w.plan.times.arithmetic), "", ""});
    rows.push_back({"", a.hierarchy.overlap ? "overlapped" : "in all", "", "", "", "",
                    to_display(w.plan.time()),
                    "slowest: " + levels::slowest_name(a.hierarchy, w.plan), ""});
  }
  out << aligned(
      {"program", "link", "in", "out", "transfers", "the busiest", "time", "held", "simulated"},
      rows, "  ");
  const double above = a.ways[1].plan.time() / a.ways[0].plan.time() - 1;
  out << fmt::format("  optimum: at most {} above the bound of {}; prescription {} above it\n",
                     level_percent(a.gap), to_display(a.bound), level_percent(above));
  if (a.ways.size() < 3) {
    out << "  unfused: does not fit\n";
    return;
  }
  out << fmt::format("  unfused takes {:.2f} times as long",
                     a.ways[2].plan.time() / a.ways[0].plan.time());
  for (int l = a.hierarchy.links() - 1; l >= 0; --l) {
    const auto at = static_cast<std::size_t>(l);
    const double moved = static_cast<double>(a.ways[0].plan.counts.links[at].sum().bytes());
    out << fmt::format(", {} moves {:.2f} times as much", a.hierarchy.link(l),
                       static_cast<double>(a.ways[2].plan.counts.links[at].sum().bytes()) / moved);
  }
  out << "\n";
}

// Of each statement the tile of each level, as far as it is not the whole.
void print_tiles(const LevelAnswer& a, std::ostream& out) {
  Rows rows;
  std::vector<std::string> columns{"statement"};
  for (int l = a.hierarchy.links() - 1; l >= 0; --l) {
    columns.push_back("tiles in " + a.hierarchy.level(l).name);
  }
  const auto tiles = levels::tiles_of(a.tree, a.hierarchy, a.chosen().plan.node);
  for (int s = 0; s < static_cast<int>(a.tree.statements.size()); ++s) {
    std::vector<std::string> row{a.tree.statement_text(s)};
    for (int l = a.hierarchy.links() - 1; l >= 0; --l) {
      std::string text;
      for (int i : a.tree.statement(s).indices) {
        const std::int64_t tile = tiles[static_cast<std::size_t>(s)][static_cast<std::size_t>(l)]
                                       [static_cast<std::size_t>(i)];
        if (tile == a.tree.extent(i)) continue;
        text += fmt::format("{}{}={}", text.empty() ? "" : " ",
                            a.tree.indices[static_cast<std::size_t>(i)].name, tile);
      }
      row.push_back(text.empty() ? "whole" : text);
    }
    rows.push_back(std::move(row));
  }
  out << aligned(columns, rows, "  ");
}

void print_changes(const LevelAnswer& a, std::ostream& out) {
  if (a.changes.empty()) return;
  out << "\nwith\n";
  Rows rows;
  const LevelPlan& base = a.ways.front().plan;
  for (const levels::LevelChange& c : a.changes) {
    if (!c.answer) {
      rows.push_back({c.what, "nothing fits", "", "", ""});
      continue;
    }
    const LevelPlan& plan = c.answer->plan;
    rows.push_back({c.what, to_display(plan.time()),
                    fmt::format("{:.2f} x", base.time() / plan.time()),
                    levels::slowest_name(a.hierarchy, plan), level_homes(a, plan)});
  }
  out << aligned({"", "time", "faster", "slowest", "intermediates"}, rows, "  ");
}

void print_level_table(const LevelAnswer& a, std::ostream& out) {
  const OperationTree& tree = a.tree;
  double bytes = 0;
  for (int i = 0; i < static_cast<int>(tree.arrays.size()); ++i) bytes += tree.bytes(i);
  out << fmt::format("{}: {} contraction{}, {:.4g} Gflop, tensors of {}\n", visible(tree.name),
                     tree.statements.size(), tree.statements.size() == 1 ? "" : "s",
                     tree.flops() / 1e9, level_bytes(bytes));
  print_machine(a, out);
  out << order_lines(a.chain) << "\n";
  print_conditions(a, out);
  print_ways(a, out);
  print_rehearsal(a, out);
  print_level_runs(a, out);
  out << "\n";
  print_tiles(a, out);
  out << "\n"
      << a.chosen().name << ":\n"
      << indented(to_text(tree, a.hierarchy, a.chosen().plan.node));
  print_changes(a, out);
  print_level_grid(a, out);
}

ordered_json json_of_moved(const Moved& m, const std::string& prefix) {
  return {{prefix + "in_bytes", m.in},
          {prefix + "out_bytes", m.out},
          {prefix + "transfers", m.transfers()},
          {prefix + "rows", m.rows}};
}

ordered_json json_of_level_way(const LevelAnswer& a, const LevelWay& way) {
  const LevelPlan& plan = way.plan;
  const std::optional<Counts>& simulated = way.simulated;
  const Hierarchy& h = a.hierarchy;
  ordered_json j;
  j["schedule"] = to_text(a.tree, h, plan.node);
  j["intermediates"] = ordered_json::array();
  for (std::size_t i = 0; i < a.tree.arrays.size(); ++i) {
    if (!a.tree.arrays[i].is_intermediate()) continue;
    j["intermediates"].push_back(
        {{"tensor", a.tree.arrays[i].name}, {"level", h.level(plan.homes[i]).name}});
  }
  j["levels"] = ordered_json::array();
  for (int l = 0; l < h.links(); ++l) {
    const auto at = static_cast<std::size_t>(l);
    const Counts::OfLink& link = plan.counts.links[at];
    ordered_json one{{"name", h.level(l).name},
                     {"link", h.link(l)},
                     {"predicted_bytes", link.sum().bytes()},
                     {"simulated_bytes", nullptr}};
    one.update(json_of_moved(link.sum(), ""));
    one.update(json_of_moved(link.busiest_sum(), "busiest_"));
    one["high_water_bytes"] = plan.counts.high_water[at].value();
    one["predicted_seconds"] = plan.times.links[at].value();
    if (simulated) {
      one["simulated_bytes"] = simulated->links[at].sum().bytes();
      one["simulated_busiest_bytes"] = simulated->links[at].busiest_sum().bytes();
      one["simulated_high_water_bytes"] = simulated->high_water[at].value();
    }
    one["by_tensor"] = ordered_json::array();
    for (std::size_t i = 0; i < a.tree.arrays.size(); ++i) {
      ordered_json tensor{{"tensor", a.tree.arrays[i].name}};
      tensor.update(json_of_moved(link.all[i], ""));
      one["by_tensor"].push_back(std::move(tensor));
    }
    j["levels"].push_back(std::move(one));
  }
  j["arithmetic_seconds"] = plan.times.arithmetic.value();
  j["predicted_seconds"] = plan.time().value();
  j["bottleneck"] = levels::slowest_name(a.hierarchy, plan);
  add_level_run(way, j);
  return j;
}

ordered_json json_of_levels(const LevelAnswer& a) {
  ordered_json j = json_of(a.chain, a.tree, a.machine);
  j["processes"] = a.hierarchy.instances(0);
  j["overlap"] = a.hierarchy.overlap;
  j["conditions"] = ordered_json::array();
  for (const levels::FusionCondition& c : a.conditions) {
    j["conditions"].push_back({{"tensor", a.tree.array(c.array).name},
                               {"link", a.hierarchy.link(c.link)},
                               {"summed", c.summed},
                               {"kept", c.kept},
                               {"at_most", c.limit},
                               {"pays", c.pays()}});
  }
  for (const LevelWay* w : a.all()) j[w->name] = json_of_level_way(a, *w);
  j["predicted_seconds"] = a.ways.front().plan.time().value();
  j["bottleneck"] = levels::slowest_name(a.hierarchy, a.ways.front().plan);
  j["certificate"] = {{"relaxed_bound_seconds", a.bound.value()},
                      {"achieved_seconds", a.ways.front().plan.time().value()},
                      {"gap", a.gap}};
  if (a.chosen().ran) j["run"] = json_of_level_run(a);
  j["prescription_above_optimum"] = a.ways[1].plan.time() / a.ways[0].plan.time() - 1;
  j["whatif"] = ordered_json::array();
  for (const levels::LevelChange& c : a.changes) {
    ordered_json one{{"change", c.what}};
    one.update(json_of_point(a, c.answer));
    j["whatif"].push_back(std::move(one));
  }
  add_level_grid(a, j);
  return j;
}

void print_level_csv(const std::vector<LevelAnswer>& all, std::ostream& out) {
  out << "chain,program,link,in_bytes,out_bytes,transfers,rows,busiest_bytes,high_water_bytes,"
         "simulated_bytes,link_seconds,arithmetic_seconds,predicted_seconds,bottleneck\n";
  for (const LevelAnswer& a : all) {
    for (const LevelWay* way : a.all()) {
      const LevelWay& w = *way;
      for (int l = 0; l < a.hierarchy.links(); ++l) {
        const auto at = static_cast<std::size_t>(l);
        const Counts::OfLink& link = w.plan.counts.links[at];
        out << fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(a.tree.name), w.name,
            csv_cell(a.hierarchy.link(l)), link.sum().in, link.sum().out, link.sum().transfers(),
            link.sum().rows, link.busiest_sum().bytes(), w.plan.counts.high_water[at].value(),
            w.simulated ? std::to_string(w.simulated->links[at].sum().bytes()) : "",
            w.plan.times.links[at].value(), w.plan.times.arithmetic.value(), w.plan.time().value(),
            csv_cell(levels::slowest_name(a.hierarchy, w.plan)));
      }
    }
  }
}

}  // namespace

void declare_fuse_in_levels(po::options_description& o) {
  declare_level_grid(o);
  o.add_options()(
      "device", po::bool_switch(),
      "there with --run: the innermost level is in a device of OpenCL, which computes with "
      "CLBlast")(
      "rehearse", po::bool_switch(),
      "there with --run: try the tiles of all ways that are predicted to take up to a quarter "
      "more, and run the quickest");
}

void refuse_options_of_levels(const Options& options) {
  const char* given = options["device"].as<bool>()     ? "--device"
                      : options["rehearse"].as<bool>() ? "--rehearse"
                      : options.count("vary") != 0     ? "--vary"
                      : options.count("cost") != 0     ? "--cost"
                                                       : nullptr;
  if (given == nullptr) return;
  throw UsageError(given, "belongs to a machine with explicit levels",
                   "take one such as gpu-cluster-node, without --memory");
}

namespace {

Exit answer_in_levels(const Options& options, const fusion::ChainRequest& request,
                      const Machine& machine, Context& context) {
  const Format form = format(options);
  std::vector<LevelAnswer> all;
  bool complete = true;
  std::vector<fusion::Chain> chains = fusion::find_chains(request);
  require_level_run(options, request.name, chains.size());
  for (fusion::Chain& chain : chains) {
    if (!complete) break;
    if (context.stop.stop_requested()) throw Interrupted();
    all.push_back(level_answer(options, std::move(chain), machine, context));
    complete = !all.back().grid || all.back().grid->complete;
    if (form != Format::table || context.helper) continue;
    if (all.size() > 1) context.out << "\n";
    print_level_table(all.back(), context.out);
  }
  const bool right =
      std::ranges::all_of(all, [](const LevelAnswer& a) { return a.error.value_or(0) <= 1; });
  const Exit exit = !complete ? Exit::interrupted : right ? Exit::done : Exit::no;
  if (context.helper) return exit;
  if (form == Format::csv && options.count("vary") != 0) {
    print_level_grid_csv(all, context.out);
  } else if (form == Format::csv) {
    print_level_csv(all, context.out);
  }
  if (form != Format::json) return exit;
  std::vector<ordered_json> records;
  for (const LevelAnswer& a : all) records.push_back(json_of_levels(a));
  print_chains(std::move(records), context.out);
  return exit;
}

}  // namespace

Exit run_fuse_in_levels(const Options& options, const fusion::ChainRequest& request,
                        const Machine& machine, Context& context) {
  refuse_options_of_others(options);
  if (options.count("run") == 0) return answer_in_levels(options, request, machine, context);
  const Processes& team = Processes::all();
  context.helper = team.rank() != 0;
  if (context.helper) context.quiet = true, context.terminal = false;
  try {
    const Machine shared = machine_of_team(machine, options, team);
    chains::check_processes(levels::hierarchy(shared, Bytes(8)), team.size());
    return answer_in_levels(options, request, shared, context);
  } catch (const Error&) {
    if (!context.helper) throw;
    return Exit::input;  // the first process says what
  }
}

}  // namespace tcsim::cli
