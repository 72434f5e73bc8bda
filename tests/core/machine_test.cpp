// Machines: files in and out, what check() refuses, knobs, and the shipped machines.
#include "core/machine/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/machine/library.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

const std::string head = "schema = 1\nname = \"small\"\n";  // lines 1 and 2
const std::string core_table =                              // lines 3 to 8
    "[core]\nfrequency = \"2GHz\"\nvector_bits = 256\nvector_registers = 16\n"
    "fma_per_cycle = 2\nfma_latency = 4\n";
const std::string memory =
    "[[level]]\nname = \"memory\"\nkind = \"memory\"\nbandwidth = \"4GB/s\"\n";

// A cache's table begins in line 9 of file_with() and its keys in line 11.
std::string cache_with(const std::string& keys) {
  return "[[level]]\nname = \"L1\"\n" + keys + "bandwidth = \"10B/cycle\"\n";
}
std::string file_with(const std::string& keys) {
  return head + core_table + cache_with(keys) + memory;
}
const std::string plain_keys = "capacity = \"32KiB\"\nways = 8\nline = \"64B\"\n";

Machine parse(const std::string& text) { return parse_machine(text, "m.toml"); }

// what() of the Error that f throws.
template <class E = InputError>
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

std::string parse_error(const std::string& text) {
  return error_of([&] { parse(text); });
}

// The shipped files of the source tree, wherever tcsim may be installed.
class MachineFiles : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TCSIM_DATA_DIR", TCSIM_SOURCE_DIR, 1);
    folder_ =
        fs::path(testing::TempDir()) / ("tcsim_machine_" + std::to_string(std::random_device{}()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    unsetenv("TCSIM_DATA_DIR");
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(MachineFiles, Shipped_machines_hold_their_published_figures) {
  const Machine xeon = find_machine("e5-2680v4");
  // acmtc-sc19, Table 3.
  const std::vector<double> xeon_bandwidths{25.28, 19.68, 11.44, 6.08};
  ASSERT_EQ(xeon.levels.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(xeon.levels[i].bandwidth,
              (Figure<Bandwidth>{{xeon_bandwidths[i], Bandwidth::Unit::bytes_per_cycle},
                                 Origin::published,
                                 "acmtc-sc19, Table 3"}));
  }
  // 35 MiB / (20 x 64) = 28672; 256 KiB / (8 x 64) = 512; 32 KiB / (8 x 64) = 64.
  EXPECT_EQ(xeon.levels[0].sets(), 64);
  EXPECT_EQ(xeon.levels[1].sets(), 512);
  EXPECT_EQ(xeon.levels[2].sets(), 28672);
  EXPECT_EQ(xeon.levels[2].lines(), Lines(573440));
  EXPECT_EQ(xeon.levels[2].shared_by, 14);
  // 2 flops x 4 lanes x 2 FMA x 2.4e9; twice the lanes for f32.
  EXPECT_DOUBLE_EQ(xeon.peak(Bytes(8)).value(), 38.4e9);
  EXPECT_DOUBLE_EQ(xeon.peak(Bytes(4)).value(), 76.8e9);
  EXPECT_DOUBLE_EQ(xeon.bandwidth(LevelId{3}).value(), 6.08 * 2.4e9);

  const Machine desktop = find_machine("i7-6700k");
  const std::vector<double> desktop_bandwidths{19.36, 18.32, 12.8, 6.4};
  ASSERT_EQ(desktop.levels.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(desktop.levels[i].bandwidth.value.value, desktop_bandwidths[i]);
  }
  EXPECT_EQ(desktop.levels[1].sets(), 1024);  // 256 KiB / (4 x 64)
  EXPECT_EQ(desktop.levels[2].sets(), 8192);  // 8 MiB / (16 x 64)
  EXPECT_DOUBLE_EQ(desktop.peak(Bytes(8)).value(), 64e9);
}

TEST_F(MachineFiles, A_link_is_named_from_the_inside_out) {
  const Machine m = find_machine("i7-6700k");
  EXPECT_EQ(m.cache_count(), 3);
  EXPECT_EQ(m.link(LevelId{0}), "L1-register");
  EXPECT_EQ(m.link(LevelId{1}), "L1-L2");
  EXPECT_EQ(m.link(LevelId{3}), "L3-memory");
}

TEST_F(MachineFiles, A_machine_is_found_by_name_or_path_and_otherwise_the_names_are_listed) {
  const std::vector<std::string> names = shipped_machines();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::count(names.begin(), names.end(), "e5-2680v4"), 1);
  for (const std::string& name : names) EXPECT_EQ(find_machine(name).name, name);
  const fs::path file = write("mine.toml", file_with(plain_keys));
  EXPECT_EQ(find_machine(file.string()).name, "small");
  const std::string error = error_of<UsageError>([] { find_machine("e5-2680"); });
  EXPECT_NE(error.find("'e5-2680': no such machine"), std::string::npos) << error;
  EXPECT_NE(error.find("e5-2680v4, i7-6700k"), std::string::npos) << error;
}

TEST_F(MachineFiles, A_data_folder_that_is_none_is_an_error_and_not_passed_over) {
  setenv("TCSIM_DATA_DIR", folder_.c_str(), 1);
  EXPECT_THROW(data_dir(), InputError);
}

TEST_F(MachineFiles, A_missing_file_is_named) {
  EXPECT_EQ(error_of([&] { load_machine(folder_ / "none.toml"); }),
            (folder_ / "none.toml").string() + ": cannot be read; give the path of a machine file");
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
            "m.toml:9:1: L1: capacity 32KiB with 9 ways and lines of 64B gives 56.8889 sets; a "
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

TEST(MachineToml, Faults_are_told_with_their_place_and_mend) {
  const auto with = [](const std::string& key) { return file_with(key + "\n" + plain_keys); };
  EXPECT_EQ(parse_error(with("asociativity = 8")),
            "m.toml:11:1: unknown key 'asociativity' in [[level]]; known are name, kind, origin, "
            "source, capacity, sets, ways, line, replacement, inclusion, write, write_allocate, "
            "shared_by, bandwidth, latency");
  EXPECT_EQ(parse_error(with("replacement = \"fifo\"")),
            "m.toml:11:15: replacement 'fifo' is unknown; known are lru");
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
            "m.toml:9:1: a machine of 1 levels; give at least one cache, then one memory or disk");
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

Machine valid() { return parse(file_with(plain_keys)); }

TEST(MachineCheck, Machines_that_cannot_be_are_refused) {
  const auto refused = [](const std::function<void(Machine&)>& spoil) {
    Machine m = valid();
    Level l2 = m.levels[0];
    l2.name = "L2";
    l2.capacity.value = Bytes(65536);
    m.levels.insert(m.levels.begin() + 1, l2);
    check(m, "p");  // sound before
    spoil(m);
    return error_of([&] { check(m, "p"); });
  };
  EXPECT_EQ(refused([](Machine& m) { m.levels.clear(); }),
            "p: a machine of 0 levels; give at least one cache, then one memory or disk");
  EXPECT_EQ(refused([](Machine& m) { m.levels[1].name = "L1"; }),
            "p: two levels are named L1; give each level a name of its own");
  EXPECT_EQ(refused([](Machine& m) { m.levels[1].capacity.value = Bytes(16384); }),
            "p: L2 (16KiB) is smaller than L1 inside it (32KiB); list the levels from the core "
            "outward; capacities do not shrink");
  // 10 B/cycle x 2 GHz = 20 GB/s.
  EXPECT_EQ(refused([](Machine& m) { m.levels[2].bandwidth.value.value = 20.5e9; }),
            "p: memory (20.5GB/s) is faster than L2 inside it (10B/cycle); check the units; an "
            "outer level is not faster than the level inside it");
  EXPECT_EQ(refused([](Machine& m) { m.levels[2].kind = LevelKind::scratchpad; }),
            "p: memory is a scratchpad and the last level; a machine has caches, from the core "
            "outward, then one memory or disk");
  EXPECT_EQ(refused([](Machine& m) { m.levels[1].kind = LevelKind::memory; }),
            "p: L2 is a memory and not the last level; a machine has caches, from the core "
            "outward, then one memory or disk");
  EXPECT_EQ(refused([](Machine& m) { m.levels.pop_back(); }),
            "p: L2 is a cache and the last level; a machine has caches, from the core outward, "
            "then one memory or disk");
  EXPECT_EQ(
      refused([](Machine& m) { m.levels[1].line.value = Bytes(48); }),
      "p: L2 has lines of 48 bytes; a line is a power of two from 8 to 4096 bytes, such as 64B");
  const std::vector<std::function<void(Machine&)>> spoilers{
      [](Machine& m) { m.levels[1].ways.value = 0; },
      [](Machine& m) { m.levels[1].capacity.value = Bytes(0); },
      [](Machine& m) { m.levels[1].capacity.value = Bytes(65600); },
      [](Machine& m) { m.levels[1].bandwidth.value.value = 0; },
      [](Machine& m) { m.levels[1].bandwidth.value.value = std::nan(""); },
      [](Machine& m) { m.levels[1].shared_by = 0; },
      [](Machine& m) { m.levels[1].latency = Figure<Cycles>{}; },
      [](Machine& m) { m.levels[1].name = "core"; },
      [](Machine& m) { m.levels[1].name = "L.2"; },
      [](Machine& m) { m.levels[1].name = ""; },
      [](Machine& m) { m.levels[2].ways.value = 8; },
      [](Machine& m) { m.core.frequency.value = Hertz(0); },
      [](Machine& m) { m.core.vector_bits.value = 192; },
      [](Machine& m) { m.core.vector_registers.value = 0; },
      [](Machine& m) { m.core.fma_per_cycle.value = -1; },
      [](Machine& m) { m.core.fma_latency.value = Cycles(0); }};
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    EXPECT_TRUE(refused(spoilers[i]).starts_with("p: ")) << "spoiler " << i;
  }
  // Equal neighbours are a machine.
  EXPECT_EQ(refused([](Machine& m) { m.levels[1].capacity.value = Bytes(32768); }), "no error");
  EXPECT_EQ(refused([](Machine& m) { m.levels[2].bandwidth.value.value = 20e9; }), "no error");
}

// A valid machine with every field at random.
class RandomMachine {
 public:
  explicit RandomMachine(std::uint64_t seed) : random_(seed) {}

  Machine next() {
    Machine m;
    m.name = text();
    m.description = text();
    m.accounting = {text(), flip(), flip(), flip()};
    m.core.frequency = figure(Hertz(real(3, 13)));
    m.core.vector_bits = figure(64 << number(0, 5));
    m.core.vector_registers = figure(number(1, 64));
    m.core.fma_per_cycle = figure(real(-3, 3));
    m.core.fma_latency = figure(Cycles(real(-8, 12)));
    double bandwidth = 1e12;
    std::int64_t sets = 1;
    const int caches = number(1, 4);
    for (int i = 0; i <= caches; ++i) {
      Level l;
      l.name = "L" + std::to_string(i);
      l.inclusion = std::array{Inclusion::inclusive, Inclusion::exclusive,
                               Inclusion::neither}[static_cast<std::size_t>(number(0, 2))];
      l.write = flip() ? WritePolicy::write_back : WritePolicy::write_through;
      l.write_allocate = flip();
      l.shared_by = number(1, 100);
      if (i < caches) {
        // Ways at most triple and lines at most quadruple from level to level; 13 > 3 x 4.
        sets *= number(13, 1000);
        l.ways = figure<std::int64_t>(number(8, 24));
        l.line = figure(Bytes(32 << number(0, 2)));
        l.capacity = figure(Bytes(sets * l.ways.value * l.line.value.value()));
      } else {
        l.kind = flip() ? LevelKind::memory : LevelKind::disk;
        l.capacity = figure(Bytes(flip() ? 0 : std::int64_t{1} << 60));
      }
      bandwidth *= 1 - 0.9 * unit_(random_);
      const double frequency = m.core.frequency.value.value();
      l.bandwidth = figure(
          flip() ? Bandwidth{bandwidth, Bandwidth::Unit::bytes_per_second}
                 : Bandwidth{bandwidth / frequency * 0.999999, Bandwidth::Unit::bytes_per_cycle});
      bandwidth = l.bandwidth.value.at(m.core.frequency.value).value();
      if (flip()) l.latency = figure(Cycles(real(-8, 12)));
      m.levels.push_back(l);
    }
    return m;
  }

 private:
  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  bool flip() { return number(0, 1) == 1; }
  // Powers of ten between the two exponents.
  double real(double low, double high) { return std::pow(10, low + (high - low) * unit_(random_)); }
  std::string text() {
    static const std::vector<std::string> pieces{"a", " ", "\"", "\\", "\n", "\t",   "'",
                                                 "#", "é", "=",  "{",  "]",  "\x7f", "1"};
    std::string s;
    for (int n = number(0, 6); n > 0; --n) {
      s += pieces[static_cast<std::size_t>(number(0, static_cast<int>(pieces.size()) - 1))];
    }
    return s;
  }
  template <class T>
  Figure<T> figure(T value) {
    return {value,
            std::array{Origin::measured, Origin::vendor, Origin::published, Origin::assumed,
                       Origin::hypothetical}[static_cast<std::size_t>(number(0, 4))],
            flip() ? text() : ""};
  }

  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_;
};

TEST(MachineToml, What_is_written_reads_back_as_the_same_machine) {
  const std::uint32_t seed = std::random_device{}();
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

TEST(MachineHash, Names_and_origins_leave_it_alone_and_every_figure_changes_it) {
  const Machine m = valid();
  Machine renamed = m;
  renamed.name = "other";
  renamed.description = "other";
  renamed.accounting.name = "other";
  renamed.levels[0].capacity.origin = Origin::vendor;
  renamed.levels[0].capacity.source = "other";
  EXPECT_EQ(content_hash(renamed), content_hash(m));
  EXPECT_EQ(content_hash(m).size(), 16u);
  EXPECT_EQ(content_hash(m).find_first_not_of("0123456789abcdef"), std::string::npos);

  const std::vector<std::function<void(Machine&)>> changes{
      [](Machine& c) { c.levels[0].name = "l1"; },
      [](Machine& c) { c.levels[1].kind = LevelKind::disk; },
      [](Machine& c) { c.levels[0].capacity.value = Bytes(65536); },
      [](Machine& c) { c.levels[0].ways.value = 4; },
      [](Machine& c) { c.levels[0].line.value = Bytes(128); },
      [](Machine& c) { c.levels[0].inclusion = Inclusion::inclusive; },
      [](Machine& c) { c.levels[0].write = WritePolicy::write_through; },
      [](Machine& c) { c.levels[0].write_allocate = false; },
      [](Machine& c) { c.levels[0].shared_by = 2; },
      [](Machine& c) { c.levels[0].bandwidth.value.value = std::nextafter(10, 11); },
      [](Machine& c) { c.levels[0].bandwidth.value.unit = Bandwidth::Unit::bytes_per_second; },
      [](Machine& c) {
        c.levels[0].latency = Figure<Cycles>{Cycles(4), Origin::assumed, ""};
      },
      [](Machine& c) { c.core.frequency.value = Hertz(2.1e9); },
      [](Machine& c) { c.core.vector_bits.value = 512; },
      [](Machine& c) { c.core.vector_registers.value = 32; },
      [](Machine& c) { c.core.fma_per_cycle.value = 1; },
      [](Machine& c) { c.core.fma_latency.value = Cycles(5); },
      [](Machine& c) { c.accounting.write_backs = false; },
      [](Machine& c) { c.accounting.compute_roof = false; },
      [](Machine& c) { c.accounting.packing = false; }};
  std::set<std::string> hashes{content_hash(m)};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Machine changed = m;
    changes[i](changed);
    EXPECT_TRUE(hashes.insert(content_hash(changed)).second) << "change " << i;
  }
}

TEST_F(MachineFiles, A_derived_machine_applies_its_knobs_in_the_order_of_the_file) {
  const fs::path file = write("bigger.toml",
                              "schema = 1\nname = \"bigger\"\nderived_from = \"i7-6700k\"\n[set]\n"
                              "\"memory.bandwidth\" = \"1.5x\"\n"
                              "\"L3.capacity\" = \"12MiB\"\nL3.ways = 12\n"
                              "\"core.fma_per_cycle\" = 1.5\n");
  const Machine m = load_machine(file);
  EXPECT_EQ(m.name, "bigger");
  EXPECT_EQ(m.description, "Intel Core i7-6700K (Skylake), one core");
  EXPECT_DOUBLE_EQ(m.levels[3].bandwidth.value.value, 9.6);
  EXPECT_EQ(m.levels[3].bandwidth.origin, Origin::hypothetical);
  EXPECT_EQ(m.levels[2].capacity.value, Bytes(12 << 20));
  EXPECT_EQ(m.levels[2].ways.value, 12);
  EXPECT_EQ(m.core.fma_per_cycle.value, 1.5);
  EXPECT_EQ(m.levels[0], find_machine("i7-6700k").levels[0]);
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
      ":5:17: L4.capacity: no such knob; the knobs are L1|L2|L3|memory.{capacity, ways, line, "
      "bandwidth, shared_by, latency} and core.{frequency, vector_bits, vector_registers, "
      "fma_per_cycle, fma_latency}");
  EXPECT_EQ(
      error("derived_from = \"i7-6700k\"\n[set]\n\"L3.capacity\" = \"128KiB\"\n"),
      ":4:1: L3 (128KiB) is smaller than L2 inside it (256KiB); list the levels from the core "
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

TEST_F(MachineFiles, Knobs_set_figures_and_make_them_hypothetical) {
  const Machine m = find_machine("e5-2680v4");
  const auto set = [&](const char* knob) { return override_knob(m, knob).machine; };
  EXPECT_EQ(set("L3.capacity=70MiB").levels[2].capacity,
            (Figure<Bytes>{Bytes(73400320), Origin::hypothetical, ""}));
  EXPECT_EQ(set("L3.capacity = 2x").levels[2].capacity.value, Bytes(73400320));
  EXPECT_EQ(set("L1.bandwidth=100GB/s").levels[0].bandwidth.value,
            (Bandwidth{100e9, Bandwidth::Unit::bytes_per_second}));
  EXPECT_EQ(set("L1.bandwidth=0.5x").levels[0].bandwidth.value,
            (Bandwidth{12.64, Bandwidth::Unit::bytes_per_cycle}));
  EXPECT_EQ(set("L3.shared_by=1").levels[2].shared_by, 1);
  EXPECT_EQ(set("L2.latency=12").levels[1].latency,
            (Figure<Cycles>{Cycles(12), Origin::hypothetical, ""}));
  EXPECT_EQ(set("memory.capacity=64GiB").levels[3].capacity.value, Bytes(std::int64_t{64} << 30));
  EXPECT_EQ(set("core.frequency=3GHz").core.frequency.value, Hertz(3e9));
  EXPECT_EQ(set("core.vector_bits=2x").core.vector_bits.value, 512);
  EXPECT_EQ(set("core.vector_registers=32").core.vector_registers.value, 32);
  EXPECT_EQ(set("core.fma_per_cycle=1.5").core.fma_per_cycle.value, 1.5);
  EXPECT_EQ(set("core.fma_latency=4").core.fma_latency.value, Cycles(4));
  // New ways keep the capacity (and its origin) where that is possible.
  const Level l3 = set("L3.ways=16").levels[2];
  EXPECT_EQ(l3.ways.value, 16);
  EXPECT_EQ(l3.capacity, m.levels[2].capacity);
  EXPECT_EQ(set("L2.line=128B").levels[1].sets(), 256);  // 256 KiB / (8 x 128)
}

TEST_F(MachineFiles, A_capacity_is_rounded_to_whole_sets_and_says_so) {
  const Machine m = find_machine("e5-2680v4");
  // 4 MiB / (20 x 64) = 3276.8 sets; 3277 x 1280 = 4194560.
  const Overridden o = override_knob(m, "L3.capacity=4MiB");
  EXPECT_EQ(o.machine.levels[2].capacity.value, Bytes(4194560));
  EXPECT_EQ(
      o.note,
      "L3.capacity: 4MiB is not a whole number of 20-way sets of 64B lines; 4194560B is used");
  EXPECT_EQ(o.machine.levels[2].capacity.source, "rounded from 4MiB");
  EXPECT_EQ(override_knob(m, "L3.capacity=70MiB").note, "");
  // At least one set of 8 x 64 B.
  EXPECT_EQ(override_knob(m, "L1.capacity=1B").machine.levels[0].capacity.value, Bytes(512));
  // 32 KiB / (3 x 64) = 170.67 sets; 171 x 192 = 32832.
  EXPECT_EQ(override_knob(m, "L1.ways=3").note,
            "L1.ways: 32KiB is not a whole number of 3-way sets of 64B lines; 32832B is used");
  check(override_knob(m, "L1.ways=3").machine, "p");
}

TEST_F(MachineFiles, Knobs_that_cannot_be_set_are_refused_by_name) {
  const Machine m = find_machine("e5-2680v4");
  for (const char* knob : {"L3.capacity",
                           "L3.capacity=",
                           "=4MiB",
                           "L3=4MiB",
                           "L9.capacity=4MiB",
                           "L3.size=4MiB",
                           "core.turbo=1",
                           "L3.capacity=4XB",
                           "L3.capacity=-1x",
                           "L3.capacity=0x",
                           "L3.capacity=boxx",
                           "memory.ways=8",
                           "memory.line=64B",
                           "memory.capacity=2x",
                           "L1.latency=2x",
                           "core.frequency=3",
                           "core.fma_per_cycle=two",
                           "core.fma_per_cycle=0",
                           "core.vector_bits=2.5",
                           "L1.shared_by=99999999999",
                           "L1.ways=9e99x",
                           "L1.ways=9223372036854775807",
                           "memory.bandwidth=1e999x"}) {
    EXPECT_THROW(override_knob(m, knob), UsageError) << knob;
  }
  EXPECT_EQ(error_of<UsageError>([&] { override_knob(m, "L3.capacity=4XB"); }).substr(0, 42),
            "L3.capacity: '4XB': 'XB' is no unit of siz");
}

}  // namespace
}  // namespace tcsim
