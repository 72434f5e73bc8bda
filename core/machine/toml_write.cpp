// Machines as TOML texts.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/machine/toml.hpp"
#include "core/machine/toml_reader.hpp"

namespace tcsim {

namespace {

// A TOML basic string.
std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Writes the figures of one table: what most of them share goes to the head of the table.
class FigureWriter {
 public:
  template <class T>
  void add(const char* key, const Figure<T>& figure, std::string value) {
    lines_.push_back({key, std::move(value), {figure.origin, figure.source}});
  }

  std::string text() const {
    if (lines_.empty()) return "";
    const auto uses = [&](const Provenance& p) {
      return std::count_if(lines_.begin(), lines_.end(),
                           [&](const Line& l) { return l.provenance == p; });
    };
    const Provenance shared =
        std::max_element(lines_.begin(), lines_.end(), [&](const Line& a, const Line& b) {
          return uses(a.provenance) < uses(b.provenance);
        })->provenance;
    std::string text = fmt::format("origin = \"{}\"\n", to_text(shared.origin));
    if (!shared.source.empty()) text += fmt::format("source = {}\n", quote(shared.source));
    for (const Line& l : lines_) {
      if (l.provenance == shared) {
        text += fmt::format("{} = {}\n", l.key, l.value);
        continue;
      }
      const std::string source =
          l.provenance.source.empty() ? "" : ", source = " + quote(l.provenance.source);
      text += fmt::format("{} = {{ value = {}, origin = \"{}\"{} }}\n", l.key, l.value,
                          to_text(l.provenance.origin), source);
    }
    return text;
  }

 private:
  struct Line {
    const char* key;
    std::string value;
    Provenance provenance;
  };
  std::vector<Line> lines_;
};

// Eight repetitions a line.
template <class Rate>
std::string rates_text(const char* key, const std::vector<Rate>& rates) {
  std::string text = fmt::format("{} = [", key);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i % 8 == 0 ? ",\n  " : ", ", rates[i].value());
  }
  return text + "]\n";
}

template <class Series>
std::string series_head(const Series& s) {
  return fmt::format("element = {}\ninstruction_set = {}\ncores = {}\n", quote(to_text(s.element)),
                     quote(s.instruction_set), s.cores);
}

std::string series_text(const BandwidthSeries& s) {
  std::string text = fmt::format("\n[[level.series]]\nmix = \"{}\"\n", to_text(s.mix)) +
                     series_head(s) +
                     fmt::format("working_set = {}\n", quote(to_text(s.working_set)));
  if (s.frequency.value() > 0) {
    text += fmt::format("frequency = {}\n", quote(to_text(s.frequency)));
  }
  if (s.unstable) text += "unstable = true\n";
  return text + rates_text("bytes_per_second", s.repetitions);
}

std::string peak_text(const PeakSeries& s) {
  return "\n[[core.peak]]\n" + series_head(s) + rates_text("flops_per_second", s.repetitions);
}

std::string level_text(const Level& l) {
  std::string text =
      fmt::format("\n[[level]]\nname = {}\nkind = \"{}\"\n", quote(l.name), to_text(l.kind));
  const Level usual;
  const bool cache = l.kind == LevelKind::cache;
  if (cache || l.write != usual.write || l.write_allocate != usual.write_allocate ||
      l.prefetch != usual.prefetch) {
    text += fmt::format("write = \"{}\"\nwrite_allocate = {}\nprefetch = \"{}\"\n",
                        to_text(l.write), l.write_allocate, to_text(l.prefetch));
  }
  FigureWriter figures;
  if (cache || l.replacement != usual.replacement) {
    figures.add("replacement", l.replacement, quote(to_text(l.replacement.value)));
  }
  if (cache || l.inclusion != usual.inclusion) {
    figures.add("inclusion", l.inclusion, quote(to_text(l.inclusion.value)));
  }
  if (cache) {
    figures.add("capacity", l.capacity, quote(to_text(l.capacity.value)));
    figures.add("ways", l.ways, fmt::format("{}", l.ways.value));
    figures.add("line", l.line, quote(to_text(l.line.value)));
  } else {
    const bool limited = l.capacity.value != Bytes(0);
    figures.add("capacity", l.capacity,
                quote(limited ? to_text(l.capacity.value) : std::string(unlimited)));
  }
  figures.add("bandwidth", l.bandwidth, quote(to_text(l.bandwidth.value)));
  if (l.latency) figures.add("latency", *l.latency, fmt::format("{}", l.latency->value.value()));
  if (l.energy) figures.add("energy", *l.energy, quote(to_text(l.energy->value)));
  text += fmt::format("shared_by = {}\n", l.shared_by) + figures.text();
  for (const BandwidthSeries& s : l.series) text += series_text(s);
  return text;
}

std::string method_text(const Method& m) {
  std::string text =
      fmt::format("\n[method]\naffinity = {}\nclock = {}\npages = {}\nwarm_up = {}\n",
                  quote(m.affinity), quote(m.clock), quote(m.pages), quote(m.warm_up));
  if (m.repetitions > 0) text += fmt::format("repetitions = {}\n", m.repetitions);
  return text;
}

std::string tlb_text(const Tlb& t) {
  return fmt::format("\n[[tlb]]\nname = {}\nentries = {}\nways = {}\npage = {}\n", quote(t.name),
                     t.entries, t.ways, quote(to_text(t.page)));
}

}  // namespace

std::string to_toml(const Machine& machine) {
  const Accounting& a = machine.accounting;
  const Core& c = machine.core;
  FigureWriter core;
  core.add("frequency", c.frequency, quote(to_text(c.frequency.value)));
  core.add("vector_bits", c.vector_bits, fmt::format("{}", c.vector_bits.value));
  core.add("vector_registers", c.vector_registers, fmt::format("{}", c.vector_registers.value));
  core.add("fma_per_cycle", c.fma_per_cycle, fmt::format("{}", c.fma_per_cycle.value));
  core.add("fma_latency", c.fma_latency, fmt::format("{}", c.fma_latency.value.value()));
  std::string text = fmt::format("schema = {}\nname = {}\ndescription = {}\n", machine_schema,
                                 quote(machine.name), quote(machine.description));
  if (!machine.remarks.empty()) {
    text += "remarks = [\n";
    for (const std::string& remark : machine.remarks) text += fmt::format("  {},\n", quote(remark));
    text += "]\n";
  }
  text += fmt::format(
      "\n[accounting]\nname = {}\nwrite_backs = {}\ncompute_roof = {}\npacking = {}\n"
      "halve_register_loads = {}\n\n[core]\n{}{}",
      quote(a.name), a.write_backs, a.compute_roof, a.packing, a.halve_register_loads,
      c.cores == 1 ? "" : fmt::format("cores = {}\n", c.cores), core.text());
  for (const PeakSeries& s : c.peaks) text += peak_text(s);
  for (const Tlb& t : machine.tlbs) text += tlb_text(t);
  if (machine.method) text += method_text(*machine.method);
  for (const Level& l : machine.levels) text += level_text(l);
  return text;
}

}  // namespace tcsim
