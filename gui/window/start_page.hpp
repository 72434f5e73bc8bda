// What the first run shows: examples to click, and sessions that were open lately.
#pragma once

#include <QWidget>
#include <vector>

#include "core/saved/session.hpp"

class QVBoxLayout;

namespace tcsim::gui {

struct Example {
  const char* question;
  const char* about;
  Session session;
};
std::vector<Example> examples();

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);

 signals:
  void chosen(const Session& session);
  void openFile(const QString& file);
  void browse();
  void chainWanted(const QString& chain);
};

// Sessions that were open lately, the last one first.
QStringList recentSessions();
void rememberSession(const QString& file);

}  // namespace tcsim::gui
