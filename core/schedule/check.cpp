#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/error.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/schedule.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t max_range = std::int64_t{1} << 62;
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
          const std::vector<std::string>* levels, const std::string& place)
      : schedule_(schedule), contraction_(contraction), levels_(levels), place_(place) {}

  void run() {
    dimensions_once();
    classes();
    require_bodies(schedule_.root);
    for (const Kernel& kernel : kernels_of(schedule_.root)) check_kernel(kernel);
    check_node(schedule_.root, {ranges_, {}, 0, PTRDIFF_MAX, false});
  }

 private:
  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(place_, problem, mend);
  }

  std::string names_of_all() const {
    std::string names;
    for (int i = 0; i < contraction_.dim_count(); ++i) names += contraction_.dim(DimId{i}).name;
    return names;
  }

  // Every dimension stands in exactly one group.
  void dimensions_once() {
    std::vector<bool> seen(static_cast<std::size_t>(contraction_.dim_count()));
    for (DimClass g : all_dim_classes) {
      for (DimId d : schedule_.groups[g]) {
        if (index(d) < 0 || index(d) >= contraction_.dim_count()) {
          fail(fmt::format("dimension {} in group {} is not one of {}", index(d), to_text(g),
                           contraction_.label()),
               fmt::format("its dimensions are {}", names_of_all()));
        }
        if (seen[static_cast<std::size_t>(index(d))]) {
          fail(fmt::format("dimension '{}' is in the groups twice", contraction_.dim(d).name),
               "take one out");
        }
        seen[static_cast<std::size_t>(index(d))] = true;
      }
    }
    for (int i = 0; i < contraction_.dim_count(); ++i) {
      if (!seen[static_cast<std::size_t>(i)]) {
        fail(fmt::format("dimension '{}' is in no group", contraction_.dim(DimId{i}).name),
             groups_mend());
      }
    }
  }

  // The groups hold what their names say; m and n may be exchanged, but not mixed. m may hold batch
  // dimensions, as lanes, and batch then what C shares with the left operand alone. Sets the ranges
  // that they have: a tensor has the dimensions of each, so that their product is a number.
  void classes() {
    left_ = left_operand(contraction_, schedule_.groups);
    lanes_ = holds_lanes(contraction_, schedule_.groups);
    const bool exchanged = left_ == TensorId::B;
    for (DimClass g : all_dim_classes) {
      DimClass wanted = g;
      if (exchanged && g == DimClass::m) wanted = DimClass::n;
      if (exchanged && g == DimClass::n) wanted = DimClass::m;
      if (lanes_ && g == DimClass::m) wanted = DimClass::batch;
      if (g == DimClass::batch && holds_rows(contraction_, schedule_.groups)) {
        wanted = exchanged ? DimClass::n : DimClass::m;
      }
      for (DimClass other : all_dim_classes) {
        if (other == wanted || !in_group(g, other)) continue;
        const Group& group = schedule_.groups[g];
        std::string names;
        for (DimId d : group) names += contraction_.dim(d).name;
        fail(fmt::format("group {} is {}, which {} not agree with {}", to_text(g), names,
                         group.size() == 1 ? "does" : "do", contraction_.label()),
             groups_mend());
      }
      ranges_[g] = extent_of(contraction_, schedule_.groups[g]);
    }
  }

  // Whether the schedule's group g holds a dimension of the class c. Beside lanes there may be no
  // group for what the left operand shares with C alone, so dimensions of one place may be in any.
  bool in_group(DimClass g, DimClass c) const {
    return std::ranges::any_of(schedule_.groups[g], [&](DimId d) {
      return contraction_.dim_class(d) == c && !(lanes_ && contraction_.dim(d).extent == 1);
    });
  }

  std::string groups_mend() const {
    std::string mend = "write groups";
    for (DimClass g : all_dim_classes) {
      const std::string names = names_of(contraction_, g);
      if (!names.empty()) mend += fmt::format(" {}={}", to_text(g), names);
    }
    return mend + ", in any order within a group and with m and n exchanged if you like";
  }

  // What the statements so far leave to those inside.
  struct Left {
    ByGroup<std::int64_t> ranges;
    ByTensor<bool> packed;
    std::size_t moves;           // so far
    std::ptrdiff_t outer_level;  // of the last move
    bool one_place;              // of the batch: a loop by 1 stands outside
  };

  // What no text can say: a statement around nothing.
  void require_bodies(const Node& node) const {
    const auto inside = [&](const Box<Node>& body, const std::string& text) {
      if (body.empty()) {
        fail(fmt::format("'{}' has nothing inside", text), "put a kernel into the innermost one");
      }
      require_bodies(*body);
    };
    if (const auto* loop = std::get_if<Loop>(&node.is)) inside(loop->body, text_of(*loop));
    if (const auto* move = std::get_if<Move>(&node.is)) inside(move->body, text_of(*move));
    if (const auto* seq = std::get_if<Seq>(&node.is)) {
      for (const Seq::Part& part : seq->parts) require_bodies(part.node);
    }
  }

  static std::string text_of(const Loop& loop) {
    return fmt::format("for {} by {}", to_text(loop.group), loop.tile.value());
  }
  static std::string text_of(const Move& move) {
    return fmt::format("{} {} in {}", to_text(move.kind), to_text(move.tensor), move.level);
  }

  void check_kernel(const Kernel& kernel) const {
    for (Elements side : {kernel.mr, kernel.nr}) {
      if (side.value() < 1 || side.value() > max_side) {
        fail(fmt::format("'{}' has a side that is not between 1 and 1024", to_text(kernel)),
             "write it as kernel 24x8");
      }
    }
    if (kernel.statement != 0) {
      fail(fmt::format("'{}' is of statement {}, which {} does not have", to_text(kernel),
                       kernel.statement, contraction_.label()),
           "a contraction has statement 0 alone");
    }
  }

  void check_node(const Node& node, Left left) const {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      check_loop(*loop, left);
      check_node(*loop->body, left);
    } else if (const auto* seq = std::get_if<Seq>(&node.is)) {
      check_seq(*seq, left);
    } else if (const auto* move = std::get_if<Move>(&node.is)) {
      check_move(*move, left);
      check_node(*move->body, left);
    } else {
      check_cover(std::get<Kernel>(node.is), left);
    }
  }

  void check_loop(const Loop& loop, Left& left) const {
    const std::int64_t tile = loop.tile.value();
    const std::string text = text_of(loop);
    std::int64_t& range = left.ranges[loop.group];
    if (tile < 1) fail(fmt::format("'{}' has a tile below 1", text), "use at least 1");
    if (loop.group == DimClass::batch && left.one_place) {
      fail(fmt::format("'{}' stands inside for batch by 1", text), "take it out");
    }
    left.one_place |= loop.group == DimClass::batch && tile == 1;
    if (tile > range) {
      fail(fmt::format("'{}' stands where {} has a range of {}", text, to_text(loop.group), range),
           fmt::format("use a tile of {} or less, or take the loop out", range));
    }
    // A loop that runs once may have any tile: its rows are padded to whole micropanels anyway.
    if (tile < range) check_whole_panels(loop.group, tile, kernels_of(*loop.body), text, left);
    range = tile;
  }

  // Below the pack of a tensor, tiles of its rows are whole micropanels of each kernel.
  void check_whole_panels(DimClass group, std::int64_t tile, const std::vector<Kernel>& kernels,
                          const std::string& text, const Left& left) const {
    if (group != DimClass::m && group != DimClass::n) return;
    for (TensorId t : {TensorId::A, TensorId::B}) {
      if (rows_of(t) != group || !left.packed[t]) continue;
      for (const Kernel& kernel : kernels) {
        const std::int64_t panel = panel_of(t, kernel).value();
        if (tile % panel == 0) continue;
        fail(fmt::format("'{}' inside the pack of {} cuts its micropanels of {} rows", text,
                         to_text(t), panel),
             fmt::format("use a multiple of {}", panel));
      }
    }
  }

  // As Path::rows_of() and panel_of().
  DimClass rows_of(TensorId t) const { return t == left_ || lanes_ ? DimClass::m : DimClass::n; }
  Elements panel_of(TensorId t, const Kernel& kernel) const {
    return rows_of(t) == DimClass::m ? kernel.mr : kernel.nr;
  }

  void check_seq(const Seq& seq, const Left& left) const {
    if (seq.parts.empty()) fail("'seq' has no parts", "write seq over m { part 22 { ... } ... }");
    if (!seq.over) {
      if (seq.parts.size() > 1) {
        fail("'seq' does statement 0 more than once",
             "a contraction has one statement: use one part, or seq over a group");
      }
      return check_node(seq.parts.front().node, left);
    }
    const DimClass group = *seq.over;
    const std::string text = fmt::format("seq over {}", to_text(group));
    if (group == DimClass::batch) {
      fail(fmt::format("'{}' cuts the batch", text), "cut m, n or k");
    }
    const std::int64_t range = left.ranges[group];
    std::int64_t rest = range;
    for (const Seq::Part& part : seq.parts) {
      const std::int64_t size = part.size.value();
      if (size < 1) fail(fmt::format("'{}' has a part below 1", text), "use at least 1");
      if (size > rest) break;
      rest -= size;
      if (rest > 0) {
        check_whole_panels(group, size, kernels_of(part.node), fmt::format("part {}", size), left);
      }
      Left inside = left;
      inside.ranges[group] = size;
      check_node(part.node, inside);
    }
    const auto sizes = [](std::int64_t sum, const Seq::Part& part) {
      return part.size.value() > max_range - sum ? max_range : sum + part.size.value();
    };
    const std::int64_t all =
        std::accumulate(seq.parts.begin(), seq.parts.end(), std::int64_t{0}, sizes);
    if (all != range) {
      fail(fmt::format("the parts of '{}' are {} together, where {} has a range of {}", text, all,
                       to_text(group), range),
           "make them as large as the range");
    }
  }

  void check_move(const Move& move, Left& left) const {
    const std::string text = text_of(move);
    constexpr std::size_t most = max_arrays - all_tensors.size();
    if (left.moves++ == most) {
      fail(fmt::format("'{}' stands inside {} other moves, and each has a buffer", text, most),
           fmt::format("use at most {} moves on the way to a kernel", most));
    }
    if (move.kind == Move::Kind::pack) check_pack(move, text, left);
    if (move.kind == Move::Kind::store && move.tensor != TensorId::C) {
      fail(fmt::format("'{}' stores an input", text), "load it, or store C");
    }
    if (levels_ == nullptr) return;
    const auto found = std::ranges::find(*levels_, move.level);
    if (found == levels_->end()) {
      fail(fmt::format("'{}' names no level of the machine", text), level_names());
    }
    const auto level = found - levels_->begin();
    if (level > left.outer_level) {
      fail(fmt::format("'{}' stands inside a pack in {}, which is smaller", text,
                       (*levels_)[static_cast<std::size_t>(left.outer_level)]),
           "a pack inside another uses its level or one nearer to the core");
    }
    left.outer_level = level;
  }

  void check_pack(const Move& pack, const std::string& text, Left& left) const {
    if (pack.tensor == TensorId::C) fail(fmt::format("'{}' packs the output", text), "pack A or B");
    if (lanes_ && pack.tensor != left_ && left.ranges[DimClass::n] > 1) {
      fail(fmt::format("'{}' packs an operand that has both m and n, as m holds a batch", text),
           "read it in place: take the pack out; or pack inside for n by 1");
    }
    bool& packed = left.packed[pack.tensor];
    if (packed) {
      fail(fmt::format("'{}' inside another pack of {}", text, to_text(pack.tensor)),
           "keep one of them");
    }
    packed = true;
    // One buffer has micropanels of one size.
    const auto rows = [&](const Kernel& k) { return panel_of(pack.tensor, k); };
    const std::vector<Kernel> kernels = kernels_of(*pack.body);
    for (const Kernel& kernel : kernels) {
      if (rows(kernel) == rows(kernels.front())) continue;
      fail(fmt::format("'{}' holds micropanels of {} and of {} rows", text,
                       rows(kernels.front()).value(), rows(kernel).value()),
           "pack inside each part, or use kernels of as many rows");
    }
  }

  // Not fmt::join: g++ 12 takes fmt 9's for a buffer overflow at -O3.
  std::string level_names() const {
    std::string names = "use one of";
    for (const std::string& level : *levels_) {
      names += (&level == &levels_->front() ? " " : ", ") + level;
    }
    return names;
  }

  // The loops leave the kernel no more than it computes.
  void check_cover(const Kernel& kernel, const Left& left) const {
    if (kernel.along_k && lanes_) {
      fail(fmt::format("'{}' has vectors along k, and group m a batch", to_text(kernel)),
           "take \"along k\" out, or put the batch into group batch");
    }
    for (TensorId t : {TensorId::A, TensorId::B}) {
      const Elements rows = panel_of(t, kernel);
      if (!kernel.along_k || !left.packed[t] || rows == Elements(1)) continue;
      fail(fmt::format("'{}' stands inside a pack of {}, whose micropanels have {} rows",
                       to_text(kernel), to_text(t), rows.value()),
           "use a kernel with one of them, or take the pack or \"along k\" out");
    }
    for (DimClass g : {DimClass::m, DimClass::n}) {
      const std::int64_t side = (g == DimClass::m ? kernel.mr : kernel.nr).value();
      if (left.ranges[g] > side) {
        fail(fmt::format("'{}' does not cover the {} of {} that are left to it", to_text(kernel),
                         left.ranges[g], to_text(g)),
             fmt::format("put for {} by {} around it", to_text(g), side));
      }
    }
    if (left.ranges[DimClass::batch] > 1) {
      fail("no loop runs over batch", "put for batch by 1 around the kernel");
    }
  }

  const Schedule& schedule_;
  const Contraction& contraction_;
  const std::vector<std::string>* levels_;  // none: any will do
  const std::string& place_;
  TensorId left_ = TensorId::A;
  bool lanes_ = false;                        // holds_lanes()
  ByGroup<std::int64_t> ranges_{1, 1, 1, 1};  // of the groups, by DimClass
};

}  // namespace

void check(const Schedule& schedule, const Contraction& contraction,
           const std::vector<std::string>& levels, const std::string& place) {
  Checker(schedule, contraction, &levels, place).run();
}

bool is_legal(const Schedule& schedule, const Contraction& contraction) {
  try {
    Checker(schedule, contraction, nullptr, "").run();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace tcsim
