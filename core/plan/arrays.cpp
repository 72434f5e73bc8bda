#include "core/plan/arrays.hpp"

namespace tcsim {

std::string to_text(const Array& array) {
  const std::string tensor = to_text(array.tensor);
  if (!array.made_by) return tensor;
  switch (*array.made_by) {
    case Move::Kind::pack:
      return "packed " + tensor;
    case Move::Kind::load:
      return "loaded " + tensor;
    case Move::Kind::store:
      return "stored " + tensor;
  }
  return tensor;
}

Arrays::Arrays() : depths_(static_cast<int>(all_tensors.size()), -1) {
  for (TensorId t : all_tensors) rows_.push_back({t});
}

Arrays::Arrays(std::span<const Step> steps) : Arrays() {
  for (TensorId t : all_tensors) {
    for (std::size_t d = 0; d < steps.size(); ++d) {
      if (steps[d].kind != Step::Kind::move || steps[d].tensor != t) continue;
      rows_.push_back({t, steps[d].moves});
      depths_.push_back(static_cast<int>(d));
    }
  }
}

ArrayId Arrays::made_at(int depth) const {
  return ArrayId{static_cast<int>(std::ranges::find(depths_, depth) - depths_.begin())};
}

}  // namespace tcsim
