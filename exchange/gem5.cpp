// Machines as gem5's classic caches: a Python module with a class for each, and the parameters of
// the system that they belong to (gem5's src/mem/cache/Cache.py names the parameters).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.hpp"
#include "core/units/text.hpp"
#include "exchange/draft.hpp"
#include "exchange/simulators.hpp"

namespace tcsim {

namespace {

constexpr const char* gem5_name = "gem5";

// nullptr: gem5 has none of that kind.
const char* gem5_policy(Replacement policy) {
  switch (policy) {
    case Replacement::lru:
      return "LRURP";
    case Replacement::fifo:
      return "FIFORP";
    case Replacement::random:
      return "RandomRP";
    case Replacement::tree_plru:
      return "TreePLRURP";
    case Replacement::srrip:
      return "RRIPRP";
    case Replacement::brrip:
      return "BRRIPRP";
    case Replacement::bit_plru:
      break;
  }
  return nullptr;
}

// The level's name as a class: "L1" is L1Cache, "my-L2" my_L2Cache.
std::string class_name(const std::string& level) {
  std::string name;
  for (const char c : level) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
    name.insert(0, 1, '_');
  return name + "Cache";
}

std::string gem5_size(Bytes size) { return fmt::format("{}B", size.value()); }

}  // namespace

Exported export_gem5(const Machine& machine) {
  using namespace exchange;
  Exported out;
  const std::vector<const Level*> caches = usual_caches(machine, gem5_name);
  out.text = fmt::format(
      "# Caches of {} for gem5's classic memory system.\n"
      "from m5.objects import (\n    BRRIPRP, Cache, FIFORP, LRURP, RRIPRP, RandomRP, "
      "TreePLRURP)\n\n"
      "CLOCK = \"{}Hz\"\nCACHE_LINE_SIZE = {}\n",
      machine.name, std::llround(machine.core.frequency.value.value()),
      caches.empty() ? 64 : caches.front()->line.value.value());
  const Bytes memory = machine.levels.back().capacity.value;
  if (memory.value() > 0) out.text += fmt::format("MEMORY_SIZE = \"{}\"\n", gem5_size(memory));
  std::string names, unknown;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const Level& l = *caches[i];
    const char* const policy = gem5_policy(l.replacement.value);
    if (policy == nullptr) {
      cannot_say(machine, l, gem5_name, fmt::format("replacement {}", to_text(l.replacement.value)),
                 "replacement=tree-plru");
    }
    if (l.inclusion.value == Inclusion::inclusive) {
      cannot_say(machine, l, gem5_name, "strictly inclusive caches", "inclusion=neither");
    }
    if (l.prefetch != Prefetch::none) {
      cannot_say(machine, l, gem5_name, fmt::format("prefetch {}", to_text(l.prefetch)),
                 "prefetch=none");
    }
    const bool exclusive = l.inclusion.value == Inclusion::exclusive;
    // A level sends clean lines outward where the next one wants them.
    const bool next_is_exclusive =
        i + 1 < caches.size() && caches[i + 1]->inclusion.value == Inclusion::exclusive;
    out.text += fmt::format("\n\nclass {}(Cache):\n    size = \"{}\"\n    assoc = {}\n",
                            class_name(l.name), gem5_size(l.capacity.value), l.ways.value);
    if (l.latency) {
      const auto cycles = std::max<long long>(1, std::llround(l.latency->value.value()));
      out.text += fmt::format(
          "    tag_latency = {0}\n    data_latency = {0}\n    response_latency = {0}\n", cycles);
    } else {
      unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", l.name);
    }
    out.text += fmt::format("    replacement_policy = {}()\n    clusivity = \"mostly_{}\"\n",
                            policy, exclusive ? "excl" : "incl");
    out.text += fmt::format("    writeback_clean = {}\n", next_is_exclusive ? "True" : "False");
    names += fmt::format("{}{}", names.empty() ? "" : ", ", class_name(l.name));
  }
  out.text += fmt::format("\n\nCACHES = [{}]  # from the core outward\n", names);
  if (!unknown.empty()) {
    out.lost.push_back("latencies of " + unknown +
                       ", which the machine does not say: set tag_latency, data_latency and "
                       "response_latency");
  }
  out.lost.emplace_back("mshrs and tgts_per_mshr, which no machine says: set them");
  lose_the_rest(out.lost, machine);
  return out;
}

}  // namespace tcsim
