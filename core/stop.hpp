// Long work that was asked to stop, however deep it is: the tables, arrays and checks of a large
// contraction take seconds each and are made by code that has no other reason to know of a stop.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/error.hpp"

namespace tcsim {

// While it lives, work of this thread heeds the token. Scopes nest; the innermost one counts.
class StopScope {
 public:
  explicit StopScope(std::stop_token stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  // Throws Interrupted if this thread was asked to stop.
  static void heed();

 private:
  std::stop_token stop_;
  const StopScope* outer_;
};

// Heeds it every so many steps, by default after some milliseconds of touching new memory.
class StopCheck {
 public:
  explicit StopCheck(std::int64_t every = std::int64_t{1} << 20) : every_(every), left_(every) {}

  // After so many steps. Throws Interrupted.
  void operator()(std::int64_t steps = 1) {
    if ((left_ -= steps) > 0) return;
    left_ = every_;
    StopScope::heed();
  }
  // Steps to the next look.
  std::int64_t most() const { return left_; }

 private:
  std::int64_t every_, left_;
};

// `count` times the value, for tables of up to 2^30 entries. Throws Interrupted.
std::vector<std::int64_t> filled(std::int64_t count, std::int64_t value);

}  // namespace tcsim
