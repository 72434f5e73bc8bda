// Which parts of a schedule are done, in a file beside the tensors that is whole at any time.
#pragma once

#include <filesystem>
#include <string>

namespace tcsim::chains {

class Journal {
 public:
  Journal(const std::filesystem::path& folder, std::string schedule);

  bool is_there() const;
  bool is_of_schedule() const;  // is there, and of this schedule
  // How many parts. Throws InputError where it is of another schedule.
  int done() const;
  // How many of so many parts a run need not do: with `resume` those of the run that ended, else
  // none. Throws InputError where there is no folder, or nothing to resume.
  int done_before(bool resume, int parts) const;
  // Throws InputError where it cannot be written.
  void note(int done) const;
  void remove() const;

 private:
  std::filesystem::path file_;
  std::string schedule_;
};

}  // namespace tcsim::chains
