#include "gui/scene/currency.hpp"

namespace tcsim::gui {

namespace {

bool sameButFor(const Design& a, const Design& b, const std::string& knob) {
  return a.with(knob, "") == b.with(knob, "");
}

}  // namespace

void markCurrency(Scene& scene, const Design& design, bool possible, const std::string& firstKnob,
                  const std::string& secondKnob) {
  const Design& d = design;
  Design free = d;
  free.schedule.clear();
  scene.best.current =
      possible && scene.best && !d.schedule.empty() && scene.best->subject.design == free;
  scene.worth.current = possible && scene.worth && scene.worth->design == d;
  scene.help.current = possible && scene.help && scene.help->design == d;
  if (scene.curve) {
    const std::string& knob = scene.curve->curve.knob.name;
    scene.curve.current = possible && knob == firstKnob && sameButFor(scene.curve->design, d, knob);
  }
  if (scene.map) {
    const Plane& p = scene.map->plane;
    const std::string &a = p.knobs[0].name, &b = p.knobs[1].name;
    scene.map.current = possible && a == firstKnob && b == secondKnob &&
                        sameButFor(scene.map->design.with(a, ""), d.with(a, ""), b);
  }
  scene.suite.current = possible && scene.suite && scene.now &&
                        scene.suite->isOf(whole_suite(d.workload), scene.now->subject.machine);
  scene.bounds.current = possible && scene.bounds && scene.now &&
                         scene.now->subject.design.workload == d.workload &&
                         scene.bounds->isOf(*scene.now);
  const auto ofThis = [&](const auto& late) {
    return possible && late && scene.now && late->schedule == scene.now->choice.schedule &&
           late->design.workload == d.workload && late->design.machine == d.machine;
  };
  scene.simulation.current =
      ofThis(scene.simulation) && scene.simulation->isOn(scene.now->subject.machine);
  scene.run.current = ofThis(scene.run);
  scene.sets.current = ofThis(scene.sets) &&
                       scene.sets->isOn(scene.now->subject.machine,
                                        cacheNamed(scene.now->subject.machine, scene.view.level));
  scene.timeline.current =
      ofThis(scene.timeline) && scene.timeline->isOn(scene.now->subject.machine, scene.view.part);
}

}  // namespace tcsim::gui
