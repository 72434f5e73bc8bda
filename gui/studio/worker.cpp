#include "gui/studio/worker.hpp"

#include <QMetaObject>
#include <QTimer>
#include <new>
#include <system_error>

#include "core/error.hpp"

namespace tcsim::gui {

Worker::Worker(QString what, int patienceMs, QObject* parent)
    : QObject(parent), what_(std::move(what)), patienceMs_(patienceMs) {}

Worker::~Worker() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Worker::start(Work work, std::function<void(const QString&)> failed) {
  Job job{std::move(work), std::move(failed)};
  if (!busy_) return launch(std::move(job));
  const bool first = !waiting_;
  waiting_ = std::move(job);
  const qint64 left = patienceMs_ - since_.elapsed();
  if (left <= 0) {
    thread_.request_stop();
  } else if (first) {
    QTimer::singleShot(left, this, [this, number = number_] {
      if (number == number_ && waiting_) thread_.request_stop();
    });
  }
}

void Worker::cancel() {
  waiting_.reset();
  if (!busy_) return;
  ++number_;  // whatever comes is of no use
  thread_.request_stop();
}

void Worker::launch(Job job) {
  if (!busy_) {
    busy_ = true;
    emit busyChanged(true);
  }
  since_.start();
  const quint64 number = ++number_;
  const auto tell = job.failed;
  const auto work = [this, number, job = std::move(job)](const std::stop_token& stop) {
    Deliver deliver;
    const Progress progress = [&](double share) {
      QMetaObject::invokeMethod(
          this,
          [this, number, share] {
            if (number == number_) emit progressed(share);
          },
          Qt::QueuedConnection);
    };
    const auto failed = [&](const QString& why) {
      deliver = [why, tell = job.failed] { tell(why); };
    };
    try {
      deliver = job.work(stop, progress);
    } catch (const Interrupted&) {
    } catch (const std::bad_alloc&) {
      failed(QStringLiteral("not enough memory; use smaller sizes"));
    } catch (const std::exception& e) {
      failed(QString::fromUtf8(e.what()));
    }
    QMetaObject::invokeMethod(
        this, [this, number, deliver] { finish(number, deliver); }, Qt::QueuedConnection);
  };
  try {
    thread_ = std::jthread(work);
  } catch (const std::system_error&) {
    const Deliver deliver = [tell] {
      tell(QStringLiteral("this machine gives no more threads; end other programs"));
    };
    // As late as if there had been a thread.
    QMetaObject::invokeMethod(
        this, [this, number, deliver] { finish(number, deliver); }, Qt::QueuedConnection);
  }
}

void Worker::finish(quint64 number, const Deliver& deliver) {
  const bool wanted = number == number_;
  if (thread_.joinable()) thread_.join();
  if (waiting_) {
    Job next = std::move(*waiting_);
    waiting_.reset();
    launch(std::move(next));
  } else {
    busy_ = false;
    emit busyChanged(false);
  }
  if (wanted && deliver) deliver();
}

}  // namespace tcsim::gui
