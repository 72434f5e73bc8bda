#include "core/model/copies.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/model/counted_cache.hpp"
#include "core/plan/pack_order.hpp"

namespace tcsim {

namespace {

// Copies of more elements are not made: naming their blocks takes milliseconds. Source: chosen.
constexpr double largest_copy = 1 << 25;
// Copies that are made, where so many can be made whole. Source: chosen.
constexpr std::int64_t most_copies = 4;
// A level that holds so many times the lines of a copy keeps them all. Source: chosen.
constexpr double room_to_spare = 4;

// The lines that were touched.
class SeenLines {
 public:
  SeenLines() : lines_(1 << 12, -1) {}

  // Whether the line is new.
  bool add(std::int64_t line) {
    if (2 * count_ >= lines_.size()) grow();
    return put(line);
  }
  std::size_t count() const { return count_; }
  void clear() {
    std::ranges::fill(lines_, -1);
    count_ = 0;
  }

 private:
  bool put(std::int64_t line) {
    const std::size_t mask = lines_.size() - 1;
    std::size_t at = (static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15 >> 20) & mask;
    for (; lines_[at] >= 0; at = (at + 1) & mask) {
      if (lines_[at] == line) return false;
    }
    lines_[at] = line;
    ++count_;
    return true;
  }

  void grow() {
    const std::vector<std::int64_t> old = std::exchange(lines_, {});
    lines_.assign(4 * old.size(), -1);
    count_ = 0;
    for (std::int64_t line : old) {
      if (line >= 0) put(line);
    }
  }

  std::vector<std::int64_t> lines_;
  std::size_t count_ = 0;
};

class Copier {
 public:
  Copier(const Contraction& contraction, const Schedule& schedule, const Nest& nest, int depth,
         const std::vector<SetAssociative>& caches, Bytes line, std::int64_t most_elements)
      : nest_(nest),
        depth_(depth),
        tensor_(nest.step(depth).tensor),
        line_bits_(
            std::countr_zero(static_cast<std::uint64_t>(line / size_of(contraction.type())))),
        most_elements_(most_elements),
        shapes_(caches) {
    const ByTensor<std::optional<PackPlan>> packs =
        pack_plans(contraction, schedule, nest.path(), nest.arrays());
    pack_ = *packs[tensor_];
    for (std::int64_t b = 0; pack_.places > 1 && b < nest.path().extents[DimClass::batch]; ++b) {
      batch_offsets_.push_back(nest.tile_lines(tensor_).place(DimClass::batch, b));
    }
    find_places(contraction, packs);
  }

  CopiedAgain count() {
    CopiedAgain again{std::vector<double>(shapes_.size()), std::vector<double>(shapes_.size())};
    const std::int64_t copies = number_of_copies();
    // One whole copy tells more than the beginnings of several.
    const double all = all_elements(), whole = all / static_cast<double>(copies);
    const auto fit = static_cast<std::int64_t>(static_cast<double>(most_elements_) / whole);
    const std::int64_t made = std::min(copies, std::clamp<std::int64_t>(fit, 1, most_copies));
    double elements = 0;
    for (std::int64_t i = 0; i < made; ++i) {
      const Tile tile = made == copies ? nth_tile(i) : some_tile(i);
      choose_levels(tile);
      elements += make(tile, again, most_elements_ / made);
    }
    if (elements <= 0) return again;
    const double share = all / elements;
    for (double& lines : again.source) lines *= share;
    for (double& lines : again.buffer) lines *= share;
    return again;
  }

 private:
  // As Plan has them: buffers first, then the tensors.
  void find_places(const Contraction& contraction, const ByTensor<std::optional<PackPlan>>& packs) {
    constexpr std::int64_t page = 4096;
    const std::int64_t element = size_of(contraction.type()).value();
    std::int64_t place = 0;
    for (ArrayId a : nest_.arrays().ids()) {
      if (!nest_.arrays().is_buffer(a)) continue;
      const PackPlan& pack = *packs[nest_.arrays().tensor_of(a)];
      if (a == pack_.buffer) buffer_at_ = place / element;
      place += (pack.capacity * element + page - 1) / page * page;
    }
    source_at_ = (place + tensor_places(contraction)[tensor_].value()) / element;
  }

  std::int64_t iterations(int d, const Tile& tile) const {
    const Step& s = nest_.step(d);
    return s.kind == Step::Kind::loop ? s.iterations(tile[s.group].size) : 1;
  }

  Tile whole() const {
    Tile tile;
    for (DimClass g : all_dim_classes) tile[g] = {0, nest_.path().extents[g]};
    return tile;
  }

  // Narrows to the n-th iteration of the loop at d.
  void enter(int d, std::int64_t n, Tile& tile) const {
    const Step& s = nest_.step(d);
    if (s.kind != Step::Kind::loop) return;
    Interval& range = tile[s.group];
    std::int64_t i = 0;
    while (n > 0 && s.head > 0 && i < s.head && i < range.size) i += s.tile_at(i, range.size), --n;
    i += n * s.tile;
    range = {range.begin + i, s.tile_at(i, range.size)};
  }

  std::int64_t number_of_copies() const {
    double copies = 1;
    for (DimClass g : all_dim_classes) copies *= static_cast<double>(nest_.tiles(depth_, g));
    return static_cast<std::int64_t>(std::min(copies, 1e9));
  }

  // Of few: all of them, in any order.
  Tile nth_tile(std::int64_t n) const {
    Tile tile = whole();
    const auto visit = [&](const auto& self, int d, Tile t) -> bool {
      if (d == depth_) {
        if (n-- > 0) return false;
        tile = t;
        return true;
      }
      const std::int64_t all = iterations(d, t);
      for (std::int64_t i = 0; i < all; ++i) {
        Tile inner = t;
        enter(d, i, inner);
        if (self(self, d + 1, inner)) return true;
      }
      return false;
    };
    visit(visit, 0, tile);
    return tile;
  }

  // Of many: spread over the loops. The n-th point of a sequence that fills a box evenly, of golden
  // ratios of as many dimensions.
  Tile some_tile(std::int64_t n) const {
    Tile tile = whole();
    double step = 0.6180339887498949;
    for (int d = 0; d < depth_; ++d) {
      if (nest_.step(d).kind != Step::Kind::loop) continue;
      const double x = 0.5 + step * static_cast<double>(n);
      const auto all = static_cast<double>(iterations(d, tile));
      enter(d, static_cast<std::int64_t>((x - std::floor(x)) * all), tile);
      step = step * 0.7548776662466927 + 0.1;
    }
    return tile;
  }

  double all_elements() const {
    double elements = 1;
    for (DimClass g : all_dim_classes) {
      if (g == pack_.rows || g == DimClass::k || nest_.path().follows(tensor_, g)) {
        elements *= static_cast<double>(nest_.path().extents[g]);
      } else {
        elements *= static_cast<double>(nest_.tiles(depth_, g));
      }
    }
    return elements;
  }

  // Levels that may lose a line of this copy.
  void choose_levels(const Tile& tile) {
    Extents e;
    for (DimClass g : all_dim_classes) e[g] = static_cast<double>(tile[g].size);
    lines_of_source_ = nest_.tensor_lines(tensor_, e);
    lines_of_buffer_ = nest_.buffer_lines(tensor_, e);
    levels_ = 0;
    for (const SetAssociative& shape : shapes_) {
      if (room_to_spare * (lines_of_source_ + lines_of_buffer_) < shape.lines()) break;
      ++levels_;
    }
    for (std::size_t l = 0; l < caches_.size(); ++l) caches_[l].clear();
    while (caches_.size() < levels_) caches_.emplace_back(shapes_[caches_.size()]);
  }

  // Returns the elements that were copied.
  double make(const Tile& tile, CopiedAgain& again, std::int64_t most) {
    double all = 1;
    for (DimClass g : {pack_.rows, DimClass::k}) all *= static_cast<double>(tile[g].size);
    if (pack_.places > 1) all *= static_cast<double>(tile[DimClass::batch].size);
    if (levels_ == 0) return all;
    find_offsets(tile);
    seen_source_.clear();
    seen_buffer_.clear();
    const std::size_t levels = again.source.size();
    std::vector<double> source(levels), buffer(levels);
    source_ = &source, buffer_ = &buffer;
    std::int64_t done = 0;
    for_each_block(pack_, tile, [&](std::span<const PackBlock> blocks) {
      if (done >= most) return;
      const std::int64_t start = start_;
      for_each_place(pack_, tile, batch_offsets_.data(), [&](std::int64_t from, std::int64_t to) {
        for (const PackBlock& b : blocks) done += b.rows * b.k_size;
        start_ = start + from;
        shift_ = to;
        if (blocks.size() > 1) {
          together(blocks);
        } else {
          alone(blocks.front());
        }
      });
      start_ = start;
    });
    const double scale = all / static_cast<double>(done);
    // Of a part, what comes back behind its end was counted as new for each time.
    const auto later = [&](const SeenLines& seen, double lines) {
      if (scale <= 1) return 0.0;
      return std::max(0.0, scale * static_cast<double>(seen.count()) - lines);
    };
    const double late_source = later(seen_source_, lines_of_source_);
    const double late_buffer = later(seen_buffer_, lines_of_buffer_);
    const auto touched = static_cast<double>(seen_source_.count() + seen_buffer_.count());
    for (std::size_t l = 0; l < levels_; ++l) {
      const bool lost = touched > shapes_[l].lines();
      again.source[l] += scale * source[l] + (lost ? late_source : 0);
      again.buffer[l] += scale * buffer[l] + (lost ? late_buffer : 0);
    }
    return all;
  }

  void find_offsets(const Tile& tile) {
    const auto table = [&](DimClass g, std::vector<std::int64_t>& offsets) {
      offsets.resize(static_cast<std::size_t>(tile[g].size));
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        offsets[i] =
            nest_.tile_lines(tensor_).place(g, tile[g].begin + static_cast<std::int64_t>(i));
      }
      first_[g] = tile[g].begin;
    };
    table(pack_.rows, row_offsets_);
    table(DimClass::k, k_offsets_);
    start_ = source_at_;
    for (DimClass g : all_dim_classes) {
      if (g != pack_.rows && g != DimClass::k && nest_.path().follows(tensor_, g)) {
        start_ += nest_.tile_lines(tensor_).place(g, tile[g].begin);
      }
    }
  }

  std::int64_t row_offset(std::int64_t row) const {
    return row_offsets_[static_cast<std::size_t>(row - first_[pack_.rows])];
  }
  std::int64_t k_offset(std::int64_t k) const {
    return k_offsets_[static_cast<std::size_t>(k - first_[DimClass::k])];
  }

  // The order of accesses is the simulator's (docs/simulator.md, "Order of accesses").
  void alone(const PackBlock& b) {
    if (pack_.along_rows) {
      for (std::int64_t k = b.k; k < b.k + b.k_size; ++k) {
        for (std::int64_t row = b.row; row < b.row + b.rows; ++row) read(row, k);
      }
    } else {
      for (std::int64_t row = b.row; row < b.row + b.rows; ++row) {
        for (std::int64_t k = b.k; k < b.k + b.k_size; ++k) read(row, k);
      }
    }
    write(b.destination, pack_.panel * b.k_size);
  }

  void together(std::span<const PackBlock> blocks) {
    for (std::int64_t p = 0; p < blocks.front().k_size; ++p) {
      for (std::int64_t r = 0; r < pack_.panel; ++r) {
        for (const PackBlock& b : blocks) {
          if (r < b.rows) read(b.row + r, b.k + p);
        }
      }
      for (const PackBlock& b : blocks) write(b.destination + p * pack_.panel, pack_.panel);
    }
  }

  void read(std::int64_t row, std::int64_t k) {
    const std::int64_t line = (start_ + row_offset(row) + k_offset(k)) >> line_bits_;
    if (line == last_) return;
    last_ = line;
    touch(line, seen_source_, *source_);
  }

  void write(std::int64_t first, std::int64_t count) {
    const std::int64_t begin = buffer_at_ + shift_ + first;
    for (std::int64_t line = begin >> line_bits_; line <= (begin + count - 1) >> line_bits_;
         ++line) {
      touch(line, seen_buffer_, *buffer_);
    }
    last_ = -1;
  }

  void touch(std::int64_t line, SeenLines& seen, std::vector<double>& again) {
    if (caches_[0].touch(line)) return;
    const bool is_new = seen.add(line);
    for (std::size_t l = 0;;) {
      if (!is_new) again[l] += 1;
      if (++l >= levels_ || caches_[l].touch(line)) return;
    }
  }

  const Nest& nest_;
  int depth_;
  TensorId tensor_;
  int line_bits_;  // of elements, of which a line has a power of two
  std::int64_t most_elements_;
  const std::vector<SetAssociative>& shapes_;
  PackPlan pack_;
  std::int64_t buffer_at_ = 0, source_at_ = 0;  // in elements
  // Of the copy that is made.
  std::vector<CountedCache> caches_;
  std::size_t levels_ = 0;  // that are looked at
  double lines_of_source_ = 0, lines_of_buffer_ = 0;
  std::vector<std::int64_t> row_offsets_, k_offsets_;
  ByGroup<std::int64_t> first_{};
  std::vector<std::int64_t> batch_offsets_;  // where there are several places of it
  std::int64_t start_ = 0, shift_ = 0, last_ = -1;
  SeenLines seen_source_, seen_buffer_;
  std::vector<double>*source_ = nullptr, *buffer_ = nullptr;
};

}  // namespace

CopiedAgain copied_again(const Contraction& contraction, const Schedule& schedule, const Nest& nest,
                         int depth, const std::vector<SetAssociative>& caches, Bytes line,
                         std::int64_t most_elements) {
  const Step& move = nest.step(depth);
  const DimClass rows = nest.path().rows_of(move.tensor);
  double largest = 1;  // copy
  for (DimClass g : {rows, DimClass::k, DimClass::batch}) {
    if (!nest.path().follows(move.tensor, g)) continue;
    double longest = 0;
    for (const Nest::Occurrence& r : nest.ranges(depth, g)) {
      longest = std::max(longest, static_cast<double>(r.size));
    }
    largest *= longest;
  }
  if (!nest.has_plan() || largest > largest_copy) {
    return {std::vector<double>(caches.size()), std::vector<double>(caches.size())};
  }
  return Copier(contraction, schedule, nest, depth, caches, line, most_elements).count();
}

}  // namespace tcsim
