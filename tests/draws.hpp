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

// How often a test draws that does so `usual` times elsewhere.
constexpr int draws(int usual) { return usual / one_of; }

// How many of its draws are at least of the kind that a test is about. Nothing is asked of a few
// draws: what many never miss, some of them would. Zero is enough then, so ask with EXPECT_GE.
constexpr int found(int usual) { return one_of == 1 ? usual : 0; }

}  // namespace tcsim::test
