// Values that cross between Python and the libraries.
#pragma once

#include <pybind11/pybind11.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::python {

// A record as dicts, lists and numbers. What JSON has no number for is None, as there.
pybind11::object to_python(const nlohmann::ordered_json& json);
// Text of which some may be no UTF-8, such as a path.
pybind11::str to_str(const std::string& text);

std::optional<Layout> layout_of(const std::optional<std::string>& word);
std::optional<ElementType> type_of(const std::optional<std::string>& word);

// A schedule with the workload that it is for.
struct WorkloadSchedule {
  Contraction workload;
  Schedule schedule;
};

// One function for each part of the module.
void bind_errors(pybind11::module_& m);
void bind_workloads(pybind11::module_& m);
void bind_machines(pybind11::module_& m);
void bind_answers(pybind11::module_& m);
void bind_contractions(pybind11::module_& m);

}  // namespace tcsim::python
