#include <fmt/format.h>

#include <string>

#include "core/units/text.hpp"
#include "kernels/execute.hpp"

namespace tcsim {

namespace {

// `need` in bytes, which may be more than an int64_t of them.
void require(const Contraction& c, const std::string& what, double need) {
  const auto of = [&](TensorId t) { return to_display(c.size(t).value() * size_of(c.type())); };
  require_available(
      need, fmt::format("{} {}", c.name(), c.sizes()), what,
      c.type() == ElementType::f64 ? "use smaller sizes, or f32" : "use smaller sizes",
      fmt::format("A {}, B {}, C {}", of(TensorId::A), of(TensorId::B), of(TensorId::C)));
}

}  // namespace

void require_memory(const Contraction& c) {
  double need = 0;
  for (TensorId t : all_tensors) {
    need += static_cast<double>(c.size(t).value()) * static_cast<double>(size_of(c.type()).value());
  }
  require(c, "its tensors", need);
}

void require_memory(const Plan& plan, int copies) {
  const std::string what = "its tensors and buffers";
  require(plan.contraction(), copies == 1 ? what : fmt::format("{}, {} times,", what, copies),
          copies * static_cast<double>(plan.arena_size().value()));
}

Arena::Arena(const Plan& plan) : plan_(&plan) {
  require_memory(plan);
  memory_ = Memory(plan.arena_size());
}

}  // namespace tcsim
