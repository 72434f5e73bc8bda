// Any bytes are a trace, compressed or not, or are reported as an InputError; the same one whether
// records are read one by one or in batches.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "sim/trace/feed.hpp"
#include "sim/trace/trace.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace tcsim::sim;

std::string one_by_one(std::string_view bytes, std::optional<TraceFormat> format,
                       std::int64_t& count) {
  try {
    const auto reader = read_trace(bytes_of(bytes, "fuzz"), "fuzz", format);
    for (TraceRecord r; reader->next(r);) ++count;
  } catch (const tcsim::InputError& e) {
    return e.what();
  }
  return "";
}

std::string in_batches(std::string_view bytes, std::optional<TraceFormat> format,
                       std::int64_t& count) {
  // A run of 2^63 accesses comes in too many pieces.
  constexpr int most_batches = 100;
  try {
    std::vector<std::unique_ptr<TraceReader>> one;
    one.push_back(read_trace(bytes_of(bytes, "fuzz"), "fuzz", format));
    TraceMerger merger(one, 1);
    TraceBatch batch;
    for (int i = 0; i < most_batches; ++i) {
      if (!merger.next(batch)) {
        count = merger.records();
        return "";
      }
    }
    count = -1;
  } catch (const tcsim::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  using enum TraceFormat;
  for (const std::optional<TraceFormat> format : {std::optional<TraceFormat>(), std::optional(din),
                                                  std::optional(lackey), std::optional(binary)}) {
    std::int64_t records = 0, batched = 0;
    const std::string error = one_by_one(bytes, format, records);
    const std::string same = in_batches(bytes, format, batched);
    // Batches look ahead, so of two faults they may name the other one.
    const bool agree = error.empty() == same.empty() && (!error.empty() || records == batched);
    if (batched >= 0 && !agree) std::abort();
  }
}
