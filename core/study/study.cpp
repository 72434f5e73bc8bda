#include "core/study/study.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/fusion/leaf.hpp"
#include "core/hash.hpp"
#include "core/machine/share.hpp"

namespace tcsim {

double Axis::at(double u) const {
  if (listed) {
    const auto n = static_cast<double>(values.size());
    return values[static_cast<std::size_t>(std::min(u * n, n - 1))];
  }
  return linear ? low + u * (high - low) : low * std::pow(high / low, u);
}

const std::string& StudyWorkload::name() const {
  return is_chain() ? chain().name : contraction().name();
}
std::string StudyWorkload::label() const {
  if (!is_chain()) return contraction().label();
  std::string text;
  for (int s = 0; s < static_cast<int>(chain().statements.size()); ++s) {
    text += (s == 0 ? "" : "; ") + chain().statement_text(s);
  }
  return text;
}
std::string StudyWorkload::sizes() const {
  if (!is_chain()) return contraction().sizes();
  std::string text;
  for (const fusion::OperationTree::Index& i : chain().indices) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", i.name, i.extent);
  }
  return text;
}
ElementType StudyWorkload::type() const {
  return is_chain() ? fusion::element_type(chain()) : contraction().type();
}
double StudyWorkload::flops() const { return is_chain() ? chain().flops() : contraction().flops(); }

std::int64_t Study::design_count() const {
  return std::accumulate(machines.begin(), machines.end(), std::ssize(machines),
                         [](std::int64_t sum, const StudyMachine& m) { return sum + m.designs; });
}

const char* to_text(Compute c) {
  switch (c) {
    case Compute::predict:
      return "predict";
    case Compute::optimize:
      return "optimize";
    case Compute::simulate:
      return "simulate";
    case Compute::run:
      return "run";
  }
  return "";
}

const char* to_text(StudyObjective o) {
  switch (o) {
    case StudyObjective::time:
      return "time";
    case StudyObjective::traffic:
      return "traffic";
    case StudyObjective::energy:
      return "energy";
    case StudyObjective::area:
      return "area";
    case StudyObjective::cost:
      return "cost";
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> meaning(const Study& study) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](std::string what, std::string value) {
    all.emplace_back(std::move(what), std::move(value));
  };
  add("name", study.name);
  std::string text;
  for (const StudyWorkload& w : study.workloads) {
    text += fmt::format("{} {} {} {} {} x {}|", w.name(), w.label(), w.sizes(),
                        w.is_chain() ? "chain" : to_text(w.contraction().layout()),
                        to_text(w.type()), w.weight);
  }
  add("workloads", text);
  text.clear();
  for (const StudyMachine& m : study.machines) {
    // The view of one core holds what the hash leaves out: measurements with many cores at work.
    text += fmt::format("{} {} {} {}|", m.machine.name, content_hash(m.machine),
                        content_hash(view_of_one_core(m.machine)), m.machine.accounting.name);
  }
  add("machines", text);
  text.clear();
  for (const StudyMachine& m : study.machines) {
    for (const Axis& a : m.axes) {
      text += fmt::format("{} {} {} {} {}:", a.knob.name, to_text(a.knob.unit), a.low, a.high,
                          a.linear);
      for (double v : a.values) text += fmt::format(" {}", v);
      text += "|";
    }
  }
  add("knobs", text);
  add("sampling", fmt::format("{} {}", to_text(study.sampling), study.samples));
  text.clear();
  for (const Constraint& c : study.constraints) text += c.expression.text() + "|";
  add("constraints", text);
  add("compute", fmt::format("{} {}", to_text(study.compute), study.repetitions));
  add("objective", to_text(study.objective));
  add("seed", fmt::format("{}", study.seed));
  add("cost", study.cost ? study.cost->text() : "");
  return all;
}

std::string text_hash(std::string_view text) { return fmt::format("{:016x}", fnv1a(text)); }

}  // namespace tcsim
