#include "kernels/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace tcsim {

namespace {

// The optimizer's choices (core/optimize/tiling.hpp, kernel_choices()) in vectors x columns, the
// preferred one first.
struct Choice {
  InstructionSet needs;
  int vectors, columns;
};
constexpr Choice choices[] = {{InstructionSet::avx512, 3, 8}, {InstructionSet::avx512, 2, 14},
                              {InstructionSet::avx512, 4, 6}, {InstructionSet::avx2, 2, 6},
                              {InstructionSet::avx2, 3, 4},   {InstructionSet::avx2, 1, 12},
                              {InstructionSet::plain, 2, 6},  {InstructionSet::plain, 3, 4},
                              {InstructionSet::plain, 1, 12}};

std::int64_t lanes(InstructionSet set, ElementType type) {
  const std::int64_t bytes = set == InstructionSet::avx512 ? 64
                             : set == InstructionSet::avx2 ? 32
                                                           : 16;
  return bytes / size_of(type).value();
}

}  // namespace

const std::vector<KernelShape>& kernel_shapes() {
  static const std::vector<KernelShape> shapes = [] {
    std::vector<KernelShape> all;
    for (ElementType type : {ElementType::f64, ElementType::f32}) {
      for (const Choice& c : choices) {
        all.push_back(
            {Elements(c.vectors * lanes(c.needs, type)), Elements(c.columns), c.needs, type});
      }
    }
    return all;
  }();
  return shapes;
}

KernelShape preferred_shape(int vector_bits, ElementType type) {
  InstructionSet needs = InstructionSet::plain;
  switch (vector_bits) {
    case 128:
      break;
    case 256:
      needs = InstructionSet::avx2;
      break;
    case 512:
      needs = InstructionSet::avx512;
      break;
    default:
      throw std::invalid_argument(
          fmt::format("no kernel for vectors of {} bits; there are 128, 256 and 512", vector_bits));
  }
  return *std::ranges::find_if(
      kernel_shapes(), [&](const KernelShape& s) { return s.needs == needs && s.type == type; });
}

InstructionSet instruction_set_for(const Kernel& kernel, ElementType type) {
  const InstructionSet best = best_instruction_set();
  if (kernel.along_k || kernel.mr.value() >= lanes(best, type)) return best;
  for (const KernelShape& s : kernel_shapes()) {
    const bool same = s.mr == kernel.mr && s.nr == kernel.nr && s.type == type;
    if (same && s.needs != InstructionSet::plain && can_run(s.needs)) return s.needs;
  }
  return best;
}

}  // namespace tcsim
