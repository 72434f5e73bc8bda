// tcsim validate: the same numbers in every format, and its exit codes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

std::vector<std::string> validate(std::vector<std::string> more) {
  return with_matmul("validate", more);
}

TEST(Validate_command, Prints_a_table_json_and_csv_with_the_same_numbers) {
  // Everything fits L2 of the i7-6700k, so its links carry compulsory lines.
  const Ran ran = tcsim(validate({"--format", "json"}));
  EXPECT_EQ(ran.code, Exit::done) << ran.err;
  const json j = json::parse(ran.out);
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["command"], "validate");
  EXPECT_EQ(j["machine"]["name"], "i7-6700k");
  EXPECT_EQ(j["accounting"]["name"], "honest");
  EXPECT_EQ(j["limit"], 0.1);
  EXPECT_EQ(j["complete"], true);
  ASSERT_EQ(j["workloads"].size(), 1u);
  const json& w = j["workloads"][0];
  EXPECT_EQ(w["workload"]["name"], "ij-ik-kj");
  EXPECT_TRUE(contains(w["schedule"], "kernel"));
  ASSERT_EQ(w["levels"].size(), 3u);
  EXPECT_EQ(w["levels"][0]["name"], "L2");
  EXPECT_EQ(w["levels"][0]["link"], "L1-L2");
  EXPECT_EQ(w["levels"][2]["name"], "memory");
  EXPECT_EQ(j["summary"]["links"], 3);
  EXPECT_EQ(j["summary"]["passed"], true);

  const auto rows = lines(tcsim(validate({"--format", "csv"})).out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_TRUE(rows[0].starts_with("schema,command,tcsim_version,workload,label,sizes,"));
  const Ran table = tcsim(validate({}));
  for (std::size_t l = 0; l < 3; ++l) {
    const json& level = w["levels"][l];
    std::int64_t sum = 0;
    for (const auto& [name, tensor] : level["by_tensor"].items()) {
      sum += tensor["simulated_bytes"].get<std::int64_t>();
    }
    EXPECT_EQ(sum, level["simulated_bytes"].get<std::int64_t>());
    const double predicted = level["predicted_bytes"], simulated = level["simulated_bytes"];
    EXPECT_DOUBLE_EQ(level["error"], (predicted - simulated) / simulated);
    EXPECT_TRUE(contains(rows[l + 1], "," + level["link"].get<std::string>() + "," +
                                          level["predicted_bytes"].dump() + "," +
                                          level["simulated_bytes"].dump() + ","))
        << rows[l + 1];
    EXPECT_TRUE(contains(table.out, level["link"]));
  }
  EXPECT_TRUE(contains(table.out, "1 workload, 3 links: median "));
  EXPECT_TRUE(contains(table.out, "within 10 %"));
}

TEST(Validate_command, Says_no_with_an_error_above_the_limit) {
  const Ran r = tcsim(validate({"--model", "listing3", "--limit", "0.001", "--explain", "0.001"}));
  EXPECT_EQ(r.code, Exit::no) << r.out;
  EXPECT_TRUE(contains(r.out, "above the limit of 0.001 %")) << r.out;
}

TEST(Validate_command, Names_the_reason_in_every_format) {
  const std::vector<std::string> how{"--model", "listing3", "--explain",
                                     "0.001",   "--limit",  "1000000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), how.begin(), how.end());
    return validate(more);
  };
  const json j = json::parse(tcsim(with({"--format", "json"})).out);
  const Ran csv = tcsim(with({"--format", "csv"})), table = tcsim(with({}));
  int gaps = 0;
  for (const json& level : j["workloads"][0]["levels"]) {
    const std::string reason = level["reason"];
    EXPECT_EQ(reason.empty(), !level.contains("tried"));
    if (reason.empty()) continue;
    ++gaps;
    EXPECT_TRUE(contains(csv.out, "," + reason + ",")) << csv.out;
    EXPECT_TRUE(contains(table.out, "%  " + reason + "\n")) << table.out;
    EXPECT_EQ(level["tried"][0]["without"], "packing");
  }
  EXPECT_GT(gaps, 0);
}

TEST(Validate_command, Interrupted_it_prints_what_is_there) {
  std::stop_source stop;
  stop.request_stop();
  const Ran r = tcsim(validate({"--format", "json"}), stop.get_token());
  EXPECT_EQ(r.code, Exit::interrupted);
  EXPECT_TRUE(contains(r.err, "interrupted after 0 of 1 workloads"));
  const json j = json::parse(r.out);
  EXPECT_EQ(j["complete"], false);
  EXPECT_EQ(j["workloads"].size(), 0u);
}

TEST(Validate_command, Draws_schedules_at_random_and_says_by_which_seed) {
  const std::vector<std::string> drawn{
      "validate", "mobilenet-v2", "--machine", "i7-6700k",  "--random",
      "3",        "--limit",      "1000000",   "--explain", "1000000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), drawn.begin(), drawn.end());
    return tcsim(more);
  };
  const json j = json::parse(with({"--format", "json"}).out);
  ASSERT_EQ(j["workloads"].size(), 3u);
  EXPECT_EQ(j["summary"]["links"], 9);
  EXPECT_LE(j["summary"]["time_off_2_percent"].get<int>(), 3);
  const std::string seed = j["seed"].dump();
  EXPECT_EQ(json::parse(with({"--format", "json", "--seed", seed}).out), j);
  const Ran table = with({"--seed", seed});
  EXPECT_TRUE(contains(table.out, "3 with seed " + seed)) << table.out;
  EXPECT_FALSE(json::parse(tcsim(validate({"--format", "json"})).out).contains("seed"));
}

TEST(Validate_command, Draws_contractions_where_no_workload_is_named) {
  const std::vector<std::string> drawn{"validate", "--machine", "i7-6700k",  "--random", "2",
                                       "--limit",  "1000000",   "--explain", "1000000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), drawn.begin(), drawn.end());
    return tcsim(more);
  };
  const json j = json::parse(with({"--format", "json"}).out);
  ASSERT_EQ(j["workloads"].size(), 2u);
  EXPECT_EQ(j["summary"]["links"], 6);
  EXPECT_LE(j["summary"]["time_above_2_percent"].get<int>(),
            j["summary"]["time_off_2_percent"].get<int>());
  EXPECT_GT(j["workloads"][0]["simulated_seconds"].get<double>(), 0);
  const std::string seed = j["seed"].dump();
  EXPECT_EQ(json::parse(with({"--format", "json", "--seed", seed}).out), j);
  const Ran table = with({"--seed", seed});
  EXPECT_TRUE(contains(table.out, "contractions drawn at random, 2 with seed " + seed));
  EXPECT_TRUE(contains(table.out, "simulated time more than 2 % above the predicted one: "));
  // What is drawn can be named again.
  const json& w = j["workloads"][0]["workload"];
  EXPECT_TRUE(contains(table.out, w["label"].get<std::string>() + " --size ")) << table.out;
  const Ran r = with({"--type", "f32"});
  EXPECT_EQ(r.code, Exit::usage);
  EXPECT_TRUE(contains(r.err, "name a WORKLOAD")) << r.err;
}

TEST(Validate_command, Refuses_to_draw_beside_a_given_schedule_and_a_seed_of_nothing) {
  Ran r = tcsim(validate({"--random", "2", "--schedule", "groups m=j n=i k=k kernel 8x6"}));
  EXPECT_EQ(r.code, Exit::usage);
  EXPECT_TRUE(contains(r.err, "leave out --random")) << r.err;
  r = tcsim(validate({"--seed", "2"}));
  EXPECT_EQ(r.code, Exit::usage);
  EXPECT_TRUE(contains(r.err, "give --random")) << r.err;
  r = tcsim(validate({"--random", "0"}));
  EXPECT_EQ(r.code, Exit::usage);
  EXPECT_TRUE(contains(r.err, "give 1 to 100000")) << r.err;
}

TEST(Validate_command, Refuses_limits_that_are_none) {
  for (const char* limit : {"-1", "nan", "ten"}) {
    const Ran r = tcsim(validate({"--limit", limit}));
    EXPECT_EQ(r.code, Exit::usage) << limit;
    EXPECT_TRUE(contains(r.err, "limit")) << r.err;
  }
}

TEST(Validate_command, Says_how_good_choices_are_among_their_neighbours) {
  const std::vector<std::string> drawn{
      "validate", "--machine", "zen5",    "--random",     "2", "--seed", "6", "--limit",
      "1000000",  "--explain", "1000000", "--neighbours", "6"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), drawn.begin(), drawn.end());
    return tcsim(more);
  };
  const Ran ran = with({"--format", "json"});
  const json j = json::parse(ran.out);
  ASSERT_EQ(j["workloads"].size(), 2u) << ran.err;
  double worst = 0;
  for (const json& w : j["workloads"]) {
    const json& n = w["neighbours"];
    EXPECT_EQ(n["drawn"], 6);
    EXPECT_LE(n["simulated"], 6);
    EXPECT_EQ(n["chosen_seconds"], w["simulated_seconds"]);
    worst =
        std::max(worst, n["chosen_seconds"].get<double>() / n["best_seconds"].get<double>() - 1);
  }
  EXPECT_EQ(j["summary"]["neighbours"]["choices"], 2);
  EXPECT_DOUBLE_EQ(j["summary"]["neighbours"]["worst"].get<double>(), worst);
  EXPECT_TRUE(contains(with({}).out, "of the best of 6 random neighbours: "));
  const Ran refused =
      tcsim({"validate", "tccg:29", "--machine", "zen5", "--random", "1", "--neighbours", "6"});
  EXPECT_EQ(refused.code, Exit::usage);
  EXPECT_TRUE(contains(refused.err, "--neighbours")) << refused.err;
}

}  // namespace
}  // namespace tcsim::cli
