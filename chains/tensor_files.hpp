// Tensors in HDF5 files, one each: FOLDER/NAME.h5 with a data set "data", in chunks. Files that
// this makes have their chunks one behind another (HDF5's "implicit" index, since 1.10), and HDF5
// is not asked for their numbers (chains/chunked_file.hpp). Files of other programs are read
// through HDF5, which keeps one chunk of each, without which a tile with a part of a chunk would be
// moved piece by piece: a system call for every few numbers that are neighbours in both. Several
// threads may use files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "chains/block.hpp"
#include "core/fusion/chunks.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::chains {

// What HDF5 takes for a file while it is open: those of other programs while they are read, others
// for a moment. Source: counted with malloc() of HDF5 1.10.8, 533 KB for each file, most of it an
// index of 65536 places for the file's tables; 830 KB with the first one
// (tests/chains/run_memory_test.cpp).
inline constexpr Bytes file_tables{std::int64_t{576} << 10};
// And of itself.
inline constexpr Bytes hdf5_itself{std::int64_t{768} << 10};

// Whether this tcsim was built with HDF5.
bool has_tensor_files();

class TensorFile {
 public:
  // A file that is there, to read. Throws InputError where it is no HDF5 file, is damaged, or its
  // tensor has another shape or type. UnsupportedError without HDF5.
  // Chunks of up to `most_chunk` are kept in memory; larger ones are moved piece by piece.
  static TensorFile open(const std::filesystem::path& file,
                         const std::vector<std::int64_t>& extents, ElementType type,
                         Bytes most_chunk = fusion::usual_chunk);
  // A new one, in place of what is there, to read and write. Throws InputError where it cannot be
  // written.
  static TensorFile create(const std::filesystem::path& file,
                           const std::vector<std::int64_t>& extents,
                           const std::vector<std::int64_t>& chunk, ElementType type);
  TensorFile(TensorFile&&) noexcept;
  TensorFile& operator=(TensorFile&&) noexcept;
  ~TensorFile();

  // What it takes of memory, at most.
  Bytes memory() const;
  const std::vector<std::int64_t>& chunk() const;  // empty where the data are not in chunks
  // Of all chunks that a tile has a part of; of the tile where the data are not in chunks.
  Bytes chunks(const std::vector<fusion::Range>& at) const;

  // A range of each axis, row-major at `values`. Throw InputError where the disk does not do it.
  // Heed StopScope. Only what create() made is written.
  void read(const std::vector<fusion::Range>& at, void* values) const;
  void write(const std::vector<fusion::Range>& at, const void* values);

  // The same to and from a Block, which has room for the tile and for a chunk, and whose ranges are
  // the tile's, or those of the chunk that it is a part of. Chunks go straight between the disk and
  // the block where that can be, past the system's memory: to read, a tile that is a part of one,
  // and to write, one that is all that the tensor has of it. What is written is put into the block
  // after prepare(). One thread for a block.
  void read(const std::vector<fusion::Range>& at, Block& to) const;
  void prepare(const std::vector<fusion::Range>& at, Block& block) const;
  void write(const std::vector<fusion::Range>& at, const Block& from);

  // Any tile, row-major at `values`, chunk by chunk through a block that has room for a chunk of
  // `most` bytes; larger ones as by read(at, values).
  void read(const std::vector<fusion::Range>& at, void* values, Block& room, Bytes most) const;
  void write(const std::vector<fusion::Range>& at, const void* values, Block& room, Bytes most);

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
