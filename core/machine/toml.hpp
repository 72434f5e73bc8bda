// Machine files (TOML). Grammar with every key in docs/machines.md; an example:
//
//     schema = 1
//     name = "i7-6700k"
//     description = "Intel Core i7-6700K, one core"
//
//     [core]
//     origin = "vendor"                 # of every figure below that does not say otherwise
//     frequency = "4.0GHz"
//     vector_bits = 256
//     vector_registers = 16
//     fma_per_cycle = 2
//     fma_latency = 4
//
//     [[level]]
//     name = "L1"
//     kind = "cache"
//     origin = "vendor"
//     capacity = "32KiB"                # any two of capacity, sets, ways with line; the third is
//     ways = 8                          # derived, and a contradiction is an error
//     line = "64B"
//     bandwidth = { value = "19.36B/cycle", origin = "published", source = "acmtc-sc19, Table 3" }
//
//     [[level]]
//     name = "memory"
//     kind = "memory"
//     bandwidth = "6.4B/cycle"
//
// A file may instead derive from another machine by overrides:
//
//     schema = 1
//     name = "i7-6700k-64M"
//     derived_from = "i7-6700k"         # a shipped name, or a path beside this file
//     [set]
//     "L3.capacity" = "64MiB"
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/machine/machine.hpp"

namespace tcsim {

// Reads and checks a machine file. Throws InputError with "file:line:column" and the mend; unknown
// keys are errors.
Machine load_machine(const std::filesystem::path& file);
// A shipped machine by its name, or one by the path of its file. Throws UsageError as well if it is
// neither.
Machine find_machine(const std::string& name_or_file);
// The same from a text; `place` stands for the file in errors. `derived_from` paths are relative
// to the folder of `place`.
Machine parse_machine(std::string_view toml, const std::string& place);

// The file's text: parse_machine(to_toml(m)) == m, every figure to the last bit.
std::string to_toml(const Machine& machine);

}  // namespace tcsim
