// The compiled part of the Python module: values and calls of the libraries. python/tcsim/ wraps
// them, and is what people import.
#include <pybind11/pybind11.h>

#include "python/bindings/background.hpp"
#include "python/bindings/values.hpp"

PYBIND11_MODULE(_tcsim, m) {
  m.doc() = "The libraries of tcsim; use the package tcsim, which wraps this.";
  tcsim::python::on_main_thread();
  tcsim::python::bind_errors(m);
  tcsim::python::bind_workloads(m);
  tcsim::python::bind_machines(m);
  tcsim::python::bind_answers(m);
  tcsim::python::bind_contractions(m);
}
