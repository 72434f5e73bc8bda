#include "kernels/execute.hpp"

#include <fmt/format.h>

#include <memory>

#include "kernels/crew.hpp"
#include "kernels/executor.hpp"
#include "kernels/shapes.hpp"

namespace tcsim {

template <class T>
void PreparedPlan::prepare(const Plan& plan, Arena& arena, int threads) {
  const Tensors<T> tensors{arena.as<T>(ArrayId::A), arena.as<T>(ArrayId::B),
                           arena.as<T>(ArrayId::C)};
  if (threads > 1 || plan.schedule().parallel == DimClass::k) {
    auto crew = std::make_shared<Crew<T>>(plan, threads);
    threads_ = crew->size();
    run_ = [crew, tensors](std::stop_token stop) { crew->run(tensors, {1, 0}, std::move(stop)); };
    processor_ = [crew] { return crew->processor(); };
    return;
  }
  const auto buffer = [&](TensorId t) {
    return plan.pack(t) ? arena.as<T>(plan.pack(t)->buffer) : nullptr;
  };
  auto executor =
      std::make_shared<Executor<T>>(plan, PackBuffers<T>{buffer(TensorId::A), buffer(TensorId::B)});
  run_ = [executor, tensors](std::stop_token stop) {
    executor->run(tensors, {1, 0}, std::move(stop));
  };
}

PreparedPlan::PreparedPlan(const Plan& plan, Arena& arena, int threads) {
  if (plan.contraction().type() == ElementType::f64) {
    prepare<double>(plan, arena, threads);
  } else {
    prepare<float>(plan, arena, threads);
  }
}

std::string kernel_used(const Plan& plan) {
  const InstructionSet set = instruction_set_for(plan.kernel(), plan.contraction().type());
  std::string text = to_text(set);
  for (const Kernel& k : kernels_of(plan.schedule().root)) {
    text += fmt::format("{}{}x{}{}", text == to_text(set) ? " " : " and ", k.mr.value(),
                        k.nr.value(), k.along_k ? " along k" : "");
  }
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (!plan.pack(t)) text += fmt::format(", {} in place", to_text(t));
  }
  return text;
}

void execute(const Plan& plan, Arena& arena, std::stop_token stop) {
  PreparedPlan(plan, arena)(std::move(stop));
}

}  // namespace tcsim
