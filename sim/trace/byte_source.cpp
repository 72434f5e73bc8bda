#include "sim/trace/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/error.hpp"
#include "core/stop.hpp"

namespace tcsim::sim {

namespace {

constexpr std::size_t chunk = 1 << 16;

// A file, a pipe or standard input. What is slow to come is waited for in steps, so that a request
// to stop is heeded meanwhile.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path)
      : path_(path),
        file_(path == standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail("name a file that is there");
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (file_ != STDIN_FILENO) ::close(file_);
  }
  std::size_t read(std::span<char> buffer) override {
    while (true) {
      pollfd waited{file_, POLLIN, 0};
      const int ready = ::poll(&waited, 1, wait_milliseconds);
      StopScope::heed();
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t count = ::read(file_, buffer.data(), buffer.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR && errno != EAGAIN) fail("name a file, not a directory");
    }
  }

 private:
  static constexpr int wait_milliseconds = 100;  // a stop is heeded within a second
  [[noreturn]] void fail(const char* mend) const {
    throw InputError(path_, fmt::format("the trace cannot be read: {}", std::strerror(errno)),
                     mend);
  }
  std::string path_;
  int file_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : bytes_(bytes) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, buffer.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  std::span<const char> bytes_;
};

// Compressed bytes, taken a chunk at a time; some were read before to look at them.
class Compressed {
 public:
  Compressed(std::unique_ptr<ByteSource> source, std::vector<char> head, std::string place)
      : source_(std::move(source)), bytes_(std::move(head)), place_(std::move(place)) {}

  // What is left of the chunk, or the next one; empty at the end.
  std::span<char> rest() {
    if (used_ == bytes_.size()) {
      bytes_.resize(chunk);
      bytes_.resize(source_->read(bytes_));
      used_ = 0;
    }
    return std::span(bytes_).subspan(used_);
  }
  void use(std::size_t count) {
    used_ += count;
    total_ += count;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(place_, fmt::format("its compressed data is bad at byte {}: {}", total_, why),
                     "write it again");
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
  std::size_t used_ = 0, total_ = 0;
  std::string place_;
};

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(Compressed in) : in_(std::move(in)) {}
  std::size_t read(std::span<char> buffer) override {
    const std::span<char> rest = in_.rest();
    const std::size_t count = std::min(buffer.size(), rest.size());
    std::copy_n(rest.begin(), count, buffer.begin());
    in_.use(count);
    return count;
  }

 private:
  Compressed in_;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(Compressed in) : in_(std::move(in)) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> buffer) override {
    while (true) {
      const std::span<char> rest = in_.rest();
      if (rest.empty()) {
        if (within_) in_.fail("it ends early");
        return 0;
      }
      if (!within_) inflateReset(&stream_);  // members may follow each other
      within_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(rest.data());
      stream_.avail_in = static_cast<uInt>(rest.size());
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      in_.use(rest.size() - stream_.avail_in);
      if (code == Z_STREAM_END) {
        within_ = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        in_.fail(stream_.msg ? stream_.msg : "no gzip data");
      }
      if (const std::size_t count = buffer.size() - stream_.avail_out; count > 0) return count;
    }
  }

 private:
  Compressed in_;
  z_stream stream_{};
  bool within_ = false;  // a member
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(Compressed in)
      : in_(std::move(in)), stream_(ZSTD_createDStream(), &ZSTD_freeDStream) {
    if (!stream_) throw std::bad_alloc();
  }
  std::size_t read(std::span<char> buffer) override {
    while (true) {
      const std::span<char> rest = in_.rest();
      ZSTD_inBuffer in{rest.data(), rest.size(), 0};
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      if (rest.empty() && !within_) return 0;
      const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(code)) in_.fail(ZSTD_getErrorName(code));
      in_.use(in.pos);
      within_ = code != 0;
      if (out.pos > 0) return out.pos;
      if (rest.empty() && within_) in_.fail("it ends early");
    }
  }

 private:
  Compressed in_;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  bool within_ = false;  // a frame
};

bool begins_with(const std::vector<char>& head, std::initializer_list<unsigned char> magic) {
  return head.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), head.begin(),
                    [](unsigned char m, char h) { return m == static_cast<unsigned char>(h); });
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source,
                                         const std::string& place) {
  std::vector<char> head(4);
  std::size_t have = 0;
  while (have < head.size()) {
    const std::size_t more = source->read(std::span(head).subspan(have));
    if (more == 0) break;
    have += more;
  }
  head.resize(have);
  const bool gzip = begins_with(head, {0x1F, 0x8B});
  const bool zstd = begins_with(head, {0x28, 0xB5, 0x2F, 0xFD});
  Compressed in(std::move(source), std::move(head), place);
  if (gzip) return std::make_unique<GzipSource>(std::move(in));
  if (zstd) return std::make_unique<ZstdSource>(std::move(in));
  return std::make_unique<PlainSource>(std::move(in));
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return decompressed(std::make_unique<FileSource>(path), path);
}

std::unique_ptr<ByteSource> bytes_of(std::span<const char> bytes, const std::string& place) {
  return decompressed(std::make_unique<MemorySource>(bytes), place);
}

}  // namespace tcsim::sim
