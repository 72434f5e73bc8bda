#include "sim/trace/champsim.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/parse.hpp"
#include "sim/simulate_trace.hpp"

namespace tcsim::sim {
namespace {

// ChampSim's record as its published header declares it.
struct Instruction {
  std::uint64_t ip;
  std::uint8_t is_branch, branch_taken;
  std::uint8_t destination_registers[2], source_registers[4];
  std::uint64_t destination_memory[2], source_memory[4];
};
static_assert(sizeof(Instruction) == champsim_record);

std::vector<Instruction> instructions(const std::string& bytes) {
  EXPECT_EQ(bytes.size() % champsim_record, 0u);
  std::vector<Instruction> all(bytes.size() / champsim_record);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

TEST(Champsim_writer, An_access_is_an_instruction) {
  std::ostringstream out;
  ChampsimWriter writer(out);
  writer.write(AccessKind::read, 0x1234567890abcdef, 8);
  writer.write(AccessKind::write, 0x40, 8);
  writer.write(AccessKind::modify, 0x80, 4);
  writer.write(AccessKind::instruction, 0x400, 4);
  writer.flush();
  const auto all = instructions(out.str());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].source_memory[0], 0x1234567890abcdef);
  EXPECT_EQ(all[0].destination_memory[0], 0u);
  EXPECT_EQ(all[1].source_memory[0], 0u);
  EXPECT_EQ(all[1].destination_memory[0], 0x40u);
  EXPECT_EQ(all[2].source_memory[0], 0x80u);
  EXPECT_EQ(all[2].destination_memory[0], 0x80u);
  EXPECT_NE(all[0].ip, all[1].ip);
  for (const Instruction& i : all) {
    EXPECT_EQ(i.is_branch, 0);
    EXPECT_EQ(i.source_memory[1], 0u);
    EXPECT_EQ(i.destination_memory[1], 0u);
  }
}

TEST(Champsim_writer, A_schedules_accesses_are_those_of_the_binary_trace) {
  const Contraction c = parse_contraction("ij-ik-kj", {{'i', 9}, {'j', 7}, {'k', 5}},
                                          Layout::row_major, ElementType::f64);
  const Schedule schedule = parse_schedule(
      "groups m=j n=i k=k pack B in L1 { for n by 4 { for m by 4 { kernel 4x4 } } }", c, "test");
  const Plan plan(c, schedule);
  std::ostringstream ours, theirs;
  TraceWriter binary(ours);
  write_trace(plan, binary);
  ChampsimWriter champsim(theirs);
  write_trace(plan, champsim);
  const std::string bytes = ours.str();
  const auto reader = read_trace(bytes_of(bytes, "t"), "t", TraceFormat::binary);
  const auto all = instructions(theirs.str());
  std::size_t at = 0;
  for (TraceRecord r; reader->next(r);) {
    for (std::uint64_t i = 0; i < r.count; ++i, ++at) {
      ASSERT_LT(at, all.size());
      const std::uint64_t address = r.address + i * static_cast<std::uint64_t>(r.stride);
      const bool write = r.kind == AccessKind::write;
      EXPECT_EQ(all[at].destination_memory[0], write ? address : 0);
      EXPECT_EQ(all[at].source_memory[0], write ? 0 : address);
    }
  }
  EXPECT_EQ(at, all.size());
  EXPECT_GT(at, 9u * 7 * 5);
}

}  // namespace
}  // namespace tcsim::sim
