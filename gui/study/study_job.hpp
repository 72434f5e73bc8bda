// A sweep in the background: progress, a stop that keeps what there is, and the end of it.
#pragma once

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>
#include <stop_token>

#include "gui/studio/worker.hpp"
#include "sweep/sweep.hpp"

namespace tcsim::gui {

class StudyJob : public QObject {
  Q_OBJECT

 public:
  explicit StudyJob(QObject* parent = nullptr);

  // Begins the study in the folder, or goes on where it stopped. On all cores but one.
  void run(std::shared_ptr<const Study> study, const std::filesystem::path& folder);
  // What is computed stays in the folder; ended() follows.
  void cancel();
  bool isBusy() const { return worker_.isBusy(); }

 signals:
  void busyChanged(bool busy);
  void progressed(const tcsim::SweepProgress& progress);
  void ended(const tcsim::SweepOutcome& outcome);
  void failed(const QString& why);

 private:
  std::stop_source stop_;
  Worker worker_;
};

}  // namespace tcsim::gui
