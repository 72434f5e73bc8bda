#include "bench/tune_device.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bench/kept_text.hpp"
#include "chains/levels/tally.hpp"
#include "core/stop.hpp"
#include "microbench/host.hpp"

namespace tcsim::bench {

namespace fs = std::filesystem;
using chains::DeviceSizes;
using chains::TunedDevice;

namespace {

constexpr const char* remove_it = "remove it";

}  // namespace

double product_flops(std::int64_t rows) { return 2 * std::pow(static_cast<double>(rows), 3); }

template <class T>
DeviceTuning tune_device(chains::Device<T>& device, const fusion::Leaf& product, std::int64_t rows,
                         Seconds limit,
                         const std::function<void(int tried, double share)>& progress,
                         const std::function<void(const DeviceTuning&)>& found,
                         std::mt19937_64& random) {
  const std::int64_t all = rows * rows;
  const ByTensor<std::int64_t> begin{0, all, 2 * all};
  std::vector<T> numbers(static_cast<std::size_t>(2 * all));
  for (T& n : numbers) n = static_cast<T>(static_cast<int>(random() % 5) - 2);
  device.write(0, numbers.data(), 2 * all);
  std::vector<T> expected(static_cast<std::size_t>(all)), result(expected.size());

  // Whole numbers: all sizes give the same bits.
  const auto run_once = [&](std::vector<T>& to) {
    device.clear(2 * all, all);
    device.run(product, begin);
    device.read(2 * all, to.data(), all);
  };
  const auto quickest = [&](double unless_above) {
    double least = std::numeric_limits<double>::infinity();
    for (int r = 0; r < 5; ++r) {
      const double start = chains::now_in_run().value();
      device.run(product, begin);
      least = std::min(least, chains::now_in_run().value() - start);
      if (least > 1.3 * unless_above) break;
    }
    return least;
  };
  run_once(expected);
  const double before = quickest(std::numeric_limits<double>::infinity());
  double best = before;
  int tried = 0;
  const auto tuning = [&](const DeviceSizes& sizes) {
    const double flops = product_flops(rows);
    return DeviceTuning{Bytes(sizeof(T)),
                        rows,
                        FlopsPerSecond(flops / before),
                        FlopsPerSecond(flops / best),
                        tried,
                        sizes};
  };
  const auto time_of = [&](const DeviceSizes& sizes) -> std::optional<Seconds> {
    ++tried;
    if (!device.use(sizes)) return {};
    try {
      run_once(result);
      if (result != expected) return {};
      const double takes = quickest(best);
      if (takes < best) {
        best = takes;
        found(tuning(sizes));
      }
      return Seconds(takes);
    } catch (const chains::DeviceFailure&) {
      return {};
    }
  };
  const double start = chains::now_in_run().value();
  const auto go_on = [&] {
    StopScope::heed();
    const double share = (chains::now_in_run().value() - start) / limit.value();
    progress(tried, std::min(1.0, share));
    return share < 1;
  };
  const DeviceSizes best_sizes =
      chains::search_sizes(device.sizes(), Seconds(before), time_of, go_on, random).best;
  // Where it does nothing any more, the next call says so.
  device.use(best_sizes);
  return tuning(best_sizes);
}
template DeviceTuning tune_device(chains::Device<float>&, const fusion::Leaf&, std::int64_t,
                                  Seconds, const std::function<void(int, double)>&,
                                  const std::function<void(const DeviceTuning&)>&,
                                  std::mt19937_64&);
template DeviceTuning tune_device(chains::Device<double>&, const fusion::Leaf&, std::int64_t,
                                  Seconds, const std::function<void(int, double)>&,
                                  const std::function<void(const DeviceTuning&)>&,
                                  std::mt19937_64&);

fs::path devices_file() {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / "devices.toml";
}

std::vector<TunedDevice> load_devices(const fs::path& file) {
  const std::optional<std::string> text = kept_text(file, remove_it);
  return text ? chains::parse_devices(*text, file.string()) : std::vector<TunedDevice>();
}

bool keep_device(const fs::path& file, const TunedDevice& entry) {
  if (!chains::are_legal(entry.sizes)) return false;
  return change_text(file, remove_it, [&](const std::optional<std::string>& before) {
    std::vector<TunedDevice> all =
        before ? chains::parse_devices(*before, file.string()) : std::vector<TunedDevice>();
    chains::keep_sizes(all, entry);
    return chains::to_toml(all);
  });
}

}  // namespace tcsim::bench
