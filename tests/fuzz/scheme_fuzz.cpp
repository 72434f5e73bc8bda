// Any bytes parse as a scheme whose schedule can be checked and printed, or are reported as an
// InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/schedule/scheme.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  static const tcsim::Contraction contraction = tcsim::contraction_of(tcsim::parse_convolution(
      "conv2d", "k=64,c=16,y=8,x=34,r=3,s=3,layout=nhwc", tcsim::ElementType::f32));
  try {
    const tcsim::Schedule schedule = tcsim::parse_scheme(bytes, contraction, 16, "fuzz");
    if (!tcsim::is_legal(schedule, contraction)) return;
    const auto scheme = tcsim::to_scheme(schedule, contraction, 16);
    if (!scheme) return;
    const tcsim::Schedule again = tcsim::parse_scheme(*scheme, contraction, 16, "again");
    if (tcsim::to_scheme(again, contraction, 16) != scheme) std::abort();
  } catch (const tcsim::InputError&) {
  } catch (const tcsim::UnsupportedError&) {
  }
}
