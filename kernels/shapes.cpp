#include "kernels/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tcsim {

namespace {

template <class T>
struct Entry {
  std::int64_t mr, nr;
  InstructionSet needs;
  Microkernel<T> code;
};

// The preferred shape of an instruction set comes first.
constexpr Entry<double> f64_entries[] = {
    {24, 8, InstructionSet::avx512, multiply_f64_24x8_avx512},
    {8, 6, InstructionSet::avx2, multiply_f64_8x6_avx2},
    {4, 4, InstructionSet::plain, multiply_f64_4x4_plain},
};
constexpr Entry<float> f32_entries[] = {
    {48, 8, InstructionSet::avx512, multiply_f32_48x8_avx512},
    {16, 6, InstructionSet::avx2, multiply_f32_16x6_avx2},
    {8, 4, InstructionSet::plain, multiply_f32_8x4_plain},
};

template <class T>
constexpr auto& entries() {
  if constexpr (sizeof(T) == sizeof(double)) {
    return f64_entries;
  } else {
    return f32_entries;
  }
}

template <class T>
void list(ElementType type, std::vector<KernelShape>& shapes) {
  for (const auto& e : entries<T>()) {
    shapes.push_back({Elements(e.mr), Elements(e.nr), e.needs, type});
  }
}

}  // namespace

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
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case InstructionSet::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
  }
  return false;
}

InstructionSet best_instruction_set() {
  if (can_run(InstructionSet::avx512)) return InstructionSet::avx512;
  return can_run(InstructionSet::avx2) ? InstructionSet::avx2 : InstructionSet::plain;
}

const std::vector<KernelShape>& kernel_shapes() {
  static const std::vector<KernelShape> shapes = [] {
    std::vector<KernelShape> all;
    list<double>(ElementType::f64, all);
    list<float>(ElementType::f32, all);
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

const KernelShape* runnable_shape(Elements mr, Elements nr, ElementType type) {
  for (const KernelShape& s : kernel_shapes()) {
    if (s.mr == mr && s.nr == nr && s.type == type && can_run(s.needs)) return &s;
  }
  return nullptr;
}

template <class T>
Microkernel<T> microkernel(const KernelShape& shape) {
  for (const auto& e : entries<T>()) {
    if (e.mr == shape.mr.value() && e.nr == shape.nr.value() && e.needs == shape.needs) {
      return e.code;
    }
  }
  throw std::logic_error("a kernel shape without code");
}

template Microkernel<float> microkernel<float>(const KernelShape&);
template Microkernel<double> microkernel<double>(const KernelShape&);

}  // namespace tcsim
