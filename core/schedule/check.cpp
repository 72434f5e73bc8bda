#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/error.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/spine.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t max_side = 1024;  // of a kernel: far above what registers hold

// The dimensions of each class by name, as a person would write them in a group.
std::string names_of(const Contraction& c, DimClass group) {
  std::string names;
  for (DimId d : c.dims_of(group)) names += c.dim(d).name;
  return names;
}

class Checker {
 public:
  Checker(const Schedule& schedule, const Contraction& contraction,
          const std::vector<std::string>& levels, const std::string& place)
      : schedule_(schedule), contraction_(contraction), levels_(levels), place_(place) {}

  void run() {
    dimensions_once();
    classes();
    const Kernel kernel = spine();
    const std::string text = fmt::format("kernel {}x{}", kernel.mr.value(), kernel.nr.value());
    for (Elements side : {kernel.mr, kernel.nr}) {
      if (side.value() < 1 || side.value() > max_side) {
        fail(fmt::format("'{}' has a side that is not between 1 and 1024", text),
             "write it as kernel 24x8");
      }
    }
    panels_ = {kernel.mr.value(), kernel.nr.value()};
    for (const Node* node : spine_) {
      if (const auto* loop = std::get_if<Loop>(&node->is)) check_loop(*loop);
      if (const auto* pack = std::get_if<Pack>(&node->is)) check_pack(*pack);
    }
    check_cover(text);
  }

 private:
  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(place_, problem, mend);
  }

  // Every dimension stands in exactly one group.
  void dimensions_once() {
    std::string known, seen;
    for (int i = 0; i < contraction_.dim_count(); ++i) known += contraction_.dim(DimId{i}).name;
    for (DimClass g : all_dim_classes) {
      for (char name : schedule_.groups[at(g)]) {
        const std::size_t i = known.find(name);
        if (i == std::string::npos) {
          fail(fmt::format("'{}' in group {} is not a dimension of {}", name, to_text(g),
                           contraction_.label()),
               fmt::format("its dimensions are {}", known));
        }
        if (seen.find(name) != std::string::npos) {
          fail(fmt::format("dimension '{}' is in the groups twice", name), "take one out");
        }
        seen += name;
      }
    }
    for (char name : known) {
      if (seen.find(name) == std::string::npos) {
        fail(fmt::format("dimension '{}' is in no group", name), groups_mend());
      }
    }
  }

  // The groups hold what their names say; m and n may be exchanged, but not mixed. Sets the ranges
  // that they have: a tensor has the dimensions of each, so that their product is a number.
  void classes() {
    left_ = left_operand(contraction_, schedule_.groups);
    const bool exchanged = left_ == TensorId::B;
    for (DimClass g : all_dim_classes) {
      DimClass wanted = g;
      if (exchanged && g == DimClass::m) wanted = DimClass::n;
      if (exchanged && g == DimClass::n) wanted = DimClass::m;
      for (DimClass other : all_dim_classes) {
        if (other == wanted || !in_group(g, other)) continue;
        fail(fmt::format("group {} is {}, which {} not agree with {}", to_text(g),
                         schedule_.groups[at(g)],
                         schedule_.groups[at(g)].size() == 1 ? "does" : "do", contraction_.label()),
             groups_mend());
      }
      for (char name : schedule_.groups[at(g)]) {
        ranges_[at(g)] *= contraction_.dim(dim_named(contraction_, name)).extent;
      }
    }
  }

  // Whether the schedule's group g holds a dimension of the class c.
  bool in_group(DimClass g, DimClass c) const {
    return names_of(contraction_, c).find_first_of(schedule_.groups[at(g)]) != std::string::npos;
  }

  std::string groups_mend() const {
    std::string mend = "write groups";
    for (DimClass g : all_dim_classes) {
      const std::string names = names_of(contraction_, g);
      if (!names.empty()) mend += fmt::format(" {}={}", to_text(g), names);
    }
    return mend + ", in any order within a group and with m and n exchanged if you like";
  }

  // Lists the statements from the outermost inward and returns the kernel that ends them.
  Kernel spine() {
    const Node* node = &schedule_.root;
    while (!std::holds_alternative<Kernel>(node->is)) {
      spine_.push_back(node);
      const auto* loop = std::get_if<Loop>(&node->is);
      const std::vector<Node>& body = loop ? loop->body : std::get<Pack>(node->is).body;
      if (body.size() != 1) {
        fail(fmt::format("a body holds {} statements", body.size()),
             "one statement is expected in it, and a kernel in the innermost one");
      }
      node = &body.front();
    }
    return std::get<Kernel>(node->is);
  }

  void check_loop(const Loop& loop) {
    const std::int64_t tile = loop.tile.value();
    const std::string text = fmt::format("for {} by {}", to_text(loop.group), tile);
    std::int64_t& range = ranges_[at(loop.group)];
    if (tile < 1) fail(fmt::format("'{}' has a tile below 1", text), "use at least 1");
    if (loop.group == DimClass::batch) {
      if (tile != 1)
        fail(fmt::format("'{}' has a tile other than 1", text), "write for batch by 1");
      if (std::get_if<Loop>(&spine_.front()->is) != &loop) {
        fail(fmt::format("'{}' is not the outermost statement", text),
             "move it outside all others");
      }
    }
    if (tile > range) {
      fail(fmt::format("'{}' stands where {} has a range of {}", text, to_text(loop.group), range),
           fmt::format("use a tile of {} or less, or take the loop out", range));
    }
    check_whole_panels(loop, range, text);
    range = tile;
  }

  // A loop that runs once may have any tile: its rows are padded to whole micropanels anyway.
  void check_whole_panels(const Loop& loop, std::int64_t range, const std::string& text) const {
    if (loop.group != DimClass::m && loop.group != DimClass::n) return;
    const TensorId t = rows_tensor(loop.group);
    const std::int64_t panel = panels_[at(loop.group)];
    if (packed_[static_cast<std::size_t>(index(t))] && loop.tile.value() < range &&
        loop.tile.value() % panel != 0) {
      fail(fmt::format("'{}' inside the pack of {} cuts its micropanels of {} rows", text,
                       to_text(t), panel),
           fmt::format("use a multiple of {}", panel));
    }
  }

  // The operand whose rows are the group m or n.
  TensorId rows_tensor(DimClass group) const {
    const bool is_left = group == DimClass::m;
    return is_left == (left_ == TensorId::A) ? TensorId::A : TensorId::B;
  }

  void check_pack(const Pack& pack) {
    const std::string text = fmt::format("pack {} in {}", to_text(pack.tensor), pack.level);
    if (pack.tensor == TensorId::C) fail(fmt::format("'{}' packs the output", text), "pack A or B");
    bool& packed = packed_[static_cast<std::size_t>(index(pack.tensor))];
    if (packed) {
      fail(fmt::format("'{}' inside another pack of {}", text, to_text(pack.tensor)),
           "keep one of them");
    }
    packed = true;
    const auto found = std::find(levels_.begin(), levels_.end(), pack.level);
    if (found == levels_.end()) {
      fail(fmt::format("'{}' names no level of the machine", text), level_names());
    }
    const auto level = found - levels_.begin();
    if (level > outer_pack_level_) {
      fail(fmt::format("'{}' stands inside a pack in {}, which is smaller", text,
                       levels_[static_cast<std::size_t>(outer_pack_level_)]),
           "a pack inside another uses its level or one nearer to the core");
    }
    outer_pack_level_ = level;
  }

  // Not fmt::join: g++ 12 takes fmt 9's for a buffer overflow at -O3.
  std::string level_names() const {
    std::string names = "use one of";
    for (const std::string& level : levels_) names += (&level == &levels_[0] ? " " : ", ") + level;
    return names;
  }

  // The loops leave the kernel no more than it computes.
  void check_cover(const std::string& kernel) const {
    for (DimClass g : {DimClass::m, DimClass::n}) {
      if (ranges_[at(g)] > panels_[at(g)]) {
        fail(fmt::format("'{}' does not cover the {} of {} that are left to it", kernel,
                         ranges_[at(g)], to_text(g)),
             fmt::format("put for {} by {} around it", to_text(g), panels_[at(g)]));
      }
    }
    if (ranges_[at(DimClass::batch)] > 1) {
      fail("no loop runs over batch", "put for batch by 1 around everything");
    }
  }

  const Schedule& schedule_;
  const Contraction& contraction_;
  const std::vector<std::string>& levels_;
  const std::string& place_;
  TensorId left_ = TensorId::A;
  std::vector<const Node*> spine_;                  // without the kernel
  std::array<std::int64_t, 2> panels_{};            // mr and nr, by DimClass
  std::array<std::int64_t, 4> ranges_{1, 1, 1, 1};  // what the statements so far leave, by DimClass
  std::array<bool, 2> packed_{};                    // by TensorId
  std::ptrdiff_t outer_pack_level_ = PTRDIFF_MAX;
};

}  // namespace

void check(const Schedule& schedule, const Contraction& contraction,
           const std::vector<std::string>& levels, const std::string& place) {
  Checker(schedule, contraction, levels, place).run();
}

}  // namespace tcsim
