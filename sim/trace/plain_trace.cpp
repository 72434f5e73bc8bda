#include "sim/trace/plain_trace.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/stop.hpp"
#include "sim/trace/lru_lines.hpp"
#include "sim/trace/numbered_lines.hpp"

namespace tcsim::sim {

namespace {

// The sum of (first + i * step) / 2^bits, rounded down, over 0 <= i < count, for small numbers.
std::uint64_t sum_of_quotients(std::uint64_t first, std::uint64_t step, std::uint64_t count,
                               int bits) {
  std::uint64_t sum = 0, divisor = std::uint64_t{1} << bits;
  while (count > 0) {
    sum += (first / divisor) * count + (step / divisor) * (count * (count - 1) / 2);
    first %= divisor;
    step %= divisor;
    // What is left counts points under a line; the same with the axes exchanged.
    const std::uint64_t top = step * count + first;
    if (top < divisor) break;
    count = top / divisor;
    first = top % divisor;
    std::swap(step, divisor);
  }
  return sum;
}

// Lines: LruLines or NumberedLines.
template <class Lines>
class PlainTraceOf final : public PlainTrace {
 public:
  template <class... More>
  explicit PlainTraceOf(const SystemConfig& config, const More&... more)
      : line_bits_(
            std::countr_zero(static_cast<std::uint64_t>(config.levels.front().line.value()))),
        lines_(config, more...) {
    const auto sets = static_cast<std::uint64_t>(config.levels.front().sets);
    latest_mask_ = (sets & (0 - sets)) - 1;
    latest_.assign(latest_mask_ + 1, ~std::uint64_t{0});
  }

  void run(const TraceBatch& batch, bool with_instructions) override {
    StopCheck check;
    auto run_of = batch.runs().begin();
    std::int64_t touches = 0;
    for (const TraceBatch::Access& a : batch.accesses()) {
      if (a.kind == AccessKind::instruction && !with_instructions) {
        run_of += a.is_run;
        continue;
      }
      if (a.is_run) [[unlikely]] {
        touches += run(a, *run_of);
        check(static_cast<std::int64_t>(run_of++->count));
      } else {
        touches += access(a.kind, a.address, a.bytes);
      }
    }
    touches_ += touches;
  }
  void finish(bool drain) override { lines_.finish(drain); }
  std::vector<LevelEvents> events() const override { return lines_.events(); }

 private:
  std::uint64_t line_of(std::uint64_t address) const { return address >> line_bits_; }

  void mark(std::uint64_t line, bool write) {
    std::uint64_t& latest = latest_[line & latest_mask_];
    const std::uint64_t wanted = line << 1 | 1;
    if ((latest | std::uint64_t{!write}) == wanted) return;
    latest = wanted - !write;
    lines_.touch(line, write);
  }
  void mark(std::uint64_t first, std::uint64_t last, bool write) {
    for (std::uint64_t line = first; line <= last; ++line) mark(line, write);
  }

  // Returns how many touches of lines it is.
  std::int64_t access(AccessKind kind, std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t first = line_of(address), last = line_of(address + bytes - 1);
    const bool both = kind == AccessKind::modify;
    if (first == last) {
      mark(first, writes(kind));
    } else {
      if (both) mark(first, last, false);
      mark(first, last, writes(kind));
    }
    return static_cast<std::int64_t>(last - first + 1) << both;
  }
  // A line that is read and written at once is written.
  static bool writes(AccessKind kind) {
    return kind == AccessKind::write || kind == AccessKind::modify;
  }

  // Likewise, line by line for each access.
  [[gnu::noinline]] std::int64_t run(const TraceBatch::Access& a, const TraceBatch::Run& all) {
    if (leaves_out_no_line(a, all)) {
      return run_of_neighbours(a, all) << (a.kind == AccessKind::modify);
    }
    std::int64_t touches = 0;
    std::uint64_t address = a.address;
    for (std::uint64_t i = 0; i < all.count; ++i) {
      touches += access(a.kind, address, a.bytes);
      address += static_cast<std::uint64_t>(all.stride);
    }
    return touches;
  }
  // Between two touches of a line only its neighbours are touched. Those lie in other sets, so all
  // but the first touch change nothing.
  bool leaves_out_no_line(const TraceBatch::Access& a, const TraceBatch::Run& all) const {
    const std::uint64_t neighbours = line_of(a.bytes - 1) + 2;
    return all.stride >= 0 && all.stride <= std::int64_t{1} << line_bits_ &&
           neighbours <= latest_.size();
  }
  std::int64_t run_of_neighbours(const TraceBatch::Access& a, const TraceBatch::Run& all) {
    const auto stride = static_cast<std::uint64_t>(all.stride);
    const std::uint64_t first = line_of(a.address);
    const std::uint64_t last = line_of(a.address + stride * (all.count - 1) + a.bytes - 1);
    const bool write = writes(a.kind);
    if (last - first < few_lines) {
      mark(first, last, write);
    } else {
      for (std::uint64_t line = first; line <= last; ++line) {
        latest_[line & latest_mask_] = line << 1 | std::uint64_t{write};
      }
      lines_.touch(first, last, write);
    }
    // Of bytes that are a power of two, and aligned, each access is within a line.
    const std::uint64_t beside = a.bytes - 1;
    const bool aligned =
        (a.bytes & beside) == 0 && line_of(beside) == 0 && ((a.address | stride) & beside) == 0;
    const auto accesses = static_cast<std::int64_t>(all.count);
    if (aligned) return accesses;
    const std::uint64_t offset = a.address & ((std::uint64_t{1} << line_bits_) - 1);
    return accesses + static_cast<std::int64_t>(
                          sum_of_quotients(offset + beside, stride, all.count, line_bits_) -
                          sum_of_quotients(offset, stride, all.count, line_bits_));
  }

  // A run of no more is marked line by line. Source: measured.
  static constexpr std::uint64_t few_lines = 2;

  int line_bits_;
  Lines lines_;

  // By line modulo their number: the line touched last, shifted left by one; bit 0 says that it is
  // known to be dirty.
  std::vector<std::uint64_t> latest_;
  std::uint64_t latest_mask_ = 0;
};

}  // namespace

bool can_run_plain_trace(const SystemConfig& config) {
  return is_plain(config) && (LruLines::takes(config) || NumberedLines::takes(config));
}

std::int64_t most_plain_parts(const SystemConfig& config) {
  // Blocks of the widest vector stay together.
  std::int64_t common = 0;
  for (const LevelConfig& l : config.levels) common = std::gcd(common, l.sets);
  return std::max<std::int64_t>(1, (common & -common) / max_width);
}

std::unique_ptr<PlainTrace> plain_trace(const SystemConfig& config, bool runs, std::uint32_t part,
                                        std::uint32_t parts, std::int64_t numbers) {
  const LinePart lines =
      parts > 1 ? LinePart{max_width * part, max_width, max_width * parts} : LinePart{};
  if (LruLines::takes(config) && !(runs && NumberedLines::takes(config))) {
    return std::make_unique<PlainTraceOf<LruLines>>(config, lines);
  }
  return std::make_unique<PlainTraceOf<NumberedLines>>(config, lines, numbers);
}

}  // namespace tcsim::sim
