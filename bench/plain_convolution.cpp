#include "bench/plain_convolution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "core/hash.hpp"

namespace tcsim::bench {

namespace {

using Axis = ConvolutionShape::Axis;
using Places = std::array<std::int64_t, 3>;  // along z, y and x

// The last of three axes are the shape's, those before have one place.
std::array<Axis, 3> three_axes(const ConvolutionShape& shape) {
  std::array<Axis, 3> axes;
  std::ranges::copy(shape.axes, axes.end() - static_cast<std::ptrdiff_t>(shape.axes.size()));
  return axes;
}

template <class F>
Places of_each(const std::array<Axis, 3>& axes, F&& f) {
  return {f(axes[0]), f(axes[1]), f(axes[2])};
}
Places outputs_of(const std::array<Axis, 3>& axes) {
  return of_each(axes, [](const Axis& a) { return a.output; });
}
Places filter_of(const std::array<Axis, 3>& axes) {
  return of_each(axes, [](const Axis& a) { return a.filter; });
}
Places image_of(const std::array<Axis, 3>& axes) {
  return of_each(axes, [](const Axis& a) { return a.image; });
}
Places before_of(const std::array<Axis, 3>& axes) {
  return of_each(axes, [](const Axis& a) { return a.before; });
}

std::int64_t product(const Places& p) { return p[0] * p[1] * p[2]; }

// Element (i, j, places) of a tensor that lies plainly.
std::size_t offset(const Places& of, std::int64_t js, std::int64_t i, std::int64_t j,
                   const Places& at) {
  return static_cast<std::size_t>((((i * js + j) * of[0] + at[0]) * of[1] + at[1]) * of[2] + at[2]);
}

// Calls f(i, j, places) in the order of a plain tensor's elements.
template <class F>
void for_each(std::int64_t is, std::int64_t js, const Places& of, F&& f) {
  for (std::int64_t i = 0; i < is; ++i) {
    for (std::int64_t j = 0; j < js; ++j) {
      Places at{};
      for (at[0] = 0; at[0] < of[0]; ++at[0]) {
        for (at[1] = 0; at[1] < of[1]; ++at[1]) {
          for (at[2] = 0; at[2] < of[2]; ++at[2]) f(i, j, at);
        }
      }
    }
  }
}

// A multiple of 2^-23 in [-1, 1).
float number(std::uint64_t bits) {
  return static_cast<float>(static_cast<std::int64_t>(bits) >> 40) / static_cast<float>(1 << 23);
}

void fill(std::vector<float>& data, std::uint64_t seed) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = number(splitmix64(seed + i));
}

// Where elements lie in tcsim's tensors: dimensions have the names of
// core/workload/convolution.hpp.
class Tensors {
 public:
  Tensors(const ConvolutionShape& shape, const Contraction& c)
      : shape_(shape), k_group_(shape.k / shape.groups), c_group_(shape.c / shape.groups) {
    for (const TensorId t : all_tensors) {
      for (int i = 0; i < c.dim_count(); ++i) {
        const DimId d{i};
        strides_[t][letter(c.dim(d).name)] = c.stride(t, d).value();
        extents_[letter(c.dim(d).name)] = c.dim(d).extent;
      }
    }
  }

  // Places with padding.
  std::int64_t image(std::int64_t n, std::int64_t c, const Places& at) const {
    return in(TensorId::A, 'n') * n + channel(TensorId::A, c, c_group_, 'c', 'd') +
           (in(TensorId::A, 't') * at[0] + in(TensorId::A, 'r') * at[1] +
            in(TensorId::A, 's') * at[2]) /
               shape_.dilation;
  }
  // c of a group.
  std::int64_t weights(std::int64_t k, std::int64_t c, const Places& at) const {
    return channel(TensorId::B, k, k_group_, 'k', 'l') +
           channel(TensorId::B, c, c_group_, 'c', 'd') + in(TensorId::B, 't') * at[0] +
           in(TensorId::B, 'r') * at[1] + in(TensorId::B, 's') * at[2];
  }
  std::int64_t output(std::int64_t n, std::int64_t k, const Places& at) const {
    return in(TensorId::C, 'n') * n + channel(TensorId::C, k, k_group_, 'k', 'l') +
           in(TensorId::C, 'z') * at[0] + in(TensorId::C, 'y') * at[1] +
           in(TensorId::C, 'x') * at[2];
  }

 private:
  static std::size_t letter(char name) { return static_cast<std::size_t>(name - 'a'); }
  // 0 where there is no such dimension.
  std::int64_t in(TensorId t, char name) const { return strides_[t][letter(name)]; }

  std::int64_t channel(TensorId t, std::int64_t all, std::int64_t of_group, char name,
                       char within_block) const {
    const std::int64_t block = std::max<std::int64_t>(1, extents_[letter(within_block)]);
    const std::int64_t i = all % of_group;
    return in(t, 'g') * (all / of_group) + in(t, name) * (i / block) +
           in(t, within_block) * (i % block);
  }

  const ConvolutionShape& shape_;
  std::int64_t k_group_, c_group_;
  ByTensor<std::array<std::int64_t, 26>> strides_{};
  std::array<std::int64_t, 26> extents_{};
};

Places sum(const Places& a, const Places& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

// |found - sum| / bound of one output.
double error_at(const PlainConvolution& p, std::int64_t n, std::int64_t k, const Places& at,
                float found) {
  const ConvolutionShape& shape = p.shape;
  const auto axes = three_axes(shape);
  const Places image = image_of(axes), filter = filter_of(axes);
  const std::int64_t c_group = shape.c / shape.groups;
  const std::int64_t first_c = k / (shape.k / shape.groups) * c_group;
  long double value = 0, magnitude = 0;
  for_each(1, c_group, filter, [&](std::int64_t, std::int64_t c, const Places& f) {
    Places place;
    for (std::size_t i = 0; i < 3; ++i) {
      place[i] = at[i] * shape.stride + f[i] * shape.dilation - axes[i].before;
      if (place[i] < 0 || place[i] >= image[i]) return;
    }
    const long double product =
        static_cast<long double>(p.image[offset(image, shape.c, n, first_c + c, place)]) *
        static_cast<long double>(p.weights[offset(filter, c_group, k, c, f)]);
    value += product;
    magnitude += std::fabs(product);
  });
  const long double difference = std::fabs(found - value);
  if (difference == 0) return 0;
  const long double roundoff = std::numeric_limits<float>::epsilon() / 2;
  const auto terms = static_cast<long double>(c_group * product(filter) + 2);
  const auto error = static_cast<double>(difference / (terms * roundoff * magnitude));
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace

PlainConvolution::PlainConvolution(const ConvolutionShape& s, std::uint64_t seed) : shape(s) {
  const auto axes = three_axes(shape);
  const Places places = image_of(axes), before = before_of(axes);
  const Places all = of_each(axes, [](const Axis& a) { return a.padded(); });
  image.resize(static_cast<std::size_t>(shape.n * shape.c * product(places)));
  weights.resize(
      static_cast<std::size_t>(shape.k * (shape.c / shape.groups) * product(filter_of(axes))));
  fill(image, splitmix64(splitmix64(seed)));
  fill(weights, splitmix64(splitmix64(seed) + 1));
  if (all == places) return;
  padded.resize(static_cast<std::size_t>(shape.n * shape.c * product(all)));
  for_each(shape.n, shape.c, places, [&](std::int64_t n, std::int64_t c, const Places& at) {
    padded[offset(all, shape.c, n, c, sum(at, before))] = image[offset(places, shape.c, n, c, at)];
  });
}

std::int64_t PlainConvolution::outputs() const {
  return shape.n * shape.k * product(outputs_of(three_axes(shape)));
}

void write_image(const PlainConvolution& from, const Contraction& contraction, float* to) {
  const ConvolutionShape& shape = from.shape;
  const auto axes = three_axes(shape);
  const Tensors tensors(shape, contraction);
  const Places before = before_of(axes);
  std::fill_n(to, contraction.size(TensorId::A).value(), 0.0F);
  const float* next = from.image.data();
  for_each(shape.n, shape.c, image_of(axes), [&](std::int64_t n, std::int64_t c, const Places& at) {
    to[tensors.image(n, c, sum(at, before))] = *next++;
  });
}

void write_weights(const PlainConvolution& from, const Contraction& contraction, float* to) {
  const ConvolutionShape& shape = from.shape;
  const Tensors tensors(shape, contraction);
  std::fill_n(to, contraction.size(TensorId::B).value(), 0.0F);
  const float* next = from.weights.data();
  for_each(shape.k, shape.c / shape.groups, filter_of(three_axes(shape)),
           [&](std::int64_t k, std::int64_t c, const Places& at) {
             to[tensors.weights(k, c, at)] = *next++;
           });
}

std::vector<float> plain_output(const ConvolutionShape& shape, const Contraction& contraction,
                                const float* from) {
  const Tensors tensors(shape, contraction);
  std::vector<float> output;
  output.reserve(static_cast<std::size_t>(contraction.size(TensorId::C).value()));
  for_each(shape.n, shape.k, outputs_of(three_axes(shape)),
           [&](std::int64_t n, std::int64_t k, const Places& at) {
             output.push_back(from[tensors.output(n, k, at)]);
           });
  return output;
}

double worst_error(const PlainConvolution& p, const std::vector<float>& output, int samples,
                   std::uint64_t seed) {
  const ConvolutionShape& shape = p.shape;
  const Places places = outputs_of(three_axes(shape));
  double worst = 0;
  const auto compare = [&](std::int64_t n, std::int64_t k, const Places& at) {
    worst = std::max(worst, error_at(p, n, k, at, output[offset(places, shape.k, n, k, at)]));
  };
  std::array<std::set<std::int64_t>, 3> chosen;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t all = places[i];
    chosen[i] = {0, std::min<std::int64_t>(1, all - 1), all / 2, all - 1};
  }
  for (const std::int64_t k : std::set<std::int64_t>{0, shape.k / 2, shape.k - 1}) {
    for (const std::int64_t z : chosen[0]) {
      for (const std::int64_t y : chosen[1]) {
        for (const std::int64_t x : chosen[2]) compare(k % shape.n, k, {z, y, x});
      }
    }
  }
  std::uint64_t draw = splitmix64(seed);
  const auto below = [&](std::int64_t n) {
    draw = splitmix64(draw);
    return static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(n));
  };
  for (int i = 0; i < samples; ++i) {
    const std::int64_t n = below(shape.n), k = below(shape.k);
    compare(n, k, {below(places[0]), below(places[1]), below(places[2])});
  }
  return worst;
}

}  // namespace tcsim::bench
