#include "sweep/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/safe.hpp"

namespace tcsim::svg {

double Scale::place(double x) const {
  if (!(high > low)) return 0.5;
  if (logarithmic) return std::log(x / low) / std::log(high / low);
  return (x - low) / (high - low);
}

std::vector<double> byte_ticks(double low, double high, bool logarithmic) {
  std::vector<double> all;
  if (!logarithmic) {
    const double step = std::exp2(std::ceil(std::log2((high - low) / 5)));
    for (double x = std::ceil(low / step) * step; x <= high * (1 + 1e-9); x += step) {
      all.push_back(x);
    }
    return all;
  }
  const double octaves = std::log2(high / low);
  const double step = std::max(1.0, std::ceil(octaves / 8));
  for (double e = std::ceil(std::log2(low) - 0.02); e <= std::log2(high) + 0.02; e += step) {
    all.push_back(std::exp2(e));
  }
  return all;
}

std::vector<double> Scale::ticks() const {
  std::vector<double> all;
  if (!(high > low)) return {low};
  if (logarithmic && high / low > 4) {
    const int decades = static_cast<int>(std::ceil(std::log10(high / low)));
    for (double e = std::floor(std::log10(low)); e <= std::ceil(std::log10(high)); ++e) {
      for (double m : {1.0, 2.0, 5.0}) {
        if (decades > 3 && m != 1) continue;
        const double t = m * std::pow(10, e);
        if (t >= low * (1 - 1e-9) && t <= high * (1 + 1e-9)) all.push_back(t);
      }
    }
    if (all.size() >= 2) return all;
    all.clear();
  }
  const double rough = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough / power > 5   ? 10
                               : rough / power > 2 ? 5
                               : rough / power > 1 ? 2
                                                   : 1);
  for (double x = std::ceil(low / step - 1e-9) * step; x <= high + step * 1e-9; x += step) {
    all.push_back(std::abs(x) < step * 1e-9 ? 0 : x);
  }
  return all;
}

// Okabe and Ito's colours, which colour-blind readers can tell apart.
std::string colour(std::size_t link, std::size_t links) {
  static const char* const all[] = {"#56b4e9", "#009e73", "#e69f00", "#d55e00",
                                    "#cc79a7", "#0072b2", "#f0e442"};
  return link >= links ? "#8a8f98" : all[link % std::size(all)];
}

std::string heat(double share) {
  // From a light to a dark blue through green: even in lightness, as viridis is.
  static const double stops[5][3] = {
      {253, 231, 37}, {94, 201, 98}, {33, 145, 140}, {59, 82, 139}, {68, 1, 84}};
  const double at = std::clamp(share, 0.0, 1.0) * 4;
  const auto i = static_cast<std::size_t>(std::min(3.0, std::floor(at)));
  const double t = at - static_cast<double>(i);
  const auto mix = [&](std::size_t c) {
    return static_cast<int>(std::lround(stops[i][c] + t * (stops[i + 1][c] - stops[i][c])));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

Plot::Plot(Scale x, Scale y, double width, double height, std::string title)
    : x_(std::move(x)),
      y_(std::move(y)),
      width_(width),
      height_(height),
      box_{76, 14, width - 76 - 30, height - 14 - 50},
      title_(std::move(title)) {}

namespace {
std::string hinted(const std::string& hint) {
  return hint.empty() ? "/>" : "><title>" + in_markup(hint) + "</title>";
}
}  // namespace

void Plot::rectangle(double x0, double y0, double x1, double y1, const std::string& style,
                     const std::string& hint) {
  body_ +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}{}{}\n",
                  std::min(x0, x1), std::min(y0, y1), std::abs(x1 - x0), std::abs(y1 - y0), style,
                  hinted(hint), hint.empty() ? "" : "</rect>");
}

void Plot::area(const std::vector<std::pair<double, double>>& points, const std::string& style,
                const std::string& hint) {
  std::string text;
  for (const auto& [px, py] : points) text += fmt::format("{:.1f},{:.1f} ", px, py);
  body_ += fmt::format("<polygon points=\"{}\" {}{}{}\n", text, style, hinted(hint),
                       hint.empty() ? "" : "</polygon>");
}

void Plot::line(const std::vector<std::pair<double, double>>& values, const std::string& style) {
  std::string text;
  for (const auto& [vx, vy] : values) text += fmt::format("{:.1f},{:.1f} ", x(vx), y(vy));
  body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", text, style);
}

void Plot::dot(double px, double py, double radius, const std::string& style,
               const std::string& hint) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}{}{}\n", px, py, radius,
                       style, hinted(hint), hint.empty() ? "" : "</circle>");
}

void Plot::text(double px, double py, const std::string& words, const std::string& style) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", px, py, style,
                       in_markup(words));
}

void Plot::vertical(double value, const std::string& style, const std::string& words) {
  const double px = x(value);
  body_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" {3}/>\n",
                       px, box_.top, box_.top + box_.height, style);
  if (!words.empty()) {
    const bool right = px > box_.left + box_.width * 0.8;
    text(px + (right ? -5 : 5), box_.top + 14, words,
         right ? "class=\"note\" text-anchor=\"end\"" : "class=\"note\"");
  }
}

std::string Plot::done() {
  std::string axes;
  const double bottom = box_.top + box_.height;
  const auto write = [](const Scale& s, double t) {
    return in_markup(s.text ? s.text(t) : fmt::format("{:.4g}", t));
  };
  const bool bytes = x_.text && x_.text(1024).find("KiB") != std::string::npos;
  for (double t : bytes ? byte_ticks(x_.low, x_.high, x_.logarithmic) : x_.ticks()) {
    if (x_.place(t) < -0.001 || x_.place(t) > 1.001) continue;
    axes += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"tick\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        x(t), bottom, bottom + 5, bottom + 18, write(x_, t));
  }
  const bool y_bytes = y_.text && y_.text(1024).find("KiB") != std::string::npos;
  for (double t : y_bytes ? byte_ticks(y_.low, y_.high, y_.logarithmic) : y_.ticks()) {
    if (y_.place(t) < -0.001 || y_.place(t) > 1.001) continue;
    axes += fmt::format(
        "<line x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" y2=\"{0:.1f}\" class=\"grid\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        y(t), box_.left, box_.left + box_.width, box_.left - 7, y(t) + 4, write(y_, t));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n{3}{4}"
      "<rect x=\"{5:.1f}\" y=\"{6:.1f}\" width=\"{7:.1f}\" height=\"{8:.1f}\" class=\"frame\"/>\n"
      "<text x=\"{9:.1f}\" y=\"{10:.1f}\" text-anchor=\"middle\" class=\"axis\">{11}</text>\n"
      "<text transform=\"translate(14,{12:.1f}) rotate(-90)\" text-anchor=\"middle\" "
      "class=\"axis\">{13}</text>\n</svg>\n",
      width_, height_, in_markup(title_), body_, axes, box_.left, box_.top, box_.width, box_.height,
      box_.left + box_.width / 2, height_ - 8, in_markup(x_.label), box_.top + box_.height / 2,
      in_markup(y_.label));
}

}  // namespace tcsim::svg
