#include "core/schedule/scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/schedule/path.hpp"

namespace tcsim {

namespace {

constexpr std::string_view example = "write a scheme as [R y,T3,r,U14,x,U2,k,Vk]";
constexpr std::int64_t most_times = std::int64_t{1} << 30;

struct Specifier {
  enum class Kind { tile, rest, unroll, vector, two };
  Kind kind = Kind::tile;
  std::int64_t times = 1;  // 0: as λ says
  DimId dim{};
  struct Tiles {
    std::int64_t count, alpha;
  };
  std::vector<Tiles> two;
  std::size_t offset = 0;  // in the text
};

class Scanner {
 public:
  Scanner(std::string_view text, const Contraction& contraction, const std::string& place)
      : text_(text), contraction_(contraction), place_(place) {}

  std::vector<Specifier> specifiers() {
    std::vector<Specifier> all;
    expect("[");
    do all.push_back(specifier());
    while (take(","));
    expect("]");
    blanks();
    if (at_ != text_.size()) fail(at_, "the end expected", example);
    return all;
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& problem,
                         std::string_view mend) const {
    const std::string_view before = text_.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t begin = before.rfind('\n') + 1;  // 0 on the first line
    throw InputError(fmt::format("{}:{}:{}", place_, line, offset - begin + 1), problem,
                     std::string(mend));
  }

 private:
  Specifier specifier() {
    using Kind = Specifier::Kind;
    blanks();
    Specifier s;
    s.offset = at_;
    if (take("T") || take("U")) {
      s.kind = text_[at_ - 1] == 'T' ? Kind::tile : Kind::unroll;
      s.times = take_alpha() ? 0 : number();
      expect(",");
    } else if (take("R")) {
      s.kind = Kind::rest;
    } else if (take("V")) {
      s.kind = Kind::vector;
    } else if (take("λ") || take("L")) {
      take("seq");
      s.kind = Kind::two;
    } else {
      fail(at_, "T, U, R, V or λ expected", example);
    }
    s.dim = dim();
    if (s.kind == Kind::two) {
      if (take_alpha()) expect(".");
      expect("[");
      do s.two.push_back(tiles());
      while (take(","));
      expect("]");
      if (s.two.size() != 2) {
        fail(s.offset, fmt::format("{} kernels one after the other", s.two.size()),
             "write two, as λx [(2,11),(1,12)]");
      }
    }
    return s;
  }

  Specifier::Tiles tiles() {
    expect("(");
    const std::int64_t count = number();
    expect(",");
    const std::int64_t alpha = number();
    expect(")");
    return {count, alpha};
  }

  void blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool take(std::string_view word) {
    blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool take_alpha() { return take("α") || take("β") || take("*"); }
  void expect(std::string_view word) {
    if (!take(word)) fail(at_, fmt::format("'{}' expected", word), example);
  }
  std::int64_t number() {
    blanks();
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 1 || value > most_times) {
      fail(at_, "a number from 1 to 2^30 expected", example);
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  DimId dim() {
    blanks();
    for (int d = 0; d < contraction_.dim_count(); ++d) {
      if (take({&contraction_.dim(DimId{d}).name, 1})) return DimId{d};
    }
    std::string names;
    for (int d = 0; d < contraction_.dim_count(); ++d) {
      if (!names.empty()) names += ", ";
      names += contraction_.dim(DimId{d}).name;
    }
    fail(at_, "a dimension expected",
         fmt::format("those of {} are {}", contraction_.label(), names));
  }

  std::string_view text_;
  const Contraction& contraction_;
  const std::string& place_;
  std::size_t at_ = 0;
};

// Goes through specifiers from the innermost outward.
class SchemeReader {
 public:
  SchemeReader(std::string_view text, const Contraction& contraction, std::int64_t lanes,
               const std::string& place)
      : contraction_(contraction), lanes_(lanes), scanner_(text, contraction, place) {
    specifiers_ = scanner_.specifiers();
    exchanged_ = !specifiers_.empty() && specifiers_.back().kind == Specifier::Kind::vector &&
                 contraction.dim_class(specifiers_.back().dim) == DimClass::n;
  }

  Schedule schedule() {
    const auto two = std::ranges::find(specifiers_, Specifier::Kind::two, &Specifier::kind);
    auto i = static_cast<std::size_t>(two - specifiers_.begin());
    State state = two == specifiers_.end() ? nothing() : two_kernels(*two, i);
    while (i-- > 0) grow(state, specifiers_[i], i);
    finish_kernel(state);
    Groups groups = state.order;
    for (int d = 0; d < contraction_.dim_count(); ++d) {
      const DimId dim{d};
      const std::int64_t extent = contraction_.dim(dim).extent, size = state.size[at(dim)];
      if (size != extent) {
        scanner_.fail(0,
                      fmt::format("the scheme covers {} of the {} of {}", size, extent,
                                  contraction_.dim(dim).name),
                      fmt::format("add R{}, or other factors", contraction_.dim(dim).name));
      }
      Group& group = groups[group_of(dim)];
      if (std::ranges::find(group, dim) == group.end()) group.push_back(dim);
    }
    return {groups, *state.node};
  }

 private:
  struct State {
    std::vector<std::int64_t> size;  // by dimension
    Groups order;                    // dimensions that have begun to grow
    std::optional<Node> node;        // from the first loop on
  };

  static std::size_t at(DimId d) { return static_cast<std::size_t>(index(d)); }

  DimClass group_of(DimId d) const {
    const DimClass c = contraction_.dim_class(d);
    if (!exchanged_ || c == DimClass::k || c == DimClass::batch) return c;
    return c == DimClass::m ? DimClass::n : DimClass::m;
  }

  std::int64_t elements(const State& state, DimClass g) const {
    std::int64_t n = 1;
    for (DimId d : state.order[g]) n *= state.size[at(d)];
    return n;
  }

  void finish_kernel(State& state) const {
    if (state.node) return;
    state.node = Node{
        Kernel{Elements(elements(state, DimClass::m)), Elements(elements(state, DimClass::n))}};
  }

  State nothing() const {
    return {
        std::vector<std::int64_t>(static_cast<std::size_t>(contraction_.dim_count()), 1), {}, {}};
  }

  void grow(State& state, const Specifier& s, std::size_t i) const {
    using Kind = Specifier::Kind;
    const DimClass g = group_of(s.dim);
    const bool is_sum = g == DimClass::k;
    std::int64_t times = s.times;
    if (s.kind == Kind::two) scanner_.fail(s.offset, "a second λ", "write one");
    if (times == 0) scanner_.fail(s.offset, "no λ outside says what α is", "add one");
    if (s.kind == Kind::vector) {
      if (i + 1 != specifiers_.size()) scanner_.fail(s.offset, "V is not the innermost", example);
      if (is_sum || g == DimClass::batch) {
        scanner_.fail(s.offset, "vectors along a dimension that C has not, or all tensors have",
                      "use one that C shares with one operand");
      }
      times = lanes_;
    }
    if (s.kind == Kind::unroll && !is_sum && state.node) {
      scanner_.fail(s.offset, "U stands around a loop", "put register tiles innermost");
    }
    const std::int64_t extent = contraction_.dim(s.dim).extent;
    if (s.kind == Kind::rest) times = extent / state.size[at(s.dim)];
    if (s.kind == Kind::tile || s.kind == Kind::rest) {
      if (!is_sum) finish_kernel(state);
      // A batch runs by 1, whatever it is made of.
      const bool again = g == DimClass::batch && !state.order[g].empty();
      if (state.node && times > 1 && !again) {
        state.node = Node{Loop{g, Elements(elements(state, g)), *std::exchange(state.node, {})}};
      }
    }
    if (times > 1) enlarge(state, s, times);
  }

  // `times` as large along the specifier's dimension.
  void enlarge(State& state, const Specifier& s, std::int64_t times) const {
    const Dimension& dim = contraction_.dim(s.dim);
    std::int64_t& size = state.size[at(s.dim)];
    if (times > dim.extent / size || dim.extent % (times * size) != 0) {
      scanner_.fail(s.offset,
                    fmt::format("{} tiles of {} do not divide the {} of {}", times, size,
                                dim.extent, dim.name),
                    "use divisors, or λ with two kernels");
    }
    Group& order = state.order[group_of(s.dim)];
    if (order.empty() || order.back() != s.dim) {
      const auto whole = [&](DimId d) { return state.size[at(d)] == contraction_.dim(d).extent; };
      const auto cut = std::ranges::find_if_not(order, whole);
      if (cut != order.end() || std::ranges::find(order, s.dim) != order.end()) {
        const char other = contraction_.dim(cut != order.end() ? *cut : order.back()).name;
        scanner_.fail(
            s.offset, fmt::format("{} grows while {} is not whole", dim.name, other),
            fmt::format("let {} grow to its end first: dimensions of a group are fused", other));
      }
      order.push_back(s.dim);
    }
    size *= times;
  }

  // Each part of the range by itself, and both as one.
  State two_kernels(const Specifier& s, std::size_t i) const {
    const DimClass g = group_of(s.dim);
    const std::int64_t extent = contraction_.dim(s.dim).extent;
    Seq seq{g, {}};
    State all;
    std::int64_t size = 0;
    for (const Specifier::Tiles& tiles : s.two) {
      if (tiles.alpha > extent || tiles.count > (extent - size) / tiles.alpha) {
        scanner_.fail(s.offset,
                      fmt::format("the tiles are more than the {} of {}", extent,
                                  contraction_.dim(s.dim).name),
                      "use fewer, or smaller ones");
      }
      size += tiles.count * tiles.alpha;
      State part = with_alpha(i + 1, s.dim, tiles.alpha);
      finish_kernel(part);
      const std::int64_t tile = elements(part, g);
      Node node = *std::exchange(part.node, {});
      if (tiles.count > 1) node = Node{Loop{g, Elements(tile), std::move(node)}};
      seq.parts.push_back({Elements(tiles.count * tile), std::move(node)});
      all = std::move(part);
    }
    all.node = Node{std::move(seq)};
    all.size[at(s.dim)] = 1;
    enlarge(all, s, size);
    return all;
  }

  // What the specifiers from `first` on make, with so many for Uα along `dim`.
  State with_alpha(std::size_t first, DimId dim, std::int64_t alpha) const {
    State state = nothing();
    bool said = false;
    for (std::size_t i = specifiers_.size(); i-- > first;) {
      const Specifier& s = specifiers_[i];
      if (s.times != 0) {
        grow(state, s, i);
        continue;
      }
      Group& order = state.order[group_of(dim)];
      if (s.kind != Specifier::Kind::unroll || s.dim != dim || !order.empty() || state.node) {
        scanner_.fail(s.offset, "α is not the first thing along its group",
                      "write λx outside and Uα,x among the register tiles");
      }
      order.push_back(dim);
      state.size[at(dim)] = alpha;
      said = true;
    }
    if (!said) scanner_.fail(specifiers_[first - 1].offset, "nothing inside λ has α", "add Uα");
    return state;
  }

  const Contraction& contraction_;
  std::int64_t lanes_;
  Scanner scanner_;
  std::vector<Specifier> specifiers_;
  bool exchanged_ = false;
};

// How far a tile of a fused index goes along each of its dimensions; none if it cuts one unevenly.
std::optional<std::vector<std::int64_t>> along(const Contraction& c, const Group& group,
                                               std::int64_t tile) {
  std::vector<std::int64_t> sizes;
  for (DimId d : group) {
    const std::int64_t extent = c.dim(d).extent;
    if (tile > extent && tile % extent != 0) return {};
    sizes.push_back(std::min(tile, extent));
    if (extent % sizes.back() != 0) return {};
    tile = std::max<std::int64_t>(1, tile / extent);
  }
  return sizes;
}

}  // namespace

Schedule parse_scheme(std::string_view text, const Contraction& contraction, std::int64_t lanes,
                      const std::string& place) {
  return SchemeReader(text, contraction, lanes, place).schedule();
}

std::optional<std::string> to_scheme(const Schedule& schedule, const Contraction& c,
                                     std::int64_t lanes) {
  const Path path = only_path(c, schedule);
  if (path.lanes || schedule.parallel) return {};
  ByGroup<std::int64_t> range = path.extents;
  std::string text = "[";
  // The factors between two tiles of a group, of its slowest dimension first.
  const auto factors = [&](char kind, DimClass g, std::int64_t from, std::int64_t to) {
    const auto outer = along(c, schedule.groups[g], from), inner = along(c, schedule.groups[g], to);
    if (!outer || !inner) return false;
    for (std::size_t i = outer->size(); i-- > 0;) {
      if ((*outer)[i] % (*inner)[i] != 0) return false;
      if ((*outer)[i] == (*inner)[i]) continue;
      text += fmt::format("{}{},{},", kind, (*outer)[i] / (*inner)[i],
                          c.dim(schedule.groups[g][i]).name);
    }
    return true;
  };
  if (path.along_k) return {};  // its vectors run along a dimension of the sum
  std::optional<DimId> alpha;
  DimClass innermost = DimClass::n;  // loop that runs more than once
  for (const Step& s : path.steps) {
    if (s.kind == Step::Kind::move) return {};
    if (s.kind == Step::Kind::kernel) break;
    std::int64_t& r = range[s.group];
    if (s.iterations(r) > 1) innermost = s.group;
    if (s.head > 0) {
      const std::int64_t rest = r - s.head;
      const DimId d = schedule.groups[s.group].front();
      if (s.group != DimClass::n || s.head % s.head_tile != 0 || rest % s.tile != 0 ||
          r > c.dim(d).extent || c.dim(d).extent % r != 0) {
        return {};
      }
      text += fmt::format("λ{} [({},{}),({},{})],", c.dim(d).name, s.head / s.head_tile,
                          s.head_tile, rest / s.tile, s.tile);
      alpha = d;
      r = 1;
      continue;
    }
    if (!factors('T', s.group, r, std::min(r, s.tile))) return {};
    r = std::min(r, s.tile);
  }
  // A scheme's kernel takes all of the sums around it.
  if (innermost == DimClass::k) return {};
  if (!factors('T', DimClass::k, range[DimClass::k], 1)) return {};
  if (alpha) {
    text += fmt::format("Uα,{},", c.dim(*alpha).name);
  } else if (!factors('U', DimClass::n, range[DimClass::n], 1)) {
    return {};
  }
  const Group& m = schedule.groups[DimClass::m];
  if (m.empty() || !factors('U', DimClass::m, range[DimClass::m], lanes)) return {};
  const auto first =
      std::ranges::find_if(m, [&](DimId d) { return c.dim(d).extent > 1 || d == m.back(); });
  if (c.dim(*first).extent % lanes != 0) return {};
  return text + fmt::format("V{}]", c.dim(*first).name);
}

}  // namespace tcsim
