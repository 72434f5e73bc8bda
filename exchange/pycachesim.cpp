// pycachesim's dictionary of caches: sizes, policies, and where each loads from and stores to.
#include "exchange/pycachesim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/io/json.hpp"
#include "exchange/draft.hpp"
#include "exchange/kerncraft.hpp"

namespace tcsim::exchange {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* pycachesim_name = "pycachesim";

class PycachesimReader {
 public:
  PycachesimReader(std::string_view json, std::string place)
      : json_(json), place_(std::move(place)) {
    try {
      root_ = Json::parse(json);
    } catch (const Json::parse_error& e) {
      const auto until = json.substr(0, std::min<std::size_t>(e.byte, json.size()));
      const auto line = 1 + std::count(until.begin(), until.end(), '\n');
      throw InputError(fmt::format("{}:{}", place_, line), "no JSON there",
                       "give a dictionary of caches in JSON, with true, false and null");
    } catch (const Json::exception& e) {
      throw InputError(place_ + ":1", e.what(), "give a dictionary of caches in JSON");
    }
    if (!root_.is_object()) {
      throw InputError(place_ + ":1", "no dictionary", "write { \"L1\": { \"sets\": 64, ... } }");
    }
    draft_.format = "pycachesim dictionary";
    draft_.origin = Origin::published;
  }

  Draft read() {
    std::set<std::string> referred, victims;
    for (const auto& [name, cache] : root_.items()) {
      if (!cache.is_object()) fail(name, name + " is no dictionary", "write { \"sets\": 64, ... }");
      for (const char* key : {"load_from", "store_to", "victims_to"}) {
        if (const std::string to = link(name, cache, key); !to.empty()) referred.insert(to);
      }
      victims.insert(link(name, cache, "victims_to"));
    }
    std::string next;
    for (const auto& [name, cache] : root_.items()) {
      if (referred.count(name) != 0) continue;
      if (!next.empty())
        fail(name, fmt::format("{} and {} are both a first level", next, name),
             "refer to each but one by load_from and store_to");
      next = name;
    }
    if (next.empty()) {
      throw InputError(place_ + ":1", "no first level", "leave one cache that none refers to");
    }
    for (std::set<std::string> seen; !next.empty(); seen.insert(next)) {
      const std::string name = next;
      const Json& cache = root_[name];
      DraftLevel d = read_cache(name, cache);
      d.inclusion = victims.count(name) != 0 ? Inclusion::exclusive : Inclusion::neither;
      draft_.caches.push_back(std::move(d));
      if (draft_.caches.size() > root_.size()) {
        fail(name, "the caches refer to one another in a circle", "end with the last cache");
      }
      // A victim cache comes before the level that its owner loads from.
      next.clear();
      for (const char* key : {"victims_to", "store_to", "load_from"}) {
        if (next.empty()) next = link(name, cache, key);
      }
    }
    if (draft_.caches.size() < root_.size()) {
      throw InputError(place_ + ":1", "not all caches lie behind the first level",
                       "connect them by load_from and store_to");
    }
    return std::move(draft_);
  }

 private:
  // Where a cache's name stands in the text.
  std::string at(const std::string& name) const {
    const auto found = std::min(json_.find('"' + name + '"'), json_.size());
    const auto until = json_.substr(0, found);
    const auto line = found == json_.size() ? 1 : 1 + std::count(until.begin(), until.end(), '\n');
    return fmt::format("{}:{}", place_, line);
  }
  [[noreturn]] void fail(const std::string& name, const std::string& problem,
                         const std::string& mend) const {
    throw InputError(at(name), problem, mend);
  }

  std::string link(const std::string& name, const Json& cache, const char* key) const {
    const auto found = cache.find(key);
    if (found == cache.end() || found->is_null()) return "";
    if (!found->is_string() || !root_.contains(found->get<std::string>())) {
      fail(name, fmt::format("{}: {} names no cache", name, key),
           "name another cache of the dictionary, or null for memory");
    }
    return found->get<std::string>();
  }

  std::int64_t count(const std::string& name, const Json& cache, const char* key) const {
    const auto found = cache.find(key);
    if (found == cache.end() || !found->is_number_integer() || *found < 1 ||
        *found > (std::int64_t{1} << 40)) {
      fail(name, fmt::format("{}: {} is no count", name, key), "give a whole number of at least 1");
    }
    return found->get<std::int64_t>();
  }
  std::optional<bool> flag(const std::string& name, const Json& cache, const char* key) const {
    const auto found = cache.find(key);
    if (found == cache.end()) return {};
    if (!found->is_boolean()) {
      fail(name, fmt::format("{}: {} is neither true nor false", name, key), "write true or false");
    }
    return found->get<bool>();
  }

  DraftLevel read_cache(const std::string& name, const Json& cache) {
    static const std::set<std::string> known{
        "sets",           "ways",      "cl_size",  "replacement_policy", "write_back",
        "write_allocate", "load_from", "store_to", "victims_to"};
    DraftLevel d;
    d.name = name;
    d.place = at(name);
    d.sets = count(name, cache, "sets");
    d.ways = count(name, cache, "ways");
    d.line = Bytes(count(name, cache, "cl_size"));
    // What the dictionary leaves out is pycachesim's default.
    d.replacement = Replacement::lru;
    if (const auto policy = cache.find("replacement_policy"); policy != cache.end()) {
      d.replacement =
          policy->is_string() ? pycachesim_replacement(policy->get<std::string>()) : std::nullopt;
      if (!d.replacement) {
        fail(name, name + ": replacement_policy is unknown", "known are LRU, FIFO, RR");
      }
    }
    d.write = flag(name, cache, "write_back").value_or(true) ? WritePolicy::write_back
                                                             : WritePolicy::write_through;
    d.write_allocate = flag(name, cache, "write_allocate").value_or(true);
    for (const auto& [key, value] : cache.items()) {
      if (known.count(key) == 0) draft_.ignored.push_back(fmt::format("{}: {}", name, key));
    }
    return d;
  }

  std::string_view json_;
  std::string place_;
  Json root_;
  Draft draft_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> PycachesimCache::fields() const {
  const auto number = [](std::int64_t n) { return fmt::format("{}", n); };
  std::vector<std::pair<std::string, std::string>> all{
      {"sets", number(sets)},
      {"ways", number(ways)},
      {"cl_size", number(line.value())},
      {"replacement_policy", policy},
      {"write_allocate", write_allocate ? "true" : "false"},
      {"write_back", write_back ? "true" : "false"}};
  const auto add = [&](const char* key, const std::string& to) {
    if (!to.empty()) all.emplace_back(key, to);
  };
  add("load_from", load_from);
  add("store_to", store_to);
  add("victims_to", victims_to);
  return all;
}

std::vector<PycachesimCache> pycachesim_chain(const Machine& machine, const std::string& format) {
  const std::vector<const Level*> levels = caches_and_one_memory(machine, format);
  const auto name = [&](std::size_t i) { return i < levels.size() ? levels[i]->name : ""; };
  std::vector<PycachesimCache> chain;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& l = *levels[i];
    const char* const policy = pycachesim_policy(l.replacement.value);
    if (policy == nullptr) {
      cannot_say(machine, l, format, fmt::format("replacement {}", to_text(l.replacement.value)),
                 "replacement=lru");
    }
    if (l.inclusion.value == Inclusion::inclusive) {
      cannot_say(machine, l, format, "inclusive caches", "inclusion=neither");
    }
    if (l.inclusion.value == Inclusion::exclusive && i == 0) {
      cannot_say(machine, l, format, "exclusive first level", "inclusion=neither");
    }
    if (l.prefetch != Prefetch::none) {
      cannot_say(machine, l, format, fmt::format("prefetch {}", to_text(l.prefetch)),
                 "prefetch=none");
    }
    if (l.victim_lines != 0) cannot_say(machine, l, format, "victim cache", "victim_lines=0");
    if (l.index != SetIndex{}) {
      cannot_say(machine, l, format, fmt::format("index {}", to_text(l.index)), "index=modulo");
    }
    if (l.write == WritePolicy::write_through && l.write_allocate) {
      cannot_say(machine, l, format, "write-through with write-allocate", "write_allocate=false");
    }
    PycachesimCache c{l.name,
                      l.sets(),
                      l.ways.value,
                      l.line.value,
                      policy,
                      l.write_allocate,
                      l.write == WritePolicy::write_back,
                      "",
                      "",
                      ""};
    c.store_to = c.load_from = name(i + 1);
    if (i + 1 < levels.size() && levels[i + 1]->inclusion.value == Inclusion::exclusive) {
      c.victims_to = name(i + 1);
      c.load_from = name(i + 2);
    }
    chain.push_back(std::move(c));
  }
  return chain;
}

Draft read_pycachesim(std::string_view json, const std::string& place) {
  return PycachesimReader(json, place).read();
}

}  // namespace tcsim::exchange

namespace tcsim {

Exported export_pycachesim(const Machine& machine) {
  exchange::Json root;
  for (const auto& cache : exchange::pycachesim_chain(machine, exchange::pycachesim_name)) {
    exchange::Json j{{"sets", cache.sets},
                     {"ways", cache.ways},
                     {"cl_size", cache.line.value()},
                     {"replacement_policy", cache.policy},
                     {"write_allocate", cache.write_allocate},
                     {"write_back", cache.write_back}};
    const auto add = [&](const char* key, const std::string& to) {
      if (!to.empty()) j[key] = to;
    };
    add("load_from", cache.load_from);
    add("store_to", cache.store_to);
    add("victims_to", cache.victims_to);
    root[cache.name] = std::move(j);
  }
  return {json_text(root) + "\n",
          {"the core, memory, bandwidths, latencies, sharing, TLBs, origins, measurements, the "
           "accounting, name and description"}};
}

}  // namespace tcsim
