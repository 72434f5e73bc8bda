#include "kernels/execute.hpp"

#include <fmt/format.h>

#include "kernels/executor.hpp"
#include "kernels/shapes.hpp"

namespace tcsim {

namespace {

template <class T>
void execute_as(const Plan& plan, Arena& arena, std::stop_token stop) {
  const Tensors<T> tensors{arena.as<T>(ArrayId::A), arena.as<T>(ArrayId::B),
                           arena.as<T>(ArrayId::C)};
  Executor<T> executor(plan, {arena.as<T>(ArrayId::packed_A), arena.as<T>(ArrayId::packed_B)});
  executor.run(tensors, {1, 0}, std::move(stop));
}

}  // namespace

std::string kernel_used(const Plan& plan) {
  const InstructionSet set =
      instruction_set_for(Elements(plan.mr()), Elements(plan.nr()), plan.contraction().type());
  std::string text = fmt::format("{} {}x{}", to_text(set), plan.mr(), plan.nr());
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (!plan.pack(t)) text += fmt::format(", {} in place", to_text(t));
  }
  return text;
}

void execute(const Plan& plan, Arena& arena, std::stop_token stop) {
  if (plan.contraction().type() == ElementType::f64) {
    execute_as<double>(plan, arena, std::move(stop));
  } else {
    execute_as<float>(plan, arena, std::move(stop));
  }
}

}  // namespace tcsim
