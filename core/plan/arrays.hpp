// What a plan keeps in memory: the tensors and the packed copies of operands.
#pragma once

#include <array>
#include <cstdint>

#include "core/units/enum_array.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

enum class ArrayId : int { A, B, C, packed_A, packed_B };
constexpr int array_count = 5;
constexpr int index(ArrayId a) { return static_cast<int>(a); }
inline constexpr std::array all_arrays{ArrayId::A, ArrayId::B, ArrayId::C, ArrayId::packed_A,
                                       ArrayId::packed_B};
const char* to_text(ArrayId);  // "A", "B", "C", "packed A", "packed B"
constexpr ArrayId array_of(TensorId t) { return ArrayId{index(t)}; }
constexpr ArrayId buffer_of(TensorId t) { return ArrayId{index(t) + 3}; }  // of A or B
constexpr bool is_buffer(ArrayId a) { return index(a) >= index(ArrayId::packed_A); }
// The tensor that an array is, or is a packed copy of.
constexpr TensorId tensor_of(ArrayId a) { return TensorId{is_buffer(a) ? index(a) - 3 : index(a)}; }

template <class T>
using ByArray = EnumArray<ArrayId, T, array_count>;

// The least multiple of `to` (>= 1) that is not below n.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

}  // namespace tcsim
