// Any bytes are a chain's points and a point's figures that encode to the same bytes, or BadBytes.
#include <cstdlib>

#include "sweep/encoding.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  try {
    if (encoded(decoded_chain(bytes)) != bytes) std::abort();
  } catch (const BadBytes&) {
  }
  try {
    if (encoded_figures(decoded_figures(bytes)) != bytes) std::abort();
  } catch (const BadBytes&) {
  }
}
