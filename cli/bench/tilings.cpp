// bench conv --tilings: ioopt's recommendation and ttile's kernels beside tcsim's own choice.
#include "bench/tilings.hpp"

#include <fmt/format.h>

#include "cli/bench/bench.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "kernels/execute.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

constexpr const char* recommended = "ioopt";
constexpr const char* composition = "ttile";

struct TiledLayer {
  Contraction workload;
  ConvolutionShape shape;
  std::string file;  // of its suite
  std::size_t place;
};

// Tcsim's own choice, and those of the others that there are for the layer.
std::vector<bench::Tiled> tilings_of(const TiledLayer& layer, const Machine& machine,
                                     Context& context) {
  const Contraction& c = layer.workload;
  const Optimized own = optimize(c, machine, for_running(), context.stop);
  std::vector<bench::Tiled> all{{"tcsim", "", c, own.schedule}};
  if (const auto tiling = bench::recommended_tiling(c, machine, own.tiling)) {
    all.push_back({recommended, "", c, build(c, machine, *tiling)});
  }
  if (const auto kernels = bench::composition_of(c.name())) {
    // In blocks of as many channels as the kernels have rows.
    const std::string layouts = fmt::format("nhwc{}k,nhwc", 16 * kernels->vectors);
    const Suite suite = find_suite(layer.file, {.type = {}, .image_layout = layouts});
    const Contraction& blocked = suite.workloads[layer.place];
    const Optimized outer = optimize(blocked, machine, for_running(), context.stop);
    if (auto schedule = bench::composed(blocked, machine, outer.tiling, *kernels)) {
      all.push_back({composition, kernels->text(), blocked, std::move(*schedule)});
    }
  }
  return all;
}

std::vector<std::string> row_of(const bench::SuiteCase& c) {
  std::vector<std::string> row{c.workload.name()};
  for (const char* name : {"tcsim", recommended, composition}) {
    const auto of = std::ranges::find(c.contestants, name, &bench::Contestant::name);
    if (of == c.contestants.end()) {
      row.insert(row.end(), {"-", "-"});
    } else if (!of->correct()) {
      row.insert(row.end(), {"WRONG", "-"});
    } else {
      row.push_back(fmt::format("{:.2f}", 1e3 * of->samples.time().value()));
      row.push_back(fmt::format("{:.1f}", 100 * of->samples.of_peak()));
    }
  }
  return row;
}

void print_tilings(const Machine& machine, int repetitions,
                   const std::vector<bench::SuiteCase>& cases, std::ostream& out) {
  out << fmt::format(
      "schedules for {}; f32, one thread, cold caches, median of {}; ms and % of the peak\n",
      visible(machine.name), repetitions);
  Rows rows;
  for (const bench::SuiteCase& c : cases) rows.push_back(row_of(c));
  std::vector<std::string> means{"geometric mean"};
  for (const char* name : {"tcsim", recommended, composition}) {
    bench::GeometricMean mean;
    for (const bench::SuiteCase& c : cases) {
      if (const auto* of = c.peer(name)) mean.add(of->samples.of_peak());
    }
    const auto value = mean.value();
    means.insert(means.end(), {"", value ? fmt::format("{:.1f}", 100 * *value) : "-"});
  }
  rows.push_back(std::move(means));
  out << aligned({"layer", "tcsim", "%", recommended, "%", composition, "%"}, rows, "  ");
}

}  // namespace

Exit bench_conv_tilings(const Options& options, Context& context) {
  const Format form = format(options);
  for (const char* option : {"peers", "schedule", "scheme"}) {
    if (options.count(option) != 0) {
      throw UsageError(fmt::format("--{}", option), "--tilings has contestants of its own",
                       "leave one of them out");
    }
  }
  std::vector<TiledLayer> layers;
  std::vector<Contraction> workloads;
  const auto suites = convolution_suites(options, "yolo9000");
  const std::vector<std::string> names =
      comma_list(options.count("suite") != 0 ? options["suite"].as<std::string>() : "yolo9000");
  for (std::size_t s = 0; s < suites.size(); ++s) {
    for (const std::size_t place : suites[s].places) {
      const Contraction& c = suites[s].suite.workloads[place];
      const auto& shape = suites[s].suite.shapes[place];
      if (!shape || c.type() != ElementType::f32) {
        throw UnsupportedError(c.name(),
                               "it is no convolution of f32 that the suite gives by its "
                               "sizes",
                               "use another suite, such as yolo9000, or leave it out by --case");
      }
      layers.push_back({c, *shape, names[s], place});
      workloads.push_back(c);
    }
  }
  for (const Contraction& c : workloads) require_memory(c);
  const Machine m = machine(options, context);
  bench::SuiteOptions how;
  how.repetitions = options["repetitions"].as<int>();
  how.worth_repeating = 0;
  how.stop = context.stop;
  bench::ColdYardstick yardstick;
  std::vector<bench::SuiteCase> cases;
  std::vector<std::vector<bench::Tiled>> tiled;
  const Exit code = for_each_bench_case(
      workloads, context,
      [&](const Contraction&, const std::function<void(double)>& show) {
        how.progress = show;
        const TiledLayer& layer = layers[cases.size()];
        tiled.push_back(tilings_of(layer, m, context));
        cases.push_back(bench_tilings(tiled.back(), layer.shape, yardstick, how));
        return cases.back().correct();
      },
      [] {});
  if (form == Format::table) print_tilings(m, how.repetitions, cases, context.out);
  if (form == Format::csv) print_suite_csv("conv", m, cases, {}, context.out);
  if (form != Format::json) return code;
  ordered_json j = bench_head("conv");
  j["machine"] = machine_json(m);
  j["repetitions"] = how.repetitions;
  j["complete"] = cases.size() == workloads.size();
  j["cases"] = ordered_json::array();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ordered_json one = json_of(cases[i]);
    one["schedules"] = ordered_json::object();
    for (const bench::Tiled& t : tiled[i]) {
      one["schedules"][t.name] = to_line(t.schedule, t.contraction);
    }
    j["cases"].push_back(std::move(one));
  }
  context.out << json_text(j) << "\n";
  return code;
}

}  // namespace tcsim::cli
