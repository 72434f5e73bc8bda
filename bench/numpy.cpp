#include "bench/numpy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "bench/peer_limit.hpp"
#include "bench/yardstick.hpp"
#include "core/units/enum_array.hpp"

namespace tcsim::bench {

namespace {

namespace fs = std::filesystem;

// What each way does is NumPy's; this only says which arrays there are.
constexpr const char* source = R"(
import numpy

def elements(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count

class Contraction:
    """Tensors lie in C order: letters and extents of each with the last one stride one.

    `groups` are the letters of the batch, of m, of n and of k."""

    def __init__(self, dtype, a, b, c, extents, groups):
        self.dtype, self.letters, self.extents = dtype, (a, b, c), extents
        self.subscripts = a + "," + b + "->" + c
        batch, m, n, k = groups
        self.fused = (batch + m + k, batch + k + n, batch + m + n)
        size = lambda group: elements(self.shape(group))
        self.matrices = [(size(batch), size(x), size(y)) for x, y in ((m, k), (k, n))]
        self.path = None
        self.ways = (self.by_matmul, self.by_path, self.by_loops)

    def shape(self, letters):
        return [self.extents[x] for x in letters]

    def bind(self, *memory):
        self.a, self.b, self.c = [
            numpy.frombuffer(m, self.dtype).reshape(self.shape(l)) for m, l in zip(memory, self.letters)
        ]
        fused = [
            x.transpose([l.index(d) for d in f])
            for x, l, f in zip((self.a, self.b, self.c), self.letters, self.fused)
        ]
        self.left, self.right, self.result = fused
        if self.path is None:
            self.path = numpy.einsum_path(self.subscripts, self.a, self.b, optimize=True)[0]

    def by_loops(self):
        numpy.einsum(self.subscripts, self.a, self.b, out=self.c)

    def by_path(self):
        numpy.einsum(self.subscripts, self.a, self.b, out=self.c, optimize=self.path)

    def by_matmul(self):
        left, right = self.left.reshape(self.matrices[0]), self.right.reshape(self.matrices[1])
        self.result[...] = numpy.matmul(left, right).reshape(self.result.shape)
)";

// In the class's order.
constexpr std::array way_names{"matmul()", "einsum(optimize=True)", "einsum()"};
enum Way : std::size_t { by_matmul, by_path, by_loops };

struct PyObject;

// The functions of Python's C interface that are called here, under its names: those that stay as
// they are from one Python 3 to the next.
struct Python {
  void (*Py_InitializeEx)(int signals);
  int (*Py_IsInitialized)();
  void* (*PyEval_SaveThread)();
  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  PyObject* (*PyDict_New)();
  PyObject* (*PyEval_GetBuiltins)();
  int (*PyDict_SetItemString)(PyObject*, const char*, PyObject*);
  PyObject* (*PyRun_String)(const char*, int start, PyObject* globals, PyObject* locals);
  PyObject* (*PyObject_GetAttrString)(PyObject*, const char*);
  PyObject* (*PyObject_CallObject)(PyObject*, PyObject*);
  PyObject* (*PyObject_CallFunction)(PyObject*, const char* format, ...);
  PyObject* (*PySequence_GetItem)(PyObject*, std::ptrdiff_t);
  PyObject* (*PyMemoryView_FromMemory)(char*, std::ptrdiff_t, int flags);
  const char* (*PyUnicode_AsUTF8)(PyObject*);
  void (*PyErr_Print)();
  void (*PyErr_Clear)();
  void (*Py_DecRef)(PyObject*);

  // False where the library lacks one.
  bool take(void* library) {
    bool whole = true;
    const auto one = [&]<class F>(F*& to, const char* name) {
      to = reinterpret_cast<F*>(dlsym(library, name));
      whole = whole && to != nullptr;
    };
    one(Py_InitializeEx, "Py_InitializeEx");
    one(Py_IsInitialized, "Py_IsInitialized");
    one(PyEval_SaveThread, "PyEval_SaveThread");
    one(PyGILState_Ensure, "PyGILState_Ensure");
    one(PyGILState_Release, "PyGILState_Release");
    one(PyDict_New, "PyDict_New");
    one(PyEval_GetBuiltins, "PyEval_GetBuiltins");
    one(PyDict_SetItemString, "PyDict_SetItemString");
    one(PyRun_String, "PyRun_String");
    one(PyObject_GetAttrString, "PyObject_GetAttrString");
    one(PyObject_CallObject, "PyObject_CallObject");
    one(PyObject_CallFunction, "PyObject_CallFunction");
    one(PySequence_GetItem, "PySequence_GetItem");
    one(PyMemoryView_FromMemory, "PyMemoryView_FromMemory");
    one(PyUnicode_AsUTF8, "PyUnicode_AsUTF8");
    one(PyErr_Print, "PyErr_Print");
    one(PyErr_Clear, "PyErr_Clear");
    one(Py_DecRef, "Py_DecRef");
    return whole;
  }
};
constexpr int of_expressions = 258, of_statements = 257;  // Py_eval_input, Py_file_input
constexpr int may_read = 0x100, may_write = 0x200;        // PyBUF_READ, PyBUF_WRITE

// Python with NumPy and the class above.
struct Numpy {
  Python python;
  PyObject* globals = nullptr;
  std::string version;
};

// Any thread may call Python while one of these lives, and no other.
class Turn {
 public:
  explicit Turn(const Python& python) : python_(python), state_(python.PyGILState_Ensure()) {}
  ~Turn() { python_.PyGILState_Release(state_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const Python& python_;
  int state_;
};

// Where "lib/python3.11" lies above the library. Without its modules Python ends the program.
std::optional<fs::path> home_of(void* function, int minor) {
  Dl_info info{};
  if (dladdr(function, &info) == 0) return {};
  std::error_code error;
  const fs::path library = fs::canonical(info.dli_fname, error);
  for (fs::path at = library.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    const fs::path modules = at / "lib" / fmt::format("python3.{}", minor);
    if (fs::exists(modules / "encodings" / "__init__.py", error)) return at;
  }
  return {};
}

// Python reads its home from the environment, and takes over what the program's characters are.
void initialize(const Python& python, const fs::path& home) {
  constexpr const char* variable = "PYTHONHOME";
  const char* const was = std::getenv(variable);
  const std::optional<std::string> before =
      was == nullptr ? std::nullopt : std::optional<std::string>(was);
  const std::string characters = std::setlocale(LC_CTYPE, nullptr);
  setenv(variable, home.c_str(), 1);
  constexpr int without_signals = 0;
  python.Py_InitializeEx(without_signals);
  if (before) {
    setenv(variable, before->c_str(), 1);
  } else {
    unsetenv(variable);
  }
  std::setlocale(LC_CTYPE, characters.c_str());
}

std::optional<Python> load_python() {
  constexpr int newest = 30, oldest = 8;
  for (int minor = newest; minor >= oldest; --minor) {
    const std::string file = fmt::format("libpython3.{}.so.1.0", minor);
    // NumPy's own libraries look for Python's functions among those of the program.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) continue;
    Python python{};
    if (!python.take(library) || python.Py_IsInitialized() != 0) return {};
    const auto home = home_of(reinterpret_cast<void*>(python.Py_InitializeEx), minor);
    if (!home) return {};
    initialize(python, *home);
    return python;
  }
  return {};
}

std::optional<Numpy> load_numpy() {
  // Its BLAS, whichever it is.
  for (const char* threads :
       {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"}) {
    setenv(threads, "1", 0);
  }
  limit_peer("OPENBLAS_CORETYPE", "Haswell", "Nehalem");
  limit_peer("MKL_ENABLE_INSTRUCTIONS", "AVX2", "SSE4_2");
  const auto python = load_python();
  if (!python) return {};
  Numpy numpy{*python, python->PyDict_New(), ""};
  python->PyDict_SetItemString(numpy.globals, "__builtins__", python->PyEval_GetBuiltins());
  PyObject* const ran = python->PyRun_String(source, of_statements, numpy.globals, numpy.globals);
  if (ran != nullptr) {
    python->Py_DecRef(ran);
    PyObject* const text =
        python->PyRun_String("numpy.__version__", of_expressions, numpy.globals, numpy.globals);
    if (const char* version = text == nullptr ? nullptr : python->PyUnicode_AsUTF8(text)) {
      numpy.version = version;
    }
    python->Py_DecRef(text);
  }
  python->PyErr_Clear();
  python->PyEval_SaveThread();
  if (numpy.version.empty()) return {};
  return numpy;
}

const std::optional<Numpy>& numpy() {
  static const std::optional<Numpy> found = load_numpy();
  return found;
}

template <class T>
class NumpyContraction : public PeerOf<T> {
 public:
  NumpyContraction(const Contraction& c, const Numpy& numpy)
      : python_(numpy.python),
        // einsum() asks a BLAS for nothing that has a batch.
        loops_{false, !c.dims_of(DimClass::batch).empty(), true},
        flops_(c.flops()) {
    const auto letter = [](DimId d) {
      return static_cast<char>((index(d) < 26 ? 'a' : 'A' - 26) + index(d));
    };
    const auto text = [&](TensorId t) {
      std::string letters;
      for (DimId d : c.memory_order(t)) letters.insert(letters.begin(), letter(d));
      return letters;
    };
    const auto group = [&](DimClass dims) {
      std::string letters;
      for (DimId d : c.dims_of(dims)) letters += letter(d);
      return letters;
    };
    std::vector<std::string> extents;
    for (int d = 0; d < c.dim_count(); ++d) {
      extents.push_back(fmt::format("'{}': {}", letter(DimId{d}), c.dim(DimId{d}).extent));
    }
    const std::string made = fmt::format(
        "Contraction('{}', '{}', '{}', '{}', {{{}}}, ('{}', '{}', '{}', '{}'))",
        c.type() == ElementType::f64 ? "float64" : "float32", text(TensorId::A), text(TensorId::B),
        text(TensorId::C), fmt::join(extents, ", "), group(DimClass::batch), group(DimClass::m),
        group(DimClass::n), group(DimClass::k));
    const Turn turn(python_);
    contraction_ =
        or_told(python_.PyRun_String(made.c_str(), of_expressions, numpy.globals, numpy.globals));
    if (contraction_ == nullptr) return;
    bind_ = python_.PyObject_GetAttrString(contraction_, "bind");
    PyObject* const ways = python_.PyObject_GetAttrString(contraction_, "ways");
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      ways_[i] = python_.PySequence_GetItem(ways, static_cast<std::ptrdiff_t>(i));
    }
    python_.Py_DecRef(ways);
    for (TensorId t : all_tensors) {
      bytes_[t] = c.size(t).value() * static_cast<std::ptrdiff_t>(sizeof(T));
    }
  }
  ~NumpyContraction() override {
    const Turn turn(python_);
    for (PyObject* way : ways_) python_.Py_DecRef(way);
    python_.Py_DecRef(bind_);
    python_.Py_DecRef(contraction_);
  }

  std::string name() const override { return "NumPy"; }
  std::string how() const override { return way_names[way_]; }

 private:
  // A new reference, or null after Python said on standard error what went wrong.
  PyObject* or_told(PyObject* result) {
    if (result == nullptr) python_.PyErr_Print();
    return result;
  }
  void call(PyObject* function) {
    if (function == nullptr) return;
    if (PyObject* const none = or_told(python_.PyObject_CallObject(function, nullptr))) {
      python_.Py_DecRef(none);
    }
  }
  void bind(const T* a, const T* b, T* c) {
    if (bind_ == nullptr || (a == a_ && b == b_ && c == c_)) return;
    const auto memory = [&](TensorId t, const T* data, int may) {
      char* const bytes = reinterpret_cast<char*>(const_cast<T*>(data));
      return python_.PyMemoryView_FromMemory(bytes, bytes_[t], may);
    };
    PyObject* const none = or_told(python_.PyObject_CallFunction(
        bind_, "NNN", memory(TensorId::A, a, may_read), memory(TensorId::B, b, may_read),
        memory(TensorId::C, c, may_write)));
    if (none == nullptr) return;
    python_.Py_DecRef(none);
    a_ = a;
    b_ = b;
    c_ = c;
  }
  void execute(const T* a, const T* b, T* c) override {
    const Turn turn(python_);
    bind(a, b, c);
    call(ways_[way_]);
  }
  // As TTGT chooses: each twice, the better time counts.
  void choose_way(const T* a, const T* b, T* c) override {
    const Turn turn(python_);
    bind(a, b, c);
    Seconds least(std::numeric_limits<double>::infinity());
    for (const Way way : {by_matmul, by_path, by_loops}) {
      if (loops_[way] && flops_ > 1e8) continue;  // seconds for what is no contestant
      for (int again = 0; again < 2; ++again) {
        const Seconds time = time_of([&] { call(ways_[way]); });
        if (time >= least) continue;
        least = time;
        way_ = way;
      }
    }
  }

  const Python& python_;
  PyObject* contraction_ = nullptr;
  PyObject* bind_ = nullptr;
  std::array<PyObject*, way_names.size()> ways_{};
  std::array<bool, way_names.size()> loops_{};  // ways that call no BLAS
  double flops_;
  Way way_ = by_matmul;
  ByTensor<std::ptrdiff_t> bytes_{};
  const T *a_ = nullptr, *b_ = nullptr;
  T* c_ = nullptr;
};

}  // namespace

const std::string& numpy_version() {
  static const std::string none;
  return numpy() ? numpy()->version : none;
}

std::unique_ptr<Peer> make_numpy(const Contraction& c) {
  if (!numpy()) return {};
  if (c.type() == ElementType::f32) return std::make_unique<NumpyContraction<float>>(c, *numpy());
  return std::make_unique<NumpyContraction<double>>(c, *numpy());
}

}  // namespace tcsim::bench
