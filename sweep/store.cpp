#include "sweep/store.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "sweep/encoding.hpp"

namespace tcsim {

namespace {

using Meaning = std::vector<std::pair<std::string, std::string>>;

// As SQLite keeps their texts, so that a store that has anything else is told.
struct StoreTable {
  const char* name;
  const char* sql;
};
constexpr StoreTable store_tables[] = {
    {"chains",
     "CREATE TABLE chains(chain INTEGER PRIMARY KEY, points INTEGER NOT NULL, crc INTEGER NOT "
     "NULL) STRICT"},
    {"meaning",
     "CREATE TABLE meaning(what TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {"points",
     "CREATE TABLE points(point INTEGER PRIMARY KEY, schedule INTEGER NOT NULL, figures BLOB NOT "
     "NULL, crc INTEGER NOT NULL) STRICT"},
    {"schedules",
     "CREATE TABLE schedules(schedule INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"}};

constexpr const char* begin_anew = "begin anew in another folder (--out)";

// SQLite's integers are signed: the hash's bits as they are.
std::int64_t schedule_id(const std::string& schedule) {
  return static_cast<std::int64_t>(std::stoull(text_hash(schedule), nullptr, 16));
}

std::string_view bytes_of(const std::int64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::int64_t point_checksum(std::int64_t point, std::int64_t schedule, std::string_view figures) {
  return checksum({bytes_of(point), bytes_of(schedule), figures});
}
std::int64_t chain_checksum(std::int64_t chain, std::int64_t points) {
  return checksum({bytes_of(chain), bytes_of(points)});
}

std::int64_t number_in(Database& database, const char* sql) {
  Statement s(database, sql);
  s.step();
  return s.integer(0);
}

}  // namespace

Store::Store(const std::filesystem::path& file, const Meaning& meaning, std::stop_token stop)
    : file_(file.string()), database_(file, Database::Mode::create), stop_(std::move(stop)) {
  database_.harden();
  database_.stop_when(stop_);
  database_.run(
      // One process at a time: a second one is told so at its first write. Before WAL mode, which
      // then needs no file that processes share.
      "PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA journal_mode = WAL;"
      // What was committed is on the disk: a power cut loses as little as a kill.
      "PRAGMA synchronous = FULL;"
      "BEGIN IMMEDIATE;");
  const bool is_new = number_in(database_, "SELECT count(*) FROM sqlite_schema") == 0;
  if (is_new) {
    make(meaning);
  } else {
    require_form();
    require_meaning(meaning);
  }
  database_.stop_when({});  // what was computed is kept, whoever asks to stop
  database_.run("COMMIT");
  // A chain that is there already was told as lost by a commit that failed late.
  insert_point_ = std::make_unique<Statement>(
      database_, "INSERT INTO points VALUES(?, ?, ?, ?) ON CONFLICT(point) DO NOTHING");
  same_point_ = std::make_unique<Statement>(
      database_, "SELECT count(*) FROM points WHERE point = ? AND schedule = ? AND figures = ?");
  insert_chain_ =
      std::make_unique<Statement>(database_, "INSERT OR REPLACE INTO chains VALUES(?, ?, ?)");
  insert_schedule_ =
      std::make_unique<Statement>(database_, "INSERT OR IGNORE INTO schedules VALUES(?, ?)");
}

void Store::go_on() const {
  if (stop_.stop_requested()) throw Interrupted();
}

void Store::refuse_damaged(const std::string& problem) const {
  throw InputError(file_, "the store is damaged: " + problem, begin_anew);
}

void Store::make(const Meaning& meaning) {
  for (const StoreTable& t : store_tables) database_.run(t.sql);
  database_.run(fmt::format("PRAGMA user_version = {}", store_schema));
  Statement insert(database_, "INSERT INTO meaning VALUES(?, ?)");
  for (const auto& [what, value] : meaning) {
    insert.bind(0, std::string_view(what)).bind(1, std::string_view(value)).run();
  }
}

// Before any of its tables is read: they must be tables, and those that make() makes.
void Store::require_form() {
  const std::int64_t form = number_in(database_, "PRAGMA user_version");
  if (form != store_schema) {
    throw InputError(file_,
                     fmt::format("another tcsim began it: its form is {}, this tcsim reads {}",
                                 form == 0 ? 1 : form, store_schema),
                     std::string("go on with the tcsim that began it, or ") + begin_anew);
  }
  {
    // What SQLite makes by itself has no text.
    Statement s(database_,
                "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name");
    for (const StoreTable& t : store_tables) {
      if (!s.step() || s.text(0) != t.name || s.text(1) != t.sql) {
        refuse_damaged(fmt::format("its table {} is not the one of a store", t.name));
      }
    }
    if (s.step()) refuse_damaged(fmt::format("no store has {}", s.text(0)));
  }
  Statement s(database_, "PRAGMA quick_check(1)");
  if (!s.step() || s.text(0) != "ok") refuse_damaged(s.text(0));
}

void Store::require_meaning(const Meaning& meaning) {
  Statement known(database_, "SELECT value FROM meaning WHERE what = ?");
  std::string differs;
  for (const auto& [what, value] : meaning) {
    known.bind(0, std::string_view(what));
    if (!known.step() || known.text(0) != value) differs += (differs.empty() ? "" : ", ") + what;
    known.run();
  }
  if (!differs.empty()) {
    throw InputError(file_,
                     fmt::format("it holds another study: {} changed since it was begun", differs),
                     std::string("give back what it was, or ") + begin_anew);
  }
  if (number_in(database_, "SELECT count(*) FROM meaning") != std::ssize(meaning)) {
    refuse_damaged("its study has parts that none has");
  }
}

std::vector<bool> Store::done(const Chains& chains) {
  std::vector<bool> all(static_cast<std::size_t>(chains.size()));
  std::vector<std::int64_t> missing(all.size());  // points of each chain that is done
  {
    Statement s(database_, "SELECT chain, points, crc FROM chains");
    while (s.step()) {
      go_on();
      const std::int64_t chain = s.integer(0), points = s.integer(1);
      if (s.integer(2) != chain_checksum(chain, points) || chain < 0 || chain >= chains.size()) {
        refuse_damaged(fmt::format("chain {} changed since it was written", chain));
      }
      all[static_cast<std::size_t>(chain)] = true;
      missing[static_cast<std::size_t>(chain)] = points;
    }
  }
  for_each([&](PointResult&& r) {
    const std::int64_t chain = r.point < chains.points() ? chains.of(r.point) : -1;
    if (chain < 0 || --missing[static_cast<std::size_t>(chain)] < 0) {
      refuse_damaged(fmt::format("point {} is of no chain that is done", r.point));
    }
  });
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] == 0) continue;
    refuse_damaged(fmt::format("chain {} is done, and lacks {} of its points", i, missing[i]));
  }
  return all;
}

std::int64_t Store::points() { return number_in(database_, "SELECT count(*) FROM points"); }

void Store::add(const ChainResult& result) {
  try {
    if (!database_.in_transaction()) database_.run("BEGIN");
    for (const PointResult& r : result.points) add_point(r);
    const std::int64_t points = std::ssize(result.points);
    insert_chain_->bind(0, result.chain)
        .bind(1, points)
        .bind(2, chain_checksum(result.chain, points))
        .run();
  } catch (...) {
    give_up();
    throw;
  }
}

void Store::add_point(const PointResult& r) {
  const std::int64_t id = schedule_id(r.schedule);
  const std::string figures = encoded_figures(r);
  insert_schedule_->bind(0, id).bind(1, std::string_view(r.schedule)).run();
  insert_point_->bind(0, r.point)
      .bind(1, id)
      .bind_blob(2, figures)
      .bind(3, point_checksum(r.point, id, figures))
      .run();
  if (database_.changes() == 1) return;
  same_point_->bind(0, r.point).bind(1, id).bind_blob(2, figures);
  same_point_->step();
  const bool same = same_point_->integer(0) == 1;
  same_point_->run();
  if (!same) refuse_damaged(fmt::format("point {} is there with other figures", r.point));
}

void Store::commit() {
  try {
    if (database_.in_transaction()) database_.run("COMMIT");
  } catch (...) {
    give_up();
    throw;
  }
}

// No half of a chain is ever committed.
void Store::give_up() noexcept {
  try {
    if (database_.in_transaction()) database_.run("ROLLBACK");
  } catch (const std::exception&) {
    // The transaction ends with the connection.
  }
}

void Store::for_each(const std::function<void(PointResult&&)>& visit) {
  // A schedule that is not there must not make its points vanish.
  Statement s(database_,
              "SELECT point, schedule, figures, crc, text FROM points LEFT JOIN schedules "
              "USING(schedule) ORDER BY point");
  std::int64_t last = -1;
  while (s.step()) {
    go_on();
    const std::int64_t point = s.integer(0), schedule = s.integer(1);
    const std::string figures = s.blob(2);
    if (s.integer(3) != point_checksum(point, schedule, figures)) {
      refuse_damaged(fmt::format("point {} changed since it was written", point));
    }
    if (point <= last) refuse_damaged(fmt::format("point {} is out of its order", point));
    last = point;
    PointResult r;
    try {
      r = decoded_figures(figures);
    } catch (const BadBytes& e) {
      refuse_damaged(fmt::format("point {} cannot be read: {}", point, e.what()));
    }
    r.point = point;
    r.schedule = s.text(4);
    if (s.is_null(4) || schedule_id(r.schedule) != schedule) {
      refuse_damaged(fmt::format("the schedule of point {} is lost or changed", point));
    }
    visit(std::move(r));
  }
}

}  // namespace tcsim
