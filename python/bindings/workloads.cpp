// Workloads and their schedules.
#include <pybind11/stl.h>

#include "core/data/shipped.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/program.hpp"
#include "core/workload/request.hpp"
#include "python/bindings/values.hpp"

namespace tcsim::python {

namespace py = pybind11;

namespace {

py::dict sizes_dict(const Contraction& c) {
  py::dict all;
  for (int d = 0; d < c.dim_count(); ++d) {
    const Dimension& dim = c.dim(DimId{d});
    all[py::str(std::string(1, dim.name))] = dim.extent;
  }
  return all;
}

// "m": "ab", ...
py::dict classes_dict(const Contraction& c) {
  py::dict all;
  for (const DimClass one : all_dim_classes) {
    std::string names;
    for (const DimId d : c.dims_of(one)) names += c.dim(d).name;
    all[to_text(one)] = names;
  }
  return all;
}

py::dict shapes_dict(const Contraction& c) {
  py::dict all;
  for (const TensorId t : all_tensors) {
    all[to_text(t)] = py::tuple(py::cast(c.tensor(t).extents));
  }
  return all;
}

bool equal(const Contraction& a, const Contraction& b) {
  return a.label() == b.label() && a.sizes() == b.sizes() && a.type() == b.type() &&
         a.layout() == b.layout() && a.name() == b.name();
}

std::vector<Contraction> find(const std::string& name, const std::string& sizes,
                              const std::optional<std::string>& layout,
                              const std::optional<std::string>& type,
                              const std::string& image_layout) {
  return find_workloads({name, sizes, layout_of(layout), type_of(type), image_layout});
}

// Nodes as dicts: what a node is, its figures, and "body" or "parts".
py::object node_of(const Node& node) {
  py::dict d;
  if (const Loop* loop = std::get_if<Loop>(&node.is)) {
    d["kind"] = "loop";
    d["group"] = to_text(loop->group);
    d["tile"] = loop->tile.value();
    d["body"] = node_of(*loop->body);
  } else if (const Move* move = std::get_if<Move>(&node.is)) {
    d["kind"] = to_text(move->kind);
    d["tensor"] = to_text(move->tensor);
    d["level"] = move->level;
    d["body"] = node_of(*move->body);
  } else if (const Seq* seq = std::get_if<Seq>(&node.is)) {
    d["kind"] = "seq";
    d["group"] = seq->over ? py::object(py::str(to_text(*seq->over))) : py::none();
    py::list parts;
    for (const Seq::Part& part : seq->parts) {
      py::dict one;
      one["part"] = py::int_(part.size.value());
      one["body"] = node_of(part.node);
      parts.append(one);
    }
    d["parts"] = parts;
  } else if (const Kernel* kernel = std::get_if<Kernel>(&node.is)) {
    d["kind"] = "kernel";
    d["mr"] = kernel->mr.value();
    d["nr"] = kernel->nr.value();
    d["along_k"] = kernel->along_k;
  }
  return d;
}

py::dict groups_dict(const WorkloadSchedule& s) {
  py::dict all;
  for (const DimClass one : all_dim_classes) {
    std::string names;
    for (const DimId d : s.schedule.groups[one]) names += s.workload.dim(d).name;
    all[to_text(one)] = names;
  }
  return all;
}

}  // namespace

void bind_workloads(py::module_& m) {
  py::class_<Contraction>(m, "Workload")
      .def_property_readonly("name", [](const Contraction& c) { return to_str(c.name()); })
      .def_property_readonly("label", &Contraction::label)
      .def_property_readonly("sizes", sizes_dict)
      .def_property_readonly("type", [](const Contraction& c) { return to_text(c.type()); })
      .def_property_readonly("layout", [](const Contraction& c) { return to_text(c.layout()); })
      .def_property_readonly("flops", &Contraction::flops)
      .def_property_readonly("classes", classes_dict)
      .def_property_readonly("shapes", shapes_dict)
      .def("renamed", &Contraction::renamed, py::arg("name"))
      .def("program", [](const Contraction& c) { return to_text(program_of(c)); })
      .def("__eq__",
           [](const Contraction& a, const py::object& b) {
             return py::isinstance<Contraction>(b) && equal(a, b.cast<const Contraction&>());
           })
      .def("__hash__",
           [](const Contraction& c) { return py::hash(py::str(c.label() + " " + c.sizes())); })
      .def("__repr__",
           [](const Contraction& c) {
             return to_str("<tcsim.Workload " + c.name() + ": " + c.label() + " " + c.sizes() +
                           " " + to_text(c.type()) + " " + to_text(c.layout()) + ">");
           })
      .def(py::pickle(
          [](const Contraction& c) {
            return py::make_tuple(to_text(program_of(c)), py::bytes(c.name()));
          },
          [](const py::tuple& state) {
            const Program program = parse_program(state[0].cast<std::string>(), "pickle");
            return contraction_of(program).renamed(state[1].cast<std::string>());
          }));
  m.def("find_workloads", find, py::arg("name"), py::arg("sizes"), py::arg("layout"),
        py::arg("type"), py::arg("image_layout"));
  m.def("parse_program",
        [](const std::string& text) { return contraction_of(parse_program(text, "program")); });
  m.def("shipped_suites", shipped_suites);
  m.def("shipped_chains", shipped_chains);

  py::class_<WorkloadSchedule>(m, "Schedule")
      .def(py::init([](const Contraction& workload, const std::string& text) {
             return WorkloadSchedule{workload, parse_schedule(text, workload, "schedule")};
           }),
           py::arg("workload"), py::arg("text"))
      .def_property_readonly("workload", [](const WorkloadSchedule& s) { return s.workload; })
      .def_property_readonly(
          "text", [](const WorkloadSchedule& s) { return to_text(s.schedule, s.workload); })
      .def_property_readonly(
          "line", [](const WorkloadSchedule& s) { return to_line(s.schedule, s.workload); })
      .def_property_readonly("groups", groups_dict)
      .def_property_readonly("tree",
                             [](const WorkloadSchedule& s) { return node_of(s.schedule.root); })
      .def("check",
           [](const WorkloadSchedule& s, const std::vector<std::string>& levels) {
             check(s.schedule, s.workload, levels, "schedule");
           })
      .def("__eq__",
           [](const WorkloadSchedule& a, const py::object& b) {
             return py::isinstance<WorkloadSchedule>(b) &&
                    to_line(a.schedule, a.workload) ==
                        to_line(b.cast<const WorkloadSchedule&>().schedule,
                                b.cast<const WorkloadSchedule&>().workload);
           })
      .def("__hash__",
           [](const WorkloadSchedule& s) {
             return py::hash(py::str(to_line(s.schedule, s.workload)));
           })
      .def("__str__", [](const WorkloadSchedule& s) { return to_text(s.schedule, s.workload); })
      .def("__repr__",
           [](const WorkloadSchedule& s) {
             return to_str("<tcsim.Schedule " + to_line(s.schedule, s.workload) + ">");
           })
      .def(py::pickle(
          [](const WorkloadSchedule& s) {
            return py::make_tuple(s.workload, to_text(s.schedule, s.workload));
          },
          [](const py::tuple& state) {
            Contraction workload = state[0].cast<Contraction>();
            Schedule schedule = parse_schedule(state[1].cast<std::string>(), workload, "pickle");
            return WorkloadSchedule{std::move(workload), std::move(schedule)};
          }));
}

}  // namespace tcsim::python
