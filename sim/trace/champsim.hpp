// Traces for ChampSim: its 64-byte instruction records (input_instr in its inc/trace_instruction.h
// as its published traces have it), little-endian:
//
//     bytes  0-7    instruction pointer
//     bytes  8, 9   branch, taken: 0
//     bytes 10-15   registers, two written and four read: 0
//     bytes 16-31   two addresses that are written, 0 where there is none
//     bytes 32-63   four addresses that are read
//
// Each access is an instruction of its own, at one of a few instruction pointers, so that what
// learns by these can. ChampSim knows addresses and no sizes: an access counts for the line of its
// first byte.
#pragma once

#include <cstdint>
#include <ostream>

#include "sim/trace/trace.hpp"

namespace tcsim::sim {

inline constexpr std::size_t champsim_record = 64;  // bytes
// Of reads and writes; pointers follow that at steps of 4.
inline constexpr std::uint64_t champsim_code = 0x400000;

class ChampsimWriter {
 public:
  explicit ChampsimWriter(std::ostream& out) : out_(out) {}
  // A modify is one instruction that reads and writes. Instructions are left out: code is not what
  // a schedule's trace is about.
  void write(AccessKind kind, std::uint64_t address, std::uint32_t bytes);
  // To be called at the end.
  void flush() { out_.flush(); }

 private:
  std::ostream& out_;
};

}  // namespace tcsim::sim
