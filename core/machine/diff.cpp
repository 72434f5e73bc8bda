#include "core/machine/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/machine/fields.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

constexpr const char* none = "-";

std::string text_of(const std::string& s) { return s; }
std::string text_of(bool b) { return b ? "true" : "false"; }
std::string text_of(int n) { return fmt::format("{}", n); }
std::string text_of(std::int64_t n) { return fmt::format("{}", n); }
std::string text_of(double x) { return fmt::format("{}", x); }
std::string text_of(Cycles c) { return fmt::format("{} cycles", c.value()); }
std::string text_of(FlopsPerSecond f) { return fmt::format("{:.4g} GFLOPS", f.value() / 1e9); }
std::string text_of(BytesPerSecond b) { return fmt::format("{:.4g} GB/s", b.value() / 1e9); }
template <class T>
requires requires(T t) { to_text(t); }
std::string text_of(const T& t) { return to_text(t); }

template <class T>
std::optional<double> factor_of(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Bandwidth>) {
    if (a.unit != b.unit) return {};
  }
  const std::optional<double> x = number_of(a), y = number_of(b);
  if (!x || *x == 0) return {};
  return *y / *x;
}

class Comparison {
 public:
  std::vector<Difference> list;

  // Every field; `owner` begins their names: "L3.".
  template <class Owner>
  void fields(const std::string& owner, const Owner& a, const Owner& b) {
    for_each_field<Owner>([&](const auto& field) {
      using Member = Held<typename std::decay_t<decltype(field)>::Type>;
      const std::string name = owner + std::string(field.name);
      if constexpr (Member::is_optional) {
        optional(name, a.*field.member, b.*field.member);
      } else if constexpr (Member::is_figure) {
        figure(name, a.*field.member, b.*field.member);
      } else {
        plain(name, a.*field.member, b.*field.member, true);
      }
    });
  }

  template <class T>
  void plain(const std::string& figure, const T& a, const T& b, bool changes_results) {
    if (a != b) list.push_back({figure, text_of(a), text_of(b), factor_of(a, b), changes_results});
  }

  template <class T>
  void figure(const std::string& name, const Figure<T>& a, const Figure<T>& b) {
    plain(name, a.value, b.value, true);
    plain(name + " origin", a.origin, b.origin, false);
    plain(name + " source", a.source, b.source, false);
  }

  template <class T>
  void optional(const std::string& name, const std::optional<Figure<T>>& a,
                const std::optional<Figure<T>>& b) {
    const auto text = [](const std::optional<Figure<T>>& f) {
      return f ? text_of(f->value) : std::string(none);
    };
    if (a && b) {
      figure(name, *a, *b);
    } else if (a || b) {
      only(name, text(a), text(b), true);
    }
  }

  void only(const std::string& figure, const std::string& a, const std::string& b,
            bool changes_results) {
    list.push_back({figure, a, b, {}, changes_results});
  }

  // Items that both have, in a's order, then those that one of them has; `key` is unique.
  template <class T, class Key, class Both, class One>
  void match(const std::vector<T>& a, const std::vector<T>& b, Key key, Both both, One one) {
    const auto find = [&](const std::vector<T>& all, const auto& wanted) {
      return std::find_if(all.begin(), all.end(), [&](const T& t) { return key(t) == wanted; });
    };
    for (const T& x : a) {
      const auto y = find(b, key(x));
      if (y != b.end()) {
        both(x, *y);
      } else {
        one(x, true);
      }
    }
    for (const T& y : b) {
      if (find(a, key(y)) == a.end()) one(y, false);
    }
  }
};

std::string level_summary(const Level& l) {
  return fmt::format("{} {} {}", to_text(l.kind),
                     l.capacity.value == Bytes(0) ? "unlimited" : to_text(l.capacity.value),
                     to_text(l.bandwidth.value));
}

std::string series_name(const std::string& owner, const BandwidthSeries& s) {
  return fmt::format("{}.series {} {} {} {} cores {}", owner, to_text(s.mix), to_text(s.element),
                     s.instruction_set, s.cores, to_text(s.working_set));
}
std::string series_name(const std::string& owner, const PeakSeries& s) {
  return fmt::format("{}.peak {} {} {} cores", owner, to_text(s.element), s.instruction_set,
                     s.cores);
}

// Series of one name are told apart by their number.
template <class Series>
void compare_series(Comparison& c, const std::string& owner, const std::vector<Series>& a,
                    const std::vector<Series>& b) {
  using Named = std::pair<std::string, const Series*>;
  const auto named = [&](const std::vector<Series>& all) {
    std::vector<Named> names;
    for (const Series& s : all) {
      const std::string name = series_name(owner, s);
      const auto same = std::count_if(names.begin(), names.end(), [&](const Named& n) {
        return n.first == name || n.first.starts_with(name + " #");
      });
      names.emplace_back(same == 0 ? name : fmt::format("{} #{}", name, same + 1), &s);
    }
    return names;
  };
  const auto median = [](const Series& s) {
    return s.repetitions.empty() ? std::string(none) : text_of(s.median());
  };
  c.match(
      named(a), named(b), [](const Named& n) { return n.first; },
      [&](const Named& x, const Named& y) {
        if (*x.second == *y.second) return;
        const bool rates = !x.second->repetitions.empty() && !y.second->repetitions.empty();
        c.list.push_back({x.first, median(*x.second), median(*y.second),
                          rates ? factor_of(x.second->median(), y.second->median()) : std::nullopt,
                          false});
      },
      [&](const Named& n, bool in_a) {
        const std::string text = median(*n.second);
        c.only(n.first, in_a ? text : none, in_a ? none : text, false);
      });
}

void compare_level(Comparison& c, const Level& a, const Level& b) {
  const std::string& n = a.name;
  c.plain(n + ".kind", a.kind, b.kind, true);
  c.fields(n + ".", a, b);
  compare_series(c, n, a.series, b.series);
}

void compare_core(Comparison& c, const Core& a, const Core& b) {
  c.fields("core.", a, b);
  c.fields("core.overhead.", a.overhead, b.overhead);
  compare_series(c, "core", a.peaks, b.peaks);
}

void compare_tlbs(Comparison& c, const Machine& a, const Machine& b) {
  const auto text = [](const Tlb& t) {
    return fmt::format("{} entries, {} ways, {} pages", t.entries, t.ways, to_text(t.page));
  };
  c.match(
      a.tlbs, b.tlbs, [](const Tlb& t) { return std::pair(t.name, t.page); },
      [&](const Tlb& x, const Tlb& y) {
        if (x != y) c.only("tlb " + x.name, text(x), text(y), true);
      },
      [&](const Tlb& t, bool in_a) {
        c.only("tlb " + t.name, in_a ? text(t) : none, in_a ? none : text(t), true);
      });
}

void compare_method(Comparison& c, const Machine& a, const Machine& b) {
  if (a.method.has_value() != b.method.has_value()) {
    c.only("method", a.method ? "given" : none, b.method ? "given" : none, false);
  } else if (a.method) {
    c.plain("method.affinity", a.method->affinity, b.method->affinity, false);
    c.plain("method.clock", a.method->clock, b.method->clock, false);
    c.plain("method.pages", a.method->pages, b.method->pages, false);
    c.plain("method.warm_up", a.method->warm_up, b.method->warm_up, false);
    c.plain("method.repetitions", a.method->repetitions, b.method->repetitions, false);
  }
  const auto joined = [](const Machine& m) {
    return m.remarks.empty() ? std::string(none) : fmt::format("{}", fmt::join(m.remarks, "; "));
  };
  if (a.remarks != b.remarks) c.only("remarks", joined(a), joined(b), false);
}

// Whether the names that both have come in the same order.
template <class T>
bool same_order(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return x.name == y.name; });
}

}  // namespace

std::vector<Difference> differences(const Machine& a, const Machine& b) {
  Comparison c;
  c.plain("name", a.name, b.name, false);
  c.plain("description", a.description, b.description, false);
  compare_core(c, a.core, b.core);
  c.match(
      a.levels, b.levels, [](const Level& l) { return l.name; },
      [&](const Level& x, const Level& y) { compare_level(c, x, y); },
      [&](const Level& l, bool in_a) {
        c.only(l.name, in_a ? level_summary(l) : none, in_a ? none : level_summary(l), true);
      });
  compare_tlbs(c, a, b);
  c.plain("accounting.name", a.accounting.name, b.accounting.name, false);
  c.fields("accounting.", a.accounting, b.accounting);
  compare_method(c, a, b);
  if (c.list.empty() && a != b) {
    const bool levels = !same_order(a.levels, b.levels);
    c.only("order", "", "", levels || a.tlbs != b.tlbs);
  }
  return c.list;
}

}  // namespace tcsim
