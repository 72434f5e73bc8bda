// Any bytes are tables of Accelergy's that become a cost model, or are reported.
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/study/cost.hpp"
#include "exchange/costs.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  static const Machine machine = find_machine("i7-6700k");
  ImportedCosts costs;
  try {
    costs = import_accelergy({{std::string(bytes), "fuzz"}}, machine, {}, "fuzz");
  } catch (const InputError&) {
    return;
  } catch (const UsageError&) {
    return;
  }
  parse_cost_model(costs.toml, "text");
}
