// Where the tiles of a fused schedule lie in one piece of memory: each Hold has its own place for
// the whole run, behind those of the Holds around it. Parts that run one after another share
// memory. With two copies a Hold's tiles lie in them by turns.
#pragma once

#include <map>

#include "core/fusion/fused_schedule.hpp"

namespace tcsim::fusion {

class TilePlaces {
 public:
  struct Place {
    Bytes begin;  // a multiple of a cache line
    Bytes size;   // of one copy: of the largest tile, in whole lines
    int copies = 1;
  };

  // The schedule must have passed check(), and outlive it.
  TilePlaces(const OperationTree& tree, const FusedNode& node, Buffering buffering);

  const Place& of(const Hold& hold) const { return places_.at(&hold); }
  // Of all: DiskTraffic::memory, and what whole lines add.
  Bytes size() const { return size_; }

 private:
  std::map<const Hold*, Place> places_;
  Bytes size_;
};

}  // namespace tcsim::fusion
