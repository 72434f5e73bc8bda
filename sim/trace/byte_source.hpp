// Bytes of a file that may be compressed with gzip or zstd, as a stream: memory does not grow with
// the file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tcsim::sim {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills a part of the buffer, at least one byte, and says how many; 0 at the end.
  virtual std::size_t read(std::span<char> buffer) = 0;
};

inline constexpr const char* standard_input = "-";

// Looks at the first bytes for how the file is compressed. Throws InputError where it cannot be
// read; so does read() where compressed data is damaged or ends early. `path` may be
// standard_input. Heeds StopScope while it waits.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);
// The same for bytes in memory, which have to live as long; `place` in errors.
std::unique_ptr<ByteSource> bytes_of(std::span<const char> bytes, const std::string& place);

}  // namespace tcsim::sim
