#include "core/model/predict.hpp"

#include <gtest/gtest.h>

#include "core/model/kernel_time.hpp"
#include "tests/arrays.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

TEST(Timing, The_slowest_link_decides_and_the_roof_joins) {
  Machine m = test::machine({{64, 8}});               // 1 GB/s on both links, 8 GFLOPS
  const Contraction c = test::matmul(100, 100, 100);  // 2e6 flops: 0.25 ms
  Traffic t;
  t.links.resize(2);
  t.links[0].at(Phase::compute, ArrayId::A).in = Bytes(100'000);  // 0.1 ms
  t.links[1].at(Phase::compute, ArrayId::A).in = Bytes(150'000);
  t.links[1].at(Phase::compute, ArrayId::C).out = Bytes(50'000);
  Timing honest = timing(t, peak_time(c, m), m);
  EXPECT_DOUBLE_EQ(honest.links[1].value(), 0.2e-3);
  EXPECT_DOUBLE_EQ(honest.total.value(), 0.25e-3);
  EXPECT_EQ(bottleneck_name(honest, m), "compute");
  m.accounting = Accounting::paper();  // bytes out and the roof do not count
  const Timing paper = timing(t, peak_time(c, m), m);
  EXPECT_DOUBLE_EQ(paper.total.value(), 0.15e-3);
  EXPECT_EQ(bottleneck_name(paper, m), "L1-memory");
}

// acmtc-sc19, Table 2: in the computation phase operands come in, whoever brings them.
TEST(Accounting, Without_packing_an_operand_counts_as_read_for_its_packing) {
  LinkTraffic link(test::both_packed());
  link.at(Phase::packing, ArrayId::A).in = Bytes(640);
  link.at(Phase::packing, test::packed_A) = {Bytes(64), Bytes(128)};
  link.at(Phase::compute, test::packed_A).in = Bytes(256);
  const Accounting computation{"computation", false, false, false};
  EXPECT_EQ(link.counted(computation, ArrayId::A), Bytes(0));
  EXPECT_EQ(link.counted(computation, test::packed_A), Bytes(640));
  link.at(Phase::compute, test::packed_A).in = Bytes(6400);  // kernels read it many times
  EXPECT_EQ(link.counted(computation), Bytes(6400));
}

// 800 bytes at 4 B/cycle and 1 GHz; the outer link is as it was.
TEST(Accounting, Halved_register_loads_take_half_the_time_at_the_innermost_link_only) {
  Machine m = test::machine({{64, 8}});
  m.levels[0].bandwidth.value.value = 4;
  m.accounting = {"", true, false, true};
  Traffic traffic;
  traffic.links.resize(2);
  for (LinkTraffic& link : traffic.links) link.at(Phase::compute, ArrayId::A).in = Bytes(800);
  const Contraction c = test::matmul(4, 4, 4);
  EXPECT_EQ(timing(traffic, peak_time(c, m), m).links[0], Seconds(200e-9));
  m.accounting.halve_register_loads = true;
  EXPECT_EQ(timing(traffic, peak_time(c, m), m).links[0], Seconds(100e-9));
  EXPECT_EQ(timing(traffic, peak_time(c, m), m).links[1], Seconds(800e-9));
}

TEST(Accounting, Packing_counts_only_where_it_should) {
  LinkTraffic link(test::both_packed());
  link.at(Phase::packing, ArrayId::A) = {Bytes(10), Bytes(20)};
  link.at(Phase::compute, ArrayId::C) = {Bytes(100), Bytes(200)};
  EXPECT_EQ(link.counted(Accounting::honest()), Bytes(330));
  EXPECT_EQ(link.counted(Accounting::paper()), Bytes(110));  // C's 100 and A's 10 come in
  EXPECT_EQ(link.counted(Accounting::honest(), ArrayId::A), Bytes(30));
}

}  // namespace
}  // namespace tcsim
