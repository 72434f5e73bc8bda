#include "core/workload/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/text/name.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/suite_section.hpp"

namespace tcsim {

namespace {

// Runs a parser of a text that stands at `place` in the file.
template <class F>
auto at_place(const std::string& place, F&& parser) {
  try {
    return parser();
  } catch (const UnsupportedError& e) {
    throw UnsupportedError(place, e.what(), "");
  } catch (const Error& e) {
    throw InputError(place, e.what(), "");
  }
}

// What a table says, that of a workload or the file's; empty where it does not.
std::optional<Layout> layout_of(const Section& section) {
  if (section.find("layout") == nullptr) return {};
  return std::array{Layout::row_major,
                    Layout::column_major}[section.choice("layout", {"row-major", "column-major"})];
}
std::optional<ElementType> type_of(const Section& section) {
  if (section.find("type") == nullptr) return {};
  return std::array{ElementType::f64, ElementType::f32}[section.choice("type", {"f64", "f32"})];
}

std::string kind_of(const Section& workload) {
  const std::string kind = workload.text("kind", "");
  if (workload.find("kind") == nullptr) return kind;
  require_name(kind, workload.place("kind"), "'kind'");
  if (kind.empty() || kind.find(',') != std::string::npos) {
    throw InputError(workload.place("kind"), fmt::format("'kind' is \"{}\"", kind),
                     "give a word without ',', which lists of kinds have between them");
  }
  return kind;
}

// `shape` is set where it is a convolution.
Contraction labelled(const Section& workload, Layout layout, ElementType type,
                     const std::string& image_layout, std::optional<ConvolutionShape>& shape) {
  const std::string sizes_text = workload.text("sizes");
  const std::string label = workload.text("label");
  if (is_convolution_name(label)) {
    if (workload.find("layout") != nullptr) {
      throw InputError(workload.place("layout"), "'layout' of a convolution",
                       "take it out; --image-layout says how its tensors lie");
    }
    return at_place(workload.place("sizes"), [&] {
      shape = convolution_shape(label, sizes_text);
      return contraction_of(parse_convolution(label, sizes_text, type, image_layout));
    });
  }
  const Sizes sizes = at_place(workload.place("sizes"), [&] { return parse_sizes(sizes_text); });
  return at_place(workload.place("label"),
                  [&] { return parse_contraction(label, sizes, layout, type); });
}

Contraction programmed(const Section& workload, std::optional<ElementType> type) {
  for (const char* key : {"label", "sizes", "layout", "type"}) {
    if (workload.find(key) == nullptr) continue;
    throw InputError(workload.place(key), fmt::format("'{}' beside a program", key),
                     "take it out, or the program");
  }
  const std::string text = workload.text("program");
  return at_place(workload.place("program"), [&] {
    const Program program = parse_program(text, "program");
    return contraction_of(type ? with_type(program, *type) : program);
  });
}

}  // namespace

Suite parse_suite(std::string_view toml, const std::string& place,
                  const SuiteOverrides& overrides) {
  const toml::table table = parse_toml(toml, place);
  const Section top(table, place, {"schema", "name", "source", "layout", "type", "workload"});
  check_suite_schema(top);
  Suite suite{suite_name(top), top.text("source", ""), {}};
  const Layout file_layout = layout_of(top).value_or(Layout::row_major);
  const ElementType file_type = type_of(top).value_or(ElementType::f64);

  const toml::node* workloads = top.find("workload");
  if (!workloads || !workloads->is_array_of_tables()) {
    throw InputError(top.place("workload"), "no [[workload]]",
                     "add at least one, with label and sizes");
  }
  for (const toml::node& node : *workloads->as_array()) {
    const Section workload(*node.as_table(), place,
                           {"label", "sizes", "layout", "type", "program", "kind"});
    std::optional<ConvolutionShape> shape;
    const std::size_t of = overrides.image_layout_of;
    const bool as_asked = of == 0 || of == suite.workloads.size() + 1;
    const Contraction contraction = [&] {
      if (workload.find("program") != nullptr) return programmed(workload, overrides.type);
      const ElementType type = type_of(workload).value_or(file_type);
      return labelled(workload, layout_of(workload).value_or(file_layout),
                      overrides.type.value_or(type), as_asked ? overrides.image_layout : "", shape);
    }();
    suite.kinds.push_back(kind_of(workload));
    suite.shapes.push_back(std::move(shape));
    suite.workloads.push_back(
        contraction.renamed(fmt::format("{}:{}", suite.name, suite.workloads.size() + 1)));
  }
  return suite;
}

Suite load_suite(const std::filesystem::path& file, const SuiteOverrides& overrides) {
  return parse_suite(read_file(file, "name a file that is there and readable"), file.string(),
                     overrides);
}

Suite find_suite(const std::string& name_or_file, const SuiteOverrides& overrides) {
  return load_suite(find_suite_file(name_or_file), overrides);
}

}  // namespace tcsim
