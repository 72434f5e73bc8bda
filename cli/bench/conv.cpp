// bench conv: the executor on the layers of networks beside oneDNN.
#include <fmt/format.h>

#include <algorithm>

#include "bench/convolution.hpp"
#include "cli/bench/bench.hpp"
#include "cli/request.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "kernels/execute.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

// The layers to measure, with what each was made from.
struct Layers {
  std::vector<Contraction> workloads;
  std::vector<ConvolutionShape> shapes;
};

struct ConvBench {
  Machine machine;
  std::vector<bench::Library> libraries;
  std::vector<std::string> wanted;  // words of those that take part
  int repetitions = 0;
  Layers layers;
  std::vector<bench::SuiteCase> complete = {};  // of the first layers
};

Layers layers_of(const Options& options) {
  Layers layers;
  for (const auto& [suite, places] : convolution_suites(options, "yolo9000,resnet18")) {
    for (const std::size_t place : places) {
      const Contraction& c = suite.workloads[place];
      const auto& shape = suite.shapes[place];
      if (!shape) {
        throw UnsupportedError(c.name(), "it is no convolution that the suite gives by its sizes",
                               "use another suite, such as resnet18, or leave it out by --case");
      }
      if (c.type() != ElementType::f32) {
        throw UnsupportedError(c.name(), "oneDNN computes in f32 only",
                               "write type = \"f32\" in the suite's file");
      }
      layers.workloads.push_back(c);
      layers.shapes.push_back(*shape);
    }
  }
  return layers;
}

// "64,3,112,112,7,7,2", and what else is not usual: " n=8 dilation=2 groups=32".
std::string short_sizes(const ConvolutionShape& shape) {
  std::string text = fmt::format("{},{}", shape.k, shape.c);
  for (const auto& axis : shape.axes) text += fmt::format(",{}", axis.output);
  for (const auto& axis : shape.axes) text += fmt::format(",{}", axis.filter);
  text += fmt::format(",{}", shape.stride);
  if (shape.n > 1) text += fmt::format(" n{}", shape.n);
  if (shape.dilation > 1) text += fmt::format(" d{}", shape.dilation);
  if (shape.groups > 1) text += fmt::format(" g{}", shape.groups);
  return text;
}

bool has_peer(const ConvBench& b) { return !b.wanted.empty(); }

void print_table_head(const ConvBench& b, std::ostream& out) {
  out << fmt::format("schedules for {}; f32, one thread, cold caches, median of {}\n",
                     b.machine.name, b.repetitions)
      << to_words(b.libraries, b.wanted) << "\n";
  constexpr const char* peers = "    nchw    nhwc blocked  +reord";
  out << fmt::format("  {:<15} {:<23} {:>7}{:>7}", "GFLOPS", "", "tcsim", "% peak");
  if (has_peer(b)) out << fmt::format("  {:<30}  tcsim / oneDNN", "oneDNN");
  out << fmt::format("\n  {:<15} k,c,y,x,r,s,stride", "");
  if (has_peer(b)) out << fmt::format("{:20}{}{}", "", peers, peers);
  out << "\n";
}

void print_table_row(const ConvBench& b, const bench::SuiteCase& c, std::ostream& out) {
  const bench::Samples& s = c.tcsim().samples;
  out << fmt::format("  {:<15} {:<23} {:>7.1f}{:>7.1f}", c.workload.name(),
                     short_sizes(b.layers.shapes[b.complete.size() - 1]), s.rate().value() / 1e9,
                     100 * s.of_peak());
  std::string rates, ratios;
  for (const char* name : bench::onednn_names) {
    const auto peer = std::ranges::find(c.contestants, name, &bench::Contestant::name);
    const auto ratio = bench::ratio_to(c, name);
    rates += fmt::format("{:>8}", peer == c.contestants.end() ? "-"
                                  : !peer->correct()
                                      ? "WRONG"
                                      : fmt::format("{:.1f}", peer->samples.rate().value() / 1e9));
    ratios += fmt::format("{:>8}", ratio ? fmt::format("{:.2f}", *ratio) : "-");
  }
  if (has_peer(b)) out << rates << ratios;
  out << (c.tcsim().correct() ? "\n" : "  tcsim is WRONG\n");
  out.flush();
}

void print_table_end(const ConvBench& b, std::ostream& out) {
  const auto s = bench::convolution_summary(b.complete);
  if (!s) return;
  out << fmt::format("\n  {} layer{}, geometric means: tcsim {:.1f} % of the peak\n",
                     b.complete.size(), b.complete.size() == 1 ? "" : "s", 100 * s->of_peak);
  for (const auto& peer : s->peers) {
    out << fmt::format("  {:<26} {:.1f} % of the peak; tcsim / it {:.2f}, below {} in {} of {}\n",
                       peer.name, 100 * *peer.of_peak, *peer.ratio, bench::slow_layer, peer.slow,
                       peer.layers);
  }
  if (!s->peers.empty()) {
    out << fmt::format("  below {} beside oneDNN nchw or oneDNN blocked: {} of {}\n",
                       bench::slow_layer, s->slow, b.complete.size());
  }
}

void print_json(const ConvBench& b, std::ostream& out) {
  ordered_json j = bench_head("conv");
  j["machine"] = machine_json(b.machine);
  j["peers"] = json_of(b.libraries, b.wanted);
  j["repetitions"] = b.repetitions;
  j["complete"] = b.complete.size() == b.layers.workloads.size();
  j["cases"] = ordered_json::array();
  for (const bench::SuiteCase& c : b.complete) {
    ordered_json one = json_of(c);
    one["ratios"] = ordered_json::object();
    for (const char* name : bench::onednn_names) {
      if (const auto ratio = bench::ratio_to(c, name)) one["ratios"][name] = *ratio;
    }
    j["cases"].push_back(std::move(one));
  }
  if (const auto s = bench::convolution_summary(b.complete)) {
    j["summary"] = {{"of_peak", s->of_peak}, {"peers", ordered_json::array()}};
    for (const auto& peer : s->peers) {
      j["summary"]["peers"].push_back({{"name", peer.name},
                                       {"of_peak", *peer.of_peak},
                                       {"ratio", *peer.ratio},
                                       {"layers", peer.layers},
                                       {"slow", peer.slow}});
    }
    j["summary"]["slow"] = s->slow;
    j["summary"]["slow_below"] = bench::slow_layer;
  }
  out << json_text(j) << "\n";
}

}  // namespace

Exit bench_conv(const Options& options, Context& context) {
  if (options["tilings"].as<bool>()) return bench_conv_tilings(options, context);
  const Format form = format(options);
  Layers layers = layers_of(options);
  for (const Contraction& c : layers.workloads) require_memory(c);
  const auto libraries = bench::convolution_libraries();
  const auto wanted = bench_peers(options, libraries);
  ConvBench b{machine(options, context), libraries, wanted, options["repetitions"].as<int>(),
              std::move(layers)};

  bench::SuiteOptions how;
  how.repetitions = b.repetitions;
  how.worth_repeating = 0;  // each has a column of its own
  how.libraries = wanted;
  how.stop = context.stop;
  bench::ColdYardstick yardstick;
  if (form == Format::table) print_table_head(b, context.out);
  const Exit code = for_each_bench_case(
      b.layers.workloads, context,
      [&](const Contraction& c, const std::function<void(double)>& show) {
        how.progress = show;
        const Schedule schedule = choose(options, c, b.machine, context, {}, true).schedule;
        const ConvolutionShape& shape = b.layers.shapes[b.complete.size()];
        b.complete.push_back(bench_convolution(c, shape, schedule, yardstick, how));
        return b.complete.back().correct();
      },
      [&] {
        if (form == Format::table) print_table_row(b, b.complete.back(), context.out);
      });
  if (form == Format::table) print_table_end(b, context.out);
  if (form == Format::json) print_json(b, context.out);
  if (form == Format::csv) print_suite_csv("conv", b.machine, b.complete, {}, context.out);
  return code;
}

}  // namespace tcsim::cli
