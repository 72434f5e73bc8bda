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

// `head`, what stands in the owner's line, `tail`; then the fields with lines of their own, the
// last one first.
template <class Owner>
std::string identity_of(const Owner& owner, std::string head, const std::string& tail = "") {
  std::string apart;
  for_each_field<Owner>([&](const auto& field) {
    const auto* value = value_of(owner, field);
    const std::string text = value ? identity(*value) : "-";
    if (field.in_hash_line) {
      head += (head.empty() ? "" : " ") + text;
    } else if (!is_usual(owner, field)) {
      const bool flag = std::is_same_v<decltype(value), const bool*>;
      apart = fmt::format("{}{}\n{}", field.name, flag ? "" : " " + text, apart);
    }
  });
  return head + tail + "\n" + apart;
}

}  // namespace

std::string content_hash(const Machine& machine) {
  // The text is the identity: appending to it, or changing its order, changes every stored hash.
  std::string text = "tcsim-machine-1\n";
  for (const Level& l : machine.levels) {
    text += identity_of(l, fmt::format("{} {}", l.name, to_text(l.kind)));
  }
  text += identity_of(machine.core, "core");
  text += identity_of(machine.accounting, "accounting");
  for (const Tlb& t : machine.tlbs) text += identity_of(t, "tlb", " " + t.name);
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
  }
  return "";
}

}  // namespace tcsim
