// SQLite, as little of it as the store needs. Internal to sweep/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "sweep/cell.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tcsim {

class Database;

// A prepared statement. Parameters and columns count from 0.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int i, std::int64_t value);
  Statement& bind(int i, double value);  // not a number: null
  Statement& bind(int i, std::string_view text);
  Statement& bind_blob(int i, std::string_view bytes);

  bool step();  // whether there is a row
  void run();   // to the end; bindings are cleared, and it can be used again

  std::int64_t integer(int column) const;
  double real(int column) const;  // null: not a number
  std::string text(int column) const;
  std::string blob(int column) const;
  bool is_null(int column) const;
  Cell cell(int column) const;  // by the type of what is stored

 private:
  void check(int code);
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// Throws with the file as its place: InputError where the file is damaged or no database,
// UsageError where SQLite cannot do what it should for another reason, with what the system said;
// std::bad_alloc.
class Database {
 public:
  enum class Mode { create, write, read };
  Database(const std::filesystem::path& file, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // For a file that somebody else may have made: neither triggers nor views nor functions in its
  // tables take effect. Mode::read does it at once.
  void harden();
  void run(const std::string& sql);
  // From now on, statements under way when `stop` is requested throw Interrupted.
  void stop_when(std::stop_token stop);
  void close();  // at once, with what that can find wrong
  bool in_transaction() const;
  std::int64_t changes() const;  // rows that the last statement changed
  sqlite3* handle() const { return database_; }
  [[noreturn]] void fail() const;

 private:
  int system_error() const;
  std::string file_;
  sqlite3* database_ = nullptr;
  std::stop_token stop_;
};

}  // namespace tcsim
