// Any bytes are a suite of workloads, or are reported as an InputError, or as an UnsupportedError
// where one is a program that is no contraction.
#include "core/error.hpp"
#include "core/workload/suite.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  try {
    tcsim::parse_suite(bytes, "fuzz");
  } catch (const tcsim::InputError&) {
  } catch (const tcsim::UnsupportedError&) {
  }
}
