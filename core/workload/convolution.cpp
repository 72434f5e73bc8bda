#include "core/workload/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "core/error.hpp"

namespace tcsim {

namespace {

constexpr std::string_view size_blanks = " \t";
constexpr std::string_view convolution_form = "write sizes as in k=64,c=128,x=136,s=3,stride=1";
constexpr std::string_view layout_words =
    "nchw, nhwc, nchw8c, nchw16c, nhwc32k for weights in blocks of 32 channels k, or nhwcNk for "
    "blocks that are filled up with zeros";
// Of each axis of the image, the last of conv1d first: places of output, image and filter.
constexpr std::array output_names{"x", "y", "z"}, image_names{"w", "h", "d"},
    filter_names{"s", "r", "t"};

// What is given, each with its place in the text.
class GivenSizes {
 public:
  GivenSizes(std::string_view name, std::string_view text) : name_(name), text_(text) {
    for (std::size_t pos = 0; pos <= text.size();) {
      const std::size_t end = std::min(text.find(',', pos), text.size());
      const std::size_t equals = std::min(text.find('=', pos), end);
      if (equals == end) fail(pos, "a size expected", convolution_form);
      const std::string word(trimmed(text.substr(pos, equals - pos)));
      if (!is_known(word)) {
        fail(pos, fmt::format("'{}' is no size of {}", word, name_),
             fmt::format("its sizes are {}", known()));
      }
      const Given given{trimmed(text.substr(equals + 1, end - equals - 1)), equals + 1};
      if (!given_.emplace(word, given).second) {
        fail(pos, fmt::format("'{}' has a size already", word), "take one out");
      }
      pos = end + 1;
    }
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& problem,
                         std::string_view mend) const {
    throw UsageError(fmt::format("\"{}\" column {}", text_, offset + 1), problem,
                     std::string(mend));
  }
  [[noreturn]] void fail_at(const std::string& word, const std::string& problem,
                            std::string_view mend) const {
    fail(has(word) ? given_.at(word).offset : 0, problem, mend);
  }

  bool has(const std::string& word) const { return given_.contains(word); }
  std::string_view text(const std::string& word) const { return given_.at(word).value; }

  std::optional<std::int64_t> maybe(const std::string& word, std::int64_t least = 1) const {
    if (!has(word)) return {};
    const Given& given = given_.at(word);
    std::int64_t value = 0;
    const char* end = given.value.data() + given.value.size();
    const auto [stop, error] = std::from_chars(given.value.data(), end, value);
    if (stop != end || error == std::errc::invalid_argument) {
      fail(given.offset, fmt::format("'{}' is \"{}\", not a whole number", word, given.value),
           convolution_form);
    }
    // Sums and products of a few such numbers do not wrap.
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (error != std::errc() || value < least || value > most) {
      fail(given.offset, fmt::format("'{}' is {}", word, given.value),
           fmt::format("give a number from {} to 2^30", least));
    }
    return value;
  }

  std::int64_t number(const std::string& word, std::optional<std::int64_t> fallback = {}) const {
    const auto value = maybe(word);
    if (!value && !fallback) fail(0, fmt::format("'{}' is missing", word), convolution_form);
    return value.value_or(fallback.value_or(1));
  }

  std::size_t axes() const { return static_cast<std::size_t>(name_[4] - '0'); }

 private:
  struct Given {
    std::string_view value;
    std::size_t offset;
  };

  static std::string_view trimmed(std::string_view s) {
    s.remove_prefix(std::min(s.find_first_not_of(size_blanks), s.size()));
    return s.substr(0, s.find_last_not_of(size_blanks) + 1);
  }

  std::vector<std::string> words() const {
    std::vector<std::string> all{"n", "k", "c"};
    for (const auto& names : {output_names, image_names, filter_names}) {
      for (std::size_t i = axes(); i-- > 0;) all.emplace_back(names[i]);
    }
    for (const char* word : {"stride", "dilation", "pad", "groups", "layout"}) all.push_back(word);
    return all;
  }
  bool is_known(const std::string& word) const {
    const auto all = words();
    return std::find(all.begin(), all.end(), word) != all.end();
  }
  std::string known() const {
    std::string list;
    for (const std::string& word : words()) list += (list.empty() ? "" : ", ") + word;
    return list;
  }

  std::string_view name_, text_;
  std::map<std::string, Given> given_;
};

using Axis = ConvolutionShape::Axis;

// An image of `given` places as long as `places`, if that is more: zeros around it.
void pad_to(Axis& axis, std::int64_t given, std::int64_t places) {
  const std::int64_t zeros = std::max<std::int64_t>(0, places - given);
  axis.image = given;
  axis.before = zeros / 2;
  axis.after = zeros - axis.before;
}

Axis image_axis(const GivenSizes& sizes, std::size_t i, std::int64_t stride,
                std::int64_t dilation) {
  const std::string output = output_names[i], image = image_names[i];
  Axis axis;
  axis.filter = sizes.number(filter_names[i], 1);
  const std::int64_t reach = dilation * (axis.filter - 1) + 1;
  if (sizes.has(output) == sizes.has(image)) {
    sizes.fail_at(
        output,
        fmt::format("{} '{}' and '{}'", sizes.has(output) ? "there are" : "there is none of",
                    output, image),
        fmt::format("give {}, the places of the output, or {}, those of the image", output, image));
  }
  if (sizes.has(output)) {
    if (sizes.has("pad")) {
      sizes.fail_at("pad", fmt::format("'pad' beside '{}'", output),
                    fmt::format("give {}, the places of the image without padding", image));
    }
    axis.output = sizes.number(output);
    axis.image = stride * (axis.output - 1) + reach;
    return axis;
  }
  const std::int64_t given = sizes.number(image);
  if (!sizes.has("pad") || sizes.text("pad") == "same") {
    axis.output = (given + stride - 1) / stride;
    pad_to(axis, given, stride * (axis.output - 1) + reach);
    return axis;
  }
  if (sizes.text("pad").find_first_not_of("-0123456789") != std::string_view::npos) {
    sizes.fail_at("pad", fmt::format("'pad' is \"{}\"", sizes.text("pad")),
                  "give the zeros on either side, or same");
  }
  pad_to(axis, given, given + 2 * *sizes.maybe("pad", 0));
  if (axis.padded() < reach) {
    sizes.fail_at(
        image,
        fmt::format("the filter has {} places along '{}' and the image {} with its padding", reach,
                    image, axis.padded()),
        "use a larger image, more padding, or a smaller filter");
  }
  axis.output = (axis.padded() - reach) / stride + 1;
  return axis;
}

ConvolutionShape shape_of(const GivenSizes& sizes) {
  ConvolutionShape shape;
  shape.stride = sizes.number("stride", 1);
  shape.dilation = sizes.number("dilation", 1);
  shape.groups = sizes.number("groups", 1);
  shape.n = sizes.number("n", 1);
  for (const auto& [word, channels] : {std::pair{"k", &shape.k}, std::pair{"c", &shape.c}}) {
    *channels = sizes.number(word);
    if (*channels % shape.groups == 0) continue;
    sizes.fail_at("groups",
                  fmt::format("{}={} is no multiple of groups={}", word, *channels, shape.groups),
                  "each group has as many channels");
  }
  for (std::size_t i = sizes.axes(); i-- > 0;) {
    shape.axes.push_back(image_axis(sizes, i, shape.stride, shape.dilation));
  }
  return shape;
}

// Channels that fill a vector. Source: AVX-512's of f32.
constexpr std::int64_t vector_channels = 16;

std::int64_t up_to_multiple(std::int64_t n, std::int64_t of) { return (n + of - 1) / of * of; }

// "nhwcNk".
constexpr std::int64_t chosen_block = -1;

// How tensors lie in memory.
struct ImageLayout {
  bool channels_last = false;
  std::int64_t k_block = 0, c_block = 0;  // channels of a block, 0 for none
  std::int64_t added = 0;                 // to the output channels of a group, to fill its blocks
};

// Blocks of two vectors for so many channels of a group, or of one where those of two have a tenth
// more. None where more than a fifth would be zeros. Source: measured (docs/convolutions.md,
// "Channels in odd numbers").
std::optional<ImageLayout> filled_up(std::int64_t channels) {
  std::int64_t block = vector_channels, all = up_to_multiple(channels, block);
  if (5 * channels < 4 * all) return {};
  if (const auto of_two = up_to_multiple(channels, 2 * block); 10 * of_two <= 11 * all) {
    block *= 2;
    all = of_two;
  }
  return ImageLayout{true, block, 0, all - channels};
}

// "nhwc32k" has blocks of 32. 0 for another text.
std::int64_t block_of_weights(std::string_view layout) {
  constexpr std::string_view begin = "nhwc";
  if (!layout.starts_with(begin) || !layout.ends_with('k')) return 0;
  layout = layout.substr(begin.size(), layout.size() - begin.size() - 1);
  if (layout.size() > 4 || layout.find_first_not_of("0123456789") != std::string_view::npos) {
    return 0;
  }
  std::int64_t block = 0;
  std::from_chars(layout.data(), layout.data() + layout.size(), block);
  return block;
}

std::optional<ImageLayout> layout_named(std::string_view layout) {
  if (layout == "nchw") return ImageLayout{};
  if (layout == "nhwc") return ImageLayout{true};
  if (layout == "nchw8c") return ImageLayout{false, 8, 8};
  if (layout == "nchw16c") return ImageLayout{false, 16, 16};
  if (layout == "nhwcNk") return ImageLayout{true, chosen_block};
  if (const std::int64_t block = block_of_weights(layout); block > 0) {
    return ImageLayout{true, block};
  }
  return {};
}

// The layout of the sizes, or the first of `instead` whose blocks the channels fill.
ImageLayout layout_of(const GivenSizes& sizes, const ConvolutionShape& shape,
                      std::string_view instead) {
  if (instead.empty() && !sizes.has("layout")) return {};
  std::string_view rest = instead.empty() ? sizes.text("layout") : instead;
  struct Part {
    const char* word;
    std::int64_t channels, block;
  };
  for (;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const bool is_last = word.size() == rest.size();
    auto layout = layout_named(word);
    if (!layout) {
      sizes.fail_at("layout", fmt::format("layout '{}' is unknown", word),
                    fmt::format("use {}", layout_words));
    }
    if (layout->k_block == chosen_block) {
      const std::int64_t channels = shape.k / shape.groups;
      layout = filled_up(channels);
      if (!layout && is_last) {
        sizes.fail_at("layout",
                      fmt::format("more than a fifth of the output channels would be zeros to fill "
                                  "blocks of {} with {}",
                                  vector_channels, channels),
                      "use layout=nhwc, or other channels");
      }
      if (!layout) {
        rest.remove_prefix(word.size() + 1);
        continue;
      }
    }
    bool is_filled = true;
    for (const Part& p : {Part{"k", shape.k / shape.groups + layout->added, layout->k_block},
                          Part{"c", shape.c / shape.groups, layout->c_block}}) {
      if (p.block == 0 || p.channels % p.block == 0) continue;
      is_filled = false;
      if (!is_last) continue;
      sizes.fail_at("layout",
                    fmt::format("a group has {} channels '{}', no multiple of {}", p.channels,
                                p.word, p.block),
                    "use layout=nchw or nhwc, or other channels");
    }
    // Weights of one output channel at a time are for vectors along the input channels.
    if (layout->k_block == 1 && !is_last) {
      is_filled =
          shape.k / shape.groups < vector_channels && shape.c / shape.groups % vector_channels == 0;
    }
    if (is_filled) return *layout;
    rest.remove_prefix(word.size() + 1);
  }
}

// Puts a program together, dimension by dimension and tensor by tensor.
class Builder {
 public:
  Builder(std::string name, ElementType type) : type_(type) { parts_.name = std::move(name); }

  DimId dim(std::string name, std::int64_t extent) {
    parts_.dims.push_back({std::move(name), extent});
    return DimId{static_cast<int>(parts_.dims.size()) - 1};
  }

  struct Index {
    Affine affine;
    std::int64_t places;
  };
  Index index(DimId d) const {
    return {{{{d, 1}}}, parts_.dims[static_cast<std::size_t>(tcsim::index(d))].extent};
  }

  Program::Access tensor(std::string name, Program::Role role, const std::vector<Index>& indices) {
    Program::Tensor t{std::move(name), {}, row_major_order(indices.size()), type_, role};
    Program::Access access{TensorIndex{static_cast<int>(parts_.tensors.size())}, {}};
    for (const Index& i : indices) {
      t.extents.push_back(i.places);
      access.axes.push_back(i.affine);
    }
    parts_.tensors.push_back(std::move(t));
    return access;
  }

  Program program(Program::Access out, Program::Access left, Program::Access right) {
    parts_.statements.push_back({std::move(out), {std::move(left), std::move(right)}});
    return Program(std::move(parts_));
  }

 private:
  ElementType type_;
  Program::Parts parts_;
};

}  // namespace

bool is_convolution_name(std::string_view name) {
  return name == "conv1d" || name == "conv2d" || name == "conv3d";
}

bool is_image_layout(std::string_view text) { return layout_named(text).has_value(); }

double ConvolutionShape::flops() const {
  double all = 2 * static_cast<double>(n) * static_cast<double>(k);
  all *= static_cast<double>(c / groups);
  for (const Axis& a : axes) all *= static_cast<double>(a.output) * static_cast<double>(a.filter);
  return all;
}

ConvolutionShape convolution_shape(std::string_view name, std::string_view sizes) {
  return shape_of(GivenSizes(name, sizes));
}

Program parse_convolution(std::string_view name, std::string_view text, ElementType type,
                          std::string_view layouts) {
  const GivenSizes sizes(name, text);
  const ConvolutionShape shape = shape_of(sizes);
  const ImageLayout layout = layout_of(sizes, shape, layouts);
  const auto blocks = [](std::int64_t channels, std::int64_t block) {
    return channels / std::max<std::int64_t>(block, 1);
  };
  using Index = Builder::Index;
  Builder b(std::string(name), type);

  const Index n = b.index(b.dim("n", shape.n));
  std::vector<Index> g;
  if (shape.groups > 1) g.push_back(b.index(b.dim("g", shape.groups)));
  const std::int64_t k_group = shape.k / shape.groups + layout.added;
  const Index k = b.index(b.dim("k", blocks(k_group, layout.k_block)));
  const Index c = b.index(b.dim("c", blocks(shape.c / shape.groups, layout.c_block)));
  std::vector<Index> output, image, filter;
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    const Axis& axis = shape.axes[i];
    const std::size_t name_of = shape.axes.size() - 1 - i;
    const DimId o = b.dim(output_names[name_of], axis.output);
    const DimId f = b.dim(filter_names[name_of], axis.filter);
    output.push_back(b.index(o));
    filter.push_back(b.index(f));
    image.push_back({{{{o, shape.stride}, {f, shape.dilation}}}, axis.padded()});
  }
  std::vector<Index> k_in, c_in;  // within blocks
  if (layout.k_block > 0) k_in.push_back(b.index(b.dim("l", layout.k_block)));
  if (layout.c_block > 0) c_in.push_back(b.index(b.dim("d", layout.c_block)));

  // With channels last a depthwise layer has those of its filters last too, as TensorFlow has.
  const bool depthwise = layout.channels_last && layout.k_block == 0 && shape.k == shape.groups &&
                         shape.c == shape.groups;
  std::vector<Index> in_output{n}, in_image{n}, in_filter;
  if (!depthwise) in_filter = g;
  const auto add = [](std::vector<Index>& to, const std::vector<Index>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  if (layout.channels_last) {
    add(in_output, output), add(in_output, g), add(in_output, {k}), add(in_output, k_in);
    add(in_image, image), add(in_image, g), add(in_image, {c});
    if (layout.k_block > 0) add(in_filter, {k});
    add(in_filter, filter);
    if (depthwise) add(in_filter, g);
    add(in_filter, {c});
    add(in_filter, layout.k_block > 0 ? k_in : std::vector<Index>{k});
  } else {
    add(in_output, g), add(in_output, {k}), add(in_output, output), add(in_output, k_in);
    add(in_image, g), add(in_image, {c}), add(in_image, image), add(in_image, c_in);
    add(in_filter, {k, c}), add(in_filter, filter), add(in_filter, c_in), add(in_filter, k_in);
  }
  const Program::Access left = b.tensor("I", Program::Role::input, in_image);
  const Program::Access right = b.tensor("W", Program::Role::input, in_filter);
  const Program::Access out = b.tensor("O", Program::Role::output, in_output);
  return b.program(out, left, right);
}

}  // namespace tcsim
