#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/units/text.hpp"
#include "kernels/execute.hpp"

namespace tcsim {

namespace {

void require(const Contraction& c, const std::string& what, Bytes need) {
  const Bytes have = available_memory();
  if (need <= have) return;
  const auto of = [&](TensorId t) { return to_display(c.size(t).value() * size_of(c.type())); };
  throw UnsupportedError(
      fmt::format("{} {}", c.name(), c.sizes()),
      fmt::format("{} need {} (A {}, B {}, C {}), this machine has {} available", what,
                  to_display(need), of(TensorId::A), of(TensorId::B), of(TensorId::C),
                  to_display(have)),
      c.type() == ElementType::f64 ? "use smaller sizes, or f32" : "use smaller sizes");
}

}  // namespace

void require_memory(const Contraction& c) {
  double need = 0;  // three tensors may need more than an int64_t of bytes
  for (TensorId t : all_tensors) {
    need += static_cast<double>(c.size(t).value()) * static_cast<double>(size_of(c.type()).value());
  }
  constexpr double most = 0x1p62;
  require(c, "its tensors", Bytes(static_cast<std::int64_t>(std::min(need, most))));
}

void require_memory(const Plan& plan, int copies) {
  const std::string what = "its tensors and buffers";
  require(plan.contraction(), copies == 1 ? what : fmt::format("{}, {} times,", what, copies),
          copies * plan.arena_size());
}

Arena::Arena(const Plan& plan) : plan_(&plan) {
  require_memory(plan);
  memory_ = Memory(plan.arena_size());
}

}  // namespace tcsim
