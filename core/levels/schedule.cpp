#include "core/levels/schedule.hpp"

#include <fmt/format.h>

namespace tcsim::levels {

namespace {

class LevelText {
 public:
  LevelText(const OperationTree& tree, const Hierarchy& hierarchy)
      : tree_(tree), hierarchy_(hierarchy) {}

  void add(const Node& node, const std::string& indent) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      const std::string over =
          loop->processes > 1 ? fmt::format(" over {}", loop->processes) : std::string();
      open(fmt::format("for {} by {}{}", tree_.indices[static_cast<std::size_t>(loop->index)].name,
                       loop->tile, over),
           *loop->body, indent);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      const char* where = hold->kind == Kind::buffer ? "in"
                          : hold->kind == Kind::load ? "to"
                                                     : "from";
      open(fmt::format("{} {} {} {}", fusion::to_text(hold->kind),
                       fusion::hold_name(tree_, hold->array), where,
                       hierarchy_.level(hold->level).name),
           *hold->body, indent);
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      text_ += indent + "seq {\n";
      for (const Node& part : parts->parts) add(part, indent + "  ");
      text_ += indent + "}\n";
    } else {
      const int s = std::get<Do>(node.is).statement;
      text_ += fmt::format("{}do {}\n", indent, tree_.array(tree_.statement(s).out).name);
    }
  }
  const std::string& text() const { return text_; }

 private:
  void open(const std::string& head, const Node& body, const std::string& indent) {
    text_ += indent + head + " {\n";
    add(body, indent + "  ");
    text_ += indent + "}\n";
  }

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  std::string text_;
};

void find_shared(const Node& node, int level, std::vector<const Loop*>& found) {
  if (const auto* loop = std::get_if<Loop>(&node.is)) {
    if (loop->level < level) return;
    if (loop->level == level && loop->processes > 1) found.push_back(loop);
    find_shared(*loop->body, level, found);
  } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
    find_shared(*hold->body, level, found);
  }
  // A level's processes share its outermost band alone, which has no sequence in it.
}

}  // namespace

std::vector<const Loop*> shared_inside(const Hierarchy& hierarchy, const Hold& hold) {
  std::vector<const Loop*> found;
  if (hierarchy.level(hold.level).instances > 1) find_shared(*hold.body, hold.level, found);
  return found;
}

std::string to_text(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node) {
  LevelText text(tree, hierarchy);
  text.add(node, "");
  return text.text();
}

}  // namespace tcsim::levels
