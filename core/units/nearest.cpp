#include "core/units/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tcsim {

std::size_t letters_apart(const std::string& a, const std::string& b) {
  // Rows of the distances between a's first i and b's first j letters, for i - 2, i - 1 and i.
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& typed, const std::vector<std::string>& known) {
  std::string best;
  std::size_t apart = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& word : known) {
    const bool begins = typed.size() >= 2 && word.starts_with(typed);
    const std::size_t distance = begins ? 0 : letters_apart(typed, word);
    if (distance < apart) {
      apart = distance;
      best = word;
    }
  }
  return best;
}

std::string one_of(const std::string& typed, const std::vector<std::string>& known) {
  std::string list;
  for (const std::string& word : known) list += (list.empty() ? "" : ", ") + word;
  const std::string meant = nearest(typed, known);
  return meant.empty() ? "use one of " + list
                       : fmt::format("did you mean '{}'? use one of {}", meant, list);
}

}  // namespace tcsim
