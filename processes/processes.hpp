// The processes of this program: one, or several that mpirun started. Without MPI at configure
// time, or where nothing says that there are several, this is one process and MPI is not touched.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tcsim {

class Processes {
 public:
  // Of this program, for its whole life. The first call decides, and must come from the thread that
  // ends last. Throws UnsupportedError where a launcher started several processes and this tcsim
  // was built without MPI.
  static const Processes& all();

  int rank() const { return rank_; }  // 0: the one that has the disk, and keeps results
  int size() const { return size_; }
  int on_this_node() const { return on_this_node_; }
  // Whether any thread may call MPI, one at a time; otherwise the one that called all() first.
  bool from_any_thread() const { return from_any_thread_; }

  // Collective: all wait for all.
  void barrier() const;
  // Collective: whether all have the same text.
  bool same(const std::string& text) const;
  // Collective: the numbers of all, by rank. All give as many.
  std::vector<std::vector<std::int64_t>> gathered(const std::vector<std::int64_t>& mine) const;
  // Collective: rank 0 does it, or each; what the first of them throws, all throw.
  void on_first(const std::function<void()>& work) const;
  void on_each(const std::function<void()>& work) const;
  // Ends the processes of all ranks.
  [[noreturn]] void end(const std::string& message, int exit_code) const;

 private:
  Processes();
  ~Processes();
  int rank_ = 0, size_ = 1, on_this_node_ = 1;
  bool started_ = false, from_any_thread_ = true;
};

}  // namespace tcsim
