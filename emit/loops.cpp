// contract(): the schedule's steps as nested loops.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/units/text.hpp"
#include "emit/parts.hpp"
#include "emit/text.hpp"

namespace tcsim::emit {

namespace {

// The current range of a group as C expressions, and the sizes that it can have.
struct Extent {
  std::string begin, end;
  std::vector<std::int64_t> sizes;

  bool fixed() const { return sizes.size() == 1; }
  std::int64_t most() const { return *std::ranges::max_element(sizes); }
  std::string size() const {
    if (fixed()) return std::to_string(sizes[0]);
    return begin == "0" ? end : fmt::format("{} - {}", end, begin);
  }
  std::string factor() const { return fixed() || begin == "0" ? size() : "(" + size() + ")"; }
};

// The sizes of a loop's tiles in ranges of those sizes.
std::vector<std::int64_t> tiled(const std::vector<std::int64_t>& sizes, const Step& loop) {
  std::vector<std::int64_t> found;
  const auto add = [&](std::int64_t size) {
    if (std::ranges::find(found, size) == found.end()) found.push_back(size);
  };
  for (std::int64_t size : sizes) {
    loop.for_each_size(size, [&](std::int64_t tile, std::int64_t) { add(tile); });
  }
  return found;
}

// Elements of the workspace: what is packed, and then what a kernel call needs.
struct Piece {
  std::string name;
  std::int64_t elements;
};

std::vector<Piece> workspace(const Plan& plan) {
  std::vector<Piece> pieces;
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (const PackPlan* pack = plan.pack(t)) {
      pieces.push_back({fmt::format("packed_{}", to_text(t)), pack->capacity});
    }
  }
  if (plan.lanes()) return pieces;
  pieces.push_back({"tile", plan.mr() * plan.nr()});
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (plan.pack(t)) continue;
    pieces.push_back(
        {fmt::format("gathered_{}", to_text(t)), panel_of(plan, t) * in_place_columns});
  }
  return pieces;
}

// Each begins at a whole page, as in a Plan's arena.
std::int64_t in_pages(const Plan& plan, std::int64_t elements) {
  const std::int64_t page = 4096 / plan.element().value();
  return (elements + page - 1) / page * page;
}

class LoopWriter {
 public:
  explicit LoopWriter(const Plan& plan) : plan_(plan), lines_(1) {
    for (DimClass g : all_dim_classes) {
      const std::int64_t extent = plan.extent(g);
      ranges_[g] = {"0", std::to_string(extent), {extent}};
    }
    for (TensorId t : all_tensors) tensors_[t] = to_text(t);
    for (std::size_t d = 0; d < plan.steps().size(); ++d) {
      const Step& s = plan.steps()[d];
      if (s.kind == Step::Kind::loop && s.group == DimClass::n) last_n_ = d + 1;
    }
  }

  std::string text() {
    for (std::size_t d = 0; d < plan_.steps().size(); ++d) {
      if (d == last_n_) columns();
      const Step& s = plan_.steps()[d];
      if (s.kind == Step::Kind::loop) {
        loop(s);
      } else if (s.kind == Step::Kind::move) {
        pack(s);
      } else {
        kernel();
      }
    }
    lines_.close(1);
    return lines_.text();
  }

 private:
  Extent& range(DimClass g) { return ranges_[g]; }

  void loop(const Step& s) {
    Extent& range = ranges_[s.group];
    const Extent outer = range;
    const std::string i = fmt::format("{}{}", name_of(s.group), numbers_[s.group]++);
    range = {i, "", tiled(outer.sizes, s)};
    range.end = range.fixed() ? fmt::format("{} + {}", i, range.sizes[0]) : i + "_end";
    std::string step = std::to_string(s.tile);
    if (s.head > 0) {
      // Tiles of two sizes: of the second one behind `head`, and none of the first goes beyond it.
      const std::string head =
          outer.begin == "0" ? std::to_string(s.head) : fmt::format("{} + {}", outer.begin, s.head);
      step = i + "_tile";
      lines_.add(fmt::format("for (size_t {0} = {1}, {2}; {0} < {3}; {0} += {2}) {{", i,
                             outer.begin, step, outer.end));
      lines_.add(fmt::format("{0} = {1} < {2} ? @least({3}, {2} - {1}) : {4};", step, i, head,
                             s.head_tile, s.tile));
    } else {
      lines_.add(fmt::format("for (size_t {0} = {1}; {0} < {2}; {0} += {3}) {{", i, outer.begin,
                             outer.end, step));
    }
    if (!range.fixed()) {
      lines_.add(fmt::format("const size_t {0}_end = @least({0} + {1}, {2});", i, step, outer.end));
    }
    if (s.group == DimClass::batch) {
      if (s.tile == 1) batch(i);
      return;
    }
    const std::string steps = outer.begin == "0" ? i : fmt::format("({} - {})", i, outer.begin);
    for (TensorId t : {plan_.left(), plan_.right()}) follow(t, s.group, steps);
  }

  // Where the operand's part for this iteration begins in its packed copy: behind whole tiles times
  // the current range of its other group.
  void follow(TensorId t, DimClass group, const std::string& steps) {
    std::string& packed = packed_[t];
    const DimClass rows = rows_of(plan_, t);
    if (packed.empty() || (group != rows && group != DimClass::k)) return;
    std::string each = range(DimClass::k).factor();
    if (group == DimClass::k) each = whole_panels(range(rows), panel_of(plan_, t));
    const std::string here = fmt::format("{}_{}", to_text(t), ranges_[group].begin);
    lines_.add(fmt::format("const {} *const {} = {} + {} * {};", element_name(plan_), here, packed,
                           steps, each));
    packed = here;
  }

  static std::string whole_panels(const Extent& rows, std::int64_t panel) {
    if (rows.fixed()) return std::to_string((rows.sizes[0] + panel - 1) / panel * panel);
    const bool whole =
        std::ranges::all_of(rows.sizes, [&](std::int64_t s) { return s % panel == 0; });
    return whole ? rows.factor() : fmt::format("@round_up({}, {})", rows.size(), panel);
  }

  void batch(const std::string& i) {
    if (plan_.schedule().groups[DimClass::batch].empty()) return;
    for (TensorId t : all_tensors) {
      if (!plan_.follows(t, DimClass::batch)) continue;
      if (packed_[t].empty()) {
        const std::string here = fmt::format("{}_{}", to_text(t), i);
        lines_.add(fmt::format("{}{} *const {} = {} + @{}_of_batch({});",
                               t == TensorId::C ? "" : "const ", element_name(plan_), here,
                               tensors_[t], to_text(t), i));
        tensors_[t] = here;
        continue;
      }
      const PackPlan& pack = *plan_.pack(t);
      if (pack.places == 1) continue;
      const std::string place = fmt::format("place_of_{}", to_text(t));
      lines_.add(fmt::format("const {} *const {} = {} + {} % {} * {};", element_name(plan_), place,
                             packed_[t], i, pack.places, pack.place));
      packed_[t] = place;
    }
  }

  // Where a pack begins, as Plan::source_of() has it, but for the batch.
  std::string source_of(const PackPlan& pack) {
    const std::string& from = tensors_[pack.tensor];
    if (!plan_.lanes() || pack.tensor == plan_.left()) return from;
    return fmt::format("{} + @{}_of_n({})", from, to_text(pack.tensor), range(DimClass::n).begin);
  }

  // Several places of the batch one after the other.
  void pack_places(const PackPlan& pack, const std::string& call) {
    const char* const x = to_text(pack.tensor);
    const Extent& batch = range(DimClass::batch);
    lines_.add(
        fmt::format("for (size_t place = {}; place < {}; ++place) {{", batch.begin, batch.end));
    lines_.add(fmt::format("const {} *const from = {} + @{}_of_batch(place);", element_name(plan_),
                           source_of(pack), x));
    lines_.add(fmt::format(fmt::runtime(call), "from",
                           fmt::format("packed_{} + place % {} * {}", x, pack.places, pack.place)));
    lines_.add("}");
  }

  void pack(const Step& s) {
    const PackPlan& pack = *plan_.pack(s.tensor);
    const char* const x = to_text(s.tensor);
    const Extent& rows = range(pack.rows);
    const Extent& ks = range(DimClass::k);
    lines_.add(fmt::format("/* {} x {} of {}, {}, to stay in {} */", rows.most(), ks.most(), x,
                           to_binary_display(pack.capacity * plan_.element()), s.level));
    const std::string call = fmt::format("@pack_{}({{}}, {}, {}, {}, {}, {{}});", x, rows.begin,
                                         rows.end, ks.begin, ks.end);
    if (pack.places > 1) {
      pack_places(pack, call);
    } else {
      lines_.add(fmt::format(fmt::runtime(call), source_of(pack), fmt::format("packed_{}", x)));
    }
    packed_[s.tensor] = fmt::format("packed_{}", x);
  }

  void columns() {
    if (plan_.lanes()) return;
    const Extent& n = range(DimClass::n);
    lines_.add(fmt::format("size_t columns[{}]; /* of C */", plan_.nr()));
    lines_.add(fmt::format("for (size_t j = 0; j < {}; ++j) columns[j] = @C_of_n({} + j);",
                           plan_.nr(), n.begin));
  }

  void kernel() {
    const Extent &m = range(DimClass::m), &n = range(DimClass::n), &k = range(DimClass::k);
    const TensorId left = plan_.left(), right = plan_.right();
    if (plan_.lanes()) return kernel_by_lane(m, n, k);
    const auto call = [&](const std::string& kc, const std::string& l, const std::string& r,
                          const std::string& first) {
      lines_.add(fmt::format("@block(multiply, {}, {}, {}, {}, {}, {}, columns, {}, {}, tile);", kc,
                             l, r, tensors_[TensorId::C], m.begin, m.size(), n.size(), first));
    };
    if (!packed_[left].empty() && !packed_[right].empty()) {
      call(k.size(), packed_[left], packed_[right],
           k.begin == "0" ? "1" : fmt::format("{} == 0", k.begin));
      return;
    }
    lines_.add(fmt::format("for (size_t p = {0}; p < {1}; p += {2}) {{", k.begin, k.end,
                           in_place_columns));
    lines_.add(fmt::format("const size_t kc = @least({}, {} - p);", in_place_columns,
                           k.fixed() && k.begin != "0" ? fmt::format("({})", k.end) : k.end));
    std::array<std::string, 2> panels;
    for (TensorId t : {left, right}) {
      std::string& panel = panels[t == left ? 0 : 1];
      const std::int64_t rows = panel_of(plan_, t);
      if (packed_[t].empty()) {
        const Extent& r = range(rows_of(plan_, t));
        panel = fmt::format("gathered_{}", to_text(t));
        lines_.add(fmt::format("@panel_{0}({1}, {2}, {3}, p, p + kc, {4});", to_text(t),
                               tensors_[t], r.begin, r.size(), panel));
      } else {
        panel = fmt::format("{} + {} * {}", packed_[t],
                            k.begin == "0" ? "p" : fmt::format("(p - {})", k.begin), rows);
      }
    }
    call("kc", panels[0], panels[1], "p == 0");
  }

  // Where each row has columns of its own no panels are multiplied: sums along the rows, which the
  // compiler makes vectors of.
  void kernel_by_lane(const Extent& m, const Extent& n, const Extent& k) {
    const TensorId left = plan_.left(), right = plan_.right();
    const char *const l = to_text(left), *const r = to_text(right);
    lines_.add(fmt::format("for (size_t j = {}; j < {}; ++j) {{", n.begin, n.end));
    lines_.add(fmt::format("{} sum[{}] = {{0}};", element_name(plan_), plan_.mr()));
    lines_.add(fmt::format("for (size_t p = {}; p < {}; ++p) {{", k.begin, k.end));
    const auto in_pack = [&](TensorId t) {
      return fmt::format("{}[(p - {}) * {} + i - {}]", packed_[t], k.begin, plan_.mr(), m.begin);
    };
    std::string of_right = in_pack(right);
    if (packed_[right].empty()) {
      lines_.add(fmt::format("const {} *const of_{} = {} + @{}_of_n(j) + @{}_of_k(p);",
                             element_name(plan_), r, tensors_[right], r, r));
      of_right = fmt::format("of_{}[@{}_of_m(i)]", r, r);
    }
    lines_.add(fmt::format("for (size_t i = {}; i < {}; ++i) {{", m.begin, m.end));
    const std::string of_left =
        packed_[left].empty() ? fmt::format("{}[@{}_of_m(i) + @{}_of_k(p)]", tensors_[left], l, l)
                              : in_pack(left);
    lines_.add(fmt::format("sum[i - {}] += {} * {};", m.begin, of_left, of_right));
    lines_.add("}");
    lines_.add("}");
    lines_.add(fmt::format("for (size_t i = {}; i < {}; ++i) {{", m.begin, m.end));
    lines_.add(fmt::format("{0} *const to = {1} + @C_of_m(i) + @C_of_n(j);", element_name(plan_),
                           tensors_[TensorId::C]));
    const std::string sum = fmt::format("sum[i - {}]", m.begin);
    lines_.add(k.begin == "0" ? fmt::format("*to = {};", sum)
                              : fmt::format("*to = {} == 0 ? {} : *to + {};", k.begin, sum, sum));
    lines_.add("}");
    lines_.add("}");
  }

  const Plan& plan_;
  Lines lines_;
  ByGroup<Extent> ranges_;
  ByGroup<int> numbers_{};
  ByTensor<std::string> tensors_;  // where the current batch index begins
  ByTensor<std::string> packed_;   // where the current part begins; empty: read in place
  std::size_t last_n_ = 0;         // the step behind the innermost loop over n
};

constexpr std::string_view block = R"(
/* Rows m to m + rows of C and the columns (+)= left right. A whole tile whose rows are neighbours
   goes to C directly, any other by way of `tile`. */
static void @block(@kernel_code *multiply, size_t kc, const $T *left, const $T *right, $T *C, size_t m,
                   size_t rows, const size_t *columns, size_t column_count, int overwrite,
                   $T *restrict tile) {
$DIRECT  size_t row[$MR], tile_columns[$NR];
  for (size_t i = 0; i < $MR; ++i) row[i] = @C_of_m(m + @least(i, rows - 1));
  for (size_t j = 0; j < $NR; ++j) tile_columns[j] = j * $MR;
  multiply(kc, left, right, tile, tile_columns, 1);
  for (size_t j = 0; j < column_count; ++j) {
    const $T *const from = tile + j * $MR;
    $T *const to = C + columns[j];
    if (overwrite) {
      for (size_t i = 0; i < rows; ++i) to[row[i]] = from[i];
    } else {
      for (size_t i = 0; i < rows; ++i) to[row[i]] += from[i];
    }
  }
}
)";

constexpr std::string_view contract = R"(
static _Thread_local $T *@kept; /* of $BYTES */

static $T *@workspace(void) {
  if (@kept == NULL) @kept = @allocate($ELEMENTS, sizeof($T));
  return @kept;
}

void @contract_release(void) {
  free(@kept);
  @kept = NULL;
}

int @contract(const $T *A, const $T *B, $T *C) {
  $T *const work = @workspace();
  if (work == NULL) return -1;
$PIECES$KERNEL
$NEST  return 0;
}
)";

constexpr std::string_view direct = R"(  if (rows == $MR && column_count == $NR$NEIGHBOURS) {
    multiply(kc, left, right, C + @C_of_m(m), columns, overwrite);
    return;
  }
)";

}  // namespace

std::string contract_functions(const Plan& plan) {
  const std::string beside = neighbours(plan, TensorId::C, DimClass::m, plan.mr(), "m");
  Values values{{"T", element_name(plan)},
                {"MR", std::to_string(plan.mr())},
                {"NR", std::to_string(plan.nr())},
                {"NEIGHBOURS", beside == "1" ? "" : " && " + beside}};
  values.push_back({"DIRECT", beside == "0" ? "" : fill_in(direct, values)});
  std::string pieces;
  std::int64_t place = 0;
  for (const Piece& piece : workspace(plan)) {
    pieces += fmt::format("  {} *const {} = work{};\n", element_name(plan), piece.name,
                          place == 0 ? "" : fmt::format(" + {}", place));
    place += in_pages(plan, piece.elements);
  }
  values.push_back({"PIECES", pieces});
  values.push_back({"ELEMENTS", std::to_string(std::max<std::int64_t>(1, place))});
  values.push_back({"BYTES", to_binary_display(place * plan.element())});
  values.push_back(
      {"KERNEL", plan.lanes() ? "" : "  @kernel_code *const multiply = @best_kernel();\n"});
  values.push_back({"NEST", LoopWriter(plan).text()});
  return (plan.lanes() ? std::string() : fill_in(block, values)) + fill_in(contract, values);
}

}  // namespace tcsim::emit
