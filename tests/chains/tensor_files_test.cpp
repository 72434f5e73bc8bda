// Tiles of files, moved chunk by chunk and as HDF5 likes, beside an array in memory.
#include "chains/tensor_files.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "chains/rows.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "tests/draws.hpp"
#include "tests/scratch.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

using fusion::Range;

// What HDF5 reads, all of it.
template <class T>
std::vector<T> read_by_hdf5(const std::string& path, std::size_t elements) {
  std::vector<T> values(elements);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "data", H5P_DEFAULT);
  EXPECT_GE(H5Dread(data, sizeof(T) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL,
                    H5P_DEFAULT, values.data()),
            0);
  H5Dclose(data), H5Fclose(file);
  return values;
}

struct Shape {
  std::vector<std::int64_t> extents, chunk;
  std::vector<Range> all() const {
    std::vector<Range> ranges;
    for (std::int64_t n : extents) ranges.push_back({0, n});
    return ranges;
  }
};

std::int64_t pick(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution(low, high)(random);
}

// Chunks, and any tiles, beside an array in memory; what HDF5 reads in the end as well.
template <class T>
void move_random_tiles(std::mt19937_64& random, ElementType type, const Shape& shape, int steps,
                       int& whole_chunks) {
  const auto& [extents, chunk] = shape;
  const std::vector<Range> all = shape.all();
  std::vector<T> array(static_cast<std::size_t>(elements_of(all)));
  std::iota(array.begin(), array.end(), T{1});
  const std::string path = test::scratch("tensor_files.h5").string();
  {
    TensorFile file = TensorFile::create(path, extents, chunk, type);
    file.write(all, array.data());
    const Bytes most(std::max(elements_of(all), product(chunk)) * size_of(type).value());
    Block block(most);
    for (int step = 0; step < steps; ++step) {
      const bool is_chunk = pick(random, 0, 1) == 0;
      std::vector<Range> at;
      for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        const std::int64_t n = extents[axis], c = chunk[axis];
        Range r{pick(random, 0, n - 1), 0};
        if (is_chunk) r.begin = r.begin / c * c;
        r.size = is_chunk ? std::min(c, n - r.begin) : pick(random, 1, n - r.begin);
        at.push_back(r);
      }
      whole_chunks += is_chunk;
      std::vector<T> tile(static_cast<std::size_t>(elements_of(at))), expected = tile;
      copy_out(all, at, array.data(), expected.data());
      const std::int64_t read_by = pick(random, 0, 2), write_by = pick(random, 0, 2);
      if (read_by == 0) {
        file.read(at, block);
        copy_out(block.ranges(), at, block.values_as<const T>(), tile.data());
      } else if (read_by == 1) {
        file.read(at, tile.data(), block, most);
      } else {
        file.read(at, tile.data());
      }
      ASSERT_EQ(tile, expected);
      for (T& x : tile) x = static_cast<T>(-1 - step) - x;
      copy_in(all, at, array.data(), tile.data());
      if (write_by == 0) {
        file.prepare(at, block);
        copy_in(block.ranges(), at, block.values_as<T>(), tile.data());
        file.write(at, block);
      } else if (write_by == 1) {
        file.write(at, tile.data(), block, most);
      } else {
        file.write(at, tile.data());
      }
    }
    std::vector<T> back(array.size());
    file.read(all, back.data());
    EXPECT_EQ(back, array);
    file.flush();
  }
  EXPECT_EQ(read_by_hdf5<T>(path, array.size()), array);
  std::vector<T> back(array.size());
  TensorFile::open(path, extents, type).read(all, back.data());
  EXPECT_EQ(back, array);
}

TEST(TensorFiles, Tiles_are_those_of_an_array) {
  std::mt19937_64 random(test::new_seed());
  int whole_chunks = 0;
  for (int trial = 0; trial < test::draws(100) && !::testing::Test::HasFailure(); ++trial) {
    Shape shape;
    for (std::int64_t axes = pick(random, 0, 4); axes > 0; --axes) {
      shape.extents.push_back(pick(random, 1, 12));
      shape.chunk.push_back(pick(random, 1, shape.extents.back()));
    }
    move_random_tiles<double>(random, ElementType::f64, shape, 30, whole_chunks);
    move_random_tiles<float>(random, ElementType::f32, shape, 30, whole_chunks);
  }
  EXPECT_GE(whole_chunks, test::found(1000));
}

// Large enough to go straight between the disk and memory; they begin anywhere in a page.
TEST(TensorFiles, Large_chunks_are_those_of_an_array) {
  std::mt19937_64 random(test::new_seed());
  int whole_chunks = 0;
  for (int trial = 0; trial < test::draws(12) && !::testing::Test::HasFailure(); ++trial) {
    const std::int64_t a = pick(random, 1, 40), b = pick(random, 20, 200),
                       c = (64 << 10) / (4 * a * b) + pick(random, 1, 30);
    const Shape shape{{a + pick(random, 0, a), b + pick(random, 0, b), c + pick(random, 0, 2 * c)},
                      {a, b, c}};
    move_random_tiles<double>(random, ElementType::f64, shape, 12, whole_chunks);
    move_random_tiles<float>(random, ElementType::f32, shape, 12, whole_chunks);
  }
  EXPECT_GE(whole_chunks, test::found(100));
}

// What tcsim does not know of a file that is not its own, HDF5 does: chunks in the order in which
// they were written, packed ones, and none.
class ForeignFiles : public ::testing::Test {
 protected:
  const std::string path_ = test::scratch("foreign.h5").string();
  std::vector<double> numbers_ = std::vector<double>(8 * 64 * 128);
  ForeignFiles() { std::iota(numbers_.begin(), numbers_.end(), 0.0); }

  template <class F>
  void make(F&& properties_of, const std::vector<hsize_t>& order, hsize_t before = 0,
            H5F_libver_t version = H5F_LIBVER_EARLIEST) const {
    const hsize_t size[] = {8 * 64, 128};
    const hid_t made = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_userblock(made, before);
    H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, made, access);
    H5Pclose(made), H5Pclose(access);
    const hid_t space = H5Screate_simple(2, size, nullptr),
                properties = H5Pcreate(H5P_DATASET_CREATE);
    properties_of(properties);
    const hid_t data =
        H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    for (const hsize_t i : order) {
      const hsize_t begin[] = {i * 64, 0}, part[] = {64, 128};
      const hid_t memory = H5Screate_simple(2, part, nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, part, nullptr);
      EXPECT_GE(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT,
                         numbers_.data() + i * 64 * 128),
                0);
      H5Sclose(memory);
    }
    H5Dclose(data), H5Pclose(properties), H5Sclose(space), H5Fclose(file);
  }
  void expect_numbers() const {
    const TensorFile file = TensorFile::open(path_, {8 * 64, 128}, ElementType::f64);
    Block block(Bytes(1 << 20));
    for (int again = 0; again < 2; ++again) {
      for (std::int64_t i : {3, 0, 7, 1}) {
        file.read({{i * 64, 64}, {0, 128}}, block);
        EXPECT_EQ(std::memcmp(block.values(), numbers_.data() + i * 64 * 128, 64 * 128 * 8), 0);
      }
      std::vector<double> some(100 * 2);
      file.read({{30, 100}, {7, 2}}, some.data());
      for (std::int64_t row = 0; row < 100; ++row) {
        EXPECT_EQ(some[static_cast<std::size_t>(2 * row + 1)],
                  static_cast<double>((30 + row) * 128 + 8));
      }
    }
  }
  static constexpr hsize_t chunk_[] = {64, 128};
  const std::vector<hsize_t> mixed_{7, 0, 5, 1, 3, 2, 4, 6};
};

TEST_F(ForeignFiles, Have_chunks_in_any_order) {
  make([](hid_t p) { H5Pset_chunk(p, 2, chunk_), H5Pset_alloc_time(p, H5D_ALLOC_TIME_INCR); },
       mixed_);
  expect_numbers();
}
TEST_F(ForeignFiles, Have_chunks_that_are_packed) {
  make([](hid_t p) { H5Pset_chunk(p, 2, chunk_), H5Pset_deflate(p, 3); }, mixed_);
  expect_numbers();
}
TEST_F(ForeignFiles, Have_no_chunks) {
  make([](hid_t) {}, mixed_);
  expect_numbers();
}
// As tcsim's own are, but for where chunks begin in a page; and behind what HDF5 leaves alone.
TEST_F(ForeignFiles, Have_chunks_one_behind_another) {
  const auto early = [](hid_t p) {
    H5Pset_chunk(p, 2, chunk_), H5Pset_alloc_time(p, H5D_ALLOC_TIME_EARLY);
  };
  make(early, mixed_, 0, H5F_LIBVER_LATEST);
  expect_numbers();
  make(early, mixed_, 512, H5F_LIBVER_LATEST);
  expect_numbers();
}
// HDF5 counts their chunks by what the extents may become.
TEST_F(ForeignFiles, May_become_larger) {
  const hsize_t size[] = {6, 10}, may_be[] = {12, 30}, chunk[] = {2, 3};
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_chunk(how, 2, chunk), H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t space = H5Screate_simple(2, size, may_be);
  const hid_t data =
      H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  EXPECT_GE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers_.data()), 0);
  H5Dclose(data), H5Sclose(space), H5Fclose(file), H5Pclose(how), H5Pclose(access);
  std::vector<double> all(60);
  TensorFile::open(path_, {6, 10}, ElementType::f64).read({{0, 6}, {0, 10}}, all.data());
  EXPECT_TRUE(std::equal(all.begin(), all.end(), numbers_.begin()));
}

// The numbers are in the file that a link leads to.
TEST_F(ForeignFiles, Are_links) {
  const auto there = test::scratch("linked.h5");
  TensorFile::create(there, {8 * 64, 128}, {64, 128}, ElementType::f64)
      .write({{0, 8 * 64}, {0, 128}}, numbers_.data());
  const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Lcreate_external(there.c_str(), "data", file, "data", H5P_DEFAULT, H5P_DEFAULT), 0);
  H5Fclose(file);
  expect_numbers();
}
TEST_F(ForeignFiles, Are_zero_where_they_were_never_written) {
  make([](hid_t p) { H5Pset_chunk(p, 2, chunk_); }, {0, 1, 7});
  std::fill(numbers_.begin() + 2 * 64 * 128, numbers_.begin() + 7 * 64 * 128, 0.0);
  const TensorFile file = TensorFile::open(path_, {8 * 64, 128}, ElementType::f64);
  for (int again = 0; again < 3; ++again) {
    for (std::int64_t i : {2, 1}) {
      std::vector<double> tile(64 * 128, 7);
      file.read({{i * 64, 64}, {0, 128}}, tile.data());
      EXPECT_TRUE(std::equal(tile.begin(), tile.end(), numbers_.begin() + i * 64 * 128));
    }
  }
}

// A file that was cut off after it was opened.
TEST(TensorFiles, Say_that_they_were_cut_off) {
  const auto path = test::scratch("cut.h5");
  TensorFile file = TensorFile::create(path, {300, 100}, {100, 100}, ElementType::f64);
  std::filesystem::resize_file(path, 100000);
  Block block(Bytes(100 * 100 * 8));
  std::vector<double> tile(100 * 100);
  const auto says = [](auto&& read) {
    try {
      read();
    } catch (const InputError& e) {
      return e.problem() == "a tile cannot be read: the file is damaged or cut off";
    }
    return false;
  };
  file.read({{0, 100}, {0, 100}}, block);
  EXPECT_TRUE(says([&] { file.read({{100, 100}, {0, 100}}, block); }));
  EXPECT_TRUE(says([&] { file.read({{200, 100}, {0, 100}}, tile.data()); }));
}

}  // namespace
}  // namespace tcsim::chains
