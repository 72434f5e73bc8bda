// Machines out of and into the files of other tools. docs/machines.md says for each format what is
// lost.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

enum class ImportFormat {
  hwloc,       // XML of hwloc 1 and 2: lstopo --of xml
  likwid,      // CSV: likwid-topology -O, with -c for sets and ways
  kernel,      // folder of the kernel's cache files: /sys/devices/system/cpu/cpu0/cache
  kerncraft,   // machine file (YAML)
  pycachesim,  // dictionary of CacheSimulator.from_dict (JSON)
  dinero       // arguments of Dinero IV
};
inline constexpr std::array all_import_formats{ImportFormat::hwloc,      ImportFormat::likwid,
                                               ImportFormat::kernel,     ImportFormat::kerncraft,
                                               ImportFormat::pycachesim, ImportFormat::dinero};

struct ImportOptions {
  std::string name;             // of the machine; "": what the file says, else the file's name
  std::optional<Machine> base;  // gives what the format does not carry, levels matched by name
};

struct Imported {
  Machine machine;
  // "L1.bandwidth: 64B/cycle": what the file does not say and neither does the base.
  std::vector<std::string> assumed;
  std::vector<std::string> ignored;  // fields of the file that were not read
  std::vector<std::string> notes;    // what had to be changed or simplified
};

// The format of a file's text, if it can be told.
std::optional<ImportFormat> recognise(std::string_view text);

// Throws InputError with the file's line if the text is damaged or the machine cannot be. `place`
// stands for the file. Not for ImportFormat::kernel, which is a folder.
Imported import_machine(ImportFormat format, std::string_view text, const std::string& place,
                        const ImportOptions& options = {});

// The same of a file or, for the kernel's cache files, a folder. Without a format it is recognised.
// Throws UsageError if it cannot be.
Imported import_machine_file(const std::filesystem::path& file,
                             std::optional<ImportFormat> format = {},
                             const ImportOptions& options = {});

struct Exported {
  std::string text;
  std::vector<std::string> lost;  // what of this machine the format has no place for
};

// These throw UnsupportedError if the machine has what the format cannot say and what would change
// a result, naming the knob that leaves it out.
Exported export_kerncraft(const Machine& machine);   // YAML for kerncraft 0.8.11 and later
Exported export_pycachesim(const Machine& machine);  // JSON for CacheSimulator.from_dict
Exported export_dinero(const Machine& machine);      // one command line for Dinero IV
Exported export_gem5(const Machine& machine);        // classes of classic caches, in Python
Exported export_champsim(const Machine& machine);    // configuration in JSON
// Architecture in YAML, version 0.4. Caches become buffers that a mapping fills, which `lost` says.
Exported export_timeloop(const Machine& machine);

const char* to_text(ImportFormat);

}  // namespace tcsim
