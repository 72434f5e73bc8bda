#include "chains/levels/chain_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chains/levels/level_schedules.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/fusion/leaf.hpp"

namespace tcsim::chains {

namespace fs = std::filesystem;

ChainFiles::ChainFiles(const fusion::OperationTree& tree, const levels::Hierarchy& hierarchy,
                       const levels::Node& node, const LevelRunOptions& options)
    : tree_(tree),
      options_(options),
      level_(hierarchy.links() - 1),
      schedule_(at_level(node, level_)),
      chunks_(tree, schedules(options.also)),
      journal_(options.folder, to_text(tree, hierarchy, node)) {}

std::vector<const fusion::FusedNode*> ChainFiles::schedules(const levels::Node* also) {
  if (also == nullptr) return {&schedule_};
  also_ = at_level(*also, level_);
  return {&schedule_, &also_};
}

int ChainFiles::look(int parts) {
  const fs::path& folder = options_.folder;
  if (!has_tensor_files()) {
    TensorFile::open(folder, {}, fusion::element_type(tree_));
  }
  const int done = journal_.done_before(options_.resume, parts);
  const auto files = files_of(tree_, schedule_);
  double room = 0;
  for (int a = 0; a < static_cast<int>(tree_.arrays.size()); ++a) {
    const fs::path path = file_of(folder, tree_, a);
    const auto use = files.find(tree_.array(a).name);
    if (tree_.array(a).producer < 0) {
      if (options_.fill && !fs::exists(path)) {
        if (missing_.emplace(tree_.array(a).name, a).second) room += tree_.bytes(a);
      } else {
        opened(a);
      }
    } else if (use != files.end() && (use->second.made || use->second.array == a)) {
      room += tree_.bytes(a);
      if (fs::exists(path) && !options_.force && !options_.resume) {
        throw InputError(path.string(), "is there already",
                         journal_.is_there()
                             ? "it is of a run that ended early: say --resume to go on behind "
                               "its last part, or --force to begin again"
                             : "move it, or say --force to overwrite it");
      }
    }
  }
  const double free = static_cast<double>(fs::space(folder).available);
  if (!options_.resume && room > free) {
    throw UnsupportedError(
        folder.string(),
        fmt::format("{:.4g} GB are written and {:.4g} GB are free", room / 1e9, free / 1e9),
        "make room");
  }
  return done;
}

void ChainFiles::make_inputs() {
  if (!options_.resume) journal_.note(0);  // from here on it can be resumed
  for (const auto& [name, array] : missing_) {
    const int a = array;
    make_input(tree_, a, file_of(options_.folder, tree_, a), options_.numbers,
               [&](const fs::path& path) { return created(path, a); });
  }
  if (options_.resume) return;
  // To free what a large file had takes as long as a fifth of writing it anew.
  std::error_code ignored;  // open() says it
  for (const auto& [name, use] : files_of(tree_, schedule_)) {
    if (use.made) fs::resize_file(file_of(options_.folder, tree_, use.array), 0, ignored);
  }
}

TensorFile ChainFiles::opened(int a) const {
  return TensorFile::open(file_of(options_.folder, tree_, a), tree_.extents(a),
                          fusion::element_type(tree_));
}
TensorFile ChainFiles::created(const fs::path& path, int a) const {
  return TensorFile::create(path, tree_.extents(a), chunks_.of(a), fusion::element_type(tree_));
}

void ChainFiles::open(const levels::Node& part) {
  open_.clear();
  made_.clear();
  for (const auto& [name, use] : files_of(tree_, at_level(part, level_))) {
    open_.emplace(name, use.made ? created(file_of(options_.folder, tree_, use.array), use.array)
                                 : opened(use.array));
    if (use.made) made_.insert(name);
  }
}

void ChainFiles::done(int parts) {
  for (auto& [name, file] : open_) {
    if (made_.contains(name)) file.flush();
  }
  open_.clear();
  journal_.note(parts);
}

void ChainFiles::finish() {
  const auto files = files_of(tree_, schedule_);
  for (int a = 0; a < static_cast<int>(tree_.arrays.size()); ++a) {
    if (!tree_.array(a).is_intermediate() || !files.contains(tree_.array(a).name)) continue;
    fs::remove(file_of(options_.folder, tree_, a));
  }
  journal_.remove();
}

}  // namespace tcsim::chains
