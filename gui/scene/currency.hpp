// Which of a scene's late results are of the design that is shown.
#pragma once

#include <string>

#include "gui/scene/scene.hpp"

namespace tcsim::gui {

// Sets Late::current of all of them. `possible`: whether the design can be judged at all;
// `firstKnob` is that of the curve and the first of the map, `secondKnob` the map's other one.
void markCurrency(Scene& scene, const Design& design, bool possible, const std::string& firstKnob,
                  const std::string& secondKnob);

}  // namespace tcsim::gui
