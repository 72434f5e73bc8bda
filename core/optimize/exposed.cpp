#include "core/optimize/exposed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/model/window.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"
#include "core/schedule/result_regions.hpp"
#include "core/schedule/rounds.hpp"
#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Source of these three: measured with kernels/ on one core of an AMD EPYC (Zen 4, virtual
// machine); docs/kernels.md has the command.

// Of the time in which kernels read packed operands from the second cache, from the third one and
// from memory: the share that computation does not hide, where the machine does not say it.
constexpr double usual_second_share = 0.2;
constexpr double usual_third_share = 1;
constexpr double usual_far_share = 0.5;

// Of a column that the hardware foresees. Source: chosen, the smallest page.
constexpr Bytes shortest_stream{4 << 10};
// From here on a piece of C is far from the one before it: a page's address takes longer to find.
// Source: measured on an AMD EPYC (Zen 4, virtual machine), lines of 96 bytes that are 7 KiB apart
// 14 ns each, 1 MiB apart 41 ns.
constexpr Bytes far_away{32 << 10};
// The beginning of a piece, as bytes that memory moves meanwhile, where a region's pieces are asked
// for together before they are written: a line that two of them share. Source: measured on an Intel
// Xeon, pieces of 64 and 296 bytes.
constexpr double begin_of_moved_piece = 64;
// What a tile takes besides whose rows are not all neighbours there: nothing asks for its lines
// before they are written. Source: as before, pieces of 128 rows by 48x8.
constexpr double broken_tile = 2.5;

// Cycles in which a kernel along k adds up the lanes of a result, and stores it. Source: measured
// on an Intel Xeon with AVX-512: 1x11, 2x7 and 2x14, f32.
constexpr double sum_of_lanes = 4;

// Cycles in which a kernel goes on behind places along k that are evenly apart. Source: measured on
// an AMD EPYC (Zen 4, virtual machine), 48x8 in place, f32: 28 behind 3 to 8 places, 45 behind 40.
constexpr double next_stretch = 30;
// Cycles in which kernels along k are told of each such place, when loops go on along k. Source:
// measured as before, c-dcbea-ebcda, a=8,b=21,c=34,d=130,e=31, f64: 43 ms with all of k, 142 in
// tiles of 1040, 233 in tiles of 8.
constexpr double listed_stretch = 120;

// Cycles in which an element of a left operand in place is copied, where fewer of its rows than
// these are neighbours: so for each tile of rows, and again for each tile of columns where those go
// round further out. Source: measured on an Intel Xeon with AVX-512, 6400 schedules of 162 drawn
// contractions; the number of rows is the executor's.
constexpr double copied_element = 2.5;
constexpr std::int64_t fewest_in_place = 4;

// Cycles in which a pack moves a line, begins with a run of neighbours, and with a square. Source:
// measured on an Intel Xeon with AVX-512: runs of 3 to 200 rows, squares of 6 to 48 rows by 5 to 32
// places along k, strips of 3 to 200 rows, f32 and f64.
constexpr double moved_line = 11, begin_of_run = 8, begin_of_square = 50;
constexpr Bytes longest_vector{64};

// Cycles of a block of kernel calls beside those of its tasks and tiles: the walk, and where along
// k and in the batch it is. Source: measured on an AMD EPYC (Zen 3, virtual machine), hot caches,
// ab-akb-kb, a=16,b=500,k=32, f32, `for k by 1|2|4|8 { for batch by 1 { kernel 16x1 } }`: 320 for
// each block of one tile.
constexpr double block_of_calls = 250;

// Pages that the hardware follows, the mean of what these two give, the smallest there are, and
// the lines of one that come before it foresees the others. Source: chosen; on an Intel Xeon 1 to 4
// lines were alike, and each number of pages alone somewhat worse, by 6500 schedules beside the
// choices for 221 drawn contractions.
constexpr std::int64_t fewest_followed = 16, most_followed = 64;
constexpr Bytes smallest_page{4096};
constexpr double first_lines = 2;
// Lines that a core waits for at a time. Source: Intel's cores from Skylake on have 12 to 16.
constexpr double most_on_their_way = 16;
// Translations that a core has at hand, of how many bytes each, and cycles in which it looks up
// another one that is not far. Source: AMD's and Intel's cores have 64 to 96, and AMD's hold four
// pages that are neighbours together; cycles measured on an AMD EPYC (Zen 1), tccg:1, whose kernels
// 8x6 read A in place: places along k that are 760 KiB apart take 2.4 more than such as are 2.4 KiB
// apart.
constexpr std::int64_t held_translations = 64;
constexpr Bytes held_page{16 << 10};
constexpr double looked_up = 2.5;
// Latencies where the machine does not say them. Source: chosen.
constexpr Cycles usual_memory{300}, usual_cache{60};

// Of the cycles of a call, what the beginning of a line takes that kernels write, and again its end
// where it fills no vector. Source: measured on an AMD EPYC (Zen 1), lines of 8 and 16 in the first
// cache: 20 to 25 cycles, lines of 7 twice as many; a call takes 79.
constexpr double of_a_call = 0.3;

// Of what tasks and calls take, and kernels of part of a vector, that is left where the calls for a
// place of the batch are noted and done again, by code that is made for them. Source: measured on
// an AMD EPYC (Zen 1), 3 x 3 x 3, f64, and 5 x 5 x 5, f32: 122 and 207 cycles each, of which
// a task, a call and a part are 529.
constexpr double of_a_noted_call = 0.1;

// Cycles of a result that goes to C by way of a buffer (result_regions()). Source: measured on an
// Intel Xeon in the first caches: 192 x 192 results 0.7 in f32 and 1.1 in f64, 199 x 199 0.9
// and 1.5, 39 x 55 1.5 and 1.9.
constexpr double moved_result = 1.5;

// Of link `l` of so many.
double exposed_share(const Machine& machine, std::size_t l, std::size_t links) {
  const auto& given = machine.levels[l].exposed;
  if (given) return given->value;
  if (l == 0) return 0;
  if (l == 1) return usual_second_share;
  if (l == 2) return usual_third_share;
  return l + 1 == links ? usual_far_share : 0;
}

// What each link takes to move all bytes that count, loads and stores at their own rates.
std::vector<Seconds> link_times(const Prediction& prediction, const Machine& machine) {
  std::vector<Seconds> times = prediction.timing.links;
  for (std::size_t l = 0; l < times.size(); ++l) {
    if (machine.levels[l].loads.value == 1) continue;
    const LinkTraffic& link = prediction.traffic.links[l];
    Moved all;
    for (ArrayId a : link.arrays.ids()) all += link.counted_moves(machine.accounting, a);
    times[l] = machine.link_time(LevelId{static_cast<int>(l)}, all.in, all.out);
  }
  return times;
}

// What address translation knows: the smallest page, and how many bytes of those.
struct Translation {
  Bytes page{4096};      // source: x86-64's smallest
  Bytes reach{4 << 20};  // source: as that of the shares
};
Translation translation_of(const Machine& machine) {
  Translation t;
  if (machine.tlbs.empty()) return t;
  t = {machine.tlbs.front().page, Bytes(0)};
  for (const Tlb& tlb : machine.tlbs) t.page = std::min(t.page, tlb.page);
  for (const Tlb& tlb : machine.tlbs) {
    if (tlb.page == t.page) t.reach = std::max(t.reach, tlb.page * tlb.entries);
  }
  return t;
}

double ceil_ratio(double a, double b) { return std::ceil(a / b); }

using Ranges = ByGroup<std::int64_t>;

// Places of each dimension, for a tile of t that begins where dimensions begin.
using Covered = std::vector<std::int64_t>;

// Sums of_box(Covered) over boxes that make up a tile of t.
template <class OfBox>
double sum_of_boxes(const Contraction& c, const Schedule& schedule, TensorId t,
                    const Ranges& ranges, const OfBox& of_box) {
  // How far the tile covers each dimension: whole ones first, in the group's order. One of one
  // place may be in a group that t does not follow.
  Covered covered(static_cast<std::size_t>(c.dim_count()), 1);
  for (DimClass g : all_dim_classes) {
    if (!follows(c, schedule.groups, t, g)) continue;
    std::int64_t left = ranges[g], inner = 1;
    for (DimId d : schedule.groups[g]) {
      const std::int64_t extent = c.dim(d).extent;
      if (left > extent && left % extent != 0) {
        // Whole ones, and a rest. The next tile begins within that dimension, so the rest is cut
        // twice.
        Ranges whole = ranges, over = ranges;
        over[g] = left % extent * inner;
        whole[g] -= over[g];
        return sum_of_boxes(c, schedule, t, whole, of_box) +
               2 * sum_of_boxes(c, schedule, t, over, of_box);
      }
      covered[static_cast<std::size_t>(index(d))] = std::min(extent, left);
      left = std::max<std::int64_t>(1, left / extent);
      inner *= extent;
    }
  }
  return of_box(covered);
}

// The elements of a tile of t lie in pieces, neighbours in memory: how many.
double pieces(const Contraction& c, const Schedule& schedule, TensorId t, const Ranges& ranges) {
  return sum_of_boxes(c, schedule, t, ranges, [&](const Covered& covered) {
    double run = 1, elements = 1;
    bool goes_on = true;
    for (DimId d : c.memory_order(t)) {
      const std::int64_t part = covered[static_cast<std::size_t>(index(d))];
      elements *= static_cast<double>(part);
      if (goes_on) run = elements;
      goes_on &= part == c.dim(d).extent;
    }
    return elements / run;
  });
}

// How often a pack of a tile of t begins with a page whose address was not in use just before:
// places less than a page apart share pages.
double pages(const Contraction& c, const Schedule& schedule, TensorId t, const Ranges& ranges,
             Bytes page) {
  const Bytes element = size_of(c.type());
  return sum_of_boxes(c, schedule, t, ranges, [&](const Covered& covered) {
    Bytes span = element;
    double far = 1;
    for (DimId d : c.memory_order(t)) {
      const std::int64_t places = covered[static_cast<std::size_t>(index(d))];
      const Bytes apart = c.stride(t, d).value() * element;
      if (apart < page) {
        span += (places - 1) * apart;
      } else {
        far *= static_cast<double>(places);
      }
    }
    return far *
           std::max(1.0, static_cast<double>(span.value()) / static_cast<double>(page.value()));
  });
}

// How many elements of t a tile has.
double elements_of(const Path& path, TensorId t, const Ranges& ranges) {
  const std::int64_t places =
      path.follows(t, DimClass::batch) ? ranges[DimClass::batch] : std::int64_t{1};
  return static_cast<double>(ranges[path.rows_of(t)] * ranges[DimClass::k]) *
         static_cast<double>(places);
}

// Cycles in which a pack moves a tile of t within the first caches (kernels/pack.hpp). Rows that
// are neighbours, or strips of them, are copied run by run; other rows change places with
// neighbours along k or of the batch, a line's worth of each at a time.
double moving(const Contraction& c, const Schedule& schedule, const Path& path, TensorId t,
              const Ranges& ranges) {
  const DimClass rows = path.rows_of(t);
  const std::int64_t line = longest_vector / size_of(c.type());
  const std::int64_t panel = std::min(path.panel_of(t), ranges[rows]);
  const double elements = elements_of(path, t, ranges);
  // Where the neighbours are: in which group, how many, and how many places lie between two.
  DimClass along = DimClass::batch;
  std::int64_t neighbours = 1, apart = 1;
  if (const auto fastest = c.fastest(t)) {
    for (DimClass g : {rows, DimClass::k, DimClass::batch}) {
      const Group& group = schedule.groups[g];
      const auto place = std::ranges::find(group, *fastest);
      if (place == group.end()) continue;
      along = g;
      for (auto d = group.begin(); d != place; ++d) apart *= c.dim(*d).extent;
      const Group rest(place, group.end());
      neighbours =
          std::min(neighbours_in(c, {t}, rest), std::max<std::int64_t>(1, ranges[g] / apart));
    }
  }
  const double lines = elements / static_cast<double>(line) * moved_line;
  const auto runs_of = [&](std::int64_t length) {
    return lines + elements / static_cast<double>(length) * begin_of_run;
  };
  const auto squares_of = [&](std::int64_t a, std::int64_t b) {
    return lines +
           elements / static_cast<double>(std::min(a, line) * std::min(b, line)) * begin_of_square;
  };
  if (along == rows) return runs_of(std::min(apart == 1 ? neighbours : apart, panel));
  if (along == DimClass::k && panel == 1) {
    return apart == 1 ? runs_of(neighbours) : squares_of(apart, neighbours);
  }
  return squares_of(panel > 1 ? panel : ranges[DimClass::k], neighbours);
}

// Whether places of the group are neighbours in t.
bool are_neighbours(const Contraction& c, TensorId t, const Group& group) {
  const auto first = std::ranges::find_if(group, [&](DimId d) { return c.dim(d).extent > 1; });
  return first != group.end() && c.stride(t, *first) == Elements(1);
}

// Whether t's stride-one dimension lies behind others in its group. A pack then writes lines here
// and there.
bool scatters(const Contraction& c, const Schedule& schedule, TensorId t) {
  const auto fastest = c.fastest(t);
  return fastest && std::ranges::none_of(schedule.groups, [&](const Group& group) {
           const auto first =
               std::ranges::find_if(group, [&](DimId d) { return c.dim(d).extent > 1; });
           return first != group.end() && *first == *fastest;
         });
}

bool is_packed(const Path& path, TensorId t) {
  return std::ranges::any_of(
      path.steps, [&](const Step& s) { return s.kind == Step::Kind::move && s.tensor == t; });
}

// Whether kernels read a plain operand as it lies.
bool in_place(const Contraction& c, const Path& path, TensorId t) {
  return c.is_plain(t) && !is_packed(path, t);
}

// How many places along k are evenly apart in all plain operands in place, from any multiple of it
// on.
std::int64_t stretch_of(const Contraction& c, const Schedule& schedule, const Path& path) {
  std::int64_t places = path.extents[DimClass::k];
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (!in_place(c, path, t)) continue;
    places = std::min(places, even_part(c, t, schedule.groups[DimClass::k]));
  }
  return places;
}

// Whether the group goes through t as it lies in memory.
bool in_memory_order(const Contraction& c, TensorId t, const Group& group) {
  return std::ranges::is_sorted(group, {}, [&](DimId d) { return c.stride(t, d); });
}

// The share of a path's tiles whose rows are not all neighbours in t.
double broken_share(const Contraction& c, const Schedule& schedule, const Path& path, TensorId t) {
  const Group& m = schedule.groups[DimClass::m];
  const std::int64_t together = neighbours_in(c, {t}, m);
  if (together == extent_of(c, m)) return 0;
  if (keep_to_rows(path.steps, DimClass::m, path.extents[DimClass::m], together)) return 0;
  const std::int64_t across = path.mr - std::gcd(path.mr, together);
  return std::min(1.0, static_cast<double>(across) / static_cast<double>(together));
}

// Cycles of a step along k of a kernel on so many rows, columns and places along k, beyond
// step_cycles(): it loads a column of the left operand and a row of the right one, or with
// `by_lane` as many vectors as there are results.
double lost_in_loads(const Core& core, std::int64_t lanes, std::int64_t rows, std::int64_t columns,
                     std::int64_t k, bool by_lane) {
  const auto vectors = static_cast<double>(ceil_div(rows, lanes));
  const auto n = static_cast<double>(columns);
  const double loads = (vectors + n * (by_lane ? vectors : 1)) * core.overhead.load.value.value();
  return std::max(0.0, loads - step_cycles(core, lanes, rows, columns, k));
}

// The same of a kernel along k, which takes `vectors` for each place along k.
double lost_along_k(const Core& core, double vectors, std::int64_t rows, std::int64_t columns) {
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns);
  const double loads = (m + n) * core.overhead.load.value.value();
  return std::max(0.0, loads - m * n / core.fma_per_cycle.value) * vectors;
}

// How the kernels of a path go over the rows: those that they take one after the other before they
// go on with other columns, and how many places along k they take meanwhile.
struct Rows {
  std::int64_t length, places;
};
Rows rows_of(const Path& path) {
  Rows r{path.mr, path.extents[DimClass::k]};
  std::int64_t range = path.extents[DimClass::m];
  for (const Step& s : path.steps) {
    if (s.kind != Step::Kind::loop) continue;
    if (s.group == DimClass::k) r.places = s.tile;
    r.length = s.group == DimClass::m ? std::exchange(range, s.tile) : path.mr;
  }
  return r;
}

// The share of the lines that kernels ask for of the left operand in place, a tile of rows before
// they read them, that leave the second cache meanwhile and come again: what both tiles take of it.
// Source: measured on an AMD EPYC (Zen 1, second cache 512 KiB), 6000 x 6000 in f32 by columns
// times a vector, 16x1: 160 places along k 9 ms, 320 11, 1504 16, 3008 29, 6000 31.
double asked_in_vain(const Contraction& c, const Path& path, const Machine& machine) {
  if (!in_place(c, path, path.left) || path.lanes || path.along_k) return 0;
  if (machine.cache_count() < 2) return 0;
  const Rows rows = rows_of(path);
  const Bytes line = common_line(machine);
  const std::int64_t lines = ceil_div((path.mr * size_of(c.type())).value(), line.value());
  constexpr std::int64_t tiles = 2;
  const Bytes both = tiles * rows.places * lines * line;
  const Bytes room = machine.level(LevelId{1}).capacity.value;
  return std::min(1.0, static_cast<double>(both.value()) / static_cast<double>(room.value()));
}

// How many rows a line of C has where kernels write lines: neighbours in C and in what is read in
// place.
double line_of(const Contraction& c, const Schedule& schedule, const Path& path) {
  ByTensor<bool> reads{};
  reads[TensorId::C] = reads[path.left] = true;
  reads[path.right()] = path.lanes;
  for (const Step& s : path.steps) {
    if (s.kind == Step::Kind::move) reads[s.tensor] = false;
  }
  std::int64_t line = 1;
  for (DimId d : schedule.groups[DimClass::m]) {
    if (c.dim(d).extent == 1) continue;
    const auto goes_on = [&](TensorId t) { return !reads[t] || c.stride(t, d) == Elements(line); };
    if (!std::ranges::all_of(all_tensors, goes_on)) break;
    line *= c.dim(d).extent;
  }
  return static_cast<double>(std::min(line, rows_of(path).length));
}

// From the places of a group that are together to what comes behind them in t, 0 where nothing
// does.
Bytes behind(const Contraction& c, TensorId t, const Group& group, std::int64_t together) {
  std::int64_t places = 1;
  for (DimId d : group) {
    const std::int64_t extent = c.dim(d).extent;
    if (extent > 1 && places >= together) return c.stride(t, d).value() * size_of(c.type());
    places *= extent;
  }
  return Bytes(0);
}

// The beginning of a piece that far away from the one before, as bytes that memory moves
// meanwhile.
double beginning_of(const Overhead& lost, Bytes away) {
  return (away < far_away ? lost.result_piece : lost.far_result_piece).value;
}

// What of C such kernels write before they go on elsewhere: a line, or a column of several lines,
// or columns of a line each. And what it takes to begin with it, as bytes that memory moves
// meanwhile: a column's lines follow one another, and its first one the last one of the column
// before.
struct LinesTogether {
  Ranges piece{1, 1, 1, 1};
  double begin;
};
LinesTogether lines_together(const Contraction& c, const Schedule& schedule, const Path& path,
                             const Overhead& lost) {
  Ranges range = path.extents;
  std::int64_t columns = 1;
  for (const Step& s : path.steps) {
    if (s.kind != Step::Kind::loop) continue;
    if (s.group == DimClass::n && s.tile == 1) columns = range[s.group];
    range[s.group] = std::min(range[s.group], s.tile);
  }
  const std::int64_t rows = rows_of(path).length;
  const auto line = static_cast<std::int64_t>(line_of(c, schedule, path));
  const auto beginning = [&](DimClass group, std::int64_t together) {
    return beginning_of(lost, behind(c, TensorId::C, schedule.groups[group], together));
  };
  const double of_column = beginning(DimClass::n, 1);
  const double lines = ceil_ratio(static_cast<double>(rows), static_cast<double>(line));
  const double of_line = beginning(DimClass::m, line);
  LinesTogether together;
  together.piece[DimClass::m] = rows;
  if (lines <= 1) together.piece[DimClass::n] = columns;
  together.begin = (of_column + (lines - 1) * of_line) / lines;
  return together;
}

// The share of the right operand's columns in place that kernels ask for while they compute the
// columns before: all but the first ones of a loop over them, where a column's places along k are
// neighbours. Source: the executor; measured on an Intel Xeon (Granite Rapids), abcd-ebad-ce,
// a=b=d=e=60, c=3, f64, whose columns lie 28 KiB apart: 10.1 ms, at memory's bandwidth.
double asked_columns(const Contraction& c, const Schedule& schedule, const Path& path) {
  const TensorId right = path.right();
  if (!in_place(c, path, right) || path.lanes || path.along_k) return 0;
  Ranges range = path.extents;
  double tiles = 1;
  for (const Step& s : path.steps) {
    if (s.kind != Step::Kind::loop) continue;
    if (s.group == DimClass::n) {
      tiles = ceil_ratio(static_cast<double>(range[s.group]), static_cast<double>(s.tile));
    } else if (s.group != DimClass::m) {
      tiles = 1;  // the next columns are those of another place
    }
    range[s.group] = std::min(range[s.group], s.tile);
  }
  const Group& k = schedule.groups[DimClass::k];
  const bool in_columns =
      are_neighbours(c, right, k) && even_part(c, right, k) >= range[DimClass::k];
  return in_columns ? (tiles - 1) / tiles : 0;
}

// Pages as the window model sees lines: in a cache of those that the hardware follows.
Machine followed_pages(std::int64_t most, Bytes page = smallest_page) {
  Level followed, all;
  followed.capacity.value = most * page;
  followed.ways.value = most;
  followed.line.value = page;
  all.kind = LevelKind::memory;
  Machine m;
  m.levels = {followed, all};
  return m;
}

// How many lines or pages of that size kernels read of t over a link.
double read(const LinkTraffic& link, TensorId t, Bytes unit) {
  return static_cast<double>(link.at(Phase::compute, array_of(t)).in.value()) /
         static_cast<double>(unit.value());
}

// What kernels wait for plain operands in place, beyond the links' bandwidths: for the first lines
// of each page that they come to, or come back to behind more others than the hardware follows.
Seconds waiting_for_pages(const Contraction& c, const Schedule& schedule, const Path& path,
                          const Prediction& prediction, const Machine& machine) {
  static const std::array followed{followed_pages(fewest_followed), followed_pages(most_followed)};
  Seconds sum{0};
  if (!in_place(c, path, TensorId::A) && !in_place(c, path, TensorId::B)) return sum;
  ByTensor<double> unforeseen{};
  for (const Machine& pages : followed) {
    SharedCounts counts;
    const Traffic traffic = window_traffic(c, schedule, pages, counts, 1, Detail::coarse);
    for (TensorId t : {TensorId::A, TensorId::B}) {
      unforeseen[t] += first_lines * read(traffic.links.back(), t, smallest_page) /
                       static_cast<double>(followed.size());
    }
  }
  const std::size_t links = prediction.traffic.links.size();
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (!in_place(c, path, t)) continue;
    Seconds waiting{0};
    double further = 0;  // lines from the levels outside
    for (std::size_t l = links; l-- > 2;) {
      const Level& level = machine.levels[l];
      const double lines = read(prediction.traffic.links[l], t, longest_vector);
      const double waited = std::min(std::max(0.0, lines - further), unforeseen[t]);
      const Cycles latency = level.latency    ? level.latency->value
                             : l + 1 == links ? usual_memory
                                              : usual_cache;
      const double one = latency.value() / machine.core.frequency.value.value() / most_on_their_way;
      const Seconds moved =
          machine.link_time(LevelId{static_cast<int>(l)}, longest_vector, Bytes(0));
      waiting += Seconds(waited * std::max(0.0, one - moved.value()));
      unforeseen[t] -= waited;
      further = std::max(further, lines);
    }
    // Kernels ask for the left operand's next rows while they compute.
    if (t == path.left) waiting = std::max(Seconds(0), waiting - prediction.timing.compute);
    if (t == path.right()) waiting = (1 - asked_columns(c, schedule, path)) * waiting;
    sum += waiting;
  }
  return sum;
}

// What kernels take to look up translations again for plain operands in place.
Seconds translating(const Contraction& c, const Schedule& schedule, const Path& path,
                    const Machine& machine) {
  static const Machine held = followed_pages(held_translations, held_page);
  Seconds sum{0};
  if (!in_place(c, path, TensorId::A) && !in_place(c, path, TensorId::B)) return sum;
  SharedCounts counts;
  const LinkTraffic link =
      window_traffic(c, schedule, held, counts, 1, Detail::coarse).links.back();
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (!in_place(c, path, t)) continue;
    const double first = pages(c, schedule, t, path.extents, held_page);
    sum += Seconds(std::max(0.0, read(link, t, held_page) - first) * looked_up /
                   machine.core.frequency.value.value());
  }
  return sum;
}

// Whether kernels go through the columns of a plain left operand in place as the hardware foresees:
// a few long ones, or what they take meanwhile lies together in memory and in the first cache. C's
// rows are read and written again for each few columns, so they are neighbours, or few.
bool streams_left(const Contraction& c, const Schedule& schedule, const Path& path,
                  const ResultRegions& regions, const Machine& machine) {
  if (path.lanes || path.along_k) return false;
  const Rows rows = rows_of(path);
  const Group& m = schedule.groups[DimClass::m];
  if (m.empty()) return false;
  const Bytes element = size_of(c.type());
  const bool neighbours = are_neighbours(c, TensorId::C, m) || regions.used();
  const Bytes column = rows.length * element, block = rows.places * column;
  const auto lie_together = [&](std::int64_t count, std::int64_t places) {
    const double runs = pieces(c, schedule, path.left, {count, 1, places, 1});
    const Bytes bytes = count * places * element;
    return runs * static_cast<double>(shortest_stream.value()) <=
           static_cast<double>(bytes.value());
  };
  if (neighbours && rows.places <= most_streams && lie_together(rows.length, 1)) return true;
  if (!neighbours && column > shortest_stream) return false;
  // What a kernel reads lies together, or what all kernels do before they come back to its lines.
  if (lie_together(path.mr, rows.places)) return true;
  const bool again = rows.length > path.mr;  // lines are shared by kernels, which come back to them
  if (block < shortest_stream) return false;
  if (again && block > machine.level(LevelId{0}).capacity.value) return false;
  return lie_together(rows.length, rows.places);
}

// What beginnings take of C's traffic beyond the caches, as a multiple of its time at the link's
// bandwidth: it comes and goes in pieces, neighbours in memory of what the innermost loop runs
// over, or of a tile where tiles go over the end of C's rows.
double beginnings_of_c(const Contraction& c, const Schedule& schedule, const Path& path,
                       const ResultRegions& regions, const Overhead& lost) {
  const auto element = static_cast<double>(size_of(c.type()).value());
  const double begin = beginning_of(
      lost, path.nr > 1 ? behind(c, TensorId::C, schedule.groups[DimClass::n], 1) : Bytes(0));
  const auto longer_by = [&](const Ranges& piece, double times) {
    const auto elements =
        static_cast<double>(piece[DimClass::m] * piece[DimClass::n] * piece[DimClass::batch]);
    return times * pieces(c, schedule, TensorId::C, piece) / (elements * element);
  };
  if (regions.used()) return longer_by(regions.sizes, begin_of_moved_piece);
  if (writes_lines(path)) {
    const LinesTogether lines = lines_together(c, schedule, path, lost);
    return longer_by(lines.piece, lines.begin);
  }
  if (const double broken = broken_share(c, schedule, path, TensorId::C); broken > 0) {
    return begin / (static_cast<double>(path.mr) * element) + broken_tile * broken;
  }
  Ranges inside = path.extents, around = path.extents;
  std::int64_t places = 1;  // of the batch, whose results come into the same lines
  for (const Step& s : path.steps) {
    if (s.kind != Step::Kind::loop) continue;
    around = inside;
    const bool outermost = &s == &path.steps.front();
    if (s.group == DimClass::batch && !outermost) places = inside[s.group];
    inside[s.group] = s.tile;
  }
  around[DimClass::batch] = places;
  return longer_by(around, begin);
}

// Where kernels write lines, what says where each place of a group lies is read beside the numbers:
// an offset in each tensor that follows the group (core/plan/plan.hpp). Tables beyond the second
// cache, where there is one, come over the links outside it, as often as loops go through the
// group.
Seconds reading_tables(const Contraction& c, const Schedule& schedule, const Path& path,
                       const Machine& machine) {
  Seconds sum{0};
  if (!writes_lines(path)) return sum;
  for (DimClass g : all_dim_classes) {
    const auto tables = std::ranges::count_if(
        all_tensors, [&](TensorId t) { return follows(c, schedule.groups, t, g); });
    const Bytes bytes(path.extents[g] * tables * static_cast<std::int64_t>(sizeof(std::int64_t)));
    double passes = 1;
    Ranges range = path.extents;
    for (const Step& s : path.steps) {
      if (s.kind != Step::Kind::loop) continue;
      if (s.group == g) break;
      passes *= ceil_ratio(static_cast<double>(range[s.group]), static_cast<double>(s.tile));
      range[s.group] = std::min(range[s.group], s.tile);
    }
    const int near = std::min(1, machine.cache_count() - 1);
    int level = near;
    while (level < machine.cache_count() && bytes > machine.level(LevelId{level}).capacity.value) {
      ++level;
    }
    if (level > near) sum += passes * machine.link_time(LevelId{level}, bytes, Bytes(0));
  }
  return sum;
}

// Whether the executor notes the kernel calls for a place of the batch, so many, and does them
// again for the others.
bool are_noted(const Path& path, double calls) {
  const auto inner_place = [](const Step& s) {
    return s.kind == Step::Kind::loop && s.group == DimClass::batch;
  };
  return !path.lanes && calls <= static_cast<double>(most_noted) &&
         std::none_of(path.steps.begin() + 1, path.steps.end(), inner_place);
}

// Whether the second cache holds what a round reads and what it asks for meanwhile, for the next.
// Source: measured on an Intel Xeon (Granite Rapids, 2 MiB), ab-ak-kb, a=b=31, k=200000, f64, by
// 31x6: rounds of 200 to 1600 places take 9.3 to 9.8 ms, of 2000 10.7, of 2400 and 3000 11.8.
bool next_round_fits(const Contraction& c, const Path& path, const Machine& machine) {
  const Round round = *round_of(path);
  const Bytes both = 2 * (round.rows + round.columns) * round.places * size_of(c.type());
  constexpr std::int64_t quarters = 3;  // of the cache, which has other lines too
  return machine.cache_count() > 1 &&
         4 * both <= quarters * machine.level(LevelId{1}).capacity.value;
}

}  // namespace

Exposed exposed(const Contraction& c, const Schedule& schedule, const Prediction& prediction,
                const Machine& machine, CallsAre calls) {
  const Path path = only_path(c, schedule);
  const Overhead& lost = machine.core.overhead;
  const Translation translation = translation_of(machine);
  // Lanes that run inside columns read an image from beginning to end, as the hardware foresees.
  const auto loops = [](const Step& s) { return s.kind == Step::Kind::loop; };
  const auto last = std::find_if(path.steps.rbegin(), path.steps.rend(), loops);
  const bool reads_on = path.lanes &&
                        (!c.is_plain(path.right()) ||
                         in_memory_order(c, path.right(), schedule.groups[DimClass::k])) &&
                        (last == path.steps.rend() || last->group == DimClass::m ||
                         path.extents[DimClass::m] <= path.mr);
  const ResultRegions regions =
      result_regions(c, schedule.groups, path, lanes_of(machine.core, c.type()));
  const bool scattered =
      !regions.used() && !are_neighbours(c, TensorId::C, schedule.groups[DimClass::m]);
  const bool one_by_one = scattered && !path.along_k;
  const bool goes_on = streams_left(c, schedule, path, regions, machine);
  const bool asked = asks_ahead(c, schedule.groups, path);
  const bool comes_in_time = asked && next_round_fits(c, path, machine);
  const double in_vain = asked_in_vain(c, path, machine);
  Exposed result;
  const std::size_t links = prediction.traffic.links.size();
  const Seconds memory = link_times(prediction, machine).back();
  const double pieces_of_c = beginnings_of_c(c, schedule, path, regions, lost);
  const std::size_t beyond_second = std::min<std::size_t>(2, links - 1);
  Seconds pieces_asked_for{0};
  const bool memory_decides = memory >= prediction.timing.compute;
  for (std::size_t l = 0; l < links; ++l) {
    const LinkTraffic& link = prediction.traffic.links[l];
    const auto time = [&](const Moved& moved) {
      return machine.link_time(LevelId{static_cast<int>(l)}, moved.in, moved.out);
    };
    Moved all, packed, of_c;
    for (ArrayId a : link.arrays.ids()) {
      // An operand in place lies too far apart for the hardware to fetch it from further than the
      // second cache.
      const bool foreseen = link.arrays.is_buffer(a) || path.along_k ||
                            (reads_on && a == array_of(path.right())) ||
                            (goes_on && a == array_of(path.left));
      if (a == ArrayId::C) {
        of_c = link.counted_moves(machine.accounting, a);
      } else if (comes_in_time && l > 1 && a == array_of(path.left)) {
        continue;
      } else if (!foreseen && l > 1) {
        all += link.counted_moves(machine.accounting, a);
        if (a == array_of(path.left)) {
          result.traffic += in_vain * time({link.at(Phase::compute, a).in, {}});
        }
      } else {
        all += link.at(Phase::packing, a);
        const bool in_time = asked && l == 1 && a == array_of(path.left);
        if (!in_time) packed.in += link.at(Phase::compute, a).in;
      }
    }
    // Regions come and go while nothing computes, and nobody asks for the lines of results that go
    // there one by one. What registers take is the kernel's.
    const double share_of_c = regions.used() || one_by_one || l == 0 ? 1 : lost.results.value;
    result.traffic += share_of_c * time(of_c);
    if (l == beyond_second) pieces_asked_for = share_of_c * pieces_of_c * time(of_c);
    if (l + 1 == links) result.pieces = pieces_of_c * time(of_c);
    result.traffic += time(all) + exposed_share(machine, l, links) * time(packed);
  }

  if (memory + result.pieces < prediction.timing.compute) {
    // Kernels ask for a tile's lines in time, but the hardware foresees those of a column only.
    // What nobody measured counts as a whole already. Source: measured on an Intel Xeon (Granite
    // Rapids), abcd-aebf-fdec: again in and out, a result takes 0.8 cycles by columns, 2.7 by 24
    // rows.
    if (lost.results.origin != Origin::assumed) result.traffic += pieces_asked_for;
    result.pieces = Seconds(0);
  }
  result.traffic += reading_tables(c, schedule, path, machine);
  result.traffic += waiting_for_pages(c, schedule, path, prediction, machine);
  // Memory's lines take longer than that.
  if (!memory_decides) result.core += translating(c, schedule, path, machine);

  const Group& n = schedule.groups[DimClass::n];
  const bool packed = is_packed(path, path.right());
  if (!packed && !path.lanes && !path.along_k && !n.empty() &&
      c.stride(path.right(), n.front()) != Elements(1)) {
    result.core += lost.apart.value * prediction.timing.compute;
  }
  const bool in_lines = writes_lines(path) && !regions.used();
  const std::int64_t lanes = lanes_of(machine.core, c.type());
  const double results = static_cast<double>(path.mr * path.nr);
  const auto element = static_cast<double>(size_of(c.type()).value());
  double cycles = 0, times = 1;  // how often the current step is done
  double in_task = 1;            // tiles of a task
  double columns_in_task = 1;    // those of the same rows
  double k_blocks = 0;           // how often loops go on along k
  const double broken =
      scattered || regions.used() ? 0 : broken_share(c, schedule, path, TensorId::C);
  // Rows in place that end within a tile: a kernel takes those, another one the others. Few
  // neighbours are copied.
  const bool rows_in_place = in_place(c, path, path.left) && !path.lanes && !path.along_k;
  const bool copies_rows =
      rows_in_place &&
      neighbours_in(c, {path.left}, schedule.groups[DimClass::m]) < fewest_in_place;
  const double split =
      rows_in_place && !copies_rows ? broken_share(c, schedule, path, path.left) : 0;
  double moves = 1;   // how often a region goes to C
  double blocks = 0;  // of kernel calls
  bool noted = false;
  const auto batch = static_cast<double>(path.extents[DimClass::batch]);
  const std::size_t depth_of_blocks = block_depth(path);
  const LevelId outermost{machine.cache_count() - 1};
  Ranges range = path.extents;
  for (const Step& s : path.steps) {
    const auto depth = static_cast<std::size_t>(&s - path.steps.data());
    if (depth == depth_of_blocks) blocks = times;
    switch (s.kind) {
      case Step::Kind::loop: {
        std::int64_t& r = range[s.group];
        const double steps = ceil_ratio(static_cast<double>(r), static_cast<double>(s.tile));
        times *= steps;
        if (s.group == DimClass::k && steps > 1) k_blocks = times;
        if (s.group == DimClass::k && depth < regions.depth) moves *= steps;
        columns_in_task = s.group == DimClass::n ? steps : 1;
        const bool registers = (s.group == DimClass::m && s.tile == path.mr) ||
                               (s.group == DimClass::n && s.tile == path.nr);
        in_task = registers ? steps : 1;
        r = std::min(r, s.tile);
        break;
      }
      case Step::Kind::move: {
        const DimClass rows = path.rows_of(s.tensor);
        const double begins = pages(c, schedule, s.tensor, range, translation.page);
        // Packs of a few lines wait for memory together.
        const double lines = elements_of(path, s.tensor, range) * element /
                             static_cast<double>(longest_vector.value());
        const double alone = std::min(1.0, lines / most_on_their_way);
        cycles += times * ((alone * lost.pack.value + begins * lost.piece.value).value() +
                           moving(c, schedule, path, s.tensor, range));
        const double bytes =
            static_cast<double>(range[rows]) * static_cast<double>(range[DimClass::k]) * element;
        if (scatters(c, schedule, s.tensor)) {
          const double scattered_lines = bytes / static_cast<double>(common_line(machine).value());
          const bool in_cache =
              scattered_lines <= static_cast<double>(kept_lines(machine, outermost).value());
          const bool beyond_reach = bytes > static_cast<double>(translation.reach.value());
          cycles += times * scattered_lines *
                    (!in_cache      ? lost.far_line.value.value()
                     : beyond_reach ? lost.far_page.value.value()
                                    : 0);
        }
        break;
      }
      case Step::Kind::part:
        break;
      case Step::Kind::kernel:
        if (copies_rows) {
          const std::int64_t elements = path.mr * range[DimClass::k];
          cycles += times / columns_in_task * static_cast<double>(elements) * copied_element;
        }
        if (in_lines) {
          const double line = line_of(c, schedule, path);
          const bool whole = std::fmod(line, static_cast<double>(lanes)) == 0;
          cycles += times * results / line * (whole ? 1 : 2) * of_a_call * lost.call.value.value();
          break;
        }
        noted = calls == CallsAre::noted && are_noted(path, times / batch) && !regions.used();
        cycles +=
            times * ((noted ? of_a_noted_call : 1) *
                         (lost.task.value.value() / in_task + lost.call.value.value()) +
                     broken * lost.broken.value.value() +
                     split * (lost.broken.value + lost.call.value + lost.partial.value).value());
        if (one_by_one) cycles += times * results * lost.scatter.value.value();
    }
  }
  if (regions.used()) cycles += moves * c.used(TensorId::C) * moved_result;
  if (!writes_lines(path) && !are_noted(path, times / batch)) cycles += blocks * block_of_calls;
  const auto steps_of_k = static_cast<double>(path.extents[DimClass::k]);
  double k_tiles = 0, next_stretches = 0;
  std::int64_t longest_k = 1;
  const auto stretch = static_cast<double>(stretch_of(c, schedule, path));
  for (const auto& [size, count] : kernel_tiles(path, DimClass::k)) {
    k_tiles += count;
    next_stretches += count * (ceil_ratio(static_cast<double>(size), stretch) - 1);
    longest_k = std::max(longest_k, size);
  }
  if (path.along_k) {
    cycles += k_blocks * ceil_ratio(static_cast<double>(longest_k), stretch) * listed_stretch;
  }
  double in_stretches = 0;
  const double vectors = path.along_k ? vectors_along_k(c, schedule, path, lanes) : 1;
  const TileSizes columns_of = kernel_tiles(path, DimClass::n);
  for (const auto& [rows, row_tiles] : kernel_tiles(path, DimClass::m)) {
    for (const auto& [columns, column_tiles] : columns_of) {
      const double tiles = row_tiles * column_tiles * batch;
      if (path.along_k) {
        cycles += tiles * steps_of_k * lost_along_k(machine.core, vectors, rows, columns);
        cycles += tiles * k_tiles * sum_of_lanes * static_cast<double>(rows * columns);
      } else if (!in_lines) {
        cycles += tiles * steps_of_k *
                  lost_in_loads(machine.core, lanes, rows, columns, longest_k, path.lanes);
        const double left = noted ? of_a_noted_call : 1;
        // Tiles smaller than the kernel are tasks of their own.
        const bool partial = rows % lanes != 0 && rows != path.mr;
        if (partial) cycles += tiles * k_tiles * left * lost.partial.value.value();
      }
      in_stretches += tiles * next_stretches * next_stretch;
    }
  }
  // What next stretches take does not hide behind memory: a kernel that leaves a loop waits for
  // what it has asked for.
  cycles += in_stretches;
  result.core += Seconds(cycles / machine.core.frequency.value.value());
  return result;
}

Machine in_first_cache(Machine machine) {
  for (std::size_t l = 1; l < machine.levels.size(); ++l) {
    Level& level = machine.levels[l];
    level.bandwidth.value = {1e18, Bandwidth::Unit::bytes_per_second};
    level.latency = Figure<Cycles>{Cycles(0), Origin::hypothetical, ""};
  }
  return machine;
}

Expected expected(const Contraction& c, const Schedule& schedule, const Prediction& prediction,
                  const Machine& machine) {
  if (machine.core.cores > 1) {
    return expected(c, schedule, prediction, view_of_one_core(machine));
  }
  const Seconds compute = machine.accounting.compute_roof ? prediction.timing.compute
                                                          : kernel_time(c, schedule, machine);
  return {std::ranges::max(link_times(prediction, machine)), compute,
          exposed(c, schedule, prediction, machine)};
}

}  // namespace tcsim
