#include "cli/counted.hpp"

#include <fmt/format.h>

#include <sstream>

#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

const CountedLink* counted_link(const Result& r, std::size_t link) {
  if (!r.counted) return nullptr;
  for (const CountedLink& l : r.counted->links) {
    if (l.link == r.machine.link(LevelId{static_cast<int>(link)})) return &l;
  }
  return nullptr;
}

// Of kernels and packing together, as a counter sees it.
Moved predicted_in_all(const Result& r, std::size_t link) {
  Moved sum;
  for (Phase p : all_phases) {
    for (const Moved& m : r.prediction->traffic.links[link].moved[p]) sum += m;
  }
  return sum;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string event_text(const CountedEvent& e) {
  if (e.unit == "ns") return to_display(Seconds(e.median * 1e-9));
  return fmt::format("{:.0f}{}{}", e.median, e.unit.empty() ? "" : " ", e.unit);
}

void print_lines(const Result& r, std::ostream& out) {
  out << fmt::format("  {:<14}{:>14}{:>14}{:>14}{:>14}\n", "counted", "lines in", "predicted",
                     "lines out", "predicted");
  for (std::size_t l = 1; l < r.machine.levels.size(); ++l) {
    // Lines travel in the size that the inner level has.
    const std::int64_t line = r.machine.levels[l - 1].line.value.value();
    const auto lines = [&](const std::optional<Bytes>& bytes) {
      return bytes ? fmt::format("{}", bytes->value() / line) : "-";
    };
    std::optional<Bytes> in, out_;
    if (r.prediction) {
      in = predicted_in_all(r, l).in;
      out_ = predicted_in_all(r, l).out;
    }
    out << fmt::format("  {:<14}{:>14}{:>14}{:>14}{:>14}\n",
                       r.machine.link(LevelId{static_cast<int>(l)}), lines(measured_in(r, l)),
                       lines(in), lines(measured_out(r, l)), lines(out_));
  }
}

}  // namespace

std::optional<Bytes> measured_in(const Result& r, std::size_t link) {
  const CountedLink* l = counted_link(r, link);
  return l == nullptr ? std::nullopt : l->in;
}

std::optional<Bytes> measured_out(const Result& r, std::size_t link) {
  const CountedLink* l = counted_link(r, link);
  return l == nullptr ? std::nullopt : l->out;
}

std::optional<Bytes> measured_bytes(const Result& r, std::size_t link) {
  if (!r.counted) return {};
  return bytes_over(*r.counted, r.machine.link(LevelId{static_cast<int>(link)}),
                    r.machine.accounting);
}

void add_counted(ordered_json& level, const Result& r, std::size_t link) {
  if (const auto b = measured_bytes(r, link)) level["measured_bytes"] = b->value();
  const auto in = measured_in(r, link), out = measured_out(r, link);
  if (in) level["measured_in_bytes"] = in->value();
  if (out) level["measured_out_bytes"] = out->value();
  if (!r.prediction || (!in && !out)) return;
  level["predicted_in_bytes"] = predicted_in_all(r, link).in.value();
  level["predicted_out_bytes"] = predicted_in_all(r, link).out.value();
}

ordered_json counters_json(const Result& r) {
  const Counted& c = *r.counted;
  ordered_json j{{"source", c.source},
                 {"why", lines_of(c.why)},
                 {"event_files", c.files},
                 {"cache_events", c.limits.empty()}};
  if (!c.limits.empty()) j["limits"] = c.limits;
  j["events"] = ordered_json::array();
  for (const CountedEvent& e : c.events) {
    j["events"].push_back({{"name", e.name}, {"unit", e.unit}, {"median", e.median}});
  }
  return j;
}

void print_counted(const Result& r, std::ostream& out) {
  const Counted& c = *r.counted;
  if (c.limits.empty()) print_lines(r, out);
  out << fmt::format("  {:<14}{}{}\n", "counters", c.source,
                     c.files.empty() ? "" : " (" + c.files + ")");
  if (!c.limits.empty()) {
    out << fmt::format("  {:<14}no cache events exist here, so no lines are counted\n", "");
  }
  for (const std::string& line : lines_of(c.why)) out << fmt::format("  {:<14}{}\n", "", line);
  for (const CountedEvent& e : c.events) {
    out << fmt::format("  {:<14}{:<18}{:>14}\n", "", e.name, event_text(e));
  }
  out << "\n";
}

}  // namespace tcsim::cli
