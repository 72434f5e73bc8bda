#include "core/text/safe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/text/utf8.hpp"

namespace tcsim {

namespace {

std::string shown(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
  }
}

// Appends the text's characters until one is cut off by its end; returns that one's bytes.
std::string_view make_visible(std::string_view text, bool lines, std::string& out) {
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.bytes == 0) break;
    if (c.code == no_character) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (acts(c.code) && !(lines && (c.code == '\n' || c.code == '\t'))) {
      out += shown(c.code);
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return text;
}

std::string whole(std::string_view text, bool lines) {
  std::string out;
  for (std::string_view cut = make_visible(text, lines, out); !cut.empty(); cut.remove_prefix(1)) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(cut[0]));
  }
  return out;
}

bool is_number(std::string_view text) {
  double ignored = 0;
  const char* const end = text.data() + text.size();
  return std::from_chars(text.data(), end, ignored).ptr == end;
}

// What spreadsheets begin a formula with; some take the wide forms of East Asian fonts too.
bool begins_formula(std::string_view text) {
  const auto begins = [&](std::string_view with) { return text.starts_with(with); };
  constexpr std::string_view marks[] = {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  return std::ranges::any_of(marks, begins) && !is_number(text);
}

}  // namespace

std::string visible(std::string_view text) { return whole(text, false); }
std::string visible_lines(std::string_view text) { return whole(text, true); }
bool is_visible(std::string_view text) { return visible(text) == text; }

std::string csv_cell(std::string_view text) {
  // A line break or tab at the beginning would hide what follows it from the next line.
  const auto body = std::min(text.find_first_not_of("\t\n"), text.size());
  std::string shown = visible(text.substr(0, body)) + visible_lines(text.substr(body));
  if (begins_formula(shown)) shown.insert(0, 1, '\'');
  if (shown.find_first_of(",\"\n") == shown.npos) return shown;
  std::string cell = "\"";
  for (char c : shown) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    line += csv_cell(cells[i]);
  }
  return line + '\n';
}

std::string csv_number(double value) { return fmt::format("{}", value); }

std::string in_comment(std::string_view text) {
  std::string safe;
  for (char c : visible(text)) {
    const char before = safe.empty() ? '\0' : safe.back();
    if ((before == '*' && c == '/') || (before == '/' && c == '*')) safe += ' ';
    if (before == '?' && c == '?') safe += ' ';  // no trigraphs
    safe += c;
  }
  // A backslash at the end would take the next line into the comment.
  while (safe.ends_with(' ') || safe.ends_with('\\')) safe.pop_back();
  return safe;
}

std::string in_markup(std::string_view text) {
  std::string safe;
  for (char c : visible_lines(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const Character c = first_character(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(c.bytes, 1));
    text.remove_prefix(bytes.size());
    if (c.bytes == 0 || c.code == no_character) {
      quoted += fmt::format("\\\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    } else if (c.code == '"' || c.code == '\\') {
      quoted += '\\';
      quoted += bytes;
    } else if (acts(c.code)) {
      quoted += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(c.code));
    } else {
      quoted += bytes;
    }
  }
  return quoted + "\"";
}

std::string in_single_quotes(std::string_view text) {
  std::string safe;
  for (char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe;
}

std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,+%@").find(c) != std::string_view::npos;
  };
  // zsh takes =ls for the path of ls.
  if (!word.empty() && word[0] != '=' && std::all_of(word.begin(), word.end(), plain)) return word;
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::none_of(word.begin(), word.end(), control)) return "'" + in_single_quotes(word) + "'";
  std::string text = "$'";
  for (char c : word) {
    if (control(c)) {
      text += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text + "'";
}

namespace {

std::string doubled(std::string_view text, char quote) {
  std::string safe(1, quote);
  for (char c : text) safe.append(c == quote ? 2 : 1, c);
  return safe + quote;
}

}  // namespace

std::string quoted_sql(std::string_view name) { return doubled(name, '"'); }
std::string sql_text(std::string_view text) { return doubled(text, '\''); }

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return visible(text);
  // Between characters: bytes that go on one are 10xxxxxx.
  const auto inside = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  std::size_t head = most * 3 / 4, tail = text.size() - most / 4;
  while (head > 0 && inside(head)) --head;
  while (inside(tail)) ++tail;
  return visible(text.substr(0, head)) + " ... " + visible(text.substr(tail));
}

std::string VisibleWriter::operator()(std::string_view piece) {
  const std::string text = cut_ + std::string(piece);
  std::string out;
  cut_ = make_visible(text, true, out);
  return out;
}

std::string VisibleWriter::rest() { return visible(std::exchange(cut_, {})); }

}  // namespace tcsim
