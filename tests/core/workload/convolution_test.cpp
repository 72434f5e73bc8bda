#include "core/workload/convolution.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/request.hpp"
#include "core/workload/suite.hpp"

namespace tcsim {
namespace {

std::string text_of(const char* name, const char* sizes) {
  return to_text(parse_convolution(name, sizes, ElementType::f32));
}

TEST(Convolution, Is_a_program_over_the_output_the_image_and_the_filter) {
  EXPECT_EQ(text_of("conv2d", "k=64,c=128,y=136,x=136,r=3,s=3,stride=1"),
            "program conv2d\ndims n=1 k=64 c=128 y=136 r=3 x=136 s=3\n"
            "f32 input I[1, 128, 138, 138]\nf32 input W[64, 128, 3, 3]\n"
            "f32 output O[1, 64, 136, 136]\n"
            "O[n, k, y, x] += I[n, c, y + r, x + s] * W[k, c, r, s]\n");
  EXPECT_EQ(text_of("conv1d", "k=4,c=2,x=10,s=3,stride=2,dilation=3"),
            "program conv1d\ndims n=1 k=4 c=2 x=10 s=3\nf32 input I[1, 2, 25]\n"
            "f32 input W[4, 2, 3]\nf32 output O[1, 4, 10]\n"
            "O[n, k, x] += I[n, c, 2*x + 3*s] * W[k, c, s]\n");
  EXPECT_EQ(text_of("conv3d", "n=2,k=4,c=2,z=5,y=6,x=7,t=2,r=3,s=1"),
            "program conv3d\ndims n=2 k=4 c=2 z=5 t=2 y=6 r=3 x=7 s=1\n"
            "f32 input I[2, 2, 6, 8, 7]\nf32 input W[4, 2, 2, 3, 1]\n"
            "f32 output O[2, 4, 5, 6, 7]\n"
            "O[n, k, z, y, x] += I[n, c, z + t, y + r, x + s] * W[k, c, t, r, s]\n");
}

TEST(Convolution, Layouts_are_memory_orders_of_its_tensors) {
  EXPECT_EQ(text_of("conv2d", "k=32,c=16,y=4,x=5,r=3,s=3,layout=nhwc"),
            "program conv2d\ndims n=1 k=32 c=16 y=4 r=3 x=5 s=3\nf32 input I[1, 6, 7, 16]\n"
            "f32 input W[3, 3, 16, 32]\nf32 output O[1, 4, 5, 32]\n"
            "O[n, y, x, k] += I[n, y + r, x + s, c] * W[r, s, c, k]\n");
  EXPECT_EQ(text_of("conv2d", "k=32,c=16,y=4,x=5,r=3,s=3,layout=nchw16c"),
            "program conv2d\ndims n=1 k=2 c=1 y=4 r=3 x=5 s=3 l=16 d=16\n"
            "f32 input I[1, 1, 6, 7, 16]\nf32 input W[2, 1, 3, 3, 16, 16]\n"
            "f32 output O[1, 2, 4, 5, 16]\n"
            "O[n, k, y, x, l] += I[n, c, y + r, x + s, d] * W[k, c, r, s, d, l]\n");
  EXPECT_EQ(text_of("conv2d", "k=64,c=16,y=4,x=5,r=3,s=3,layout=nhwc32k"),
            "program conv2d\ndims n=1 k=2 c=16 y=4 r=3 x=5 s=3 l=32\n"
            "f32 input I[1, 6, 7, 16]\nf32 input W[2, 3, 3, 16, 32]\n"
            "f32 output O[1, 4, 5, 2, 32]\n"
            "O[n, y, x, k, l] += I[n, y + r, x + s, c] * W[k, r, s, c, l]\n");
  EXPECT_EQ(text_of("conv2d", "k=24,c=4,y=4,x=5,groups=2,layout=nhwc12k"),
            "program conv2d\ndims n=1 g=2 k=1 c=2 y=4 r=1 x=5 s=1 l=12\n"
            "f32 input I[1, 4, 5, 2, 2]\nf32 input W[2, 1, 1, 1, 2, 12]\n"
            "f32 output O[1, 4, 5, 2, 1, 12]\n"
            "O[n, y, x, g, k, l] += I[n, y + r, x + s, g, c] * W[g, k, r, s, c, l]\n");
}

// Whether the layout is the sizes' own or given beside them.
TEST(Convolution, A_layout_given_beside_the_sizes_counts) {
  const std::string sizes = "k=32,c=16,y=4,x=5,layout=";
  EXPECT_EQ(to_text(parse_convolution("conv2d", sizes + "nhwc", ElementType::f32)),
            to_text(parse_convolution("conv2d", sizes + "nchw", ElementType::f32, "nhwc")));
}

TEST(Convolution, The_first_layout_whose_blocks_are_filled_counts) {
  const auto label = [](const char* sizes, const char* layouts) {
    return to_text(parse_convolution("conv2d", sizes, ElementType::f32, layouts));
  };
  const char* const sizes = "k=48,c=6,y=4,x=5";
  EXPECT_EQ(label(sizes, "nhwc32k,nhwc16k,nhwc"), label(sizes, "nhwc16k"));
  EXPECT_EQ(label(sizes, "nchw8c,nhwc32k,nchw"), label(sizes, "nchw"));
  EXPECT_THROW(label(sizes, "nhwc32k,nchw8c"), UsageError);
  EXPECT_THROW(label(sizes, "nhwc9x,nhwc"), UsageError) << "unknown, though another would do";
  EXPECT_THROW(label(sizes, "nhwc32k,"), UsageError);
  const char* const few = "k=2,c=48,y=4,x=5";
  EXPECT_EQ(label(few, "nhwc16k,nhwc1k,nhwc"), label(few, "nhwc1k"));
  EXPECT_EQ(label("k=2,c=3,y=4,x=5", "nhwc1k,nhwc"), label("k=2,c=3,y=4,x=5", "nhwc"));
  EXPECT_EQ(label("k=17,c=48,y=4,x=5", "nhwc1k,nhwc"), label("k=17,c=48,y=4,x=5", "nhwc"));
  EXPECT_EQ(label("k=64,c=3,y=4,x=5", "nhwcNk"), label("k=64,c=3,y=4,x=5", "nhwc32k"));
  EXPECT_EQ(label("k=48,c=3,y=4,x=5", "nhwcNk"), label("k=48,c=3,y=4,x=5", "nhwc16k"));
  for (const char* word : {"nchw", "nhwc", "nchw8c", "nchw16c", "nhwc48k", "nhwcNk"}) {
    EXPECT_TRUE(is_image_layout(word)) << word;
  }
  for (const char* word : {"", "nhwc0k", "hwcn", "nhwc,nchw"}) {
    EXPECT_FALSE(is_image_layout(word)) << word;
  }
}

// A layer of so many channels in blocks of as many as given.
TEST(Convolution, Blocks_are_filled_up_with_channels_of_zeros) {
  const auto label = [](const std::string& sizes, const char* layouts) {
    return to_text(parse_convolution("conv2d", sizes + ",c=6,y=4,x=5", ElementType::f32, layouts));
  };
  EXPECT_EQ(label("k=28269", "nhwc16k,nhwcNk,nhwc"), label("k=28288", "nhwc32k"));
  EXPECT_EQ(label("k=84", "nhwcNk"), label("k=96", "nhwc32k"));
  EXPECT_EQ(label("k=257", "nhwcNk"), label("k=288", "nhwc32k"));
  EXPECT_EQ(label("k=140", "nhwcNk"), label("k=144", "nhwc16k"));
  EXPECT_EQ(label("k=170,groups=2", "nhwcNk"), label("k=192,groups=2", "nhwc32k"));
  // Four in five of the channels are the layer's.
  EXPECT_EQ(label("k=13", "nhwcNk,nhwc"), label("k=16", "nhwc16k"));
  EXPECT_EQ(label("k=64", "nhwcNk"), label("k=64", "nhwc32k"));
  EXPECT_EQ(label("k=12", "nhwcNk,nhwc"), label("k=12", "nhwc"));
  EXPECT_EQ(label("k=34", "nhwcNk,nhwc1k,nhwc"), label("k=34", "nhwc"));
  EXPECT_THROW(label("k=12", "nhwcNk"), UsageError);
  // Work is the layer's.
  const auto flops = [](const char* sizes) { return convolution_shape("conv2d", sizes).flops(); };
  EXPECT_EQ(flops("n=2,k=84,c=6,y=4,x=5,r=3"), 2.0 * 2 * 84 * 6 * 4 * 5 * 3);
  EXPECT_EQ(flops("k=84,c=6,y=4,x=5,groups=2,layout=nhwcNk"), 2.0 * 84 * 3 * 4 * 5);
}

TEST(Convolution, Shape_knows_the_image_apart_from_its_padding) {
  // As printed in ttile, Fig. 8: 224 places, a filter of 7, every second: 112 of 229 places.
  const ConvolutionShape stem =
      convolution_shape("conv2d", "k=64,c=3,h=224,w=200,r=7,s=1,stride=2");
  ASSERT_EQ(stem.axes.size(), 2U);
  EXPECT_EQ(stem.axes[0].output, 112);
  EXPECT_EQ(stem.axes[0].image, 224);
  EXPECT_EQ(stem.axes[0].before, 2);
  EXPECT_EQ(stem.axes[0].after, 3);
  EXPECT_EQ(stem.axes[0].padded(), 229);
  EXPECT_EQ(stem.axes[1].padded(), 200) << "a filter of 1 leaves places out, and needs no zeros";
  const ConvolutionShape padded = convolution_shape("conv1d", "n=2,k=6,c=4,w=9,s=3,pad=2,groups=2");
  EXPECT_EQ(padded.n, 2);
  EXPECT_EQ(padded.k, 6);
  EXPECT_EQ(padded.groups, 2);
  EXPECT_EQ(padded.axes[0].before, 2);
  EXPECT_EQ(padded.axes[0].after, 2);
  EXPECT_EQ(padded.axes[0].output, 11);
  const ConvolutionShape given = convolution_shape("conv1d", "k=6,c=4,x=9,s=3,dilation=2,stride=3");
  EXPECT_EQ(given.axes[0].image, 29);
  EXPECT_EQ(given.axes[0].padded(), 29);
}

TEST(Convolution, Groups_convolve_their_own_channels) {
  EXPECT_EQ(text_of("conv2d", "k=32,c=16,y=4,x=4,groups=4"),
            "program conv2d\ndims n=1 g=4 k=8 c=4 y=4 r=1 x=4 s=1\nf32 input I[1, 4, 4, 4, 4]\n"
            "f32 input W[4, 8, 4, 1, 1]\nf32 output O[1, 4, 8, 4, 4]\n"
            "O[n, g, k, y, x] += I[n, g, c, y + r, x + s] * W[g, k, c, r, s]\n");
  const Contraction depthwise = contraction_of(
      parse_convolution("conv2d", "k=16,c=16,y=4,x=4,r=3,s=3,groups=16", ElementType::f32));
  EXPECT_EQ(depthwise.extent(DimClass::batch), Elements(16));
  EXPECT_EQ(depthwise.extent(DimClass::n), Elements(1));
}

// The usual formula: floor((h + 2 pad - dilation (r - 1) - 1) / stride) + 1.
TEST(Convolution, An_images_places_and_padding_say_those_of_the_output) {
  const auto output = [](const std::string& sizes) {
    const Program p = parse_convolution("conv1d", "k=1,c=1," + sizes, ElementType::f32);
    return std::pair(p.tensors()[2].extents[2], p.tensors()[0].extents[2]);
  };
  using Places = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(output("w=224,s=7,stride=2"), Places(112, 229));        // the same / stride
  EXPECT_EQ(output("w=224,s=7,stride=2,pad=3"), Places(112, 230));  // one place is left over
  EXPECT_EQ(output("w=224,s=7,stride=2,pad=0"), Places(109, 224));
  EXPECT_EQ(output("w=14,s=3"), Places(14, 16));
  EXPECT_EQ(output("w=14,s=3,pad=same"), Places(14, 16));
  EXPECT_EQ(output("w=14,s=3,dilation=2,pad=0"), Places(10, 14));
  EXPECT_EQ(output("w=9,s=1,stride=4"), Places(3, 9));
  EXPECT_EQ(output("w=2,s=5,pad=2"), Places(2, 6));  // a filter larger than the image
}

TEST(Convolution, Says_where_its_sizes_are_wrong) {
  const auto message = [](const char* sizes) -> std::string {
    try {
      parse_convolution("conv2d", sizes, ElementType::f32);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  const auto expect = [&](const char* sizes, const std::string& said) {
    EXPECT_NE(message(sizes).find(said), std::string::npos) << message(sizes);
  };
  expect("k=3", "'c' is missing");
  expect("k=3,c=4,q=5", "column 9: 'q' is no size of conv2d; its sizes are n, k, c, y, x, h, w, r");
  expect("k=3,c=4,y=2", "there is none of 'x' and 'w'; give x, the places of the output");
  expect("k=3,c=4,y=2,x=2,w=4", "there are 'x' and 'w'");
  expect("k=3,c=4,y=2,x=2,k=4", "column 17: 'k' has a size already");
  expect("k=0,c=4,y=2,x=2", "column 3: 'k' is 0; give a number from 1 to 2^30");
  expect("k=-5,c=4,y=2,x=2", "'k' is -5");
  expect("k=99999999999999999999,c=4,y=2,x=2", "'k' is 99999999999999999999");
  expect("k=three,c=4,y=2,x=2", "'k' is \"three\", not a whole number");
  expect("k=3,c=4,y=2,x=2,", "column 17: a size expected");
  expect("k=3,c=4,y=2,x=2,groups=2", "k=3 is no multiple of groups=2");
  expect("k=3,c=4,y=2,x=2,layout=hwcn",
         "layout 'hwcn' is unknown; use nchw, nhwc, nchw8c, nchw16c, nhwc32k for weights in "
         "blocks of "
         "32 channels k, or nhwcNk for blocks that are filled up with zeros");
  expect("k=12,c=3,y=2,x=2,layout=nhwcNk",
         "column 25: more than a fifth of the output channels would be zeros to fill blocks of 16 "
         "with 12; use layout=nhwc, or other channels");
  expect("k=16,c=3,y=2,x=2,layout=nchw16c", "a group has 3 channels 'c', no multiple of 16");
  expect("k=16,c=3,y=2,x=2,layout=nhwc32k", "a group has 16 channels 'k', no multiple of 32");
  expect("k=16,c=3,y=2,x=2,layout=nhwc0k", "layout 'nhwc0k' is unknown");
  expect("k=16,c=3,y=2,x=2,layout=nhwck", "layout 'nhwck' is unknown");
  expect("k=16,c=3,y=2,x=2,layout=nhwc99999k", "layout 'nhwc99999k' is unknown");
  expect("k=3,c=4,y=2,x=2,pad=1", "'pad' beside 'y'");
  expect("k=3,c=4,h=2,w=2,r=3,s=3,pad=0", "the filter has 3 places along 'h' and the image 2");
  expect("k=1073741824,c=1073741824,y=1073741824,x=1073741824", "2^62 bytes");
}

TEST(Statement, Alone_has_sizes_and_tensors_as_long_as_they_are_read) {
  const Contraction c =
      find_workload({"O[k, y] += I[c, 2*y + r] * W[k, c, r]", "k=4,c=3,y=5,r=2", {}, {}});
  EXPECT_EQ(c.label(), "O[k,y] += I[c,2*y+r] * W[k,c,r]");
  EXPECT_EQ(c.type(), ElementType::f32);
  EXPECT_EQ(c.size(TensorId::A), Elements(3 * 10));
  const auto message = [](const char* text, const char* sizes) -> std::string {
    try {
      find_workload({text, sizes, {}, {}});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message("O[k] += I[c] * W[k,c,r]", "k=4,c=3"),
            "\"O[k] += I[c] * W[k,c,r]\" column 22: there is no dimension 'r'; give it a size: "
            "--size h=56,...");
  EXPECT_NE(message("O[k] += O[c] * W[k,c]", "k=4,c=3").find("column 9: tensor O is there twice"),
            std::string::npos);
  EXPECT_NE(message("O[k] += I[c] * W[k,c] x", "k=4,c=3").find("the end expected"),
            std::string::npos);
  EXPECT_NE(
      message("O[k] += I[c] * W[k,c]", "k=4,c=3,d=4").find("dimension 'd' is in no statement"),
      std::string::npos)
      << message("O[k] += I[c] * W[k,c]", "k=4,c=3,d=4");
  EXPECT_NE(message("O[2*k] += I[c] * W[k,c]", "k=4,c=3").find("its axis is no single dimension"),
            std::string::npos);
}

// A label says all that there is but the type: it reads back, places that are left over too.
TEST(Statement, A_label_reads_back) {
  for (const char* suite : {"resnet18", "mobilenet-v2", "yolo9000"}) {
    for (const Contraction& c : find_suite(suite).workloads) {
      if (c.is_plain()) continue;
      SCOPED_TRACE(c.name());
      const Contraction again = find_workload({c.label(), c.sizes(), {}, c.type()});
      EXPECT_EQ(again.label(), c.label());
      for (TensorId t : all_tensors) EXPECT_EQ(again.size(t), c.size(t));
      for (int d = 0; d < c.dim_count(); ++d) {
        for (TensorId t : all_tensors) {
          EXPECT_EQ(again.stride(t, DimId{d}), c.stride(t, DimId{d}));
        }
      }
    }
  }
}

// ttile, Fig. 8: multiply-adds of K x C x (H/stride)^2 x R^2.
TEST(Convolution_suites, Have_the_published_sizes) {
  const auto flops = [](const char* suite, std::size_t i) {
    return find_suite(suite).workloads.at(i).flops();
  };
  EXPECT_EQ(find_suite("yolo9000").workloads.size(), 11U);
  EXPECT_EQ(find_suite("resnet18").workloads.size(), 12U);
  EXPECT_EQ(flops("yolo9000", 0), 2.0 * 32 * 3 * 544 * 544 * 9);
  EXPECT_EQ(flops("yolo9000", 10), 2.0 * 28269 * 1024 * 17 * 17);
  EXPECT_EQ(flops("resnet18", 0), 2.0 * 64 * 3 * 112 * 112 * 49);
  EXPECT_EQ(flops("resnet18", 9), 2.0 * 512 * 512 * 7 * 7 * 9);
  // The whole of VGG-16's convolutions: 15.3 G multiply-adds, layers that occur twice or three
  // times counted so.
  const auto vgg = find_suite("vgg16").workloads;
  const double times[] = {1, 1, 1, 1, 1, 2, 1, 2, 3};
  double sum = 0;
  for (std::size_t i = 0; i < vgg.size(); ++i) sum += times[i] * vgg[i].flops() / 2;
  EXPECT_NEAR(sum, 15.35e9, 0.01e9);
}

// The last layer has an odd number of channels.
TEST(Convolution_suites, A_layer_has_a_layout_that_others_do_not_allow) {
  const auto layer = [](const char* name) {
    WorkloadRequest request;
    request.name = name;
    request.image_layout = "nhwc32k";
    return find_workload(request);
  };
  EXPECT_EQ(layer("yolo9000:7").sizes(), "c=256,k=16,l=32,n=1,r=3,s=3,x=34,y=34");
  for (const char* name : {"yolo9000:11", "yolo9000"}) EXPECT_THROW(layer(name), InputError);
}

}  // namespace
}  // namespace tcsim
