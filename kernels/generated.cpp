#include "kernels/generated.hpp"

#ifdef TCSIM_HAVE_XBYAK

#include <xbyak/xbyak.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <vector>

namespace tcsim {

namespace {

// Which member of a family a call is.
struct Member {
  int vectors = 0, columns = 0;
  bool by_lane = false;
};

template <class T>
std::optional<Member> member(const KernelFamily<T>& family, Microkernel<T> code) {
  using Family = KernelFamily<T>;
  for (int n = 0; n < Family::most_columns; ++n) {
    if (family.by_lane[n] == code) return Member{1, n + 1, true};
    for (int v = 0; v < Family::most_vectors; ++v) {
      if (family.code[v][n] == code || family.parts[v][n] == code) return Member{v + 1, n + 1};
    }
  }
  return {};
}

// What a tile is but for where it begins: bytes, and what depends on them.
struct TileShape {
  Member is;
  std::int64_t lanes_short, kc;
  std::int64_t left_step, right_step, right_apart;
  bool add;
  std::vector<std::int64_t> columns;  // of C, from the first one

  bool operator==(const TileShape& other) const {
    return is.vectors == other.is.vectors && is.columns == other.is.columns &&
           is.by_lane == other.is.by_lane && lanes_short == other.lanes_short && kc == other.kc &&
           left_step == other.left_step && right_step == other.right_step &&
           right_apart == other.right_apart && add == other.add && columns == other.columns;
  }
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
    const std::optional<Member> is = member(family, call.code);
    using Kind = typename Update<T>::Kind;
    if (!is || task.more_stretches > 0 || task.kind == Kind::any) return false;
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
      if (std::ssize(tiles) == GeneratedCode<T>::most_tiles || !small(shape)) return false;
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
class Generator : public Xbyak::CodeGenerator {
 public:
  Generator(bool wide, const Tiles<T>& tiles)
      : CodeGenerator(room(tiles), Xbyak::DontSetProtectRWE), wide_(wide) {
    std::vector<Xbyak::Label> labels(tiles.shapes.size());
    const Reg saved[] = {rbx, rbp, r12};
    for (const Reg& r : saved) push(r);
    const TileShape* distances = nullptr;
    for (const PlacedTile& tile : tiles.tiles) {
      const TileShape& shape = tiles.shapes[tile.shape];
      if (distances == nullptr || distances->right_apart != shape.right_apart) {
        multiples(shape.right_apart);
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
    setProtectModeRE();
  }

 private:
  using Reg = Xbyak::Reg64;
  using Vector = Xbyak::Ymm;
  // Loops that are left after a few times are foretold.
  static constexpr std::int64_t together = 4;

  // At least as many bytes as the code has. No instruction has more than 12 here.
  static std::size_t room(const Tiles<T>& tiles) {
    std::size_t instructions = 20 + 4 * tiles.tiles.size() + 4 * tiles.shapes.size();
    for (const TileShape& shape : tiles.shapes) {
      const auto vectors = static_cast<std::size_t>(shape.is.vectors);
      const auto columns = static_cast<std::size_t>(shape.is.columns);
      instructions +=
          2 * (together + 1) * (vectors + columns * (vectors + 1)) + 3 * columns * vectors + 20;
    }
    return 12 * instructions + 64 * (tiles.shapes.size() + 1);
  }
  std::int64_t vector_bytes() const { return wide_ ? 64 : 32; }
  static int number(std::int64_t bytes) { return static_cast<int>(bytes); }

  // Multiples of the distance between two columns: with the scales of an address they make eight.
  void multiples(std::int64_t apart) {
    const Reg registers[] = {once_, three_, five_, seven_};
    for (int i = 0; i < 4; ++i) mov(registers[i], (2 * i + 1) * apart);
  }
  Xbyak::RegExp column(int j, std::int64_t further) const {
    const Reg& base = j < 8 ? right_ : eighth_;
    const int at = number(further);
    switch (j % 8) {
      case 0:
        return base + at;
      case 1:
        return base + once_ + at;
      case 2:
        return base + once_ * 2 + at;
      case 3:
        return base + three_ + at;
      case 4:
        return base + once_ * 4 + at;
      case 5:
        return base + five_ + at;
      case 6:
        return base + three_ * 2 + at;
      default:
        return base + seven_ + at;
    }
  }
  // Of either width: Xbyak keeps the width in the register's number.
  Vector vector(int i) const { return wide_ ? Vector(Xbyak::Zmm(i)) : Vector(i); }
  // Registers: sums first, column by column; then the left operand's vectors; then one of the
  // right operand.
  Vector sum(const TileShape& s, int j, int v) const { return vector(j * s.is.vectors + v); }
  bool partial(const TileShape& s, int v) const {
    return s.lanes_short > 0 && v + 1 == s.is.vectors;
  }

  void load(const Vector& to, const Xbyak::Address& from, bool part) {
    const Vector target = part ? to | k1 | T_z : to;
    if constexpr (sizeof(T) == 4) {
      vmovups(target, from);
    } else {
      vmovupd(target, from);
    }
  }
  void store(const Xbyak::Address& to, const Vector& from, bool part) {
    const Xbyak::Address target = part ? to | k1 : to;
    if constexpr (sizeof(T) == 4) {
      vmovups(target, from);
    } else {
      vmovupd(target, from);
    }
  }
  void broadcast(const Vector& to, const Xbyak::Address& from) {
    if constexpr (sizeof(T) == 4) {
      vbroadcastss(to, from);
    } else {
      vbroadcastsd(to, from);
    }
  }
  // to += left * right, or to = left * right.
  void multiply(const Vector& to, const Vector& left, const Xbyak::Operand& right, bool first) {
    if constexpr (sizeof(T) == 4) {
      first ? vmulps(to, left, right) : vfmadd231ps(to, left, right);
    } else {
      first ? vmulpd(to, left, right) : vfmadd231pd(to, left, right);
    }
  }

  // One place along k, `u` places further than where the pointers are.
  void step(const TileShape& s, std::int64_t u, bool first) {
    const int vectors = s.is.vectors, columns = s.is.columns;
    const int sums = vectors * columns, registers = wide_ ? 32 : 16;
    for (int v = 0; v < vectors; ++v) {
      load(vector(sums + v), ptr[left_ + number(u * s.left_step + v * vector_bytes())],
           partial(s, v));
    }
    const bool from_memory =
        s.is.by_lane || (wide_ && (vectors == 1 || sums + vectors == registers));
    for (int j = 0; j < columns; ++j) {
      const Xbyak::RegExp at = column(j, u * s.right_step);
      const Vector right = vector(registers - 1);
      if (!from_memory) broadcast(right, ptr[at]);
      for (int v = 0; v < vectors; ++v) {
        const Vector to = sum(s, j, v), left = vector(sums + v);
        if (!from_memory) {
          multiply(to, left, right, first);
        } else if (s.is.by_lane) {
          multiply(to, left, ptr[at], first);
        } else {
          multiply(to, left, ptr_b[at], first);
        }
      }
    }
  }

  void body(const TileShape& s) {
    const int columns = s.is.columns, vectors = s.is.vectors;
    if (s.lanes_short > 0) {
      const int lanes = number(vector_bytes()) / static_cast<int>(sizeof(T));
      mov(count_.cvt32(), (1U << (lanes - s.lanes_short)) - 1U);
      kmovw(k1, count_.cvt32());
    }
    if (columns > 8) lea(eighth_, ptr[right_ + once_ * 8]);
    const auto advance = [&](std::int64_t steps) {
      add(left_, number(steps * s.left_step));
      add(right_, number(steps * s.right_step));
      if (columns > 8) add(eighth_, number(steps * s.right_step));
    };
    step(s, 0, true);
    std::int64_t done = 1;
    const std::int64_t rest = s.kc - 1, times = rest / together;
    if (times > 1) {
      advance(1);
      mov(count_, times);
      Xbyak::Label again;
      align(32);
      L(again);
      for (std::int64_t u = 0; u < together; ++u) step(s, u, false);
      advance(together);
      dec(count_);
      jnz(again, T_NEAR);
      done = s.kc - rest % together;
      for (std::int64_t u = 0; u < rest % together; ++u) step(s, u, false);
    } else {
      for (; done < s.kc; ++done) step(s, done, false);
    }
    for (int j = 0; j < columns; ++j) {
      for (int v = 0; v < vectors; ++v) {
        const Xbyak::Address to =
            ptr[c_ + number(s.columns[static_cast<std::size_t>(j)] + v * vector_bytes())];
        const Vector total = sum(s, j, v);
        if (s.add) {
          const Vector old = vector(vectors * columns);
          load(old, to, partial(s, v));
          if constexpr (sizeof(T) == 4) {
            vaddps(total, old, total);
          } else {
            vaddpd(total, old, total);
          }
        }
        store(to, total, partial(s, v));
      }
    }
    ret();
  }

  bool wide_;
  const Reg left_ = rax, right_ = rcx, c_ = r8, eighth_ = r9;
  const Reg once_ = r10, three_ = r11, five_ = rbx, seven_ = rbp;
  const Reg count_ = r12;
};

}  // namespace

template <class T>
std::unique_ptr<const GeneratedCode<T>> GeneratedCode<T>::make(
    const KernelFamily<T>& family, std::span<const PlacedCall<T>> calls) {
  const auto bytes = family.lanes * sizeof(T);
  if (bytes != 64 && bytes != 32) return {};
  Tiles<T> tiles;
  for (const PlacedCall<T>& call : calls) {
    if (!tiles.add(family, call)) return {};
  }
  try {
    auto code = std::make_shared<const Generator<T>>(bytes == 64, tiles);
    auto made = std::make_unique<GeneratedCode>();
    made->function_ = code->template getCode<Function*>();
    made->bytes_ = code->getSize();
    made->code_ = std::move(code);
    return made;
  } catch (const Xbyak::Error&) {
    return {};
  }
}

bool generates_code() { return true; }

}  // namespace tcsim

#else

namespace tcsim {

template <class T>
std::unique_ptr<const GeneratedCode<T>> GeneratedCode<T>::make(const KernelFamily<T>&,
                                                               std::span<const PlacedCall<T>>) {
  return {};
}

bool generates_code() { return false; }

}  // namespace tcsim

#endif

namespace tcsim {

template class GeneratedCode<float>;
template class GeneratedCode<double>;

}  // namespace tcsim
