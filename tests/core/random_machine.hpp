// Machines with every field at random, all valid.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/machine/fields.hpp"
#include "core/machine/machine.hpp"
#include "core/text/safe.hpp"

namespace tcsim {

class RandomMachine {
 public:
  explicit RandomMachine(std::uint64_t seed) : random_(seed) {}

  Machine next() {
    Machine m;
    m.name = visible(text());  // others are refused
    m.description = text();
    m.accounting = {text(), flip(), flip(), flip(), flip()};
    m.core = core();
    add_levels(m);
    for (int n = number(0, 2); n > 0; --n) {
      const std::int64_t ways = number(1, 64);
      m.tlbs.push_back({"TLB " + std::to_string(n), ways * number(1, 32), ways,
                        Bytes(std::int64_t{1} << number(12, 30))});
    }
    if (flip()) m.method = Method{text(), text(), text(), text(), number(0, 100)};
    for (int n = number(0, 3); n > 0; --n) m.remarks.push_back(text());
    return m;
  }

  const std::array<const char*, 3> indices_{"hashed", "sliced-4", "0x40,0x8000000000000000"};
  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  bool flip() { return number(0, 1) == 1; }
  // Powers of ten between the two exponents.
  double real(double low, double high) { return std::pow(10, low + (high - low) * unit_(random_)); }

 private:
  template <class Choices>
  auto one_of(const Choices& choices) {
    return choices[static_cast<std::size_t>(number(0, static_cast<int>(choices.size()) - 1))];
  }

  Core core() {
    Core c;
    c.frequency = figure(Hertz(real(3, 13)));
    c.vector_bits = figure(64 << number(0, 5));
    c.vector_registers = figure(number(1, 64));
    c.fma_per_cycle = figure(real(-3, 3));
    c.fma_latency = figure(Cycles(real(-8, 12)));
    if (flip()) c.cores = number(1, 200);
    if (flip()) c.efficiency = figure(real(-6, 0));
    if (flip()) c.tile_byte = figure(real(-6, 6));
    for_each_field<Overhead>([&](const auto& field) {
      if (!flip()) return;
      auto& member = c.overhead.*field.member;
      const bool is_share = field.range->most == 1;
      member = figure(decltype(member.value)(flip() ? 0 : real(-3, is_share ? 0 : 6)));
    });
    for (int n = number(0, 2); n > 0; --n) {
      PeakSeries s;
      fill(s);
      c.peaks.push_back(s);
    }
    return c;
  }

  void add_levels(Machine& m) {
    const double frequency = m.core.frequency.value.value();
    double bandwidth = 1e12;
    std::int64_t sets = 1;
    const int inner = number(1, 4);
    const int outer = number(1, 2);
    for (int i = 0; i < inner + outer; ++i) {
      Level l;
      l.name = "L" + std::to_string(i);
      if (i < inner) {
        // Ways at most triple and lines at most quadruple from level to level; 13 > 3 x 4.
        sets *= number(13, 1000);
        const std::int64_t ways = number(8, 24);
        const Bytes line(32 << number(0, 2));
        l.kind = number(0, 4) == 0 ? LevelKind::scratchpad : LevelKind::cache;
        l.capacity = figure(Bytes(sets * ways * line.value()));
        if (l.kind == LevelKind::cache) {
          l.ways = figure(ways);
          l.line = figure(line);
        }
      } else {
        l.kind = i > inner || flip() ? LevelKind::disk : LevelKind::memory;
        const bool last = i + 1 == inner + outer;
        l.capacity = figure(Bytes(last && flip() ? 0 : std::int64_t{1} << 60));
      }
      policies(l);
      bandwidth *= 1 - 0.9 * unit_(random_);
      l.bandwidth = figure(
          flip() ? Bandwidth{bandwidth, Bandwidth::Unit::bytes_per_second}
                 : Bandwidth{bandwidth / frequency * 0.999999, Bandwidth::Unit::bytes_per_cycle});
      bandwidth = l.bandwidth.value.at(m.core.frequency.value).value();
      if (flip()) l.latency = figure(Cycles(real(-8, 12)));
      if (flip()) l.exposed = figure(flip() ? 0 : real(-3, 0));
      if (flip()) l.loads = figure(real(-0.3, 3));
      if (flip()) l.processes = number(1, 100);
      if (flip()) l.transfer = figure(flip() ? 0 : real(-3, 6));
      if (flip()) l.row = figure(flip() ? 0 : real(-3, 6));
      if (flip()) l.energy = figure(JoulesPerByte(real(-15, 0)));
      for (int n = number(0, 2); n > 0; --n) l.series.push_back(series());
      m.levels.push_back(l);
    }
  }

  void policies(Level& l) {
    l.replacement = figure(one_of(all_replacements));
    l.inclusion = figure(one_of(all_inclusions));
    l.write = one_of(all_write_policies);
    l.write_allocate = flip();
    l.prefetch = one_of(all_prefetches);
    if (flip()) l.victim_lines = number(0, 64);
    if (flip()) l.prefetch_ahead = number(1, 512);
    if (flip()) l.index = parse_set_index(one_of(indices_));
    l.shared_by = number(1, 100);
  }

  template <class Series>
  void fill(Series& s) {
    s.element = Bytes(flip() ? 4 : 8);
    s.instruction_set = "set" + text();
    s.cores = number(1, 200);
    for (int n = number(1, 20); n > 0; --n) s.repetitions.emplace_back(real(-5, 20));
  }

  BandwidthSeries series() {
    BandwidthSeries s;
    fill(s);
    s.mix = one_of(all_access_mixes);
    s.working_set = Bytes(number(1, 1 << 30));
    if (flip()) s.frequency = Hertz(real(3, 13));
    s.unstable = flip();
    return s;
  }

  std::string text() {
    static const std::vector<std::string> pieces{"a", " ", "\"", "\\", "\n", "\t",   "'",
                                                 "#", "é", "=",  "{",  "]",  "\x7f", "1"};
    std::string s;
    for (int n = number(0, 6); n > 0; --n) s += one_of(pieces);
    return s;
  }

  template <class T>
  Figure<T> figure(T value) {
    return {value, one_of(all_origins), flip() ? text() : ""};
  }

  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_;
};

}  // namespace tcsim
