// The designs that are put aside to compare with.
#include <algorithm>

#include "core/machine/toml.hpp"
#include "core/text/name.hpp"
#include "gui/studio/studio.hpp"

namespace tcsim::gui {

void Studio::pin() {
  if (!hasSession()) return;
  for (const Pin& p : session_.pins) {
    if (!(p.design == session_.design)) continue;
    emit message(tr("this design is pinned already, as %1").arg(QString::fromStdString(p.name)));
    return;
  }
  addPin(free_pin_name(session_.pins), session_.design);
}

void Studio::pinOn(const std::string& machine) {
  if (!hasSession()) return;
  Design design = session_.design;
  design.machine = machine;
  design.overrides.clear();
  const bool named = std::ranges::find(session_.pins, machine, &Pin::name) != session_.pins.end();
  addPin(named ? free_pin_name(session_.pins) : machine, design);
}

void Studio::addPin(const std::string& name, const Design& design) {
  Session after = session_;
  after.pins.push_back({name, design});
  step(std::move(after), tr("pin %1").arg(QString::fromStdString(name)));
}

void Studio::unpin(std::size_t i) {
  if (i >= session_.pins.size()) return;
  Session after = session_;
  after.pins.erase(after.pins.begin() + static_cast<std::ptrdiff_t>(i));
  step(std::move(after), tr("unpin %1").arg(QString::fromStdString(session_.pins[i].name)));
}

void Studio::unpinAll() {
  if (session_.pins.empty()) return;
  Session after = session_;
  after.pins.clear();
  step(std::move(after), tr("unpin all"));
}

QString Studio::renamePin(std::size_t i, const QString& name) {
  if (i >= session_.pins.size()) return {};
  const std::string to = name.trimmed().toStdString();
  if (to == session_.pins[i].name) return {};
  if (to.empty()) return tr("A pin needs a name.");
  if (const std::string fault = fault_of_name(to); !fault.empty()) {
    return tr("This name %1; %2.").arg(QString::fromStdString(fault), name_mend);
  }
  if (std::ranges::find(session_.pins, to, &Pin::name) != session_.pins.end()) {
    return tr("Another pin is named %1.").arg(QString::fromStdString(to));
  }
  Session after = session_;
  after.pins[i].name = to;
  step(std::move(after), tr("rename a pin to %1").arg(QString::fromStdString(to)));
  return {};
}

void Studio::swapPin(std::size_t i) {
  if (i >= session_.pins.size()) return;
  Session after = session_;
  std::swap(after.design, after.pins[i].design);
  step(std::move(after), tr("swap with %1").arg(QString::fromStdString(session_.pins[i].name)));
}

std::vector<std::string> Studio::wantedOf(const Pinned& pin) const {
  if (!scene_.now) return {};
  const Subject& subject = scene_.now->subject;
  // A range that is none is told where the design's own is drawn.
  const auto vary = [&](int which) {
    return varyText(subject, mapKnob(which), session_.view.range);
  };
  if (session_.view.name == "bottleneck") {
    if (pin.curve && pin.curve->vary == vary(0)) return {};
    return {vary(0)};
  }
  if (session_.view.name == "map") {
    if (pin.map && pin.map->vary[0] == vary(0) && pin.map->vary[1] == vary(1)) return {};
    return {vary(0), vary(1)};
  }
  return {};
}

std::string Studio::askedOfPins() const {
  const ViewState& v = session_.view;
  return v.name + " " + curveKnob() + " " + mapKnob(1) + " " + v.range;
}

void Studio::failPin(const Design& design, const std::string& why) {
  for (Pinned& p : scene_.pins) {
    if (!(p.pin.design == design)) continue;
    const bool said = p.error == why;
    p.error = why;
    p.asked = askedOfPins();
    if (said) continue;
    emit message(
        tr("pinned %1: %2").arg(QString::fromStdString(p.pin.name), QString::fromStdString(why)));
  }
}

void Studio::judgePins() {
  std::vector<Pinned> pins;
  for (const Pin& p : session_.pins) {
    const auto known = std::ranges::find_if(
        scene_.pins, [&](const Pinned& old) { return old.pin.design == p.design; });
    pins.push_back(known != scene_.pins.end() ? *known : Pinned{});
    pins.back().pin = p;
    EvaluationPtr& e = pins.back().evaluation;
    // What is judged already: the design itself, or what it was before a swap.
    for (const EvaluationPtr& judged : {scene_.now, before_}) {
      if (!e && judged && judged->settled && judged->subject.design == p.design) e = judged;
    }
  }
  const auto same = [](const Pinned& a, const Pinned& b) {
    return a.pin == b.pin && a.evaluation == b.evaluation;
  };
  if (!std::ranges::equal(pins, scene_.pins, same)) {
    scene_.pins = std::move(pins);
    emit sceneChanged();
    emit verdictChanged();
  }
  for (std::size_t i = 0; i < scene_.pins.size(); ++i) {
    if (judgePin(i)) return;
  }
  pinWorker_->cancel();
}

bool Studio::judgePin(std::size_t i) {
  const Pinned& pin = scene_.pins[i];
  if (!pin.error.empty() && pin.asked == askedOfPins()) return false;
  const Design design = pin.pin.design;
  try {
    if (machines_.find(design.machine) == machines_.end()) {
      if (design.machine == hostMachine) {
        measureHost();  // and then here again
        return false;
      }
      machines_[design.machine] = find_machine(design.machine);
    }
    std::shared_ptr<const Subject> subject;
    if (!pin.evaluation) {
      subject = std::make_shared<const Subject>(subjectOf(design, machines_[design.machine]));
    }
    // Along the same values as the design's own curve or map.
    const std::vector<std::string> vary = wantedOf(pin);
    std::optional<WorkloadRequest> suite;
    if (session_.view.name == "suite" && scene_.now) {
      suite = whole_suite(scene_.now->subject.design.workload);
      if (suite && pin.suite && pin.suite->suite == *suite) suite.reset();
    }
    if (pin.evaluation && vary.empty() && !suite) return false;
    pinWorker_->start(
        [this, known = pin.evaluation, subject, vary, suite, design](
            std::stop_token stop, const Worker::Progress& progress) -> Worker::Deliver {
          const EvaluationPtr e = known ? known : evaluate(*subject, stop);
          std::shared_ptr<const Curved> c;
          std::shared_ptr<const Mapped> m;
          std::shared_ptr<const SuiteJudged> s;
          if (vary.size() == 1) {
            c = std::make_shared<const Curved>(curveOf(*e, vary[0], progress, stop));
          } else if (vary.size() == 2) {
            m = std::make_shared<const Mapped>(mapOf(*e, vary[0], vary[1], progress, stop));
          }
          if (suite) {
            s = std::make_shared<const SuiteJudged>(
                suiteJudged(*suite, e->subject.machine, progress, stop));
          }
          return [this, e, c, m, s, design] {
            for (Pinned& p : scene_.pins) {
              if (!(p.pin.design == design)) continue;
              p.evaluation = e;
              p.error.clear();
              if (c) p.curve = c;
              if (m) p.map = m;
              if (s) p.suite = s;
            }
            emit sceneChanged();
            emit verdictChanged();
            judgePins();  // the next one, or what could not be asked for before
          };
        },
        [this, design](const QString& why) {
          failPin(design, why.toStdString());
          judgePins();
        });
    return true;
  } catch (const std::exception& e) {
    failPin(design, e.what());
    return false;
  }
}

}  // namespace tcsim::gui
