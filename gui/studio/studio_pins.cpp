// The designs that are put aside to compare with.
#include <algorithm>

#include "core/machine/toml.hpp"
#include "core/text/name.hpp"
#include "gui/studio/studio.hpp"

namespace tcsim::gui {

namespace {

// In menus '&' marks the letter behind it.
QString menuText(const std::string& name) {
  return QString::fromStdString(name).replace("&", "&&");
}

}  // namespace

void Studio::pin() {
  if (hasSession()) addPin(free_pin_name(session_.pins), session_.design);
}

void Studio::pinOn(const std::string& machine) {
  if (!hasSession()) return;
  Design design = session_.design;
  design.machine = machine;
  design.overrides.clear();
  design.schedule.clear();  // of another machine
  const bool named = std::ranges::find(session_.pins, machine, &Pin::name) != session_.pins.end();
  addPin(named ? free_pin_name(session_.pins) : machine, design);
}

void Studio::addPin(const std::string& name, const Design& design) {
  for (const Pin& p : session_.pins) {
    if (!(p.design == design)) continue;
    emit message(tr("this design is pinned already, as %1").arg(QString::fromStdString(p.name)));
    return;
  }
  Session after = session_;
  after.pins.push_back({name, design});
  step(std::move(after), tr("pin %1").arg(menuText(name)));
}

void Studio::unpin(std::size_t i) {
  if (i >= session_.pins.size()) return;
  Session after = session_;
  after.pins.erase(after.pins.begin() + static_cast<std::ptrdiff_t>(i));
  step(std::move(after), tr("unpin %1").arg(menuText(session_.pins[i].name)));
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
  step(std::move(after), tr("rename a pin to %1").arg(menuText(to)));
  return {};
}

void Studio::swapPin(std::size_t i) {
  if (i >= session_.pins.size()) return;
  Session after = session_;
  std::swap(after.design, after.pins[i].design);
  step(std::move(after), tr("swap with %1").arg(menuText(session_.pins[i].name)));
}

PinWish Studio::wishFor(const Pinned& pin) const {
  PinWish wish{pin.pin.design, !pin.evaluation, {}, {}};
  if (wish.evaluation || !scene_.now) return wish;
  const Subject& subject = scene_.now->subject;
  const std::string& view = session_.view.name;
  try {
    const auto vary = [&](int which) {
      return varyText(subject, mapKnob(which), session_.view.range);
    };
    if (view == "bottleneck" && !(pin.curve && pin.curve->vary == vary(0))) {
      wish.vary = {vary(0)};
    } else if (view == "map" &&
               !(pin.map && pin.map->vary[0] == vary(0) && pin.map->vary[1] == vary(1))) {
      wish.vary = {vary(0), vary(1)};
    }
  } catch (const std::exception&) {
    return wish;  // a range that is none: it is told where the design's own is drawn
  }
  if (view == "suite") {
    wish.suite = whole_suite(subject.design.workload);
    if (wish.suite && pin.suite && pin.suite->suite == *wish.suite) wish.suite.reset();
  }
  return wish;
}

void Studio::failPins(const PinWish& wish, const std::string& why) {
  for (Pinned& p : scene_.pins) {
    if (!(p.pin.design == wish.design)) continue;
    p.error = why;
    p.asked = wish;
    emit message(
        tr("pinned %1: %2").arg(QString::fromStdString(p.pin.name), QString::fromStdString(why)));
  }
  emit sceneChanged();
  emit verdictChanged();
}

void Studio::failHostPins(const std::string& why) {
  std::vector<PinWish> wishes;
  for (const Pinned& p : scene_.pins) {
    if (p.pin.design.machine == hostMachine && !p.evaluation) wishes.push_back(wishFor(p));
  }
  for (const PinWish& wish : wishes) failPins(wish, why);
}

void Studio::stopPins() {
  pinWorker_->cancel();
  pinning_ = {};
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
  if (measuring_) return;  // undisturbed; it comes back here
  for (std::size_t i = 0; i < scene_.pins.size(); ++i) {
    if (judgePin(i)) return;
  }
  stopPins();
}

bool Studio::judgePin(std::size_t i) {
  Pinned& pin = scene_.pins[i];
  const PinWish wish = wishFor(pin);
  if (wish.isNothing()) {
    pin.error.clear();  // of what nobody looks at now
    return false;
  }
  if (!pin.error.empty() && pin.asked == wish) return false;
  if (pinWorker_->isBusy() && pinning_ == wish) return true;
  const std::string& machine = wish.design.machine;
  std::shared_ptr<const Subject> subject;
  try {
    if (machines_.find(machine) == machines_.end()) {
      if (machine == hostMachine) {
        if (job_->isBusy()) return false;  // when it has ended
        stopPins();
        measureHost();
        return true;
      }
      machines_[machine] = find_machine(machine);
    }
    if (wish.evaluation) {
      subject = std::make_shared<const Subject>(subjectOf(wish.design, machines_[machine]));
    }
  } catch (const std::exception& e) {
    failPins(wish, e.what());
    return false;
  }
  pinning_ = wish;
  pinWorker_->start(
      [this, known = pin.evaluation, subject, wish](
          std::stop_token stop, const Worker::Progress& progress) -> Worker::Deliver {
        const EvaluationPtr e = known ? known : evaluate(*subject, stop);
        std::shared_ptr<const Curved> c;
        std::shared_ptr<const Mapped> m;
        std::shared_ptr<const SuiteJudged> s;
        // Along the same values as the design's own curve or map.
        if (wish.vary.size() == 1) {
          c = std::make_shared<const Curved>(curveOf(*e, wish.vary[0], progress, stop));
        } else if (wish.vary.size() == 2) {
          m = std::make_shared<const Mapped>(mapOf(*e, wish.vary[0], wish.vary[1], progress, stop));
        }
        if (wish.suite) {
          s = std::make_shared<const SuiteJudged>(
              suiteJudged(*wish.suite, e->subject.machine, progress, stop));
        }
        return [this, e, c, m, s, design = wish.design] {
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
          judgePins();  // the next one, or what is wanted of this one next
        };
      },
      [this, wish](const QString& why) {
        failPins(wish, why.toStdString());
        judgePins();
      });
  return true;
}

}  // namespace tcsim::gui
