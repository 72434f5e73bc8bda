// Is every field of a machine declared, and does everything follow its declaration?
#include "core/machine/fields.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/machine/diff.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "tests/core/build.hpp"
#include "tests/source_dir.hpp"

namespace tcsim {
namespace {

template <class Owner>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for_each_field<Owner>([&](const Declared& f) { names.emplace_back(f.name); });
  return names;
}

// A new member does not compile here before it is listed, and fails before it is declared.
TEST(Fields, Every_member_is_declared_in_the_order_of_its_struct) {
  using Names = std::vector<std::string>;
  const Level level;
  [[maybe_unused]] const auto& [name, kind, capacity, ways, line, replacement, inclusion, write,
                                write_allocate, prefetch, prefetch_ahead, set_index, victim_lines,
                                shared_by, bandwidth, latency, energy, exposed, loads, processes,
                                transfer, row, series] = level;
  EXPECT_EQ(names_of<Level>(),
            (Names{"capacity",     "ways",           "line",      "replacement",    "inclusion",
                   "write",        "write_allocate", "prefetch",  "prefetch_ahead", "index",
                   "victim_lines", "shared_by",      "bandwidth", "latency",        "energy",
                   "exposed",      "loads",          "processes", "transfer",       "row"}));
  const Core core;
  [[maybe_unused]] const auto& [frequency, vector_bits, vector_registers, fma_per_cycle,
                                fma_latency, efficiency, tile_byte, cores, overhead, peaks] = core;
  EXPECT_EQ(names_of<Core>(),
            (Names{"frequency", "vector_bits", "vector_registers", "fma_per_cycle", "fma_latency",
                   "efficiency", "tile_byte", "cores"}));
  const Overhead lost;
  [[maybe_unused]] const auto& [pack, piece, far_line, far_page, task, call, partial, broken,
                                scatter, load, apart, results, result_piece, far_result_piece] =
      lost;
  EXPECT_EQ(names_of<Overhead>(),
            (Names{"pack", "piece", "far_line", "far_page", "task", "call", "partial", "broken",
                   "scatter", "load", "apart", "results", "result_piece", "far_result_piece"}));
  const Tlb tlb;
  [[maybe_unused]] const auto& [tlb_name, entries, tlb_ways, page] = tlb;
  EXPECT_EQ(names_of<Tlb>(), (Names{"entries", "ways", "page"}));
  const Accounting accounting;
  [[maybe_unused]] const auto& [accounting_name, write_backs, compute_roof, packing,
                                halve_register_loads] = accounting;
  EXPECT_EQ(names_of<Accounting>(),
            (Names{"write_backs", "compute_roof", "packing", "halve_register_loads"}));
}

TEST(Fields, A_range_holds_both_its_ends_and_no_other_powers) {
  EXPECT_TRUE(from_one.holds(1));
  EXPECT_FALSE(from_one.holds(0.5));
  EXPECT_TRUE(from_zero.holds(0));
  EXPECT_FALSE(above_zero.holds(0));
  EXPECT_TRUE(above_zero.holds(5e-324));
  EXPECT_FALSE(above_zero.holds(HUGE_VAL));
  EXPECT_FALSE(above_zero.holds(std::nan("")));
  constexpr Range bits{64, 4096, true};
  EXPECT_TRUE(bits.holds(64));
  EXPECT_TRUE(bits.holds(4096));
  EXPECT_FALSE(bits.holds(192));
  EXPECT_FALSE(bits.holds(8192));
}

// Another value of the same type, which a machine can have.
int other(int n) { return 2 * n; }
std::int64_t other(std::int64_t n) { return 2 * n; }
double other(double x) { return x / 2; }
bool other(bool b) { return !b; }
Bytes other(Bytes b) { return b * 2; }
Cycles other(Cycles c) { return c * 2; }
Hertz other(Hertz f) { return f * 2; }
Bandwidth other(Bandwidth b) { return {b.value * 0.9, b.unit}; }
JoulesPerByte other(JoulesPerByte e) { return e * 2; }
Replacement other(Replacement) { return Replacement::brrip; }
Inclusion other(Inclusion) { return Inclusion::exclusive; }
WritePolicy other(WritePolicy) { return WritePolicy::write_through; }
Prefetch other(Prefetch) { return Prefetch::stride; }
SetIndex other(const SetIndex&) { return parse_set_index("0x40,0x1000"); }

std::string written(bool b) { return b ? "true" : "false"; }
std::string written(Cycles c) { return fmt::format("{}", c.value()); }
template <class T>
std::string written(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", value);
  } else {
    return to_text(value);
  }
}

Machine machine() {
  Machine m = test::machine({{64, 8}, {1024, 16}});
  m.levels[1].latency = Figure<Cycles>{Cycles(12), Origin::vendor, "a manual"};
  m.levels[1].energy = Figure<JoulesPerByte>{JoulesPerByte(3e-12), Origin::vendor, ""};
  m.levels[1].exposed = Figure<double>{0.5, Origin::vendor, ""};
  m.levels[1].loads = {1.5, Origin::vendor, ""};
  m.levels[1].victim_lines = 8;
  m.levels[1].transfer = {20, Origin::vendor, "a manual"};
  m.levels[1].row = {2, Origin::vendor, "a manual"};
  m.core.tile_byte = {0.1, Origin::vendor, "a manual"};
  m.levels[2].bandwidth.value.value = 0.5;  // so that L2 may have less
  m.tlbs.push_back({"DTLB", 64, 4, Bytes(4096)});
  return m;
}

// What follows a declaration: the file, the hash, the difference.
void follows(const Machine& before, const Machine& after, const std::string& name) {
  EXPECT_EQ(parse_machine(to_toml(after), "t"), after) << name;
  EXPECT_NE(content_hash(after), content_hash(before)) << name;
  const std::vector<Difference> all = differences(before, after);
  ASSERT_FALSE(all.empty()) << name;
  EXPECT_EQ(all.front().figure, name);
  EXPECT_TRUE(all.front().changes_results);
}

// Each field in turn gets another value, by hand and as a knob.
template <class Owner, class In>
void each_follows(const std::string& prefix, In in) {
  const Machine before = machine();
  for_each_field<Owner>([&](const auto& field) {
    using Member = Held<typename std::decay_t<decltype(field)>::Type>;
    if (field.part == Part::geometry) return;  // depends on others; override_test.cpp has it
    const std::string name = prefix + std::string(field.name);
    Machine after = before;
    Owner& owner = in(after);
    const auto value = other(*value_of(owner, field));
    if constexpr (Member::is_optional) {
      (owner.*field.member)->value = value;
    } else if constexpr (Member::is_figure) {
      (owner.*field.member).value = value;
    } else {
      owner.*field.member = value;
    }
    follows(before, after, name);

    Machine turned = override_knob(before, name + "=" + written(value)).machine;
    EXPECT_EQ(content_hash(turned), content_hash(after)) << name;
    if constexpr (Member::is_optional) {
      EXPECT_EQ((in(turned).*field.member)->origin, Origin::hypothetical) << name;
    } else if constexpr (Member::is_figure) {
      EXPECT_EQ((in(turned).*field.member).origin, Origin::hypothetical) << name;
    }
    if (!field.range) return;
    // One below the range is refused, by the knob's reader or by check().
    EXPECT_THROW(
        check(override_knob(before, fmt::format("{}={}", name, field.range->least - 1)).machine,
              "t"),
        Error)
        << name;
  });
}

TEST(Fields, Files_hashes_differences_and_knobs_follow_each_declaration) {
  each_follows<Level>("L2.", [](Machine& m) -> Level& { return m.levels[1]; });
  each_follows<Core>("core.", [](Machine& m) -> Core& { return m.core; });
  each_follows<Overhead>("core.overhead.", [](Machine& m) -> Overhead& { return m.core.overhead; });
}

TEST(Fields, A_required_one_is_missed_and_any_other_may_be_left_out) {
  const std::string whole = to_toml(machine());
  for_each_field<Core>([&](const Declared& field) {
    std::string text;
    std::istringstream lines(whole);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(std::string(field.name) + " =")) text += line + "\n";
    }
    if (field.required) {
      EXPECT_THROW(parse_machine(text, "t"), InputError) << field.name;
    } else {
      EXPECT_NO_THROW(parse_machine(text, "t")) << field.name;
    }
  });
}

TEST(Fields, The_manual_has_a_row_for_each_with_its_unit_and_meaning) {
  std::ifstream in(TCSIM_SOURCE_DIR "/docs/machines.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  const auto look = [&](const Declared& f) {
    const std::string row = fmt::format("| `{}` | {} | {}", f.name, f.unit, f.help);
    EXPECT_TRUE(std::ranges::any_of(rows, [&](const auto& r) { return r.starts_with(row); }))
        << row;
  };
  for_each_field<Level>(look);
  for_each_field<Core>(look);
  for_each_field<Overhead>(look);
  for_each_field<Tlb>(look);
  for_each_field<Accounting>(look);
}

}  // namespace
}  // namespace tcsim
