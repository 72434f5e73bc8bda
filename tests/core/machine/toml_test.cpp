// Machine files in and out.
#include "core/machine/toml.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/core/machine_files.hpp"
#include "tests/core/random_machine.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

TEST_F(MachineFiles, A_missing_file_is_named) {
  EXPECT_EQ(error_of([&] { load_machine(folder_ / "none.toml"); }),
            (folder_ / "none.toml").string() +
                ": cannot be read: No such file or directory; give the path of a machine file");
}

TEST(MachineToml, The_third_of_capacity_sets_and_ways_is_derived) {
  // 64 sets x 8 ways x 64 B = 32 KiB.
  for (const char* keys : {"capacity = \"32KiB\"\nways = 8\n", "capacity = \"32KiB\"\nsets = 64\n",
                           "sets = 64\nways = 8\n", "capacity = 32768\nsets = 64\nways = 8\n"}) {
    const Level l1 = parse(file_with(std::string(keys) + "line = \"64B\"\n")).levels[0];
    EXPECT_EQ(l1.capacity.value, Bytes(32768)) << keys;
    EXPECT_EQ(l1.ways.value, 8) << keys;
    EXPECT_EQ(l1.sets(), 64) << keys;
  }
}

TEST(MachineToml, A_derived_figure_has_the_origin_of_the_sets) {
  const Level l1 =
      parse(file_with("sets = { value = 64, origin = \"vendor\", source = \"manual\" }\n"
                      "ways = 8\nline = \"64B\"\n"))
          .levels[0];
  EXPECT_EQ(l1.capacity, (Figure<Bytes>{Bytes(32768), Origin::vendor, "manual"}));
  EXPECT_EQ(l1.ways.origin, Origin::assumed);
}

TEST(MachineToml, Sizes_that_contradict_one_another_are_an_error_with_the_three_numbers) {
  EXPECT_EQ(parse_error(file_with("capacity = \"32KiB\"\nsets = 64\nways = 4\nline = \"64B\"\n")),
            "m.toml:12:8: L1: capacity 32KiB, 64 sets and 4 ways contradict one another (64 sets x "
            "4 ways x 64B is 16KiB); give two of the three");
  EXPECT_EQ(
      parse_error(file_with("capacity = \"32KiB\"\nsets = 60\nline = \"64B\"\n")),
      "m.toml:12:8: L1: capacity 32KiB is not a whole number of ways of 60 sets of 64B lines; "
      "give two numbers of the three that agree");
  EXPECT_EQ(parse_error(file_with("ways = 4\nline = \"64B\"\n")),
            "m.toml:9:1: L1: the cache's size is not known; give two of capacity, sets and ways");
  EXPECT_EQ(parse_error(file_with(
                "sets = 4611686018427387904\nways = 4611686018427387904\nline = \"64B\"\n")),
            "m.toml:11:8: L1: sets x ways x line is out of range; check the three numbers");
  // 32 KiB / (9 x 64) = 56.8889 sets.
  EXPECT_EQ(parse_error(file_with("capacity = \"32KiB\"\nways = 9\nline = \"64B\"\n")),
            "m.toml:11:12: L1: capacity 32KiB with 9 ways and lines of 64B gives 56.8889 sets; a "
            "cache's capacity is a whole number of sets x ways x line");
}

TEST(MachineToml, A_figure_takes_its_origin_from_itself_then_its_table_then_is_assumed) {
  const Machine m = parse(file_with(
      "origin = \"vendor\"\nsource = \"manual\"\nways = { value = 8, source = \"page 3\" }\n"
      "capacity = { value = \"32KiB\", origin = \"measured\" }\nline = \"64B\"\n"));
  EXPECT_EQ(m.levels[0].line, (Figure<Bytes>{Bytes(64), Origin::vendor, "manual"}));
  EXPECT_EQ(m.levels[0].ways, (Figure<std::int64_t>{8, Origin::vendor, "page 3"}));
  // The table's source speaks of the vendor's figures, not of this measured one.
  EXPECT_EQ(m.levels[0].capacity, (Figure<Bytes>{Bytes(32768), Origin::measured, ""}));
  EXPECT_EQ(m.core.vector_bits, (Figure<int>{256, Origin::assumed, ""}));
}

TEST(MachineToml, What_the_core_loses_is_read_and_what_is_not_said_is_assumed) {
  const auto with = [](const std::string& keys) {
    return head + core_table + "[core.overhead]\n" + keys + cache_with(plain_keys) + memory;
  };
  const Machine m =
      parse(with("origin = \"measured\"\ncall = 0\ntask = { value = 2.5, source = "
                 "\"a fit\" }\n"));
  EXPECT_EQ(m.core.overhead.call, (Figure<Cycles>{Cycles(0), Origin::measured, ""}));
  EXPECT_EQ(m.core.overhead.task, (Figure<Cycles>{Cycles(2.5), Origin::measured, "a fit"}));
  EXPECT_EQ(m.core.overhead.pack,
            (Figure<Cycles>{Cycles(1800), Origin::assumed, "AMD EPYC (Zen 4), one core"}));
  EXPECT_EQ(to_toml(parse(file_with(plain_keys))).find("overhead"), std::string::npos);

  EXPECT_EQ(
      parse_error(with("calls = 3\n")),
      "m.toml:10:1: unknown key 'calls' in [core.overhead]; known are origin, source, pack, "
      "piece, far_line, far_page, task, call, partial, broken, scatter, load, apart, results, "
      "result_piece, far_result_piece");
  EXPECT_EQ(parse_error(with("call = -3\n")),
            "m.toml:10:8: call is no number of at least 0; write one, without quotes");
  EXPECT_EQ(parse_error(head + core_table + "overhead = 3\n" + cache_with(plain_keys) + memory),
            "m.toml:9:12: core.overhead is no table; write [core.overhead] on a line of its own");
  Machine wrong = m;
  wrong.core.overhead.call.value = Cycles(-1);
  EXPECT_EQ(error_of([&] { check(wrong, "p"); }),
            "p: core.overhead.call is -1; give a number of cycles of at least 0");
}

TEST(MachineToml, Faults_are_told_with_their_place_and_mend) {
  const auto with = [](const std::string& key) { return file_with(key + "\n" + plain_keys); };
  EXPECT_EQ(parse_error(with("asociativity = 8")),
            "m.toml:11:1: unknown key 'asociativity' in [[level]]; known are name, kind, origin, "
            "source, capacity, sets, ways, line, replacement, inclusion, write, write_allocate, "
            "prefetch, prefetch_ahead, index, victim_lines, shared_by, bandwidth, latency, energy, "
            "exposed, loads, "
            "processes, transfer, row, "
            "series");
  EXPECT_EQ(parse_error(with("replacement = \"mru\"")),
            "m.toml:11:15: replacement 'mru' is unknown; known are lru, fifo, random, tree-plru, "
            "bit-plru, srrip, brrip");
  EXPECT_EQ(parse_error(with("prefetch = \"next\"")),
            "m.toml:11:12: prefetch 'next' is unknown; known are none, next-line, stride, "
            "adjacent-line, streamer, streamer+adjacent-line");
  EXPECT_EQ(parse_error(with("origin = \"guess\"")),
            "m.toml:11:10: origin 'guess' is unknown; known are measured, vendor, published, "
            "assumed, hypothetical");
  EXPECT_EQ(parse_error(with("write_allocate = 1")),
            "m.toml:11:18: write_allocate is neither true nor false; write true or false");
  EXPECT_EQ(parse_error(with("shared_by = 0")),
            "m.toml:11:13: shared_by is no count; write a whole number from 1 to 2147483647, "
            "without quotes");
  EXPECT_EQ(parse_error(with("latency = \"4\"")),
            "m.toml:11:11: latency is no number greater than 0; write one, without quotes");
  EXPECT_EQ(parse_error(with("latency = { val = 4 }")),
            "m.toml:11:13: unknown key 'val' in latency; known are value, origin, source");
  EXPECT_EQ(parse_error(file_with("capacity = \"32KB\"\nways = 8\nline = \"64B\"\n")),
            "m.toml:11:12: capacity: '32KB': 'KB' is no unit of size; use B, KiB, MiB, GiB, TiB "
            "(powers of 1024) or kB, MB, GB, TB (of 1000)");
  EXPECT_EQ(parse_error(head + core_table + cache_with(plain_keys)),
            "m.toml:9:1: a machine of 1 levels; give at least one cache, then memory or disk");
  EXPECT_EQ(parse_error(head + cache_with(plain_keys) + memory),
            "m.toml:1:1: the machine has no core; add \"core = ...\"");
  EXPECT_EQ(parse_error("name = \"x\"\n"), "m.toml:1:1: no schema; begin with \"schema = 1\"");
  EXPECT_EQ(parse_error("schema = 2\n"),
            "m.toml:1:10: unknown schema; this tcsim reads schema = 1");
  EXPECT_EQ(parse_error(head + core_table + cache_with(plain_keys) + memory + "ways = 4\n"),
            "m.toml:19:8: memory is a memory and has ways; only caches have sets, ways and a line; "
            "take it out");
  const std::string broken = parse_error("schema = 1\nname = \n");
  EXPECT_TRUE(broken.starts_with("m.toml:2:")) << broken;
}

TEST(MachineToml, What_no_key_says_of_a_policy_is_assumed_whatever_the_table) {
  const Level l1 = parse(file_with("origin = \"vendor\"\nsource = \"manual\"\n"
                                   "inclusion = \"inclusive\"\nprefetch = \"stride\"\n" +
                                   plain_keys))
                       .levels[0];
  EXPECT_EQ(l1.replacement, (Figure<Replacement>{Replacement::lru, Origin::assumed, ""}));
  EXPECT_EQ(l1.inclusion, (Figure<Inclusion>{Inclusion::inclusive, Origin::vendor, "manual"}));
  EXPECT_EQ(l1.prefetch, Prefetch::stride);
  const Level said =
      parse(file_with("replacement = { value = \"bit-plru\", origin = \"published\", source = "
                      "\"a paper\" }\n" +
                      plain_keys))
          .levels[0];
  EXPECT_EQ(said.replacement,
            (Figure<Replacement>{Replacement::bit_plru, Origin::published, "a paper"}));
}

TEST(MachineToml, Measurements_translation_buffers_and_remarks_are_read) {
  const Machine m = parse(
      head + "remarks = [\"plateau at 24 MiB, reported 32 MiB\"]\n" + core_table +
      "[[core.peak]]\ninstruction_set = \"AVX2\"\nelement = \"4B\"\ncores = 2\n"
      "flops_per_second = [3e10, 31e9]\n"
      "[[tlb]]\nname = \"L1 DTLB\"\nentries = 64\nways = 4\npage = \"4KiB\"\n"
      "[method]\nclock = \"steady\"\nrepetitions = 9\n" +
      cache_with(plain_keys) +
      "[[level.series]]\nmix = \"triad\"\ninstruction_set = \"SSE\"\nelement = \"8B\"\ncores = 1\n"
      "working_set = \"16KiB\"\nfrequency = \"2.1GHz\"\nunstable = true\n"
      "bytes_per_second = [1e10, 2e10, 30000000000]\n" +
      memory);
  EXPECT_EQ(m.remarks, std::vector<std::string>{"plateau at 24 MiB, reported 32 MiB"});
  EXPECT_EQ(m.core.peaks,
            (std::vector<PeakSeries>{
                {"AVX2", Bytes(4), 2, {FlopsPerSecond(3e10), FlopsPerSecond(31e9)}}}));
  EXPECT_EQ(m.tlbs, (std::vector<Tlb>{{"L1 DTLB", 64, 4, Bytes(4096)}}));
  EXPECT_EQ(m.method, (Method{"", "steady", "", "", 9}));
  EXPECT_EQ(m.levels[0].series,
            (std::vector<BandwidthSeries>{
                {AccessMix::triad,
                 Bytes(8),
                 "SSE",
                 1,
                 Bytes(16384),
                 {BytesPerSecond(1e10), BytesPerSecond(2e10), BytesPerSecond(3e10)},
                 Hertz(2.1e9),
                 true}}));
  EXPECT_TRUE(m.levels[1].series.empty());
}

TEST(MachineToml, Faults_of_measurements_are_told_with_their_place) {
  const std::string good =
      "mix = \"load\"\ninstruction_set = \"SSE\"\nelement = \"8B\"\ncores = 1\n"
      "working_set = \"16KiB\"\n";
  const auto with = [&](const std::string& series) {
    return parse_error(head + core_table + cache_with(plain_keys) + "[[level.series]]\n" + series +
                       memory);
  };
  // The series' table begins in line 15, its keys in line 16.
  EXPECT_EQ(with(good),
            "m.toml:15:1: [[level.series]] has no bytes_per_second; add "
            "\"bytes_per_second = ...\"");
  EXPECT_EQ(
      with(good + "bytes_per_second = [1e9, \"fast\"]\n"),
      "m.toml:21:26: bytes_per_second is no number greater than 0; write one, without quotes");
  EXPECT_EQ(with(good + "bytes_per_second = 1e9\n"),
            "m.toml:21:20: bytes_per_second is no list; write it in [ ]");
  EXPECT_EQ(with("mix = \"store\"\n" + good.substr(13) + "bytes_per_second = [1e9]\n"),
            "m.toml:16:7: mix 'store' is unknown; known are load-fma-store, load, copy, triad");
  EXPECT_EQ(with(good + "bytes_per_second = [1e9]\nspeed = 1\n").substr(0, 51),
            "m.toml:22:1: unknown key 'speed' in [[level.series]");
  EXPECT_EQ(parse_error(head + "remarks = [7]\n" + core_table + memory),
            "m.toml:3:12: remarks is no text; write it in double quotes");
  EXPECT_EQ(parse_error(head + "tlb = 7\n" + core_table + memory),
            "m.toml:3:7: tlb is no list; write [[tlb]] in double brackets");
}

TEST(MachineToml, Energy_is_a_figure_in_picojoules_per_byte_or_with_its_unit) {
  const auto energy = [](const std::string& value) {
    return parse(file_with(plain_keys + "energy = " + value + "\n")).levels[0].energy;
  };
  EXPECT_EQ(energy("25")->value, JoulesPerByte(25e-12));
  EXPECT_EQ(energy("2.5")->value, JoulesPerByte(2.5e-12));
  EXPECT_EQ(energy("\"1.2nJ/B\"")->value, JoulesPerByte(1.2e-9));
  EXPECT_EQ(energy("{ value = 25, origin = \"published\", source = \"x\" }"),
            (Figure<JoulesPerByte>{JoulesPerByte(25e-12), Origin::published, "x"}));
  EXPECT_FALSE(valid().levels[0].energy);
  EXPECT_EQ(parse_error(file_with(plain_keys + "energy = \"25pJ\"\n")),
            "m.toml:14:10: energy: '25pJ': 'pJ' is no unit of energy per byte; write an energy per "
            "byte such as 25pJ/B or 1.2nJ/B");
  EXPECT_TRUE(parse_error(file_with(plain_keys + "energy = -1\n"))
                  .starts_with("m.toml:14:10: energy is no number greater than 0"));
}

TEST(MachineToml, Cores_at_work_and_halved_register_loads_are_read) {
  const Machine m = parse(file_with(plain_keys) + "[accounting]\nhalve_register_loads = true\n");
  EXPECT_TRUE(m.accounting.halve_register_loads);
  EXPECT_EQ(m.core.cores, 1);
  EXPECT_EQ(parse(head + core_table + "cores = 14\n" + cache_with(plain_keys) + memory).core.cores,
            14);
  EXPECT_EQ(parse_error(head + core_table + "cores = 0\n" + cache_with(plain_keys) + memory),
            "m.toml:9:9: cores is no count; write a whole number from 1 to 2147483647, without "
            "quotes");
}

TEST(MachineToml, What_is_written_reads_back_as_the_same_machine) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomMachine random(seed);
  for (int i = 0; i < 500; ++i) {
    const Machine m = random.next();
    const std::string text = to_toml(m);
    ASSERT_EQ(parse(text), m) << text;
    ASSERT_EQ(to_toml(parse(text)), text);
    ASSERT_EQ(content_hash(parse(text)), content_hash(m));
  }
}

TEST_F(MachineFiles, A_derived_machine_applies_its_knobs_in_the_order_of_the_file) {
  const fs::path file = write("bigger.toml",
                              "schema = 1\nname = \"bigger\"\nderived_from = \"i7-6700k\"\n[set]\n"
                              "\"memory.bandwidth\" = \"1.5x\"\n"
                              "\"L3.capacity\" = \"12MiB\"\nL3.ways = 12\n"
                              "\"core.fma_per_cycle\" = 1.5\n"
                              "\"L1.write_allocate\" = false\n\"L2.replacement\" = \"fifo\"\n");
  const Machine m = load_machine(file);
  EXPECT_EQ(m.name, "bigger");
  EXPECT_EQ(m.description, "Intel Core i7-6700K (Skylake), one core");
  EXPECT_DOUBLE_EQ(m.levels[3].bandwidth.value.value, 9.6);
  EXPECT_EQ(m.levels[3].bandwidth.origin, Origin::hypothetical);
  EXPECT_EQ(m.levels[2].capacity.value, Bytes(12 << 20));
  EXPECT_EQ(m.levels[2].ways.value, 12);
  EXPECT_EQ(m.core.fma_per_cycle.value, 1.5);
  EXPECT_FALSE(m.levels[0].write_allocate);
  EXPECT_EQ(m.levels[1].replacement.value, Replacement::fifo);
  // Rounding to whole sets makes the order visible.
  const auto capacity_of = [&](const std::string& set) {
    return load_machine(write("order.toml",
                              "schema = 1\nname = \"o\"\nderived_from = "
                              "\"i7-6700k\"\n[set]\n" +
                                  set))
        .levels[2]
        .capacity.value.value();
  };
  // 999936 B = 1302 sets of 12 x 64 B, but 976.5 sets of 16 x 64 B, rounded to 977 x 1024 =
  // 1000448.
  EXPECT_EQ(capacity_of("\"L3.ways\" = 12\n\"L3.capacity\" = \"999936B\"\n"), 999936);
  // 1000448 / 768 = 1302.67 sets, rounded to 1303 x 768 = 1000704.
  EXPECT_EQ(capacity_of("\"L3.capacity\" = \"999936B\"\n\"L3.ways\" = 12\n"), 1000704);
}

TEST_F(MachineFiles, A_derived_machine_names_the_line_of_a_wrong_knob) {
  const auto error = [&](const std::string& rest) {
    const fs::path file = write("d.toml", "schema = 1\nname = \"d\"\n" + rest);
    const std::string what = error_of([&] { load_machine(file); });
    EXPECT_TRUE(what.starts_with(file.string())) << what;
    return what.substr(std::min(what.size(), file.string().size()));
  };
  EXPECT_EQ(
      error("derived_from = \"i7-6700k\"\n[set]\n\"L4.capacity\" = \"1MiB\"\n"),
      ":5:17: L4.capacity: no such knob; the knobs are L1|L2|L3|memory|caches.{capacity, ways, "
      "line, replacement, inclusion, write, write_allocate, prefetch, prefetch_ahead, index, "
      "victim_lines, "
      "shared_by, bandwidth, "
      "latency, energy, exposed, loads, processes, transfer, row}, core.{frequency, vector_bits, "
      "vector_registers, fma_per_cycle, "
      "fma_latency, efficiency, tile_byte, cores} and core.overhead.{pack, piece, far_line, "
      "far_page, task, "
      "call, "
      "partial, broken, scatter, load, apart, results, result_piece, far_result_piece}");
  EXPECT_EQ(
      error("derived_from = \"i7-6700k\"\n[set]\n\"L3.capacity\" = \"128KiB\"\n"),
      ":5:17: L3 (128KiB) is smaller than L2 inside it (256KiB); list the levels from the core "
      "outward; capacities do not shrink");
  EXPECT_EQ(error("derived_from = \"nowhere\"\n").substr(0, 73),
            ":3:16: derived_from 'nowhere' is neither a file nor a shipped machine; gi");
  EXPECT_EQ(error("derived_from = \"i7-6700k\"\n[core]\n").substr(0, 47),
            ":4:2: unknown key 'core' in a derived machine; ");
}

TEST_F(MachineFiles, Machines_that_derive_from_one_another_are_an_error) {
  const fs::path a = write("a.toml", "schema = 1\nname = \"a\"\nderived_from = \"b.toml\"\n");
  write("b.toml", "schema = 1\nname = \"b\"\nderived_from = \"a.toml\"\n");
  const std::string what = error_of([&] { load_machine(a); });
  EXPECT_NE(what.find("b.toml:3:16: derived_from"), std::string::npos) << what;
  EXPECT_NE(what.find("leads back to that file"), std::string::npos) << what;
  const fs::path self =
      write("self.toml", "schema = 1\nname = \"a\"\nderived_from = \"self.toml\"\n");
  EXPECT_THROW(load_machine(self), InputError);
}

}  // namespace
}  // namespace tcsim
