#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "cli/bench/bench.hpp"
#include "cli/describe.hpp"
#include "cli/request.hpp"
#include "cli/result.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/text/safe.hpp"
#include "core/units/nearest.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

// A number in [1, count], or 0.
std::size_t number_in(const std::string& text, std::size_t count) {
  std::size_t n = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, n);
  return error == std::errc() && stop == end && n <= count ? n : 0;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::vector<std::size_t> parse_cases(const std::string& text, const std::string& suite,
                                     std::size_t count) {
  std::set<std::size_t> chosen;
  if (text.empty()) {
    for (std::size_t n = 1; n <= count; ++n) chosen.insert(n);
  }
  for (const std::string& part : text.empty() ? std::vector<std::string>() : comma_list(text)) {
    const auto dash = part.find('-');
    const std::size_t first = number_in(part.substr(0, dash), count);
    const std::size_t last =
        dash == std::string::npos ? first : number_in(part.substr(dash + 1), count);
    if (first == 0 || last < first) {
      throw UsageError("--case", fmt::format("suite {} has no cases '{}'", suite, part),
                       fmt::format("use numbers from 1 to {}, such as 7,16-18", count));
    }
    for (std::size_t n = first; n <= last; ++n) chosen.insert(n);
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<ChosenSuite> bench_suites(const Options& options, const std::string& otherwise,
                                      const SuiteOverrides& overrides) {
  const auto names =
      comma_list(options.count("suite") != 0 ? options["suite"].as<std::string>() : otherwise);
  const std::string cases = options.count("case") != 0 ? options["case"].as<std::string>() : "";
  if (names.size() > 1 && !cases.empty()) {
    throw UsageError("--case", fmt::format("numbers of {} suites", names.size()),
                     "name one of them with --suite");
  }
  std::vector<ChosenSuite> chosen;
  for (const std::string& name : names) {
    Suite suite = find_suite(name, overrides);
    auto places = parse_cases(cases, suite.name, suite.workloads.size());
    for (std::size_t& place : places) --place;
    chosen.push_back({std::move(suite), std::move(places)});
  }
  return chosen;
}

std::vector<ChosenSuite> convolution_suites(const Options& options, const std::string& otherwise) {
  std::vector<ChosenSuite> all =
      bench_suites(options, otherwise, {.type = {}, .image_layout = image_layouts(options)});
  for (auto& [suite, places] : all) {
    if (options.count("case") != 0) continue;
    const auto others = std::ranges::stable_partition(
        places, [&shapes = suite.shapes](std::size_t place) { return shapes[place].has_value(); });
    if (others.size() < places.size()) places.erase(others.begin(), others.end());
  }
  return all;
}

std::vector<Contraction> bench_cases(const Options& options) {
  std::vector<Contraction> cases;
  for (const auto& [suite, places] : bench_suites(options, "tccg")) {
    for (const std::size_t place : places) cases.push_back(suite.workloads[place]);
  }
  return cases;
}

Exit for_each_bench_case(
    const std::vector<Contraction>& cases, Context& context,
    const std::function<bool(const Contraction&, const std::function<void(double)>& show)>& measure,
    const std::function<void()>& measured) {
  Exit code = Exit::done;
  std::size_t complete = 0;
  try {
    for (const Contraction& c : cases) {
      bool correct = false;
      {
        Progress progress(context, c.name());
        correct = measure(c, [&](double share) {
          progress.show((static_cast<double>(complete) + share) /
                        static_cast<double>(cases.size()));
        });
      }
      ++complete;
      if (!correct) code = Exit::no;
      measured();
    }
  } catch (const Interrupted&) {
    context.err << fmt::format("tcsim: interrupted after {} of {} cases\n", complete, cases.size());
    code = Exit::interrupted;
  }
  return code;
}

std::vector<std::string> bench_peers(const Options& options,
                                     const std::vector<bench::Library>& known) {
  std::vector<std::string> words, wanted;
  for (const bench::Library& l : known) words.push_back(l.word);
  if (options.count("peers") == 0) {
    for (const bench::Library& l : known) {
      if (l.installed) wanted.push_back(l.word);
    }
    return wanted;
  }
  for (const std::string& word : comma_list(options["peers"].as<std::string>())) {
    if (word == "none") continue;
    const auto library = std::ranges::find(known, word, &bench::Library::word);
    if (library == known.end()) {
      throw UsageError("--peers", fmt::format("there is no peer '{}' here", word),
                       one_of(word, words) + ", or none");
    }
    if (!library->installed) {
      throw UnsupportedError("--peers", fmt::format("{} is not installed", library->name),
                             library->mend);
    }
    wanted.push_back(word);
  }
  return wanted;
}

std::string to_words(const std::vector<bench::Library>& libraries,
                     const std::vector<std::string>& wanted) {
  std::string there, missing;
  for (const bench::Library& l : libraries) {
    if (has(wanted, l.word)) {
      there += fmt::format("{}{} {}", there.empty() ? "" : "; ", l.name, l.version);
    } else if (!l.installed) {
      missing += fmt::format("missing: {} ({})\n", l.name, l.mend);
    }
  }
  return fmt::format("peers: {}\n{}", there.empty() ? "none" : there, missing);
}

ordered_json json_of(const std::vector<bench::Library>& libraries,
                     const std::vector<std::string>& wanted) {
  ordered_json all = ordered_json::array();
  for (const bench::Library& l : libraries) {
    ordered_json j{{"name", l.name}, {"installed", l.installed}, {"used", has(wanted, l.word)}};
    if (l.installed) {
      j["version"] = l.version;
    } else {
      j["install"] = l.mend;
    }
    all.push_back(std::move(j));
  }
  return all;
}

ordered_json bench_head(const std::string& name) {
  return {{"schema", results_schema}, {"command", "bench " + name}, {"tcsim_version", version}};
}

ordered_json machine_json(const Machine& machine) {
  return {{"name", machine.name}, {"hash", content_hash(machine)}};
}

ordered_json json_of(const bench::Contestant& c) {
  return {
      {"name", c.name},
      {"how", c.how},
      {"gflops", c.samples.rate().value() / 1e9},
      {"of_peak", c.samples.of_peak()},
      // What several cores together get of memory is not measured here.
      {"of_limit", c.threads == 1 ? ordered_json(c.samples.of_limit()) : ordered_json()},
      {"spread", c.samples.spread()},
      {"worst_error", std::isfinite(c.worst_error) ? ordered_json(c.worst_error) : ordered_json()},
      {"correct", c.correct()}};
}

ordered_json json_of(const bench::SuiteCase& c) {
  const Moved compulsory = bench::compulsory_traffic(c.workload);
  ordered_json j{{"workload", json_of(c.workload)},
                 {"schedule", to_line(c.schedule, c.workload)},
                 {"peak_gflops", c.tcsim().samples.peak().value() / 1e9},
                 {"memory_bytes_per_second", c.tcsim().samples.bandwidth().value()},
                 {"compulsory_bytes", (compulsory.in + compulsory.out).value()},
                 {"contestants", ordered_json::array()}};
  for (const bench::Contestant& one : c.contestants) j["contestants"].push_back(json_of(one));
  if (const bench::Contestant* best = c.best_peer()) {
    j["best_peer"] = best->name;
    j["ratio"] = *c.ratio();
  }
  if (const auto speed_up = c.speed_up()) j["speed_up"] = *speed_up;
  if (c.expected) j["expected_seconds"] = c.expected->value();
  return j;
}

void print_suite_csv(const std::string& name, const Machine& machine,
                     const std::vector<bench::SuiteCase>& cases, std::optional<std::uint64_t> seed,
                     std::ostream& out) {
  out << csv_line({"schema",
                   "command",
                   "tcsim_version",
                   "machine",
                   "machine_hash",
                   "seed",
                   "workload",
                   "label",
                   "sizes",
                   "type",
                   "layout",
                   "contestant",
                   "how",
                   "gflops",
                   "of_peak",
                   "of_limit",
                   "spread",
                   "peak_gflops",
                   "memory_bytes_per_second",
                   "correct",
                   "schedule"});
  const ordered_json head = bench_head(name), of_machine = machine_json(machine);
  for (const bench::SuiteCase& c : cases) {
    for (const bench::Contestant& one : c.contestants) {
      const bench::Samples& s = one.samples;
      out << csv_line({head["schema"].dump(),
                       "bench " + name,
                       version,
                       machine.name,
                       of_machine["hash"].get<std::string>(),
                       seed ? fmt::format("{}", *seed) : "",
                       c.workload.name(),
                       c.workload.label(),
                       c.workload.sizes(),
                       to_text(c.workload.type()),
                       to_text(c.workload.layout()),
                       one.name,
                       one.how,
                       fmt::format("{}", s.rate().value() / 1e9),
                       fmt::format("{}", s.of_peak()),
                       one.threads == 1 ? fmt::format("{}", s.of_limit()) : "",
                       fmt::format("{}", s.spread()),
                       fmt::format("{}", s.peak().value() / 1e9),
                       fmt::format("{}", s.bandwidth().value()),
                       one.correct() ? "true" : "false",
                       to_line(c.schedule, c.workload)});
    }
  }
}

}  // namespace tcsim::cli
