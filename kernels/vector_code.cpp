#include "kernels/vector_code.hpp"

namespace tcsim {

template <>
const KernelFamily<float>& kernel_family<float>(InstructionSet set) {
  if (set == InstructionSet::avx512) return family_f32_avx512;
  return set == InstructionSet::avx2 ? family_f32_avx2 : family_f32_plain;
}
template <>
const KernelFamily<double>& kernel_family<double>(InstructionSet set) {
  if (set == InstructionSet::avx512) return family_f64_avx512;
  return set == InstructionSet::avx2 ? family_f64_avx2 : family_f64_plain;
}

template <>
Transpose<float> transpose_code<float>(InstructionSet set) {
  if (set == InstructionSet::avx512) return transpose_f32_avx512;
  return set == InstructionSet::avx2 ? transpose_f32_avx2 : transpose_f32_plain;
}
template <>
Transpose<double> transpose_code<double>(InstructionSet set) {
  if (set == InstructionSet::avx512) return transpose_f64_avx512;
  return set == InstructionSet::avx2 ? transpose_f64_avx2 : transpose_f64_plain;
}

template <>
Gather<float> gather_code<float>(InstructionSet set) {
  if (set == InstructionSet::avx512) return gather_f32_avx512;
  return set == InstructionSet::avx2 ? gather_f32_avx2 : gather_f32_plain;
}
template <>
Gather<double> gather_code<double>(InstructionSet set) {
  if (set == InstructionSet::avx512) return gather_f64_avx512;
  return set == InstructionSet::avx2 ? gather_f64_avx2 : gather_f64_plain;
}

}  // namespace tcsim
