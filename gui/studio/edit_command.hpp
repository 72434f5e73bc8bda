// A step of the history: from one session to another.
#pragma once

#include <QUndoCommand>
#include <functional>

#include "core/saved/session.hpp"

namespace tcsim::gui {

class EditCommand : public QUndoCommand {
 public:
  // `go` makes a session the one that is shown. Commands of one gesture (not 0) become one.
  EditCommand(std::function<void(const Session&)> go, Session before, Session after,
              const QString& name, int gesture);

  void undo() override { go_(before_); }
  void redo() override { go_(after_); }
  int id() const override { return 1; }
  bool mergeWith(const QUndoCommand* other) override;

 private:
  std::function<void(const Session&)> go_;
  Session before_, after_;
  int gesture_;
};

}  // namespace tcsim::gui
