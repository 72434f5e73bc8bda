// The statements of a fused schedule on their tiles, by tcsim's executor: a schedule for each shape
// of a tile that occurs, prepared before anything runs, so that it is known what memory they take.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "chains/leaf_schedules.hpp"
#include "chains/tensors.hpp"
#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/leaf.hpp"
#include "kernels/crew.hpp"

namespace tcsim::chains {

// Of the executor's, so that small tiles of many shapes are not prepared again and again.
inline constexpr Bytes usual_tables{std::int64_t{32} << 20};

template <class T>
class Leaves {
 public:
  // Of a fused schedule, which must have passed check(). Of each statement the largest tile and the
  // last other one stay prepared; with room for `kept` for tables, all shapes. Throws
  // UnsupportedError where its tiles have too many shapes, or one is beyond the executor. Heeds
  // StopScope.
  Leaves(LeafSchedules& schedules, const fusion::FusedNode& node, Bytes kept = Bytes(0));
  ~Leaves();

  // What all statements compute for, at the rates that are predicted for their largest tiles.
  Seconds arithmetic() const;

  // What packed operands and tables take at most.
  Bytes memory() const;
  // Room for packed operands. Throws UnsupportedError where it cannot be had.
  void make_room();
  // out = left * right + beta * out on tiles that begin at these places of what is held; after
  // make_room(). With 0, out is not read.
  void run(const fusion::Leaf& shape, const T* left, const T* right, T* out, T beta,
           std::stop_token stop);

 private:
  struct Live;
  Bytes tables() const;  // of all shapes
  void prepare(const fusion::Leaf& shape);
  Live& live(const fusion::Leaf& shape);

  LeafSchedules& schedules_;
  std::map<fusion::Leaf, const LeafSchedules::Of*> shapes_;
  std::vector<std::optional<fusion::Leaf>> usual_;  // by statement: of its largest tile
  ByTensor<Bytes> packs_{};                         // of any shape, at most
  PackMemory room_;
  // By statement: of its largest tile, and of the last other one.
  std::vector<std::array<std::unique_ptr<Live>, 2>> live_;
  bool keeps_all_ = false;
  std::map<fusion::Leaf, std::unique_ptr<Live>> kept_;
};

extern template class Leaves<float>;
extern template class Leaves<double>;

}  // namespace tcsim::chains
