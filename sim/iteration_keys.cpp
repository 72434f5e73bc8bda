#include "sim/iteration_keys.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/hash.hpp"

namespace tcsim::sim {

namespace {

// Iterations of a loop whose keys are counted. Source: chosen; those of TCCG's largest come to an
// end by then.
constexpr std::int64_t most_counted = 1 << 18;

// Loops whose iterations have larger ranges are left out: tables of so many offsets would be copied
// and compared. Source: chosen.
constexpr std::int64_t largest_ranges = 1 << 20;

// Thrown to end a walk that has seen enough.
struct Enough {};

std::uint64_t hash_of(const IterationKeys::Key& key) {
  std::uint64_t hash = 0;
  for (std::uint32_t k : key) hash = splitmix64(hash ^ k);
  return hash;
}

// Goes through the iterations of some loops without what is in the innermost of them.
class KeyCounter {
 public:
  KeyCounter(IterationKeys& keys, const std::vector<IterationKeys::Wanted>& all) : keys_(keys) {
    for (const IterationKeys::Wanted& w : all) {
      loops_.resize(w.loop.depth + 1);
      loops_.back() = {&w, 0, std::vector<Seen>(w.sets.size())};
    }
    open_ = loops_.size();
  }
  bool skips(const Iteration& iteration) {
    if (iteration.depth < loops_.size()) look_at(iteration);
    return iteration.depth + 1 >= open_;
  }
  void done(std::size_t) {}
  void pack(const PackPlan&, const Tile&) {}
  void kernel(const KernelCall&) {}

  std::vector<double> expected(const IterationKeys::Loop& loop) const {
    const OfLoop& of = loops_[loop.depth];
    const double left = std::max(0.0, loop.iterations - static_cast<double>(of.iterations));
    std::vector<double> all;
    for (const Seen& s : of.seen) {
      const auto counted = static_cast<double>(s.keys.size());
      const double new_ones = counted - static_cast<double>(s.after_half);
      all.push_back(counted + (of.is_full() ? new_ones * left / (most_counted / 2) : 0));
    }
    return all;
  }

 private:
  struct Seen {
    std::unordered_set<std::uint64_t> keys;  // their hashes
    std::size_t after_half = 0;              // how many there were then
  };
  struct OfLoop {
    const IterationKeys::Wanted* wanted = nullptr;
    std::int64_t iterations = 0;
    std::vector<Seen> seen;  // by caches

    bool is_full() const { return wanted == nullptr || iterations >= most_counted; }
  };

  void look_at(const Iteration& iteration) {
    OfLoop& of = loops_[iteration.depth];
    if (of.is_full()) return;
    const IterationKeys::Piece piece = keys_.piece(iteration);
    for (std::size_t i = 0; i < of.seen.size(); ++i) {
      of.seen[i].keys.insert(hash_of(keys_.key(piece, of.wanted->sets[i])));
    }
    if (++of.iterations == most_counted / 2) {
      for (Seen& s : of.seen) s.after_half = s.keys.size();
    }
    while (open_ > 0 && loops_[open_ - 1].is_full()) --open_;
    if (open_ == 0) throw Enough{};
  }

  IterationKeys& keys_;
  std::vector<OfLoop> loops_;  // by depth
  std::size_t open_ = 0;       // one more than the depth of the innermost that has more to show
};

}  // namespace

IterationKeys::IterationKeys(const Plan& plan, int line_bits)
    : plan_(plan),
      line_bits_(line_bits),
      uses_(plan.steps().size()),
      classes_(plan.steps().size()) {
  find_loops();
}

void IterationKeys::find_loops() {
  const auto& steps = plan_.steps();
  ByGroup<std::int64_t> range{};
  for (DimClass g : all_dim_classes) range[g] = plan_.extent(g);
  const double element = static_cast<double>(plan_.element().value());
  const double lines_per_k =
      static_cast<double>(plan_.mr() + plan_.nr()) * element / (1 << line_bits_);
  ByTensor<bool> packed{};
  double all_iterations = 1;
  for (std::size_t depth = 0; depth < steps.size(); ++depth) {
    const Step& step = steps[depth];
    if (step.kind == Step::Kind::move) packed[step.tensor] = true;
    if (step.kind != Step::Kind::loop) continue;
    const std::int64_t iterations = step.iterations(range[step.group]);
    range[step.group] = std::min(range[step.group], step.largest_tile());
    Uses& uses = uses_[depth];
    uses.packed_outside = packed;
    for (TensorId t : all_tensors) uses.in_place[t] = !packed[t];
    for (TensorId t : {TensorId::A, TensorId::B}) {
      const PackPlan* pack = plan_.pack(t);
      if (pack && range[DimClass::batch] > 1) {
        std::int64_t& phase = uses.phase_of[DimClass::batch];
        phase = std::lcm(phase, pack->places);
      }
      if (!pack || packed[t]) continue;
      const DimClass group = pack->along_rows ? pack->rows : DimClass::k;
      uses.phase_of[group] *= pack->apart * pack->strips;
    }
    double kernels = 1;
    for (DimClass g : all_dim_classes) kernels *= static_cast<double>(range[g]);
    kernels /= static_cast<double>(plan_.mr() * plan_.nr());
    if (iterations == 1) continue;  // the same as the iteration around it
    all_iterations *= static_cast<double>(iterations);
    if (std::accumulate(range.begin(), range.end(), std::int64_t{0}) > largest_ranges) continue;
    loops_.push_back({depth, all_iterations, kernels * lines_per_k});
  }
}

// Two ranges are of one class if the iteration reads the same of all tables, relative to the first
// entry. Two more things count: a pack within cuts its range at multiples of apart * strips, so the
// beginning modulo that; and whether k begins at 0, which the kernel asks.
std::uint32_t IterationKeys::range_class(std::size_t depth, DimClass group, Interval range) {
  Class& c = classes_[depth][group];
  const auto [found, is_new] = c.by_range.try_emplace({range.begin, range.size}, 0u);
  if (!is_new) return found->second;
  const Uses& uses = uses_[depth];
  std::vector<std::int64_t> table{range.size, range.begin % uses.phase_of[group],
                                  group == DimClass::k && range.begin == 0};
  for (TensorId t : all_tensors) {
    if (!plan_.follows(t, group) || !uses.in_place[t]) continue;
    const Offsets& offsets = plan_.offsets(t, group);
    for (std::int64_t i = range.begin; i < range.begin + range.size; ++i) {
      table.push_back(offsets[i] - offsets[range.begin]);
    }
  }
  const auto number = static_cast<std::uint32_t>(c.known.size());
  return found->second = c.known.try_emplace(std::move(table), number).first->second;
}

// Where the iteration's part of an array begins. Where the array itself does, if the iteration does
// not touch it.
std::uint64_t IterationKeys::address(ArrayId a, const Iteration& iteration) const {
  const TensorId t = plan_.arrays().tensor_of(a);
  const Uses& uses = uses_[iteration.depth];
  std::int64_t element = 0;
  if (plan_.arrays().is_buffer(a)) {
    if (uses.packed_outside[t]) {
      element = t == plan_.left() ? iteration.left_offset : iteration.right_offset;
    }
  } else if (uses.in_place[t]) {
    for (DimClass g : all_dim_classes) {
      element += plan_.offset(t, g, (*iteration.tile)[g].begin);
    }
  }
  return static_cast<std::uint64_t>(plan_.base(a).value() + element * plan_.element().value());
}

IterationKeys::Piece IterationKeys::piece(const Iteration& iteration) {
  Piece piece;
  piece.bases = ByArray<std::uint32_t>(plan_.arrays().size());
  piece.shape.push_back(static_cast<std::uint32_t>(iteration.depth));
  for (DimClass g : all_dim_classes) {
    piece.shape.push_back(range_class(iteration.depth, g, (*iteration.tile)[g]));
  }
  for (ArrayId a : plan_.arrays().ids()) {
    const std::uint64_t begin = address(a, iteration);
    piece.shape.push_back(
        static_cast<std::uint32_t>(begin & ((std::uint64_t{1} << line_bits_) - 1)));
    piece.bases[a] = static_cast<std::uint32_t>(begin >> line_bits_);
  }
  return piece;
}

IterationKeys::Key IterationKeys::key(const Piece& piece,
                                      std::span<const std::uint32_t> sets) const {
  Key key = piece.shape;
  for (std::uint32_t s : sets) {
    for (ArrayId a : plan_.arrays().ids()) key.push_back(piece.bases[a] % s);
  }
  return key;
}

std::vector<std::vector<double>> IterationKeys::count(const std::vector<Wanted>& all) {
  KeyCounter counter(*this, all);
  try {
    if (!all.empty()) walk(plan_, counter);
  } catch (const Enough&) {
  }
  std::vector<std::vector<double>> counts;
  for (const Wanted& w : all) counts.push_back(counter.expected(w.loop));
  return counts;
}

}  // namespace tcsim::sim
