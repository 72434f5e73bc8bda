// Contractions of NumPy arrays, in place where they lie.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <mutex>
#include <variant>

#include "core/error.hpp"
#include "core/schedule/registers.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/strided.hpp"
#include "kernels/contract.hpp"
#include "kernels/execute.hpp"
#include "python/bindings/background.hpp"
#include "python/bindings/values.hpp"

namespace tcsim::python {

namespace py = pybind11;

namespace {

// So many operations are over before anybody can press Ctrl-C: not worth another thread.
constexpr double soon_over = 2e7;

constexpr const char* mend = "make a copy with numpy.ascontiguousarray()";

ElementType type_of_array(const py::array& array, const char* name) {
  if (array.dtype().equal(py::dtype::of<double>())) return ElementType::f64;
  if (array.dtype().equal(py::dtype::of<float>())) return ElementType::f32;
  throw UsageError(name, "its elements are " + py::str(array.dtype()).cast<std::string>(),
                   "use float64 or float32 of this machine's byte order");
}

Strided where(const py::array& array, const char* name) {
  const std::int64_t element = array.itemsize();
  Strided all;
  for (py::ssize_t a = 0; a < array.ndim(); ++a) {
    all.extents.push_back(array.shape(a));
    const std::int64_t stride = array.strides(a);
    if (stride % element != 0 && array.shape(a) > 1) {
      throw UsageError(name, fmt::format("it steps by {} bytes along axis {}", stride, a), mend);
    }
    all.strides.push_back(array.shape(a) > 1 ? stride / element : 0);
  }
  if (reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(element) != 0) {
    throw UsageError(name, "its elements are not aligned", mend);
  }
  return all;
}

// The contraction of a label, with extents 1: who is where.
Contraction form_of(const std::string& label, ElementType type) {
  Sizes ones;
  for (const char c : label) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) ones[c] = 1;
  }
  return parse_contraction(label, ones, Layout::row_major, type);
}

std::string shape_text(const Strided& array) {
  return fmt::format("({}{})", fmt::join(array.extents, ", "),
                     array.extents.size() == 1 ? "," : "");
}

// The extents of a label's indices, from the arrays that are there.
Sizes sizes_of(const Contraction& form, const std::string& label,
               const std::array<std::optional<Strided>, 3>& arrays) {
  Sizes sizes;
  std::map<char, std::string> said;
  for (const TensorId t : all_tensors) {
    const auto& array = arrays[static_cast<std::size_t>(index(t))];
    if (!array) continue;
    const auto& dims = form.dims_of(t);
    if (array->extents.size() != dims.size()) {
      throw UsageError(label,
                       fmt::format("{} has {} axes, of shape {}, and {} in the label", to_text(t),
                                   array->extents.size(), shape_text(*array), dims.size()),
                       "give an index for each axis");
    }
    for (std::size_t a = 0; a < dims.size(); ++a) {
      const char name = form.dim(dims[a]).name;
      const std::int64_t extent = array->extents[a];
      const auto [found, is_new] = sizes.emplace(name, extent);
      if (is_new) {
        said[name] = to_text(t);
      } else if (found->second != extent) {
        throw UsageError(label,
                         fmt::format("index {} is {} in {} and {} in {}", name, found->second,
                                     said[name], extent, to_text(t)),
                         "give arrays whose shapes agree");
      }
    }
  }
  return sizes;
}

// Arrays that are looked at before anything is prepared for them.
struct Arrays3 {
  Arrays3(const py::array& a, const py::array& b) : type(type_of_array(a, "A")) {
    add(a, TensorId::A);
    add(b, TensorId::B);
  }
  void add(const py::array& array, TensorId t) {
    if (type_of_array(array, to_text(t)) != type) {
      throw UsageError(to_text(t), "its elements are not those of A", "use the same dtype for all");
    }
    strided[static_cast<std::size_t>(index(t))] = where(array, to_text(t));
  }
  ElementType type;
  std::array<std::optional<Strided>, 3> strided;
};

using Label = std::variant<std::string, Contraction>;

Contraction base_of(const Label& label, const Arrays3& arrays) {
  if (const auto* workload = std::get_if<Contraction>(&label)) {
    if (workload->type() == arrays.type) return *workload;
    throw UsageError(workload->name(),
                     fmt::format("its elements are {}, the arrays' are {}",
                                 to_text(workload->type()), to_text(arrays.type)),
                     "use arrays of that type, or a workload with type=");
  }
  const std::string& text = std::get<std::string>(label);
  const Contraction form = form_of(text, arrays.type);
  return parse_contraction(text, sizes_of(form, text, arrays.strided), Layout::row_major,
                           arrays.type);
}

// The shape of C for these operands.
py::tuple output_shape(const Label& label, const py::array& a, const py::array& b) {
  return py::tuple(py::cast(base_of(label, Arrays3(a, b)).tensor(TensorId::C).extents));
}

class PreparedContraction {
 public:
  PreparedContraction(const Label& label, const py::array& a, const py::array& b,
                      const py::array& c, int threads, const std::optional<Machine>& machine,
                      const std::optional<std::string>& schedule, const py::object& progress)
      : workload_(laid_out(label, a, b, c)), threads_(threads) {
    apart(progress, [&](const Watch&) {
      if (workload_.type() == ElementType::f64) {
        contractor_ = made<double>(threads, machine, schedule);
      } else {
        contractor_ = made<float>(threads, machine, schedule);
      }
    });
  }

  void run(const py::array& a, const py::array& b, py::array c, double alpha, double beta,
           const py::object& progress) {
    const std::array<const py::array*, 3> all{&a, &b, &c};
    for (const TensorId t : all_tensors) {
      const auto i = static_cast<std::size_t>(index(t));
      if (type_of_array(*all[i], to_text(t)) != workload_.type() ||
          where(*all[i], to_text(t)) != where_[i]) {
        throw UsageError(to_text(t), "it lies otherwise than the array this was prepared for",
                         "prepare a contraction for it");
      }
    }
    if (!c.writeable()) throw UsageError("C", "it is read-only", "give another array as out");
    if (auto* of_doubles = std::get_if<Contractor<double>>(&contractor_)) {
      return go(*of_doubles, a, b, c, alpha, beta, progress);
    }
    go(std::get<Contractor<float>>(contractor_), a, b, c, alpha, beta, progress);
  }

  WorkloadSchedule schedule() const {
    if (const auto* of_doubles = std::get_if<Contractor<double>>(&contractor_)) {
      return {workload_, of_doubles->schedule()};
    }
    return {workload_, std::get<Contractor<float>>(contractor_).schedule()};
  }

 private:
  // Neither before it is prepared.
  using Either = std::variant<std::monostate, Contractor<double>, Contractor<float>>;

  Contraction laid_out(const Label& label, const py::array& a, const py::array& b,
                       const py::array& c) {
    Arrays3 arrays(a, b);
    arrays.add(c, TensorId::C);
    const Contraction base = base_of(label, arrays);
    for (std::size_t i = 0; i < 3; ++i) where_[i] = *arrays.strided[i];
    return strided(base, where_, mend);
  }

  template <class T>
  Contractor<T> made(int threads, const std::optional<Machine>& machine,
                     const std::optional<std::string>& schedule) const {
    const Machine on = machine ? *machine : assumed_machine();
    if (!schedule) return Contractor<T>(workload_, threads, on);
    const Schedule given = parse_schedule(*schedule, workload_, "schedule");
    std::vector<std::string> levels;
    for (const Level& l : on.levels) levels.push_back(l.name);
    check(given, workload_, levels, "schedule");
    require_registers(given, workload_.type(), on, "schedule");
    return Contractor<T>(workload_, given, threads);
  }

  template <class T>
  void go(Contractor<T>& contractor, const py::array& a, const py::array& b, py::array& c,
          double alpha, double beta, const py::object& progress) {
    const T* const left = static_cast<const T*>(a.data());
    const T* const right = static_cast<const T*>(b.data());
    T* const out = static_cast<T*>(c.mutable_data());
    const auto work = [&](std::stop_token stop) {
      const std::lock_guard one_at_a_time(mutex_);
      contractor(left, right, out, static_cast<T>(alpha), static_cast<T>(beta), std::move(stop));
    };
    // OpenMP's threads belong to the one that calls: in a forked process they are gone, a new one
    // has new ones.
    if (threads_ == 1 && workload_.flops() < soon_over) {
      const py::gil_scoped_release without;
      return work({});
    }
    apart(progress, [&](const Watch& watch) { work(watch.stop); });
  }

  std::array<Strided, 3> where_;
  Contraction workload_;
  int threads_;
  Either contractor_;
  std::mutex mutex_;
};

}  // namespace

void bind_contractions(py::module_& m) {
  using namespace pybind11::literals;
  py::class_<PreparedContraction>(m, "PreparedContraction")
      .def(py::init<const Label&, const py::array&, const py::array&, const py::array&, int,
                    const std::optional<Machine>&, const std::optional<std::string>&,
                    const py::object&>(),
           "label"_a, "a"_a, "b"_a, "c"_a, "threads"_a, "machine"_a, "schedule"_a, "progress"_a)
      .def("run", &PreparedContraction::run, "a"_a.noconvert(), "b"_a.noconvert(),
           "c"_a.noconvert(), "alpha"_a, "beta"_a, "progress"_a)
      .def("schedule", &PreparedContraction::schedule);
  m.def("output_shape", output_shape, "label"_a, "a"_a, "b"_a);
}

}  // namespace tcsim::python
