#include "cli/advice.hpp"

namespace tcsim::cli {

using nlohmann::ordered_json;

ordered_json json_of(const std::optional<Uncertainty>& sure) {
  if (!sure) return nullptr;
  ordered_json deciders = ordered_json::array();
  for (const Decider& d : sure->deciders)
    deciders.push_back({{"name", d.name}, {"share", d.share}});
  return {{"deciders", std::move(deciders)},
          {"predicted_seconds_5", sure->low.value()},
          {"predicted_seconds_95", sure->high.value()},
          {"no_spread", sure->no_spread}};
}

ordered_json json_of(const Crossover& c) {
  ordered_json j{
      {"knob", c.knob}, {"value", c.value}, {"factor", c.factor}, {"from", c.from}, {"to", c.to}};
  if (c.band) {
    const auto end = [](const std::optional<double>& v) {
      return v ? ordered_json(*v) : ordered_json(nullptr);
    };
    j["value_5"] = end(c.band->low);
    j["value_95"] = end(c.band->high);
  }
  for (const PackingVariant& v : c.packing) {
    j["packing"].push_back({{"counted", v.counted}, {"factor", v.factor}});
  }
  return j;
}

ordered_json json_of(const Elasticities& elasticities) {
  ordered_json all = ordered_json::array();
  const auto step = [](const KnobStep& s) {
    ordered_json j{{"value", s.value},
                   {"factor", s.factor},
                   {"predicted_seconds", s.time.value()},
                   {"elasticity", s.elasticity},
                   {"bottleneck", s.bottleneck}};
    if (s.gains) j["gaining_share"] = *s.gains;
    return j;
  };
  for (const Elasticity& e : elasticities.knobs) {
    ordered_json j{{"knob", e.knob.name}, {"unit", to_text(e.knob.unit)}, {"value", e.knob.base}};
    if (e.up) j["up"] = step(*e.up);
    if (e.down) j["down"] = step(*e.down);
    all.push_back(std::move(j));
  }
  return all;
}

ordered_json json_of(const std::vector<LargerCache>& caches) {
  ordered_json all = ordered_json::array();
  for (const LargerCache& c : caches) {
    ordered_json j{{"level", c.level}, {"factor", c.factor}, {"predicted_seconds", c.time.value()}};
    if (c.gains) j["gaining_share"] = *c.gains;
    all.push_back(std::move(j));
  }
  return all;
}

ordered_json json_of(const Advice& a) {
  ordered_json j{{"text", a.words}, {"elasticities", json_of(a.elasticities)}};
  if (a.next) j["next_crossover"] = json_of(*a.next);
  j["larger_caches"] = json_of(a.caches);
  return j;
}

}  // namespace tcsim::cli
