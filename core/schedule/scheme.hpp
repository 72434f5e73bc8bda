// The notation of ttile (section 4) for schedules: a list of specifiers, the outermost first, each
// of which makes the tile inside it larger along one dimension:
//
//     [T2,k,T34,y,λx [(2,11),(1,12)],T3,r,T3,s,T256,c,Uα,x,U2,l,Vl]
//
//     Ta,d  a loop of a tiles along d           Ud    written Ua,d: the same, in registers
//     Rd    a loop over what is left of d       Vd    the lanes of a vector along d, innermost
//     λd [(r,a),(s,b)]  r tiles with α = a, and s tiles with α = b behind them; inside it "Uα,d"
//           has so many. L and * may be written for λ and α, and β for α.
//
// Vectors run along a dimension that C shares with one operand: its class is group m of the
// schedule, and other dimensions of C are group n. Sums directly around the register tile are the
// kernel's. Groups are fused (core/schedule/schedule.hpp), so that a dimension of a group can only
// begin to grow where those before it are whole. A scheme has no packs and no partial tiles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// `lanes`: elements of a vector. Throws InputError "place:line:column" for a text that is no scheme
// of this contraction, or one that no schedule can say.
Schedule parse_scheme(std::string_view text, const Contraction& contraction, std::int64_t lanes,
                      const std::string& place);

// The scheme of a schedule that has one, which must have passed check(): none where it packs,
// says what threads divide, has lanes of a batch, partial tiles or rows of no whole vectors, tiles
// that cut a dimension unevenly, or a loop over sums directly around its kernel.
std::optional<std::string> to_scheme(const Schedule& schedule, const Contraction& contraction,
                                     std::int64_t lanes);

}  // namespace tcsim
