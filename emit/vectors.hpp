// The vector instruction sets, as C spells them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "emit/emit.hpp"

namespace tcsim::emit {

struct Vectors {
  VectorSet set;
  int bits;
  int registers;
  const char* target;     // of __attribute__((target)); "" where x86-64 always has it
  const char* test;       // for __builtin_cpu_supports(), as a C expression; "" likewise
  const char* intrinsic;  // what their names begin with

  std::int64_t lanes(ElementType type) const { return bits / 8 / size_of(type).value(); }
  std::string type(ElementType) const;                           // "__m512d"
  std::string call(ElementType, const std::string& name) const;  // "_mm512_add_pd"
};

// Narrowest first.
extern const std::array<Vectors, 3> all_vectors;

// The one for a kernel, or nullptr.
const Vectors* find_vectors(std::int64_t mr, std::int64_t nr, ElementType type);

}  // namespace tcsim::emit
