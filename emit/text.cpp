#include "emit/text.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/text/safe.hpp"

namespace tcsim::emit {

namespace {

bool in_name(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string fill_in(std::string_view text, const Values& values) {
  std::string filled;
  while (true) {
    const auto mark = text.find('$');
    filled += text.substr(0, mark);
    if (mark == text.npos) return filled;
    text.remove_prefix(mark + 1);
    const auto size = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), in_name) -
                                               text.begin());
    const std::string_view name = text.substr(0, size);
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; });
    if (found == values.end()) throw std::logic_error("no value for $" + std::string(name));
    filled += found->second;
    text.remove_prefix(size);
  }
}

std::string with_prefix(std::string_view text, const std::string& prefix) {
  std::string with;
  for (char c : text) {
    if (c == '@') {
      with += prefix;
    } else {
      with += c;
    }
  }
  return with;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string in_format(std::string_view text) {
  std::string safe;
  for (char c : visible(text)) {
    if (c == '"' || c == '\\' || c == '?') safe += '\\';
    if (c == '%') safe += '%';
    safe += c;
  }
  return safe;
}

void Lines::add(std::string_view line) {
  if (line.starts_with('}')) --depth_;
  if (!line.empty()) text_.append(static_cast<std::size_t>(2 * depth_), ' ').append(line);
  text_ += '\n';
  if (line.ends_with('{')) ++depth_;
}

void Lines::add_all(std::string_view text) {
  for (const std::string& line : lines_of(text)) add(line);
}

void Lines::close(int down_to) {
  while (depth_ > down_to) add("}");
}

}  // namespace tcsim::emit
