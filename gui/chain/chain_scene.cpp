#include "gui/chain/chain_scene.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "chains/plan_chain.hpp"
#include "core/error.hpp"
#include "core/fusion/disk_costs.hpp"
#include "core/fusion/leaf.hpp"
#include "core/machine/override.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"

namespace tcsim::gui {

namespace {

using fusion::Buffering;
using fusion::Limits;

constexpr double mostBytes = 0x1p61;
// What a run takes beside its tiles, about: packed operands, tables and files. With less next to
// nothing is left for tiles.
constexpr Bytes besideTiles{std::int64_t{10} << 20};
// The curve reaches so many doublings of memory to either side, every second one of them where a
// plan takes longer than `slow` seconds.
constexpr int reach = 6;
constexpr double slow = 3;
// Between how much memory is enough and how little is not.
constexpr double closeEnough = 1.1;

// As tcsim fuse: the machine's disk, what was measured of this one's, or assumed.
Limits limitsOf(const ChainDesign& design, const Machine& machine,
                const std::optional<DiskFigures>& found, bool& assumed) {
  Limits l;
  l.memory = design.memory;
  if (design.overlap) l.buffering = Buffering::twofold;
  fusion::DiskRequest disk{design.diskRead, design.diskWrite, design.diskTransfer, {}};
  if (found) disk.measured = {found->read, found->write, found->transfer};
  const fusion::DiskCosts costs = fusion::disk_costs(machine, disk);
  l.costs = costs.costs;
  assumed = costs.assumed;
  return l;
}

Bytes movedBy(const fusion::FusedProgram& program) {
  const fusion::DiskTraffic::OfArray sum = program.traffic.sum();
  return Bytes(sum.read + sum.written);
}

MemoryPoint pointOf(const Limits& limits, const fusion::FusedProgram& chosen,
                    const fusion::FusedProgram& unfused) {
  return {limits.memory,
          limits.costs.disk(chosen.traffic.sum()),
          limits.costs.disk(unfused.traffic.sum()),
          movedBy(chosen),
          movedBy(unfused),
          chosen.cut_points};
}

chains::ChainPlan planned(const ChainSubject& s, const Limits& limits,
                          const std::function<void(double)>& progress) {
  const chains::ChainPlanOptions options{limits, 1, nullptr, progress, false};
  return s.design.tilesAlone ? chains::plan_tiles(s.tree, s.machine, options)
                             : chains::plan_chain(s.tree, s.machine, options);
}

int doublingsUpTo(Bytes bytes) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes.value()) - 1));
}

Bytes powerOfTwo(int exponent) { return Bytes(std::int64_t{1} << exponent); }

// The nearest ones first.
std::vector<Bytes> gridOf(const ChainAnswer& answer) {
  const ChainSubject& s = *answer.subject;
  const double here = std::log2(static_cast<double>(s.design.memory.value()));
  std::vector<int> all;
  for (int e = doublingsUpTo(leastShown(s)); e <= doublingsUpTo(mostShown(s)); ++e) {
    if (std::abs(e - here) <= reach && (e % 2 == 0 || answer.seconds <= slow)) all.push_back(e);
  }
  std::ranges::stable_sort(
      all, {}, [&](int e) { return std::abs(e - here) + (e % 2 == 0 ? 0 : 2 * reach); });
  std::vector<Bytes> sizes;
  for (int e : all) sizes.push_back(powerOfTwo(e));
  return sizes;
}

std::optional<Bytes> twiceOf(const ChainAnswer& answer) {
  const ChainSubject& s = *answer.subject;
  if (s.design.memory >= s.most) return {};
  return 2 * s.design.memory;
}

// Where the number of cut-points falls below what is chosen now: at most so much memory is not
// enough, and so much is.
struct Bracket {
  Bytes notEnough;
  MemoryPoint enough;
};
std::optional<Bracket> bracketOf(const ChainScene& scene) {
  const std::size_t cuts = scene.answer->chosen().program.cut_points.size();
  Bytes below = scene.answer->design().memory;
  for (const auto& [bytes, point] : scene.points) {
    if (Bytes(bytes) <= below || !point) continue;
    if (point->cutPoints.size() < cuts) return Bracket{below, *point};
    below = Bytes(bytes);
  }
  return {};
}

Bytes middleOf(const Bracket& bracket) {
  return shortMemory(std::sqrt(static_cast<double>(bracket.notEnough.value()) *
                               static_cast<double>(bracket.enough.memory.value())));
}

bool isClose(const Bracket& bracket) {
  const double apart = static_cast<double>(bracket.enough.memory.value()) /
                       static_cast<double>(bracket.notEnough.value());
  const Bytes middle = middleOf(bracket);
  return apart <= closeEnough || middle <= bracket.notEnough || middle >= bracket.enough.memory;
}

}  // namespace

ChainSubjectPtr chainSubject(const ChainDesign& design, const ChainMachine& machine) {
  auto s = std::make_shared<ChainSubject>();
  s->design = design;
  fusion::Chain chain = fusion::find_chain(
      {design.chain, needsSizes(design.chain) ? design.sizes : "", design.type, design.order});
  s->tree = fusion::operation_tree(chain.program);
  s->ordered = std::move(chain.ordered);
  s->machine = machine.machine;
  for (const std::string& knob : knobsOf(design.knobs)) {
    s->machine = override_knob(s->machine, knob).machine;
  }
  if (levels::has_explicit_levels(s->machine)) {
    check(s->machine, "");
    fusion::element_type(s->tree);  // all tensors have one
    s->hierarchy = levels::hierarchy(s->machine, s->tree.arrays.front().element);
    s->hierarchy->overlap = design.overlap;
    return s;
  }
  s->limits = limitsOf(design, s->machine, machine.disk, s->diskAssumed);
  std::erase_if(s->machine.levels, [](const Level& l) { return l.kind == LevelKind::disk; });
  double all = 0;
  for (int a = 0; a < static_cast<int>(s->tree.arrays.size()); ++a) all += s->tree.bytes(a);
  if (design.overlap) all *= 2;
  s->least = fusion::least_memory(s->tree, s->limits.buffering);
  s->most = std::max(s->least, Bytes(static_cast<std::int64_t>(std::min(all, mostBytes))));
  if (!design.tilesAlone) {
    s->least += besideTiles;
    s->most += besideTiles;
  }
  return s;
}

ChainAnswerPtr answerOf(const ChainSubjectPtr& subject, const std::function<void(double)>& progress,
                        std::stop_token stop) {
  const StopScope scope(std::move(stop));
  const auto begin = std::chrono::steady_clock::now();
  const ChainSubject& s = *subject;
  auto answer = std::make_shared<ChainAnswer>();
  answer->subject = subject;
  const auto end = [&] {
    const auto took = std::chrono::steady_clock::now() - begin;
    answer->seconds = std::chrono::duration<double>(took).count();
    return answer;
  };
  if (s.hierarchy) {
    answer->levels = levelFigures(s, progress);
    return end();
  }
  const auto add = [&](const char* name, fusion::FusedProgram program,
                       const chains::RunFigures& run) {
    ChainProgram p{name, std::move(program), run.memory.all(), {}, run.arithmetic, {}};
    p.disk = s.limits.costs.disk(p.program.traffic.sum());
    p.time = s.limits.buffering == Buffering::twofold ? std::max(p.disk, p.arithmetic)
                                                      : p.disk + p.arithmetic;
    answer->programs.push_back(std::move(p));
  };
  chains::ChainPlan found = planned(s, s.limits, progress);
  add("chosen", std::move(found.fusion.chosen), found.chosen);
  if (found.fully_fused) {
    add("fully fused", *std::move(found.fusion.fully_fused), *found.fully_fused);
  }
  add("unfused", std::move(found.fusion.unfused), found.unfused);
  return end();
}

MemoryPoint pointOf(const ChainAnswer& answer) {
  return pointOf(answer.subject->limits, answer.chosen().program, answer.unfused().program);
}

std::optional<MemoryPoint> pointAt(const ChainSubject& subject, Bytes memory,
                                   std::stop_token stop) {
  const StopScope scope(std::move(stop));
  Limits limits = subject.limits;
  limits.memory = memory;
  try {
    if (subject.design.tilesAlone) {
      return pointOf(limits, fusion::chosen_program(subject.tree, {limits, {}}),
                     fusion::unfused_program(subject.tree, limits));
    }
    const chains::ChainPlan found = planned(subject, limits, {});
    return pointOf(limits, found.fusion.chosen, found.fusion.unfused);
  } catch (const UnsupportedError&) {
    return {};
  }
}

bool samePoints(const ChainDesign& a, const ChainDesign& b) { return a.with(b.memory) == b; }

std::optional<Bytes> nextMemory(const ChainScene& scene) {
  if (!scene.answer || scene.answer->levels) return {};
  const auto known = [&](Bytes memory) { return scene.points.contains(memory.value()); };
  const std::optional<Bytes> twice = twiceOf(*scene.answer);
  if (twice && !known(*twice)) return twice;
  for (const Bytes memory : gridOf(*scene.answer)) {
    if (!known(memory)) return memory;
  }
  const std::optional<Bracket> bracket = bracketOf(scene);
  if (bracket && !isClose(*bracket)) return middleOf(*bracket);
  return {};
}

MoreMemory moreMemory(const ChainScene& scene) {
  MoreMemory more;
  if (!scene.answer) return more;
  if (const std::optional<Bytes> twice = twiceOf(*scene.answer)) {
    const auto found = scene.points.find(twice->value());
    if (found != scene.points.end()) more.twice = found->second;
  }
  const std::optional<Bracket> bracket = bracketOf(scene);
  if (bracket && isClose(*bracket)) more.fewerCuts = bracket->enough;
  return more;
}

Bytes shortMemory(double bytes) {
  const double step = std::max(1.0, std::exp2(std::floor(std::log2(bytes))) / 32);
  return Bytes(static_cast<std::int64_t>(std::max(1.0, std::round(bytes / step) * step)));
}

Bytes leastShown(const ChainSubject& subject) { return powerOfTwo(doublingsUpTo(subject.least)); }

Bytes mostShown(const ChainSubject& subject) {
  return std::max(powerOfTwo(doublingsUpTo(subject.most)), 2 * leastShown(subject));
}

}  // namespace tcsim::gui
