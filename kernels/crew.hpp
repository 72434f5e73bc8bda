// Executes a plan on several threads: the work is cut along one group (core/plan/parts.hpp), each
// thread packs for itself and computes its parts. The same sums are formed in the same order on any
// number of threads, so that the result is the same to the last bit.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/plan/parts.hpp"
#include "core/plan/plan.hpp"
#include "kernels/executor.hpp"
#include "kernels/memory.hpp"

namespace tcsim {

// Where the threads of crews pack, which may have it in common as long as one of them runs at a
// time.
class PackMemory {
 public:
  PackMemory() = default;
  // For each of `threads` threads; either size may be 0. Throws UnsupportedError if it cannot be
  // had.
  PackMemory(ByTensor<Bytes> sizes, int threads);

  std::byte* at(TensorId t, std::size_t thread) const { return memory_[thread][t].data(); }

 private:
  std::vector<ByTensor<Memory>> memory_;
};

// What a crew takes of memory, without making one: each thread's packed copies, and at most so much
// for tables, the plan's among them. Throws as Plan does.
struct ExecutionMemory {
  ByTensor<Bytes> packs{};
  Bytes tables;
};
ExecutionMemory execution_memory(const Contraction& contraction, const Schedule& schedule,
                                 int threads);

template <class T>
class Crew {
 public:
  // The plan must outlive it. Throws UnsupportedError if the memory for the packed copies cannot be
  // had. Threads are OpenMP's; built without it, the parts are done one after another.
  Crew(const Plan& plan, int threads);
  // Packs into memory that is large enough and outlives it.
  Crew(const Plan& plan, int threads, const PackMemory& packs);
  ~Crew();
  Crew(Crew&&) noexcept;

  int size() const { return static_cast<int>(members_.size()); }  // threads that have work
  // As Executor::run.
  void run(const Tensors<T>& tensors, Update<T> update, std::stop_token stop = {});
  // Processor time that several threads had together in the last run, each for its part: they wait
  // for the last one in a loop, which does not count. 0 of one thread.
  Seconds processor() const;

 private:
  struct Member;
  void enlist(const Plan& plan, int threads, const PackMemory* packs);
  void run_parts(std::size_t member, const Tensors<T>& tensors, Update<T> update,
                 const std::stop_token& stop);
  void add_sums(std::size_t member, T* c) const;
  PackMemory own_;
  std::vector<Tile> parts_;
  // Of all pieces of the sums but the first one, which goes to C: results_ each.
  std::vector<Memory> sums_;
  std::size_t results_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
};

// Calls work(i) for 0 <= i < threads, each on one of the threads on which crews run that the
// calling thread runs; on fewer, one after another, where the system gives no more. Throws what the
// first of them threw, once all have ended.
void on_crew_threads(int threads, const std::function<void(int)>& work);

// Lets these threads come to work, so many of them all together. Those that wait for long sleep,
// and on a virtual machine it takes a good part of a millisecond until they run.
void wake_threads(int threads);

extern template class Crew<float>;
extern template class Crew<double>;

}  // namespace tcsim
