// Any bytes, sizes in the first line and then statements or an einsum, are a chain with an
// operation tree, or one that is refused; or they are reported.
#include <cstdlib>

#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/fusion/operation_tree.hpp"
#include "core/workload/request.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  using namespace tcsim::fusion;
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  ChainRequest request{std::string(bytes.substr(std::min(line + 1, bytes.size()))),
                       std::string(bytes.substr(0, line)),
                       {},
                       ""};
  // Names of files are looked for, which is none of this.
  if (request.name.find("->") == std::string::npos && !is_statement(request.name)) return;
  try {
    const OperationTree tree = operation_tree(find_chain(request).program);
    for (const OperationTree::Statement& s : tree.statements) {
      if (tree.array(s.out).set().size() != tree.array(s.out).indices.size()) std::abort();
    }
    for (int root : tree.roots()) {
      if (tree.parent(root) >= 0) std::abort();
    }
  } catch (const InputError&) {
  } catch (const UsageError&) {
  } catch (const UnsupportedError&) {
  }
}
