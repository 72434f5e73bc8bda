#include "core/machine/exchange/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "core/error.hpp"
#include "core/machine/exchange/draft.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

// First line of a file, empty if it cannot be read.
std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return std::string(exchange::trimmed(line));
}

// 0 if there is none.
std::int64_t positive(std::string_view text) {
  const auto value = exchange::whole_number(text);
  return value && *value > 0 && *value <= std::int64_t{1} << 50 ? *value : 0;
}

// "32K", "8M": the letters are powers of 1024.
Bytes kernel_size(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    const auto letter = std::string_view("KMG").find(text.back());
    if (letter != std::string_view::npos) {
      shift = 10 * static_cast<int>(letter + 1);
      text.remove_suffix(1);
    }
  }
  const std::int64_t value = positive(text);
  return Bytes(value > (std::int64_t{1} << 50 >> shift) ? 0 : value << shift);
}

KernelCache read_cache(const fs::path& folder) {
  const auto number = [&](const char* file) { return positive(first_line(folder / file)); };
  return {folder,
          number("level"),
          kernel_size(first_line(folder / "size")),
          number("ways_of_associativity"),
          number("number_of_sets"),
          Bytes(number("coherency_line_size")),
          parse_cpu_list(first_line(folder / "shared_cpu_list"))};
}

}  // namespace

std::vector<KernelCache> read_kernel_caches(const fs::path& folder) {
  std::vector<KernelCache> caches;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path& index = entry.path();
    if (!index.filename().string().starts_with("index")) continue;
    const std::string type = first_line(index / "type");
    if (type == "Data" || type == "Unified") caches.push_back(read_cache(index));
  }
  std::sort(caches.begin(), caches.end(),
            [](const auto& a, const auto& b) { return a.level < b.level; });
  return caches;
}

std::vector<int> parse_cpu_list(std::string_view list) {
  constexpr std::int64_t most = 1 << 16;  // processors; the kernel's own limit is below
  std::vector<int> cpus;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const auto dash = item.find('-');
    const auto first = exchange::whole_number(item.substr(0, dash));
    const auto last = dash == item.npos ? first : exchange::whole_number(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most) return {};
    if (cpus.size() >= static_cast<std::size_t>(most)) return {};
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

namespace exchange {

Draft read_kernel(const fs::path& folder) {
  if (std::error_code ignored; !fs::is_directory(folder, ignored)) {
    throw InputError(folder.string(), "is no folder", "give /sys/devices/system/cpu/cpu0/cache");
  }
  Draft draft;
  draft.format = "the kernel's cache files";
  const auto given = [](auto value) -> std::optional<decltype(value)> {
    if (value > decltype(value)(0)) return value;
    return {};
  };
  // The kernel counts hardware threads; those of one core share the innermost cache.
  int threads_per_core = 0;
  for (const KernelCache& c : read_kernel_caches(folder)) {
    if (c.level < 1 || c.capacity < Bytes(1)) {
      throw InputError(c.folder.string(), "a cache without level or size",
                       "give a folder of the form /sys/devices/system/cpu/cpu0/cache");
    }
    DraftLevel d;
    d.place = c.folder.string();
    d.name = fmt::format("L{}", c.level);
    d.capacity = c.capacity;
    d.ways = given(c.ways);
    d.sets = given(c.sets);
    d.line = given(c.line);
    if (const int threads = static_cast<int>(c.cpus.size()); threads > 0) {
      if (threads_per_core == 0) threads_per_core = threads;
      d.shared_by = std::max(1, threads / threads_per_core);
    }
    draft.caches.push_back(std::move(d));
  }
  return draft;
}

}  // namespace exchange

}  // namespace tcsim
