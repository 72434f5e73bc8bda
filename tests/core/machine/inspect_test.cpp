// What inspection finds in machines, all of it with its place.
#include "core/machine/inspect.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "tests/core/machine_files.hpp"
#include "tests/core/random_machine.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

std::string line_of(const Finding& f) {
  return std::string(to_text(f.severity)) + ": " + f.place + ": " + f.problem + "; " + f.mend;
}

std::vector<std::string> lines_of(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& f : findings) lines.push_back(line_of(f));
  return lines;
}

using TextLines = std::vector<std::string>;

TEST_F(MachineFiles, Every_contradiction_of_a_file_is_found_with_its_line_and_mend) {
  const fs::path file =
      write("bad.toml",
            "schema = 1\nname = \"bad\"\n[core]\nfrequency = \"2GHz\"\n"
            "vector_bits = 200\nvector_registers = 16\nfma_per_cycle = 2\n"
            "fma_latency = 4\n"
            "[[level]]\nname = \"L1\"\ncapacity = \"32KiB\"\nsets = 64\nways = 4\n"
            "line = \"64B\"\nbandwidth = \"10B/cycle\"\n"
            "[[level]]\nname = \"L2\"\ncapacity = \"16KiB\"\nways = 4\n"
            "line = \"64B\"\nbandwidth = \"12B/cycle\"\n"
            "[[level]]\nname = \"memory\"\nkind = \"memory\"\ncapacity = 65536\n"
            "bandwidth = \"4GB/s\"\n");
  const InspectedFile inspected = inspect_machine_file(file);
  EXPECT_FALSE(inspected.ok());
  const std::string f = file.string();
  EXPECT_EQ(
      lines_of(inspected.findings),
      (TextLines{
          "error: " + f +
              ":12:8: L1: capacity 32KiB, 64 sets and 4 ways contradict one another (64 sets x "
              "4 ways x 64B is 16KiB); give two of the three",
          "warning: " + f +
              ":25:12: capacity 65536 has no unit and is read as bytes; write \"64KiB\"",
          "error: " + f +
              ":5:15: core.vector_bits is 200; give a power of two from 64 to 4096, such as 256",
          "error: " + f +
              ":18:12: L2 (16KiB) is smaller than L1 inside it (32KiB); list the levels from "
              "the core outward; capacities do not shrink",
          "error: " + f +
              ":21:13: L2 (12B/cycle) is faster than L1 inside it (10B/cycle); check the units; "
              "an outer level is not faster than the level inside it"}));
  // Reading stops at the first of them.
  EXPECT_EQ(error_of([&] { load_machine(file); }), line_of(inspected.findings[0]).substr(7));
}

TEST_F(MachineFiles, A_fault_of_form_is_the_only_finding) {
  const fs::path file = write("form.toml", head + "capcity = 3\n" + core_table + memory);
  EXPECT_EQ(lines_of(inspect_machine_file(file).findings).front().substr(0, 7), "error: ");
  EXPECT_EQ(inspect_machine_file(file).findings[0].place, file.string() + ":3:1");
  EXPECT_FALSE(inspect_machine_file(file).machine);
  EXPECT_THROW(inspect_machine_file(folder_ / "none.toml"), InputError);
}

TEST_F(MachineFiles, A_derived_machine_is_faulted_at_the_knob) {
  const fs::path file = write("d.toml",
                              "schema = 1\nname = \"d\"\nderived_from = \"i7-6700k\"\n[set]\n"
                              "\"L2.bandwidth\" = \"1GB/s\"\n\"L3.latency\" = 40\n");
  EXPECT_EQ(
      lines_of(inspect_machine_file(file).findings),
      (TextLines{"error: " + file.string() +
                 ":4:1: L3 (12.8B/cycle) is faster than L2 inside it (1GB/s); check the units; "
                 "an outer level is not faster than the level inside it"}));
}

TEST(MachineToml, A_number_that_needs_a_unit_is_told_which) {
  EXPECT_EQ(parse_error(head + core_table + "[[level]]\nname = \"L1\"\n" + plain_keys +
                        "bandwidth = 25.28\n" + memory),
            "m.toml:14:13: bandwidth has no unit; write \"25.28GB/s\" or \"25.28B/cycle\"");
  EXPECT_EQ(parse_error(head + "[core]\nfrequency = 2\n" + memory),
            "m.toml:4:13: frequency has no unit; write \"2GHz\"");
}

TEST(MachineToml, A_size_without_a_unit_is_bytes_and_doubted_in_quotes_or_not) {
  Machine m = parse(file_with("capacity = 32768\nways = 8\nline = \"64\"\n"));
  EXPECT_EQ(m.levels[0].capacity.value, Bytes(32768));
  EXPECT_EQ(m.levels[0].line.value, Bytes(64));
}

// Three levels that nobody doubts: L1 32 KiB, L2 256 KiB, memory.
Machine plain() {
  Machine m = valid();
  Level l2 = m.levels[0];
  l2.name = "L2";
  l2.capacity.value = Bytes(262144);
  m.levels.insert(m.levels.begin() + 1, l2);
  return m;
}

TextLines doubts(const std::function<void(Machine&)>& spoil) {
  Machine m = plain();
  EXPECT_TRUE(inspect(m, "p").empty());
  spoil(m);
  return lines_of(inspect(m, "p"));
}

TEST(Inspect, Doubts_are_warnings_and_do_not_stop_a_machine) {
  EXPECT_EQ(
      doubts([](Machine& m) { m.levels[1].shared_by = 16; }),
      (TextLines{"warning: p: each of L2's 16 cores has 16KiB of it, less than of L1 (32KiB); "
                 "with all cores at work a tile for it is no larger than the tile inside; "
                 "check shared_by"}));
  EXPECT_EQ(
      doubts([](Machine& m) { m.levels[1].capacity.value = Bytes(32768); }),
      (TextLines{"warning: p: L2 is as small as L1 inside it (32KiB); a tile for it is no larger "
                 "than the tile inside; check the capacities"}));
  EXPECT_EQ(doubts([](Machine& m) {
              m.levels[1].capacity.value = Bytes(16384);
              m.levels[1].inclusion.value = Inclusion::exclusive;
            }),
            (TextLines{"warning: p: L2 (16KiB) is smaller than L1 inside it (32KiB); a tile for it "
                       "alone is smaller than the tile inside"}));
  EXPECT_EQ(doubts([](Machine& m) {
              m.levels[1].shared_by = 16;
              m.levels[1].inclusion.value = Inclusion::inclusive;
            }),
            (TextLines{"warning: p: L2 (256KiB) is inclusive and cannot hold the L1 of 16 cores "
                       "(512KiB); check capacity, sharing and inclusion"}));
  EXPECT_EQ(
      doubts([](Machine& m) { m.levels[0].inclusion.value = Inclusion::inclusive; }),
      (TextLines{"warning: p: L1 is inclusive of the levels inside it, and there is none; say "
                 "\"neither\" of the innermost level"}));
  EXPECT_EQ(
      doubts([](Machine& m) { m.levels[1].line.value = Bytes(32); }),
      (TextLines{"warning: p: L2 has shorter lines (32B) than L1 inside it (64B); check both; "
                 "lines rarely shrink outward"}));
  EXPECT_EQ(
      doubts([](Machine& m) {
        m.levels[0].latency = Figure<Cycles>{Cycles(14), Origin::assumed, ""};
        m.levels[1].latency = Figure<Cycles>{Cycles(5), Origin::assumed, ""};
      }),
      (TextLines{"warning: p: L2 answers sooner (5 cycles) than L1 inside it (14); check both "
                 "latencies"}));
  EXPECT_EQ(doubts([](Machine& m) {
              for (int bit = 20; bit < 30; ++bit) {
                m.levels[1].index.masks.push_back(std::uint64_t{1} << bit);
              }
            }),
            (TextLines{"warning: p: L2 has 512 sets in 1024 slices and is not simulated; give a "
                       "number of sets that is a multiple of the slices, or another index"}));
  EXPECT_EQ(doubts([](Machine& m) { m.levels[0].prefetch_ahead = 8; }),
            (TextLines{"warning: p: L1 prefetches 8 lines ahead, and has no streamer; give it the "
                       "prefetch streamer, or take prefetch_ahead out"}));
  EXPECT_EQ(doubts([](Machine& m) { m.levels[0].shared_by = 2; }),
            (TextLines{"warning: p: L2 is shared by 1 cores and L1 inside it by 2; as many or more "
                       "cores share an outer level"}));
}

TEST(Inspect, Check_refuses_exactly_what_has_an_error) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomMachine random(seed);
  for (int i = 0; i < 300; ++i) {
    Machine m = random.next();
    // A part of another machine rarely fits.
    const Machine other = random.next();
    if (random.flip()) m.levels[0] = other.levels[0];
    if (random.flip()) m.levels.back() = other.levels.front();
    if (random.flip()) m.core.frequency = other.core.frequency;
    InspectedFile inspected{m, inspect(m, "p")};
    const std::string error = error_of([&] { check(m, "p"); });
    ASSERT_EQ(inspected.ok(), error == "no error") << error;
  }
}

TEST_F(MachineFiles, Shipped_machines_have_no_contradiction) {
  for (const std::string& name : shipped_machines()) {
    const InspectedFile inspected =
        inspect_machine_file(data_dir() / "machines" / (name + ".toml"));
    for (const Finding& f : inspected.findings) {
      EXPECT_EQ(f.severity, Severity::warning) << line_of(f);
    }
  }
}

TEST(MachineInspect, Names_that_do_not_print_are_refused) {
  const auto refused = [](const auto& spoil) {
    Machine m = valid();
    spoil(m);
    return error_of([&] { check(m, "p"); });
  };
  EXPECT_EQ(refused([](Machine& m) { m.name = "a\n#include <b>"; }),
            "p: the machine's name has a control character (U+000A) at byte 2; use printable "
            "characters in UTF-8");
  EXPECT_EQ(refused([](Machine& m) { m.levels[0].name = "L\0331"; }),
            "p: a level's name has a control character (U+001B) at byte 2; use printable "
            "characters in UTF-8");
  EXPECT_EQ(refused([](Machine& m) { m.name = "Größe 机"; }), "no error");
}

}  // namespace
}  // namespace tcsim
