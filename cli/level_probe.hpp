// What tcsim probe --levels prints, and where it keeps the machine file.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "bench/explicit_levels.hpp"
#include "cli/request.hpp"

namespace tcsim::cli {

void print(const bench::MeasuredLevels& measured, const Machine& machine, Format format,
           std::ostream& out);

// levels.toml beside the host's machine file; empty without a home folder.
std::filesystem::path levels_file();

}  // namespace tcsim::cli
