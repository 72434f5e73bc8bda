#include "cli/describe.hpp"

#include <fmt/format.h>

#include "core/machine/fields.hpp"
#include "core/model/predict.hpp"
#include "core/text/safe.hpp"

namespace tcsim::cli {

using nlohmann::ordered_json;

ordered_json json_of(const Contraction& c) {
  ordered_json sizes;
  for (int i = 0; i < c.dim_count(); ++i) {
    sizes[std::string(1, c.dim(DimId{i}).name)] = c.dim(DimId{i}).extent;
  }
  return {{"name", c.name()},
          {"label", c.label()},
          {"sizes", sizes},
          {"type", to_text(c.type())},
          {"layout", to_text(c.layout())},
          {"flops", c.flops()}};
}

ordered_json json_of(const Accounting& a) {
  return {{"name", a.name},
          {"write_backs", a.write_backs},
          {"packing", a.packing},
          {"compute_roof", a.compute_roof},
          {"halve_register_loads", a.halve_register_loads}};
}

std::string to_words(const Accounting& a) {
  return fmt::format("{} ({}, {}, {}{})", a.name,
                     a.write_backs ? "bytes in and out" : "bytes in only",
                     a.packing ? "packing counted" : "packing left out",
                     a.compute_roof ? "compute roof" : "no compute roof",
                     a.halve_register_loads ? ", register loads at half" : "");
}

void add_warnings(ordered_json& record, const Machine& machine) {
  const std::string caveat = model_caveat(machine);
  if (!caveat.empty()) record["warnings"].push_back(caveat);
}

std::string warning_line(const Machine& machine) {
  const std::string caveat = model_caveat(machine);
  return caveat.empty() ? "" : "warning: " + caveat + "\n";
}

std::string heading(const Contraction& workload, const Machine& machine, const std::string& more) {
  return fmt::format("{}  {}  {}  {} {}\nmachine {}{}{}, accounting {}{}\n", workload.name(),
                     workload.label(), workload.sizes(), to_text(workload.type()),
                     to_text(workload.layout()), machine.name,
                     machine.description.empty() ? "" : " (" + visible(machine.description) + ")",
                     machine.core.cores == 1
                         ? ""
                         : fmt::format(", each of {} cores at work", machine.core.cores),
                     to_words(machine.accounting), more) +
         warning_line(machine);
}

std::string overhead_lines(const Core& core) {
  std::string text;
  for (const Origin origin : all_origins) {
    std::string figures;
    for_each_field<Overhead>([&](const auto& field) {
      const auto& figure = core.overhead.*field.member;
      if (figure.origin != origin) return;
      figures += fmt::format(", {} {:.4g}", field.name, *number_of(figure.value));
    });
    if (figures.empty()) continue;
    text += fmt::format("  overhead  {} ({})\n", figures.substr(2), to_text(origin));
  }
  return text;
}

}  // namespace tcsim::cli
