// The command line as a user sees it: run in this process, with its streams captured.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/random_contraction.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

TEST(Help, Overview_names_every_command_and_each_has_a_page_with_its_example) {
  const Ran overview = tcsim({"--help"});
  EXPECT_EQ(overview.code, Exit::done);
  for (const Command* c : all_commands()) {
    EXPECT_TRUE(contains(overview.out, "  " + c->name + " ")) << c->name;
    const Ran page = tcsim({c->name, "--help"});
    EXPECT_EQ(page.code, Exit::done);
    EXPECT_EQ(page.out, tcsim({c->name, "-h"}).out);
    EXPECT_EQ(page.out, tcsim({"help", c->name}).out);
    EXPECT_TRUE(contains(page.out, "Example: " + c->example)) << c->name;
  }
  EXPECT_EQ(tcsim({}).code, Exit::usage);
  const Ran r = tcsim({"--version"});
  EXPECT_TRUE(r.out.starts_with("tcsim 0.")) << r.out;
  EXPECT_TRUE(contains(r.out, "\ncompiler ")) << r.out;
  // Each optional part is named once, as there or not.
  for (const char* part : {"HDF5", "MPI", "OpenCL", "OpenMP", "PAPI", "hwloc", "likwid"}) {
    const auto at = r.out.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_EQ(r.out.find(part, at + 1), std::string::npos) << part;
  }
}

TEST(Usage, Wrong_words_are_named_with_what_would_be_right) {
  struct Case {
    std::vector<std::string> args;
    std::string said;
  };
  const Case cases[] = {
      {{"repot"}, "there is no command 'repot'; did you mean 'report'? use one of report"},
      {{"predict"}, "a WORKLOAD is missing"},
      {{"predict", "tccg:37", "--machine", "i7-6700k"}, "use tccg:1 to tccg:36"},
      {{"predict", "tccg:0", "--machine", "i7-6700k"}, "has no workload '0'"},
      {{"predict", "tccg:8x", "--machine", "i7-6700k"}, "has no workload '8x'"},
      {{"predict", "ij-ik-kj", "--machine", "i7-6700k"}, "add --size"},
      {{"predict", "ij-ik-kj", "--size", "i=4,j=4", "--machine", "i7-6700k"}, "'k'"},
      {with_matmul("predict", {"--format", "xml"}), "use one of table, json, csv"},
      {with_matmul("predict", {"--accounting", "mine"}), "use one of honest, paper"},
      {with_matmul("predict", {"--model", "oracle"}), "use one of window, listing3"},
      {with_matmul("predict", {"--set", "L9.capacity=1MiB"}), "L9"},
      {with_matmul("predict", {"--frobnicate"}), "frobnicate"},
      {with_matmul("predict", {"more"}), "'more' is one argument too many"},
      {{"predict", "tccg:8", "--machine", "nosuch"}, "e5-2680v4"},
      {{"predict", "tccg:8", "--size", "a=1", "--machine", "i7-6700k"}, "is a suite"},
      {{"list", "wishes"}, "use one of workloads, chains, machines, kernels"},
      {{"machine", "admire", "i7-6700k"}, "use one of show, check, diff, import, export"},
      {{"machine", "show"}, "a machine is missing"},
      {{"machine", "diff", "i7-6700k"}, "1 names are given; give two"},
      {{"machine", "export", "i7-6700k"}, "say --to kerncraft"},
      {{"machine", "export", "i7-6700k", "--to", "word"}, "kerncraft"},
      {{"machine", "export", "i7-6700k", "--to", "blis", "--kernel", "8"}, "such as 8x6"},
      {{"predict", "conv2d", "--size", "k=3", "--machine", "i7-6700k"}, "'c' is missing"},
      {with_matmul("predict", {"--threads", "0"}),
       "0 is out of range; give a whole number, at least 1"},
      {with_matmul("predict", {"--schedule", "nosuch.txt"}), "there is no file 'nosuch.txt'"},
      {with_matmul("run", {"--repetitions", "0"}), "give 1 to 10000"},
      {{"report", "tccg:1", "--repetitions", "0"}, "--repetitions: 0 is out of range"},
      {{"report", "tccg:1", "--repetitions", "many"}, "'many' is no whole number"},
      {with_matmul("run", {"--batched", "0"}), "give a whole number, at least 1"},
      {with_matmul("run", {"--batched", "2", "--threads", "2"}), "leave out --threads"},
      {with_matmul("run", {"--seed", "-1"}), "--seed: -1 is out of range; give a whole number"},
      {with_matmul("run", {"--seed", "18446744073709551616"}), "is out of range"},
      {with_matmul("run", {"--seed", "1.5"}), "'1.5' is no whole number"},
      {with_matmul("run", {"--counters", "vtune"}), "'vtune' is one argument too many"},
      {with_matmul("run", {"--counters=vtune"}), "use one of auto, papi, likwid, none"},
      {with_matmul("predict", {"--format", "jsno"}), "did you mean 'json'?"},
      {with_matmul("predict", {"--shedule", "x"}), "did you mean '--schedule'?"},
      {{"optimise", "tccg:1"}, "did you mean 'optimize'?"},
      {{"sim"}, "did you mean 'simulate'?"},
      {{"help", "predikt"}, "did you mean 'predict'?"},
      {{"list", "kernel"}, "did you mean 'kernels'?"},
      {{"list", "workloads", "--type", "f64"}, "--type: list workloads has no such option"},
      {{"list", "machines", "--scheme", "packed"}, "--scheme: list machines has no such option"},
      {{"list", "kernels", "--scheme", "apart"}, "packed, in-place"},
      {{"list", "kernels", "--machine", "i7-6700k"}, "the kernels of i7-6700k are not known"},
      {with_matmul("predict", {"--out", "/nonexistent/x"}), "cannot be written"},
      {{"emit", "tccg", "--machine", "i7-6700k"}, "it has 36 contractions; name one: tccg:1"},
      {with_matmul("emit", {"--prefix", "my-"}), "no name in C begins with 'my-'"},
      {with_matmul("predict", {"--out", "/"}), "it is a folder; name a file"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.said);
    const Ran r = tcsim(c.args);
    EXPECT_EQ(r.code, Exit::usage);
    EXPECT_TRUE(contains(r.err, c.said)) << r.err;
    EXPECT_EQ(r.out, "");
  }
}

TEST(Size, May_have_blanks_around_every_part) {
  const auto run = [](const std::string& size) {
    return tcsim({"predict", "ij-ik-kj", "--size", size, "--machine", "i7-6700k"});
  };
  EXPECT_EQ(run(" i = 96 , j=72,\tk = 80 ").out, run("i=96,j=72,k=80").out);
  EXPECT_EQ(run("i = 9 6, j = 72, k = 80").code, Exit::usage);
}

TEST(SessionOption, Counts_where_the_command_line_says_nothing) {
  const auto file = test::scratch("session_test.toml");
  std::ofstream(file) << "schema = 1\n[design]\nworkload = \"ij-ik-kj\"\nsize = "
                         "\"i=96,j=72,k=80\"\nmachine = \"i7-6700k\"\nset = "
                         "[\"L1.ways=4\"]\naccounting = \"paper\"\n";
  const auto said = [&](std::vector<std::string> args) {
    args.insert(args.begin() + 1, {"--session", file.string()});
    return tcsim(args);
  };
  const std::vector<std::string> same{"predict",   "ij-ik-kj", "--size", "i=96,j=72,k=80",
                                      "--machine", "i7-6700k", "--set",  "L1.ways=4"};
  auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = same;
    all.insert(all.end(), more.begin(), more.end());
    return tcsim(all).out;
  };
  EXPECT_EQ(said({"predict"}).out, with({"--accounting", "paper"}));
  EXPECT_EQ(said({"predict", "--accounting", "honest"}).out, with({"--accounting", "honest"}));
  EXPECT_TRUE(contains(said({"predict", "--machine", "zen5"}).out, "machine zen5"));
  std::ofstream(file) << "schema = 1\n";
  const Ran bad = said({"predict"});
  EXPECT_EQ(bad.code, Exit::input);
  EXPECT_TRUE(contains(bad.err, "no design")) << bad.err;
  std::filesystem::remove(file);
}

TEST(Input, A_bad_schedule_is_an_input_error_with_its_place) {
  const Ran syntax = tcsim(with_matmul("predict", {"--schedule", "groups m=j n=i k=k for m by {"}));
  EXPECT_EQ(syntax.code, Exit::input);
  EXPECT_TRUE(contains(syntax.err, "--schedule:1:")) << syntax.err;
  const Ran illegal =
      tcsim(with_matmul("predict", {"--schedule", "groups m=j n=i k=k kernel 8x6"}));
  EXPECT_EQ(illegal.code, Exit::input) << illegal.err;
}

TEST(Predict, Prints_a_table_json_and_csv_with_the_same_numbers) {
  const Ran table = tcsim(with_matmul("predict"));
  ASSERT_EQ(table.code, Exit::done) << table.err;
  for (const char* part : {"L1-register", "L3-memory", "bottleneck", "schedule\ngroups m=j n=i k=k",
                           "honest", "of FMA peak"}) {
    EXPECT_TRUE(contains(table.out, part)) << part;
  }
  EXPECT_TRUE(contains(table.out, "by tensor")) << table.out;
  const Ran as_json = tcsim(with_matmul("predict", {"--format", "json"}));
  ASSERT_EQ(as_json.code, Exit::done) << as_json.err;
  const json j = json::parse(as_json.out);
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["command"], "predict");
  EXPECT_EQ(j["workload"]["label"], "ij-ik-kj");
  EXPECT_EQ(j["machine"]["name"], "i7-6700k");
  EXPECT_EQ(j["accounting"]["name"], "honest");
  ASSERT_EQ(j["levels"].size(), 4u);
  EXPECT_EQ(j["levels"][3]["name"], "memory");
  EXPECT_EQ(j["levels"][3]["link"], "L3-memory");
  // Everything fits L3: three tensors in, C out, and nothing else moves over the last link except
  // the two packing buffers. i=96, j=72, k=80.
  const std::int64_t a = 96 * 80 * 8, b = 80 * 72 * 8, c = 96 * 72 * 8;
  EXPECT_EQ(j["levels"][3]["by_tensor"]["A"]["predicted_bytes"], a);
  EXPECT_EQ(j["levels"][3]["by_tensor"]["B"]["predicted_bytes"], b);
  EXPECT_EQ(j["levels"][3]["by_tensor"]["C"]["predicted_bytes"], 2 * c);
  EXPECT_NEAR(j["predicted_gflops"].get<double>() * 1e9 * j["predicted_seconds"].get<double>(),
              2.0 * 96 * 72 * 80, 1);

  const Ran csv = tcsim(with_matmul("predict", {"--format", "csv"}));
  const auto rows = lines(csv.out);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_TRUE(contains(rows[0], "predicted_bytes,simulated_bytes"));
  EXPECT_TRUE(contains(
      rows[4],
      ",L3-memory," + std::to_string(j["levels"][3]["predicted_bytes"].get<std::int64_t>())));
}

TEST(Simulate, Says_how_long_the_bytes_that_it_counted_take) {
  const json j = json::parse(tcsim(with_matmul("simulate", {"--format", "json"})).out);
  double slowest = j["compute_seconds"];
  std::string link = "compute";
  for (const json& level : j["levels"]) {
    const double seconds = level["predicted_seconds"].get<double>() /
                           level["predicted_bytes"].get<double>() *
                           level["simulated_bytes"].get<double>();
    if (seconds > slowest) {
      slowest = seconds;
      link = level["link"];
    }
  }
  EXPECT_NEAR(j["simulated_seconds"].get<double>(), slowest, 1e-6 * slowest);
  EXPECT_EQ(j["simulated_bottleneck"], link);
  EXPECT_NEAR(j["simulated_gflops"].get<double>() * slowest, 2e-9 * 96 * 72 * 80, 1e-12);
  // Nothing was simulated, so nothing is said.
  EXPECT_FALSE(json::parse(tcsim(with_matmul("predict", {"--format", "json"})).out)
                   .contains("simulated_seconds"));
}

// The paper's model knows no sets and no order of accesses.
TEST(Simulate, Says_so_where_it_comes_to_another_time_than_the_model) {
  const Ran table = tcsim({"simulate", "ij-ik-kj", "--size", "i=64,j=512,k=512", "--machine",
                           "i7-6700k", "--model", "listing3", "--schedule",
                           "groups m=i n=j k=k for n by 6 { for m by 8 { kernel 8x6 } }"});
  ASSERT_EQ(table.code, Exit::done) << table.err;
  EXPECT_TRUE(contains(table.out, "\n  simulated")) << table.out;
  EXPECT_TRUE(contains(table.out, "\n  disagreement  time: predicted ")) << table.out;
}

TEST(Predict, Same_input_gives_the_same_bytes) {
  EXPECT_EQ(tcsim(with_matmul("predict", {"--format", "json"})).out,
            tcsim(with_matmul("predict", {"--format", "json"})).out);
}

TEST(Optimize, Schedule_can_be_given_back) {
  const json chosen = json::parse(tcsim(with_matmul("optimize", {"--format", "json"})).out);
  EXPECT_GE(chosen["certificate"]["achieved_seconds"].get<double>(), 0);
  const auto text = chosen["schedule"].get<std::string>();
  const json again =
      json::parse(tcsim(with_matmul("predict", {"--format", "json", "--schedule", text})).out);
  EXPECT_EQ(again["schedule"], text);
  EXPECT_EQ(again["levels"], chosen["levels"]);
  EXPECT_FALSE(again.contains("certificate"));
}

// Whom the bound binds stands beside it; a schedule that it does not bind is not certified.
TEST(Optimize, The_gap_is_what_the_schedule_takes_beyond_the_bound) {
  const std::vector<std::string> workload{"optimize",       "ij-ik-kj",  "--size",
                                          "i=50,j=30,k=70", "--machine", "i7-6700k"};
  std::vector<std::string> as_json = workload;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json j = json::parse(tcsim(as_json).out)["certificate"];
  const double gap =
      j["achieved_seconds"].get<double>() / j["relaxed_bound_seconds"].get<double>() - 1;
  EXPECT_NEAR(j["gap"].get<double>(), gap, 1e-9);
  EXPECT_TRUE(contains(tcsim(workload).out, fmt::format("gap {:.2f} %:", 100 * gap)));
}

TEST(Optimize, Names_the_family_that_its_bound_holds_for) {
  // Packs are a large part of so small a problem; it would do without them, but for --divide.
  std::vector<std::string> packed{
      "optimize",  "edc-eabc-adb", "--size",  "a=14,b=11,c=5,d=13,e=25", "--divide", "--layout",
      "row-major", "--machine",    "i7-6700k"};
  const Ran table = tcsim(packed);
  EXPECT_TRUE(contains(table.out, "no schedule of the family (kernels within 8x6, 12x4 or 4x12"))
      << table.out;
  packed.insert(packed.end(), {"--format", "json"});
  const json j = json::parse(tcsim(packed).out);
  EXPECT_TRUE(contains(j["certificate"]["family"], "kernels within 8x6, 12x4 or 4x12"));
  EXPECT_EQ(j["certificate"]["any_schedule"], false);
  const double any = j["certificate"]["any_schedule_bound_seconds"];
  EXPECT_LT(any, j["certificate"]["relaxed_bound_seconds"].get<double>());
  EXPECT_NEAR(j["certificate"]["any_schedule_gap"].get<double>(),
              j["certificate"]["achieved_seconds"].get<double>() / any - 1, 1e-12);
  EXPECT_TRUE(contains(table.out, "\n                no schedule at all is quicker than "))
      << table.out;
  EXPECT_FALSE(j.contains("not_certified"));

  // Where packing does not count and no kernel loads less than the family's, its bound is that of
  // all.
  const Ran all = tcsim(with_matmul("optimize", {"--accounting", "paper"}));
  EXPECT_TRUE(contains(all.out, ": no schedule at all is quicker than the bound")) << all.out;
  EXPECT_FALSE(contains(all.out, "of the family")) << all.out;

  const char* const outside =
      "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 3 { for m by 16 { kernel 16x3 } } "
      "} "
      "}";
  const Ran given = tcsim(with_matmul("simulate", {"--schedule", outside}));
  EXPECT_TRUE(contains(given.out, "not certified: its kernel 16x3 is not within 8x6, 12x4 or 4x12"))
      << given.out << given.err;
  const json k =
      json::parse(tcsim(with_matmul("simulate", {"--schedule", outside, "--format", "json"})).out);
  EXPECT_FALSE(k.contains("certificate"));
  EXPECT_EQ(k["not_certified"], "its kernel 16x3 is not within 8x6, 12x4 or 4x12");
  EXPECT_LE(k["any_schedule_bound_seconds"].get<double>(), k["predicted_seconds"].get<double>());
  EXPECT_TRUE(contains(given.out, "no schedule at all is quicker than ")) << given.out;
}

// 48x6 in f32 is 6 x 6 vectors on 16 registers.
TEST(Schedule_option, Refuses_a_kernel_that_the_registers_do_not_hold) {
  const std::vector<std::string> large{
      "--type", "f32", "--schedule",
      "groups m=j n=i k=k for n by 6 { for m by 48 { kernel 48x6 } }"};
  for (const char* command :
       {"predict", "simulate", "run", "report", "validate", "whatif", "emit"}) {
    const Ran r = tcsim(with_matmul(command, large));
    EXPECT_EQ(r.code, Exit::unsupported) << command;
    EXPECT_TRUE(contains(r.err,
                         "'kernel 48x6' needs 43 vector registers of 256 bits for f32, and "
                         "i7-6700k has 16; use kernel 16x6"))
        << r.err;
    EXPECT_EQ(r.out, "");
  }
  auto more = large;
  more.insert(more.end(), {"--set", "core.vector_registers=64"});
  EXPECT_EQ(tcsim(with_matmul("predict", more)).code, Exit::done);
  EXPECT_EQ(tcsim(with_matmul("predict", {"--set", "core.vector_registers=8", "--schedule",
                                          "groups m=j n=i k=k for n by 6 { for m by 8 { kernel 8x6 "
                                          "} }"}))
                .code,
            Exit::unsupported);
}

// The model knows no hash, says so, and predicts the same; the simulator counts what it does.
TEST(Hashed_levels, Are_predicted_as_by_modulo_with_a_warning) {
  const std::string said = "hashed levels (L3) are predicted as if a line's set were its number";
  const std::vector<std::string> sliced{"--set", "L3.index=sliced-4", "--format", "json"};
  const json j = json::parse(tcsim(with_matmul("predict", sliced)).out);
  ASSERT_EQ(j["warnings"].size(), 1u);
  EXPECT_TRUE(contains(j["warnings"][0], said));
  const json plain = json::parse(tcsim(with_matmul("predict", {"--format", "json"})).out);
  EXPECT_EQ(j["predicted_seconds"], plain["predicted_seconds"]);
  EXPECT_NE(j["machine"]["hash"], plain["machine"]["hash"]);
  const Ran both = tcsim(
      with_matmul("predict", {"--set", "L2.inclusion=inclusive", "--set", "L3.index=hashed"}));
  EXPECT_TRUE(contains(both.out, "simulate counts it; " + said)) << both.out;
  const Ran refused = tcsim(with_matmul("simulate", {"--set", "L3.index=sliced-3"}));
  EXPECT_EQ(refused.code, Exit::usage);
  EXPECT_TRUE(contains(refused.err, "L3.index: 'sliced-3': no way to choose a set")) << refused.err;
}

// What an inclusive level takes away from the caches inside is not predicted, and every form says
// so.
TEST(Inclusive_levels, Are_predicted_with_a_warning) {
  const std::string said = "lines that inclusive levels (L2, L3) take away from the caches inside";
  const std::vector<std::string> inclusive{"--set", "L2.inclusion=inclusive", "--set",
                                           "L3.inclusion=inclusive"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), inclusive.begin(), inclusive.end());
    return more;
  };
  for (const char* command : {"predict", "optimize", "validate", "whatif", "simulate"}) {
    SCOPED_TRACE(command);
    EXPECT_TRUE(contains(tcsim(with_matmul(command, with({}))).out, "warning: " + said));
    const json j = json::parse(tcsim(with_matmul(command, with({"--format", "json"}))).out);
    ASSERT_EQ(j["warnings"].size(), 1u);
    EXPECT_TRUE(contains(j["warnings"][0], said));
    const Ran csv = tcsim(with_matmul(command, with({"--format", "csv"})));
    EXPECT_TRUE(contains(csv.err, "warning: " + said)) << csv.err;
    EXPECT_FALSE(contains(tcsim(with_matmul(command)).out, "warning"));
    EXPECT_FALSE(
        json::parse(tcsim(with_matmul(command, {"--format", "json"})).out).contains("warnings"));
  }
  EXPECT_TRUE(contains(tcsim(with_matmul("emit", with({}))).err, "warning: " + said));
}

// Joules by hand: the bytes of every link, times the energies that were set.
TEST(Optimize, Least_energy_needs_figures_and_is_counted_with_them) {
  const Ran without = tcsim(with_matmul("optimize", {"--objective", "energy"}));
  EXPECT_EQ(without.code, Exit::unsupported);
  EXPECT_TRUE(contains(without.err, "--set L1.energy=25pJ/B")) << without.err;

  const Ran with =
      tcsim(with_matmul("optimize", {"--objective", "energy", "--format", "json", "--set",
                                     "caches.energy=2pJ/B", "--set", "memory.energy=30pJ/B"}));
  ASSERT_EQ(with.code, Exit::done) << with.err;
  const json r = json::parse(with.out);
  double joules = 0;
  for (const json& level : r["levels"]) {
    joules += level["predicted_bytes"].get<double>() * (level["name"] == "memory" ? 30 : 2) * 1e-12;
  }
  EXPECT_NEAR(r["energy_joules"].get<double>(), joules, 1e-9 * joules);
  EXPECT_EQ(r["certificate"]["objective"], "energy");
  EXPECT_NEAR(r["certificate"]["achieved_joules"].get<double>(), joules, 1e-9 * joules);
  EXPECT_LE(r["certificate"]["relaxed_bound_joules"].get<double>(), joules);
}

// Whether every tile of k divides the one outside it; k has 72 x 72.
bool tiles_of_k_divide(const std::string& schedule) {
  std::int64_t outer = 1000;
  const std::string loop = "for k by ";
  for (std::size_t at = 0; (at = schedule.find(loop, at)) != std::string::npos;) {
    const std::int64_t tile = std::stoll(schedule.substr(at += loop.size()));
    if (outer % tile != 0) return false;
    outer = tile;
  }
  return true;
}

TEST(Optimize, Tiles_divide_where_that_is_asked_for) {
  std::vector<std::string> args{"optimize",  "ij-ik-kj", "--size",   "i=1500,j=1500,k=1000",
                                "--machine", "i7-6700k", "--format", "json"};
  const auto schedule = [&] { return json::parse(tcsim(args).out)["schedule"].get<std::string>(); };
  EXPECT_FALSE(tiles_of_k_divide(schedule()));
  args.push_back("--divide");
  EXPECT_TRUE(tiles_of_k_divide(schedule()));
}

TEST(Override, Schedule_prediction_and_simulation_follow_a_changed_figure) {
  const auto run = [](const std::string& capacity) {
    return json::parse(tcsim({"simulate", "ij-ik-kj", "--size", "i=384,j=384,k=384", "--machine",
                              "i7-6700k", "--format", "json", "--set", "L2.capacity=" + capacity})
                           .out);
  };
  const json small = run("64KiB"), large = run("1MiB");
  EXPECT_NE(small["schedule"], large["schedule"]);
  EXPECT_NE(small["machine"]["hash"], large["machine"]["hash"]);
  for (const char* kind : {"predicted_bytes", "simulated_bytes"}) {
    EXPECT_GT(small["levels"][2][kind].get<double>(), 1.2 * large["levels"][2][kind].get<double>());
  }
}

TEST(Override, A_value_that_had_to_give_way_is_said) {
  const Ran r = tcsim({"predict", "ij-ik-kj", "--size", "i=64,j=64,k=64", "--machine", "e5-2680v4",
                       "--set", "L3.capacity=4MiB"});
  EXPECT_EQ(r.code, Exit::done);
  EXPECT_TRUE(contains(r.err, "note: L3.capacity")) << r.err;
}

TEST(Simulate, Reports_both_and_their_error) {
  const json j = json::parse(tcsim(with_matmul("simulate", {"--format", "json"})).out);
  for (const json& level : j["levels"]) {
    const double p = level["predicted_bytes"], s = level["simulated_bytes"];
    EXPECT_NEAR(level["error"].get<double>(), p / s - 1, 1e-12);
    EXPECT_LT(std::abs(p / s - 1), 0.1) << level["name"];
  }
}

// Also where the machine does not say what packs and calls lose.
TEST(Run, And_bench_take_the_choice_for_what_runs) {
  const Machine m = find_machine("i7-6700k");
  const Contraction c = parse_contraction("cbd-acd-cba", parse_sizes("a=99,b=8,c=12,d=155"),
                                          Layout::column_major, ElementType::f32);
  OptimizeOptions other;
  other.rewrite = true;
  const Schedule expected = optimize(c, m, for_running()).schedule;
  ASSERT_NE(optimize(c, m, other).schedule, expected);
  const json run = json::parse(
      tcsim({"run", "cbd-acd-cba", "--size", "a=99,b=8,c=12,d=155", "--layout", "column-major",
             "--type", "f32", "--machine", "i7-6700k", "--repetitions", "1", "--format", "json"})
          .out);
  EXPECT_EQ(run["schedule"], to_line(expected, c));
  const json bench =
      json::parse(tcsim({"bench", "random", "--number", "3", "--seed", "5", "--machine", "i7-6700k",
                         "--peers", "none", "--repetitions", "1", "--format", "json"})
                      .out);
  std::size_t i = 0;
  for (const Contraction& drawn : random_contractions(5, 3)) {
    EXPECT_EQ(bench["cases"][i++]["schedule"],
              to_line(optimize(drawn, m, for_running()).schedule, drawn));
    EXPECT_GT(bench["cases"][i - 1]["expected_seconds"].get<double>(), 0);
  }
  EXPECT_EQ(bench["measured_over_expected"]["cases"], 3);
}

TEST(Run, Measures_checks_and_says_which_kernel) {
  const Ran r = tcsim(with_matmul("run", {"--format", "json", "--repetitions", "3"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const json j = json::parse(r.out);
  EXPECT_GT(j["measured_seconds"].get<double>(), 0);
  EXPECT_EQ(j["repetitions_seconds"].size(), 3u);
  EXPECT_LE(j["check_error_over_bound"].get<double>(), 1);
  EXPECT_TRUE(contains(j["kernel"], "8x6"));
}

// What ran has an expected time beside the predicted one, of which it is told what it consists of;
// what is only predicted for a machine of which no losses were measured has none.
TEST(Run, Says_what_was_expected) {
  const json j =
      json::parse(tcsim(with_matmul("run", {"--format", "json", "--repetitions", "1"})).out);
  const json& e = j["expected"];
  const double core = e["compute_seconds"].get<double>() + e["waiting_seconds"].get<double>() +
                      e["packs_and_calls_seconds"].get<double>();
  EXPECT_DOUBLE_EQ(j["expected_seconds"].get<double>(),
                   std::max(core, e["slowest_link_seconds"].get<double>()));
  EXPECT_GT(j["expected_seconds"], j["predicted_seconds"]);
  EXPECT_GT(e["packs_and_calls_seconds"], 0);
  const Ran table = tcsim(with_matmul("run", {"--repetitions", "1"}));
  EXPECT_TRUE(contains(table.out, "\n  expected  ")) << table.out;
  EXPECT_TRUE(contains(table.out, "\n  expected      computing ")) << table.out;
  EXPECT_FALSE(contains(tcsim(with_matmul("run", {"--repetitions", "1", "--batched", "2"})).out,
                        "expected"));
  EXPECT_FALSE(contains(tcsim(with_matmul("predict", {})).out, "expected"));
  const Ran csv = tcsim(with_matmul("run", {"--format", "csv", "--repetitions", "1"}));
  EXPECT_TRUE(contains(csv.out, ",expected_seconds,")) << csv.out;
}

TEST(Run, Does_not_rate_this_machine_by_the_peak_of_another) {
  const Ran r = tcsim(with_matmul("run", {"--repetitions", "1"}));
  EXPECT_TRUE(contains(r.out, "measured on this machine, predicted for i7-6700k")) << r.out;
}

// What the file computes is tested in tests/emit.
TEST(Emit, Writes_the_chosen_schedule_and_what_is_predicted_for_it) {
  const json chosen = json::parse(tcsim(with_matmul("predict", {"--format", "json"})).out);
  const Ran r = tcsim(with_matmul("emit", {"--prefix", "mine_", "--seed", "7"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const Contraction c = parse_contraction("ij-ik-kj", parse_sizes("i=96,j=72,k=80"),
                                          Layout::row_major, ElementType::f64);
  const Schedule schedule = parse_schedule(chosen["schedule"].get<std::string>(), c, "test");
  for (const std::string& line : lines(to_text(schedule, c))) {
    EXPECT_TRUE(contains(r.out, " *     " + line + "\n")) << line;
  }
  EXPECT_TRUE(
      contains(r.out, fmt::format("{:.1f} GFLOPS", chosen["predicted_gflops"].get<double>())))
      << r.out;
  EXPECT_TRUE(contains(r.out, "int mine_contract(")) << r.out;
  EXPECT_TRUE(contains(r.out, "mine_hash(7u)")) << r.out;
}

TEST(Accounting, Paper_counts_less_than_honest) {
  const json honest = json::parse(tcsim(with_matmul("predict", {"--format", "json"})).out);
  const json paper = json::parse(
      tcsim(with_matmul("predict", {"--format", "json", "--accounting", "paper", "--schedule",
                                    honest["schedule"].get<std::string>()}))
          .out);
  EXPECT_LT(paper["levels"][3]["predicted_bytes"], honest["levels"][3]["predicted_bytes"]);
  EXPECT_EQ(paper["compute_seconds"], 0);
}

TEST(List, Shows_what_ships_in_every_format) {
  // A header, tccg, yolo9000, resnet18, vgg16, mobilenet-v2, attention, hard.
  constexpr std::size_t shipped = 36 + 11 + 12 + 9 + 31 + 15 + 85;
  EXPECT_EQ(lines(tcsim({"list", "workloads"}).out).size(), 1 + shipped);
  EXPECT_TRUE(contains(tcsim({"list", "machines"}).out, "e5-2680v4"));
  EXPECT_EQ(json::parse(tcsim({"list", "workloads", "--format", "json"}).out)["rows"].size(),
            shipped);
  EXPECT_EQ(lines(tcsim({"list", "machines", "--format", "csv"}).out)[0],
            "machine,levels,peak_f64_gflops,description");
}

TEST(Machine, What_is_not_modelled_is_simulated_alone) {
  const std::vector<std::string> fifo{"--set", "L2.replacement=fifo"};
  const Ran predicted = tcsim(with_matmul("predict", fifo));
  EXPECT_EQ(predicted.code, Exit::unsupported);
  EXPECT_TRUE(contains(predicted.err, "replacement fifo is not modelled")) << predicted.err;
  const Ran simulated = tcsim(with_matmul("simulate", fifo));
  EXPECT_EQ(simulated.code, Exit::done) << simulated.err;
  EXPECT_TRUE(contains(simulated.err, "note: nothing is predicted")) << simulated.err;
}

TEST(Override, A_line_shorter_than_an_element_is_refused) {
  const Ran r = tcsim(with_matmul(
      "simulate", {"--set", "L1.line=4B", "--set", "L2.line=4B", "--set", "L3.line=4B"}));
  EXPECT_EQ(r.code, Exit::input);
  EXPECT_TRUE(contains(r.err, "8 to 4096")) << r.err;
}

TEST(Run, A_batch_is_of_independent_contractions_on_cores_that_share) {
  const std::vector<std::string> both{"--batched", "2", "--repetitions", "1"};
  std::vector<std::string> as_json = both;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json j = json::parse(tcsim(with_matmul("run", as_json)).out);
  EXPECT_EQ(j["copies"], 2);
  EXPECT_EQ(j["threads"], 2);
  EXPECT_LE(j["check_error_over_bound"].get<double>(), 1);
  const Ran table = tcsim(with_matmul("run", both));
  EXPECT_EQ(table.code, Exit::done);
  for (const char* part :
       {"each of 2 cores at work", "measured each", "together", "2 contractions at a time"}) {
    EXPECT_TRUE(contains(table.out, part)) << part << table.out;
  }
}

TEST(Stop, A_suite_that_is_interrupted_prints_what_it_has) {
  std::stop_source stop;
  stop.request_stop();
  const Ran r =
      tcsim({"predict", "tccg", "--machine", "i7-6700k", "--format", "json"}, stop.get_token());
  EXPECT_EQ(r.code, Exit::interrupted);
  EXPECT_TRUE(contains(r.err, "interrupted after 0 of 36"));
  EXPECT_TRUE(json::parse(r.out).contains("results"));
}

}  // namespace
}  // namespace tcsim::cli
