// Where the places of a group lie in a tensor, in little memory. The group's dimensions count as
// the digits of a number, the first one fastest, and each has a distance from one place to the next
// (its stride). An offset is a sum over digits, so it is looked up as the sum of two: of the first
// digits, and of the others; one digit by itself is a multiple and has no table. A group of 40 * 40
// * 40 * 40 places has some 3000 entries in place of 2.5 million, which stay in a first cache while
// the tensor itself streams by. A short group has an entry for each place all the same, since to
// look up one is quicker.
//
// What loops ask besides is how far places go on in the same way (Runs). That follows from the
// first digits too, unless the last place that they number happens to be followed by the first one
// of the next number in just that way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tcsim {

// A dimension of a group: how many places it has, and how many elements lie from one to the next.
struct Digit {
  std::int64_t extent, stride;
};

// Takes numbers apart: place = quotient * divisor + remainder.
class Divider {
 public:
  Divider() = default;
  // For places below `end`, at most 2^32. The divisor is at least 2, or no less than `end`.
  Divider(std::int64_t divisor, std::int64_t end);

  std::int64_t divisor() const { return divisor_; }
  std::int64_t quotient(std::int64_t place) const {
    // Exact for numbers of 32 bits (Lemire et al., "Faster remainder by direct computation", 2019).
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>(Wide{inverse_} * static_cast<std::uint64_t>(place) >> 64);
  }
  std::int64_t remainder(std::int64_t place) const { return place - quotient(place) * divisor_; }

 private:
  std::int64_t divisor_ = 1;
  std::uint64_t inverse_ = 0;  // 2^64 / divisor, rounded up; 0 where every quotient is 0
};

class Offsets {
 public:
  // Of a group that the tensor lacks: every place is at offset 0.
  Offsets() = default;
  // Of as many places as the product of the extents says, at most 2^30; extents are 1 or more.
  explicit Offsets(std::span<const Digit> digits);

  std::int64_t size() const { return size_; }
  std::int64_t operator[](std::int64_t place) const {
    return is_short_ ? low_[static_cast<std::size_t>(place)] : sum(place);
  }
  // The digits without those of one place, and those in one that go on as one: (4, 1) and (6, 4)
  // are (24, 1).
  const std::vector<Digit>& digits() const { return digits_; }
  // An entry for each place, where the group is short; else null.
  const std::int64_t* table() const { return is_short_ ? low_.data() : nullptr; }
  // Entries of its tables.
  std::int64_t entries() const { return std::ssize(low_) + std::ssize(high_); }

 private:
  std::int64_t sum(std::int64_t place) const {
    const std::int64_t quotient = low_digits_.quotient(place);
    const std::int64_t low = place - quotient * low_digits_.divisor();
    return (low_.empty() ? low * step_ : low_[static_cast<std::size_t>(low)]) +
           (high_.empty() ? quotient * high_step_ : high_[static_cast<std::size_t>(quotient)]);
  }

  std::vector<Digit> digits_;
  std::int64_t size_ = 1, step_ = 0, high_step_ = 0;
  bool is_short_ = false;
  Divider low_digits_;
  std::vector<std::int64_t> low_;   // none: they are `step_` apart
  std::vector<std::int64_t> high_;  // none: `high_step_`
};

// The offset of each place, one after another. Throws Interrupted.
std::vector<std::int64_t> table_of(std::span<const Digit> digits);

// From each place on, how many go on in the same way, that one counted.
class Runs {
 public:
  // All of no places.
  Runs() = default;
  // Neighbours in the tensor.
  static Runs of_neighbours(const Offsets& offsets);
  // Places of which each has the same distance to the next, the last two of them as well: 2 where
  // a distance is followed by another, and 1 at the last place of all.
  static Runs of_even(const Offsets& offsets);
  // All of so many places, as in a copy.
  static Runs of_all(std::int64_t count);

  std::int64_t operator[](std::int64_t place) const {
    return is_short_ ? within_[static_cast<std::size_t>(place)] : computed(place);
  }
  // The longest run there is.
  std::int64_t longest() const { return longest_; }
  std::int64_t entries() const { return std::ssize(within_); }

 private:
  std::int64_t computed(std::int64_t place) const {
    if (one_) return 1;
    const std::int64_t low = period_.remainder(place);
    if (even_ && low + 1 == period_.divisor()) return place + 1 < size_ ? 2 : 1;
    return within_.empty() ? period_.divisor() - low : within_[static_cast<std::size_t>(low)];
  }
  static Runs of(const Offsets& offsets, bool even);

  std::int64_t size_ = 0, longest_ = 1;
  bool is_short_ = false;
  bool one_ = false;   // all runs are 1
  bool even_ = false;  // the last of a period and the first of the next make a run of 2
  Divider period_;
  std::vector<std::int64_t> within_;  // none: to the end of the period
};

}  // namespace tcsim
