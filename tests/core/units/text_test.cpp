// Quantities as text: what a person may write, what is refused, and that nothing is lost.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "core/error.hpp"
#include "core/units/text.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

template <class F>
std::string usage_error(F f) {
  try {
    f();
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Units, Binary_prefixes_are_powers_of_1024_and_decimal_ones_of_1000) {
  EXPECT_EQ(parse_bytes("1KiB").value(), 1024);
  EXPECT_EQ(parse_bytes("1MiB").value(), 1024 * 1024);
  EXPECT_EQ(parse_bytes("1GiB").value(), 1024 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("1TiB").value(), std::int64_t{1} << 40);
  EXPECT_EQ(parse_bytes("1kB").value(), 1000);
  EXPECT_EQ(parse_bytes("1MB").value(), 1000000);
  EXPECT_EQ(parse_bytes("1GB").value(), 1000000000);
  EXPECT_EQ(parse_bytes("1TB").value(), 1000000000000);
}

TEST(Units, Sizes_may_have_spaces_fractions_and_no_unit) {
  EXPECT_EQ(parse_bytes(" 48 KiB ").value(), 49152);
  EXPECT_EQ(parse_bytes("1.5MiB").value(), 1572864);
  EXPECT_EQ(parse_bytes("64").value(), 64);
  EXPECT_EQ(parse_bytes("64B").value(), 64);
  // Beyond 2^53 a double would lose the last bit.
  EXPECT_EQ(parse_bytes("9007199254740993").value(), 9007199254740993);
}

// As decimals they are whole numbers of bytes, as products of doubles some are not.
TEST(Units, Sizes_with_as_many_digits_as_bytes_are_whole) {
  EXPECT_EQ(parse_bytes("16.76MB").value(), 16760000);
  std::mt19937_64 random(test::new_seed());
  for (int trial = 0; trial < 2000; ++trial) {
    const auto bytes = std::uniform_int_distribution<std::int64_t>(1, 999999999999)(random);
    const std::string rest = std::to_string(1000000 + bytes % 1000000).substr(1);
    EXPECT_EQ(parse_bytes(std::to_string(bytes / 1000000) + "." + rest + "MB").value(), bytes);
    EXPECT_THROW(parse_bytes(std::to_string(bytes / 1000000) + "." + rest + "1MB"), UsageError);
  }
}

TEST(Units, Sizes_that_are_none_are_refused_with_the_mend) {
  EXPECT_EQ(usage_error([] { parse_bytes("48KB"); }),
            "'48KB': 'KB' is no unit of size; use B, KiB, MiB, GiB, TiB (powers of 1024) or kB, "
            "MB, GB, TB (of 1000)");
  const std::string mend = "; write a size such as 48KiB, 1MiB, 64B or 2GB";
  EXPECT_EQ(usage_error([] { parse_bytes(""); }), "'': no number" + mend);
  EXPECT_EQ(usage_error([] { parse_bytes("KiB"); }), "'KiB': no number" + mend);
  EXPECT_EQ(usage_error([] { parse_bytes("inf"); }), "'inf': no number" + mend);
  EXPECT_EQ(usage_error([] { parse_bytes("0"); }), "'0': not greater than 0" + mend);
  EXPECT_EQ(usage_error([] { parse_bytes("-1KiB"); }), "'-1KiB': not greater than 0" + mend);
  EXPECT_EQ(usage_error([] { parse_bytes("1.5B"); }), "'1.5B': not a whole number of bytes" + mend);
  // 2^63 = 8388608 TiB is one more than fits.
  EXPECT_EQ(usage_error([] { parse_bytes("8388608TiB"); }),
            "'8388608TiB': size out of range" + mend);
  EXPECT_EQ(usage_error([] { parse_bytes("8388608.0TiB"); }),
            "'8388608.0TiB': size out of range" + mend);
  EXPECT_EQ(usage_error([] { parse_bytes("1e999"); }), "'1e999': number out of range" + mend);
  EXPECT_EQ(parse_bytes("8388607TiB").value(), std::int64_t{8388607} << 40);
}

TEST(Units, Bandwidths_keep_the_unit_they_were_given_in) {
  const Bandwidth per_cycle = parse_bandwidth("25.28B/cycle");
  EXPECT_EQ(per_cycle, (Bandwidth{25.28, Bandwidth::Unit::bytes_per_cycle}));
  EXPECT_DOUBLE_EQ(per_cycle.at(Hertz(2.4e9)).value(), 60.672e9);  // 25.28 x 2.4e9
  const Bandwidth per_second = parse_bandwidth("25.6 GB/s");
  EXPECT_EQ(per_second, (Bandwidth{25.6e9, Bandwidth::Unit::bytes_per_second}));
  EXPECT_EQ(per_second.at(Hertz(1)).value(), 25.6e9);
  EXPECT_EQ(parse_bandwidth("2MiB/s").value, 2097152);
}

TEST(Units, Bandwidths_that_are_none_are_refused) {
  for (const char* text :
       {"25", "25GB", "25GB/h", "25/s", "25 cycle/B", "0B/s", "-1GB/s", "GB/s"}) {
    EXPECT_THROW(parse_bandwidth(text), UsageError) << text;
  }
}

TEST(Units, Frequencies_need_their_unit) {
  EXPECT_EQ(parse_frequency("2.5GHz").value(), 2.5e9);
  EXPECT_EQ(parse_frequency("800 MHz").value(), 8e8);
  EXPECT_EQ(parse_frequency("60Hz").value(), 60);
  for (const char* text : {"2.6", "2.6G", "2.6 ghz", "0GHz", "2.6GiHz"}) {
    EXPECT_THROW(parse_frequency(text), UsageError) << text;
  }
}

TEST(Units, Times_need_their_unit) {
  EXPECT_EQ(parse_seconds("60s").value(), 60);
  EXPECT_EQ(parse_seconds("1.5 min").value(), 90);
  EXPECT_EQ(parse_seconds("2h").value(), 7200);
  EXPECT_EQ(parse_seconds("200ms").value(), 0.2);
  EXPECT_DOUBLE_EQ(parse_seconds("100us").value(), 1e-4);
  EXPECT_DOUBLE_EQ(parse_seconds("3ns").value(), 3e-9);
  for (const char* text : {"60", "60 S", "0s", "-1s", "1d", "s", "", "1e308h", "1e-323ms"}) {
    EXPECT_THROW(parse_seconds(text), UsageError) << text;
  }
  EXPECT_EQ(usage_error([] { parse_seconds("60"); }),
            "'60': '' is no unit of time; write a time such as 60s, 5min or 1h");
}

TEST(Units, Counts_are_whole_and_named_in_the_error) {
  EXPECT_EQ(parse_count(" 16 ", "ways"), 16);
  for (const char* text : {"0", "-1", "8.5", "8 ways", "", "99999999999999999999"}) {
    EXPECT_EQ(usage_error([&] { parse_count(text, "ways"); }),
              "'" + std::string(text) + "': no number of ways; write a whole number of at least 1");
  }
}

TEST(Units, Energies_per_byte_are_picojoules_unless_they_say_otherwise) {
  EXPECT_EQ(parse_energy("25pJ/B").value(), 25e-12);
  EXPECT_EQ(parse_energy("25").value(), 25e-12);
  EXPECT_EQ(parse_energy(" 1.5 nJ/B ").value(), 1.5e-9);
  EXPECT_EQ(parse_energy("0.5J/B").value(), 0.5);
  EXPECT_EQ(to_text(JoulesPerByte(25e-12)), "25pJ/B");
  EXPECT_EQ(to_text(JoulesPerByte(1.5e-9)), "1.5nJ/B");
  EXPECT_EQ(usage_error([] { parse_energy("25pJ"); }),
            "'25pJ': 'pJ' is no unit of energy per byte; write an energy per byte such as 25pJ/B "
            "or 1.2nJ/B");
  EXPECT_EQ(usage_error([] { parse_energy("-1pJ/B"); }),
            "'-1pJ/B': not greater than 0; write an energy per byte such as 25pJ/B or 1.2nJ/B");
}

TEST(Units, Sizes_are_written_with_the_largest_exact_binary_unit) {
  EXPECT_EQ(to_text(Bytes(32768)), "32KiB");
  EXPECT_EQ(to_text(Bytes(36700160)), "35MiB");
  EXPECT_EQ(to_text(Bytes(std::int64_t{3} << 40)), "3TiB");
  EXPECT_EQ(to_text(Bytes(1536)), "1536B");  // 1.5 KiB is not whole
  EXPECT_EQ(to_text(Bytes(0)), "0B");
  EXPECT_EQ(to_text(Bytes(1024000)), "1000KiB");
  EXPECT_EQ(to_text(Bytes(32000000000)), "32GB");
}

TEST(Units, Bandwidths_and_frequencies_are_written_short) {
  EXPECT_EQ(to_text(Bandwidth{25.28, Bandwidth::Unit::bytes_per_cycle}), "25.28B/cycle");
  EXPECT_EQ(to_text(Bandwidth{25.6e9, Bandwidth::Unit::bytes_per_second}), "25.6GB/s");
  EXPECT_EQ(to_text(Bandwidth{0.5, Bandwidth::Unit::bytes_per_second}), "0.5B/s");
  EXPECT_EQ(to_text(Hertz(2.6e9)), "2.6GHz");
  EXPECT_EQ(to_text(Hertz(8e8)), "800MHz");
  EXPECT_EQ(to_text(Hertz(60)), "60Hz");
}

TEST(Units, What_is_written_reads_back_to_the_last_bit) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-3, 15);
  std::uniform_int_distribution<std::int64_t> size(1, std::numeric_limits<std::int64_t>::max());
  std::uniform_int_distribution<int> shift(0, 62);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::pow(10, exponent(random));
    const Bandwidth per_second{value, Bandwidth::Unit::bytes_per_second};
    const Bandwidth per_cycle{value, Bandwidth::Unit::bytes_per_cycle};
    EXPECT_EQ(parse_bandwidth(to_text(per_second)), per_second) << to_text(per_second);
    EXPECT_EQ(parse_bandwidth(to_text(per_cycle)), per_cycle) << to_text(per_cycle);
    EXPECT_EQ(parse_frequency(to_text(Hertz(value))).value(), value) << to_text(Hertz(value));
    const JoulesPerByte energy(value * 1e-15);
    EXPECT_EQ(parse_energy(to_text(energy)), energy) << to_text(energy);
    const Bytes bytes(std::max<std::int64_t>(1, size(random) >> shift(random)));
    EXPECT_EQ(parse_bytes(to_text(bytes)), bytes) << to_text(bytes);
  }
}

TEST(Units, Tables_show_four_significant_digits) {
  EXPECT_EQ(to_display(Bytes(0)), "0 B");
  EXPECT_EQ(to_display(Bytes(999)), "999 B");
  EXPECT_EQ(to_display(Bytes(1000)), "1 kB");
  EXPECT_EQ(to_display(Bytes(1234000)), "1.234 MB");
  EXPECT_EQ(to_display(Bytes(999950)), "1 MB");  // not "1000 kB"
  EXPECT_EQ(to_display(Bytes(999949)), "999.9 kB");
  EXPECT_EQ(to_display(Bytes(36200000000)), "36.2 GB");
  EXPECT_EQ(to_display(Seconds(0.00321)), "3.21 ms");
  EXPECT_EQ(to_display(Seconds(1.5e-9)), "1.5 ns");
  EXPECT_EQ(to_display(Seconds(2.5e-5)), "25 us");
  EXPECT_EQ(to_display(Seconds(0)), "0 ns");
  EXPECT_EQ(to_display(Seconds(12.345)), "12.35 s");
  EXPECT_EQ(to_display(Seconds(1234)), "1234 s");
  EXPECT_EQ(to_display(Seconds(86400)), "86400 s");
}

}  // namespace
}  // namespace tcsim
