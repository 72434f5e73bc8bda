// A thread for one kind of work, of which only the newest matters. Work that is asked for while
// other work is under way waits for it, and takes the place of what waited before; work under way
// for longer than `patience` is asked to stop. Results and errors arrive on the owner's thread.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace tcsim::gui {

class Worker : public QObject {
  Q_OBJECT

 public:
  using Progress = std::function<void(double)>;
  using Deliver = std::function<void()>;
  // Runs on the worker's thread and returns what is to be called on the owner's. May throw:
  // Interrupted is silent, what() of others goes to `failed`.
  using Work = std::function<Deliver(std::stop_token, const Progress&)>;

  Worker(QString what, int patienceMs, QObject* parent);
  ~Worker() override;  // stops what is under way and waits for it

  // `failed` is called on the owner's thread.
  void start(Work work, std::function<void(const QString&)> failed);
  // Drops what waits and stops what is under way; nothing of it is delivered.
  void cancel();

  bool isBusy() const { return busy_; }
  const QString& what() const { return what_; }

 signals:
  void busyChanged(bool busy);
  void progressed(double share);

 private:
  struct Job {
    Work work;
    std::function<void(const QString&)> failed;
  };
  void launch(Job job);
  void finish(quint64 number, const Deliver& deliver);

  QString what_;
  int patienceMs_;
  bool busy_ = false;
  quint64 number_ = 0;  // of the job whose result is wanted
  QElapsedTimer since_;
  std::optional<Job> waiting_;
  std::jthread thread_;
};

}  // namespace tcsim::gui
