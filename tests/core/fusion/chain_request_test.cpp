// Chains as a person names them.
#include "core/fusion/chain_request.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/fusion/operation_tree.hpp"
#include "tests/scratch.hpp"

namespace tcsim::fusion {
namespace {

std::vector<std::string> statements_of(const Chain& chain) {
  const OperationTree tree = operation_tree(chain.program);
  std::vector<std::string> all;
  for (const OperationTree::Statement& s : tree.statements) {
    all.push_back(tree.text(s.out) + " += " + tree.text(s.left) + " * " + tree.text(s.right));
  }
  return all;
}

using Strings = std::vector<std::string>;

TEST(ChainRequest, TakesStatements) {
  for (const char* between : {";", "\n", " ; ", "  # of p\n"}) {
    const Chain chain = find_chain(
        {std::string("T[a,q] += C[a,p] * A[p,q]") + between + "B[a,b] += T[a,q] * D[b,q]",
         "a=3,b=4, p=5,\nq=6",
         {},
         ""});
    EXPECT_EQ(statements_of(chain),
              (Strings{"T[a,q] += C[a,p] * A[p,q]", "B[a,b] += T[a,q] * D[b,q]"}));
    EXPECT_TRUE(chain.ordered.empty());
    EXPECT_EQ(chain.program.tensors().front().type, ElementType::f64);
  }
}

TEST(ChainRequest, TakesNamesOfSeveralLetters) {
  const Chain chain = find_chain(
      {"T1[h6,h10] += t_vo5[p5,h6] * v[h10,p5]", "p5=2,h6=3,h10=4", ElementType::f32, ""});
  EXPECT_EQ(statements_of(chain), (Strings{"T1[h6,h10] += t_vo5[p5,h6] * v[h10,p5]"}));
  EXPECT_EQ(chain.program.tensors().front().type, ElementType::f32);
  const OperationTree tree = operation_tree(chain.program);
  EXPECT_EQ(tree.flops(), 2.0 * 2 * 3 * 4);
}

TEST(ChainRequest, OrdersAProductOfManyFactors) {
  ChainRequest request{"B[i,j] += A1[i,k] * A2[k,l] * A3[l,j]", "i=2,k=30,l=5,j=7", {}, ""};
  const Chain least = find_chain(request);
  ASSERT_EQ(least.ordered.size(), 1U);
  EXPECT_EQ(least.ordered[0].out, "B");
  EXPECT_EQ(least.ordered[0].order, "((A1 A2) A3)");
  EXPECT_EQ(least.ordered[0].multiply_adds, 2 * 30 * 5 + 2 * 5 * 7);
  EXPECT_EQ(statements_of(least),
            (Strings{"T1[i,l] += A1[i,k] * A2[k,l]", "B[i,j] += T1[i,l] * A3[l,j]"}));
  request.order = "A1 (A2 A3)";
  const Chain given = find_chain(request);
  EXPECT_EQ(given.ordered[0].order, "(A1 (A2 A3))");
  EXPECT_EQ(statements_of(given),
            (Strings{"T1[k,j] += A2[k,l] * A3[l,j]", "B[i,j] += A1[i,k] * T1[k,j]"}));
}

TEST(ChainRequest, NamesResultsAsNothingElse) {
  const Chain chain =
      find_chain({"B[i,j] += T1[i,k] * T2[k,l] * A[l,j]", "i=2,k=3,l=5,j=7", {}, ""});
  EXPECT_EQ(statements_of(chain)[0], "T3[i,l] += T1[i,k] * T2[k,l]");
}

TEST(ChainRequest, SplitsAProductInsideAChain) {
  const Chain chain = find_chain({"T[i,j] += A[i,k] * B[k,l] * C[l,j]; D[i,m] += T[i,j] * E[j,m]",
                                  "i=2,k=3,l=5,j=7,m=2",
                                  {},
                                  ""});
  EXPECT_EQ(operation_tree(chain.program).statements.size(), 3U);
  EXPECT_EQ(operation_tree(chain.program).roots().size(), 1U);
}

TEST(ChainRequest, TakesEinsum) {
  const Chain chain = find_chain({"ap, pq,bq -> ab", "a=2,p=30,q=5,b=7", {}, ""});
  EXPECT_EQ(statements_of(chain),
            (Strings{"T1[a,q] += X1[a,p] * X2[p,q]", "Out[a,b] += T1[a,q] * X3[b,q]"}));
  EXPECT_EQ(statements_of(find_chain({"ab,ab->", "a=2,b=3", {}, ""})),
            (Strings{"Out[] += X1[a,b] * X2[a,b]"}));
  EXPECT_EQ(statements_of(find_chain({"a,,a->a", "a=2", {}, "X1 (X2 X3)"})),
            (Strings{"T1[a] += X2[] * X3[a]", "Out[a] += X1[a] * T1[a]"}));
}

TEST(ChainRequest, TakesAProgram) {
  const std::string file = test::scratch("chain_request.program").string();
  std::ofstream(file) << "program mine\ndims i=3 j=4 k=5\nf64 input A[i, k]\nf64 input B[k, j]\n"
                         "f64 output C[i, j]\nC[i, j] += A[i, k] * B[k, j]\n";
  const Chain chain = find_chain({file, "", ElementType::f32, ""});
  EXPECT_EQ(chain.program.name(), "mine");
  EXPECT_EQ(chain.program.tensors().front().type, ElementType::f32);
  EXPECT_EQ(find_chain({file, "", {}, ""}).program.tensors().front().type, ElementType::f64);
  EXPECT_THROW(find_chain({file, "i=3", {}, ""}), UsageError);
  EXPECT_THROW(find_chain({file, "", {}, "A B"}), UsageError);
  std::filesystem::remove(file);
}

TEST(ChainRequest, TakesWhatShips) {
  for (const std::string& name : shipped_chains()) {
    const std::vector<Chain> all = find_chains({name, "", {}, ""});
    EXPECT_GE(all.size(), 3U) << name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].program.name(), name + ":" + std::to_string(i + 1));
      EXPECT_NO_THROW(operation_tree(all[i].program));
    }
    EXPECT_EQ(find_chain({name + ":2", "", {}, ""}).program, all[1].program);
    EXPECT_EQ(find_chain({name + ":1", "", ElementType::f32, ""}).program.tensors()[0].type,
              ElementType::f32);
  }
}

TEST(ChainRequest, TakesStatementsOfASuitesWorkload) {
  const std::string head = "schema = 1\nname = \"own\"\ntype = \"f64\"\n";
  const std::string shared = "statements = \"T[a,q] = C[a,p] * A[p,q]\"\n";
  const std::string plain = "[[workload]]\nsizes = \"a=2,p=3,q=4\"\n";
  const std::string own =
      "[[workload]]\nstatements = \"X[i,j] = Y[i,k] * Z[k,j]\"\nsizes = \"i=2,j=3,k=4\"\n";
  const std::vector<Chain> both = parse_chains(head + shared + plain + own, {}, "f");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(statements_of(both[0]), (Strings{"T[a,q] += C[a,p] * A[p,q]"}));
  EXPECT_EQ(statements_of(both[1]), (Strings{"X[i,j] += Y[i,k] * Z[k,j]"}));
  EXPECT_EQ(parse_chains(head + own, {}, "f").size(), 1U);
  EXPECT_THROW(parse_chains(head + plain, {}, "f"), InputError);
}

// The message of what find_chain() throws, whatever it is.
std::string said_of(const ChainRequest& request) {
  try {
    find_chain(request);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(ChainRequest, SaysWhatIsWrongWithStatements) {
  const auto said = [](const std::string& text, const std::string& sizes) {
    return said_of({text, sizes, {}, ""});
  };
  const std::string good = "T[a,q] += C[a,p] * A[p,q]";
  EXPECT_EQ(said(good, ""),
            good + ": sizes are missing; add --size with every index, p=60,q=60,...");
  EXPECT_EQ(said(good, "a=3,p=4"), "CHAIN:1:5: 'q' has no size; add q=64");
  EXPECT_EQ(said(good, "a=3,p=4,q=5,z=6"), "--size: no statement has z; take it out");
  EXPECT_EQ(said(good, "a=3,a=4"), "--size:1:5: a is there twice; take one out");
  EXPECT_EQ(said(good, "a=3 p=4").substr(0, 11), "--size:1:5:");
  EXPECT_EQ(said(good, "a=0").substr(0, 11), "--size:1:3:");
  EXPECT_EQ(said(good, "a=9999999999999999999").substr(0, 11), "--size:1:3:");
  EXPECT_EQ(said(good + "; B[a] += T[a,", "a=3,p=4,q=5").substr(0, 10), "CHAIN:2:14");
  EXPECT_EQ(said("B[a] += A[a,k] * C[k] * D[k]; B[a] = A[a,k] * C[k]", "a=2,k=3").substr(0, 10),
            "CHAIN:2:7:");
}

// T[x + 1] is not T[x]: statements that hand one to the other would meet at other places.
TEST(ChainRequest, RefusesNumbersThatAreAdded) {
  for (const char* text : {"T[x+1] += A[x,k] * B[x,k]; C[x,y] += T[x] * D[x,y]",
                           "T[0,x] += A[x,k] * B[x,k]; C[x,y] += T[x,y] * D[x,y]"}) {
    const std::string said = said_of({text, "x=3,y=3,k=4", {}, ""});
    EXPECT_NE(said.find(": a number that is added; use sums of loops alone"), std::string::npos)
        << said;
  }
}

TEST(ChainRequest, SaysWhatIsWrongWithEinsum) {
  const auto said = [](const std::string& text) { return said_of({text, "a=2,b=3,p=4", {}, ""}); };
  EXPECT_EQ(said("ap,p1->a"),
            "\"ap,p1->a\" column 5: '1' is no index; write an einsum of letters, "
            "such as ap,pq,bq->ab");
  EXPECT_EQ(said("ap->a->b").substr(0, 19), "\"ap->a->b\" column 6");
  EXPECT_EQ(
      said("ap,p\xc3\xa9->a"),
      "\"ap,p\xc3\xa9->a\" column 5: '\xc3\xa9' is no index; write an einsum of letters, such "
      "as ap,pq,bq->ab");
}

TEST(ChainRequest, SaysWhatIsWrongWithOrders) {
  const std::string product = "B[i,j] += A[i,k] * C[k,l] * D[l,j]", sizes = "i=2,j=3,k=4,l=5";
  EXPECT_EQ(said_of({product, sizes, {}, "(A C) E"}).substr(0, 29),
            "--order:1:7: 'E' is no factor");
  EXPECT_EQ(said_of({"B[i,j] += A[i,k] * C[k,j]", "i=2,j=3,k=4", {}, "A C"}),
            "--order: the chain has 0 products of more than two factors; leave the option out, or "
            "give one such product");
  std::string many = "B[i] = A1[i]";
  for (int f = 2; f <= 13; ++f) many += " * A" + std::to_string(f) + "[i]";
  EXPECT_EQ(said_of({many, "i=2", {}, ""}),
            "B: a product of 13 factors; give at most 12, or several statements");
}

TEST(ChainRequest, SaysWhatIsWrongWithNames) {
  EXPECT_EQ(said_of({"fourindex:9", "", {}, ""}),
            "fourindex:9: there is no chain '9' in it; use fourindex:1 to fourindex:6");
  EXPECT_EQ(said_of({"fourindex", "", {}, ""}),
            "fourindex: these are 6 chains; say which, such as fourindex:1");
  EXPECT_EQ(
      said_of({"fourindex:1", "a=3", {}, ""}),
      "--size: 'fourindex:1' says its sizes itself; leave the option out, or give statements");
  const std::string unknown = said_of({"sixindex", "", {}, ""});
  EXPECT_NE(unknown.find("fourindex"), std::string::npos) << unknown;
}

TEST(ChainRequest, SaysWhatIsWrongWithASuite) {
  const std::string file = test::scratch("chains.toml").string();
  const auto said = [&](const std::string& text) {
    std::ofstream(file) << text;
    const std::string all = said_of({file, "", {}, ""});
    EXPECT_EQ(all.substr(0, file.size()), file);
    return all.substr(file.size());
  };
  const std::string head = "schema = 1\nname = \"mine\"\n",
                    statements = "statements = \"B[i] += A[i] * C[i]\"\n",
                    one = "[[workload]]\nsizes = \"i=3\"\n";
  EXPECT_EQ(said("name = \"mine\"\n"),
            ":1:1: no 'schema' that this version of tcsim reads; write schema = 1");
  EXPECT_EQ(said("schema = 1\n" + statements + one), ":1:1: no 'name'; add it");
  EXPECT_EQ(said("schema = 1\nname = 3\n"), ":2:8: 'name' is not a string; put it in quotes");
  EXPECT_EQ(said(head + one), ":3:1: no 'statements'; add it");
  EXPECT_EQ(said(head + statements), ":1:1: no [[workload]]; add at least one, with sizes");
  EXPECT_EQ(said(head + statements + "workload = 3\n"),
            ":4:12: no [[workload]]; add at least one, with sizes");
  EXPECT_EQ(said(head + "type = \"f16\"\n" + statements + one),
            ":3:8: 'type' is \"f16\"; use f64 or f32");
  EXPECT_EQ(said(head + "type = 5\n" + statements + one),
            ":3:8: 'type' is not a string; put it in quotes");
  EXPECT_EQ(said(head + statements + "[[workload]]\n"), ":4:1: no 'sizes'; add it");
  EXPECT_EQ(said(head + statements + "[[workload]]\nsizes = \"i=x\"\n").substr(0, 27),
            ": sizes of mine:1:1:3: an e");
  EXPECT_EQ(said(head + statements + "[[workload]]\nsizes = \"i=3,j=4\"\n"),
            ": sizes of mine:1: no statement has j; take it out");
  EXPECT_EQ(said(head + statements + "[[workload]]\nsizes = \"k=3\"\n"),
            ": statements:1:3: 'i' has no size; add i=64");
  EXPECT_EQ(said(head + "layout = 3\n" + statements + one),
            ":3:1: unknown key 'layout'; known here are schema, name, source, type, statements, "
            "workload");
  EXPECT_EQ(said(head + statements + one + "label = \"x\"\n"),
            ":6:1: unknown key 'label'; known here are sizes, source, statements");
  std::ofstream(file) << head + "type = \"f32\"\n" + statements + one;
  EXPECT_EQ(find_chain({file, "", {}, ""}).program.tensors()[0].type, ElementType::f32);
  EXPECT_EQ(find_chain({file + ":1", "", ElementType::f64, ""}).program.tensors()[0].type,
            ElementType::f64);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace tcsim::fusion
