#include "kernels/contract.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/machine/kernel_caches.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/quick.hpp"
#include "core/plan/parts.hpp"
#include "core/workload/parse.hpp"
#include "kernels/crew.hpp"
#include "kernels/instruction_set.hpp"

namespace tcsim {

namespace {

// To read what the kernel says takes longer than to plan a small contraction.
std::vector<KernelCache> caches_here() {
  std::vector<KernelCache> caches = read_kernel_caches("/sys/devices/system/cpu/cpu0/cache");
  std::erase_if(caches, [](const KernelCache& c) {
    return c.ways <= 0 || c.line.value() <= 0 ||
           c.capacity.value() % (c.ways * c.line.value()) != 0;
  });
  if (caches.empty()) {
    caches = {{{}, 1, Bytes(32 << 10), 8, 64, Bytes(64), {}},
              {{}, 2, Bytes(1 << 20), 16, 1024, Bytes(64), {}},
              {{}, 3, Bytes(16 << 20), 16, 16384, Bytes(64), {}}};
  }
  return caches;
}

}  // namespace

Machine assumed_machine() {
  static const std::vector<KernelCache> caches = caches_here();
  const auto assumed = [](auto value) {
    return Figure<decltype(value)>{value, Origin::assumed, ""};
  };
  Machine m;
  m.name = "assumed";
  double per_cycle = 64;
  for (const KernelCache& c : caches) {
    Level level;
    level.name = "L" + std::to_string(c.level);
    level.capacity = assumed(c.capacity);
    level.ways = assumed(c.ways);
    level.line = assumed(c.line);
    level.shared_by = std::max<int>(1, static_cast<int>(c.cpus.size()));
    level.bandwidth = assumed(Bandwidth{per_cycle, Bandwidth::Unit::bytes_per_cycle});
    per_cycle /= 2;
    m.levels.push_back(level);
  }
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  memory.bandwidth = assumed(Bandwidth{per_cycle, Bandwidth::Unit::bytes_per_cycle});
  m.levels.push_back(memory);
  const InstructionSet set = best_instruction_set();
  m.core.frequency = assumed(Hertz(3e9));
  m.core.vector_bits = assumed(set == InstructionSet::avx512 ? 512
                               : set == InstructionSet::avx2 ? 256
                                                             : 128);
  m.core.vector_registers = assumed(set == InstructionSet::avx512 ? 32 : 16);
  m.core.fma_per_cycle = assumed(2.0);
  m.core.fma_latency = assumed(Cycles(4));
  return m;
}

namespace {

Schedule chosen(const Contraction& contraction, Machine machine, int threads) {
  if (threads == 1 && fits_first_cache(contraction, machine)) {
    return quick_schedule(contraction, machine);
  }
  machine.core.cores = threads;
  return optimize(contraction, machine, for_running()).schedule;
}

// What the dimensions reach of C.
template <class T>
void scale(const Contraction& of, std::span<const DimId> dims, T* c, T beta) {
  if (dims.empty()) {
    *c = beta == 0 ? 0 : *c * beta;
    return;
  }
  const std::int64_t stride = of.stride(TensorId::C, dims.front()).value();
  for (std::int64_t i = 0; i < of.dim(dims.front()).extent; ++i) {
    scale(of, dims.subspan(1), c + i * stride, beta);
  }
}

template <class T>
constexpr ElementType type_of = std::is_same_v<T, double> ? ElementType::f64 : ElementType::f32;

// What a thread has contracted before, prepared.
template <class T>
class Prepared {
 public:
  using Key = std::tuple<std::string, std::map<char, std::int64_t>, Layout>;
  // Null where it is not among the last ones.
  Contractor<T>* find(const Key& key) {
    const auto known = all_.find(key);
    if (known == all_.end()) return nullptr;
    known->second.last = ++calls_;
    return &known->second.contractor;
  }
  void keep(const Key& key, Contractor<T> contractor) {
    constexpr std::size_t most = 32;
    if (all_.size() == most) {
      all_.erase(
          std::ranges::min_element(all_, {}, [](const auto& one) { return one.second.last; }));
    }
    all_.emplace(key, Of{std::move(contractor), ++calls_});
  }

 private:
  struct Of {
    Contractor<T> contractor;
    long last;
  };
  std::map<Key, Of> all_;
  long calls_ = 0;
};

}  // namespace

template <class T>
struct Contractor<T>::Parts {
  Parts(const Contraction& contraction, const Schedule& schedule, int threads)
      : plan(contraction, schedule), crew(plan, threads) {}
  Plan plan;
  Crew<T> crew;
};

template <class T>
Contractor<T>::Contractor(const Contraction& contraction, int threads, const Machine& machine)
    : Contractor(contraction, chosen(contraction, machine, threads_worth(contraction, threads)),
                 threads_worth(contraction, threads)) {}

template <class T>
Contractor<T>::Contractor(const Contraction& contraction, const Schedule& schedule, int threads) {
  if (contraction.type() != type_of<T>) {
    throw UsageError(contraction.name(), "its elements are not those of the Contractor",
                     "use the same type for both");
  }
  parts_ = std::make_unique<Parts>(contraction, schedule, threads);
}

template <class T>
Contractor<T>::~Contractor() = default;
template <class T>
Contractor<T>::Contractor(Contractor&&) noexcept = default;
template <class T>
Contractor<T>& Contractor<T>::operator=(Contractor&&) noexcept = default;

template <class T>
const Schedule& Contractor<T>::schedule() const {
  return parts_->plan.schedule();
}

template <class T>
void Contractor<T>::operator()(const T* a, const T* b, T* c, T alpha, T beta,
                               std::stop_token stop) {
  if (alpha == 0) {
    const Contraction& of = parts_->plan.contraction();
    return scale(of, of.dims_of(TensorId::C), c, beta);
  }
  parts_->crew.run({a, b, c}, {alpha, beta}, std::move(stop));
}

template <class T>
void contract(std::string_view label, const std::map<char, std::int64_t>& sizes, const T* a,
              const T* b, T* c, T alpha, T beta, Layout layout) {
  constexpr Bytes largest{8 << 20};  // of what is kept, whose buffers may be as large
  thread_local Prepared<T> prepared;
  const typename Prepared<T>::Key key{std::string(label), sizes, layout};
  if (Contractor<T>* const known = prepared.find(key)) return (*known)(a, b, c, alpha, beta);
  const Contraction contraction = parse_contraction(label, sizes, layout, type_of<T>);
  Contractor<T> contractor(contraction);
  contractor(a, b, c, alpha, beta);
  if (bytes_of_tensors(contraction) <= largest) prepared.keep(key, std::move(contractor));
}

template class Contractor<float>;
template class Contractor<double>;
template void contract<float>(std::string_view, const std::map<char, std::int64_t>&, const float*,
                              const float*, float*, float, float, Layout);
template void contract<double>(std::string_view, const std::map<char, std::int64_t>&, const double*,
                               const double*, double*, double, double, Layout);

}  // namespace tcsim
