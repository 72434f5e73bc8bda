// Where a fused index leads in a tensor. Divisions by constants are a few instructions, so that the
// emitted file needs no tables.
#include <fmt/format.h>

#include <algorithm>

#include "emit/parts.hpp"

namespace tcsim::emit {

namespace {

// "m % 72 + m / 72 * 5184"
std::string offset_of(const std::vector<Digit>& digits, const std::string& index) {
  std::string sum;
  std::int64_t below = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const Digit& d = digits[i];
    if (i > 0) sum += " + ";
    sum += index;
    if (below > 1) sum += fmt::format(" / {}", below);
    if (i + 1 < digits.size()) sum += fmt::format(" % {}", d.extent);
    if (d.stride > 1) sum += fmt::format(" * {}", d.stride);
    below *= d.extent;
  }
  return sum;
}

}  // namespace

std::string name_of(DimClass group) { return to_text(group); }

DimClass rows_of(const Plan& plan, TensorId t) { return plan.path().rows_of(t); }

std::int64_t panel_of(const Plan& plan, TensorId t) { return plan.path().panel_of(t); }

std::optional<std::int64_t> run(const std::vector<Digit>& digits) {
  if (digits.empty()) return {};
  if (digits[0].stride != 1) return 1;
  if (digits.size() == 1) return {};
  return digits[0].extent;
}

std::string neighbours(const Plan& plan, TensorId t, DimClass group, std::int64_t count,
                       const std::string& index) {
  const auto length = run(plan.offsets(t, group).digits());
  const bool aligned = std::ranges::all_of(plan.steps(), [&](const Step& s) {
    return s.kind != Step::Kind::loop || s.group != group ||
           (s.tile % count == 0 && s.head % count == 0 && s.head_tile % count == 0);
  });
  if (!length || count == 1 || (aligned && *length % count == 0)) return "1";
  if (*length < count) return "0";
  return fmt::format("{} % {} <= {}", index, *length, *length - count);
}

std::string offset_functions(const Plan& plan) {
  std::string text = "/* Where the fused indices lead in the tensors, in elements:\n";
  for (DimClass g : all_dim_classes) {
    const Group& dims = plan.schedule().groups[g];
    if (dims.empty()) continue;
    std::string sum;
    std::int64_t below = 1;
    for (DimId d : dims) {
      const Dimension& dim = plan.contraction().dim(d);
      if (below > 1) {
        sum += fmt::format(" + {} {}", below, dim.name);
      } else {
        sum += fmt::format("{}{}", sum.empty() ? "" : " + ", dim.name);
      }
      below *= dim.extent;
    }
    text += fmt::format("   {} = {}, below {}\n", to_text(g), sum, below);
  }
  text += "*/\n";
  for (TensorId t : all_tensors) {
    for (DimClass g : all_dim_classes) {
      if (!plan.follows(t, g)) continue;
      if (g == DimClass::batch && plan.schedule().groups[g].empty()) continue;
      const std::string group = name_of(g);
      const std::vector<Digit>& parts = plan.offsets(t, g).digits();
      text += fmt::format("static inline size_t @{}_of_{}(size_t {}) {{ {} }}\n", to_text(t), group,
                          group,
                          parts.empty() ? fmt::format("return 0 * {};", group)
                                        : fmt::format("return {};", offset_of(parts, group)));
    }
  }
  return text;
}

}  // namespace tcsim::emit
