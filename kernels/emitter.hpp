// What generated kernels have in common: the registers of a tile, and a step along k. Needs Xbyak;
// include it from files that make code only.
#pragma once

#include <xbyak/xbyak.h>

#include <cstdint>

namespace tcsim {

// A register tile: `vectors` of rows, the last of them perhaps not whole. By lane: the right
// operand has a vector for each column, one element for each row.
struct TileRegisters {
  int vectors = 1, columns = 1;
  bool part = false, by_lane = false;

  bool operator==(const TileRegisters&) const = default;
};

// The columns of the right operand are neighbours, or evenly apart.
enum class ColumnsLie { neighbours, apart };

// Sums are the first registers, column by column; then come the left operand's vectors; the last
// register is one of the right operand. Of rows that fill no vector, AVX-512 loads and stores those
// that count under a mask. AVX2 loads so where it has to; some_lanes.hpp says why it stores pieces
// instead, which is left to those who include this.
//
// AVX2's loads under a mask take 7 to 11 cycles each on an AMD EPYC (Zen 1; a load takes one), so
// at all places along k but the last of a stretch the whole vector is loaded, where places are as
// far apart as lanes are short or further: what lies behind the rows is then no further than the
// rows of the last place. It comes into lanes that are not stored.
class Emitter : public Xbyak::CodeGenerator {
 protected:
  using Reg = Xbyak::Reg64;
  using Vector = Xbyak::Ymm;

  // For elements of 4 or 8 bytes, in vectors of 32 or 64.
  Emitter(int element_bytes, int vector_bytes, std::size_t room)
      : CodeGenerator(room, Xbyak::DontSetProtectRWE),
        element_bytes_(element_bytes),
        vector_bytes_(vector_bytes) {}

  // All labels are known; from now on the code may be run, and no longer written.
  void finish() {
    ready();
    setProtectModeRE();
  }

  static int number(std::int64_t bytes) { return static_cast<int>(bytes); }
  bool wide() const { return vector_bytes_ == 64; }
  int registers() const { return wide() ? 32 : 16; }
  // Of either width: Xbyak keeps the width beside the register's number.
  Vector vector(int i) const { return wide() ? Vector(Xbyak::Zmm(i)) : Vector(i); }
  Vector sum(const TileRegisters& t, int j, int v) const { return vector(j * t.vectors + v); }
  Vector left(const TileRegisters& t, int v) const { return vector(t.vectors * t.columns + v); }
  static bool partial(const TileRegisters& t, int v) { return t.part && v + 1 == t.vectors; }
  // Whether a tile's part is stored in pieces, and loaded by the mask in mask(), or at mask_at_
  // where no register is left; and whether that is vector v.
  bool has_pieces(const TileRegisters& t) const { return t.part && !wide(); }
  bool in_pieces(const TileRegisters& t, int v) const { return has_pieces(t) && partial(t, v); }
  bool has_mask_register(const TileRegisters& t) const {
    return t.vectors * (t.columns + 1) + 2 <= registers();
  }
  Vector mask() const { return vector(registers() - 2); }
  // A vector that begins `lanes_short` elements behind the label is a mask.
  void mask_table() {
    align(64);
    L(masks_);
    for (int i = 0; i < 16; ++i) dd(i < 8 ? ~0U : 0U);
  }

  // `whole`: also the lanes that do not count.
  void load(const Vector& to, const Xbyak::RegExp& from, const TileRegisters& t, int v,
            bool whole = false) {
    if (in_pieces(t, v) && !whole) {
      if (!has_mask_register(t)) vmovups(to, ptr[mask_at_]);
      const Vector by = has_mask_register(t) ? mask() : to;
      element_bytes_ == 4 ? vmaskmovps(to, by, ptr[from]) : vmaskmovpd(to, by, ptr[from]);
      return;
    }
    const Vector target = partial(t, v) && !whole ? to | k1 | T_z : to;
    element_bytes_ == 4 ? vmovups(target, ptr[from]) : vmovupd(target, ptr[from]);
  }
  // Not of pieces.
  void store(const Xbyak::RegExp& to, const Vector& from, bool part) {
    const Xbyak::Address target = part ? ptr[to] | k1 : ptr[to];
    element_bytes_ == 4 ? vmovups(target, from) : vmovupd(target, from);
  }
  // Pieces.
  void store_one(const Xbyak::RegExp& to, const Xbyak::Xmm& from) {
    element_bytes_ == 4 ? vmovss(ptr[to], from) : vmovsd(ptr[to], from);
  }
  void store_half(const Xbyak::RegExp& to, const Vector& from) {
    vmovups(ptr[to], Xbyak::Xmm(from.getIdx()));
  }
  void broadcast(const Vector& to, const Xbyak::Address& from) {
    if (element_bytes_ == 4) {
      vbroadcastss(to, from);
    } else {
      vbroadcastsd(to, from);
    }
  }
  void add_vectors(const Vector& to, const Vector& a, const Vector& b) {
    if (element_bytes_ == 4) {
      vaddps(to, a, b);
    } else {
      vaddpd(to, a, b);
    }
  }
  // to += a * b, or to = a * b.
  void multiply(const Vector& to, const Vector& a, const Xbyak::Operand& b, bool first) {
    if (element_bytes_ == 4) {
      first ? vmulps(to, a, b) : vfmadd231ps(to, a, b);
    } else {
      first ? vmulpd(to, a, b) : vfmadd231pd(to, a, b);
    }
  }

  // Multiples of the distance between two columns, in bytes, that are kept in registers: with the
  // scales of an address they make eight, and `eighth_` is eight columns behind `right_`.
  // An address `further` bytes behind column j.
  Xbyak::RegExp column(ColumnsLie lie, int j, int further) const {
    if (lie == ColumnsLie::neighbours) return right_ + (j * element_bytes_ + further);
    const Reg& base = j < 8 ? right_ : eighth_;
    switch (j % 8) {
      case 0:
        return base + further;
      case 1:
        return base + once_ + further;
      case 2:
        return base + once_ * 2 + further;
      case 3:
        return base + three_ + further;
      case 4:
        return base + once_ * 4 + further;
      case 5:
        return base + five_ + further;
      case 6:
        return base + three_ * 2 + further;
      default:
        return base + seven_ + further;
    }
  }

  // One place along k, at these bytes from where left_ and right_ are. `first`: sums begin.
  // `whole`: of the left operand whole vectors are loaded.
  void step(const TileRegisters& t, ColumnsLie lie, int left_further, int right_further, bool first,
            bool whole) {
    for (int v = 0; v < t.vectors; ++v) {
      load(left(t, v), left_ + (left_further + v * vector_bytes_), t, v, whole);
    }
    // With AVX-512 a multiplication reads an element from memory for all lanes: where it is the
    // only one, or no register is left.
    const int used = t.vectors * (t.columns + 1);
    const bool from_memory = t.by_lane || (wide() && (t.vectors == 1 || used == registers()));
    const Vector right = vector(registers() - 1);
    for (int j = 0; j < t.columns; ++j) {
      const Xbyak::RegExp at = column(lie, j, right_further);
      if (!from_memory) broadcast(right, ptr[at]);
      for (int v = 0; v < t.vectors; ++v) {
        if (!from_memory) {
          multiply(sum(t, j, v), left(t, v), right, first);
        } else if (t.by_lane) {
          multiply(sum(t, j, v), left(t, v), ptr[at], first);
        } else {
          multiply(sum(t, j, v), left(t, v), ptr_b[at], first);
        }
      }
    }
  }
  // Instructions of a step, at most.
  static std::size_t step_size(const TileRegisters& t) {
    return static_cast<std::size_t>(t.vectors + (t.part ? 1 : 0) + t.columns * (t.vectors + 1));
  }
  static constexpr std::size_t instruction_bytes = 12;  // at most

  const int element_bytes_, vector_bytes_;
  const Reg left_ = rax, right_ = rcx, eighth_ = r9;
  const Reg once_ = r10, three_ = r11, five_ = rbx, seven_ = rbp;
  Xbyak::Label masks_;
  Xbyak::RegExp mask_at_;
};

}  // namespace tcsim
