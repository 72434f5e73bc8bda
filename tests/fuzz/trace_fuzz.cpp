// Any bytes are a trace, compressed or not, or are reported as an InputError.
#include "core/error.hpp"
#include "sim/trace/trace.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim::sim;
  using enum TraceFormat;
  for (const std::optional<TraceFormat> format : {std::optional<TraceFormat>(), std::optional(din),
                                                  std::optional(lackey), std::optional(binary)}) {
    try {
      const auto reader = read_trace(bytes_of(bytes, "fuzz"), "fuzz", format);
      for (TraceRecord r; reader->next(r);) {
      }
    } catch (const tcsim::InputError&) {
    }
  }
}
