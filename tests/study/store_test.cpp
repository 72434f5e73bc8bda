// Points on disk and on the way between ranks.
#include "study/store.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "tests/study/study_file.hpp"

namespace tcsim {
namespace {

ChainResult some_chain(std::int64_t chain) {
  ChainResult r;
  r.chain = chain;
  for (std::int64_t i = 0; i < 3; ++i) {
    PointResult p;
    p.point = 10 * chain + i;
    p.predicted_seconds = 0.1 * static_cast<double>(i) + 1e-300;
    p.joules = 1 / 3.0;
    p.bottleneck = 2;
    p.link_bytes = {1, 2, 3};
    p.link_seconds = {0.5, 0.25};
    if (i == 1) p.simulated_bytes = {7};
    p.schedule = "groups m=a n=b k=c for m by " + std::to_string(i);
    p.searched = i == 2;
    r.points.push_back(p);
  }
  r.skipped["no such machine"] = {2, 5 + chain, "why " + std::to_string(chain)};
  return r;
}

TEST(Store, A_chain_reads_back_from_its_bytes) {
  const ChainResult r = some_chain(3), back = decoded_chain(encoded(r));
  EXPECT_EQ(back.chain, 3);
  EXPECT_EQ(back.points, r.points);
  ASSERT_EQ(back.skipped.size(), 1u);
  EXPECT_EQ(back.skipped.begin()->second.detail, "why 3");
  const std::string bytes = encoded(r);
  EXPECT_THROW(decoded_chain(std::string_view(bytes).substr(0, bytes.size() / 2)),
               std::logic_error);
}

TEST(Store, Keeps_what_was_committed_and_gives_it_back_in_order) {
  const Folder folder("store");
  std::filesystem::create_directories(folder.path());
  const std::vector<std::pair<std::string, std::string>> meaning{{"seed", "1"}, {"name", "x"}};
  {
    Store store(folder.path() / "s.sqlite", meaning);
    store.add(some_chain(4));
    store.add(some_chain(2));
    store.commit();
    store.add(some_chain(3));  // lost: not committed
  }
  Store store(folder.path() / "s.sqlite", meaning);
  EXPECT_EQ(store.done(6), (std::vector<bool>{false, false, true, false, true, false}));
  EXPECT_EQ(store.points(), 6);
  std::vector<PointResult> points;
  store.for_each([&](PointResult&& r) { points.push_back(std::move(r)); });
  std::vector<PointResult> expected = some_chain(2).points;
  for (const PointResult& p : some_chain(4).points) expected.push_back(p);
  EXPECT_EQ(points, expected);
  const auto skipped = store.skipped();
  EXPECT_EQ(skipped.at("no such machine").designs, 4);
  EXPECT_EQ(skipped.at("no such machine").first, 7);
  EXPECT_EQ(skipped.at("no such machine").detail, "why 2");
}

TEST(Store, Refuses_another_study_and_says_what_differs) {
  const Folder folder("other");
  std::filesystem::create_directories(folder.path());
  { Store store(folder.path() / "s.sqlite", {{"seed", "1"}, {"name", "x"}, {"knobs", "k"}}); }
  try {
    Store store(folder.path() / "s.sqlite", {{"seed", "2"}, {"name", "x"}, {"knobs", "l"}});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("seed, knobs changed"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tcsim
