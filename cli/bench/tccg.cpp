// bench tccg: the executor and its peers on a suite of contractions.
#include <fmt/format.h>

#include <algorithm>

#include "cli/bench/bench.hpp"
#include "cli/describe.hpp"
#include "cli/request.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "kernels/execute.hpp"

namespace tcsim::cli {

namespace {

using bench::Contestant;
using bench::SuiteCase;
using nlohmann::ordered_json;

// All that is printed.
struct SuiteBench {
  Machine machine;
  std::vector<bench::Library> libraries;
  std::vector<std::string> wanted;  // words of those that take part
  int repetitions = 0;
  std::size_t asked = 0;  // cases
  std::vector<SuiteCase> complete;

  // Columns of the table.
  std::vector<std::string> peers() const {
    std::vector<std::string> names;
    for (const bench::Library& l : libraries) {
      if (std::ranges::find(wanted, l.word) == wanted.end()) continue;
      if (l.word == "eigen") {
        names.push_back(l.name);
      } else {
        names.insert(names.end(), {"TTGT " + l.name, "loops " + l.name});
      }
    }
    return names;
  }
};

double percent(double share) { return 100 * share; }

void print_table_head(const SuiteBench& b, std::ostream& out) {
  out << fmt::format("schedules for {}; one thread, cold caches, median of {}\n", b.machine.name,
                     b.repetitions)
      << to_words(b.libraries, b.wanted) << "\n"
      << fmt::format("  {:<9}{:<17}{:>8}{:>8}{:>8}{:>8}", "", "GFLOPS:", "tcsim", "% peak",
                     "% limit", "spread");
  for (const std::string& name : b.peers()) out << fmt::format("{:>16}", name);
  out << fmt::format("{:>8}{:>8}\n", "ratio", "peak");
}

void print_table_row(const SuiteBench& b, const SuiteCase& c, std::ostream& out) {
  const bench::Samples& s = c.tcsim().samples;
  out << fmt::format("  {:<9}{:<17}{:>8.1f}{:>8.1f}{:>8.1f}{:>8.1f}", c.workload.name(),
                     c.workload.label(), s.rate().value() / 1e9, percent(s.of_peak()),
                     percent(s.of_limit()), percent(s.spread()));
  for (const std::string& name : b.peers()) {
    const auto peer = std::ranges::find(c.contestants, name, &Contestant::name);
    out << fmt::format("{:>16}", peer == c.contestants.end() ? "-"
                                 : !peer->correct()
                                     ? "WRONG"
                                     : fmt::format("{:.1f}", peer->samples.rate().value() / 1e9));
  }
  const auto ratio = c.ratio();
  out << fmt::format("{:>8}{:>8.1f}{}\n", ratio ? fmt::format("{:.2f}", *ratio) : "-",
                     s.peak().value() / 1e9, c.tcsim().correct() ? "" : "  tcsim is WRONG");
  out.flush();
}

void print_table_end(const SuiteBench& b, std::ostream& out) {
  const auto s = summary(b.complete);
  if (!s) return;
  out << fmt::format("\n  {} cases, geometric means: {:.1f} % of the peak, {:.1f} % of the limit",
                     b.complete.size(), percent(s->of_peak), percent(s->of_limit));
  if (s->ratio) {
    out << fmt::format(
        "; {:.2f} times the best peer ({:.1f} % of the peak), slower than it in {} cases",
        *s->ratio, percent(*s->best_peer_of_peak), s->slower);
  }
  out << "\n";
}

void print_json(const SuiteBench& b, std::ostream& out) {
  ordered_json j = bench_head("tccg");
  j["machine"] = machine_json(b.machine);
  j["peers"] = json_of(b.libraries, b.wanted);
  j["repetitions"] = b.repetitions;
  j["complete"] = b.complete.size() == b.asked;
  j["cases"] = ordered_json::array();
  for (const SuiteCase& c : b.complete) j["cases"].push_back(json_of(c));
  if (const auto s = summary(b.complete)) {
    j["summary"] = {{"of_peak", s->of_peak}, {"of_limit", s->of_limit}};
    if (s->ratio) {
      j["summary"]["ratio"] = *s->ratio;
      j["summary"]["best_peer_of_peak"] = *s->best_peer_of_peak;
      j["summary"]["slower"] = s->slower;
    }
  }
  out << json_text(j) << "\n";
}

}  // namespace

Exit bench_tccg(const Options& options, Context& context) {
  const Format form = format(options);
  const std::vector<Contraction> cases = bench_cases(options);
  for (const Contraction& c : cases) require_memory(c);
  const auto libraries = bench::contraction_libraries();
  const auto wanted = bench_peers(options, libraries);
  SuiteBench b{machine(options, context),        libraries,    wanted,
               options["repetitions"].as<int>(), cases.size(), {}};

  bench::SuiteOptions how;
  how.repetitions = b.repetitions;
  how.libraries = wanted;
  how.stop = context.stop;
  bench::ColdYardstick yardstick;
  if (form == Format::table) print_table_head(b, context.out);
  const Exit code = for_each_bench_case(
      cases, context,
      [&](const Contraction& c, const std::function<void(double)>& show) {
        how.progress = show;
        const Schedule schedule = choose(options, c, b.machine, context).schedule;
        b.complete.push_back(bench_case(c, schedule, yardstick, how));
        return b.complete.back().correct();
      },
      [&] {
        if (form == Format::table) print_table_row(b, b.complete.back(), context.out);
      });
  if (form == Format::table) print_table_end(b, context.out);
  if (form == Format::json) print_json(b, context.out);
  if (form == Format::csv) print_suite_csv("tccg", b.machine, b.complete, context.out);
  return code;
}

}  // namespace tcsim::cli
