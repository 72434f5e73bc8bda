#include "core/plan/offsets.hpp"

#include <limits>

#include "core/stop.hpp"

namespace tcsim {

namespace {

// Places of a group that have an entry each: 8 KiB. Source: chosen.
constexpr std::int64_t short_group = 1024;

// Digits that go on as one, in one; those of one place left out.
std::vector<Digit> joined(std::span<const Digit> digits) {
  std::vector<Digit> all;
  for (const Digit& d : digits) {
    if (d.extent == 1) continue;
    if (!all.empty() && d.stride == all.back().extent * all.back().stride) {
      all.back().extent *= d.extent;
    } else {
      all.push_back(d);
    }
  }
  return all;
}

std::int64_t product(std::span<const Digit> digits) {
  std::int64_t places = 1;
  for (const Digit& d : digits) places *= d.extent;
  return places;
}

// Runs of a table by itself.
std::vector<std::int64_t> runs_in(std::span<const std::int64_t> table, bool even) {
  std::vector<std::int64_t> runs = filled(std::ssize(table), 1);
  StopCheck stop;
  const auto step = [&](std::size_t i) { return table[i + 1] - table[i]; };
  for (std::size_t i = table.size() - 1; i-- > 0;) {
    stop();
    if (!even) {
      if (step(i) == 1) runs[i] = runs[i + 1] + 1;
    } else {
      const bool more = i + 2 < table.size() && step(i) == step(i + 1);
      runs[i] = more ? runs[i + 1] + 1 : 2;
    }
  }
  return runs;
}

}  // namespace

std::vector<std::int64_t> table_of(std::span<const Digit> digits) {
  StopCheck stop;
  std::vector<std::int64_t> table;
  table.reserve(static_cast<std::size_t>(product(digits)));
  table.push_back(0);
  for (const Digit& d : digits) {
    const std::size_t inner = table.size();
    for (std::int64_t i = 1; i < d.extent; ++i) {
      for (std::size_t j = 0; j < inner; ++j) {
        table.push_back(table[j] + i * d.stride);
        stop();
      }
    }
  }
  return table;
}

Divider::Divider(std::int64_t divisor, std::int64_t end) : divisor_(divisor) {
  if (end <= divisor) return;
  inverse_ = std::numeric_limits<std::uint64_t>::max() / static_cast<std::uint64_t>(divisor) + 1;
}

Offsets::Offsets(std::span<const Digit> digits) : digits_(joined(digits)), size_(product(digits)) {
  is_short_ = size_ <= short_group;
  if (is_short_) {
    low_ = table_of(digits_);
    return;
  }
  const std::span<const Digit> all = digits_;
  // Cut where the tables are shortest. A side of one digit has none.
  const auto entries = [](std::span<const Digit> side) {
    return side.size() > 1 ? product(side) : 0;
  };
  std::size_t low = 1;
  for (std::size_t count = 2; count <= all.size(); ++count) {
    const auto in_all = [&](std::size_t cut) {
      return entries(all.first(cut)) + entries(all.subspan(cut));
    };
    if (in_all(count) < in_all(low)) low = count;
  }
  low_digits_ = Divider(product(all.first(low)), size_);
  step_ = all.front().stride;
  high_step_ = all.back().stride;
  if (low > 1) low_ = table_of(all.first(low));
  if (all.size() - low > 1) high_ = table_of(all.subspan(low));
}

Runs Runs::of(const Offsets& offsets, bool even) {
  Runs runs;
  runs.size_ = offsets.size();
  if (const std::int64_t* table = offsets.table()) {
    runs.is_short_ = true;
    runs.within_ = runs_in({table, static_cast<std::size_t>(runs.size_)}, even);
    runs.longest_ = *std::ranges::max_element(runs.within_);
    return runs;
  }
  runs.even_ = even;
  const std::span<const Digit> digits = offsets.digits();
  if (digits.empty()) {  // of a group that the tensor lacks
    runs.one_ = true;
    return runs;
  }
  // The place behind the last one of some digits belongs to that one's run if it is as far away as
  // places of a run are. Behind the last digit for which that is so, runs repeat.
  const std::int64_t step = even ? digits.front().stride : 1;
  std::size_t count = 1;
  std::int64_t last = (digits.front().extent - 1) * digits.front().stride;
  for (std::size_t d = 1; d < digits.size(); ++d) {
    if (digits[d].stride - last == step) count = d + 1;
    last += (digits[d].extent - 1) * digits[d].stride;
  }
  runs.period_ = Divider(product(digits.first(count)), runs.size_);
  if (count > 1) {
    runs.within_ = runs_in(table_of(digits.first(count)), even);
    runs.longest_ = *std::ranges::max_element(runs.within_);
  } else if (even || step == digits.front().stride) {
    runs.longest_ = runs.period_.divisor();
  } else {
    runs.one_ = true;
  }
  return runs;
}

Runs Runs::of_neighbours(const Offsets& offsets) { return of(offsets, false); }
Runs Runs::of_even(const Offsets& offsets) { return of(offsets, true); }

Runs Runs::of_all(std::int64_t count) {
  Runs runs;
  runs.size_ = runs.longest_ = count;
  runs.period_ = Divider(count, count);
  return runs;
}

}  // namespace tcsim
