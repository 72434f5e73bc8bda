// The benchmarks of tcsim bench, one file each: they measure by the library in bench/ and print.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "bench/peers.hpp"
#include "bench/suite.hpp"
#include "cli/command.hpp"
#include "core/machine/machine.hpp"
#include "core/workload/contraction.hpp"
#include "core/workload/suite.hpp"

namespace tcsim::cli {

Exit bench_tccg(const Options& options, Context& context);
Exit bench_hard(const Options& options, Context& context);
Exit bench_random(const Options& options, Context& context);
Exit bench_small(const Options& options, Context& context);
Exit bench_kernels(const Options& options, Context& context);
Exit bench_regret(const Options& options, Context& context);
Exit bench_conv(const Options& options, Context& context);
Exit bench_conv_tilings(const Options& options, Context& context);  // with --tilings

// Numbers of a suite's workloads, from 1, in rising order: all of `count` for an empty text, else
// those that "7,16-18" names. Throws UsageError, for `suite` by name.
std::vector<std::size_t> parse_cases(const std::string& text, const std::string& suite,
                                     std::size_t count);

// The suites that --suite names, "resnet18,yolo9000", or `otherwise`, each with the places in it of
// those workloads that --case names, which goes with one suite only.
struct ChosenSuite {
  Suite suite;
  std::vector<std::size_t> places;
};
std::vector<ChosenSuite> bench_suites(const Options& options, const std::string& otherwise,
                                      const SuiteOverrides& overrides = {});

// The same with the layouts of --image-layout. Without --case only the layers of a suite that has
// some: "hard" has contractions too.
std::vector<ChosenSuite> convolution_suites(const Options& options, const std::string& otherwise);

// The workloads that --suite and --case name.
std::vector<Contraction> bench_cases(const Options& options);

// For each case: measures it with progress shown, which gets the share done of the case and returns
// whether its results are right, then calls `measured`. Says how far it came when interrupted.
Exit for_each_bench_case(
    const std::vector<Contraction>& cases, Context& context,
    const std::function<bool(const Contraction&, const std::function<void(double)>& show)>& measure,
    const std::function<void()>& measured);

// The words of --peers, checked against what there is, and all that are installed without it.
// Throws UsageError for an unknown one and UnsupportedError for one that is missing.
std::vector<std::string> bench_peers(const Options& options,
                                     const std::vector<bench::Library>& known);

// "peers OpenBLAS 0.3.21, BLIS 0.9.0" and a line for each missing one with how to get it.
std::string to_words(const std::vector<bench::Library>& libraries,
                     const std::vector<std::string>& wanted);
nlohmann::ordered_json json_of(const std::vector<bench::Library>& libraries,
                               const std::vector<std::string>& wanted);

// What every benchmark's JSON begins with.
nlohmann::ordered_json bench_head(const std::string& name);
// And what one says about a machine, which "kernels" does not need.
nlohmann::ordered_json machine_json(const Machine& machine);
nlohmann::ordered_json json_of(const bench::Contestant& contestant);
nlohmann::ordered_json json_of(const bench::SuiteCase& one);

// A row for each contestant of each case, with `seed` if the cases were drawn by one.
void print_suite_csv(const std::string& name, const Machine& machine,
                     const std::vector<bench::SuiteCase>& cases, std::optional<std::uint64_t> seed,
                     std::ostream& out);

}  // namespace tcsim::cli
