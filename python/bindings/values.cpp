#include "python/bindings/values.hpp"

#include <cmath>

#include "core/error.hpp"

namespace tcsim::python {

namespace py = pybind11;

py::str to_str(const std::string& text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

py::object to_python(const nlohmann::ordered_json& json) {
  using Kind = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Kind::boolean:
      return py::bool_(json.get<bool>());
    case Kind::number_integer:
      return py::int_(json.get<std::int64_t>());
    case Kind::number_unsigned:
      return py::int_(json.get<std::uint64_t>());
    case Kind::number_float: {
      const auto value = json.get<double>();
      if (std::isfinite(value)) return py::float_(value);
      return py::none();
    }
    case Kind::string:
      return to_str(json.get_ref<const std::string&>());
    case Kind::array: {
      py::list all;
      for (const auto& one : json) all.append(to_python(one));
      return all;
    }
    case Kind::object: {
      py::dict all;
      for (const auto& [key, value] : json.items()) all[to_str(key)] = to_python(value);
      return all;
    }
    default:
      return py::none();
  }
}

std::optional<Layout> layout_of(const std::optional<std::string>& word) {
  if (!word) return {};
  if (*word == "row-major") return Layout::row_major;
  if (*word == "column-major") return Layout::column_major;
  throw UsageError("layout", "'" + *word + "' is unknown", "use row-major or column-major");
}

std::optional<ElementType> type_of(const std::optional<std::string>& word) {
  if (!word) return {};
  if (*word == "f64") return ElementType::f64;
  if (*word == "f32") return ElementType::f32;
  throw UsageError("type", "'" + *word + "' is unknown", "use f64 or f32");
}

namespace {

template <class E>
void raise(const char* name, const E& e) {
  const py::object type = py::module_::import("tcsim._errors").attr(name);
  PyErr_SetObject(type.ptr(), type(to_str(e.place()), to_str(e.problem()), to_str(e.mend())).ptr());
}

}  // namespace

void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const UsageError& e) {
      raise("UsageError", e);
    } catch (const InputError& e) {
      raise("InputError", e);
    } catch (const UnsupportedError& e) {
      raise("UnsupportedError", e);
    } catch (const Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
}

}  // namespace tcsim::python
