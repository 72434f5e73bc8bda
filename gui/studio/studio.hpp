// The one owner of what the window shows: the session, its history, and what the libraries say
// about it. Every edit makes a new session; the studio has it judged and tells the views when the
// scene has changed. While a slider moves, only the prediction follows at once; curve, map and
// verdict follow when it rests.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bench/kernels.hpp"
#include "core/saved/session.hpp"
#include "gui/scene/run_apart.hpp"
#include "gui/scene/scene.hpp"
#include "gui/studio/worker.hpp"
#include "microbench/host.hpp"

class QUndoStack;

namespace tcsim::gui {

// The machine that is measured.
inline constexpr const char* hostMachine = "host";

class Studio : public QObject {
  Q_OBJECT

 public:
  explicit Studio(QObject* parent = nullptr);
  ~Studio() override;

  const Session& session() const { return session_; }
  const Scene& scene() const { return scene_; }
  // The design's machine as its file has it; null until it is read (the host is measured).
  const Machine* base() const { return base_ ? &*base_ : nullptr; }
  // Why the design cannot be judged; empty if it can. The scene then is of the last one that could.
  const QString& error() const { return error_; }
  QUndoStack* history() const { return history_; }
  bool hasSession() const { return !session_.design.workload.name.empty(); }

  // Begins anew: history and results are dropped.
  void open(const Session& session);
  // Edits, pins and swaps need a session.
  // An edit with a name for the history. Edits of the same gesture are one step of it.
  void edit(const Design& design, const QString& name, int gesture = 0);
  void setKnob(const std::string& knob, const std::string& value, int gesture = 0);
  static int newGesture();

  // Puts the design aside to compare with, under the next letter, or says that it is pinned
  // already.
  void pin();
  // The same of the design on another machine, with that one's figures and under its name.
  void pinOn(const std::string& machine);
  // One of the session's pins, or no pin at all.
  void unpin(std::size_t i);
  void unpinAll();
  // Returns why not: no name, or one that another pin has; empty if it is done.
  QString renamePin(std::size_t i, const QString& name);
  void swapPin(std::size_t i);  // the design becomes the pin, and the other way round

  // The view belongs to the session but not to its history.
  void setView(const ViewState& view);
  // The knob of the curve and the two of the map, chosen where the session does not say.
  std::string curveKnob() const;
  std::string mapKnob(int which) const;

  void simulate();
  // The LRU caches of the bounds over the capacity, which is not done by itself where it is long.
  void simulateBounds();
  // What the view of sets or the timeline shows, which is done by itself where it is short.
  void simulateInDetail();
  void run();
  // What run() has it done by.
  void setRunProgram(RunProgram program) { runProgram_ = std::move(program); }
  void measureHost();
  // What measureHost() has it done by.
  void setMeasure(std::function<Machine(const ProbeOptions&)> measure) {
    measure_ = std::move(measure);
  }
  // What reads the catalog of this machine's kernels, each time that its view is turned to.
  void setReadKernels(std::function<KernelCatalog()> read) { readKernels_ = std::move(read); }
  // The long jobs: simulation, run, measurement.
  Worker& job() { return *job_; }
  Worker& exploring() { return *curveWorker_; }
  Worker& mapping() { return *mapWorker_; }
  Worker& bounding() { return *boundsWorker_; }
  Worker& lookingCloser() { return *detailWorker_; }
  Worker& summingUp() { return *suiteWorker_; }
  Worker& comparing() { return *pinWorker_; }
  void cancelJob();
  // Whether anything is under way that will change the scene.
  bool isBusy() const;

  // From the last edit to the end of painting what followed from it, in milliseconds; < 0 if
  // nothing followed yet. Views call painted() when they are done.
  double frameMs() const { return frameMs_; }
  double modelMs() const { return modelMs_; }
  void painted();

  // What the last edit changed, in words.
  const std::vector<std::string>& changes() const { return changes_; }
  // The same in a line, where it turned one knob; empty otherwise.
  const std::string& answer() const { return answer_; }

 signals:
  void sessionChanged();  // the design, the pins or the view
  void sceneChanged();    // what is drawn
  void verdictChanged();  // what is written beside it
  void busyChanged();
  void frameMeasured();
  void message(const QString& text);

 private:
  void step(Session after, const QString& name, int gesture = 0);  // of the history
  void goTo(const Session& session);
  void apply(const Session& session);
  void baseChanged();
  void dropStale();
  void judge();
  void judged(const EvaluationPtr& evaluation);
  void settle();
  void findBest();  // where a schedule is kept
  void weigh();     // what twice as much of each knob would bring
  void explore();
  void exploreBounds(bool simulate);
  void exploreDetail(bool asked);
  // Has `see` make what a view shows, unless that is what is being made.
  template <class Seen>
  void lookCloser(const std::string& what, Late<Seen> Scene::*late,
                  std::function<Seen(const Worker::Progress&, std::stop_token)> see);
  void exploreSuite();
  void simulateSchedule();  // that is edited
  // Brings the scene's pins up to the session's, and has the first that lacks something worked out.
  void judgePins();
  void stopPins();
  // Whether something is under way for this one now.
  bool judgePin(std::size_t i);
  PinWish wishFor(const Pinned& pin) const;
  void addPin(const std::string& name, const Design& design);
  void failPins(const PinWish& wish, const std::string& why);
  void failHostPins(const std::string& why);  // that wait for this machine to be measured
  void readKernels();
  bool mayBegin();  // a job of the design; says why not
  void markCurrency();
  void fail(const QString& why);
  Worker* worker(const QString& what, int patienceMs);
  std::vector<Worker*> everyWorker() const;

  Session session_;
  Scene scene_;
  std::map<std::string, Machine> machines_;  // read so far, by name
  std::optional<Machine> base_;
  bool measuring_ = false;  // the host, as the job
  std::function<Machine(const ProbeOptions&)> measure_ = host_machine;
  std::function<KernelCatalog()> readKernels_ = bench::host_kernel_catalog;
  QString error_;
  QUndoStack* history_;
  // Of the design before the last edit, undo or redo; null where that could not be judged.
  EvaluationPtr before_;
  int lastGesture_ = 0;  // of the last step; 0 after undo and redo
  bool goesOn_ = false;  // the step that is taken belongs to that gesture
  std::vector<std::string> changes_;
  std::string answer_;
  QElapsedTimer clock_;
  qint64 editedAt_ = 0;    // by the clock, in nanoseconds
  qint64 shownEdit_ = -1;  // the edit whose result is shown and not painted yet
  double frameMs_ = -1, modelMs_ = -1;
  QTimer rest_;
  Worker *live_, *settler_, *helper_, *bestWorker_, *worthWorker_, *curveWorker_, *mapWorker_,
      *boundsWorker_, *detailWorker_, *suiteWorker_, *pinWorker_, *job_;
  PinWish pinning_;  // what pinWorker_ was last asked for
  // What boundsWorker_ was last asked for: of which design, and whether to simulate.
  EvaluationPtr bounding_;
  bool boundsSimulated_ = false;
  // The same of detailWorker_: what of it.
  EvaluationPtr looking_;
  std::string lookingAt_;
  RunProgram runProgram_ = ownRunProgram();
  std::shared_ptr<SharedCounts> counts_;    // of live_, for one workload
  int counted_ = 0;                         // how often it was used
  std::optional<Contraction> contraction_;  // of the request below
  WorkloadRequest request_;
};

}  // namespace tcsim::gui
