// Arguments of Dinero IV: -l1-dsize 32k -l1-dbsize 64 -l1-dassoc 8 ..., a data cache at level 1 and
// unified ones behind it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/error.hpp"
#include "core/units/text.hpp"
#include "exchange/draft.hpp"

namespace tcsim::exchange {

namespace {

constexpr const char* dinero = "Dinero IV";

// The policies that both have, by Dinero's letter.
constexpr std::pair<char, Replacement> replacements[] = {
    {'l', Replacement::lru}, {'f', Replacement::fifo}, {'r', Replacement::random}};
constexpr std::pair<char, bool> yes_or_no[] = {{'a', true}, {'n', false}};
constexpr std::pair<char, Prefetch> fetches[] = {{'d', Prefetch::none}, {'m', Prefetch::next_line}};

template <class Table, class Value>
char letter_of(const Table& table, Value value) {
  for (const auto& [letter, v] : table) {
    if (v == value) return letter;
  }
  return 0;
}

class DineroReader {
 public:
  DineroReader(std::string_view text, std::string place) : text_(text), place_(std::move(place)) {
    draft_.format = "Dinero IV arguments";
    draft_.origin = Origin::published;
  }

  Draft read() {
    while (next()) {
      if (word_.starts_with("-l") && word_.size() > 4 && word_[2] >= '1' && word_[2] <= '9') {
        level_option();
      } else if (word_.starts_with('-')) {
        draft_.ignored.push_back(std::string(word_));
      }
    }
    for (auto& [level, d] : levels_) {
      if (!d.capacity || !d.line) {
        throw InputError(
            d.place, fmt::format("level {} lacks size or block size", level),
            fmt::format("add -l{0}-{1}size and -l{0}-{1}bsize", level, level == 1 ? 'd' : 'u'));
      }
      draft_.caches.push_back(std::move(d));
    }
    return std::move(draft_);
  }

 private:
  std::string at() const { return fmt::format("{}:{}", place_, line_); }
  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(at(), problem, mend);
  }

  // The next word; a backslash at the end of a line continues it.
  bool next() {
    const auto blank = [](char c) {
      return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
    };
    while (!text_.empty() && blank(text_[0])) {
      if (text_[0] == '\n') ++line_;
      text_.remove_prefix(1);
    }
    const auto end =
        static_cast<std::size_t>(std::find_if(text_.begin(), text_.end(), blank) - text_.begin());
    word_ = text_.substr(0, end);
    text_.remove_prefix(end);
    return !word_.empty();
  }

  void level_option() {
    const std::string option(word_);
    const auto dash = option.find('-', 1);
    const auto level = whole_number(std::string_view(option).substr(2, dash - 2));
    if (dash == option.npos || !level || dash + 2 > option.size()) {
      fail(fmt::format("'{}' is no option", option), "write it as in -l1-dsize");
    }
    const char type = option[dash + 1];
    const std::string key = option.substr(dash + 2);
    if (type != 'u' && type != 'd' && type != 'i') {
      fail(fmt::format("'{}' is of no cache", option), "write u, i or d behind the level");
    }
    if (key == "ccc") {
      draft_.ignored.push_back(option);
      return;
    }
    if (!next()) fail(fmt::format("'{}' has no value", option), "write the value behind it");
    if (type == 'i') {
      draft_.ignored.push_back(option);
      return;
    }
    DraftLevel& d = levels_[*level];
    if (d.name.empty()) {
      d.name = fmt::format("L{}", *level);
      d.place = at();
      // What is not given is Dinero's default.
      d.ways = 1;
      d.replacement = Replacement::lru;
      d.inclusion = Inclusion::neither;
      d.write = WritePolicy::write_back;
      d.write_allocate = true;
      d.prefetch = Prefetch::none;
    }
    set(d, key, option);
  }

  template <class Table>
  auto choice(const Table& table, const std::string& option) const {
    std::string known;
    for (const auto& [letter, value] : table) {
      if (word_.size() == 1 && word_[0] == letter) return value;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", letter);
    }
    fail(fmt::format("{} '{}' is nothing that a machine can say", option, word_),
         "known are " + known);
  }

  void set(DraftLevel& d, const std::string& key, const std::string& option) {
    if (key == "size") {
      d.capacity = Bytes(size(option));
    } else if (key == "bsize") {
      d.line = Bytes(size(option));
    } else if (key == "assoc") {
      d.ways = size(option);
    } else if (key == "repl") {
      d.replacement = choice(replacements, option);
    } else if (key == "fetch") {
      d.prefetch = choice(fetches, option);
    } else if (key == "walloc") {
      d.write_allocate = choice(yes_or_no, option);
    } else if (key == "wback") {
      d.write = choice(yes_or_no, option) ? WritePolicy::write_back : WritePolicy::write_through;
    } else {
      draft_.ignored.push_back(option);
    }
  }

  // "32k": k, m and g are powers of 1024.
  std::int64_t size(const std::string& option) const {
    std::string_view digits = word_;
    int shift = 0;
    if (!digits.empty()) {
      const auto letter = std::string_view("kmgKMG").find(digits.back());
      if (letter != std::string_view::npos) {
        shift = 10 * static_cast<int>(letter % 3 + 1);
        digits.remove_suffix(1);
      }
    }
    const auto value = whole_number(digits);
    if (!value || *value < 1 || *value > (std::int64_t{1} << 50 >> shift)) {
      fail(fmt::format("{} '{}' is no size", option, word_), "write one such as 32k");
    }
    return *value << shift;
  }

  std::string_view text_, word_;
  std::string place_;
  int line_ = 1;
  std::map<std::int64_t, DraftLevel> levels_;
  Draft draft_;
};

std::string size_text(Bytes size) {
  std::int64_t n = size.value();
  for (const char* unit : {"", "k", "m", "g"}) {
    if (n % 1024 != 0 || *unit == 'g') return fmt::format("{}{}", n, unit);
    n /= 1024;
  }
  return "";
}

}  // namespace

Draft read_dinero(std::string_view arguments, const std::string& place) {
  return DineroReader(arguments, place).read();
}

}  // namespace tcsim::exchange

namespace tcsim {

Exported export_dinero(const Machine& machine) {
  using namespace exchange;
  Exported out{"dineroIV", {}};
  const std::vector<const Level*> levels = caches_and_one_memory(machine, dinero);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& l = *levels[i];
    const std::string option = fmt::format(" -l{}-{}", i + 1, i == 0 ? 'd' : 'u');
    if (!std::has_single_bit(static_cast<std::uint64_t>(l.capacity.value.value()))) {
      const auto below = std::bit_floor(static_cast<std::uint64_t>(l.capacity.value.value()));
      cannot_say(machine, l, dinero,
                 fmt::format("capacity of {}, only powers of two", to_text(l.capacity.value)),
                 fmt::format("ways={0} --set {1}.capacity={2}",
                             std::bit_floor(static_cast<std::uint64_t>(l.ways.value)), l.name,
                             to_text(Bytes(static_cast<std::int64_t>(below)))));
    }
    const char replacement = letter_of(replacements, l.replacement.value);
    if (replacement == 0) {
      cannot_say(machine, l, dinero, fmt::format("replacement {}", to_text(l.replacement.value)),
                 "replacement=lru");
    }
    const char fetch = letter_of(fetches, l.prefetch);
    if (fetch == 0) {
      cannot_say(machine, l, dinero, fmt::format("prefetch {}", to_text(l.prefetch)),
                 "prefetch=none");
    }
    if (l.victim_lines != 0) cannot_say(machine, l, dinero, "victim cache", "victim_lines=0");
    if (l.index != SetIndex{}) {
      cannot_say(machine, l, dinero, fmt::format("index {}", to_text(l.index)), "index=modulo");
    }
    if (l.inclusion.value != Inclusion::neither) {
      cannot_say(machine, l, dinero, fmt::format("{} caches", to_text(l.inclusion.value)),
                 "inclusion=neither");
    }
    out.text += fmt::format("{0}size {1}{0}bsize {2}{0}assoc {3}{0}repl {4}{0}fetch {5}", option,
                            size_text(l.capacity.value), l.line.value.value(), l.ways.value,
                            replacement, fetch);
    out.text += fmt::format("{0}walloc {1}{0}wback {2}", option, l.write_allocate ? 'a' : 'n',
                            l.write == WritePolicy::write_back ? 'a' : 'n');
    if (l.name != fmt::format("L{}", i + 1)) out.lost.push_back("the name of " + l.name);
  }
  out.text += "\n";
  out.lost.push_back(
      "the core, memory, bandwidths, latencies, sharing, TLBs, origins, measurements, the "
      "accounting, name and description");
  return out;
}

}  // namespace tcsim
