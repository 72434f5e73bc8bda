// All that the chain window shows at a moment, and what the fusion library says about a chain:
// values that are made on worker threads, never changed afterwards, and shared by pointers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/fusion/chain_request.hpp"
#include "core/fusion/fuse.hpp"
#include "core/machine/machine.hpp"
#include "gui/chain/chain_design.hpp"
#include "gui/chain/level_scene.hpp"
#include "microbench/disk.hpp"

namespace tcsim::gui {

// A machine with what was measured of its disk, if it was.
struct ChainMachine {
  Machine machine;
  std::optional<DiskFigures> disk;
};

// A design with its names looked up.
struct ChainSubject {
  ChainDesign design;
  std::vector<fusion::Chain::Ordered> ordered;  // products of many factors
  fusion::OperationTree tree;
  Machine machine;  // its caches; what its disk takes is in limits
  // Of a machine with explicit levels, whose figures are the knobs: memory and disk of the design
  // do not count then, nor what is below.
  std::optional<levels::Hierarchy> hierarchy;
  fusion::Limits limits;
  bool diskAssumed = false;
  // Memory below which nothing fits, and from which on all tensors do; of runs, about.
  Bytes least, most;
};
using ChainSubjectPtr = std::shared_ptr<const ChainSubject>;
// Throws the errors of core/error.hpp.
ChainSubjectPtr chainSubject(const ChainDesign& design, const ChainMachine& machine);

// One way to do the chain.
struct ChainProgram {
  std::string name;
  fusion::FusedProgram program;
  Bytes inAll;  // that a run takes
  // Of disk, of arithmetic, and of both: one after the other, or at the same time.
  Seconds disk, arithmetic, time;
};

struct ChainAnswer {
  ChainSubjectPtr subject;
  std::vector<ChainProgram> programs;  // chosen, fully fused where that can be, unfused
  std::optional<LevelFigures> levels;  // on explicit levels; then there are no programs
  double seconds = 0;                  // that it took

  const ChainDesign& design() const { return subject->design; }
  const ChainProgram& chosen() const { return programs.front(); }
  const ChainProgram& unfused() const { return programs.back(); }
};
using ChainAnswerPtr = std::shared_ptr<const ChainAnswer>;
// As tcsim fuse. Throws UnsupportedError where no run fits; Interrupted.
ChainAnswerPtr answerOf(const ChainSubjectPtr& subject, const std::function<void(double)>& progress,
                        std::stop_token stop);

// What is chosen with another memory.
struct MemoryPoint {
  Bytes memory;
  Seconds disk, unfusedDisk;
  Bytes moved, unfusedMoved;
  std::vector<int> cutPoints;  // statements whose results go to disk
};
MemoryPoint pointOf(const ChainAnswer& answer);
// None where no tiles fit.
std::optional<MemoryPoint> pointAt(const ChainSubject& subject, Bytes memory, std::stop_token stop);

struct ChainScene {
  ChainAnswerPtr answer;  // the last that there was; null: none yet
  bool current = false;   // it is of what is asked now
  bool asked = false;     // anything is
  std::string error;      // why what is asked has no answer; empty if it has, or will have
  // On explicit levels; null: not known yet. The curve may be of an answer before.
  LevelChangesPtr changes;
  LevelCurvePtr curve;
  ChainAnswerPtr curveOf;
  std::string curveError;  // why there is none along the knob
  // By bytes: of the answer's chain, machine and disk. None where no tiles fit.
  std::map<std::int64_t, std::optional<MemoryPoint>> points;
  bool exploring = false;  // more of these are on the way
};

// Whether the points of one design are those of the other.
bool samePoints(const ChainDesign& a, const ChainDesign& b);
// The memory that is worth planning for next, so that the curve and what more memory would bring
// are known; nothing once they are.
std::optional<Bytes> nextMemory(const ChainScene& scene);

// What more memory would bring; nothing where it is not known, or brings nothing.
struct MoreMemory {
  std::optional<MemoryPoint> twice;
  // The least that is found to need fewer cut-points, within a tenth.
  std::optional<MemoryPoint> fewerCuts;
};
MoreMemory moreMemory(const ChainScene& scene);

// A memory near `bytes` that is short to write.
Bytes shortMemory(double bytes);
// The powers of two around what can matter for a chain: the ends of the slider and of the curve.
Bytes leastShown(const ChainSubject& subject);
Bytes mostShown(const ChainSubject& subject);

}  // namespace tcsim::gui
