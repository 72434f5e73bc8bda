// Affine programs in a small text, for bounds of what is no workload of tcsim's:
//
//     affine conv1d
//     loops f=Nf c=Nc x=Nx w=Nw
//     small w
//     reductions c w
//     Out[f, x] += Image[c, x + w] * Filter[f, c, w]
//
//     problem   = "affine" identifier "loops" loop* ["small" identifier*]
//                 ["reductions" identifier*] statement*
//     loop      = identifier "=" (number | identifier)
//     statement = access ("+=" | "=") access ("*" access)*
//     access    = identifier "[" [index ("," index)*] "]"
//     index     = term ("+" term)*
//     term      = number | [number "*"] identifier
//
// A loop runs from 0 to below its bound, a number or a size with a name; sizes may be shared. A
// statement is inside the loops that it has, and may run in any order. With "=" the sums begin at
// zero, with "+=" at what the array has. Numbers that are added to an index move all of it and
// change nothing. "small" says which bounds are much smaller than the fast memory, "reductions"
// which loops no written access has: it is checked where it is given. White space is free, #
// begins a comment. At most 64 loops, arrays, statements, indices and reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

// Throws InputError with "PLACE:LINE:COLUMN", what is wrong and what to write instead.
Problem parse_problem(std::string_view text, const std::string& place);
// Statements alone, of loops with these extents, which need not all be used. No numbers are added to
// an index: they would matter where one statement reads what another one writes. The problem's name
// is `name`.
Problem parse_statements(std::string_view text, const std::map<std::string, std::int64_t>& extents,
                         const std::string& name, const std::string& place);
// Reads back: parse_problem(to_text(p), ...) == p for a problem that was parsed.
std::string to_text(const Problem& problem);

// Whether the text begins with the word "affine".
bool is_problem_text(std::string_view text);
// Files end in ".affine". Throws InputError where one cannot be read or parsed.
bool is_problem_file(std::string_view name);
Problem load_problem(const std::filesystem::path& file);

}  // namespace tcsim::bounds
