#include "chains/levels/windows.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "chains/rows.hpp"

#ifdef TCSIM_HAS_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace tcsim::chains {

#ifdef TCSIM_HAS_MPI

using fusion::Range;

namespace {

// Of one message: MPI counts in int.
constexpr std::int64_t most_elements = std::int64_t{1} << 28;
constexpr std::size_t most_runs = std::size_t{1} << 16;

template <class T>
class Windows : public GlobalMemory<T> {
 public:
  using Tile = typename GlobalMemory<T>::Tile;

  Windows(const Processes& team, std::int64_t elements, bool direct)
      : GlobalMemory<T>(team.size()) {
    // Never of no bytes: some implementations give no window then.
    const auto bytes =
        std::max(static_cast<MPI_Aint>(elements * std::int64_t{sizeof(T)}), MPI_Aint{sizeof(T)});
    if (direct) {
      // Each process's piece begins at a page of its own, near the process.
      MPI_Info apart = MPI_INFO_NULL;
      MPI_Info_create(&apart);
      MPI_Info_set(apart, "alloc_shared_noncontig", "true");
      MPI_Win_allocate_shared(bytes, 1, apart, MPI_COMM_WORLD, &own_, &window_);
      MPI_Info_free(&apart);
      pieces_.resize(static_cast<std::size_t>(team.size()));
      for (int owner = 0; owner < team.size(); ++owner) {
        MPI_Aint size = 0;
        int unit = 0;
        MPI_Win_shared_query(window_, owner, &size, &unit,
                             &pieces_[static_cast<std::size_t>(owner)]);
      }
    } else {
      MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own_, &window_);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~Windows() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  void clear(const Tile& tile) override { std::fill_n(own_ + tile.begin, tile.piece, T{}); }

  void get(const Tile& tile, const std::vector<Range>& part, T* to) override {
    if (!pieces_.empty()) {
      return for_each_part(tile, part, [&](std::size_t owner, const Rows& r) {
        copy_rows(pieces_[owner] + r.place, r.distance, to + r.other, r.other_distance, r.length,
                  r.count);
      });
    }
    move(tile, part, [&](const Message& m) {
      MPI_Get(to + m.local, m.elements, type, m.owner, m.place, m.count, m.runs, window_);
    });
  }
  void put(const Tile& tile, const std::vector<Range>& part, const T* from) override {
    if (!pieces_.empty()) {
      return for_each_part(tile, part, [&](std::size_t owner, const Rows& r) {
        copy_rows(from + r.other, r.other_distance, pieces_[owner] + r.place, r.distance, r.length,
                  r.count);
      });
    }
    move(tile, part, [&](const Message& m) {
      MPI_Put(from + m.local, m.elements, type, m.owner, m.place, m.count, m.runs, window_);
    });
  }
  void add(const Tile& tile, const std::vector<Range>& part, const T* from) override {
    move(tile, part, [&](const Message& m) {
      MPI_Accumulate(from + m.local, m.elements, type, m.owner, m.place, m.count, m.runs, MPI_SUM,
                     window_);
    });
  }
  void fence() override {
    MPI_Win_flush_all(window_);
    MPI_Win_sync(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window_);
  }
  T* whole(const Tile&) override { return nullptr; }

 private:
  inline static const MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT;

  // Runs in one process's piece, and where they begin in the caller's memory.
  struct Message {
    int owner = 0;
    std::int64_t local = 0;
    int elements = 0;
    MPI_Aint place = 0;  // bytes in the owner's window
    int count = 0;       // of `runs`
    MPI_Datatype runs = MPI_DATATYPE_NULL;
  };

  // What is sent together: the same owner, neighbours in the caller's memory.
  struct Pending {
    int owner = -1;
    std::int64_t local = 0, elements = 0;
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
  };

  // Calls f(owner, rows) for rows of a part that one process has; their place is in its memory.
  template <class F>
  static void for_each_part(const Tile& tile, const std::vector<Range>& part, F&& f,
                            bool in_order = false) {
    for_each_rows(tile.at, part, part, in_order, [&](const Rows& rows) {
      const auto owner_of = [&](std::int64_t place) {
        return static_cast<std::size_t>(place / tile.piece);
      };
      Rows one = rows;
      const std::int64_t last = rows.place + (rows.count - 1) * rows.distance + rows.length - 1;
      if (owner_of(rows.place) == owner_of(last)) {
        one.place = tile.begin + rows.place % tile.piece;
        return f(owner_of(rows.place), std::as_const(one));
      }
      one.count = 1;
      for (std::int64_t r = 0; r < rows.count; ++r) {
        std::int64_t place = rows.place + r * rows.distance, left = rows.length;
        one.other = rows.other + r * rows.other_distance;
        while (left > 0) {
          const std::int64_t within = place % tile.piece;
          one.place = tile.begin + within;
          one.length = std::min(left, tile.piece - within);
          f(owner_of(place), std::as_const(one));
          place += one.length, one.other += one.length, left -= one.length;
        }
      }
    });
  }

  // The same for messages: f(owner, place in its memory, place in the caller's, length), row by
  // row, in order.
  template <class F>
  static void for_each_piece(const Tile& tile, const std::vector<Range>& part, F&& f) {
    for_each_part(
        tile, part,
        [&](std::size_t owner, const Rows& rows) {
          for (std::int64_t r = 0; r < rows.count; ++r) {
            std::int64_t place = rows.place + r * rows.distance;
            std::int64_t own = rows.other + r * rows.other_distance;
            for (std::int64_t left = rows.length; left > 0;) {
              const std::int64_t now = std::min(left, most_elements);
              f(owner, place, own, now);
              place += now, own += now, left -= now;
            }
          }
        },
        true);
  }

  template <class F>
  void move(const Tile& tile, const std::vector<Range>& part, F&& send) {
    Pending pending;
    for_each_piece(tile, part, [&](std::size_t owner, auto at, auto local, auto length) {
      if (static_cast<int>(owner) != pending.owner || pending.places.size() == most_runs ||
          pending.elements + length > most_elements) {
        flush(pending, send);
        pending.owner = static_cast<int>(owner);
        pending.local = local;
      }
      pending.lengths.push_back(static_cast<int>(length));
      pending.places.push_back(static_cast<MPI_Aint>(at * std::int64_t{sizeof(T)}));
      pending.elements += length;
    });
    flush(pending, send);
    MPI_Win_flush_all(window_);
  }

  template <class F>
  static void flush(Pending& pending, F&& send) {
    if (pending.elements == 0) return;
    Message m{pending.owner, pending.local, static_cast<int>(pending.elements), 0, 1, type};
    if (pending.places.size() == 1) {
      m.place = pending.places.front();
      m.count = m.elements;
      send(m);
    } else {
      MPI_Type_create_hindexed(static_cast<int>(pending.places.size()), pending.lengths.data(),
                               pending.places.data(), type, &m.runs);
      MPI_Type_commit(&m.runs);
      send(m);
      MPI_Type_free(&m.runs);
    }
    pending.elements = 0;
    pending.lengths.clear();
    pending.places.clear();
  }

  T* own_ = nullptr;
  std::vector<T*> pieces_;  // of all processes, where each can reach into them
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

template <class T>
std::unique_ptr<GlobalMemory<T>> windows(const Processes& team, std::int64_t elements,
                                         bool direct) {
  return std::make_unique<Windows<T>>(team, elements, direct);
}

#else

template <class T>
std::unique_ptr<GlobalMemory<T>> windows(const Processes&, std::int64_t, bool) {
  throw std::logic_error("there is one process");
}

#endif

template std::unique_ptr<GlobalMemory<float>> windows(const Processes&, std::int64_t, bool);
template std::unique_ptr<GlobalMemory<double>> windows(const Processes&, std::int64_t, bool);

}  // namespace tcsim::chains
