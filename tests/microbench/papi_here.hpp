// Where PAPI gives up its component for the kernel's counters (it does not know the processor, or
// may not ask), there is nothing to count.
#pragma once

#include <papi.h>

namespace tcsim::test {

inline bool papi_counts_here() {
  if (PAPI_is_initialized() == 0) PAPI_library_init(PAPI_VER_CURRENT);
  const PAPI_component_info_t* info =
      PAPI_get_component_info(PAPI_get_component_index("perf_event"));
  return info != nullptr && info->disabled == 0;
}

}  // namespace tcsim::test
