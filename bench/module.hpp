// Shared objects of tcsim's own, one for each library that does not go into the program.
#pragma once

#include <string>

namespace tcsim::bench {

// The shared object that was built or installed with the running program, "tcsim_eigen_avx2", as
// dlopen() gives it; null where there is none or it cannot be loaded.
void* load_module(const std::string& name);

}  // namespace tcsim::bench
