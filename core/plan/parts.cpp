#include "core/plan/parts.hpp"

#include <algorithm>

#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Pieces of sums: as many as most numbers of cores divide, not short ones, and their results are
// few beside the operands.
constexpr std::int64_t most_pieces = 48, least_piece = 64;
constexpr double few_results = 1.0 / 16;

double elements_of_operands(const Contraction& c) {
  return static_cast<double>(c.size(TensorId::A).value()) +
         static_cast<double>(c.size(TensorId::B).value());
}

// Two at least: who divides the sums wants that.
std::int64_t pieces_wanted(const Contraction& c, std::int64_t with_work) {
  const double few =
      few_results * elements_of_operands(c) / static_cast<double>(c.size(TensorId::C).value());
  const auto of_results = static_cast<std::int64_t>(std::min(few, 1.0 * most_pieces));
  return std::max<std::int64_t>(2, std::min({most_pieces, with_work, of_results}));
}

// Cycles that the work takes at least, by 256-bit vectors that two units multiply and add, and of
// what is read and written, in a cache, one of them each.
double least_cycles(const Contraction& c) {
  constexpr double vector_bytes = 32;
  const auto element = static_cast<double>(size_of(c.type()).value());
  const double elements =
      elements_of_operands(c) + static_cast<double>(c.size(TensorId::C).value());
  return std::max(c.flops() / 4 * element, elements * element) / vector_bytes;
}

// What a part of the work must take for a thread of its own. OpenMP's threads, spinning, begin and
// end together in 3 us (Zen 3: a contraction of 0.2 us took 2.9 us on two threads, one of 11 us 8).
constexpr double cycles_for_a_thread = 8000;

std::int64_t most_parts(const Contraction& c) {
  return static_cast<std::int64_t>(std::min(1e6, 1 + least_cycles(c) / cycles_for_a_thread));
}

// A group is cut between register tiles, or between the ranges that two kernels cover together; of
// lanes between rows of the right operand, beyond which no tile goes.
std::int64_t cut_unit(const Path& path, DimClass group) {
  std::int64_t range = path.extents[group];
  std::int64_t unit = group == DimClass::m ? path.mr : group == DimClass::n ? path.nr : 1;
  for (const Step& s : path.steps) {
    if (s.kind != Step::Kind::loop || s.group != group) continue;
    if (s.head > 0) return range;
    range = std::min(range, s.tile);
    if (path.lanes && group == DimClass::m && range % path.mr != 0) unit = range;
  }
  return group == DimClass::k ? std::min(range, least_piece) : unit;
}

struct Cut {
  DimClass group;
  std::int64_t unit, units;
  double largest;  // share of the work of the largest part
};

Cut cut_of(const Path& path, DimClass group, int threads) {
  const std::int64_t unit = cut_unit(path, group);
  const std::int64_t units = ceil_div(path.extents[group], unit);
  const std::int64_t largest = ceil_div(units, threads);
  return {group, unit, units, static_cast<double>(largest) / static_cast<double>(units)};
}

}  // namespace

int threads_worth(const Contraction& contraction, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(threads, 1, most_parts(contraction)));
}

Division division(const Contraction& contraction, const Schedule& schedule, const Path& path,
                  int threads) {
  constexpr double alike = 0.01;  // of shares
  Cut best{DimClass::batch, 1, 1, 2};
  std::int64_t read_by_all = 0;  // elements of operands that have not the group
  const auto consider = [&](DimClass group) {
    const Cut cut = cut_of(path, group, threads);
    std::int64_t read = 0;
    for (TensorId t : {TensorId::A, TensorId::B}) {
      if (!path.follows(t, group)) read += contraction.size(t).value();
    }
    const bool better = cut.largest < best.largest - alike ||
                        (cut.largest <= best.largest + alike && read < read_by_all);
    if (better) best = cut, read_by_all = read;
  };
  if (schedule.parallel) {
    consider(*schedule.parallel);
  } else {
    for (DimClass group : {DimClass::n, DimClass::m, DimClass::batch}) consider(group);
  }

  Division division{best.group, {}, best.largest};
  const std::int64_t wanted =
      best.group == DimClass::k ? pieces_wanted(contraction, most_parts(contraction)) : threads;
  const std::int64_t count = std::min(wanted, best.units);
  Tile part;
  for (DimClass g : all_dim_classes) part[g] = {0, path.extents[g]};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = best.units * i / count * best.unit;
    const std::int64_t end =
        std::min(best.units * (i + 1) / count * best.unit, path.extents[best.group]);
    part[best.group] = {begin, end - begin};
    division.parts.push_back(part);
  }
  if (best.group == DimClass::k) {
    division.largest =
        static_cast<double>(ceil_div(count, std::int64_t{threads})) / static_cast<double>(count);
  }
  return division;
}

bool sums_are_worth_dividing(const Contraction& contraction, const Schedule& schedule,
                             const Path& path, int threads) {
  constexpr double much = 0.8;
  Schedule along_k = schedule;
  along_k.parallel = DimClass::k;
  const Division other = division(contraction, schedule, path, threads);
  const Division sums = division(contraction, along_k, path, threads);
  const double results = static_cast<double>(contraction.size(TensorId::C).value()) *
                         static_cast<double>(sums.parts.size());
  return sums.largest < much * other.largest &&
         results <= few_results * elements_of_operands(contraction);
}

}  // namespace tcsim
