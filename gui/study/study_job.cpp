#include "gui/study/study_job.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <thread>

#include "sweep/ranks.hpp"

namespace tcsim::gui {

StudyJob::StudyJob(QObject* parent) : QObject(parent), worker_(tr("sweep"), 0, nullptr) {
  connect(&worker_, &Worker::busyChanged, this, &StudyJob::busyChanged);
  Ranks::all();  // decides for the program, and on its longest thread
}

void StudyJob::run(std::shared_ptr<const Study> study, const std::filesystem::path& folder) {
  if (isBusy()) return;
  stop_ = {};
  SweepOptions options;
  options.folder = folder;
  options.resume = true;
  options.version = QCoreApplication::applicationVersion().toStdString();
  options.stop = stop_.get_token();
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  options.threads = std::max(1, cores - 1);
  options.progress = [this](const SweepProgress& p) {
    QMetaObject::invokeMethod(
        this, [this, p] { emit progressed(p); }, Qt::QueuedConnection);
  };
  worker_.start(
      [this, study, options, source = stop_](const std::stop_token& stop,
                                             const Worker::Progress&) mutable -> Worker::Deliver {
        // The window closes.
        const std::stop_callback forward(stop, [&] { source.request_stop(); });
        const SweepOutcome outcome = sweep(*study, options);
        return [this, outcome] { emit ended(outcome); };
      },
      [this](const QString& why) { emit failed(why); });
}

void StudyJob::cancel() { stop_.request_stop(); }

}  // namespace tcsim::gui
