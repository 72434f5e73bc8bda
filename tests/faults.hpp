// Page faults that a program takes for each page that it touches first.
#pragma once

namespace tcsim::test {

#ifdef __SANITIZE_THREAD__
inline constexpr double faults_a_page = 5;  // at most: the sanitizer's shadow memory has faults too
#else
inline constexpr double faults_a_page = 1;
#endif

}  // namespace tcsim::test
