#include "sim/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "sim/zigzag.hpp"

namespace tcsim::sim {

namespace {

constexpr std::uint64_t most_bytes = 1 << 20;  // of one access: more is a mistake
constexpr std::size_t most_columns = 4096;     // of a line of text
constexpr std::uint32_t default_din_bytes = 4;

// Bytes one by one or many at a time, with a look at those to come.
class ByteStream {
 public:
  explicit ByteStream(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  int next() {
    if (used_ == end_ && !fill()) return -1;
    return static_cast<unsigned char>(buffer_[used_++]);
  }
  // Up to a buffer of what comes, without taking it.
  std::string_view look() {
    while (end_ < buffer_.size()) {
      const std::size_t more = source_->read(std::span(buffer_).subspan(end_));
      if (more == 0) break;
      end_ += more;
    }
    return {buffer_.data() + used_, end_ - used_};
  }
  // What comes, without taking it: at least so many bytes, unless the end is nearer.
  std::string_view at_least(std::size_t wanted) {
    while (end_ - used_ < wanted && fill()) {
    }
    return {buffer_.data() + used_, end_ - used_};
  }
  void take(std::size_t bytes) { used_ += bytes; }
  std::uint64_t count() const { return before_ + used_; }

 private:
  // More behind what is left; false at the end.
  bool fill() {
    std::memmove(buffer_.data(), buffer_.data() + used_, end_ - used_);
    before_ += used_;
    end_ -= used_;
    used_ = 0;
    const std::size_t more = source_->read(std::span(buffer_).subspan(end_));
    end_ += more;
    return more > 0;
  }
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_ = std::vector<char>(1 << 16);
  std::size_t used_ = 0, end_ = 0;
  std::uint64_t before_ = 0;  // bytes that were taken and have left the buffer
};

// Values of hexadecimal digits; 16 of all else.
constexpr auto hex_digits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(16);
  for (unsigned i = 0; i < 10; ++i) table['0' + i] = static_cast<std::uint8_t>(i);
  for (unsigned i = 0; i < 6; ++i) {
    table['a' + i] = table['A' + i] = static_cast<std::uint8_t>(10 + i);
  }
  return table;
}();

// Lines of text; Format::parse() reads one.
template <class Format>
class TextReader : public TraceReader {
 public:
  TextReader(ByteStream in, std::string place) : in_(std::move(in)), place_(std::move(place)) {}

  bool next(TraceRecord& record) final {
    while (read_line()) {
      if (static_cast<Format&>(*this).parse(line_, record)) return true;
    }
    return false;
  }
  std::size_t add_to(TraceBatch& batch) final {
    std::size_t count = 0;
    for (TraceRecord record; batch.room() > 0 && next(record); ++count) {
      batch.add(record.address, record.bytes, record.kind);
    }
    return count;
  }

 protected:
  // Format has
  //   bool parse(std::string_view line, TraceRecord& record)
  //       whether the line holds a record; some lines hold none

  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(fmt::format("{}:{}", place_, number_), problem, mend);
  }

  // A number at the beginning of the text, which then begins behind it.
  std::uint64_t number(std::string_view& text, int base, const char* what) const {
    std::uint64_t value = 0;
    if (base == 16) {
      // Short enough not to overflow: nearly all of them.
      std::size_t digits = 0;
      for (; digits < std::min<std::size_t>(16, text.size()); ++digits) {
        const std::uint8_t digit = hex_digits[static_cast<unsigned char>(text[digits])];
        if (digit > 15) break;
        value = value << 4 | digit;
      }
      const bool goes_on =
          digits == 0 || (digits < text.size() && (text[digits] | 32) == 'x') || digits == 16;
      if (!goes_on) {
        text.remove_prefix(digits);
        return value;
      }
      value = 0;
    }
    if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error == std::errc::result_out_of_range) {
      fail(fmt::format("the {} does not fit 64 bits", what), "give a shorter one");
    }
    if (error != std::errc()) {
      fail(fmt::format("{} {} is missing at '{}'", what[0] == 'a' ? "an" : "a", what, shown(text)),
           fmt::format("write it in {} digits", base == 16 ? "hexadecimal" : "decimal"));
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  }

  void set(TraceRecord& record, AccessKind kind, std::uint64_t address, std::uint64_t bytes) const {
    if (bytes < 1 || bytes > most_bytes) {
      fail(fmt::format("an access of {} bytes", bytes), fmt::format("give 1 to {}", most_bytes));
    }
    if (address > std::numeric_limits<std::uint64_t>::max() - bytes) {
      fail("the access goes beyond the last address", "give a lower address");
    }
    record = {kind, address, static_cast<std::uint32_t>(bytes), 0, 1};
  }

  static std::string shown(std::string_view text) {
    std::string s;
    for (char c : text.substr(0, 24)) s += c >= ' ' && c <= '~' ? c : '?';
    return s;
  }
  static void skip_blanks(std::string_view& text) {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r')) {
      text.remove_prefix(1);
    }
  }

 private:
  bool read_line() {
    ++number_;
    std::string_view ahead = in_.at_least(1);
    const void* end = ahead.empty() ? nullptr : std::memchr(ahead.data(), '\n', ahead.size());
    if (!end) {
      ahead = in_.at_least(most_columns + 1);
      end = ahead.empty() ? nullptr : std::memchr(ahead.data(), '\n', ahead.size());
    }
    const std::size_t length =
        end ? static_cast<std::size_t>(static_cast<const char*>(end) - ahead.data()) : ahead.size();
    if (length > most_columns) {
      fail(fmt::format("a line of more than {} characters", most_columns),
           "give a trace as text with a record a line");
    }
    line_ = ahead.substr(0, length);
    in_.take(length + (end ? 1 : 0));
    return end || length > 0;
  }

  ByteStream in_;
  std::string place_;
  std::string_view line_;  // of the stream's buffer
  std::uint64_t number_ = 0;
};

class DinReader final : public TextReader<DinReader> {
 public:
  using TextReader::TextReader;

  bool parse(std::string_view line, TraceRecord& record) {
    skip_blanks(line);
    if (line.empty()) return false;
    const char label = line[0];
    line.remove_prefix(1);
    AccessKind kind = AccessKind::read;
    if (label == '1' || label == 'w') {
      kind = AccessKind::write;
    } else if (label == '2' || label == 'i') {
      kind = AccessKind::instruction;
    } else if (label != '0' && label != 'r') {
      fail(fmt::format("the label '{}' is not known", shown({&label, 1})),
           "use 0 or r (read), 1 or w (write), 2 or i (instruction)");
    }
    if (line.empty() || (line[0] != ' ' && line[0] != '\t')) {
      fail(fmt::format("a blank is missing behind the label at '{}'", shown(line)),
           "write LABEL ADDRESS");
    }
    skip_blanks(line);
    const std::uint64_t address = number(line, 16, "address");
    skip_blanks(line);
    // Dinero takes no notice of what else stands in a line.
    const bool has_bytes = !line.empty() && std::isxdigit(static_cast<unsigned char>(line[0]));
    set(record, kind, address, has_bytes ? number(line, 16, "number of bytes") : default_din_bytes);
    return true;
  }
};

class LackeyReader final : public TextReader<LackeyReader> {
 public:
  using TextReader::TextReader;

  bool parse(std::string_view line, TraceRecord& record) {
    if (line.starts_with("==") || line.starts_with("--")) return false;  // valgrind's own words
    skip_blanks(line);
    if (line.empty()) return false;
    AccessKind kind = AccessKind::read;
    switch (line[0]) {
      case 'I':
        kind = AccessKind::instruction;
        break;
      case 'L':
        break;
      case 'S':
        kind = AccessKind::write;
        break;
      case 'M':
        kind = AccessKind::modify;
        break;
      default:
        fail(fmt::format("'{}' is no access", shown(line)),
             "use I (instruction), L (load), S (store) or M (modify)");
    }
    line.remove_prefix(1);
    skip_blanks(line);
    const std::uint64_t address = number(line, 16, "address");
    if (!line.starts_with(',')) {
      fail(fmt::format("a comma is missing at '{}'", shown(line)), "write ADDRESS,BYTES");
    }
    line.remove_prefix(1);
    const std::uint64_t bytes = number(line, 10, "number of bytes");
    skip_blanks(line);
    if (!line.empty()) fail(fmt::format("'{}' is too much", shown(line)), "end the line here");
    set(record, kind, address, bytes);
    return true;
  }
};

class BinaryReader final : public TraceReader {
 public:
  BinaryReader(ByteStream in, std::string place) : in_(std::move(in)), place_(std::move(place)) {
    for (const char* c = trace_magic; *c; ++c) {
      if (in_.next() != *c) {
        throw InputError(place_, fmt::format("it does not begin with {}", trace_magic),
                         "name a trace in tcsim's binary format");
      }
    }
  }

  // Up to a record that is malformed or has a number of more than eight bytes.
  std::size_t add_to(TraceBatch& batch) override {
    const std::size_t before = batch.room();
    while (batch.room() > 0) {
      const std::string_view ahead = in_.at_least(longest_record);
      const std::size_t taken = add_some(ahead, batch);
      in_.take(taken);
      if (taken == 0) break;
    }
    return before - batch.room();
  }

  bool next(TraceRecord& record) override {
    ++number_;
    const int head = in_.next();
    if (head < 0) return false;
    if (head > 15) fail(fmt::format("its first byte is {}", head), "it has to be 0 to 15");
    record.kind = static_cast<AccessKind>(head & 3);
    if ((head & 8) == 0) {
      const std::uint64_t bytes = varint();
      if (bytes < 1 || bytes > most_bytes) {
        fail(fmt::format("an access of {} bytes", bytes), fmt::format("give 1 to {}", most_bytes));
      }
      bytes_ = static_cast<std::uint32_t>(bytes);
    } else if (number_ == 1) {
      fail("it has as many bytes as the record before, and is the first one", "clear bit 3");
    }
    record.bytes = bytes_;
    record.address = last_ + static_cast<std::uint64_t>(zigzag());
    record.stride = 0;
    record.count = 1;
    if (head & 4) {
      record.stride = zigzag();
      record.count = varint();
      if (record.count > std::numeric_limits<std::int64_t>::max()) {
        fail(fmt::format("a run of {} accesses", record.count), "give fewer than 2^63");
      }
      record.count += 2;
    }
    check_range(record);
    return true;
  }

 private:
  // A head, then four numbers of ten bytes at most; numbers are read eight bytes at a time.
  static constexpr std::size_t longest_record = 1 + 4 * 10 + 8;
  // Of a run's stride, so that longest_run of them are no overflow.
  static constexpr std::uint64_t longest_stride = std::uint64_t{1} << 40;

  // How many of the bytes were taken.
  std::size_t add_some(std::string_view ahead, TraceBatch& batch) {
    const char* const end = ahead.data() + ahead.size();
    const char* at = ahead.data();
    std::uint64_t last = last_;
    std::uint64_t bytes = bytes_, number = number_;
    for (std::size_t room = batch.room(); room > 0; --room) {
      if (end - at < static_cast<std::ptrdiff_t>(longest_record)) break;
      const auto head = static_cast<unsigned char>(*at);
      if (head > 15) break;
      const char* next_at = at + 1;
      std::uint64_t new_bytes = bytes, distance = 0;
      if (head & 8) {
        if (number == 0) break;
      } else if (!short_varint(next_at, new_bytes) || new_bytes < 1 || new_bytes > most_bytes) {
        break;
      }
      if (!short_varint(next_at, distance)) break;
      const std::uint64_t address = last + static_cast<std::uint64_t>(unzigzag(distance));
      const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - new_bytes;
      if (address > most) break;
      const auto kind = static_cast<AccessKind>(head & 3);
      std::uint64_t to = address;  // of the run's last access
      if (head & 4) {
        std::uint64_t zigzag_stride = 0, count = 0;
        if (!short_varint(next_at, zigzag_stride) || !short_varint(next_at, count)) break;
        if (zigzag_stride > 2 * longest_stride || count > TraceBatch::longest_run - 2) break;
        const std::int64_t stride = unzigzag(zigzag_stride);
        count += 2;
        to += static_cast<std::uint64_t>(stride) * (count - 1);
        if (to > most || (stride < 0 ? to > address : to < address)) break;
        batch.add({kind, address, static_cast<std::uint32_t>(new_bytes), stride, count});
      } else {
        batch.add(address, static_cast<std::uint32_t>(new_bytes), kind);
      }
      at = next_at;
      last = to;
      bytes = new_bytes;
      ++number;
    }
    last_ = last;
    bytes_ = static_cast<std::uint32_t>(bytes);
    number_ = number;
    return static_cast<std::size_t>(at - ahead.data());
  }

  // A varint of up to eight bytes without a branch on their number; false if it is longer.
  static bool short_varint(const char*& at, std::uint64_t& value) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t ends = ~word & 0x8080808080808080;
    if (ends == 0) return false;
    at += std::countr_zero(ends) / 8 + 1;
    word &= ends ^ (ends - 1);
    word &= 0x7F7F7F7F7F7F7F7F;
    word = (word & 0x007F007F007F007F) | ((word & 0x7F007F007F007F00) >> 1);
    word = (word & 0x00003FFF00003FFF) | ((word & 0x3FFF00003FFF0000) >> 2);
    value = (word & 0x000000000FFFFFFF) | ((word & 0x0FFFFFFF00000000) >> 4);
    return true;
  }
  static bool in_range(const TraceRecord& r) {
    __extension__ using Wide = __int128;
    const Wide last = Wide{r.address} + Wide{r.stride} * static_cast<Wide>(r.count - 1);
    const Wide most = std::numeric_limits<std::uint64_t>::max() - Wide{r.bytes};
    return Wide{r.address} <= most && last >= 0 && last <= most;
  }

  // All of the run lies within 64 bits.
  void check_range(const TraceRecord& r) {
    if (!in_range(r)) fail("an access goes beyond the addresses", "let all lie within 64 bits");
    last_ = r.address + static_cast<std::uint64_t>(r.stride) * (r.count - 1);
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const int byte = in_.next();
      if (byte < 0) fail("it ends early", "write the trace again");
      if (shift == 63 && byte > 1) break;
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail("a number does not fit 64 bits", "write the trace again");
  }
  std::int64_t zigzag() { return unzigzag(varint()); }
  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(fmt::format("{}: record {} (up to byte {})", place_, number_, in_.count()),
                     problem, mend);
  }

  ByteStream in_;
  std::string place_;
  std::uint64_t number_ = 0, last_ = 0;
  std::uint32_t bytes_ = 0;
};

TraceFormat guess(std::string_view head, const std::string& place) {
  if (head.starts_with(trace_magic)) return TraceFormat::binary;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n'));
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos) {
      const char c = line[first];
      if (std::strchr("=-ILSM", c)) return TraceFormat::lackey;
      if (std::strchr("012rwi", c)) return TraceFormat::din;
      throw InputError(place + ":1", "it is neither a din, a lackey nor a binary trace",
                       "name one of these, or say which it is with --trace-format");
    }
    head.remove_prefix(std::min(head.size(), line.size() + 1));
  }
  return TraceFormat::din;  // an empty trace is as good as any
}

}  // namespace

std::unique_ptr<TraceReader> read_trace(std::unique_ptr<ByteSource> source,
                                        const std::string& place,
                                        std::optional<TraceFormat> format) {
  ByteStream in(std::move(source));
  switch (format ? *format : guess(in.look(), place)) {
    case TraceFormat::din:
      return std::make_unique<DinReader>(std::move(in), place);
    case TraceFormat::lackey:
      return std::make_unique<LackeyReader>(std::move(in), place);
    case TraceFormat::binary:
      break;
  }
  return std::make_unique<BinaryReader>(std::move(in), place);
}

std::unique_ptr<TraceReader> open_trace(const std::string& path,
                                        std::optional<TraceFormat> format) {
  return read_trace(open_bytes(path), path, format);
}

TraceWriter::TraceWriter(std::ostream& out) : out_(out) { out_ << trace_magic; }

void TraceWriter::write(AccessKind kind, std::uint64_t address, std::uint32_t bytes) {
  if (any_ && kind == run_.kind && bytes == run_.bytes) {
    const std::uint64_t end =
        run_.address + static_cast<std::uint64_t>(run_.stride) * (run_.count - 1);
    const auto stride = static_cast<std::int64_t>(address - end);
    if (run_.count == 1 || stride == run_.stride) {
      run_.stride = stride;
      ++run_.count;
      return;
    }
  }
  emit();
  run_ = {kind, address, bytes, 0, 1};
  any_ = true;
}

void TraceWriter::flush() {
  emit();
  any_ = false;
  out_.flush();
}

void TraceWriter::emit() {
  if (!any_) return;
  const bool run = run_.count > 1;
  out_.put(static_cast<char>(static_cast<int>(run_.kind) | (run ? 4 : 0) |
                             (run_.bytes == bytes_ ? 8 : 0)));
  if (run_.bytes != bytes_) varint(run_.bytes);
  zigzag(static_cast<std::int64_t>(run_.address - last_));
  if (run) {
    zigzag(run_.stride);
    varint(run_.count - 2);
  }
  bytes_ = run_.bytes;
  last_ = run_.address + static_cast<std::uint64_t>(run_.stride) * (run_.count - 1);
}

void TraceWriter::varint(std::uint64_t x) {
  for (; x > 127; x >>= 7) out_.put(static_cast<char>(x | 128));
  out_.put(static_cast<char>(x));
}

void TraceWriter::zigzag(std::int64_t x) { varint(sim::zigzag(x)); }

}  // namespace tcsim::sim
