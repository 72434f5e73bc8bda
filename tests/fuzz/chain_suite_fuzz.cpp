// Any bytes are a suite of chains, or are reported.
#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/fusion/operation_tree.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  try {
    for (const fusion::Chain& chain : fusion::parse_chains(bytes, {}, "fuzz")) {
      fusion::operation_tree(chain.program);
    }
  } catch (const InputError&) {
  } catch (const UsageError&) {
  } catch (const UnsupportedError&) {
  }
}
