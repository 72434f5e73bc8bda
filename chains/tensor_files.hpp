// Tensors in HDF5 files, one each: FOLDER/NAME.h5 with a data set "data", in chunks. Tiles are read
// into and written from memory of the caller. Of each open file HDF5 keeps one chunk, without which
// a tile with a part of a chunk would be moved piece by piece: a system call for every few numbers
// that are neighbours in both. Several threads may use files, one of them at a time gets through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fusion/chunks.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::chains {

// What HDF5 keeps of an open file beside a chunk. Source: counted with malloc() of HDF5 1.10.8, 533
// KB for each file, most of it an index of 65536 places for the file's tables; 830 KB with the
// first one (tests/chains/run_memory_test.cpp).
inline constexpr Bytes file_tables{std::int64_t{576} << 10};
// And of itself.
inline constexpr Bytes hdf5_itself{std::int64_t{768} << 10};

// Whether this tcsim was built with HDF5.
bool has_tensor_files();

class TensorFile {
 public:
  enum class Access { read, write };

  // A file that is there. Throws InputError where it is no HDF5 file, is damaged, or its tensor has
  // another shape or type. UnsupportedError without HDF5.
  // HDF5 keeps a chunk of up to `most_chunk`; larger ones are moved piece by piece.
  static TensorFile open(const std::filesystem::path& file,
                         const std::vector<std::int64_t>& extents, ElementType type, Access access,
                         Bytes most_chunk = fusion::usual_chunk);
  // A new one, in place of what is there. Throws InputError where it cannot be written.
  static TensorFile create(const std::filesystem::path& file,
                           const std::vector<std::int64_t>& extents,
                           const std::vector<std::int64_t>& chunk, ElementType type,
                           Bytes most_chunk = fusion::usual_chunk);
  TensorFile(TensorFile&&) noexcept;
  TensorFile& operator=(TensorFile&&) noexcept;
  ~TensorFile();

  // What HDF5 takes of memory for it, at most.
  Bytes memory() const;
  const std::vector<std::int64_t>& chunk() const;  // empty where the data are not in chunks
  // Of all chunks that a tile has a part of; of the tile where the data are not in chunks.
  Bytes chunks(const std::vector<fusion::Range>& at) const;
  // About where in the file the chunk lies that has the first element of a tile: HDF5's tables, a
  // few KiB each, lie between chunks. Nothing where that is not known: chunks that are packed, or
  // do not lie in their order.
  struct Place {
    std::int64_t begin = 0, bytes = 0;
  };
  std::optional<Place> place_of(const std::vector<fusion::Range>& at) const;
  // The system fetches that chunk while the caller does something else, unless it lies behind the
  // one that was named before: the system sees that by itself.
  void read_soon(const std::vector<fusion::Range>& at);
  // A range of each axis, row-major at `values`. Throw InputError where the disk does not do it.
  // Heed StopScope.
  void read(const std::vector<fusion::Range>& at, void* values) const;
  void write(const std::vector<fusion::Range>& at, const void* values);
  // The same, but what is all of a chunk passes HDF5's copy of it. A chunk at the tensor's end
  // reaches over it: all of that is in `room`, which grows.
  void read(const std::vector<fusion::Range>& at, void* values, std::vector<std::byte>& room) const;
  void write(const std::vector<fusion::Range>& at, const void* values,
             std::vector<std::byte>& room);
  // All that was written is on the disk when it returns.
  void flush();
  // The same, and the system forgets what it has of the file: what is read next comes from the
  // disk.
  void forget();

 private:
  struct Handles;
  explicit TensorFile(std::unique_ptr<Handles> handles);
  std::unique_ptr<Handles> handles_;
};

}  // namespace tcsim::chains
