// Any bytes are a file of CLBlast's sizes on devices that round-trips, or are reported as an
// InputError.
#include <cstdlib>

#include "chains/levels/device_sizes.hpp"
#include "core/error.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  try {
    const std::vector<chains::TunedDevice> all = chains::parse_devices(bytes, "fuzz");
    if (chains::parse_devices(chains::to_toml(all), "text") != all) std::abort();
  } catch (const InputError&) {
  }
}
