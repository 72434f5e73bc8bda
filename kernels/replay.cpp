#include "kernels/replay.hpp"

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
  calls_.push_back({code, task, task.left.first - noted_at_.left,
                    task.right.first - noted_at_.right, task.c.first - noted_at_.c, first_writer,
                    whole});
  // They would have to move on with the place; what is so small is read before they arrive.
  KernelTask<T>& noted = calls_.back().task;
  noted.fetch = {};
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
  if (noting()) state_ = calls_.empty() ? State::none : State::complete;
}

template <class T>
void Replay<T>::set(Update<T> update) {
  const Update<T> further{update.alpha, 1};
  for (Call& call : calls_) {
    call.task.update = call.first_writer ? update : further;
    call.task.kind = call.task.update.kind();
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
