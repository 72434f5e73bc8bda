// bench: how fast the executor is, and beside what.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/bench/bench.hpp"
#include "cli/pages.hpp"
#include "cli/request.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/units/nearest.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

struct Benchmark {
  const char* name;
  Exit (*run)(const Options&, Context&);
  std::vector<std::string> options;  // those of bench that it does not have
};

const std::array<Benchmark, 7>& benchmarks() {
  static const std::array<Benchmark, 7> all{{
      {"tccg",
       bench_tccg,
       {"neighbours", "layout", "image-layout", "tilings", "kind", "number", "seed"}},
      {"hard", bench_hard, {"neighbours", "layout", "image-layout", "tilings", "number", "seed"}},
      {"random",
       bench_random,
       {"case", "suite", "schedule", "scheme", "neighbours", "layout", "image-layout", "tilings",
        "kind"}},
      {"conv", bench_conv, {"neighbours", "layout", "kind", "number", "seed", "race"}},
      {"small",
       bench_small,
       {"case", "suite", "schedule", "scheme", "neighbours", "image-layout", "tilings", "kind",
        "number", "seed", "race"}},
      {"kernels",
       bench_kernels,
       {"case", "suite", "schedule", "scheme", "neighbours", "layout", "image-layout", "tilings",
        "kind", "number", "seed", "peers", "machine", "set", "accounting", "threads", "model",
        "race"}},
      {"regret",
       bench_regret,
       {"schedule", "scheme", "peers", "layout", "image-layout", "tilings", "kind", "number",
        "seed", "race"}},
  }};
  return all;
}

Exit run_bench(const Options& options, Context& context) {
  const auto given = arguments(options);
  const std::string name = given.empty() ? "" : given[0];
  const auto benchmark = std::ranges::find(benchmarks(), name, &Benchmark::name);
  if (benchmark == benchmarks().end()) {
    const std::vector<std::string> known = argument_words(bench_command());
    throw UsageError("bench",
                     given.empty() ? "the NAME of a benchmark is missing"
                                   : fmt::format("there is no benchmark '{}'", name),
                     one_of(name, known));
  }
  for (const std::string& option : benchmark->options) {
    if (options.count(option) != 0 && !options[option].defaulted()) {
      throw UsageError("--" + option, fmt::format("bench {} has no such option", name),
                       "leave it out; see 'tcsim help bench'");
    }
  }
  return benchmark->run(options, context);
}

}  // namespace

const Command& bench_command() {
  static const Command command{
      "bench",
      "tccg|hard|random|conv|small|kernels|regret",
      "speed beside other libraries, of the kernels alone, and of the model's choices",
      "tcsim bench tccg --case 7,16-18 --repetitions 3",
      [](po::options_description& o) {
        o.add_options()(
            "case", po::value<std::string>(),
            "of tccg, hard, conv and regret: numbers in the suite, such as 7,16-18; otherwise all")(
            "suite", po::value<std::string>(),
            "of the same: shipped names or files, such as resnet18,yolo9000; otherwise tccg, of "
            "hard hard, and of conv yolo9000,resnet18")(
            "kind", po::value<std::string>(),
            "of hard: some of the suite's kinds, such as batch,tiny; otherwise all")(
            "number", whole<std::uint64_t>(20, 1, 100000), "of random: contractions to draw")(
            "seed", whole_if_given<std::uint64_t>(0),
            "of random: to draw the same ones again; otherwise a new one, which is printed")(
            "peers", po::value<std::string>(),
            "of tccg, hard and random: some of openblas,blis,mkl,tblis,libxsmm,eigen,numpy; of "
            "small: of openblas,libxsmm; of conv: onednn; or none; otherwise all that are "
            "installed")(
            "image-layout",
            po::value<std::string>()->default_value("nhwc32k,nhwc64k,nhwc16k,nhwc1k,nhwcNk,nhwc"),
            "of conv: how tcsim's tensors lie; of several layouts the first that a layer's "
            "channels "
            "allow")("repetitions", whole(5, 1, 1000), "of each measurement; medians count")(
            "race", whole(1, 1, 100),
            "of tccg, hard and random: so many schedules of each contraction run beforehand, those "
            "that the model likes best, and the fastest counts")(
            "tilings", po::bool_switch(),
            "of conv: instead of libraries, ioopt's tiling recommendation and the kernels of ttile "
            "(Fig. 10) beside tcsim's choice; of yolo9000 without --suite")(
            "layout", words({"row-major", "column-major"}, "row-major"),
            "of small: vectors run along the columns, or along the rows")(
            "neighbours", whole(12, 1, 100),
            "of regret: schedules that race the model's choice of a contraction");
        declare_machine(o);
        declare_schedule(o);
        declare_output(o);
      },
      run_bench};
  return command;
}

}  // namespace tcsim::cli
