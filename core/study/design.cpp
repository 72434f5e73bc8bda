#include "core/study/design.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t longest_chain = 64, usual_chain = 32;

// Along the innermost knob of a grid, whose neighbours are alike; several rows of a short one.
std::int64_t chain_length(const Study& study, const StudyMachine& m) {
  if (study.sampling != Sampling::grid || m.axes.empty()) return usual_chain;
  const std::int64_t row = std::ssize(m.axes.back().values);
  if (row > longest_chain) {
    const std::int64_t pieces = (row + longest_chain - 1) / longest_chain;
    return (row + pieces - 1) / pieces;
  }
  return row * std::max<std::int64_t>(1, usual_chain / row);
}

}  // namespace

Designs::Designs(const Study& study) : study_(study) {
  if (study.sampling == Sampling::latin_hypercube || study.sampling == Sampling::sobol) {
    samplers_.emplace_back(study.sampling, static_cast<int>(study.knobs.size()), study.samples,
                           study.seed);
  }
}

std::vector<double> Designs::values(std::size_t machine, std::int64_t index) {
  const std::vector<Axis>& axes = study_.machines[machine].axes;
  std::vector<double> v(axes.size());
  if (!samplers_.empty()) {
    const std::vector<double> u = samplers_.front().point(index);
    for (std::size_t k = 0; k < axes.size(); ++k) v[k] = axes[k].at(u[k]);
  } else if (study_.sampling == Sampling::zip) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      v[k] = axes[k].values[static_cast<std::size_t>(index)];
    }
  } else {
    for (std::size_t k = axes.size(); k-- > 0;) {
      const auto n = std::ssize(axes[k].values);
      v[k] = axes[k].values[static_cast<std::size_t>(index % n)];
      index /= n;
    }
  }
  return v;
}

std::optional<DesignPoint> Designs::at(std::int64_t number, LeftOut& why) {
  DesignPoint d;
  d.number = number;
  const std::int64_t machines = std::ssize(study_.machines);
  if (number < machines) {
    d.machine = static_cast<std::size_t>(number);
    d.base = true;
    d.with = study_.machines[d.machine].machine;
    for (const Axis& a : study_.machines[d.machine].axes) d.values.push_back(a.knob.base);
  } else {
    number -= machines;
    while (number >= study_.machines[d.machine].designs) {
      number -= study_.machines[d.machine++].designs;
    }
    const StudyMachine& m = study_.machines[d.machine];
    d.with = m.machine;
    const std::vector<double> wanted = values(d.machine, number);
    try {
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        d.with = with_knob(d.with, m.axes[k].knob, wanted[k]);
      }
      check(d.with, "");
    } catch (const Error& e) {
      why = {no_such_machine, e.what()};
      why.detail = why.detail.substr(0, why.detail.find("; "));
      return {};
    }
    for (const Axis& a : m.axes) d.values.push_back(value_of(d.with, a.knob));
    if (study_.cost) d.with = study_.cost->with_energy(std::move(d.with));
  }
  if (study_.cost) {
    d.area = study_.cost->area(d.with);
    d.cost = study_.cost->cost(d.with);
  }
  if (d.base) return d;
  for (const Constraint& c : study_.constraints) {
    const double holds = c.expression.value([&](const std::string& name) {
      if (name == "area") return d.area.value_or(0);
      if (name == "cost") return d.cost.value_or(0);
      return quantity(d.with, name).value_or(0);
    });
    if (holds != 0) continue;
    why = {c.expression.text(), ""};
    return {};
  }
  return d;
}

Chains::Chains(const Study& study) : study_(study) {
  size_ = std::ssize(study.machines) * std::ssize(study.workloads);
  for (const StudyMachine& m : study.machines) {
    lengths_.push_back(chain_length(study, m));
    pieces_.push_back((m.designs + lengths_.back() - 1) / lengths_.back());
    size_ += pieces_.back() * std::ssize(study.workloads);
  }
}

Chain Chains::at(std::int64_t i) const {
  const std::int64_t workloads = std::ssize(study_.workloads);
  const std::int64_t machines = std::ssize(study_.machines);
  Chain c;
  c.workload = static_cast<std::size_t>(i % workloads);
  std::int64_t piece = i / workloads;
  if (piece < machines) {
    c.machine = static_cast<std::size_t>(piece);
    c.first = piece;
    c.count = 1;
    return c;
  }
  piece -= machines;
  std::int64_t first = machines;
  while (piece >= pieces_[c.machine]) {
    piece -= pieces_[c.machine];
    first += study_.machines[c.machine++].designs;
  }
  const std::int64_t length = lengths_[c.machine];
  c.first = first + piece * length;
  c.count = std::min(length, study_.machines[c.machine].designs - piece * length);
  return c;
}

std::int64_t Chains::of(std::int64_t point) const {
  const std::int64_t workloads = std::ssize(study_.workloads);
  const std::int64_t machines = std::ssize(study_.machines);
  const std::int64_t design = point / workloads;
  std::int64_t piece = design;  // of all machines
  if (design >= machines) {
    std::int64_t within = design - machines;
    std::size_t m = 0;
    piece = machines;
    while (within >= study_.machines[m].designs) {
      within -= study_.machines[m].designs;
      piece += pieces_[m++];
    }
    piece += within / lengths_[m];
  }
  return piece * workloads + point % workloads;
}

}  // namespace tcsim
