#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/machine/actions.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/machine/inspect.hpp"
#include "core/text/safe.hpp"

namespace tcsim::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Checked {
  std::string name;
  InspectedFile file;
};

// Of what the file has, at most a line.
InspectedFile quoting_little(InspectedFile file) {
  for (Finding& f : file.findings) {
    for (std::string* text : {&f.place, &f.problem, &f.mend}) {
      if (text->size() > most_quoted) *text = shortened(*text);
    }
  }
  return file;
}

// With --set, and for the host, the machine in question stands in no file.
InspectedFile inspect_named(const std::string& name, const Options& options, Context& context) {
  if (name != "host") {
    InspectedFile file = quoting_little(inspect_machine_file(find_machine_file(name)));
    if (options.count("set") == 0 || !file.ok()) return file;
  }
  InspectedFile result;
  try {
    result.machine = named_machine(name, options, context);
    result.findings = inspect(*result.machine, name);
  } catch (const InputError& e) {
    result.findings.push_back({Severity::error, e.place(), e.problem(), e.mend()});
  }
  return quoting_little(std::move(result));
}

std::string sentence(const Finding& f) {
  return fmt::format("{}: {}: {}{}{}", f.place, to_text(f.severity), f.problem,
                     f.mend.empty() ? "" : "; ", f.mend);
}

void print_table(const std::vector<Checked>& all, std::ostream& out) {
  for (const Checked& c : all) {
    for (const Finding& f : c.file.findings) out << sentence(f) << "\n";
    if (!c.file.ok()) continue;
    const Machine& m = *c.file.machine;
    const auto doubts = c.file.findings.size();
    out << fmt::format("{}: ok{} ({}, {} levels, hash {})\n", c.name,
                       doubts == 0   ? ""
                       : doubts == 1 ? ", with a warning"
                                     : fmt::format(", with {} warnings", doubts),
                       m.name, m.levels.size(), content_hash(m));
  }
}

void print_json(const std::vector<Checked>& all, std::ostream& out) {
  Json j{{"schema", 1}, {"command", "machine check"}, {"tcsim_version", version}};
  j["machines"] = Json::array();
  for (const Checked& c : all) {
    Json one{{"file", c.name}, {"ok", c.file.ok()}};
    if (c.file.ok()) {
      one["name"] = c.file.machine->name;
      one["hash"] = content_hash(*c.file.machine);
      one["levels"] = c.file.machine->levels.size();
    }
    one["findings"] = Json::array();
    for (const Finding& f : c.file.findings) {
      one["findings"].push_back({{"severity", to_text(f.severity)},
                                 {"place", f.place},
                                 {"problem", f.problem},
                                 {"mend", f.mend}});
    }
    j["machines"].push_back(one);
  }
  out << json_text(j) << "\n";
}

void print_csv(const std::vector<Checked>& all, std::ostream& out) {
  out << csv_line({"file", "severity", "place", "problem", "mend"});
  for (const Checked& c : all) {
    if (c.file.findings.empty()) out << csv_line({c.name, "ok", "", "", ""});
    for (const Finding& f : c.file.findings) {
      out << csv_line({c.name, to_text(f.severity), f.place, f.problem, f.mend});
    }
  }
}

}  // namespace

Exit check_machines(const Names& names, const Options& options, Context& context) {
  const Format form = format(options);
  std::vector<Checked> all;
  for (const std::string& name : names) {
    all.push_back({name, inspect_named(name, options, context)});
  }
  form == Format::json  ? print_json(all, context.out)
  : form == Format::csv ? print_csv(all, context.out)
                        : print_table(all, context.out);
  const bool ok = std::all_of(all.begin(), all.end(), [](const Checked& c) { return c.file.ok(); });
  return ok ? Exit::done : Exit::input;
}

}  // namespace tcsim::cli
