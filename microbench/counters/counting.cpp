#include "microbench/counters/counting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

namespace {

// Precondition: there are some.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// The first alternative that the source takes; nothing if none.
std::optional<EventSum> first_countable(CounterSource& source, const std::vector<EventSum>& sums) {
  for (const EventSum& sum : sums) {
    if (source.refusal(sum).empty()) return sum;
  }
  return {};
}

void add_once(std::vector<std::string>& events, const EventSum& more) {
  for (const std::string& event : more) {
    if (std::ranges::find(events, event) == events.end()) events.push_back(event);
  }
}

std::string joined(const std::string& list, const std::string& separator, const std::string& more) {
  return list + (list.empty() ? "" : separator) + more;
}

}  // namespace

std::optional<Bytes> bytes_over(const Counted& counted, const std::string& link,
                                const Accounting& accounting) {
  for (const CountedLink& l : counted.links) {
    if (l.link != link) continue;
    if (!accounting.packing || !l.in || (accounting.write_backs && !l.out)) return {};
    return accounting.write_backs ? *l.in + *l.out : *l.in;
  }
  return {};
}

Counting::Counting(std::unique_ptr<CounterSource> source, const std::vector<EventFile>& files,
                   std::string why)
    : source_(std::move(source)) {
  counted_.source = source_->name();
  counted_.why = std::move(why);
  choose_links(files);
  choose_events(files);
  split_into_groups();
  if (!figures_.empty()) return;
  counted_.limits = source_->limits();
  if (counted_.limits.empty()) {
    counted_.limits = "no file of counters/ names cache events that this processor has";
  }
}

void Counting::choose_links(const std::vector<EventFile>& files) {
  for (const EventFile& file : files) {
    if (file.source != source_->name()) continue;
    std::vector<Figure> figures;
    std::vector<CountedLink> links;
    for (const LinkEvents& link : file.links) {
      for (const bool out : {false, true}) {
        if (auto sum = first_countable(*source_, out ? link.out : link.in)) {
          figures.push_back({links.size(), out, std::move(*sum), link.bytes, {}});
        }
      }
      links.push_back({link.link, {}, {}});
    }
    if (figures.size() <= figures_.size()) continue;
    figures_ = std::move(figures);
    counted_.links = std::move(links);
    counted_.files = file.name;
  }
}

void Counting::choose_events(const std::vector<EventFile>& files) {
  for (const EventFile& file : files) {
    if (file.source != source_->name()) continue;
    const std::size_t before = named_.size();
    for (const NamedEvent& event : file.events) {
      if (source_->refusal({event.event}).empty()) named_.push_back(event);
    }
    if (named_.size() > before) counted_.files = joined(counted_.files, ", ", file.name);
  }
  named_counts_.resize(named_.size());
}

void Counting::split_into_groups() {
  std::vector<std::string> always;  // the kernel's own events take up no hardware counter
  for (const NamedEvent& event : named_) add_once(always, {event.event});
  for (std::size_t f = 0; f < figures_.size(); ++f) {
    if (!groups_.empty()) {
      std::vector<std::string> together = groups_.back().events;
      add_once(together, figures_[f].events);
      if (source_->refusal(together).empty()) {
        groups_.back().events = std::move(together);
        groups_.back().figures.push_back(f);
        continue;
      }
    }
    Group group{figures_[f].events, {f}};
    std::vector<std::string> together = group.events;
    add_once(together, always);
    if (source_->refusal(together).empty()) group.events = std::move(together);
    groups_.push_back(std::move(group));
  }
  if (groups_.empty()) groups_.push_back({always, {}});
}

void Counting::count(const std::function<void()>& work) {
  const Group& group = groups_[next_++ % groups_.size()];
  const std::vector<double> counts = source_->count(group.events, work);
  const auto count_of = [&](const std::string& event) -> std::optional<double> {
    const auto place = std::ranges::find(group.events, event);
    if (place == group.events.end()) return {};
    return counts[static_cast<std::size_t>(place - group.events.begin())];
  };
  for (std::size_t f : group.figures) {
    double sum = 0;
    for (const std::string& event : figures_[f].events) sum += *count_of(event);
    figures_[f].counts.push_back(sum);
  }
  for (std::size_t e = 0; e < named_.size(); ++e) {
    if (const auto count = count_of(named_[e].event)) named_counts_[e].push_back(*count);
  }
}

Counted Counting::result() const {
  Counted result = counted_;
  for (const Figure& f : figures_) {
    if (f.counts.empty()) continue;
    const Bytes bytes(std::llround(median(f.counts) * f.bytes));
    CountedLink& link = result.links[f.link];
    (f.out ? link.out : link.in) = bytes;
  }
  for (std::size_t e = 0; e < named_.size(); ++e) {
    if (named_counts_[e].empty()) continue;
    result.events.push_back({named_[e].name, named_[e].unit, median(named_counts_[e])});
  }
  return result;
}

void Counting::restart() {
  for (Figure& f : figures_) f.counts.clear();
  for (auto& counts : named_counts_) counts.clear();
  next_ = 0;
}

namespace {

// "papi: counts 5 figures of traffic", "papi: no cache events, ...".
std::string outcome(const Counting& counting) {
  const std::string name = counting.source().name(), limits = counting.result().limits;
  return limits.empty() ? fmt::format("{}: counts {} figures of traffic", name, counting.figures())
                        : fmt::format("{}: no cache events, {}", name, limits);
}

Counting asked_for(std::unique_ptr<CounterSource> source) {
  Counting counting(std::move(source), shipped_events());
  counting.explain("asked for by name\n" + outcome(counting));
  return counting;
}

using MakeSource = std::unique_ptr<CounterSource> (*)();

Counting best_of(std::initializer_list<MakeSource> sources, const std::vector<EventFile>& files) {
  std::optional<Counting> best;
  std::string why;
  for (const MakeSource make : sources) {
    try {
      Counting counting(make(), files);
      why = joined(why, "\n", outcome(counting));
      if (!best || counting.figures() > best->figures()) best = std::move(counting);
    } catch (const UnsupportedError& e) {
      why = joined(why, "\n", e.what());
    }
  }
  if (!best) {
    best.emplace(make_no_source(sources.size() == 1 ? "PAPI cannot count here"
                                                    : "neither PAPI nor likwid can count here"),
                 files);
  }
  best->explain(why);
  return std::move(*best);
}

}  // namespace

Counting choose_counting(CounterChoice choice) {
  switch (choice) {
    case CounterChoice::papi:
      return asked_for(make_papi_source());
    case CounterChoice::likwid:
      return asked_for(make_likwid_source());
    case CounterChoice::none:
      return Counting(make_no_source("counting is switched off"), {}, "asked for by name");
    case CounterChoice::automatic:
      break;
    case CounterChoice::unasked:
      return best_of({make_papi_source}, shipped_events());
  }
  return best_of({make_papi_source, make_likwid_source}, shipped_events());
}

}  // namespace tcsim
