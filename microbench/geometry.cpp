#include "microbench/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include "core/error.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t usual_line = 64, usual_ways = 8;

// First line of a file, empty if it cannot be read.
std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// A whole number, and what follows it; 0 if there is none.
std::int64_t leading_number(std::string_view text, std::string_view* rest = nullptr) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return 0;
  if (rest != nullptr) *rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "32K", "8M": the kernel's letters are powers of 1024.
Bytes kernel_size(std::string_view text) {
  std::string_view unit;
  const std::int64_t value = leading_number(text, &unit);
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  return Bytes(value > (std::int64_t{1} << 32) ? 0 : value << shift);
}

std::optional<CacheGeometry> read_cache(const fs::path& folder) {
  const std::string type = first_line(folder / "type");
  if (type != "Data" && type != "Unified") return {};
  CacheGeometry c;
  c.level = static_cast<int>(leading_number(first_line(folder / "level")));
  c.capacity = kernel_size(first_line(folder / "size"));
  c.ways = leading_number(first_line(folder / "ways_of_associativity"));
  c.line = Bytes(leading_number(first_line(folder / "coherency_line_size")));
  c.shared_by =
      std::max(1, static_cast<int>(parse_cpu_list(first_line(folder / "shared_cpu_list")).size()));
  if (c.level < 1 || c.capacity < Bytes(1)) return {};
  mend(c, leading_number(first_line(folder / "number_of_sets")));
  return c;
}

}  // namespace

void mend(CacheGeometry& c, std::int64_t sets) {
  const auto note = [&](const std::string& text) { c.note += (c.note.empty() ? "" : ", ") + text; };
  if (c.line < Bytes(1) || !std::has_single_bit(static_cast<std::uint64_t>(c.line.value()))) {
    c.line = Bytes(usual_line);
    note("line assumed");
  }
  if (c.ways < 1) {
    const std::int64_t way = sets * c.line.value();
    c.ways = way > 0 ? c.capacity.value() / way : 0;
    if (c.ways < 1) c.ways = usual_ways;
    note("ways assumed");
  }
  const std::int64_t set = c.ways * c.line.value();
  if (c.capacity.value() % set != 0) {
    c.capacity = Bytes(std::max<std::int64_t>(1, c.capacity.value() / set) * set);
    note("capacity rounded to whole sets");
  }
}

std::vector<int> parse_cpu_list(std::string_view list) {
  constexpr std::int64_t most = 1 << 16;  // processors; the kernel's own limit is below
  std::vector<int> cpus;
  while (!list.empty()) {
    std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const auto dash = item.find('-');
    if (item.empty() || item[0] < '0' || item[0] > '9') return {};
    const std::int64_t first = leading_number(item);
    const std::int64_t last = dash == item.npos ? first : leading_number(item.substr(dash + 1));
    if (last < first || last >= most || cpus.size() >= static_cast<std::size_t>(most)) return {};
    for (std::int64_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::string processor_name(std::string_view cpuinfo) {
  const std::string_view key = "model name";
  while (!cpuinfo.empty()) {
    const std::string_view line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(cpuinfo.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (begin == line.npos) break;
    return std::string(line.substr(begin, line.find_last_not_of(" \t") - begin + 1));
  }
  return "unknown processor";
}

std::vector<CacheGeometry> read_geometry(const fs::path& folder) {
  std::vector<CacheGeometry> caches;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with("index")) continue;
    if (const auto cache = read_cache(entry.path())) caches.push_back(*cache);
  }
  if (caches.empty()) {
    throw UnsupportedError(folder.string(), "the kernel describes no data cache there",
                           "name a machine file with --machine");
  }
  std::sort(caches.begin(), caches.end(),
            [](const auto& a, const auto& b) { return a.level < b.level; });
  // The kernel counts hardware threads; those of one core share the innermost cache.
  const int threads_per_core = caches.front().shared_by;
  for (CacheGeometry& c : caches) c.shared_by = std::max(1, c.shared_by / threads_per_core);
  return caches;
}

}  // namespace tcsim
