// bench tccg, hard and random: the executor and its peers on contractions of a suite, and on such
// as are drawn.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "cli/bench/bench.hpp"
#include "cli/describe.hpp"
#include "cli/request.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/optimize/exposed.hpp"
#include "core/plan/parts.hpp"
#include "core/units/nearest.hpp"
#include "core/workload/random_contraction.hpp"
#include "kernels/execute.hpp"
#include "kernels/race.hpp"

namespace tcsim::cli {

namespace {

using bench::Contestant;
using bench::SuiteCase;
using nlohmann::ordered_json;

// What a benchmark measures.
struct Cases {
  std::string benchmark;  // "tccg"
  std::vector<Contraction> workloads;
  std::vector<std::string> kinds = {};     // as many, or none where there are no kinds
  std::optional<std::uint64_t> seed = {};  // that they were drawn by

  std::string kind(std::size_t i) const { return kinds.empty() ? "" : kinds[i]; }
};

// Kinds that are measured as a program calls them that has prepared them once.
bool is_hot(const std::string& kind) { return kind == "tiny"; }

// All that is printed.
struct ContractionBench {
  Machine machine;
  std::vector<bench::Library> libraries;
  std::vector<std::string> wanted;  // words of those that take part
  int repetitions = 0;
  int race = 1;     // schedules of each that race, the model's choice among them
  int threads = 1;  // on which tcsim runs, too
  Cases cases;
  std::vector<SuiteCase> complete = {};

  // Columns of tccg's table.
  std::vector<std::string> peers() const {
    std::vector<std::string> names;
    for (const bench::Library& l : libraries) {
      if (std::ranges::find(wanted, l.word) == wanted.end()) continue;
      names.insert(names.end(), l.peers.begin(), l.peers.end());
    }
    return names;
  }
  // The other tables are of contractions of several types, and name the best peer alone.
  bool names_all_peers() const { return cases.benchmark == "tccg"; }
  std::string what(const Contraction& c) const {
    if (names_all_peers()) return c.label();
    const std::string way =
        fmt::format("{} {}", to_text(c.type()), c.layout() == Layout::row_major ? "row" : "column");
    return cases.seed ? fmt::format("{} {} {}", c.label(), way, c.sizes())
                      : fmt::format("{} {}", c.label(), way);
  }
  // A column that is there where several threads run.
  std::string speed_up(const std::string& text) const {
    return threads > 1 ? fmt::format("{:>10}", text) : "";
  }
  std::string speed_up(std::optional<double> x) const {
    return speed_up(x ? fmt::format("{:.2f}", *x) : "-");
  }
  int name_width() const { return cases.seed ? 0 : 9; }
  int what_width() const {
    std::size_t width = 16;
    for (const Contraction& c : cases.workloads) width = std::max(width, what(c).size());
    return static_cast<int>(width) + 1;
  }
  // Each kind with its cases, in the order of the cases.
  std::vector<std::pair<std::string, std::vector<SuiteCase>>> by_kind() const {
    std::vector<std::pair<std::string, std::vector<SuiteCase>>> all;
    for (const SuiteCase& c : complete) {
      if (c.kind.empty()) continue;
      auto at = std::ranges::find(all, c.kind, [](const auto& one) { return one.first; });
      if (at == all.end()) at = all.insert(all.end(), {c.kind, {}});
      at->second.push_back(c);
    }
    return all;
  }
};

double percent(double share) { return 100 * share; }

void print_table_head(const ContractionBench& b, std::ostream& out) {
  out << fmt::format("schedules for {}; one thread, cold caches, median of {}\n", b.machine.name,
                     b.repetitions);
  if (b.threads > 1) {
    out << fmt::format("speed-up: of tcsim on {} threads (wall clock) over one\n", b.threads);
  }
  if (b.race > 1) {
    out << fmt::format("the fastest in a race of the {} schedules that the model likes best\n",
                       b.race);
  }
  if (std::ranges::any_of(b.cases.kinds, is_hot)) {
    out << "kind tiny: prepared once, hot caches\n";
  }
  if (b.cases.seed) out << fmt::format("drawn by seed {}\n", *b.cases.seed);
  out << to_words(b.libraries, b.wanted) << "\n"
      << fmt::format("  {:<{}}{:<{}}{:>8}{:>8}{:>8}{:>8}", "", b.name_width(),
                     "GFLOPS:", b.what_width(), "tcsim", "% peak", "% limit", "spread");
  if (b.names_all_peers()) {
    for (const std::string& name : b.peers()) out << fmt::format("{:>16}", name);
    out << fmt::format("{:>8}{:>8}{}\n", "ratio", "peak", b.speed_up("speed-up"));
  } else {
    out << fmt::format("{:>8}{:>8}{:>8}{}  {}\n", "best", "ratio", "peak", b.speed_up("speed-up"),
                       "best peer");
  }
}

std::string gflops(const bench::Samples& samples) {
  const double rate = samples.rate().value() / 1e9;
  return fmt::format("{:.{}f}", rate, rate < 9.995 ? 2 : 1);
}

void print_table_row(const ContractionBench& b, const SuiteCase& c, std::ostream& out) {
  const bench::Samples& s = c.tcsim().samples;
  out << fmt::format("  {:<{}}{:<{}}{:>8}{:>8.1f}{:>8.1f}{:>8.1f}",
                     b.cases.seed ? "" : c.workload.name(), b.name_width(), b.what(c.workload),
                     b.what_width(), gflops(s), percent(s.of_peak()), percent(s.of_limit()),
                     percent(s.spread()));
  const auto ratio = c.ratio();
  const std::string ratio_text = ratio ? fmt::format("{:.2f}", *ratio) : "-";
  if (b.names_all_peers()) {
    for (const std::string& name : b.peers()) {
      const auto peer = std::ranges::find(c.contestants, name, &Contestant::name);
      out << fmt::format("{:>16}", peer == c.contestants.end() ? "-"
                                   : !peer->correct()          ? "WRONG"
                                                               : gflops(peer->samples));
    }
    out << fmt::format("{:>8}{:>8.1f}{}", ratio_text, s.peak().value() / 1e9,
                       b.speed_up(c.speed_up()));
  } else {
    const Contestant* const best = c.best_peer();
    out << fmt::format("{:>8}{:>8}{:>8.1f}{}  {}", best == nullptr ? "-" : gflops(best->samples),
                       ratio_text, s.peak().value() / 1e9, b.speed_up(c.speed_up()),
                       best == nullptr ? "-" : best->name);
    for (std::size_t i = 1; i < c.contestants.size(); ++i) {
      if (!c.contestants[i].correct()) out << "  " << c.contestants[i].name << " is WRONG";
    }
  }
  out << (c.tcsim().correct() ? "\n" : "  tcsim is WRONG\n");
  out.flush();
}

void print_table_end(const ContractionBench& b, std::ostream& out) {
  const auto s = summary(b.complete);
  if (!s) return;
  const auto kinds = b.by_kind();
  if (!kinds.empty()) {
    out << fmt::format("\n  geometric means: {:>5}{:>9}{}{:>9}{:>13}{:>12}{:>8}\n", "cases",
                       "% limit", b.speed_up("speed-up"), "ratio", "slower", "below 0.9", "worst");
    for (const auto& [kind, cases] : kinds) {
      const bench::SuiteSummary of = *summary(cases);
      out << fmt::format("  {:<17}{:>5}{:>9.1f}{}", kind, of.cases, percent(of.of_limit),
                         b.speed_up(of.speed_up));
      if (of.ratio) {
        out << fmt::format("{:>9.2f}{:>13}{:>12}{:>8.2f}", *of.ratio, of.slower, of.slow,
                           *of.worst);
      }
      out << "\n";
    }
  }
  out << fmt::format("\n  {} cases, geometric means: {:.1f} % of the peak, {:.1f} % of the limit",
                     b.complete.size(), percent(s->of_peak), percent(s->of_limit));
  if (s->ratio) {
    out << fmt::format(
        "; {:.2f} times the best peer ({:.1f} % of the peak), slower than it in {} cases, below "
        "{:.1f} times in {}, worst {:.2f}",
        *s->ratio, percent(*s->best_peer_of_peak), s->slower, bench::slow_case, s->slow, *s->worst);
  }
  if (s->speed_up) out << fmt::format("; {} threads {:.2f} times one", b.threads, *s->speed_up);
  out << "\n";
  if (const auto e = bench::expectation(b.complete)) {
    out << fmt::format(
        "  measured over expected time: median {:.2f}, {:.2f} to {:.2f} in four cases of five, "
        "within {:.0f} % in {} of {}\n",
        e->median, e->low, e->high, percent(bench::near_expected), e->near, e->cases);
  }
}

ordered_json summary_json(const bench::SuiteSummary& s) {
  ordered_json j{{"of_peak", s.of_peak}, {"of_limit", s.of_limit}};
  if (s.ratio) {
    j["ratio"] = *s.ratio;
    j["best_peer_of_peak"] = *s.best_peer_of_peak;
    j["slower"] = s.slower;
    j["slow"] = s.slow;
    j["slow_below"] = bench::slow_case;
    j["worst"] = *s.worst;
  }
  if (s.speed_up) j["speed_up"] = *s.speed_up;
  return j;
}

void print_json(const ContractionBench& b, std::ostream& out) {
  ordered_json j = bench_head(b.cases.benchmark);
  j["machine"] = machine_json(b.machine);
  j["peers"] = json_of(b.libraries, b.wanted);
  j["repetitions"] = b.repetitions;
  j["race"] = b.race;
  j["threads"] = b.threads;
  if (b.cases.seed) j["seed"] = *b.cases.seed;
  j["complete"] = b.complete.size() == b.cases.workloads.size();
  j["cases"] = ordered_json::array();
  for (const SuiteCase& c : b.complete) {
    j["cases"].push_back(json_of(c));
    if (c.kind.empty()) continue;
    j["cases"].back()["kind"] = c.kind;
    j["cases"].back()["hot"] = is_hot(c.kind);
  }
  if (const auto s = summary(b.complete)) j["summary"] = summary_json(*s);
  if (const auto e = bench::expectation(b.complete)) {
    j["measured_over_expected"] = {{"cases", e->cases}, {"median", e->median},
                                   {"low", e->low},     {"high", e->high},
                                   {"near", e->near},   {"near_is", bench::near_expected}};
  }
  for (const auto& [kind, cases] : b.by_kind()) {
    j["kinds"].push_back({{"kind", kind}, {"cases", cases.size()}});
    j["kinds"].back().update(summary_json(*summary(cases)));
  }
  out << json_text(j) << "\n";
}

Exit bench_contractions(const Options& options, Context& context, Cases cases) {
  const Format form = format(options);
  for (const Contraction& c : cases.workloads) {
    if (!c.is_plain()) {
      throw UnsupportedError(c.name(), "the peers compute no convolutions",
                             "'bench conv' is for convolutions of f32");
    }
    require_memory(c);
  }
  const auto libraries = bench::contraction_libraries();
  const auto wanted = bench_peers(options, libraries);
  if (options["race"].as<int>() > 1) {
    for (const char* given : {"schedule", "scheme"}) {
      if (options.count(given) == 0) continue;
      throw UsageError("--race", fmt::format("--{} says which schedule runs", given),
                       "leave out one of the two");
    }
  }
  ContractionBench b{machine(options, context),
                     libraries,
                     wanted,
                     options["repetitions"].as<int>(),
                     options["race"].as<int>(),
                     options["threads"].as<int>(),
                     std::move(cases)};

  bench::SuiteOptions how;
  how.repetitions = b.repetitions;
  how.libraries = wanted;
  how.stop = context.stop;
  bench::ColdYardstick yardstick;
  if (form == Format::table) print_table_head(b, context.out);
  const Exit code = for_each_bench_case(
      b.cases.workloads, context,
      [&](const Contraction& c, const std::function<void(double)>& show) {
        how.progress = show;
        const std::string kind = b.cases.kind(b.complete.size());
        how.hot = is_hot(kind);
        const auto schedule_for = [&](int threads) {
          if (b.race == 1) {
            Machine cores = b.machine;
            cores.core.cores = std::max(cores.core.cores, threads);
            return choose(options, c, cores, context, {}, true).schedule;
          }
          RaceOptions of;
          of.schedules = static_cast<std::size_t>(b.race);
          of.threads = threads;
          of.hot = how.hot;
          of.progress = show;
          of.stop = context.stop;
          return race(c, b.machine, of).schedule;
        };
        std::optional<bench::OnThreads> several;
        if (b.threads > 1) several = {schedule_for(threads_worth(c, b.threads)), b.threads};
        SuiteCase one = bench_case(c, schedule_for(1), yardstick, how, several);
        one.kind = kind;
        if (!how.hot) {
          const Prediction p = predict(c, one.schedule, b.machine);
          one.expected = expected(c, one.schedule, p, b.machine).total();
        }
        b.complete.push_back(std::move(one));
        return b.complete.back().correct();
      },
      [&] {
        if (form == Format::table) print_table_row(b, b.complete.back(), context.out);
      });
  if (form == Format::table) print_table_end(b, context.out);
  if (form == Format::json) print_json(b, context.out);
  if (form == Format::csv) {
    print_suite_csv(b.cases.benchmark, b.machine, b.complete, b.cases.seed, context.out);
  }
  return code;
}

// The words of --kind, each one of a suite's kinds.
std::set<std::string> wanted_kinds(const Options& options, const std::vector<std::string>& known) {
  std::set<std::string> wanted;
  for (const std::string& word : comma_list(options["kind"].as<std::string>())) {
    if (std::ranges::find(known, word) == known.end()) {
      throw UsageError("--kind", fmt::format("there is no kind '{}' here", word),
                       one_of(word, known));
    }
    wanted.insert(word);
  }
  return wanted;
}

}  // namespace

Exit bench_tccg(const Options& options, Context& context) {
  return bench_contractions(options, context, {"tccg", bench_cases(options)});
}

Exit bench_hard(const Options& options, Context& context) {
  Cases cases{"hard", {}};
  std::vector<std::string> known;
  std::vector<std::pair<Contraction, std::string>> all;
  for (const auto& [suite, places] : bench_suites(options, "hard")) {
    for (const std::size_t place : places) {
      const std::string& kind = suite.kinds[place];
      // Layers of networks are for "bench conv".
      if (suite.shapes[place] && options.count("case") == 0) continue;
      all.emplace_back(suite.workloads[place], kind);
      if (!kind.empty() && std::ranges::find(known, kind) == known.end()) known.push_back(kind);
    }
  }
  std::set<std::string> kinds;
  if (options.count("kind") != 0) kinds = wanted_kinds(options, known);
  for (auto& [contraction, kind] : all) {
    if (!kinds.empty() && !kinds.contains(kind)) continue;
    cases.workloads.push_back(std::move(contraction));
    cases.kinds.push_back(std::move(kind));
  }
  return bench_contractions(options, context, std::move(cases));
}

Exit bench_random(const Options& options, Context& context) {
  const std::uint64_t seed =
      options.count("seed") != 0 ? options["seed"].as<std::uint64_t>() : std::random_device()();
  const auto number = options["number"].as<std::uint64_t>();
  return bench_contractions(options, context,
                            {"random", random_contractions(seed, number), {}, seed});
}

}  // namespace tcsim::cli
