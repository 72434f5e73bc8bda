// What a foreign file says of a machine, and how a whole machine is made of it. What the file does
// not say stays empty here. Internal to exchange/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/text/number.hpp"
#include "exchange/exchange.hpp"

namespace tcsim::exchange {

struct DraftLevel {
  std::string name;
  std::string place;  // "file:line" of where the file speaks of it
  std::optional<Bytes> capacity;
  std::optional<std::int64_t> ways, sets;
  std::optional<Bytes> line;
  std::optional<int> shared_by;
  std::optional<Replacement> replacement;
  std::optional<Inclusion> inclusion;
  std::optional<WritePolicy> write;
  std::optional<bool> write_allocate;
  std::optional<Prefetch> prefetch;
  std::optional<Figure<Bandwidth>> bandwidth;
  std::vector<BandwidthSeries> series;
};

struct Draft {
  std::string format;              // "hwloc XML": the source of the figures
  Origin origin = Origin::vendor;  // of what the file says
  std::string name, description;
  std::vector<DraftLevel> caches;  // innermost first
  DraftLevel memory;               // only what a memory has
  std::optional<Hertz> frequency;
  std::optional<int> vector_bits;
  std::optional<double> flops_per_cycle;  // f64, of the vector unit
  std::vector<std::string> ignored, notes;
};

// The rest from options.base or assumed; capacities made whole sets (noted), bandwidths that grow
// outward lowered (noted). Throws InputError as check() does, at the draft's places.
Imported finish(Draft draft, const std::string& place, const ImportOptions& options);

// Readers of each format; `place` is the file.
Draft read_hwloc(std::string_view xml, const std::string& place);
Draft read_likwid(std::string_view csv, const std::string& place);
Draft read_kernel(const std::filesystem::path& folder);
Draft read_kerncraft(std::string_view yaml, const std::string& place);
Draft read_pycachesim(std::string_view json, const std::string& place);
Draft read_dinero(std::string_view arguments, const std::string& place);

// The caches of a machine that has nothing but caches and one memory. Throws UnsupportedError in
// the name of `format` otherwise.
std::vector<const Level*> caches_and_one_memory(const Machine& machine, const std::string& format);

// Throws UnsupportedError: FORMAT cannot say PROBLEM of the machine's level; --set KNOB leaves it
// out.
[[noreturn]] void cannot_say(const Machine& machine, const Level& level, const std::string& format,
                             const std::string& problem, const std::string& knob);

}  // namespace tcsim::exchange
