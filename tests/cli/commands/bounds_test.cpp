// tcsim bounds, as a user sees it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

// IOOpt, section 2.
std::vector<std::string> product(std::vector<std::string> more = {}) {
  std::vector<std::string> args{"bounds", "ij-ik-kj", "--size", "i=2000,j=1500,k=1500"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(BoundsCommand, Prints_the_expression_and_the_number) {
  const Ran r = tcsim(product({"--symbolic", "--cache", "1024", "--accounting", "paper"}));
  EXPECT_EQ(r.code, Exit::done);
  EXPECT_EQ(
      r.out,
      "ij-ik-kj: elements over the link to a memory of S elements, loads, ideal replacement\n"
      "  multiply-adds  N_i N_j N_k\n"
      "  lower bound    max(N_i N_j + N_i N_k + N_j N_k, 2 N_i N_j N_k / sqrt(S))\n"
      "  lower form     max(N_i N_j + N_i N_k + N_j N_k, 2 N_i N_j (N_k - 1) / sqrt(S) + 2 "
      "N_i + 2 N_j + N_k - S - 2)\n"
      "    (ioopt's, whose new sums have a place beside the old ones: not proven)\n"
      "  upper form     2 N_i N_j N_k / Delta + N_j N_k\n"
      "    with Delta = sqrt(S + 1) - 1\n"
      "    (ioopt's, N / T tiles of real sizes: not proven as the number is)\n"
      "  S     multiply-adds  compulsory  lower bound  upper bound  ratio  LRU needs  reached by "
      "tiles, outermost first\n"
      "  1024  4500000000     8250000     281250939    293250000    1.043  1084       j=32 k=30 "
      "i=1\n");
}

// What a cache of twice the capacity moves, as the simulator counts.
TEST(BoundsCommand, Has_a_schedule_that_every_command_takes) {
  const json j = json::parse(tcsim({"bounds", "ij-ik-kj", "--size", "i=60,j=50,k=40", "--cache",
                                    "400", "--format", "json"})
                                 .out);
  EXPECT_GE(j["upper_elements"], j["lower_elements"]);
  EXPECT_EQ(j["schedule_elements"], j["upper_elements"]);
  EXPECT_TRUE(j["permutation"].is_string() && j["upper_symbolic"].is_string());
  const Ran r = tcsim({"predict", "ij-ik-kj", "--size", "i=60,j=50,k=40", "--machine", "zen5",
                       "--schedule", j["schedule"].get<std::string>()});
  EXPECT_EQ(r.code, Exit::done) << r.err;
}

TEST(BoundsCommand, Says_nothing_of_a_store_in_which_nothing_fits) {
  const Ran r = tcsim(product({"--cache", "2"}));
  EXPECT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "-            -      -          -")) << r.out;
}

TEST(BoundsCommand, Counts_C_twice_unless_told_otherwise) {
  const json once = json::parse(
      tcsim(product({"--cache", "8KiB", "--accounting", "paper", "--format", "json"})).out);
  const json twice = json::parse(tcsim(product({"--cache", "8KiB", "--format", "json"})).out);
  EXPECT_EQ(once["cache_elements"], 1024);  // of f64
  EXPECT_EQ(once["accounting"]["name"], "paper");
  EXPECT_EQ(twice["accounting"]["name"], "honest");
  EXPECT_EQ(twice["lower_elements"].get<std::int64_t>(),
            once["lower_elements"].get<std::int64_t>() + 3000000);
  EXPECT_EQ(twice["lower_symbolic"],
            "max(N_i N_j + N_i N_k + N_j N_k, 2 N_i N_j N_k / sqrt(S)) + N_i N_j");
  EXPECT_EQ(twice["operations"], 4.5e9);
  EXPECT_FALSE(twice.contains("bounds"));
}

TEST(BoundsCommand, Lists_several_capacities_and_workloads) {
  const json j =
      json::parse(tcsim(product({"--cache", "100", "--cache", "1MiB", "--format", "json"})).out);
  ASSERT_EQ(j["bounds"].size(), 2u);
  EXPECT_EQ(j["bounds"][1]["cache_elements"], 131072);
  EXPECT_GT(j["bounds"][0]["lower_elements"], j["bounds"][1]["lower_elements"]);
  EXPECT_FALSE(j.contains("lower_elements"));
  const std::string suite = test::scratch("pair.toml").string();
  std::ofstream(suite) << "schema = 1\nname = \"pair\"\ntype = \"f32\"\n"
                          "[[workload]]\nlabel = \"ab-ak-kb\"\nsizes = \"a=20,b=30,k=40\"\n"
                          "[[workload]]\nlabel = \"ab-ak-bk\"\nsizes = \"a=9,b=8,k=7\"\n";
  const Ran csv = tcsim({"bounds", suite, "--cache", "32KiB", "--format", "csv"});
  EXPECT_EQ(csv.code, Exit::done);
  ASSERT_EQ(lines(csv.out).size(), 3u);
  EXPECT_EQ(lines(csv.out)[0],
            "workload,cache_elements,operations,compulsory_elements,lower_elements,upper_elements,"
            "ratio,permutation,tiles");
  EXPECT_TRUE(lines(csv.out)[2].starts_with("pair:2,8192,504,")) << csv.out;
  EXPECT_EQ(json::parse(tcsim({"bounds", suite, "--format", "json"}).out)["results"].size(), 2u);
  std::filesystem::remove(suite);
}

TEST(BoundsCommand, Takes_affine_programs_with_named_sizes) {
  const std::string conv =
      "affine conv1d loops f=Nf c=Nc x=Nx w=Nw small w\n"
      "Out[f, x] += Image[c, x + w] * Filter[f, c, w]";
  const Ran symbolic = tcsim({"bounds", conv, "--accounting", "paper"});
  EXPECT_EQ(symbolic.code, Exit::done);
  EXPECT_TRUE(contains(symbolic.out,
                       "max(Nc Nf Nw + Nc (Nw + Nx - 1) + Nf Nx, 2 Nc Nf sqrt(Nw) Nx / sqrt(S))"))
      << symbolic.out;
  EXPECT_FALSE(contains(symbolic.out, "compulsory"));
  EXPECT_TRUE(contains(tcsim({"bounds", conv, "--symbolic=latex"}).out, "\\sqrt{S}"));
  EXPECT_TRUE(contains(tcsim({"bounds", conv, "--symbolic=python"}).out, "S**(1/2)"));
  const Ran number = tcsim({"bounds", conv, "--size", "Nf=64,c=64,x=100,w=3", "--cache", "100"});
  EXPECT_TRUE(contains(number.out, "1228800")) << number.out;
  const std::string file = test::scratch("bounds.affine").string();
  std::ofstream(file) << conv;
  EXPECT_EQ(tcsim({"bounds", file, "--accounting", "paper"}).out, symbolic.out);
  std::filesystem::remove(file);
}

// sqrt(S + 1) - 1 is above 20 from S = 441 on.
TEST(BoundsCommand, Says_where_the_closed_form_does_not_hold) {
  const auto with = [](const char* format) {
    return tcsim({"bounds", "ij-ik-kj", "--size", "i=20,j=30,k=40", "--symbolic", "--cache", "400",
                  "--cache", "1MiB", "--format", format});
  };
  const Ran r = with("table");
  EXPECT_TRUE(contains(r.out, "  S = 131072: the upper form does not hold, as Delta = 361.0 is"))
      << r.out;
  EXPECT_FALSE(contains(r.out, "S = 400:")) << r.out;
  const json j = json::parse(with("json").out);
  EXPECT_EQ(j["bounds"][0]["upper_symbolic_holds"], true);
  EXPECT_EQ(j["bounds"][1]["upper_symbolic_holds"], false);
}

// A chain's products share what is between them, and three of them two arrays.
TEST(BoundsCommand, Says_how_the_bounds_of_statements_make_one) {
  const std::string file = test::scratch("chain.program").string();
  const auto reason = [&](const std::string& dims, const std::string& more) {
    std::ofstream(file) << "program chain\ndims i=90 j=90 k=90 l=90" + dims +
                               "\n"
                               "f64 input A[i, k]\nf64 input B[k, j]\nf64 intermediate T[i, j]\n"
                               "f64 input D[j, l]\n" +
                               more;
    const Ran table = tcsim({"bounds", file, "--cache", "50"});
    const json j = json::parse(tcsim({"bounds", file, "--cache", "50", "--format", "json"}).out);
    const std::string why = j["lower_reason"];
    EXPECT_TRUE(contains(table.out, "  S = 50: " + why + "\n")) << table.out;
    const std::string tiles = j["tiles"];  // of the first statement, then the second
    EXPECT_TRUE(contains(tiles, "k=") && contains(tiles, "; ") && contains(tiles, "l=")) << tiles;
    return why;
  };
  EXPECT_EQ(reason("",
                   "f64 output O[i, l]\n"
                   "T[i, j] += A[i, k] * B[k, j]\nO[i, l] += T[i, j] * D[j, l]\n"),
            "the bounds of statements 1 and 2 add up though they share T");
  EXPECT_EQ(
      reason(" m=90",
             "f64 intermediate U[i, l]\nf64 input E[l, m]\nf64 output O[i, m]\n"
             "T[i, j] += A[i, k] * B[k, j]\nU[i, l] += T[i, j] * D[j, l]\n"
             "O[i, m] += U[i, l] * E[l, m]\n"),
      "the bounds of statements 1 and 2 add up though they share T; of the loads of U count 1/2 "
      "for statement 2 and 1/2 for statement 3");
  EXPECT_TRUE(json::parse(tcsim(product({"--format", "json"})).out)["lower_reason"].is_null());
  std::filesystem::remove(file);
}

TEST(BoundsCommand, Takes_chains_as_fuse_does) {
  const std::string statements = "T[i,j] = A[i,k] * B[k,j]; D[i,l] += T[i,j] * C[j,l]";
  const std::string sizes = "i=60,j=80,k=160,l=240";
  const auto lower = [](const std::vector<std::string>& args) {
    const Ran r = tcsim(args);
    EXPECT_EQ(r.code, Exit::done) << r.err;
    const json j = json::parse(r.out);
    return (j.contains("results") ? j["results"][0] : j)["lower_elements"].get<double>();
  };
  const double given =
      lower({"bounds", statements, "--size", sizes, "--cache", "512", "--format", "json"});
  const std::string affine =
      "affine two loops i=60 j=80 k=160 l=240 T[i,j] = A[i,k] * B[k,j] D[i,l] += T[i,j] * C[j,l]";
  EXPECT_EQ(given, lower({"bounds", affine, "--cache", "512", "--format", "json"}));
  // Of a product of three matrices, the order of the fewest multiply-adds: (A B) C here too.
  EXPECT_EQ(given, lower({"bounds", "D[i,l] += A[i,k] * B[k,j] * C[j,l]", "--size", sizes,
                          "--cache", "512", "--format", "json"}));
  EXPECT_GT(lower({"bounds", "fourindex:1", "--cache", "32KiB", "--format", "json"}), 0);
  const Ran curve = tcsim({"bounds", "fourindex:1", "--curve", "1KiB..4KiB"});
  EXPECT_EQ(curve.code, Exit::usage);
  EXPECT_TRUE(contains(curve.err, "affine programs and chains")) << curve.err;
  EXPECT_EQ(tcsim({"bounds", "fourindex:1", "--layout", "row-major"}).code, Exit::usage);
}

TEST(BoundsCommand, Draws_a_curve_over_the_capacity) {
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"bounds", "ab-ak-kb", "--size", "a=40,b=30,k=20"});
    return tcsim(more);
  };
  const Ran table = with({"--curve", "64..2KiB"});
  EXPECT_EQ(table.code, Exit::done) << table.err;
  ASSERT_EQ(lines(table.out).size(), 5u) << table.out;
  EXPECT_TRUE(contains(lines(table.out)[1], "lower bound  upper bound  best schedule"));
  const json j = json::parse(with({"--curve", "64..2KiB", "--format", "json"}).out);
  const json& points = j["curves"][0]["points"];
  ASSERT_EQ(points.size(), 3u);
  double before = 1e300;
  for (const json& p : points) {
    EXPECT_LE(p["lower_elements"], p["upper_elements"]);
    EXPECT_LE(p["upper_elements"], p["schedule_elements"]);
    EXPECT_LE(p["lower_elements"], p["lru_elements"]);
    EXPECT_LT(p["lower_elements"], before);
    before = p["lower_elements"];
  }
  EXPECT_EQ(points[2]["cache_elements"], 256);
  const Ran csv = with({"--curve", "100..1000:2", "--format", "csv", "--no-simulate"});
  ASSERT_EQ(lines(csv.out).size(), 3u);
  EXPECT_TRUE(lines(csv.out)[2].starts_with("ab-ak-kb,1000,8000,")) << csv.out;
  EXPECT_TRUE(contains(csv.out, ",,groups")) << csv.out;
  for (const auto& [curve, part] :
       std::vector<std::pair<std::string, std::string>>{{"3", "'3' is no range"},
                                                        {"9..3", "ends before it begins"},
                                                        {"1..9:2000", "2000 points are too many"},
                                                        {"1..9:0", "points of --curve"},
                                                        {"1B..9", "no room for one element"}}) {
    const Ran r = with({"--curve", curve});
    EXPECT_EQ(r.code, Exit::usage);
    EXPECT_TRUE(contains(r.err, part)) << r.err;
  }
  EXPECT_TRUE(contains(tcsim({"bounds", "affine s loops i=3\nC[i] += A[i]", "--curve", "1..4"}).err,
                       "affine programs and chains have not"));
}

TEST(BoundsCommand, Marks_what_ran_here_on_a_curve) {
  const std::vector<std::string> product{"ab-ak-kb", "--size", "a=40,b=30,k=20", "--machine",
                                         "i7-6700k"};
  const auto with = [&](const std::string& command, std::vector<std::string> more) {
    more.insert(more.begin(), product.begin(), product.end());
    more.insert(more.begin(), command);
    if (command == "bounds") {
      more.insert(more.end(), {"--curve", "64..256", "--run", "--repetitions", "1"});
    }
    return tcsim(more);
  };
  const auto run_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--format", "json"});
    const Ran r = with("bounds", more);
    EXPECT_EQ(r.code, Exit::done) << r.err;
    return json::parse(r.out)["curves"][0]["run"];
  };
  const json run = run_of({});
  EXPECT_EQ(run["machine"]["name"], "i7-6700k");
  EXPECT_LE(run["check_error_over_bound"], 1);
  EXPECT_TRUE(run["counters"]["source"].is_string());
  ASSERT_EQ(run["marks"].size(), 4u);
  for (const json& m : run["marks"]) {
    EXPECT_LE(m["lower_elements"], m["predicted_elements"]) << m;
    EXPECT_LE(m["lower_elements"], m["simulated_elements"]) << m;
    // Either it was measured or there is a reason.
    EXPECT_EQ(m["measured_elements"].is_null(), m.contains("not_measured")) << m;
  }
  // C is stored once and loaded once, A and B are loaded once.
  EXPECT_EQ(run["marks"][3]["lower_elements"], 2 * 1200 + 800 + 600);
  // What the curve counts the marks count, as tcsim simulate does.
  for (const char* accounting : {"honest", "paper"}) {
    const json marks = run_of({"--accounting", accounting, "--counters", "none"})["marks"];
    const json levels = json::parse(
        with("simulate", {"--accounting", accounting, "--format", "json"}).out)["levels"];
    for (std::size_t l = 0; l < 4; ++l) {
      EXPECT_EQ(8 * marks[l]["simulated_elements"].get<double>(), levels[l]["simulated_bytes"])
          << accounting << l;
      EXPECT_EQ(8 * marks[l]["lower_elements"].get<double>(),
                json::parse(with("report", {"--accounting", accounting, "--format", "json",
                                            "--no-whatif", "--no-simulate"})
                                .out)["levels"][l]["bound_bytes"]);
      EXPECT_TRUE(marks[l]["measured_elements"].is_null());
    }
  }
  const Ran table = with("bounds", {"--no-simulate", "--counters", "none"});
  EXPECT_TRUE(contains(table.out, "marks: the schedule for i7-6700k, run here in")) << table.out;
  EXPECT_TRUE(contains(table.out,
                       "L1-L2, L2-L3, L3-memory: this machine has no cache events: "
                       "counting is switched off"))
      << table.out;
  const Ran csv = with("bounds", {"--format", "csv", "--counters", "none"});
  const auto rows = lines(csv.out);
  ASSERT_EQ(rows.size(), 1u + 3 + 4) << csv.out;
  EXPECT_TRUE(rows[0].ends_with(
      ",link,predicted_elements,simulated_elements,measured_elements,not_measured"));
  EXPECT_TRUE(rows[1].ends_with(",,,,,")) << rows[1];
  EXPECT_TRUE(contains(rows[7], ",L3-memory,")) << rows[7];
  EXPECT_TRUE(rows[7].ends_with(",,this machine has no cache events: counting is switched off"))
      << rows[7];
  // Any schedule may run.
  const std::string schedule = "groups m=a n=b k=k for m by 4 { for n by 6 { kernel 4x6 } }";
  EXPECT_EQ(
      json::parse(with("predict", {"--schedule", schedule, "--format", "json"}).out)["schedule"],
      run_of({"--schedule", schedule, "--counters", "none"})["schedule"]);
  const Ran alone = tcsim({"bounds", "ab-ak-kb", "--size", "a=4,b=3,k=2", "--run"});
  EXPECT_EQ(alone.code, Exit::usage);
  EXPECT_TRUE(contains(alone.err, "add --curve")) << alone.err;
}

TEST(BoundsCommand, Says_what_is_wrong) {
  const auto said = [](const std::vector<std::string>& args, Exit code, const std::string& part) {
    const Ran r = tcsim(args);
    EXPECT_EQ(r.code, code) << part;
    EXPECT_TRUE(contains(r.err, part)) << r.err;
    EXPECT_EQ(r.out, "");
  };
  const std::string one = "affine a loops i=N\nC[i] += A[i]";
  said({"bounds"}, Exit::usage, "a WORKLOAD is missing");
  said(product({"--cache", "much"}), Exit::usage, "much");
  said(product({"--cache", "4B"}), Exit::usage, "has no room for one element");
  said(product({"--cache", "0"}), Exit::usage, "--cache");
  said(product({"--accounting", "mine"}), Exit::usage, "use one of honest, paper");
  said({"bounds", "affine a loops i=N\nC[i] += A[k]"}, Exit::input,
       "WORKLOAD:2:11: there is no loop 'k'");
  said({"bounds", one, "--size", "j=3"}, Exit::usage, "there is no loop and no size 'j'");
  said({"bounds", one, "--size", "i"}, Exit::usage, "'i' is no size");
  said({"bounds", one, "--size", "i=3,N=4"}, Exit::usage, "N is 3 already");
  said({"bounds", "no.affine"}, Exit::input, "no.affine");
}

}  // namespace
}  // namespace tcsim::cli
