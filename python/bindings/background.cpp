#include "python/bindings/background.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "core/stop.hpp"

namespace tcsim::python {

namespace py = pybind11;

namespace {

// How long Ctrl-C waits before anybody looks.
constexpr std::chrono::milliseconds look_every{20};

// A thread that does one job after another, so that OpenMP's threads of a job are there for the
// next one.
class Beside {
 public:
  Beside() : process_(getpid()), thread_(new std::thread([this] { serve(); })) {}
  ~Beside() {
    if (!is_of_this_process()) return;  // the thread stayed in the process that this is forked from
    {
      const std::lock_guard lock(mutex_);
      end_ = true;
    }
    changed_.notify_all();
    thread_->join();
    delete thread_;
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  bool is_of_this_process() const { return process_ == getpid(); }

  void begin(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = std::move(job);
      done_ = false;
    }
    changed_.notify_all();
  }
  // Whether it is done after at most so long.
  bool wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [&] { return done_; });
  }

 private:
  void serve() {
    // Signals are for Python's own threads; a read here is not to end early for one.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return end_ || job_; });
      if (end_) return;
      const std::function<void()> job = std::move(job_);
      job_ = nullptr;
      lock.unlock();
      job();
      lock.lock();
      done_ = true;
      changed_.notify_all();
    }
  }

  pid_t process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool done_ = true, end_ = false;
  std::thread* thread_;
};

Beside& beside() {
  static thread_local std::unique_ptr<Beside> mine;
  if (mine && !mine->is_of_this_process()) static_cast<void>(mine.release());  // its locks are lost
  if (!mine) mine = std::make_unique<Beside>();
  return *mine;
}

// What Python wants to be raised: a signal's exception, or the progress callback's.
void look(const py::object& progress, double share, double& shown) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (progress.is_none() || share <= shown) return;
  shown = share;
  progress(share);
}

}  // namespace

bool on_main_thread() {
  static const py::object* const main_thread =
      new py::object(py::module_::import("threading").attr("main_thread"));
  return (*main_thread)().attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
}

void apart(const py::object& progress, const std::function<void(const Watch&)>& work) {
  std::stop_source source;
  std::atomic<double> share{0};
  const Watch watch{source.get_token(), [&](double s) { share.store(s); }};
  std::exception_ptr thrown;
  const auto job = [&] {
    try {
      const StopScope scope(watch.stop);
      work(watch);
    } catch (...) {
      thrown = std::current_exception();
    }
  };
  if (!on_main_thread()) {
    const py::gil_scoped_release without;
    job();
  } else {
    Beside& other = beside();
    double shown = 0;
    const auto done_soon = [&] {
      const py::gil_scoped_release without;
      return other.wait(look_every);
    };
    other.begin(job);
    try {
      while (!done_soon()) look(progress, share.load(), shown);
    } catch (py::error_already_set&) {
      source.request_stop();
      while (!done_soon()) continue;
      throw;
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace tcsim::python
