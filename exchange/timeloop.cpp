// Machines as Timeloop's architecture (YAML, version 0.4): memory, a buffer for each cache, the
// registers, and multiply-add units. Timeloop's buffers are filled by its mapping and have no sets,
// lines are the words of a row.
#include <fmt/format.h>

#include "core/error.hpp"
#include "exchange/draft.hpp"

namespace tcsim {

namespace {

constexpr const char* timeloop_name = "Timeloop";
// Of a word: its data types are chosen by width.
constexpr int word_bits = 64;

// Quoted: a name may be anything.
std::string yaml_name(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

// Words in a cycle over the link inward.
double words_per_cycle(const Machine& m, const Level& l) {
  const double rate = l.bandwidth.value.at(m.core.frequency.value).value();
  return rate / m.core.frequency.value.value() / (word_bits / 8);
}

}  // namespace

Exported export_timeloop(const Machine& machine) {
  const std::vector<const Level*> caches = exchange::caches_and_one_memory(machine, timeloop_name);
  Exported out;
  const auto line = [&]<class... Args>(fmt::format_string<Args...> form, Args&&... args) {
    out.text += fmt::format(form, std::forward<Args>(args)...) + "\n";
  };
  const Core& core = machine.core;
  line("architecture:\n  version: 0.4\n  nodes:");
  line("  - !Container\n    name: {}\n    attributes:", yaml_name(machine.name));
  line("      global_cycle_seconds: {}", 1 / core.frequency.value.value());
  line("      technology: INFORMATION_REQUIRED");
  const Level& memory = machine.levels.back();
  const std::int64_t row = caches.empty() ? 64 : caches.back()->line.value.value();
  line("\n  - !Component\n    name: {}\n    class: DRAM\n    attributes:", yaml_name(memory.name));
  line("      width: {}\n      datawidth: {}", 8 * row, word_bits);
  if (memory.capacity.value.value() > 0) {
    line("      depth: {}", memory.capacity.value.value() / row);
  }
  line("      shared_bandwidth: {}", words_per_cycle(machine, memory));
  for (auto l = caches.rbegin(); l != caches.rend(); ++l) {
    const Level& level = **l;
    line("\n  - !Component\n    name: {}\n    class: SRAM\n    attributes:", yaml_name(level.name));
    line("      depth: {}\n      width: {}\n      datawidth: {}", level.lines().value(),
         8 * level.line.value.value(), word_bits);
    line("      shared_bandwidth: {}", words_per_cycle(machine, level));
  }
  const int bits = core.vector_bits.value;
  line("\n  - !Component\n    name: registers\n    class: regfile\n    attributes:");
  line("      depth: {}\n      width: {}\n      datawidth: {}", core.vector_registers.value, bits,
       word_bits);
  const double units = bits / word_bits * core.fma_per_cycle.value;
  line("\n  - !Container\n    name: lane\n    spatial: {{meshX: {}}}", units);
  line("\n  - !Component\n    name: fma\n    class: fpmac\n    attributes:\n      datawidth: {}",
       word_bits);
  if (units != static_cast<double>(static_cast<std::int64_t>(units))) {
    throw UnsupportedError(machine.name,
                           fmt::format("{} multiply-adds in a cycle are no whole number", units),
                           "set core.fma_per_cycle to one");
  }
  for (const Level* l : caches) {
    out.lost.push_back(fmt::format(
        "ways, replacement and write policy of {}: a buffer that the mapping fills", l->name));
  }
  out.lost.emplace_back(
      "latencies, sharing, TLBs, energies (Accelergy's count), overheads, origins, measurements, "
      "the "
      "accounting; technology, which no machine says");
  return out;
}

}  // namespace tcsim
