// Tiles of files, moved chunk by chunk and as HDF5 likes, beside an array in memory.
#include "chains/tensor_files.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <string_view>

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

// Chunks of 64 KiB of an array of 11 x 10 of them, whose elements are 0, 1, ...: the first two of a
// chunk are found in the file's bytes.
constexpr std::int64_t chunk_rows = 64, chunk_columns = 128, rows = 11 * chunk_rows - 7,
                       columns = 10 * chunk_columns - 5;
std::vector<double> counted() {
  std::vector<double> array(static_cast<std::size_t>(rows * columns));
  std::iota(array.begin(), array.end(), 0.0);
  return array;
}
std::vector<Range> chunk_of(std::int64_t row, std::int64_t column) {
  return {{row * chunk_rows, 1}, {column * chunk_columns, 2}};
}

TEST(TensorFiles, Chunks_lie_about_where_it_says) {
  const auto path = test::scratch("places.h5");
  TensorFile file =
      TensorFile::create(path, {rows, columns}, {chunk_rows, chunk_columns}, ElementType::f64);
  file.write({{0, rows}, {0, columns}}, counted().data());
  file.flush();
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (std::int64_t row = 0; row < 11; ++row) {
    for (std::int64_t column = 0; column < 10; ++column) {
      const auto at = chunk_of(row, column);
      const double first = static_cast<double>(at[0].begin * columns + at[1].begin);
      const double pair[] = {first, first + 1};
      const auto place = file.place_of(at);
      ASSERT_TRUE(place);
      EXPECT_EQ(place->bytes, 64 << 10);
      constexpr std::int64_t tables = 16 << 10;
      const auto about = static_cast<std::size_t>(std::max(std::int64_t{0}, place->begin - tables));
      EXPECT_NE(std::string_view(bytes)
                    .substr(about, 2 * tables)
                    .find(std::string_view(reinterpret_cast<const char*>(pair), sizeof(pair))),
                std::string_view::npos);
      file.read_soon(at);  // whatever the order
    }
  }
  std::vector<double> back(counted().size());
  file.read({{0, rows}, {0, columns}}, back.data());
  EXPECT_EQ(back, counted());
}

// By a program that writes the last one first: where they lie is not known, and advice is none.
TEST(TensorFiles, Chunks_in_another_order_have_no_known_place) {
  const std::string path = test::scratch("backwards.h5").string();
  const hsize_t size[] = {8 * chunk_rows, chunk_columns}, chunk[] = {chunk_rows, chunk_columns};
  {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(2, size, nullptr),
                properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 2, chunk);
    H5Pset_alloc_time(properties, H5D_ALLOC_TIME_INCR);
    const hid_t data =
        H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    const std::vector<double> numbers(chunk_rows * chunk_columns, 3);
    for (const hsize_t i : {7, 0, 5, 1, 3, 2, 4, 6}) {
      const hsize_t corner[] = {i * chunk_rows, 0};
      EXPECT_GE(H5Dwrite_chunk(data, H5P_DEFAULT, 0, corner, numbers.size() * sizeof(double),
                               numbers.data()),
                0);
    }
    H5Dclose(data), H5Pclose(properties), H5Sclose(space), H5Fclose(file);
  }
  TensorFile file = TensorFile::open(path, {8 * chunk_rows, chunk_columns}, ElementType::f64,
                                     TensorFile::Access::read);
  EXPECT_FALSE(file.place_of(chunk_of(1, 0)));
  file.read_soon(chunk_of(1, 0));
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
