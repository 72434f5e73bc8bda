// fuse: a chain of contractions whose tensors are on disk, under a limit of memory.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "chains/leaf_schedules.hpp"
#include "chains/plan_chain.hpp"
#include "cli/chain_text.hpp"
#include "cli/fuse_caches.hpp"
#include "cli/fuse_levels.hpp"
#include "cli/level_run.hpp"
#include "cli/out_file.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/fusion/disk_costs.hpp"
#include "core/fusion/fuse.hpp"
#include "core/fusion/replay.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/stop.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "emit/fused.hpp"
#include "microbench/disk.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

using fusion::Buffering;
using fusion::Chain;
using fusion::DiskTraffic;
using fusion::FusedProgram;
using fusion::Limits;
using fusion::OperationTree;
using nlohmann::ordered_json;

// Tiles that a replay goes through without being asked for long.
constexpr double most_tiles = 2e7;

// One way to do the chain, with all that is known of it.
struct Way {
  std::string name;
  FusedProgram program;
  chains::RunMemory memory;
  Seconds disk, arithmetic;
  std::optional<DiskTraffic> replayed;

  // Reading, computing and writing one after the other, or at the same time.
  Seconds time(Buffering buffering) const {
    if (buffering == Buffering::twofold) return std::max(disk, arithmetic);
    return disk + arithmetic;
  }
};

// What would change: the chosen program's time under other limits.
struct Other {
  std::string what;
  std::optional<FusedProgram> program;  // none where no run fits
  Seconds disk{};
};

struct FusionAnswer {
  Chain chain;
  OperationTree tree;
  Machine machine;
  Limits limits;
  bool tiles_alone = false;  // is what the limit of memory is for
  bool disk_assumed = false;
  fusion::StructureCount structures;        // of all statements fused
  std::vector<Way> ways;                    // the chosen one, or the one that was given, first
  std::optional<chains::ChainRun> ran;      // of the first
  std::optional<chains::ChainRun> unfused;  // with --compare
  std::optional<double> error;              // of its results, relative to their bound
  std::vector<Other> others;
};

Way way(std::string name, FusedProgram program, const chains::RunFigures& run,
        const FusionAnswer& a) {
  Way w{std::move(name), std::move(program), run.memory, {}, run.arithmetic, {}};
  w.disk = a.limits.costs.disk(w.program.traffic.sum());
  double tiles = 0;
  for (const auto& s : w.program.traffic.statements) tiles += static_cast<double>(s.runs);
  if (tiles <= most_tiles) {
    w.replayed = fusion::replay(a.tree, w.program.node, a.limits.buffering);
  }
  return w;
}

Limits limits_of(const Options& options, const Machine& machine, bool& assumed) {
  if (options.count("memory") + options.count("tiles") != 1) {
    throw UsageError("--memory", "say how much a run may take, or --tiles for tiles alone",
                     "give one of them, such as --memory 8GiB");
  }
  Limits l;
  l.memory =
      parse_bytes(options[options.count("memory") != 0 ? "memory" : "tiles"].as<std::string>());
  if (options["overlap"].as<bool>()) l.buffering = Buffering::twofold;
  fusion::DiskRequest disk;
  const auto said = [&](const char* option, std::string& to) {
    if (options.count(option) != 0) to = options[option].as<std::string>();
  };
  said("disk-read", disk.read);
  said("disk-write", disk.write);
  said("disk-transfer", disk.transfer);
  if (is_host(options)) {
    if (const std::optional<DiskFigures> found = load_disk(disk_file())) {
      disk.measured = {found->read, found->write, found->transfer};
    }
  }
  const fusion::DiskCosts costs = fusion::disk_costs(machine, disk);
  l.costs = costs.costs;
  assumed = costs.assumed;
  return l;
}

// The cache levels of a machine: its disk, if it says one, is what `limits` has.
Machine in_memory(Machine machine) {
  std::erase_if(machine.levels, [](const Level& l) { return l.kind == LevelKind::disk; });
  return machine;
}

chains::ChainRunOptions run_options(const Options& options, const FusionAnswer& a,
                                    const Context& context) {
  chains::ChainRunOptions run;
  if (options.count("run") != 0) run.folder = options["run"].as<std::string>();
  run.fill = options["fill"].as<bool>();
  run.force = options["force"].as<bool>();
  run.resume = options["resume"].as<bool>();
  run.cold = options["cold"].as<bool>();
  run.buffering = a.limits.buffering;
  if (!a.tiles_alone) run.memory = a.limits.memory;
  run.numbers = {options["seed"].as<std::uint64_t>(), options["whole"].as<bool>()};
  run.threads = options["threads"].as<int>();
  run.stop = context.stop;
  return run;
}

Way given_way(const Options& options, const chains::ChainRunOptions& run, const FusionAnswer& a) {
  GivenFused given = given_fused(options["schedule"].as<std::string>(), a.tree);
  fusion::check(a.tree, given.node, given.place);
  FusedProgram program;
  program.node = std::move(given.node);
  program.traffic = fusion::traffic(a.tree, program.node, a.limits.buffering);
  program.time = a.limits.costs.all(program.traffic);
  const chains::RunFigures figures = chains::run_figures(a.tree, program.node, a.machine, run);
  const Bytes needed = a.tiles_alone ? program.traffic.memory : figures.memory.all();
  if (needed > a.limits.memory) {
    throw UnsupportedError(
        "--schedule", (a.tiles_alone ? "its tiles take " : "a run of it takes ") + to_text(needed),
        std::string("allow that much with ") + (a.tiles_alone ? "--tiles" : "--memory"));
  }
  return way("given", std::move(program), figures, a);
}

chains::ChainPlan planned(const FusionAnswer& a, const chains::ChainPlanOptions& how) {
  return a.tiles_alone ? chains::plan_tiles(a.tree, a.machine, how)
                       : chains::plan_chain(a.tree, a.machine, how);
}

Other other(std::string what, const FusionAnswer& a, const chains::ChainPlanOptions& how) {
  Other o{std::move(what), {}, {}};
  try {
    o.program = planned(a, how).fusion.chosen;
    o.disk = how.limits.costs.disk(o.program->traffic.sum());
  } catch (const UnsupportedError&) {
    // No run fits.
  }
  return o;
}

FusionAnswer fusion_answer(const Options& options, Chain chain, Context& context) {
  const StopScope scope(context.stop);
  FusionAnswer a{
      std::move(chain), {}, machine(options, context), {}, false, false, {}, {}, {}, {}, {}, {}};
  a.tree = fusion::operation_tree(a.chain.program);
  a.tiles_alone = options.count("tiles") != 0;
  a.limits = limits_of(options, a.machine, a.disk_assumed);
  a.machine = in_memory(a.machine);
  for (int root : a.tree.roots()) {
    for (const fusion::FusedSubtree& s : fusion::top_subtrees(a.tree, root)) {
      if (!s.cut_points.empty()) continue;
      const fusion::StructureCount count = fusion::count_structures(a.tree, s.chain);
      a.structures.all += count.all;
      a.structures.maximally_fused += count.maximally_fused;
    }
  }
  Progress progress(context, a.tree.name);
  const auto show = [&](double share) { progress.show(a.tree.name + ": fusing", share); };
  chains::ChainRunOptions run = run_options(options, a, context);
  chains::LeafSchedules leaves(a.tree, a.machine, run.threads);
  run.leaves = &leaves;
  if (options.count("schedule") != 0) a.ways.push_back(given_way(options, run, a));
  chains::ChainPlanOptions how{a.limits, run.threads, run.leaves, show, run.cold};
  const chains::ChainPlan plan = planned(a, how);
  a.ways.push_back(way("chosen", plan.fusion.chosen, plan.chosen, a));
  if (plan.fusion.fully_fused) {
    a.ways.push_back(way("fully fused", *plan.fusion.fully_fused, *plan.fully_fused, a));
  }
  a.ways.push_back(way("unfused", plan.fusion.unfused, plan.unfused, a));
  if (options.count("run") != 0) {
    run.progress = [&](double share) { progress.show(a.tree.name + ": running", share); };
    if (options["compare"].as<bool>()) {
      run.also = &a.ways.front().program.node;
      a.unfused = chains::run_chain(a.tree, a.ways.back().program.node, a.machine, run);
      run.also = nullptr;
      run.force = true;  // the results of this one
    }
    a.ran = chains::run_chain(a.tree, a.ways.front().program.node, a.machine, run);
    if (options["check"].as<bool>())
      a.error = chains::check_chain(a.tree, run.folder, run.numbers.seed);
  }
  if (options["no-whatif"].as<bool>()) return a;
  how.progress = {};
  for (const double factor : {0.25, 0.5, 2.0, 4.0}) {
    const double bytes = static_cast<double>(a.limits.memory.value()) * factor;
    if (bytes < 1 || bytes >= 0x1p62) continue;
    const Bytes memory(static_cast<std::int64_t>(bytes));
    chains::ChainPlanOptions with = how;
    with.limits.memory = memory;
    a.others.push_back(other(fmt::format("memory of {}", to_binary_display(memory)), a, with));
  }
  chains::ChainPlanOptions faster = how;
  faster.limits.costs.read = 2.0 * faster.limits.costs.read;
  faster.limits.costs.write = 2.0 * faster.limits.costs.write;
  a.others.push_back(other("a disk of twice the rates", a, faster));
  faster = how;
  faster.limits.costs.transfer = Seconds(faster.limits.costs.transfer.value() / 10);
  a.others.push_back(other("transfers that begin in a tenth", a, faster));
  return a;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string displayed(double bytes) {
  return bytes < 0x1p62 ? to_display(Bytes(static_cast<std::int64_t>(bytes)))
                        : fmt::format("{:.3g} B", bytes);
}

void print_run(const FusionAnswer& a, std::ostream& out) {
  Rows rows;
  const auto add = [&](const Way& way, const chains::ChainRun& ran) {
    const DiskTraffic::OfArray moved = ran.moved.sum();
    rows.push_back(
        {way.name, to_display(ran.total), to_display(ran.reading), to_display(ran.computing),
         to_display(ran.writing), displayed(static_cast<double>(moved.read)),
         displayed(static_cast<double>(moved.written)), std::to_string(moved.reads + moved.writes),
         to_binary_display(ran.moved.memory), to_binary_display(ran.memory.all()),
         ran.done_before > 0                ? "the rest"
         : ran.moved == way.program.traffic ? "equal"
                                            : "DIFFERS"});
  };
  add(a.ways.front(), *a.ran);
  if (a.unfused) add(a.ways.back(), *a.unfused);
  out << "\n"
      << aligned({"ran", "time", "reading", "computing", "writing", "read", "written", "transfers",
                  "tiles", "in all", "predicted"},
                 rows, "  ");
  if (a.unfused) {
    const DiskTraffic::OfArray fused = a.ran->moved.sum(), apart = a.unfused->moved.sum();
    out << fmt::format("  {:.2f} times as fast, with {:.2f} times less moved\n",
                       a.unfused->total.value() / a.ran->total.value(),
                       static_cast<double>(apart.read + apart.written) /
                           static_cast<double>(fused.read + fused.written));
  }
  for (const auto& [way, ran] :
       {std::pair{&a.ways.front(), &*a.ran}, {&a.ways.back(), a.unfused ? &*a.unfused : &*a.ran}}) {
    const double tiles = static_cast<double>(ran->moved.sum().read);
    const double chunks = static_cast<double>(ran->chunks_read.value());
    if (chunks < worth_telling * tiles || (way != &a.ways.front() && !a.unfused)) continue;
    out << fmt::format(
        "  {}: chunks of files do not fit its tiles, {} had to be read for {}: write the inputs in "
        "chunks that do\n",
        way->name, displayed(chunks), displayed(tiles));
  }
  if (a.ran->done_before > 0) {
    out << fmt::format("  {} of {} parts were done before\n", a.ran->done_before, a.ran->parts);
  }
  if (a.error) {
    out << fmt::format("  results {}: the worst error is {:.3g} of its bound\n",
                       *a.error <= 1 ? "are right" : "are WRONG", *a.error);
  }
}

void print_table(const FusionAnswer& a, std::ostream& out) {
  const OperationTree& tree = a.tree;
  const Way& chosen = a.ways.front();
  double bytes = 0;
  for (int i = 0; i < static_cast<int>(tree.arrays.size()); ++i) bytes += tree.bytes(i);
  out << fmt::format("{}: {} contraction{}, {:.4g} Gflop, tensors of {}\n", visible(tree.name),
                     tree.statements.size(), tree.statements.size() == 1 ? "" : "s",
                     tree.flops() / 1e9, displayed(bytes));
  out << fmt::format(
      "memory of {}{}{}; disk: {:.4g} GB/s in, {:.4g} GB/s out, {} a "
      "transfer{}\n",
      to_text(a.limits.memory), a.tiles_alone ? " for tiles" : "",
      a.limits.buffering == Buffering::twofold
          ? ", tiles of disk twice, to overlap transfers and arithmetic"
          : "",
      a.limits.costs.read.value() / 1e9, a.limits.costs.write.value() / 1e9,
      to_display(a.limits.costs.transfer), a.disk_assumed ? " (assumed)" : "");
  out << order_lines(a.chain) << "\n";
  Rows rows;
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    const int made = tree.statement(s).out;
    const bool cut =
        std::ranges::find(chosen.program.cut_points, s) != chosen.program.cut_points.end();
    rows.push_back({tree.statement_text(s), displayed(tree.bytes(made)),
                    tree.array(made).consumer < 0 ? "output"
                    : cut                         ? "to disk (cut-point)"
                                                  : "fused, stays in memory"});
  }
  out << aligned({"statement", "its result", ""}, rows, "  ") << "\n";
  rows.clear();
  for (const Way& w : a.ways) {
    const DiskTraffic::OfArray moved = w.program.traffic.sum();
    rows.push_back({w.name, std::to_string(w.program.cut_points.size()),
                    displayed(static_cast<double>(moved.read)),
                    displayed(static_cast<double>(moved.written)),
                    std::to_string(moved.reads + moved.writes),
                    to_binary_display(w.program.traffic.memory), to_binary_display(w.memory.all()),
                    to_display(w.disk), w.name == "given" ? "-" : percent(w.program.gap()),
                    to_display(w.arithmetic), to_display(w.time(a.limits.buffering)),
                    !w.replayed                        ? "not replayed"
                    : *w.replayed == w.program.traffic ? "equal"
                                                       : "DIFFERS"});
  }
  out << aligned({"program", "cut-points", "read", "written", "transfers", "tiles", "in all",
                  "disk time", "above bound", "arithmetic",
                  a.limits.buffering == Buffering::twofold ? "overlapped" : "in turn", "replay"},
                 rows, "  ");
  if (a.structures.maximally_fused > 0) {
    out << fmt::format(
        "  structures with everything fused: {:.4g} with a loop at every node, {:.4g} "
        "maximally fused ones, from which all come\n",
        a.structures.all, a.structures.maximally_fused);
  }
  out << "\n" << chosen.name << ":\n" << indented(to_text(tree, chosen.program.node));
  if (a.ran) print_run(a, out);
  if (a.others.empty()) return;
  out << "\nwith\n";
  rows.clear();
  for (const Other& o : a.others) {
    if (!o.program) {
      rows.push_back({o.what, "no run fits", "", "", ""});
      continue;
    }
    const DiskTraffic::OfArray moved = o.program->traffic.sum();
    rows.push_back({o.what, to_display(o.disk),
                    fmt::format("{:.2f} x", chosen.disk.value() / o.disk.value()),
                    displayed(static_cast<double>(moved.read + moved.written)),
                    std::to_string(o.program->cut_points.size())});
  }
  out << aligned({"", "disk time", "faster", "moved", "cut-points"}, rows, "  ");
}

ordered_json json_of_way(const FusionAnswer& a, const Way& w) {
  const OperationTree& tree = a.tree;
  const DiskTraffic::OfArray moved = w.program.traffic.sum();
  ordered_json j;
  j["cut_points"] = ordered_json::array();
  for (int s : w.program.cut_points)
    j["cut_points"].push_back(tree.array(tree.statement(s).out).name);
  j["schedule"] = to_text(tree, w.program.node);
  j["memory_bytes"] = w.program.traffic.memory.value();
  j["run_memory_bytes"] = {{"tiles", w.memory.tiles.value()},
                           {"executor", w.memory.leaves.value()},
                           {"files", w.memory.files.value()},
                           {"all", w.memory.all().value()}};
  ordered_json level{{"name", "disk"},
                     {"link", "memory-disk"},
                     {"predicted_bytes", moved.read + moved.written},
                     {"simulated_bytes", nullptr},
                     {"read_bytes", moved.read},
                     {"written_bytes", moved.written},
                     {"transfers", moved.reads + moved.writes},
                     {"predicted_seconds", w.disk.value()}};
  if (w.replayed) {
    const DiskTraffic::OfArray s = w.replayed->sum();
    level["simulated_bytes"] = s.read + s.written;
    j["simulated_memory_bytes"] = w.replayed->memory.value();
  }
  level["by_tensor"] = ordered_json::array();
  for (std::size_t i = 0; i < tree.arrays.size(); ++i) {
    const DiskTraffic::OfArray& of = w.program.traffic.arrays[i];
    level["by_tensor"].push_back({{"tensor", hold_name(tree, static_cast<int>(i))},
                                  {"read_bytes", of.read},
                                  {"written_bytes", of.written},
                                  {"transfers", of.reads + of.writes}});
  }
  j["levels"] = ordered_json::array({level});
  j["arithmetic_seconds"] = w.arithmetic.value();
  j["predicted_seconds"] = w.time(a.limits.buffering).value();
  if (w.name != "given") {
    j["certificate"] = {{"relaxed_bound_seconds", w.program.bound.value()},
                        {"achieved_seconds", w.program.time.value()},
                        {"gap", w.program.gap()}};
  }
  return j;
}

ordered_json json_of_answer(const FusionAnswer& a) {
  ordered_json j = json_of(a.chain, a.tree, a.machine);
  j["memory_limit_bytes"] = a.limits.memory.value();
  j["memory_limit_of"] = a.tiles_alone ? "tiles" : "run";
  j["overlap"] = a.limits.buffering == Buffering::twofold;
  j["disk"] = {{"read_bytes_per_second", a.limits.costs.read.value()},
               {"write_bytes_per_second", a.limits.costs.write.value()},
               {"transfer_seconds", a.limits.costs.transfer.value()},
               {"assumed", a.disk_assumed}};
  j["enumeration"] = {{"contractions", a.tree.statements.size()},
                      {"total", a.structures.all},
                      {"pruned", a.structures.maximally_fused}};
  for (const Way& w : a.ways) {
    const ordered_json of = json_of_way(a, w);
    if (&w == &a.ways.front()) {
      j.update(of);
      continue;
    }
    std::string key = w.name;
    std::ranges::replace(key, ' ', '_');
    j[key] = of;
  }
  if (a.unfused) j["unfused"]["measured_seconds"] = a.unfused->total.value();
  if (a.ran) {
    const DiskTraffic::OfArray moved = a.ran->moved.sum();
    j["measured_seconds"] = a.ran->total.value();
    j["run"] = {{"reading_seconds", a.ran->reading.value()},
                {"computing_seconds", a.ran->computing.value()},
                {"writing_seconds", a.ran->writing.value()},
                {"read_bytes", moved.read},
                {"written_bytes", moved.written},
                {"chunks_read_bytes", a.ran->chunks_read.value()},
                {"chunks_written_bytes", a.ran->chunks_written.value()},
                {"transfers", moved.reads + moved.writes},
                {"memory_bytes", a.ran->moved.memory.value()},
                {"all_memory_bytes", a.ran->memory.all().value()},
                {"parts", a.ran->parts},
                {"parts_done_before", a.ran->done_before},
                {"worst_error", nullptr}};
    if (a.error) j["run"]["worst_error"] = *a.error;
  }
  j["whatif"] = ordered_json::array();
  for (const Other& o : a.others) {
    ordered_json one{{"change", o.what}, {"disk_seconds", nullptr}, {"moved_bytes", nullptr}};
    if (o.program) {
      const DiskTraffic::OfArray moved = o.program->traffic.sum();
      one["disk_seconds"] = o.disk.value();
      one["moved_bytes"] = moved.read + moved.written;
    }
    j["whatif"].push_back(one);
  }
  return j;
}

void print_csv(const std::vector<FusionAnswer>& all, std::ostream& out) {
  out << "chain,program,cut_points,read_bytes,written_bytes,transfers,memory_bytes,disk_seconds,"
         "bound_seconds,arithmetic_seconds,predicted_seconds\n";
  for (const FusionAnswer& a : all) {
    for (const Way& w : a.ways) {
      const DiskTraffic::OfArray moved = w.program.traffic.sum();
      out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(a.tree.name), w.name,
                         w.program.cut_points.size(), moved.read, moved.written,
                         moved.reads + moved.writes, w.program.traffic.memory.value(),
                         w.disk.value(),
                         w.name == "given" ? "" : fmt::format("{}", w.program.bound.value()),
                         w.arithmetic.value(), w.time(a.limits.buffering).value());
    }
  }
}

// The first way as C.
std::string emitted(const FusionAnswer& a) {
  const Way& w = a.ways.front();
  const DiskTraffic::OfArray moved = w.program.traffic.sum();
  const auto shown = [](std::int64_t bytes) { return displayed(static_cast<double>(bytes)); };
  EmitFusedOptions options;
  options.remarks = {
      fmt::format("Written by tcsim {}.", version),
      fmt::format("Predicted: {} read, {} written, {} transfers, {} of memory for tiles.",
                  shown(moved.read), shown(moved.written), moved.reads + moved.writes,
                  to_binary_display(w.program.traffic.memory))};
  return emit_fused_c(a.tree, w.program.node, options);
}

Exit run_fuse(const Options& options, Context& context) {
  const std::vector<std::string> given = arguments(options);
  if (given.empty()) {
    throw UsageError("fuse", "no chain is named", "give one, such as fourindex:2");
  }
  fusion::ChainRequest request{given[0], "", {}, ""};
  if (options.count("size") != 0) request.sizes = options["size"].as<std::string>();
  if (options.count("order") != 0) request.order = options["order"].as<std::string>();
  if (options.count("type") != 0) {
    request.type = options["type"].as<std::string>() == "f32" ? ElementType::f32 : ElementType::f64;
  }
  if (options.count("memory") + options.count("tiles") == 0) {
    const Machine on = machine(options, context);
    if (levels::has_explicit_levels(on)) return run_fuse_in_levels(options, request, on, context);
    refuse_options_of_levels(options);
    return run_fuse_in_caches(options, request, on, context);
  }
  refuse_options_of_levels(options);
  if (options["simulate"].as<bool>()) {
    throw UsageError("--simulate", "belongs to a chain in memory", "leave --memory out");
  }
  const Format form = format(options);
  std::vector<FusionAnswer> all;
  std::vector<Chain> chains = fusion::find_chains(request);
  const bool suite = chains.size() > 1;
  if (options.count("run") == 0) {
    for (const char* option : {"fill", "whole", "force", "resume", "compare", "cold", "check"}) {
      if (!options[option].as<bool>()) continue;
      throw UsageError(fmt::format("--{}", option), "belongs to a run", "add --run FOLDER");
    }
  } else if (suite) {
    throw UsageError("--run", fmt::format("these are {} chains", chains.size()),
                     fmt::format("say which, such as {}:1", given[0]));
  }
  std::optional<OutFile> source;
  if (options.count("emit") != 0) {
    if (suite) {
      throw UsageError("--emit", fmt::format("these are {} chains", chains.size()),
                       fmt::format("say which, such as {}:1", given[0]));
    }
    source.emplace(options["emit"].as<std::string>(), "--emit");
  }
  for (Chain& chain : chains) {
    if (context.stop.stop_requested()) throw Interrupted();
    all.push_back(fusion_answer(options, std::move(chain), context));
    if (form != Format::table) continue;
    if (all.size() > 1) context.out << "\n";
    print_table(all.back(), context.out);
  }
  if (source) source->write(emitted(all.front()));
  const bool right =
      std::ranges::all_of(all, [](const FusionAnswer& a) { return a.error.value_or(0) <= 1; });
  const Exit exit = right ? Exit::done : Exit::no;
  if (form == Format::csv) print_csv(all, context.out);
  if (form != Format::json) return exit;
  std::vector<ordered_json> records;
  for (const FusionAnswer& a : all) records.push_back(json_of_answer(a));
  print_chains(std::move(records), context.out);
  return exit;
}

}  // namespace

const Command& fuse_command() {
  static const Command command{
      "fuse",
      "CHAIN",
      "a chain of contractions inside caches, on disk under a limit of memory, or on explicit "
      "levels: "
      "what to fuse, where to read and write",
      "tcsim fuse fourindex:2 --memory 256MiB --machine zen5",
      [](po::options_description& o) {
        o.add_options()("size", po::value<std::string>(),
                        "extents of statements or einsum: p=60,q=60,...")(
            "type", words({"f64", "f32"}), "element type")(
            "order", po::value<std::string>(),
            "of a product of many factors: ((A B) C) [the least multiply-adds]")(
            "memory", po::value<std::string>(),
            "that a run may take: tiles, packed operands, files' chunks: 8GiB [all tensors are in "
            "memory]")("tiles", po::value<std::string>(), "instead: memory of tiles alone")(
            "overlap", po::bool_switch(),
            "read ahead and write behind, which takes the tiles of disk twice")(
            "disk-read", po::value<std::string>(),
            "rate of the disk [the machine's disk, or 2GB/s]")(
            "disk-write", po::value<std::string>(), "the same for writing [or 1GB/s]")(
            "disk-transfer", po::value<std::string>(),
            "what each transfer takes before its first byte [100us]")(
            "schedule", po::value<std::string>(), "a fused schedule, in a file or as text")(
            "run", po::value<std::string>(),
            "run it: the folder with the inputs' files, NAME.h5, and for the results")(
            "fill", po::bool_switch(), "with --run: make inputs that are missing")(
            "whole", po::bool_switch(),
            "with --fill: of whole numbers, so that results have the same bytes in any order")(
            "force", po::bool_switch(), "with --run: overwrite results")(
            "resume", po::bool_switch(), "with --run: go on where a run ended")(
            "compare", po::bool_switch(), "with --run: run the unfused program before it")(
            "cold", po::bool_switch(),
            "with --run: each transfer goes to the disk, past the system's cache")(
            "check", po::bool_switch(), "with --run: compare some results with plain loops")(
            "seed", whole<std::uint64_t>(1, 0), "of inputs that are made, and of what is compared")(
            "emit", po::value<std::string>(),
            "write it as C with its reads and writes to this file")(
            "no-whatif", po::bool_switch(),
            "leave out what more memory, a faster disk or a faster link changes");
        declare_fuse_in_caches(o);
        declare_fuse_in_levels(o);
        declare_machine_alone(o);
        declare_output(o);
      },
      run_fuse};
  return command;
}

}  // namespace tcsim::cli
