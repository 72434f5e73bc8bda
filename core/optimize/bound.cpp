#include "core/optimize/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/model/window.hpp"
#include "core/optimize/search.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"

namespace tcsim {

namespace {

// Parts of the mean over softer caches (core/optimize/bound.hpp). More parts raise the bound a
// little; any number is sound. Source: chosen.
constexpr int soft_parts = 64;
// Lines of a set beyond its ways that the model's occupancy can round to. Source: the end of the
// proof in core/optimize/bound.hpp.
constexpr std::int64_t rounded_lines = 2;

// Extents of A's rows, B's columns, the sum and the batch, and how many of the pairs (m, k) and (n,
// k) read one element of A and B at most.
struct Shape {
  double m, n, k, batch;
  double a_readers = 1, b_readers = 1;
};

// How many pairs of a row and a place along k read one element of t at most: more than one where
// its tiles overlap.
double most_readers(const Contraction& c, TensorId t) {
  double readers = 1;
  for (const Affine& axis : c.tensor(t).axes) {
    if (axis.terms.size() < 2) continue;
    const Affine::Term& a = axis.terms.front();
    const Affine::Term& b = axis.terms.back();
    // Those of one value lie a multiple of (b, -a) / gcd apart (different_values()).
    const std::int64_t g = std::gcd(a.coefficient, b.coefficient);
    const auto chain = [&](const Affine::Term& term, std::int64_t step) {
      return static_cast<double>((c.dim(term.dim).extent - 1) / (step / g) + 1);
    };
    readers *= std::min(chain(a, b.coefficient), chain(b, a.coefficient));
  }
  return readers;
}

// How far p / a + q / b is above p / most_a + q / most_b at least, with a b <= area, a <= most_a
// and b <= most_b.
double least_pair(double p, double most_a, double q, double most_b, double area) {
  if (most_a * most_b <= area) return 0;
  const double lowest_a = area / most_b;  // b at its end
  const double a = std::clamp(std::sqrt(area * p / q), lowest_a, most_a);
  return p / a + q * a / area - p / most_a - q / most_b;
}

// Least misses per multiply-add of touches that are not the first, where nothing of more than
// `area` elements survives.
double hard_reuse(const Shape& s, double output_weight, double area) {
  // Growing n costs A's elements again, growing m those of B.
  const double n = 1 / s.a_readers, m = 1 / s.b_readers;
  return std::min({least_pair(m, s.m, n, s.n, area),
                   least_pair(m, s.m, output_weight, s.k, area * s.a_readers),
                   least_pair(n, s.n, output_weight, s.k, area * s.b_readers)});
}

// The same for a set-associative cache: the mean over larger hard ones.
double soft_reuse(const Shape& s, double output_weight, double area) {
  double sum = 0;
  for (int i = 1; i < soft_parts; ++i) {
    sum += hard_reuse(s, output_weight, area * soft_parts / (soft_parts - i));
  }
  return sum / soft_parts;
}

// Elements that kernels load and store.
double kernel_elements(const Shape& s, const Accounting& accounting, const Kernel& kernel) {
  double elements = s.k * (s.m * std::ceil(s.n / static_cast<double>(kernel.nr.value())) +
                           s.n * std::ceil(s.m / static_cast<double>(kernel.mr.value())));
  if (accounting.write_backs) elements += s.m * s.n;
  return s.batch * elements;
}

// Operands that every schedule of the family packs.
std::vector<TensorId> always_packed(const Contraction& c, std::span<const Kernel> kernels,
                                    RowOrders rows) {
  InPlace may = may_read_in_place(c, kernels, rows);
  // There the search also begins with everything in place, however far apart it is.
  may.right |= has_few_places(c);
  std::vector<TensorId> packed{TensorId::A, TensorId::B};
  for (const Groups& groups : groupings(c, rows)) {
    const TensorId left = left_operand(c, groups);
    std::erase_if(packed, [&](TensorId t) { return t == left ? may.left : may.right; });
  }
  return packed;
}

// Elements that packs load and store at least.
double packed_elements(const Contraction& c, const Accounting& accounting,
                       std::span<const Kernel> kernels, RowOrders rows) {
  if (!accounting.packing) return 0;
  double elements = 0;
  for (TensorId t : always_packed(c, kernels, rows)) elements += c.used(t);
  return (accounting.write_backs ? 2 : 1) * elements;
}

// Those that load least of all that the core's registers hold: of every number of vectors the one
// with the most columns, with rows and along k.
std::vector<Kernel> widest_kernels(const Core& core, ElementType type) {
  std::vector<Kernel> kernels;
  for (const bool along_k : {false, true}) {
    const std::int64_t unit = along_k ? 1 : lanes_of(core, type);
    for (std::int64_t vectors = 1;; ++vectors) {
      Kernel kernel{Elements(vectors * unit), Elements(1), 0, along_k};
      if (!fits_registers(kernel, core, type)) break;
      const auto wider = [&] { return Kernel{kernel.mr, kernel.nr + Elements(1), 0, along_k}; };
      while (fits_registers(wider(), core, type)) kernel = wider();
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

Seconds least_computing(const Contraction& c, const Machine& machine,
                        std::span<const Kernel> kernels, RowOrders rows) {
  Seconds least(HUGE_VAL);
  for (const Groups& groups : groupings(c, std::max(rows, RowOrders::apart))) {
    for (const Kernel& kernel : kernels) {
      least = std::min(least, whole_vectors_time(c, groups, kernel.along_k, machine));
    }
  }
  // kernel_time() adds tiles up, and rounds.
  return least > peak_time(c, machine) ? least * (1 - 1e-12) : least;
}

// "8x6, 12x4 or 4x12"
std::string listed(std::span<const Kernel> kernels) {
  std::string text;
  for (const Kernel& k : kernels) {
    text += fmt::format("{}{}x{}{}",
                        text.empty()            ? ""
                        : &k == &kernels.back() ? " or "
                                                : ", ",
                        k.mr.value(), k.nr.value(), k.along_k ? " along k" : "");
  }
  return text;
}

// `packed`: elements that packs load and store at least; `computing`: what kernels take at least.
ProvenBound bound_with(const Contraction& contraction, const Machine& machine,
                       std::span<const Kernel> kernels, double packed, Seconds computing) {
  common_line(machine);  // refuses what has no lines to count
  const auto extent = [&](DimClass c) {
    return static_cast<double>(contraction.extent(c).value());
  };
  const Shape given{extent(DimClass::m),
                    extent(DimClass::n),
                    extent(DimClass::k),
                    extent(DimClass::batch),
                    most_readers(contraction, TensorId::A),
                    most_readers(contraction, TensorId::B)};
  const auto element = static_cast<double>(size_of(contraction.type()).value());
  const Accounting& accounting = machine.accounting;
  const double output_weight = accounting.write_backs ? 2 : 1;

  ProvenBound bound;
  double least = HUGE_VAL, register_tile = 1;
  for (const Kernel& kernel : kernels) {
    // The rows of the kernel may run along either operand's own dimensions.
    for (const Shape& s : {given, Shape{given.n, given.m, given.k, given.batch}}) {
      least = std::min(least, kernel_elements(s, accounting, kernel));
    }
    register_tile =
        std::max(register_tile, static_cast<double>(kernel.mr.value() * kernel.nr.value()));
  }
  bound.bytes.push_back((least + packed) * element);

  double survivors = register_tile;  // elements; a line that an inner level holds is not asked for
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    const auto line = static_cast<double>(level.line.value.value());
    const bool soft = level.sets() > 1;
    const double lines = static_cast<double>(kept_lines(machine, LevelId{l}).value() +
                                             (soft ? rounded_lines * level.sets() : 0));
    survivors = std::max(survivors, lines * line / element);
    double first = 0;
    for (TensorId t : all_tensors) {
      const double whole = std::ceil(contraction.used(t) * element / line);
      first += (t == TensorId::C ? output_weight : 1) * whole * line;
    }
    double reuse = 0;
    // Where packing does not count there is no bound on reuse: packing an operand again saves what
    // kernels would read of it.
    if (accounting.packing) {
      reuse = soft ? soft_reuse(given, output_weight, survivors)
                   : hard_reuse(given, output_weight, survivors);
    }
    bound.bytes.push_back(first + reuse * element * contraction.flops() / 2);
  }

  if (accounting.compute_roof) bound.time = computing;
  for (std::size_t l = 0; l < bound.bytes.size(); ++l) {
    const LevelId level{static_cast<int>(l)};
    // Rounded as the traffic is, to whole bytes.
    bound.links.push_back(Seconds(std::floor(bound.bytes[l]) / machine.bandwidth(level).value()));
    bound.time = std::max(bound.time, bound.links.back());
  }
  bound.computing = std::ranges::all_of(bound.links, [&](Seconds l) { return l < bound.time; });
  return bound;
}

}  // namespace

ProvenBound proven_bound(const Contraction& contraction, const Machine& machine,
                         std::span<const Kernel> kernels, RowOrders rows) {
  return bound_with(contraction, machine, kernels,
                    packed_elements(contraction, machine.accounting, kernels, rows),
                    least_computing(contraction, machine, kernels, rows));
}

ProvenBound bound_of_all(const Contraction& contraction, const Machine& machine) {
  if (machine.core.cores > 1) return bound_of_all(contraction, view_of_one_core(machine));
  // Packs are optional, and vectors along k may all be full.
  return bound_with(contraction, machine, widest_kernels(machine.core, contraction.type()), 0,
                    peak_time(contraction, machine));
}

std::string family_words(const Contraction& contraction, std::span<const Kernel> kernels,
                         RowOrders rows) {
  std::string words = "kernels within " + listed(kernels);
  // Where vectors may not be full, it matters which rows they are of.
  const Group along = groupings(contraction).front()[DimClass::m];
  if (extent_of(contraction, along) % most_lanes(contraction) != 0) {
    words += ", vectors along ";
    for (DimId d : along) words += contraction.dim(d).name;
  }
  const auto packed = always_packed(contraction, kernels, rows);
  for (TensorId t : packed) {
    words += fmt::format("{}{}", t == packed.front() ? ", " : " and ", to_text(t));
  }
  return packed.empty() ? words : words + " packed";
}

std::string outside_family(const Contraction& contraction, const Schedule& schedule,
                           const Machine& machine, RowOrders rows) {
  const auto kernels = kernel_choices(machine.core, contraction);
  const Path path = only_path(contraction, schedule);
  if (std::ranges::none_of(kernels, [&](const Kernel& k) {
        return path.mr <= k.mr.value() && path.nr <= k.nr.value();
      })) {
    return fmt::format("its kernel {}x{} is not within {}", path.mr, path.nr, listed(kernels));
  }
  if (machine.accounting.compute_roof &&
      whole_vectors_time(contraction, schedule.groups, path.along_k, machine) <
          least_computing(contraction, machine, kernels, rows)) {
    return "its vectors run along other dimensions";
  }
  if (!machine.accounting.packing) return "";
  for (TensorId t : always_packed(contraction, kernels, rows)) {
    if (std::ranges::none_of(path.steps, [&](const Step& s) {
          return s.kind == Step::Kind::move && s.tensor == t;
        })) {
      return fmt::format("it reads {} in place", to_text(t));
    }
  }
  return "";
}

}  // namespace tcsim
