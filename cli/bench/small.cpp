// bench small: matrix multiplications with few rows, called again and again.
#include "bench/small.hpp"

#include <fmt/format.h>

#include "cli/bench/bench.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"

namespace tcsim::cli {

namespace {

using bench::Contestant;
using bench::SmallSize;
using bench::SmallSummary;
using nlohmann::ordered_json;

struct SmallBench {
  Machine machine;
  std::vector<bench::Library> libraries;
  std::vector<std::string> wanted;
  bench::SmallOptions options;
  std::vector<SmallSize> sizes;

  bool complete() const {
    return static_cast<std::int64_t>(sizes.size()) == options.last - options.first + 1;
  }
};

void print_table(const SmallBench& b, std::ostream& out) {
  out << fmt::format(
             "rows x {} = rows x {} times {} x {}, f64, {}; schedules for {}; one thread, hot "
             "caches, median of {}\n",
             b.options.columns, b.options.depth, b.options.depth, b.options.columns,
             to_text(b.options.layout), b.machine.name, b.options.repetitions)
      << to_words(b.libraries, b.wanted);
  if (b.sizes.empty()) return;
  out << fmt::format("\n  % of the peak\n  {:>6}{:>8}", "rows", "peak");
  for (const Contestant& c : b.sizes.front().contestants) out << fmt::format("{:>10}", c.name);
  out << "  kernel\n";
  for (const SmallSize& size : b.sizes) {
    out << fmt::format("  {:>6}{:>8.1f}", size.rows,
                       size.contestants.front().samples.peak().value() / 1e9);
    for (const Contestant& c : size.contestants) {
      out << (c.correct() ? fmt::format("{:>10.1f}", 100 * c.samples.of_peak())
                          : fmt::format("{:>10}", "WRONG"));
    }
    out << fmt::format("  {}\n", size.contestants.front().how);
  }
  out << "\n";
  for (const SmallSummary& s : summary(b.sizes)) {
    out << fmt::format("  {:<10} mean {:.1f} %, worst {:.1f} % ({} rows){}\n", s.name, 100 * s.mean,
                       100 * s.worst, s.worst_rows, s.correct ? "" : ", WRONG");
  }
}

void print_json(const SmallBench& b, std::ostream& out) {
  ordered_json j = bench_head("small");
  j["machine"] = machine_json(b.machine);
  j["peers"] = json_of(b.libraries, b.wanted);
  j["repetitions"] = b.options.repetitions;
  j["complete"] = b.complete();
  j["sizes"] = ordered_json::array();
  for (const SmallSize& size : b.sizes) {
    ordered_json one{{"rows", size.rows},
                     {"columns", b.options.columns},
                     {"depth", b.options.depth},
                     {"layout", to_text(b.options.layout)},
                     {"schedule", to_line(size.schedule, size.workload)},
                     {"peak_gflops", size.contestants.front().samples.peak().value() / 1e9},
                     {"contestants", ordered_json::array()}};
    for (const Contestant& c : size.contestants) {
      ordered_json contestant = json_of(c);
      contestant.erase("of_limit");  // with hot caches there is none but the peak
      one["contestants"].push_back(std::move(contestant));
    }
    j["sizes"].push_back(std::move(one));
  }
  j["summary"] = ordered_json::array();
  for (const SmallSummary& s : summary(b.sizes)) {
    j["summary"].push_back({{"name", s.name},
                            {"mean_of_peak", s.mean},
                            {"worst_of_peak", s.worst},
                            {"worst_rows", s.worst_rows},
                            {"correct", s.correct}});
  }
  out << json_text(j) << "\n";
}

void print_csv(const SmallBench& b, std::ostream& out) {
  out << csv_line({"schema", "command", "tcsim_version", "machine", "rows", "columns", "depth",
                   "layout", "contestant", "how", "gflops", "of_peak", "spread", "peak_gflops",
                   "correct", "schedule"});
  for (const SmallSize& size : b.sizes) {
    for (const Contestant& c : size.contestants) {
      const bench::Samples& s = c.samples;
      out << csv_line({bench_head("small")["schema"].dump(), "bench small", version, b.machine.name,
                       fmt::format("{}", size.rows), fmt::format("{}", b.options.columns),
                       fmt::format("{}", b.options.depth), to_text(b.options.layout), c.name, c.how,
                       fmt::format("{}", s.rate().value() / 1e9), fmt::format("{}", s.of_peak()),
                       fmt::format("{}", s.spread()), fmt::format("{}", s.peak().value() / 1e9),
                       c.correct() ? "true" : "false", to_line(size.schedule, size.workload)});
    }
  }
}

}  // namespace

Exit bench_small(const Options& options, Context& context) {
  const Format form = format(options);
  const auto libraries = bench::small_libraries();
  SmallBench b{machine(options, context), libraries, bench_peers(options, libraries), {}, {}};
  b.options.repetitions = options["repetitions"].as<int>();
  b.options.libraries = b.wanted;
  b.options.layout = options["layout"].as<std::string>() == to_text(Layout::column_major)
                         ? Layout::column_major
                         : Layout::row_major;
  b.options.stop = context.stop;
  {
    Progress progress(context, "small multiplications");
    b.options.progress = [&](double share) { progress.show(share); };
    b.sizes = bench_small(b.machine, b.options);
  }
  if (form == Format::table) print_table(b, context.out);
  if (form == Format::json) print_json(b, context.out);
  if (form == Format::csv) print_csv(b, context.out);
  if (!b.complete()) {
    context.err << fmt::format("tcsim: interrupted after {} sizes\n", b.sizes.size());
    return Exit::interrupted;
  }
  for (const SmallSummary& s : summary(b.sizes)) {
    if (!s.correct) return Exit::no;
  }
  return Exit::done;
}

}  // namespace tcsim::cli
