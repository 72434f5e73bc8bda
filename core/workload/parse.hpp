// Contractions as text. Every error is a UsageError that shows the place in the text (column from
// 1) and what to write instead.
#pragma once

#include <map>
#include <string_view>

#include "core/workload/contraction.hpp"

namespace tcsim {

using Sizes = std::map<char, std::int64_t>;  // extent of each index

// "a=72,b=72": each index once, extents whole numbers >= 1.
Sizes parse_sizes(std::string_view text);

// "abcd-aebf-dfce" (output first, as TCCG writes it) or "aebf,dfce->abcd" (einsum); indices are
// letters. Every index of the label needs a size and the other way round.
Contraction parse_contraction(std::string_view label, const Sizes& sizes, Layout layout,
                              ElementType type);

}  // namespace tcsim
