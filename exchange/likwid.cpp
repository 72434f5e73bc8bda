// likwid-topology -O: sections that begin with STRUCT or TABLE, then KEY:,VALUE,... lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "core/units/text.hpp"
#include "exchange/draft.hpp"

namespace tcsim::exchange {

namespace {

class LikwidReader {
 public:
  LikwidReader(std::string_view csv, const std::string& place) : csv_(csv), place_(place) {
    draft_.format = "likwid-topology CSV";
  }

  Draft read() {
    bool any = false;
    while (!csv_.empty()) {
      const auto end = std::min(csv_.find('\n'), csv_.size());
      const std::string_view line = trimmed(csv_.substr(0, end));
      csv_.remove_prefix(std::min(csv_.size(), end + 1));
      ++line_;
      if (line.starts_with("STRUCT,") || line.starts_with("TABLE,")) {
        begin(line);
        any = true;
      } else if (!line.empty() && any) {
        entry(line);
      }
    }
    if (!any) fail("no section STRUCT", "give the output of likwid-topology -O");
    finish_cache();
    std::stable_sort(caches_.begin(), caches_.end(),
                     [](const Cache& a, const Cache& b) { return a.level < b.level; });
    for (Cache& c : caches_) {
      c.draft.shared_by = std::max(1, c.threads / threads_per_core_);
      draft_.caches.push_back(c.draft);
    }
    if (memory_ > Bytes(0)) draft_.memory.capacity = memory_;
    if (cores_ > 0) draft_.memory.shared_by = cores_ * std::max(1, sockets_);
    draft_.ignored.assign(ignored_.begin(), ignored_.end());
    return std::move(draft_);
  }

 private:
  struct Cache {
    DraftLevel draft;
    std::int64_t level = 0;
    int threads = 1;
    bool data = true;
    Bytes rounded;  // the size as printed
  };

  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(at(), problem, mend);
  }
  std::string at() const { return fmt::format("{}:{}", place_, std::max(line_, 1)); }

  void begin(std::string_view line) {
    finish_cache();
    const auto name = line.substr(line.find(',') + 1);
    section_ = std::string(trimmed(name.substr(0, name.rfind(','))));
    table_ = line.starts_with("TABLE,");
    if (!table_ && section_.starts_with("Cache Topology")) {
      open_ = true;
      cache_ = {};
      cache_.draft.place = at();
    }
    if (table_ && section_ != "Topology") ignored_.insert("table " + section_);
  }

  void finish_cache() {
    if (!open_) return;
    open_ = false;
    if (!cache_.data) return;
    DraftLevel& d = cache_.draft;
    if (cache_.level < 1) {
      throw InputError(d.place, "a cache without a level", "give the output of likwid-topology -O");
    }
    d.name = fmt::format("L{}", cache_.level);
    // The size is printed with two decimals; sets, ways and line are exact.
    if (!(d.sets && d.ways && d.line) && cache_.rounded > Bytes(0)) d.capacity = cache_.rounded;
    if (d.sets && d.ways && d.line && cache_.rounded > Bytes(0)) {
      const double exact = static_cast<double>(*d.sets) * static_cast<double>(*d.ways) *
                           static_cast<double>(d.line->value());
      const double printed = static_cast<double>(cache_.rounded.value());
      if (std::abs(exact - printed) > 0.02 * printed) {
        throw InputError(
            d.place,
            fmt::format("{}: {} sets, {} ways and lines of {} contradict its size {}", d.name,
                        *d.sets, *d.ways, to_text(*d.line), to_text(cache_.rounded)),
            "check the four numbers");
      }
    }
    caches_.push_back(cache_);
  }

  void entry(std::string_view line) {
    if (table_) return;  // which thread runs where
    const auto colon = line.find(':');
    if (colon == line.npos) {
      ignored_.insert(fmt::format("line {}", line_));
      return;
    }
    const std::string key(line.substr(0, colon));
    std::string_view rest = line.substr(colon + 1);
    if (rest.starts_with(',')) rest.remove_prefix(1);
    const std::string_view value = trimmed(rest.substr(0, rest.find(',')));
    if (open_ && !section_.starts_with("NUMA")) {
      // The number of NUMA domains follows the last cache without a section of its own.
      if (!cache_entry(key, value)) general(key, value);
    } else {
      general(key, value);
    }
  }

  bool cache_entry(const std::string& key, std::string_view value) {
    DraftLevel& d = cache_.draft;
    if (key == "Level") {
      cache_.level = positive(key, value);
    } else if (key == "Size") {
      cache_.rounded = size(value);
    } else if (key == "Type") {
      cache_.data = value != "Instruction cache";
    } else if (key == "Associativity") {
      d.ways = positive(key, value);
    } else if (key == "Number of sets") {
      d.sets = positive(key, value);
    } else if (key == "Cache line size") {
      d.line = Bytes(positive(key, value));
    } else if (key == "Cache type") {
      d.inclusion = value == "Inclusive" ? Inclusion::inclusive : Inclusion::neither;
    } else if (key == "Cache groups") {
      cache_.threads =
          std::max(1, static_cast<int>(std::count(value.begin(), value.end(), ' ')) + 1);
    } else {
      return key == "Shared by threads";
    }
    return true;
  }

  void general(const std::string& key, std::string_view value) {
    if (key == "CPU name") {
      draft_.description = value;
    } else if (key == "CPU type") {
      if (value != "nil" && draft_.description.empty()) draft_.description = value;
    } else if (key == "CPU clock") {
      try {
        draft_.frequency = parse_frequency(value);
      } catch (const UsageError& e) {
        throw InputError(at(), fmt::format("{}: {}", key, e.what()), "");
      }
    } else if (key == "Sockets") {
      sockets_ = small(key, value);
    } else if (key == "Cores per socket") {
      cores_ = small(key, value);
    } else if (key == "Threads per core") {
      threads_per_core_ = small(key, value);
    } else if (key == "Total memory") {
      memory_ += size(value);
    } else if (!section_.starts_with("Sockets") && known_.count(key) == 0) {
      ignored_.insert(section_.empty() ? key : fmt::format("{}: {}", section_, key));
    }
  }

  std::int64_t positive(const std::string& key, std::string_view text) const {
    const auto value = whole_number(text);
    if (!value || *value < 1 || *value > std::int64_t{1} << 40) {
      fail(fmt::format("{} '{}' is no count", key, text), "give a whole number of at least 1");
    }
    return *value;
  }
  int small(const std::string& key, std::string_view text) const {
    return static_cast<int>(std::min<std::int64_t>(positive(key, text), 1 << 14));
  }

  // "32 kB", "27.50 MB": likwid's prefixes are powers of 1024.
  Bytes size(std::string_view text) const {
    const auto blank = text.find(' ');
    const auto value = real_number(text.substr(0, blank));
    const std::string_view unit = blank == text.npos ? "" : text.substr(blank + 1);
    const int shift = unit == "kB"   ? 10
                      : unit == "MB" ? 20
                      : unit == "GB" ? 30
                      : unit == "B"  ? 0
                                     : -1;
    if (!value || shift < 0 || *value < 0 || *value * std::ldexp(1.0, shift) > 1e17) {
      fail(fmt::format("'{}' is no size", text), "give one such as 32 kB or 1 MB");
    }
    return Bytes(std::llround(*value * std::ldexp(1.0, shift)));
  }

  // Said, and of no use here.
  const std::set<std::string> known_{"CPU stepping", "NUMA domains", "Domain",
                                     "Processors",   "Distances",    "Free memory"};
  std::string_view csv_;
  std::string place_, section_;
  int line_ = 0;
  bool table_ = false, open_ = false;
  Cache cache_;
  std::vector<Cache> caches_;
  int sockets_ = 1, cores_ = 0, threads_per_core_ = 1;
  Bytes memory_;
  std::set<std::string> ignored_;
  Draft draft_;
};

}  // namespace

Draft read_likwid(std::string_view csv, const std::string& place) {
  return LikwidReader(csv, place).read();
}

}  // namespace tcsim::exchange
