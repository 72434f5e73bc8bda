#include "kernels/repetitions.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tcsim {
namespace {

using Repetitions = std::vector<Repetition>;

Repetition alone(double seconds) { return {Seconds(seconds), Seconds(seconds)}; }
Repetition disturbed(double seconds, double share) {
  return {Seconds(seconds), Seconds(share * seconds)};
}

// How many repetitions it takes where the i-th one is next(i).
template <class F>
std::size_t repetitions(const Repeat& repeat, const F& next, int threads = 1) {
  Repetitions done;
  while (!repeat.enough(done, threads) && done.size() < 1000) done.push_back(next(done.size()));
  return done.size();
}

TEST(Repetition, Has_a_processor_for_a_share_of_its_time) {
  EXPECT_EQ(processor_share(alone(2), 1), 1);
  EXPECT_EQ(processor_share(disturbed(2, 0.5), 1), 0.5);
  EXPECT_EQ(processor_share(disturbed(2, 0.5), 2), 0.25);
  // The processor's clock is read around the other.
  EXPECT_EQ(processor_share({Seconds(1e-7), Seconds(3e-7)}, 1), 1);
  EXPECT_EQ(processor_share({Seconds(0), Seconds(0)}, 1), 1);
  EXPECT_FALSE(is_disturbed(disturbed(1, 0.96), 1));
  EXPECT_TRUE(is_disturbed(disturbed(1, 0.94), 1));
  EXPECT_FALSE(is_disturbed(disturbed(1, 1.6), 2));
  EXPECT_TRUE(is_disturbed(disturbed(1, 1.4), 2));
}

TEST(Time, Is_the_median_of_what_nobody_disturbed) {
  const RunTime odd = time_of({alone(3), alone(1), disturbed(9, 0.5), alone(2)}, 1);
  EXPECT_EQ(odd.median, Seconds(2));
  EXPECT_EQ(odd.left_out, 1);
  EXPECT_FALSE(odd.disturbed);
  EXPECT_EQ(odd.share, 1);
  EXPECT_EQ(disturbance(odd, 1), "");
  EXPECT_EQ(time_of({alone(4), alone(1), alone(2), alone(3)}, 1).median, Seconds(2.5));
}

TEST(Time, Counts_all_where_every_one_was_disturbed_and_says_so) {
  const RunTime t = time_of({disturbed(4, 0.4), disturbed(2, 0.5), disturbed(3, 0.6)}, 1);
  EXPECT_EQ(t.median, Seconds(3));
  EXPECT_EQ(t.left_out, 0);
  EXPECT_TRUE(t.disturbed);
  EXPECT_EQ(t.share, 0.5);
  EXPECT_EQ(disturbance(t, 1),
            "others use this machine: the run had a processor for 50 % of the time, and would take "
            "about 1.5 s alone; repeat it when they are gone");
  EXPECT_NE(disturbance(t, 2).find("or the threads wait for one another"), std::string::npos);
}

TEST(Repeat, Exactly_as_often_as_asked) {
  const auto any = [](std::size_t i) { return disturbed(i % 3 == 0 ? 1 : 2, 0.3); };
  EXPECT_EQ(repetitions(1, any), 1u);
  EXPECT_EQ(repetitions(700, any), 700u);
  EXPECT_THROW(Repeat(0), std::invalid_argument);
  EXPECT_EQ(Repeat(4).share_done({alone(100)}), 0.25);
  Repeat raised(4);
  EXPECT_FALSE(raised.at_least(3));
  EXPECT_TRUE(raised.at_least(6));
  EXPECT_EQ(repetitions(raised, any), 6u);
}

TEST(Repeat, Until_the_time_is_known) {
  const Repeat repeat = Repeat::until_known();
  // Short ones: five that agree, or fifteen.
  EXPECT_EQ(repetitions(repeat, [](auto) { return alone(1e-6); }), 5u);
  EXPECT_EQ(repetitions(repeat, [](auto i) { return alone(i % 2 == 0 ? 1e-6 : 2e-6); }), 15u);
  // One that stands out does not count against the others.
  EXPECT_EQ(repetitions(repeat, [](auto i) { return alone(i == 0 ? 5e-6 : 1e-6); }), 5u);
  // Seconds: two that agree, and one of what takes long.
  EXPECT_EQ(repetitions(repeat, [](auto) { return alone(1); }), 3u);
  EXPECT_EQ(repetitions(repeat, [](auto) { return alone(2); }), 2u);
  EXPECT_EQ(repetitions(repeat, [](auto i) { return alone(i == 0 ? 2 : 2.2); }), 3u);
  EXPECT_EQ(repetitions(repeat, [](auto) { return alone(7); }), 1u);
  EXPECT_EQ(repetitions(Repeat::until_known(8), [](auto) { return alone(7); }), 8u);
}

TEST(Repeat, Ends_on_a_machine_that_is_never_alone) {
  const Repeat repeat = Repeat::until_known();
  EXPECT_EQ(repetitions(repeat, [](auto) { return disturbed(1e-6, 0.5); }), 40u);
  EXPECT_EQ(repetitions(repeat, [](auto) { return disturbed(2, 0.5); }), 6u);
  EXPECT_EQ(repetitions(repeat, [](auto) { return disturbed(60, 0.5); }), 1u);
  // Every other one: the rest have to agree.
  EXPECT_EQ(
      repetitions(repeat, [](auto i) { return i % 2 == 0 ? disturbed(1e-6, 0.5) : alone(1e-6); }),
      10u);
}

TEST(Repeat, Its_progress_rises_to_one) {
  const Repeat repeat = Repeat::until_known();
  Repetitions done;
  double before = 0;
  while (!repeat.enough(done, 1)) {
    done.push_back(alone(0.5));
    EXPECT_GE(repeat.share_done(done), before);
    before = repeat.share_done(done);
  }
  EXPECT_EQ(before, 1);
}

}  // namespace
}  // namespace tcsim
