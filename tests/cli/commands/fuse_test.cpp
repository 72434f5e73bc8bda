// tcsim fuse, as a user sees it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "chains/tensor_files.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

std::vector<std::string> small_chain(std::vector<std::string> more = {}) {
  std::vector<std::string> args{"fuse",      "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]",
                                "--size",    "a=20,b=30,p=24,q=16",
                                "--tiles",   "4KiB",
                                "--machine", "zen5"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(FuseCommand, Prints_the_ways_side_by_side) {
  const Ran r = tcsim(small_chain());
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const std::vector<std::string> all = lines(r.out);
  EXPECT_EQ(all[0], "chain: 2 contractions, 3.456e-05 Gflop, tensors of 18.11 kB");
  EXPECT_EQ(all[1],
            "memory of 4KiB for tiles; disk: 2 GB/s in, 1 GB/s out, 100 us a transfer (assumed)");
  for (const char* part :
       {"T[a,q] += C[a,p] * A[p,q]", "B[a,b] += T[a,q] * D[b,q]", "output", "\n  chosen ",
        "\n  fully fused ", "\n  unfused ", "above bound", "equal",
        "structures with everything fused: 3 with a loop at every node, 1 maximally fused",
        "\nchosen:\n", "memory of 2 KiB", "memory of 16 KiB", "a disk of twice the rates",
        "transfers that begin in a tenth"}) {
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  }
  EXPECT_FALSE(contains(r.out, "DIFFERS"));
  const Ran shorter = tcsim(small_chain({"--no-whatif"}));
  EXPECT_TRUE(r.out.starts_with(shorter.out));
  EXPECT_FALSE(contains(shorter.out, "twice the rates"));
}

void expect_a_way(const json& way, std::int64_t limit) {
  EXPECT_TRUE(way["cut_points"].is_array());
  EXPECT_TRUE(way["schedule"].is_string());
  EXPECT_GT(way["memory_bytes"], 0);
  EXPECT_LE(way["memory_bytes"], limit);
  EXPECT_EQ(way["simulated_memory_bytes"], way["memory_bytes"]);
  ASSERT_EQ(way["levels"].size(), 1U);
  const json& disk = way["levels"][0];
  EXPECT_EQ(disk["name"], "disk");
  EXPECT_EQ(disk["simulated_bytes"], disk["predicted_bytes"]);
  std::int64_t read = 0, written = 0, transfers = 0;
  for (const json& t : disk["by_tensor"]) {
    read += t["read_bytes"].get<std::int64_t>();
    written += t["written_bytes"].get<std::int64_t>();
    transfers += t["transfers"].get<std::int64_t>();
  }
  EXPECT_EQ(disk["read_bytes"], read);
  EXPECT_EQ(disk["written_bytes"], written);
  EXPECT_EQ(disk["predicted_bytes"], read + written);
  EXPECT_EQ(disk["transfers"], transfers);
  EXPECT_NEAR(disk["predicted_seconds"].get<double>(),
              static_cast<double>(read) / 2e9 + static_cast<double>(written) / 1e9 +
                  static_cast<double>(transfers) * 1e-4,
              1e-12);
  EXPECT_NEAR(way["predicted_seconds"].get<double>(),
              disk["predicted_seconds"].get<double>() + way["arithmetic_seconds"].get<double>(),
              1e-12);
}

TEST(FuseCommand, Has_the_fields_of_its_JSON) {
  const json j = json::parse(tcsim(small_chain({"--format", "json"})).out);
  EXPECT_EQ(j["command"], "fuse");
  EXPECT_TRUE(j["schema"].is_number() && j["tcsim_version"].is_string());
  EXPECT_EQ(j["workload"]["name"], "chain");
  EXPECT_EQ(j["workload"]["flops"], 34560);
  EXPECT_EQ(j["workload"]["statements"],
            (json{"T[a,q] += C[a,p] * A[p,q]", "B[a,b] += T[a,q] * D[b,q]"}));
  EXPECT_EQ(j["machine"]["name"], "zen5");
  EXPECT_EQ(j["machine"]["hash"],
            json::parse(tcsim({"machine", "show", "zen5", "--format", "json"}).out)["hash"]);
  EXPECT_EQ(j["memory_limit_bytes"], 4096);
  EXPECT_EQ(j["overlap"], false);
  EXPECT_EQ(j["disk"], (json{{"read_bytes_per_second", 2e9},
                             {"write_bytes_per_second", 1e9},
                             {"transfer_seconds", 1e-4},
                             {"assumed", true}}));
  EXPECT_EQ(j["enumeration"], (json{{"contractions", 2}, {"total", 3}, {"pruned", 1}}));
  expect_a_way(j, 4096);
  expect_a_way(j["unfused"], 4096);
  expect_a_way(j["fully_fused"], 4096);
  EXPECT_EQ(j["unfused"]["cut_points"], json{"T"});
  EXPECT_EQ(j["fully_fused"]["cut_points"], json::array());
  const json& certificate = j["certificate"];
  EXPECT_GT(certificate["relaxed_bound_seconds"], 0);
  EXPECT_NEAR(certificate["gap"].get<double>(),
              certificate["achieved_seconds"].get<double>() /
                      certificate["relaxed_bound_seconds"].get<double>() -
                  1,
              1e-12);
  EXPECT_EQ(j["whatif"].size(), 6U);
  EXPECT_EQ(j["whatif"][0]["change"], "memory of 1 KiB");
}

TEST(FuseCommand, Prints_CSV) {
  const Ran r = tcsim(small_chain({"--format", "csv", "--no-whatif"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const std::vector<std::string> all = lines(r.out);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0],
            "chain,program,cut_points,read_bytes,written_bytes,transfers,memory_bytes,disk_seconds,"
            "bound_seconds,arithmetic_seconds,predicted_seconds");
  EXPECT_TRUE(all[1].starts_with("chain,chosen,0,")) << all[1];
  EXPECT_TRUE(all[2].starts_with("chain,fully fused,0,")) << all[2];
  EXPECT_TRUE(all[3].starts_with("chain,unfused,1,")) << all[3];
}

TEST(FuseCommand, Takes_the_schedule_that_it_prints) {
  const json j = json::parse(tcsim(small_chain({"--format", "json", "--no-whatif"})).out);
  const std::string text = j["unfused"]["schedule"];
  const std::string file = test::scratch("fuse_schedule").string();
  std::ofstream(file) << text;
  for (const std::string& schedule : {text, file}) {
    const Ran r = tcsim(small_chain({"--format", "json", "--no-whatif", "--schedule", schedule}));
    ASSERT_EQ(r.code, Exit::done) << r.err;
    const json given = json::parse(r.out);
    for (const char* field : {"schedule", "memory_bytes", "levels", "predicted_seconds"}) {
      EXPECT_EQ(given[field], j["unfused"][field]) << field;
    }
    EXPECT_FALSE(given.contains("certificate"));  // of a given one nothing is promised
    EXPECT_EQ(given["chosen"]["schedule"], j["schedule"]);
  }
  EXPECT_TRUE(contains(tcsim(small_chain({"--schedule", file, "--no-whatif"})).out, "\ngiven:\n"));
  std::filesystem::remove(file);
}

TEST(FuseCommand, Overlaps_transfers_and_arithmetic) {
  const json j =
      json::parse(tcsim(small_chain({"--format", "json", "--no-whatif", "--overlap", "--disk-read",
                                     "1GB/s", "--disk-write", "1GB/s", "--disk-transfer", "1us"}))
                      .out);
  EXPECT_EQ(j["overlap"], true);
  EXPECT_EQ(j["disk"]["assumed"], false);
  EXPECT_LE(j["memory_bytes"], 4096);
  EXPECT_EQ(j["predicted_seconds"], std::max(j["levels"][0]["predicted_seconds"].get<double>(),
                                             j["arithmetic_seconds"].get<double>()));
}

TEST(FuseCommand, Says_how_a_product_is_ordered) {
  const std::vector<std::string> product{
      "fuse", "ij,jk,kl->il", "--size", "i=2,j=30,k=5,l=7", "--tiles",
      "1MiB", "--machine",    "zen5",   "--no-whatif"};
  EXPECT_TRUE(contains(tcsim(product).out, "order of Out: ((X1 X2) X3), 370 multiply-adds"));
  std::vector<std::string> given = product;
  given.insert(given.end(), {"--order", "X1 (X2 X3)", "--format", "json"});
  const json j = json::parse(tcsim(given).out);
  EXPECT_EQ(
      j["workload"]["orders"],
      (json::array({{{"tensor", "Out"}, {"order", "(X1 (X2 X3))"}, {"multiply_adds", 1470}}})));
}

TEST(FuseCommand, Does_all_of_a_suite) {
  const std::string suite = test::scratch("fuse_suite.toml").string();
  std::ofstream(suite) << "schema = 1\nname = \"mine\"\ntype = \"f32\"\n"
                          "statements = \"\"\"\nT[a,q] += C[a,p] * A[p,q]\n"
                          "B[a,b] += T[a,q] * D[b,q]\n\"\"\"\n"
                          "[[workload]]\nsizes = \"a=4,b=5,p=6,q=7\"\n"
                          "[[workload]]\nsizes = \"a=8,b=9,p=6,q=7\"\n";
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"fuse", suite, "--tiles", "1KiB", "--machine", "zen5", "--no-whatif"});
    return tcsim(more);
  };
  const Ran table = with({});
  ASSERT_EQ(table.code, Exit::done) << table.err;
  EXPECT_TRUE(table.out.starts_with("mine:1: ") && contains(table.out, "\n\nmine:2: "));
  const json j = json::parse(with({"--format", "json"}).out);
  ASSERT_EQ(j["results"].size(), 2U);
  EXPECT_EQ(j["results"][1]["workload"]["name"], "mine:2");
  EXPECT_EQ(lines(with({"--format", "csv"}).out).size(), 7U);
  const Ran one = tcsim({"fuse", suite + ":2", "--tiles", "1KiB", "--machine", "zen5",
                         "--no-whatif", "--format", "json"});
  EXPECT_EQ(json::parse(one.out), j["results"][1]);
  std::filesystem::remove(suite);
}

TEST(FuseCommand, Says_what_is_wrong) {
  const auto said = [](const std::vector<std::string>& args, Exit code, const std::string& part) {
    const Ran r = tcsim(args);
    EXPECT_EQ(r.code, code) << part << "\n" << r.err;
    EXPECT_TRUE(contains(r.err, part)) << r.err;
    EXPECT_EQ(r.out, "");
  };
  said({"fuse"}, Exit::usage, "fuse: no chain is named");
  said({"fuse", "fourindex:1", "--machine", "zen5", "--run", "/tmp"}, Exit::usage,
       "--run: belongs to a chain on disk; add --memory");
  said({"fuse", "fourindex:1", "--machine", "zen5", "--overlap"}, Exit::usage,
       "--overlap: belongs to a chain on disk; add --memory");
  said(small_chain({"--simulate"}), Exit::usage, "--simulate: belongs to a chain in memory");
  said({"fuse", "sixindex:1", "--memory", "1MiB", "--machine", "zen5"}, Exit::usage, "fourindex");
  said({"fuse", "T[a] += A[a,k] * B[k]", "--memory", "1MiB"}, Exit::usage, "sizes are missing");
  said({"fuse", "T[a] += A[a,k] * B[k", "--size", "a=3,k=4", "--memory", "1MiB"}, Exit::input,
       "CHAIN:1:21: ");
  said({"fuse", "T[a] += A[a,k]", "--size", "a=3,k=4", "--memory", "1MiB", "--machine", "zen5"},
       Exit::unsupported, "sums of one tensor are not fused yet");
  said(small_chain({"--memory", "1MiB"}), Exit::usage, "give one of them");
  said({"fuse", "ab,bc->ac", "--size", "a=3,b=4,c=5", "--memory", "much", "--machine", "zen5"},
       Exit::usage, "much");
  said({"fuse", "ab,bc->ac", "--size", "a=3,b=4,c=5", "--tiles", "20B", "--machine", "zen5"},
       Exit::unsupported, "no tiles fit into 20B of memory; give at least 24B");
  said(small_chain({"--disk-read", "fast"}), Exit::usage, "fast");
  said(small_chain({"--disk-read", "0GB/s"}), Exit::usage, "0GB/s");
  said(small_chain({"--disk-transfer", "-1us"}), Exit::usage, "-1us");
  said(small_chain({"--disk-transfer", "1day"}), Exit::usage, "no unit of time");
  said(small_chain({"--schedule", "no-such-file"}), Exit::input, "no-such-file");
  said(small_chain({"--schedule", "hold T { do X }"}), Exit::input,
       "--schedule:1:13: a tensor that a statement makes expected");
  said(small_chain({"--schedule", "load C { load A { store T { do T } } }"}), Exit::input,
       "--schedule: no 'do B'");
  said(small_chain({"--schedule",
                    "hold T { seq { load C { load A { do T } } load D { store B { do B } } } }"}),
       Exit::unsupported, "--schedule: its tiles take");
  said({"fuse", "ab,bc->ac", "--size", "a=3,b=4,c=5", "--memory", "20B", "--machine", "zen5"},
       Exit::unsupported, "a run does not fit into 20B of memory; give at least");
  said(small_chain({"--order", "A B"}), Exit::usage, "--order: the chain has 0 products");
}

TEST(FuseCommand, Writes_its_program_as_C) {
  const std::filesystem::path file = test::scratch("fuse_emit.c");
  const Ran r = tcsim(small_chain({"--no-whatif", "--emit", file.string()}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  EXPECT_TRUE(contains(text.str(), "for (size_t"));
  EXPECT_TRUE(contains(text.str(), "move_tile("));
  const Ran all = tcsim({"fuse", "ccsd", "--memory", "1GiB", "--emit", "x.c"});
  EXPECT_EQ(all.code, Exit::usage);
  EXPECT_TRUE(contains(all.err, "--emit: these are"));
  const Ran nowhere = tcsim(small_chain({"--emit", "/no/such/folder/x.c"}));
  EXPECT_TRUE(contains(nowhere.err, "--emit /no/such/folder/x.c")) << nowhere.err;
}

// Tiles get what packed operands, tables and files leave.
TEST(FuseCommand, Keeps_a_limit_of_all_memory) {
  const auto of = [](const char* limit) {
    return nlohmann::json::parse(
        tcsim({"fuse", "ap,pq,bq->ab", "--size", "a=900,b=900,p=900,q=900", limit, "20MiB",
               "--machine", "zen5", "--no-whatif", "--format", "json"})
            .out);
  };
  const auto run = of("--memory"), tiles = of("--tiles");
  const std::int64_t limit = std::int64_t{20} << 20;
  EXPECT_EQ(run["memory_limit_of"], "run");
  EXPECT_EQ(tiles["memory_limit_of"], "tiles");
  for (const char* way : {"", "unfused"}) {
    const auto& of_run = *way == 0 ? run : run[way];
    const auto& parts = of_run["run_memory_bytes"];
    EXPECT_LE(parts["all"].get<std::int64_t>(), limit) << way;
    EXPECT_EQ(parts["all"].get<std::int64_t>(), parts["tiles"].get<std::int64_t>() +
                                                    parts["executor"].get<std::int64_t>() +
                                                    parts["files"].get<std::int64_t>());
    EXPECT_GE(parts["tiles"].get<std::int64_t>(), of_run["memory_bytes"].get<std::int64_t>());
  }
  EXPECT_LE(tiles["memory_bytes"].get<std::int64_t>(), limit);
  EXPECT_GT(tiles["run_memory_bytes"]["all"].get<std::int64_t>(), limit);
  EXPECT_LT(run["memory_bytes"], tiles["memory_bytes"]);
}

std::vector<std::string> chain_in_memory(std::vector<std::string> more = {}) {
  std::vector<std::string> args{"fuse",      "T[i,j] += A[i,k] * B[k,j]; C[i,l] += T[i,j] * D[j,l]",
                                "--size",    "i=64,j=96,k=8,l=8",
                                "--machine", "zen5",
                                "--set",     "L1.capacity=12KiB",
                                "--set",     "L2.capacity=16KiB",
                                "--set",     "L3.capacity=32KiB",
                                "--set",     "memory.bandwidth=0.1x"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(FuseCommand, Without_a_limit_of_memory_answers_for_caches) {
  const Ran r = tcsim(chain_in_memory({"--simulate"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const std::vector<std::string> all = lines(r.out);
  EXPECT_EQ(all[0], "chain: 2 contractions, 0.0001966 Gflop, tensors of 69.63 kB in memory");
  for (const char* part :
       {"T[i,j] += A[i,k] * B[k,j]", "\n  fused    predicted", "\n           simulated",
        "\n  unfused  predicted", "L3-memory", "\n  fuse: predicted ", "times as fast; simulated ",
        "packed ", "predicted / simulated", "\nfused:\n  for ", "hold T {", "kernel "}) {
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  }
  const Ran given =
      tcsim(chain_in_memory({"--schedule", "for i by 16 { hold T { seq { do T do C } } }"}));
  ASSERT_EQ(given.code, Exit::done) << given.err;
  EXPECT_TRUE(contains(given.out, "\ngiven:\n  for i by 16 {")) << given.out;
  EXPECT_FALSE(contains(given.out, "simulated"));
  const Ran loads =
      tcsim(chain_in_memory({"--schedule", "load A { hold T { seq { do T do C } } }"}));
  EXPECT_EQ(loads.code, Exit::input);
  EXPECT_TRUE(contains(loads.err, "--schedule: 'load A' where all tensors are in memory"));
}

TEST(FuseCommand, Says_of_caches_the_same_in_json_and_csv) {
  const Ran r = tcsim(chain_in_memory({"--simulate", "--format", "json"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const json j = json::parse(r.out);
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["command"], "fuse");
  EXPECT_EQ(j["fuse"], true);
  for (const char* name : {"fused", "unfused"}) {
    const json& way = j[name];
    ASSERT_EQ(way["levels"].size(), 4U);
    EXPECT_EQ(way["leaves"].size(), 2U);
    for (const json& level : way["levels"]) {
      std::int64_t predicted = 0, simulated = 0;
      for (const json& t : level["by_tensor"]) {
        predicted += t["predicted_in_bytes"].get<std::int64_t>() +
                     t["predicted_out_bytes"].get<std::int64_t>();
        simulated += t["simulated_in_bytes"].get<std::int64_t>() +
                     t["simulated_out_bytes"].get<std::int64_t>();
      }
      EXPECT_EQ(predicted, level["predicted_bytes"]) << level;
      EXPECT_EQ(simulated, level["simulated_bytes"]) << level;
    }
    EXPECT_GT(way["predicted_seconds"], 0);
    EXPECT_GT(way["simulated_seconds"], 0);
  }
  EXPECT_LT(j["fused"]["simulated_seconds"], j["unfused"]["simulated_seconds"]);

  const Ran csv = tcsim(chain_in_memory({"--format", "csv"}));
  ASSERT_EQ(csv.code, Exit::done) << csv.err;
  const std::vector<std::string> rows = lines(csv.out);
  ASSERT_EQ(rows.size(), 1U + 2 * 4);
  EXPECT_EQ(rows[0],
            "chain,program,fuse,link,predicted_bytes,simulated_bytes,predicted_seconds,"
            "simulated_seconds");
  EXPECT_TRUE(rows[1].starts_with("chain,fused,true,L1-register,")) << rows[1];
  EXPECT_TRUE(rows[8].starts_with("chain,unfused,true,L3-memory,")) << rows[8];
}

TEST(FuseCommand, Runs_what_it_chose) {
  const std::filesystem::path folder = test::scratch("fuse_run");
  std::filesystem::create_directory(folder);
  const std::vector<std::string> run{"--run",     folder.string(), "--fill",     "--check",
                                     "--compare", "--cold",        "--no-whatif"};
  if (!chains::has_tensor_files()) {
    const Ran r = tcsim(small_chain(run));
    EXPECT_EQ(r.code, Exit::unsupported);
    EXPECT_TRUE(contains(r.err, "libhdf5-dev")) << r.err;
    std::filesystem::remove_all(folder);
    return;
  }
  const Ran r = tcsim(small_chain(run));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "times as fast, with")) << r.out;
  EXPECT_TRUE(contains(r.out, "results are right")) << r.out;
  EXPECT_FALSE(contains(r.out, "DIFFERS")) << r.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "B.h5"));

  const Ran again = tcsim(small_chain({"--run", folder.string()}));
  EXPECT_EQ(again.code, Exit::input);
  EXPECT_TRUE(contains(again.err, "B.h5: is there already")) << again.err;
  const Ran forced =
      tcsim(small_chain({"--run", folder.string(), "--force", "--check", "--format", "json"}));
  ASSERT_EQ(forced.code, Exit::done) << forced.err;
  const json j = json::parse(forced.out);
  EXPECT_EQ(
      j["run"]["read_bytes"].get<std::int64_t>() + j["run"]["written_bytes"].get<std::int64_t>(),
      j["levels"][0]["predicted_bytes"]);
  EXPECT_EQ(j["run"]["memory_bytes"], j["memory_bytes"]);
  EXPECT_LE(j["run"]["worst_error"], 1);
  EXPECT_GT(j["measured_seconds"], 0);
  std::filesystem::remove_all(folder);
}

TEST(FuseCommand, Says_what_belongs_to_a_run) {
  const Ran r = tcsim(small_chain({"--force"}));
  EXPECT_EQ(r.code, Exit::usage);
  EXPECT_TRUE(contains(r.err, "--force: belongs to a run; add --run FOLDER")) << r.err;
  const Ran suite = tcsim({"fuse", "ccsd", "--memory", "1GiB", "--run", "/tmp"});
  EXPECT_EQ(suite.code, Exit::usage);
  EXPECT_TRUE(contains(suite.err, "these are 4 chains; say which, such as ccsd:1")) << suite.err;
}

TEST(ProbeDisk, Measures_and_keeps_what_fuse_uses) {
  const std::filesystem::path folder = test::scratch("probe_disk");
  std::filesystem::create_directory(folder);
  const std::string kept = (folder / "disk.toml").string();
  const Ran r = tcsim({"probe", "--disk", folder.string(), "--quick", "--out", kept});
  ASSERT_EQ(r.code, Exit::done) << r.err;
  for (const char* part : {"page cache", "reading blocks", "writing them", "reading 4 KiB"}) {
    EXPECT_TRUE(contains(r.out, part)) << r.out;
  }
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_EQ(tcsim({"probe", "--disk", (folder / "nowhere").string()}).code, Exit::input);
  std::filesystem::remove_all(folder);
}

TEST(FuseCommand, Is_in_help_manual_and_completion) {
  EXPECT_TRUE(contains(tcsim({"help"}).out, "fuse"));
  EXPECT_TRUE(contains(tcsim({"help", "fuse"}).out, "--disk-transfer"));
  EXPECT_TRUE(contains(tcsim({"--man"}).out, "tcsim fuse CHAIN"));
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_TRUE(contains(tcsim({"--completion", shell}).out, "disk-transfer")) << shell;
  }
}

TEST(ListChains, Has_what_fuse_takes) {
  const json rows = json::parse(tcsim({"list", "chains", "--format", "json"}).out)["rows"];
  const auto row = [&](const std::string& name) {
    return *std::ranges::find_if(rows, [&](const json& r) { return r["chain"] == name; });
  };
  EXPECT_EQ(row("ccsd:1"),
            (json{{"chain", "ccsd:1"},
                  {"statements",
                   "T1[d, l, k, i] += B[d, c, l, k] * C[i, c]; T2[l, k, i, j] += T1[d, l, k, i] * "
                   "D[j, d]; S[j, i, b, a] += A[l, k, b, a] * T2[l, k, i, j]"},
                  {"sizes", "a=100,b=100,c=100,d=100,i=20,j=20,k=20,l=20"},
                  {"type", "f64"},
                  {"gflop", "3.392"}}));
  EXPECT_EQ(rows.size(), 26U);
  EXPECT_TRUE(contains(tcsim({"list", "chains"}).out, "fourindex:6"));
  EXPECT_TRUE(lines(tcsim({"list", "chains", "--format", "csv"}).out)[0].starts_with("chain,"));
}

std::vector<std::string> in_levels(std::vector<std::string> more = {}) {
  std::vector<std::string> args{"fuse",      "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]",
                                "--size",    "a=200,b=30,p=24,q=160",
                                "--machine", "gpu-cluster-node",
                                "--set",     "local.capacity=16KiB",
                                "--set",     "global.capacity=64KiB"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(FuseCommand, Plans_explicit_levels) {
  const Ran r = tcsim(in_levels());
  ASSERT_EQ(r.code, Exit::done) << r.err;
  for (const char* part :
       {"chain: 2 contractions", "machine gpu-cluster-node: 8 processes of 10.11 Gflop/s",
        "each process has a link of its own", "intermediate  link", "\n  optimum ",
        "\n  prescription ", "\n  unfused ", "local-global", "global-disk", "arithmetic", "equal",
        "above the bound of", "tiles in global", "tiles in local", "\noptimum:\n", " over ",
        "local of 8.192 kB", "global-disk twice as fast", "16 instances of local"}) {
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  }
  EXPECT_FALSE(contains(r.out, "DIFFERS"));
  const Ran shorter = tcsim(in_levels({"--no-whatif"}));
  EXPECT_TRUE(r.out.starts_with(shorter.out));
  EXPECT_FALSE(contains(shorter.out, "twice as fast"));
}

void expect_levels(const json& way) {
  ASSERT_EQ(way["levels"].size(), 2U);
  double seconds = way["arithmetic_seconds"].get<double>();
  for (const json& level : way["levels"]) {
    EXPECT_EQ(level["simulated_bytes"], level["predicted_bytes"]);
    EXPECT_EQ(level["simulated_busiest_bytes"], level["busiest_in_bytes"].get<std::int64_t>() +
                                                    level["busiest_out_bytes"].get<std::int64_t>());
    EXPECT_EQ(level["simulated_high_water_bytes"], level["high_water_bytes"]);
    std::int64_t moved = 0, transfers = 0;
    for (const json& t : level["by_tensor"]) {
      moved += t["in_bytes"].get<std::int64_t>() + t["out_bytes"].get<std::int64_t>();
      transfers += t["transfers"].get<std::int64_t>();
    }
    EXPECT_EQ(level["predicted_bytes"], moved);
    EXPECT_EQ(level["transfers"], transfers);
    seconds += level["predicted_seconds"].get<double>();
  }
  EXPECT_LE(way["levels"][0]["high_water_bytes"], 16384);
  EXPECT_LE(way["levels"][1]["high_water_bytes"], 65536);
  EXPECT_NEAR(way["predicted_seconds"].get<double>(), seconds, 1e-12);
}

TEST(FuseCommand, Has_the_fields_of_explicit_levels) {
  const json j = json::parse(
      tcsim(in_levels({"--format", "json", "--vary", "global.bandwidth=0.5x,1x,4x"})).out);
  EXPECT_EQ(j["command"], "fuse");
  EXPECT_EQ(j["machine"]["name"], "gpu-cluster-node");
  EXPECT_EQ(j["processes"], 8);
  ASSERT_EQ(j["conditions"].size(), 2U);
  EXPECT_EQ(j["conditions"][0]["tensor"], "T");
  EXPECT_EQ(j["conditions"][0]["summed"], 24);
  EXPECT_EQ(j["conditions"][0]["kept"], 30);
  for (const char* way : {"optimum", "prescription", "unfused"}) expect_levels(j[way]);
  EXPECT_EQ(j["unfused"]["intermediates"], (json{{{"tensor", "T"}, {"level", "disk"}}}));
  EXPECT_EQ(j["predicted_seconds"], j["optimum"]["predicted_seconds"]);
  EXPECT_GE(j["prescription_above_optimum"], 0);
  EXPECT_GE(j["certificate"]["gap"], 0);
  EXPECT_EQ(j["whatif"], json::array());
  ASSERT_EQ(j["curves"].size(), 1U);
  const json& curve = j["curves"][0];
  EXPECT_EQ(curve["knob"], "global.bandwidth");
  ASSERT_EQ(curve["points"].size(), 3U);
  for (std::size_t p = 1; p < 3; ++p) {
    EXPECT_LE(curve["points"][p]["predicted_seconds"], curve["points"][p - 1]["predicted_seconds"]);
  }
  EXPECT_EQ(json::parse(tcsim(in_levels({"--format", "json"})).out)["whatif"].size(), 7U);
}

TEST(FuseCommand, Overlaps_transfers_over_explicit_levels) {
  const Ran r = tcsim(in_levels({"--overlap", "--no-whatif"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "what is loaded or stored is held twice")) << r.out;
  EXPECT_TRUE(contains(r.out, "overlapped")) << r.out;
  const json j =
      json::parse(tcsim(in_levels({"--overlap", "--no-whatif", "--format", "json"})).out);
  EXPECT_EQ(j["overlap"], true);
  // With room for two, the longest is less than the sum.
  const std::vector<std::string> roomy{
      "fuse", "multilevel:1", "--machine", "gpu-cluster-node", "--no-whatif", "--format", "json"};
  std::vector<std::string> overlapped = roomy;
  overlapped.push_back("--overlap");
  const json turn = json::parse(tcsim(roomy).out);
  EXPECT_EQ(turn["overlap"], false);
  EXPECT_LT(json::parse(tcsim(overlapped).out)["predicted_seconds"], turn["predicted_seconds"]);
  for (const json& level : j["optimum"]["levels"]) {
    EXPECT_EQ(level["simulated_high_water_bytes"], level["high_water_bytes"]);
    EXPECT_GE(j["predicted_seconds"].get<double>() * (1 + 1e-12),
              level["predicted_seconds"].get<double>());
  }
}

TEST(FuseCommand, Prints_a_row_for_each_link_of_explicit_levels) {
  const Ran r = tcsim(in_levels({"--format", "csv", "--no-whatif"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const std::vector<std::string> all = lines(r.out);
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(all[0],
            "chain,program,link,in_bytes,out_bytes,transfers,rows,busiest_bytes,high_water_bytes,"
            "simulated_bytes,link_seconds,arithmetic_seconds,predicted_seconds,bottleneck");
  EXPECT_TRUE(all[1].starts_with("chain,optimum,local-global,")) << all[1];
  EXPECT_TRUE(all[6].starts_with("chain,unfused,global-disk,")) << all[6];
}

TEST(FuseCommand, Says_where_another_link_is_the_slowest) {
  // 384 MB pass the disk at 0.1 GB/s once. With 100 kB each process moves 1.27 GB: in as many
  // seconds at 0.33 GB/s.
  const Ran r = tcsim({"fuse", "C[i,j] += A[i,k] * B[k,j]", "--size", "i=4000,j=4000,k=4000",
                       "--machine", "gpu-cluster-node", "--set", "local.capacity=100kB", "--set",
                       "global.transfer=0", "--vary", "global.bandwidth=0.1GB/s..1GB/s:3"});
  ASSERT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "\n  global.bandwidth  time")) << r.out;
  const std::string last = lines(r.out).back();
  EXPECT_TRUE(last.starts_with("  from 0.3")) << last;
  EXPECT_TRUE(last.ends_with("GB/s on: global-disk; below: local-global")) << last;
}

TEST(FuseCommand, Runs_explicit_levels) {
  const std::filesystem::path folder = test::scratch("levels");
  std::filesystem::create_directory(folder);
  const std::vector<std::string> run{"--run",     folder.string(), "--fill",     "--whole",
                                     "--compare", "--check",       "--no-whatif"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return tcsim(in_levels(more));
  };
  const Ran r = with({});
  if (!chains::has_tensor_files()) {
    EXPECT_EQ(r.code, Exit::unsupported);
    EXPECT_TRUE(contains(r.err, "libhdf5-dev")) << r.err;
    std::filesystem::remove_all(folder);
    return;
  }
  ASSERT_EQ(r.code, Exit::done) << r.err;
  for (const char* part : {"machine gpu-cluster-node: 1 process of", "\nrun by 1 process\n",
                           "link          predicted  simulated  measured", "\n  unfused takes ",
                           "results are right: the worst error is 0 of its bound"}) {
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  }
  EXPECT_FALSE(contains(r.out, "DIFFERS")) << r.out;
  const json j = json::parse(with({"--force", "--format", "json"}).out);
  EXPECT_EQ(j["run"]["processes"], 1);
  EXPECT_EQ(j["run"]["worst_error"], 0);
  EXPECT_EQ(j["run"]["parts_done_before"], 0);
  for (const char* way : {"optimum", "unfused"}) {
    EXPECT_EQ(j[way]["measured_as_predicted"], true);
    EXPECT_GT(j[way]["measured_seconds"], 0);
    for (const json& level : j[way]["levels"]) {
      EXPECT_EQ(level["measured_bytes"], level["predicted_bytes"]);
      EXPECT_EQ(level["measured_transfers"], level["transfers"]);
      EXPECT_EQ(level["measured_high_water_bytes"], level["high_water_bytes"]);
      EXPECT_GE(level["measured_seconds"], 0);
    }
  }
  EXPECT_FALSE(j["prescription"].contains("measured_seconds"));
  const Ran again = with({});
  EXPECT_EQ(again.code, Exit::input);
  EXPECT_TRUE(contains(again.err, "is there already; move it, or say --force")) << again.err;
  EXPECT_EQ(again.out, "");
  const Ran many = with({"--set", "global.processes=2"});
  EXPECT_EQ(many.code, Exit::unsupported);
  EXPECT_TRUE(contains(many.err, "start mpirun -n 2 tcsim")) << many.err;
  EXPECT_TRUE(contains(with({"--force", "--overlap"}).err, "leave out --overlap"));
  // tcsim run is another way to say it.
  std::vector<std::string> args = in_levels({"--folder", folder.string(), "--force", "--check"});
  args.front() = "run";
  const Ran as_run = tcsim(args);
  EXPECT_EQ(as_run.code, Exit::done) << as_run.err;
  EXPECT_TRUE(contains(as_run.out, "\nrun by 1 process\n")) << as_run.out;
  args.resize(args.size() - 4);
  EXPECT_TRUE(contains(tcsim(args).err, "name their folder with --folder"));
  EXPECT_TRUE(contains(tcsim(with_matmul("run", {"--fill"})).err, "add --folder FOLDER"));
  std::filesystem::remove_all(folder);
}

// What is tried is told, and what is chosen runs; what ended is gone on with, whatever would be
// chosen now.
TEST(FuseCommand, Rehearses_what_is_predicted_to_be_nearly_as_quick) {
  if (!chains::has_tensor_files()) GTEST_SKIP() << "no HDF5";
  const std::filesystem::path folder = test::scratch("rehearsed");
  std::filesystem::create_directory(folder);
  const auto with = [&](std::vector<std::string> more) {
    // Arithmetic decides, so every way is nearly as quick.
    std::vector<std::string> args{
        "fuse",      "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]",
        "--size",    "a=60,b=30,p=24,q=40",
        "--machine", "gpu-cluster-node"};
    for (const char* knob : {"core.efficiency=0.001", "disk.bandwidth=1GB/s", "disk.transfer=0",
                             "global.transfer=0", "local.capacity=20kB", "global.capacity=60kB"}) {
      args.insert(args.end(), {"--set", knob});
    }
    args.insert(args.end(), {"--run", folder.string(), "--fill", "--whole", "--check", "--rehearse",
                             "--no-whatif"});
    args.insert(args.end(), more.begin(), more.end());
    return tcsim(args);
  };
  const Ran r = with({});
  ASSERT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "rehearsed: tiles of each way, tried here")) << r.out;
  EXPECT_TRUE(contains(r.out, "results are right")) << r.out;
  EXPECT_FALSE(contains(r.out, "DIFFERS")) << r.out;
  const json j = json::parse(with({"--force", "--format", "json"}).out);
  const json& tried = j["run"]["rehearsed"];
  ASSERT_GE(tried.size(), 2U);
  const json* runs = nullptr;
  double least = HUGE_VAL;
  for (const json& one : tried) {
    least = std::min(least, one["rehearsed_seconds"].get<double>());
    if (one["runs"] == true) {
      EXPECT_EQ(runs, nullptr);
      runs = &one;
    }
  }
  ASSERT_NE(runs, nullptr);
  EXPECT_EQ((*runs)["rehearsed_seconds"], least);
  EXPECT_EQ(j["optimum"].contains("measured_seconds"), (*runs) == tried.front());
  EXPECT_EQ(j.contains("rehearsed"), (*runs) != tried.front());
  // Runs of both that ended before they did anything; what is said of a rehearsal then is the same.
  for (const char* way : {"optimum", "rehearsed"}) {
    if (!j.contains(way)) continue;
    std::ofstream(folder / "tcsim-run.json")
        << json{{"schedule", j[way]["schedule"]}, {"done", 0}}.dump();
    const Ran on = with({"--resume", "--format", "json"});
    ASSERT_EQ(on.code, Exit::done) << way << on.err;
    const json again = json::parse(on.out);
    const json& ran = again[again.contains("rehearsed") ? "rehearsed" : "optimum"];
    EXPECT_EQ(ran["schedule"], j[way]["schedule"]);
    EXPECT_TRUE(ran.contains("measured_seconds"));
  }
  // What is refused is refused before anything is tried, and what results lie elsewhere stay there.
  const Ran there = with({});
  EXPECT_EQ(there.code, Exit::input);
  EXPECT_TRUE(contains(there.err, "is there already; move it, or say --force")) << there.err;
  const std::filesystem::path elsewhere = folder / "elsewhere";
  std::filesystem::rename(folder / "B.h5", elsewhere);
  std::filesystem::create_symlink(elsewhere, folder / "B.h5");
  const Ran linked = with({"--force"});
  EXPECT_EQ(linked.code, Exit::done) << linked.err;
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "B.h5"));
  EXPECT_GT(std::filesystem::file_size(elsewhere), 60 * 30 * 8U);
  std::filesystem::remove_all(folder);
}

TEST(FuseCommand, Refuses_what_explicit_levels_have_not) {
  for (const char* option :
       {"--resume", "--fill", "--check", "--whole", "--compare", "--rehearse"}) {
    const Ran r = tcsim(in_levels({option}));
    EXPECT_EQ(r.code, Exit::usage) << option;
    EXPECT_TRUE(contains(r.err, "belongs to a run; add --run FOLDER")) << r.err;
  }
  const Ran cold = tcsim(in_levels({"--cold"}));
  EXPECT_EQ(cold.code, Exit::usage);
  EXPECT_TRUE(contains(cold.err, "machines without explicit levels")) << cold.err;
  EXPECT_NE(tcsim(in_levels({"--run", "/nowhere"})).code, Exit::done);
  const Ran suite =
      tcsim({"fuse", "multilevel", "--machine", "gpu-cluster-node", "--run", "/nowhere"});
  EXPECT_TRUE(contains(suite.err, "say which, such as multilevel:1")) << suite.err;
  EXPECT_EQ(tcsim(in_levels({"--schedule", "do T"})).code, Exit::usage);
  EXPECT_EQ(tcsim(in_levels({"--vary", "global.ways=1,2"})).code, Exit::usage);
  EXPECT_EQ(tcsim(in_levels({"--set", "local.capacity=16B"})).code, Exit::unsupported);
  EXPECT_EQ(tcsim(in_levels({"--set", "disk.capacity=64KiB"})).code, Exit::unsupported);
  const Ran caches = tcsim(small_chain({"--vary", "L1.bandwidth=1x..2x"}));
  EXPECT_EQ(caches.code, Exit::usage);
  EXPECT_TRUE(contains(caches.err, "belongs to a machine with explicit levels")) << caches.err;
  EXPECT_TRUE(contains(tcsim(small_chain({"--rehearse"})).err,
                       "--rehearse: belongs to a machine with explicit levels"));
  EXPECT_TRUE(contains(tcsim(in_levels({"--run", "/nowhere", "--rehearse", "--device"})).err,
                       "--rehearse: is of the host, and a device is to compute"));
  EXPECT_EQ(tcsim(in_levels({"--memory", "1MiB"})).code, Exit::unsupported);
}

}  // namespace
}  // namespace tcsim::cli
