// What a study has computed so far, on disk: store.sqlite, in SQLite's WAL mode. Every chain is
// there whole or not at all, whenever the process dies. Every row has a checksum: a store that lost
// rows or in which they changed is refused, with InputError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/study/evaluate.hpp"
#include "sweep/database.hpp"

namespace tcsim {

// Goes up when stored points change their meaning or their form.
inline constexpr int store_schema = 2;

class Store {
 public:
  // Opens the store of a folder, or makes one. `meaning` is that of the study, and what makes it
  // (tcsim's version); a store that was made for another one is refused with InputError, which says
  // what differs. Throws InputError too for what is no store, of another form, or damaged.
  // When `stop` is requested, reading throws Interrupted, here and later; add() and commit() do
  // not.
  Store(const std::filesystem::path& file,
        const std::vector<std::pair<std::string, std::string>>& meaning, std::stop_token stop = {});

  // Chains that are done. Looks at every row: throws InputError where the points are not those of
  // the chains that are done.
  std::vector<bool> done(const Chains& chains);
  std::int64_t points();

  // Kept from the next commit() on, which is on the disk when it returns. Where one of them throws,
  // nothing of what was added since the last commit is kept (or all of it, if the commit failed as
  // late as that). A chain may be added again: its points must be the same.
  void add(const ChainResult& result);
  void commit();

  // All points by number, each once. Throws InputError for a row that is not as it was written.
  void for_each(const std::function<void(PointResult&&)>& visit);

  // Throws Interrupted if that was requested.
  void go_on() const;
  // Says what is wrong with the store and what to do.
  [[noreturn]] void refuse_damaged(const std::string& problem) const;

 private:
  void make(const std::vector<std::pair<std::string, std::string>>& meaning);
  void add_point(const PointResult& point);
  void give_up() noexcept;
  void require_form();
  void require_meaning(const std::vector<std::pair<std::string, std::string>>& meaning);

  std::string file_;
  Database database_;
  std::stop_token stop_;
  std::unique_ptr<Statement> insert_point_, same_point_, insert_chain_, insert_schedule_;
};

}  // namespace tcsim
