// How far apart the repetitions lie that a machine's rates were drawn from.
#pragma once

#include <cstddef>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

// What the time over a link, or of computing, would be by each repetition of its measurement, over
// what it is by their median: 1.05 where that repetition was 5 % slower. In ascending order; a
// single 1 where no spread is known.
using TimeFactors = std::vector<double>;

struct RateSpread {
  std::vector<TimeFactors> links;
  TimeFactors compute{1};

  // Of a link, or of computing, which follows the last link.
  const TimeFactors& at(std::size_t i) const { return i < links.size() ? links[i] : compute; }
  bool known(std::size_t i) const { return at(i).size() > 1; }
  bool known() const;  // of any of them
};

// Of a link: the load-fma-store series of one core, on those neighbouring working sets whose
// repetitions together have the level's figure as their median (within the four digits that probe
// writes); of several such runs of working sets the longest. Working sets whose own median is 10 %
// off lie on a slope. Where no run has that median, as when the figure was lowered to that of the
// level inside, the one working set whose median is nearest;
// none where that is 10 % below the figure or more, which then came from elsewhere. With several
// cores at work the series that view_of_one_core() takes. Of computing: the peak's series for this
// element. One repetition says nothing about a spread, and published figures have none.
RateSpread rate_spread(const Machine& machine, Bytes element);

// Gives `changed`, which is `machine` but for some figures, its measurements, scaled as these
// figures are: the spread of a rate that is scaled stays what it is.
void scale_measurements(const Machine& machine, Machine& changed);

}  // namespace tcsim
