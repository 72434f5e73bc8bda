// The packed copy of an operand whose stride-one dimension lies behind others in the group of its
// rows. Micropanel after micropanel would touch every line once for each of its elements; here
// those that read neighbours are filled together, as for_each_block() has it
// (core/plan/pack_order.hpp).
#include <fmt/format.h>

#include "emit/parts.hpp"
#include "emit/text.hpp"

namespace tcsim::emit {

namespace {

constexpr std::string_view place_head = R"(
/* Where the micropanel at row $R and its column k lie in the packed copy of $X, which has $R_size rows
   and k_size columns; all count from its beginning. */
static size_t @place_in_$X(size_t $R, size_t $R_size, size_t k, size_t k_size) {
  size_t place = 0;
$STEPS  return place + $R / $P * $P * k_size + k * $P;
}
)";

constexpr std::string_view rows_step = R"(  const size_t begin$I = $R / $TILE * $TILE;
  place += begin$I * k_size;
  $R -= begin$I;
  $R_size = @least($TILE, $R_size - begin$I);
)";

constexpr std::string_view k_step = R"(  const size_t begin$I = k / $TILE * $TILE;
  place += begin$I * @round_up($R_size, $P);
  k -= begin$I;
  k_size = @least($TILE, k_size - begin$I);
)";

constexpr std::string_view pack_head = R"(
/* The packed copy of $X for $R to $R_end and k to k_end. Rows that are $APART apart are neighbours in
   $X, so micropanels that lie so are filled together, a column of all at a time. */
static void @pack_$X(const $T *$X, size_t $R, size_t $R_end, size_t k, size_t k_end,
                     $T *restrict to) {
  /* Micropanels: their first rows, how many rows they have, and where those begin in $X. All that is
     read below is set before, but not every compiler sees that. */
  size_t panel[$STRIPS] = {0}, rows[$STRIPS] = {0}, row[$STRIPS][$P] = {{0}};
  for (size_t from = $R / $WIDE * $WIDE; from < $R_end; from += $WIDE) {
    for (size_t q = 0; q < @least($APART, $R_end - $R); q += $P) {
      size_t count = 0;
      int beside = 1;
      for (size_t strip = from; strip < @least(from + $WIDE, $R_end); strip += $APART) {
        /* Step q of the micropanels that begin within the strip. */
        const size_t p = (strip > $R ? @round_up(strip - $R, $P) : 0) + q;
        if ($R + p >= @least(strip + $APART, $R_end)) continue;
        panel[count] = p;
        rows[count] = @least($P, $R_end - $R - p);
        if (count > 0 && ($R + p) % $APART == ($R + panel[0]) % $APART &&
            ($R + p) % $APART + $P <= $APART) { /* like the first, but elsewhere */
          const size_t first = @$X_of_$R($R + p);
          for (size_t r = 0; r < $P; ++r) row[count][r] = row[0][r] - row[0][0] + first;
          beside &= first == row[0][0] + count;
        } else {
          for (size_t r = 0; r < $P; ++r) {
            row[count][r] = @$X_of_$R($R + p + @least(r, rows[count] - 1));
          }
          beside &= count == 0;
        }
        beside &= rows[count] == $P;
        ++count;
      }
      if (count == 0) continue;
)";

constexpr std::string_view columns = R"(
/* Columns k to k_end of `count` micropanels; the pack ends at k_last. `beside`: they are whole, and
   each lies one element behind the one before. */
static void @columns_of_$X(const $T *$X, size_t k, size_t k_end, size_t k_last, size_t count,
                         int beside, const size_t *rows, size_t (*row)[$P], $T **to) {
  for (; k < k_end; ++k) {
    const $T *const from = $X + @$X_of_k(k);
    if (beside) {
      /* Rows lie far apart: hardware does not see the next column coming. */
      const $T *const next = k + 1 < k_last ? $X + @$X_of_k(k + 1) : from;
      for (size_t r = 0; r < $P; ++r) {
        for (size_t s = 0; s < count; s += $LINE) __builtin_prefetch(next + row[0][r] + s);
      }
      @transpose($P, count, from, row[0], to);
    } else {
      for (size_t s = 0; s < count; ++s) {
        for (size_t r = 0; r < rows[s]; ++r) to[s][r] = from[row[s][r]];
        for (size_t r = rows[s]; r < $P; ++r) to[s][r] = 0;
      }
    }
    for (size_t s = 0; s < count; ++s) to[s] += $P;
  }
}
)";

std::string place_function(const PackPlan& pack, Values values) {
  std::string steps;
  values.insert(values.end(), {{"TILE", ""}, {"I", ""}});
  bool over_k = false;
  int number = 0;
  for (const PackPlan::LayoutLoop& loop : pack.layout) {
    (values.end() - 2)->second = std::to_string(loop.tile);
    values.back().second = std::to_string(number++);
    over_k |= !loop.over_rows;
    steps += fill_in(loop.over_rows ? rows_step : k_step, values);
  }
  if (!over_k) steps += fill_in("  (void)$R_size;\n", values);
  values.push_back({"STEPS", steps});
  return fill_in(place_head, values);
}

}  // namespace

bool in_strips(const Plan& plan, TensorId t) {
  const PackPlan* pack = plan.pack(t);
  return pack && pack->along_rows && pack->apart > 1 && pack->panel <= 64;
}

std::string pack_in_strips(const Plan& plan, TensorId t) {
  const PackPlan& pack = *plan.pack(t);
  Values values{{"T", element_name(plan)},
                {"X", to_text(t)},
                {"R", name_of(pack.rows)},
                {"P", std::to_string(pack.panel)},
                {"LINE", std::to_string(64 / plan.element().value())},
                {"APART", std::to_string(pack.apart)},
                {"STRIPS", std::to_string(pack.strips)},
                {"WIDE", std::to_string(pack.apart * pack.strips)}};
  std::string text =
      place_function(pack, values) + fill_in(columns, values) + fill_in(pack_head, values);
  Lines lines(3);
  std::string k = "k";
  std::int64_t number = 0;
  for (const PackPlan::LayoutLoop& loop : pack.layout) {
    if (loop.over_rows) continue;
    const std::string inner = fmt::format("k{}", number++);
    lines.add(tile_loop(inner, k, loop.tile));
    lines.add(tile_end(inner, k, loop.tile));
    k = inner;
  }
  lines.add(fmt::format("{} *column[{}];", element_name(plan), pack.strips));
  lines.add("for (size_t s = 0; s < count; ++s) {");
  lines.add(
      fmt::format("column[s] = to + @place_in_{0}(panel[s], {1}_end - {1}, {2} - k, k_end - k);",
                  to_text(t), name_of(pack.rows), k));
  lines.add("}");
  lines.add(
      fmt::format("@columns_of_{0}({0}, {1}, {1}_end, k_end, count, beside, rows, row, column);",
                  to_text(t), k));
  lines.close(0);
  return text + lines.text();
}

}  // namespace tcsim::emit
