// Traffic from counts, with a source whose counts are made up, and PAPI for real with what every
// machine can count.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "core/units/quantity.hpp"
#include "microbench/counters/counting.hpp"
#include "tests/faults.hpp"
#ifdef TCSIM_HAVE_PAPI
#include "tests/microbench/papi_here.hpp"
#endif

namespace tcsim {
namespace {

// Counts events that it knows, at most `room` of those in capitals at once, as a processor would.
class FakeSource : public CounterSource {
 public:
  FakeSource(std::map<std::string, std::vector<double>> known, std::size_t room)
      : known_(std::move(known)), room_(room) {}

  std::string name() const override { return "papi"; }
  std::string limits() const override { return "made up"; }
  std::string refusal(const std::vector<std::string>& events) override {
    std::size_t hardware = 0;
    for (const std::string& e : events) {
      if (!known_.contains(e)) return e + " is not known";
      if (std::isupper(static_cast<unsigned char>(e[0])) != 0) ++hardware;
    }
    return hardware > room_ ? "no room" : "";
  }
  std::vector<double> count(const std::vector<std::string>& events,
                            const std::function<void()>& work) override {
    EXPECT_EQ(refusal(events), "");
    work();
    std::vector<double> counts;
    for (const std::string& e : events) {
      auto& values = known_.at(e);
      counts.push_back(values.front());
      std::rotate(values.begin(), values.begin() + 1, values.end());
    }
    return counts;
  }

 private:
  std::map<std::string, std::vector<double>> known_;
  std::size_t room_;
};

EventFile file(const std::string& name, const std::string& text) {
  return parse_events("schema = 1\nsource = \"papi\"\n" + text, name + ".toml");
}

Counted count(Counting& counting, int repetitions) {
  for (int r = 0; r < repetitions; ++r) counting.count([] {});
  return counting.result();
}

const char* const two_links = R"(
[[link]]
name = "L1-L2"
in = ["NEW", "FILLS"]
out = ["BACK + GONE"]
[[link]]
name = "L2-L3"
bytes = 128
in = ["PAIRS"]
out = ["UNKNOWN"]
[[event]]
name = "page faults"
event = "faults"
)";

TEST(Counting, Bytes_are_the_median_count_times_what_one_count_stands_for) {
  Counting counting(std::make_unique<FakeSource>(
                        std::map<std::string, std::vector<double>>{{"FILLS", {100, 900, 200}},
                                                                   {"BACK", {10, 20, 30}},
                                                                   {"GONE", {1, 1, 1}},
                                                                   {"PAIRS", {7, 7, 8}},
                                                                   {"faults", {0, 3, 1}}},
                        4),
                    {file("f", two_links)});
  EXPECT_EQ(counting.groups(), 1);
  EXPECT_EQ(counting.figures(), 3);
  const Counted c = count(counting, 3);
  EXPECT_EQ(c.source, "papi");
  EXPECT_EQ(c.limits, "");
  ASSERT_EQ(c.links.size(), 2u);
  EXPECT_EQ(c.links[0].link, "L1-L2");
  EXPECT_EQ(c.links[0].in, Bytes(200 * 64));        // of 100, 900 and 200
  EXPECT_EQ(c.links[0].out, Bytes((20 + 1) * 64));  // of sums, not the sum of medians
  EXPECT_EQ(c.links[1].in, Bytes(7 * 128));
  EXPECT_EQ(c.links[1].out, std::nullopt);
  ASSERT_EQ(c.events.size(), 1u);
  EXPECT_EQ(c.events[0].name, "page faults");
  EXPECT_EQ(c.events[0].median, 1);
}

TEST(Counting, What_does_not_fit_at_once_is_counted_in_turns) {
  // Room for two: {FILLS}, {BACK, GONE}, {PAIRS}; FILLS and BACK + GONE would be three.
  Counting counting(std::make_unique<FakeSource>(
                        std::map<std::string, std::vector<double>>{{"FILLS", {100, 300}},
                                                                   {"BACK", {10}},
                                                                   {"GONE", {1}},
                                                                   {"PAIRS", {7}},
                                                                   {"faults", {1, 2, 3, 4, 5, 6}}},
                        2),
                    {file("f", two_links)});
  EXPECT_EQ(counting.groups(), 3);
  const Counted one = count(counting, 1);
  EXPECT_EQ(one.links[0].in, Bytes(100 * 64));
  EXPECT_EQ(one.links[0].out, std::nullopt) << "it was not its turn yet";
  const Counted all = count(counting, 5);
  EXPECT_EQ(all.links[0].in, Bytes(200 * 64));  // of its two turns
  EXPECT_EQ(all.links[0].out, Bytes(11 * 64));
  EXPECT_EQ(all.links[1].in, Bytes(7 * 128));
  EXPECT_EQ(all.events[0].median, 3.5);  // counted in every turn
}

TEST(Counting, The_file_that_this_machine_can_count_most_of_is_taken) {
  const auto source = [] {
    return std::make_unique<FakeSource>(
        std::map<std::string, std::vector<double>>{{"A", {1}}, {"B", {2}}, {"C", {3}}}, 9);
  };
  const EventFile more = file("more", "[[link]]\nname = \"x\"\nin = [\"A\"]\nout = [\"B\"]\n");
  const EventFile less = file("less", "[[link]]\nname = \"x\"\nin = [\"C\"]\nout = [\"D\"]\n");
  for (const auto& files : {std::vector{more, less}, std::vector{less, more}}) {
    Counting counting(source(), files);
    const Counted c = count(counting, 1);
    EXPECT_EQ(c.files, "more");
    EXPECT_EQ(c.links[0].in, Bytes(64));
  }
  EventFile other = more;
  other.source = "likwid";
  EXPECT_EQ(Counting(source(), {other}).figures(), 0) << "the file is another source's";
}

TEST(Counting, Without_cache_events_the_rest_is_counted_and_the_reason_given) {
  Counting counting(
      std::make_unique<FakeSource>(std::map<std::string, std::vector<double>>{{"faults", {4}}}, 9),
      {file("f", two_links)});
  EXPECT_EQ(counting.groups(), 1);
  const Counted c = count(counting, 2);
  EXPECT_TRUE(c.links.empty());
  EXPECT_EQ(c.limits, "made up");
  EXPECT_EQ(c.events.at(0).median, 4);
}

TEST(Counting, Work_runs_once_a_repetition_and_what_it_throws_passes) {
  Counting counting(make_no_source("a reason"), {});
  int runs = 0;
  counting.count([&] { ++runs; });
  EXPECT_EQ(runs, 1);
  EXPECT_THROW(counting.count([] { throw Interrupted(); }), Interrupted);
  EXPECT_EQ(counting.result().source, "none");
  EXPECT_EQ(counting.result().limits, "a reason");
}

TEST(Counting, Automatic_never_fails_and_says_why_each_source_is_taken_or_not) {
  Counting counting = choose_counting(CounterChoice::automatic);
  const Counted c = count(counting, counting.groups());
  EXPECT_NE(c.why.find("papi: "), std::string::npos) << c.why;
  EXPECT_NE(c.why.find("likwid: "), std::string::npos) << c.why;
  EXPECT_EQ(c.limits.empty(), counting.figures() > 0);
}

// likwid's library starts other programs.
TEST(Sources, Unasked_nobody_starts_likwid) {
  Counting counting = choose_counting(CounterChoice::unasked);
  const Counted c = count(counting, counting.groups());
  EXPECT_NE(c.why.find("papi: "), std::string::npos) << c.why;
  EXPECT_EQ(c.why.find("likwid"), std::string::npos) << c.why;
  EXPECT_NE(c.source, "likwid");
}

TEST(Events, A_file_is_read_with_alternatives_and_sums) {
  const EventFile f = file("/some/where/papi-x", two_links);
  EXPECT_EQ(f.name, "papi-x");
  ASSERT_EQ(f.links.size(), 2u);
  EXPECT_EQ(f.links[0].in, (std::vector<EventSum>{{"NEW"}, {"FILLS"}}));
  EXPECT_EQ(f.links[0].out, (std::vector<EventSum>{{"BACK", "GONE"}}));
  EXPECT_EQ(f.links[0].bytes, 64);
  EXPECT_EQ(f.links[1].bytes, 128);
  EXPECT_EQ(f.events.at(0).event, "faults");
}

TEST(Events, A_fault_is_named_with_its_line_and_what_would_be_right) {
  const std::string head = "schema = 1\nsource = \"papi\"\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "f.toml:1:1: no 'schema'"},
      {"schema = 1e99", "f.toml:1:10: no 'schema'"},
      {"schema = 2", "f.toml:1:10: no 'schema' that this version of tcsim reads; write schema = 1"},
      {"schema = 1\nsource = \"vtune\"",
       "f.toml:2:10: 'vtune' is no source of counts; use papi or"},
      {head + "colour = 3", "f.toml:3:1: unknown key 'colour'"},
      {head + "link = 3", "f.toml:3:8: 'link' is no list of tables; write [[link]]"},
      {head + "[[link]]\nin = [\"A\"]", "f.toml:3:1: no 'name'; add it"},
      {head + "[[link]]\nname = \"x\"\nin = \"A\"", "f.toml:5:6: 'in' is no list"},
      {head + "[[link]]\nname = \"x\"\nin = [3]", "f.toml:5:7: 'in' is no text"},
      {head + "[[link]]\nname = \"x\"\nin = [\"A + \"]", "f.toml:5:7: 'in' adds up nothing"},
      {head + "[[link]]\nname = \"x\"\nbytes = -1", "f.toml:5:9: 'bytes' is no number"},
      {head + "[[event]]\nname = \"x\"\n", "f.toml:3:1: no 'event'; add it"},
      {head + "[[", "f.toml:3:"},
  };
  for (const auto& [text, said] : cases) {
    SCOPED_TRACE(text);
    try {
      parse_events(text, "f.toml");
      ADD_FAILURE() << "not refused";
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).substr(0, said.size()), said);
    }
  }
}

TEST(Events, Those_that_ship_are_readable_and_name_links_of_machines) {
  const auto files = shipped_events();
  EXPECT_GE(files.size(), 5u);
  for (const EventFile& f : files) {
    for (const LinkEvents& l : f.links) {
      EXPECT_TRUE(l.link == "L1-L2" || l.link == "L2-L3" || l.link == "L3-memory") << f.name;
    }
  }
}

#ifdef TCSIM_HAVE_PAPI

// Fresh pages of their own fault once each when they are first touched.
TEST(Papi, Counts_the_page_faults_of_pages_that_are_touched_first) {
  if (!test::papi_counts_here()) GTEST_SKIP() << "PAPI has no counters on this machine";
  const auto papi = make_papi_source();
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), pages = 1000;
  void* place =
      mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  madvise(place, pages * page, MADV_NOHUGEPAGE);
  auto* bytes = static_cast<volatile unsigned char*>(place);
  const auto touch = [&] {
    for (std::size_t p = 0; p < pages; ++p) bytes[p * page] = 1;
  };
  const std::vector<std::string> events{"perf::TASK-CLOCK", "perf::PAGE-FAULTS"};
  ASSERT_EQ(papi->refusal(events), "");
  const auto first = papi->count(events, touch), second = papi->count(events, touch);
  munmap(place, pages * page);
  EXPECT_GE(first[1], 1000);
  EXPECT_LE(first[1], 1500 * test::faults_a_page) << "the work itself touches little else";
  EXPECT_LE(second[1], 100) << "they are there now";
  EXPECT_GT(first[0], 0);  // nanoseconds on the processor
}

TEST(Papi, Names_an_event_that_it_does_not_know) {
  if (!test::papi_counts_here()) GTEST_SKIP() << "PAPI has no counters on this machine";
  const auto papi = make_papi_source();
  EXPECT_NE(papi->refusal({"perf::PAGE-FAULTS", "no::SUCH_EVENT"}).find("no::SUCH_EVENT"),
            std::string::npos);
  EXPECT_THROW(papi->count({"no::SUCH_EVENT"}, [] {}), UnsupportedError);
}

TEST(Papi, Counters_stop_when_the_work_throws) {
  if (!test::papi_counts_here()) GTEST_SKIP() << "PAPI has no counters on this machine";
  const auto papi = make_papi_source();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(papi->count({"perf::PAGE-FAULTS"}, [] { throw Interrupted(); }), Interrupted);
  }
  EXPECT_EQ(papi->count({"perf::PAGE-FAULTS"}, [] {}).size(), 1u);
}

TEST(Papi, Says_so_where_it_knows_no_counter_at_all) {
  if (test::papi_counts_here()) GTEST_SKIP() << "it counts on this machine";
  EXPECT_NE(make_papi_source()->limits().find("perf_event"), std::string::npos);
}

TEST(Papi, Says_why_there_are_no_cache_events_exactly_where_there_are_none) {
  const auto papi = make_papi_source();
  EXPECT_EQ(papi->limits().empty(), papi->refusal({"PAPI_TOT_CYC"}).empty()) << papi->limits();
}

#else

TEST(Papi, A_build_without_it_says_so) {
  EXPECT_THROW(make_papi_source(), UnsupportedError);
  EXPECT_THROW(choose_counting(CounterChoice::papi), UnsupportedError);
}

#endif

}  // namespace
}  // namespace tcsim
