// bench kernels: the microkernels alone, and the catalog of their speeds.
#include "bench/kernels.hpp"

#include <fmt/format.h>

#include <set>

#include "cli/bench/bench.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "microbench/host.hpp"

namespace tcsim::cli {

namespace {

using bench::KernelCatalog;
using bench::KernelPoint;
using bench::MeasuredKernel;
using nlohmann::ordered_json;

std::string shape(const MeasuredKernel& m) {
  return fmt::format("{}x{}", m.shape.mr.value(), m.shape.nr.value());
}

void print_table(const KernelCatalog& catalog, std::ostream& out) {
  std::set<std::int64_t> depths;
  for (const MeasuredKernel& m : catalog.kernels) {
    for (const KernelPoint& p : m.points) depths.insert(p.k);
  }
  out << fmt::format(
      "{}; one thread, operands in the first cache\n\n  % of the peak\n  {:<8}{:<6}{:<8}",
      catalog.processor, "shape", "type", "set");
  for (std::int64_t k : depths) out << fmt::format("{:>8}", fmt::format("k={}", k));
  out << fmt::format("{:>12}\n", "best GFLOPS");
  for (const MeasuredKernel& m : catalog.kernels) {
    out << fmt::format("  {:<8}{:<6}{:<8}", shape(m), to_text(m.shape.type),
                       to_text(m.shape.needs));
    double best = 0;
    for (std::int64_t k : depths) {
      const auto p = std::ranges::find(m.points, k, &KernelPoint::k);
      if (p == m.points.end()) {
        out << fmt::format("{:>8}", "");
        continue;
      }
      out << fmt::format("{:>8.1f}", 100 * p->of_peak);
      best = std::max(best, p->rate.value() / 1e9);
    }
    out << fmt::format("{:>12.1f}\n", best);
  }
}

void print_csv(const KernelCatalog& catalog, std::ostream& out) {
  out << csv_line({"schema", "command", "tcsim_version", "processor", "shape", "type",
                   "instruction_set", "k", "gflops", "of_peak"});
  for (const MeasuredKernel& m : catalog.kernels) {
    for (const KernelPoint& p : m.points) {
      out << csv_line({bench_head("kernels")["schema"].dump(), "bench kernels", version,
                       catalog.processor, shape(m), to_text(m.shape.type), to_text(m.shape.needs),
                       fmt::format("{}", p.k), fmt::format("{}", p.rate.value() / 1e9),
                       fmt::format("{}", p.of_peak)});
    }
  }
}

}  // namespace

Exit bench_kernels(const Options& options, Context& context) {
  const Format form = format(options);
  bench::KernelOptions how;
  how.repetitions = options["repetitions"].as<int>();
  how.stop = context.stop;
  KernelCatalog catalog{version, this_processor(), {}};
  {
    Progress progress(context, "kernels");
    how.progress = [&](double share) { progress.show(share); };
    catalog.kernels = bench::bench_kernels(how);
  }
  if (form == Format::table) print_table(catalog, context.out);
  if (form == Format::csv) print_csv(catalog, context.out);
  if (form == Format::json) {
    ordered_json j = bench_head("kernels");
    j["catalog"] = ordered_json::parse(to_json(catalog));
    context.out << json_text(j) << "\n";
  }
  const bool kept = keep(catalog);
  if (!context.quiet) {
    context.err << (kept ? fmt::format("note: kept in {}\n", bench::catalog_file().string())
                         : "note: not kept, as the cache folder cannot be written\n");
  }
  return Exit::done;
}

}  // namespace tcsim::cli
