#include "kernels/generated_calls.hpp"

#ifdef TCSIM_HAVE_XBYAK

#include <algorithm>
#include <optional>
#include <ranges>
#include <vector>

#include "kernels/emitter.hpp"
#include "kernels/generated_kernels.hpp"

namespace tcsim {

namespace {

// Which tile a member of a family is, or none if it is none, or has vectors along k.
template <class T>
std::optional<TileRegisters> tile_of(const KernelFamily<T>& family, Microkernel<T> code) {
  using Family = KernelFamily<T>;
  for (int n = 0; n < Family::most_columns; ++n) {
    if (family.by_lane[n] == code) return TileRegisters{1, n + 1, false, true};
    for (int v = 0; v < Family::most_vectors; ++v) {
      for (const bool part : {false, true}) {
        const bool compiled = (part ? family.parts : family.code)[v][n] == code;
        const auto generated = family.generated;
        if (compiled || (generated && generated(v + 1, n + 1, part, false) == code)) {
          return TileRegisters{v + 1, n + 1, part};
        }
      }
    }
  }
  return {};
}

// What a tile is but for where it begins: bytes, and what depends on them.
struct TileShape {
  TileRegisters is;
  std::int64_t lanes_short, kc;
  std::int64_t left_step, right_step, right_apart;
  bool add;
  std::vector<std::int64_t> columns;  // of C, from the first one

  bool operator==(const TileShape&) const = default;
};

struct PlacedTile {
  std::size_t shape;
  std::int64_t left, right, c;  // bytes
};

// The tiles of calls, or none where one of them cannot be made code of.
template <class T>
struct Tiles {
  std::vector<TileShape> shapes;
  std::vector<PlacedTile> tiles;

  bool add(const KernelFamily<T>& family, const PlacedCall<T>& call) {
    constexpr std::int64_t bytes = sizeof(T);
    const KernelTask<T>& task = call.task;
    const std::optional<TileRegisters> is = tile_of(family, call.code);
    using Kind = typename Update<T>::Kind;
    if (!is || task.more_stretches > 0 || task.kind == Kind::any ||
        task.tiles > GeneratedCalls<T>::most_tiles - std::ssize(tiles)) {
      return false;
    }
    const std::int64_t* columns = task.c.columns;
    const std::int64_t* row = task.c.rows;
    std::int64_t c = call.c;
    for (std::int64_t i = 0; i < task.tiles; ++i) {
      TileShape shape{*is,
                      task.lanes_short,
                      task.kc,
                      bytes * task.left.step,
                      bytes * task.right.step,
                      bytes * task.right.apart,
                      task.kind == Kind::add,
                      {}};
      for (int j = 0; j < is->columns; ++j) {
        shape.columns.push_back(bytes * (columns[j] - columns[0]));
      }
      if (!small(shape)) return false;
      const auto same = std::ranges::find(shapes, shape);
      tiles.push_back({static_cast<std::size_t>(same - shapes.begin()),
                       bytes * (call.left + i * task.onwards.left),
                       bytes * (call.right + i * task.onwards.right), bytes * (c + columns[0])});
      if (same == shapes.end()) shapes.push_back(std::move(shape));
      if (!fits(tiles.back().left) || !fits(tiles.back().right) || !fits(tiles.back().c)) {
        return false;
      }
      if (i + 1 == task.tiles) break;
      c += row[task.onwards.row_step] - row[0];
      row += task.onwards.row_step;
      columns += task.onwards.column_step;
    }
    return true;
  }

 private:
  static bool fits(std::int64_t bytes) { return bytes >= -(1 << 30) && bytes < (1 << 30); }
  // Whether all of its distances are displacements of instructions.
  static bool small(const TileShape& shape) {
    constexpr std::int64_t limit = 1 << 26;
    const auto in = [&](std::int64_t x) { return -limit < x && x < limit; };
    return in(shape.left_step) && in(shape.right_step) && in(shape.right_apart) &&
           std::ranges::all_of(shape.columns, in);
  }
};

// Begins at function(left, right, c), in the registers of the System V calling convention.
template <class T>
class Generator : public Emitter {
 public:
  // At least as many bytes as the code has.
  static std::size_t room(const Tiles<T>& tiles) {
    std::size_t instructions = 32 + 8 * tiles.tiles.size() + 4 * tiles.shapes.size();
    for (const TileShape& shape : tiles.shapes) {
      const auto results = static_cast<std::size_t>(shape.is.vectors * shape.is.columns);
      instructions += 2 * (together + 1) * step_size(shape.is) + 3 * results + 20;
      if (shape.is.part) instructions += 5 * static_cast<std::size_t>(shape.is.columns);
    }
    return instruction_bytes * instructions + 64 * (tiles.shapes.size() + 1);
  }

  Generator(int vector_bytes, const Tiles<T>& tiles)
      : Emitter(sizeof(T), vector_bytes, room(tiles)) {
    std::vector<Xbyak::Label> labels(tiles.shapes.size());
    const Reg saved[] = {rbx, rbp, r12, masks_at_};
    for (const Reg& r : saved) push(r);
    lea(masks_at_, ptr[rip + masks_]);
    const TileShape* distances = nullptr;
    for (const PlacedTile& tile : tiles.tiles) {
      const TileShape& shape = tiles.shapes[tile.shape];
      if (distances == nullptr || distances->right_apart != shape.right_apart) {
        const Reg multiples[] = {once_, three_, five_, seven_};
        for (int i = 0; i < 4; ++i) mov(multiples[i], (2 * i + 1) * shape.right_apart);
        distances = &shape;
      }
      lea(left_, ptr[rdi + number(tile.left)]);
      lea(right_, ptr[rsi + number(tile.right)]);
      lea(c_, ptr[rdx + number(tile.c)]);
      call(labels[tile.shape]);
    }
    for (const Reg& r : std::views::reverse(saved)) pop(r);
    vzeroupper();
    ret();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      align(32);
      L(labels[i]);
      body(tiles.shapes[i]);
    }
    mask_table();
    finish();
  }

 private:
  // Loops that are left after a few times are foretold.
  static constexpr std::int64_t together = 4;

  void body(const TileShape& s) {
    const TileRegisters& t = s.is;
    const ColumnsLie lie =
        s.right_apart == element_bytes_ && !t.by_lane ? ColumnsLie::neighbours : ColumnsLie::apart;
    const bool has_eighth = lie == ColumnsLie::apart && t.columns > 8;
    const int lanes = vector_bytes_ / element_bytes_ - static_cast<int>(s.lanes_short);
    if (has_pieces(t)) {
      mask_at_ = masks_at_ + number(s.lanes_short * element_bytes_);
      if (has_mask_register(t)) vmovups(mask(), ptr[mask_at_]);
    } else if (t.part) {
      mov(count_.cvt32(), (1U << lanes) - 1U);
      kmovw(k1, count_.cvt32());
    }
    if (has_eighth) lea(eighth_, ptr[right_ + once_ * 8]);
    const bool reads_on = has_pieces(t) && s.left_step >= s.lanes_short * element_bytes_;
    const auto one_step = [&](std::int64_t p, bool first, bool last) {
      step(t, lie, number(p * s.left_step), number(p * s.right_step), first, reads_on && !last);
    };
    const auto steps = [&](std::int64_t from, std::int64_t count) {
      for (std::int64_t p = from; p < from + count; ++p) one_step(p, false, false);
    };
    const auto advance = [&](std::int64_t places) {
      add(left_, number(places * s.left_step));
      add(right_, number(places * s.right_step));
      if (has_eighth) add(eighth_, number(places * s.right_step));
    };
    one_step(0, true, s.kc == 1);
    const std::int64_t rest = s.kc - 2, times = rest / together;
    if (times > 1) {
      advance(1);
      mov(count_, times);
      Xbyak::Label again;
      align(32);
      L(again);
      steps(0, together);
      advance(together);
      dec(count_);
      jnz(again, T_NEAR);
      steps(0, rest % together);
      one_step(rest % together, false, true);
    } else if (s.kc > 1) {
      steps(1, rest);
      one_step(1 + rest, false, true);
    }
    for (int j = 0; j < t.columns; ++j) {
      for (int v = 0; v < t.vectors; ++v) {
        const Xbyak::RegExp to =
            c_ + number(s.columns[static_cast<std::size_t>(j)] + v * vector_bytes_);
        const Vector total = sum(t, j, v), old = left(t, 0);
        if (s.add) {
          load(old, to, t, v);
          add_vectors(total, old, total);
        }
        if (in_pieces(t, v)) {
          store_pieces(to, total, lanes, old);
        } else {
          store(to, total, partial(t, v));
        }
      }
    }
    ret();
  }

  // The first `lanes`, not all of them. `spare` is written.
  void store_pieces(Xbyak::RegExp to, const Vector& from, int lanes, const Vector& spare) {
    const int half = vector_bytes_ / element_bytes_ / 2;
    const Xbyak::Xmm low(from.getIdx()), high(spare.getIdx());
    const bool both = lanes >= half;
    if (both) {
      store_half(to, from);
      if (lanes > half) vextractf128(high, from, 1);
      to = to + vector_bytes_ / 2;
      lanes -= half;
    }
    const Xbyak::Xmm& rest = both ? high : low;
    if (lanes >= 2) vmovlps(ptr[to], rest);
    if (lanes == 3) vextractps(ptr[to + 2 * element_bytes_], rest, 2);
    if (lanes == 1) store_one(to, rest);
  }

  const Reg c_ = r8, count_ = r12, masks_at_ = r13;
};

}  // namespace

template <class T>
std::unique_ptr<const GeneratedCalls<T>> GeneratedCalls<T>::make(
    const KernelFamily<T>& family, std::span<const PlacedCall<T>> calls) {
  const auto bytes = family.lanes * sizeof(T);
  if (bytes != 64 && bytes != 32) return {};
  Tiles<T> tiles;
  for (const PlacedCall<T>& call : calls) {
    if (!tiles.add(family, call)) return {};
  }
  if (Generator<T>::room(tiles) > most_bytes) return {};
  try {
    auto code = std::make_shared<const Generator<T>>(static_cast<int>(bytes), tiles);
    auto made = std::make_unique<GeneratedCalls>();
    made->function_ = code->template getCode<Function*>();
    made->bytes_ = code->getSize();
    made->code_ = std::move(code);
    return made;
  } catch (const Xbyak::Error&) {
    return {};
  }
}

}  // namespace tcsim

#else

namespace tcsim {

template <class T>
std::unique_ptr<const GeneratedCalls<T>> GeneratedCalls<T>::make(const KernelFamily<T>&,
                                                                 std::span<const PlacedCall<T>>) {
  return {};
}

}  // namespace tcsim

#endif

namespace tcsim {

template class GeneratedCalls<float>;
template class GeneratedCalls<double>;

}  // namespace tcsim
