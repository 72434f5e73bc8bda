// How the processes that work on one study share it out: rank 0 gives chains of points away and
// keeps the results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "processes/processes.hpp"

namespace tcsim {

class Ranks {
 public:
  // Processes::all(). Throws std::runtime_error where its MPI allows no threads.
  static Ranks& all();

  int rank() const { return processes_.rank(); }  // 0: the one that keeps the results
  int size() const { return processes_.size(); }

  // Collective: whether all ranks have the same text.
  bool same(const std::string& text) const { return processes_.same(text); }

  // Collective: rank 0 says whether there is work, the others learn it.
  bool go(bool there_is_work);

  // Of rank 0. Answers until every other rank has said that it is finished: `next` gives the chain
  // to do (none: -1), `accept` takes an encoded result. Returns the first error that a rank told.
  std::string serve(const std::function<std::int64_t()>& next,
                    const std::function<void(const std::string&)>& accept);

  // Of the others. From any thread, one at a time.
  std::int64_t request();
  void send(const std::string& result);
  void finished(const std::string& error);

 private:
  Ranks();
  const Processes& processes_;
};

}  // namespace tcsim
