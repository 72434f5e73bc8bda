// This machine as a Machine: geometry from the kernel's cache files, bandwidths, the FMA peak and
// the frequency measured. The first version: enough for a report in under 20 seconds.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "core/machine/machine.hpp"

namespace tcsim {

struct ProbeOptions {
  // Called with what is being measured and the share done in [0, 1].
  std::function<void(const std::string& what, double share)> progress;
  std::stop_token stop;
};

// Measures this machine, one core (pinned while measuring). Under 20 s. Throws UnsupportedError if
// the kernel's cache files are missing, Interrupted if asked to stop.
Machine probe_host(const ProbeOptions& options = {});

// Where the host's machine file is kept: $XDG_CACHE_HOME/tcsim/host.toml, else
// $HOME/.cache/tcsim/host.toml.
std::filesystem::path host_file();

// The kept file if it is there, readable and of this processor, otherwise probes and keeps it
// (a folder that cannot be written is not an error: then nothing is kept).
Machine host_machine(const ProbeOptions& options = {});

}  // namespace tcsim
