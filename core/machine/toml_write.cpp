// Machines as TOML texts.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/machine/fields.hpp"
#include "core/machine/toml.hpp"
#include "core/machine/toml_reader.hpp"
#include "core/text/safe.hpp"

namespace tcsim {

namespace {

// A value as a file has it.
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_same_v<T, Cycles>) {
    return fmt::format("{}", value.value());
  } else {
    return toml_string(to_text(value));
  }
}

// Writes the figures of one table: what most of them share goes to the head of the table.
class FigureWriter {
 public:
  template <class T>
  void add(std::string_view key, const Figure<T>& figure, std::string value) {
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
    if (!shared.source.empty()) text += fmt::format("source = {}\n", toml_string(shared.source));
    for (const Line& l : lines_) {
      if (l.provenance == shared) {
        text += fmt::format("{} = {}\n", l.key, l.value);
        continue;
      }
      const std::string source =
          l.provenance.source.empty() ? "" : ", source = " + toml_string(l.provenance.source);
      text += fmt::format("{} = {{ value = {}, origin = \"{}\"{} }}\n", l.key, l.value,
                          to_text(l.provenance.origin), source);
    }
    return text;
  }

 private:
  struct Line {
    std::string_view key;
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
  return fmt::format("element = {}\ninstruction_set = {}\ncores = {}\n",
                     toml_string(to_text(s.element)), toml_string(s.instruction_set), s.cores);
}

std::string series_text(const BandwidthSeries& s) {
  std::string text = fmt::format("\n[[level.series]]\nmix = \"{}\"\n", to_text(s.mix)) +
                     series_head(s) +
                     fmt::format("working_set = {}\n", toml_string(to_text(s.working_set)));
  if (s.frequency.value() > 0) {
    text += fmt::format("frequency = {}\n", toml_string(to_text(s.frequency)));
  }
  if (s.unstable) text += "unstable = true\n";
  return text + rates_text("bytes_per_second", s.repetitions);
}

std::string peak_text(const PeakSeries& s) {
  return "\n[[core.peak]]\n" + series_head(s) + rates_text("flops_per_second", s.repetitions);
}

// The fields that `wanted` wants and a file has to say: first the plain ones.
template <class Owner, class Wanted>
void add_fields(const Owner& owner, std::string& plain, FigureWriter& figures, Wanted wanted) {
  for_each_field<Owner>([&](const auto& field) {
    using Member = Held<typename std::decay_t<decltype(field)>::Type>;
    const auto* value = value_of(owner, field);
    if (value == nullptr || !wanted(field)) return;
    if constexpr (Member::is_optional) {
      figures.add(field.name, *(owner.*field.member), value_text(*value));
    } else if constexpr (Member::is_figure) {
      figures.add(field.name, owner.*field.member, value_text(*value));
    } else {
      plain += fmt::format("{} = {}\n", field.name, value_text(*value));
    }
  });
}

// Whether a file must say the field.
template <class Owner, class Member>
bool is_told(const Owner& owner, const Field<Owner, Member>& field) {
  return field.required || field.always_written || !is_usual(owner, field);
}

template <class Owner>
std::string fields_text(const Owner& owner) {
  std::string plain;
  FigureWriter figures;
  add_fields(owner, plain, figures, [&](const auto& field) { return is_told(owner, field); });
  return plain + figures.text();
}

std::string level_text(const Level& l) {
  std::string text =
      fmt::format("\n[[level]]\nname = {}\nkind = \"{}\"\n", toml_string(l.name), to_text(l.kind));
  const bool cache = l.kind == LevelKind::cache;
  // Of the policies those plain ones that are always written are written together.
  bool plain_policies = cache;
  for_each_field<Level>([&](const auto& field) {
    using Member = Held<typename std::decay_t<decltype(field)>::Type>;
    plain_policies |= field.part == Part::policy && !Member::is_figure && !is_usual(l, field);
  });
  FigureWriter figures;
  add_fields(l, text, figures, [&](const auto& field) {
    using Member = Held<typename std::decay_t<decltype(field)>::Type>;
    if (field.part != Part::policy) return false;
    if (Member::is_figure) return cache || !is_usual(l, field);
    return field.always_written ? plain_policies : !is_usual(l, field);
  });
  if (cache) {
    add_fields(l, text, figures, [](const Declared& f) { return f.part == Part::geometry; });
  } else {
    const bool limited = l.capacity.value != Bytes(0);
    figures.add("capacity", l.capacity,
                toml_string(limited ? to_text(l.capacity.value) : std::string(unlimited)));
  }
  add_fields(l, text, figures,
             [&](const auto& field) { return field.part == Part::other && is_told(l, field); });
  text += figures.text();
  for (const BandwidthSeries& s : l.series) text += series_text(s);
  return text;
}

std::string method_text(const Method& m) {
  std::string text = fmt::format(
      "\n[method]\naffinity = {}\nclock = {}\npages = {}\nwarm_up = {}\n", toml_string(m.affinity),
      toml_string(m.clock), toml_string(m.pages), toml_string(m.warm_up));
  if (m.repetitions > 0) text += fmt::format("repetitions = {}\n", m.repetitions);
  return text;
}

}  // namespace

std::string to_toml(const Machine& machine) {
  std::string text = fmt::format("schema = {}\nname = {}\ndescription = {}\n", machine_schema,
                                 toml_string(machine.name), toml_string(machine.description));
  if (!machine.remarks.empty()) {
    text += "remarks = [\n";
    for (const std::string& remark : machine.remarks)
      text += fmt::format("  {},\n", toml_string(remark));
    text += "]\n";
  }
  text +=
      fmt::format("\n[accounting]\nname = {}\n{}\n[core]\n{}", toml_string(machine.accounting.name),
                  fields_text(machine.accounting), fields_text(machine.core));
  if (const std::string overhead = fields_text(machine.core.overhead); !overhead.empty()) {
    text += "\n[core.overhead]\n" + overhead;
  }
  for (const PeakSeries& s : machine.core.peaks) text += peak_text(s);
  for (const Tlb& t : machine.tlbs) {
    text += fmt::format("\n[[tlb]]\nname = {}\n{}", toml_string(t.name), fields_text(t));
  }
  if (machine.method) text += method_text(*machine.method);
  for (const Level& l : machine.levels) text += level_text(l);
  return text;
}

}  // namespace tcsim
