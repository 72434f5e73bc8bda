// oneDNN's convolutions: every layout and implementation that may be the fastest, by number.
#include "bench/onednn_module.hpp"

#include <algorithm>
#include <dnnl.hpp>

#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tcsim::bench {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

constexpr int most_implementations = 16;  // of one layout; versions so far have fewer

struct NamedTag {
  const char* name;
  Tag tag;
};

// The layouts by the number of axes: channels first, last, in blocks of 16 and of 8.
const std::vector<NamedTag>& tags(int axes) {
  static const std::vector<NamedTag> all[]{
      {{"ncw", Tag::ncw}, {"nwc", Tag::nwc}, {"nCw16c", Tag::nCw16c}, {"nCw8c", Tag::nCw8c}},
      {{"nchw", Tag::nchw},
       {"nhwc", Tag::nhwc},
       {"nChw16c", Tag::nChw16c},
       {"nChw8c", Tag::nChw8c}},
      {{"ncdhw", Tag::ncdhw},
       {"ndhwc", Tag::ndhwc},
       {"nCdhw16c", Tag::nCdhw16c},
       {"nCdhw8c", Tag::nCdhw8c}}};
  return all[axes - 1];
}

struct TagPair {
  Tag image, output;
};

std::vector<TagPair> tags(int axes, OnednnLayout layout) {
  const auto& all = tags(axes);
  const Tag plain = all[0].tag, last = all[1].tag, by_16 = all[2].tag, by_8 = all[3].tag;
  switch (layout) {
    case OnednnLayout::nchw:
      return {{plain, plain}};
    case OnednnLayout::nhwc:
      return {{last, last}};
    case OnednnLayout::blocked:
      return {{by_16, by_16}, {by_8, by_8}, {plain, by_16}, {plain, by_8}};
    case OnednnLayout::any:
      break;
  }
  return {{Tag::any, Tag::any}};
}

memory::dims with_axes(memory::dims first, const std::int64_t* places, int axes) {
  first.insert(first.end(), places, places + axes);
  return first;
}

class Problem {
 public:
  explicit Problem(const OnednnProblem& p)
      : axes_(p.axes),
        stride_(static_cast<std::size_t>(axes_), p.stride),
        dilation_(static_cast<std::size_t>(axes_), p.dilation - 1),  // oneDNN counts the gap
        before_(with_axes({}, p.before, axes_)),
        after_(with_axes({}, p.after, axes_)),
        image_(with_axes({p.n, p.c}, p.image, axes_)),
        output_(with_axes({p.n, p.k}, p.output, axes_)) {
    memory::dims filter;
    if (p.groups > 1) filter.push_back(p.groups);
    filter.insert(filter.end(), {p.k / p.groups, p.c / p.groups});
    filter_ = with_axes(filter, p.filter, axes_);
  }

  memory::desc image(Tag tag) const { return desc(image_, tag); }
  memory::desc output(Tag tag) const { return desc(output_, tag); }
  memory::desc filter(Tag tag) const { return desc(filter_, tag); }
  memory::desc plain_image() const { return image(tags(axes_)[0].tag); }
  memory::desc plain_output() const { return output(tags(axes_)[0].tag); }
  memory::desc plain_filter() const {
    constexpr Tag by_rank[]{Tag::abc, Tag::abcd, Tag::abcde, Tag::abcdef};
    return filter(by_rank[filter_.size() - 3]);
  }

  // The implementation by that number; none beyond the last.
  std::optional<PrimitiveDesc> implementation(const TagPair& tag, int number,
                                              const dnnl::engine& engine) const {
    constexpr auto inference = dnnl::prop_kind::forward_inference;
    constexpr auto direct = dnnl::algorithm::convolution_direct;
    const memory::desc from = image(tag.image), by = filter(Tag::any), to = output(tag.output);
#if DNNL_VERSION_MAJOR >= 3
    PrimitiveDesc d(engine, inference, direct, from, by, to, stride_, dilation_, before_, after_);
#else
    // next_impl() looks at it again.
    const dnnl::convolution_forward::desc problem(inference, direct, from, by, to, stride_,
                                                  dilation_, before_, after_);
    PrimitiveDesc d(problem, engine);
#endif
    for (int i = 0; i < number; ++i) {
      if (!d.next_impl()) return {};
    }
    return d;
  }

  std::string name_of(const memory::desc& d, const memory::dims& dims) const {
    for (const NamedTag& t : tags(axes_)) {
      if (d == desc(dims, t.tag)) return t.name;
    }
    return "a layout of its own";
  }
  std::string names_of(const PrimitiveDesc& d) const {
    return name_of(d.src_desc(), image_) + " to " + name_of(d.dst_desc(), output_);
  }

 private:
  static memory::desc desc(const memory::dims& dims, Tag tag) {
    return memory::desc(dims, memory::data_type::f32, tag);
  }

  int axes_;
  memory::dims stride_, dilation_, before_, after_, image_, output_, filter_;
};

// Memory elsewhere; it is only read.
memory borrowed(const memory::desc& desc, const dnnl::engine& engine, const float* data) {
  return memory(desc, engine, const_cast<float*>(data));
}

class Convolution : public OnednnConvolution {
 public:
  Convolution(const OnednnProblem& p, const PrimitiveDesc& d, const dnnl::engine& engine,
              bool reorders)
      : problem_(p),
        engine_(engine),
        stream_(engine),
        convolution_(d),
        image_(d.src_desc(), engine),
        filter_(d.weights_desc(), engine),
        output_(d.dst_desc(), engine) {
    how_ = std::string(d.impl_info_str()) + ", " + problem_.names_of(d);
    for (int i = 0; i < p.axes; ++i) {
      if (p.before[i] + p.after[i] > 0) {
        how_ += ", oneDNN pads";
        break;
      }
    }
    const memory image = borrowed(problem_.plain_image(), engine, p.image_data);
    if (reorders && d.src_desc() != problem_.plain_image()) {
      steps_.push_back(
          {dnnl::reorder(image, image_), {{DNNL_ARG_FROM, image}, {DNNL_ARG_TO, image_}}});
    }
    copy(image, image_);
    copy(borrowed(problem_.plain_filter(), engine, p.weights), filter_);
    steps_.push_back(
        {convolution_,
         {{DNNL_ARG_SRC, image_}, {DNNL_ARG_WEIGHTS, filter_}, {DNNL_ARG_DST, output_}}});
    if (reorders && d.dst_desc() != problem_.plain_output()) {
      last_ = memory(problem_.plain_output(), engine);
      steps_.push_back(
          {dnnl::reorder(output_, last_), {{DNNL_ARG_FROM, output_}, {DNNL_ARG_TO, last_}}});
    } else {
      last_ = output_;
    }
  }

  std::string how() const override { return how_; }

  void run() override {
    for (const auto& [primitive, arguments] : steps_) primitive.execute(stream_, arguments);
    stream_.wait();
  }

  void clear() override {
    auto* const data = static_cast<float*>(last_.get_data_handle());
    std::fill_n(data, last_.get_desc().get_size() / sizeof(float),
                std::numeric_limits<float>::quiet_NaN());
  }

  void result(float* output) const override {
    copy(last_, memory(problem_.plain_output(), engine_, output));
  }

 private:
  void copy(const memory& from, const memory& to) const {
    memory source = from, target = to;
    dnnl::stream stream = stream_;
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
  }

  Problem problem_;
  std::string how_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward convolution_;
  memory image_, filter_, output_, last_;
  std::vector<std::pair<dnnl::primitive, std::unordered_map<int, memory>>> steps_;
};

// oneDNN lists what it prefers first; what comes later is for narrower vectors, but for im2col.
constexpr int preferred = 3;

// Winograd rounds more than the error bound of a direct sum allows; the reference takes minutes.
bool is_wanted(int number, const std::string& implementation) {
  const auto has = [&](const char* word) { return implementation.find(word) != std::string::npos; };
  return (number < preferred || has("gemm")) && !has("wino") && implementation.rfind("ref", 0) != 0;
}

}  // namespace

OnednnConvolution* tcsim_onednn_convolution(const OnednnProblem& p, OnednnLayout layout,
                                            bool reorders, int way, bool& more) {
  const auto all = tags(p.axes, layout);
  const auto tag = static_cast<std::size_t>(way / most_implementations);
  more = tag < all.size();
  if (!more) return nullptr;
  try {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const int number = way % most_implementations;
    const auto d = Problem(p).implementation(all[tag], number, engine);
    if (!d || !is_wanted(number, d->impl_info_str())) return nullptr;
    return new Convolution(p, *d, engine, reorders);
  } catch (const dnnl::error&) {  // "could not create a primitive": there is none
    return nullptr;
  }
}

void tcsim_onednn_version(OnednnVersion& version) {
  const dnnl::version_t* const v = dnnl::version();
  version.number =
      std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  version.threads = v->cpu_runtime == DNNL_RUNTIME_OMP   ? "OpenMP"
                    : v->cpu_runtime == DNNL_RUNTIME_SEQ ? "no threads"
                    : v->cpu_runtime == DNNL_RUNTIME_TBB ? "TBB"
                                                         : "a runtime of its own";
}

}  // namespace tcsim::bench
