// The kernel's cache files: FOLDER/index0/size and so on, of one processor.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "core/error.hpp"
#include "core/machine/exchange/draft.hpp"

namespace tcsim::exchange {

namespace {

namespace fs = std::filesystem;

// First line of a file, empty if it cannot be read.
std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return std::string(trimmed(line));
}

std::optional<std::int64_t> positive(const fs::path& file) {
  const auto value = whole_number(first_line(file));
  if (!value || *value < 1 || *value > std::int64_t{1} << 40) return {};
  return value;
}

// "32K", "8M": the letters are powers of 1024.
std::optional<Bytes> size(std::string text) {
  int shift = 0;
  if (!text.empty()) {
    const auto letter = std::string_view("KMG").find(text.back());
    if (letter != std::string_view::npos) {
      shift = 10 * static_cast<int>(letter + 1);
      text.pop_back();
    }
  }
  const auto value = whole_number(text);
  if (!value || *value < 1 || *value > (std::int64_t{1} << 50 >> shift)) return {};
  return Bytes(*value << shift);
}

// Processors in the kernel's list form, "0-3,8"; 0 if it is none.
int count_list(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const auto dash = item.find('-');
    const auto first = whole_number(item.substr(0, dash));
    const auto last = dash == item.npos ? first : whole_number(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > 1 << 20) return 0;
    count += *last - *first + 1;
  }
  return static_cast<int>(std::min<std::int64_t>(count, 1 << 20));
}

}  // namespace

Draft read_kernel(const fs::path& folder) {
  Draft draft;
  draft.format = "the kernel's cache files";
  std::error_code error;
  std::vector<std::pair<std::int64_t, DraftLevel>> caches;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path& index = entry.path();
    if (!index.filename().string().starts_with("index")) continue;
    const std::string type = first_line(index / "type");
    if (type != "Data" && type != "Unified") continue;
    const auto level = positive(index / "level");
    DraftLevel d;
    d.place = index.string();
    d.capacity = size(first_line(index / "size"));
    if (!level || !d.capacity) {
      throw InputError(d.place, "a cache without level or size",
                       "give a folder of the form /sys/devices/system/cpu/cpu0/cache");
    }
    d.name = fmt::format("L{}", *level);
    d.ways = positive(index / "ways_of_associativity");
    d.sets = positive(index / "number_of_sets");
    if (const auto line = positive(index / "coherency_line_size")) d.line = Bytes(*line);
    if (const int threads = count_list(first_line(index / "shared_cpu_list")); threads > 0) {
      d.shared_by = threads;
    }
    caches.emplace_back(*level, std::move(d));
  }
  if (error) {
    throw InputError(folder.string(), error.message(), "give /sys/devices/system/cpu/cpu0/cache");
  }
  std::sort(caches.begin(), caches.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  // The kernel counts hardware threads; those of one core share the innermost cache.
  const int threads_per_core = caches.empty() ? 1 : caches[0].second.shared_by.value_or(1);
  for (auto& [level, d] : caches) {
    if (d.shared_by) d.shared_by = std::max(1, *d.shared_by / threads_per_core);
    draft.caches.push_back(std::move(d));
  }
  return draft;
}

}  // namespace tcsim::exchange
