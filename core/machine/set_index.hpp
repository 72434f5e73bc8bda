// Which set of a cache a line lies in. As a text:
//  - "modulo": its number, which is its address divided by the line size, modulo the sets.
//  - "hashed": the number is cut into pieces of as many bits as the last set's number has, and the
//    pieces are combined by exclusive or: n ^ n >> b ^ n >> 2b ^ ... modulo the sets. For a power
//    of two of sets that is the placement by exclusive or of Gonzalez, Valero, Topham and
//    Parcerisa ("Eliminating cache conflict misses through XOR-based placement functions", 1997).
//  - masks of address bits, "0x1b5f575440,0x2eb5faa880": the sets are divided into 2^n slices for n
//    masks. Bit i of the slice's number is the parity of the address's bits under mask i, and in
//    its slice a line lies in the set of its number modulo the sets of a slice.
//  - "sliced-2", "sliced-4", "sliced-8": the masks of Intel's last-level caches with so many
//  slices,
//    from Sandy Bridge on (Maurice, Le Scouarnec, Neumann, Heen and Francillon, "Reverse
//    engineering Intel last-level cache complex addressing using performance counters", RAID 2015,
//    Table 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tcsim {

struct SetIndex {
  bool hashed = false;
  std::vector<std::uint64_t> masks;  // of slices; none where it is hashed

  static constexpr std::size_t most_masks = 16;

  bool is_sliced() const { return !masks.empty(); }
  std::int64_t slices() const { return std::int64_t{1} << masks.size(); }
  bool operator==(const SetIndex&) const = default;
};

// Throws UsageError for what is none of these, more than 16 masks, or masks of which some together
// cancel out, so that slices would stay empty.
SetIndex parse_set_index(std::string_view text);
// Intel's masks by the number of slices, others as they are.
std::string to_text(const SetIndex& index);

// Whether some of the masks, at least one, combine to 0 by exclusive or.
bool cancel_out(std::vector<std::uint64_t> masks);

}  // namespace tcsim
