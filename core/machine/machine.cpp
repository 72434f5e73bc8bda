#include "core/machine/machine.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/hash.hpp"

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

std::string content_hash(const Machine& machine) {
  // The text is the identity: appending to it, or changing its order, changes every stored hash.
  std::string text = "tcsim-machine-1\n";
  for (const Level& l : machine.levels) {
    text += fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", l.name, to_text(l.kind),
                        l.capacity.value.value(), l.ways.value, l.line.value.value(),
                        to_text(l.replacement.value), to_text(l.inclusion.value), to_text(l.write),
                        l.write_allocate, l.shared_by, to_text(l.bandwidth.value),
                        l.latency ? fmt::format("{}", l.latency->value.value()) : "-");
    if (l.energy) text += fmt::format("energy {}\n", l.energy->value.value());
    if (l.prefetch != Prefetch::none) text += fmt::format("prefetch {}\n", to_text(l.prefetch));
  }
  const Core& c = machine.core;
  text += fmt::format("core {} {} {} {} {}\n", c.frequency.value.value(), c.vector_bits.value,
                      c.vector_registers.value, c.fma_per_cycle.value, c.fma_latency.value.value());
  if (c.cores != 1) text += fmt::format("cores {}\n", c.cores);
  const Accounting& a = machine.accounting;
  text += fmt::format("accounting {} {} {}\n", a.write_backs, a.compute_roof, a.packing);
  if (a.halve_register_loads) text += "halve_register_loads\n";
  for (const Tlb& t : machine.tlbs) {
    text += fmt::format("tlb {} {} {} {}\n", t.entries, t.ways, t.page.value(), t.name);
  }

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
