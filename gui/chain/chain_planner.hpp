// The one owner of what the chain window shows: what is asked, and what the fusion library says
// about it. The newest question wins; the last answer stays until there is another. At rest, other
// memories are planned one by one, for the curve and for what more memory would bring.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <map>

#include "gui/chain/chain_scene.hpp"
#include "gui/studio/worker.hpp"

namespace tcsim {
struct ProbeOptions;
}

namespace tcsim::gui {

class ChainPlanner : public QObject {
  Q_OBJECT

 public:
  explicit ChainPlanner(QObject* parent = nullptr);
  ~ChainPlanner() override;

  const ChainDesign& design() const { return design_; }
  const ChainScene& scene() const { return scene_; }
  // The last design whose names could be looked up; null: none yet.
  const ChainSubjectPtr& subject() const { return subject_; }

  void ask(const ChainDesign& design);
  // On explicit levels: along which knob the curve is.
  void chooseKnob(const std::string& knob);
  const std::string& knob() const { return knob_; }
  // Of the machine as its file has it; empty where its levels are not explicit, or it is not read
  // yet.
  const std::vector<Knob>& knobs() const { return knobs_; }
  // As its file has it; null: not read yet.
  const Machine* machine() const;
  ChainKind kind() const { return knobs_.empty() ? ChainKind::onDisk : ChainKind::onLevels; }
  // Stops what is under way, also the curve until something else is asked.
  void cancel();
  bool isPlanning() const { return planning_.isBusy() || loading_.isBusy(); }
  bool isBusy() const { return isPlanning() || exploring_.isBusy(); }
  Worker& planning() { return planning_; }
  Worker& loading() { return loading_; }

  // What measures this machine, where it is asked for.
  void setMeasure(std::function<Machine(const ProbeOptions&)> measure);

 signals:
  void sceneChanged();
  void busyChanged();

 private:
  void plan();
  void load();
  void explore();
  void exploreLevels();
  void stopExploring();
  void arrived(const ChainSubjectPtr& subject, const ChainAnswerPtr& answer, const QString& error);
  void fail(const ChainDesign& design, const QString& why);

  ChainDesign design_;
  ChainScene scene_;
  ChainSubjectPtr subject_;
  std::map<std::string, std::shared_ptr<const ChainMachine>> machines_;  // read so far, by name
  std::string loadingName_;
  std::vector<Knob> knobs_;
  std::string knob_;
  std::function<Machine(const ProbeOptions&)> measure_;
  bool exploringStopped_ = false;
  Worker planning_, exploring_, loading_;
};

}  // namespace tcsim::gui
