#include "kernels/generated_kernels.hpp"

#ifdef TCSIM_HAVE_XBYAK

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <utility>

#include "kernels/emitter.hpp"

namespace tcsim {

namespace {

// The code of MicrokernelCode<T>: (task in rdi, ahead in rsi), as the System V calling convention
// has them. Loops are those of microkernel_body.hpp, multiply_tile().
template <class T>
class KernelGenerator : public Emitter {
 public:
  KernelGenerator(int vector_bytes, const TileRegisters& tile)
      : Emitter(sizeof(T), vector_bytes, room(tile)), t_(tile) {
    // A kernel for each way that tasks go, told apart when they begin.
    Xbyak::Label apart;
    cmp(field(offsetof(Task, right.apart)), 1);
    jne(apart, T_NEAR);
    kernels(ColumnsLie::neighbours);
    L(apart);
    kernels(ColumnsLie::apart);
    mask_table();
    finish();
  }

 private:
  using Task = KernelTask<T>;

  static constexpr int size = sizeof(T), line = 64;
  // Steps of a loop, which is so left after fewer times: processors foretell that. Where a left
  // operand that lies apart is asked for, one after the other is some 5 % quicker, else 5 % slower
  // (tccg:1 and 3, 9 and 12, Intel Xeon, Sapphire Rapids).
  static constexpr int together = 4;

  static std::size_t room(const TileRegisters& t) {
    const auto results = static_cast<std::size_t>(t.vectors * t.columns);
    const std::size_t steps = (t.part ? 2 : 1) * (8 + together) * (step_size(t) + 30);
    const std::size_t pieces = t.part ? 3 * 16 * static_cast<std::size_t>(t.columns) : 0;
    return 6 * instruction_bytes * (steps + 12 * results + pieces + 200) + 1024;
  }

  // Of the task, and of the tile that is written behind it.
  Xbyak::Address field(std::size_t offset) const { return qword[rdi + number(offset)]; }
  // What does not fit into registers.
  enum Slot : int {
    more,        // tiles behind this one
    left_first,  // where this tile's operands begin
    right_first,
    c_first,  // ResultTile of this one
    c_columns,
    c_rows,
    next_first,  // and of the one behind it
    next_columns,
    next_rows,
    behind,      // ResultTile<T>*, behind the task
    left_ahead,  // bytes
    fetch_first,
    fetch_runs,
    asked,  // the line of Fetch that is asked for next, its run, lines that are left of it and of
            // all
    run,
    run_lines,
    all_lines,
    stretch,
    stretch_end,
    trickle_line,
    trickle_times,
    trickle_until,
    last_step,  // 1 where a stretch goes on with a step for its last place, else 0
    mask,       // 32 bytes
    slots = mask + 4
  };
  Xbyak::Address slot(Slot s) const { return qword[rsp + 8 * s]; }

  // What is asked for of the left operand, for later: KernelTask::left_ahead, KernelTask::trickle.
  enum class LeftAsks { nothing, ahead, trickle };
  LeftAsks asks_ = LeftAsks::nothing;
  // How the left operand's vectors are loaded (kernels/emitter.hpp).
  enum class Loads { usual, whole_but_last };
  Loads loads_ = Loads::usual;
  ColumnsLie lie_ = ColumnsLie::neighbours;
  const TileRegisters t_;
  const Reg left_step_ = r12, right_step_ = r13, count_ = r14;

  // elements -> bytes
  void scale(const Reg& r) { shl(r, size == 4 ? 2 : 3); }

  void kernels(ColumnsLie lie) {
    lie_ = lie;
    Xbyak::Label trickle, ahead;
    cmp(field(offsetof(Task, trickle.times)), 0);
    jne(trickle, T_NEAR);
    cmp(field(offsetof(Task, left_ahead)), 0);
    jne(ahead, T_NEAR);
    kernel(LeftAsks::nothing);
    L(ahead);
    kernel(LeftAsks::ahead);
    L(trickle);
    kernel(LeftAsks::trickle);
  }
  void kernel(LeftAsks asks) {
    asks_ = asks;
    const Reg saved[] = {rbx, rbp, r12, r13, r14, r15};
    for (const Reg& r : saved) push(r);
    sub(rsp, 8 * slots);
    begin();
    Xbyak::Label tile, done;
    L(tile);
    know_next();
    if (has_pieces(t_)) {
      // Whether it reads on behind the rows.
      Xbyak::Label masked, summed;
      mov(rdx, field(offsetof(Task, left.step)));
      cmp(rdx, field(offsetof(Task, lanes_short)));
      jl(masked, T_NEAR);
      sums(Loads::whole_but_last);
      jmp(summed, T_NEAR);
      L(masked);
      sums(Loads::usual);
      L(summed);
    } else {
      sums(Loads::usual);
    }
    write();
    cmp(slot(more), 0);
    je(done, T_NEAR);
    onwards();
    jmp(tile, T_NEAR);
    L(done);
    add(rsp, 8 * slots);
    for (const Reg& r : std::views::reverse(saved)) pop(r);
    vzeroupper();
    ret();
  }

  void copy(Slot to, const Xbyak::Address& from) {
    mov(rdx, from);
    mov(slot(to), rdx);
  }
  void copy_scaled(Slot to, const Xbyak::Address& from) {
    mov(rdx, from);
    scale(rdx);
    mov(slot(to), rdx);
  }

  void begin() {
    mov(slot(behind), rsi);
    mov(rdx, field(offsetof(Task, tiles)));
    dec(rdx);
    mov(slot(more), rdx);
    copy(left_first, field(offsetof(Task, left.first)));
    copy(right_first, field(offsetof(Task, right.first)));
    copy(c_first, field(offsetof(Task, c.first)));
    copy(c_columns, field(offsetof(Task, c.columns)));
    copy(c_rows, field(offsetof(Task, c.rows)));
    copy_scaled(left_ahead, field(offsetof(Task, left_ahead)));
    copy(fetch_first, field(offsetof(Task, fetch.first)));
    copy(fetch_runs, field(offsetof(Task, fetch.runs)));
    mov(left_step_, field(offsetof(Task, left.step)));
    scale(left_step_);
    mov(right_step_, field(offsetof(Task, right.step)));
    scale(right_step_);
    if (asks_ == LeftAsks::trickle) {
      copy(trickle_line, field(offsetof(Task, trickle.first)));
      begin_trickle();
    }
    if (lie_ == ColumnsLie::apart) {
      mov(once_, field(offsetof(Task, right.apart)));
      scale(once_);
      lea(three_, ptr[once_ + once_ * 2]);
      lea(five_, ptr[once_ + once_ * 4]);
      lea(seven_, ptr[three_ + once_ * 4]);
    }
    if (has_pieces(t_)) {
      mov(rcx, field(offsetof(Task, lanes_short)));
      lea(rdx, ptr[rip + masks_]);
      mask_at_ = rsp + 8 * mask;
      const Vector by = has_mask_register(t_) ? Emitter::mask() : vector(0);
      vmovups(by, ptr[rdx + rcx * size]);
      if (!has_mask_register(t_)) vmovups(ptr[mask_at_], by);
    } else if (t_.part) {
      const int lanes = vector_bytes_ / size;
      mov(rcx, field(offsetof(Task, lanes_short)));
      mov(rdx, (1U << lanes) - 1U);
      shr(rdx, cl);
      kmovw(k1, edx);
    }
  }
  void begin_trickle() {
    copy(trickle_times, field(offsetof(Task, trickle.times)));
    copy(trickle_until, field(offsetof(Task, trickle.every)));
  }

  // Where the tile lies that is written behind this one.
  void know_next() {
    Xbyak::Label last, known;
    cmp(slot(more), 0);
    jle(last);
    mov(r8, slot(c_rows));
    mov(rdx, field(offsetof(Task, onwards.row_step)));
    lea(rsi, ptr[r8 + rdx * 8]);
    shl(rdx, 6);
    prefetcht0(
        ptr[rsi + rdx]);  // the table may be as long as C, and is read an entry here and there
    mov(slot(next_rows), rsi);
    mov(rdx, ptr[rsi]);
    sub(rdx, ptr[r8]);
    scale(rdx);
    add(rdx, slot(c_first));
    mov(slot(next_first), rdx);
    mov(rdx, field(offsetof(Task, onwards.column_step)));
    mov(r8, slot(c_columns));
    lea(rdx, ptr[r8 + rdx * 8]);
    mov(slot(next_columns), rdx);
    jmp(known);
    L(last);
    mov(r8, slot(behind));
    for (const auto& [to, offset] : {std::pair{next_first, offsetof(ResultTile<T>, first)},
                                     {next_columns, offsetof(ResultTile<T>, columns)},
                                     {next_rows, offsetof(ResultTile<T>, rows)}}) {
      copy(to, qword[r8 + number(offset)]);
    }
    L(known);
  }

  // All of a tile's sums.
  void sums(Loads loads) {
    loads_ = loads;
    first_step();
    ask_for_next_tile();
    stretches();
  }

  void one_step(bool first = false, bool last = false) {
    step(t_, lie_, 0, 0, first, loads_ == Loads::whole_but_last && !last);
    add(left_, left_step_);
    add(right_, right_step_);
    if (has_eighth()) add(eighth_, right_step_);
  }
  bool has_eighth() const { return lie_ == ColumnsLie::apart && t_.columns > 8; }
  // Lines of the left operand: of a later tile, or those that are read a few steps later, where
  // they wait in the second cache (microkernel_body.hpp, multiply_tile).
  void ask_left() {
    constexpr int steps_near = 8;
    const int bytes = t_.vectors * vector_bytes_;
    if (asks_ == LeftAsks::ahead) mov(rdx, slot(left_ahead));
    for (int b = 0; b < bytes; b += line) {
      if (asks_ == LeftAsks::ahead) prefetcht1(ptr[left_ + rdx + std::min(b + line, bytes) - 1]);
      if (asks_ == LeftAsks::trickle) prefetcht0(ptr[left_ + (b + steps_near * bytes)]);
    }
  }

  void first_step() {
    mov(left_, slot(left_first));
    mov(right_, slot(right_first));
    if (has_eighth()) lea(eighth_, ptr[right_ + once_ * 8]);
    mov(count_, field(offsetof(Task, kc)));
    dec(count_);
    ask_left();
    if (loads_ == Loads::usual) return one_step(true);
    Xbyak::Label only, done;
    mov(slot(last_step), count_);
    test(count_, count_);
    jz(only, T_NEAR);
    mov(slot(last_step), 1);
    dec(count_);
    one_step(true);
    jmp(done, T_NEAR);
    L(only);
    one_step(true, true);
    L(done);
  }
  // For the last place of a stretch.
  void finish_stretch() {
    if (loads_ == Loads::usual) return;
    Xbyak::Label none;
    cmp(slot(last_step), 0);
    je(none, T_NEAR);
    ask_left();
    one_step(false, true);
    L(none);
  }
  void begin_stretch() {
    if (loads_ == Loads::usual) return;
    mov(slot(last_step), 1);
    dec(count_);
  }

  // A line with each step, while there are steps for a column. All at once, the lines would stand
  // in the way of what the kernel loads.
  void ask_for_next_tile() {
    Xbyak::Label next, at_once, done;
    const int lines = (t_.vectors * vector_bytes_ + line - 1) / line;
    const auto ask = [this](int i) {
      mov(rdx, ptr[r15]);
      lea(rdx, ptr[rsi + rdx * size]);
      prefetcht0(ptr[rdx + i * line]);
    };
    mov(rsi, slot(next_first));
    mov(r15, slot(next_columns));
    lea(r8, ptr[r15 + 8 * t_.columns]);
    align(32);
    L(next);
    cmp(count_, lines);
    jl(at_once, T_NEAR);
    for (int i = 0; i < lines; ++i) {
      ask(i);
      ask_left();
      one_step();
    }
    sub(count_, lines);
    add(r15, 8);
    cmp(r15, r8);
    jb(next, T_NEAR);
    jmp(done, T_NEAR);
    L(at_once);
    for (int i = 0; i < lines; ++i) ask(i);
    add(r15, 8);
    cmp(r15, r8);
    jb(at_once);
    L(done);
  }

  // The rest of k.
  void stretches() {
    Xbyak::Label stretch_begins, next_line, run_ends, no_lines, done;
    copy(asked, slot(fetch_first));
    mov(slot(run), rdx);
    mov(rdx, field(offsetof(Task, fetch.lines)));
    mov(slot(run_lines), rdx);
    imul(rdx, slot(fetch_runs));
    mov(slot(all_lines), rdx);
    mov(rdx, field(offsetof(Task, stretches)));
    mov(slot(stretch), rdx);
    imul(r8, field(offsetof(Task, more_stretches)), static_cast<int>(sizeof(Stretch)));
    add(rdx, r8);
    mov(slot(stretch_end), rdx);

    L(stretch_begins);
    // A line of Fetch with each step.
    mov(rsi, slot(all_lines));
    cmp(rsi, count_);
    cmovg(rsi, count_);
    test(rsi, rsi);
    jle(no_lines, T_NEAR);
    sub(slot(all_lines), rsi);
    sub(count_, rsi);
    mov(r15, slot(asked));
    mov(r8, slot(run_lines));
    Xbyak::Label asked_for;
    align(32);
    L(next_line);
    prefetcht1(ptr[r15]);
    add(r15, line);
    dec(r8);
    jz(run_ends, T_NEAR);
    L(asked_for);
    ask_left();
    one_step();
    dec(rsi);
    jnz(next_line, T_NEAR);
    mov(slot(asked), r15);
    mov(slot(run_lines), r8);
    jmp(no_lines, T_NEAR);
    L(run_ends);
    mov(r15, field(offsetof(Task, fetch.apart)));
    scale(r15);
    add(r15, slot(run));
    mov(slot(run), r15);
    mov(r8, field(offsetof(Task, fetch.lines)));
    jmp(asked_for, T_NEAR);

    L(no_lines);
    if (asks_ == LeftAsks::trickle) {
      trickling_steps();
    } else {
      plain_steps();
    }
    finish_stretch();
    mov(r8, slot(stretch));
    cmp(r8, slot(stretch_end));
    je(done, T_NEAR);
    mov(rdx, ptr[r8 + number(offsetof(Stretch, left_jump))]);
    lea(left_, ptr[left_ + rdx * size]);
    mov(rdx, ptr[r8 + number(offsetof(Stretch, right_jump))]);
    lea(right_, ptr[right_ + rdx * size]);
    if (has_eighth()) lea(eighth_, ptr[eighth_ + rdx * size]);
    mov(count_, ptr[r8 + number(offsetof(Stretch, kc))]);
    begin_stretch();
    add(r8, static_cast<int>(sizeof(Stretch)));
    mov(slot(stretch), r8);
    jmp(stretch_begins, T_NEAR);
    L(done);
  }

  void plain_steps() {
    Xbyak::Label several, rest, one, done;
    mov(r8, count_);
    if (asks_ == LeftAsks::ahead) {
      cmp(left_step_, t_.vectors * vector_bytes_);
      jne(rest, T_NEAR);
    }
    static_assert(together == 4);
    and_(r8, together - 1);
    shr(count_, 2);
    jz(rest, T_NEAR);
    align(32);
    L(several);
    for (int i = 0; i < together; ++i) {
      ask_left();
      one_step();
    }
    dec(count_);
    jnz(several, T_NEAR);
    L(rest);
    test(r8, r8);
    jz(done, T_NEAR);
    align(32);
    L(one);
    ask_left();
    one_step();
    dec(r8);
    jnz(one, T_NEAR);
    L(done);
  }

  // Between them, what is read much later is asked for.
  void trickling_steps() {
    Xbyak::Label more_steps, next, ask, no_more, done;
    L(more_steps);
    test(count_, count_);
    jle(done, T_NEAR);
    mov(r8, slot(trickle_until));
    cmp(r8, count_);
    cmovg(r8, count_);
    sub(slot(trickle_until), r8);
    sub(count_, r8);
    align(32);
    L(next);
    ask_left();
    one_step();
    dec(r8);
    jnz(next, T_NEAR);
    cmp(slot(trickle_until), 0);
    jne(more_steps, T_NEAR);
    mov(r15, slot(trickle_line));
    mov(rsi, field(offsetof(Task, trickle.lines)));
    L(ask);
    prefetcht1(ptr[r15]);
    add(r15, line);
    dec(rsi);
    jnz(ask);
    mov(slot(trickle_line), r15);
    mov(rdx, field(offsetof(Task, trickle.every)));
    dec(slot(trickle_times));
    jg(no_more);
    mov(rdx, INT64_MAX);
    L(no_more);
    mov(slot(trickle_until), rdx);
    jmp(more_steps, T_NEAR);
    L(done);
  }

  template <class Result>
  void write_all(Result&& result) {
    for (int j = 0; j < t_.columns; ++j) {
      mov(rdx, ptr[r8 + 8 * j]);
      lea(rdx, ptr[rsi + rdx * size]);
      for (int v = 0; v < t_.vectors; ++v) {
        const Xbyak::RegExp to = rdx + v * vector_bytes_;
        const Vector total = sum(t_, j, v);
        result(total, to, v);
        if (in_pieces(t_, v)) {
          store_pieces(v * vector_bytes_, total);
        } else {
          store(to, total, partial(t_, v));
        }
      }
    }
  }
  // The first so many lanes as are in count_, at rdx and so many bytes.
  void store_pieces(int further, const Vector& from) {
    const int lanes = vector_bytes_ / size;
    const Xbyak::Xmm rest(left(t_, 0).getIdx());
    vmovaps(rest, Xbyak::Xmm(from.getIdx()));
    for (int piece = lanes / 2; piece > 0; piece /= 2) {
      Xbyak::Label none;
      test(count_.cvt32(), piece);
      jz(none);
      if (piece == lanes / 2) {
        store_half(rdx + further, from);
        vextractf128(rest, from, 1);
      } else if (piece == 2) {
        vmovlps(ptr[rdx + further], rest);
        vmovhlps(rest, rest, rest);
      } else {
        store_one(rdx + further, rest);
      }
      if (piece > 1) add(rdx, piece * size);
      L(none);
    }
  }
  void write() {
    using Kind = typename Update<T>::Kind;
    Xbyak::Label overwrite, add_to, any, done;
    // Where the left operand's vectors were.
    const Vector old = left(t_, 0), alpha = vector(registers() - 1);
    mov(rsi, slot(c_first));
    mov(r8, slot(c_columns));
    if (has_pieces(t_)) {
      mov(count_, vector_bytes_ / size);
      sub(count_, field(offsetof(Task, lanes_short)));
    }
    mov(edx, dword[rdi + number(offsetof(Task, kind))]);
    cmp(edx, static_cast<int>(Kind::add));
    je(add_to, T_NEAR);
    cmp(edx, static_cast<int>(Kind::any));
    je(any, T_NEAR);
    L(overwrite);
    write_all([](const Vector&, const Xbyak::RegExp&, int) {});
    jmp(done, T_NEAR);
    L(add_to);
    write_all([&](const Vector& total, const Xbyak::RegExp& to, int v) {
      load(old, to, t_, v);
      add_vectors(total, old, total);
    });
    jmp(done, T_NEAR);
    L(any);
    broadcast(alpha, ptr[rdi + number(offsetof(Task, update.alpha))]);
    for (int i = 0; i < t_.columns * t_.vectors; ++i) {
      multiply(vector(i), vector(i), alpha, true);
    }
    // Zero of either sign.
    const Xbyak::Address beta = ptr[rdi + number(offsetof(Task, update.beta))];
    if constexpr (size == 4) {
      mov(edx, beta);
      add(edx, edx);
    } else {
      mov(rdx, beta);
      add(rdx, rdx);
    }
    jz(overwrite, T_NEAR);
    broadcast(alpha, beta);
    write_all([&](const Vector& total, const Xbyak::RegExp& to, int v) {
      load(old, to, t_, v);
      multiply(total, old, alpha, false);
    });
    L(done);
  }

  void onwards() {
    Xbyak::Label same_lines, known;
    dec(slot(more));
    if (asks_ == LeftAsks::ahead) {
      Xbyak::Label goes_on;
      jnz(goes_on);
      cmp(byte[rdi + number(offsetof(Task, left_ends))], 0);
      je(goes_on);
      mov(slot(left_ahead), 0);  // its own lines
      L(goes_on);
    }
    const auto further = [this](Slot s, std::size_t offset) {
      mov(rdx, field(offset));
      scale(rdx);
      add(slot(s), rdx);
    };
    further(left_first, offsetof(Task, onwards.left));
    further(right_first, offsetof(Task, onwards.right));
    mov(rdx, field(offsetof(Task, fetch.onwards)));
    test(rdx, rdx);
    jz(same_lines);
    scale(rdx);
    add(slot(fetch_first), rdx);
    jmp(known);
    L(same_lines);
    mov(slot(fetch_runs), 0);
    L(known);
    copy(c_first, slot(next_first));
    copy(c_columns, slot(next_columns));
    copy(c_rows, slot(next_rows));
    if (asks_ == LeftAsks::trickle) begin_trickle();
  }
};

}  // namespace

template <class T>
Microkernel<T> GeneratedKernels<T>::of(int vectors, int columns, bool part, bool make) {
  Slot& slot = slots_[vectors - 1][columns - 1][part];
  const Microkernel<T> known = slot.load(std::memory_order_acquire);
  if (known != nullptr || !make || refused_) return known;
  const std::scoped_lock lock(making_);
  if (const Microkernel<T> by_another = slot.load(std::memory_order_acquire)) return by_another;
  if (refused_) return nullptr;
  try {
    auto code =
        std::make_shared<const KernelGenerator<T>>(bytes_, TileRegisters{vectors, columns, part});
    const auto bytes = static_cast<std::int64_t>(code->getSize());
    if (made_bytes_ + bytes > limit_) {
      refused_ = true;
      return nullptr;
    }
    made_bytes_ += bytes;
    const auto made = code->template getCode<Microkernel<T>>();
    code_.push_back(std::move(code));
    slot.store(made, std::memory_order_release);
    return made;
  } catch (const Xbyak::Error&) {
    refused_ = true;
    return nullptr;
  }
}

bool generates_code() { return true; }

}  // namespace tcsim

#else

namespace tcsim {

template <class T>
Microkernel<T> GeneratedKernels<T>::of(int, int, bool, bool) {
  return nullptr;
}

bool generates_code() { return false; }

}  // namespace tcsim

#endif

namespace tcsim {

template <class T>
GeneratedKernels<T>::GeneratedKernels(int bytes, std::int64_t limit)
    : bytes_(bytes), limit_(limit) {}

template class GeneratedKernels<float>;
template class GeneratedKernels<double>;

}  // namespace tcsim
