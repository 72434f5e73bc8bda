#include "core/optimize/tiling.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"
#include "core/schedule/result_regions.hpp"
#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Extent of the first dimension, in rows of the kernel, from which on the tiles that go over its
// end are few enough to copy. Source: chosen.
constexpr std::int64_t many_kernels = 8;
// Places along k that pieces have at least, or a copy is better. Source: chosen, as the executor's.
constexpr std::int64_t shortest_piece = 3;
// Columns up to which windows of an image are read in place as the left operand; beside more a copy
// is read so often that it pays. Source: measured on an Intel Xeon with AVX-512, 3 x 3 filters,
// nchw: in place 1.1 to 1.2 times as fast with 64 columns, 0.88 to 0.94 times with 84 and more.
constexpr std::int64_t most_columns_beside_windows = 64;
// Readings, by whole kernels, up to which a plain operand in pieces is read in place. Source:
// chosen; measured on an AMD EPYC (Zen 4), tccg:29, where it is read 256 times, runs 0.75 times as
// fast as packed, and random contractions where it is read a few times 1.1 to 1.2 times.
constexpr std::int64_t few_readings = 8;
// Rows of kernels along k.
constexpr std::int64_t rows_along_k = 4;
// Bytes of the widest vector that there is. Source: AVX-512.
constexpr std::int64_t widest_vector = 64;

// A class's dimensions in the memory order of t.
Group in_order_of(const Contraction& c, TensorId t, DimClass cls) {
  Group dims;
  for (DimId d : c.memory_order(t)) {
    if (c.dim_class(d) == cls) dims.push_back(d);
  }
  return dims;
}

// The operand by whose memory order k runs: the one in which a dimension of k has stride one, the
// larger one if that is both or none.
TensorId k_owner(const Contraction& c) {
  const auto contiguous = [&](TensorId t) {
    const auto fastest = c.fastest(t);
    return fastest && c.dim_class(*fastest) == DimClass::k;
  };
  const bool a = contiguous(TensorId::A), b = contiguous(TensorId::B);
  if (a != b) return a ? TensorId::A : TensorId::B;
  return c.size(TensorId::A) >= c.size(TensorId::B) ? TensorId::A : TensorId::B;
}

// The group, with t's stride-one dimension moved to `place` if it stands further behind.
Group bring_forward(const Contraction& c, TensorId t, Group group, std::ptrdiff_t place) {
  const auto fastest = c.fastest(t);
  if (!fastest) return group;
  const auto found = std::ranges::find(group, *fastest);
  if (found == group.end() || found - group.begin() <= place) return group;
  std::rotate(group.begin() + place, found, found + 1);
  return group;
}

// The distance in t between neighbours of a group, if it is the same for all; 0 for an empty group.
std::optional<std::int64_t> even_stride(const Contraction& c, TensorId t,
                                        std::span<const DimId> dims) {
  std::int64_t first = 0, next = 0;  // next: the stride that the next dimension has to have
  for (DimId d : dims) {
    if (c.dim(d).extent == 1) continue;
    const std::int64_t stride = c.stride(t, d).value();
    if (first == 0) {
      first = stride;
    } else if (stride != next) {
      return std::nullopt;
    }
    next = stride * c.dim(d).extent;
  }
  return first;
}

// From one place of a group to the next in t.
std::int64_t distance(const Contraction& c, TensorId t, const Group& group) {
  for (DimId d : group) {
    if (c.dim(d).extent > 1) return c.stride(t, d).value();
  }
  return 1;
}

// How many lanes are neighbours in the operand that the columns are of, from any multiple of it on.
std::int64_t lane_row(const Contraction& c, const Groups& groups) {
  std::int64_t row = 1;
  for (DimId d : groups[DimClass::m]) {
    if (c.dim(d).extent == 1) continue;
    if (c.stride(right_operand(c, groups), d) != Elements(row)) break;
    row *= c.dim(d).extent;
  }
  return row;
}

// Whether the right operand of lanes is packed: of products without sums whose lanes are apart
// there. Its columns are then packed one by one.
bool packs_lanes(const Contraction& c, const Groups& groups) {
  return holds_lanes(c, groups) && c.extent(DimClass::k) == Elements(1) &&
         distance(c, right_operand(c, groups), groups[DimClass::m]) != 1;
}
bool packs_columns(const Contraction& c, const Groups& groups) {
  return packs_lanes(c, groups) && extent_of(c, groups[DimClass::n]) > 1;
}

// Whether kernels can go on behind each piece along k whose places are evenly apart.
bool has_long_pieces(const Contraction& c, TensorId t, const Group& k) {
  const std::int64_t part = even_part(c, t, k);
  return part >= shortest_piece || part == extent_of(c, k);
}

// Whether kernels read a plain operand whose places are evenly apart in pieces: it is read few
// times (once for each tile of the other group), and its pieces along k do not go from page to
// page.
bool reads_pieces_well(const Contraction& c, TensorId t, const Group& k, std::int64_t times) {
  const Bytes element = size_of(c.type());
  return times <= few_readings && has_long_pieces(c, t, k) &&
         (distance(c, t, k) * element <= farthest_apart ||
          c.size(t).value() * element <= largest_apart);
}

// Whether kernels read an operand's windows of an image in place. `rows`: the group of C that it
// follows.
bool image_in_place(const Contraction& c, TensorId t, const Groups& groups, DimClass rows) {
  return has_long_pieces(c, t, groups[DimClass::k]) &&
         (distance(c, t, groups[DimClass::k]) == 1 || distance(c, t, groups[rows]) == 1);
}

// Whether the kernel's vectors have masks: it has two vectors or more, and of the shortest ones no
// kernel has as many rows.
bool has_masks(const Contraction& c, const Kernel& kernel) {
  return kernel.mr.value() >= most_lanes(c);
}

// How many rows of the left operand, from the group's first one on, kernels read in place without a
// break: neighbours in it and, unless all are apart there, in C.
std::int64_t row_in_place(const Contraction& c, TensorId left, const Group& m) {
  return neighbours_in(c, {left, distance(c, TensorId::C, m) == 1 ? TensorId::C : left}, m);
}

// Neighbours in C that belong to one class, from its stride-one dimension on.
std::int64_t line_of_c(const Contraction& c) {
  const TensorId t = TensorId::C;
  return neighbours_in(c, {t}, in_order_of(c, t, c.dim_class(*c.fastest(t))));
}

// Whether C is a product without sums whose neighbours belong to one operand.
bool has_rows_of_products(const Contraction& c) {
  const auto fastest = c.fastest(TensorId::C);
  return c.extent(DimClass::k) == Elements(1) && fastest &&
         c.dim_class(*fastest) != DimClass::batch;
}

// The shortest line that is worth it. Source: measured on an AMD EPYC (Zen 4), lines of 84 bytes
// are 1.5 times as fast as tiles of several columns, of 40 slower.
constexpr Bytes shortest_line{64};

// Whether C is written line by line where no batch dimensions are lanes. Where the lines that come
// next in memory are of another place of the batch, those of 112 bytes are slower, too; and so are
// those that are longer than what stays in the first cache for the next column, beside eight
// columns: tiles read it once for all of them. Source: as before, lines of 360 KB take 1.5 times as
// long.
bool has_lines(const Contraction& c) {
  constexpr Bytes shortest_beside_batch{256}, longest{8 << 10};
  constexpr std::int64_t few_columns = 8;
  if (!has_rows_of_products(c)) return false;
  const Bytes line = line_of_c(c) * size_of(c.type());
  const DimClass rows = c.dim_class(*c.fastest(TensorId::C));
  const Elements columns = c.extent(rows == DimClass::m ? DimClass::n : DimClass::m);
  if (line > longest && columns >= Elements(few_columns)) return false;
  return line >= (c.extent(DimClass::batch) > Elements(1) ? shortest_beside_batch : shortest_line);
}

// Rows of a plain left operand that kernels with masks read in place one piece after the other:
// those of row_in_place(). 0 where vectors have no masks, where less than half of one would be full
// (a quarter, beside a single column), or where a kernel of fewer vectors, which has more columns,
// holds them all.
std::int64_t masked_row(const Contraction& c, const Groups& groups, const Kernel& kernel) {
  const TensorId left = left_operand(c, groups);
  if (!has_masks(c, kernel) || !c.is_plain(left) || kernel.along_k || holds_lanes(c, groups)) {
    return 0;
  }
  const std::int64_t row = row_in_place(c, left, groups[DimClass::m]);
  // Beside a single column each element is read once: a copy takes longer than short vectors.
  const bool once = extent_of(c, groups[DimClass::n]) == 1;
  const std::int64_t wanted = std::min(most_lanes(c), extent_of(c, groups[DimClass::m]));
  if ((once ? 4 : 2) * row < wanted) return 0;
  constexpr std::int64_t fewest_vectors = 2;  // of kernel_choices() with the widest ones
  const std::int64_t vectors = std::max(fewest_vectors, ceil_div(row, most_lanes(c)));
  return kernel.mr.value() <= vectors * most_lanes(c) ? row : 0;
}

// The rows that no tile goes beyond where an operand is read in place: of lanes and sums, those
// that are neighbours in the right one, where tiles would else go over their end; of a left image,
// those of a row of it; of others, masked_row(), likewise. 0: there are none.
std::int64_t kept_row(const Contraction& c, const Tiling& tiling) {
  const Groups& groups = tiling.groups;
  const Kernel& kernel = tiling.kernel;
  if (holds_lanes(c, groups)) {
    if (c.extent(DimClass::k) == Elements(1)) return 0;  // lines end where they do
    const std::int64_t row = lane_row(c, groups);
    return row % kernel.mr.value() == 0 ? 0 : row;
  }
  if (!tiling.in_place.left) return 0;
  if (const std::int64_t row = even_row(c, groups, DimClass::m); row > 0) return row;
  const std::int64_t row = masked_row(c, groups, kernel);
  return row % kernel.mr.value() == 0 ? 0 : row;
}

// The smallest tile that covers `range` in as many steps as tiles of `wanted` would, rounded.
std::int64_t evenly(std::int64_t range, double wanted) {
  const auto whole = std::clamp<std::int64_t>(std::llround(wanted), 1, range);
  if (ceil_div(range, ceil_div(range, whole)) == whole && static_cast<double>(whole) == wanted) {
    return whole;  // a tile that was made even before stays as it is
  }
  const auto steps =
      std::clamp<std::int64_t>(std::llround(static_cast<double>(range) / wanted), 1, range);
  return ceil_div(range, steps);
}

// The smaller one of C's classes, m or n.
DimClass smaller_class(const Contraction& c) {
  return c.extent(DimClass::m) <= c.extent(DimClass::n) ? DimClass::m : DimClass::n;
}

// Whether kernels along k read an operand as it lies: the group's first places are neighbours, and
// `least` of them are so.
bool lies_along_k(const Contraction& c, TensorId t, const Group& k, std::int64_t least) {
  return distance(c, t, k) == 1 && even_part(c, t, k) >= least;
}

// Neighbours along k from which on kernels along k read operands as they lie: of as few rows as one
// kernel has, a vector's part does; of more, half a vector. Source: measured on an AMD EPYC (Zen
// 4), f32, 21.7 MB from memory, against packs. 1 row in pieces of 3 to 15 takes 0.25 to 0.5 of the
// time, 4 rows in pieces of 5 and 12 0.5 and 0.4; in pieces of 12 8 rows 0.6, 16 rows 0.7, 24
// rows 1.04; in pieces of 4 6 rows 1.45.
std::int64_t shortest_along_k(const Contraction& c) {
  if (c.extent(smaller_class(c)).value() <= rows_along_k) return shortest_piece;
  return most_lanes(c) / 2;
}

// Groups for kernels along k, where those are the way: places along k are neighbours in both
// operands, or in that of the columns while the other one, which is then packed, has one row; and C
// has so few places of a class that packing takes as long as computing. That class has the rows:
// the results leave a kernel one by one, so it does not matter which of them are neighbours in C.
// None elsewhere.
std::optional<Groups> vectors_along_k(const Contraction& c) {
  // Vectors, of rows and along k. Source: measured on an Intel Xeon with AVX-512, f64, k = 100000:
  // with 31 rows and columns along k takes 0.57 of the time, with 64 0.97, with 128 1.1. It takes
  // about 16 vectors along k to hide what adding up their lanes takes.
  constexpr std::int64_t few_rows = 4, long_sum = 32;
  const DimClass rows = smaller_class(c);
  const std::int64_t row_count = c.extent(rows).value(), lanes = most_lanes(c);
  if (row_count > few_rows * lanes) return {};
  if (row_count > rows_along_k && c.extent(DimClass::k) < Elements(lanes)) return {};
  const std::int64_t least = row_count < lanes ? shortest_along_k(c) : long_sum * lanes;
  const TensorId left = rows == DimClass::m ? TensorId::A : TensorId::B;
  const TensorId right = rows == DimClass::m ? TensorId::B : TensorId::A;
  const Group k = in_order_of(c, row_count == 1 ? right : k_owner(c), DimClass::k);
  if (k.empty() || !lies_along_k(c, right, k, least)) return {};
  if (row_count > 1 && !lies_along_k(c, left, k, least)) return {};
  // All else runs as in the larger of the columns' operand and C.
  const DimClass columns = rows == DimClass::m ? DimClass::n : DimClass::m;
  const TensorId larger = c.size(right) >= c.size(TensorId::C) ? right : TensorId::C;
  return Groups{in_order_of(c, TensorId::C, rows), in_order_of(c, larger, columns), k,
                in_order_of(c, larger, DimClass::batch)};
}

// Columns of kernels along k: as many as the executor has, or few. Where there are few rows, an
// element is used so few times that memory decides, which foresees a few columns one behind the
// other better than many. Not where all columns are few, or so short that adding up lanes decides.
// Source: measured on an AMD EPYC (Zen 4), from memory. f32, 1 row: in pieces of 33 and 100 14
// columns take 1.3 of the time of 4; of 5, 0.8. f64, 2 rows: in pieces of 12 to 64 1.25 to 1.55 of
// that of 6.
std::int64_t columns_along_k(const Contraction& c, const Groups& groups) {
  constexpr std::int64_t most_columns = 14, many_columns = 32;
  const std::int64_t rows = extent_of(c, groups[DimClass::m]), lanes = most_lanes(c);
  if (rows > rows_along_k || extent_of(c, groups[DimClass::k]) < 2 * lanes) return most_columns;
  const TensorId right = right_operand(c, groups);
  const Group& n = groups[DimClass::n];
  const std::int64_t piece = even_part(c, right, groups[DimClass::k]);
  const bool within_page = piece >= lanes / 2 && piece * size_of(c.type()) <= farthest_apart;
  const bool behind = distance(c, right, n) == piece && even_part(c, right, n) > many_columns;
  if (!within_page || !behind) return most_columns;
  return rows == 1 ? 4 : 6;
}

// The kernel along k with so many columns, if the registers hold them, and rows that divide C's
// evenly.
Kernel kernel_along_k(const Core& core, const Contraction& c, const Groups& groups) {
  // Source: measured as kernels with other vectors; up to 4 rows of 14 columns are those that the
  // executor has.
  const std::int64_t rows = extent_of(c, groups[DimClass::m]);
  Kernel kernel{Elements(ceil_div(rows, ceil_div(rows, rows_along_k))),
                Elements(columns_along_k(c, groups)), 0, true};
  while (kernel.nr > Elements(1) && !fits_registers(kernel, core, c.type())) {
    kernel.nr = kernel.nr - Elements(1);
  }
  while (kernel.mr > Elements(1) && !fits_registers(kernel, core, c.type())) {
    kernel.mr = kernel.mr - Elements(1);
  }
  return kernel;
}

// A line of C, where half of the registers hold it: then tiles end where lines do. Where a few
// kernels do a place of the batch, and nothing is packed, the executor notes them, and does the
// next ones likewise: those are no larger than one call takes. Source: measured on an AMD EPYC (Zen
// 4), abc-abc-ba of 30 x 40 x 50: 53 us by 50x1, 18 by 32x1.
Kernel kernel_of_lines(const Core& core, const Contraction& c) {
  constexpr std::int64_t few_kernels = 32;
  const std::int64_t lanes = lanes_of(core, c.type());
  const std::int64_t most_vectors = std::max<std::int64_t>(1, core.vector_registers.value / 2);
  const std::int64_t line = line_of_c(c);
  const std::int64_t long_line = std::min<std::int64_t>(4, most_vectors) * lanes;
  const DimClass rows = c.dim_class(*c.fastest(TensorId::C));
  const DimClass columns = rows == DimClass::m ? DimClass::n : DimClass::m;
  const std::int64_t kernels =
      ceil_div(c.extent(rows).value(), long_line) * c.extent(columns).value();
  const TensorId left = rows == DimClass::m ? TensorId::A : TensorId::B;
  const bool packed = c.stride(left, *c.fastest(TensorId::C)) != Elements(1);
  const bool noted = c.extent(DimClass::batch) > Elements(1) && !packed && kernels <= few_kernels;
  return {Elements(line <= most_vectors * lanes && !noted ? line : std::min(line, long_line)),
          Elements(1)};
}

// Likewise of lanes. Of an operand that is packed neighbours in memory are whole strips of rows
// apart, and micropanels hold whole strips (StripPacker). Source: measured on an AMD EPYC (Zen 4),
// ab-ab-ba, rows of 20: 10.7 us by 32 rows, 7.7 by 40, 7.3 by 100.
Kernel kernel_of_lane_lines(const Core& core, const Contraction& c, const Groups& groups) {
  const std::int64_t lanes = lanes_of(core, c.type());
  const std::int64_t most = std::max<std::int64_t>(1, core.vector_registers.value / 2 - 1) * lanes;
  const Group& m = groups[DimClass::m];
  const auto fastest = c.fastest(left_operand(c, groups));
  std::int64_t strip = 1;
  if (const auto found = std::ranges::find(m, fastest); found != m.end()) {
    for (auto d = m.begin(); d != found; ++d) strip *= c.dim(*d).extent;
  }
  if (strip == 1) strip = lane_row(c, groups);
  const std::int64_t rows = strip > most ? most : most / strip * strip;
  return {Elements(std::min(rows, extent_of(c, m))), Elements(1)};
}

// Whether lanes are the way for sums where both operands have places of their own: each vector of
// the columns' operand is then read for one product, so all that belong to a vector of lanes have
// to be in the first cache, or matrices are smaller than a vector anyway.
bool few_for_lanes(const Contraction& c, DimClass columns) {
  constexpr std::int64_t most_vectors = 512;  // source: 32 KiB, the smallest first cache
  return c.extent(columns).value() * c.extent(DimClass::k).value() <= most_vectors ||
         c.extent(smaller_class(c)).value() < most_lanes(c);
}

// Lanes of products without sums, columns and rows, of which an operand lies across C: places of
// the batch that are neighbours in any of the tensors, so that a pack has whole lines of both. What
// is left is done place by place: what a group holds has an entry in tables of offsets, which are
// larger than the numbers where all of C is one group. Source: measured on an Intel Xeon, warm and
// cold, dcab-cdab-cbda, abcd-dcba-abcd and abc-cba-bac of 0.4 to 0.6 million places: 1.4 to 2.9
// times as fast as in one group.
void keep_neighbours(const Contraction& c, Groups& groups) {
  constexpr Bytes together{256};               // of neighbours in each tensor
  constexpr std::int64_t most_places = 16384;  // whose tables fit into a second cache
  constexpr std::int64_t fewest_places = 512;  // of a pack, whose beginning takes as long as some
  std::vector<bool> kept(static_cast<std::size_t>(c.dim_count()));
  std::int64_t places = 1;
  std::optional<TensorId> across;
  for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) {
    std::int64_t run = 1;
    for (DimId d : c.memory_order(t)) {
      const std::int64_t extent = c.dim(d).extent;
      if (extent == 1) continue;
      const auto is_kept = kept.begin() + index(d);
      if (run > 1 && !*is_kept && places * extent > most_places) break;
      if (!*is_kept) places *= extent;
      *is_kept = true;
      run *= extent;
      if (run * size_of(c.type()) >= together) break;
    }
    if (c.fastest(t) != c.fastest(TensorId::C)) across = t;
  }
  if (!across || places < fewest_places) return;
  Group& m = groups[DimClass::m];
  const Group all = in_order_of(c, *across, DimClass::batch);
  std::erase_if(m, [&](DimId d) { return !kept[static_cast<std::size_t>(index(d))]; });
  std::ranges::copy_if(all, std::back_inserter(groups[DimClass::batch]),
                       [&](DimId d) { return std::ranges::find(m, d) == m.end(); });
}

// Groups with batch dimensions as lanes, where that is the way to have vectors: a batch dimension
// has stride one in the operand that the columns are of, and in C, or where results are sums and
// the other operand has no dimension of C but the batch, whatever is that operand's. Of products
// without sums either operand may be the one that lies as C does: the other one is then packed, as
// many places of the batch at a time as fill lines of it; and where none does both are. None
// elsewhere.
std::optional<Groups> lanes_of_batch(const Contraction& c) {
  const auto extent = [&](DimClass g) { return c.extent(g).value(); };
  const auto leads_in = [&](TensorId t, const std::optional<DimId>& d) {
    return d && c.dim_class(*d) == DimClass::batch && c.stride(t, *d) == Elements(1);
  };
  const auto fastest_in_c = c.fastest(TensorId::C);
  const auto leads_as_in_c = [&](TensorId t) { return leads_in(t, fastest_in_c); };
  const bool of_m = extent(DimClass::m) > 1, of_n = extent(DimClass::n) > 1;
  const bool sums = extent(DimClass::k) > 1;
  const auto fastest_class = [&] {  // of what is one operand's alone
    for (DimId d : c.memory_order(TensorId::C)) {
      if (c.dim_class(d) != DimClass::batch && c.dim(d).extent > 1) return c.dim_class(d);
    }
    return DimClass::batch;
  };
  // Where both have columns, the smaller one of those whose lanes are neighbours: it is read for
  // each of the other one's; or that whose columns are further apart in C. Where none has, the one
  // whose lanes are.
  const auto columns_of_a = [&] {
    const bool a = leads_as_in_c(TensorId::A), b = leads_as_in_c(TensorId::B);
    if (of_m && of_n && !sums && !a && !b) return fastest_class() == DimClass::n;
    if (of_m && of_n) return a && (c.size(TensorId::A) <= c.size(TensorId::B) || !b);
    if (!sums && a != b) return a;
    if (!sums && !a && (of_m || of_n)) return of_n;
    if (of_m || of_n) return of_m;
    return !leads_in(TensorId::B, c.fastest(TensorId::B)) &&
           leads_in(TensorId::A, c.fastest(TensorId::A));
  };
  const bool of_a = columns_of_a();
  const TensorId right = of_a ? TensorId::A : TensorId::B;
  const TensorId left = of_a ? TensorId::B : TensorId::A;
  const bool in_c = leads_as_in_c(right);
  const bool pack_both =
      !in_c && !sums && fastest_in_c && c.dim_class(*fastest_in_c) == DimClass::batch;
  if (!in_c && !pack_both && (!sums || (of_m && of_n) || !leads_in(right, c.fastest(right)))) {
    return {};
  }
  if (!sums && (of_m || of_n)) {
    // Where both are packed, and one has no dimension of its own, any other way is to go place by
    // place. Source: measured on an AMD EPYC (Zen 4), hab-ah-bh and hab-abh-bh of short h. Where
    // neither has, it takes 88 ns a place (an Intel Xeon, dcba-dbca-adbc of a=7,b=38,c=61,d=38);
    // lanes, however short, take 1.
    constexpr std::int64_t fewest_lanes = 4;
    const Group lanes = in_order_of(c, TensorId::C, DimClass::batch);
    const std::int64_t line = neighbours_in(c, {in_c ? right : TensorId::C, TensorId::C}, lanes);
    const bool is_short =
        in_c || (of_m && of_n) ? line * size_of(c.type()) < shortest_line : line < fewest_lanes;
    if (is_short) return {};
  }
  if (of_m && of_n && sums) {
    if (!leads_as_in_c(left) || !few_for_lanes(c, of_a ? DimClass::m : DimClass::n)) return {};
  }
  const bool larger = c.is_plain(right) && c.extent(DimClass::k) > Elements(few_places);
  const DimClass columns = of_a ? DimClass::m : DimClass::n;
  const DimClass rows = of_a ? DimClass::n : DimClass::m;
  Groups groups;
  groups[DimClass::m] = in_order_of(c, in_c || !sums ? TensorId::C : right, DimClass::batch);
  const bool as_in_c = !sums || (in_c && !larger);
  groups[DimClass::n] = in_order_of(c, as_in_c ? TensorId::C : right, columns);
  groups[DimClass::k] = in_order_of(c, as_in_c ? k_owner(c) : right, DimClass::k);
  Group& own = groups[extent(rows) > 1 ? DimClass::batch : DimClass::n];  // else of one place
  Group of_left = in_order_of(c, TensorId::C, rows);
  if (!sums && !leads_as_in_c(left)) of_left = bring_forward(c, left, of_left, 0);
  own.insert(own.end(), of_left.begin(), of_left.end());
  if (!sums && !of_m && !of_n) keep_neighbours(c, groups);
  return groups;
}

}  // namespace

TensorId right_operand(const Contraction& c, const Groups& groups) {
  return left_operand(c, groups) == TensorId::A ? TensorId::B : TensorId::A;
}

std::int64_t even_part(const Contraction& c, TensorId t, const Group& group) {
  std::int64_t part = 1, next = 0;
  for (DimId d : group) {
    if (c.dim(d).extent == 1) continue;
    const std::int64_t stride = c.stride(t, d).value();
    if (next != 0 && stride != next) break;
    next = stride * c.dim(d).extent;
    part *= c.dim(d).extent;
  }
  return part;
}

std::optional<TensorId> read_once(const Contraction& c) {
  const bool sums = c.extent(DimClass::k) > Elements(few_places);  // C is smaller
  const auto reads = [&](TensorId matrix, DimClass own, DimClass other) {
    const auto fastest = c.fastest(matrix);
    return c.extent(other) <= Elements(few_places) && fastest && c.dim_class(*fastest) == own &&
           (sums || fastest == c.fastest(TensorId::C));
  };
  if (reads(TensorId::B, DimClass::n, DimClass::m)) return TensorId::B;
  if (reads(TensorId::A, DimClass::m, DimClass::n)) return TensorId::A;
  return {};
}

std::int64_t most_lanes(const Contraction& c) { return widest_vector / size_of(c.type()).value(); }

bool have_masks(const Contraction& c, std::int64_t lanes) { return 2 * lanes >= most_lanes(c); }

namespace {

// Of a matrix that is read once, beside a single place: the kernel that has what is neighbours in
// it and in C, so that it is read from beginning to end. None where kernels of a few vectors have
// all of it, or registers do not hold it. Source: measured on an AMD EPYC (Zen 4), f32, 192 MB from
// memory: columns of 66, 128 and 256 rows take 0.46, 0.35 and 0.37 of the time of 48x1.
std::optional<Kernel> kernel_of_columns(const Core& core, const Contraction& c) {
  constexpr std::int64_t few_vectors = 3;    // of the usual kernels
  constexpr std::int64_t most_vectors = 16;  // that the executor has
  const std::optional<TensorId> matrix = read_once(c);
  if (!matrix || c.extent(DimClass::k) <= Elements(few_places)) return {};
  const DimClass own = c.dim_class(*c.fastest(*matrix));
  const DimClass other = own == DimClass::m ? DimClass::n : DimClass::m;
  if (c.extent(other) > Elements(1)) return {};
  const std::int64_t lanes = lanes_of(core, c.type());
  const std::int64_t rows = row_in_place(c, *matrix, in_order_of(c, *matrix, own));
  const bool whole = have_masks(c, lanes) || rows % lanes == 0;
  const Kernel kernel{Elements(rows), Elements(1)};
  if (!whole || rows <= few_vectors * lanes || rows > most_vectors * lanes) return {};
  if (!fits_registers(kernel, core, c.type())) return {};
  return kernel;
}

}  // namespace

std::vector<Kernel> kernel_choices(const Core& core, const Contraction& contraction) {
  if (!lanes_of_batch(contraction)) {
    if (const auto groups = vectors_along_k(contraction)) {
      return {kernel_along_k(core, contraction, *groups)};
    }
    if (const auto kernel = kernel_of_columns(core, contraction)) return {*kernel};
    if (!has_lines(contraction)) return kernel_choices(core, contraction.type());
    return {kernel_of_lines(core, contraction)};
  }
  if (contraction.extent(DimClass::k) == Elements(1)) {
    return {kernel_of_lane_lines(core, contraction, *lanes_of_batch(contraction))};
  }
  // One vector: more would share no column's. The widest that the executor has, but no wider than
  // the steps along k after the first, with each of which it asks for a column of C; and such as
  // just keep enough accumulators in flight. Source: measured on an AMD EPYC (Zen 5), cold caches,
  // 3 x 3 filters: 16x7 is 1.05 to 1.25 times as fast as 16x14.
  constexpr std::int64_t most_columns = 14;
  const double in_flight = core.fma_per_cycle.value * core.fma_latency.value.value();
  const std::int64_t widest = std::clamp<std::int64_t>(
      contraction.extent(DimClass::k).value() - 1,
      std::min<std::int64_t>(std::llround(in_flight), most_columns), most_columns);
  const std::int64_t lanes = lanes_of(core, contraction.type());
  std::vector<Kernel> kernels;
  for (std::int64_t columns = widest; columns > 0; --columns) {
    const Kernel kernel{Elements(lanes), Elements(columns)};
    if (!fits_registers(kernel, core, contraction.type())) continue;
    const bool few = static_cast<double>(columns) < in_flight;
    if (kernels.empty() || !few) kernels.push_back(kernel);
    if (few) break;
  }
  if (kernels.size() > 2) kernels = {kernels.front(), kernels.back()};
  return kernels;
}

std::vector<Kernel> kernel_choices(const Core& core, ElementType type) {
  // Source: acmtc-sc19, section 4, has the rule that the shapes meet; which of those are here is
  // chosen.
  struct Shape {
    int registers;  // of the processors that it is made for
    int vectors;    // of rows
    int columns;
  };
  constexpr Shape shapes[] = {{32, 3, 8},  {32, 2, 14}, {32, 4, 6}, {16, 2, 6}, {16, 3, 4},
                              {16, 1, 12}, {8, 1, 6},   {8, 2, 2},  {1, 1, 1}};
  const std::int64_t lanes = lanes_of(core, type);
  const double in_flight = core.fma_per_cycle.value * core.fma_latency.value.value();
  std::vector<Kernel> kernels;
  int registers = 0;
  for (const Shape& s : shapes) {
    if (s.registers > core.vector_registers.value && s.registers > 1) continue;
    if (!kernels.empty() && (s.registers != registers || s.vectors * s.columns < in_flight))
      continue;
    registers = s.registers;
    kernels.push_back({Elements(s.vectors * lanes), Elements(s.columns)});
  }
  return kernels;
}

InPlace reads_well_in_place(const Contraction& c, const Groups& groups, const Kernel& kernel) {
  if (kernel.along_k) {
    const TensorId left = left_operand(c, groups), right = right_operand(c, groups);
    const Group& along = groups[DimClass::k];
    // One row is soon packed, and then cuts no pieces of the right operand.
    const std::int64_t wanted = extent_of(c, groups[DimClass::m]) > 1
                                    ? shortest_along_k(c)
                                    : std::min(most_lanes(c), even_part(c, right, along));
    return {lies_along_k(c, left, along, wanted), lies_along_k(c, right, along, shortest_piece)};
  }
  const Group &m = groups[DimClass::m], &n = groups[DimClass::n];
  const Group& k = groups[DimClass::k];
  const TensorId left = left_operand(c, groups);
  const TensorId right = right_operand(c, groups);
  InPlace good;
  if (c.is_plain(right)) {
    const bool sums = extent_of(c, k) > 1;
    const bool together = distance(c, right, n) == 1 || (sums && distance(c, right, k) == 1);
    const bool even = even_stride(c, right, n) && even_stride(c, right, k);
    const std::int64_t times = ceil_div(extent_of(c, m), kernel.mr.value());
    good.right = even ? together || !sums : together && reads_pieces_well(c, right, k, times);
    // A single column is copied as slowly as it is read.
    good.right |= extent_of(c, n) == 1 && has_long_pieces(c, right, k);
  } else {
    good.right = image_in_place(c, right, groups, DimClass::n);
  }
  if (holds_lanes(c, groups)) good.right = !packs_lanes(c, groups);
  // A line takes one element of it.
  good.right |= kernel.nr == Elements(1) && has_lines(c) && c.is_plain(right);
  if (m.empty() || distance(c, left, m) != 1) return good;
  if (!c.is_plain(left)) {
    // What is left of a row is copied for each kernel where its last vector is not full, unless
    // vectors have masks.
    const std::int64_t row = even_part(c, left, m), columns = extent_of(c, n);
    const bool whole =
        row % (most_lanes(c) / 2) == 0 || columns <= kernel.nr.value() || has_masks(c, kernel);
    good.left = whole && columns <= most_columns_beside_windows &&
                image_in_place(c, left, groups, DimClass::m);
    return good;
  }
  if (kernel.nr == Elements(1) && has_lines(c) && !holds_lanes(c, groups)) {
    // Lines may be as long as they like.
    good.left = neighbours_in(c, {left, TensorId::C}, m) == line_of_c(c);
    return good;
  }
  // A tile that goes over the end of a run of neighbours has to be copied. Where all rows are one
  // run, only one that is no whole number of vectors has to be; and none where they have masks.
  const std::int64_t extent = row_in_place(c, left, m), mr = kernel.mr.value();
  const bool alone = extent == extent_of(c, m);
  good.left = extent % mr == 0 || extent >= many_kernels * mr ||
              (alone && extent % most_lanes(c) == 0) || masked_row(c, groups, kernel) > 0;
  if (holds_lanes(c, groups) && c.is_plain(right)) {
    // Of lanes, rows that fill no vector do too.
    good.left |= neighbours_in(c, {left, right}, m) == lane_row(c, groups);
  }
  return good;
}

std::int64_t even_k(const Contraction& c, const Groups& groups) {
  return even_part(c, left_operand(c, groups), groups[DimClass::k]);
}

namespace {

// Whether it does not matter for address translation how far apart the right operand's columns are,
// or there is no other way than in place.
bool within_reach(const Contraction& c, TensorId right, const Groups& groups) {
  const Bytes element = size_of(c.type());
  return !c.is_plain(right) || holds_lanes(c, groups) || vectors_along_k(c) ||
         c.size(right).value() * element <= largest_apart ||
         distance(c, right, groups[DimClass::n]) * element <= farthest_apart;
}

}  // namespace

std::int64_t even_row(const Contraction& c, const Groups& groups, DimClass group) {
  const TensorId t = group == DimClass::m ? left_operand(c, groups) : right_operand(c, groups);
  if (c.is_plain(t) && (group == DimClass::m || even_stride(c, t, groups[group]))) return 0;
  return even_part(c, t, groups[group]);
}

RowCover cover_row(std::int64_t row, std::int64_t most_columns) {
  const std::int64_t tiles = ceil_div(row, most_columns), more = row % tiles;
  return {row / tiles, tiles - more, more};
}

InPlace may_read_in_place(const Contraction& c, std::span<const Kernel> kernels, RowOrders rows) {
  InPlace may;
  for (const auto& groups : groupings(c, rows)) {
    for (const Kernel& kernel : kernels) {
      const InPlace good = reads_well_in_place(c, groups, kernel);
      const TensorId right = right_operand(c, groups);
      may.left |= good.left;
      may.right |= good.right && within_reach(c, right, groups);
    }
  }
  return may;
}

std::vector<Groups> groupings(const Contraction& c, RowOrders orders) {
  const bool rows_apart = orders >= RowOrders::apart;
  // Where a batch dimension has stride one in C, the next dimension decides.
  DimClass rows = DimClass::m;
  for (DimId d : c.memory_order(TensorId::C)) {
    if (c.dim_class(d) == DimClass::batch || c.dim(d).extent == 1) continue;
    rows = c.dim_class(d);
    break;
  }
  if (const auto lanes = lanes_of_batch(c)) {
    std::vector<Groups> all{*lanes};
    const Group in_left = in_order_of(c, left_operand(c, *lanes), DimClass::k);
    if (c.is_plain(TensorId::A) && c.is_plain(TensorId::B) && in_left != all[0][DimClass::k]) {
      all.push_back(*lanes);
      all.back()[DimClass::k] = in_left;
    }
    return all;
  }
  if (const auto along_k = vectors_along_k(c)) return {*along_k};
  const DimClass columns = rows == DimClass::m ? DimClass::n : DimClass::m;
  const TensorId left = rows == DimClass::m ? TensorId::A : TensorId::B;
  const TensorId right = rows == DimClass::m ? TensorId::B : TensorId::A;
  // A matrix that is read once decides, unless C's rows are neighbours.
  const std::optional<TensorId> matrix = read_once(c);
  const auto fastest = c.fastest(TensorId::C);
  const bool apart = fastest && c.dim_class(*fastest) == DimClass::batch;
  const Group m = in_order_of(c, apart && matrix == left ? left : TensorId::C, rows);
  const Group n = in_order_of(c, TensorId::C, columns);
  const TensorId owner = matrix.value_or(k_owner(c));
  const TensorId other = owner == TensorId::A ? TensorId::B : TensorId::A;
  const Group k = in_order_of(c, owner, DimClass::k);

  const auto add = [](std::vector<Group>& all, const Group& one) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  };
  // Behind C's stride-one dimension, the left operand's order.
  const Group in_left = in_order_of(c, left, rows);
  Group behind = in_left;
  if (!m.empty()) {
    const auto first = std::ranges::find(behind, m.front());
    std::rotate(behind.begin(), first, first + 1);
  }
  const bool lines = has_rows_of_products(c);  // C is the largest, and written line by line
  std::vector<Group> ms{m};
  if (!lines) add(ms, behind);
  if ((rows_apart || matrix == left) && in_left != behind &&
      reads_well_in_place(c, {in_left, n, k, {}}, {Elements(1), Elements(1)}).left) {
    ms.push_back(in_left);
  }
  // Rows go to C by way of a buffer (result_regions()). Where neighbours in C are too far apart for
  // that in the left operand's order, they come next to its stride-one dimension.
  const Group both = bring_forward(c, TensorId::C, in_left, 1);
  if (rows_apart && !lines && both != in_left && too_far_apart(c, in_left) &&
      reads_well_in_place(c, {both, n, k, {}}, {Elements(1), Elements(1)}).left) {
    add(ms, both);
  }
  std::vector<Group> ns{n};
  if (!lines) {
    add(ns, bring_forward(c, right, n, 0));
    // Where C is much larger, its order counts more.
    if (2 * c.size(right) >= c.size(TensorId::C)) add(ns, in_order_of(c, right, columns));
  }
  std::vector<Group> ks{k};
  if (!matrix) {
    add(ks, in_order_of(c, other, DimClass::k));
    add(ks, bring_forward(c, other, k, 1));
  }

  std::vector<Groups> all;
  for (const Group& in_k : ks) {
    for (const Group& in_n : ns) {
      for (const Group& in_m : ms) {
        all.push_back(
            {in_m, in_n, in_k, in_order_of(c, matrix.value_or(TensorId::C), DimClass::batch)});
      }
    }
  }
  const bool plain = c.is_plain(TensorId::A) && c.is_plain(TensorId::B);
  if (orders == RowOrders::either && plain && !matrix && !lines && !m.empty() && !n.empty()) {
    const Group batch = in_order_of(c, TensorId::C, DimClass::batch);
    all.push_back({in_order_of(c, right, columns), m, k, batch});
    if (n != all.back()[DimClass::m]) all.push_back({n, m, k, batch});
  }
  return all;
}

namespace {

// The register loops over `rows` rows and the columns of an image's row, which two kernels cover.
Node covering(const Tiling& tiling, std::int64_t rows, const RowCover& cover) {
  const auto looped = [](DimClass g, std::int64_t range, std::int64_t tile, Node inside) {
    return tile < range ? Node{Loop{g, Elements(tile), std::move(inside)}} : std::move(inside);
  };
  const auto over_rows = [&](Node inside) {
    return looped(DimClass::m, rows, tiling.kernel.mr.value(), std::move(inside));
  };
  const auto part = [&](std::int64_t tiles, std::int64_t width) {
    Kernel kernel = tiling.kernel;
    kernel.nr = Elements(width);
    Node inside{kernel};
    if (tiling.m_inside) inside = over_rows(std::move(inside));
    return Seq::Part{Elements(tiles * width),
                     looped(DimClass::n, tiles * width, width, std::move(inside))};
  };
  Node all = part(cover.first, cover.columns).node;
  if (cover.more > 0) {
    all = Node{
        Seq{DimClass::n, {part(cover.first, cover.columns), part(cover.more, cover.columns + 1)}}};
  }
  return tiling.m_inside ? all : over_rows(std::move(all));
}

// Elements that half of a cache holds.
std::int64_t half_of(const Machine& machine, LevelId cache, ElementType type) {
  return machine.level(cache).capacity.value / (2 * size_of(type));
}
LevelId second_cache(const Machine& machine) {
  return LevelId{std::min(1, machine.cache_count() - 1)};
}

// Places of the batch that are packed together where lanes are multiplied: as fill a few lines.
// Source: measured on an AMD EPYC (Zen 4), cab-ab-abc of 94 x 121 x 77: 1.4 ms with one line, 0.57
// with four.
std::int64_t places_of_lanes(ElementType type) { return 256 / size_of(type).value(); }

// How many lanes go with each of the rows before the next ones: those whose columns stay in the
// second cache for all rows, where there are sums. Where there are none, all lanes, or those of
// which the copies of so many `places` stay there; and of what all rows have in common, in the last
// cache.
std::int64_t lanes_together(const Contraction& c, const Machine& machine, const Tiling& tiling,
                            std::int64_t places) {
  const std::int64_t all = group_extent(c, tiling, at(DimClass::m));
  const bool sums = c.extent(DimClass::k) > Elements(1);
  const bool in_common = places == 1 && packs_lanes(c, tiling.groups);
  if (!sums && places == 1 && !in_common) return all;
  const LevelId cache = in_common ? LevelId{machine.cache_count() - 1} : second_cache(machine);
  const std::int64_t columns =
      sums ? c.extent(DimClass::k).value() * group_extent(c, tiling, at(DimClass::n)) : places;
  const std::int64_t kept = half_of(machine, cache, c.type()) / columns;
  const std::int64_t mr = tiling.kernel.mr.value();
  return std::min(all, std::max(mr, kept / mr * mr));
}

// How many places of a batch are packed together and then multiplied one after the other: as many
// as are neighbours in a line of C or of an operand that is packed, so that each line comes once,
// or in a few lines where lanes are multiplied; 1 where there are none, or where they would not
// stay in the last cache. Where columns are packed one by one, as many as stay in the second one:
// each column is packed again for the next ones.
std::int64_t places_together(const Contraction& c, const Machine& machine, const Tiling& tiling) {
  const Group& batch = tiling.groups[DimClass::batch];
  const auto first = std::ranges::find_if(batch, [&](DimId d) { return c.dim(d).extent > 1; });
  const bool lanes = holds_lanes(c, tiling.groups);
  if (first == batch.end() || (lanes && c.extent(DimClass::k) > Elements(1))) return 1;
  if (packs_columns(c, tiling.groups)) {
    const std::int64_t row = lanes_together(c, machine, tiling, places_of_lanes(c.type()));
    const std::int64_t kept = half_of(machine, second_cache(machine), c.type()) / row;
    return std::clamp<std::int64_t>(kept, 1, extent_of(c, batch));
  }
  const TensorId left = left_operand(c, tiling.groups);
  bool neighbours = false;
  std::int64_t elements = 0;  // of a place
  for (TensorId t : all_tensors) {
    const bool in_place =
        t != TensorId::C && (t == left ? tiling.in_place.left : tiling.in_place.right);
    neighbours |= !in_place && c.stride(t, *first) == Elements(1);
    elements += c.size(t).value() / c.extent(DimClass::batch).value();
  }
  if (!neighbours) return 1;
  constexpr std::int64_t line = 64, fewest = 4;
  if (lanes) elements = tiling.kernel.mr.value();
  const std::int64_t together =
      lanes ? places_of_lanes(c.type()) : line / size_of(c.type()).value();
  const std::int64_t kept =
      half_of(machine, LevelId{machine.cache_count() - 1}, c.type()) / elements;
  const std::int64_t places = std::min({c.dim(*first).extent, together, kept});
  return places < fewest ? 1 : places;
}

}  // namespace

Schedule build(const Contraction& contraction, const Machine& machine, const Tiling& tiling) {
  std::vector<Node> spine;  // bodies still empty, outermost first
  std::array<std::int64_t, 3> range{};
  for (std::size_t c = 0; c < 3; ++c) {
    range[c] = group_extent(contraction, tiling, c);
  }
  const auto loop = [&](DimClass g, std::int64_t tile) {
    std::int64_t& current = range[at(g)];
    if (tile >= current) return;
    current = tile;
    const auto same_steps = [&](const Node& node) {
      const Loop* outer = std::get_if<Loop>(&node.is);
      return outer && outer->group == g && outer->tile.value() % tile == 0;
    };
    while (!spine.empty() && same_steps(spine.back())) spine.pop_back();
    spine.emplace_back(Loop{g, Elements(tile), {}});
  };

  const std::int64_t places = places_together(contraction, machine, tiling);
  const std::size_t outermost = tiling.tiles.size() - 1;
  const std::string& buffer_level = machine.levels[outermost].name;
  const TensorId left = left_operand(contraction, tiling.groups);
  ByTensor<bool> packs;
  for (TensorId t : {TensorId::A, TensorId::B}) {
    packs[t] = !(t == left ? tiling.in_place.left : tiling.in_place.right);
  }
  const auto pack = [&](TensorId t) {
    if (std::exchange(packs[t], false)) {
      spine.emplace_back(Move{Move::Kind::pack, t, buffer_level, {}});
    }
  };
  if (extent_of(contraction, tiling.groups[DimClass::batch]) > 1) {
    const bool by_column = packs_columns(contraction, tiling.groups);
    const TensorId right = right_operand(contraction, tiling.groups);
    if (holds_rows(contraction, tiling.groups)) {
      const std::int64_t rows = by_column ? places_of_lanes(contraction.type()) : places;
      loop(DimClass::m, lanes_together(contraction, machine, tiling, rows));
      if (!by_column) pack(right);  // which has not the batch
    }
    spine.emplace_back(Loop{DimClass::batch, Elements(places), {}});
    if (by_column) {
      pack(left);
      loop(DimClass::n, 1);
      pack(right);
    }
  }

  // Each operand's Pack goes behind its last loop in the outermost band: that loop's place, or -1.
  const auto& band = tiling.orders[outermost];
  const auto runs = [&](DimClass g) { return tiling.tiles[outermost][at(g)] < range[at(g)]; };
  std::array<int, 2> after{-1, -1};
  for (int i = 0; i < 3; ++i) {
    const DimClass g = band[static_cast<std::size_t>(i)];
    for (TensorId t : {TensorId::A, TensorId::B}) {
      if (runs(g) && follows(contraction, tiling.groups, t, g))
        after[static_cast<std::size_t>(index(t))] = i;
    }
  }
  for (int i = -1; i < 3; ++i) {
    if (i >= 0) {
      const DimClass g = band[static_cast<std::size_t>(i)];
      loop(g, tiling.tiles[outermost][at(g)]);
    }
    for (TensorId t : {TensorId::A, TensorId::B}) {
      if (after[static_cast<std::size_t>(index(t))] == i) pack(t);
    }
  }
  if (places > 1) {
    const Loop* around = std::get_if<Loop>(&spine.back().is);
    if (around && around->group == DimClass::batch)
      spine.pop_back();  // with nothing between, by 1 does the same
    spine.emplace_back(Loop{DimClass::batch, Elements(1), {}});
  }
  for (std::size_t l = outermost; l-- > 0;) {
    for (DimClass g : tiling.orders[l]) loop(g, tiling.tiles[l][at(g)]);
  }
  Kernel kernel = narrowed(tiling.kernel, group_extent(contraction, tiling, at(DimClass::n)));
  if (has_masks(contraction, kernel)) {
    // No more vectors than there are rows for: a packed copy has them all.
    const std::int64_t lanes = most_lanes(contraction);
    const std::int64_t rows = group_extent(contraction, tiling, at(DimClass::m));
    kernel.mr = Elements(std::min(kernel.mr.value(), ceil_div(rows, lanes) * lanes));
  }
  if (const std::int64_t row = kept_row(contraction, tiling); row > 0) {
    loop(DimClass::m, row);
    kernel.mr = Elements(std::min(kernel.mr.value(), row));
  }
  if (const std::int64_t row = even_row(contraction, tiling.groups, DimClass::n);
      row > 0 && tiling.in_place.right) {
    loop(DimClass::n, row);
    const RowCover cover =
        cover_row(std::min(row, range[at(DimClass::n)]), tiling.kernel.nr.value());
    if (cover.more > 0) {
      return {tiling.groups,
              nested(std::move(spine), covering(tiling, range[at(DimClass::m)], cover))};
    }
    kernel.nr = Elements(cover.columns);
  }
  const std::int64_t mr = kernel.mr.value(), nr = kernel.nr.value();
  if (tiling.m_inside) {
    loop(DimClass::n, nr);
    loop(DimClass::m, mr);
  } else {
    loop(DimClass::m, mr);
    loop(DimClass::n, nr);
  }

  return {tiling.groups, nested(std::move(spine), kernel)};
}

Kernel narrowed(const Kernel& kernel, std::int64_t extent) {
  const std::int64_t tiles = ceil_div(extent, kernel.nr.value());
  return {kernel.mr, Elements(ceil_div(extent, tiles)), kernel.statement, kernel.along_k};
}

std::int64_t group_extent(const Contraction& contraction, const Tiling& tiling, std::size_t c) {
  return extent_of(contraction, tiling.groups[loop_classes[c]]);
}

namespace {

// Neighbours along k that kernels along k read as they lie, where those are so few that tiles keep
// to whole pieces of them; 1 elsewhere.
std::int64_t short_piece(const Contraction& c, const Tiling& tiling) {
  constexpr std::int64_t longest = 256;  // source: chosen, a piece's end then takes a few per cent
  const Group& k = tiling.groups[DimClass::k];
  if (!tiling.kernel.along_k) return 1;
  const std::int64_t piece = even_part(c, right_operand(c, tiling.groups), k);
  return piece <= longest && piece < extent_of(c, k) ? piece : 1;
}

}  // namespace

void snap(const Contraction& contraction, Bytes line, Tiling& tiling, bool dividing) {
  std::array<std::int64_t, 3> range;
  const InPlace good = reads_well_in_place(contraction, tiling.groups, tiling.kernel);
  tiling.in_place.right &= good.right;
  const bool lanes_in_place =
      holds_lanes(contraction, tiling.groups) && !packs_lanes(contraction, tiling.groups);
  tiling.in_place.right |= lanes_in_place || tiling.kernel.along_k;
  tiling.in_place.left &= good.left;
  for (std::size_t c = 0; c < 3; ++c) range[c] = group_extent(contraction, tiling, c);
  const auto snap_tiles = [&](std::size_t c, std::int64_t unit) {
    std::int64_t outer = ceil_div(range[c], unit);
    for (std::size_t l = tiling.tiles.size(); l-- > 0;) {
      const double wanted =
          std::max(1.0, static_cast<double>(tiling.tiles[l][c]) / static_cast<double>(unit));
      outer = dividing ? nearest_divisor(outer, wanted) : evenly(outer, wanted);
      tiling.tiles[l][c] = outer * unit;
    }
  };
  const std::int64_t whole_line = line / size_of(contraction.type());
  const std::int64_t unit = range[at(DimClass::k)] % whole_line == 0 ? whole_line : 1;
  const std::int64_t piece = short_piece(contraction, tiling);
  snap_tiles(at(DimClass::k), piece > 1 ? piece : unit);
  // Only then is it known whether the left operand stays in place, which the units of m follow.
  const std::int64_t even = even_k(contraction, tiling.groups);
  const std::int64_t kernel_k = tiling.tiles.front()[at(DimClass::k)];
  const TensorId left = left_operand(contraction, tiling.groups);
  const Group& k = tiling.groups[DimClass::k];
  const std::int64_t columns = range[at(DimClass::n)];
  const std::int64_t times = ceil_div(columns, tiling.kernel.nr.value());
  // Beside a single column a pack would go from page to page as kernels do.
  const bool goes_on = !contraction.is_plain(left)
                           ? even_row(contraction, tiling.groups, DimClass::m) > 0
                           : reads_pieces_well(contraction, left, k, times) ||
                                 (columns == 1 && has_long_pieces(contraction, left, k));
  const bool crosses =
      !goes_on && range[at(DimClass::k)] > even &&
      (even % kernel_k != 0 || std::ranges::any_of(tiling.tiles, [&](const auto& t) {
         return t[at(DimClass::k)] % kernel_k != 0;
       }));
  tiling.in_place.left &= !crosses;
  tiling.in_place.left |= tiling.kernel.along_k && good.left;  // it goes on behind a piece's end
  const auto snap_rows = [&](DimClass g, std::int64_t row, std::int64_t kernel) {
    snap_tiles(at(g), row > 0 && row < range[at(g)] ? row : kernel);
  };
  const std::int64_t row = kept_row(contraction, tiling);
  snap_rows(DimClass::m, row, tiling.kernel.mr.value());
  if (row > 0 && !tiling.in_place.left) {
    // Of lanes: a copy of a row, of which the last micropanel is not whole, has no other behind it.
    for (auto& tile : tiling.tiles) tile[at(DimClass::m)] = row;
  }
  snap_rows(DimClass::n,
            tiling.in_place.right ? even_row(contraction, tiling.groups, DimClass::n) : 0,
            narrowed(tiling.kernel, range[at(DimClass::n)]).nr.value());
  for (std::size_t l = tiling.tiles.size(); l-- > 0;) {
    std::array<DimClass, 3>& order = tiling.orders[l];
    const auto& tile = tiling.tiles[l];
    const auto idle = [&](DimClass g) { return tile[at(g)] >= range[at(g)]; };
    const auto running = std::stable_partition(order.begin(), order.end(), idle);
    std::sort(order.begin(), running);
    range = tile;
  }
}

}  // namespace tcsim
