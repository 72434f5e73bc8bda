#include "sim/lru_store.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/plan/walk.hpp"
#include "core/stop.hpp"
#include "sim/hierarchy.hpp"
#include "sim/plan_visitor.hpp"

namespace tcsim {

namespace {

// A sink of sim/plan_visitor.hpp. Elements that are held form a ring through `end_`, the one that
// was used last behind it and the one that goes first before it.
class LruStore {
 public:
  LruStore(std::uint64_t element, std::uint32_t elements, std::int64_t capacity)
      : element_(element), end_(elements), room_(capacity), state_(elements, absent) {
    before_.assign(std::size_t{elements} + 1, end_);
    behind_.assign(std::size_t{elements} + 1, end_);
  }

  void enter(Phase) {}
  void begin_row() {}
  template <bool write>
  void touch(ArrayId, std::uint64_t address, std::int64_t bytes) {
    const auto first = static_cast<std::uint32_t>(address / element_);
    const auto count = static_cast<std::uint32_t>(static_cast<std::uint64_t>(bytes) / element_);
    for (std::uint32_t e = first; e < first + count; ++e) use(e, write);
    stop_(count);
  }
  void read(const sim::TwoStreams& s) {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(s.steps); ++i) {
      touch<false>(s.left_array, s.left + i * s.left_bytes, s.left_bytes);
      touch<false>(s.right_array, s.right + i * s.right_bytes, s.right_bytes);
    }
  }

  StoreCounts counts() const {
    std::int64_t dirty = 0;
    for (State s : state_) dirty += s == changed ? 1 : 0;
    return {Elements(loads_), Elements(stores_ + dirty)};
  }

 private:
  enum State : std::uint8_t { absent, held, changed };

  void use(std::uint32_t e, bool write) {
    if (state_[e] == absent) {
      ++loads_;
      if (room_ > 0) {
        --room_;
      } else {
        leave(before_[end_]);
      }
      state_[e] = held;
    } else {
      unlink(e);
    }
    if (write) state_[e] = changed;
    before_[e] = end_;
    behind_[e] = behind_[end_];
    before_[behind_[end_]] = e;
    behind_[end_] = e;
  }
  void leave(std::uint32_t e) {
    if (state_[e] == changed) ++stores_;
    state_[e] = absent;
    unlink(e);
  }
  void unlink(std::uint32_t e) {
    behind_[before_[e]] = behind_[e];
    before_[behind_[e]] = before_[e];
  }

  std::uint64_t element_;
  std::uint32_t end_;
  std::int64_t room_;
  std::vector<State> state_;
  std::vector<std::uint32_t> before_, behind_;
  std::int64_t loads_ = 0, stores_ = 0;
  StopCheck stop_;
};

}  // namespace

StoreCounts run_in_lru_store(const Plan& plan, Elements capacity) {
  const std::int64_t elements = plan.arena_size() / plan.element();
  if (elements >= std::numeric_limits<std::uint32_t>::max()) {
    throw UnsupportedError(plan.contraction().name(), "its arrays have 2^32 elements or more",
                           "simulate a smaller one");
  }
  LruStore store(static_cast<std::uint64_t>(plan.element().value()),
                 static_cast<std::uint32_t>(elements), capacity.value());
  sim::PlanVisitor<LruStore> visitor(plan, store);
  walk(plan, visitor);
  return store.counts();
}

}  // namespace tcsim
