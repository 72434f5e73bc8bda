// What the chain window shows of a chain on explicit levels, as functions of its scene; chain_views
// has the same of chains on disk.
#pragma once

#include "gui/chain/chain_views.hpp"

namespace tcsim::gui {

ChainVerdict levelVerdict(const ChainScene& scene);
std::string aboutLevels(const ChainAnswer& answer);

// A row for each program: bytes and time of each link, and what decides.
Table levelTable(const ChainAnswer& answer);
Table levelFileTable(const ChainAnswer& answer);
// Of one program, a row for each link.
Table linkTable(const ChainAnswer& answer, std::size_t program);
// A row for each change of the machine; no rows where they are not known yet.
Table changeTable(const ChainScene& scene);

// What stands upward in the curve: the time, or the bytes over a link of its own.
std::vector<std::string> levelCurves(const ChainAnswer& answer);
Plot levelPlot(const ChainScene& scene, std::size_t upward);

ChainTree levelTree(const ChainScene& scene, std::size_t program);

}  // namespace tcsim::gui
