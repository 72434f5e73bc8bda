// Rows of sweeps over large problems are what wide arithmetic gives, or the sweep is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "core/study/evaluate.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/large_problems.hpp"
#include "tests/core/study/study_file.hpp"

namespace tcsim {
namespace {

using test::Wide;

std::string study_text(const std::string& label, const std::string& sizes) {
  return fmt::format(
      "schema = 1\nname = \"large\"\nmachines = [\"i7-6700k\"]\n"
      "[[workload]]\nname = \"large\"\nlabel = \"{}\"\nsizes = \"{}\"\n"
      "[[knob]]\nname = \"L3.capacity\"\nvalues = [\"4MiB\", \"8MiB\", \"16MiB\"]\n",
      label, sizes);
}

TEST(Sweep, Rows_of_large_problems_are_right_or_refused) {
  test::Random random(test::new_seed());
  int right = 0, refused = 0;
  for (int i = 0; i < 15; ++i) {
    std::string why;
    const double most = std::pow(10.0, static_cast<double>(random.between(2, 6)));
    const auto c = test::random_large_contraction(random, most, why);
    if (!c) continue;
    SCOPED_TRACE(c->label() + " " + c->sizes());
    try {
      const Study study = study_of(study_text(c->label(), c->sizes()));
      Anchors anchors(study, {});
      Evaluator evaluator(study, anchors, {});
      const Chains chains(study);
      for (std::int64_t n = 0; n < chains.size(); ++n) {
        for (const PointResult& r : evaluator.evaluate(n).points) {
          const Contraction& w = study.workloads[0].contraction();
          const Schedule s = parse_schedule(r.schedule, w, "row");
          const Wide total = test::wide_core_link(w, s).total();
          EXPECT_EQ(r.link_bytes[0], test::to_double(total));
          for (std::size_t l = 1; l < r.link_bytes.size(); ++l) {
            Wide once = 0;  // C leaves too
            for (TensorId t : all_tensors) {
              once += (t == TensorId::C ? 2 : 1) * test::wide_size(w, t) * test::wide_element(w);
            }
            EXPECT_GE(r.link_bytes[l], test::to_double(once) * (1 - 1e-12)) << l;
            EXPECT_LT(r.link_bytes[l], 0x1p62) << l;
          }
          EXPECT_GE(r.predicted_seconds, r.bound_seconds * (1 - 1e-9));
          ++right;
        }
      }
    } catch (const Error& e) {
      EXPECT_TRUE(test::says_too_large(e.what())) << e.what();
      ++refused;
    }
    if (HasFailure()) return;
#if defined(__SANITIZE_ADDRESS__)
    if (right > 5) break;  // a draw may take half a minute here, and 15 more than a test has
#endif
  }
  EXPECT_GT(right, 5);
  std::cout << right << " rows right, " << refused << " problems refused\n";
}

TEST(Sweep, Too_large_a_problem_is_refused_with_its_reason) {
  const Study study =
      study_of(study_text("abcd-aebf-dfce", "a=5000,b=5000,c=5000,d=5000,e=5000,f=5000"));
  const Folder folder("too_large");
  SweepOptions options;
  options.folder = folder.path();
  const std::string what = test::message_of<TooLargeError>([&] { sweep(study, options); });
  EXPECT_EQ(
      what,
      "large: too large, because 2^62 bytes (4.6 EB) or more would pass link L1-register; use "
      "smaller sizes");
}

}  // namespace
}  // namespace tcsim
