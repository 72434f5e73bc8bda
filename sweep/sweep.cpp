#include "sweep/sweep.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/error.hpp"
#include "core/io/new_file.hpp"
#include "sweep/beyond.hpp"
#include "sweep/encoding.hpp"
#include "sweep/pipeline.hpp"
#include "sweep/ranks.hpp"
#include "sweep/store.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string utc() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::tm parts{};
  gmtime_r(&t, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// Sums of the designs of chains that are under way, for the best so far.
class BestSoFar {
 public:
  explicit BestSoFar(const Study& study) : study_(study), designs_(study) {}

  void add(const ChainResult& result) {
    const std::int64_t workloads = std::ssize(study_.workloads);
    for (const PointResult& r : result.points) {
      Sum& sum = open_[r.point / workloads];
      const double weight = study_.workloads[static_cast<std::size_t>(r.point % workloads)].weight;
      sum.value += weight * figure(r);
      if (++sum.points < workloads) continue;
      if (r.point / workloads >= std::ssize(study_.machines)) judge(r.point / workloads, sum.value);
      open_.erase(r.point / workloads);
    }
    // Those that an earlier process began never end here.
    while (open_.size() > 100000) open_.erase(open_.begin());
  }
  double best = std::numeric_limits<double>::infinity();
  std::string design;

 private:
  struct Sum {
    double value = 0;
    std::int64_t points = 0;
  };

  double figure(const PointResult& r) const {
    if (study_.objective == StudyObjective::traffic) return r.link_bytes.back();
    if (study_.objective == StudyObjective::energy) return r.joules;
    return r.seconds();
  }

  void judge(std::int64_t number, double value) {
    const bool of_design =
        study_.objective == StudyObjective::area || study_.objective == StudyObjective::cost;
    if (!of_design && !(value < best)) return;
    LeftOut why;
    const std::optional<DesignPoint> d = designs_.at(number, why);
    if (!d) return;
    if (study_.objective == StudyObjective::area) value = d->area.value_or(0);
    if (study_.objective == StudyObjective::cost) value = d->cost.value_or(0);
    if (!(value < best)) return;
    best = value;
    design = design_text(study_, *d);
  }

  const Study& study_;
  Designs designs_;
  std::map<std::int64_t, Sum> open_;
};

// Of a sweep's time, at most about this much passes in commits.
constexpr double commit_share = 0.05;

// Rank 0's: gives chains away and keeps what comes back.
class Keeper {
 public:
  Keeper(const Study& study, Store& store, const SweepOptions& options)
      : study_(study), store_(store), options_(options), chains_(study), best_(study) {
    done_ = store.done(chains_);
    resumed_ = store.points();
    for (std::int64_t i = 0; i < chains_.size(); ++i) {
      if (done_[static_cast<std::size_t>(i)]) done_points_ += chains_.at(i).count;
    }
    begun_with_ = done_points_;
  }

  std::int64_t next() {
    const std::lock_guard lock(mutex_);
    if (options_.stop.stop_requested() || failed_) return -1;
    while (next_ < chains_.size() && done_[static_cast<std::size_t>(next_)]) ++next_;
    return next_ < chains_.size() ? next_++ : -1;
  }

  void accept(const ChainResult& result) {
    const std::lock_guard lock(mutex_);
    store_.add(result);
    points_ += std::ssize(result.points);
    ++accepted_;
    done_[static_cast<std::size_t>(result.chain)] = true;
    done_points_ += chains_.at(result.chain).count;
    best_.add(result);
    const double t = now();
    if (t >= commit_at_) {
      store_.commit();
      // On a slow disk less often.
      const double done = now();
      commit_at_ = done + std::max(options_.keep_every, (done - t) / commit_share);
    }
    if (!options_.progress || t - shown_ < 0.1) return;
    shown_ = t;
    SweepProgress p;
    p.share = static_cast<double>(done_points_) / static_cast<double>(study_.point_count());
    p.points = resumed_ + points_;
    p.points_per_second = static_cast<double>(points_) / (t - started_);
    p.best = best_.best;
    p.best_design = best_.design;
    options_.progress(p);
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
  }

  void commit() {
    const std::lock_guard lock(mutex_);
    store_.commit();
  }

  bool complete() const { return done_points_ == study_.point_count(); }
  std::int64_t resumed() const { return resumed_; }
  std::int64_t points() const { return resumed_ + points_; }

 private:
  const Study& study_;
  Store& store_;
  const SweepOptions& options_;
  Chains chains_;
  BestSoFar best_;
  std::mutex mutex_;
  std::vector<bool> done_;
  std::int64_t next_ = 0, resumed_ = 0, points_ = 0, accepted_ = 0;
  std::int64_t done_points_ = 0, begun_with_ = 0;  // with designs that are left out
  double started_ = now(), commit_at_ = now() + options_.keep_every, shown_ = 0;
  bool failed_ = false;
};

fs::path store_file(const fs::path& folder) { return folder / "store.sqlite"; }

std::string study_hash(const Study& study) {
  std::string text;
  for (const auto& [what, value] : meaning(study)) text += what + "=" + value + "\n";
  return text_hash(text);
}

// With those around it that are missing, on the disk.
void make_folder(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path f = fs::absolute(folder).lexically_normal(); !fs::exists(f, ignored);
       f = f.parent_path()) {
    if (f.has_filename()) missing.push_back(f);
  }
  try {
    for (auto f = missing.rbegin(); f != missing.rend(); ++f) {
      fs::create_directory(*f);
      sync_folder(f->parent_path());
    }
  } catch (const std::system_error& e) {
    throw UsageError(folder.string(), e.code().message(),
                     mend_of_writing(e.code().value(), "name another folder with --out"));
  }
}

// Whether there is something to do. Throws unless the folder can be used as asked.
bool prepare(const Study& study, const SweepOptions& options) {
  const auto refuse = [&](const std::string& problem, const std::string& mend) {
    throw UsageError(options.folder.string(), problem, mend);
  };
  std::error_code error;
  const bool begun = fs::exists(store_file(options.folder), error);
  const bool finished = fs::exists(options.folder / "manifest.json", error);
  if (begun && !options.resume) {
    refuse("a study was begun there",
           "add --resume to go on with it, or name another folder with --out");
  }
  if (finished && !begun) {
    if (!options.resume) {
      refuse("there are results already", "name another folder with --out, or remove that one");
    }
    Database results(options.folder / "results.sqlite", Database::Mode::read);
    Statement hash(results, "SELECT value FROM meta WHERE what = 'study_hash'");
    if (hash.step() && hash.text(0) == study_hash(study)) return false;
    refuse("there are results of another study", "name another folder with --out");
  }
  if (!begun && fs::exists(options.folder, error) && !fs::is_empty(options.folder, error)) {
    refuse("there are other files", "name another folder with --out");
  }
  make_folder(options.folder);
  return true;
}

// Its results are on the disk.
void remove_store(const fs::path& folder) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const fs::path file = store_file(folder).string() + suffix;
    std::error_code error;
    fs::remove(file, error);
    if (error) {
      throw UsageError(file.string(), "cannot be removed: " + error.message(),
                       "the results are complete: remove it yourself");
    }
  }
}

std::vector<std::pair<std::string, std::string>> identity(const Study& study,
                                                          const std::string& version) {
  auto all = meaning(study);
  all.emplace_back("tcsim's version", version);
  return all;
}

// What is measured is measured alone.
int threads_of(const Study& study, const SweepOptions& options) {
  return study.compute == Compute::run ? 1 : options.threads;
}

// The other ranks: their work comes from rank 0 and goes there.
void help(const Study& study, const SweepOptions& options, Ranks& ranks) {
  std::mutex mutex;
  std::string error;
  try {
    pump(
        study, threads_of(study, options), options.stop,
        [&]() -> std::int64_t {
          const std::lock_guard lock(mutex);
          return options.stop.stop_requested() ? -1 : ranks.request();
        },
        [&](const ChainResult& r) {
          const std::string bytes = encoded(r);
          const std::lock_guard lock(mutex);
          ranks.send(bytes);
        });
  } catch (const Interrupted&) {
  } catch (const std::exception& e) {
    error = e.what();
  }
  ranks.finished(error);
}

// Computes what is missing; false where it was stopped.
bool compute(const Study& study, const SweepOptions& options, Keeper& keeper, Ranks& ranks) {
  std::exception_ptr error;
  const auto own = [&] {
    try {
      pump(
          study, threads_of(study, options), options.stop, [&] { return keeper.next(); },
          [&](const ChainResult& r) { keeper.accept(r); });
    } catch (const Interrupted&) {
    } catch (...) {
      error = std::current_exception();
      keeper.fail();
    }
  };
  if (ranks.size() == 1) {
    own();
  } else {
    std::jthread worker;
    try {
      worker = std::jthread(own);
    } catch (const std::system_error&) {  // no more threads: the other ranks compute
    }
    const std::string told =
        ranks.serve([&] { return keeper.next(); },
                    [&](const std::string& bytes) { keeper.accept(decoded_chain(bytes)); });
    if (worker.joinable()) worker.join();
    if (!told.empty() && !error) {
      error = std::make_exception_ptr(UnsupportedError("another rank", told, ""));
    }
  }
  try {
    keeper.commit();
  } catch (...) {
    if (!error) throw;  // otherwise the first error is the one that says why
  }
  if (error) std::rethrow_exception(error);
  return keeper.complete();
}

}  // namespace

SweepOutcome sweep(const Study& study, const SweepOptions& options) {
  Ranks& ranks = Ranks::all();
  const auto what = identity(study, options.version);
  std::string text;
  for (const auto& [name, value] : what) text += name + "=" + value + "\n";
  SweepOutcome outcome;
  outcome.ranks = ranks.size();
  if (!ranks.same(text)) {
    throw UsageError("the study", "its machines or files differ from node to node",
                     "name machine files that all nodes share instead of host");
  }
  if (ranks.rank() != 0) {
    if (ranks.go(false)) help(study, options, ranks);
    outcome.complete = !options.stop.stop_requested();
    return outcome;
  }
  std::unique_ptr<Store> store;
  std::unique_ptr<Keeper> keeper;
  try {
    if (prepare(study, options)) {
      store = std::make_unique<Store>(store_file(options.folder), what, options.stop);
      keeper = std::make_unique<Keeper>(study, *store, options);
    }
  } catch (...) {
    ranks.go(false);
    throw;
  }
  ranks.go(keeper != nullptr);
  if (keeper == nullptr) {
    outcome.complete = outcome.already = true;
    return outcome;
  }
  Made made;
  made.version = options.version;
  made.started = utc();
  made.threads = options.threads;
  made.ranks = ranks.size();
  utsname host{};
  uname(&host);
  made.host = host.nodename;
  made.processor = processor();
  const double began = now();
  const bool complete = compute(study, options, *keeper, ranks);
  outcome.points = keeper->points();
  outcome.resumed = made.resumed = keeper->resumed();
  outcome.seconds = made.seconds = now() - began;
  if (!complete) return outcome;
  made.finished = utc();
  try {
    outcome.totals = write_results(study, *store, options.folder, made, [&](double share) {
      if (!options.progress) return;
      SweepProgress p;
      p.phase = SweepProgress::Phase::writing;
      p.share = share;
      options.progress(p);
    });
  } catch (const Interrupted&) {
    return outcome;
  }
  keeper.reset();
  store.reset();
  remove_store(options.folder);
  outcome.complete = true;
  return outcome;
}

namespace {

// Requests its stop when the user asks to stop, and after some seconds.
class Deadline {
 public:
  Deadline(std::stop_token user, double seconds)
      : asked_(std::move(user), [this] { stop_.request_stop(); }) {
    try {
      clock_ = std::jthread([this, seconds](const std::stop_token& done) {
        std::unique_lock lock(mutex_);
        over_.wait_for(lock, done, std::chrono::duration<double>(seconds), [] { return false; });
        stop_.request_stop();
      });
    } catch (const std::system_error&) {  // no more threads: it takes as long as it takes
    }
  }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> asked_;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread clock_;
};

// Of one kind of work: how long those took that were tried, and the one that was cut off.
struct Tried {
  double seconds = 0;
  std::int64_t count = 0;
  double mean() const { return seconds / static_cast<double>(std::max<std::int64_t>(count, 1)); }
};

}  // namespace

SweepEstimate estimated_seconds(const Study& study, std::stop_token stop, double most_seconds) {
  const Deadline deadline(stop, most_seconds);
  const Chains chains(study);
  Anchors anchors(study, deadline.token());
  Evaluator evaluator(study, anchors, deadline.token(), beyond(study, deadline.token()));
  // Chains all over the study, a few designs of each.
  const std::int64_t few = study.compute == Compute::simulate ? 1 : 8;
  const std::int64_t bases = std::ssize(study.machines) * std::ssize(study.workloads);
  const std::int64_t rest = chains.size() - bases;
  SweepEstimate estimate;
  Tried anchored, points;
  const double begin = now();
  double t = begin;
  Tried* under_way = &anchored;
  try {
    for (std::int64_t i = 0; i < 64 && (i < 2 || now() - begin < most_seconds / 4); ++i) {
      const std::int64_t which = rest > 0 ? bases + (i * 7919 + i) % rest : i % bases;
      const Chain c = chains.at(which);
      t = now();
      under_way = &anchored;
      if (study.of_chains()) {
        anchors.levels_at(c.machine, c.workload);
      } else {
        anchors.at(c.machine, c.workload);
      }
      anchored.seconds += now() - t;
      ++anchored.count;
      t = now();
      under_way = &points;
      evaluator.evaluate(which, few);
      points.seconds += now() - t;
      points.count += std::min<std::int64_t>(c.count, few);
    }
  } catch (const Interrupted&) {
    if (stop.stop_requested()) throw;
    under_way->seconds += now() - t;
    ++under_way->count;
    estimate.at_least = true;
  }
  estimate.seconds = anchored.mean() * static_cast<double>(bases) +
                     points.mean() * static_cast<double>(study.point_count());
  return estimate;
}

}  // namespace tcsim
