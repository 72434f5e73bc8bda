// Tensors in HDF5 files, one each: FOLDER/NAME.h5 with a data set "data", in chunks. Tiles are read
// into and written from memory of the caller. HDF5 keeps no chunk of its own (its cache is off), so
// that memory is what the caller counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/fusion/walk.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::chains {

// What HDF5 keeps of each open file: the largest chunk that is made.
inline constexpr Bytes chunk_cache{std::int64_t{2} << 20};

// Whether this tcsim was built with HDF5.
bool has_tensor_files();

class TensorFile {
 public:
  enum class Access { read, write };

  // A file that is there. Throws InputError where it is no HDF5 file, is damaged, or its tensor has
  // another shape or type. UnsupportedError without HDF5.
  static TensorFile open(const std::filesystem::path& file,
                         const std::vector<std::int64_t>& extents, ElementType type, Access access);
  // A new one, in place of what is there. Throws InputError where it cannot be written.
  static TensorFile create(const std::filesystem::path& file,
                           const std::vector<std::int64_t>& extents,
                           const std::vector<std::int64_t>& chunk, ElementType type);
  TensorFile(TensorFile&&) noexcept;
  TensorFile& operator=(TensorFile&&) noexcept;
  ~TensorFile();

  // A range of each axis, row-major at `values`. Throw InputError where the disk does not do it.
  void read(const std::vector<fusion::Range>& at, void* values) const;
  void write(const std::vector<fusion::Range>& at, const void* values);
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
