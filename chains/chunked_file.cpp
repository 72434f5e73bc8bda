#include "chains/chunked_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "chains/rows.hpp"
#include "core/error.hpp"
#include "core/io/on_disk.hpp"
#include "core/stop.hpp"
#include "core/units/divisor.hpp"

namespace tcsim::chains {

using fusion::Range;

namespace {

std::int64_t down_to_page(std::int64_t place) { return place / Block::page * Block::page; }
std::int64_t up_to_page(std::int64_t place) { return down_to_page(place + Block::page - 1); }

// Calls move(an element) with the type of a tensor's.
template <class F>
void with_type(ElementType type, F&& move) {
  if (type == ElementType::f64) {
    move(double{});
  } else {
    move(float{});
  }
}

// Calls move(place, bytes) from one place in a file on, until `to` is reached or it moves nothing;
// where it came to.
template <class F>
std::int64_t moved_to(std::int64_t from, std::int64_t to, F&& move) {
  while (from < to) {
    const ssize_t moved = move(from, static_cast<std::size_t>(to - from));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) break;
    from += moved;
  }
  return from;
}

}  // namespace

ChunkedFile::ChunkedFile(const std::string& name, Layout layout, bool to_write)
    : name_(name),
      layout_(std::move(layout)),
      element_(size_of(layout_.type).value()),
      chunk_bytes_(product(layout_.chunk) * element_),
      written_(to_write) {
  const int access = (to_write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  file_ = ::open(name_.c_str(), access);
  if (file_ < 0) throw InputError(name_, "cannot be opened", "look at its rights");
  if (chunk_bytes_ >= least_straight) straight_ = ::open(name_.c_str(), access | O_DIRECT);
}

ChunkedFile::~ChunkedFile() {
  ::close(file_);
  if (straight_ >= 0) ::close(straight_);
}

void ChunkedFile::cannot_read() const {
  throw InputError(name_, "a tile cannot be read: the file is damaged or cut off",
                   "write it again");
}
void ChunkedFile::cannot_write() const {
  throw InputError(name_, "a tile cannot be written", "look at the room on its disk");
}

std::int64_t ChunkedFile::place_of(const std::vector<Range>& at) const {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::int64_t size = layout_.chunk[axis];
    number = number * ceil_div(layout_.extents[axis], size) + at[axis].begin / size;
  }
  return layout_.begin + number * chunk_bytes_;
}

std::vector<Range> ChunkedFile::chunk_of(const std::vector<Range>& at) const {
  std::vector<Range> chunk;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::int64_t size = layout_.chunk[axis];
    chunk.push_back({at[axis].begin / size * size, size});
  }
  return chunk;
}

bool ChunkedFile::is_all_of_chunk(const std::vector<Range>& at) const {
  const std::vector<Range> chunk = chunk_of(at);
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::int64_t there =
        std::min(chunk[axis].size, layout_.extents[axis] - chunk[axis].begin);
    if (at[axis].begin != chunk[axis].begin || at[axis].size != there) return false;
  }
  return true;
}

template <class F>
void ChunkedFile::for_each_chunk(const std::vector<Range>& at, F&& f) const {
  for_each_block(at, layout_.chunk, Extents(at.size(), 0), [&](const std::vector<Range>& part) {
    StopScope::heed();
    f(part, place_of(part));
  });
}

std::byte* ChunkedFile::kept() {
  if (!kept_) kept_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(chunk_bytes_));
  return kept_.get();
}

void ChunkedFile::keep(std::int64_t place) {
  if (kept_place_ == place) return;
  kept_place_ = -1;
  read_bytes(kept(), chunk_bytes_, place);
  kept_place_ = place;
}

void ChunkedFile::read(const std::vector<Range>& at, void* values) {
  const std::lock_guard lock(mutex_);
  for_each_chunk(at, [&](const std::vector<Range>& part, std::int64_t place) {
    keep(place);
    with_type(layout_.type, [&]<class T>(T) {
      copy_part(chunk_of(part), reinterpret_cast<const T*>(kept()), at, static_cast<T*>(values),
                part);
    });
  });
}

std::int64_t ChunkedFile::begin_in_chunk(const std::vector<Range>& part) const {
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < part.size(); ++axis) {
    const std::int64_t size = layout_.chunk[axis];
    place = place * size + part[axis].begin % size;
  }
  return place * element_;
}

std::int64_t ChunkedFile::end_in_chunk(const std::vector<Range>& part) const {
  std::vector<Range> last = part;
  for (Range& r : last) r = {r.begin + r.size - 1, 1};
  return begin_in_chunk(last) + element_;
}

void ChunkedFile::write_part(const std::vector<Range>& part, std::int64_t place,
                             const std::vector<Range>& tile, const void* values) {
  if (is_all_of_chunk(part)) {
    // What reaches over the tensor's end is zeros.
    std::fill_n(kept(), chunk_bytes_, std::byte{0});
  } else {
    keep(place);
  }
  kept_place_ = -1;  // until the file has it as well
  with_type(layout_.type, [&]<class T>(T) {
    copy_part(tile, static_cast<const T*>(values), chunk_of(part), reinterpret_cast<T*>(kept()),
              part);
  });
  const std::int64_t begin = begin_in_chunk(part);
  write_bytes(kept() + begin, end_in_chunk(part) - begin, place + begin);
  kept_place_ = place;
}

void ChunkedFile::write(const std::vector<Range>& at, const void* values) {
  const std::lock_guard lock(mutex_);
  for_each_chunk(at, [&](const std::vector<Range>& part, std::int64_t place) {
    write_part(part, place, at, values);
  });
}

void ChunkedFile::read(const std::vector<Range>& at, void* values, Block& room) {
  if (straight_ < 0) return read(at, values);
  for_each_chunk(at, [&](const std::vector<Range>& part, std::int64_t) {
    read_straight(part, room);
    with_type(layout_.type, [&]<class T>(T) {
      copy_part(room.ranges(), room.values_as<const T>(), at, static_cast<T*>(values), part);
    });
  });
}

void ChunkedFile::write(const std::vector<Range>& at, const void* values, Block& room) {
  for_each_chunk(at, [&](const std::vector<Range>& part, std::int64_t place) {
    if (!is_chunk(part)) {
      const std::lock_guard lock(mutex_);
      return write_part(part, place, at, values);
    }
    prepare(part, room);
    with_type(layout_.type, [&]<class T>(T) {
      copy_part(at, static_cast<const T*>(values), room.ranges(), room.values_as<T>(), part);
    });
    write_straight(part, room);
  });
}

void ChunkedFile::read_bytes(std::byte* to, std::int64_t size, std::int64_t place) const {
  const std::int64_t end = place + size;
  const auto move = [&](std::int64_t from, std::size_t bytes) {
    return ::pread(file_, to + (from - place), bytes, from);
  };
  if (moved_to(place, end, move) < end) cannot_read();
}

void ChunkedFile::write_bytes(const std::byte* from, std::int64_t size, std::int64_t place) const {
  const std::int64_t end = place + size;
  const auto move = [&](std::int64_t to, std::size_t bytes) {
    return ::pwrite(file_, from + (to - place), bytes, to);
  };
  if (moved_to(place, end, move) < end) cannot_write();
}

bool ChunkedFile::is_in_chunk(const std::vector<Range>& at) const {
  if (straight_ < 0) return false;
  const std::vector<Range> chunk = chunk_of(at);
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (at[axis].begin + at[axis].size > chunk[axis].begin + chunk[axis].size) return false;
  }
  return true;
}
bool ChunkedFile::is_chunk(const std::vector<Range>& at) const {
  return straight_ >= 0 && is_all_of_chunk(at);
}

void ChunkedFile::read_straight(const std::vector<Range>& at, Block& to) const {
  const std::int64_t place = place_of(at), end = place + end_in_chunk(at);
  to.lay_out(chunk_of(at), place % Block::page);
  // From page to page; at the file's end there is less.
  const auto move = [&](std::int64_t from, std::size_t bytes) {
    return ::pread(straight_, to.values() + (from - place), bytes, from);
  };
  if (moved_to(down_to_page(place), up_to_page(end), move) < end) {
    read_bytes(to.values(), end - place, place);
  }
}

void ChunkedFile::prepare(const std::vector<Range>& at, Block& block) const {
  block.lay_out(chunk_of(at), place_of(at) % Block::page);
  const std::int64_t end = end_in_chunk(at);
  if (elements_of(at) * element_ != end) std::fill_n(block.values(), end, std::byte{0});
}

void ChunkedFile::write_straight(const std::vector<Range>& at, const Block& from) {
  const std::int64_t place = place_of(at), end = place + end_in_chunk(at);
  {
    const std::lock_guard lock(mutex_);
    if (kept_place_ == place) kept_place_ = -1;
  }
  // Pages that chunks share go through the system's memory, where both find their place; so does
  // what cannot go straight.
  const std::int64_t begin = std::min(up_to_page(place), end);
  write_bytes(from.values(), begin - place, place);
  const auto move = [&](std::int64_t to, std::size_t bytes) {
    return ::pwrite(straight_, from.values() + (to - place), bytes, to);
  };
  const std::int64_t there = moved_to(begin, down_to_page(end), move);
  write_bytes(from.values() + (there - place), end - there, there);
}

void ChunkedFile::flush() {
  if (written_ && !on_disk(file_)) cannot_write();
}

}  // namespace tcsim::chains
