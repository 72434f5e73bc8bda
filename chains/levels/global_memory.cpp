#include "chains/levels/global_memory.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

#include "chains/levels/windows.hpp"
#include "chains/rows.hpp"
#include "core/units/quantity.hpp"
#include "kernels/memory.hpp"

namespace tcsim::chains {

using fusion::Range;

template <class T>
typename GlobalMemory<T>::Tile GlobalMemory<T>::open(std::vector<Range> at) {
  Tile tile{std::move(at), used_, 0};
  tile.piece = piece(elements_of(tile.at), processes_);
  used_ += tile.piece;
  return tile;
}

template <class T>
void GlobalMemory<T>::close(const Tile& tile) {
  assert(tile.begin + tile.piece == used_);
  used_ = tile.begin;
}

namespace {

template <class T>
class OwnMemory : public GlobalMemory<T> {
 public:
  using Tile = typename GlobalMemory<T>::Tile;

  explicit OwnMemory(std::int64_t elements)
      : GlobalMemory<T>(1), memory_(Bytes(elements * static_cast<std::int64_t>(sizeof(T)))) {}

  void clear(const Tile& tile) override { std::fill_n(whole(tile), tile.piece, T{}); }
  void get(const Tile& tile, const std::vector<Range>& part, T* to) override {
    copy_out(tile.at, part, whole(tile), to);
  }
  void put(const Tile& tile, const std::vector<Range>& part, const T* from) override {
    copy_in(tile.at, part, whole(tile), from);
  }
  void add(const Tile& tile, const std::vector<Range>& part, const T* from) override {
    T* to = whole(tile);
    for_each_rows(tile.at, part, part, true, [&](const Rows& rows) {
      for (std::int64_t r = 0; r < rows.count; ++r) {
        T* row = to + rows.place + r * rows.distance;
        for (std::int64_t i = 0; i < rows.length; ++i) row[i] += *from++;
      }
    });
  }
  void fence() override {}
  T* whole(const Tile& tile) override { return reinterpret_cast<T*>(memory_.data()) + tile.begin; }

 private:
  Memory memory_;
};

}  // namespace

template <class T>
std::unique_ptr<GlobalMemory<T>> global_memory(const Processes& team, std::int64_t elements) {
  if (team.size() == 1) return std::make_unique<OwnMemory<T>>(elements);
  // Those of one computer reach into each other's memory.
  return windows<T>(team, elements, team.on_this_node() == team.size());
}

template class GlobalMemory<float>;
template class GlobalMemory<double>;
template std::unique_ptr<GlobalMemory<float>> global_memory(const Processes&, std::int64_t);
template std::unique_ptr<GlobalMemory<double>> global_memory(const Processes&, std::int64_t);

}  // namespace tcsim::chains
