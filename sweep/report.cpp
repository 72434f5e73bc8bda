#include "sweep/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/explore/verdict.hpp"
#include "core/model/predict.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "sweep/svg.hpp"

namespace tcsim {

using svg::colour;

namespace {

constexpr const char* style = R"(
:root{--fg:#1d2129;--soft:#5b6472;--line:#d9dde3;--bg:#fff;--card:#f6f7f9}
@media(prefers-color-scheme:dark){:root{--fg:#e8eaed;--soft:#a3abb8;--line:#3a404a;--bg:#16181c;--card:#1f2329}}
body{font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--fg);background:var(--bg);max-width:60rem;margin:2rem auto;padding:0 1.2rem}
h1{font-size:1.5rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.4rem 0 .4rem}
p{margin:.4rem 0}.soft,figcaption{color:var(--soft);font-size:.9rem}
.verdict{background:var(--card);border-left:4px solid #0072b2;padding:.8rem 1.1rem;margin:1.2rem 0;font-size:1.08rem}
.verdict p:first-child{font-weight:600}
figure{margin:1rem 0}svg{width:100%;height:auto;display:block}
svg text{font:12px system-ui,sans-serif;fill:var(--soft)}svg .axis{font-size:13px;fill:var(--fg)}
svg .note{font-size:12px;fill:var(--fg)}svg .frame{fill:none;stroke:var(--soft)}
svg .grid{stroke:var(--line);stroke-width:1;stroke-dasharray:2 3}svg .tick{stroke:var(--soft)}
svg .curve{stroke:var(--fg);stroke-width:2.2}svg .mark{stroke:var(--fg);stroke-dasharray:5 4}
table{border-collapse:collapse;font-size:.9rem;margin:.6rem 0;width:100%}
th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--soft)}th:first-child,td:first-child,td.l,th.l{text-align:left}
.scroll{overflow-x:auto}.key span{display:inline-block;margin-right:1.1rem;font-size:.9rem}
.key i{display:inline-block;width:.85rem;height:.85rem;border-radius:2px;margin-right:.35rem;vertical-align:-.1rem}
)";

const char* const nothing = "\xe2\x80\x93";  // en dash: a figure that is not there

std::string seconds_text(double s) { return to_display(Seconds(s)); }

class Writer {
 public:
  Writer(const Findings& f, const ReportFacts& facts, std::ostream& out)
      : f_(f), study_(f.study()), facts_(facts), out_(out) {}

  void write() {
    out_ << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         << fmt::format("<title>{}</title><style>{}</style></head><body>\n", in_markup(study_.name),
                        style);
    out_ << fmt::format("<h1>{}</h1>\n", in_markup(study_.name));
    if (!study_.description.empty()) {
      out_ << fmt::format("<p class=\"soft\">{}</p>\n", in_markup(study_.description));
    }
    out_ << "<div class=\"verdict\">";
    for (const std::string& said : f_.verdict()) out_ << fmt::format("<p>{}</p>", in_markup(said));
    out_ << "</div>\n";
    summary();
    for (const KnobFindings& k : f_.knobs()) curve(k);
    for (const KnobFindings& k : f_.knobs()) levels(k);
    for (const PairFindings& p : f_.pairs()) heat_map(p);
    front();
    best_designs();
    for (const KnobFindings& k : f_.knobs()) workload_map(k);
    workloads();
    method();
    out_ << "</body></html>\n";
  }

 private:
  const Machine& machine(std::size_t m) const { return study_.machines[m].machine; }
  const Knob& knob(std::size_t m, std::size_t k) const { return study_.machines[m].axes[k].knob; }

  std::size_t links(const Machine& m) const { return link_count(study_, m); }

  std::string of_machine(std::size_t m) const {
    return study_.machines.size() > 1 ? " on " + machine(m).name : "";
  }

  std::string objective_label() const {
    std::string what;
    switch (study_.objective) {
      case StudyObjective::time:
        what = "time";
        break;
      case StudyObjective::traffic:
        what = "traffic over the outermost link";
        break;
      case StudyObjective::energy:
        what = "energy";
        break;
      case StudyObjective::area:
        return "area";
      case StudyObjective::cost:
        return "cost";
    }
    return study_.workloads.size() == 1
               ? what
               : fmt::format("{} of all {} workloads", what, study_.workloads.size());
  }

  std::string name(const Found& f) const {
    DesignPoint d;
    d.machine = f.machine;
    d.base = f.base;
    d.values = f.values;
    return design_text(study_, d);
  }

  void heading(const std::string& text) { out_ << "<h2>" << in_markup(text) << "</h2>\n"; }

  void key(const Machine& m) {
    out_ << "<p class=\"key\">";
    for (std::size_t l = 0; l <= links(m); ++l) {
      out_ << fmt::format("<span><i style=\"background:{}\"></i>{}</span>", colour(l, links(m)),
                          in_markup(bottleneck_text(study_, m, static_cast<int>(l))));
    }
    out_ << "</p>\n";
  }

  void figure(const std::string& picture, const std::string& caption) {
    out_ << "<figure>" << picture << "<figcaption>" << in_markup(caption)
         << "</figcaption></figure>\n";
  }

  void summary() {
    out_ << fmt::format(
        "<p class=\"soft\">{} designs, {} points: {} workload{} on {}{}. {}</p>\n", f_.designs(),
        facts_.totals.points, study_.workloads.size(), study_.workloads.size() == 1 ? "" : "s",
        study_.machines.size() == 1 ? in_markup(machine(0).name)
                                    : fmt::format("{} machines", study_.machines.size()),
        study_.knobs.empty() ? "" : in_markup(", varying " + joined(study_.knobs)),
        in_markup(how_computed()));
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
    return text;
  }

  std::string how_computed() const {
    switch (study_.compute) {
      case Compute::predict:
        return "Every design keeps the schedule that is best for its machine as it is; times are "
               "the model's.";
      case Compute::optimize:
        return "Every design has a schedule chosen for it; times are the model's.";
      case Compute::simulate:
        return study_.of_chains()
                   ? "Every design has a schedule chosen for it, and each of its transfers is "
                     "counted one after another."
                   : "Every design has a schedule chosen for it; times follow from exact cache "
                     "simulation.";
      case Compute::run:
        return "Schedules were run on the machine that made this report; times are measured there.";
    }
    return "";
  }

  svg::Scale scale_of(std::size_t m, std::size_t k) const {
    const Axis& a = study_.machines[m].axes[k];
    const Knob unit = a.knob;
    svg::Scale s;
    s.low = a.low;
    s.high = a.high;
    s.logarithmic = !a.linear && a.high > 1.5 * a.low;
    s.label = a.knob.name;
    s.text = [unit](double v) { return knob_text(unit, v); };
    return s;
  }

  svg::Scale objective_scale(double low, double high) const {
    svg::Scale s;
    const bool flat = high < low * 1.02;
    s.low = flat ? low * 0.95 : std::max(0.0, low - (high - low) * 0.08);
    s.high = flat ? high * 1.05 : high + (high - low) * 0.08;
    if (low > 0 && high > 8 * low) {
      s.logarithmic = true;
      s.low = low / 1.15;
      s.high = high * 1.15;
    }
    s.label = objective_label();
    const StudyObjective o = study_.objective;
    s.text = [o](double v) { return objective_text(o, v); };
    return s;
  }

  // Borders between neighbouring values, in pixels.
  static std::vector<double> borders(const svg::Plot& plot, const std::vector<double>& values) {
    std::vector<double> all{plot.box().left};
    for (std::size_t i = 1; i < values.size(); ++i) {
      all.push_back((plot.x(values[i - 1]) + plot.x(values[i])) / 2);
    }
    all.push_back(plot.box().left + plot.box().width);
    return all;
  }

  static std::vector<double> values_along(const KnobFindings& k) {
    std::vector<double> values;
    for (const Found& f : k.best) values.push_back(f.values[k.knob]);
    return values;
  }

  void curve(const KnobFindings& k) {
    if (k.best.size() < 2) return;
    const Machine& m = machine(k.machine);
    heading(fmt::format("What {} brings{}", study_.knobs[k.knob], of_machine(k.machine)));
    double low = HUGE_VAL, high = 0;
    for (const Found& f : k.best) {
      low = std::min(low, f.objective);
      high = std::max(high, f.objective);
    }
    svg::Plot plot(scale_of(k.machine, k.knob), objective_scale(low, high), 900, 380,
                   "curve along " + study_.knobs[k.knob]);
    const std::vector<double> values = values_along(k);
    const std::vector<double> edges = borders(plot, values);
    shade(plot, k, edges);
    std::vector<std::pair<double, double>> line;
    for (const Found& f : k.best) line.emplace_back(f.values[k.knob], f.objective);
    plot.line(line, "class=\"curve\"");
    for (const Found& f : k.best) {
      plot.dot(plot.x(f.values[k.knob]), plot.y(f.objective), 3.2, "fill=\"var(--fg)\"",
               fmt::format("{}: {}", name(f), objective_text(study_.objective, f.objective)));
    }
    for (const Found& b : f_.bases()) {
      const double v = b.values[k.knob];
      if (b.machine != k.machine || v < values.front() || v > values.back()) continue;
      plot.vertical(v, "class=\"mark\"", "as it is");
    }
    key(m);
    const bool others = study_.knobs.size() > 1;
    figure(
        plot.done(),
        fmt::format("The line: {}{}. The shading behind it: the share of the time that each link "
                    "of the hierarchy (or the arithmetic) decides at that value{}.",
                    objective_label(),
                    others ? ", with the best values of the other knobs for each value" : "",
                    study_.workloads.size() > 1 ? ", summed over the workloads" : ""));
  }

  void shade(svg::Plot& plot, const KnobFindings& k, const std::vector<double>& edges) const {
    const Machine& m = machine(k.machine);
    const svg::Box& box = plot.box();
    for (std::size_t i = 0; i < k.best.size(); ++i) {
      const std::vector<double>& decided = k.best[i].decided;
      double all = 0, below = 0;
      for (double s : decided) all += s;
      if (!(all > 0)) continue;
      for (std::size_t l = 0; l < decided.size(); ++l) {
        if (decided[l] <= 0) continue;
        const double share = decided[l] / all;
        plot.rectangle(
            edges[i], box.top + box.height * (1 - below), edges[i + 1],
            box.top + box.height * (1 - below - share),
            fmt::format("fill=\"{}\" fill-opacity=\".38\" shape-rendering=\"crispEdges\"",
                        colour(l, links(m))),
            fmt::format("{}: {:.0f} %", bottleneck_text(study_, m, static_cast<int>(l)),
                        100 * share));
        below += share;
      }
    }
  }

  // How long each link is busy along the knob.
  void levels(const KnobFindings& k) {
    if (k.best.size() < 2) return;
    const Machine& m = machine(k.machine);
    double most = 0;
    for (const Found& f : k.best) {
      double sum = 0;
      for (double s : f.link_seconds) sum += s;
      most = std::max(most, std::max(sum, f.compute_seconds));
    }
    if (!(most > 0)) return;
    heading(fmt::format("Time by level along {}{}", study_.knobs[k.knob], of_machine(k.machine)));
    svg::Scale y;
    y.high = most * 1.05;
    y.label = "busy time, stacked";
    y.text = seconds_text;
    svg::Plot plot(scale_of(k.machine, k.knob), y, 900, 320, "time by level");
    const std::vector<double> edges = borders(plot, values_along(k));
    for (std::size_t i = 0; i < k.best.size(); ++i) {
      const Found& f = k.best[i];
      double below = 0;
      const double gap = edges[i + 1] - edges[i] > 8 ? 1 : 0;
      for (std::size_t l = 0; l < f.link_seconds.size(); ++l) {
        plot.rectangle(edges[i] + gap, plot.y(below), edges[i + 1] - gap,
                       plot.y(below + f.link_seconds[l]),
                       fmt::format("fill=\"{}\"", colour(l, links(m))),
                       fmt::format("{}: {}", bottleneck_text(study_, m, static_cast<int>(l)),
                                   seconds_text(f.link_seconds[l])));
        below += f.link_seconds[l];
      }
    }
    if (k.best.front().compute_seconds > 0) {
      std::vector<std::pair<double, double>> compute;
      for (const Found& f : k.best) compute.emplace_back(f.values[k.knob], f.compute_seconds);
      plot.line(compute, "stroke=\"var(--fg)\" stroke-width=\"2\" stroke-dasharray=\"7 4\"");
    }
    key(m);
    figure(
        plot.done(),
        fmt::format(
            "How long each link is busy. Links work at the same time, so the time of a "
            "workload is that of its slowest link, not the height of the stack.{}",
            k.best.front().compute_seconds > 0 ? " Dashed: the arithmetic at the peak rate." : ""));
  }

  void heat_map(const PairFindings& p) {
    double low = HUGE_VAL, high = 0;
    std::size_t filled = 0;
    for (const Found& f : p.best) {
      if (f.number < 0) continue;
      ++filled;
      low = std::min(low, f.objective);
      high = std::max(high, f.objective);
    }
    if (filled < 4) return;
    heading(fmt::format("{} and {}{}", study_.knobs[p.first], study_.knobs[p.second],
                        of_machine(p.machine)));
    svg::Plot plot(scale_of(p.machine, p.second), scale_of(p.machine, p.first), 900, 460,
                   "heat map");
    const svg::Box& box = plot.box();
    const std::vector<double> xs = borders(plot, p.second_values);
    std::vector<double> ys{box.top + box.height};
    for (std::size_t i = 1; i < p.first_values.size(); ++i) {
      ys.push_back((plot.y(p.first_values[i - 1]) + plot.y(p.first_values[i])) / 2);
    }
    ys.push_back(box.top);
    const Machine& m = machine(p.machine);
    const Found* best = nullptr;
    for (std::size_t i = 0; i < p.first_values.size(); ++i) {
      for (std::size_t j = 0; j < p.second_values.size(); ++j) {
        const Found& f = p.best[i * p.second_values.size() + j];
        if (f.number < 0) continue;
        if (best == nullptr || f.objective < best->objective) best = &f;
        const double share = high > low ? std::log(f.objective / low) / std::log(high / low) : 0;
        const auto most = std::max_element(f.decided.begin(), f.decided.end());
        plot.rectangle(
            xs[j], ys[i], xs[j + 1], ys[i + 1],
            fmt::format("fill=\"{}\" shape-rendering=\"crispEdges\"", svg::heat(share)),
            fmt::format("{}: {}, mostly {}", name(f), objective_text(study_.objective, f.objective),
                        bottleneck_text(study_, m, static_cast<int>(most - f.decided.begin()))));
      }
    }
    boundaries(plot, p, xs, ys);
    out_ << "<p class=\"key\">";
    for (int i = 0; i <= 4; ++i) {
      const double value = low * std::pow(high / low, i / 4.0);
      out_ << fmt::format("<span><i style=\"background:{}\"></i>{}</span>", svg::heat(i / 4.0),
                          in_markup(objective_text(study_.objective, value)));
    }
    out_ << "</p>\n";
    figure(plot.done(),
           fmt::format("{}{}. White lines: where another link decides most of the time. Cells "
                       "without colour: no such machine, or left out by a constraint.",
                       objective_label(),
                       study_.knobs.size() > 2 ? ", with the best values of the other knobs" : ""));
  }

  // Between cells whose main bottlenecks differ; the name of each region in its middle.
  void boundaries(svg::Plot& plot, const PairFindings& p, const std::vector<double>& xs,
                  const std::vector<double>& ys) const {
    const std::size_t columns = p.second_values.size();
    const auto main = [&](std::size_t i, std::size_t j) {
      const Found& f = p.best[i * columns + j];
      if (f.number < 0) return -1;
      return static_cast<int>(std::max_element(f.decided.begin(), f.decided.end()) -
                              f.decided.begin());
    };
    std::map<int, std::array<double, 3>> middle;  // sums of x and y, cells
    for (std::size_t i = 0; i < p.first_values.size(); ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        const int here = main(i, j);
        if (here < 0) continue;
        auto& sum = middle[here];
        sum[0] += (xs[j] + xs[j + 1]) / 2;
        sum[1] += (ys[i] + ys[i + 1]) / 2;
        sum[2] += 1;
        const auto stroke = [&](double x0, double y0, double x1, double y1) {
          plot.area({{x0, y0}, {x1, y1}}, "stroke=\"#fff\" stroke-width=\"2.5\" fill=\"none\"");
        };
        if (j + 1 < columns && main(i, j + 1) >= 0 && main(i, j + 1) != here) {
          stroke(xs[j + 1], ys[i], xs[j + 1], ys[i + 1]);
        }
        if (i + 1 < p.first_values.size() && main(i + 1, j) >= 0 && main(i + 1, j) != here) {
          stroke(xs[j], ys[i + 1], xs[j + 1], ys[i + 1]);
        }
      }
    }
    for (const auto& [link, sum] : middle) {
      plot.text(sum[0] / sum[2], sum[1] / sum[2], bottleneck_text(study_, machine(p.machine), link),
                "text-anchor=\"middle\" style=\"fill:#fff;font-weight:600;paint-order:stroke;"
                "stroke:#0008;stroke-width:3px\"");
    }
  }

  void front() {
    if (!study_.cost || f_.front().size() < 2 || !f_.front().front().area) return;
    heading("What the area buys");
    double t0 = HUGE_VAL, t1 = 0, a0 = HUGE_VAL, a1 = 0;
    for (const auto* list : {&f_.front(), &f_.cloud()}) {
      for (const Found& f : *list) {
        t0 = std::min(t0, f.seconds);
        t1 = std::max(t1, f.seconds);
        a0 = std::min(a0, *f.area);
        a1 = std::max(a1, *f.area);
      }
    }
    svg::Scale x, y;
    x.low = std::max(0.0, a0 - (a1 - a0) * 0.05);
    x.high = a1 + (a1 - a0) * 0.05;
    x.label = "area, mm2";
    y.low = std::max(0.0, t0 - (t1 - t0) * 0.06);
    y.high = t1 + (t1 - t0) * 0.06;
    y.label = study_.workloads.size() == 1 ? "time" : "time of all workloads";
    y.text = seconds_text;
    svg::Plot plot(x, y, 900, 420, "Pareto front");
    for (const Found& f : f_.cloud()) {
      plot.dot(plot.x(*f.area), plot.y(f.seconds), 2, "fill=\"#8a8f98\" fill-opacity=\".35\"", "");
    }
    const bool energy = !std::isnan(f_.front().front().joules);
    double e0 = HUGE_VAL, e1 = 0;
    for (const Found& f : f_.front()) {
      e0 = std::min(e0, f.joules);
      e1 = std::max(e1, f.joules);
    }
    stairs(plot);
    for (const Found& f : f_.front()) {
      const double share = energy && e1 > e0 ? (f.joules - e0) / (e1 - e0) : 0.6;
      plot.dot(
          plot.x(*f.area), plot.y(f.seconds), 4.5,
          fmt::format("fill=\"{}\" stroke=\"var(--fg)\" stroke-width=\".6\"", svg::heat(share)),
          name(f) + ": " + figures(f));
    }
    for (const Found& b : f_.bases()) {
      if (!b.area || *b.area > x.high || b.seconds > y.high) continue;
      plot.dot(plot.x(*b.area), plot.y(b.seconds), 6,
               "fill=\"none\" stroke=\"#d55e00\" stroke-width=\"2.5\"",
               name(b) + ": " + figures(b));
    }
    if (energy) {
      out_ << "<p class=\"key\">";
      for (int i = 0; i <= 2; ++i) {
        out_ << fmt::format("<span><i style=\"background:{}\"></i>{}</span>", svg::heat(i / 2.0),
                            in_markup(to_display(Joules(e0 + (e1 - e0) * i / 2))));
      }
      out_ << "<span><i style=\"border:2px solid #d55e00;box-sizing:border-box\"></i>"
              "as it is</span></p>\n";
    }
    figure(plot.done(),
           fmt::format("Each dot is a design. Coloured: no other design is at least as good in "
                       "time, area{} ({} of {}). Grey: some of the others. The line: the least "
                       "time for the area.",
                       energy ? " and energy" : "", f_.front_size(), f_.designs()));
    std::vector<const Found*> some;
    const std::size_t n = f_.front().size(), rows = std::min<std::size_t>(n, 12);
    for (std::size_t i = 0; i < rows; ++i) some.push_back(&f_.front()[i * (n - 1) / (rows - 1)]);
    table(some,
          fmt::format("On the front{}", some.size() < f_.front().size() ? ", some of them" : ""));
  }

  // The least time for the area, as steps.
  void stairs(svg::Plot& plot) const {
    std::vector<const Found*> by_area;
    for (const Found& f : f_.front()) by_area.push_back(&f);
    std::sort(by_area.begin(), by_area.end(), [](const Found* a, const Found* b) {
      return std::pair(*a->area, a->seconds) < std::pair(*b->area, b->seconds);
    });
    std::vector<std::pair<double, double>> line;
    double least = HUGE_VAL;
    for (const Found* f : by_area) {
      if (!(f->seconds < least)) continue;
      if (!line.empty()) line.emplace_back(*f->area, least);
      least = f->seconds;
      line.emplace_back(*f->area, least);
    }
    plot.line(line, "stroke=\"var(--fg)\" stroke-width=\"1.4\"");
  }

  std::string figures(const Found& f) const {
    std::string text = seconds_text(f.seconds);
    if (f.area) text += fmt::format(", {:.4g} mm2", *f.area);
    if (!std::isnan(f.joules)) text += ", " + to_display(Joules(f.joules));
    return text;
  }

  void best_designs() {
    if (f_.best().empty()) return;
    heading(fmt::format("Least {}", objective_label()));
    std::vector<const Found*> rows;
    for (const Found& b : f_.bases()) rows.push_back(&b);
    for (const Found& b : f_.best()) rows.push_back(&b);
    table(rows, "");
  }

  void table(const std::vector<const Found*>& rows, const std::string& title) {
    const bool area = study_.cost && rows.front()->area.has_value();
    const bool cost = study_.cost && rows.front()->cost.has_value();
    const bool energy = !std::isnan(rows.front()->joules);
    if (!title.empty()) out_ << "<p>" << in_markup(title) << "</p>\n";
    out_ << "<div class=\"scroll\"><table><tr><th>design</th>";
    for (const std::string& k : study_.knobs) out_ << "<th>" << in_markup(k) << "</th>";
    out_ << "<th>time</th><th>traffic, outermost</th>" << (energy ? "<th>energy</th>" : "")
         << (area ? "<th>mm2</th>" : "") << (cost ? "<th>cost</th>" : "")
         << "<th class=\"l\">decides most</th></tr>\n";
    for (const Found* f : rows) {
      const std::string& of = machine(f->machine).name;
      out_ << "<tr><td>"
           << (f->base ? in_markup(of + " as it is")
                       : fmt::format("{}{}", study_.machines.size() > 1 ? in_markup(of) + " " : "",
                                     f->number))
           << "</td>";
      for (std::size_t k = 0; k < f->values.size(); ++k) {
        out_ << "<td>" << in_markup(knob_text(knob(f->machine, k), f->values[k])) << "</td>";
      }
      const auto most = std::max_element(f->decided.begin(), f->decided.end());
      out_ << "<td>" << seconds_text(f->seconds) << "</td><td>"
           << to_display(Bytes(std::llround(std::min(f->traffic_bytes, 9e18)))) << "</td>";
      if (energy) out_ << "<td>" << to_display(Joules(f->joules)) << "</td>";
      if (area) out_ << fmt::format("<td>{:.4g}</td>", f->area.value_or(0));
      if (cost) out_ << fmt::format("<td>{:.4g}</td>", f->cost.value_or(0));
      out_ << "<td class=\"l\">"
           << in_markup(bottleneck_text(study_, machine(f->machine),
                                        static_cast<int>(most - f->decided.begin())))
           << "</td></tr>\n";
    }
    out_ << "</table></div>\n";
  }

  // What decides each workload along the knob: a row for each.
  void workload_map(const KnobFindings& k) {
    const std::size_t n = study_.workloads.size();
    if (n < 2 || k.best.size() < 2 || k.best.front().workload_bottleneck.empty()) return;
    heading(fmt::format("What decides each workload along {}{}", study_.knobs[k.knob],
                        of_machine(k.machine)));
    const Machine& m = machine(k.machine);
    const double row = n > 60 ? 9 : 15, left = 170, top = 8, width = 900 - left - 16;
    const double height = static_cast<double>(n) * row;
    std::string body;
    const std::size_t columns = k.best.size();
    const double cell = width / static_cast<double>(columns);
    for (std::size_t w = 0; w < n; ++w) {
      const StudyWorkload& c = study_.workloads[w];
      const double y = top + static_cast<double>(w) * row;
      if (row > 10) {
        body += fmt::format(
            "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y + row - 4,
            in_markup(c.name() == c.label() ? c.name() : c.name() + " " + c.label()));
      }
      for (std::size_t i = 0; i < columns; ++i) {
        const auto link = static_cast<std::size_t>(k.best[i].workload_bottleneck[w]);
        body += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
            "shape-rendering=\"crispEdges\"><title>{}: {} at {}</title></rect>\n",
            left + cell * static_cast<double>(i), y + 0.5, cell, row - 1, colour(link, links(m)),
            in_markup(c.name()), in_markup(bottleneck_text(study_, m, static_cast<int>(link))),
            in_markup(knob_text(knob(k.machine, k.knob), k.best[i].values[k.knob])));
      }
    }
    const std::size_t step = (columns + 7) / 8;
    for (std::size_t i = 0; i < columns; i += step) {
      body += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                          left + cell * (static_cast<double>(i) + 0.5), top + height + 16,
                          in_markup(knob_text(knob(k.machine, k.knob), k.best[i].values[k.knob])));
    }
    key(m);
    figure(fmt::format("<svg viewBox=\"0 0 900 {:.0f}\" role=\"img\" aria-label=\"bottleneck of "
                       "each workload\">\n{}</svg>\n",
                       top + height + 26, body),
           fmt::format("A row is a workload, a column a value of {}{}.", study_.knobs[k.knob],
                       study_.knobs.size() > 1 ? " with the best values of the other knobs" : ""));
  }

  void workloads() {
    if (f_.best().empty() || f_.best().front().workload_seconds.empty()) return;
    const Found& best = f_.best().front();
    const Found* base = nullptr;
    for (const Found& b : f_.bases()) {
      if (b.machine == best.machine) base = &b;
    }
    if (base == nullptr) return;
    heading("Workloads: as it is, and on the best design");
    const Machine& m = machine(best.machine);
    out_ << fmt::format("<p class=\"soft\">Best design: {}.</p>\n", in_markup(name(best)));
    out_ << "<div class=\"scroll\"><table><tr><th>workload</th><th class=\"l\">contraction</th>"
            "<th>weight</th><th>as it is</th><th class=\"l\">decides</th><th>best design</th>"
            "<th class=\"l\">decides</th><th>change</th></tr>\n";
    for (std::size_t w = 0; w < study_.workloads.size(); ++w) {
      const StudyWorkload& c = study_.workloads[w];
      const double factor = best.workload_seconds[w] / base->workload_seconds[w];
      out_ << fmt::format(
          "<tr><td>{}</td><td class=\"l\">{}</td><td>{}</td><td>{}</td><td class=\"l\">{}</td>"
          "<td>{}</td><td class=\"l\">{}</td><td>{}</td></tr>\n",
          in_markup(c.name()), in_markup(c.label()), study_.workloads[w].weight,
          seconds_text(base->workload_seconds[w]),
          bottleneck_text(study_, m, base->workload_bottleneck[w]),
          seconds_text(best.workload_seconds[w]),
          in_markup(bottleneck_text(study_, m, best.workload_bottleneck[w])),
          std::abs(factor - 1) < 5e-4 ? nothing : in_markup(change_words(factor)));
    }
    out_ << "</table></div>\n";
  }

  void row(const std::string& what, const std::string& text) {
    out_ << fmt::format("<tr><td>{}</td><td class=\"l\">{}</td></tr>\n", in_markup(what),
                        in_markup(text));
  }

  void method() {
    heading("How this was made");
    out_ << "<div class=\"scroll\"><table>\n";
    row("computed", how_computed());
    if (study_.of_chains()) {
      row("schedules",
          "the best of a family of schedules over explicit levels, with its proven bound; what was "
          "found for a neighbour with as many processes is tried too");
    } else if (study_.compute != Compute::predict) {
      row("schedules",
          fmt::format("a search where the proven bound leaves room, otherwise a "
                      "neighbour's schedule that is near it; searched at {} of {} points. The "
                      "bound and the gap hold for the kernels that tcsim lists for the core and "
                      "for operands that it packs; legal schedules outside that family may be "
                      "quicker",
                      facts_.totals.searched, facts_.totals.points));
    }
    for (const StudyMachine& m : study_.machines) {
      if (study_.of_chains()) {
        row("machine", fmt::format("{} ({}): its explicit levels alone", m.machine.name,
                                   m.machine.description));
        continue;
      }
      const Accounting& a = m.machine.accounting;
      row("machine",
          fmt::format("{} ({}), {} accounting: {}, {}, {}", m.machine.name, m.machine.description,
                      a.name, a.write_backs ? "bytes in and out" : "bytes in",
                      a.packing ? "packing counted" : "without packing",
                      a.compute_roof ? "compute roof" : "no compute roof"));
      if (const std::string caveat = model_caveat(m.machine); !caveat.empty()) {
        row("warning", caveat);
      }
    }
    for (std::size_t k = 0; k < study_.knobs.size(); ++k) {
      const Axis& a = study_.machines.front().axes[k];
      row("knob", fmt::format("{} from {} to {}{}", a.knob.name, knob_text(a.knob, a.low),
                              knob_text(a.knob, a.high),
                              a.values.empty() ? "" : fmt::format(", {} values", a.values.size())));
    }
    row("sampling", fmt::format("{}, seed {}", to_text(study_.sampling), study_.seed));
    for (const Constraint& c : study_.constraints) row("constraint", c.expression.text());
    for (const auto& [reason, s] : facts_.left_out) {
      row("left out", fmt::format("{} designs: {}{}", s.designs, reason,
                                  s.detail.empty() ? "" : " (the first: " + s.detail + ")"));
    }
    if (study_.cost) {
      row("cost model",
          study_.cost->name + (study_.cost->source.empty() ? "" : ": " + study_.cost->source));
    }
    row("tcsim", fmt::format("version {}, study {}", facts_.version, facts_.study_hash));
    out_ << "</table></div>\n"
            "<p class=\"soft\">Beside this file: results.csv and results.jsonl (every point), "
            "results.sqlite (the same as tables), schedules.csv, manifest.json.</p>\n";
  }

  const Findings& f_;
  const Study& study_;
  const ReportFacts& facts_;
  std::ostream& out_;
};

}  // namespace

void write_report(const Findings& findings, const ReportFacts& facts, std::ostream& out) {
  Writer(findings, facts, out).write();
}

}  // namespace tcsim
