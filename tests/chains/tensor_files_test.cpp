// Tiles of files, moved chunk by chunk and as HDF5 likes, beside an array in memory.
#include "chains/tensor_files.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <numeric>
#include <random>

#include "chains/rows.hpp"
#include "tests/draws.hpp"
#include "tests/scratch.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

using fusion::Range;

template <class T>
void move_random_tiles(std::mt19937_64& random, ElementType type, int& whole_chunks) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  std::vector<std::int64_t> extents, chunk;
  std::vector<Range> all;
  for (std::int64_t axes = pick(1, 4); axes > 0; --axes) {
    extents.push_back(pick(1, 12));
    chunk.push_back(pick(1, extents.back()));
    all.push_back({0, extents.back()});
  }
  std::vector<T> array(static_cast<std::size_t>(elements_of(all)));
  std::iota(array.begin(), array.end(), T{1});
  TensorFile file = TensorFile::create(test::scratch("tensor_files.h5"), extents, chunk, type);
  file.write(all, array.data());
  std::vector<std::byte> room;
  for (int step = 0; step < 30; ++step) {
    const bool is_chunk = pick(0, 1) == 0;
    std::vector<Range> at;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      const std::int64_t n = extents[axis], c = chunk[axis];
      Range r{pick(0, n - 1), 0};
      if (is_chunk) r.begin = r.begin / c * c;
      r.size = is_chunk ? std::min(c, n - r.begin) : pick(1, n - r.begin);
      at.push_back(r);
    }
    whole_chunks += is_chunk;
    std::vector<T> tile(static_cast<std::size_t>(elements_of(at))), expected = tile;
    copy_out(all, at, array.data(), expected.data());
    if (pick(0, 1) == 0) {
      file.read(at, tile.data(), room);
    } else {
      file.read(at, tile.data());
    }
    EXPECT_EQ(tile, expected);
    for (T& x : tile) x = static_cast<T>(-1 - step) - x;
    copy_in(all, at, array.data(), tile.data());
    if (pick(0, 1) == 0) {
      file.write(at, tile.data(), room);
    } else {
      file.write(at, tile.data());
    }
  }
  std::vector<T> back(array.size());
  file.read(all, back.data());
  EXPECT_EQ(back, array);
  file.flush();
}

TEST(TensorFiles, ChunksThatPassHdf5sCopyAreThoseThatItMoves) {
  std::mt19937_64 random(test::new_seed());
  int whole_chunks = 0;
  for (int trial = 0; trial < test::draws(140) && !::testing::Test::HasFailure(); ++trial) {
    move_random_tiles<double>(random, ElementType::f64, whole_chunks);
    move_random_tiles<float>(random, ElementType::f32, whole_chunks);
  }
  EXPECT_GE(whole_chunks, test::found(1000));
}

// Of other programs: chunks are in the file once they are written, and read as zeros before.
TEST(TensorFiles, ChunksThatWereNeverWrittenAreRead) {
  const std::string path = test::scratch("unwritten.h5").string();
  const hsize_t size[] = {6, 4}, chunk[] = {3, 4};
  {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(2, size, nullptr),
                properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 2, chunk);
    const hid_t data =
        H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    const hsize_t begin[] = {0, 0};
    const std::vector<double> ones(12, 1);
    const hid_t memory = H5Screate_simple(2, chunk, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, chunk, nullptr);
    EXPECT_GE(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, ones.data()), 0);
    H5Sclose(memory), H5Dclose(data), H5Pclose(properties), H5Sclose(space), H5Fclose(file);
  }
  TensorFile file = TensorFile::open(path, {6, 4}, ElementType::f64, TensorFile::Access::write);
  std::vector<std::byte> room;
  const auto read = [&](std::int64_t row) {
    std::vector<double> tile(12, 7);
    file.read({{row, 3}, {0, 4}}, tile.data(), room);
    return tile;
  };
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(read(3), std::vector<double>(12, 0)) << again;
    EXPECT_EQ(read(0), std::vector<double>(12, 1)) << again;
  }
  const std::vector<double> twos(12, 2);
  file.write({{3, 3}, {0, 4}}, twos.data(), room);
  EXPECT_EQ(read(3), twos);
  EXPECT_EQ(read(0), std::vector<double>(12, 1));
}

}  // namespace
}  // namespace tcsim::chains
