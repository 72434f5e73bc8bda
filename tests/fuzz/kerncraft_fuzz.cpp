#include "tests/fuzz/import_fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  tcsim::fuzz_import(tcsim::ImportFormat::kerncraft, bytes, tcsim::export_kerncraft);
}
