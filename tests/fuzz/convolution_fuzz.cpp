// Any bytes, a name or a statement and sizes on the next line, parse as a program whose text reads
// back and which is a contraction or is not yet done; or they are reported as an error.
#include <cstdlib>

#include "core/error.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace tcsim;

Program parse(std::string_view name, std::string_view sizes) {
  if (is_convolution_name(name)) return parse_convolution(name, sizes, ElementType::f32);
  std::map<std::string, std::int64_t> extents;
  for (const auto& [dim, extent] : parse_sizes(sizes)) extents.emplace(std::string(1, dim), extent);
  return parse_statement(name, extents, ElementType::f64, "fuzz");
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  try {
    const Program program =
        parse(bytes.substr(0, end), bytes.substr(std::min(end + 1, bytes.size())));
    if (parse_program(to_text(program), "text") != program) std::abort();
    const Contraction c = contraction_of(program);
    if (contraction_of(program_of(c)).label() != c.label()) std::abort();
    if (!(c.used(TensorId::A) <= static_cast<double>(c.size(TensorId::A).value()))) std::abort();
  } catch (const UsageError&) {
  } catch (const InputError&) {
  } catch (const UnsupportedError&) {
  }
}
