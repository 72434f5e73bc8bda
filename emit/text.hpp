// Pieces of C as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tcsim::emit {

using Values = std::vector<std::pair<std::string_view, std::string>>;

// `text` with every $NAME (capitals and digits) replaced by its value. Throws std::logic_error for
// a name without one. C itself has no '$'.
std::string fill_in(std::string_view text, const Values& values);

// `text` with every '@', which stands before each name that the file defines, replaced.
std::string with_prefix(std::string_view text, const std::string& prefix);

// Without the line breaks.
std::vector<std::string> lines_of(std::string_view text);

// What may stand in a string literal that printf() reads, whatever the text is.
std::string in_format(std::string_view text);

// Lines of code, each as deep as the braces before it are open.
class Lines {
 public:
  explicit Lines(int depth = 0) : depth_(depth) {}
  // Ends a line. A line that begins with '}' stands one step further out, and what follows one
  // that ends with '{' one further in.
  void add(std::string_view line);
  // Each line of `text`, which has no indentation of its own.
  void add_all(std::string_view text);
  // Closes what is open.
  void close(int down_to);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

}  // namespace tcsim::emit
