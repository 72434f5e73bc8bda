// Two knobs at once.
#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/explore/curve.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"

namespace tcsim {

namespace {

class Grid {
 public:
  Grid(const Contraction& contraction, const Machine& machine, const KnobRange& first,
       const KnobRange& second, const ExploreOptions& options)
      : machine_(machine),
        ranges_{&first, &second},
        options_(options),
        chooser_(contraction, options.fixed, options.stop) {}

  Plane run() {
    Plane plane{{ranges_[0]->knob, ranges_[1]->knob}, {}, {}, true};
    base_ = chooser_.search(machine_, options_.incumbents);
    for (std::size_t i = 0; i < rows() * columns(); ++i) plane.points.push_back(empty_point(i));
    machines_.resize(plane.points.size());
    try {
      search(plane.points);
      carry(plane.points);
    } catch (const Interrupted&) {
      plane.complete = false;
    }
    for (std::size_t i = 0; i < plane.points.size(); ++i) {
      PlanePoint& p = plane.points[i];
      if (p.choice) p.bottleneck = bottleneck_name(p.choice->prediction.timing, *machines_[i]);
    }
    const Timing& timing = base_.prediction.timing;
    const RateSpread spread = rate_spread(machine_, size_of(chooser_.contraction().type()));
    plane.base = {1, 1, base_, bottleneck_name(timing, machine_),
                  uncertainty(timing, spread, machine_)};
    return plane;
  }

 private:
  std::size_t rows() const { return ranges_[0]->values.size(); }
  std::size_t columns() const { return ranges_[1]->values.size(); }

  PlanePoint empty_point(std::size_t i) const {
    PlanePoint p;
    const std::size_t at[] = {i / columns(), i % columns()};
    for (std::size_t k = 0; k < 2; ++k) {
      p.values[k] = ranges_[k]->values[at[k]];
      p.factors[k] = p.values[k] / ranges_[k]->knob.base;
    }
    return p;
  }

  // Calls f(point, a neighbour that is there) for points from worse machines to better ones.
  template <class F>
  void each_from_worst(F&& f) const {
    const auto place = [&](std::size_t k, std::size_t nth, std::size_t size) {
      return ranges_[k]->knob.sense == Sense::worse ? size - 1 - nth : nth;
    };
    for (std::size_t r = 0; r < rows(); ++r) {
      for (std::size_t c = 0; c < columns(); ++c) {
        f(place(0, r, rows()) * columns() + place(1, c, columns()));
      }
    }
  }

  std::vector<std::size_t> neighbours(std::size_t i) const {
    std::vector<std::size_t> all;
    const std::size_t row = i / columns(), column = i % columns();
    if (row > 0) all.push_back(i - columns());
    if (row + 1 < rows()) all.push_back(i + columns());
    if (column > 0) all.push_back(i - 1);
    if (column + 1 < columns()) all.push_back(i + 1);
    return all;
  }

  std::optional<Machine> machine_at(PlanePoint& p) const {
    std::string why;
    auto m = possible(with_knob(machine_, ranges_[0]->knob, p.values[0]), ranges_[1]->knob,
                      p.values[1], why);
    if (m && options_.fixed != nullptr &&
        !fits_registers(*options_.fixed, m->core, chooser_.contraction().type())) {
      why = "the core has too few registers for the schedule's kernel";
      m.reset();
    }
    if (!m) p.remark = why;
    return m;
  }

  void search(std::vector<PlanePoint>& points) {
    std::size_t done = 0;
    each_from_worst([&](std::size_t i) {
      machines_[i] = machine_at(points[i]);
      if (machines_[i]) {
        std::vector<Incumbent> incumbents;
        if (base_.found) incumbents.push_back(*base_.found);
        for (std::size_t n : neighbours(i)) {
          if (points[n].choice && points[n].choice->found) {
            incumbents.push_back(*points[n].choice->found);
          }
        }
        points[i].choice = chooser_.search(*machines_[i], incumbents);
      }
      ++done;
      if (options_.progress) {
        options_.progress(static_cast<double>(done) / static_cast<double>(points.size()));
      }
    });
  }

  void carry(std::vector<PlanePoint>& points) {
    if (chooser_.is_fixed()) return;
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (!points[i].choice) continue;
        for (std::size_t n : neighbours(i)) {
          if (!points[n].choice) continue;
          changed |= chooser_.improve(*points[i].choice, *machines_[i], points[n].choice->found);
        }
        changed |= chooser_.improve(*points[i].choice, *machines_[i], base_.found);
        changed |= chooser_.improve(base_, machine_, points[i].choice->found);
      }
    }
  }

  const Machine& machine_;
  const KnobRange* ranges_[2];
  const ExploreOptions& options_;
  Chooser chooser_;
  Choice base_;
  std::vector<std::optional<Machine>> machines_;
};

}  // namespace

Plane plane(const Contraction& contraction, const Machine& machine, const KnobRange& first,
            const KnobRange& second, const ExploreOptions& options) {
  return Grid(contraction, machine, first, second, options).run();
}

}  // namespace tcsim
