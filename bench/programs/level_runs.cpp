// Chains on explicit levels that run here, beside what is predicted of them. On as many processes
// as mpirun starts:
//   bench_level_runs figures FOLDER [REPETITIONS]
//     the expressions of multilevel-fusion-gpu at several sizes, fused and not: its Figures 3 to 6
//   bench_level_runs decisions FOLDER [SEED [REPETITIONS]]
//     whether what was chosen to be fused is the quickest, over those and 20 random chains
//   bench_level_runs scaling FOLDER [REPETITIONS]
//     A by the processes that there are, and by the plan up to 1024: Figure 7
//   bench_level_runs files FOLDER [REPETITIONS]
//     chunks of a file in their order and in any other, through the system's memory and past it
// FOLDER has the files meanwhile. The machine is measured first, but for the last.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/explicit_levels.hpp"
#include "bench/level_runs.hpp"
#include "chains/levels/rehearsal.hpp"
#include "chains/levels/tally.hpp"
#include "chains/tensor_files.hpp"
#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/machine/toml.hpp"
#include "core/statistics.hpp"
#include "core/units/text.hpp"
#include "kernels/contract.hpp"
#include "tests/core/fusion/chains.hpp"

namespace {

using namespace tcsim;
using bench::LevelProgram;
using levels::Hierarchy;
using levels::LevelPlan;
using levels::OperationTree;
namespace fs = std::filesystem;

const Processes& team() { return Processes::all(); }

// By the first process.
template <class... A>
void say(fmt::format_string<A...> text, A&&... arguments) {
  if (team().rank() != 0) return;
  fmt::print(text, std::forward<A>(arguments)...);
  std::fflush(stdout);
}

OperationTree expression(int number, int n) {
  OperationTree tree = fusion::operation_tree(
      fusion::find_chain({fmt::format("multilevel:{}", number), "", {}, ""}).program);
  for (OperationTree::Index& i : tree.indices) i.extent = n;
  return tree;
}

double bytes_of(const OperationTree& tree) {
  double sum = 0;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) sum += tree.bytes(static_cast<int>(a));
  return sum;
}

Hierarchy measured(const fs::path& folder) {
  bench::LevelProbeOptions options;
  options.folder = folder;
  options.repetitions = 5;
  options.file = Bytes(std::int64_t{128} << 20);
  const Machine machine =
      bench::machine_of(bench::measure_levels(team(), options), assumed_machine());
  const Hierarchy h = levels::hierarchy(machine, Bytes(8));
  say("{} process{}, measured: {} {}/s and {} a transfer, {} {}/s, {} a transfer and {} a row, "
      "products {:.3g} Gflop/s a process and {:.3g} ns a byte of tiles\n",
      team().size(), team().size() == 1 ? "" : "es", h.link(1),
      to_display(Bytes(static_cast<std::int64_t>(h.level(1).bandwidth.value()))),
      to_display(h.level(1).transfer), h.link(0),
      to_display(Bytes(static_cast<std::int64_t>(h.level(0).bandwidth.value()))),
      to_display(h.level(0).transfer), to_display(h.level(0).row), h.rate.value() / 1e9,
      1e9 * h.tile_byte.value());
  return h;
}

Hierarchy with_capacities(Hierarchy h, std::int64_t local, std::int64_t global) {
  h.levels[0].capacity = Bytes(local);
  h.levels[1].capacity = Bytes(global);
  return h;
}

std::string bytes_text(std::int64_t bytes) { return to_display(Bytes(bytes)); }

// The memories in the paper's proportions: local has room for the slice of 16^5 numbers of D, as
// 1 GB has for that of 40^5, and global has 32 times as much.
constexpr std::int64_t figures_local = 10'000'000, figures_global = 320'000'000;

struct Figure {
  const char* name;
  int expression;
  std::vector<int> sizes;
  const char* paper;
};
const std::vector<Figure>& figures() {
  static const std::vector<Figure> all{
      {"A", 1, {12, 16}, "Fig. 3, N = 40: 40 % less; Fig. 4: 2.4 times"},
      {"B", 2, {12, 16}, "Fig. 3, N = 40: 45 % less; Fig. 4: 3.7 times"},
      {"C", 3, {7, 8}, "Fig. 3, N = 16: 75 % less; Fig. 4: 2.5 times"},
      {"D",
       4,
       {14, 16, 17},
       "Fig. 5: 2 to 2.5 times below N = 40, 1.4 to 1.7 from there on; Fig. 6: 4 to 5 times"},
      {"E", 5, {48, 64}, "Fig. 3, N = 256: 1.02 to 1.09 times, were it fused"}};
  return all;
}

// Unfused; all intermediates in the global level; and those in the local level that the
// prescription has there, or all where it has none.
std::vector<LevelProgram> three_ways(const OperationTree& tree, const Hierarchy& h) {
  const auto all_in = [&](int home) {
    levels::Homes homes = levels::unfused(tree, h);
    for (std::size_t a = 0; a < homes.size(); ++a) {
      if (tree.arrays[a].is_intermediate()) homes[a] = home;
    }
    return homes;
  };
  levels::Homes inside = levels::prescribe(tree, h).homes;
  const bool against = inside == all_in(1);
  if (against) inside = all_in(0);
  std::vector<LevelProgram> programs;
  for (const auto& [name, homes] :
       {std::pair{"unfused", all_in(2)}, std::pair{"at disk", all_in(1)},
        std::pair{against ? "at both, not advised" : "at both", inside}}) {
    levels::OptimumOptions options;
    options.homes = homes;
    const LevelPlan plan = levels::optimum(tree, h, options).plan;
    programs.push_back({name, plan, levels::simulate(tree, h, plan.node), {}});
  }
  return programs;
}

std::string inner_fused(const OperationTree& tree, const LevelPlan& plan) {
  int fused = 0, all = 0;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    if (!tree.arrays[a].is_intermediate()) continue;
    ++all;
    fused += plan.homes[a] == 0;
  }
  return fmt::format("{} of {} at both", fused, all);
}

void print_programs(const std::vector<LevelProgram>& programs, const std::string& what) {
  for (const LevelProgram& p : programs) {
    const levels::LevelTimes& times = p.plan.times;
    const auto sum = [&](std::size_t l) { return p.plan.counts.links[l].sum().bytes(); };
    say("{:6} {:20} {:>9} {:>9} {:>9}  {:>9} {:>9} {:>9}  {:>9} {:>9}  {:>9} {:>9}  {}\n", what,
        p.name, bytes_text(sum(1)), to_display(times.links[1]), to_display(p.link(1)),
        bytes_text(sum(0)), to_display(times.links[0]), to_display(p.link(0)),
        to_display(times.arithmetic), to_display(p.arithmetic()), to_display(p.plan.time()),
        to_display(p.total()), p.as_predicted() ? "equal" : "DIFFERS");
  }
}

int run_figures(const fs::path& folder, int repetitions) {
  const Hierarchy h = with_capacities(measured(folder), figures_local, figures_global);
  say("local {}, global {}; least of {} runs; bytes are those predicted, and equal to those "
      "simulated and measured in every run where it says so\n",
      bytes_text(figures_local), bytes_text(figures_global), repetitions);
  say("{:6} {:20} {:>9} {:>9} {:>9}  {:>9} {:>9} {:>9}  {:>9} {:>9}  {:>9} {:>9}  {}\n", "",
      "fused", h.link(1), "predicted", "measured", h.link(0), "predicted", "measured", "arithm.",
      "measured", "in all", "measured", "counted");
  for (const Figure& figure : figures()) {
    for (int n : figure.sizes) {
      const OperationTree tree = expression(figure.expression, n);
      std::vector<LevelProgram> programs = three_ways(tree, h);
      run_in_turns(tree, h, programs, team(), folder, repetitions);
      print_programs(programs, fmt::format("{} {}", figure.name, n));
      const LevelProgram &apart = programs.front(), &inside = programs.back();
      const auto inner = [](const LevelProgram& p) { return p.link(0) + p.arithmetic(); };
      const auto planned = [](const LevelProgram& p) {
        return p.plan.times.links[0] + p.plan.times.arithmetic;
      };
      say("       fused {}: disk {:.2f} times as fast predicted, {:.2f} measured; {} and "
          "arithmetic {:.2f} predicted, {:.2f} measured; in all {:.2f} and {:.2f}\n",
          inner_fused(tree, inside.plan), apart.plan.times.links[1] / inside.plan.times.links[1],
          apart.link(1) / inside.link(1), h.link(0), planned(apart) / planned(inside),
          inner(apart) / inner(inside), apart.plan.time() / inside.plan.time(),
          apart.total() / inside.total());
    }
    say("       paper: {}\n", figure.paper);
  }
  return 0;
}

// Chains that are drawn: extents up to this, all tensors between these, and so much arithmetic.
constexpr int longest = 150;
constexpr double least_bytes = 6e7, most_bytes = 3e8, most_flops = 2e10;
// Of all tensors, what the global level holds; of that, what a process does.
constexpr double least_share = 0.05, most_share = 0.7, least_part = 0.02, most_part = 0.5;
// Shares by which another way may take less; the first one is what counts as right.
constexpr double tolerances[] = {0.05, 0.1, 0.2};
// A choice matters where the slowest way takes longer by more.
constexpr double matters = 0.1;

OperationTree drawn(std::mt19937_64& random, int contractions) {
  for (;;) {
    try {
      OperationTree tree = fusion::operation_tree(
          fusion::random_chain_program(random, contractions, longest, contractions > 2));
      const double bytes = bytes_of(tree);
      if (bytes >= least_bytes && bytes <= most_bytes && tree.flops() <= most_flops) return tree;
    } catch (const Error&) {
      // Too large.
    }
  }
}

double between(std::mt19937_64& random, double low, double high) {
  return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
}

struct Decisions {
  std::vector<double> lost, lost_where_it_matters, lost_rehearsed, twice;
  int differing = 0;

  static int within(const std::vector<double>& losses, double tolerance) {
    return static_cast<int>(
        std::ranges::count_if(losses, [&](double x) { return x <= tolerance; }));
  }
};

// "T0[a,b] += A[a,k] * B[k,b]; ...", and extents.
std::string statements_of(const OperationTree& tree) {
  std::string text;
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    text += tree.statement_text(s) + "; ";
  }
  for (const OperationTree::Index& i : tree.indices) {
    text += fmt::format(" {}={}", i.name, i.extent);
  }
  return text;
}

// What is chosen after a rehearsal.
const LevelProgram& after_rehearsal(const std::vector<LevelProgram>& programs,
                                    const OperationTree& tree, const Hierarchy& h) {
  const std::vector<chains::Rehearsed> tried =
      chains::rehearse(tree, h, programs.back().plan, assumed_machine(), team(), {});
  const auto& best = *std::ranges::min_element(tried, {}, &chains::Rehearsed::time);
  const auto found = std::ranges::find_if(
      programs, [&](const LevelProgram& p) { return p.plan.homes == best.plan.homes; });
  return found == programs.end() ? programs.back() : *found;
}

// Of one chain: whether no other way to fuse it was quicker. The chosen program runs twice in each
// turn: how far the two differ says what the machine can tell apart.
void decide(const std::string& name, const OperationTree& tree, const Hierarchy& h,
            const fs::path& folder, int repetitions, Decisions& seen) {
  std::vector<LevelProgram> programs;
  try {
    programs = bench::ways_to_run(tree, h);
  } catch (const UnsupportedError& e) {
    say("{:8} {}\n", name, e.what());
    return;
  }
  programs.insert(programs.begin(), LevelProgram(programs.back()));
  run_in_turns(tree, h, programs, team(), folder, repetitions);
  seen.twice.push_back(std::abs(bench::longer_by(programs.front(), programs.back())));
  programs.erase(programs.begin());
  const LevelProgram& chosen = programs.back();
  const LevelProgram& rehearsed = after_rehearsal(programs, tree, h);
  const double lost = bench::longer_by(chosen, bench::quickest(programs, chosen));
  const double stake = bench::at_stake(programs);
  seen.lost.push_back(lost);
  seen.lost_rehearsed.push_back(bench::longer_by(rehearsed, bench::quickest(programs, rehearsed)));
  if (stake > matters) seen.lost_where_it_matters.push_back(lost);
  for (const LevelProgram& p : programs) seen.differing += !p.as_predicted();
  // Of a way: "right", or by how much it is not.
  const auto verdict = [&](const LevelProgram& way) {
    const LevelProgram& quicker = bench::quickest(programs, way);
    const double by = bench::longer_by(way, quicker);
    if (by <= tolerances[0]) return std::string("right");
    return fmt::format("WRONG by {:.0f} %, {} takes {} (predicted {})", 100 * by, quicker.name,
                       to_display(quicker.total()), to_display(quicker.plan.time()));
  };
  say("{:8} {:>9} of tensors, {:>9} local, {:>9} global; of {} ways {}: {} (predicted {}), {}; "
      "after a rehearsal {}, {}; the slowest takes {:.2f} times as long\n",
      name, bytes_text(static_cast<std::int64_t>(bytes_of(tree))), to_display(h.level(0).capacity),
      to_display(h.level(1).capacity), programs.size(), chosen.name, to_display(chosen.total()),
      to_display(chosen.plan.time()), verdict(chosen),
      &rehearsed == &chosen ? "the same" : rehearsed.name, verdict(rehearsed), 1 + stake);
  say("           {}\n", statements_of(tree));
  for (const LevelProgram& p : programs) {
    const levels::LevelTimes& times = p.plan.times;
    const double chunks = static_cast<double>(p.runs.front().chunks.value()) /
                          static_cast<double>(p.plan.counts.links[1].sum().bytes());
    const auto link = [&](int l) {
      const auto at = static_cast<std::size_t>(l);
      return fmt::format("{} {} ({}) by {:.3g} rows", h.link(l), to_display(p.link(l)),
                         to_display(times.links[at]),
                         static_cast<double>(p.plan.counts.links[at].sum().rows));
    };
    say("           {:34} {} and {:.2f} of its bytes in chunks, {}, arithmetic {} ({}), in all {} "
        "({})\n",
        p.name, link(1), chunks, link(0), to_display(p.arithmetic()), to_display(times.arithmetic),
        to_display(p.total()), to_display(p.plan.time()));
  }
}

int run_decisions(const fs::path& folder, std::uint64_t seed, int repetitions) {
  seed = static_cast<std::uint64_t>(
      team().gathered({static_cast<std::int64_t>(seed)}).front().front());
  const Hierarchy machine = measured(folder);
  say("seed {}; right: the chosen way takes at most {:.0f} % more than the quickest one in the "
      "median of {} turns; times are the least of those\n",
      static_cast<std::int64_t>(seed), 100 * tolerances[0], repetitions);
  std::mt19937_64 random(seed);
  const auto limited = [&](const OperationTree& tree) {
    const double global = bytes_of(tree) * between(random, least_share, most_share);
    const double local = global / team().size() * between(random, least_part, most_part);
    return with_capacities(machine, static_cast<std::int64_t>(local),
                           static_cast<std::int64_t>(global));
  };
  Decisions seen;
  for (const Figure& figure : figures()) {
    const int n = std::uniform_int_distribution(figure.sizes.front(), figure.sizes.back())(random);
    const OperationTree tree = expression(figure.expression, n);
    decide(fmt::format("{} {}", figure.name, n), tree, limited(tree), folder, repetitions, seen);
  }
  for (int draw = 0; draw < 20; ++draw) {
    const OperationTree tree = drawn(random, 2 + draw % 2);
    decide(fmt::format("draw {}", draw + 1), tree, limited(tree), folder, repetitions, seen);
  }
  for (double tolerance : tolerances) {
    say("at most {:.0f} % more than the quickest: {} of {}, after a rehearsal {}; where the "
        "slowest "
        "takes {:.0f} % more at least: {} of {}\n",
        100 * tolerance, Decisions::within(seen.lost, tolerance), seen.lost.size(),
        Decisions::within(seen.lost_rehearsed, tolerance), 100 * matters,
        Decisions::within(seen.lost_where_it_matters, tolerance),
        seen.lost_where_it_matters.size());
  }
  say("the same program twice in each turn: {:.0f} % apart in the median, {:.0f} % in nine of ten; "
      "{} programs did not move what was predicted\n",
      100 * quantile(seen.twice, 0.5), 100 * quantile(seen.twice, 0.9), seen.differing);
  return 0;
}

// A as Figures 7 and 8 have it.
constexpr int of_figure_7 = 48, of_run = 16;

int run_scaling(const fs::path& folder, int repetitions) {
  const Hierarchy h = with_capacities(measured(folder), figures_local, figures_global);
  const OperationTree small = expression(1, of_run);
  std::vector<LevelProgram> programs = three_ways(small, h);
  run_in_turns(small, h, programs, team(), folder, repetitions);
  say("A, N = {}, by {} process{}, least of {} runs\n", of_run, team().size(),
      team().size() == 1 ? "" : "es", repetitions);
  for (const LevelProgram& p : programs) {
    say("  {:8} {} {}, {} {}, arithmetic {}, in all {}; {}\n", p.name, h.link(1),
        to_display(p.link(1)), h.link(0), to_display(p.link(0)), to_display(p.arithmetic()),
        to_display(p.total()), p.as_predicted() ? "bytes equal" : "bytes DIFFER");
  }
  if (team().rank() != 0) return 0;
  const Machine cluster = find_machine("gpu-cluster-node");
  Hierarchy on = levels::hierarchy(cluster, Bytes(8));
  say("A, N = {}, on {}: the plan, simulated process by process. Assumed: each process has a link "
      "of its own of {} GB/s and {} a transfer, whatever others move and wherever a tile lies; "
      "global holds {} and the disk gives {} GB/s, however many processes there are; all compute "
      "{:.3g} Gflop/s; nobody waits for another but at the disk\n",
      of_figure_7, cluster.name, on.level(0).bandwidth.value() / 1e9,
      to_display(on.level(0).transfer), to_display(on.level(1).capacity),
      on.level(1).bandwidth.value() / 1e9, on.rate.value() / 1e9);
  say("  {:>9} {:>12} {:>10} {:>10} {:>7} {:>16} {:>7} {:>9}  {}\n", "processes", on.link(0),
      "arithmetic", "together", "faster", "unfused together", "fused", on.link(1), "simulated");
  const OperationTree tree = expression(1, of_figure_7);
  double first = 0;
  for (std::int64_t processes = 1; processes <= 1024; processes *= 2) {
    on.levels[0].instances = processes;
    const levels::LevelWays ways = levels::compare(tree, on);
    const LevelPlan& fused = ways.optimum.plan;
    const auto together = [](const LevelPlan& p) { return p.times.links[0] + p.times.arithmetic; };
    if (processes == 1) first = together(fused).value();
    const bool equal = levels::simulate(tree, on, fused.node) == fused.counts;
    say("  {:>9} {:>12} {:>10} {:>10} {:>7.1f} {:>16} {:>7.2f} {:>9}  {}\n", processes,
        to_display(fused.times.links[0]), to_display(fused.times.arithmetic),
        to_display(together(fused)), first / together(fused).value(),
        ways.unfused ? to_display(together(*ways.unfused)) : "-",
        ways.unfused ? together(*ways.unfused) / together(fused) : 0.0,
        to_display(fused.times.links[1]), equal ? "equal" : "DIFFERS");
  }
  return 0;
}

// Of one process: 192 chunks of 1 MiB, which the system is asked to forget before each turn.
int run_files(const fs::path& folder, int repetitions) {
  constexpr std::int64_t chunks = 192, chunk = 131072;
  const fs::path name = folder / "bench-files.h5";
  std::vector<double> values(chunk);
  std::mt19937_64 random(1);
  for (double& x : values) x = static_cast<double>(random()) * 0x1p-64;
  chains::TensorFile file =
      chains::TensorFile::create(name, {chunks, chunk}, {1, chunk}, ElementType::f64);
  chains::Block block(Bytes(chunk * 8));
  const auto at = [](std::int64_t i) { return std::vector<fusion::Range>{{i, 1}, {0, chunk}}; };
  for (std::int64_t i = 0; i < chunks; ++i) file.write(at(i), values.data());
  std::vector<std::int64_t> order(chunks);
  for (const bool straight : {false, true}) {
    for (const bool in_order : {true, false}) {
      std::vector<double> rates;
      for (int r = 0; r < repetitions; ++r) {
        std::iota(order.begin(), order.end(), 0);
        if (!in_order) std::ranges::shuffle(order, random);
        file.forget();
        Seconds passed{0};
        {
          const chains::Timed timed(passed);
          for (std::int64_t i : order) {
            straight ? file.read(at(i), block) : file.read(at(i), values.data());
          }
        }
        rates.push_back(chunks * chunk * 8e-9 / passed.value());
      }
      say("read {} the system's memory, {}: {:.2f} GB/s\n", straight ? "past" : "through",
          in_order ? "in their order" : "in any order", median(rates));
    }
  }
  fs::remove(name);
  return 0;
}

int usage() {
  say("bench_level_runs figures|decisions|scaling|files FOLDER ...: see "
      "bench/programs/level_runs.cpp\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  try {
    team();
    if (what == "figures") return run_figures(argv[2], static_cast<int>(number(3, 3)));
    if (what == "scaling") return run_scaling(argv[2], static_cast<int>(number(3, 3)));
    if (what == "files") return run_files(argv[2], static_cast<int>(number(3, 9)));
    if (what == "decisions") {
      return run_decisions(argv[2], number(3, std::random_device{}()),
                           static_cast<int>(number(4, 7)));
    }
    return usage();
  } catch (const std::exception& e) {
    say("bench_level_runs: {}\n", e.what());
    return 4;
  }
}
