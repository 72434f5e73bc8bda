#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/machine/actions.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
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

}  // namespace

Exit import_machines(const Names& names, const Options& options, Context& context) {
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
  if (context.quiet) return Exit::done;
  const auto list = [&](const char* what, const std::vector<std::string>& items) {
    if (!items.empty()) {
      context.err << fmt::format("{}:\n  {}\n", what, fmt::join(items, "\n  "));
    }
  };
  list("notes", imported.notes);
  list("assumed, since the file does not say (--base MACHINE gives it)", imported.assumed);
  list("not read", imported.ignored);
  return Exit::done;
}

}  // namespace tcsim::cli
