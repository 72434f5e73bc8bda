// Work on another thread, of which only the newest matters.
#include <gtest/gtest.h>

#include <QTest>
#include <atomic>
#include <stdexcept>

#include "core/error.hpp"
#include "gui/studio/worker.hpp"

namespace tcsim::gui {
namespace {

const auto ignore = [](const QString&) {};

// Works until it is let go or asked to stop.
struct Gate {
  std::atomic<bool> open = false;
  void wait(const std::stop_token& stop) {
    while (!open) {
      if (stop.stop_requested()) throw Interrupted();
      std::this_thread::yield();
    }
  }
};

bool settles(Worker& worker) {
  return QTest::qWaitFor([&] { return !worker.isBusy(); }, 10000);
}

TEST(Worker, Of_work_that_waits_only_the_newest_is_done) {
  Worker worker("w", 1000000, nullptr);
  Gate gate;
  std::vector<int> delivered;
  const auto work = [&](int number) {
    return [&, number](const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
      gate.wait(stop);
      return [&, number] { delivered.push_back(number); };
    };
  };
  for (int i = 1; i <= 5; ++i) worker.start(work(i), ignore);
  gate.open = true;
  ASSERT_TRUE(settles(worker));
  EXPECT_EQ(delivered, (std::vector<int>{1, 5}));
}

// Which of two pieces of work is delivered, where the first ends only when it is stopped.
int deliveredOfTwo(int patience) {
  Worker worker("w", patience, nullptr);
  Gate never;
  int delivered = 0;
  worker.start(
      [&](const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
        never.wait(stop);
        return [&] { delivered = 1; };
      },
      ignore);
  worker.start([&](const std::stop_token&,
                   const Worker::Progress&) -> Worker::Deliver { return [&] { delivered = 2; }; },
               ignore);
  return settles(worker) ? delivered : -1;
}

TEST(Worker, Impatient_it_stops_what_is_under_way) { EXPECT_EQ(deliveredOfTwo(0), 2); }

// Nothing else is asked that could remind it.
TEST(Worker, Patient_it_stops_what_is_under_way_when_its_patience_ends) {
  EXPECT_EQ(deliveredOfTwo(100), 2);
}

TEST(Worker, Cancelled_it_delivers_nothing) {
  Worker worker("w", 0, nullptr);
  Gate never;
  bool delivered = false;
  worker.start(
      [&](const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
        while (!stop.stop_requested()) std::this_thread::yield();
        return [&] { delivered = true; };
      },
      ignore);
  worker.cancel();
  ASSERT_TRUE(settles(worker));
  EXPECT_FALSE(delivered);
}

TEST(Worker, Errors_arrive_in_words_and_progress_in_order) {
  Worker worker("w", 0, nullptr);
  QString why;
  std::vector<double> shares;
  QObject::connect(&worker, &Worker::progressed, &worker,
                   [&](double share) { shares.push_back(share); });
  worker.start(
      [](const std::stop_token&, const Worker::Progress& progress) -> Worker::Deliver {
        progress(0.25);
        progress(0.5);
        throw std::runtime_error("it rained");
      },
      [&](const QString& words) { why = words; });
  ASSERT_TRUE(settles(worker));
  EXPECT_EQ(why, "it rained");
  EXPECT_EQ(shares, (std::vector<double>{0.25, 0.5}));
}

TEST(Worker, Going_it_waits_for_its_thread) {
  std::atomic<bool> ended = false;
  {
    Worker worker("w", 0, nullptr);
    worker.start(
        [&](const std::stop_token& stop, const Worker::Progress&) -> Worker::Deliver {
          while (!stop.stop_requested()) std::this_thread::yield();
          ended = true;
          return {};
        },
        ignore);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace tcsim::gui
