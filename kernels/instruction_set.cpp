#include "kernels/instruction_set.hpp"

#include <stdexcept>

#include "core/machine/instruction_limit.hpp"

namespace tcsim {

const char* to_text(InstructionSet set) {
  switch (set) {
    case InstructionSet::plain:
      return "plain";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
  }
  throw std::logic_error("no such instruction set");
}

bool can_run(InstructionSet set) {
  switch (set) {
    case InstructionSet::plain:
      return true;
    case InstructionSet::avx2:
      return most_vector_bits() >= 256 && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma");
    case InstructionSet::avx512:
      return most_vector_bits() >= 512 && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("fma");
  }
  return false;
}

InstructionSet best_instruction_set() {
  if (can_run(InstructionSet::avx512)) return InstructionSet::avx512;
  return can_run(InstructionSet::avx2) ? InstructionSet::avx2 : InstructionSet::plain;
}

}  // namespace tcsim
