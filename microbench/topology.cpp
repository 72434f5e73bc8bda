#include "microbench/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

// What the sources say of one figure, and what is taken of it: the first.
class Vote {
 public:
  explicit Vote(std::string what) : what_(std::move(what)) {}

  void say(const std::string& source, std::int64_t value, std::string text) {
    for (Said& s : said_) {
      if (s.value == value) {
        s.sources.push_back(source);
        return;
      }
    }
    said_.push_back({value, std::move(text), {source}});
  }

  std::int64_t taken(std::vector<std::string>& remarks) const {
    if (said_.empty()) return 0;
    if (said_.size() > 1) {
      std::vector<std::string> all;
      for (const Said& s : said_) {
        all.push_back(fmt::format("{} ({})", s.text, fmt::join(s.sources, ", ")));
      }
      remarks.push_back(fmt::format("{}: the sources disagree: {}; taken: {}", what_,
                                    fmt::join(all, " or "), said_[0].text));
    }
    return said_[0].value;
  }

 private:
  struct Said {
    std::int64_t value;
    std::string text;
    std::vector<std::string> sources;
  };
  std::string what_;
  std::vector<Said> said_;
};

std::string plain(std::int64_t value) { return fmt::format("{}", value); }

const CacheGeometry* cache_of(const Topology& t, int level) {
  for (const CacheGeometry& c : t.caches) {
    if (c.level == level) return &c;
  }
  return nullptr;
}

CacheGeometry merge_cache(const std::vector<Topology>& sources, int level,
                          std::vector<std::string>& remarks) {
  const std::string name = fmt::format("L{}", level);
  Vote capacity(name + " capacity"), ways(name + " ways"), line(name + " line");
  Vote sharing(name + " shared by"), inclusive(name + " inclusive");
  CacheGeometry merged;
  merged.level = level;
  bool noted = false;
  for (const Topology& s : sources) {
    const CacheGeometry* c = cache_of(s, level);
    if (c == nullptr) continue;
    // What a source had to guess counts only if nobody knows.
    if (c->note.empty()) {
      if (c->capacity > Bytes(0)) capacity.say(s.source, c->capacity.value(), to_text(c->capacity));
      if (c->ways > 0) ways.say(s.source, c->ways, plain(c->ways));
      if (c->line > Bytes(0)) line.say(s.source, c->line.value(), to_text(c->line));
    } else if (!noted) {
      noted = true;
      merged = *c;
    }
    if (c->shared_by > 0) {
      sharing.say(s.source, c->shared_by, fmt::format("{} cores", c->shared_by));
    }
    if (c->inclusive) inclusive.say(s.source, *c->inclusive ? 2 : 1, *c->inclusive ? "yes" : "no");
  }
  if (const auto v = capacity.taken(remarks)) {
    merged.capacity = Bytes(v);
    merged.note.clear();
  }
  if (const auto v = ways.taken(remarks)) merged.ways = v;
  if (const auto v = line.taken(remarks)) merged.line = Bytes(v);
  merged.shared_by = std::max(1, static_cast<int>(sharing.taken(remarks)));
  if (const auto v = inclusive.taken(remarks)) merged.inclusive = v == 2;
  mend(merged, 0);
  return merged;
}

}  // namespace

std::vector<Topology> ask_sources(int cpu, std::size_t most) {
  std::vector<std::function<Topology()>> sources;
#if defined(TCSIM_HAVE_HWLOC)
  sources.push_back([=] { return ask_hwloc(cpu); });
#endif
  sources.push_back([=] { return ask_kernel("/sys/devices/system", cpu); });
#if defined(TCSIM_HAVE_LIKWID)
  sources.push_back([] { return ask_likwid(); });
#endif
#if defined(TCSIM_HAVE_PAPI)
  sources.push_back([] { return ask_papi(); });
#endif
  std::vector<Topology> said;
  for (const auto& ask : sources) {
    if (said.size() == most) break;
    try {
      if (Topology t = ask(); !t.caches.empty()) said.push_back(std::move(t));
    } catch (const UnsupportedError&) {
      // this source does not know; another may
    }
  }
  if (said.empty()) {
    throw UnsupportedError("probe", "no source describes a data cache of this machine",
                           "name a machine file with --machine");
  }
  return said;
}

MergedTopology merge(const std::vector<Topology>& sources) {
  MergedTopology merged;
  Topology& t = merged.topology;
  std::vector<int> levels;
  std::vector<std::string> names;
  Vote packages("packages"), cores("cores"), threads("hardware threads"), nodes("NUMA nodes");
  for (const Topology& s : sources) {
    names.push_back(s.source);
    for (const CacheGeometry& c : s.caches) levels.push_back(c.level);
    if (s.packages > 0) packages.say(s.source, s.packages, plain(s.packages));
    if (s.cores > 0) cores.say(s.source, s.cores, plain(s.cores));
    if (s.threads > 0) threads.say(s.source, s.threads, plain(s.threads));
    if (t.core_cpus.empty()) t.core_cpus = s.core_cpus;
    if (s.nodes.empty()) continue;
    nodes.say(s.source, static_cast<std::int64_t>(s.nodes.size()), plain(std::ssize(s.nodes)));
    if (t.nodes.empty()) t.nodes = s.nodes;
  }
  t.source = fmt::format("{}", fmt::join(names, ", "));
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  for (int level : levels) t.caches.push_back(merge_cache(sources, level, merged.remarks));
  t.packages = static_cast<int>(packages.taken(merged.remarks));
  t.cores = static_cast<int>(cores.taken(merged.remarks));
  t.threads = static_cast<int>(threads.taken(merged.remarks));
  nodes.taken(merged.remarks);
  return merged;
}

std::vector<int> one_cpu_per_core(const Topology& topology, const std::vector<int>& allowed) {
  std::vector<int> cpus;
  for (const std::vector<int>& core : topology.core_cpus) {
    const auto first = std::find_if(core.begin(), core.end(), [&](int cpu) {
      return std::find(allowed.begin(), allowed.end(), cpu) != allowed.end();
    });
    if (first != core.end()) cpus.push_back(*first);
  }
  if (cpus.empty()) cpus.push_back(allowed.empty() ? 0 : allowed.front());
  return cpus;
}

}  // namespace tcsim
