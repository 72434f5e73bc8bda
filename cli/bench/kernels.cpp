// bench kernels: the microkernels alone, each at every length of its sum.
#include "bench/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/bench/bench.hpp"
#include "cli/kernel_result.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"

namespace tcsim::cli {

namespace {

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
    out << fmt::format("  {:<8}{:<6}{:<8}", fmt::format("{}x{}", m.rows.value(), m.columns.value()),
                       fmt::format("f{}", 8 * m.element.value()), m.instruction_set);
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

}  // namespace

Exit bench_kernels(const Options& options, Context& context) {
  const Format form = format(options);
  bench::KernelOptions how;
  how.sets = {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::plain};
  how.schemes = {KernelScheme::packed};
  how.repetitions = options["repetitions"].as<int>();
  how.stop = context.stop;
  const KernelCatalog catalog = [&] {
    Progress progress(context, "kernels");
    how.progress = [&](const std::string& what, double share) { progress.show(what, share); };
    return bench::measure_kernels(how, version);
  }();
  if (form == Format::table) {
    print_table(catalog, context.out);
  } else {
    print(catalog, {}, "bench kernels", form, context.out);
  }
  return Exit::done;
}

}  // namespace tcsim::cli
