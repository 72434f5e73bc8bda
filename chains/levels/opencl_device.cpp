#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <clblast.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "chains/levels/device.hpp"
#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim::chains {

using fusion::Leaf;
using fusion::OperationTree;

namespace {

[[noreturn]] void fail_device(const std::string& what, std::int64_t code) {
  throw DeviceFailure(fmt::format("{} failed with error {} of OpenCL or CLBlast", what, code));
}
void require(cl_int code, const char* what) {
  if (code != CL_SUCCESS) fail_device(what, code);
}

// Handles that release themselves.
template <class H, cl_int (*Release)(H)>
class ClHandle {
 public:
  ClHandle() = default;
  explicit ClHandle(H handle) : handle_(handle) {}
  ClHandle(ClHandle&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  ClHandle& operator=(ClHandle&& o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~ClHandle() {
    if (handle_ != nullptr) Release(handle_);
  }
  H get() const { return handle_; }

 private:
  H handle_ = nullptr;
};
using ClContext = ClHandle<cl_context, clReleaseContext>;
using ClQueue = ClHandle<cl_command_queue, clReleaseCommandQueue>;
using ClEvent = ClHandle<cl_event, clReleaseEvent>;
using ClBuffer = ClHandle<cl_mem, clReleaseMemObject>;
using ClProgram = ClHandle<cl_program, clReleaseProgram>;
using ClKernel = ClHandle<cl_kernel, clReleaseKernel>;

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  clGetDeviceInfo(device, what, size, text.data(), nullptr);
  text.resize(size - 1);
  return text;
}
std::int64_t number_of(cl_device_id device, cl_device_info what) {
  cl_ulong value = 0;
  clGetDeviceInfo(device, what, sizeof(value), &value, nullptr);
  return static_cast<std::int64_t>(value);
}

// The first one of all platforms; other kinds before processors.
cl_device_id find_device() {
  cl_uint count = 0;
  std::vector<cl_device_id> found;
  if (clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS && count > 0) {
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    for (cl_platform_id platform : platforms) {
      cl_uint of = 0;
      if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &of) != CL_SUCCESS) continue;
      const std::size_t before = found.size();
      found.resize(before + of);
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, of, &found[before], nullptr);
    }
  }
  if (found.empty()) {
    throw UnsupportedError("--device", "OpenCL has no device here",
                           "install the driver of one, or pocl-opencl-icd, which is the processor");
  }
  std::ranges::stable_sort(found, {}, [](cl_device_id d) {
    return number_of(d, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU ? 1 : 0;
  });
  return found.front();
}

// dims: extents, then strides, of `count` indices. Element `id` of the matrix is at a place of the
// tile.
constexpr const char* kernels = R"(
ulong place(ulong id, __global const long* dims, int count) {
  ulong at = 0;
  for (int i = count - 1; i >= 0; --i) {
    at += id % dims[i] * dims[count + i];
    id /= dims[i];
  }
  return at;
}
__kernel void to_matrix(__global T* matrix, __global const T* tiles, ulong begin,
                        __global const long* dims, int count) {
  ulong id = get_global_id(0);
  matrix[id] = tiles[begin + place(id, dims, count)];
}
__kernel void from_matrix(__global const T* matrix, __global T* tiles, ulong begin,
                          __global const long* dims, int count) {
  ulong id = get_global_id(0);
  tiles[begin + place(id, dims, count)] = matrix[id];
}
)";

template <class T>
class OpenClDevice : public Device<T> {
 public:
  OpenClDevice(const OperationTree& tree, std::int64_t tiles,
               const ByTensor<std::int64_t>& matrices, const std::vector<TunedDevice>& tuned)
      : tree_(tree),
        device_(find_device()),
        aligned_bits_(
            std::max<std::int64_t>(1, number_of(device_, CL_DEVICE_MEM_BASE_ADDR_ALIGN))) {
    const bool f64 =
        text_of(device_, CL_DEVICE_EXTENSIONS).find("cl_khr_fp64") != std::string::npos;
    matrix_bytes_ =
        require_able({name(), f64, memory(), most_at_once()}, Bytes(sizeof(T)), tiles, matrices);
    cl_int code = CL_SUCCESS;
    context_ = ClContext(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code));
    require(code, "its context");
    queue_ = ClQueue(clCreateCommandQueue(context_.get(), device_, 0, &code));
    require(code, "its queue");
    tile_bytes_ = Bytes(static_cast<std::int64_t>(bytes_of(tiles)));
    tiles_ = buffer(bytes_of(tiles));
    open_pieces();
    for (TensorId t : all_tensors) matrices_[t] = buffer(bytes_of(matrices[t]));
    const char* source = kernels;
    program_ = ClProgram(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &code));
    require(code, "its program");
    const char* options = std::is_same_v<T, double> ? "-DT=double" : "-DT=float";
    require(clBuildProgram(program_.get(), 1, &device_, options, nullptr, nullptr),
            "compiling for it");
    to_matrix_ = ClKernel(clCreateKernel(program_.get(), "to_matrix", &code));
    require(code, "a kernel");
    from_matrix_ = ClKernel(clCreateKernel(program_.get(), "from_matrix", &code));
    require(code, "a kernel");
    const DeviceSizes own = sizes();
    const DeviceSizes* const kept = sizes_of(tuned, name(), Bytes(sizeof(T)));
    if (kept != nullptr && use(*kept)) return;
    // CLBlast compiles with the first product: not while a chain runs.
    if (!use(own)) throw DeviceFailure("a product on it failed");
  }

  ~OpenClDevice() override {
    for (Piece& p : pieces_) {
      if (p.values == nullptr) continue;
      clEnqueueUnmapMemObject(queue_.get(), p.memory.get(), p.values, 0, nullptr, nullptr);
    }
    clFinish(queue_.get());
  }

  std::string name() const override { return text_of(device_, CL_DEVICE_NAME); }
  std::int64_t large() const override {
    std::unordered_map<std::string, std::size_t> all;
    clblast::RetrieveParameters(device_, "GemmRoutine", precision, all);
    const auto found = all.find("XGEMM_MIN_INDIRECT_SIZE");
    return found == all.end() ? 0 : static_cast<std::int64_t>(found->second);
  }
  DeviceSizes sizes() const override {
    std::unordered_map<std::string, std::size_t> all;
    const clblast::StatusCode status =
        clblast::RetrieveParameters(device_, large_product, precision, all);
    if (status != clblast::StatusCode::kSuccess)
      fail_device("asking for its sizes", number(status));
    DeviceSizes sizes;
    for (const auto& [name, value] : all) sizes[name] = static_cast<std::int64_t>(value);
    return sizes;
  }
  bool use(const DeviceSizes& sizes) override {
    try {
      set(sizes);
      multiply({});
      require(clFinish(queue_.get()), "waiting for it");
      return true;
    } catch (const DeviceFailure&) {
      return false;
    }
  }
  Bytes matrices() const override { return matrix_bytes_; }
  Bytes on_host() const override {
    const bool shared = number_of(device_, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    return Bytes(static_cast<std::int64_t>(bytes_of(2 * this->piece))) +
           (shared ? tile_bytes_ + matrix_bytes_ : Bytes(0));
  }
  Bytes memory() const override { return Bytes(number_of(device_, CL_DEVICE_GLOBAL_MEM_SIZE)); }
  Bytes most_at_once() const override {
    return Bytes(number_of(device_, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  }

  void write(std::int64_t place, const T* from, std::int64_t elements) override {
    require(clEnqueueWriteBuffer(queue_.get(), tiles_.get(), CL_TRUE, bytes_of(place),
                                 bytes_of(elements), from, 0, nullptr, nullptr),
            "a transfer to it");
  }
  void read(std::int64_t place, T* to, std::int64_t elements) override {
    require(clEnqueueReadBuffer(queue_.get(), tiles_.get(), CL_TRUE, bytes_of(place),
                                bytes_of(elements), to, 0, nullptr, nullptr),
            "a transfer from it");
  }
  void clear(std::int64_t place, std::int64_t elements) override {
    const T zero{};
    require(clEnqueueFillBuffer(queue_.get(), tiles_.get(), &zero, sizeof(T), bytes_of(place),
                                bytes_of(elements), 0, nullptr, nullptr),
            "clearing its memory");
    require(clFinish(queue_.get()), "waiting for it");
  }

  T* next_piece() override {
    wait(pieces_[next_]);
    return pieces_[next_].values;
  }
  void send(std::int64_t place, std::int64_t elements) override {
    start(clEnqueueWriteBuffer, place, elements, "a transfer to it");
  }
  void finish() override {
    for (Piece& p : pieces_) wait(p);
  }
  void ask(std::int64_t place, std::int64_t elements) override {
    asked_.push_back(&start(clEnqueueReadBuffer, place, elements, "a transfer from it"));
  }
  const T* arrived() override {
    Piece& p = *asked_.front();
    asked_.pop_front();
    wait(p);
    return p.values;
  }

  void run(const Leaf& shape, const ByTensor<std::int64_t>& begin) override {
    const Product& p = product(shape);
    // CLBlast minds no offset in all of its kernels, so what stays in place is a buffer of its own.
    ByTensor<ClBuffer> parts;
    for (TensorId t : all_tensors) {
      if (p.operands[t].lies_so) parts[t] = part(begin[t], p.operands[t].elements);
      if (parts[t].get() == nullptr) move(to_matrix_, p, t, begin[t]);
    }
    multiply(p, parts);
    if (parts[TensorId::C].get() == nullptr) move(from_matrix_, p, TensorId::C, begin[TensorId::C]);
    require(clFinish(queue_.get()), "waiting for it");
  }

 private:
  // Memory of the host that stays where it is, for transfers.
  struct Piece {
    ClBuffer memory;
    T* values = nullptr;
    ClEvent under_way;
  };
  void wait(Piece& p) {
    if (p.under_way.get() == nullptr) return;
    const ClEvent event = std::move(p.under_way);
    const cl_event one = event.get();
    require(clWaitForEvents(1, &one), "a transfer to it or from it");
  }
  // The next piece on its way, when what was in its memory has gone.
  template <class Enqueue>
  Piece& start(Enqueue enqueue, std::int64_t place, std::int64_t elements, const char* what) {
    Piece& p = pieces_[std::exchange(next_, 1 - next_)];
    wait(p);
    cl_event done = nullptr;
    require(enqueue(queue_.get(), tiles_.get(), CL_FALSE, bytes_of(place), bytes_of(elements),
                    p.values, 0, nullptr, &done),
            what);
    p.under_way = ClEvent(done);
    require(clFlush(queue_.get()), what);
    return p;
  }
  void open_pieces() {
    for (Piece& p : pieces_) {
      cl_int code = CL_SUCCESS;
      p.memory = ClBuffer(clCreateBuffer(context_.get(), CL_MEM_ALLOC_HOST_PTR,
                                         bytes_of(this->piece), nullptr, &code));
      require(code, "getting memory for transfers");
      p.values = static_cast<T*>(
          clEnqueueMapBuffer(queue_.get(), p.memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                             bytes_of(this->piece), 0, nullptr, nullptr, &code));
      require(code, "getting memory for transfers");
    }
  }

  // A tensor's tile as a batch of matrices: laid out as such, or in place where it lies so, rows or
  // columns behind one another.
  struct Operand {
    bool lies_so = false, transposed = false;
    std::int64_t elements = 0;
    int count = 0;  // of indices
    ClBuffer dims;
  };
  // A statement on a tile as a batch of products of matrices: m by k, k by n. Which operand is the
  // left one is as C lies.
  struct Product {
    std::int64_t m = 1, n = 1, k = 1, batch = 1;
    TensorId left = TensorId::A, right = TensorId::B;
    ByTensor<Operand> operands;
  };

  static constexpr const char* large_product = "Xgemm";
  static constexpr clblast::Precision precision =
      sizeof(T) == 8 ? clblast::Precision::kDouble : clblast::Precision::kSingle;
  static std::int64_t number(clblast::StatusCode status) {
    return static_cast<std::int64_t>(status);
  }

  void set(const DeviceSizes& sizes) {
    std::unordered_map<std::string, std::size_t> all;
    for (const auto& [name, value] : sizes) all[name] = static_cast<std::size_t>(value);
    const clblast::StatusCode status =
        clblast::OverrideParameters(device_, large_product, precision, all);
    if (status != clblast::StatusCode::kSuccess) fail_device("setting its sizes", number(status));
  }

  static std::size_t bytes_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }

  // Elements of the tiles as a buffer of its own; none where the device cannot have one there.
  ClBuffer part(std::int64_t begin, std::int64_t elements) const {
    constexpr std::int64_t bits = 8;
    if (static_cast<std::int64_t>(bytes_of(begin)) * bits % aligned_bits_ != 0) return {};
    const cl_buffer_region region{bytes_of(begin), bytes_of(elements)};
    cl_int code = CL_SUCCESS;
    ClBuffer made(clCreateSubBuffer(tiles_.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                    &region, &code));
    require(code, "a part of its memory");
    return made;
  }

  void multiply(const Product& p, const ByTensor<ClBuffer>& parts = {}) {
    cl_command_queue queue = queue_.get();
    const auto n = [](std::int64_t size) { return static_cast<std::size_t>(size); };
    const auto is_part = [&](TensorId t) { return parts[t].get() != nullptr; };
    const auto memory = [&](TensorId t) { return (is_part(t) ? parts : matrices_)[t].get(); };
    const auto transposed = [&](TensorId t) { return is_part(t) && p.operands[t].transposed; };
    const auto way = [&](TensorId t) {
      return transposed(t) ? clblast::Transpose::kYes : clblast::Transpose::kNo;
    };
    const auto row = [&](TensorId t, std::int64_t rows, std::int64_t columns) {
      return n(transposed(t) ? rows : columns);
    };
    const TensorId a = p.left, b = p.right, c = TensorId::C;
    const clblast::StatusCode status = clblast::GemmStridedBatched<T>(
        clblast::Layout::kRowMajor, way(a), way(b), n(p.m), n(p.n), n(p.k), T{1}, memory(a), 0,
        row(a, p.m, p.k), n(p.m * p.k), memory(b), 0, row(b, p.k, p.n), n(p.k * p.n), T{1},
        memory(c), 0, n(p.n), n(p.m * p.n), n(p.batch), &queue);
    if (status != clblast::StatusCode::kSuccess) {
      fail_device("a product on it", number(status));
    }
  }

  ClBuffer buffer(std::size_t bytes) const {
    cl_int code = CL_SUCCESS;
    ClBuffer made(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, std::max(bytes, sizeof(T)),
                                 nullptr, &code));
    require(code, "getting its memory");
    return made;
  }

  const Product& product(const Leaf& shape) {
    const auto known = products_.find(shape);
    if (known != products_.end()) return known->second;
    const fusion::IndexSet& indices = tree_.statement(shape.statement).indices;
    // By index and tensor: the distance of neighbours; 0 where the tensor has not the index.
    ByTensor<std::vector<std::int64_t>> strides;
    for (TensorId t : all_tensors) {
      strides[t].assign(indices.size(), 0);
      const std::vector<int>& axes =
          tree_.array(fusion::array_of(tree_, shape.statement, t)).indices;
      std::int64_t stride = 1;
      for (std::size_t axis = axes.size(); axis-- > 0;) {
        const auto i = std::ranges::lower_bound(indices, axes[axis]) - indices.begin();
        strides[t][static_cast<std::size_t>(i)] = stride;
        stride *= shape.places[t][axis];
      }
    }
    using Group = std::vector<std::size_t>;
    Product p;
    Group batch, rows, columns, summed;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const bool a = strides[TensorId::A][i] > 0, b = strides[TensorId::B][i] > 0;
      const bool c = strides[TensorId::C][i] > 0;
      (a && b && c ? batch : a && c ? rows : b && c ? columns : summed).push_back(i);
    }
    // Rows and columns follow one another as C's do, so that C may stay where it is.
    const auto as_in = [&](TensorId t, Group& group) {
      std::ranges::sort(group, std::greater(), [&](std::size_t i) { return strides[t][i]; });
    };
    for (Group* group : {&batch, &rows, &columns}) as_in(TensorId::C, *group);
    as_in(TensorId::A, summed);
    if (!rows.empty() && !columns.empty() &&
        strides[TensorId::C][rows.back()] < strides[TensorId::C][columns.back()]) {
      std::swap(rows, columns);
      std::swap(p.left, p.right);
    }
    const auto extent = [&](const Group& group) {
      std::int64_t all = 1;
      for (std::size_t i : group) all *= shape.tile[i];
      return all;
    };
    p.batch = extent(batch), p.m = extent(rows), p.n = extent(columns), p.k = extent(summed);

    const auto lies_so = [&](TensorId t, const Group& outer, const Group& inner) {
      std::int64_t stride = 1;
      for (const Group* group : {&inner, &outer, &std::as_const(batch)}) {
        for (std::size_t i : *group | std::views::reverse) {
          if (shape.tile[i] > 1 && strides[t][i] != stride) return false;
          stride *= shape.tile[i];
        }
      }
      return true;
    };
    const auto place = [&](TensorId t, const Group& outer, const Group& inner) {
      Operand& o = p.operands[t];
      o.transposed = t != TensorId::C && !lies_so(t, outer, inner) && lies_so(t, inner, outer);
      o.lies_so = o.transposed || lies_so(t, outer, inner);
      std::vector<cl_long> dims, steps;
      for (const Group* group : {&std::as_const(batch), &outer, &inner}) {
        for (std::size_t i : *group) {
          dims.push_back(shape.tile[i]);
          steps.push_back(strides[t][i]);
        }
      }
      o.count = static_cast<int>(dims.size());
      o.elements = p.batch * extent(outer) * extent(inner);
      dims.insert(dims.end(), steps.begin(), steps.end());
      dims.push_back(0);  // never empty
      o.dims = buffer(dims.size() * sizeof(cl_long));
      require(clEnqueueWriteBuffer(queue_.get(), o.dims.get(), CL_TRUE, 0,
                                   dims.size() * sizeof(cl_long), dims.data(), 0, nullptr, nullptr),
              "a transfer to it");
    };
    place(p.left, rows, summed);
    place(p.right, summed, columns);
    place(TensorId::C, rows, columns);
    return products_.emplace(shape, std::move(p)).first->second;
  }

  // One tensor's tile to its matrix, or back.
  void move(const ClKernel& kernel, const Product& p, TensorId t, std::int64_t begin) {
    const Operand& o = p.operands[t];
    const cl_mem matrix = matrices_[t].get(), tiles = tiles_.get(), dims = o.dims.get();
    const auto from = static_cast<cl_ulong>(begin);
    const cl_int count = o.count;
    cl_uint argument = 0;
    const auto give = [&](const auto& value) {
      require(clSetKernelArg(kernel.get(), argument++, sizeof(value), &value), "a kernel on it");
    };
    give(matrix), give(tiles), give(from), give(dims), give(count);
    const auto all = static_cast<std::size_t>(o.elements);
    require(clEnqueueNDRangeKernel(queue_.get(), kernel.get(), 1, nullptr, &all, nullptr, 0,
                                   nullptr, nullptr),
            "a kernel on it");
  }

  const OperationTree& tree_;
  cl_device_id device_;
  std::int64_t aligned_bits_;  // where a buffer of its own may begin in another
  ClContext context_;
  ClQueue queue_;
  ClBuffer tiles_;
  std::array<Piece, 2> pieces_;
  std::size_t next_ = 0;
  std::deque<Piece*> asked_;
  ByTensor<ClBuffer> matrices_;
  Bytes tile_bytes_, matrix_bytes_;
  ClProgram program_;
  ClKernel to_matrix_, from_matrix_;
  std::map<Leaf, Product> products_;
};

}  // namespace

template <class T>
std::unique_ptr<Device<T>> open_device(const OperationTree& tree, std::int64_t tiles,
                                       const ByTensor<std::int64_t>& matrices,
                                       const std::vector<TunedDevice>& tuned) {
  return std::make_unique<OpenClDevice<T>>(tree, tiles, matrices, tuned);
}
template std::unique_ptr<Device<float>> open_device(const OperationTree&, std::int64_t,
                                                    const ByTensor<std::int64_t>&,
                                                    const std::vector<TunedDevice>&);
template std::unique_ptr<Device<double>> open_device(const OperationTree&, std::int64_t,
                                                     const ByTensor<std::int64_t>&,
                                                     const std::vector<TunedDevice>&);

}  // namespace tcsim::chains
