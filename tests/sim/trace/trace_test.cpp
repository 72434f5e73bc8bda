#include "sim/trace/trace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>
#include <sstream>

#include "core/error.hpp"
#include "sim/simulate_trace.hpp"
#include "sim/trace/feed.hpp"
#include "tests/sim/system_twin.hpp"

namespace tcsim::sim {
namespace {

std::vector<TraceRecord> read_all(const std::string& bytes,
                                  std::optional<TraceFormat> format = {}) {
  const auto reader = read_trace(bytes_of(bytes, "t"), "t", format);
  std::vector<TraceRecord> all;
  for (TraceRecord r; reader->next(r);) all.push_back(r);
  return all;
}

std::string error_of(const std::string& bytes, std::optional<TraceFormat> format = {}) {
  try {
    read_all(bytes, format);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::vector<TraceRecord> records(std::initializer_list<TraceRecord> list) { return list; }

TEST(Din, Reads_labels_addresses_and_sizes) {
  EXPECT_EQ(read_all("0 1000\n1 1008 8\n2 fffffffff0 what follows is not for us\r\n\nr 10 10\n"),
            records({{AccessKind::read, 0x1000, 4},
                     {AccessKind::write, 0x1008, 8},
                     {AccessKind::instruction, 0xfffffffff0, 4},
                     {AccessKind::read, 0x10, 16}}));
}

TEST(Din, Names_the_line_that_is_malformed) {
  EXPECT_EQ(error_of("0 10\n4 20\n"),
            "t:2: the label '4' is not known; use 0 or r (read), 1 or w (write), 2 or i "
            "(instruction)");
  EXPECT_EQ(error_of("0 10\n\n0\n"),
            "t:3: a blank is missing behind the label at ''; write LABEL ADDRESS");
  EXPECT_EQ(error_of("0 xyz\n"),
            "t:1: an address is missing at 'xyz'; write it in hexadecimal digits");
  EXPECT_EQ(error_of("0 12345678901234567\n"),
            "t:1: the address does not fit 64 bits; give a shorter one");
  EXPECT_EQ(error_of("0 10 0\n"), "t:1: an access of 0 bytes; give 1 to 1048576");
}

// As valgrind 3.19 prints it.
TEST(Lackey, Reads_what_valgrind_prints) {
  EXPECT_EQ(read_all("==12== Lackey, an example Valgrind tool\n==12== \nI  04001100,3\n"
                     " S 1ffeffe7e8,8\n L 04030d50,8\n M 0421b658,4\n==12== \n"),
            records({{AccessKind::instruction, 0x4001100, 3},
                     {AccessKind::write, 0x1ffeffe7e8, 8},
                     {AccessKind::read, 0x4030d50, 8},
                     {AccessKind::modify, 0x421b658, 4}}));
}

TEST(Lackey, Names_the_line_that_is_malformed) {
  EXPECT_EQ(error_of("I  04001100,3\n L 04001100 3\n"),
            "t:2: a comma is missing at ' 3'; write ADDRESS,BYTES");
  EXPECT_EQ(error_of("I  04001100,3\n Q 1,1\n"),
            "t:2: 'Q 1,1' is no access; use I (instruction), L (load), S (store) or M (modify)");
  EXPECT_EQ(error_of(" L 1,1x\n"), "t:1: 'x' is too much; end the line here");
}

TEST(Trace, What_is_no_trace_is_refused) {
  EXPECT_EQ(error_of("hello\n"),
            "t:1: it is neither a din, a lackey nor a binary trace; name one of these, or say "
            "which it is with --trace-format");
  EXPECT_EQ(read_all("").size(), 0u);
}

// By hand: a read of 8 bytes at 0x10; then a run of 3 writes from 0x10 + 4, 64 bytes apart.
TEST(Binary, Is_written_as_documented) {
  std::ostringstream out;
  TraceWriter writer(out);
  writer.write(AccessKind::read, 0x10, 8);
  for (std::uint64_t i = 0; i < 3; ++i) writer.write(AccessKind::write, 0x14 + 64 * i, 8);
  writer.flush();
  const std::string expected = {0, 8, 0x20, 1 | 4 | 8, 8, static_cast<char>(0x80), 1, 1};
  EXPECT_EQ(out.str(), "TCSIMTR1" + expected);
  EXPECT_EQ(read_all(out.str()),
            records({{AccessKind::read, 0x10, 8, 0, 1}, {AccessKind::write, 0x14, 8, 64, 3}}));
}

TEST(Binary, Names_the_record_that_is_malformed) {
  const std::string good = "TCSIMTR1" + std::string{0, 8, 0x20};
  EXPECT_EQ(error_of(good + std::string{17}),
            "t: record 2 (up to byte 12): its first byte is 17; it has to be 0 to 15");
  EXPECT_EQ(error_of(good + std::string{0, 8}),
            "t: record 2 (up to byte 13): it ends early; write the trace again");
  EXPECT_EQ(error_of("TCSIMTR1" + std::string{8, 0}),
            "t: record 1 (up to byte 9): it has as many bytes as the record before, and is the "
            "first one; clear bit 3");
  EXPECT_EQ(error_of(good + std::string{8, 0x21}),
            "t: record 2 (up to byte 13): an access goes beyond the addresses; let all lie within "
            "64 bits");
  EXPECT_EQ(error_of(good + std::string{0} + std::string(10, static_cast<char>(0xFF))),
            "t: record 2 (up to byte 22): a number does not fit 64 bits; write the trace again");
  EXPECT_EQ(error_of("TCSIM", TraceFormat::binary),
            "t: it does not begin with TCSIMTR1; name a trace in tcsim's binary format");
}

struct TracedAccess {
  AccessKind kind;
  std::uint64_t address;
  std::uint32_t bytes;
  bool operator==(const TracedAccess&) const = default;
};

std::vector<TracedAccess> random_accesses(std::mt19937_64& random, int count) {
  std::vector<TracedAccess> all;
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::uint64_t address = 0, stride = 0;
  while (static_cast<int>(all.size()) < count) {
    if (below(3) == 0) {
      address = below(10) == 0 ? random() / 2 : below(1 << 20);
      stride = below(200);
    }
    all.push_back({static_cast<AccessKind>(below(4)), address,
                   static_cast<std::uint32_t>(1 + below(below(2) ? 8 : 300))});
    for (std::uint64_t i = below(6); i > 0; --i) {
      address += stride;
      all.push_back({all.back().kind, address, all.back().bytes});
    }
  }
  return all;
}

std::string written(const std::vector<TracedAccess>& accesses) {
  std::ostringstream out;
  TraceWriter writer(out);
  for (const TracedAccess& a : accesses) writer.write(a.kind, a.address, a.bytes);
  writer.flush();
  return out.str();
}

std::string gzipped(const std::string& text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd_compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(Binary, Reads_back_what_was_written_plain_and_compressed) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto accesses = random_accesses(random, 3000);
    const std::string plain = written(accesses);
    const std::string half1 = plain.substr(0, plain.size() / 2), half2 = plain.substr(half1.size());
    for (const std::string& bytes :
         {plain, gzipped(plain), zstd_compressed(plain), gzipped(half1) + gzipped(half2),
          zstd_compressed(half1) + zstd_compressed(half2)}) {
      std::vector<TracedAccess> back;
      for (const TraceRecord& r : read_all(bytes)) {
        for (std::uint64_t i = 0; i < r.count; ++i) {
          back.push_back({r.kind, r.address + static_cast<std::uint64_t>(r.stride) * i, r.bytes});
        }
      }
      ASSERT_EQ(back, accesses);
    }
  }
}

// A text of these accesses; those that din cannot say become reads.
std::string random_lines(std::mt19937_64& random, std::vector<TracedAccess>& accesses, bool din) {
  const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
  std::string text;
  for (TracedAccess& a : accesses) {
    if (din && a.kind == AccessKind::modify) a.kind = AccessKind::read;
    const auto kind = static_cast<std::size_t>(a.kind);
    std::string address = one_in(9)   ? fmt::format("{:X}", a.address)
                          : one_in(9) ? fmt::format("0x{:x}", a.address)
                          : one_in(9) ? fmt::format("{:020x}", a.address)
                                      : fmt::format("{:08x}", a.address);
    if (one_in(40)) text += din ? "\n" : "==12== words\n\n";
    if (din) {
      text += (one_in(9) ? "rw-i" : "01-2")[kind];
      text += one_in(9) ? "\t" : " ";
      if (one_in(3)) a.bytes = 4;
      text += address;
      if (a.bytes != 4 || one_in(3)) {
        text += fmt::format(" {:x}{}", a.bytes, one_in(9) ? " 7 more" : "");
      }
    } else {
      const bool code = a.kind == AccessKind::instruction;
      if (!code || one_in(9)) text += ' ';
      text += std::string("LSMI")[kind];
      text += code && !one_in(9) ? "  " : " ";
      text += fmt::format("{},{}", address, a.bytes);
      if (one_in(9)) text += ' ';
    }
    text += one_in(9) ? "\r\n" : "\n";
  }
  return text;
}

// Batches hold the accesses of next(), in their order, or end in the same error.
TEST(Batches, Hold_what_the_records_hold) {
  const auto in_batches = [](const std::string& bytes) {
    std::vector<std::unique_ptr<TraceReader>> one;
    one.push_back(read_trace(bytes_of(bytes, "t"), "t"));
    TraceMerger merger(one, 1);
    std::vector<TracedAccess> all;
    for (TraceBatch batch; merger.next(batch);) {
      auto run = batch.runs().begin();
      for (const TraceBatch::Access& a : batch.accesses()) {
        const TraceBatch::Run r = a.is_run ? *run++ : TraceBatch::Run{};
        EXPECT_LE(r.count, TraceBatch::longest_run);
        for (std::uint64_t i = 0; i < r.count; ++i) {
          all.push_back({a.kind, a.address + static_cast<std::uint64_t>(r.stride) * i, a.bytes});
        }
      }
    }
    return all;
  };
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    auto accesses = random_accesses(random, seed % 3 == 0 ? 30000 : 2000);
    const std::string bytes = written(accesses);
    ASSERT_EQ(in_batches(bytes), accesses);
    std::string text;
    for (const TracedAccess& a : accesses) {
      text += fmt::format("{} {:x},{}\n", std::string("LSMI")[static_cast<std::size_t>(a.kind)],
                          a.address, a.bytes);
    }
    ASSERT_EQ(in_batches(text), accesses);
    const auto expect_the_same_of = [&](std::string damaged, std::size_t from) {
      damaged[from + random() % (damaged.size() - from)] = static_cast<char>(random());
      const std::string expected = error_of(damaged);
      std::string error;
      try {
        in_batches(damaged);
      } catch (const InputError& e) {
        error = e.what();
      }
      ASSERT_EQ(error, expected);
    };
    ASSERT_NO_FATAL_FAILURE(expect_the_same_of(bytes, 8));
    // As valgrind and Dinero's tools write them, and not.
    for (const bool din : {false, true}) {
      const std::string lines = random_lines(random, accesses, din);
      ASSERT_EQ(in_batches(lines), accesses);
      ASSERT_NO_FATAL_FAILURE(expect_the_same_of(lines, 0));
    }
  }
  std::ostringstream out;
  TraceWriter writer(out);
  for (std::uint64_t i = 0; i < 200000; ++i) writer.write(AccessKind::read, 3 * i, 2);
  writer.flush();
  EXPECT_EQ(in_batches(out.str()).size(), 200000u);
}

TEST(Compressed, Damage_and_early_ends_are_named) {
  std::mt19937_64 random(1);
  const std::string plain = written(random_accesses(random, 3000));
  for (const auto& whole : {gzipped(plain), zstd_compressed(plain)}) {
    EXPECT_NE(error_of(whole.substr(0, whole.size() / 2)).find("it ends early"), std::string::npos);
    std::string damaged = whole;
    for (std::size_t i = 20; i < 60; ++i) damaged[i] = static_cast<char>(~damaged[i]);
    EXPECT_NE(error_of(damaged), "");
  }
  EXPECT_THROW(open_trace("/nonexistent/trace"), InputError);
}

LevelConfig cache_level(std::int64_t sets, std::int64_t ways) {
  LevelConfig l;
  l.name = "L";
  l.sets = sets;
  l.ways = ways;
  return l;
}

std::vector<std::unique_ptr<TraceReader>> readers(const std::vector<std::string>& texts) {
  std::vector<std::unique_ptr<TraceReader>> all;
  for (const auto& text : texts) all.push_back(read_trace(bytes_of(text, "t"), "t"));
  return all;
}

// Two lines read, one of them modified; the instruction is left out.
TEST(Simulate_trace, Counts_what_a_trace_does) {
  const auto traces = readers({" L 0,8\nI  1000,4\n L 40,8\n M 8,4\n"});
  const TraceSimulation s = simulate(traces, SystemConfig{"t", {cache_level(1, 2)}});
  EXPECT_EQ(s.records, 4);
  EXPECT_EQ(s.accesses, 4);
  EXPECT_EQ(s.levels[0].hits, Lines(2));
  EXPECT_EQ(s.levels[0].misses, Lines(2));
  EXPECT_EQ(s.levels[0].write_backs, Lines(1));
  EXPECT_EQ(s.bytes[0].in, Bytes(128));
  EXPECT_EQ(s.bytes[0].out, Bytes(64));
}

// One line each way round: in the same cache the instruction throws the datum out, with caches of
// their own both stay, and the second level sees both.
TEST(Simulate_trace, Instructions_share_the_innermost_cache_or_have_one_of_their_own) {
  const std::string text = "I  0,4\n L 40,8\nI  0,4\n L 40,8\n";
  const SystemConfig config{"t", {cache_level(1, 1), cache_level(1, 4)}};
  const TraceSimulation unified =
      simulate(readers({text}), config, {.instructions = Instructions::unified});
  EXPECT_EQ(unified.levels[0].misses, Lines(4));
  const TraceSimulation split =
      simulate(readers({text}), config, {.instructions = Instructions::split});
  EXPECT_EQ(split.levels[0].misses, Lines(1));
  EXPECT_EQ(split.instructions.misses, Lines(1));
  EXPECT_EQ(split.levels[1].misses, Lines(2));
}

// Two cores with two lines each, through a shared cache of two lines. Taking turns access by
// access each throws the other's line out; two at a time the second access of each finds its line.
TEST(Simulate_trace, Cores_take_turns_of_the_grain) {
  LevelConfig shared = cache_level(1, 1);
  shared.shared_by = 2;
  const SystemConfig config{"t", {shared}, 2};
  const std::string a = "0 0\n0 4\n0 8\n0 c\n", b = "0 40\n0 44\n0 48\n0 4c\n0 50\n";
  EXPECT_EQ(simulate(readers({a, b}), config, {.grain = 1}).levels[0].hits, Lines(1));
  EXPECT_EQ(simulate(readers({a, b}), config, {.grain = 2}).levels[0].hits, Lines(5));
}

TEST(Simulate_trace, Equals_the_twin_on_random_traces) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    auto accesses = random_accesses(random, 2000);
    SystemConfig config{"t", {cache_level(7, 3), cache_level(16, 4)}};
    config.levels[1].inclusion = seed % 2 ? Inclusion::inclusive : Inclusion::exclusive;
    const TraceSimulation s =
        simulate(readers({written(accesses)}), config, {.instructions = Instructions::unified});
    twin::System slow(config);
    for (const TracedAccess& a : accesses) {
      const bool reads = a.kind != AccessKind::write;
      const bool writes = a.kind == AccessKind::write || a.kind == AccessKind::modify;
      if (reads) slow.access(0, a.address, a.bytes, false);
      if (writes) slow.access(0, a.address, a.bytes, true);
    }
    slow.drain();
    for (std::size_t l = 0; l < 2; ++l) {
      ASSERT_EQ(s.levels[l].hits, Lines(slow.events[l].hits));
      ASSERT_EQ(s.levels[l].misses, Lines(slow.events[l].misses));
      ASSERT_EQ(s.levels[l].write_backs, Lines(slow.events[l].write_backs));
      ASSERT_EQ(s.levels[l].evictions, Lines(slow.events[l].evictions));
    }
  }
}

// The counts of a naive walk through the traces: one access of one core after the other.
twin::System walked(const std::vector<std::vector<TracedAccess>>& traces, SystemConfig config,
                    const TraceOptions& how) {
  const bool is_split = how.instructions == Instructions::split;
  if (is_split) {
    config.cores *= 2;
    for (std::size_t l = 1; l < config.levels.size(); ++l) config.levels[l].shared_by *= 2;
  }
  twin::System slow(config);
  std::vector<std::size_t> at(traces.size());
  for (bool any = true; any;) {
    any = false;
    for (std::size_t core = 0; core < traces.size(); ++core) {
      for (std::int64_t i = 0; i < how.grain && at[core] < traces[core].size(); ++i) {
        any = true;
        const TracedAccess& a = traces[core][at[core]++];
        const bool code = a.kind == AccessKind::instruction;
        if (code && how.instructions == Instructions::ignore) continue;
        const int of = static_cast<int>(is_split ? 2 * core + code : core);
        if (a.kind != AccessKind::write) slow.access(of, a.address, a.bytes, false);
        if (a.kind == AccessKind::write || a.kind == AccessKind::modify) {
          slow.access(of, a.address, a.bytes, true);
        }
      }
    }
  }
  if (config.drain) slow.drain();
  return slow;
}

// Accesses here and there and runs at strides of all kinds: within a line, by lines, backward,
// unaligned, over several lines, near and far.
std::vector<TracedAccess> random_walks(std::mt19937_64& random, std::size_t count) {
  std::vector<TracedAccess> all;
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const std::uint64_t far = below(2) ? std::uint64_t{1} << 45 : 1 << 14;
  while (all.size() < count) {
    std::uint64_t address = (1 << 20) + (below(8) == 0 ? below(far) : below(1 << 14));
    const std::uint64_t strides[] = {0, 1, 4, 8, 8, 8, 24, 64, 65, 200, 4096, 0 - std::uint64_t{8}};
    const std::uint64_t stride = strides[below(std::size(strides))];
    const auto bytes = static_cast<std::uint32_t>(below(4) ? 8 : 1 + below(400));
    const auto kind = static_cast<AccessKind>(below(4));
    for (std::uint64_t i = below(3) ? 1 : 1 + below(60); i > 0; --i, address += stride) {
      all.push_back({kind, address, bytes});
    }
  }
  return all;
}

void expect_counts(const TraceSimulation& s, const twin::System& slow) {
  for (std::size_t l = 0; l < s.levels.size(); ++l) {
    SCOPED_TRACE(l);
    const LevelCounts none, &code = l == 0 ? s.instructions : none;
    const LevelEvents& e = slow.events[l];
    ASSERT_EQ(s.levels[l].hits + code.hits, Lines(e.hits));
    ASSERT_EQ(s.levels[l].misses + code.misses, Lines(e.misses));
    ASSERT_EQ(s.levels[l].fetches + code.fetches, Lines(e.fetches));
    ASSERT_EQ(s.levels[l].fills + code.fills, Lines(e.fills));
    ASSERT_EQ(s.levels[l].evictions + code.evictions, Lines(e.evictions));
    ASSERT_EQ(s.levels[l].write_backs + code.write_backs, Lines(e.write_backs));
    ASSERT_EQ(s.bytes[l].in, e.bytes_in);
    ASSERT_EQ(s.bytes[l].out, e.bytes_out);
  }
}

// Plain caches of all shapes, with and without vectors, on several threads, with so few line
// numbers that the general engine takes over in the middle, or from the beginning.
TEST(Simulate_trace, Equals_a_naive_walk_in_plain_caches_however_it_goes_about_it) {
  for (unsigned seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto one_of = [&](std::initializer_list<std::int64_t> all) {
      return *(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
    };
    const std::int64_t unit = one_of({1, 4, 16, 16, 32, 64});
    SystemConfig config{"t", {}};
    for (std::uint64_t l = 0; l < 1 + random() % 3; ++l) {
      config.levels.push_back(
          cache_level(unit * one_of({1, 1, 2, 3, 4}), one_of({1, 2, 3, 8, 20})));
    }
    config.drain = random() % 4 != 0;
    TraceOptions how;
    how.instructions = random() % 2 ? Instructions::ignore : Instructions::unified;
    const std::vector<std::vector<TracedAccess>> accesses{random_walks(random, 2500)};
    const std::vector<std::string> trace{written(accesses[0])};
    const twin::System expected = walked(accesses, config, how);
    how.fast = false;
    const TraceSimulation general = simulate(readers(trace), config, how);
    ASSERT_NO_FATAL_FAILURE(expect_counts(general, expected));
    how.fast = true;
    for (const int threads : {1, 2, 4}) {
      for (const std::int64_t numbers : {max_lines, std::int64_t{1} << 18}) {
        how.threads = threads;
        how.line_numbers = numbers;
        ASSERT_EQ(simulate(readers(trace), config, how), general) << threads << " " << numbers;
      }
    }
  }
}

// Several cores, instructions in each of the three ways, any caches, on several threads.
TEST(Simulate_trace, Equals_a_naive_walk_for_several_cores_in_any_caches) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SystemConfig config{"t", {cache_level(8, 2), cache_level(16, 4), cache_level(32, 8)}};
    config.cores = static_cast<int>(1 + random() % 3);
    config.levels[2].shared_by = config.cores;
    for (LevelConfig& l : config.levels) {
      l.replacement = all_replacements[random() % all_replacements.size()];
    }
    config.levels[1 + random() % 2].inclusion = all_inclusions[random() % all_inclusions.size()];
    if (seed % 4 == 0) config.levels[0].prefetch = Prefetch::next_line;
    if (seed % 3 == 0) config.levels[2].index = parse_set_index("0x40240,0x80c80");
    if (seed % 5 == 0) config.levels[0].victim_lines = 2;
    if (seed % 7 == 0) config.levels[1].index = parse_set_index("hashed");
    TraceOptions how;
    how.instructions = static_cast<Instructions>(random() % 3);
    how.grain = static_cast<std::int64_t>(1 + random() % 20);
    std::vector<std::vector<TracedAccess>> accesses;
    std::vector<std::string> traces;
    for (int c = 0; c < config.cores; ++c) {
      accesses.push_back(random_walks(random, 300 + random() % 1000));
      traces.push_back(written(accesses.back()));
    }
    const TraceSimulation alone = simulate(readers(traces), config, how);
    ASSERT_NO_FATAL_FAILURE(expect_counts(alone, walked(accesses, config, how)));
    how.threads = 4;
    ASSERT_EQ(simulate(readers(traces), config, how), alone);
    const TraceAttribution why = attribute(readers(traces), config, how);
    ASSERT_EQ(why.simulation, alone);
    for (std::size_t l = 0; l < config.levels.size(); ++l) {
      ASSERT_EQ(why.levels[l].misses.total(), alone.levels[l].misses);
      Lines requests = why.levels[l].first_uses;
      for (Lines some : why.levels[l].reuse_distances) requests += some;
      ASSERT_EQ(requests, alone.levels[l].hits + alone.levels[l].misses);
    }
    ASSERT_EQ(why.instructions.misses.total(), alone.instructions.misses);
  }
}

// A cyclic walk over three lines in a cache of two: all misses but the first three are for want of
// room. Over two lines of one set in a cache of two sets of one way each: for want of a place.
TEST(Attribute_trace, Tells_capacity_from_conflict) {
  std::string cycle, clash;
  for (int i = 0; i < 10; ++i) {
    cycle += "0 0\n0 40\n0 80\n";
    clash += "0 0\n0 80\n";
  }
  const TraceAttribution full = attribute(readers({cycle}), SystemConfig{"t", {cache_level(1, 2)}});
  EXPECT_EQ(full.levels[0].misses, (MissCauses{Lines(3), Lines(27), Lines(0)}));
  EXPECT_EQ(full.levels[0].reuse_distances, (std::vector{Lines(0), Lines(0), Lines(27)}));
  const TraceAttribution sets = attribute(readers({clash}), SystemConfig{"t", {cache_level(2, 1)}});
  EXPECT_EQ(sets.levels[0].misses, (MissCauses{Lines(2), Lines(0), Lines(18)}));
}

// All classes are no sample: the totals are exact.
TEST(Sample_trace, Of_all_classes_is_exact) {
  std::mt19937_64 random(5);
  const std::string trace = written(random_walks(random, 5000));
  // In 4 slices of 64 sets, by bits below those of the classes, among them and above.
  for (const char* index : {"modulo", "0x11f40,0x202c0"}) {
    SystemConfig config{"t", {cache_level(16, 4), cache_level(256, 1)}};
    config.levels[1].index = parse_set_index(index);
    const TraceSimulation exact = simulate(readers({trace}), config);
    const SampledSimulation all = sample(readers({trace}), config, 16);
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_EQ(all.levels[l].misses.value, static_cast<double>(exact.levels[l].misses.value()));
      EXPECT_EQ(all.levels[l].write_backs.value,
                static_cast<double>(exact.levels[l].write_backs.value()));
      EXPECT_EQ(all.levels[l].misses.error, 0);
    }
  }
}

TEST(Simulate_trace, Stops_when_asked_to) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(simulate(readers({"0 0\n"}), SystemConfig{"t", {cache_level(1, 1)}},
                        {.stop = stop.get_token()}),
               Interrupted);
}

}  // namespace
}  // namespace tcsim::sim
