#include "core/workload/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.hpp"

namespace tcsim {

namespace {

constexpr std::string_view label_form =
    "write OUTPUT-A-B such as abcd-aebf-dfce, or A,B->OUTPUT such as aebf,dfce->abcd";
constexpr std::string_view blanks = " \t";
constexpr std::string_view sizes_form = "write one size for each index, such as a=72,b=72";

// Not std::isalpha: that depends on the locale.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// `offset` counts from 0, the column that people see from 1.
[[noreturn]] void fail(std::string_view text, std::size_t offset, const std::string& problem,
                       std::string_view mend) {
  throw UsageError(fmt::format("\"{}\" column {}", text, offset + 1), problem, std::string(mend));
}

// One tensor's letters and where they stand in the label.
struct Letters {
  std::string_view names;
  std::size_t offset = 0;
};

// A, B and C of a label, by TensorId.
using Operands = std::array<Letters, 3>;

[[noreturn]] void fail_separator(std::string_view label, std::size_t pos, std::size_t seen,
                                 std::string_view wanted) {
  if (pos < label.size() && std::string_view(",->").find(label[pos]) == std::string_view::npos) {
    fail(label, pos, fmt::format("'{}' cannot be an index", label[pos]),
         "indices are the letters a-z and A-Z");
  }
  if (!wanted.empty()) {
    fail(label, pos,
         fmt::format("'{}' expected after tensor {} of 3, found {}", wanted, seen,
                     pos == label.size() ? "the end" : fmt::format("'{}'", label[pos])),
         label_form);
  }
  fail(label, pos, fmt::format("'{}' after the last of 3 tensors", label[pos]), label_form);
}

Operands split(std::string_view label) {
  const bool einsum = label.find_first_of(",>") != std::string_view::npos;
  // Separators after the first, the second and the third tensor of the text.
  const std::array<std::string_view, 3> separators =
      einsum ? std::array<std::string_view, 3>{",", "->", ""}
             : std::array<std::string_view, 3>{"-", "-", ""};
  std::array<Letters, 3> written;
  std::size_t pos = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t begin = pos;
    while (pos < label.size() && is_letter(label[pos])) ++pos;
    written[i] = {label.substr(begin, pos - begin), begin};
    const std::string_view wanted = separators[i];
    if (wanted.empty() ? pos != label.size() : label.substr(pos, wanted.size()) != wanted) {
      fail_separator(label, pos, i + 1, wanted);
    }
    pos += wanted.size();
  }
  if (!einsum) std::rotate(written.begin(), written.begin() + 1, written.end());
  for (std::size_t t = 0; t < 2; ++t) {
    if (written[t].names.empty()) {
      fail(label, written[t].offset, fmt::format("{} has no index", to_text(TensorId(t))),
           "only the output may be a scalar");
    }
  }
  return written;
}

bool has(const Letters& tensor, char name) {
  return tensor.names.find(name) != std::string_view::npos;
}

void check_repeats(std::string_view label, const Operands& operands) {
  for (TensorId t : all_tensors) {
    const Letters& tensor = operands[static_cast<std::size_t>(index(t))];
    for (std::size_t i = 1; i < tensor.names.size(); ++i) {
      if (tensor.names.substr(0, i).find(tensor.names[i]) == std::string_view::npos) continue;
      fail(label, tensor.offset + i,
           fmt::format("index '{}' is repeated in {}", tensor.names[i], to_text(t)),
           "a diagonal is not a contraction; give the second one a name of its own");
    }
  }
}

// Reports the last index that stands alone: what was typed first is what the rest should match.
void check_lone(std::string_view label, const Operands& operands) {
  std::vector<std::size_t> lone;  // offsets in the label
  for (const Letters& tensor : operands) {
    for (std::size_t i = 0; i < tensor.names.size(); ++i) {
      const auto in = std::count_if(operands.begin(), operands.end(), [&](const Letters& other) {
        return has(other, tensor.names[i]);
      });
      if (in == 1) lone.push_back(tensor.offset + i);
    }
  }
  if (lone.empty()) return;
  std::sort(lone.begin(), lone.end());
  std::string mend = "add it to another tensor or take it out";
  if (lone.size() == 2) {
    mend += fmt::format(", or is it '{}', which is in one tensor only too?", label[lone[0]]);
  }
  fail(label, lone.back(), fmt::format("index '{}' is in one tensor only", label[lone.back()]),
       mend);
}

std::int64_t parse_extent(std::string_view text, std::size_t offset, std::string_view number,
                          char name) {
  std::int64_t extent = 0;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, extent);
  if (stop != end || error == std::errc::invalid_argument) {
    fail(text, offset, fmt::format("the size of '{}' is \"{}\", not a whole number", name, number),
         sizes_form);
  }
  if (error == std::errc::result_out_of_range && number.front() != '-') {
    fail(text, offset, fmt::format("the size of '{}' is 2^63 or more", name), "use a smaller size");
  }
  if (extent < 1 || error == std::errc::result_out_of_range) {
    fail(text, offset, fmt::format("the size of '{}' is {}", name, number), "a size is at least 1");
  }
  return extent;
}

}  // namespace

Sizes parse_sizes(std::string_view text) {
  // Blanks may stand around every part: people write "a = 72, b = 72".
  const auto behind_blanks = [&](std::size_t from) {
    return std::min(text.find_first_not_of(blanks, from), text.size());
  };
  Sizes sizes;
  for (std::size_t pos = behind_blanks(0);; pos = behind_blanks(pos + 1)) {
    if (pos == text.size() || !is_letter(text[pos])) fail(text, pos, "index expected", sizes_form);
    const char name = text[pos];
    const std::size_t equals = behind_blanks(pos + 1);
    if (equals == text.size() || text[equals] != '=') {
      fail(text, equals, fmt::format("'=' expected after '{}'", name), sizes_form);
    }
    const std::size_t begin = behind_blanks(equals + 1);
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view number = text.substr(begin, end - begin);
    number = number.substr(0, number.find_last_not_of(blanks) + 1);
    const std::int64_t extent = parse_extent(text, begin, number, name);
    if (!sizes.emplace(name, extent).second) {
      fail(text, pos, fmt::format("'{}' has a size already", name), sizes_form);
    }
    if (end == text.size()) return sizes;
    pos = end;
  }
}

Contraction parse_contraction(std::string_view label, const Sizes& sizes, Layout layout,
                              ElementType type) {
  const Operands operands = split(label);
  check_repeats(label, operands);
  check_lone(label, operands);

  for (std::size_t i = 0; i < label.size(); ++i) {
    if (is_letter(label[i]) && !sizes.contains(label[i])) {
      fail(label, i, fmt::format("index '{}' has no size", label[i]),
           fmt::format("add {}=SIZE to the sizes", label[i]));
    }
  }
  std::vector<Dimension> dims;  // in the order of Sizes, which is alphabetical
  std::map<char, DimId> ids;
  for (const auto& [name, extent] : sizes) {
    if (label.find(name) == std::string_view::npos) {
      throw UsageError(fmt::format("\"{}\"", label),
                       fmt::format("'{}' has a size but is not an index", name),
                       fmt::format("take out {}={}", name, extent));
    }
    ids[name] = DimId{static_cast<int>(dims.size())};
    dims.push_back({name, extent});
  }
  std::array<std::vector<DimId>, 3> tensors;
  for (std::size_t t = 0; t < 3; ++t) {
    for (char name : operands[t].names) tensors[t].push_back(ids.at(name));
  }
  return Contraction(std::string(label), std::move(dims), std::move(tensors), layout, type);
}

}  // namespace tcsim
