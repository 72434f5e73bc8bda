#include "sim/trace/champsim.hpp"

#include <array>

namespace tcsim::sim {

void ChampsimWriter::write(AccessKind kind, std::uint64_t address, std::uint32_t) {
  if (kind == AccessKind::instruction) return;
  std::array<char, champsim_record> record{};
  const auto put = [&](std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i) {
      record[at + i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    }
  };
  put(0, champsim_code + 4 * static_cast<std::uint64_t>(kind));
  if (kind != AccessKind::read) put(16, address);
  if (kind != AccessKind::write) put(32, address);
  out_.write(record.data(), record.size());
}

}  // namespace tcsim::sim
