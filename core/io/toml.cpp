#include "core/io/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace tcsim {

namespace {

// The end of the string that begins at `at`, or of the line that it is cut off at.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool escapes = quote == '"';
  const std::string_view three = text.substr(at, 3);
  const bool lines = three.size() == 3 && three[1] == quote && three[2] == quote;
  for (std::size_t i = at + (lines ? 3 : 1); i < text.size(); ++i) {
    if (escapes && text[i] == '\\') {
      ++i;
    } else if (!lines && (text[i] == quote || text[i] == '\n')) {
      return text[i] == quote ? i + 1 : i;
    } else if (lines && text.substr(i, 3) == three) {
      return i + 3;
    }
  }
  return text.size();
}

// toml++ makes a table of every part of a key and takes them apart again by recursion, however many
// there are. So they are counted before it sees them.
void require_shallow(std::string_view text, const std::string& place) {
  const auto refuse = [&](std::size_t at, const std::string& problem) {
    const std::string_view before = text.substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    throw InputError(fmt::format("{}:{}:{}", place, line, column), problem,
                     "no file of tcsim has that: mend the TOML there");
  };
  int parts = 1, depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.' && ++parts > most_key_parts) {
      refuse(i, fmt::format("a key of more than {} parts", most_key_parts));
    }
    if ((c == '[' || c == '{') && ++depth > most_toml_depth) {
      refuse(i, fmt::format("more than {} lists or tables within one another", most_toml_depth));
    }
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (std::string_view("[]{}=,\n").find(c) != std::string_view::npos) parts = 1;
    ++i;
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& place) {
  if (text.size() > most_toml_bytes) {
    throw InputError(place, fmt::format("it has more than {} MiB", most_toml_bytes >> 20),
                     "no file of tcsim is that large: give a smaller one");
  }
  require_shallow(text, place);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    throw InputError(fmt::format("{}:{}:{}", place, at.line, at.column),
                     std::string(e.description()), "mend the TOML there");
  }
}

}  // namespace tcsim
