// tcsim simulate as a user sees it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

Ran simulate(std::vector<std::string> more) {
  return tcsim(with_matmul("simulate", std::move(more)));
}

// A file that is gone when the test is.
class File {
 public:
  File(const std::string& name, const std::string& bytes) : path_(test::scratch(name).string()) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// 96 x 80 + 80 x 72 + 96 x 72 doubles are 2544 lines, each fetched once; buffers come on top.
TEST(Simulate, Prints_the_counts_of_every_cache_in_each_format) {
  const Ran table = simulate({});
  ASSERT_EQ(table.code, Exit::done) << table.err;
  EXPECT_TRUE(contains(table.out, "evictions"));
  const json j = json::parse(simulate({"--format", "json"}).out);
  const json& l3 = j["levels"][2]["cache"];
  EXPECT_EQ(j["levels"][2]["name"], "L3");
  EXPECT_GE(l3["misses"].get<int>(), 2544);
  EXPECT_EQ(l3["evictions"], 0);
  EXPECT_EQ(l3["fetches"], l3["misses"]);
  EXPECT_EQ(64 * (l3["misses"].get<int>() + l3["write_backs"].get<int>()),
            j["levels"][3]["simulated_bytes"]);
  const Ran csv = simulate({"--format", "csv"});
  EXPECT_TRUE(contains(csv.out, ",hits,misses,fetches,fills,evictions,write_backs,"));
  EXPECT_TRUE(contains(csv.out, "," + std::to_string(l3["hits"].get<int>()) + "," +
                                    std::to_string(l3["misses"].get<int>()) + ","));
}

TEST(Simulate, Attribution_accounts_for_every_miss_in_each_format) {
  const json j = json::parse(simulate({"--attribution", "--format", "json"}).out);
  for (int l = 0; l < 3; ++l) {
    const json& level = j["levels"][static_cast<std::size_t>(l)];
    const json& why = level["why"];
    EXPECT_EQ(
        why["compulsory"].get<int>() + why["capacity"].get<int>() + why["conflict"].get<int>(),
        level["cache"]["misses"]);
    std::int64_t requests = level["reuse_distances"]["first_uses"];
    for (const json& bucket : level["reuse_distances"]["histogram"]) {
      requests += bucket["requests"].get<std::int64_t>();
    }
    EXPECT_EQ(requests, level["cache"]["hits"].get<int>() + level["cache"]["misses"].get<int>());
  }
  const Ran table = simulate({"--attribution", "--schedule",
                              "groups m=j n=i k=k pack A in L2 { for n by 6 { for m by 8 { kernel "
                              "8x6 } } }"});
  for (const char* part : {"compulsory", "reuse carried by", "reuse distance", "A, packing"}) {
    EXPECT_TRUE(contains(table.out, part)) << part;
  }
  EXPECT_TRUE(contains(simulate({"--attribution", "--format", "csv"}).out, ",first:"));
}

TEST(Simulate, Sets_account_for_every_request_in_each_format) {
  const json j = json::parse(simulate({"--sets", "L2", "--format", "json"}).out);
  EXPECT_FALSE(j["levels"][0].contains("sets"));
  const json& level = j["levels"][1];
  const json& sets = level["sets"];
  EXPECT_EQ(sets["sets"], 1024);
  EXPECT_EQ(sets["ways"], 4);
  EXPECT_EQ(sets["index"], "modulo");
  EXPECT_EQ(sets["line_touches"], j["line_touches"]);
  std::int64_t requests = 0, misses = 0, fills = 0;
  for (const auto& [tensor, counts] : sets["by_tensor"].items()) {
    EXPECT_EQ(counts["requests"].size(), 1024u) << tensor;
    for (std::size_t s = 0; s < 1024; ++s) {
      requests += counts["requests"][s].get<std::int64_t>();
      misses += counts["misses"][s].get<std::int64_t>();
      fills += counts["fills"][s].get<std::int64_t>();
    }
  }
  const json& cache = level["cache"];
  EXPECT_EQ(requests, cache["hits"].get<int>() + cache["misses"].get<int>());
  EXPECT_EQ(misses, cache["misses"]);
  EXPECT_EQ(fills, cache["fills"]);
  EXPECT_EQ(sets["most_wanted_lines"].size(), 1024u);
  EXPECT_FALSE(sets["text"].empty());

  const Ran table = simulate({"--sets", "L2", "--quiet"});
  for (const char* part : {"sets of L2: 1024 of 4 ways, index modulo", "960-1023", "could be in",
                           "of the misses of L2 are conflicts"}) {
    EXPECT_TRUE(contains(table.out, part)) << part;
  }
  const std::vector<std::string> rows = lines(simulate({"--sets", "L1", "--format", "csv"}).out);
  const json l1 = json::parse(simulate({"--sets", "L1", "--format", "json"}).out)["levels"][0];
  EXPECT_EQ(rows.size(), 1 + 64 * l1["sets"]["by_tensor"].size());
  EXPECT_TRUE(contains(rows[0], ",level,set,tensor,requests,misses,compulsory,capacity,conflict,"));
}

TEST(Simulate, Sets_of_a_bad_leading_dimension_are_named) {
  const Ran ran =
      tcsim({"simulate", "ij-ik-kj", "--size", "i=64,j=512,k=64", "--machine", "i7-6700k", "--sets",
             "L1", "--schedule", "groups m=j n=i k=k for m by 8 { for n by 6 { kernel 8x6 } }"});
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  EXPECT_TRUE(contains(ran.out, "B crowds:")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "neighbours along k are 4096 bytes apart (512 elements of 8)"))
      << ran.out;
}

TEST(Simulate, Sets_of_a_level_that_is_not_there_are_refused) {
  const Ran none = simulate({"--sets", "L9"});
  EXPECT_EQ(none.code, Exit::usage);
  EXPECT_TRUE(contains(none.err, "--sets L9: there is no cache 'L9'; use one of L1, L2, L3"));
  const Ran trace = tcsim({"simulate", "--trace", "none", "--machine", "i7-6700k", "--sets", "L1"});
  EXPECT_EQ(trace.code, Exit::usage);
  EXPECT_TRUE(contains(trace.err, "--sets: it is for workloads, not for traces"));
}

TEST(Simulate, A_timeline_accounts_for_every_request_in_each_format) {
  const json j = json::parse(simulate({"--timeline", "20", "--format", "json"}).out);
  const json& line = j["timeline"];
  EXPECT_EQ(line["line_touches"], j["line_touches"]);
  const auto frame = line["frame"].get<std::int64_t>(), end = line["end"].get<std::int64_t>();
  EXPECT_EQ(end, j["line_touches"]);
  const auto frames = static_cast<std::size_t>((end + frame - 1) / frame);
  EXPECT_GT(frames, 10u);
  EXPECT_LE(frames, 20u);
  for (std::size_t l = 0; l < 3; ++l) {
    const json& level = line["levels"][l];
    EXPECT_EQ(level["level"], j["levels"][l]["name"]);
    std::int64_t requests = 0, misses = 0;
    for (const auto& [tensor, counts] : level["by_tensor"].items()) {
      ASSERT_EQ(counts["requests"].size(), frames) << tensor;
      for (std::size_t f = 0; f < frames; ++f) {
        requests += counts["requests"][f].get<std::int64_t>();
        for (const char* cause : {"compulsory", "capacity", "conflict"}) {
          misses += counts[cause][f].get<std::int64_t>();
        }
      }
    }
    const json& cache = j["levels"][l]["cache"];
    EXPECT_EQ(requests, cache["hits"].get<int>() + cache["misses"].get<int>());
    EXPECT_EQ(misses, cache["misses"]);
  }
  EXPECT_FALSE(line["spans"].empty());

  const Ran table = simulate({"--timeline", "4", "--quiet"});
  for (const char* part : {"  timeline of ", " line touches, ", "under way", "L2 from touch"}) {
    EXPECT_TRUE(contains(table.out, part)) << part;
  }
  const Ran part = simulate({"--timeline", "4", "--timeline-part", "100..200", "--quiet"});
  EXPECT_TRUE(contains(part.out, ", of which 100..200, 4 frames of 32")) << part.out;
  const std::vector<std::string> rows =
      lines(simulate({"--timeline", "20", "--format", "csv"}).out);
  EXPECT_EQ(rows.size(), 1 + 3 * frames * line["levels"][0]["by_tensor"].size());
  EXPECT_TRUE(contains(rows[0], ",level,from_touch,to_touch,tensor,resident_lines,requests,"));
}

TEST(Simulate, Timelines_that_cannot_be_are_refused) {
  const auto refused = [](std::vector<std::string> more, const char* words) {
    const Ran ran = simulate(std::move(more));
    EXPECT_EQ(ran.code, Exit::usage);
    EXPECT_TRUE(contains(ran.err, words)) << ran.err;
  };
  refused({"--timeline", "0"}, "--timeline: 0 is out of range; give 1 to 4096");
  refused({"--timeline", "4", "--timeline-part", "9..9"}, "there is nothing in it");
  refused({"--timeline", "4", "--timeline-part", "9"}, "write FROM..TO");
  refused({"--timeline", "4", "--timeline-part", "-9..9"}, "'-9' is no number of a line touch");
  refused({"--timeline", "4", "--timeline-part", "1..99999999999999999999"},
          "'99999999999999999999' is no number of a line touch");
  refused({"--timeline-part", "1..9"}, "add --timeline FRAMES");
  refused({"--timeline", "4", "--sets", "L1", "--format", "csv"}, "one of them at a time");
  const Ran trace =
      tcsim({"simulate", "--trace", "none", "--machine", "i7-6700k", "--timeline", "4"});
  EXPECT_EQ(trace.code, Exit::usage);
  EXPECT_TRUE(contains(trace.err, "--timeline: it is for workloads, not for traces"));
}

TEST(Simulate, Threads_and_repetition_change_no_byte_of_the_output) {
  const std::string out = simulate({"--format", "json"}).out;
  const auto without_times = [](const std::string& text) {
    json j = json::parse(text);
    j["certificate"].erase("seconds_to_solve");
    return j;
  };
  EXPECT_EQ(without_times(simulate({"--format", "json", "--threads", "2"}).out),
            without_times(out));
  EXPECT_EQ(without_times(simulate({"--format", "json", "--no-replay"}).out), without_times(out));
}

TEST(Simulate, A_sample_comes_with_its_confidence) {
  const json j = json::parse(simulate({"--sample", "16", "--format", "json"}).out);
  EXPECT_EQ(j["sample"]["classes"], 16);
  EXPECT_EQ(j["sample"]["of"], 64);
  const json exact = json::parse(simulate({"--format", "json"}).out);
  const json& estimate = j["levels"][0]["sample"]["misses"];
  EXPECT_NEAR(estimate["value"].get<double>(), exact["levels"][0]["cache"]["misses"].get<double>(),
              2 * estimate["error_95"].get<double>());
  EXPECT_TRUE(contains(simulate({"--sample", "16"}).out, "16 of 64 classes of sets"));
  EXPECT_EQ(simulate({"--sample", "11"}).code, Exit::usage);
}

TEST(Simulate, Rules_name_what_is_wrong_with_them) {
  EXPECT_EQ(simulate({"--rule", "L2.write_back_miss=pass"}).code, Exit::done);
  EXPECT_TRUE(contains(simulate({"--rule", "L9.write_back_miss=pass"}).err, "no cache 'L9'"));
  EXPECT_TRUE(contains(simulate({"--rule", "L2.x=pass"}).err, "no rule 'x'"));
  EXPECT_TRUE(contains(simulate({"--rule", "L2.write_back_miss=x"}).err, "use allocate or pass"));
  EXPECT_EQ(simulate({"--rule", "L3.replacement=QLRU_H11_M1_R1_U2"}).code, Exit::done);
  EXPECT_TRUE(contains(simulate({"--rule", "L3.replacement=lru"}).err, "no variant of QLRU"));
  EXPECT_TRUE(
      contains(simulate({"--rule", "L2.empty_ways=tree"}).err, "use the replacement tree-plru"));
  EXPECT_TRUE(contains(simulate({"--rule", "nonsense"}).err, "LEVEL.RULE=VALUE"));
}

// The accesses of a schedule, written down and simulated as a trace: the same misses.
TEST(Simulate, A_written_trace_misses_as_often_as_its_schedule) {
  const File trace("trace", "");
  ASSERT_EQ(simulate({"--write-trace", trace.path()}).code, Exit::done);
  const json direct = json::parse(simulate({"--format", "json"}).out);
  const Ran ran =
      tcsim({"simulate", "--trace", trace.path(), "--machine", "i7-6700k", "--format", "json"});
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  const json j = json::parse(ran.out);
  for (std::size_t l = 0; l < 3; ++l) {
    for (const char* field : {"misses", "evictions", "write_backs"}) {
      EXPECT_EQ(j["levels"][l][field], direct["levels"][l]["cache"][field]) << l << field;
    }
  }
}

TEST(Simulate, A_trace_for_ChampSim_has_an_instruction_for_each_access) {
  const File trace("trace", ""), champsim("champsim", "");
  ASSERT_EQ(simulate({"--write-trace", trace.path()}).code, Exit::done);
  const Ran ran =
      simulate({"--write-trace", champsim.path(), "--trace-format", "champsim", "--quiet"});
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  const json ours = json::parse(
      tcsim({"simulate", "--trace", trace.path(), "--machine", "i7-6700k", "--format", "json"})
          .out);
  EXPECT_EQ(std::filesystem::file_size(champsim.path()), 64 * ours["accesses"].get<std::size_t>());
  const Ran other = simulate({"--write-trace", champsim.path(), "--trace-format", "din"});
  EXPECT_EQ(other.code, Exit::usage);
  EXPECT_TRUE(contains(other.err, "use binary or champsim"));
  const Ran read = tcsim(
      {"simulate", "--trace", trace.path(), "--machine", "i7-6700k", "--trace-format", "champsim"});
  EXPECT_EQ(read.code, Exit::usage);
  EXPECT_TRUE(contains(read.err, "written, not read"));
}

// A victim cache, two prefetchers and slices at once: the counts are the same on two threads, of
// the accesses as a trace, and with the causes of misses. A sample is refused with the reason.
TEST(Simulate, Rules_of_real_caches_go_with_threads_traces_and_causes) {
  const std::vector<std::string> rules{
      "--set", "L1.victim_lines=4", "--set", "L2.prefetch=streamer+adjacent-line",
      "--set", "L3.index=sliced-4", "--set", "L1.ways=1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), rules.begin(), rules.end());
    return more;
  };
  const Ran ran = simulate(with({"--format", "json"}));
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  const json direct = json::parse(ran.out);
  EXPECT_GT(direct["levels"][0]["cache"]["victim_hits"], 0);
  EXPECT_GT(direct["levels"][1]["cache"]["useful_prefetches"], 0);
  EXPECT_EQ(direct["levels"][2]["cache"]["prefetches"], 0);
  EXPECT_TRUE(contains(simulate(with({})).out, "victim_hits "));
  EXPECT_EQ(json::parse(simulate(with({"--format", "json", "--threads", "2"})).out)["levels"],
            direct["levels"]);
  const json causes = json::parse(simulate(with({"--format", "json", "--attribution"})).out);
  const File trace("rules", "");
  ASSERT_EQ(simulate({"--write-trace", trace.path(), "--schedule", direct["schedule"]}).code,
            Exit::done);
  const Ran traced = tcsim(with({"simulate", "--trace", trace.path(), "--machine", "i7-6700k",
                                 "--format", "json", "--threads", "2"}));
  ASSERT_EQ(traced.code, Exit::done) << traced.err;
  const json of_trace = json::parse(traced.out);
  for (std::size_t l = 0; l < 3; ++l) {
    const json& cache = direct["levels"][l]["cache"];
    EXPECT_EQ(causes["levels"][l]["cache"], cache) << l;
    for (const char* field : {"misses", "evictions", "write_backs", "prefetches"}) {
      EXPECT_EQ(of_trace["levels"][l][field], cache[field]) << l << field;
    }
  }
  EXPECT_TRUE(contains(simulate({"--sample", "16", "--set", "L1.victim_lines=4"}).err,
                       "L1: its victim cache serves all sets, so that no part can be simulated"));
  EXPECT_TRUE(contains(simulate({"--sample", "16", "--set", "L3.index=hashed"}).err,
                       "L3: its index hashes all bits of a line's number"));
  EXPECT_TRUE(
      contains(simulate({"--set", "L2.inclusion=exclusive", "--set", "L2.victim_lines=4"}).err,
               "L2: it is exclusive and has a victim cache"));
  EXPECT_TRUE(contains(tcsim(with_matmul("predict", {"--set", "L1.victim_lines=4"})).err,
                       "a victim cache is not modelled; use victim_lines 0"));
}

TEST(Simulate, Traces_are_printed_in_each_format) {
  const File trace("text", " L 0,8\nI  1000,4\n L 40,8\n M 8,4\n");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"simulate", "--trace", trace.path(), "--machine", "i7-6700k"};
    args.insert(args.end(), more.begin(), more.end());
    return tcsim(args);
  };
  EXPECT_TRUE(contains(run({}).out, "4 records, 4 accesses"));
  const json j = json::parse(run({"--format", "json", "--instructions", "split"}).out);
  EXPECT_EQ(j["levels"][0]["misses"], 2);
  EXPECT_EQ(j["levels"][0]["instructions"]["misses"], 1);
  EXPECT_EQ(j["levels"][1]["misses"], 3);
  EXPECT_TRUE(contains(run({"--format", "csv"}).out, ",4,4,L1,L1-L2,2,2,2,2,0,1,"));
  EXPECT_TRUE(contains(run({"--attribution"}).out, "compulsory"));
  const json why = json::parse(run({"--attribution", "--format", "json"}).out);
  EXPECT_EQ(why["levels"][0]["why"]["compulsory"], 2);
  EXPECT_EQ(why["levels"][0]["reuse_distances"]["first_uses"], 2);
  EXPECT_TRUE(contains(run({"--sample", "16"}).out, "16 of 64 classes of sets"));
  const json sampled = json::parse(run({"--sample", "64", "--format", "json"}).out);
  EXPECT_EQ(sampled["levels"][0]["sample"]["misses"]["value"], 2);
  EXPECT_TRUE(contains(run({"--sample", "64", "--format", "csv"}).out, ",2,0\n"));
  EXPECT_EQ(run({"--threads", "2", "--format", "csv"}).out, run({"--format", "csv"}).out);
  EXPECT_EQ(run({"--sample", "16", "--attribution"}).code, Exit::usage);
  EXPECT_EQ(tcsim({"simulate", "--trace", "-", "--trace", "-", "--machine", "i7-6700k"}).code,
            Exit::usage);
  EXPECT_EQ(run({"tccg:1"}).code, Exit::usage);
  EXPECT_EQ(run({"--instructions", "x"}).code, Exit::usage);
}

TEST(Simulate, A_malformed_trace_names_the_record) {
  const File trace("bad", " L 0,8\n L zz,8\n");
  const Ran r = tcsim({"simulate", "--trace", trace.path(), "--machine", "i7-6700k"});
  EXPECT_EQ(r.code, Exit::input);
  EXPECT_TRUE(contains(r.err, trace.path() + ":2: an address is missing at 'zz,8'")) << r.err;
  EXPECT_EQ(tcsim({"simulate", "--trace", "/nonexistent", "--machine", "i7-6700k"}).code,
            Exit::input);
}

TEST(Simulate, Tlbs_are_simulated_on_request) {
  std::string toml = tcsim({"machine", "show", "i7-6700k", "--toml"}).out;
  const File file("tlb.toml", toml +
                                  "\n[[tlb]]\nname = \"dTLB\"\nentries = 64\nways = 4\npage = "
                                  "\"4KiB\"\n");
  const json j = json::parse(tcsim({"simulate", "ij-ik-kj", "--size", "i=96,j=72,k=80", "--machine",
                                    file.path(), "--tlb", "--format", "json"})
                                 .out);
  EXPECT_EQ(j["tlbs"][0]["name"], "dTLB");
  // 15 + 12 pages of A and B, 14 of C, and their buffers: all stay.
  EXPECT_GE(j["tlbs"][0]["misses"].get<int>(), 15 + 12 + 14);
  EXPECT_LE(j["tlbs"][0]["misses"].get<int>(), 64);
}

}  // namespace
}  // namespace tcsim::cli
