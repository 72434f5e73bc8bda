#include "core/fusion/replay.hpp"

#include "core/fusion/walk.hpp"
#include "core/model/countable.hpp"

namespace tcsim::fusion {

namespace {

class Counter {
 public:
  Counter(const OperationTree& tree, Buffering buffering)
      : tree_(tree), buffering_(buffering), read_(tree) {
    result_.arrays.resize(tree.arrays.size());
    result_.statements.resize(tree.statements.size());
  }

  void open(const Hold& hold, const Ranges& ranges) {
    const std::int64_t bytes = bytes_of(hold.array, ranges);
    held_ += copies(hold, buffering_) * bytes;
    result_.memory = std::max(result_.memory, Bytes(held_));
    if (!read_.is_read(hold, ranges)) return;
    add(of(hold.array).read, bytes);
    ++of(hold.array).reads;
  }
  void close(const Hold& hold, const Ranges& ranges) {
    const std::int64_t bytes = bytes_of(hold.array, ranges);
    held_ -= copies(hold, buffering_) * bytes;
    if (hold.kind != Hold::Kind::store) return;
    add(of(hold.array).written, bytes);
    ++of(hold.array).writes;
  }
  void run(int s, const Ranges& ranges) {
    DiskTraffic::OfStatement& of = result_.statements[static_cast<std::size_t>(s)];
    ++of.runs;
    const OperationTree::Statement& statement = tree_.statement(s);
    for (int a : {statement.left, statement.right, statement.out, statement.out}) {
      add(of.passed, bytes_of(a, ranges));
    }
  }

  DiskTraffic take() { return std::move(result_); }

 private:
  DiskTraffic::OfArray& of(int array) { return result_.arrays[static_cast<std::size_t>(array)]; }

  std::int64_t bytes_of(int array, const Ranges& ranges) const {
    std::int64_t bytes = tree_.array(array).element.value();
    for (int i : tree_.array(array).indices) {
      if (__builtin_mul_overflow(bytes, ranges[static_cast<std::size_t>(i)].size, &bytes)) {
        too_large();
      }
    }
    return bytes;
  }
  void add(std::int64_t& sum, std::int64_t bytes) const {
    if (__builtin_add_overflow(sum, bytes, &sum)) too_large();
  }
  [[noreturn]] void too_large() const {
    throw TooLargeError(tree_.name, "too large, because 2^62 bytes or more would move",
                        "use smaller sizes");
  }

  const OperationTree& tree_;
  const Buffering buffering_;
  DiskTraffic result_;
  std::int64_t held_ = 0;
  TilesRead read_;
};

}  // namespace

DiskTraffic replay(const OperationTree& tree, const FusedNode& node, Buffering buffering) {
  Counter counter(tree, buffering);
  Ranges ranges = all_of(tree);
  walk(node, ranges, counter);
  return counter.take();
}

}  // namespace tcsim::fusion
