// Points on disk and on the way between ranks.
#include "sweep/store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <random>

#include "core/error.hpp"
#include "sweep/encoding.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

using Meaning = std::vector<std::pair<std::string, std::string>>;

// Some designs are left out by the constraint; two workloads, so that chains are of other points.
Study grid_study() {
  return study_of(
      "schema = 1\nname = \"grid\"\nmachines = [\"i7-6700k\"]\ncompute = \"predict\"\n"
      "constraints = [\"L3.capacity >= 8 * L2.capacity\"]\n"
      "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=96,j=72,k=80\"\n"
      "[[workload]]\nlabel = \"ijl-ik-kjl\"\nsizes = \"i=48,j=36,k=40,l=4\"\n"
      "[[knob]]\nname = \"L2.capacity\"\nvalues = [\"128KiB\", \"256KiB\", \"512KiB\", \"1MiB\"]\n"
      "[[knob]]\nname = \"L3.capacity\"\nrange = \"2MiB..16MiB\"\npoints = 40\n");
}

PointResult some_point(std::int64_t number) {
  PointResult p;
  p.point = number;
  p.predicted_seconds = 0.1 * static_cast<double>(number % 7) + 1e-300;
  p.joules = 1 / 3.0;
  p.bottleneck = 2;
  p.link_bytes = {1, 2, 3, 4};
  p.link_seconds = {0.5, 0.25, 0.125, 1};
  if (number % 3 == 1) p.simulated_bytes = {7};
  p.schedule = "groups m=a n=b k=c for m by " + std::to_string(number % 5);
  p.searched = number % 3 == 2;
  return p;
}

// All points of a chain, whether or not their designs are left out.
ChainResult some_chain(const Study& study, const Chains& chains, std::int64_t number) {
  const Chain chain = chains.at(number);
  ChainResult r;
  r.chain = number;
  for (std::int64_t d = chain.first; d < chain.first + chain.count; ++d) {
    r.points.push_back(
        some_point(d * std::ssize(study.workloads) + static_cast<std::int64_t>(chain.workload)));
  }
  return r;
}

std::vector<PointResult> all_points(Store& store) {
  std::vector<PointResult> points;
  store.for_each([&](PointResult&& r) { points.push_back(std::move(r)); });
  return points;
}

// SQL on a file, as somebody else would run it.
void change(const fs::path& file, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK)
      << sql << ": " << (error ? error : "");
  sqlite3_free(error);
  sqlite3_close(db);
}

std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Encoding, A_chain_reads_back_from_its_bytes) {
  ChainResult r;
  r.chain = 3;
  for (int i = 0; i < 3; ++i) r.points.push_back(some_point(i));
  const ChainResult back = decoded_chain(encoded(r));
  EXPECT_EQ(back.chain, 3);
  EXPECT_EQ(back.points, r.points);
}

TEST(Encoding, Whatever_is_not_whole_is_refused) {
  ChainResult r;
  r.points.push_back(some_point(1));
  const std::string bytes = encoded(r), figures = encoded_figures(r.points.front());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(decoded_chain(bytes.substr(0, n)), BadBytes) << n;
  }
  for (std::size_t n = 0; n < figures.size(); ++n) {
    EXPECT_THROW(decoded_figures(figures.substr(0, n)), BadBytes) << n;
  }
  EXPECT_THROW(decoded_chain(bytes + " "), BadBytes);
  EXPECT_THROW(decoded_figures(figures + " "), BadBytes);
  // Lengths beyond all memory, and those that are negative as signed numbers.
  for (const std::uint64_t length :
       {std::uint64_t{1} << 40, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    std::string huge = figures;
    huge.replace(53, 8, reinterpret_cast<const char*>(&length), 8);  // of link_bytes
    EXPECT_THROW(decoded_figures(huge), BadBytes) << length;
  }
}

class Stored : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_.path()); }
  fs::path file() const { return folder_.path() / "store.sqlite"; }

  Folder folder_{testing::UnitTest::GetInstance()->current_test_info()->name()};
  const Meaning meaning_{{"seed", "1"}, {"name", "x"}};
  const Study study_ = grid_study();
  const Chains chains_{study_};
};

TEST_F(Stored, Keeps_what_was_committed_and_gives_it_back_in_order) {
  const auto chain = [&](std::int64_t i) { return some_chain(study_, chains_, i); };
  {
    Store store(file(), meaning_);
    store.add(chain(4));
    store.add(chain(0));
    store.commit();
    store.add(chain(3));  // lost: not committed
  }
  Store store(file(), meaning_);
  std::vector<bool> done(static_cast<std::size_t>(chains_.size()));
  done[0] = done[4] = true;
  EXPECT_EQ(store.done(chains_), done);
  std::vector<PointResult> expected = chain(0).points;
  for (const PointResult& p : chain(4).points) expected.push_back(p);
  EXPECT_EQ(store.points(), std::ssize(expected));
  EXPECT_EQ(all_points(store), expected);
}

TEST_F(Stored, Refuses_another_study_and_says_what_differs) {
  { Store store(file(), {{"seed", "1"}, {"name", "x"}, {"knobs", "k"}}); }
  const std::string why = refusal_of([&] {
    Store(file(), {{"seed", "2"}, {"name", "x"}, {"knobs", "l"}});
  });
  EXPECT_NE(why.find("seed, knobs changed"), std::string::npos) << why;
}

TEST_F(Stored, Refuses_the_form_of_another_tcsim) {
  change(file(),
         "CREATE TABLE meaning(what TEXT PRIMARY KEY, value TEXT);"
         "CREATE TABLE chains(chain INTEGER PRIMARY KEY);"
         "INSERT INTO meaning VALUES('seed', '1'), ('name', 'x');");
  const std::string why = refusal_of([&] { Store(file(), meaning_); });
  EXPECT_NE(why.find("another tcsim began it: its form is 1, this tcsim reads 2; go on with the "
                     "tcsim that began it, or begin anew in another folder"),
            std::string::npos)
      << why;
}

TEST_F(Stored, Says_what_is_damaged) {
  const auto make = [&] {
    fs::remove(file());
    Store store(file(), meaning_);
    for (std::int64_t i : {0, 1, 2, 4}) store.add(some_chain(study_, chains_, i));
    store.commit();
  };
  const std::string blob = "X'" + std::string(200, '0') + "'";
  for (const auto& [sql, expected] : std::vector<std::pair<std::string, std::string>>{
           {"DELETE FROM points WHERE point = 4", "chain 2 is done, and lacks 1 of its points"},
           {"DELETE FROM chains WHERE chain = 2", "point 2 is of no chain that is done"},
           {"INSERT INTO chains VALUES(3, 32, 0)", "chain 3 changed since it was written"},
           {"UPDATE chains SET chain = 5 WHERE chain = 4", "chain 5 changed"},
           {"UPDATE chains SET points = 1 WHERE chain = 4", "chain 4 changed"},
           {"UPDATE points SET point = 1000000 WHERE point = 4", "point 1000000 changed"},
           {"UPDATE points SET schedule = 3 WHERE point = 4", "point 4 changed"},
           {"UPDATE points SET figures = " + blob + " WHERE point = 4", "point 4 changed"},
           {"UPDATE points SET crc = -crc WHERE point = 4", "point 4 changed"},
           {"UPDATE points SET figures = (SELECT figures FROM points WHERE point = 6), crc = "
            "(SELECT crc FROM points WHERE point = 6) WHERE point = 4",
            "point 4 changed"},
           {"DELETE FROM schedules", "the schedule of point 0 is lost or changed"},
           {"UPDATE schedules SET text = text || ' '", "the schedule of point 0 is lost"},
           {"DELETE FROM meaning WHERE what = 'seed'", "seed changed"},
           {"INSERT INTO meaning VALUES('more', '')", "its study has parts that none has"},
           {"DROP TABLE points", "its table points is not the one of a store"},
           {"DROP TABLE points; CREATE VIEW points AS SELECT 1 AS point", "its table points"},
           {"DROP TABLE points; CREATE TABLE points(point, schedule, figures, crc)",
            "its table points is not the one of a store"},
           {"CREATE TRIGGER t AFTER INSERT ON chains BEGIN DELETE FROM points; END",
            "no store has t"},
           {"CREATE TABLE more(x)", "its table points is not the one of a store"},
           {"PRAGMA user_version = 7", "its form is 7"}}) {
    make();
    change(file(), sql);
    const std::string why = refusal_of([&] {
      Store store(file(), meaning_);
      store.done(chains_);
    });
    EXPECT_NE(why.find(expected), std::string::npos) << sql << ": " << why;
    EXPECT_NE(why.find("begin anew in another folder"), std::string::npos) << sql << ": " << why;
  }
}

// What somebody wrote who computes checksums too.
TEST_F(Stored, Points_that_fit_no_machine_are_refused_before_they_are_used) {
  struct Case {
    const char* what;
    void (*spoil)(PointResult&);
  };
  for (const Case& c :
       {Case{"no links", [](PointResult& r) { r.link_bytes.clear(); }},
        Case{"a link too many", [](PointResult& r) { r.link_seconds.push_back(1); }},
        Case{"simulated", [](PointResult& r) { r.simulated_bytes = {1}; }},
        Case{"negative", [](PointResult& r) { r.bottleneck = -1; }},
        Case{"beyond", [](PointResult& r) { r.bottleneck = 1 << 30; }}}) {
    fs::remove(file());
    Store store(file(), meaning_);
    for (std::int64_t i = 0; i < chains_.size(); ++i) {
      ChainResult chain = some_chain(study_, chains_, i);
      for (PointResult& r : chain.points) {
        r.simulated_bytes.clear();
        if (i == 0) c.spoil(r);
      }
      store.add(chain);
    }
    store.commit();
    const std::string why =
        refusal_of([&] { for_each_design(study_, store, [](DesignResult&&) {}); });
    EXPECT_NE(why.find("point 0 is of a machine with other levels"), std::string::npos)
        << c.what << ": " << why;
  }
}

TEST_F(Stored, Points_of_designs_that_are_left_out_are_refused) {
  Store store(file(), meaning_);
  for (std::int64_t i = 0; i < chains_.size(); ++i) {
    ChainResult chain = some_chain(study_, chains_, i);
    for (PointResult& r : chain.points) r.simulated_bytes.clear();
    store.add(chain);
  }
  store.commit();
  std::vector<std::int64_t> seen;
  const std::string why = refusal_of([&] {
    for_each_design(study_, store, [&](DesignResult&& d) { seen.push_back(d.design.number); });
  });
  // With 512 KiB of L2 the first L3 below 4 MiB breaks the constraint.
  ASSERT_FALSE(seen.empty());
  EXPECT_NE(why.find(" has 2 points where the study has 0"), std::string::npos) << why;
}

SweepOptions resumed_in(const fs::path& folder) {
  SweepOptions o;
  o.folder = folder;
  o.version = "test";
  o.resume = true;
  return o;
}

// A store with all points of the study, whose results were not written yet.
void compute_without_results(const Study& study, const fs::path& folder) {
  SweepOptions o = resumed_in(folder);
  std::stop_source stop;
  o.stop = stop.get_token();
  o.progress = [&](const SweepProgress& p) {
    if (p.phase == SweepProgress::Phase::writing) stop.request_stop();
  };
  ASSERT_FALSE(sweep(study, o).complete);
  ASSERT_TRUE(fs::exists(folder / "store.sqlite"));
}

std::map<std::string, std::string> results_in(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const char* name : {"results.csv", "results.jsonl", "schedules.csv", "report.html"}) {
    all[name] = file_text(folder / name);
  }
  return all;
}

// Whatever happens to a store, a sweep that goes on with it refuses it or has the same results.
class Damaged_store : public testing::Test {
 protected:
  void SetUp() override {
    compute_without_results(study_, whole_.path());
    ASSERT_TRUE(fs::exists(whole_.path() / "store.sqlite"));
    bytes_ = file_text(whole_.path() / "store.sqlite");
    sweep(study_, resumed_in(whole_.path()));
    expected_ = results_in(whole_.path());
    ASSERT_GT(expected_.at("results.csv").size(), 10000u);
  }

  void put_store() {
    fs::remove_all(folder_.path());
    fs::create_directories(folder_.path());
    std::ofstream(file(), std::ios::binary) << bytes_;
  }
  fs::path file() const { return folder_.path() / "store.sqlite"; }

  // Goes on with the store in the folder; whether it was refused.
  bool refused(const std::string& what) {
    try {
      EXPECT_TRUE(sweep(study_, resumed_in(folder_.path())).complete) << what;
    } catch (const InputError&) {
      return true;
    }
    EXPECT_TRUE(results_in(folder_.path()) == expected_) << what << ": other results";
    return false;
  }

  const Study study_ = grid_study();
  const std::string name_ = testing::UnitTest::GetInstance()->current_test_info()->name();
  Folder whole_{name_ + "_whole"}, folder_{name_};
  std::string bytes_;
  std::map<std::string, std::string> expected_;
};

TEST_F(Damaged_store, Untouched_it_is_completed) {
  put_store();
  EXPECT_FALSE(refused("untouched"));
}

TEST_F(Damaged_store, Flipped_bits_change_no_result) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  int told = 0;
  constexpr int tries = 60;
  for (int i = 0; i < tries; ++i) {
    put_store();
    std::string bytes = bytes_;
    const std::size_t at = random() % bytes.size();
    const auto flip = static_cast<char>(1 << random() % 8);
    bytes[at] = static_cast<char>(bytes[at] ^ flip);
    std::ofstream(file(), std::ios::binary) << bytes;
    told += refused("byte " + std::to_string(at) + ", bits " + std::to_string(flip));
  }
  // Pages are full of points: most flips hit one.
  EXPECT_GT(told, tries / 4);
}

TEST_F(Damaged_store, Cut_or_overwritten_files_change_no_result) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 30; ++i) {
    put_store();
    std::string bytes = bytes_;
    const std::size_t at = random() % bytes.size();
    if (i % 3 == 0) {
      bytes.resize(at);
    } else {
      const std::size_t from = random() % bytes.size();
      const std::size_t n =
          std::min({bytes.size() - at, bytes.size() - from, std::size_t{1} << random() % 13});
      bytes.replace(at, n, i % 3 == 1 ? std::string(n, '\xff') : bytes_.substr(from, n));
    }
    std::ofstream(file(), std::ios::binary) << bytes;
    refused("change " + std::to_string(i) + " at " + std::to_string(at));
  }
}

// The header's formats: of reading, and of the schema (SQLite's file format, 1.3).
TEST_F(Damaged_store, Other_formats_in_the_header_are_told_as_damage) {
  for (const std::size_t at : {19u, 47u}) {
    put_store();
    std::string bytes = bytes_;
    bytes[at] = '\xff';
    std::ofstream(file(), std::ios::binary) << bytes;
    EXPECT_TRUE(refused("byte " + std::to_string(at))) << at;
  }
}

TEST_F(Damaged_store, Rows_that_are_lost_twice_or_elsewhere_are_refused) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (const char* sql : {
           "DELETE FROM points WHERE point = {}",
           "DELETE FROM points",
           "DELETE FROM chains",
           "DELETE FROM schedules",
           "UPDATE points SET crc = crc + 1 WHERE point = {}",
           "UPDATE points SET figures = zeroblob(100000000) WHERE point = {}",
           "UPDATE points SET schedule = schedule + 1 WHERE point = {}",
           "INSERT INTO points SELECT point + 100000, schedule, figures, crc FROM points "
           "WHERE point = {}",
           // Two points change places.
           "UPDATE points SET point = -1 WHERE point = {0};"
           "UPDATE points SET point = {0} WHERE point = {0} + 2;"
           "UPDATE points SET point = {0} + 2 WHERE point = -1",
       }) {
    put_store();
    const std::string changed = fmt::format(fmt::runtime(sql), 2 * (random() % 40));
    change(file(), changed);
    EXPECT_TRUE(refused(changed)) << changed;
  }
}

TEST_F(Damaged_store, A_chain_without_its_points_is_told_though_it_says_that_it_is_done) {
  const Chains chains(study_);
  put_store();
  change(file(), "DELETE FROM points; DELETE FROM chains");
  {
    Meaning meaning = tcsim::meaning(study_);
    meaning.emplace_back("tcsim's version", "test");
    Store store(file(), meaning);
    for (std::int64_t i = 0; i < chains.size(); ++i) store.add({i, {}});  // with right checksums
    store.commit();
  }
  const std::string why = refusal_of([&] { sweep(study_, resumed_in(folder_.path())); });
  EXPECT_NE(why.find("design 0 has 0 points where the study has 2; begin anew"), std::string::npos)
      << why;
}

TEST_F(Damaged_store, Chains_that_are_lost_whole_are_computed_again) {
  put_store();
  change(file(), "DELETE FROM points WHERE point % 2 = 0; DELETE FROM chains WHERE chain % 2 = 0");
  EXPECT_FALSE(refused("half of the chains"));
}

}  // namespace
}  // namespace tcsim
