// Counting hardware and kernel events while work runs. A CounterSource is a library that can: PAPI,
// likwid, or none, which explains. Which events stand for which figure is data (events.hpp); how
// often each happened becomes traffic in counting.hpp.
//
// The libraries are optional when tcsim is built. likwid is GPL-3: a tcsim that is linked with it
// can only be passed on under that licence (docs/counters.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tcsim {

class CounterSource {
 public:
  virtual ~CounterSource() = default;

  virtual std::string name() const = 0;  // "papi", "likwid", "none"

  // What keeps this source from counting hardware events here; "" if nothing does.
  virtual std::string limits() const = 0;

  // Why `events` cannot be counted together here; "" if they can. Event names are the source's own.
  virtual std::string refusal(const std::vector<std::string>& events) = 0;

  // Runs `work` once in the calling thread and returns how often each event took place meanwhile,
  // in the order of `events`. What `work` throws passes through. Throws UnsupportedError if
  // refusal() would have said why.
  virtual std::vector<double> count(const std::vector<std::string>& events,
                                    const std::function<void()>& work) = 0;
};

// PAPI, through the kernel's perf_event: needs no rights beyond perf_event_paranoid <= 2. Counts
// what the calling thread does in user mode; software events of the kernel everywhere. Events are
// PAPI's presets and native names ("PAPI_L1_DCM", "L1D:REPLACEMENT"). Throws UnsupportedError if
// tcsim was built without PAPI or it does not start.
std::unique_ptr<CounterSource> make_papi_source();

// likwid's performance groups, "GROUP/METRIC": "L2/L2D load data volume [GBytes]". Counts what the
// processor does, so the thread is pinned meanwhile and the processor should have nothing else to
// do. Needs access to the MSRs (root, or likwid's access daemon). Throws UnsupportedError if tcsim
// was built without likwid or it does not start, with likwid's own words.
std::unique_ptr<CounterSource> make_likwid_source();

// Counts nothing, and says why.
std::unique_ptr<CounterSource> make_no_source(std::string why);

}  // namespace tcsim
