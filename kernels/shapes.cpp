#include "kernels/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace tcsim {

namespace {

template <class T>
struct Entry {
  std::int64_t mr, nr;
  InstructionSet needs;
  Microkernel<T> code;
};

// One list for both types: an entry is of the type that it names.
template <class T>
std::vector<Entry<T>> entries_of() {
  std::vector<Entry<T>> all;
  const auto add = [&]<class U>(const Entry<U>& e) {
    if constexpr (std::is_same_v<T, U>) all.push_back(e);
  };
#define ADD_AVX512(U, type, mr, nr) \
  add(Entry<U>{mr, nr, InstructionSet::avx512, multiply_##type##_##mr##x##nr##_avx512});
#define ADD_AVX2(U, type, mr, nr) \
  add(Entry<U>{mr, nr, InstructionSet::avx2, multiply_##type##_##mr##x##nr##_avx2});
#define ADD_PLAIN(U, type, mr, nr) \
  add(Entry<U>{mr, nr, InstructionSet::plain, multiply_##type##_##mr##x##nr##_plain});
  TCSIM_AVX512_SHAPES(ADD_AVX512)
  TCSIM_AVX2_SHAPES(ADD_AVX2)
  TCSIM_PLAIN_SHAPES(ADD_PLAIN)
#undef ADD_AVX512
#undef ADD_AVX2
#undef ADD_PLAIN
  return all;
}

template <class T>
const std::vector<Entry<T>>& entries() {
  static const std::vector<Entry<T>> all = entries_of<T>();
  return all;
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

template Microkernel<float> microkernel<float>(const KernelShape&);
template Microkernel<double> microkernel<double>(const KernelShape&);

}  // namespace tcsim
