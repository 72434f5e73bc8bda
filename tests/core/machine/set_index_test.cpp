// Which set a line lies in, as a text.
#include "core/machine/set_index.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace tcsim {
namespace {

TEST(SetIndex, Is_written_as_it_was_read) {
  for (const char* text : {"modulo", "hashed", "sliced-2", "sliced-4", "sliced-8", "0x40",
                           "0x1b5f575440,0x1", "0xffffffffffffffff"}) {
    EXPECT_EQ(to_text(parse_set_index(text)), text);
  }
  EXPECT_EQ(parse_set_index("modulo"), SetIndex{});
  EXPECT_EQ(parse_set_index("sliced-4").slices(), 4);
}

// Maurice et al. 2015, Table 2: the bits of the first sum are 6, 10, 12, 14, 16, 17, 18, 20, 22, 24
// to 28, 30, 32, 33, 35 and 36.
TEST(SetIndex, Knows_intels_masks_by_the_number_of_slices) {
  std::uint64_t first = 0;
  for (int bit : {6, 10, 12, 14, 16, 17, 18, 20, 22, 24, 25, 26, 27, 28, 30, 32, 33, 35, 36}) {
    first |= std::uint64_t{1} << bit;
  }
  EXPECT_EQ(parse_set_index("sliced-2").masks, std::vector{first});
  EXPECT_EQ(parse_set_index("sliced-8").masks.size(), 3u);
  EXPECT_EQ(parse_set_index("0x1B5F575440,0x2eb5faa880"), parse_set_index("sliced-4"));
}

std::string refusal(const char* text) {
  try {
    parse_set_index(text);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(SetIndex, Refuses_what_chooses_no_set) {
  const std::string mend =
      "; use modulo, hashed, sliced-2, sliced-4, sliced-8 or masks of address bits such as "
      "0x1b5f575440,0x2eb5faa880";
  for (const char* text : {"", "Hashed", "sliced-3", "40", "0x", "0x40,", ",0x40", "0x40 0x80",
                           "0x-4", "0xg", "0x1ffffffffffffffff"}) {
    EXPECT_EQ(refusal(text), "'" + std::string(text) + "': no way to choose a set" + mend);
  }
  for (const char* text : {"0x0", "0x40,0x40", "0x40,0xc0,0x80"}) {
    EXPECT_EQ(refusal(text), "'" + std::string(text) +
                                 "': masks that cancel out, so that slices stay empty" + mend);
  }
  std::string many = "0x1";
  for (int bit = 1; bit < 17; ++bit) {
    char one[20];
    std::snprintf(one, sizeof one, ",0x%x", 1u << bit);
    many += one;
  }
  EXPECT_EQ(refusal(many.c_str()), "'" + many + "': more than 16 masks" + mend);
}

}  // namespace
}  // namespace tcsim
