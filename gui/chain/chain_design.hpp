// What the chain window is asked: a chain, a machine, and how much memory a run may take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units/quantity.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::gui {

struct ChainDesign {
  std::string chain;                // as core/fusion/chain_request.hpp has it, on one line
  std::string sizes;                // of statements and einsum: "a=72,b=72"
  std::string order;                // of a product of many factors; empty: the least multiply-adds
  std::optional<ElementType> type;  // otherwise the chain's own
  std::string machine = "zen5";
  std::string knobs;                      // of the machine: "L3.capacity=2x, memory.bandwidth=9e9"
  Bytes memory{std::int64_t{256} << 20};  // that a run may take
  bool tilesAlone = false;                // memory is what tiles may take
  // As tcsim fuse takes them; empty: the machine's disk, or what is assumed of one.
  std::string diskRead, diskWrite, diskTransfer;
  bool overlap = false;

  bool operator==(const ChainDesign&) const = default;
  ChainDesign with(Bytes other) const;
};

// Whether sizes belong to it: statements and einsum.
bool needsSizes(const std::string& chain);
// The sizes of the chain's indices, with 64 for those that have none yet; as they are where they
// cannot be read.
std::string sizesOf(const std::string& chain, const std::string& sizes);
// Statements on one line, with ';' between them.
std::string onOneLine(const std::string& chain);

// Each KNOB=VALUE of them.
std::vector<std::string> knobsOf(const std::string& knobs);

// The knobs with one of them at that value; without it where the value is empty.
std::string withKnobAt(const std::string& knobs, const std::string& name, const std::string& value);
// What the knob is set to; empty if it is not among them.
std::string knobValue(const std::string& knobs, const std::string& name);

// Arguments of tcsim fuse that ask the same, and a line for a POSIX shell. On explicit levels
// memory and disk are knobs.
enum class ChainKind { onDisk, onLevels };
std::vector<std::string> to_arguments(const ChainDesign& design,
                                      ChainKind kind = ChainKind::onDisk);
std::string commandLine(const ChainDesign& design, ChainKind kind = ChainKind::onDisk);

}  // namespace tcsim::gui
