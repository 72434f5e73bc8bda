// Traces of memory accesses, read as streams. Formats (docs/simulator.md, "Traces"):
//  - din, Dinero's: "LABEL ADDRESS [BYTES]", hexadecimal; label 0 or r is a read, 1 or w a write,
//    2 or i an instruction; without BYTES it is 4
//  - lackey, of valgrind --tool=lackey --trace-mem=yes: " L ADDRESS,BYTES", S, M, or "I  ..."
//  - binary, tcsim's own: see TraceWriter
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "sim/trace/byte_source.hpp"

namespace tcsim::sim {

enum class AccessKind : std::uint8_t {
  read,
  write,
  modify,
  instruction
};  // modify: read, then write

// `count` accesses of `bytes` bytes, each `stride` bytes after the one before it.
struct TraceRecord {
  AccessKind kind = AccessKind::read;
  std::uint64_t address = 0;
  std::uint32_t bytes = 1;
  std::int64_t stride = 0;
  std::uint64_t count = 1;
  bool operator==(const TraceRecord&) const = default;
};

// Many records, in little memory: what simulates them is often quicker than what brings them.
class TraceBatch {
 public:
  struct Access {
    std::uint64_t address = 0;
    std::uint32_t bytes = 1;
    AccessKind kind = AccessKind::read;
    bool is_run = false;  // the next of runs()
  };
  struct Run {
    std::int64_t stride = 0;
    std::uint64_t count = 1;
  };
  // The next `count` accesses are of this core.
  struct Turn {
    int core = 0;
    std::size_t count = 0;
  };
  static constexpr std::size_t most = 4096;              // that one holds
  static constexpr std::uint64_t longest_run = 1 << 16;  // a longer one is cut

  TraceBatch() : accesses_(most) {}
  std::span<const Access> accesses() const { return std::span(accesses_).first(count_); }
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<Turn>& turns() const { return turns_; }
  std::size_t room() const { return most - count_; }

  void clear() {
    count_ = 0;
    runs_.clear();
    turns_.clear();
  }
  // There is room for it.
  void add(std::uint64_t address, std::uint32_t bytes, AccessKind kind) {
    accesses_[count_++] = {address, bytes, kind, false};
  }
  void add(const TraceRecord& record) {
    accesses_[count_++] = {record.address, record.bytes, record.kind, record.count > 1};
    if (record.count > 1) runs_.push_back({record.stride, record.count});
  }
  // What was added since the last call is of this core.
  void end_turn(int core, std::size_t count) {
    if (turns_.empty() || turns_.back().core != core) turns_.push_back({core, 0});
    turns_.back().count += count;
  }

 private:
  std::vector<Access> accesses_;  // of which the first count_ mean something
  std::size_t count_ = 0;
  std::vector<Run> runs_;
  std::vector<Turn> turns_;
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;
  // The next record; false at the end. Throws InputError that names the record where it is
  // malformed: "FILE:LINE" in a text, "FILE: record N" otherwise.
  virtual bool next(TraceRecord& record) = 0;
  // Adds records that come next to the batch, as long as there is room, and says how many. Those
  // longer than TraceBatch::longest_run, and all that is malformed, it leaves to next(); others it
  // may.
  virtual std::size_t add_to(TraceBatch& batch) = 0;
};

enum class TraceFormat { din, lackey, binary };

// Without a format the beginning of the trace tells. Throws InputError.
std::unique_ptr<TraceReader> read_trace(std::unique_ptr<ByteSource> source,
                                        const std::string& place,
                                        std::optional<TraceFormat> format = {});
std::unique_ptr<TraceReader> open_trace(const std::string& path,
                                        std::optional<TraceFormat> format = {});

// Writes the binary format: "TCSIMTR1", then records of
//   1 byte   bits 0-1: the kind (read, write, modify, instruction); bit 2: a stride and a count
//            follow; bit 3: as many bytes as the record before; bits 4-7: 0
//   varint   bytes, unless bit 3
//   zigzag   address less that of the access before (0 at first), modulo 2^64
//   zigzag   stride, and varint count less 2, if bit 2
// A varint has 7 bits a byte, the lowest first, the top bit set in all but the last (LEB128); a
// zigzag is one of (x << 1) ^ (x >> 63). Three and more accesses at one stride become one record.
class TraceWriter {
 public:
  explicit TraceWriter(std::ostream& out);
  void write(AccessKind kind, std::uint64_t address, std::uint32_t bytes);
  // To be called at the end.
  void flush();

 private:
  void varint(std::uint64_t x);
  void zigzag(std::int64_t x);
  void part_two();
  void emit();

  std::ostream& out_;
  TraceRecord run_ = {.count = 0};  // what was written last; none at first
  std::uint64_t last_ = 0;
  std::uint32_t bytes_ = 0;
};

inline constexpr const char* trace_magic = "TCSIMTR1";

}  // namespace tcsim::sim
