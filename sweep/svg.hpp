// Pictures for report.html: small SVG drawings as text, with axes, in colours that the page's style
// sheet defines. Internal to sweep/.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tcsim::svg {

// How numbers of an axis are placed and written.
struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::string label;  // "L3.capacity"
  std::function<std::string(double)> text = {};

  double place(double x) const;       // 0 to 1
  std::vector<double> ticks() const;  // about five round values
};

// Powers of two for sizes in bytes, 1-2-5 otherwise.
std::vector<double> byte_ticks(double low, double high, bool logarithmic);

struct Box {
  double left, top, width, height;
};

// A drawing with x and y axes. Everything is added in the order of drawing.
class Plot {
 public:
  Plot(Scale x, Scale y, double width, double height, std::string title);

  double x(double value) const { return box_.left + box_.width * x_.place(value); }
  double y(double value) const { return box_.top + box_.height * (1 - y_.place(value)); }
  const Box& box() const { return box_; }

  void rectangle(double x0, double y0, double x1, double y1, const std::string& style,
                 const std::string& hint = "");  // in pixels
  void area(const std::vector<std::pair<double, double>>& points, const std::string& style,
            const std::string& hint = "");  // in pixels
  void line(const std::vector<std::pair<double, double>>& values, const std::string& style);
  void dot(double x, double y, double radius, const std::string& style, const std::string& hint);
  void text(double px, double py, const std::string& words, const std::string& style);
  void vertical(double x, const std::string& style, const std::string& words);

  std::string done();  // with the axes on top

 private:
  Scale x_, y_;
  double width_, height_;
  Box box_;
  std::string title_, body_;
};

// Colours of links from the core outward, compute last; the same in all pictures of a page.
std::string colour(std::size_t link, std::size_t links);
std::string heat(double share);  // 0 best to 1 worst

}  // namespace tcsim::svg
