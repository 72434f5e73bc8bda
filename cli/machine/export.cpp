#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/machine/actions.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/optimize/blis.hpp"
#include "core/optimize/tiling.hpp"
#include "core/text/safe.hpp"
#include "exchange/exchange.hpp"

namespace tcsim::cli {

namespace {

// "8x6", or what the optimizer would take for this machine.
Kernel asked_kernel(const Options& options, const Machine& machine, ElementType type) {
  if (options.count("kernel") == 0) return kernel_choices(machine.core, type).front();
  const auto text = options["kernel"].as<std::string>();
  const auto refuse = [&] {
    throw UsageError("--kernel", fmt::format("'{}' is no microkernel", text),
                     "write rows and columns from 1 to 1024, such as 8x6");
  };
  const auto read = [&](std::string_view digits) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc() || end != digits.data() + digits.size() || n < 1 || n > 1024) refuse();
    return Elements(n);
  };
  const auto x = text.find('x');
  if (x == text.npos) refuse();
  return {read(std::string_view(text).substr(0, x)), read(std::string_view(text).substr(x + 1))};
}

Exported export_blis(const Machine& machine, const Options& options) {
  const ElementType type =
      options["type"].as<std::string>() == "f32" ? ElementType::f32 : ElementType::f64;
  const Kernel kernel = asked_kernel(options, machine, type);
  return {to_blis(blis_blocks(machine, kernel, type), type, machine.name),
          {"all but the caches' sizes and ways"}};
}

}  // namespace

Exit export_machines(const Names& names, const Options& options, Context& context) {
  want(names, 1, "export");
  const Format form = format(options);
  if (options.count("to") == 0) {
    throw UsageError("machine export", "--to is missing",
                     "say --to kerncraft, pycachesim, dinero, gem5, champsim, timeloop or blis");
  }
  const auto to = options["to"].as<std::string>();
  const Machine machine = named_machine(names[0], options, context);
  const Exported out = to == "kerncraft"    ? export_kerncraft(machine)
                       : to == "pycachesim" ? export_pycachesim(machine)
                       : to == "dinero"     ? export_dinero(machine)
                       : to == "gem5"       ? export_gem5(machine)
                       : to == "champsim"   ? export_champsim(machine)
                       : to == "timeloop"   ? export_timeloop(machine)
                                            : export_blis(machine, options);
  if (form == Format::json) {
    const nlohmann::ordered_json j{
        {"schema", 1},
        {"command", "machine export"},
        {"tcsim_version", version},
        {"machine", {{"name", machine.name}, {"hash", content_hash(machine)}}},
        {"format", to},
        {"text", out.text},
        {"lost", out.lost}};
    context.out << json_text(j) << "\n";
    return Exit::done;
  }
  if (form == Format::csv) {
    context.out << csv_line({"what", "text"}) << csv_line({to, out.text});
    for (const std::string& lost : out.lost) context.out << csv_line({"lost", lost});
    return Exit::done;
  }
  context.out << out.text;
  if (!context.quiet && !out.lost.empty()) {
    context.err << fmt::format("not in {}:\n  {}\n", to, fmt::join(out.lost, "\n  "));
  }
  return Exit::done;
}

}  // namespace tcsim::cli
