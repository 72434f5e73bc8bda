#include "core/optimize/exposed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"
#include "core/schedule/result_regions.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

Contraction of(const char* label, const char* sizes) {
  return parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
}

// Cycles, at 1 GHz.
double waits(const Contraction& c, const char* text, double bytes_per_cycle = 1,
             std::optional<Cycles> latency = {}, CallsAre calls = CallsAre::walked) {
  Machine m = test::machine({{64, 8}, {1024, 16}});
  for (Level& l : m.levels) {
    l.bandwidth.value.value = bytes_per_cycle;
    if (latency) l.latency = Figure<Cycles>{*latency, Origin::assumed, ""};
  }
  const Schedule s = parse_schedule(text, c, "test");
  return exposed(c, s, predict(c, s, m), m, calls).all().value() * 1e9;
}

// On links that take no time.
double waits_beside_links(const Contraction& c, const char* text,
                          CallsAre calls = CallsAre::walked) {
  return waits(c, text, 1e15, Cycles(0), calls);
}

constexpr const char* apart_in_C =
    "groups m=a n=bc k=k pack A in L2 { pack B in L2 { for n by 4 { for m by 8 { kernel 8x4 } } } "
    "}";

// Cycles in which 256 elements of a tensor are packed: 32 lines, and runs or squares of so many.
constexpr double in_runs_of(double rows) { return 32 * 11 + 256 / rows * 8; }
constexpr double in_squares_of(double elements) { return 32 * 11 + 256 / elements * 50; }

TEST(Exposed, Counts_packs_pages_calls_and_rows_apart) {
  const Contraction c = test::matmul(16, 16, 16);
  // A and B are 256 elements in a row each, and in one page; 4 tasks of 2 calls. Micropanels of B
  // are 8 neighbours, those of A 4 rows that change places with 8 neighbours along k.
  constexpr double packs = 2 * (1800 + 40) + in_runs_of(8) + in_squares_of(4 * 8);
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 4 { "
                                 "for m by 8 { kernel 8x4 } } } }"),
              packs + 4 * 50 + 8 * 20, 1e-3);
  // B in two halves, whose 16 rows are 8 elements each, less than a page apart; 2 tasks of 4 calls.
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=j n=i k=k pack A in L2 { for m by 8 { pack B in L2 { "
                                 "for n by 4 { kernel 8x4 } } } }"),
              packs + 1800 + 40 + 2 * 50 + 8 * 20, 1e-3);
  // Two pieces of k are twice the tasks and calls.
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=j n=i k=k pack A in L2 { pack B in L2 { for k by 8 { "
                                 "for n by 4 { for m by 8 { kernel 8x4 } } } } }"),
              packs + 8 * 50 + 16 * 20, 1e-3);
  // Rows of kernels along i, which are apart in C: they come by way of a buffer.
  constexpr double turned = 2 * (1800 + 40) + in_runs_of(4) + in_squares_of(8 * 8);
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=i n=j k=k pack A in L2 { pack B in L2 { for n by 4 { "
                                 "for m by 8 { kernel 8x4 } } } }"),
              turned + 4 * 50 + 8 * 20 + 256 * 1.5, 1e-3);
  // Where columns are apart as well, one by one. B's are strips of 8, cut by micropanels of 4.
  EXPECT_NEAR(waits_beside_links(of("abc-ak-kbc", "a=16,b=8,c=2,k=16"), apart_in_C),
              turned + 4 * 50 + 8 * (20 + 32 * 3), 1e-3);
}

// 16 rows of 8 places along k, 64 bytes of each: as many pages where they are a page apart, one
// where all of them are in one. Calls for so few places along k as are there then are noted.
TEST(Exposed, Counts_pages_that_a_pack_begins_with) {
  const auto waits_of_rows = [](std::int64_t apart) {
    const Contraction c = parse_contraction("ab-ak-bk", {{'a', 16}, {'b', 16}, {'k', apart}},
                                            Layout::row_major, ElementType::f64);
    return waits_beside_links(c,
                              "groups m=b n=a k=k for k by 8 { pack A in L2 { pack B in L2 { for n "
                              "by 4 { for m by 8 { kernel 8x4 } } } } }") /
           (static_cast<double>(apart) / 8);
  };
  EXPECT_NEAR(waits_of_rows(512) - waits_of_rows(16), 2 * (16 - 1) * 40 + 250, 1e-3);
}

// A region goes to C once for each part of k around it: 1000 x 16 results, 125 KiB with what fills
// columns up, in a block of 20 such.
TEST(Exposed, Moves_results_as_often_as_their_region_comes_back) {
  const Contraction c = of("ba-ak-bk", "a=320,b=1000,k=16");
  const auto moved = [&](const char* loops) {
    const std::string text =
        fmt::format("groups m=b n=a k=k pack A in L2 {{ pack B in L2 {{ {} }} }}", loops);
    const Contraction together = of("ab-ak-bk", "a=320,b=1000,k=16");
    return waits_beside_links(c, text.c_str()) - waits_beside_links(together, text.c_str());
  };
  constexpr double results = 320 * 1000;
  const double once =
      moved("for n by 16 { for k by 8 { for m by 8 { for n by 4 { kernel 8x4 } } } }");
  const double twice =
      moved("for k by 8 { for n by 16 { for m by 8 { for n by 4 { kernel 8x4 } } } }");
  EXPECT_NEAR(once, results * 1.5, 1e-3);
  EXPECT_NEAR(twice, 2 * results * 1.5, 1e-3);
}

// Three tables of 120000 offsets are larger than the second cache; of one row of C at a time they
// are not, nor are those of a tenth.
TEST(Exposed, Tables_of_offsets_that_the_second_cache_does_not_hold_are_read) {
  const auto tables = [](const char* sizes) {
    const Contraction c = of("ab-ab-ba", sizes);
    return waits(c, "groups m=ba for m by 8 { kernel 8x1 }") -
           waits(c, "groups m=b batch=a for batch by 1 { for m by 8 { kernel 8x1 } }");
  };
  EXPECT_NEAR(tables("a=300,b=400"), 3 * 120000 * 8, 0.05 * 3 * 120000 * 8);
  EXPECT_NEAR(tables("a=30,b=400"), 0, 0.05 * 3 * 12000 * 8);
}

TEST(Exposed, Updates_of_C_again_and_again_cost_its_traffic) {
  const Contraction c = test::matmul(64, 64, 64);
  // 64 x 64 elements in and out of L1's link, 7 times more.
  EXPECT_GT(waits(c,
                  "groups m=j n=i k=k pack A in L2 { pack B in L2 { for k by 8 { for n by 4 { for "
                  "m by 8 { kernel 8x4 } } } } }"),
            waits(c,
                  "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 4 { for m by 8 { "
                  "kernel 8x4 } } } }") +
                7 * 2 * 64 * 64 * 8);
}

TEST(Exposed, Reading_in_place_saves_the_pack) {
  const Contraction c = test::matmul(64, 64, 64);
  EXPECT_LT(
      waits(c, "groups m=j n=i k=k pack A in L2 { for m by 8 { for n by 4 { kernel 8x4 } } }"),
      waits(c,
            "groups m=j n=i k=k pack A in L2 { pack B in L2 { for m by 8 { for n by 4 { "
            "kernel 8x4 } } } }"));
}

// A kernel for each place of the batch: noted once where the batch is the outermost loop, and a
// block of its own in each of 4 steps along k.
TEST(Exposed, Blocks_of_calls_take_time_unless_they_are_noted) {
  const Contraction c = of("bi-bki-bk", "b=64,i=8,k=16");
  const auto waited = [&](const char* text, CallsAre are = CallsAre::noted) {
    return waits_beside_links(c, text, are);
  };
  const char* one_block = "groups m=i k=k batch=b for batch by 1 { kernel 8x1 }";
  const double noted = waited(one_block);
  const double again =
      waited("groups m=i k=k batch=b for k by 4 { for batch by 1 { kernel 8x1 } }");
  const double calls = 4 * 64 * (50 + 20), once = 64 * (50 + 20);
  EXPECT_NEAR(again - noted, calls - 0.1 * once + 4 * 64 * 250, 1e-3);
  EXPECT_NEAR(waited(one_block, CallsAre::walked) - noted, 0.9 * once, 1e-3);
}

TEST(Expected, Is_the_slowest_link_or_what_the_core_does_and_waits_for) {
  const Contraction c = test::matmul(64, 64, 64);
  const Schedule s = parse_schedule(
      "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 4 { for m by 8 { kernel 8x4 } } } "
      "}",
      c, "test");
  for (const double slow : {1.0, 1e15}) {
    for (const bool roof : {true, false}) {
      Machine m = test::machine({{64, 8}, {1024, 16}});
      for (Level& l : m.levels) l.bandwidth.value.value = 1e15;
      m.levels[1].bandwidth.value.value = slow;
      m.accounting.compute_roof = roof;
      m.core.cores = 2;
      const Prediction p = predict(c, s, m);
      const Expected e = expected(c, s, p, m);
      EXPECT_EQ(e.slowest, slowest_link(p.timing));
      EXPECT_EQ(e.compute, kernel_time(c, s, m));
      const Exposed waiting = exposed(c, s, p, view_of_one_core(m));
      EXPECT_EQ(e.link(), e.slowest + waiting.pieces);
      EXPECT_EQ(e.core(), e.compute + waiting.traffic + waiting.core);
      EXPECT_EQ(e.total(), std::max(e.link(), e.core()));
      EXPECT_EQ(e.total() == e.link(), slow == 1);
    }
  }
}

// A vector's worth of C per column; A is read once, alone on the link.
TEST(Expected, Loads_alone_have_their_own_rate) {
  const Contraction c = of("i-ki-k", "i=512,k=512");
  const Schedule s = parse_schedule("groups m=i k=k for m by 8 { kernel 8x1 }", c, "test");
  const auto slowest = [&](double loads) {
    Machine m = test::machine({{64, 8}, {1024, 16}});
    m.levels[2].bandwidth.value.value = 0.01;
    m.levels[2].loads.value = loads;
    const Prediction p = predict(c, s, m);
    EXPECT_EQ(p.timing.total, slowest_link(p.timing));
    return expected(c, s, p, m).slowest / p.timing.total;
  };
  EXPECT_EQ(slowest(1), 1);
  // C goes out in 0.2 % of the bytes.
  EXPECT_NEAR(slowest(0.5), 2, 0.01);
  EXPECT_NEAR(slowest(2), 0.5, 0.01);
  EXPECT_GT(slowest(2), 0.5);
  // What comes in and goes out again passes at the bandwidth.
  Machine m = test::machine({{64, 8}});
  m.levels[1].loads.value = 0.6;
  const Seconds both = m.link_time(LevelId{1}, Bytes(640), Bytes(640));
  EXPECT_NEAR(both / (Bytes(1280) / m.bandwidth(LevelId{1})), 1, 1e-12);
}

// Of B, in pieces of 4 places along k: 8 kernels go on behind 7 of their 8.
TEST(Exposed, Going_on_behind_pieces_of_k_takes_time) {
  const char* const text =
      "groups m=j n=i k=kl pack A in L2 { for n by 4 { for m by 8 { kernel 8x4 } } }";
  const Contraction even = of("ij-ikl-klj", "i=16,j=16,k=8,l=4");
  const double at_once = waits_beside_links(of("ij-ikl-lkj", "i=16,j=16,k=8,l=4"), text);
  EXPECT_NEAR(waits_beside_links(even, text), at_once + 8 * 3 * 30, 1e-3);
  // So it does where a link decides.
  const auto core = [&](const Contraction& c) {
    Machine m = test::machine({{64, 8}, {1024, 16}});
    for (Level& l : m.levels) l.bandwidth.value.value = 1;
    const Schedule s = parse_schedule(text, c, "test");
    const Prediction p = predict(c, s, m);
    EXPECT_GT(slowest_link(p.timing), p.timing.compute);
    return exposed(c, s, p, m).core.value() * m.core.frequency.value.value();
  };
  EXPECT_NEAR(core(even), core(of("ij-ikl-lkj", "i=16,j=16,k=8,l=4")) + 8 * 3 * 30, 1e-3);
}

// An outer product, all of it C's traffic: rows from beginning to end, or 8 at a time.
TEST(Exposed, C_in_short_pieces_takes_memory_longer) {
  const Contraction c = of("ij-i-j", "i=512,j=512");
  const double whole = waits(c, "groups m=j n=i for n by 4 { for m by 8 { kernel 8x4 } }");
  const double pieces = waits(c, "groups m=j n=i for m by 8 { for n by 4 { kernel 8x4 } }");
  // C comes and goes over the last of two links: 192 bytes more for each piece of 64, instead of
  // for each row of 4096, both ways. What the operands move besides is a hundredth of it.
  const double traffic = 2 * 512 * 512 * 8;
  EXPECT_NEAR((pieces - whole) / (traffic * (192.0 / 64 - 192.0 / 4096)), 1, 0.02);
  // Where computing decides, that hides behind it.
  EXPECT_NEAR(
      waits(c, "groups m=j n=i for n by 4 { for m by 8 { kernel 8x4 } }", 1e6),
      waits(c, "groups m=j n=i for m by 8 { for n by 4 { kernel 8x4 } }", 1e6) + (128 - 64) * 50,
      10);
}

// A matrix by columns times a vector: beyond the second cache the hardware follows a few columns
// that are read from beginning to end, and neither many of them nor pieces.
TEST(Exposed, A_few_columns_in_place_are_foreseen) {
  const Contraction c = of("i-ki-k", "i=4096,k=64");
  const auto traffic = [&](const char* text) {
    Machine m = test::machine({{64, 8}, {256, 16}, {512, 16}});
    for (Level& l : m.levels) l.bandwidth.value.value = 1;
    const Schedule s = parse_schedule(text, c, "test");
    return exposed(c, s, predict(c, s, m), m).traffic.value();
  };
  const double few = traffic("groups m=i k=k for k by 16 { for m by 8 { kernel 8x1 } }");
  EXPECT_LT(few, traffic("groups m=i k=k for k by 32 { for m by 8 { kernel 8x1 } }"));
  EXPECT_LT(few, traffic("groups m=i k=k for m by 8 { for k by 16 { kernel 8x1 } }"));
}

// Of lines that are asked for a tile of rows before they are read, as many come again as both tiles
// take of the second cache.
TEST(Exposed, What_is_asked_for_too_early_comes_again) {
  const Contraction c = of("i-ki-k", "i=4096,k=1024");
  Machine m = test::machine({{64, 8}, {256, 16}, {512, 16}});
  for (Level& l : m.levels) l.bandwidth.value.value = 1;
  const Schedule s = parse_schedule("groups m=i k=k for m by 8 { kernel 8x1 }", c, "test");
  const Prediction p = predict(c, s, m);
  const double half = exposed(c, s, p, m).traffic.value();
  m.levels[1].capacity.value = 2 * m.levels[1].capacity.value;
  const double quarter = exposed(c, s, p, m).traffic.value();
  // Over both links outside it.
  EXPECT_NEAR((half - quarter) * 1e9, 2.0 * 4096 * 1024 * 8 / 4, 1);
}

// An outer product, line by line: 64 of 8, and 48 of 10, which fill no vectors.
TEST(Exposed, Lines_begin_and_end) {
  EXPECT_NEAR(waits_beside_links(of("ij-i-j", "i=16,j=32"),
                                 "groups m=j n=i for m by 8 { for n by 1 { kernel 8x1 } }"),
              64 * 0.3 * 20, 1e-3);
  EXPECT_NEAR(waits_beside_links(of("ij-i-j", "i=16,j=30"),
                                 "groups m=j n=i for m by 10 { for n by 1 { kernel 10x1 } }"),
              48 * 2 * 0.3 * 20, 1e-3);
}

// Matrices times a vector: what a kernel reads of one lies together, and of the other in pieces.
TEST(Exposed, What_a_kernel_reads_of_one_piece_is_foreseen) {
  const auto traffic = [](const char* label) {
    const Contraction c = of(label, "j=500,k=64,i=32");
    Machine m = test::machine({{64, 8}, {256, 16}, {512, 16}});
    for (Level& l : m.levels) l.bandwidth.value.value = 1;
    const Schedule s = parse_schedule("groups m=ij k=k for m by 32 { kernel 32x1 }", c, "test");
    return exposed(c, s, predict(c, s, m), m).traffic.value();
  };
  EXPECT_LT(traffic("ji-jki-k"), 0.85 * traffic("ji-kji-k"));
}

// 48 rows by kernels of 32: those over the end of a row of C wait, unless a loop keeps to it.
TEST(Exposed, Tiles_that_begin_anew_with_each_row_of_C_break_none) {
  const Contraction c = of("abc-ac-b", "a=8,b=4,c=48");
  const double across = waits_beside_links(c, "groups m=ca n=b for m by 32 { kernel 32x4 }");
  const double kept =
      waits_beside_links(c, "groups m=ca n=b for m by 48 { for m by 32 { kernel 32x4 } }");
  EXPECT_GT(across, kept);
}

// Places along k that are 16 KiB apart, on a page each: 24 are at hand when the next kernel comes
// to them, 96 are looked up again by each of 512 kernels.
TEST(Exposed, Pages_that_kernels_come_back_to_are_looked_up_again) {
  const auto waits_of = [](std::int64_t apart, std::int64_t k) {
    const Contraction c =
        parse_contraction("acb-ack-bk", {{'a', 8}, {'c', apart}, {'b', 8}, {'k', k}},
                          Layout::column_major, ElementType::f64);
    return waits_beside_links(c, "groups m=ac n=b k=k for m by 8 { for n by 4 { kernel 8x4 } }");
  };
  const auto again = [&](std::int64_t k) { return waits_of(256, k) - 64 * waits_of(4, k); };
  EXPECT_NEAR(again(96) / (511 * 96 * 2.5), 1, 0.05);
  EXPECT_NEAR(again(24) / (511 * 24 * 2.5), 0, 0.05);
}

// What the machine says, not what a Zen 4 does.
TEST(Exposed, Costs_are_those_of_the_machine) {
  const Contraction c = test::matmul(16, 16, 16);
  Machine m = test::machine({{64, 8}, {1024, 16}});
  for (Level& l : m.levels) l.bandwidth.value.value = 1e15;
  const auto waits_on = [&](const char* text) {
    const Schedule s = parse_schedule(text, c, "test");
    return exposed(c, s, predict(c, s, m), m, CallsAre::walked).all().value() * 1e9;
  };
  m.core.overhead.pack.value = Cycles(1000);
  m.core.overhead.piece.value = Cycles(7);
  m.core.overhead.task.value = Cycles(31);
  m.core.overhead.call.value = Cycles(11);
  m.core.overhead.scatter.value = Cycles(5);
  const char* packed =
      "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 4 { for m by 8 { kernel 8x4 } } } "
      "}";
  constexpr double moved = in_runs_of(8) + in_squares_of(4 * 8);
  EXPECT_NEAR(waits_on(packed), 2 * (1000 + 7) + moved + 4 * 31 + 8 * 11, 1e-3);
  const Contraction apart = of("abc-ak-kbc", "a=16,b=8,c=2,k=16");
  const Schedule one_by_one = parse_schedule(apart_in_C, apart, "test");
  EXPECT_NEAR(
      exposed(apart, one_by_one, predict(apart, one_by_one, m), m, CallsAre::walked).all().value() *
          1e9,
      2 * (1000 + 7) + in_runs_of(4) + in_squares_of(8 * 8) + 4 * 31 + 8 * (11 + 32 * 5), 1e-3);
  // Each of 8 kernels loads 6 times for 8 multiply-adds of a place along k.
  m.core.overhead.load.value = Cycles(2);
  EXPECT_NEAR(waits_on(packed), 2 * (1000 + 7) + moved + 4 * 31 + 8 * 11 + 8 * 16 * (12 - 8), 1e-3);
  m.core.overhead.load.value = Cycles(8.0 / 6);
  // Pages of 512 bytes cut each tensor's 2 KiB into four pieces.
  m.tlbs = {{"large", 64, 4, Bytes(4096)}, {"small", 64, 4, Bytes(512)}};
  EXPECT_NEAR(waits_on(packed), 2 * (1000 + 4 * 7) + moved + 4 * 31 + 8 * 11, 1e-3);
}

TEST(Exposed, Results_hide_behind_computing_as_the_machine_says) {
  const Contraction c = test::matmul(64, 64, 64);
  Machine m = test::machine({{64, 8}, {1024, 16}});
  const auto waits_with = [&](const char* text, double share) {
    m.core.overhead.results.value = share;
    const Schedule s = parse_schedule(text, c, "test");
    return exposed(c, s, predict(c, s, m), m).traffic;
  };
  // C comes from and goes to memory, over the second cache.
  const char* direct = "groups m=j n=i k=k for n by 4 { for m by 8 { kernel 8x4 } }";
  const Schedule s = parse_schedule(direct, c, "test");
  const Traffic traffic = predict(c, s, m).traffic;
  Seconds beyond{0};
  for (int l = 1; l < 3; ++l) {
    const Bytes bytes =
        traffic.links[static_cast<std::size_t>(l)].counted(m.accounting, ArrayId::C);
    beyond += bytes / m.bandwidth(LevelId{l});
  }
  EXPECT_NEAR((waits_with(direct, 1) - waits_with(direct, 0.25)) / (0.75 * beyond), 1, 1e-9);
}

// Tiles of 8 rows begin anew with each column of C, those of a column go on; where nobody measured
// what hides, all of C's traffic counts, and nothing more.
TEST(Exposed, Short_pieces_of_C_hide_less_behind_computing) {
  const Contraction c = test::matmul(64, 64, 64);
  Machine m = test::machine({{64, 8}, {1024, 16}, {4096, 16}});
  m.accounting.compute_roof = true;
  m.core.fma_per_cycle.value = 1e-3;
  const auto waits_of_c = [&](const char* text, Origin origin) {
    m.core.overhead.results = {0.5, origin, "test"};
    const Schedule s = parse_schedule(text, c, "test");
    return exposed(c, s, predict(c, s, m), m).traffic;
  };
  const char* rows_inside = "groups m=j n=i k=k for n by 4 { for m by 8 { kernel 8x4 } }";
  const char* columns_inside = "groups m=j n=i k=k for m by 8 { for n by 4 { kernel 8x4 } }";
  const auto more = [&](const char* text) {
    return (waits_of_c(text, Origin::measured) - waits_of_c(text, Origin::assumed)).value();
  };
  EXPECT_GT(more(rows_inside), 0);
  EXPECT_GT(more(columns_inside), 4 * more(rows_inside));
}

// Rows of a place of the batch are apart in C, so nothing asks for their lines before results go
// there.
TEST(Exposed, Results_that_are_apart_wait_for_all_of_their_lines) {
  const Contraction c = of("abh-akh-hkb", "a=16,b=16,h=3,k=16");
  const Contraction longer = of("abh-akh-hkb", "a=16,b=16,h=16,k=16");
  const Machine m = test::machine({{64, 8}, {1024, 16}});
  const auto waits_with = [&](const Contraction& contraction, const char* text, double share) {
    Machine other = m;
    other.core.overhead.results.value = share;
    const Schedule s = parse_schedule(text, contraction, "test");
    return exposed(contraction, s, predict(contraction, s, m), other).traffic;
  };
  const char* apart =
      "groups m=b n=a k=k batch=h for batch by 1 { pack A in L2 { pack B in L2 { for n by 4 { for "
      "m by 8 { kernel 8x4 } } } } }";
  const Schedule one_by_one = parse_schedule(apart, c, "test");
  ASSERT_FALSE(
      result_regions(c, one_by_one.groups, only_path(c, one_by_one), lanes_of(m.core, c.type()))
          .used());
  EXPECT_EQ(waits_with(c, apart, 0), waits_with(c, apart, 1));
  const char* lanes =
      "groups m=h n=b k=k batch=a for m by 8 { pack A in L2 { for batch by 1 { for n by 4 { kernel "
      "8x4 } } } }";
  EXPECT_LT(waits_with(longer, lanes, 0), waits_with(longer, lanes, 1));
}

// A's rows of a place of the batch are pieces of b, and other places lie between them.
TEST(Exposed, Columns_of_short_pieces_are_not_foreseen) {
  const auto read = [](const char* sizes) {
    const Contraction c = of("acb-kcab-ka", sizes);
    const Schedule s = parse_schedule(
        "groups m=bc k=k batch=a for batch by 1 { for m by 8 { kernel 8x1 } }", c, "test");
    Machine m = test::machine({{64, 8}, {256, 16}, {512, 16}});
    m.levels[1].bandwidth.value.value = 1e15;
    m.levels[2].bandwidth.value.value = 1e15;
    return exposed(c, s, predict(c, s, m), m).traffic;
  };
  // Of A's traffic from memory all is waited for, or half of it. C's is a quarter of A's, both
  // ways.
  EXPECT_NEAR(read("a=8,b=64,c=64,k=4") / read("a=8,b=512,c=8,k=4"), (1 + 0.5) / (0.5 + 0.5), 0.1);
}

TEST(Exposed, The_share_of_a_link_is_the_levels_own_or_a_usual_one) {
  const Contraction c = test::matmul(64, 64, 64);
  const Schedule s = test::schedule(
      "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 4 { for m by 8 { kernel 8x4 } } } "
      "}");
  Machine m = test::machine({{8, 8}, {1024, 16}});
  const auto waits_with = [&](std::optional<double> share) {
    m.levels[1].exposed.reset();
    if (share) m.levels[1].exposed = Figure<double>{*share, Origin::measured, ""};
    return exposed(c, s, predict(c, s, m), m).all().value() * 1e9;
  };
  EXPECT_EQ(waits_with(0.2), waits_with({}));
  EXPECT_GT(waits_with(0.4), waits_with(0.2));
  EXPECT_NEAR(waits_with(0.4) - waits_with(0.2), waits_with(0.2) - waits_with(0), 1e-3);
}

TEST(Exposed, What_kernels_ask_for_in_time_waits_for_no_second_cache) {
  const auto share = [](const char* label, const char* text) {
    const Contraction c = parse_contraction(label, parse_sizes("a=32,c=4,k=512,b=64"),
                                            Layout::row_major, ElementType::f32);
    const Schedule s = parse_schedule(text, c, "test");
    Machine m = test::machine({{8, 8}, {1024, 16}});
    m.levels[1].bandwidth.value.value = 1;
    const Prediction p = predict(c, s, m);
    const auto waits_with = [&](double exposed_share) {
      m.levels[1].exposed = Figure<double>{exposed_share, Origin::measured, ""};
      return exposed(c, s, p, m).all().value() * 1e9;
    };
    const LinkTraffic& link = p.traffic.links[1];
    const auto in = [&](ArrayId a) {
      return static_cast<double>(link.at(Phase::compute, a).in.value());
    };
    return std::array{waits_with(1) - waits_with(0), in(ArrayId::A), in(ArrayId::B)};
  };
  const char* text = "groups m=ac n=b k=k for m by 32 { for n by 8 { kernel 32x8 } }";
  // A in blocks of 32 rows, of which each panel is a run.
  const auto [asked, a, b] = share("bca-cka-bk", text);
  EXPECT_GT(a, 0);
  EXPECT_NEAR(asked, b, 1e-3);
  // Panels whose rows are apart.
  const auto [not_asked, a2, b2] = share("bca-kca-bk", text);
  EXPECT_NEAR(not_asked, a2 + b2, 1e-3);
}

// Rounds of 32 rows and 64 columns, 512 places along k: two take 384 KiB, three quarters of 512. A
// comes from memory once, whatever the second cache has room for.
TEST(Exposed, The_next_round_comes_in_time_where_the_second_cache_holds_two) {
  const Contraction c = parse_contraction("bca-cka-bk", parse_sizes("a=32,c=4,k=512,b=64"),
                                          Layout::row_major, ElementType::f32);
  const Schedule s =
      parse_schedule("groups m=ac n=b k=k for m by 32 { for n by 8 { kernel 32x8 } }", c, "test");
  const auto waits = [&](std::int64_t sets) {
    Machine m = test::machine({{8, 8}, {sets, 16}});
    for (Level& l : m.levels) l.bandwidth.value.value = 1e15;
    m.levels[2].bandwidth.value.value = 1;
    return exposed(c, s, predict(c, s, m), m).traffic.value() * 1e9;
  };
  EXPECT_NEAR(waits(511) - waits(512), 4 * 32 * 512 * 4, 1e-2);
}

// What a schedule waits for because of memory's latency, in cycles of a gigahertz.
double waits_for_pages(const Contraction& c, const char* text) {
  Machine m = test::machine({{64, 8}, {1024, 16}});
  for (Level& l : m.levels) l.bandwidth.value.value = 1e15;
  const Schedule s = parse_schedule(text, c, "test");
  const Prediction p = predict(c, s, m);
  const Seconds with = exposed(c, s, p, m).all();
  for (Level& l : m.levels) l.latency = Figure<Cycles>{Cycles(0), Origin::assumed, ""};
  return (with - exposed(c, s, p, m).all()).value() * 1e9;
}

// B in place, a page for each place along k: more than 64 of them are new to each tile of columns,
// and nothing foresees a line of it; of four the first two lines of each page are waited for. 300
// cycles, 16 lines at a time.
TEST(Exposed, Waits_for_pages_of_an_operand_in_place) {
  const char* const right = "groups m=i n=j k=k pack A in L2 { for n by 4 { kernel 8x4 } }";
  constexpr double one = 300.0 / 16;
  EXPECT_NEAR(waits_for_pages(test::matmul(8, 512, 100), right), 512 * 100 / 8 * one, 1);
  EXPECT_NEAR(waits_for_pages(test::matmul(8, 512, 4), right), 4 * 2 * one, 1);
  // Rows are asked for while kernels compute: 8 flops a cycle.
  const char* const left = "groups m=j n=i k=k pack A in L2 { for m by 8 { kernel 8x8 } }";
  const double computing = 2.0 * 8 * 512 * 100 / 8;
  EXPECT_NEAR(waits_for_pages(test::matmul(8, 512, 100), left), 512 * 100 / 8 * one - computing,
              0.1 * computing);
}

// B in place, a page for each column, whose first two lines are waited for unless the kernel asks
// for them while it computes the columns before. Nobody asks for the first four, nor across loops
// over other places along k.
TEST(Exposed, Columns_that_kernels_ask_for_do_not_wait_for_pages) {
  const Contraction c = of("ij-ik-jk", "i=8,j=512,k=512");
  constexpr double one = 300.0 / 16;
  EXPECT_NEAR(waits_for_pages(c, "groups m=i n=j k=k pack A in L2 { for n by 4 { kernel 8x4 } }"),
              4 * 2 * one, 1);
  EXPECT_NEAR(
      waits_for_pages(
          c, "groups m=i n=j k=k pack A in L2 { for n by 4 { for k by 256 { kernel 8x4 } } }"),
      512 * 2 * one, 1);
}

}  // namespace
}  // namespace tcsim
