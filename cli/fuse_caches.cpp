#include "cli/fuse_caches.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/answers/fuse_caches.hpp"
#include "cli/chain_text.hpp"
#include "cli/request.hpp"
#include "core/error.hpp"
#include "core/text/safe.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

using fusion::ChainTraffic;
using nlohmann::ordered_json;

void refuse_options_of_a_disk(const Options& options) {
  for (const char* option : {"disk-read", "disk-write", "disk-transfer", "run", "emit"}) {
    if (options.count(option) == 0) continue;
    throw UsageError(fmt::format("--{}", option), "belongs to a chain on disk",
                     "add --memory, how much a run may take, such as 8GiB");
  }
  for (const char* option : {"overlap", "fill", "force", "resume", "compare", "cold", "check"}) {
    if (!options[option].as<bool>()) continue;
    throw UsageError(fmt::format("--{}", option), "belongs to a chain on disk",
                     "add --memory, how much a run may take, such as 8GiB");
  }
}

void print_cached_csv(const std::vector<CachedAnswer>& all, std::ostream& out) {
  out << "chain,program,fuse,link,predicted_bytes,simulated_bytes,predicted_seconds,"
         "simulated_seconds\n";
  for (const CachedAnswer& a : all) {
    for (const CachedWay& w : a.ways) {
      for (int l = 0; l < static_cast<int>(a.machine.levels.size()); ++l) {
        const auto bytes = [&](const ChainTraffic& t) {
          return t.counted(a.machine.accounting, l).value();
        };
        out << fmt::format("{},{},{},{},{},{},{},{}\n", csv_cell(a.tree.name), w.name, a.fuses,
                           csv_cell(a.machine.link(LevelId{l})), bytes(w.program.traffic),
                           w.simulated ? std::to_string(bytes(w.simulated->traffic)) : "",
                           w.program.timing.total.value(),
                           w.simulated ? fmt::format("{}", w.simulated_time.value()) : "");
      }
    }
  }
}

}  // namespace

void declare_fuse_in_caches(po::options_description& o) {
  o.add_options()("simulate", po::bool_switch(),
                  "without --memory: also the exact traffic, simulated");
}

Exit run_fuse_in_caches(const Options& options, const fusion::ChainRequest& request,
                        const Machine& machine, Context& context) {
  refuse_options_of_a_disk(options);
  const Format form = format(options);
  CachedRequest asked;
  if (options.count("schedule") != 0) asked.schedule = options["schedule"].as<std::string>();
  asked.simulate = options["simulate"].as<bool>();
  asked.stop = context.stop;
  std::vector<CachedAnswer> all;
  std::vector<fusion::Chain> chains = fusion::find_chains(request);
  for (fusion::Chain& chain : chains) {
    if (context.stop.stop_requested()) throw Interrupted();
    {
      Progress progress(context, chain.program.name());
      asked.progress = [&](const std::string& what, double share) { progress.show(what, share); };
      all.push_back(cached_answer(asked, std::move(chain), machine));
    }
    if (form != Format::table) continue;
    if (all.size() > 1) context.out << "\n";
    print_table(all.back(), context.out);
  }
  if (form == Format::csv) print_cached_csv(all, context.out);
  if (form != Format::json) return Exit::done;
  std::vector<ordered_json> records;
  for (const CachedAnswer& a : all) records.push_back(json_of(a));
  print_chains(std::move(records), context.out);
  return Exit::done;
}

}  // namespace tcsim::cli
