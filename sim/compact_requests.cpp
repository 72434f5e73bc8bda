#include "sim/compact_requests.hpp"

#include <bit>
#include <cassert>

#include "sim/zigzag.hpp"

namespace tcsim::sim {

CompactRequests::CompactRequests(std::span<const Request> requests, std::uint32_t lane_bits)
    : lane_bits_(lane_bits), lane_max_((std::uint32_t{1} << lane_bits) - 1) {
  constexpr std::size_t most = 8;  // bytes of a request
  std::vector<std::uint8_t> code(most * requests.size());
  std::uint8_t* to = code.data();
  Places places;
  int run_of = -1;  // the kind of the last run, while it may grow
  for (const Request& r : requests) {
    assert(r.lanes != 0);
    const int lane = std::countr_zero(r.lanes);
    const std::uint32_t line = (r.block << lane_bits) + static_cast<std::uint32_t>(lane);
    const auto lanes = static_cast<std::uint16_t>(r.lanes >> lane);
    const std::uint8_t head = head_of(r);
    Place& place = places[head];
    const std::uint32_t step = line - place.line;
    const bool new_lanes = lanes != place.lanes, new_step = step != place.step;
    place = {line, step, lanes};
    if (!new_step && !new_lanes) {
      if (run_of == head && to[-1] != 0xFF) {
        ++to[-1];
        continue;
      }
      *to++ = head | foretold;
      *to++ = 1;
      run_of = head;
      continue;
    }
    run_of = -1;
    *to++ = head;
    std::uint64_t rest = zigzag(static_cast<std::int32_t>(step)) << 1 | std::uint64_t{new_lanes};
    for (; rest >= 0x80; rest >>= 7) *to++ = static_cast<std::uint8_t>(rest | 0x80);
    *to++ = static_cast<std::uint8_t>(rest);
    if (new_lanes) {
      *to++ = static_cast<std::uint8_t>(lanes);
      *to++ = static_cast<std::uint8_t>(lanes >> 8);
    }
  }
  code_.assign(code.data(), to);
}

const std::uint8_t* CompactRequests::read_place(const std::uint8_t* at, Place& place) {
  std::uint64_t rest = 0;
  int shift = 0;
  do {
    rest |= std::uint64_t{*at & 0x7Fu} << shift;
    shift += 7;
  } while ((*at++ & 0x80) != 0);
  place.step = static_cast<std::uint32_t>(unzigzag(rest >> 1));
  if ((rest & 1) != 0) {
    place.lanes = static_cast<std::uint16_t>(at[0] | at[1] << 8);
    at += 2;
  }
  return at;
}

}  // namespace tcsim::sim
