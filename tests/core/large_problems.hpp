// Problems up to what tcsim counts to and beyond, and what they load and store in numbers without
// an end, summed call by call as the schedule's definition says.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "core/machine/machine.hpp"
#include "core/model/countable.hpp"
#include "core/model/traffic.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/seed.hpp"

namespace tcsim::test {

using Wide = boost::multiprecision::cpp_int;

inline Wide wide(std::int64_t n) { return Wide(n); }
inline Wide wide_round_up(const Wide& n, const Wide& to) { return (n + to - 1) / to * to; }
inline double to_double(const Wide& n) { return n.convert_to<double>(); }

inline const Wide most_link_bytes_wide = Wide(1) << 62;

// Log-uniform in [1, most], and 1 now and then.
inline std::int64_t random_extent(Random& random, double most) {
  const double share = static_cast<double>(random.between(0, 1 << 20)) / (1 << 20);
  return std::max<std::int64_t>(1, std::llround(std::exp(share * std::log(most))));
}

// Two to eight dimensions of any classes, A and B with one at least, extents to `most`. Empty where
// a tensor is refused; `why` then says why.
inline std::optional<Contraction> random_large_contraction(Random& random, double most,
                                                           std::string& why) {
  std::string a, b, c;
  Sizes sizes;
  while (a.empty() || b.empty()) {
    a.clear(), b.clear(), c.clear(), sizes.clear();
    const std::int64_t count = random.between(2, 8);
    for (std::int64_t i = 0; i < count; ++i) {
      const char name = static_cast<char>('a' + i);
      const DimClass g = random.chance(10)
                             ? DimClass::batch
                             : random.pick(std::vector{DimClass::m, DimClass::n, DimClass::k});
      if (g != DimClass::n) a += name;
      if (g != DimClass::m) b += name;
      if (g != DimClass::k) c += name;
      sizes[name] = random_extent(random, most);
    }
  }
  for (std::string* s : {&a, &b, &c}) random.shuffle(*s);
  try {
    return parse_contraction(a + "," + b + "->" + c, sizes,
                             random.chance(50) ? Layout::row_major : Layout::column_major,
                             random.chance(50) ? ElementType::f64 : ElementType::f32);
  } catch (const UsageError& e) {
    why = e.what();
    return {};
  }
}

// The product of a group's extents.
inline Wide wide_extent(const Contraction& c, const Group& group) {
  Wide n = 1;
  for (DimId d : group) n *= c.dim(d).extent;
  return n;
}

// A plan's tables of offsets take memory: tests leave out those of groups that are long and yet not
// refused.
inline bool long_tables(const Contraction& c, const Schedule& s) {
  return std::ranges::any_of(s.groups, [&](const Group& dims) {
    const Wide n = wide_extent(c, dims);
    return n > 1 << 16 && n <= 1 << 30;
  });
}

inline Wide wide_size(const Contraction& c, TensorId t) {
  Wide n = 1;
  for (DimId d : c.dims_of(t)) n *= c.dim(d).extent;
  return n;
}

inline Wide wide_element(const Contraction& c) { return size_of(c.type()).value(); }

// Bytes of every array over the link to the registers.
struct WideLink {
  struct Both {
    Wide in, out;
  };
  explicit WideLink(const Arrays& of) : arrays(of) {
    for (auto& phase : moved) phase.resize(static_cast<std::size_t>(of.size()));
  }
  Arrays arrays;
  ByPhase<std::vector<Both>> moved;
  Both& at(Phase p, ArrayId a) { return moved[p][static_cast<std::size_t>(index(a))]; }
  Wide total() const {
    Wide sum = 0;
    for (const auto& phase : moved) {
      for (const Both& b : phase) sum += b.in + b.out;
    }
    return sum;
  }
};

inline WideLink wide_core_link(const Contraction& c, const Schedule& schedule) {
  const Path path = only_path(c, schedule);
  using Ranges = std::map<Wide, Wide>;  // how often each size occurs
  ByGroup<Ranges> ranges;
  for (DimClass g : all_dim_classes) {
    ranges[g][wide_extent(c, schedule.groups[g])] = 1;
  }
  WideLink link{Arrays(path.steps)};
  const Wide element = wide_element(c);
  const auto sum = [](const Ranges& r, auto&& f) {
    Wide all = 0;
    for (const auto& [size, times] : r) all += times * f(size);
    return all;
  };
  const auto size = [](const Wide& n) { return n; };
  const auto once = [](const Wide&) { return Wide(1); };
  ByTensor<std::optional<ArrayId>> packed;
  for (std::size_t depth = 0; depth < path.steps.size(); ++depth) {
    const Step& s = path.steps[depth];
    // Of lanes both operands have rows of m.
    const auto rows_of = [&](TensorId t) {
      return t == path.left || path.lanes ? DimClass::m : DimClass::n;
    };
    const auto panels = [&](TensorId t) {
      const Wide panel = rows_of(t) == DimClass::m ? path.mr : path.nr;
      return [panel](const Wide& n) { return wide_round_up(n, panel); };
    };
    const Ranges &k = ranges[DimClass::k], &batch = ranges[DimClass::batch];
    if (s.kind == Step::Kind::loop) {
      Ranges parts;
      for (const auto& [range, times] : ranges[s.group]) {
        const Wide head = range < s.head ? range : Wide(s.head);
        for (const auto& [part, tile] :
             {std::pair<Wide, Wide>{head, s.head_tile}, {range - head, s.tile}}) {
          if (part == 0) continue;
          if (part >= tile) parts[tile] += times * (part / tile);
          if (part % tile != 0) parts[part % tile] += times;
        }
      }
      ranges[s.group] = parts;
    } else if (s.kind == Step::Kind::move) {
      const DimClass rows = rows_of(s.tensor);
      const DimClass others = rows == DimClass::m ? DimClass::n : DimClass::m;
      // Of what the tensor has not, the copies that are made.
      const auto copies = [&](DimClass g) {
        return path.follows(s.tensor, g) ? sum(ranges[g], size) : sum(ranges[g], once);
      };
      const Wide times = copies(others) * copies(DimClass::batch) * element;
      const ArrayId buffer = link.arrays.made_at(static_cast<int>(depth));
      packed[s.tensor] = buffer;
      link.at(Phase::packing, array_of(s.tensor)).in +=
          times * sum(ranges[rows], size) * sum(k, size);
      link.at(Phase::packing, buffer).out +=
          times * sum(ranges[rows], panels(s.tensor)) * sum(k, size);
    } else {
      const Wide results = sum(ranges[DimClass::m], size) * sum(ranges[DimClass::n], size) *
                           sum(batch, once) * element;
      link.at(Phase::compute, ArrayId::C).out += results * sum(k, once);
      link.at(Phase::compute, ArrayId::C).in += results * (sum(k, once) - 1);
      for (TensorId t : {TensorId::A, TensorId::B}) {
        const DimClass rows = rows_of(t), others = rows == DimClass::m ? DimClass::n : DimClass::m;
        // Each lane has columns of its own.
        const bool by_lane = path.lanes && t == path.right() && !packed[t];
        const Wide times = (by_lane ? sum(ranges[others], size) : sum(ranges[others], once)) *
                           sum(batch, once) * sum(k, size);
        if (packed[t]) {
          link.at(Phase::compute, *packed[t]).in += times * sum(ranges[rows], panels(t)) * element;
        } else {
          link.at(Phase::compute, array_of(t)).in += times * sum(ranges[rows], size) * element;
        }
      }
    }
  }
  return link;
}

// Of all that is in the traffic of a link.
inline Wide wide_total(const LinkTraffic& link) {
  Wide sum = 0;
  for (Phase p : all_phases) {
    for (const Moved& m : link.moved[p]) sum += wide(m.in.value()) + m.out.value();
  }
  return sum;
}

// What a refusal has to say: that it is too large, what the limit is, and what would help.
inline bool says_too_large(const std::string& what) {
  const bool limit = what.find("too large, because") != std::string::npos ||
                     what.find(" or more") != std::string::npos ||
                     what.find("elements") != std::string::npos;
  return limit && what.find(" 2^") != std::string::npos &&
         what.find("; use smaller sizes") != std::string::npos;
}

}  // namespace tcsim::test
