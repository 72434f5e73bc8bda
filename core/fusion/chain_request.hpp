// A chain as a person names it:
//   - statements with sizes, one a line or with ';' between them:
//     "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]",
//   - one of them may be a product of up to 12 factors, which tcsim orders itself:
//     "B[a,b] += C[a,p] * A[p,q] * D[b,q]",
//   - einsum with many operands: "ap,pq,bq->ab",
//   - a .program file (core/workload/program.hpp),
//   - a shipped suite of chains and a number, "fourindex:1", or the path of a suite's file.
//
// A suite is a file in TOML: schema = 1, name, source, type as a suite of contractions has them,
// `statements`, and for each [[workload]] its `sizes`, and `statements` where it has its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/workload/program.hpp"

namespace tcsim::fusion {

struct ChainRequest {
  std::string name;
  std::string sizes;  // "p=60,q=60", of statements and einsum
  std::optional<ElementType> type;
  std::string order;  // of the one product of many factors; the least operations where it is empty
};

struct Chain {
  Program program;
  // What was made of products of many factors: "((A C4) C3)", and its multiply-adds.
  struct Ordered {
    std::string out, order;
    double multiply_adds = 0;
  };
  std::vector<Ordered> ordered;
};

// Whether the name can be no single contraction's: several statements, a product of more than two
// factors, einsum with more than two operands, or a shipped suite of chains.
bool names_chain(const std::string& name);
// All of a suite's text; of the request its type and order. Throws UsageError and InputError.
std::vector<Chain> parse_chains(std::string_view text, const ChainRequest& request,
                                const std::string& file);
// All that it names, at least one. Throws UsageError and InputError.
std::vector<Chain> find_chains(const ChainRequest& request);
// The same where one is wanted.
Chain find_chain(const ChainRequest& request);

}  // namespace tcsim::fusion
