#include "exchange/kerncraft.hpp"

#include <algorithm>
#include <cctype>

#include "exchange/draft.hpp"

namespace tcsim::exchange {

std::optional<KerncraftUnit> parse_kerncraft_unit(std::string_view text) {
  text = trimmed(text);
  const auto blank = text.find(' ');
  if (blank == text.npos) return {};
  const auto value = real_number(text.substr(0, blank));
  std::string_view unit = trimmed(text.substr(blank));
  if (!value || unit.empty()) return {};
  KerncraftUnit result{*value, "", 0};
  constexpr std::string_view prefixes = "kMGTP";
  if (const auto p = prefixes.find(unit[0]); p != prefixes.npos && unit.size() > 1) {
    result.thousands = static_cast<int>(p) + 1;
    for (std::size_t i = 0; i <= p; ++i) result.value *= 1e3;
    unit.remove_prefix(1);
  }
  result.unit = unit;
  return result;
}

std::optional<AccessMix> mix_of_likwid_kernel(std::string_view kernel) {
  for (AccessMix mix : all_access_mixes) {
    if (kernel == likwid_kernel(mix)) return mix;
  }
  return {};
}

const char* likwid_kernel(AccessMix mix) {
  switch (mix) {
    case AccessMix::load_fma_store:
      return "update";
    case AccessMix::load:
      return "load";
    case AccessMix::copy:
      return "copy";
    case AccessMix::triad:
      return "stream";
  }
  return "";
}

std::string instruction_set_of_likwid_kernel(std::string_view variant) {
  const auto bar = variant.find('_');
  if (bar == variant.npos) return "plain";
  const std::string_view set = variant.substr(bar + 1);
  if (set.starts_with("avx512")) return "AVX-512";
  if (set.starts_with("avx")) return "AVX2";
  if (set.starts_with("sse")) return "SSE";
  return std::string(set.empty() ? "plain" : set);
}

std::string likwid_variant(AccessMix mix, const std::string& instruction_set) {
  const std::string kernel = likwid_kernel(mix);
  if (instruction_set == "plain") return kernel;
  std::string set;
  for (char c : instruction_set) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      set += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return kernel + "_" + (set == "avx2" ? "avx" : set);
}

std::optional<Replacement> pycachesim_replacement(std::string_view policy) {
  for (Replacement r : all_replacements) {
    if (const char* known = pycachesim_policy(r); known != nullptr && policy == known) return r;
  }
  return {};
}

const char* pycachesim_policy(Replacement policy) {
  switch (policy) {
    case Replacement::lru:
      return "LRU";
    case Replacement::fifo:
      return "FIFO";
    case Replacement::random:
      return "RR";
    default:
      return nullptr;
  }
}

}  // namespace tcsim::exchange
