// The processes that work on one study: one, or several that mpirun started. Without MPI at
// configure time, or where nothing says that there are several, this is one process and MPI is not
// touched.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tcsim {

class Ranks {
 public:
  // Of this program, for its whole life. The first call decides, and must come from the thread
  // that ends last.
  static Ranks& all();

  int rank() const { return rank_; }  // 0: the one that keeps the results
  int size() const { return size_; }

  // Collective: whether all ranks have the same text.
  bool same(const std::string& text);

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
  ~Ranks();
  int rank_ = 0, size_ = 1;
  bool started_ = false;
};

}  // namespace tcsim
