#include "kernels/crew.hpp"

#include <algorithm>
#include <exception>

#include "core/threads.hpp"
#include "core/units/divisor.hpp"
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

// A group is cut between register tiles, or between the ranges that two kernels cover together; of
// lanes between rows of the right operand, beyond which no tile goes.
std::int64_t cut_unit(const Plan& plan, DimClass group) {
  std::int64_t range = plan.extent(group);
  std::int64_t unit = group == DimClass::m ? plan.mr() : group == DimClass::n ? plan.nr() : 1;
  for (const Step& s : plan.steps()) {
    if (s.kind != Step::Kind::loop || s.group != group) continue;
    if (s.head > 0) return range;
    range = std::min(range, s.tile);
    if (plan.lanes() && group == DimClass::m && range % plan.mr() != 0) unit = range;
  }
  return unit;
}

}  // namespace

std::vector<Tile> parts_of(const Plan& plan, int threads) {
  struct Cut {
    DimClass group;
    std::int64_t unit, units;
    double largest;            // share of the work of the largest part
    std::int64_t read_by_all;  // elements of operands that have not the group
  };
  constexpr double alike = 0.01;  // of shares
  Cut best{DimClass::batch, 1, 1, 2, 0};
  for (DimClass group : {DimClass::n, DimClass::m, DimClass::batch}) {
    if (plan.schedule().parallel.value_or(group) != group) continue;
    const std::int64_t unit = cut_unit(plan, group);
    const std::int64_t units = ceil_div(plan.extent(group), unit);
    const std::int64_t largest = ceil_div(units, threads);
    Cut cut{group, unit, units, static_cast<double>(largest) / static_cast<double>(units), 0};
    for (TensorId t : {TensorId::A, TensorId::B}) {
      if (!plan.follows(t, group)) cut.read_by_all += plan.contraction().size(t).value();
    }
    const bool better = cut.largest < best.largest - alike ||
                        (cut.largest <= best.largest + alike && cut.read_by_all < best.read_by_all);
    if (better) best = cut;
  }

  std::vector<Tile> parts;
  const std::int64_t count = std::min<std::int64_t>(threads, best.units);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = best.units * i / count * best.unit;
    const std::int64_t end =
        std::min(best.units * (i + 1) / count * best.unit, plan.extent(best.group));
    Tile part = plan.all();
    part[best.group] = {begin, end - begin};
    parts.push_back(part);
  }
  return parts;
}

namespace {

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
  Member(const Plan& plan, const Tile& mine, PackBuffers<T> buffers)
      : part(mine), executor(plan, buffers) {}

  Tile part;
  Executor<T> executor;
  std::exception_ptr failure;
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
  if (generates_code()) thread += 2 * static_cast<std::int64_t>(GeneratedCalls<double>::most_bytes);
  memory.tables = Bytes(plan + std::max(1, threads) * thread);
  return memory;
}

namespace {

// As many parts as there are threads to be had.
std::vector<Tile> parts_for(const Plan& plan, int threads) {
  std::vector<Tile> parts = parts_of(plan, std::max(1, threads));
  const auto wanted = static_cast<int>(parts.size());
  const int available = openmp_threads(wanted);
  return available < wanted ? parts_of(plan, available) : parts;
}

}  // namespace

template <class T>
Crew<T>::Crew(const Plan& plan, int threads) {
  const std::vector<Tile> parts = parts_for(plan, threads);
  ByTensor<Bytes> packs;
  for (TensorId t : {TensorId::A, TensorId::B}) packs[t] = pack_size(plan.pack(t), plan.element());
  own_ = PackMemory(packs, static_cast<int>(parts.size()));
  enlist(plan, parts, own_);
}

template <class T>
Crew<T>::Crew(const Plan& plan, int threads, const PackMemory& packs) {
  enlist(plan, parts_for(plan, threads), packs);
}

template <class T>
void Crew<T>::enlist(const Plan& plan, const std::vector<Tile>& parts, const PackMemory& packs) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PackBuffers<T> buffers{reinterpret_cast<T*>(packs.at(TensorId::A, i)),
                                 reinterpret_cast<T*>(packs.at(TensorId::B, i))};
    members_.push_back(std::make_unique<Member>(plan, parts[i], buffers));
  }
}

template <class T>
Crew<T>::~Crew() = default;
template <class T>
Crew<T>::Crew(Crew&&) noexcept = default;

template <class T>
void Crew<T>::run(const Tensors<T>& tensors, Update<T> update, std::stop_token stop) {
  if (members_.size() == 1) return members_.front()->executor.run(tensors, update, stop);
  const auto count = static_cast<int>(members_.size());
  const int threads = openmp_threads(count);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
  for (int i = 0; i < count; ++i) {
    Member& m = *members_[static_cast<std::size_t>(i)];
    const Seconds before = processor_time();
    try {
      m.failure = nullptr;
      m.executor.run(tensors, update, m.part, stop);
    } catch (...) {
      m.failure = std::current_exception();
    }
    m.processor = processor_time() - before;
  }
  kept_threads = threads;
  for (const auto& m : members_) {
    if (m->failure) std::rethrow_exception(m->failure);
  }
}

template <class T>
Seconds Crew<T>::processor() const {
  Seconds sum(0);
  for (const auto& m : members_) sum += m->processor;
  return sum;
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
