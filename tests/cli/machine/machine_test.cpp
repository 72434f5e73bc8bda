// tcsim machine show, check, diff, import and export.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/machine/toml.hpp"
#include "exchange/exchange.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"
#include "tests/source_dir.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path corpus(const std::string& file) {
  return fs::path(TCSIM_SOURCE_DIR) / "tests" / "fuzz" / "corpus" / file;
}

// A file of this test, gone when the test ends.
class File {
 public:
  File(const std::string& name, const std::string& text) : path_(test::scratch(name)) {
    std::ofstream(path_) << text;
  }
  ~File() { fs::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(Input, A_damaged_machine_file_is_named_with_its_line) {
  const auto file = test::scratch("cli_test_damaged.toml");
  std::ofstream(file) << "schema = 1\nname = \"x\"\n[[level]]\nname = 7\n";
  const Ran r = tcsim({"machine", "check", file.string(), "e5-2680v4"});
  EXPECT_EQ(r.code, Exit::input);
  EXPECT_TRUE(contains(r.out, file.string() + ":")) << r.out;
  EXPECT_TRUE(contains(r.out, "e5-2680v4: ok")) << r.out;
  std::filesystem::remove(file);
}

TEST(Machine, Show_prints_what_the_file_says) {
  const Ran r = tcsim({"machine", "show", "e5-2680v4"});
  EXPECT_TRUE(contains(r.out, "35MiB")) << r.out;
  const json j = json::parse(tcsim({"machine", "show", "e5-2680v4", "--format", "json"}).out);
  EXPECT_EQ(j["levels"][2]["capacity_bytes"], 35 * 1024 * 1024);
  const Ran toml = tcsim({"machine", "show", "e5-2680v4", "--toml"});
  EXPECT_TRUE(contains(toml.out, "25.28B/cycle")) << toml.out;
}

TEST(Machine, Several_are_one_document) {
  const Ran r = tcsim({"machine", "show", "e5-2680v4", "i7-6700k", "--format", "json"});
  EXPECT_EQ(json::parse(r.out).size(), 2u);
  const Ran csv = tcsim({"machine", "show", "e5-2680v4", "i7-6700k", "--format", "csv"});
  EXPECT_EQ(lines(csv.out).size(), 9u);  // a header and four levels each
}

TEST(Machine, What_is_not_modelled_is_refused) {
  for (const char* command : {"predict", "simulate"}) {
    const Ran r =
        tcsim({command, "ij-ik-kj", "--size", "i=9,j=9,k=9", "--machine", "gpu-cluster-node"});
    EXPECT_EQ(r.code, Exit::unsupported);
    EXPECT_TRUE(contains(r.err, "scratchpad")) << r.err;
  }
}

// i7-6700k with a knob turned, as a file.
File turned(const std::string& name, const std::string& knob) {
  return {name, tcsim({"machine", "show", "i7-6700k", "--toml", "--set", knob}).out};
}

TEST(MachineShow, Says_what_is_assumed_and_what_is_peculiar) {
  const Ran r = tcsim({"machine", "show", "gpu-cluster-node", "zen5", "--set", "disk.latency=9"});
  EXPECT_EQ(r.code, Exit::usage);  // zen5 has no disk
  const Ran zen = tcsim({"machine", "show", "zen5", "--set", "L2.prefetch=next-line"});
  EXPECT_TRUE(contains(zen.out, "lru (assumed)")) << zen.out;
  EXPECT_TRUE(contains(zen.out, "L2        prefetch next-line")) << zen.out;
  const json j = json::parse(tcsim({"machine", "show", "zen5", "--format", "json"}).out);
  EXPECT_EQ(j["levels"][0]["replacement"], "lru");
  EXPECT_EQ(j["levels"][0]["replacement_origin"], "assumed");
  EXPECT_EQ(j["levels"][0]["replacement_source"], "AMD does not publish it");
  EXPECT_EQ(j["levels"][2]["shared_by"], 8);
  const auto csv = lines(tcsim({"machine", "show", "zen5", "--format", "csv"}).out);
  EXPECT_TRUE(contains(csv[0], ",shared_by,latency_cycles,replacement,"));
  EXPECT_TRUE(contains(csv[3], ",8,,lru,assumed,neither,assumed,write-back,true,none")) << csv[3];
  EXPECT_TRUE(csv[0].ends_with(",energy_joules_per_byte,index,prefetch_ahead,victim_lines"))
      << csv[0];
  EXPECT_TRUE(csv[3].ends_with(",,modulo,20,0")) << csv[3];
  const Ran streamer = tcsim({"machine", "show", "zen5", "--set", "L2.prefetch=streamer"});
  EXPECT_TRUE(contains(streamer.out, "L2        prefetch streamer (20 ahead)")) << streamer.out;
  const Ran victims = tcsim({"machine", "show", "zen5", "--set", "L1.victim_lines=8"});
  EXPECT_TRUE(contains(victims.out, "L1        victim cache of 8 lines")) << victims.out;
  EXPECT_FALSE(contains(
      tcsim({"machine", "show", "zen5", "--set", "L1.victim_lines=8", "--set", "L1.victim_lines=0"})
          .out,
      "victim"));
  EXPECT_TRUE(contains(tcsim({"machine", "show", "zen5", "--set", "L1.victim_lines=65"}).err,
                       "L1 has a victim cache of 65 lines; give a whole number from 0 to 64"));
  const Ran hashed = tcsim({"machine", "show", "i7-6700k", "--set", "L3.index=sliced-4"});
  EXPECT_TRUE(contains(hashed.out, "L3        index sliced-4")) << hashed.out;
}

TEST(MachineShow, Lists_measurements) {
  const Ran made = tcsim({"machine", "import", corpus("kerncraft_fuzz/skylake-sp.yml").string()});
  const File file("series.toml", made.out);
  const Ran plain = tcsim({"machine", "show", file.path()});
  EXPECT_TRUE(contains(plain.out, "measured  6 series; --series lists them")) << plain.out;
  const Ran table = tcsim({"machine", "show", file.path(), "--series"});
  EXPECT_EQ(lines(table.out).size(), 8u) << table.out;
  EXPECT_TRUE(contains(table.out, "load-fma-store  8B       AVX-512          1")) << table.out;
  const auto csv =
      lines(tcsim({"machine", "show", file.path(), "--series", "--format", "csv"}).out);
  ASSERT_EQ(csv.size(), 7u);
  // The median of 277.71, 277.60 and 277.65 GB/s.
  EXPECT_TRUE(contains(csv[3], ",L1,load-fma-store,8,AVX-512,1,21120,277650000000,")) << csv[3];
  const json j = json::parse(tcsim({"machine", "show", file.path(), "--format", "json"}).out);
  EXPECT_EQ(j["levels"][0]["series"][2]["repetitions_bytes_per_second"].size(), 3u);
}

TEST(MachineCheck, Lists_every_fault_in_each_format_and_takes_warnings_for_sound) {
  const File bad("bad.toml",
                 "schema = 1\nname = \"bad\"\n[core]\nfrequency = \"2GHz\"\nvector_bits = 200\n"
                 "vector_registers = 16\nfma_per_cycle = 2\nfma_latency = 4\n[[level]]\n"
                 "name = \"L1\"\ncapacity = 32768\nways = 8\nline = \"64B\"\n"
                 "bandwidth = \"10B/cycle\"\n[[level]]\nname = \"memory\"\nkind = \"memory\"\n"
                 "bandwidth = \"40GB/s\"\n");
  const Ran table = tcsim({"machine", "check", bad.path()});
  EXPECT_EQ(table.code, Exit::input);
  const auto rows = lines(table.out);
  ASSERT_EQ(rows.size(), 3u) << table.out;
  EXPECT_EQ(rows[0], bad.path() +
                         ":11:12: warning: capacity 32768 has no unit and is read as "
                         "bytes; write \"32KiB\"");
  EXPECT_TRUE(rows[1].starts_with(bad.path() + ":5:15: error: core.vector_bits is 200; "));
  EXPECT_TRUE(rows[2].starts_with(bad.path() + ":18:13: error: memory (40GB/s) is faster than L1"));

  const Ran as_json = tcsim({"machine", "check", bad.path(), "i7-6700k", "--format", "json"});
  EXPECT_EQ(as_json.code, Exit::input);
  const json j = json::parse(as_json.out);
  EXPECT_EQ(j["command"], "machine check");
  EXPECT_EQ(j["machines"][0]["ok"], false);
  EXPECT_EQ(j["machines"][0]["findings"].size(), 3u);
  EXPECT_EQ(j["machines"][0]["findings"][1]["severity"], "error");
  EXPECT_EQ(j["machines"][1]["ok"], true);
  EXPECT_EQ(j["machines"][1]["name"], "i7-6700k");

  const auto csv =
      lines(tcsim({"machine", "check", bad.path(), "i7-6700k", "--format", "csv"}).out);
  ASSERT_EQ(csv.size(), 5u);
  EXPECT_EQ(csv[0], "file,severity,place,problem,mend");
  EXPECT_TRUE(contains(csv[1], "\"write \"\"32KiB\"\"\"")) << csv[1];
  EXPECT_EQ(csv[4], "i7-6700k,ok,,,");

  const File doubtful = turned("doubt.toml", "L3.shared_by=64");
  const Ran warned = tcsim({"machine", "check", doubtful.path()});
  EXPECT_EQ(warned.code, Exit::done);
  EXPECT_TRUE(contains(warned.out, "warning: each of L3's 64 cores has 128KiB of it"))
      << warned.out;
  EXPECT_TRUE(contains(warned.out, ": ok, with a warning (i7-6700k, 4 levels")) << warned.out;
}

TEST(MachineCheck, A_knob_is_checked_too) {
  const Ran r = tcsim({"machine", "check", "i7-6700k", "--set", "L3.capacity=128KiB"});
  EXPECT_EQ(r.code, Exit::input);
  EXPECT_TRUE(contains(r.out, "L3 (128KiB) is smaller than L2 inside it")) << r.out;
  EXPECT_EQ(tcsim({"machine", "check", "nosuch"}).code, Exit::usage);
}

TEST(MachineDiff, Says_what_differs_in_each_format_and_whether_results_do) {
  const File other = turned("diff.toml", "L3.capacity=16MiB");
  const Ran table = tcsim({"machine", "diff", "i7-6700k", other.path()});
  EXPECT_EQ(table.code, Exit::no);
  EXPECT_TRUE(contains(table.out, "L3.capacity         8MiB")) << table.out;
  EXPECT_TRUE(contains(table.out, "2x")) << table.out;
  const json j =
      json::parse(tcsim({"machine", "diff", "i7-6700k", other.path(), "--format", "json"}).out);
  EXPECT_EQ(j["same_results"], false);
  EXPECT_EQ(j["differences"][0]["figure"], "L3.capacity");
  EXPECT_EQ(j["differences"][0]["factor"], 2);
  EXPECT_EQ(j["differences"][1]["changes_results"], false);  // its origin
  const auto csv =
      lines(tcsim({"machine", "diff", "i7-6700k", other.path(), "--format", "csv"}).out);
  EXPECT_EQ(csv[1], "L3.capacity,8MiB,16MiB,2,true");

  const Ran same = tcsim({"machine", "diff", "i7-6700k", "i7-6700k"});
  EXPECT_EQ(same.code, Exit::done);
  EXPECT_EQ(same.out, "i7-6700k and i7-6700k are the same machine\n");
}

TEST(MachineImport, Writes_a_machine_file_and_says_what_it_assumed) {
  const std::string xml = corpus("hwloc_fuzz/i7-6700k.xml").string();
  const Ran r = tcsim({"machine", "import", xml});
  EXPECT_EQ(r.code, Exit::done);
  const Machine m = parse_machine(r.out, "out.toml");
  EXPECT_EQ(m.levels[2].shared_by, 4);
  EXPECT_TRUE(contains(r.err, "  L1.bandwidth: 64B/cycle\n")) << r.err;
  EXPECT_EQ(tcsim({"machine", "import", xml, "--quiet"}).err, "");
  const Ran based = tcsim({"machine", "import", xml, "--base", "i7-6700k", "--name", "mine"});
  EXPECT_FALSE(contains(based.err, "assumed")) << based.err;
  EXPECT_EQ(parse_machine(based.out, "out.toml").name, "mine");
  const json j = json::parse(tcsim({"machine", "import", xml, "--format", "json"}).out);
  EXPECT_EQ(parse_machine(j["toml"].get<std::string>(), "json"), m);
  EXPECT_EQ(j["assumed"][0], "core.frequency: 2GHz");
  const auto csv = lines(tcsim({"machine", "import", xml, "--format", "csv"}).out);
  EXPECT_EQ(csv[1], "assumed,core.frequency: 2GHz");
}

TEST(MachineImport, A_damaged_file_of_each_format_is_one_line_with_its_place) {
  for (const char* file :
       {"hwloc_fuzz/damaged.xml", "likwid_fuzz/damaged.csv", "kerncraft_fuzz/damaged.yml",
        "kerncraft_fuzz/broken.yml", "pycachesim_fuzz/damaged.json", "dinero_fuzz/damaged"}) {
    const Ran r = tcsim({"machine", "import", corpus(file).string()});
    EXPECT_EQ(r.code, Exit::input) << file;
    EXPECT_EQ(r.out, "") << file;
    EXPECT_EQ(lines(r.err).size(), 1u) << r.err;
    EXPECT_TRUE(r.err.starts_with("tcsim: " + corpus(file).string() + ":")) << r.err;
  }
  const Ran unknown = tcsim({"machine", "import", corpus("suite_fuzz/tccg.toml").string()});
  EXPECT_EQ(unknown.code, Exit::usage);
  EXPECT_TRUE(contains(unknown.err, "say --from hwloc")) << unknown.err;
}

TEST(MachineImport, Tables_of_energy_and_area_become_a_cost_model) {
  const std::string energies = corpus("accelergy_fuzz/ert.yaml").string(),
                    areas = corpus("accelergy_fuzz/art.yaml").string();
  const std::vector<std::string> asked{"machine", "import",      energies,
                                       areas,     "--component", "L3=psum_spad:2B"};
  Ran r = tcsim(asked);
  EXPECT_EQ(r.code, Exit::usage);
  EXPECT_TRUE(contains(r.err, "--base zen5")) << r.err;
  std::vector<std::string> whole = asked;
  whole.insert(whole.end(), {"--base", "i7-6700k", "--name", "mine"});
  r = tcsim(whole);
  EXPECT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.err, "not read:\n  system_top_level.L3\n")) << r.err;
  const File file("cost_model", r.out);
  const Ran used = tcsim({"whatif", "ij-ik-kj", "--size", "i=64,j=64,k=64", "--machine", "i7-6700k",
                          "--cost", file.path()});
  EXPECT_EQ(used.code, Exit::done) << used.err;
  whole.insert(whole.end(), {"--format", "json"});
  const json j = json::parse(tcsim(whole).out);
  EXPECT_EQ(j["toml"], r.out);
  EXPECT_EQ(j["ignored"].size(), 1u);
  const Ran wrong = tcsim(
      {"machine", "import", corpus("hwloc_fuzz/i7-6700k.xml").string(), "--component", "L3=x"});
  EXPECT_EQ(wrong.code, Exit::usage);
}

TEST(MachineExport, Each_format_comes_out_with_what_it_loses) {
  for (const char* to : {"kerncraft", "pycachesim", "dinero"}) {
    const Ran r = tcsim({"machine", "export", "i7-6700k", "--to", to});
    EXPECT_EQ(r.code, Exit::done) << to;
    EXPECT_TRUE(contains(r.err, std::string("not in ") + to)) << r.err;
    const File file(std::string("export_") + to, r.out);
    const Ran back = tcsim({"machine", "import", file.path(), "--from", to});
    EXPECT_EQ(back.code, Exit::done) << back.err;
    EXPECT_EQ(parse_machine(back.out, "back").levels[2].capacity.value, Bytes(8 << 20)) << to;
    const json j =
        json::parse(tcsim({"machine", "export", "i7-6700k", "--to", to, "--format", "json"}).out);
    EXPECT_EQ(j["text"], r.out);
    EXPECT_FALSE(j["lost"].empty());
  }
  const Ran blis =
      tcsim({"machine", "export", "i7-6700k", "--to", "blis", "--kernel", "6x8", "--type", "f32"});
  EXPECT_TRUE(contains(blis.out, "bli_blksz_init_easy( &blkszs[ BLIS_MR ],     6,    -1,"))
      << blis.out;
  const Ran cannot = tcsim({"machine", "export", "e5-2680v4", "--to", "dinero"});
  EXPECT_EQ(cannot.code, Exit::unsupported);
  EXPECT_TRUE(contains(cannot.err, "--set L3.ways=16 --set L3.capacity=32MiB")) << cannot.err;
  EXPECT_EQ(tcsim({"machine", "export", "e5-2680v4", "--to", "dinero", "--set", "L3.ways=16",
                   "--set", "L3.capacity=32MiB"})
                .code,
            Exit::done);
}

}  // namespace
}  // namespace tcsim::cli
