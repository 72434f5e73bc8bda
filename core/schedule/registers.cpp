#include "core/schedule/registers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/schedule/path.hpp"

namespace tcsim {

std::int64_t lanes_of(const Core& core, ElementType type) {
  return std::max<std::int64_t>(1, core.vector_bits.value / (8 * size_of(type).value()));
}

namespace {

// Of all kernels within this one that fit, one that loads least for each multiply-add.
Kernel largest_part(const Kernel& kernel, const Core& core, ElementType type) {
  const std::int64_t lanes = kernel.along_k ? 1 : lanes_of(core, type);
  const auto loads = [](const Kernel& k) {
    return 1.0 / static_cast<double>(k.mr.value()) + 1.0 / static_cast<double>(k.nr.value());
  };
  Kernel best{std::min(kernel.mr, Elements(lanes)), Elements(1), kernel.statement, kernel.along_k};
  for (std::int64_t mr = lanes; mr < kernel.mr.value() + lanes; mr += lanes) {
    for (std::int64_t nr = 1; nr <= kernel.nr.value(); ++nr) {
      const Kernel part{std::min(kernel.mr, Elements(mr)), Elements(nr), kernel.statement,
                        kernel.along_k};
      if (!fits_registers(part, core, type)) break;  // nor does one of more columns
      if (loads(part) < loads(best)) best = part;
    }
  }
  return best;
}

}  // namespace

std::int64_t registers_of(const Kernel& kernel, const Core& core, ElementType type) {
  const std::int64_t lanes = lanes_of(core, type);
  const std::int64_t columns = kernel.nr.value();
  // Along k each result is a vector.
  const std::int64_t vectors =
      kernel.along_k ? kernel.mr.value() : (kernel.mr.value() + lanes - 1) / lanes;
  return vectors * columns + std::min(vectors, columns) + 1;
}

bool fits_registers(const Kernel& kernel, const Core& core, ElementType type) {
  const std::int64_t vector = kernel.along_k ? 1 : lanes_of(core, type);
  if (kernel.mr.value() <= vector && kernel.nr == Elements(1)) return true;
  return registers_of(kernel, core, type) <= core.vector_registers.value;
}

bool fits_registers(const Schedule& schedule, const Core& core, ElementType type) {
  return std::ranges::all_of(kernels_of(schedule.root),
                             [&](const Kernel& k) { return fits_registers(k, core, type); });
}

void require_registers(const Schedule& schedule, ElementType type, const Machine& machine,
                       const std::string& place) {
  for (const Kernel& kernel : kernels_of(schedule.root)) {
    if (fits_registers(kernel, machine.core, type)) continue;
    const Kernel part = largest_part(kernel, machine.core, type);
    throw UnsupportedError(
        place,
        fmt::format("'{}' needs {} vector registers of {} bits for {}, and {} has {}",
                    to_text(kernel), registers_of(kernel, machine.core, type),
                    machine.core.vector_bits.value, to_text(type), machine.name,
                    machine.core.vector_registers.value),
        fmt::format("use {0}, with for m by {1} and for n by {2} around it", to_text(part),
                    part.mr.value(), part.nr.value()));
  }
}

}  // namespace tcsim
