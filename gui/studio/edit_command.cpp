#include "gui/studio/edit_command.hpp"

#include <utility>

namespace tcsim::gui {

EditCommand::EditCommand(std::function<void(const Session&)> go, Session before, Session after,
                         const QString& name, int gesture)
    : QUndoCommand(name),
      go_(std::move(go)),
      before_(std::move(before)),
      after_(std::move(after)),
      gesture_(gesture) {}

bool EditCommand::mergeWith(const QUndoCommand* other) {
  const auto* next = dynamic_cast<const EditCommand*>(other);
  if (next == nullptr || gesture_ == 0 || next->gesture_ != gesture_) return false;
  after_ = next->after_;
  setText(next->text());
  return true;
}

}  // namespace tcsim::gui
