#include "emit/vectors.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace tcsim {

namespace emit {

const std::array<Vectors, 3> all_vectors{
    {{VectorSet::sse2, 128, 16, "", "", "_mm"},
     {VectorSet::avx2, 256, 16, "avx2,fma",
      "__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\")", "_mm256"},
     {VectorSet::avx512, 512, 32, "avx512f", "__builtin_cpu_supports(\"avx512f\")", "_mm512"}}};

std::string Vectors::type(ElementType element) const {
  return fmt::format("__m{}{}", bits, element == ElementType::f64 ? "d" : "");
}

std::string Vectors::call(ElementType element, const std::string& name) const {
  return fmt::format("{}_{}_{}", intrinsic, name, element == ElementType::f64 ? "pd" : "ps");
}

const Vectors* find_vectors(std::int64_t mr, std::int64_t nr, ElementType type) {
  for (const Vectors& v : all_vectors) {
    if (mr % v.lanes(type) != 0) continue;
    const std::int64_t column = mr / v.lanes(type);
    if (column < v.registers && nr < v.registers && column * nr + column + 1 <= v.registers) {
      return &v;
    }
  }
  return nullptr;
}

}  // namespace emit

const char* to_text(VectorSet set) {
  switch (set) {
    case VectorSet::none:
      return "portable";
    case VectorSet::sse2:
      return "sse2";
    case VectorSet::avx2:
      return "avx2";
    case VectorSet::avx512:
      return "avx512";
  }
  throw std::logic_error("no such instruction set");
}

VectorSet vectors_for(Elements mr, Elements nr, ElementType type) {
  const emit::Vectors* found = emit::find_vectors(mr.value(), nr.value(), type);
  return found ? found->set : VectorSet::none;
}

}  // namespace tcsim
