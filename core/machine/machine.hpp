// A machine: memory levels from the innermost cache out to memory (or disk), and a compute core.
// It is a plain immutable value, read from a TOML file (core/machine/toml.hpp), measured
// (microbench/host.hpp) or derived from another by overrides (core/machine/override.hpp).
// Each figure carries its origin, so that a result can say what it rests on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/measurement.hpp"
#include "core/machine/set_index.hpp"
#include "core/units/quantity.hpp"
#include "core/units/text.hpp"

namespace tcsim {

// Where a figure comes from.
enum class Origin { measured, vendor, published, assumed, hypothetical };

template <class T>
struct Figure {
  T value{};
  Origin origin = Origin::assumed;
  std::string source;  // a paper's table, a manual, a method; may be empty

  bool operator==(const Figure&) const = default;
};

enum class LevelKind { cache, scratchpad, memory, disk };
// Which line leaves a full set.
enum class Replacement { lru, fifo, random, tree_plru, bit_plru, srrip, brrip };
// What a level holds of the levels inside it: neither means that it makes no promise.
enum class Inclusion { inclusive, exclusive, neither };
enum class WritePolicy { write_back, write_through };
// Lines that a level fetches before they are asked for.
enum class Prefetch {
  none,
  next_line,
  stride,
  adjacent_line,
  streamer,
  streamer_and_adjacent_line
};

// Every value of each, in the order in which messages list them.
inline constexpr std::array all_origins{Origin::measured, Origin::vendor, Origin::published,
                                        Origin::assumed, Origin::hypothetical};
inline constexpr std::array all_level_kinds{LevelKind::cache, LevelKind::scratchpad,
                                            LevelKind::memory, LevelKind::disk};
inline constexpr std::array all_replacements{
    Replacement::lru,      Replacement::fifo,  Replacement::random, Replacement::tree_plru,
    Replacement::bit_plru, Replacement::srrip, Replacement::brrip};
inline constexpr std::array all_inclusions{Inclusion::inclusive, Inclusion::exclusive,
                                           Inclusion::neither};
inline constexpr std::array all_write_policies{WritePolicy::write_back, WritePolicy::write_through};
inline constexpr std::array all_prefetches{
    Prefetch::none,          Prefetch::next_line, Prefetch::stride,
    Prefetch::adjacent_line, Prefetch::streamer,  Prefetch::streamer_and_adjacent_line};
// Whether it is a streamer, with others or alone.
constexpr bool streams(Prefetch p) {
  return p == Prefetch::streamer || p == Prefetch::streamer_and_adjacent_line;
}
// Intel 64 and IA-32 Architectures Optimization Reference Manual (248966), "Data Prefetch to the L2
// and Last Level Cache" of Sandy Bridge: up to 20 lines ahead of the load.
inline constexpr int usual_prefetch_ahead = 20;

// One level of memory. `bandwidth` is that of the link to the level inside it (the innermost
// level's link leads to the registers), as a Load-FMA-Store stream sees it (acmtc-sc19, 6.2).
struct Level {
  std::string name;  // "L1", "L2", "memory"
  LevelKind kind = LevelKind::cache;
  Figure<Bytes> capacity;     // of a cache: sets x ways x line; 0: unlimited (memory, disk)
  Figure<std::int64_t> ways;  // of a cache only
  Figure<Bytes> line;         // of a cache only
  Figure<Replacement> replacement{Replacement::lru, Origin::assumed, ""};
  Figure<Inclusion> inclusion{Inclusion::neither, Origin::assumed, ""};
  WritePolicy write = WritePolicy::write_back;
  bool write_allocate = true;
  Prefetch prefetch = Prefetch::none;
  int prefetch_ahead = usual_prefetch_ahead;  // lines; of a streamer
  SetIndex index;
  int victim_lines = 0;  // of a victim cache beside it; 0: there is none
  int shared_by = 1;     // cores that share it
  Figure<Bandwidth> bandwidth;
  std::optional<Figure<Cycles>> latency;        // of a load that hits here
  std::optional<Figure<JoulesPerByte>> energy;  // of moving a byte over the link inward
  // Of the time that packed operands take on the link inward, the share that computation does not
  // hide; without it a usual one for the link's place (core/optimize/exposed.cpp).
  std::optional<Figure<double>> exposed;
  // Bytes that come in while none go out, as a multiple of the bandwidth. At least a half: a
  // Load-FMA-Store stream moves as many bytes out as in.
  Figure<double> loads{1, Origin::assumed, ""};
  // Of explicit levels (core/levels/hierarchy.hpp): the processes that share this level, each with
  // a level inside it and a link to it of its own.
  int processes = 1;
  // Microseconds of each transfer over the link inward, before its first byte.
  Figure<double> transfer{0, Origin::assumed, ""};
  // Nanoseconds of each row of a tile over that link, besides its bytes: elements that are
  // neighbours on both sides.
  Figure<double> row{0, Origin::assumed, ""};
  std::vector<BandwidthSeries> series;  // every measurement of that link

  std::int64_t sets() const { return capacity.value.value() / (ways.value * line.value.value()); }
  Lines lines() const { return Lines(capacity.value / line.value); }
  bool operator==(const Level&) const = default;
};

// The processor on which kernels/ was measured to know what every core is assumed to lose.
inline constexpr const char* usual_overhead_source = "AMD EPYC (Zen 4), one core";

// What a core that runs kernels/ loses beside computing and moving data. It chooses between
// schedules (core/optimize/exposed.hpp); no predicted time has it. docs/kernels.md has how the
// usual figures came about.
struct Overhead {
  static Figure<Cycles> usual(double cycles) {
    return {Cycles(cycles), Origin::assumed, usual_overhead_source};
  }
  Figure<Cycles> pack = usual(1800);    // each time that a pack begins: it waits for memory
  Figure<Cycles> piece = usual(40);     // each page that a pack begins with: its translation
  Figure<Cycles> far_line = usual(40);  // written here and there by a pack beyond the last cache
  Figure<Cycles> far_page = usual(3);   // the same in the last cache, beyond translation's reach
  Figure<Cycles> task = usual(50);      // the tiles of the innermost loop
  Figure<Cycles> call = usual(20);      // each tile of a task
  Figure<Cycles> partial = usual(60);   // on top, of a tile smaller than the kernel
  Figure<Cycles> broken = usual(120);   // on top, of a tile whose rows are not all neighbours in C
  Figure<Cycles> scatter = usual(3);    // a result stored by itself: no rows are neighbours in C
  Figure<Cycles> load = usual(0.5);     // a kernel's load, beside which multiply-adds go on
  // The share by which computation takes longer where the right operand's columns are apart.
  Figure<double> apart{0.03, Origin::assumed, usual_overhead_source};
  // Of the time of C's traffic, but for the innermost link: the share that computing does not hide.
  Figure<double> results{1, Origin::assumed, usual_overhead_source};
  // Where memory decides: the beginning of a piece of C, neighbours in memory, as the number of
  // bytes that memory moves meanwhile; and of one that is far from the piece before.
  Figure<double> result_piece{192, Origin::assumed, "Intel Xeon, one core"};
  Figure<double> far_result_piece{960, Origin::assumed, usual_overhead_source};

  bool operator==(const Overhead&) const = default;
};

struct Core {
  Figure<Hertz> frequency;
  Figure<int> vector_bits;  // 128, 256, 512
  Figure<int> vector_registers;
  Figure<double> fma_per_cycle;  // vector FMA instructions started per cycle
  Figure<Cycles> fma_latency;
  // Of the peak, what contractions of tiles reach whose tensors are in an explicit level.
  Figure<double> efficiency{1, Origin::assumed, ""};
  // Nanoseconds for each byte of those tiles that a statement reads and writes, besides computing.
  Figure<double> tile_byte{0, Origin::assumed, ""};
  // At work at the same time, each on a contraction of its own (the "batched" mode of acmtc-sc19,
  // section 6). Results are those of one of them: view_of_one_core() in core/machine/share.hpp.
  int cores = 1;
  Overhead overhead;
  std::vector<PeakSeries> peaks;  // every measurement of the peak

  bool operator==(const Core&) const = default;
};

// A translation lookaside buffer for data; `ways` equals `entries` where it is fully associative.
struct Tlb {
  std::string name;
  std::int64_t entries = 0;
  std::int64_t ways = 0;
  Bytes page;

  bool operator==(const Tlb&) const = default;
};

// What a printed number counts. The papers disagree with themselves, so every result names it.
struct Accounting {
  std::string name = "honest";
  bool write_backs = true;   // bytes that leave a level count as well as those that enter it
  bool compute_roof = true;  // time is at least the flops at the FMA peak
  // What packing moves counts. Without it an operand still comes in once for its packing: the
  // computation phase of acmtc-sc19's Table 2 begins with cold caches (4.76E6 lines from memory
  // for abcdef-degb-gfac are C's 4718592 and 18432 each of A and B).
  bool packing = true;
  // Bytes between registers and the innermost level take half the time that its bandwidth says.
  // acmtc-sc19 (6.2) measures bandwidths by Load-FMA-Store over a block and divides the block, so a
  // byte that is loaded and stored again counts once, and a load alone is half of that. Elsewhere
  // lines of C do go in and out and count once (write_backs = false); kernels only load. It is the
  // reading by which the example of 6.3 comes out (docs/design.md, "Accounting").
  bool halve_register_loads = false;

  static Accounting honest() { return {}; }
  // acmtc-sc19: cache misses of the computation phase only (Table 2), bandwidth-bound (Eq. 3).
  static Accounting paper() { return {"paper", false, false, false, true}; }
  bool operator==(const Accounting&) const = default;
};

struct Machine {
  std::string name;
  std::string description;
  std::vector<Level> levels;  // innermost first; caches, then exactly one memory (or disk)
  Core core;
  std::vector<Tlb> tlbs;  // first the one that is asked first
  Accounting accounting;
  std::optional<Method> method;      // if it was measured
  std::vector<std::string> remarks;  // what a reader of its figures should know, one sentence each

  int cache_count() const { return static_cast<int>(levels.size()) - 1; }
  const Level& level(LevelId l) const { return levels[static_cast<std::size_t>(index(l))]; }
  // "L1-register", "L1-L2", "L2-L3", "L3-memory": the link that levels[l].bandwidth describes.
  std::string link(LevelId l) const;
  // At which the bytes that the accounting counts pass it: the level's bandwidth, or twice that
  // where the accounting halves loads to the registers.
  BytesPerSecond bandwidth(LevelId l) const {
    const BytesPerSecond rate = level(l).bandwidth.value.at(core.frequency.value);
    return index(l) == 0 && accounting.halve_register_loads ? 2.0 * rate : rate;
  }
  // In which the link moves so many bytes inward and outward, by what loads alone reach and what a
  // Load-FMA-Store stream does: bytes over the bandwidth where Level::loads is 1.
  Seconds link_time(LevelId l, Bytes in, Bytes out) const {
    const double of_loads = 1 / level(l).loads.value;
    const double bytes = of_loads * static_cast<double>(in.value()) +
                         (2 - of_loads) * static_cast<double>(out.value());
    return Seconds(bytes / bandwidth(l).value());
  }
  // 2 x lanes x FMA per cycle x frequency.
  FlopsPerSecond peak(Bytes element) const;

  bool operator==(const Machine&) const = default;
};

// Throws InputError(place, ...) on a machine that cannot be: no level, levels out of order (caches
// and scratchpads, then memories, then disks), a cache whose capacity is not a whole number of
// sets, levels whose capacity shrinks outward, a bandwidth that is not positive or grows outward
// from a cache, two levels of one name, measurements without repetitions. `place` names the machine
// in errors.
void check(const Machine& machine, const std::string& place);

// 16 hex digits over all that changes a result: not name, description, origins, sources, series,
// peaks, method and remarks.
std::string content_hash(const Machine& machine);

const char* to_text(Origin);
const char* to_text(LevelKind);
const char* to_text(Replacement);
const char* to_text(Inclusion);
const char* to_text(WritePolicy);
const char* to_text(Prefetch);

}  // namespace tcsim
