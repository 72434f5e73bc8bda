// Quantities as people write them: "48KiB", "1 MiB", "25.6GB/s", "25.28B/cycle", "2.6GHz".
// Binary prefixes (KiB, MiB, GiB, TiB) are powers of 1024, decimal ones (kB, MB, GB, TB) of 1000,
// a bare number of a size is bytes. Parsers throw UsageError whose place is the text itself;
// readers of files add file and line. Formatters write what the parsers read, without loss.
#pragma once

#include <string>
#include <string_view>

#include "core/units/quantity.hpp"

namespace tcsim {

// How fast a link moves data, in the unit that its source gave.
struct Bandwidth {
  enum class Unit { bytes_per_cycle, bytes_per_second };
  double value = 0;  // > 0
  Unit unit = Unit::bytes_per_second;

  // In bytes per second on a core that runs at `frequency`.
  BytesPerSecond at(Hertz frequency) const {
    return BytesPerSecond(unit == Unit::bytes_per_cycle ? value * frequency.value() : value);
  }
  bool operator==(const Bandwidth&) const = default;
};

Bytes parse_bytes(std::string_view text);           // "48KiB"; whole bytes, > 0
Bandwidth parse_bandwidth(std::string_view text);   // "25.6GB/s", "25.28B/cycle"; > 0
Hertz parse_frequency(std::string_view text);       // "2.6GHz"; > 0
Seconds parse_seconds(std::string_view text);       // "60s", "5min", "1h", "100us"; > 0
JoulesPerByte parse_energy(std::string_view text);  // "25pJ/B", a bare number is pJ per byte; > 0
// A whole number > 0; `what` names it in the error ("ways").
std::int64_t parse_count(std::string_view text, std::string_view what);

std::string to_text(Bytes);      // exact: "32KiB", "32GB", otherwise "1234B"
std::string to_text(Bandwidth);  // shortest text that reads back as the same number
std::string to_text(Hertz);
std::string to_text(JoulesPerByte);

// For tables, not exact: four significant digits, "1.234 MB", "3.21 ms".
std::string to_display(Bytes);
std::string to_display(Seconds);
std::string to_display(Joules);
std::string to_binary_display(Bytes);  // of a size of memory: "22.5 KiB"

}  // namespace tcsim
