// The designs of a study by number, and the chains that they are evaluated in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/study/study.hpp"

namespace tcsim {

struct DesignPoint {
  std::int64_t number = 0;
  std::size_t machine = 0;     // index into Study::machines
  bool base = false;           // the machine as it is
  std::vector<double> values;  // of the knobs
  Machine with;                // the machine with the knobs set, energies by the cost model
  std::optional<double> area;  // mm2
  std::optional<double> cost;
};

// Why a design is left out.
struct LeftOut {
  std::string reason;  // a constraint's text, or "no such machine"
  std::string detail;  // why there is none
};
inline constexpr const char* no_such_machine = "no such machine";

// Reads designs by number. Not for several threads at once; they are cheap to make.
class Designs {
 public:
  explicit Designs(const Study& study);

  // Empty where no machine can be like that or a constraint does not hold; `why` then says so.
  // The machines as they are are always there. Precondition: 0 <= number < design_count().
  std::optional<DesignPoint> at(std::int64_t number, LeftOut& why);

  // The values of the knobs alone.
  std::vector<double> values(std::size_t machine, std::int64_t index);

 private:
  const Study& study_;
  std::vector<UnitSampler> samplers_;  // one, or none
};

// A run of designs of one machine for one workload: the unit of work. The searches of a chain begin
// from one another, so what is in a chain depends on the study alone.
struct Chain {
  std::size_t machine = 0, workload = 0;
  std::int64_t first = 0, count = 0;  // design numbers
};

class Chains {
 public:
  explicit Chains(const Study& study);

  std::int64_t size() const { return size_; }
  // First the machines as they are, one chain for each workload; then, chain after chain, all
  // workloads of the same designs.
  // Precondition: 0 <= i < size().
  Chain at(std::int64_t i) const;
  // Points of the study: designs x workloads, with those of designs that are left out.
  std::int64_t points() const { return study_.point_count(); }
  // The chain of a point. Precondition: 0 <= point < points().
  std::int64_t of(std::int64_t point) const;

 private:
  const Study& study_;
  std::vector<std::int64_t> lengths_, pieces_;  // of each machine
  std::int64_t size_ = 0;
};

}  // namespace tcsim
