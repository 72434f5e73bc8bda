#include "exchange/simulators.hpp"

#include <fmt/format.h>

#include "core/units/text.hpp"
#include "exchange/draft.hpp"

namespace tcsim::exchange {

std::vector<const Level*> usual_caches(const Machine& machine, const std::string& format) {
  const std::vector<const Level*> caches = caches_and_one_memory(machine, format);
  for (const Level* level : caches) {
    const Level& l = *level;
    const auto refuse = [&](const std::string& problem, const std::string& knob) {
      cannot_say(machine, l, format, problem, knob);
    };
    if (l.write != WritePolicy::write_back) refuse("write-through caches", "write=write-back");
    if (!l.write_allocate) refuse("cache without write-allocate", "write_allocate=true");
    if (l.victim_lines != 0) refuse("victim cache", "victim_lines=0");
    if (l.index != SetIndex{}) refuse(fmt::format("index {}", to_text(l.index)), "index=modulo");
    if (l.line.value != caches.front()->line.value) {
      refuse("lines of several lengths", "line=" + to_text(caches.front()->line.value));
    }
  }
  return caches;
}

void lose_the_rest(std::vector<std::string>& lost, const Machine& machine) {
  lost.emplace_back(
      "vectors and registers, bandwidths, energies, overheads, TLBs, origins, measurements, the "
      "accounting");
  if (machine.levels.back().capacity.value.value() == 0) lost.emplace_back("the size of memory");
  if (machine.core.cores > 1) lost.push_back(fmt::format("core.cores ({})", machine.core.cores));
}

}  // namespace tcsim::exchange
