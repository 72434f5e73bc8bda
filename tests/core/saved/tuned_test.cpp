// What tcsim tune keeps.
#include "core/saved/tuned.hpp"

#include <gtest/gtest.h>

#include "core/workload/suite.hpp"
#include "tests/core/refusal.hpp"

namespace tcsim {
namespace {

Contraction workload(int number) {
  return find_suite("tccg").workloads[static_cast<std::size_t>(number - 1)];
}

Tuned entry(const Contraction& c, std::string schedule = "kernel 1x1", double ratio = 1.07) {
  Tuned t;
  t.key = tuned_key(c, 1, "AMD \"EPYC\"", "avx512");
  t.schedule = std::move(schedule);
  t.measured = FlopsPerSecond(55e9);
  t.predicted = FlopsPerSecond(59e9);
  t.of_peak = 0.1 + 0.2;  // a number of 17 digits
  t.ratio = ratio;
  t.date = "2026-11-22";
  t.tried = {1, -2, 3};
  return t;
}

TEST(Tuned, Comes_back_from_its_file_as_it_was) {
  TunedSchedules all;
  EXPECT_EQ(parse_tuned(to_toml(all), "t.toml"), all);
  all.add(entry(workload(1)), {});
  all.add(entry(workload(2)), {});
  EXPECT_EQ(parse_tuned(to_toml(all), "t.toml"), all) << to_toml(all);
}

TEST(Tuned, Is_found_by_what_makes_it_the_same_and_by_no_name) {
  TunedSchedules all;
  const Contraction c = workload(8);
  all.add(entry(c), {});
  const TunedKey key = all.all()[0].key;
  EXPECT_NE(all.find(key), nullptr);
  EXPECT_NE(all.find(tuned_key(c.renamed("mine"), 1, key.processor, key.instruction_set)), nullptr);
  EXPECT_EQ(all.find(tuned_key(workload(9), 1, key.processor, key.instruction_set)), nullptr);
  for (auto change : {+[](TunedKey& k) { k.threads = 2; }, +[](TunedKey& k) { k.sizes = "a=1"; },
                      +[](TunedKey& k) { k.processor = "another"; },
                      +[](TunedKey& k) { k.instruction_set = "avx2"; },
                      +[](TunedKey& k) { k.type = ElementType::f32; },
                      +[](TunedKey& k) { k.layout = Layout::mixed; },
                      +[](TunedKey& k) { k.objective = Objective::sum; }}) {
    TunedKey other = key;
    change(other);
    EXPECT_EQ(all.find(other), nullptr);
  }
}

TEST(Tuned, One_that_follows_on_replaces_what_it_began_with_even_if_it_is_no_better) {
  TunedSchedules all;
  all.add(entry(workload(1), "first", 1.2), {});
  Tuned next = entry(workload(1), "second", 1.1);
  next.tried = {3, 4};
  all.add(next, "first");
  ASSERT_EQ(all.all().size(), 1u);
  EXPECT_EQ(all.all()[0].schedule, "second");
  EXPECT_EQ(all.all()[0].tried, (std::vector<std::int64_t>{3, 4, 1, -2}));
}

TEST(Tuned, Of_two_that_did_not_know_of_each_other_the_better_stays) {
  TunedSchedules all;
  all.add(entry(workload(1), "first", 1.1), {});
  all.add(entry(workload(1), "worse", 1.0), {});
  EXPECT_EQ(all.all()[0].schedule, "first");
  all.add(entry(workload(1), "better", 1.2), {});
  EXPECT_EQ(all.all()[0].schedule, "better");
}

TEST(Tuned, Is_forgotten_for_every_number_of_threads) {
  TunedSchedules all;
  all.add(entry(workload(1)), {});
  Tuned two = entry(workload(1));
  two.key.threads = 2;
  all.add(two, {});
  all.add(entry(workload(2)), {});
  EXPECT_EQ(all.forget(workload(1)), 2u);
  EXPECT_EQ(all.all().size(), 1u);
  EXPECT_EQ(all.forget(workload(1)), 0u);
}

TEST(Tuned, Says_when_and_how_much) {
  EXPECT_EQ(entry(workload(1)).words(),
            "tuned on 2026-11-22: 3 candidates, 1.07 times the model's choice");
}

TEST(Tuned, Faults_are_named_with_their_place_and_how_to_begin_anew) {
  TunedSchedules one;
  one.add(entry(workload(1)), {});
  const std::string good = to_toml(one);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"schema = 1\n[[tuned\n", "t.toml:2:"},
      {"", "t.toml:1:1: the file has no schema"},
      {with("schema = 1", "schema = 2"), "this schema is not known"},
      {with("threads = 1", "threads = 0"), "threads is no count"},
      {with("threads = 1\n", ""), "[[tuned]] has no threads"},
      {with("'f64'", "'f16'"), "type 'f16' is unknown"},
      {with("2026-11-22", "2026-11-2x"), "date is no date"},
      {with("'kernel 1x1'", "\"kernel\\u001b\""), "schedule is no line of text"},
      {with("\nflops_per_second = ", "\nflops_per_second = -"), "flops_per_second"},
      {with("[ 1,", "[ \"1\","), "this is no fingerprint"},
      {with("threads", "colour = 1\nthreads"), "unknown key 'colour'"},
      {good + good.substr(good.find("[[tuned]]")), "has a schedule already"},
  };
  for (const auto& [text, said] : cases) {
    const std::string refused = test::refusal_of([&] { parse_tuned(text, "t.toml"); });
    EXPECT_NE(refused.find(said), std::string::npos) << refused << "\n" << text;
    EXPECT_TRUE(refused.starts_with("t.toml:")) << refused;
    EXPECT_TRUE(refused.ends_with("tcsim tune --forget all'")) << refused;
  }
}

}  // namespace
}  // namespace tcsim
