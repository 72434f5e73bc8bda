// A fuzz target defines fuzz_one(). With clang's -fsanitize=fuzzer (and TCSIM_LIBFUZZER) libFuzzer
// drives it; otherwise main() replays the files that it is given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

void fuzz_one(std::string_view bytes);

#ifdef TCSIM_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  fuzz_one(bytes);
  return 0;
}
#else
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    fuzz_one(std::string(std::istreambuf_iterator<char>(in), {}));
  }
}
#endif
