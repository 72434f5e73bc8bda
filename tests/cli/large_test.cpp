// Large problems on the command line: exact whole numbers, or a refusal that names the limit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"
#include "tests/core/large_problems.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

TEST(Large, Sizes_that_cannot_be_counted_are_refused_by_every_command) {
  const std::string all = "a=5000,b=5000,c=5000,d=5000,e=5000,f=5000";
  for (const char* command : {"predict", "optimize", "report", "simulate", "emit", "run"}) {
    const Ran r = tcsim({command, "abcd-aebf-dfce", "--size", all, "--machine", "e5-2680v4"});
    EXPECT_EQ(r.code, Exit::unsupported) << command << r.err;
    EXPECT_EQ(r.out, "") << command;
    // What runs asks for memory first.
    if (std::string(command) == "run" || std::string(command) == "report") continue;
    EXPECT_EQ(r.err,
              "tcsim: abcd-aebf-dfce: too large, because 2^62 bytes (4.6 EB) or more would pass "
              "link L1-register; use smaller sizes\n")
        << command;
  }
  const Ran r = tcsim({"whatif", "abcd-aebf-dfce", "--size", all, "--machine", "e5-2680v4",
                       "--vary", "L3.capacity=1x..2x:3"});
  EXPECT_EQ(r.code, Exit::unsupported) << r.err;
  EXPECT_TRUE(contains(r.err, "too large, because 2^62 bytes")) << r.err;
}

// Above 2^53 not every whole number is a double.
TEST(Large, Bytes_in_json_and_csv_are_exact_beyond_doubles) {
  const Contraction c =
      parse_contraction("ij-ik-kj", {{'i', 400009}, {'j', 399991}, {'k', 1000033}},
                        Layout::row_major, ElementType::f64);
  const std::string schedule =
      "groups m=i n=j k=k for k by 1021 { pack A in L3 { for n by 5 { for m by 3 { kernel 3x5 } } "
      "} }";
  test::WideLink link = test::wide_core_link(c, parse_schedule(schedule, c, "test"));
  ASSERT_GT(link.total(), test::Wide(1) << 53);
  ASSERT_NE(test::Wide(test::to_double(link.total())), link.total());  // no double is that number
  std::vector<std::string> args{"predict",   "ij-ik-kj",   "--size", c.sizes(),  "--machine",
                                "e5-2680v4", "--schedule", schedule, "--format", "json"};
  const Ran as_json = tcsim(args);
  ASSERT_EQ(as_json.code, Exit::done) << as_json.err;
  const json level = json::parse(as_json.out)["levels"][0];
  ASSERT_TRUE(level["predicted_bytes"].is_number_integer());
  EXPECT_EQ(level["predicted_bytes"].get<std::int64_t>(), link.total());
  for (const Array& a : printed_arrays) {
    test::Wide bytes = 0;
    for (ArrayId row : link.arrays.ids()) {
      if (link.arrays[row] != a) continue;
      for (Phase p : all_phases) bytes += link.at(p, row).in + link.at(p, row).out;
    }
    const json tensor = level["by_tensor"].value(to_text(a), json::object());
    EXPECT_EQ(tensor.value("predicted_bytes", std::int64_t{0}), bytes) << to_text(a);
  }
  args.back() = "csv";
  const Ran as_csv = tcsim(args);
  EXPECT_TRUE(contains(as_csv.out, "," + link.total().str() + ",")) << as_csv.out;
}

}  // namespace
}  // namespace tcsim::cli
