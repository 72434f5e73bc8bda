#include "kernels/vector_code.hpp"

#include "kernels/generated_kernels.hpp"

namespace tcsim {

namespace {

template <class T, int bytes>
Microkernel<T> generated(int vectors, int columns, bool part, bool make) {
  static GeneratedKernels<T> kernels(bytes);
  return kernels.of(vectors, columns, part, make);
}

template <class T, int bytes>
KernelFamily<T> with_generated(KernelFamily<T> family) {
  if (generates_code()) family.generated = generated<T, bytes>;
  return family;
}

template <class T>
const KernelFamily<T>& family_of(InstructionSet set, const KernelFamily<T>& plain,
                                 const KernelFamily<T>& avx2, const KernelFamily<T>& avx512) {
  static const KernelFamily<T> wide = with_generated<T, 64>(avx512);
  static const KernelFamily<T> narrow = with_generated<T, 32>(avx2);
  if (set == InstructionSet::avx512) return wide;
  return set == InstructionSet::avx2 ? narrow : plain;
}

}  // namespace

template <>
const KernelFamily<float>& kernel_family<float>(InstructionSet set) {
  return family_of(set, family_f32_plain, family_f32_avx2, family_f32_avx512);
}
template <>
const KernelFamily<double>& kernel_family<double>(InstructionSet set) {
  return family_of(set, family_f64_plain, family_f64_avx2, family_f64_avx512);
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

template <>
MultiplyLines<float> lines_code<float>(InstructionSet set) {
  if (set == InstructionSet::avx512) return lines_f32_avx512;
  return set == InstructionSet::avx2 ? lines_f32_avx2 : lines_f32_plain;
}
template <>
MultiplyLines<double> lines_code<double>(InstructionSet set) {
  if (set == InstructionSet::avx512) return lines_f64_avx512;
  return set == InstructionSet::avx2 ? lines_f64_avx2 : lines_f64_plain;
}

}  // namespace tcsim
