// The three printers of a measured machine.
#pragma once

#include <ostream>

#include "cli/request.hpp"
#include "microbench/probe.hpp"

namespace tcsim::cli {

void print(const Probed& probed, Format format, std::ostream& out);

}  // namespace tcsim::cli
