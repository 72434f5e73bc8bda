// The packs and kernel calls of one place of a batch, noted while they were done and done again for
// other places and other tensors; or the calls of a block, for other blocks that lie alike. A small
// contraction takes as long as one or a few kernels; going through its plan would take several
// times as long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/plan/plan.hpp"
#include "kernels/generated_calls.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

// Where the operands, or their packed copies, and C of one place of a batch, or of a block, begin.
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
  // To make code takes some 30 us, and a tile's time is 30 ns less with it (docs/bench.md).
  static constexpr std::int64_t tiles_worth_code = 1000;
  // Whether a plan's work can be the same for all places of a batch, which is the outermost loop if
  // there is one.
  static bool suits(const Plan& plan);

  // The calls are members of this family.
  explicit Replay(const KernelFamily<T>& family) : family_(family) {}

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
  bool is_complete() const { return state_ == State::complete; }
  bool may_begin() const { return state_ != State::none; }
  std::int64_t tiles() const { return tiles_; }  // of a place

  // Before run(), which follows for `places` places: what the calls do with C. What is done often
  // enough becomes code of its own.
  void set(Update<T> update, std::int64_t places);
  // The same at another place. `ahead`: the tile that is written behind the last one.
  // pack(TensorId, const Tile&) packs; the tile has the batch of the place where it was noted.
  template <class Pack>
  void run(const Place<T>& at, const ResultTile<T>& ahead, Pack&& pack) {
    for (const Series& series : series_) {
      for (std::size_t i = series.first_pack; i < series.end_pack; ++i) {
        pack(packs_[i].tensor, packs_[i].tile);
      }
      if (const GeneratedCalls<T>* code = series.generated[which_].get()) {
        (*code)(at.left, at.right, at.c);
      } else {
        for (std::size_t i = series.first; i < series.end; ++i) call(i, at, ahead);
      }
    }
  }
  // Whether the last run() was by code of its own.
  bool generated() const { return !series_.empty() && series_.front().generated[which_]; }
  // The first call's tile of C at that place.
  ResultTile<T> first_tile(const Place<T>& at) const;

 private:
  enum class State { empty, noting, complete, none };
  struct Call {
    Microkernel<T> code;
    KernelTask<T> task;
    std::int64_t left, right, c;  // elements from where the place begins
    std::int64_t fetch;           // from the right operand's first to what is asked for first
    bool first_writer, whole;
  };
  struct NotedPack {
    std::size_t calls_before;
    TensorId tensor;
    Tile tile;
  };
  // Packs, and the calls up to the next pack: as code of their own, too, for each kind of update
  // that multiplies nothing.
  struct Series {
    std::size_t first_pack, end_pack, first, end;
    std::array<std::unique_ptr<const GeneratedCalls<T>>, 3> generated = {};
  };
  void generate();
  bool same_part(const Tile& part) const;
  void call(std::size_t i, const Place<T>& at, const ResultTile<T>& ahead);
  ResultTile<T> tile(const Call& call, const Place<T>& at) const;

  const KernelFamily<T>& family_;
  State state_ = State::empty;
  Tile part_{};
  Place<T> noted_at_;
  ResultTile<T> nowhere_{};
  std::vector<Call> calls_;
  std::vector<NotedPack> packs_;
  std::vector<Series> series_;
  std::int64_t tiles_ = 0;                       // of a place
  std::array<std::int64_t, 3> tiles_done_ = {};  // with each kind of update
  std::size_t which_ = 0;                        // of them, and of Series::generated
};

extern template class Replay<float>;
extern template class Replay<double>;

}  // namespace tcsim
