#include "chains/levels/tally.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim::chains {

using levels::Counts;
using levels::Moved;

Tally::Tally(const fusion::OperationTree& tree, const levels::Hierarchy& hierarchy)
    : tree_(tree), hierarchy_(hierarchy) {
  const auto links = static_cast<std::size_t>(hierarchy.links());
  counts_.links.resize(links);
  for (Counts::OfLink& l : counts_.links) l.all.resize(tree.arrays.size());
  counts_.high_water.resize(links);
  counts_.statements.resize(tree.statements.size());
  held_.resize(links);
  seconds_.resize(links);
}

void Tally::take(int level, std::int64_t bytes) {
  const auto at = static_cast<std::size_t>(level);
  held_[at] += bytes;
  const Bytes held(held_[at]), capacity = hierarchy_.level(level).capacity;
  counts_.high_water[at] = std::max(counts_.high_water[at], held);
  if (capacity == Bytes(0) || held <= capacity) return;
  throw UnsupportedError(
      tree_.name,
      fmt::format("{} would hold {}, more than its {}", hierarchy_.level(level).name, to_text(held),
                  to_text(capacity)),
      "give it more");
}

void Tally::give_back(int level, std::int64_t bytes) {
  held_[static_cast<std::size_t>(level)] -= bytes;
}

Moved& Tally::moved(const levels::Hold& hold) {
  return counts_.links[static_cast<std::size_t>(hold.level)]
      .all[static_cast<std::size_t>(hold.array)];
}
void Tally::moved_in(const levels::Hold& hold, std::int64_t bytes, std::int64_t rows) {
  moved(hold) += {bytes, 0, 1, 0, rows};
}
void Tally::moved_out(const levels::Hold& hold, std::int64_t bytes, std::int64_t rows) {
  moved(hold) += {0, bytes, 0, 1, rows};
}

void Tally::ran(int statement, std::int64_t multiply_adds, std::int64_t tile_bytes) {
  auto& of = counts_.statements[static_cast<std::size_t>(statement)];
  ++of.runs;
  of.multiply_adds += multiply_adds;
  of.tile_bytes += tile_bytes;
}

void Tally::gather(const Processes& team, LevelRun& run) const {
  std::vector<std::int64_t> mine;
  for (const Counts::OfLink& l : counts_.links) {
    for (const Moved& m : l.all) mine.insert(mine.end(), {m.in, m.out, m.ins, m.outs, m.rows});
  }
  for (Bytes b : counts_.high_water) mine.push_back(b.value());
  for (const auto& s : counts_.statements) {
    mine.insert(mine.end(), {s.runs, s.multiply_adds, s.tile_bytes});
  }
  for (Seconds s : seconds_) mine.push_back(static_cast<std::int64_t>(s.value() * 1e9));
  mine.push_back(static_cast<std::int64_t>(arithmetic_.value() * 1e9));
  const auto all = team.gathered(mine);
  std::size_t at = 0;
  const auto most = [&](std::size_t i) {
    std::int64_t largest = 0;
    for (const auto& of : all) largest = std::max(largest, of[i]);
    return largest;
  };
  run.counts = counts_;
  for (Counts::OfLink& link : run.counts.links) {
    std::int64_t busiest = -1;
    link.busiest.clear();
    for (Moved& m : link.all) m = {};
    for (const auto& of : all) {
      std::vector<Moved> one;
      std::int64_t bytes = 0;
      for (std::size_t a = 0; a < link.all.size(); ++a) {
        const std::int64_t* v = &of[at + 5 * a];
        one.push_back({v[0], v[1], v[2], v[3], v[4]});
        link.all[a] += one.back();
        bytes += one.back().bytes();
      }
      if (bytes <= busiest) continue;
      busiest = bytes;
      link.busiest = std::move(one);
    }
    at += 5 * link.all.size();
  }
  for (Bytes& b : run.counts.high_water) b = Bytes(most(at++));
  for (auto& s : run.counts.statements) {
    s.runs = 0;
    for (const auto& of : all) s.runs += of[at];
    s.multiply_adds = most(at + 1);
    s.tile_bytes = most(at + 2);
    at += 3;
  }
  for (std::size_t l = 0; l < seconds_.size(); ++l) {
    run.links.emplace_back(1e-9 * static_cast<double>(most(at++)));
  }
  run.arithmetic = Seconds(1e-9 * static_cast<double>(most(at)));
}

}  // namespace tcsim::chains
