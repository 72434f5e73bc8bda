#include "kernels/crew.hpp"

#include <algorithm>
#include <exception>

#include "core/threads.hpp"
#include "kernels/generated_calls.hpp"
#include "kernels/generated_kernels.hpp"
#include "kernels/memory.hpp"
#include "kernels/repetitions.hpp"
#include "kernels/result_buffer.hpp"
#include "kernels/shapes.hpp"
#include "kernels/vector_code.hpp"

namespace tcsim {

namespace {

// What a packer keeps of a block that it lists, and of the pieces that it is moved in.
constexpr std::int64_t listed_block = 120;

// OpenMP keeps the threads of the last region for the next one of the same thread.
thread_local int kept_threads = 1;

// OpenMP ends the program where it gets no threads: new ones are tried first.
int openmp_threads(int wanted) {
  return wanted <= kept_threads ? wanted : available_threads(wanted);
}

}  // namespace

// One thread's part of the work.
template <class T>
struct Crew<T>::Member {
  Member(const Plan& plan, PackBuffers<T> buffers) : executor(plan, buffers) {}

  Executor<T> executor;
  Seconds processor{0};  // of the last run
};

PackMemory::PackMemory(ByTensor<Bytes> sizes, int threads) {
  for (int i = 0; i < threads; ++i) {
    ByTensor<Memory>& mine = memory_.emplace_back();
    for (TensorId t : all_tensors) mine[t] = Memory(sizes[t]);
  }
}

namespace {

// Of a packed copy; null: there is none.
Bytes pack_size(const PackPlan* pack, Bytes element) {
  return pack == nullptr ? Bytes() : pack->capacity * element;
}

// Of a thread's buffer for results, 0 where it has none.
Bytes results_in_buffer(const Contraction& contraction, const Schedule& schedule,
                        const Path& path) {
  const InstructionSet set = instruction_set_for(path.kernel(), contraction.type());
  const std::int64_t lanes = contraction.type() == ElementType::f64
                                 ? kernel_family<double>(set).lanes
                                 : kernel_family<float>(set).lanes;
  const ResultRegions regions = result_regions(contraction, schedule.groups, path, lanes);
  return regions.used() ? result_buffer_memory(regions, path, contraction.type()) : Bytes();
}

}  // namespace

ExecutionMemory execution_memory(const Contraction& contraction, const Schedule& schedule,
                                 int threads) {
  const Path path = only_path(contraction, schedule);
  const auto packs = pack_plans(contraction, schedule, path, Arrays(path.steps));
  ExecutionMemory memory;
  constexpr std::int64_t entry = sizeof(std::int64_t);
  std::int64_t plan = 0;  // offsets
  for (TensorId t : all_tensors) {
    for (DimClass g : all_dim_classes) plan += path.follows(t, g) ? path.extents[g] * entry : 0;
  }
  std::int64_t thread = results_in_buffer(contraction, schedule, path).value();
  for (TensorId t : {path.left, path.right()}) {
    if (!packs[t]) continue;
    const PackPlan& pack = *packs[t];
    memory.packs[t] = pack_size(&pack, size_of(contraction.type()));
    // The blocks of a tile, listed: vectors grow to twice what is in them.
    const std::int64_t blocks = pack.capacity / pack.panel / pack.k_chunk + 1;
    thread += 2 * blocks * listed_block;
  }
  // What is added to and what is set (kernels/replay.hpp): a chain's first sums set their results.
  // Of a place of the batch, or else of two blocks.
  if (generates_code()) thread += 4 * static_cast<std::int64_t>(GeneratedCalls<double>::most_bytes);
  memory.tables = Bytes(plan + std::max(1, threads) * thread);
  if (schedule.parallel == DimClass::k) {
    const std::size_t pieces = division(contraction, schedule, path, 1).parts.size();
    memory.tables += static_cast<std::int64_t>(pieces) * contraction.size(TensorId::C).value() *
                     size_of(contraction.type());
  }
  return memory;
}

template <class T>
Crew<T>::Crew(const Plan& plan, int threads) {
  enlist(plan, threads, nullptr);
}

template <class T>
Crew<T>::Crew(const Plan& plan, int threads, const PackMemory& packs) {
  enlist(plan, threads, &packs);
}

template <class T>
void Crew<T>::enlist(const Plan& plan, int threads, const PackMemory* packs) {
  const auto divide = [&](int among) {
    return division(plan.contraction(), plan.schedule(), plan.path(), among);
  };
  const auto busy = [](const Division& d, int among) {
    return std::min(among, static_cast<int>(d.parts.size()));
  };
  threads = std::max(1, threads);
  Division mine = divide(threads);
  const int wanted = busy(mine, threads);
  if (const int available = openmp_threads(wanted); available < wanted) {
    threads = available;
    mine = divide(threads);
  }
  const int members = busy(mine, threads);
  parts_ = std::move(mine.parts);
  results_ = static_cast<std::size_t>(plan.contraction().size(TensorId::C).value());
  if (mine.group == DimClass::k) {
    while (sums_.size() + 1 < parts_.size()) sums_.emplace_back(plan.size(ArrayId::C));
  }
  if (packs == nullptr) {
    ByTensor<Bytes> sizes;
    for (TensorId t : {TensorId::A, TensorId::B}) {
      sizes[t] = pack_size(plan.pack(t), plan.element());
    }
    own_ = PackMemory(sizes, members);
    packs = &own_;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(members); ++i) {
    const PackBuffers<T> buffers{reinterpret_cast<T*>(packs->at(TensorId::A, i)),
                                 reinterpret_cast<T*>(packs->at(TensorId::B, i))};
    members_.push_back(std::make_unique<Member>(plan, buffers));
  }
}

template <class T>
Crew<T>::~Crew() = default;
template <class T>
Crew<T>::Crew(Crew&&) noexcept = default;

template <class T>
void Crew<T>::run_parts(std::size_t member, const Tensors<T>& tensors, Update<T> update,
                        const std::stop_token& stop) {
  const std::size_t end = parts_.size() * (member + 1) / members_.size();
  for (std::size_t i = parts_.size() * member / members_.size(); i < end; ++i) {
    Tensors<T> at = tensors;
    if (i > 0 && !sums_.empty()) {
      // Pieces behind the first one add to what is there.
      at.c = reinterpret_cast<T*>(sums_[i - 1].data());
      std::fill_n(at.c, results_, T{0});
    }
    members_[member]->executor.run(at, update, parts_[i], stop);
  }
}

// Each member adds for a part of the results, in the order of k.
template <class T>
void Crew<T>::add_sums(std::size_t member, T* c) const {
  const std::size_t begin = results_ * member / members_.size();
  const std::size_t end = results_ * (member + 1) / members_.size();
  for (const Memory& sums : sums_) {
    const T* const from = reinterpret_cast<const T*>(sums.data());
    for (std::size_t i = begin; i < end; ++i) c[i] += from[i];
  }
}

template <class T>
void Crew<T>::run(const Tensors<T>& tensors, Update<T> update, std::stop_token stop) {
  const auto each = [&](const auto& work) {
    if (members_.size() == 1) return work(0);
    on_crew_threads(size(), work);
  };
  each([&](int i) {
    const auto member = static_cast<std::size_t>(i);
    const Seconds before = members_.size() == 1 ? Seconds(0) : processor_time();
    run_parts(member, tensors, update, stop);
    if (members_.size() > 1) members_[member]->processor = processor_time() - before;
  });
  if (!sums_.empty()) each([&](int i) { add_sums(static_cast<std::size_t>(i), tensors.c); });
}

template <class T>
Seconds Crew<T>::processor() const {
  Seconds sum(0);
  for (const auto& m : members_) sum += m->processor;
  return sum;
}

void on_crew_threads(int threads, const std::function<void(int)>& work) {
  const int count = openmp_threads(threads);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
#ifdef _OPENMP
#pragma omp parallel for num_threads(count) schedule(static, 1)
#endif
  for (int i = 0; i < threads; ++i) {
    try {
      work(i);
    } catch (...) {
      failures[static_cast<std::size_t>(i)] = std::current_exception();
    }
  }
  kept_threads = count;
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void wake_threads(int threads) {
  const int count = openmp_threads(threads);
#ifdef _OPENMP
#pragma omp parallel num_threads(count)
  {
#pragma omp barrier
  }
#endif
  kept_threads = count;
}

template class Crew<float>;
template class Crew<double>;

}  // namespace tcsim
