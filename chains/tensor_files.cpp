#include "chains/tensor_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

#include "chains/rows.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/io/on_disk.hpp"
#include "core/stop.hpp"
#include "core/units/divisor.hpp"

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

// One chunk is cached.
Handle data_properties(Bytes most_chunk) {
  Handle properties(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(properties.get(), 1, static_cast<std::size_t>(most_chunk.value()), 1);
  return properties;
}

}  // namespace

struct TensorFile::Handles {
  std::string name;
  Handle file, data;
  ElementType type;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> chunk;  // empty where the data are not in chunks
  Bytes memory;
  bool read_only = false;
  bool plain = false;  // chunks are in the file as in memory, and not too large

  // What HDF5 knows of the chunks, and what they take: of one that is packed by a filter, both
  // forms are in memory.
  void learn(Bytes most_chunk) {
    const Handle properties(H5Dget_create_plist(data.get()), H5Pclose);
    memory = file_tables;
    if (H5Pget_layout(properties.get()) != H5D_CHUNKED) return;
    const Handle space(H5Dget_space(data.get()), H5Sclose);
    std::vector<hsize_t> size(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Pget_chunk(properties.get(), static_cast<int>(size.size()), size.data());
    chunk.assign(size.begin(), size.end());
    std::int64_t bytes = size_of(type).value();
    for (std::int64_t c : chunk) bytes *= c;
    const bool packed = H5Pget_nfilters(properties.get()) > 0;
    plain = !packed && bytes <= most_chunk.value();
    memory += packed ? Bytes(2 * bytes) : std::min(Bytes(bytes), most_chunk);
  }

  // Chunks at equal distances: HDF5 finds a chunk's place by going through all of them, so that
  // five are looked at.
  struct Spacing {
    Place first;
    double apart = 0;  // bytes
  };
  const std::optional<Spacing>& spacing() {
    if (std::exchange(looked_, true) || !plain || extents.empty()) return spacing_;
    std::vector<fusion::Range> all;
    for (std::int64_t n : extents) all.push_back({0, n});
    const Blocks chunks(all, chunk, Extents(extents.size(), 0));
    const std::int64_t last = chunks.count() - 1;
    const std::optional<Place> first = chunk_at(chunks[0]), end = chunk_at(chunks[last]);
    if (!first || !end) return spacing_;
    const auto from_first = [&](const Place& p) {
      return static_cast<double>(p.begin - first->begin);
    };
    const double apart = last > 0 ? from_first(*end) / static_cast<double>(last) : 0;
    for (const std::int64_t i : {last / 4, last / 2, last / 4 * 3}) {
      const std::optional<Place> there = chunk_at(chunks[i]);
      if (!there) return spacing_;
      const double off = from_first(*there) - apart * static_cast<double>(i);
      if (std::abs(off) > static_cast<double>(most_of_tables)) return spacing_;
    }
    spacing_ = {*first, apart};
    return spacing_;
  }
  // Between chunks that follow each other.
  static constexpr std::int64_t most_of_tables = std::int64_t{64} << 10;

  std::int64_t named_to = -1;  // where the chunk ends that was named last

  // Calls f with parts of a tile that lie behind each other in memory, whole chunks where that can
  // be, and where they begin there, in elements.
  template <class F>
  void in_pieces(const std::vector<fusion::Range>& at, F&& f) const {
    if (at.empty()) return f(at, 0);
    std::int64_t row = 1;
    for (std::size_t axis = 1; axis < at.size(); ++axis) row *= at[axis].size;
    const std::int64_t step = chunk.empty() ? 1 : chunk.front();
    const std::int64_t rows =
        std::max<std::int64_t>(1, piece_bytes / (row * size_of(type).value()) / step) * step;
    const fusion::Range whole = at.front();
    std::vector<fusion::Range> piece = at;
    for (std::int64_t from = whole.begin, end; from < whole.begin + whole.size; from = end) {
      StopScope::heed();
      end = std::min((from / step) * step + rows, whole.begin + whole.size);
      piece.front() = {from, end - from};
      f(piece, (from - whole.begin) * row);
    }
  }

  // The chunk that a tile is all of, as far as the tensor goes; nothing where it is not one, or is
  // not in the file yet.
  std::optional<std::vector<fusion::Range>> whole_chunk(
      const std::vector<fusion::Range>& at) const {
    if (!plain || at.empty()) return {};
    std::vector<fusion::Range> whole;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const fusion::Range& r = at[axis];
      whole.push_back({r.begin, chunk[axis]});
      if (r.begin % chunk[axis] != 0) return {};
      if (r.size != std::min(chunk[axis], extents[axis] - r.begin)) return {};
    }
    hsize_t there = 0;
    const std::vector<hsize_t> place = corner_of(at);
    if (H5Dget_chunk_storage_size(data.get(), place.data(), &there) < 0) return {};
    if (static_cast<std::int64_t>(there) != bytes_of(whole)) return {};
    return whole;
  }
  static std::vector<hsize_t> corner_of(const std::vector<fusion::Range>& at) {
    std::vector<hsize_t> corner;
    for (const fusion::Range& r : at) corner.push_back(static_cast<hsize_t>(r.begin));
    return corner;
  }
  std::int64_t bytes_of(const std::vector<fusion::Range>& at) const {
    return elements_of(at) * size_of(type).value();
  }

  // Calls copy(an element), whose type is that of the file's.
  template <class F>
  void with_type(F&& copy) const {
    if (type == ElementType::f64) {
      copy(double{});
    } else {
      copy(float{});
    }
  }

  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(name, problem, mend);
  }

  bool looked_ = false;
  std::optional<Spacing> spacing_{};

  // Exactly, unlike place_of().
  std::optional<Place> chunk_at(const std::vector<fusion::Range>& at) const {
    const std::vector<hsize_t> corner = corner_of(at);
    unsigned filters = 0;
    haddr_t address = 0;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info_by_coord(data.get(), corner.data(), &filters, &address, &bytes) < 0 ||
        address == HADDR_UNDEF) {
      return {};
    }
    return Place{static_cast<std::int64_t>(address), static_cast<std::int64_t>(bytes)};
  }

  // What a tile is in the file, and in memory.
  std::pair<Handle, Handle> spaces(const std::vector<fusion::Range>& at) const {
    std::vector<hsize_t> begin, size;
    for (const fusion::Range& r : at) {
      begin.push_back(static_cast<hsize_t>(r.begin));
      size.push_back(static_cast<hsize_t>(r.size));
    }
    Handle in_file(H5Dget_space(data.get()), H5Sclose);
    if (at.empty()) return {std::move(in_file), Handle(H5Screate(H5S_SCALAR), H5Sclose)};
    H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr);
    return {
        std::move(in_file),
        Handle(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose)};
  }
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
                            Access access, Bytes most_chunk) {
  const Turn turn;
  const std::string name = path.string();
  const auto fail = [&](const std::string& problem, const std::string& mend) {
    throw InputError(name, problem, mend);
  };
  if (!std::filesystem::exists(path)) fail("no such file", "put the tensor there");
  Handle file(H5Fopen(name.c_str(), access == Access::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR,
                      file_properties().get()),
              H5Fclose);
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
  auto handles = std::make_unique<Handles>(Handles{
      name, std::move(file), std::move(data), type, extents, {}, {}, access == Access::read});
  handles->learn(most_chunk);
  return TensorFile(std::move(handles));
}

TensorFile TensorFile::create(const std::filesystem::path& path,
                              const std::vector<std::int64_t>& extents,
                              const std::vector<std::int64_t>& chunk, ElementType type,
                              Bytes most_chunk) {
  const Turn turn;
  const std::string name = path.string();
  const auto fail = [&](const std::string& problem) {
    throw InputError(name, problem, "look at the folder's rights and the room on its disk");
  };
  Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, file_properties().get()),
              H5Fclose);
  if (!file.ok()) fail("cannot be created");
  const std::vector<hsize_t> size(extents.begin(), extents.end()), part(chunk.begin(), chunk.end());
  const Handle space(extents.empty()
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr),
                     H5Sclose);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!extents.empty()) {
    H5Pset_chunk(properties.get(), static_cast<int>(part.size()), part.data());
  }
  H5Pset_obj_track_times(properties.get(), false);  // equal runs give equal bytes
  H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);
  Handle data(H5Dcreate2(file.get(), data_set, native(type), space.get(), H5P_DEFAULT,
                         properties.get(), data_properties(most_chunk).get()),
              H5Dclose);
  if (!data.ok()) fail(fmt::format("no room for a tensor of {}", shape_text(extents)));
  auto handles = std::make_unique<Handles>(
      Handles{name, std::move(file), std::move(data), type, extents, {}, {}, false});
  handles->learn(most_chunk);
  return TensorFile(std::move(handles));
}

Bytes TensorFile::memory() const { return handles_->memory; }
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

std::optional<TensorFile::Place> TensorFile::place_of(const std::vector<fusion::Range>& at) const {
  const Turn turn;
  const auto& spacing = handles_->spacing();
  if (!spacing) return {};
  std::int64_t before = 0;  // chunks
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::int64_t size = handles_->chunk[axis];
    before = before * ceil_div(handles_->extents[axis], size) + at[axis].begin / size;
  }
  const auto from_first = static_cast<std::int64_t>(spacing->apart * static_cast<double>(before));
  return Place{spacing->first.begin + from_first, spacing->first.bytes};
}

void TensorFile::read_soon(const std::vector<fusion::Range>& at) {
  const auto place = place_of(at);
  if (!place) return;
  const std::int64_t end = place->begin + place->bytes;
  const std::int64_t jump = place->begin - std::exchange(handles_->named_to, end);
  if (jump >= 0 && jump <= Handles::most_of_tables) return;
  const Turn turn;
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(handles_->file.get(), H5P_DEFAULT, &descriptor) < 0) return;
  ::posix_fadvise(*static_cast<const int*>(descriptor), place->begin, place->bytes,
                  POSIX_FADV_WILLNEED);
}

void TensorFile::read(const std::vector<fusion::Range>& at, void* values) const {
  handles_->in_pieces(at, [&](const std::vector<fusion::Range>& piece, std::int64_t place) {
    const Turn turn;
    const auto [in_file, in_memory] = handles_->spaces(piece);
    std::byte* const to = static_cast<std::byte*>(values) + place * size_of(handles_->type).value();
    if (H5Dread(handles_->data.get(), native(handles_->type), in_memory.get(), in_file.get(),
                H5P_DEFAULT, to) < 0) {
      handles_->fail("a tile cannot be read: the file is damaged or cut off", "write it again");
    }
  });
}

void TensorFile::write(const std::vector<fusion::Range>& at, const void* values) {
  handles_->in_pieces(at, [&](const std::vector<fusion::Range>& piece, std::int64_t place) {
    const Turn turn;
    const auto [in_file, in_memory] = handles_->spaces(piece);
    const std::byte* const from =
        static_cast<const std::byte*>(values) + place * size_of(handles_->type).value();
    if (H5Dwrite(handles_->data.get(), native(handles_->type), in_memory.get(), in_file.get(),
                 H5P_DEFAULT, from) < 0) {
      handles_->fail("a tile cannot be written", "look at the room on its disk");
    }
  });
}

void TensorFile::read(const std::vector<fusion::Range>& at, void* values,
                      std::vector<std::byte>& room) const {
  {
    const Turn turn;
    if (const auto whole = handles_->whole_chunk(at)) {
      const std::vector<hsize_t> place = Handles::corner_of(at);
      const std::int64_t bytes = handles_->bytes_of(*whole);
      const bool at_end = bytes != handles_->bytes_of(at);
      if (at_end) room.resize(std::max(room.size(), static_cast<std::size_t>(bytes)));
      std::uint32_t filters = 0;
      // HDF5 1.10 says of a chunk that was never written, once it has read it, that it is there.
      // What is really wrong, the usual way to read it says.
      if (H5Dread_chunk(handles_->data.get(), H5P_DEFAULT, place.data(), &filters,
                        at_end ? room.data() : values) >= 0) {
        if (!at_end) return;
        return handles_->with_type([&]<class T>(T) {
          copy_out(*whole, at, reinterpret_cast<const T*>(room.data()), static_cast<T*>(values));
        });
      }
    }
  }
  read(at, values);
}

void TensorFile::write(const std::vector<fusion::Range>& at, const void* values,
                       std::vector<std::byte>& room) {
  {
    const Turn turn;
    if (const auto whole = handles_->whole_chunk(at)) {
      const std::vector<hsize_t> place = Handles::corner_of(at);
      const std::int64_t bytes = handles_->bytes_of(*whole);
      if (bytes != handles_->bytes_of(at)) {
        room.assign(std::max(room.size(), static_cast<std::size_t>(bytes)), std::byte{0});
        handles_->with_type([&]<class T>(T) {
          copy_in(*whole, at, reinterpret_cast<T*>(room.data()), static_cast<const T*>(values));
        });
        values = room.data();
      }
      if (H5Dwrite_chunk(handles_->data.get(), H5P_DEFAULT, 0, place.data(),
                         static_cast<std::size_t>(bytes), values) < 0) {
        handles_->fail("a tile cannot be written", "look at the room on its disk");
      }
      return;
    }
  }
  write(at, values);
}

void TensorFile::flush() {
  bool written = true;
  {
    const Turn turn;
    written = handles_->read_only || H5Fflush(handles_->file.get(), H5F_SCOPE_LOCAL) >= 0;
  }
  if (!written || (!handles_->read_only && !on_disk(std::filesystem::path(handles_->name)))) {
    handles_->fail("cannot be written", "look at the room on its disk");
  }
}

void TensorFile::forget() {
  flush();
  const int descriptor = ::open(handles_->name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;  // advice only
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

}  // namespace tcsim::chains
