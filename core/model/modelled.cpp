#include "core/model/modelled.hpp"

#include "core/error.hpp"
#include "core/model/window.hpp"

namespace tcsim {

std::string gap_of_model(const Machine& machine) {
  try {
    common_line(machine);
  } catch (const UnsupportedError& e) {
    return e.what();
  }
  return "";
}

Machine modelled(Machine machine) {
  for (Level& level : machine.levels) {
    level.replacement.value = Replacement::lru;
    level.write = WritePolicy::write_back;
    level.write_allocate = true;
    level.prefetch = Prefetch::none;
    level.victim_lines = 0;
    level.line.value = machine.levels.front().line.value;
  }
  return machine;
}

Machine known_to_model(const Machine& machine) {
  return gap_of_model(machine).empty() ? machine : modelled(machine);
}

}  // namespace tcsim
