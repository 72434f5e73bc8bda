// What is wrong with a machine, all of it at once: contradictions that check() refuses, and doubts
// about figures that can be but rarely are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

enum class Severity { error, warning };

struct Finding {
  Severity severity = Severity::error;
  std::string place;  // "file:line:column", or what names the machine
  std::string problem;
  std::string mend;

  bool operator==(const Finding&) const = default;
};

// Errors are those of check(); warnings:
//  - a cache no larger than the one inside it, or an exclusive one that is smaller: a tile for it
//  is
//    no larger than the tile inside;
//  - a share of a cache for each of its cores that is smaller than that of the cache inside;
//  - an inclusive cache that cannot hold the caches inside it, or an innermost one that is
//  inclusive
//    or exclusive towards nothing;
//  - lines that shrink outward, latencies that fall, sharing by fewer cores further out.
std::vector<Finding> inspect(const Machine& machine, const std::string& place);

struct InspectedFile {
  std::optional<Machine> machine;  // if it could be read so far, even with errors
  std::vector<Finding> findings;   // in the order of the file's parts

  bool ok() const;  // no error among the findings
};

// As load_machine(), but does not stop at the first contradiction; a fault in the file's form
// (TOML, unknown keys, wrong types) ends the reading and is the only finding. Warns about sizes
// without a unit too. Throws InputError if the file cannot be read.
InspectedFile inspect_machine_file(const std::filesystem::path& file);

const char* to_text(Severity);

}  // namespace tcsim
