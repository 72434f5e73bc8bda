#include "exchange/exchange.hpp"

#include <utility>

#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/text/number.hpp"
#include "exchange/draft.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

// The name of the machine that a file without one describes.
std::string stem(const std::string& place) {
  const std::string stem = fs::path(place).stem().string();
  return stem.empty() ? "imported" : stem;
}

exchange::Draft read(ImportFormat format, std::string_view text, const std::string& place) {
  switch (format) {
    case ImportFormat::hwloc:
      return exchange::read_hwloc(text, place);
    case ImportFormat::likwid:
      return exchange::read_likwid(text, place);
    case ImportFormat::kerncraft:
      return exchange::read_kerncraft(text, place);
    case ImportFormat::pycachesim:
      return exchange::read_pycachesim(text, place);
    case ImportFormat::dinero:
      return exchange::read_dinero(text, place);
    case ImportFormat::kernel:
      break;
  }
  throw UsageError(place, "the kernel's cache files are a folder",
                   "give /sys/devices/system/cpu/cpu0/cache");
}

Imported whole(exchange::Draft draft, const std::string& place, const ImportOptions& options) {
  if (draft.name.empty()) draft.name = stem(place);
  return exchange::finish(std::move(draft), place, options);
}

}  // namespace

std::optional<ImportFormat> recognise(std::string_view text) {
  const std::string_view begin = trimmed(text.substr(0, 4096));
  const auto has = [&](const char* part) { return begin.find(part) != begin.npos; };
  if (begin.starts_with('<') && (has("topology") || has("hwloc"))) return ImportFormat::hwloc;
  if (begin.starts_with("STRUCT,") || has("\nSTRUCT,")) return ImportFormat::likwid;
  if (begin.starts_with('{')) return ImportFormat::pycachesim;
  if (has("kerncraft version:") || text.find("\nmemory hierarchy:") != text.npos) {
    return ImportFormat::kerncraft;
  }
  if (has("-l1-d") || has("-l1-u")) return ImportFormat::dinero;
  return {};
}

Imported import_machine(ImportFormat format, std::string_view text, const std::string& place,
                        const ImportOptions& options) {
  return whole(read(format, text, place), place, options);
}

Imported import_machine_file(const fs::path& file, std::optional<ImportFormat> format,
                             const ImportOptions& options) {
  std::error_code ignored;
  const std::string place = file.string();
  if (fs::is_directory(file, ignored)) {
    if (format && *format != ImportFormat::kernel) {
      throw UsageError(place, "is a folder", "give a file");
    }
    return whole(exchange::read_kernel(file), "kernel", options);
  }
  const std::string text = read_file(file, "give the path of a file");
  if (!format) format = recognise(text);
  if (!format) {
    throw UsageError(place, "the format cannot be told",
                     "say --from hwloc, likwid, kerncraft, pycachesim or dinero");
  }
  return import_machine(*format, text, place, options);
}

const char* to_text(ImportFormat format) {
  switch (format) {
    case ImportFormat::hwloc:
      return "hwloc";
    case ImportFormat::likwid:
      return "likwid";
    case ImportFormat::kernel:
      return "kernel";
    case ImportFormat::kerncraft:
      return "kerncraft";
    case ImportFormat::pycachesim:
      return "pycachesim";
    case ImportFormat::dinero:
      return "dinero";
  }
  return "";
}

}  // namespace tcsim
