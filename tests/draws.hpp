// How much of a long test is done with the address sanitizer. It looks for what a single case reads
// and writes out of place; that no case of many comes out wrong is tested in the builds without it.
#pragma once

namespace tcsim::test {

// One case of so many. A prime, so that cases which differ in a power of two are all among them.
#ifdef __SANITIZE_ADDRESS__
inline constexpr int one_of = 7;
#else
inline constexpr int one_of = 1;
#endif

// How often a test draws, or at least finds something, that does so `usual` times elsewhere.
constexpr int draws(int usual) { return usual / one_of; }

}  // namespace tcsim::test
