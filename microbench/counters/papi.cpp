#include <fmt/format.h>
#include <papi.h>

#include <fstream>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "microbench/counters/source.hpp"

namespace tcsim {

namespace {

std::string words(int code) {
  const char* text = PAPI_strerror(code);
  return text != nullptr ? text : fmt::format("PAPI error {}", code);
}

// Events of one component, which PAPI wants in a set of their own.
class EventSet {
 public:
  EventSet() {
    if (const int code = PAPI_create_eventset(&set_); code != PAPI_OK) fail("no event set", code);
  }
  ~EventSet() {
    if (running_) PAPI_stop(set_, nullptr);
    PAPI_cleanup_eventset(set_);
    PAPI_destroy_eventset(&set_);
  }
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;

  void add(const std::string& event) {
    if (const int code = PAPI_add_named_event(set_, event.c_str()); code != PAPI_OK) {
      fail(event, code);
    }
    ++size_;
  }
  void start() {
    if (const int code = PAPI_start(set_); code != PAPI_OK) fail("the counters do not start", code);
    running_ = true;
  }
  std::vector<long long> stop() {
    std::vector<long long> values(size_);
    const int code = PAPI_stop(set_, values.data());
    running_ = false;
    if (code != PAPI_OK) fail("the counters do not stop", code);
    return values;
  }

 private:
  [[noreturn]] static void fail(const std::string& what, int code) {
    throw UnsupportedError("papi", what + ": " + words(code), "count other events");
  }

  int set_ = PAPI_NULL;
  std::size_t size_ = 0;
  bool running_ = false;
};

// Event sets for a list of events, and where each event's value will stand.
class EventSets {
 public:
  explicit EventSets(const std::vector<std::string>& events) {
    for (const std::string& event : events) {
      int code = 0;
      if (const int error = PAPI_event_name_to_code(event.c_str(), &code); error != PAPI_OK) {
        throw UnsupportedError("papi", event + ": " + words(error), "count other events");
      }
      const int component = PAPI_get_event_component(code);
      places_.emplace_back(component, sizes_[component]++);
      sets_[component].add(event);
    }
  }

  std::vector<double> count(const std::function<void()>& work) {
    for (auto& [component, set] : sets_) set.start();
    work();
    std::map<int, std::vector<long long>> values;
    for (auto& [component, set] : sets_) values[component] = set.stop();
    std::vector<double> counts;
    for (const auto& [component, place] : places_) {
      counts.push_back(static_cast<double>(values[component][place]));
    }
    return counts;
  }

 private:
  std::map<int, EventSet> sets_;  // by component
  std::map<int, std::size_t> sizes_;
  std::vector<std::pair<int, std::size_t>> places_;
};

std::string paranoia() {
  std::string level = "not there";
  std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
  return level;
}

// Why PAPI does without its component for the kernel's counters; empty where it has it. PAPI 7.0
// gives all of it up, with the kernel's own counts, on a processor that it does not know.
std::string why_off() {
  const int component = PAPI_get_component_index("perf_event");
  const PAPI_component_info_t* info = component < 0 ? nullptr : PAPI_get_component_info(component);
  if (info == nullptr) return "this PAPI was built without perf_event";
  return info->disabled == 0 ? ""
                             : fmt::format("PAPI disables perf_event: {}", info->disabled_reason);
}

class PapiSource : public CounterSource {
 public:
  PapiSource() {
    const int version = PAPI_library_init(PAPI_VER_CURRENT);
    if (version == PAPI_VER_CURRENT) return;
    throw UnsupportedError("papi",
                           version > 0 ? "its library is of another version than its header"
                                       : "it does not start: " + words(version),
                           "install one version of PAPI, or use another source of counts");
  }

  std::string name() const override { return "papi"; }

  std::string limits() const override {
    if (std::string why = why_off(); !why.empty()) return why;
    // A processor that PAPI knows may be a virtual one, which has the event and does not count it.
    if (refusal_of({"PAPI_TOT_CYC"}).empty()) return "";
    const PAPI_hw_info_t* machine = PAPI_get_hardware_info();
    if (machine != nullptr && machine->virtualized != 0) {
      return "this is a virtual machine that shows no hardware counters";
    }
    return fmt::format(
        "the kernel shows no hardware counters (kernel.perf_event_paranoid is {}; at most 2 is "
        "needed)",
        paranoia());
  }

  std::string refusal(const std::vector<std::string>& events) override {
    return refusal_of(events);
  }

  std::vector<double> count(const std::vector<std::string>& events,
                            const std::function<void()>& work) override {
    return EventSets(events).count(work);
  }

 private:
  static std::string refusal_of(const std::vector<std::string>& events) {
    try {
      EventSets(events).count([] {});
      return "";
    } catch (const UnsupportedError& e) {
      return e.what();
    }
  }
};

}  // namespace

std::unique_ptr<CounterSource> make_papi_source() { return std::make_unique<PapiSource>(); }

}  // namespace tcsim
