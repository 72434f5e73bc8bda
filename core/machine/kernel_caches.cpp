#include "core/machine/kernel_caches.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "core/text/number.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

// First line of a file, empty if it cannot be read.
std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return std::string(trimmed(line));
}

// As large as a machine file's capacities may be.
constexpr std::int64_t largest = std::int64_t{1} << 60;

// 0 if there is none.
std::int64_t positive(std::string_view text) {
  const auto value = whole_number(text);
  return value && *value > 0 && *value <= largest ? *value : 0;
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
  return Bytes(value > largest >> shift ? 0 : value << shift);
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
    const auto first = whole_number(item.substr(0, dash));
    const auto last = dash == item.npos ? first : whole_number(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most) return {};
    if (cpus.size() >= static_cast<std::size_t>(most)) return {};
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

}  // namespace tcsim
