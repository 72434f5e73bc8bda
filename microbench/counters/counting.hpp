// Traffic over the links of this machine, counted while something runs again and again. Hardware
// has few counters, so the figures are split into groups, and each repetition counts the next group
// (multiplexing within a repetition would estimate; this counts). A figure is the median of its
// repetitions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/units/quantity.hpp"
#include "microbench/counters/events.hpp"
#include "microbench/counters/source.hpp"

namespace tcsim {

// Bytes over one link during one repetition, towards the core and away from it; empty where
// this machine does not count that.
struct CountedLink {
  std::string link;
  std::optional<Bytes> in, out;
};

struct CountedEvent {
  std::string name, unit;
  double median = 0;  // of one repetition
};

struct Counted {
  std::string source;  // "papi", "likwid", "none"
  std::string why;     // this source and not another; one reason a line
  std::string files;   // that the events came from, "papi-intel, papi-software"
  std::string limits;  // why there are no cache events; "" if there are
  std::vector<CountedLink> links;
  std::vector<CountedEvent> events;  // that are not traffic
};

// Bytes over a link by what the accounting counts; empty if the machine does not count that, or
// where packing is left out, which counters cannot tell apart.
std::optional<Bytes> bytes_over(const Counted& counted, const std::string& link,
                                const Accounting& accounting);

class Counting {
 public:
  // Takes the file of the source's that this machine can count most of, and from all of them what
  // is not traffic. `why` is passed on.
  Counting(std::unique_ptr<CounterSource> source, const std::vector<EventFile>& files,
           std::string why = "");

  // Figures of traffic, each a link and a direction, that are counted.
  int figures() const { return static_cast<int>(figures_.size()); }
  // Repetitions that it takes to count each figure once; at least 1.
  int groups() const { return static_cast<int>(groups_.size()); }
  const CounterSource& source() const { return *source_; }
  void explain(std::string why) { counted_.why = std::move(why); }

  // Runs `work` once and counts the next group meanwhile.
  void count(const std::function<void()>& work);

  // Of all that was counted since the last restart().
  Counted result() const;
  void restart();

 private:
  struct Figure {
    std::size_t link;  // in counted_.links
    bool out;
    EventSum events;
    double bytes;  // that one count stands for
    std::vector<double> counts;
  };
  struct Group {
    std::vector<std::string> events;   // each once
    std::vector<std::size_t> figures;  // whose events those are
  };

  void choose_links(const std::vector<EventFile>& files);
  void choose_events(const std::vector<EventFile>& files);
  void split_into_groups();

  std::unique_ptr<CounterSource> source_;
  Counted counted_;
  std::vector<Figure> figures_;
  std::vector<NamedEvent> named_;
  std::vector<std::vector<double>> named_counts_;  // of each of named_
  std::vector<Group> groups_;
  std::size_t next_ = 0;
};

enum class CounterChoice { automatic, unasked, papi, likwid, none };

// With the event files that ship with tcsim. `automatic` takes the source that counts most figures
// of traffic, PAPI before likwid, and never fails; `unasked` does the same without likwid, whose
// library starts other programs; the others throw UnsupportedError if they are not there.
Counting choose_counting(CounterChoice choice);

}  // namespace tcsim
