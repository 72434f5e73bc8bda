#include "sim/trace/trace.hpp"

#include <emmintrin.h>
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

// The number that up to 16 hexadecimal digits are, and how many these are. Looks at 16 bytes.
int hex_number(const char* text, std::uint64_t& value) {
  const auto all = [](char c) { return _mm_set1_epi8(c); };
  const __m128i chars = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i decimal = _mm_sub_epi8(chars, all('0'));
  const __m128i letter = _mm_sub_epi8(_mm_or_si128(chars, all(0x20)), all('a'));
  const __m128i is_decimal = _mm_cmpeq_epi8(_mm_min_epu8(decimal, all(9)), decimal);
  const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, all(5)), letter);
  const auto is_digit =
      static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(is_decimal, is_letter)));
  const int digits = std::countr_one(is_digit);
  const __m128i values = _mm_or_si128(_mm_and_si128(is_decimal, decimal),
                                      _mm_andnot_si128(is_decimal, _mm_add_epi8(letter, all(10))));
  // Eight digits, the first in the lowest byte.
  const auto packed = [](std::uint64_t of) {
    of = __builtin_bswap64(of) & 0x0F0F0F0F0F0F0F0F;
    of = (of | of >> 4) & 0x00FF00FF00FF00FF;
    of = (of | of >> 8) & 0x0000FFFF0000FFFF;
    return (of | of >> 16) & 0xFFFFFFFF;
  };
  const auto high = static_cast<std::uint64_t>(_mm_cvtsi128_si64(values));
  const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_srli_si128(values, 8)));
  value = digits == 0 ? 0 : (packed(high) << 32 | packed(low)) >> (64 - 4 * digits);
  return digits;
}

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
  // Lines as they mostly are, and the others one by one.
  std::size_t add_to(TraceBatch& batch) final {
    const std::size_t before = batch.room();
    while (batch.room() > 0) {
      const std::string_view ahead = in_.at_least(longest_quick);
      const char* at = ahead.data();
      const char* const end = at + ahead.size();
      for (Quick line; batch.room() > 0 && end - at >= longest_quick; at = line.end) {
        line.end = at;
        if (!Format::quick(line)) break;
        batch.add(line.address, line.bytes, line.kind);
        ++number_;
      }
      const auto taken = static_cast<std::size_t>(at - ahead.data());
      in_.take(taken);
      if (taken > 0) continue;
      TraceRecord record;
      if (!next(record)) break;
      batch.add(record.address, record.bytes, record.kind);
    }
    return before - batch.room();
  }

 protected:
  // Format has
  //   bool parse(std::string_view line, TraceRecord& record)
  //       whether the line holds a record; some lines hold none
  //   static bool quick(Quick& line)
  //       the same for a line that begins at line.end, where it is one of few forms that it takes
  //       all of; false of others and of what is malformed
  static constexpr std::ptrdiff_t longest_quick = 64;  // bytes that quick() may look at
  struct Quick {
    const char* end = nullptr;  // behind its line break
    AccessKind kind = AccessKind::read;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;

    // Takes hexadecimal digits, one to fifteen.
    bool take_hex(std::uint64_t& value) {
      const int digits = hex_number(end, value);
      end += digits;
      return digits > 0 && digits < 16;
    }
    // Takes the line break, if there are as many bytes as there may be.
    bool ends() {
      const std::uint64_t last = address + bytes;  // of 60 and 32 bits
      return bytes >= 1 && bytes <= most_bytes && last > address && *end++ == '\n';
    }
  };

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

  // "0 1f80" or "0 1f80 8".
  static bool quick(Quick& line) {
    const char label = *line.end++;
    if (label < '0' || label > '2' || *line.end++ != ' ') return false;
    line.kind = label == '0'   ? AccessKind::read
                : label == '1' ? AccessKind::write
                               : AccessKind::instruction;
    std::uint64_t bytes = default_din_bytes;
    if (!line.take_hex(line.address)) return false;
    if (*line.end == ' ' && (++line.end, !line.take_hex(bytes))) return false;
    line.bytes = static_cast<std::uint32_t>(std::min(bytes, most_bytes + 1));
    return line.ends();
  }

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

  // "I  1f80,4" or " L 1f80,8".
  static bool quick(Quick& line) {
    const char* const text = line.end;
    const bool code = text[0] == 'I';
    const char kind = code ? text[1] : text[0], what = code ? text[0] : text[1];
    if (kind != ' ' || text[2] != ' ') return false;
    switch (what) {
      case 'I':
        if (!code) return false;
        line.kind = AccessKind::instruction;
        break;
      case 'L':
        line.kind = AccessKind::read;
        break;
      case 'S':
        line.kind = AccessKind::write;
        break;
      case 'M':
        line.kind = AccessKind::modify;
        break;
      default:
        return false;
    }
    line.end = text + 3;
    if (!line.take_hex(line.address) || *line.end++ != ',') return false;
    line.bytes = 0;
    for (int i = 0; i < 7 && *line.end >= '0' && *line.end <= '9'; ++i) {
      line.bytes = 10 * line.bytes + static_cast<std::uint32_t>(*line.end++ - '0');
    }
    return line.ends();
  }

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
      const std::size_t taken =
          extracts_ ? add_some<true>(ahead, batch) : add_some<false>(ahead, batch);
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

  // How many of the bytes were taken. Most records are single accesses of a few bytes, so where the
  // next one begins is worked out for these first and without a branch.
  template <bool Extracts>
  std::size_t add_some(std::string_view ahead, TraceBatch& batch) {
    if (ahead.size() < longest_record) return 0;
    const char* const last_at = ahead.data() + ahead.size() - longest_record;
    const char* at = ahead.data();
    std::uint64_t last = last_;
    std::uint32_t bytes = bytes_;
    const std::size_t room = batch.room();
    for (; batch.room() > 0 && at <= last_at;) {
      const auto head = static_cast<unsigned char>(at[0]);
      const auto given = static_cast<unsigned char>(at[1]);
      const bool same_bytes = (head & 8) != 0;
      const std::uint32_t new_bytes = same_bytes ? bytes : given;
      // Numbers of bytes that take more than one, and what is malformed, are next()'s.
      const bool malformed = head > 15 || new_bytes - 1 >= most_bytes;
      if (malformed || (!same_bytes && given > 127)) break;
      const std::uint64_t behind_head = bits_at(at + 1), behind_bytes = bits_at(at + 2);
      const std::uint64_t word = same_bytes ? behind_head : behind_bytes;
      const std::uint64_t ends = ~word & top_bits;
      if (ends == 0) break;
      const char* next_at = at + 2 + !same_bytes + std::countr_zero(ends) / 8;
      const std::uint64_t address =
          last + static_cast<std::uint64_t>(unzigzag(short_varint<Extracts>(word, ends)));
      const std::uint64_t most = ~std::uint64_t{new_bytes};
      if (address > most) break;
      const auto kind = static_cast<AccessKind>(head & 3);
      std::uint64_t to = address;  // of the run's last access
      if (head & 4) [[unlikely]] {
        std::uint64_t zigzag_stride = 0, count = 0;
        if (!short_varint(next_at, zigzag_stride) || !short_varint(next_at, count)) break;
        if (zigzag_stride > 2 * longest_stride || count > TraceBatch::longest_run - 2) break;
        const std::int64_t stride = unzigzag(zigzag_stride);
        count += 2;
        to += static_cast<std::uint64_t>(stride) * (count - 1);
        if (to > most || (stride < 0 ? to > address : to < address)) break;
        batch.add({kind, address, new_bytes, stride, count});
      } else {
        batch.add(address, new_bytes, kind);
      }
      at = next_at;
      last = to;
      bytes = new_bytes;
    }
    last_ = last;
    bytes_ = bytes;
    number_ += room - batch.room();
    return static_cast<std::size_t>(at - ahead.data());
  }

  static constexpr std::uint64_t top_bits = 0x8080808080808080;
  static std::uint64_t bits_at(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  // The first varint of eight bytes; `ends`: the top bits of those that end one, not 0. Extracts:
  // by an instruction of BMI2.
  template <bool Extracts>
  static std::uint64_t short_varint(std::uint64_t word, std::uint64_t ends) {
    word &= ends ^ (ends - 1);
    if constexpr (Extracts) {
      std::uint64_t value;
      asm("pext %2, %1, %0" : "=r"(value) : "r"(word), "r"(~top_bits));
      return value;
    }
    word &= ~top_bits;
    word = (word & 0x007F007F007F007F) | ((word & 0x7F007F007F007F00) >> 1);
    word = (word & 0x00003FFF00003FFF) | ((word & 0x3FFF00003FFF0000) >> 2);
    return (word & 0x000000000FFFFFFF) | ((word & 0x0FFFFFFF00000000) >> 4);
  }
  // Takes one of up to eight bytes; false if it is longer.
  static bool short_varint(const char*& at, std::uint64_t& value) {
    const std::uint64_t word = bits_at(at), ends = ~word & top_bits;
    if (ends == 0) return false;
    at += std::countr_zero(ends) / 8 + 1;
    value = short_varint<false>(word, ends);
    return true;
  }
  // Before Zen 3 AMD's processors take a few hundred cycles for it.
  static bool extracts_quickly() {
    return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("znver1") &&
           !__builtin_cpu_is("znver2");
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
  bool extracts_ = extracts_quickly();
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
  const bool alike = run_.count > 0 && kind == run_.kind && bytes == run_.bytes;
  const std::uint64_t end =
      run_.address + static_cast<std::uint64_t>(run_.stride) * (run_.count - 1);
  const auto stride = static_cast<std::int64_t>(address - end);
  if (!(alike && stride == run_.stride)) part_two();
  if (alike && (run_.count == 1 || stride == run_.stride)) {
    run_.stride = stride;
    ++run_.count;
    return;
  }
  if (run_.count > 0) emit();
  run_ = {kind, address, bytes, 0, 1};
}

// Two accesses are as short for themselves, and the second one may begin a run.
void TraceWriter::part_two() {
  if (run_.count != 2) return;
  run_.count = 1;
  emit();
  run_.address += static_cast<std::uint64_t>(run_.stride);
}

void TraceWriter::flush() {
  part_two();
  if (run_.count > 0) emit();
  run_.count = 0;
  out_.flush();
}

void TraceWriter::emit() {
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
  last_ = run_.address + (run ? static_cast<std::uint64_t>(run_.stride) * (run_.count - 1) : 0);
}

void TraceWriter::varint(std::uint64_t x) {
  for (; x > 127; x >>= 7) out_.put(static_cast<char>(x | 128));
  out_.put(static_cast<char>(x));
}

void TraceWriter::zigzag(std::int64_t x) { varint(sim::zigzag(x)); }

}  // namespace tcsim::sim
