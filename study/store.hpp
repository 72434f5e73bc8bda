// What a study has computed so far, on disk: results/store.sqlite, in SQLite's WAL mode. Every
// chain is there whole or not at all, whenever the process dies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/study/evaluate.hpp"
#include "study/database.hpp"

namespace tcsim {

// Goes up when stored points change their meaning or their form.
inline constexpr int store_schema = 1;

// A point as bytes, and back: what the store keeps and what ranks send each other.
std::string encoded(const ChainResult& result);
ChainResult decoded_chain(std::string_view bytes);

class Store {
 public:
  // Opens the store of a folder, or makes one. `meaning` is that of the study, and what makes it
  // (tcsim's version); a store that was made for another one is refused with InputError, which says
  // what differs.
  Store(const std::filesystem::path& file,
        const std::vector<std::pair<std::string, std::string>>& meaning);

  // Chains that are done.
  std::vector<bool> done(std::int64_t chains);
  std::int64_t points();

  // Kept from the next commit() on.
  void add(const ChainResult& result);
  void commit();

  // All points by number.
  void for_each(const std::function<void(PointResult&&)>& visit);
  std::map<std::string, ChainResult::Skipped> skipped();

 private:
  Database database_;
  std::unique_ptr<Statement> insert_point_, insert_chain_, insert_schedule_, insert_skipped_;
  bool in_transaction_ = false;
};

}  // namespace tcsim
