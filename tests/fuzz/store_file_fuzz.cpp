// Any bytes as a store's file are refused, or are points that read back: never a crash, and nothing
// beyond what a store may take.
#include <filesystem>
#include <new>

#include "core/error.hpp"
#include "core/study/study.hpp"
#include "sweep/store.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/scratch.hpp"

namespace {

namespace fs = std::filesystem;

const tcsim::Study& study() {
  static const tcsim::Study s = tcsim::parse_study(
      "schema = 1\nname = \"x\"\nmachines = [\"i7-6700k\"]\ncompute = \"predict\"\n"
      "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=8,j=8,k=8\"\n"
      "[[knob]]\nname = \"L3.capacity\"\nvalues = [\"4MiB\", \"8MiB\"]\n",
      "study.toml", tcsim::shipped_sources("study.toml"));
  return s;
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  static const fs::path path = tcsim::test::scratch("store_fuzz");
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    tcsim::Store store(path, {{"name", "x"}});
    store.done(tcsim::Chains(study()));
    store.for_each([](tcsim::PointResult&&) {});
  } catch (const tcsim::Error&) {
  } catch (const std::bad_alloc&) {
    // A damaged file may ask SQLite for more memory than it gives: the program says so and ends.
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path.string() + suffix);
}
