#include "core/workload/request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/suite.hpp"

namespace tcsim {

namespace {

// `what` says its sizes and layout itself.
void refuse_options(const WorkloadRequest& request, const char* what) {
  const char* option = !request.sizes.empty() ? "--size" : request.layout ? "--layout" : nullptr;
  if (option == nullptr) return;
  throw UsageError(option, fmt::format("'{}' is a {}, which says that itself", request.name, what),
                   "leave the option out, or give a label such as abcd-aebf-dfce");
}

// Convolutions are single precision unless it is said.
Contraction convolution(const WorkloadRequest& request) {
  const std::string& name = request.name;
  const bool statement = is_statement(name);
  if (request.sizes.empty()) {
    throw UsageError(name, "sizes are missing",
                     statement ? "add --size with every dimension, y=56,x=56,..."
                               : "add --size, such as k=64,c=64,y=56,x=56,r=3,s=3");
  }
  if (request.layout) {
    throw UsageError("--layout", fmt::format("'{}' says that itself", name),
                     statement ? "write the axes in another order"
                               : "leave the option out, or write layout=nhwc among the sizes");
  }
  const ElementType type = request.type.value_or(ElementType::f32);
  if (!statement) return contraction_of(parse_convolution(name, request.sizes, type));
  std::map<std::string, std::int64_t> extents;
  for (const auto& [dim, extent] : parse_sizes(request.sizes)) {
    extents.emplace(std::string(1, dim), extent);
  }
  try {
    return contraction_of(parse_statement(name, extents, type, ""));
  } catch (const InputError& e) {  // at ":line:column"
    const std::string column = e.place().substr(e.place().rfind(':') + 1);
    throw UsageError(fmt::format("\"{}\" column {}", name, column), e.problem(), e.mend());
  }
}

}  // namespace

bool is_statement(const std::string& text) {
  if (text.ends_with(".toml") || is_program_file(text)) return false;
  return text.find("+=") != std::string::npos || text.find('[') != std::string::npos;
}

bool is_label(const std::string& text) {
  if (is_program_file(text) || is_statement(text)) return false;
  const bool looks_so =
      text.find("->") != std::string::npos ||
      (text.find(".toml") == std::string::npos && text.find(':') == std::string::npos &&
       text.find('-') != std::string::npos);
  if (!looks_so) return false;
  // "mobilenet-v2" could be either; only then the folder of suites is read.
  const std::vector<std::string> suites = shipped_suites();
  return std::find(suites.begin(), suites.end(), text) == suites.end();
}

bool needs_sizes(const std::string& text) {
  return is_label(text) || is_statement(text) || is_convolution_name(text);
}

namespace {

bool is_by_itself(const std::string& name) {
  return is_statement(name) || is_convolution_name(name) || is_label(name) || is_program_file(name);
}

}  // namespace

std::optional<WorkloadRequest> whole_suite(const WorkloadRequest& request) {
  if (is_by_itself(request.name)) return {};
  WorkloadRequest all = request;
  all.name = request.name.substr(0, request.name.find(':'));
  return all;
}

std::vector<Contraction> find_workloads(const WorkloadRequest& request) {
  if (!request.image_layout.empty() && is_by_itself(request.name)) {
    throw UsageError("--image-layout", fmt::format("'{}' is no suite", request.name),
                     "leave the option out, or write layout=nhwc among a convolution's sizes");
  }
  const std::string& name = request.name;
  if (is_statement(name) || is_convolution_name(name)) return {convolution(request)};
  if (is_label(name)) {
    if (request.sizes.empty()) {
      throw UsageError(name, "sizes are missing", "add --size with every index, a=72,b=72,...");
    }
    return {parse_contraction(name, parse_sizes(request.sizes),
                              request.layout.value_or(Layout::row_major),
                              request.type.value_or(ElementType::f64))};
  }
  if (is_program_file(name)) {
    refuse_options(request, "program");
    const Program program = load_program(name);
    return {contraction_of(request.type ? with_type(program, *request.type) : program)};
  }
  const auto colon = name.find(':');
  const std::filesystem::path file = find_suite_file(name.substr(0, colon));
  refuse_options(request, "suite");
  const bool one = colon != std::string::npos;
  const std::string number = one ? name.substr(colon + 1) : "";
  const bool digits = number.find_first_not_of("0123456789") == std::string::npos;
  const std::size_t n = digits && number.size() < 6 && !number.empty() ? std::stoul(number) : 0;
  const Suite suite = load_suite(
      file, {.type = request.type, .image_layout = request.image_layout, .image_layout_of = n});
  const auto is_convolution = [](const auto& shape) { return shape.has_value(); };
  if (!request.image_layout.empty() && std::ranges::none_of(suite.shapes, is_convolution)) {
    throw UsageError("--image-layout", fmt::format("suite {} has no convolutions", suite.name),
                     "leave the option out");
  }
  if (!one) return suite.workloads;
  if (n < 1 || n > suite.workloads.size()) {
    throw UsageError(name, fmt::format("suite {} has no workload '{}'", suite.name, number),
                     fmt::format("use {0}:1 to {0}:{1}", suite.name, suite.workloads.size()));
  }
  return {suite.workloads[n - 1]};
}

Contraction find_workload(const WorkloadRequest& request) {
  std::vector<Contraction> all = find_workloads(request);
  if (all.size() == 1) return std::move(all.front());
  throw UsageError(request.name, fmt::format("these are {} workloads", all.size()),
                   fmt::format("say which, such as {}:1", request.name));
}

}  // namespace tcsim
