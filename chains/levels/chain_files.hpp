// The outermost level of a run: HDF5 files, and a journal of what is done. Of the first process
// alone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "chains/journal.hpp"
#include "chains/levels/run_levels.hpp"
#include "chains/tensor_files.hpp"
#include "core/fusion/chunks.hpp"

namespace tcsim::chains {

class ChainFiles {
 public:
  // Of a schedule, whose loads and stores of the level inside the disk say what goes to files.
  ChainFiles(const fusion::OperationTree& tree, const levels::Hierarchy& hierarchy,
             const levels::Node& node, const LevelRunOptions& options);

  // What can be known to go wrong, before anything is written; how many of the schedule's parts are
  // done. Throws as run_levels().
  int look(int parts);
  // Inputs that are missing; and what is there of results, which the run makes anew, becomes empty.
  void make_inputs();

  // The files of a part, until it is done.
  void open(const levels::Node& part);
  TensorFile& of(int array) { return open_.at(tree_.array(array).name); }
  // All is on the disk, and noted: so many parts.
  void done(int parts);
  // Of the whole run: files of intermediates and the journal go.
  void finish();

 private:
  TensorFile opened(int array) const;
  TensorFile created(const std::filesystem::path& path, int array) const;
  std::vector<const fusion::FusedNode*> schedules(const levels::Node* also);

  const fusion::OperationTree& tree_;
  const LevelRunOptions& options_;
  const int level_;  // inside the disk
  fusion::FusedNode schedule_, also_;
  const fusion::Chunks chunks_;
  const Journal journal_;
  std::map<std::string, int> missing_;      // inputs, by name
  std::map<std::string, TensorFile> open_;  // by name
  std::set<std::string> made_;              // of open_
};

}  // namespace tcsim::chains
