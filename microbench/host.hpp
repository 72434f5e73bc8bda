// This machine as a Machine: topology, bandwidths, FMA peak, latencies and frequency measured, and
// the file in which they are kept.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "core/machine/machine.hpp"

namespace tcsim {

struct ProbeOptions {
  // Under 15 s in place of under 5 minutes: fewer repetitions and working sets, and one core and
  // all cores only.
  bool quick = false;
  // Called with what is being measured and the share done in [0, 1].
  std::function<void(const std::string& what, double share)> progress;
  std::stop_token stop;
  // Called at the end with the machine, to measure what takes more than this folder's loops: what a
  // core that runs kernels/ loses. Its options are these; progress is that of its own part.
  std::function<void(Machine&, const ProbeOptions&)> refine = {};
};

struct Probed;  // microbench/probe.hpp

// Measures this machine on the cores that the process may use. Throws UnsupportedError if no source
// describes its caches, Interrupted if asked to stop.
Probed probe_host(const ProbeOptions& options = {});

// Where what was measured of this machine is kept: $XDG_CACHE_HOME/tcsim, else
// $HOME/.cache/tcsim; empty without either. In a folder of its own there where TCSIM_ISA limits
// what is measured (core/machine/instruction_limit.hpp).
std::filesystem::path cache_folder();
// The host's machine file in it: host.toml.
std::filesystem::path host_file();

// The processor's name, as the operating system gives it.
std::string this_processor();

// The kept file if it is there, readable and of this processor, otherwise probes with these options
// and keeps it (a folder that cannot be written is not an error: then nothing is kept).
Machine host_machine(const ProbeOptions& options = {});

}  // namespace tcsim
