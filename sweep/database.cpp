#include "sweep/database.hpp"

#include <sqlite3.h>
#include <sys/resource.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/io/new_file.hpp"

namespace tcsim {

namespace {

// Why a write may have failed of which nothing else is known.
int unwritten() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? EFBIG : 0;
}

}  // namespace

Database::Database(const std::filesystem::path& file, Mode mode) : file_(file.string()) {
  const int flags = mode == Mode::create  ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : mode == Mode::write ? SQLITE_OPEN_READWRITE
                                          : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(file_.c_str(), &database_, flags, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(database_, 2000);
    if (mode == Mode::read) harden();
    return;
  }
  const int error = database_ == nullptr ? 0 : sqlite3_system_errno(database_);
  std::string why = sqlite3_errstr(code);
  if (error != 0) why += ": " + std::generic_category().message(error);
  sqlite3_close(database_);
  database_ = nullptr;
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  throw UsageError(file_, why,
                   mend_of_writing(error, "name a folder that can be read and written"));
}

Database::~Database() { sqlite3_close(database_); }

void Database::close() {
  if (sqlite3_close(database_) != SQLITE_OK) fail();
  database_ = nullptr;
}

void Database::harden() {
  for (const auto& [option, on] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                   {SQLITE_DBCONFIG_ENABLE_VIEW, 0}}) {
    sqlite3_db_config(database_, option, on, nullptr);
  }
  // A study's meaning is the longest text: all values of its knobs.
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, 256 << 20);
  run("PRAGMA cell_size_check = ON");
}

// What the system said to what SQLite asked last; 0 where that is not known.
int Database::system_error() const {
  const int code = sqlite3_errcode(database_), whole = sqlite3_extended_errcode(database_);
  if (code == SQLITE_FULL) return ENOSPC;
  if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN) return 0;
  if (const int error = sqlite3_system_errno(database_); error != 0) return error;
  // Of writes SQLite keeps it for itself at times: a full disk is told apart, what is left is a
  // limit.
  return whole == SQLITE_IOERR_WRITE ? unwritten() : 0;
}

void Database::fail() const {
  const int code = sqlite3_errcode(database_);
  if (code == SQLITE_INTERRUPT) throw Interrupted();
  const std::string why = sqlite3_errmsg(database_);
  // A header that names another format than there is has no code of its own.
  const bool other_format = code == SQLITE_ERROR && why == "unsupported file format";
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT || other_format) {
    throw InputError(file_, why, "it is damaged: begin anew in another folder");
  }
  const int error = system_error();
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  if (code == SQLITE_BUSY) {
    throw UsageError(file_, why,
                     "another tcsim works in that folder: wait for it, or use another one");
  }
  const bool told = error != 0 && code != SQLITE_FULL;
  throw UsageError(file_, why + (told ? ": " + std::generic_category().message(error) : ""),
                   mend_of_writing(error, "see that its folder can be written"));
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(database_) == 0; }

std::int64_t Database::changes() const { return sqlite3_changes(database_); }

void Database::stop_when(std::stop_token stop) {
  stop_ = std::move(stop);
  const auto asked = [](void* token) {
    return static_cast<std::stop_token*>(token)->stop_requested() ? 1 : 0;
  };
  sqlite3_progress_handler(database_, 10000, asked, &stop_);
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  check(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::check(int code) {
  if (code != SQLITE_OK) database_.fail();
}

Statement& Statement::bind(int i, std::int64_t value) {
  return check(sqlite3_bind_int64(statement_, i + 1, value)), *this;
}

Statement& Statement::bind(int i, double value) {
  return check(std::isnan(value) ? sqlite3_bind_null(statement_, i + 1)
                                 : sqlite3_bind_double(statement_, i + 1, value)),
         *this;
}

Statement& Statement::bind(int i, std::string_view text) {
  return check(sqlite3_bind_text(statement_, i + 1, text.data(), static_cast<int>(text.size()),
                                 SQLITE_TRANSIENT)),
         *this;
}

Statement& Statement::bind_blob(int i, std::string_view bytes) {
  return check(sqlite3_bind_blob(statement_, i + 1, bytes.data(), static_cast<int>(bytes.size()),
                                 SQLITE_TRANSIENT)),
         *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail();
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  check(sqlite3_reset(statement_));
  sqlite3_clear_bindings(statement_);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const { return blob(column); }

std::string Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) return "";
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Cell Statement::cell(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return Cell(integer(column));
    case SQLITE_FLOAT:
      return Cell(real(column));
    default:
      return Cell(text(column));
  }
}

}  // namespace tcsim
