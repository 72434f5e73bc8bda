// Requests in order, in few bytes: most are as far from the one before of their array and kind as
// that was from its own, and have the same lanes, moved. Those are foretold, and several of one
// kind in a row are two bytes.
//
// A byte is a kind (array and flags); its top bit says that the next requests of that kind are
// foretold, and how many follows as a byte. Otherwise one request follows: its distance in lines
// (zigzag, LEB128; one more bit at the bottom says whether the lanes differ, too), and then the
// lanes from the lowest one on, if they do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/schedule.hpp"
#include "sim/hierarchy.hpp"

namespace tcsim::sim {

class CompactRequests {
 public:
  CompactRequests() = default;
  // Each of at least one lane; a block has 2^lane_bits of them.
  CompactRequests(std::span<const Request> requests, std::uint32_t lane_bits);

  std::size_t bytes() const { return code_.size(); }
  // f(request), in order.
  template <class F>
  void for_each(F&& f) const {
    Places places;
    const std::uint8_t* at = code_.data();
    for (const std::uint8_t* const end = at + code_.size(); at != end;) {
      const std::uint8_t head = *at++;
      Place& place = places[head & ~foretold];
      const std::uint16_t kind = kind_of(head);
      int count = 1;
      if ((head & foretold) != 0) {
        count = *at++;
      } else {
        at = read_place(at, place);
      }
      Place now = place;
      for (; count > 0; --count) {
        now.line += now.step;
        f(Request::of(now.line >> lane_bits_,
                      static_cast<std::uint16_t>(now.lanes << (now.line & lane_max_)), kind));
      }
      place = now;
    }
  }

 private:
  static constexpr std::uint8_t foretold = 0x80;
  static_assert(max_arrays <= 16);  // and three flags

  // Of one kind: the last request's lowest line, the distance that led to it, the lanes from there.
  struct Place {
    std::uint32_t line = 0, step = 0;
    std::uint16_t lanes = 1;
  };
  using Places = std::array<Place, foretold>;

  static std::uint8_t head_of(const Request& r) {
    return static_cast<std::uint8_t>(r.array << 3 | r.kind() >> 8);
  }
  static std::uint16_t kind_of(std::uint8_t head) {
    return static_cast<std::uint16_t>((head & ~foretold) >> 3 | (head & 7) << 8);
  }
  static const std::uint8_t* read_place(const std::uint8_t* at, Place& place);

  std::vector<std::uint8_t> code_;
  std::uint32_t lane_bits_ = 0, lane_max_ = 0;
};

}  // namespace tcsim::sim
