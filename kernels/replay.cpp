#include "kernels/replay.hpp"

#include <algorithm>
#include <utility>

namespace tcsim {

template <class T>
bool Replay<T>::suits(const Plan& plan) {
  if (plan.lanes()) return false;
  const auto& steps = plan.steps();
  for (std::size_t d = 1; d < steps.size(); ++d) {
    if (steps[d].kind == Step::Kind::loop && steps[d].group == DimClass::batch) return false;
  }
  return true;
}

template <class T>
bool Replay<T>::same_part(const Tile& part) const {
  return part[DimClass::m] == part_[DimClass::m] && part[DimClass::n] == part_[DimClass::n] &&
         part[DimClass::k] == part_[DimClass::k];
}

template <class T>
void Replay<T>::begin(const Tile& part, const Place<T>& at, const ResultTile<T>& nowhere) {
  state_ = State::noting;
  part_ = part;
  noted_at_ = at;
  nowhere_ = nowhere;
  calls_.clear();
  packs_.clear();
}

template <class T>
void Replay<T>::note(Microkernel<T> code, const KernelTask<T>& task, bool first_writer,
                     bool whole) {
  if (!noting()) return;
  if (calls_.size() == most_calls || task.more_stretches > 0) return give_up();
  // What a long task asks for moves on with it. The rest would have to move on with the place; what
  // is so small is read before it arrives.
  const bool asks = task.fetch.runs > 0 && task.fetch.onwards != 0;
  calls_.push_back({code, task, task.left.first - noted_at_.left,
                    task.right.first - noted_at_.right, task.c.first - noted_at_.c,
                    asks ? task.fetch.first - task.right.first : 0, first_writer, whole});
  KernelTask<T>& noted = calls_.back().task;
  if (!asks) noted.fetch = {};
  noted.trickle = {};
  noted.stretches = nullptr;
}

template <class T>
void Replay<T>::note_pack(TensorId tensor, const Tile& tile) {
  if (!noting()) return;
  if (packs_.size() == most_packs) return give_up();
  packs_.push_back({calls_.size(), tensor, tile});
}

template <class T>
void Replay<T>::end() {
  if (!noting()) return;
  state_ = calls_.empty() ? State::none : State::complete;
  series_.clear();
  tiles_ = 0;
  tiles_done_ = {};
  for (const Call& call : calls_) tiles_ += call.task.tiles;
  std::size_t pack = 0;
  for (std::size_t first = 0; first < calls_.size() || pack < packs_.size();) {
    Series series{pack, pack, first, calls_.size()};
    while (series.end_pack < packs_.size() && packs_[series.end_pack].calls_before == first) {
      ++series.end_pack;
    }
    pack = series.end_pack;
    if (pack < packs_.size()) series.end = packs_[pack].calls_before;
    first = series.end;
    series_.push_back(std::move(series));
  }
}

template <class T>
void Replay<T>::set(Update<T> update, std::int64_t places) {
  const Update<T> further{update.alpha, 1};
  for (Call& call : calls_) {
    call.task.update = call.first_writer ? update : further;
    call.task.kind = call.task.update.kind();
  }
  which_ = static_cast<std::size_t>(update.kind());
  // Code knows no factors: calls that add to what others multiplied would be of another kind.
  if (update.kind() == Update<T>::Kind::any) return;
  std::int64_t& done = tiles_done_[which_];
  const bool before = done >= tiles_worth_code;
  done = std::min(tiles_worth_code, done + std::min(tiles_worth_code, places) * tiles_);
  if (!before && done >= tiles_worth_code) generate();
}

template <class T>
void Replay<T>::generate() {
  for (Series& series : series_) {
    std::vector<PlacedCall<T>> placed;
    for (std::size_t i = series.first; i < series.end; ++i) {
      const Call& call = calls_[i];
      placed.push_back({call.code, call.task, call.left, call.right, call.c});
    }
    series.generated[which_] = GeneratedCalls<T>::make(family_, placed);
  }
}

template <class T>
ResultTile<T> Replay<T>::first_tile(const Place<T>& at) const {
  return tile(calls_.front(), at);
}

template <class T>
void Replay<T>::call(std::size_t i, const Place<T>& at, const ResultTile<T>& ahead) {
  Call& call = calls_[i];
  KernelTask<T>& task = call.task;
  task.left.first = at.left + call.left;
  task.right.first = at.right + call.right;
  if (task.fetch.runs > 0) task.fetch.first = task.right.first + call.fetch;
  task.c.first = at.c + call.c;
  if (i + 1 == calls_.size()) return call.code(task, ahead);
  call.code(task, tile(calls_[i + 1], at));
}

template <class T>
ResultTile<T> Replay<T>::tile(const Call& call, const Place<T>& at) const {
  if (!call.whole) return nowhere_;
  return {at.c + call.c, call.task.c.columns, call.task.c.rows};
}

template class Replay<float>;
template class Replay<double>;

}  // namespace tcsim
