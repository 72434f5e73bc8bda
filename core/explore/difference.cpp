#include "core/explore/difference.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/explore/uncertainty.hpp"
#include "core/explore/verdict.hpp"
#include "core/model/held_tiles.hpp"
#include "core/schedule/path.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

// Shares of a link's bytes, and of the time, below which there is no difference. Source: chosen.
constexpr double worth_a_word = 0.01;
constexpr double same_time = 1e-6;

std::string time_words(const PredictedDesign& before, const PredictedDesign& after) {
  const Seconds a = before.prediction.timing.total, b = after.prediction.timing.total;
  if (std::abs(b / a - 1) < same_time) return fmt::format("The time stays {}.", to_display(b));
  return fmt::format("{} instead of {} ({}).", to_display(b), to_display(a), change_words(b / a));
}

std::string bottleneck_words(const PredictedDesign& before, const PredictedDesign& after) {
  const std::string a = bottleneck_name(before.prediction.timing, before.machine);
  const std::string b = bottleneck_name(after.prediction.timing, after.machine);
  return a == b ? fmt::format("Still limited by {}.", b)
                : fmt::format("The bottleneck moved from {} to {}.", a, b);
}

std::string step_words(std::int64_t before, std::int64_t after) {
  if (after == 2 * before) return "doubled";
  if (before == 2 * after) return "halved";
  return fmt::format("{} from {} to {}", after > before ? "grew" : "shrank", before, after);
}

void tile_words(const PredictedDesign& before, const PredictedDesign& after,
                std::vector<std::string>& words) {
  const auto a = held_tiles(before.contraction, before.schedule, before.machine);
  const auto b = held_tiles(after.contraction, after.schedule, after.machine);
  if (a.size() != b.size()) return;
  for (std::size_t l = 0; l < b.size(); ++l) {
    if (!a[l].tile || !b[l].tile || *a[l].tile == *b[l].tile) continue;
    const std::string& cache = after.machine.level(b[l].cache).name;
    std::string text;
    for (DimClass c : {DimClass::m, DimClass::n, DimClass::k}) {
      const std::int64_t from = a[l].tile->extents[at(c)], to = b[l].tile->extents[at(c)];
      if (from == to) continue;
      text += fmt::format("{} in {} {}", text.empty() ? "" : ",", to_text(c), step_words(from, to));
    }
    if (text.empty()) continue;
    text = fmt::format("The tile in {}{}", cache, text);
    for (TensorId t : all_tensors) {
      if (a[l].tile->whole[t] == b[l].tile->whole[t]) continue;
      text += fmt::format("; {} {} all of {}", cache,
                          b[l].tile->whole[t] ? "now holds" : "no longer holds", to_text(t));
    }
    words.push_back(text + ".");
  }
}

std::string order_of(const Path& path) {
  std::string text;
  for (const Step& s : path.steps) {
    if (s.kind == Step::Kind::loop) text += to_text(s.group);
    if (s.kind == Step::Kind::move) text += fmt::format(" [pack {}] ", to_text(s.tensor));
  }
  return text;
}

void schedule_words(const PredictedDesign& before, const PredictedDesign& after,
                    std::vector<std::string>& words) {
  if (before.schedule == after.schedule) {
    words.emplace_back("The schedule stays as it was.");
    return;
  }
  const std::size_t known = words.size();
  tile_words(before, after, words);
  const Path a = only_path(before.contraction, before.schedule);
  const Path b = only_path(after.contraction, after.schedule);
  if (a.mr != b.mr || a.nr != b.nr) {
    words.push_back(fmt::format("The kernel is {}x{} instead of {}x{}.", b.mr, b.nr, a.mr, a.nr));
  }
  if (order_of(a) != order_of(b)) words.emplace_back("The order of the loops changed.");
  if (words.size() == known) words.emplace_back("Tiles inside the caches changed a little.");
}

void traffic_words(const PredictedDesign& before, const PredictedDesign& after,
                   std::vector<std::string>& words) {
  const auto& a = before.prediction.traffic.links;
  const auto& b = after.prediction.traffic.links;
  for (std::size_t l = 0; l < std::min(a.size(), b.size()); ++l) {
    const Bytes from = a[l].counted(before.machine.accounting);
    const Bytes to = b[l].counted(after.machine.accounting);
    if (from.value() == 0 || to.value() == 0) continue;
    const double factor = static_cast<double>(to.value()) / static_cast<double>(from.value());
    if (std::abs(factor - 1) < worth_a_word) continue;
    words.push_back(fmt::format("{} carries {} instead of {} ({}).",
                                after.machine.link(LevelId{static_cast<int>(l)}), to_display(to),
                                to_display(from), change_words(factor)));
  }
}

bool same_work(const PredictedDesign& before, const PredictedDesign& after) {
  return before.contraction.label() == after.contraction.label() &&
         before.contraction.sizes() == after.contraction.sizes() &&
         before.contraction.type() == after.contraction.type() &&
         before.contraction.layout() == after.contraction.layout();
}

}  // namespace

std::vector<std::string> difference_words(const PredictedDesign& before,
                                          const PredictedDesign& after) {
  std::vector<std::string> words{time_words(before, after), bottleneck_words(before, after)};
  if (!same_work(before, after)) return words;
  schedule_words(before, after, words);
  if (before.machine.levels.size() == after.machine.levels.size()) {
    traffic_words(before, after, words);
  }
  return words;
}

std::string answer_words(const PredictedDesign& before, const PredictedDesign& after,
                         const Knob& knob) {
  if (!same_work(before, after)) return "";
  const double from = value_of(before.machine, knob), to = value_of(after.machine, knob);
  if (!(from > 0) || from == to) return "";
  const Seconds a = before.prediction.timing.total, b = after.prediction.timing.total;
  const std::string was = bottleneck_name(before.prediction.timing, before.machine);
  const std::string is = bottleneck_name(after.prediction.timing, after.machine);
  const double faster = a / b;
  const bool same = std::abs(faster - 1) < no_gain_below;
  std::string text =
      fmt::format("{} {} ({}): {}", knob_words(knob), change_words(to / from), display(knob, to),
                  same ? "nothing changes" : change_words(faster) + " GFLOPS");
  text += was == is ? fmt::format(", {} limits as before.", is)
                    : fmt::format(", and {} limits instead of {}.", is, was);
  return text;
}

}  // namespace tcsim
