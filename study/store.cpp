#include "study/store.hpp"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "core/error.hpp"

namespace tcsim {

namespace {

template <class T>
void put(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}
void put(std::string& bytes, const std::vector<double>& numbers) {
  put(bytes, static_cast<std::uint64_t>(numbers.size()));
  for (double x : numbers) put(bytes, x);
}

class PointReader {
 public:
  explicit PointReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    const auto n = take<std::uint64_t>();
    return {next(n), n};
  }
  std::vector<double> numbers() {
    std::vector<double> all(take<std::uint64_t>());
    for (double& x : all) x = take<double>();
    return all;
  }

 private:
  const char* next(std::size_t n) {
    if (n > bytes_.size() - at_) throw std::logic_error("a stored point is cut off");
    at_ += n;
    return bytes_.data() + at_ - n;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// All of a point but its number and its schedule.
std::string figures(const PointResult& r) {
  std::string bytes;
  for (double x : {r.predicted_seconds, r.compute_seconds, r.bound_seconds, r.joules,
                   r.simulated_seconds, r.measured_seconds}) {
    put(bytes, x);
  }
  put(bytes, static_cast<std::int32_t>(r.bottleneck));
  put(bytes, static_cast<char>(r.searched));
  put(bytes, r.link_bytes);
  put(bytes, r.link_seconds);
  put(bytes, r.simulated_bytes);
  return bytes;
}

PointResult point_of(PointReader& in) {
  PointResult r;
  for (double* x : {&r.predicted_seconds, &r.compute_seconds, &r.bound_seconds, &r.joules,
                    &r.simulated_seconds, &r.measured_seconds}) {
    *x = in.take<double>();
  }
  r.bottleneck = in.take<std::int32_t>();
  r.searched = in.take<char>() != 0;
  r.link_bytes = in.numbers();
  r.link_seconds = in.numbers();
  r.simulated_bytes = in.numbers();
  return r;
}

// SQLite's integers are signed: the hash's bits as they are.
std::int64_t schedule_id(const std::string& schedule) {
  return static_cast<std::int64_t>(std::stoull(text_hash(schedule), nullptr, 16));
}

}  // namespace

std::string encoded(const ChainResult& result) {
  std::string bytes;
  put(bytes, result.chain);
  put(bytes, static_cast<std::uint64_t>(result.points.size()));
  for (const PointResult& r : result.points) {
    put(bytes, r.point);
    bytes += figures(r);
    put(bytes, r.schedule);
  }
  put(bytes, static_cast<std::uint64_t>(result.skipped.size()));
  for (const auto& [reason, s] : result.skipped) {
    put(bytes, reason);
    put(bytes, s.designs);
    put(bytes, s.first);
    put(bytes, s.detail);
  }
  return bytes;
}

ChainResult decoded_chain(std::string_view bytes) {
  PointReader in(bytes);
  ChainResult result;
  result.chain = in.take<std::int64_t>();
  for (auto n = in.take<std::uint64_t>(); n > 0; --n) {
    const auto point = in.take<std::int64_t>();
    result.points.push_back(point_of(in));
    result.points.back().point = point;
    result.points.back().schedule = in.text();
  }
  for (auto n = in.take<std::uint64_t>(); n > 0; --n) {
    std::string reason = in.text();
    ChainResult::Skipped s;
    s.designs = in.take<std::int64_t>();
    s.first = in.take<std::int64_t>();
    s.detail = in.text();
    result.skipped.emplace(std::move(reason), std::move(s));
  }
  return result;
}

Store::Store(const std::filesystem::path& file,
             const std::vector<std::pair<std::string, std::string>>& meaning)
    : database_(file, Database::Mode::create) {
  database_.run(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
      // One process at a time: a second one is told so at its first write.
      "PRAGMA locking_mode = EXCLUSIVE;"
      "BEGIN IMMEDIATE;"
      "CREATE TABLE IF NOT EXISTS meaning(what TEXT PRIMARY KEY, value TEXT);"
      "CREATE TABLE IF NOT EXISTS chains(chain INTEGER PRIMARY KEY);"
      "CREATE TABLE IF NOT EXISTS points(point INTEGER PRIMARY KEY, schedule INTEGER, "
      "figures BLOB);"
      "CREATE TABLE IF NOT EXISTS schedules(schedule INTEGER PRIMARY KEY, text TEXT);"
      "CREATE TABLE IF NOT EXISTS skipped(reason TEXT PRIMARY KEY, designs INTEGER, "
      "first INTEGER, detail TEXT);");
  Statement known(database_, "SELECT value FROM meaning WHERE what = ?");
  Statement insert(database_, "INSERT INTO meaning VALUES(?, ?)");
  Statement count(database_, "SELECT count(*) FROM meaning");
  count.step();
  const bool is_new = count.integer(0) == 0;
  count.run();
  std::string differs;
  for (const auto& [what, value] : meaning) {
    if (is_new) {
      insert.bind(0, std::string_view(what)).bind(1, std::string_view(value)).run();
      continue;
    }
    known.bind(0, std::string_view(what));
    if (!known.step() || known.text(0) != value) differs += (differs.empty() ? "" : ", ") + what;
    known.run();
  }
  if (!differs.empty()) {
    throw InputError(file.string(),
                     fmt::format("it holds another study: {} changed since it was begun", differs),
                     "give back what it was, or begin anew in another folder (--out)");
  }
  database_.run("COMMIT");
  insert_point_ =
      std::make_unique<Statement>(database_, "INSERT OR REPLACE INTO points VALUES(?, ?, ?)");
  insert_chain_ = std::make_unique<Statement>(database_, "INSERT INTO chains VALUES(?)");
  insert_schedule_ =
      std::make_unique<Statement>(database_, "INSERT OR IGNORE INTO schedules VALUES(?, ?)");
  insert_skipped_ = std::make_unique<Statement>(
      database_,
      "INSERT INTO skipped VALUES(?1, ?2, ?3, ?4) ON CONFLICT(reason) DO UPDATE SET "
      "designs = designs + ?2, detail = iif(first < ?3, detail, ?4), first = min(first, ?3)");
}

std::vector<bool> Store::done(std::int64_t chains) {
  std::vector<bool> all(static_cast<std::size_t>(chains));
  Statement s(database_, "SELECT chain FROM chains");
  while (s.step()) {
    const std::int64_t c = s.integer(0);
    if (c >= 0 && c < chains) all[static_cast<std::size_t>(c)] = true;
  }
  return all;
}

std::int64_t Store::points() {
  Statement s(database_, "SELECT count(*) FROM points");
  s.step();
  return s.integer(0);
}

void Store::add(const ChainResult& result) {
  if (!in_transaction_) database_.run("BEGIN");
  in_transaction_ = true;
  for (const PointResult& r : result.points) {
    const std::int64_t id = schedule_id(r.schedule);
    insert_schedule_->bind(0, id).bind(1, std::string_view(r.schedule)).run();
    insert_point_->bind(0, r.point).bind(1, id).bind_blob(2, figures(r)).run();
  }
  for (const auto& [reason, s] : result.skipped) {
    insert_skipped_->bind(0, std::string_view(reason))
        .bind(1, s.designs)
        .bind(2, s.first)
        .bind(3, std::string_view(s.detail))
        .run();
  }
  insert_chain_->bind(0, result.chain).run();
}

void Store::commit() {
  if (in_transaction_) database_.run("COMMIT");
  in_transaction_ = false;
}

void Store::for_each(const std::function<void(PointResult&&)>& visit) {
  Statement s(database_,
              "SELECT point, figures, text FROM points JOIN schedules USING(schedule) "
              "ORDER BY point");
  while (s.step()) {
    const std::string bytes = s.blob(1);
    PointReader in(bytes);
    PointResult r = point_of(in);
    r.point = s.integer(0);
    r.schedule = s.text(2);
    visit(std::move(r));
  }
}

std::map<std::string, ChainResult::Skipped> Store::skipped() {
  std::map<std::string, ChainResult::Skipped> all;
  Statement s(database_, "SELECT reason, designs, first, detail FROM skipped");
  while (s.step()) all[s.text(0)] = {s.integer(1), s.integer(2), s.text(3)};
  return all;
}

}  // namespace tcsim
