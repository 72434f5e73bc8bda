// A tensor's chunks in a file, one behind another from a known place on, the last axis fastest,
// each whole even where it reaches over the tensor's end. The files that tcsim makes are so
// (chains/tensor_files.hpp), so that their numbers need no library.
//
// Two ways to move: any tile, through the system's memory (its page cache) and a chunk that is kept
// here; and single chunks, straight between the disk and a Block (O_DIRECT), which takes as long in
// any order. Where the file system has no such way, all go through the system's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "chains/block.hpp"
#include "chains/tensors.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::chains {

class ChunkedFile {
 public:
  struct Layout {
    std::int64_t begin = 0;  // of the first chunk, bytes
    Extents extents, chunk;
    ElementType type = ElementType::f64;
  };

  // A file that is there and large enough. Throws InputError where it cannot be opened.
  ChunkedFile(const std::string& name, Layout layout, bool to_write);
  ~ChunkedFile();
  ChunkedFile(const ChunkedFile&) = delete;
  ChunkedFile& operator=(const ChunkedFile&) = delete;

  // Of which one is in memory, with what tiles have a part of it.
  std::int64_t chunk_bytes() const { return chunk_bytes_; }

  // A range of each axis, row-major at `values`. Throw InputError where the disk does not do it.
  // Heed StopScope. Several threads may, one of them at a time gets through; also beside those that
  // move straight.
  void read(const std::vector<fusion::Range>& at, void* values);
  void write(const std::vector<fusion::Range>& at, const void* values);

  // The same, chunks straight where that can be, through a block as below. One thread for a block.
  void read(const std::vector<fusion::Range>& at, void* values, Block& room);
  void write(const std::vector<fusion::Range>& at, const void* values, Block& room);

  // What goes straight: a tile that is a part of one chunk is read, and one that is all that the
  // tensor has of it is written. Not where chunks are too small to be worth it.
  bool is_in_chunk(const std::vector<fusion::Range>& at) const;
  bool is_chunk(const std::vector<fusion::Range>& at) const;
  // The block, which has room for chunk_bytes(), has the chunk then: from its begin on, as far as
  // the tile goes. What the file system does not move so goes through the system's memory.
  void read_straight(const std::vector<fusion::Range>& at, Block& to) const;
  // The block gets the chunk's ranges, for the tile's values; zeros are between them. Then they are
  // written.
  void prepare(const std::vector<fusion::Range>& at, Block& block) const;
  void write_straight(const std::vector<fusion::Range>& at, const Block& from);

  // What was written is on the disk when it returns.
  void flush();

 private:
  // Below, a transfer takes longer than the system's own copy.
  static constexpr std::int64_t least_straight = std::int64_t{64} << 10;

  // Of the chunk that has a tile's first element: where it begins in the file, and its ranges.
  std::int64_t place_of(const std::vector<fusion::Range>& at) const;
  std::vector<fusion::Range> chunk_of(const std::vector<fusion::Range>& at) const;
  bool is_all_of_chunk(const std::vector<fusion::Range>& at) const;  // as far as the tensor goes
  // Calls f(part, place) with the part of a tile that each chunk has, and where that begins.
  template <class F>
  void for_each_chunk(const std::vector<fusion::Range>& at, F&& f) const;
  // Reads the chunk that begins there into kept().
  void keep(std::int64_t place);
  std::byte* kept();
  // A tile's part of the chunk that begins there, through kept().
  void write_part(const std::vector<fusion::Range>& part, std::int64_t place,
                  const std::vector<fusion::Range>& tile, const void* values);
  // Where in its chunk a part begins, and where it ends.
  std::int64_t begin_in_chunk(const std::vector<fusion::Range>& part) const;
  std::int64_t end_in_chunk(const std::vector<fusion::Range>& part) const;
  void read_bytes(std::byte* to, std::int64_t size, std::int64_t place) const;
  void write_bytes(const std::byte* from, std::int64_t size, std::int64_t place) const;
  [[noreturn]] void cannot_read() const;
  [[noreturn]] void cannot_write() const;

  const std::string name_;
  const Layout layout_;
  const std::int64_t element_, chunk_bytes_;
  const bool written_;
  int file_ = -1;
  int straight_ = -1;                  // the same, with O_DIRECT; -1 where the file system has none
  std::mutex mutex_;                   // of what follows
  std::unique_ptr<std::byte[]> kept_;  // a chunk, as it is in the file
  std::int64_t kept_place_ = -1;       // where it begins there; none
};

}  // namespace tcsim::chains
