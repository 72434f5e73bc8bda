// Micropanels out of a tensor, and whole packed copies. A packed buffer is laid out by the loops
// inside its Pack, outer loops first (PackPlan::offset); walking those loops in their order fills
// it from its first element to its last.
#include <fmt/format.h>

#include "emit/parts.hpp"
#include "emit/text.hpp"

namespace tcsim::emit {

namespace {

constexpr std::string_view panel_head = R"(
/* A micropanel of $X: columns k to k_end of `rows` rows from $R on, filled up with zeros to $P
   rows. */
static void @panel_$X(const $T *$X, size_t $R, size_t rows, size_t k, size_t k_end,
                     $T *restrict to) {
)";

constexpr std::string_view panel_copy = R"(  $CONDITION/* its rows are neighbours in $X */
    for (; k < k_end; ++k, to += $P) {
      memcpy(to, $X + @$X_of_$R($R) + @$X_of_k(k), $P * sizeof(*to));
    }
    return;
  }
)";

constexpr std::string_view panel_rows = R"(  size_t row[$P];
  for (size_t r = 0; r < $P; ++r) row[r] = @$X_of_$R($R + @least(r, rows - 1));
  for (; k < k_end; k += $CHUNK) {
    const size_t columns = @least($CHUNK, k_end - k);
$COPY    for (size_t p = 0; p < columns; ++p) {
      for (size_t r = rows; r < $P; ++r) to[p * $P + r] = 0;
    }
    to += columns * $P;
  }
}
)";

constexpr std::string_view transposed = R"($T *column[$CHUNK];
for (size_t p = 0; p < $CHUNK; ++p) column[p] = to + @least(p, columns - 1) * $P;
const $T *const from = $X + @$X_of_k(k);
$AHEAD@transpose(rows, columns, from, row, column);
)";

// Hardware fetches ahead for a few rows at a time only.
constexpr std::string_view ahead =
    "for (size_t r = 0; r < rows; ++r) __builtin_prefetch(from + row[r] + 8 * $CHUNK);\n";

constexpr std::string_view gathered = R"(size_t column[$CHUNK];
for (size_t p = 0; p < $CHUNK; ++p) column[p] = @$X_of_k(k + @least(p, columns - 1));
for (size_t r = 0; r < rows; ++r) {
const $T *const from = $X + row[r];
for (size_t p = 0; p < columns; ++p) to[p * $P + r] = from[column[p]];
}
)";

Values names(const Plan& plan, TensorId t) {
  const std::int64_t line = 64 / size_of(plan.contraction().type()).value();
  return {{"T", element_name(plan)},
          {"X", to_text(t)},
          {"R", name_of(rows_of(plan, t))},
          {"P", std::to_string(panel_of(plan, t))},
          {"CHUNK", std::to_string(line)}};
}

std::string panel_function(const Plan& plan, TensorId t) {
  Values values = names(plan, t);
  const DimClass rows = rows_of(plan, t);
  const std::int64_t panel = panel_of(plan, t);
  std::string text = fill_in(panel_head, values);
  const std::string beside = neighbours(plan, t, rows, panel, name_of(rows));
  if (beside != "0") {
    values.push_back({"CONDITION", beside == "1"
                                       ? fmt::format("if (rows == {}) {{ ", panel)
                                       : fmt::format("if (rows == {} && {}) {{ ", panel, beside)});
    text += fill_in(panel_copy, values);
  }
  values.push_back({"AHEAD", panel > 8 ? fill_in(ahead, values) : ""});
  // Columns are neighbours as far as the operand's run along k goes.
  const auto along = run(plan.offsets(t, DimClass::k).digits());
  Lines copy(2);
  if (!along) {
    copy.add_all(fill_in(transposed, values));
  } else if (*along < 2) {
    copy.add_all(fill_in(gathered, values));
  } else {
    copy.add(fmt::format("if (k % {0} + columns <= {0}) {{", *along));
    copy.add_all(fill_in(transposed, values));
    copy.add("} else {");
    copy.add_all(fill_in(gathered, values));
    copy.add("}");
  }
  values.push_back({"COPY", copy.text()});
  return text + fill_in(panel_rows, values);
}

std::string pack_function(const Plan& plan, TensorId t) {
  const PackPlan& pack = *plan.pack(t);
  const std::string x = to_text(t), rows = name_of(pack.rows), type = element_name(plan);
  Lines lines;
  lines.add("");
  lines.add(
      fmt::format("/* The packed copy of {} for {} to {}_end and k to k_end. */", x, rows, rows));
  lines.add(
      fmt::format("static void @pack_{0}(const {1} *{0}, size_t {2}, size_t {2}_end, size_t "
                  "k, size_t k_end,",
                  x, type, rows));
  lines.add(fmt::format("                    {} *restrict to) {{", type));
  std::string row = rows, k = "k";
  std::int64_t number = 0;
  // A last loop over micropanels is the one that is written below.
  std::size_t count = pack.layout.size();
  if (count > 0 && pack.layout.back().over_rows && pack.layout.back().tile == pack.panel) --count;
  for (std::size_t i = 0; i < count; ++i) {
    const PackPlan::LayoutLoop& loop = pack.layout[i];
    std::string& outer = loop.over_rows ? row : k;
    const std::string inner = fmt::format("{}{}", loop.over_rows ? rows : "k", number++);
    lines.add(tile_loop(inner, outer, loop.tile));
    lines.add(tile_end(inner, outer, loop.tile));
    outer = inner;
  }
  lines.add(fmt::format("for (size_t p = {0}; p < {0}_end; p += {1}) {{", row, pack.panel));
  lines.add(fmt::format("@panel_{0}({0}, p, @least({1}, {2}_end - p), {3}, {3}_end, to);", x,
                        pack.panel, row, k));
  lines.add(fmt::format("to += {0} * ({1}_end - {1});", pack.panel, k));
  lines.close(0);
  return lines.text();
}

// Squares of SSE2, which every x86-64 has, go through registers.
constexpr std::string_view transpose = R"(
/* to[c][r] = from[row[r] + c]: rows that run along memory become columns that do. */
static void @transpose(size_t rows, size_t columns, const $T *from, const size_t *row,
                       $T *const *to) {
  size_t squares = 0; /* columns that are done */
#if defined(@VECTORS)
  squares = columns / $LANES * $LANES;
  const size_t whole = rows / $LANES * $LANES;
  for (size_t c = 0; c < squares; c += $LANES) {
    for (size_t r = 0; r < whole; r += $LANES) {
$SQUARE    }
    for (size_t r = whole; r < rows; ++r) {
$ROW    }
  }
#endif
  for (size_t c = squares; c < columns; ++c) {
    for (size_t r = 0; r < rows; ++r) to[c][r] = from[row[r] + c];
  }
}
)";

constexpr std::string_view square_f64 = R"(      const __m128d a = _mm_loadu_pd(from + row[r] + c);
      const __m128d b = _mm_loadu_pd(from + row[r + 1] + c);
      _mm_storeu_pd(to[c] + r, _mm_unpacklo_pd(a, b));
      _mm_storeu_pd(to[c + 1] + r, _mm_unpackhi_pd(a, b));
)";

constexpr std::string_view square_f32 = R"(      __m128 a = _mm_loadu_ps(from + row[r] + c);
      __m128 b = _mm_loadu_ps(from + row[r + 1] + c);
      __m128 d = _mm_loadu_ps(from + row[r + 2] + c);
      __m128 e = _mm_loadu_ps(from + row[r + 3] + c);
      _MM_TRANSPOSE4_PS(a, b, d, e);
      _mm_storeu_ps(to[c] + r, a);
      _mm_storeu_ps(to[c + 1] + r, b);
      _mm_storeu_ps(to[c + 2] + r, d);
      _mm_storeu_ps(to[c + 3] + r, e);
)";

}  // namespace

std::string tile_loop(const std::string& inner, const std::string& outer, std::int64_t tile) {
  return fmt::format("for (size_t {0} = {1}; {0} < {1}_end; {0} += {2}) {{", inner, outer, tile);
}

std::string tile_end(const std::string& inner, const std::string& outer, std::int64_t tile) {
  return fmt::format("const size_t {0}_end = @least({0} + {1}, {2}_end);", inner, tile, outer);
}

std::string packing_functions(const Plan& plan) {
  std::string text;
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (in_strips(plan, t)) {
      text += pack_in_strips(plan, t);
    } else {
      if (plan.pack(t) || !plan.lanes()) text += panel_function(plan, t);
      if (plan.pack(t)) text += pack_function(plan, t);
    }
  }
  if (text.find("@transpose(") == text.npos) return text;
  const bool wide = plan.contraction().type() == ElementType::f64;
  const int lanes = wide ? 2 : 4;
  std::string one_row;
  for (int i = 0; i < lanes; ++i) {
    const std::string plus = i == 0 ? "" : fmt::format(" + {}", i);
    one_row += fmt::format("      to[c{0}][r] = from[row[r] + c{0}];\n", plus);
  }
  return fill_in(transpose, {{"T", element_name(plan)},
                             {"LANES", std::to_string(lanes)},
                             {"SQUARE", std::string(wide ? square_f64 : square_f32)},
                             {"ROW", one_row}}) +
         text;
}

}  // namespace tcsim::emit
