// What a report's pictures show of text that means something to HTML and SVG.
#include "sweep/svg.hpp"

#include <gtest/gtest.h>

namespace tcsim::svg {
namespace {

TEST(Svg, Names_in_a_picture_are_escaped_wherever_they_stand) {
  const std::string hostile = "</text><b>&";
  Plot plot({.low = 1, .high = 2, .label = hostile, .text = [&](double) { return hostile; }},
            {.low = 1, .high = 2, .label = hostile}, 300, 200, hostile);
  plot.rectangle(0, 0, 10, 10, "fill=\"red\"", hostile);
  plot.area({{1, 1}, {2, 2}}, "fill=\"red\"", hostile);
  plot.dot(5, 5, 2, "fill=\"red\"", hostile);
  plot.text(5, 5, hostile, "fill=\"red\"");
  plot.vertical(1.5, "stroke=\"red\"", hostile);
  const std::string picture = plot.done();
  EXPECT_EQ(picture.find("<b>"), picture.npos) << picture;
  EXPECT_EQ(picture.find("b>&<"), picture.npos) << picture;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = picture.find("&lt;/text&gt;&lt;b&gt;&amp;", at)) != picture.npos;
       ++at)
    ++count;
  EXPECT_GE(count, 8u);
}

}  // namespace
}  // namespace tcsim::svg
