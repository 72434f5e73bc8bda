// Convolutions beside oneDNN: plain tensors and tcsim's are the same, every way that oneDNN has is
// right, and the check would notice if one were not. Not how fast anything is.
#include "bench/convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/onednn.hpp"
#include "bench/plain_convolution.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/suite.hpp"

namespace tcsim::bench {
namespace {

struct Layer {
  const char* name;
  const char* sizes;
};

// Padded and not, strided, with holes, odd, batched, in groups, with one channel, of other ranks.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> all{
      {"conv2d", "k=16,c=16,h=5,w=7,r=3,s=3"},
      {"conv2d", "k=32,c=3,h=9,w=9,r=7,s=7,stride=2"},
      {"conv2d", "n=2,k=6,c=1,h=8,w=8,r=5,s=5,pad=2"},
      {"conv2d", "k=5,c=8,y=4,x=3,r=2,s=3,stride=3"},
      {"conv2d", "k=8,c=4,h=11,w=11,r=3,s=3,dilation=3"},
      {"conv2d", "k=16,c=32,h=7,w=7,stride=2"},
      {"conv2d", "k=24,c=16,h=6,w=5,r=3,s=3,groups=2"},
      {"conv2d", "k=58,c=16,h=6,w=5,r=3,s=3,groups=2"},
      {"conv2d", "k=16,c=16,h=6,w=6,r=3,s=3,stride=2,groups=16"},
      {"conv2d", "k=48,c=17,h=3,w=20,r=1,s=7"},
      {"conv1d", "n=3,k=16,c=8,w=19,s=4,stride=2"},
      {"conv3d", "k=8,c=5,d=4,h=5,w=3,t=3,r=3,s=2"},
  };
  return all;
}

// All dimensions, one by one, by the strides of the contraction.
void evaluate(const Contraction& c, int dim, const float* a, const float* b, float* to) {
  if (dim == c.dim_count()) {
    *to += *a * *b;
    return;
  }
  const DimId d{dim};
  for (std::int64_t i = 0; i < c.dim(d).extent; ++i) {
    evaluate(c, dim + 1, a + i * c.stride(TensorId::A, d).value(),
             b + i * c.stride(TensorId::B, d).value(), to + i * c.stride(TensorId::C, d).value());
  }
}

TEST(Plain_convolution, Is_what_tcsim_computes_in_every_layout) {
  for (const Layer& layer : layers()) {
    const ConvolutionShape shape = convolution_shape(layer.name, layer.sizes);
    const PlainConvolution plain(shape, 3);
    for (const char* layout :
         {"nchw", "nhwc", "nhwc2k,nhwc", "nhwc16k,nchw", "nhwcNk,nhwc", "nchw8c,nchw"}) {
      SCOPED_TRACE(std::string(layer.sizes) + " " + layout);
      const Contraction c =
          contraction_of(parse_convolution(layer.name, layer.sizes, ElementType::f32, layout));
      const auto elements = [&](TensorId t) { return static_cast<std::size_t>(c.size(t).value()); };
      std::vector<float> a(elements(TensorId::A), NAN), b(elements(TensorId::B), NAN),
          to(elements(TensorId::C), 0);
      write_image(plain, c, a.data());
      write_weights(plain, c, b.data());
      evaluate(c, 0, a.data(), b.data(), to.data());
      const auto output = plain_output(shape, c, to.data());
      ASSERT_EQ(static_cast<std::int64_t>(output.size()), plain.outputs());
      // Channels that fill up blocks are zeros.
      const auto is_zero = [](float x) { return x == 0; };
      EXPECT_EQ(std::ranges::count_if(to, is_zero),
                static_cast<std::ptrdiff_t>(to.size() - output.size()));
      EXPECT_LE(worst_error(plain, output, 2000, 1), 1);
    }
  }
}

// 1 to 9 in an image of 3 x 3, whose sums over 3 x 3 with zeros around it are known.
PlainConvolution sums_of_nine() {
  PlainConvolution plain(convolution_shape("conv2d", "k=1,c=1,h=3,w=3,r=3,s=3"), 1);
  for (std::size_t i = 0; i < 9; ++i) plain.image[i] = static_cast<float>(i + 1);
  plain.weights.assign(9, 1);
  return plain;
}

TEST(Plain_convolution, Check_knows_where_the_image_ends) {
  const PlainConvolution plain = sums_of_nine();
  const std::vector<float> right{12, 21, 16, 27, 45, 33, 24, 39, 28};
  EXPECT_EQ(worst_error(plain, right, 0, 1), 0);
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::vector<float> wrong = right;
    wrong[i] += 1;
    EXPECT_GT(worst_error(plain, wrong, 0, 1), 1) << i;
    wrong[i] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(worst_error(plain, wrong, 0, 1), std::numeric_limits<double>::infinity()) << i;
  }
}

TEST(Plain_convolution, Padded_image_has_zeros_around_it) {
  const PlainConvolution plain(convolution_shape("conv2d", "k=1,c=1,h=2,w=1,r=3,s=2"), 1);
  // One zero above and one below; none before and one behind, since the odd one comes last.
  EXPECT_EQ(plain.padded, (std::vector<float>{0, 0, plain.image[0], 0, plain.image[1], 0, 0, 0}));
  EXPECT_TRUE(PlainConvolution(convolution_shape("conv2d", "k=1,c=1,y=2,x=1"), 1).padded.empty());
}

TEST(Onednn, Every_way_of_every_layout_is_right) {
  if (!onednn_installed()) GTEST_SKIP() << "oneDNN was not there when tcsim was configured";
  const OneThread one_thread;
  for (const Layer& layer : layers()) {
    SCOPED_TRACE(layer.sizes);
    const PlainConvolution plain(convolution_shape(layer.name, layer.sizes), 5);
    for (const bool padded : {false, true}) {
      if (padded && plain.padded.empty()) continue;
      for (const bool reorders : {false, true}) {
        int ways = 0;
        for (const auto layout :
             {OnednnLayout::nchw, OnednnLayout::nhwc, OnednnLayout::blocked, OnednnLayout::any}) {
          for_each_way(onednn_problem(plain, padded), layout, reorders,
                       [&](std::unique_ptr<OnednnConvolution> way) {
                         ++ways;
                         std::vector<float> output(static_cast<std::size_t>(plain.outputs()));
                         way->clear();
                         way->result(output.data());
                         EXPECT_TRUE(std::isnan(output.front()) && std::isnan(output.back()));
                         way->run();
                         way->result(output.data());
                         EXPECT_LE(worst_error(plain, output, 2000, 1), 1) << way->how();
                         EXPECT_EQ(way->how().find("ref"), std::string::npos) << way->how();
                       });
        }
        EXPECT_GT(ways, 0);
      }
    }
  }
}

TEST(Onednn, Reads_the_image_anew_where_reorders_count) {
  if (!onednn_installed()) GTEST_SKIP() << "oneDNN was not there when tcsim was configured";
  const OneThread one_thread;
  PlainConvolution plain(convolution_shape("conv2d", "k=16,c=16,h=5,w=5,r=3,s=3"), 5);
  const OnednnProblem problem = onednn_problem(plain, false);
  for_each_way(problem, OnednnLayout::blocked, true, [&](std::unique_ptr<OnednnConvolution> way) {
    for (float& x : plain.image) x = -x;  // after the way was made
    std::vector<float> output(static_cast<std::size_t>(plain.outputs()));
    way->run();
    way->result(output.data());
    EXPECT_LE(worst_error(plain, output, 100, 1), 1) << way->how();
  });
}

SuiteCase measured(double tcsim, const std::vector<std::pair<std::string, double>>& peers) {
  const Contraction c =
      contraction_of(parse_convolution("conv2d", "k=1,c=1,y=1,x=1", ElementType::f32));
  SuiteCase one{c, {}, {}};
  const auto add = [&](const std::string& name, double rate) {
    Contestant contestant{name, "", Samples(1, {}), 0};
    contestant.samples.add({Seconds(1 / rate), FlopsPerSecond(100)});
    one.contestants.push_back(std::move(contestant));
  };
  add("tcsim", tcsim);
  for (const auto& [name, rate] : peers) add(name, rate);
  return one;
}

TEST(Convolution_summary, Counts_slow_layers_beside_either_layout) {
  std::vector<SuiteCase> cases{
      measured(40, {{"oneDNN nchw", 20}, {"oneDNN nhwc", 80}, {"oneDNN blocked", 40}}),
      measured(10, {{"oneDNN nchw", 20}, {"oneDNN nhwc", 20}, {"oneDNN blocked", 10}}),
      measured(10, {{"oneDNN blocked", 20}})};
  auto s = convolution_summary(cases);
  ASSERT_TRUE(s);
  EXPECT_NEAR(s->of_peak, std::cbrt(0.4 * 0.1 * 0.1), 1e-12);
  ASSERT_EQ(s->peers.size(), 3u);
  EXPECT_EQ(s->peers[0].name, "oneDNN nchw");
  EXPECT_NEAR(*s->peers[0].ratio, 1, 1e-12);  // 2 and 1/2
  EXPECT_EQ(s->peers[0].layers, 2);
  EXPECT_EQ(s->peers[0].slow, 1);
  EXPECT_EQ(s->peers[1].slow, 2);
  EXPECT_NEAR(*s->peers[2].ratio, std::cbrt(0.5), 1e-12);
  EXPECT_EQ(s->slow, 2) << "the second beside nchw, the third beside blocks; nhwc does not count";

  cases[2].contestants[1].worst_error = 2;
  s = convolution_summary(cases);
  EXPECT_EQ(s->peers[2].layers, 2) << "what is wrong does not count";
  EXPECT_EQ(s->slow, 1);
  EXPECT_FALSE(convolution_summary({}));
}

}  // namespace
}  // namespace tcsim::bench
