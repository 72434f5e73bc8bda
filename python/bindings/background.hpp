// Work without Python's lock, which Ctrl-C stops.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

namespace tcsim::python {

struct Watch {
  std::stop_token stop;
  std::function<void(double)> progress;  // share that is done; may be called from any thread
};

// Whether the caller is. To be asked once while the module is imported: what it keeps is made then.
bool on_main_thread();

// Does the work without the GIL. On Python's main thread, which alone hears of signals, it runs on
// a thread beside that one; signals are looked at every 20 ms, and one that raises (Ctrl-C) asks
// the work to stop and is raised when it has. `progress` is None or is called with the share now
// and then, there alone. Rethrows what the work throws.
void apart(const pybind11::object& progress, const std::function<void(const Watch&)>& work);

// The same with a result.
template <class F>
auto answer(const pybind11::object& progress, F&& work) {
  std::optional<decltype(work(std::declval<const Watch&>()))> result;
  apart(progress, [&](const Watch& watch) { result.emplace(work(watch)); });
  return std::move(*result);
}

}  // namespace tcsim::python
