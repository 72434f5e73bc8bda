// What the commands print passes through here, whatever it holds.
#pragma once

#include <ostream>
#include <streambuf>

#include "core/text/safe.hpp"

namespace tcsim::cli {

// Writes visible_lines() of what it gets to another stream, which must outlive it.
class VisibleStream : public std::ostream {
 public:
  explicit VisibleStream(std::ostream& to) : std::ostream(nullptr), buffer_(to) { rdbuf(&buffer_); }

  std::ostream& behind() { return buffer_.to; }

 private:
  struct Buffer : std::streambuf {
    explicit Buffer(std::ostream& other) : to(other) {}
    ~Buffer() override { to << write.rest(); }

    int_type overflow(int_type c) override {
      if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
      const char one = traits_type::to_char_type(c);
      return xsputn(&one, 1) == 1 ? c : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize count) override {
      to << write({text, static_cast<std::size_t>(count)});
      return to ? count : 0;
    }
    int sync() override { return to.flush() ? 0 : -1; }

    std::ostream& to;
    VisibleWriter write;
  };

  Buffer buffer_;
};

// The stream behind such a one, for what moves the cursor on purpose.
inline std::ostream& behind(std::ostream& stream) {
  auto* const visible = dynamic_cast<VisibleStream*>(&stream);
  return visible == nullptr ? stream : visible->behind();
}

}  // namespace tcsim::cli
