#include "cli/bounds_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/counted.hpp"
#include "cli/table.hpp"
#include "core/bounds/link_bounds.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

double elements(Bytes bytes, const Result& r) {
  return static_cast<double>(bytes.value()) /
         static_cast<double>(size_of(r.workload.type()).value());
}

// In one line.
std::string joined(std::string lines) {
  while (lines.ends_with('\n')) lines.pop_back();
  for (auto at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at)) {
    lines.replace(at, 1, "; ");
  }
  return lines;
}

std::string why_not_measured(const Result& r, std::size_t link) {
  if (link == 0) return "processors count loads to the registers, not their bytes";
  if (!r.counted) return "nothing was counted";
  const Counted& c = *r.counted;
  if (!c.limits.empty()) {
    // Why this source and not another says most, where it says this.
    const bool says_all = c.why.find(c.limits) != std::string::npos;
    return "this machine has no cache events: " + joined(says_all ? c.why : c.limits);
  }
  const std::optional<Bytes> in = measured_in(r, link), out = measured_out(r, link);
  if (!in && !out) return c.source + " has no event for it on this processor";
  if (!r.machine.accounting.packing) {
    return "counters count packing too, which this accounting leaves out";
  }
  return fmt::format("{} counts what {} alone, {:.0f} elements", c.source,
                     in ? "comes in" : "goes out", elements(in ? *in : *out, r));
}

std::string whole_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.0f}", *number) : "-";
}

}  // namespace

std::vector<BoundMark> bound_marks(const Result& r) {
  const std::vector<std::int64_t> capacities =
      bounds::capacities_inside(r.machine, r.workload.type());
  const auto counted = [&](const Traffic& traffic, std::size_t link) {
    return elements(traffic.links[link].counted(r.machine.accounting), r);
  };
  std::vector<BoundMark> marks;
  for (std::size_t l = 0; l < r.machine.levels.size(); ++l) {
    BoundMark mark{r.machine.link(LevelId{static_cast<int>(l)}),
                   capacities[l],
                   elements(r.bounds[l], r),
                   counted(r.prediction->traffic, l),
                   {},
                   {},
                   ""};
    if (r.simulation) mark.simulated = counted(r.simulation->traffic, l);
    if (const auto bytes = measured_bytes(r, l)) {
      mark.measured = elements(*bytes, r);
    } else {
      mark.not_measured = why_not_measured(r, l);
    }
    marks.push_back(std::move(mark));
  }
  return marks;
}

void print_marks(const Result& r, std::ostream& out) {
  out << fmt::format("  marks: the schedule for {}", visible(r.machine.name));
  if (r.measured) {
    out << fmt::format(", run here in {} ({:.1f} GFLOPS)", to_display(r.measured->median),
                       r.workload.flops() / r.measured->median.value() / 1e9);
  }
  out << "\n";
  const std::vector<BoundMark> marks = bound_marks(r);
  Rows rows;
  for (const BoundMark& m : marks) {
    rows.push_back({std::to_string(m.capacity),
                    to_display(Bytes(m.capacity * size_of(r.workload.type()).value())), m.link,
                    whole_text(m.lower), whole_text(m.predicted), whole_text(m.simulated),
                    whole_text(m.measured)});
  }
  out << aligned({"S", "size", "link", "lower bound", "predicted", "simulated", "measured"}, rows,
                 "  ");
  // Links with the same reason share a line.
  std::vector<std::pair<std::string, std::string>> reasons;  // links, why
  for (const BoundMark& m : marks) {
    if (m.measured) continue;
    const auto same =
        std::ranges::find(reasons, m.not_measured, &std::pair<std::string, std::string>::second);
    if (same == reasons.end()) {
      reasons.emplace_back(m.link, m.not_measured);
    } else {
      same->first += ", " + m.link;
    }
  }
  for (const auto& [links, why] : reasons) {
    out << fmt::format("  not measured: {}: {}\n", visible(links), visible(why));
  }
}

ordered_json json_of_marks(const Result& r) {
  ordered_json run{{"machine", {{"name", r.machine.name}, {"hash", content_hash(r.machine)}}},
                   {"schedule", to_line(r.schedule, r.workload)}};
  if (r.measured) {
    run["measured_seconds"] = r.measured->median.value();
    run["measured_gflops"] = r.workload.flops() / r.measured->median.value() / 1e9;
  }
  if (r.worst_error) run["check_error_over_bound"] = *r.worst_error;
  if (r.counted) run["counters"] = counters_json(r);
  run["marks"] = ordered_json::array();
  for (const BoundMark& m : bound_marks(r)) {
    ordered_json mark{{"link", m.link},
                      {"cache_elements", m.capacity},
                      {"lower_elements", m.lower},
                      {"predicted_elements", m.predicted},
                      {"simulated_elements", nullptr},
                      {"measured_elements", nullptr}};
    if (m.simulated) mark["simulated_elements"] = *m.simulated;
    if (m.measured) mark["measured_elements"] = *m.measured;
    if (!m.measured) mark["not_measured"] = m.not_measured;
    run["marks"].push_back(std::move(mark));
  }
  return run;
}

}  // namespace tcsim::cli
