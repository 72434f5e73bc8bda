#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/machine/actions.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/io/read_file.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "exchange/costs.hpp"
#include "exchange/exchange.hpp"

namespace tcsim::cli {

namespace {

std::optional<ImportFormat> asked_format(const Options& options) {
  if (options.count("from") == 0) return {};
  for (ImportFormat f : all_import_formats) {
    if (options["from"].as<std::string>() == to_text(f)) return f;
  }
  return {};  // the option's declaration knows the words
}

// What was printed is the file; how it came about goes beside it.
void say(const char* what, const std::vector<std::string>& items, Context& context) {
  if (items.empty() || context.quiet) return;
  context.err << fmt::format("{}:\n  {}\n", what, fmt::join(items, "\n  "));
}

// The files' texts where they are tables of Accelergy, or are said to be.
std::vector<CostTables> cost_tables(const Names& names, const Options& options) {
  const bool said = options.count("from") != 0 && options["from"].as<std::string>() == accelergy;
  std::vector<CostTables> tables;
  if (options.count("from") != 0 && !said) return tables;
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!said && std::filesystem::is_directory(name, ignored)) return {};
    tables.push_back({read_file(name, "give the path of a file"), name});
    if (!said && !is_accelergy(tables.back().text)) return {};
  }
  return tables;
}

Exit import_costs(const std::vector<CostTables>& tables, const Options& options, Context& context) {
  if (options.count("base") == 0) {
    throw UsageError("--base", "no machine is named, whose levels cost what the tables say",
                     "give one, such as --base zen5");
  }
  const Machine base = named_machine(options["base"].as<std::string>(), options, context);
  std::vector<CostComponent> components;
  if (options.count("component") != 0) {
    for (const std::string& text : options["component"].as<std::vector<std::string>>()) {
      components.push_back(parse_cost_component(text, "--component"));
    }
  }
  const std::string name = options.count("name") != 0
                               ? options["name"].as<std::string>()
                               : std::filesystem::path(tables.front().place).stem().string();
  const ImportedCosts imported = import_accelergy(tables, base, components, name);
  const Format form = format(options);
  if (form == Format::json) {
    const nlohmann::ordered_json j{
        {"schema", 1},          {"command", "machine import"}, {"tcsim_version", version},
        {"name", name},         {"ignored", imported.ignored}, {"notes", imported.notes},
        {"toml", imported.toml}};
    context.out << json_text(j) << "\n";
    return Exit::done;
  }
  if (form == Format::csv) {
    context.out << csv_line({"what", "text"});
    for (const std::string& text : imported.ignored) context.out << csv_line({"ignored", text});
    for (const std::string& text : imported.notes) context.out << csv_line({"note", text});
    return Exit::done;
  }
  context.out << imported.toml;
  say("notes", imported.notes, context);
  say("not read", imported.ignored, context);
  return Exit::done;
}

}  // namespace

Exit import_machines(const Names& names, const Options& options, Context& context) {
  if (const auto tables = cost_tables(names, options); !tables.empty()) {
    return import_costs(tables, options, context);
  }
  if (options.count("component") != 0) {
    throw UsageError("--component", "is for tables of energy and area", "leave it out");
  }
  want(names, 1, "import");
  const Format form = format(options);
  ImportOptions import;
  if (options.count("name") != 0) import.name = options["name"].as<std::string>();
  if (options.count("base") != 0) {
    import.base = named_machine(options["base"].as<std::string>(), options, context);
  }
  const Imported imported = import_machine_file(names[0], asked_format(options), import);
  if (form == Format::json) {
    const nlohmann::ordered_json j{{"schema", 1},
                                   {"command", "machine import"},
                                   {"tcsim_version", version},
                                   {"name", imported.machine.name},
                                   {"hash", content_hash(imported.machine)},
                                   {"assumed", imported.assumed},
                                   {"ignored", imported.ignored},
                                   {"notes", imported.notes},
                                   {"toml", to_toml(imported.machine)}};
    context.out << json_text(j) << "\n";
    return Exit::done;
  }
  if (form == Format::csv) {
    context.out << csv_line({"what", "text"});
    const auto rows = [&](const char* what, const std::vector<std::string>& list) {
      for (const std::string& text : list) context.out << csv_line({what, text});
    };
    rows("assumed", imported.assumed);
    rows("ignored", imported.ignored);
    rows("note", imported.notes);
    return Exit::done;
  }
  context.out << to_toml(imported.machine);
  say("notes", imported.notes, context);
  say("assumed, since the file does not say (--base MACHINE gives it)", imported.assumed, context);
  say("not read", imported.ignored, context);
  return Exit::done;
}

}  // namespace tcsim::cli
