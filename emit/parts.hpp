// The parts of an emitted file, in the order in which they stand in it. Each is text with '@'
// before the names that the file defines (text.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "emit/emit.hpp"

namespace tcsim::emit {

// "double" or "float".
std::string element_name(const Plan& plan);
// "m", "n", "k", "batch".
std::string name_of(DimClass group);
// The group across the micropanels of A or B.
DimClass rows_of(const Plan& plan, TensorId t);
// Rows of such a micropanel.
std::int64_t panel_of(const Plan& plan, TensorId t);
// Columns of an operand read in place that are gathered at a time.
inline constexpr std::int64_t in_place_columns = 64;

// How many neighbours of a fused index, whose Offsets have these digits, are neighbours in memory,
// from each multiple of that number on; nullopt where all are.
std::optional<std::int64_t> run(const std::vector<Digit>& digits);
// The condition, in C, that `count` rows from `index` on are neighbours in t: "1", "0" or a test.
// The index is where a tile of the group begins.
std::string neighbours(const Plan& plan, TensorId t, DimClass group, std::int64_t count,
                       const std::string& index);

// T_of_GROUP(): where the fused indices lead in the tensors.
std::string offset_functions(const Plan& plan);
// multiply_*() and best_kernel().
std::string kernel_functions(const Plan& plan);
// A definition of `kernel`, the name of the best one.
std::string kernel_name(const Plan& plan);
// panel_A(), pack_A() and those of B.
std::string packing_functions(const Plan& plan);
// Whether a pack of t is filled by strips, and how then (strips.cpp).
bool in_strips(const Plan& plan, TensorId t);
std::string pack_in_strips(const Plan& plan, TensorId t);
// "for (size_t INNER = OUTER; ...; INNER += TILE) {", and the definition of INNER_end in it.
std::string tile_loop(const std::string& inner, const std::string& outer, std::int64_t tile);
std::string tile_end(const std::string& inner, const std::string& outer, std::int64_t tile);
// block(), the workspace and contract().
std::string contract_functions(const Plan& plan);
// What main() needs, and main().
std::string program(const Plan& plan, const EmitOptions& options);

}  // namespace tcsim::emit
