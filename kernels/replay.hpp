// The packs and kernel calls of one place of a batch, noted while they were done and done again for
// other places and other tensors. A small contraction takes as long as one or a few kernels; going
// through its plan would take several times as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

// Where the operands, or their packed copies, and C of one place of a batch begin.
template <class T>
struct Place {
  const T* left = nullptr;
  const T* right = nullptr;
  T* c = nullptr;
};

template <class T>
class Replay {
 public:
  // The most calls and packs that are noted: they stay in the first cache beside what they read.
  static constexpr std::size_t most_calls = 32, most_packs = 4;
  // Whether a plan's work can be the same for all places of a batch, which is the outermost loop if
  // there is one.
  static bool suits(const Plan& plan);

  // Begins to note the calls for a part of C, all of its groups but the batch, at this place.
  // `nowhere`: a tile with as many columns as any kernel of the plan.
  void begin(const Tile& part, const Place<T>& at, const ResultTile<T>& nowhere);
  // A call. `first_writer`: it was told the beta of the whole contraction. `whole`: C's table of
  // columns goes on for as many as the plan's kernel has, so that a kernel before may ask for them.
  void note(Microkernel<T> code, const KernelTask<T>& task, bool first_writer, bool whole);
  void note_pack(TensorId tensor, const Tile& tile);
  // There was work that is no call, or depends on more than the tensors: nothing is noted for good.
  void give_up() { state_ = State::none; }
  bool noting() const { return state_ == State::noting; }
  void end();
  // Whether the calls of this part are known.
  bool has(const Tile& part) const { return state_ == State::complete && same_part(part); }
  bool may_begin() const { return state_ != State::none; }

  // The same at another place. `ahead`: the tile that is written behind the last one.
  // pack(TensorId, const Tile&) packs; the tile has the batch of the place where it was noted.
  template <class Pack>
  void run(const Place<T>& at, const ResultTile<T>& ahead, Pack&& pack) {
    std::size_t done = 0;
    for (const NotedPack& noted : packs_) {
      for (; done < noted.calls_before; ++done) call(done, at, ahead);
      pack(noted.tensor, noted.tile);
    }
    for (; done < calls_.size(); ++done) call(done, at, ahead);
  }
  // Before run(): what the calls do with C.
  void set(Update<T> update);
  // The first call's tile of C at that place.
  ResultTile<T> first_tile(const Place<T>& at) const;

 private:
  enum class State { empty, noting, complete, none };
  struct Call {
    Microkernel<T> code;
    KernelTask<T> task;
    std::int64_t left, right, c;  // elements from where the place begins
    bool first_writer, whole;
  };
  struct NotedPack {
    std::size_t calls_before;
    TensorId tensor;
    Tile tile;
  };
  bool same_part(const Tile& part) const;
  void call(std::size_t i, const Place<T>& at, const ResultTile<T>& ahead);
  ResultTile<T> tile(const Call& call, const Place<T>& at) const;

  State state_ = State::empty;
  Tile part_{};
  Place<T> noted_at_;
  ResultTile<T> nowhere_{};
  std::vector<Call> calls_;
  std::vector<NotedPack> packs_;
};

extern template class Replay<float>;
extern template class Replay<double>;

}  // namespace tcsim
