#include "bench/explicit_levels.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include "bench/small_tiles.hpp"
#include "chains/levels/device.hpp"
#include "chains/levels/device_pieces.hpp"
#include "chains/levels/global_memory.hpp"
#include "chains/levels/staging.hpp"
#include "chains/levels/tally.hpp"
#include "chains/tensor_files.hpp"
#include "core/error.hpp"
#include "core/fusion/leaf.hpp"
#include "core/statistics.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/program.hpp"
#include "kernels/contract.hpp"
#include "kernels/memory.hpp"

namespace tcsim::bench {

using chains::GlobalMemory;
using chains::TensorFile;
using fusion::Range;

namespace {

namespace fs = std::filesystem;
using Tile = GlobalMemory<double>::Tile;

constexpr std::int64_t element = sizeof(double);
// Elements of a small tile (4 KiB), of a row of a large one (16 KiB), of a chunk of a file (1 MiB).
constexpr std::int64_t small_tile = 512, part_row = 2048, file_chunk = 131072;
// Of tiles of short rows: the rows, how far apart they are and how long, in elements.
constexpr std::int64_t short_rows = 2048, row_distance = 60, row_lengths[] = {2, 4, 8, 16};
// Small tiles of a file; those that are moved are some of them, so that reading ahead is in vain.
constexpr std::int64_t small_tiles = 4096;

template <class F>
Seconds time_of(F&& work) {
  Seconds passed{0};
  {
    const chains::Timed timed(passed);
    work();
  }
  return passed;
}

Seconds median_of(const std::vector<Seconds>& times) {
  std::vector<double> values;
  for (Seconds s : times) values.push_back(s.value());
  return Seconds(median(values));
}

class LevelProber {
 public:
  LevelProber(const Processes& team, const LevelProbeOptions& options)
      : team_(team),
        options_(options),
        rows_(std::max<std::int64_t>(1, options.part.value() / (part_row * element))),
        file_rows_(std::max<std::int64_t>(1, options.file.value() / (file_chunk * element))),
        tuned_(options.tuned),
        random_(static_cast<unsigned>(team.rank()) + 1) {}

  MeasuredLevels all() {
    const StopScope scope(options_.stop);
    MeasuredLevels m;
    m.folder = fs::absolute(options_.folder).string();
    m.processes = team_.size();
    m.on_this_computer = team_.on_this_node();
    team_.on_first([&] {
      if (fs::is_directory(options_.folder)) return;
      throw InputError(options_.folder.string(), "is no folder", "name one on the disk");
    });
    m.free_memory = Bytes(team_.gathered({available_memory().value()}).front().front());
    const std::int64_t pieces = GlobalMemory<double>::piece(file_rows_ * file_chunk, team_.size()) +
                                GlobalMemory<double>::piece(small_tile, team_.size()) +
                                std::max(2 * rows_ * part_row, share_of_tile());
    const std::unique_ptr<GlobalMemory<double>> global =
        chains::global_memory<double>(team_, pieces);
    m.disk = disk(*global);
    m.global = processes(*global);
    m.rows = rows(*global, link_figure(m.global).bandwidth);
    m.tiles = small_tile_times(team_, options_.folder, options_.repetitions,
                               link_figure(m.global).bandwidth, median_of(m.rows),
                               [&] { step("small tiles"); });
    if (options_.device) {
      measure_device(m);
    } else {
      measure_host(m);
    }
    return m;
  }

 private:
  // Elements of a process's share of the tile that parts are of: together as much as the file.
  std::int64_t share_of_tile() const {
    return std::max(file_rows_ * file_chunk / team_.size(), short_rows * row_distance);
  }

  void step(const std::string& what) {
    const double steps = 6.0 * options_.repetitions;
    options_.progress(what, std::min(1.0, steps_++ / steps));
    team_.on_each([] { StopScope::heed(); });
  }

  // Of the process that it took longest.
  Seconds longest(Seconds mine) const {
    std::int64_t most = 0;
    for (const auto& one : team_.gathered({std::llround(mine.value() * 1e9)})) {
      most = std::max(most, one.front());
    }
    return Seconds(1e-9 * static_cast<double>(std::max<std::int64_t>(most, 1)));
  }

  std::vector<std::int64_t> some_of(std::int64_t count) {
    std::vector<std::int64_t> some;
    for (int t = 0; t < options_.transfers; ++t) {
      some.push_back(std::uniform_int_distribution<std::int64_t>(0, count - 1)(random_));
    }
    return some;
  }
  double one_of_many() const { return 1.0 / options_.transfers; }

  // The first process moves tiles between files and the global level, as in a run.
  LinkTimes disk(GlobalMemory<double>& global) {
    LinkTimes times{"HDF5",
                    {Bytes(small_tile * element), {}, {}},
                    {Bytes(file_rows_ * file_chunk * element), {}, {}}};
    const Tile whole = global.open({{0, file_rows_}, {0, file_chunk}});
    Tile one = global.open({{0, 1}, {0, small_tile}});
    if (team_.rank() == 0) {
      const std::vector<double> numbers = numbers_of(file_chunk);
      for (std::int64_t row = 0; row < file_rows_; ++row) {
        global.put(whole, {{row, 1}, {0, file_chunk}}, numbers.data());
      }
      global.put(one, one.at, numbers.data());
    }
    global.fence();
    const fs::path name = options_.folder / fmt::format("tcsim-levels-{}", ::getpid());
    const fs::path large = name.string() + "-large.h5", small = name.string() + "-small.h5";
    try {
      std::optional<TensorFile> file, tiles;
      team_.on_first([&] {
        tiles =
            TensorFile::create(small, {small_tiles, small_tile}, {1, small_tile}, ElementType::f64);
        tiles->write({{0, small_tiles}, {0, small_tile}},
                     numbers_of(small_tiles * small_tile).data());
      });
      chains::Staging<double> staging;
      if (team_.rank() == 0) staging.make_room();
      for (int r = 0; r < options_.repetitions; ++r) {
        step("the disk");
        team_.on_first([&] {
          // Runs make their files anew.
          file = TensorFile::create(large, {file_rows_, file_chunk}, {1, file_chunk},
                                    ElementType::f64);
          times.large.out.push_back(time_of([&] {
            staging.move(*file, global, whole, false);
            file->flush();
          }));
          file->forget();
          times.large.in.push_back(time_of([&] { staging.move(*file, global, whole, true); }));
          const std::vector<std::int64_t> some = some_of(small_tiles);
          const auto each = [&](bool in) {
            for (std::int64_t at : some) {
              one.at.front().begin = at;
              staging.move(*tiles, global, one, in);
            }
            if (!in) tiles->flush();
          };
          times.small.out.push_back(time_of([&] { each(false); }) * one_of_many());
          tiles->forget();
          times.small.in.push_back(time_of([&] { each(true); }) * one_of_many());
        });
      }
    } catch (...) {
      remove(large, small);
      throw;
    }
    remove(large, small);
    global.close(one);
    global.close(whole);
    share(times.small);
    share(times.large);
    return times;
  }
  void remove(const fs::path& large, const fs::path& small) const {
    if (team_.rank() != 0) return;
    std::error_code ignored;
    fs::remove(large, ignored);
    fs::remove(small, ignored);
  }

  // What the first process measured, to all.
  void share(TileTimes& times) const {
    for (std::vector<Seconds>* of : {&times.in, &times.out}) {
      of->resize(static_cast<std::size_t>(options_.repetitions));
      for (Seconds& s : *of) {
        const auto all = team_.gathered({std::llround(s.value() * 1e9)});
        s = Seconds(1e-9 * static_cast<double>(std::max<std::int64_t>(all.front().front(), 1)));
      }
    }
  }

  // Not zeros, which some disks do not store.
  std::vector<double> numbers_of(std::int64_t count) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (double& x : numbers) x = static_cast<double>(random_()) * 0x1p-32;
    return numbers;
  }

  // Each process has parts of a tile of the global level, half of a row long, at the same time.
  LinkTimes processes(GlobalMemory<double>& global) {
    LinkTimes times{team_.size() == 1 ? "memory" : "windows of MPI",
                    {Bytes(small_tile * element), {}, {}},
                    {Bytes(rows_ * part_row * element), {}, {}}};
    const std::int64_t all = std::max(rows_, share_of_tile() / (2 * part_row));
    const Tile whole = global.open({{0, all}, {0, 2 * part_row * team_.size()}});
    const std::int64_t column = 2 * part_row * team_.rank();
    // Somewhere else each time: in a run it is long since what is moved was last used.
    const auto part = [&] {
      const std::int64_t row = std::uniform_int_distribution<std::int64_t>(0, all - rows_)(random_);
      return std::vector<Range>{{row, rows_}, {column, part_row}};
    };
    std::vector<double> own(static_cast<std::size_t>(rows_ * part_row), 1);
    const auto together = [&](auto&& work) {
      global.fence();
      return longest(time_of(work));
    };
    const auto each = [&](auto&& move) {
      for (std::int64_t row : some_of(all))
        move(std::vector<Range>{{row, 1}, {column, small_tile}});
    };
    global.put(whole, part(), own.data());  // the first one finds the way
    for (int r = 0; r < options_.repetitions; ++r) {
      step("processes and what they share");
      times.large.out.push_back(together([&] { global.put(whole, part(), own.data()); }));
      times.large.in.push_back(together([&] { global.get(whole, part(), own.data()); }));
      const auto put = [&](const std::vector<Range>& at) { global.put(whole, at, own.data()); };
      const auto get = [&](const std::vector<Range>& at) { global.get(whole, at, own.data()); };
      times.small.out.push_back(together([&] { each(put); }) * one_of_many());
      times.small.in.push_back(together([&] { each(get); }) * one_of_many());
    }
    global.fence();
    global.close(whole);
    return times;
  }

  // Each process has rows of its own of a tile that together are as large as the file.
  std::vector<Seconds> rows(GlobalMemory<double>& global, BytesPerSecond bandwidth) {
    const std::int64_t all = share_of_tile() / row_distance;
    const std::int64_t column = row_distance * team_.rank();
    const Tile whole = global.open({{0, all}, {0, row_distance * team_.size()}});
    std::vector<double> own(static_cast<std::size_t>(short_rows * std::ranges::max(row_lengths)));
    std::vector<Seconds> figures;
    for (int r = -1; r < options_.repetitions; ++r) {  // once before
      if (r >= 0) step("short rows");
      Bytes bytes(0);
      std::int64_t rows = 0;
      const std::vector<std::int64_t> some = some_of(all - short_rows + 1);
      const std::vector<std::int64_t> others = some_of(all - short_rows + 1);
      global.fence();
      const Seconds passed = time_of([&] {
        for (std::size_t t = 0; t < some.size(); ++t) {
          const std::int64_t length = row_lengths[t % std::size(row_lengths)];
          const auto part = [&](std::int64_t row) {
            return std::vector<Range>{{row, short_rows}, {column, length}};
          };
          global.get(whole, part(some[t]), own.data());
          global.put(whole, part(others[t]), own.data());
          rows += 2 * short_rows;
          bytes += Bytes(2 * short_rows * length * element);
        }
      });
      const Seconds beyond = longest(passed) - bytes / bandwidth;
      if (r >= 0) figures.push_back(std::max(Seconds(0), beyond * (1 / static_cast<double>(rows))));
    }
    global.fence();
    global.close(whole);
    return figures;
  }

  fusion::Leaf leaf(const fusion::OperationTree& tree) const {
    const fusion::Ranges ranges = fusion::all_of(tree);
    const std::vector<fusion::Ranges> held(tree.arrays.size());
    return fusion::leaf_at(tree, 0, ranges, held).leaf;
  }

  // Collective: all begin at the same time. Of the process that it took longest.
  template <class F>
  Seconds together(F&& work) const {
    team_.barrier();
    Seconds passed{0};
    team_.on_each([&] { passed = time_of(work); });
    return longest(passed);
  }

  template <class F>
  void time_products(MeasuredLevels& m, std::int64_t rows, F&& one) {
    const double flops = product_flops(rows);
    team_.on_each(one);  // its code and its memory are there
    for (int r = 0; r < options_.repetitions; ++r) {
      step("products");
      m.products.emplace_back(flops / together(one).value());
    }
  }

  void measure_host(MeasuredLevels& m) {
    const fusion::OperationTree tree = product_chain(options_.matrix);
    std::unique_ptr<Contractor<double>> multiply;
    const std::int64_t all = options_.matrix * options_.matrix;
    std::vector<double> a(static_cast<std::size_t>(all), 1), b = a, c = a;
    team_.on_each([&] {
      multiply = std::make_unique<Contractor<double>>(fusion::contraction_of(tree, leaf(tree)), 1);
    });
    time_products(m, options_.matrix, [&] { (*multiply)(a.data(), b.data(), c.data(), 1, 1); });
    time_thin_tiles(m);
  }

  // Each operand was moved right before, as in a run. Arithmetic is the little that it is.
  void time_thin_tiles(MeasuredLevels& m) {
    constexpr const char* shapes[][2] = {
        {"a-ak-k", "a=512,k=512"},        {"a-ka-k", "a=512,k=512"},
        {"ab-a-b", "a=512,b=512"},        {"ha-hak-hk", "h=32,a=64,k=128"},
        {"ah-hka-kh", "h=32,a=64,k=128"}, {"ah-kah-hk", "h=32,a=64,k=128"}};
    struct Thin {
      Contraction c;
      std::unique_ptr<Contractor<double>> multiply;
      ByTensor<std::vector<double>> tensors;
      std::int64_t bytes = 0;
    };
    std::vector<Thin> all;
    team_.on_each([&] {
      for (const auto& [label, sizes] : shapes) {
        const Contraction c =
            parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
        Thin& thin = all.emplace_back(Thin{c, std::make_unique<Contractor<double>>(c, 1), {}, 0});
        for (TensorId t : all_tensors) {
          const std::int64_t elements = c.size(t).value();
          thin.tensors[t].assign(static_cast<std::size_t>(elements), 1);
          thin.bytes += (t == TensorId::C ? 2 : 1) * elements * element;
        }
      }
    });
    const std::vector<double> source(512 * 512, 1);
    for (int r = -1; r < options_.repetitions; ++r) {  // once before
      if (r >= 0) step("statements on thin tiles");
      team_.barrier();
      Seconds passed{0};
      std::int64_t bytes = 0;
      for (Thin& thin : all) {
        for (std::vector<double>& to : thin.tensors) {
          std::copy_n(source.begin(), to.size(), to.begin());
        }
        passed += time_of([&] {
          (*thin.multiply)(thin.tensors[TensorId::A].data(), thin.tensors[TensorId::B].data(),
                           thin.tensors[TensorId::C].data(), 1, 1);
        });
        bytes += thin.bytes;
      }
      const Seconds longest_of_all = longest(passed);
      if (r >= 0) m.tile_bytes.push_back(longest_of_all * (1 / static_cast<double>(bytes)));
    }
  }

  // A device with room for a statement's tiles, behind one another, and the statement there.
  template <class T>
  struct OnDevice {
    fusion::OperationTree tree;
    fusion::Leaf statement;
    ByTensor<std::int64_t> begin;
    std::unique_ptr<chains::Device<T>> device;

    void run() { device->run(statement, begin); }
  };
  // Collective. Of at least so many elements.
  template <class T>
  std::unique_ptr<OnDevice<T>> open(fusion::OperationTree tree, std::int64_t least) const {
    auto on = std::make_unique<OnDevice<T>>();
    on->tree = std::move(tree);
    on->statement = leaf(on->tree);
    const ByTensor<std::int64_t> elements =
        chains::matrix_elements(on->tree, 0, on->statement.tile);
    std::int64_t all = 0;
    for (TensorId t : all_tensors) on->begin[t] = all, all += elements[t];
    team_.on_each([&] {
      on->device = chains::open_device<T>(on->tree, std::max(least, all), elements, tuned_);
      on->device->clear(0, all);
      on->run();  // its code and its memory are there
    });
    return on;
  }
  template <class T>
  std::unique_ptr<OnDevice<T>> open_product(std::int64_t rows, std::int64_t least) const {
    return open<T>(product_chain(rows), least);
  }

  // As the first process has it.
  bool of_first(bool mine) const { return team_.gathered({mine ? 1 : 0}).front().front() != 0; }

  // Matrices that are large enough for the device: of twice as many rows as long as a product takes
  // less than 10 ms, or is none of large matrices for CLBlast, and there is room.
  std::unique_ptr<OnDevice<double>> open_for_products(std::int64_t& rows,
                                                      std::int64_t least) const {
    constexpr double long_enough = 10e-3;
    constexpr std::int64_t most_rows = 8192;
    std::unique_ptr<OnDevice<double>> on = open_product<double>(rows, least);
    while (2 * rows <= most_rows) {
      const bool is_long = together([&] { on->run(); }).value() >= long_enough;
      if (of_first(is_long && rows >= on->device->large())) break;
      try {
        on->device.reset();
        on = open_product<double>(2 * rows, least);
        rows *= 2;
      } catch (const UnsupportedError&) {
        return open_product<double>(rows, least);
      }
    }
    return on;
  }

  // The first process looks for sizes, and all use them whose devices do.
  template <class T>
  void tune(OnDevice<T>& on, std::int64_t rows, std::vector<DeviceTuning>& tunings) {
    const chains::DeviceSizes own = on.device->sizes();
    chains::DeviceSizes sizes = own;
    const auto found = [&](const DeviceTuning& t) { options_.found(on.device->name(), t); };
    team_.on_first([&] {
      std::mt19937_64 random(std::random_device{}());
      const auto progress = [&](int tried, double share) {
        const char* type = sizeof(T) == 8 ? "f64" : "f32";
        options_.progress(fmt::format("CLBlast's sizes for {}, {} tried", type, tried), share);
      };
      tunings.push_back(tune_device(*on.device, on.statement, rows, options_.tune * 0.5, progress,
                                    found, random));
      sizes = tunings.back().sizes;
    });
    std::vector<std::int64_t> values;
    for (const auto& [name, value] : sizes) values.push_back(value);
    values = team_.gathered(values).front();
    std::size_t next = 0;
    for (auto& [name, value] : sizes) value = values[next++];
    team_.on_each([&] {
      if (!on.device->use(sizes) && !on.device->use(own)) {
        throw chains::DeviceFailure("a product on it failed");
      }
      chains::keep_sizes(tuned_, {on.device->name(), Bytes(sizeof(T)), on.device->sizes()});
    });
  }

  // Statements of chains, of an index that sums little: what they take beyond their arithmetic.
  // Tiles are large, so that starting them counts little.
  void time_thin_tiles_on_device(MeasuredLevels& m) {
    // Axes of the result and of the left operand; the right one has k and b.
    constexpr const char* shapes[][2] = {
        {"a, b", "a, k"}, {"b, a", "k, a"}, {"c, b, a", "c, k, a"}};
    double rate = 0;
    for (FlopsPerSecond r : m.products) rate = std::max(rate, r.value());
    std::vector<Seconds> passed(static_cast<std::size_t>(options_.repetitions), Seconds(0));
    std::int64_t bytes = 0;
    const std::int64_t a = thin_rows(m);
    for (const auto& [out, left] : shapes) {
      const bool blocks = std::string_view(out).starts_with("c");
      const std::unique_ptr<OnDevice<double>> on = open<double>(
          fusion::operation_tree(parse_program(
              fmt::format("program thin\ndims a={0} b=16 k=16{1}\nf64 input A[{3}]\nf64 input "
                          "B[k, b]\nf64 output C[{2}]\nC[{2}] += A[{3}] * B[k, b]\n",
                          blocks ? a / 64 : a, blocks ? " c=64" : "", out, left),
              "the probe")),
          0);
      const auto tiles = element * (32 * a + 256);
      const double arithmetic = 512 * static_cast<double>(a) / rate;
      bytes += tiles + 16 * a * element;  // results are read and written
      for (Seconds& s : passed) {
        step("statements on thin tiles");
        const double takes = together([&] { on->run(); }).value();
        s += Seconds(std::max(0.0, takes - arithmetic));
      }
    }
    for (Seconds s : passed) m.tile_bytes.push_back(s * (1 / static_cast<double>(bytes)));
  }
  // Of 32 MiB each where products tell of a device that is quick, and less elsewhere.
  std::int64_t thin_rows(const MeasuredLevels& m) const {
    return m.device->rows >= 4096 ? 262144 : 16384;
  }

  void measure_device(MeasuredLevels& m) {
    options_.progress("the device: compiling for it", 0.5);
    std::int64_t rows = options_.matrix;
    std::vector<DeviceTuning> tunings;
    std::unique_ptr<OnDevice<double>> on = open_for_products(rows, rows_ * part_row);
    const bool known = chains::sizes_of(tuned_, on->device->name(), Bytes(element)) != nullptr;
    if (of_first(options_.tune > Seconds(0) && (options_.tune_anyhow || !known))) {
      tune(*on, rows, tunings);
      on.reset();
      tune(*open_product<float>(rows, 0), rows, tunings);
      on = open_product<double>(rows, rows_ * part_row);
    }
    chains::Device<double>* const device = on->device.get();
    m.device = DeviceMeasured{device->name(),
                              device->memory(),
                              device->most_at_once(),
                              {"OpenCL",
                               {Bytes(small_tile * element), {}, {}},
                               {Bytes(rows_ * part_row * element), {}, {}}},
                              rows,
                              std::move(tunings)};
    LinkTimes& times = m.device->link;
    // Other parts of a large memory each time, as a run's tiles are.
    const std::int64_t elements = rows_ * part_row, rows_there = share_of_tile() / part_row;
    std::vector<double> there(static_cast<std::size_t>(std::max(rows_, rows_there) * part_row), 1);
    const auto move = [&](std::int64_t place, const std::vector<Range>& tile, double* own,
                          bool in) {
      if (in) {
        chains::send_tile(*device, place, tile, [&](const std::vector<Range>& part, double* to) {
          std::copy_n(own, chains::elements_of(part), to);
          own += chains::elements_of(part);
        });
      } else {
        chains::fetch_tile(*device, place, tile,
                           [&](const std::vector<Range>& part, const double* from) {
                             own = std::copy_n(from, chains::elements_of(part), own);
                           });
      }
    };
    const std::vector<Range> large{{0, rows_}, {0, part_row}}, small{{0, small_tile}};
    const std::int64_t places = elements / small_tile;
    together([&] { move(0, large, there.data(), true); });
    for (int r = 0; r < options_.repetitions; ++r) {
      step("the device");
      for (const bool in : {true, false}) {
        const std::int64_t row = some_of(std::max<std::int64_t>(1, rows_there - rows_)).front();
        (in ? times.large.in : times.large.out).push_back(together([&] {
          move(0, large, there.data() + row * part_row, in);
        }));
      }
      const std::vector<std::int64_t> some = some_of(places);
      for (const bool in : {true, false}) {
        const Seconds all = together([&] {
          for (std::int64_t at : some) move(at * small_tile, small, there.data(), in);
        });
        (in ? times.small.in : times.small.out).push_back(all * one_of_many());
      }
    }
    team_.on_each([&] { device->clear(0, 3 * rows * rows); });
    time_products(m, rows, [&] { on->run(); });
    on.reset();
    time_thin_tiles_on_device(m);
  }

  const Processes& team_;
  const LevelProbeOptions& options_;
  const std::int64_t rows_, file_rows_;
  std::vector<chains::TunedDevice> tuned_;  // CLBlast's sizes
  std::mt19937 random_;
  int steps_ = 0;
};

double mean_time(const TileTimes& t) {
  std::vector<double> both;
  for (std::size_t r = 0; r < t.in.size(); ++r) both.push_back((t.in[r] + t.out[r]).value() / 2);
  return median(both);
}

// Whole MiB, at least one.
Bytes share_of_memory(Bytes all, double share) {
  constexpr std::int64_t mib = std::int64_t{1} << 20;
  const double bytes = static_cast<double>(std::min(all, Bytes(std::int64_t{1} << 50)).value());
  return Bytes(std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes * share) / mib) * mib);
}

Level level_of(std::string name, LevelKind kind, Bytes capacity, std::string source) {
  Level l;
  l.name = std::move(name);
  l.kind = kind;
  l.capacity = {capacity, Origin::assumed, std::move(source)};
  return l;
}

// The link inward of a level.
void set_link(Level& l, const LinkTimes& times, int processes) {
  const LinkFigure figure = link_figure(times);
  l.bandwidth = {Bandwidth{figure.bandwidth.value(), Bandwidth::Unit::bytes_per_second},
                 Origin::measured,
                 fmt::format("{}: tiles of {} in and out, {} at the same time", times.through,
                             to_text(times.large.tile), processes)};
  l.transfer = {figure.transfer.value() * 1e6, Origin::measured,
                fmt::format("{}: tiles of {}", times.through, to_text(times.small.tile))};
  for (const TileTimes* tile : {&times.small, &times.large}) {
    BandwidthSeries in;
    in.mix = AccessMix::load;
    in.element = Bytes(element);
    in.instruction_set = times.through;
    in.cores = processes;
    in.working_set = tile->tile;
    BandwidthSeries both = in;
    both.mix = AccessMix::copy;
    for (Seconds s : tile->in) {
      in.repetitions.emplace_back(processes * static_cast<double>(tile->tile.value()) / s.value());
    }
    for (BytesPerSecond rate : both_ways(*tile)) both.repetitions.push_back(processes * rate);
    in.unstable = in.spread() > unstable_spread;
    both.unstable = both.spread() > unstable_spread;
    l.series.push_back(std::move(in));
    l.series.push_back(std::move(both));
  }
}

// So that the peak times the efficiency is the rate that was measured.
Core core_of(const MeasuredLevels& m, const Machine& host) {
  std::vector<double> rates;
  for (FlopsPerSecond r : m.products) rates.push_back(r.value());
  const double rate = median(rates);
  Core core = host.core;
  core.peaks.clear();
  core.tile_byte = {};
  const std::string by = m.device ? "CLBlast on " + m.device->name : "tcsim's executor";
  const std::string source = "products by " + by;
  if (m.device) {
    // As many multiply-adds of one number in a nanosecond.
    core.frequency = {Hertz(1e9), Origin::assumed, "a unit of time"};
    const double fma = rate / 2e9;
    const int lanes = fma > 500 ? 64 : 1;
    core.vector_bits = {64 * lanes, Origin::assumed, "a unit of work"};
    core.fma_per_cycle = {std::clamp(fma / lanes, 1e-3, 1e3), Origin::measured, source};
    core.efficiency = {1, Origin::measured, source};
  } else {
    const double share = rate / host.peak(Bytes(element)).value();
    // A peak that is assumed may be below what was reached.
    if (share > 1) {
      core.frequency = {Hertz(core.frequency.value.value() * share), Origin::measured,
                        source + " ran as at this clock at least"};
    }
    core.efficiency = {std::clamp(share, 1e-6, 1.0), Origin::measured, source};
  }
  core.peaks.push_back({by, Bytes(element), m.processes, {}});
  for (FlopsPerSecond r : m.products) core.peaks.back().repetitions.push_back(m.processes * r);
  return core;
}

}  // namespace

MeasuredLevels measure_levels(const Processes& team, const LevelProbeOptions& options) {
  return LevelProber(team, options).all();
}

std::vector<BytesPerSecond> both_ways(const TileTimes& times) {
  std::vector<BytesPerSecond> rates;
  for (std::size_t r = 0; r < times.in.size(); ++r) {
    rates.emplace_back(2 * static_cast<double>(times.tile.value()) /
                       (times.in[r] + times.out[r]).value());
  }
  return rates;
}

LinkFigure link_figure(const LinkTimes& times) {
  const double few = static_cast<double>(times.small.tile.value());
  const double many = static_cast<double>(times.large.tile.value());
  const double soon = mean_time(times.small), late = mean_time(times.large);
  const double rate = late > soon ? (many - few) / (late - soon) : many / late;
  std::vector<double> rates;
  for (BytesPerSecond r : both_ways(times.large)) rates.push_back(r.value());
  return {BytesPerSecond(rate), Seconds(std::max(0.0, soon - few / rate)), relative_spread(rates)};
}

Machine machine_of(const MeasuredLevels& m, const Machine& host) {
  Machine machine;
  machine.name = "explicit-levels";
  machine.description = fmt::format("{} process{} and the disk of {}, measured by tcsim probe",
                                    m.processes, m.processes == 1 ? "" : "es", m.folder);
  machine.core = core_of(m, host);
  if (!m.tile_bytes.empty()) {
    machine.core.tile_byte = {1e9 * median_of(m.tile_bytes).value(), Origin::measured,
                              m.device ? "products that sum 16 numbers, beyond their arithmetic"
                                       : "matrix by vector products of tiles of 2 MiB, in several "
                                         "orders"};
  }
  const double computers = static_cast<double>(m.processes) / m.on_this_computer;
  Level local = level_of("local", LevelKind::scratchpad,
                         share_of_memory(m.free_memory, 0.25 / m.on_this_computer),
                         "a quarter of the memory that was free, for all processes of a computer");
  Level global =
      level_of("global", LevelKind::memory, share_of_memory(m.free_memory, 0.5 * computers),
               "half of the memory that was free");
  Level disk = level_of("disk", LevelKind::disk, Bytes(0), "");
  global.processes = m.processes;
  set_link(disk, m.disk, 1);
  set_link(global, m.global, m.processes);
  // Where a device is inside, its own link says what a tile takes.
  if (!m.device && !m.tiles.empty()) {
    const double tile = 1e6 * median_of(m.tiles).value();
    if (tile > global.transfer.value) {
      global.transfer = {tile, Origin::measured,
                         "a run with small tiles: with starting a statement on them"};
    }
  }
  if (!m.rows.empty()) {
    const double row = 1e9 * median_of(m.rows).value();
    global.row = {row, Origin::measured, "tiles of rows of 2 to 16 elements"};
    // A tile's rows are put together in local memory before it goes to the device.
    if (m.device) local.row = {row, Origin::assumed, "as between a process and the global level"};
  }
  const auto to_registers = [](Level& l, const Figure<Bandwidth>& next) {
    l.bandwidth = {next.value, Origin::assumed,
                   "its link to the registers, which nothing asks for"};
  };
  if (m.device) {
    Level device = level_of(
        "device", LevelKind::scratchpad,
        std::min({share_of_memory(m.device->memory, 0.5 / m.on_this_computer),
                  share_of_memory(m.device->piece, 1), local.capacity.value}),
        "half of the device's memory, at most what it gives at once, and no more than local");
    set_link(local, m.device->link, m.processes);
    to_registers(device, local.bandwidth);
    machine.levels.push_back(std::move(device));
  } else {
    to_registers(local, global.bandwidth);
  }
  machine.levels.push_back(std::move(local));
  machine.levels.push_back(std::move(global));
  machine.levels.push_back(std::move(disk));
  const int repetitions = static_cast<int>(m.products.size());
  machine.method = Method{"processes stay where the system has them", "std::chrono::steady_clock",
                          "the system's, in windows as MPI gives them",
                          "each way was gone once before, but to the disk", repetitions};
  machine.remarks = {
      "its levels are no caches: tcsim fuse plans transfers between them, other commands refuse it",
      "what was written to the disk was there (fsync) and the system was asked to forget it "
      "(posix_fadvise) before it was read; caches of the disk, of a controller and of the computer "
      "below a virtual machine are not controlled"};
  if (m.processes > 1 && m.on_this_computer == m.processes) {
    machine.remarks.push_back(
        fmt::format("all {} processes were on one computer: its memory was measured, not a network",
                    m.processes));
  }
  if (m.device) {
    machine.remarks.push_back("the device is " + m.device->name +
                              "; run chains there with --device");
  }
  check(machine, "tcsim probe --levels");
  return machine;
}

}  // namespace tcsim::bench
