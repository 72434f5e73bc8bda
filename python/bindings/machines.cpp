// Machines: shipped ones, files, this one, and others made of them.
#include <pybind11/stl.h>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/explore/knob.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "core/model/predict.hpp"
#include "kernels/overhead.hpp"
#include "microbench/host.hpp"
#include "python/bindings/background.hpp"
#include "python/bindings/values.hpp"

namespace tcsim::python {

namespace py = pybind11;

namespace {

Accounting accounting_of(const std::string& word) {
  if (word == "honest") return Accounting::honest();
  if (word == "paper") return Accounting::paper();
  throw UsageError("accounting", "'" + word + "' is unknown", "use honest or paper");
}

// With knobs set; notes about values that had to give way come with it.
std::pair<Machine, std::vector<std::string>> with_set(Machine machine,
                                                      const std::vector<std::string>& knobs) {
  std::vector<std::string> notes;
  for (const std::string& knob : knobs) {
    Overridden changed = override_knob(machine, knob);
    machine = std::move(changed.machine);
    if (!changed.note.empty()) notes.push_back(changed.note);
  }
  check(machine, "--set");
  return {std::move(machine), std::move(notes)};
}

// Of a bandwidth in bytes per second, whatever the file has.
Knob knob_named(const Machine& m, const std::string& name) {
  const Knob as_written = find_knob(m, name);
  if (as_written.unit != KnobUnit::bytes_per_cycle) return as_written;
  return find_knob(m, name, KnobUnit::bytes_per_second);
}

py::dict level_dict(const Machine& m, int i) {
  const Level& l = m.level(LevelId{i});
  py::dict d;
  d["name"] = to_str(l.name);
  d["kind"] = to_text(l.kind);
  d["link"] = to_str(m.link(LevelId{i}));
  const auto optional = [](bool there, auto value) {
    return there ? py::cast(value) : py::object(py::none());
  };
  const bool cache = l.kind == LevelKind::cache;
  d["capacity"] =
      optional(l.capacity.value.value() > 0, static_cast<double>(l.capacity.value.value()));
  d["ways"] = optional(cache, l.ways.value);
  d["line"] = optional(cache, static_cast<double>(l.line.value.value()));
  d["sets"] = cache ? py::cast(l.sets()) : py::object(py::none());
  d["bandwidth"] = l.bandwidth.value.at(m.core.frequency.value).value();
  d["latency_cycles"] = l.latency ? py::cast(l.latency->value.value()) : py::object(py::none());
  d["energy"] = l.energy ? py::cast(l.energy->value.value()) : py::object(py::none());
  d["replacement"] = to_text(l.replacement.value);
  d["inclusion"] = to_text(l.inclusion.value);
  d["write"] = to_text(l.write);
  d["write_allocate"] = l.write_allocate;
  d["prefetch"] = to_text(l.prefetch);
  d["shared_by"] = l.shared_by;
  d["bandwidth_origin"] = to_text(l.bandwidth.origin);
  d["capacity_origin"] = to_text(l.capacity.origin);
  return d;
}

py::list levels_list(const Machine& m) {
  py::list all;
  for (int i = 0; i < std::ssize(m.levels); ++i) all.append(level_dict(m, i));
  return all;
}

Machine host(const py::object& progress) {
  return answer(progress, [](const Watch& watch) {
    ProbeOptions probe;
    probe.quick = true;
    probe.stop = watch.stop;
    probe.progress = [&](const std::string&, double share) { watch.progress(share); };
    probe.refine = [](Machine& machine, const ProbeOptions& p) {
      measure_overhead(machine, {p.quick, p.progress, p.stop});
    };
    return host_machine(probe);
  });
}

}  // namespace

void bind_machines(py::module_& m) {
  py::class_<Machine>(m, "Machine")
      .def_property_readonly("name", [](const Machine& a) { return to_str(a.name); })
      .def_property_readonly("description", [](const Machine& a) { return to_str(a.description); })
      .def_property_readonly("hash", content_hash)
      .def_property_readonly("levels_", levels_list)
      .def_property_readonly("accounting", [](const Machine& a) { return a.accounting.name; })
      .def_property_readonly("warning", model_caveat)
      .def("peak_", [](const Machine& a,
                       const std::string& type) { return a.peak(size_of(*type_of(type))).value(); })
      .def("with_set_", with_set)
      .def("with_accounting_",
           [](Machine a, const std::string& word) {
             a.accounting = accounting_of(word);
             return a;
           })
      .def("named_",
           [](Machine a, const std::optional<std::string>& name,
              const std::optional<std::string>& description) {
             if (name) a.name = *name;
             if (description) a.description = *description;
             return parse_machine(to_toml(a), "derive");
           })
      .def("knob_",
           [](const Machine& a, const std::string& name) {
             const Knob knob = knob_named(a, name);
             return std::make_pair(knob.base, std::string(to_text(knob.unit)));
           })
      .def("knob_names_",
           [](const Machine& a) {
             std::vector<std::string> names;
             for (const Knob& k : all_knobs(a)) names.push_back(k.name);
             return names;
           })
      .def("exact_", [](const Machine& a, const std::string& name,
                        double value) { return exact(knob_named(a, name), value); })
      .def("toml", [](const Machine& a) { return to_str(to_toml(a)); })
      .def("__eq__",
           [](const Machine& a, const py::object& b) {
             return py::isinstance<Machine>(b) && a == b.cast<const Machine&>();
           })
      .def("__hash__", [](const Machine& a) { return py::hash(py::str(content_hash(a))); })
      .def("__repr__",
           [](const Machine& a) {
             return to_str("<tcsim.Machine " + a.name + " " + content_hash(a) + ">");
           })
      .def(py::pickle(
          [](const Machine& a) { return py::make_tuple(py::bytes(to_toml(a)), a.accounting.name); },
          [](const py::tuple& state) {
            return parse_machine(state[0].cast<std::string>(), "pickle");
          }));
  m.def("find_machine", find_machine);
  m.def("parse_machine", [](const std::string& text, const std::string& place) {
    return parse_machine(text, place);
  });
  m.def("host_machine", host);
  m.def("shipped_machines", shipped_machines);
  m.def("look_for_data_in", [](const std::string& folder) { look_for_data_in(folder); });
}

}  // namespace tcsim::python
