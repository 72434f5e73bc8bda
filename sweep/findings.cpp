#include "sweep/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/explore/verdict.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

constexpr std::size_t most_values = 96;  // of a knob, drawn one by one
constexpr std::size_t parts_of_knob = 48, parts_of_pair = 24;
constexpr std::size_t most_best = 10, most_front = 2000, most_cloud = 3000;
constexpr std::size_t most_workloads_told = 200;
constexpr double little = 1.01;  // a factor that is not worth a word

std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void keep_better(Found& slot, const Found& f) {
  if (slot.number < 0 || f.objective < slot.objective) slot = f;
}

}  // namespace

std::string knob_text(const Knob& knob, double value) { return display(knob, value); }

std::string objective_text(StudyObjective objective, double value) {
  switch (objective) {
    case StudyObjective::time:
      return to_display(Seconds(value));
    case StudyObjective::traffic:
      return to_display(Bytes(std::llround(std::min(value, 9e18))));
    case StudyObjective::energy:
      return to_display(Joules(value));
    case StudyObjective::area:
      return fmt::format("{:.4g} mm2", value);
    case StudyObjective::cost:
      break;
  }
  return fmt::format("{:.4g}", value);
}

Findings::Findings(const Study& study) : study_(study) {
  for (std::size_t m = 0; m < study.machines.size(); ++m) {
    const auto& axes = study.machines[m].axes;
    values_.emplace_back();
    for (std::size_t k = 0; k < axes.size(); ++k) {
      values_.back().push_back(distinct(axes[k].values));
      const std::size_t n = values_.back().back().size();
      KnobFindings f{m, k, {}};
      f.best.resize(n == 0 || n > most_values ? parts_of_knob : n);
      knobs_.push_back(std::move(f));
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(axes.size(), 3); ++i) {
      for (std::size_t j = i + 1; j < std::min<std::size_t>(axes.size(), 3); ++j) {
        if (study.sampling == Sampling::zip) continue;
        PairFindings p{m, i, j, {}, {}, {}};
        const auto cells = [&](const Axis& a) {
          std::vector<double> values = distinct(a.values);
          if (values.empty() || values.size() > 2 * parts_of_pair) {
            values.clear();
            for (std::size_t c = 0; c < parts_of_pair; ++c) {
              const double u = (static_cast<double>(c) + 0.5) / parts_of_pair;
              values.push_back(a.linear ? a.low + u * (a.high - a.low)
                                        : a.low * std::pow(a.high / a.low, u));
            }
          }
          return values;
        };
        p.first_values = cells(axes[i]);
        p.second_values = cells(axes[j]);
        p.best.resize(p.first_values.size() * p.second_values.size());
        pairs_.push_back(std::move(p));
      }
    }
  }
  cloud_step_ = study.design_count() / static_cast<std::int64_t>(most_cloud) + 1;
}

std::size_t Findings::part_of_axis(std::size_t machine, std::size_t knob, double value,
                                   std::size_t parts) const {
  const Axis& a = study_.machines[machine].axes[knob];
  const std::vector<double>& values = values_[machine][knob];
  if (values.size() == parts) {
    const auto up = std::lower_bound(values.begin(), values.end(), value);
    if (up == values.end()) return parts - 1;
    const auto i = static_cast<std::size_t>(up - values.begin());
    return i > 0 && value - values[i - 1] < values[i] - value ? i - 1 : i;
  }
  const double u = !(a.high > a.low) ? 0
                   : a.linear        ? (value - a.low) / (a.high - a.low)
                                     : std::log(value / a.low) / std::log(a.high / a.low);
  return static_cast<std::size_t>(
      std::clamp(u * static_cast<double>(parts), 0.0, static_cast<double>(parts - 1)));
}

Found Findings::found(const DesignResult& d) const {
  Found f;
  f.number = d.design.number;
  f.machine = d.design.machine;
  f.base = d.design.base;
  f.values = d.design.values;
  f.objective = d.objective;
  f.seconds = d.seconds;
  f.joules = d.joules;
  f.traffic_bytes = d.traffic_bytes;
  f.area = d.design.area;
  f.cost = d.design.cost;
  f.link_seconds = d.link_seconds;
  f.decided = d.decided;
  for (std::size_t w = 0; w < d.points.size(); ++w) {
    f.compute_seconds += study_.workloads[w].weight * d.points[w].compute_seconds;
    if (d.points.size() > most_workloads_told) continue;
    f.workload_seconds.push_back(d.points[w].seconds());
    f.workload_bottleneck.push_back(static_cast<std::int8_t>(d.points[w].bottleneck));
  }
  return f;
}

void Findings::add(const DesignResult& d, bool on_front) {
  Found f = found(d);
  if (f.base) {
    bases_.push_back(std::move(f));
    return;
  }
  ++designs_;
  for (KnobFindings& k : knobs_) {
    if (k.machine != f.machine) continue;
    keep_better(k.best[part_of_axis(k.machine, k.knob, f.values[k.knob], k.best.size())], f);
  }
  for (PairFindings& p : pairs_) {
    if (p.machine != f.machine) continue;
    const std::size_t i =
        part_of_axis(p.machine, p.first, f.values[p.first], p.first_values.size());
    const std::size_t j =
        part_of_axis(p.machine, p.second, f.values[p.second], p.second_values.size());
    keep_better(p.best[i * p.second_values.size() + j], f);
  }
  if (best_.size() < most_best || f.objective < best_.back().objective) {
    const auto place =
        std::upper_bound(best_.begin(), best_.end(), f,
                         [](const Found& a, const Found& b) { return a.objective < b.objective; });
    best_.insert(place, f);
    if (best_.size() > most_best) best_.pop_back();
  }
  if (on_front) {
    ++front_size_;
    if (front_.size() < most_front) front_.push_back(f);
  } else if (f.number % cloud_step_ == 0) {
    f.workload_seconds.clear();
    f.workload_bottleneck.clear();
    cloud_.push_back(std::move(f));
  }
}

void Findings::finish() {
  for (KnobFindings& k : knobs_) {
    std::erase_if(k.best, [](const Found& f) { return f.number < 0; });
  }
  std::stable_sort(front_.begin(), front_.end(),
                   [](const Found& a, const Found& b) { return a.seconds < b.seconds; });
}

const Found* Findings::enough(const KnobFindings& k) const {
  if (k.best.size() < 2) return nullptr;
  const auto [least, most] =
      std::minmax_element(k.best.begin(), k.best.end(),
                          [](const Found& a, const Found& b) { return a.objective < b.objective; });
  if (!(most->objective > little * least->objective)) return nullptr;
  const double limit = little * least->objective;
  // From the better end inward.
  const bool falls = k.best.back().objective <= k.best.front().objective;
  const Found* last = nullptr;
  const auto n = std::ssize(k.best);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const Found& f = k.best[static_cast<std::size_t>(falls ? n - 1 - i : i)];
    if (!(f.objective <= limit)) break;
    last = &f;
  }
  return last != nullptr ? last : &*least;  // inside the range, where both ends are worse
}

std::vector<std::string> Findings::verdict() const {
  std::vector<std::string> said;
  if (best_.empty()) {
    said.push_back(bases_.empty()
                       ? "There is no design that can be."
                       : fmt::format("{}: {}.", study_.machines.front().machine.name,
                                     objective_text(study_.objective, bases_.front().objective)));
    return said;
  }
  const Found& best = best_.front();
  const std::size_t workloads = study_.workloads.size();
  const auto name = [&](const Found& f) {
    DesignPoint d;
    d.machine = f.machine;
    d.base = f.base;
    d.values = f.values;
    return design_text(study_, d);
  };
  const std::string what =
      workloads == 1 ? study_.workloads.front().name() : fmt::format("all {} workloads", workloads);
  std::string first = fmt::format("Best of {} designs: {}, {} for {}", designs_, name(best),
                                  objective_text(study_.objective, best.objective), what);
  for (const Found& base : bases_) {
    if (base.machine != best.machine || !(base.objective > 0)) continue;
    const double factor = best.objective / base.objective;
    const std::string& machine = study_.machines[base.machine].machine.name;
    first += factor > 1 / little && factor < little
                 ? fmt::format(": no better than {} as it is", machine)
                 : fmt::format(": {} {} {} as it is",
                               factor < 1   ? fmt::format("{:.3g} %", 100 * (1 - factor))
                               : factor < 2 ? fmt::format("{:.3g} %", 100 * (factor - 1))
                                            : fmt::format("{:.3g} times", factor),
                               factor < 1   ? "less than"
                               : factor < 2 ? "more than"
                                            : "that of",
                               machine);
  }
  said.push_back(first + ".");

  const KnobFindings* strongest = nullptr;
  double widest = little;
  std::string idle;
  for (const KnobFindings& k : knobs_) {
    if (k.best.size() < 2) continue;
    const auto [least, most] = std::minmax_element(
        k.best.begin(), k.best.end(),
        [](const Found& a, const Found& b) { return a.objective < b.objective; });
    const std::string knob =
        (study_.machines.size() > 1 ? study_.machines[k.machine].machine.name + " " : "") +
        study_.knobs[k.knob];
    const double spread = most->objective / least->objective;
    const Found* from = enough(k);
    if (from == nullptr) {
      idle += (idle.empty() ? "" : ", ") + knob;
      continue;
    }
    if (spread > widest) {
      widest = spread;
      strongest = &k;
    }
    const Knob& unit = study_.machines[k.machine].axes[k.knob].knob;
    const bool falls = k.best.back().objective <= k.best.front().objective;
    const Found& end = falls ? k.best.back() : k.best.front();
    const std::string where = knob_text(unit, from->values[k.knob]);
    std::string how;
    if (end.objective > little * least->objective) {
      how = fmt::format("best at {}, and worse with more or less", where);
    } else if (from == &end) {
      how = fmt::format("it still helps at {}, the end of its range", where);
    } else {
      how = falls ? fmt::format("from {} on, more brings less than 1 %", where)
                  : fmt::format("from {} down, less brings less than 1 %", where);
    }
    said.push_back(fmt::format("{} makes {} of difference: {}.", knob,
                               spread < 2 ? fmt::format("up to {:.0f} %", 100 * (spread - 1))
                                          : fmt::format("a factor of up to {:.1f}", spread),
                               how));
  }
  if (!idle.empty()) said.push_back(fmt::format("Less than 1 % depends on {}.", idle));

  if (strongest != nullptr) {
    const Machine& m = study_.machines[strongest->machine].machine;
    const Knob& unit = study_.machines[strongest->machine].axes[strongest->knob].knob;
    const auto decides = [&](const Found& f) {
      const auto most = std::max_element(f.decided.begin(), f.decided.end());
      double all = 0;
      for (double s : f.decided) all += s;
      const std::string link =
          bottleneck_text(study_, m, static_cast<int>(most - f.decided.begin()));
      return std::pair(link, all > 0 ? *most / all : 0);
    };
    const Found &low = strongest->best.front(), &high = strongest->best.back();
    const auto [link_low, share_low] = decides(low);
    const auto [link_high, share_high] = decides(high);
    const auto part = [&](double share) {
      return workloads == 1 ? std::string("the time")
                            : fmt::format("{:.0f} % of the time", 100 * share);
    };
    said.push_back(fmt::format(
        "At {} {} decides {}; at {} {}.", knob_text(unit, low.values[strongest->knob]), link_low,
        part(share_low), knob_text(unit, high.values[strongest->knob]),
        link_low == link_high
            ? fmt::format("it still does{}",
                          workloads == 1 ? "" : fmt::format(" ({:.0f} %)", 100 * share_high))
            : fmt::format("{} does{}", link_high,
                          workloads == 1 ? "" : fmt::format(" ({:.0f} %)", 100 * share_high))));
  }
  if (best.area && front_size_ > 1) {
    said.push_back(fmt::format(
        "{} designs are on the front of time, area and energy, from {} in {:.4g} mm2 to {} in "
        "{:.4g} mm2.",
        front_size_, to_display(Seconds(front_.front().seconds)), *front_.front().area,
        to_display(Seconds(front_.back().seconds)), *front_.back().area));
  }
  return said;
}

}  // namespace tcsim
