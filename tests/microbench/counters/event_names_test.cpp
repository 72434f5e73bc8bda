// PAPI's library of event names covers processors that are not here: LIBPFM_FORCE_PMU makes it take
// this machine for one of another family, and it then says whether a name exists there. It reads
// that once, so each family is looked at in a process of its own.
#include <gtest/gtest.h>
#include <papi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "microbench/counters/events.hpp"

namespace tcsim {
namespace {

bool known(const EventSum& sum) {
  for (const std::string& event : sum) {
    int code = 0;
    if (PAPI_event_name_to_code(event.c_str(), &code) != PAPI_OK) return false;
  }
  return true;
}

bool any_known(const std::vector<EventSum>& sums) {
  return std::any_of(sums.begin(), sums.end(), known);
}

// Directions of links of `file` that a processor of this family has events for.
int figures_on(const char* family, const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("LIBPFM_FORCE_PMU", family, 1);
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) _exit(99);
    int figures = 0;
    for (const EventFile& f : shipped_events()) {
      if (f.name != file) continue;
      for (const LinkEvents& l : f.links) figures += any_known(l.in) + any_known(l.out);
    }
    _exit(figures);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(EventNames, Each_family_has_the_events_that_the_files_say) {
  // Three links in, and out where the family has events of write-backs (data/counters/*.toml says
  // which).
  const struct {
    const char* family;
    const char* file;
    int figures;
  } cases[] = {
      {"hsw_ep", "papi-intel", 5},
      {"bdw_ep", "papi-intel", 5},
      {"skl", "papi-intel", 4},
      {"skx", "papi-intel", 4},
      {"clx", "papi-intel", 4},
      {"icx", "papi-intel", 4},
      {"spr", "papi-intel", 3},
      {"amd64_fam19h_zen3", "papi-amd", 2},
      {"amd64_fam19h_zen4", "papi-amd", 2},
      {"skx", "papi-amd", 0},
      {"amd64_fam19h_zen4", "papi-intel", 0},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(figures_on(c.family, c.file), c.figures) << c.file << " on " << c.family;
  }
}

}  // namespace
}  // namespace tcsim
