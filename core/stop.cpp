#include "core/stop.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tcsim {

namespace {

thread_local const StopScope* innermost = nullptr;

}  // namespace

StopScope::StopScope(std::stop_token stop)
    : stop_(std::move(stop)), outer_(std::exchange(innermost, this)) {}

StopScope::~StopScope() { innermost = outer_; }

void StopScope::heed() {
  if (innermost != nullptr && innermost->stop_.stop_requested()) throw Interrupted();
}

std::vector<std::int64_t> filled(std::int64_t count, std::int64_t value) {
  StopCheck check;
  std::vector<std::int64_t> all;
  all.reserve(static_cast<std::size_t>(count));
  while (std::ssize(all) < count) {
    const std::int64_t some = std::min(count - std::ssize(all), check.most());
    all.resize(all.size() + static_cast<std::size_t>(some), value);
    check(some);
  }
  return all;
}

}  // namespace tcsim
