#include "sim/rule.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace tcsim::sim {

void apply_rule(const std::string& rule, SystemConfig& config) {
  const auto dot = rule.find('.'), equals = rule.find('=');
  const std::string place = "--rule " + rule;
  if (dot == std::string::npos || equals == std::string::npos || equals < dot) {
    throw UsageError(place, "it is not LEVEL.RULE=VALUE", "for example L2.write_back_miss=pass");
  }
  const std::string owner = rule.substr(0, dot), name = rule.substr(dot + 1, equals - dot - 1);
  const std::string value = rule.substr(equals + 1);
  const auto either = [&](const char* yes, const char* no) {
    if (value == yes) return true;
    if (value == no) return false;
    throw UsageError(place, fmt::format("'{}' is not known", value),
                     fmt::format("use {} or {}", yes, no));
  };
  for (LevelConfig& level : config.levels) {
    if (level.name != owner) continue;
    if (name == "write_hit_refreshes") {
      level.write_hit_refreshes = either("true", "false");
    } else if (name == "write_back_refreshes") {
      level.write_back_refreshes = either("true", "false");
    } else if (name == "write_back_miss") {
      level.write_back_miss =
          either("allocate", "pass") ? WriteBackMiss::allocate : WriteBackMiss::pass;
    } else if (name == "replacement") {
      level.qlru = qlru_named(value);
      if (!level.qlru) {
        throw UsageError(
            place, fmt::format("'{}' is no variant of QLRU", value),
            "name one as uops.info does, such as QLRU_H11_M1_R0_U0 or QLRU_H11_MR31_R1_U2 "
            "(R0 and R2 do not go with U2 and U3); for others use --set " +
                owner + ".replacement");
      }
    } else if (name == "empty_ways") {
      level.empty_ways = either("first", "tree") ? EmptyWays::first : EmptyWays::tree;
    } else {
      throw UsageError(place, fmt::format("there is no rule '{}'", name),
                       "use write_hit_refreshes, write_back_refreshes, write_back_miss, empty_ways "
                       "or replacement");
    }
    return;
  }
  throw UsageError(place, fmt::format("there is no cache '{}'", owner), "use a level's name");
}

}  // namespace tcsim::sim
