#include "core/workload/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"
#include "core/text/name.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"

namespace tcsim {

namespace {

std::string place_of(const std::string& file, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", file, region.begin.line, region.begin.column);
}

// Not fmt::join: g++ 12 takes fmt 9's for a buffer overflow at -O3.
std::string joined(std::initializer_list<std::string_view> words, std::string_view separator) {
  std::string text;
  for (std::string_view word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// One TOML table whose keys are known; every error carries file, line and column.
class Section {
 public:
  Section(const toml::table& table, const std::string& file,
          std::initializer_list<std::string_view> keys)
      : table_(table), file_(file) {
    for (const auto& [key, value] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
        throw InputError(place_of(file_, key.source()), fmt::format("unknown key '{}'", key.str()),
                         "known here are " + joined(keys, ", "));
      }
    }
  }

  const toml::node* find(std::string_view key) const { return table_.get(key); }

  // Where a key's value stands, or the table if it has none.
  std::string place(std::string_view key) const {
    const toml::node* node = find(key);
    return place_of(file_, node ? node->source() : table_.source());
  }

  // The string at `key`; without a fallback the key is required.
  std::string text(std::string_view key, std::optional<std::string> fallback = {}) const {
    const toml::node* node = find(key);
    if (!node && fallback) return *fallback;
    if (!node) throw InputError(place(key), fmt::format("no '{}'", key), "add it");
    if (!node->is_string()) {
      throw InputError(place(key), fmt::format("'{}' is not a string", key), "put it in quotes");
    }
    return **node->as_string();
  }

  // The index of the string at `key` among `choices`; the first where there is no such key.
  std::size_t choice(std::string_view key, std::initializer_list<std::string_view> choices) const {
    const std::string value = text(key, std::string(*choices.begin()));
    const auto found = std::find(choices.begin(), choices.end(), value);
    if (found == choices.end()) {
      throw InputError(place(key), fmt::format("'{}' is \"{}\"", key, value),
                       "use " + joined(choices, " or "));
    }
    return static_cast<std::size_t>(found - choices.begin());
  }

 private:
  const toml::table& table_;
  const std::string& file_;
};

void check_schema(const Section& top) {
  const toml::node* schema = top.find("schema");
  if (!schema || !schema->is_integer() || **schema->as_integer() != 1) {
    throw InputError(top.place("schema"), "no 'schema' that this version of tcsim reads",
                     "write schema = 1");
  }
}

std::string suite_name(const Section& top) {
  const std::string name = top.text("name");
  require_name(name, top.place("name"), "'name'");
  if (name.empty() || name.find(':') != std::string::npos) {
    throw InputError(top.place("name"), fmt::format("'name' is \"{}\"", name),
                     "give a name without ':', which sets off a workload's number");
  }
  return name;
}

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

// `shape` is set where it is a convolution.
Contraction labelled(const Section& workload, Layout layout, ElementType type,
                     const std::string& image_layout, std::optional<ConvolutionShape>& shape) {
  const std::string sizes_text = workload.text("sizes");
  const std::string label = workload.text("label");
  if (is_convolution_name(label)) {
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
  for (const char* key : {"label", "sizes"}) {
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
  check_schema(top);
  Suite suite{suite_name(top), top.text("source", ""), {}, {}};
  const Layout layout = std::array{
      Layout::row_major, Layout::column_major}[top.choice("layout", {"row-major", "column-major"})];
  const ElementType file_type =
      std::array{ElementType::f64, ElementType::f32}[top.choice("type", {"f64", "f32"})];

  const toml::node* workloads = top.find("workload");
  if (!workloads || !workloads->is_array_of_tables()) {
    throw InputError(top.place("workload"), "no [[workload]]",
                     "add at least one, with label and sizes");
  }
  for (const toml::node& node : *workloads->as_array()) {
    const Section workload(*node.as_table(), place, {"label", "sizes", "program"});
    std::optional<ConvolutionShape> shape;
    const Contraction contraction =
        workload.find("program") != nullptr
            ? programmed(workload, overrides.type)
            : labelled(workload, layout, overrides.type.value_or(file_type), overrides.image_layout,
                       shape);
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
