#include <fmt/format.h>
#include <likwid.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "microbench/counters/source.hpp"
#include "microbench/team.hpp"
#include "microbench/trial.hpp"

namespace tcsim {

namespace {

// likwid says what is wrong on standard error and returns a number. Its words are wanted for our
// error and nowhere else, so standard error leads to a file for a while. Output that waits in
// buffers goes out first: likwid forks, and its child would write it a second time.
class Overheard {
 public:
  Overheard() {
    std::cout.flush();
    std::fflush(nullptr);
    if (file_ == nullptr) return;
    before_ = dup(STDERR_FILENO);
    if (before_ >= 0) dup2(fileno(file_), STDERR_FILENO);
  }
  ~Overheard() {
    give_back();
    if (file_ != nullptr) std::fclose(file_);
  }
  Overheard(const Overheard&) = delete;
  Overheard& operator=(const Overheard&) = delete;

  // The last line that was said.
  std::string last_line() {
    give_back();
    if (file_ == nullptr) return "";
    std::rewind(file_);
    std::string line, last;
    for (int c = 0; (c = std::fgetc(file_)) != EOF;) {
      if (c != '\n') {
        line += static_cast<char>(c);
      } else if (!line.empty()) {
        last = std::exchange(line, "");
      }
    }
    return line.empty() ? last : line;
  }

 private:
  void give_back() {
    if (before_ < 0) return;
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    before_ = -1;
  }

  std::FILE* file_ = std::tmpfile();
  int before_ = -1;
};

struct Metric {
  std::string group, name;
};

Metric split(const std::string& event) {
  const auto slash = event.find('/');
  if (slash == std::string::npos) {
    throw UnsupportedError("likwid", fmt::format("'{}' is no metric of a group", event),
                           "write GROUP/METRIC");
  }
  return {event.substr(0, slash), event.substr(slash + 1)};
}

// What is wrong, in likwid's own words; "" if it has started.
std::string started(int cpu) {
  Overheard said;
  perfmon_setVerbosity(DEBUGLEV_ONLY_ERROR);
  if (topology_init() == 0) {
    if (perfmon_init(1, &cpu) == 0) return "";
    topology_finalize();
  }
  const std::string words = said.last_line();
  return words.empty() ? "it does not start" : words;
}

// Its daemon is given 10 s to open a socket; a start is a matter of one or two.
constexpr std::chrono::seconds patience{15};

class LikwidSource : public CounterSource {
 public:
  LikwidSource() {
    // likwid may move the thread over all processors while it looks around; Pinned puts it back.
    const Pinned pinned;
    // To start it forks, and the child goes through the exit handlers of the whole program: those
    // of a window wait for threads that the child does not have, and likwid waits for the child.
    // Where it is not content it may also call exit() itself. So it starts elsewhere first.
    const Apart trial = try_apart([&] { return started(pinned.cpu()); }, patience);
    const std::string wrong = !trial.answer            ? trial.why
                              : !trial.answer->empty() ? *trial.answer
                                                       : started(pinned.cpu());
    if (!wrong.empty()) throw UnsupportedError("likwid", wrong, "use another source of counts");
  }
  ~LikwidSource() override {
    perfmon_finalize();
    topology_finalize();
  }
  LikwidSource(const LikwidSource&) = delete;
  LikwidSource& operator=(const LikwidSource&) = delete;

  std::string name() const override { return "likwid"; }
  std::string limits() const override { return ""; }

  std::string refusal(const std::vector<std::string>& events) override {
    try {
      count(events, [] {});
      return "";
    } catch (const UnsupportedError& e) {
      return e.what();
    }
  }

  std::vector<double> count(const std::vector<std::string>& events,
                            const std::function<void()>& work) override {
    std::vector<int> metrics;
    const int group = prepare(events, metrics);
    const Pinned pinned;
    const auto demand = [&](int code, const char* what) {
      if (code < 0) throw UnsupportedError("likwid", what, "use another source of counts");
    };
    if (group >= 0) {
      demand(perfmon_setupCounters(group), "the counters cannot be set up");
      demand(perfmon_startCounters(), "the counters do not start");
    }
    try {
      work();
    } catch (...) {
      if (group >= 0) perfmon_stopCounters();
      throw;
    }
    if (group >= 0) demand(perfmon_stopCounters(), "the counters do not stop");
    std::vector<double> counts;
    for (int m : metrics) counts.push_back(perfmon_getLastMetric(group, m, 0));
    return counts;
  }

 private:
  // The one group that all events belong to (-1 of no event) and the metrics' places in it.
  int prepare(const std::vector<std::string>& events, std::vector<int>& metrics) {
    std::set<std::string> groups;
    for (const std::string& event : events) groups.insert(split(event).group);
    if (groups.empty()) return -1;
    if (groups.size() > 1) {
      throw UnsupportedError("likwid", "two groups cannot be counted at once", "count one by one");
    }
    const int group = id_of(*groups.begin());
    for (const std::string& event : events) {
      const std::string wanted = split(event).name;
      int place = 0;
      const int size = perfmon_getNumberOfMetrics(group);
      while (place < size && wanted != perfmon_getMetricName(group, place)) ++place;
      if (place == size) {
        throw UnsupportedError("likwid", fmt::format("{} is no metric of this processor", event),
                               "count other events");
      }
      metrics.push_back(place);
    }
    return group;
  }

  int id_of(const std::string& group) {
    if (const auto known = ids_.find(group); known != ids_.end()) return known->second;
    Overheard said;
    const int id = perfmon_addEventSet(group.c_str());
    if (id < 0) {
      throw UnsupportedError(
          "likwid", fmt::format("no group {} for this processor ({})", group, said.last_line()),
          "count other events");
    }
    return ids_[group] = id;
  }

  std::map<std::string, int> ids_;
};

}  // namespace

std::unique_ptr<CounterSource> make_likwid_source() { return std::make_unique<LikwidSource>(); }

}  // namespace tcsim
