#include "core/saved/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/io/toml.hpp"
#include "core/machine/toml_reader.hpp"
#include "core/text/safe.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t tuned_schema = 1;
constexpr std::array all_layouts{Layout::row_major, Layout::column_major, Layout::mixed};
constexpr std::array all_types{ElementType::f32, ElementType::f64};
constexpr std::array all_objectives{Objective::time, Objective::sum, Objective::energy};
constexpr const char* begin_anew = "correct it, or begin anew: 'tcsim tune --forget all'";

class TunedReader : MachineReader {
 public:
  using MachineReader::MachineReader;

  TunedSchedules read(const toml::table& root) const {
    known_keys(root, "a file of tuned schedules", {"schema", "tuned"});
    const toml::node& schema = required(root, "schema", "the file");
    if (schema.value<std::int64_t>() != tuned_schema) fail(schema, "this schema is not known", "");
    TunedSchedules all;
    each_table(root, "tuned", "tuned", [&](const toml::table& t) {
      Tuned entry = tuned(t);
      if (all.find(entry.key) != nullptr) {
        throw InputError(at(t), "the same workload has a schedule already", "leave one of them");
      }
      all.add(std::move(entry), {});
    });
    return all;
  }

 private:
  // One line, not empty.
  std::string line(const toml::table& t, std::string_view key) const {
    const toml::node& node = required(t, key, "[[tuned]]");
    std::string value = text(node, key);
    if (value.empty() || !is_visible(value)) {
      fail(node, fmt::format("{} is no line of text", key), "write one");
    }
    return value;
  }
  template <class Choices>
  auto one_of(const toml::table& t, std::string_view key, const Choices& choices) const {
    return choice(required(t, key, "[[tuned]]"), key, choices);
  }
  double positive(const toml::table& t, std::string_view key) const {
    return number(required(t, key, "[[tuned]]"), key);
  }

  std::string date(const toml::table& t) const {
    std::string value = line(t, "date");
    constexpr std::string_view form = "dddd-dd-dd";
    bool fits = value.size() == form.size();
    for (std::size_t i = 0; fits && i < form.size(); ++i) {
      fits = form[i] == 'd' ? value[i] >= '0' && value[i] <= '9' : value[i] == form[i];
    }
    if (!fits) fail(*t.get("date"), "date is no date", "write \"2026-11-22\"");
    return value;
  }

  Tuned tuned(const toml::table& t) const {
    known_keys(t, "[[tuned]]",
               {"workload", "size", "layout", "type", "objective", "threads", "processor",
                "instruction_set", "schedule", "flops_per_second", "predicted_flops_per_second",
                "of_peak", "ratio", "date", "tried"});
    Tuned entry;
    entry.key = {line(t, "workload"),
                 line(t, "size"),
                 one_of(t, "layout", all_layouts),
                 one_of(t, "type", all_types),
                 one_of(t, "objective", all_objectives),
                 small_count(required(t, "threads", "[[tuned]]"), "threads"),
                 line(t, "processor"),
                 line(t, "instruction_set")};
    entry.schedule = line(t, "schedule");
    entry.measured = FlopsPerSecond(positive(t, "flops_per_second"));
    entry.predicted = FlopsPerSecond(positive(t, "predicted_flops_per_second"));
    entry.of_peak = positive(t, "of_peak");
    entry.ratio = positive(t, "ratio");
    entry.date = date(t);
    entry.tried = list(t, "tried", [&](const toml::node& node, std::string_view) {
      const auto* value = node.as_integer();
      if (value == nullptr) fail(node, "this is no fingerprint", "leave it out");
      return value->get();
    });
    return entry;
  }
};

toml::table table_of(const Tuned& entry) {
  const TunedKey& k = entry.key;
  toml::array tried;
  for (const std::int64_t print : entry.tried) tried.push_back(print);
  return toml::table{{"workload", k.label},
                     {"size", k.sizes},
                     {"layout", to_text(k.layout)},
                     {"type", to_text(k.type)},
                     {"objective", to_text(k.objective)},
                     {"threads", k.threads},
                     {"processor", k.processor},
                     {"instruction_set", k.instruction_set},
                     {"schedule", entry.schedule},
                     {"flops_per_second", entry.measured.value()},
                     {"predicted_flops_per_second", entry.predicted.value()},
                     {"of_peak", entry.of_peak},
                     {"ratio", entry.ratio},
                     {"date", entry.date},
                     {"tried", std::move(tried)}};
}

void join(std::vector<std::int64_t>& tried, const std::vector<std::int64_t>& more) {
  for (const std::int64_t print : more) {
    if (std::ranges::find(tried, print) == tried.end()) tried.push_back(print);
  }
}

}  // namespace

TunedKey tuned_key(const Contraction& c, int threads, std::string processor,
                   std::string instruction_set) {
  return {c.label(),       c.sizes(), c.layout(),           c.type(),
          Objective::time, threads,   std::move(processor), std::move(instruction_set)};
}

std::int64_t fingerprint(const Schedule& schedule, const Contraction& contraction) {
  return static_cast<std::int64_t>(fnv1a(to_line(schedule, contraction)));
}

std::string Tuned::words() const {
  return fmt::format("tuned on {}: {} candidate{}, {:.2f} times the model's choice", date,
                     tried.size(), tried.size() == 1 ? "" : "s", ratio);
}

const Tuned* TunedSchedules::find(const TunedKey& key) const {
  const auto found = std::ranges::find(all_, key, &Tuned::key);
  return found == all_.end() ? nullptr : &*found;
}

void TunedSchedules::add(Tuned entry, const std::optional<std::string>& began_with) {
  const auto before = std::ranges::find(all_, entry.key, &Tuned::key);
  if (before == all_.end()) {
    all_.push_back(std::move(entry));
    return;
  }
  join(entry.tried, before->tried);
  const bool followed = before->schedule == began_with || before->schedule == entry.schedule;
  if (followed || entry.ratio > before->ratio) {
    *before = std::move(entry);
  } else {
    before->tried = std::move(entry.tried);
  }
}

std::size_t TunedSchedules::forget(const Contraction& c) {
  return std::erase_if(all_, [&](const Tuned& t) {
    return t.key.label == c.label() && t.key.sizes == c.sizes() && t.key.layout == c.layout() &&
           t.key.type == c.type();
  });
}

TunedSchedules parse_tuned(std::string_view text, const std::string& place) {
  try {
    return TunedReader(place).read(parse_toml(text, place));
  } catch (const InputError& e) {
    throw InputError(e.place(), e.problem(), begin_anew);
  }
}

std::string to_toml(const TunedSchedules& tuned) {
  toml::array all;
  for (const Tuned& entry : tuned.all()) all.push_back(table_of(entry));
  std::ostringstream out;
  out << toml::table{{"schema", tuned_schema}, {"tuned", std::move(all)}} << "\n";
  return out.str();
}

}  // namespace tcsim
