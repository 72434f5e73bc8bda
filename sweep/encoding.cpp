#include "sweep/encoding.hpp"

#include <zlib.h>

#include <cstring>
#include <type_traits>
#include <vector>

namespace tcsim {

namespace {

template <class T>
void put(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}
void put(std::string& bytes, const std::vector<double>& numbers) {
  put(bytes, static_cast<std::uint64_t>(numbers.size()));
  for (double x : numbers) put(bytes, x);
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(next(take<std::uint64_t>())); }
  std::vector<double> numbers() {
    const auto n = take<std::uint64_t>();
    // Before anything of that size is allocated.
    if (n > rest_.size() / sizeof(double)) throw BadBytes("a list is cut off");
    std::vector<double> all(n);
    for (double& x : all) x = take<double>();
    return all;
  }
  bool flag() {
    const char c = take<char>();
    if (c != 0 && c != 1) throw BadBytes("a flag is neither set nor clear");
    return c != 0;
  }
  void end() const {
    if (!rest_.empty()) throw BadBytes("something follows the end");
  }

 private:
  std::string_view next(std::uint64_t n) {
    if (n > rest_.size()) throw BadBytes("it is cut off");
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::string_view rest_;
};

PointResult take_figures(Decoder& in) {
  PointResult r;
  for (double* x : {&r.predicted_seconds, &r.compute_seconds, &r.bound_seconds, &r.joules,
                    &r.simulated_seconds, &r.measured_seconds}) {
    *x = in.take<double>();
  }
  r.bottleneck = in.take<std::int32_t>();
  r.searched = in.flag();
  r.link_bytes = in.numbers();
  r.link_seconds = in.numbers();
  r.simulated_bytes = in.numbers();
  return r;
}

}  // namespace

std::string encoded_figures(const PointResult& r) {
  std::string bytes;
  for (double x : {r.predicted_seconds, r.compute_seconds, r.bound_seconds, r.joules,
                   r.simulated_seconds, r.measured_seconds}) {
    put(bytes, x);
  }
  put(bytes, static_cast<std::int32_t>(r.bottleneck));
  put(bytes, static_cast<char>(r.searched));
  put(bytes, r.link_bytes);
  put(bytes, r.link_seconds);
  put(bytes, r.simulated_bytes);
  return bytes;
}

PointResult decoded_figures(std::string_view bytes) {
  Decoder in(bytes);
  PointResult r = take_figures(in);
  in.end();
  return r;
}

std::string encoded(const ChainResult& result) {
  std::string bytes;
  put(bytes, result.chain);
  put(bytes, static_cast<std::uint64_t>(result.points.size()));
  for (const PointResult& r : result.points) {
    put(bytes, r.point);
    bytes += encoded_figures(r);
    put(bytes, r.schedule);
  }
  return bytes;
}

ChainResult decoded_chain(std::string_view bytes) {
  Decoder in(bytes);
  ChainResult result;
  result.chain = in.take<std::int64_t>();
  for (auto n = in.take<std::uint64_t>(); n > 0; --n) {
    const auto point = in.take<std::int64_t>();
    result.points.push_back(take_figures(in));
    result.points.back().point = point;
    result.points.back().schedule = in.text();
  }
  in.end();
  return result;
}

std::int64_t checksum(std::initializer_list<std::string_view> bytes) {
  uLong crc = crc32_z(0, nullptr, 0);
  for (std::string_view b : bytes) {
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(b.data()), b.size());
  }
  return static_cast<std::int64_t>(crc);
}

}  // namespace tcsim
