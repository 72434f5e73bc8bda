#include "chains/tensor_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

#include "chains/chunked_file.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/stop.hpp"

namespace tcsim::chains {

namespace hdf5 {

// An HDF5 handle that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& o) noexcept : id_(std::exchange(o.id_, -1)), close_(o.close_) {}
  Handle& operator=(Handle&& o) noexcept {
    std::swap(id_, o.id_);
    std::swap(close_, o.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace hdf5

using hdf5::Handle;

namespace {

constexpr const char* data_set = "data";
// Of HDF5's cache for a file's tables.
constexpr std::size_t cached_tables = std::size_t{64} << 10;
// What is moved between two looks whether to stop.
constexpr std::int64_t piece_bytes = std::int64_t{32} << 20;
// What is smaller in a file may begin anywhere.
constexpr hsize_t least_aligned = 4096;

// HDF5, for one thread at a time. It prints what goes wrong unless it is told not to, by each
// thread.
class Turn {
 public:
  Turn() : lock_(mutex) {
    // What it frees is free: by default it keeps blocks for later.
    static const herr_t lists = H5set_free_list_limits(0, 0, 0, 0, 0, 0);
    static_cast<void>(lists);
    thread_local const herr_t quiet = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    static_cast<void>(quiet);
  }

 private:
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock_;
};
std::mutex Turn::mutex;

hid_t native(ElementType type) {
  return type == ElementType::f64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

std::string shape_text(const std::vector<std::int64_t>& extents) {
  std::string text = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
  }
  return text + "]";
}

Handle file_properties() {
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_sec2(properties.get());  // whose handle is a descriptor
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(properties.get(), &cache);
  cache.set_initial_size = true;
  cache.initial_size = cache.max_size = cache.min_size = cached_tables;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(properties.get(), &cache);
  return properties;
}

// One chunk is kept.
Handle data_properties(Bytes most_chunk) {
  Handle properties(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(properties.get(), 1, static_cast<std::size_t>(most_chunk.value()), 1);
  return properties;
}

}  // namespace

namespace hdf5 {

// Of another program.
class ForeignFile {
 public:
  ForeignFile(std::string path, Handle file, Handle data, ElementType type, Extents chunk,
              Bytes most_chunk)
      : name_(std::move(path)),
        file_(std::move(file)),
        data_(std::move(data)),
        type_(type),
        chunk_(std::move(chunk)),
        memory_(file_tables) {
    if (chunk_.empty()) return;
    const std::int64_t bytes = product(chunk_) * size_of(type).value();
    const Handle properties(H5Dget_create_plist(data_.get()), H5Pclose);
    // Of one that is packed by a filter, both forms are in memory.
    const bool packed = H5Pget_nfilters(properties.get()) > 0;
    whole_chunks_ = !packed && bytes <= most_chunk.value();
    memory_ += packed ? Bytes(2 * bytes) : std::min(Bytes(bytes), most_chunk);
  }

  Bytes memory() const { return memory_; }

  void read(const std::vector<fusion::Range>& at, void* values) const {
    in_pieces(at, [&](const std::vector<fusion::Range>& piece, std::int64_t place) {
      const Turn turn;
      std::byte* const to = static_cast<std::byte*>(values) + place * size_of(type_).value();
      if (is_whole_chunk(piece)) {
        const std::vector<hsize_t> corner = corner_of(piece);
        std::uint32_t filters = 0;
        // HDF5 1.10 says of a chunk that was never written, once it has read it, that it is there.
        // What is really wrong, the usual way to read it says.
        if (H5Dread_chunk(data_.get(), H5P_DEFAULT, corner.data(), &filters, to) >= 0) return;
      }
      const auto [in_file, in_memory] = spaces(piece);
      if (H5Dread(data_.get(), native(type_), in_memory.get(), in_file.get(), H5P_DEFAULT, to) <
          0) {
        throw InputError(name_, "a tile cannot be read: the file is damaged or cut off",
                         "write it again");
      }
    });
  }

 private:
  // Calls f with parts of a tile that lie behind each other in memory, whole chunks where that can
  // be, and where they begin there, in elements.
  template <class F>
  void in_pieces(const std::vector<fusion::Range>& at, F&& f) const {
    if (at.empty()) return f(at, 0);
    std::int64_t row = 1;
    for (std::size_t axis = 1; axis < at.size(); ++axis) row *= at[axis].size;
    const std::int64_t step = chunk_.empty() ? 1 : chunk_.front();
    const std::int64_t rows =
        std::max<std::int64_t>(1, piece_bytes / (row * size_of(type_).value()) / step) * step;
    const fusion::Range whole = at.front();
    std::vector<fusion::Range> piece = at;
    for (std::int64_t from = whole.begin, end; from < whole.begin + whole.size; from = end) {
      StopScope::heed();
      end = std::min((from / step) * step + rows, whole.begin + whole.size);
      piece.front() = {from, end - from};
      f(piece, (from - whole.begin) * row);
    }
  }

  // Whether a tile is a chunk that is in the file as in memory, and is there already.
  bool is_whole_chunk(const std::vector<fusion::Range>& at) const {
    if (!whole_chunks_) return false;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (at[axis].begin % chunk_[axis] != 0 || at[axis].size != chunk_[axis]) return false;
    }
    hsize_t there = 0;
    const std::vector<hsize_t> corner = corner_of(at);
    return H5Dget_chunk_storage_size(data_.get(), corner.data(), &there) >= 0 &&
           static_cast<std::int64_t>(there) == product(chunk_) * size_of(type_).value();
  }
  static std::vector<hsize_t> corner_of(const std::vector<fusion::Range>& at) {
    std::vector<hsize_t> corner;
    for (const fusion::Range& r : at) corner.push_back(static_cast<hsize_t>(r.begin));
    return corner;
  }

  // What a tile is in the file, and in memory.
  std::pair<Handle, Handle> spaces(const std::vector<fusion::Range>& at) const {
    std::vector<hsize_t> size;
    for (const fusion::Range& r : at) size.push_back(static_cast<hsize_t>(r.size));
    Handle in_file(H5Dget_space(data_.get()), H5Sclose);
    if (at.empty()) return {std::move(in_file), Handle(H5Screate(H5S_SCALAR), H5Sclose)};
    H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, corner_of(at).data(), nullptr, size.data(),
                        nullptr);
    return {
        std::move(in_file),
        Handle(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose)};
  }

  const std::string name_;
  const Handle file_, data_;
  const ElementType type_;
  const Extents chunk_;  // empty where the data are not in chunks
  Bytes memory_;
  bool whole_chunks_ = false;  // chunks are in the file as in memory, and not too large
};

}  // namespace hdf5

namespace {

// Empty where the data are not in chunks.
Extents chunk_of(hid_t data, std::size_t axes) {
  const Handle properties(H5Dget_create_plist(data), H5Pclose);
  if (H5Pget_layout(properties.get()) != H5D_CHUNKED) return {};
  std::vector<hsize_t> size(axes);
  H5Pget_chunk(properties.get(), static_cast<int>(size.size()), size.data());
  return {size.begin(), size.end()};
}

// Not by a link in another file.
bool lies_in(hid_t data, const std::filesystem::path& file) {
  std::string its(4096, '\0');
  const ssize_t length = H5Fget_name(data, its.data(), its.size());
  if (length <= 0 || length >= static_cast<ssize_t>(its.size())) return false;
  its.resize(static_cast<std::size_t>(length));
  std::error_code none;
  return std::filesystem::equivalent(its, file, none);
}

// Where the chunks of a file begin that are one behind another and as in memory, as create() makes
// them.
std::optional<std::int64_t> begin_of_chunks(hid_t data, std::size_t axes) {
  const Handle file(H5Iget_file_id(data), H5Fclose);
  const Handle made(H5Fget_create_plist(file.get()), H5Pclose);
  hsize_t before = 0;  // of another program, which HDF5 does not count
  if (H5Pget_userblock(made.get(), &before) < 0 || before != 0) return {};
  haddr_t address = HADDR_UNDEF;
  if (axes == 0) {
    address = H5Dget_offset(data);
  } else {
    const Handle properties(H5Dget_create_plist(data), H5Pclose);
    const Handle space(H5Dget_space(data), H5Sclose);
    std::vector<hsize_t> there(axes), most(axes);
    H5Sget_simple_extent_dims(space.get(), there.data(), most.data());
    H5D_chunk_index_t index{};
    // Chunks are counted by what the extents may become.
    if (there != most || H5Pget_nfilters(properties.get()) != 0 ||
        H5Dget_chunk_index_type(data, &index) < 0 ||
        (index != H5D_CHUNK_IDX_NONE && index != H5D_CHUNK_IDX_SINGLE)) {
      return {};
    }
    const std::vector<hsize_t> corner(axes, 0);
    unsigned filters = 0;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info_by_coord(data, corner.data(), &filters, &address, &bytes) < 0) return {};
  }
  if (address == HADDR_UNDEF) return {};
  return static_cast<std::int64_t>(address);
}

}  // namespace

struct TensorFile::Handles {
  std::string name;
  std::vector<std::int64_t> extents, chunk;
  ElementType type;
  std::unique_ptr<ChunkedFile> own;
  std::unique_ptr<hdf5::ForeignFile> foreign;
};

bool has_tensor_files() { return true; }

TensorFile::TensorFile(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}
TensorFile::TensorFile(TensorFile&&) noexcept = default;
TensorFile& TensorFile::operator=(TensorFile&& other) noexcept {
  handles_.swap(other.handles_);
  return *this;
}
TensorFile::~TensorFile() {
  if (!handles_) return;
  const Turn turn;
  handles_.reset();
}

TensorFile TensorFile::open(const std::filesystem::path& path,
                            const std::vector<std::int64_t>& extents, ElementType type,
                            Bytes most_chunk) {
  const Turn turn;
  const std::string name = path.string();
  const auto fail = [&](const std::string& problem, const std::string& mend) {
    throw InputError(name, problem, mend);
  };
  if (!std::filesystem::exists(path)) fail("no such file", "put the tensor there");
  Handle file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, file_properties().get()), H5Fclose);
  if (!file.ok()) fail("this is no HDF5 file, or a damaged one", "write the tensor again");
  Handle data(H5Dopen2(file.get(), data_set, data_properties(most_chunk).get()), H5Dclose);
  if (!data.ok()) fail("it has no data set \"data\"", "write the tensor into one of that name");
  const Handle space(H5Dget_space(data.get()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> found(static_cast<std::size_t>(std::max(rank, 0)));
  H5Sget_simple_extent_dims(space.get(), found.data(), nullptr);
  const std::vector<std::int64_t> there(found.begin(), found.end());
  if (there != extents) {
    fail(fmt::format("the tensor is {}, and the chain's is {}", shape_text(there),
                     shape_text(extents)),
         "write it with that shape, or change the sizes");
  }
  const Handle stored(H5Dget_type(data.get()), H5Tclose);
  if (H5Tequal(stored.get(), native(type)) <= 0) {
    fail(fmt::format("its elements are not {} of this machine", to_text(type)),
         "write them so, or say --type");
  }
  const Extents chunk = chunk_of(data.get(), extents.size());
  auto handles = std::make_unique<Handles>(Handles{name, extents, chunk, type, {}, {}});
  const auto begin = begin_of_chunks(data.get(), extents.size());
  if (begin && lies_in(data.get(), path) && *begin % size_of(type).value() == 0 &&
      Bytes(product(chunk) * size_of(type).value()) <= std::min(most_chunk, fusion::usual_chunk)) {
    handles->own = std::make_unique<ChunkedFile>(
        name, ChunkedFile::Layout{*begin, extents, chunk, type}, false);
  } else {
    handles->foreign = std::make_unique<hdf5::ForeignFile>(name, std::move(file), std::move(data),
                                                           type, chunk, most_chunk);
  }
  return TensorFile(std::move(handles));
}

TensorFile TensorFile::create(const std::filesystem::path& path,
                              const std::vector<std::int64_t>& extents,
                              const std::vector<std::int64_t>& chunk, ElementType type) {
  const Turn turn;
  const std::string name = path.string();
  const auto fail = [&](const std::string& problem) {
    throw InputError(name, problem, "look at the folder's rights and the room on its disk");
  };
  std::optional<std::int64_t> begin;
  {
    const Handle properties = file_properties();
    // With room for all of them at once, HDF5 1.10 puts chunks one behind another.
    H5Pset_libver_bounds(properties.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_alignment(properties.get(), least_aligned, Block::page);
    const Handle own(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_obj_track_times(own.get(), false);  // equal runs give equal bytes
    const Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, own.get(), properties.get()),
                      H5Fclose);
    if (!file.ok()) fail("cannot be created");
    const std::vector<hsize_t> size(extents.begin(), extents.end()),
        part(chunk.begin(), chunk.end());
    const Handle space(extents.empty()
                           ? H5Screate(H5S_SCALAR)
                           : H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr),
                       H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (!extents.empty()) {
      H5Pset_chunk(how.get(), static_cast<int>(part.size()), part.data());
    }
    H5Pset_obj_track_times(how.get(), false);
    H5Pset_alloc_time(how.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER);
    const Handle data(H5Dcreate2(file.get(), data_set, native(type), space.get(), H5P_DEFAULT,
                                 how.get(), H5P_DEFAULT),
                      H5Dclose);
    if (!data.ok()) fail(fmt::format("no room for a tensor of {}", shape_text(extents)));
    begin = begin_of_chunks(data.get(), extents.size());
    if (!begin) fail("HDF5 does not say where its numbers are");
    // The file has its full length from here on.
    if (H5Fflush(file.get(), H5F_SCOPE_LOCAL) < 0) {
      throw InputError(name, fmt::format("no room for a tensor of {}", shape_text(extents)),
                       "look at the room on its disk");
    }
  }
  auto handles = std::make_unique<Handles>(Handles{name, extents, chunk, type, {}, {}});
  handles->own =
      std::make_unique<ChunkedFile>(name, ChunkedFile::Layout{*begin, extents, chunk, type}, true);
  return TensorFile(std::move(handles));
}

Bytes TensorFile::memory() const {
  return handles_->own ? Bytes(handles_->own->chunk_bytes()) : handles_->foreign->memory();
}
const std::vector<std::int64_t>& TensorFile::chunk() const { return handles_->chunk; }

Bytes TensorFile::chunks(const std::vector<fusion::Range>& at) const {
  std::int64_t bytes = size_of(handles_->type).value();
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::int64_t size = handles_->chunk.empty() ? 1 : handles_->chunk[axis];
    const std::int64_t end = at[axis].begin + at[axis].size;
    bytes *= std::min((end + size - 1) / size * size, handles_->extents[axis]) -
             at[axis].begin / size * size;
  }
  return Bytes(bytes);
}

void TensorFile::read(const std::vector<fusion::Range>& at, void* values) const {
  handles_->own ? handles_->own->read(at, values) : handles_->foreign->read(at, values);
}
void TensorFile::write(const std::vector<fusion::Range>& at, const void* values) {
  handles_->own->write(at, values);
}

void TensorFile::read(const std::vector<fusion::Range>& at, Block& to) const {
  if (handles_->own && handles_->own->is_in_chunk(at)) return handles_->own->read_straight(at, to);
  to.lay_out(at, 0);
  read(at, to.values());
}
void TensorFile::prepare(const std::vector<fusion::Range>& at, Block& block) const {
  if (handles_->own->is_chunk(at)) return handles_->own->prepare(at, block);
  block.lay_out(at, 0);
}
void TensorFile::write(const std::vector<fusion::Range>& at, const Block& from) {
  if (handles_->own->is_chunk(at)) return handles_->own->write_straight(at, from);
  write(at, from.values());
}

void TensorFile::read(const std::vector<fusion::Range>& at, void* values, Block& room,
                      Bytes most) const {
  ChunkedFile* const own = handles_->own.get();
  if (own == nullptr || own->chunk_bytes() > most.value()) return read(at, values);
  own->read(at, values, room);
}
void TensorFile::write(const std::vector<fusion::Range>& at, const void* values, Block& room,
                       Bytes most) {
  if (handles_->own->chunk_bytes() > most.value()) return write(at, values);
  handles_->own->write(at, values, room);
}

void TensorFile::flush() {
  if (handles_->own) handles_->own->flush();
}
void TensorFile::forget() {
  flush();
  const int descriptor = ::open(handles_->name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;  // advice only
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

}  // namespace tcsim::chains
