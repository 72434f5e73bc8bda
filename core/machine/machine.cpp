#include "core/machine/machine.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/machine/fields.hpp"

namespace tcsim {

std::string Machine::link(LevelId l) const {
  const auto i = static_cast<std::size_t>(index(l));
  if (i == 0) return levels[0].name + "-register";
  return levels[i - 1].name + "-" + levels[i].name;
}

FlopsPerSecond Machine::peak(Bytes element) const {
  const double lanes = core.vector_bits.value / (8.0 * static_cast<double>(element.value()));
  return FlopsPerSecond(2 * lanes * core.fma_per_cycle.value * core.frequency.value.value());
}

namespace {

template <class T>
std::string identity(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", value);
  } else if constexpr (requires { value.value(); }) {
    return fmt::format("{}", value.value());
  } else {
    return to_text(value);
  }
}

template <class Owner>
std::string line_of(const Owner& owner, std::string line) {
  for_each_field<Owner>([&](const auto& field) {
    if (!field.in_hash_line) return;
    const auto* value = value_of(owner, field);
    line += " " + (value ? identity(*value) : "-");
  });
  return line;
}

// The fields with lines of their own, the last one first.
template <class Owner>
std::string lines_apart(const Owner& owner, std::string_view prefix = "") {
  static const Owner usual;
  std::string lines;
  for_each_field<Owner>([&](const auto& field) {
    const auto *value = value_of(owner, field), *without = value_of(usual, field);
    if (field.in_hash_line || value == nullptr || (without && *value == *without)) return;
    const bool flag = std::is_same_v<decltype(value), const bool*>;
    lines =
        fmt::format("{}{}{}\n{}", prefix, field.name, flag ? "" : " " + identity(*value), lines);
  });
  return lines;
}

}  // namespace

std::string content_hash(const Machine& machine) {
  // The text is the identity: appending to it, or changing its order, changes every stored hash.
  std::string text = "tcsim-machine-1\n";
  for (const Level& l : machine.levels) {
    text += line_of(l, fmt::format("{} {}", l.name, to_text(l.kind))) + "\n" + lines_apart(l);
  }
  text += line_of(machine.core, "core") + "\n" + lines_apart(machine.core);
  text += lines_apart(machine.core.overhead, overhead_prefix);
  text += line_of(machine.accounting, "accounting") + "\n" + lines_apart(machine.accounting);
  for (const Tlb& t : machine.tlbs) text += line_of(t, "tlb") + fmt::format(" {}\n", t.name);
  return fmt::format("{:016x}", fnv1a(text));
}

const char* to_text(Origin o) {
  switch (o) {
    case Origin::measured:
      return "measured";
    case Origin::vendor:
      return "vendor";
    case Origin::published:
      return "published";
    case Origin::assumed:
      return "assumed";
    case Origin::hypothetical:
      return "hypothetical";
  }
  return "";
}

const char* to_text(LevelKind k) {
  switch (k) {
    case LevelKind::cache:
      return "cache";
    case LevelKind::scratchpad:
      return "scratchpad";
    case LevelKind::memory:
      return "memory";
    case LevelKind::disk:
      return "disk";
  }
  return "";
}

const char* to_text(Replacement r) {
  switch (r) {
    case Replacement::lru:
      return "lru";
    case Replacement::fifo:
      return "fifo";
    case Replacement::random:
      return "random";
    case Replacement::tree_plru:
      return "tree-plru";
    case Replacement::bit_plru:
      return "bit-plru";
    case Replacement::srrip:
      return "srrip";
    case Replacement::brrip:
      return "brrip";
  }
  return "";
}

const char* to_text(Inclusion i) {
  switch (i) {
    case Inclusion::inclusive:
      return "inclusive";
    case Inclusion::exclusive:
      return "exclusive";
    case Inclusion::neither:
      return "neither";
  }
  return "";
}

const char* to_text(WritePolicy w) {
  return w == WritePolicy::write_back ? "write-back" : "write-through";
}

const char* to_text(Prefetch p) {
  switch (p) {
    case Prefetch::none:
      return "none";
    case Prefetch::next_line:
      return "next-line";
    case Prefetch::stride:
      return "stride";
    case Prefetch::adjacent_line:
      return "adjacent-line";
    case Prefetch::streamer:
      return "streamer";
    case Prefetch::streamer_and_adjacent_line:
      return "streamer+adjacent-line";
  }
  return "";
}

}  // namespace tcsim
