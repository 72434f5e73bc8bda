#include "processes/processes.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/error.hpp"

#ifdef TCSIM_HAS_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace tcsim {

const Processes& Processes::all() {
  static const Processes processes;
  return processes;
}

#ifdef TCSIM_HAS_MPI

namespace {

enum Failure { none, usage, input, unsupported, interrupted, other };

// What was thrown, as lines.
struct Failed {
  Failure kind = none;
  std::string place, problem, mend;

  std::string text() const {
    return std::to_string(static_cast<int>(kind)) + "\n" + place + "\n" + problem + "\n" + mend;
  }
  static Failed of(const std::string& text) {
    std::vector<std::string> parts(1);
    for (char c : text) {
      if (c == '\n' && parts.size() < 4) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    parts.resize(4);
    return {static_cast<Failure>(std::atoi(parts[0].c_str())), parts[1], parts[2], parts[3]};
  }
  void raise() const {
    switch (kind) {
      case none:
        return;
      case usage:
        throw UsageError(place, problem, mend);
      case input:
        throw InputError(place, problem, mend);
      case unsupported:
        throw UnsupportedError(place, problem, mend);
      case interrupted:
        throw Interrupted();
      case other:
        throw std::runtime_error(problem);
    }
  }
};

Failed failure_of(const std::function<void()>& work) {
  const auto as = [](Failure kind, const Error& e) {
    return Failed{kind, e.place(), e.problem(), e.mend()};
  };
  try {
    work();
  } catch (const UsageError& e) {
    return as(usage, e);
  } catch (const InputError& e) {
    return as(input, e);
  } catch (const UnsupportedError& e) {
    return as(unsupported, e);
  } catch (const Interrupted&) {
    return {interrupted, "", "", ""};
  } catch (const std::exception& e) {
    return {other, "", e.what(), ""};
  }
  return {};
}

// What launchers of MPI programs leave in the environment.
bool is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace

Processes::Processes() {
  if (!is_launched()) return;
  int before = 0;
  MPI_Initialized(&before);
  if (before == 0) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    started_ = true;
  }
  int threads = 0;
  MPI_Query_thread(&threads);
  from_any_thread_ = threads >= MPI_THREAD_SERIALIZED;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_this_node_);
  MPI_Comm_free(&node);
}

Processes::~Processes() {
  if (started_) MPI_Finalize();
}

void Processes::barrier() const {
  if (size_ > 1) MPI_Barrier(MPI_COMM_WORLD);
}

bool Processes::same(const std::string& text) const {
  if (size_ == 1) return true;
  const std::uint64_t mine = std::hash<std::string>()(text);
  std::uint64_t least = 0, most = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

std::vector<std::vector<std::int64_t>> Processes::gathered(
    const std::vector<std::int64_t>& mine) const {
  if (size_ == 1) return {mine};
  const int each = static_cast<int>(mine.size());
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(size_));
  MPI_Allgather(mine.data(), each, MPI_INT64_T, all.data(), each, MPI_INT64_T, MPI_COMM_WORLD);
  std::vector<std::vector<std::int64_t>> by_rank;
  for (auto begin = all.begin(); begin != all.end(); begin += each) {
    by_rank.emplace_back(begin, begin + each);
  }
  return by_rank;
}

void Processes::on_each(const std::function<void()>& work) const {
  if (size_ == 1) return work();
  const Failed mine = failure_of(work);
  int failed = mine.kind == none ? size_ : rank_, first = size_;
  MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == size_) return;
  std::string text = mine.text();
  int size = static_cast<int>(text.size());
  MPI_Bcast(&size, 1, MPI_INT, first, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), size, MPI_CHAR, first, MPI_COMM_WORLD);
  Failed::of(text).raise();
}

void Processes::end(const std::string& message, int exit_code) const {
  std::fprintf(stderr, "tcsim: process %d of %d: %s\n", rank_, size_, message.c_str());
  std::fflush(stderr);
  if (size_ > 1) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

#else

Processes::Processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* processes = std::getenv(name);
    if (processes == nullptr || std::atoi(processes) < 2) continue;
    throw UnsupportedError("mpirun", "this tcsim was built without MPI, so each process is alone",
                           "install libopenmpi-dev and openmpi-bin and build again");
  }
}
Processes::~Processes() = default;
void Processes::barrier() const {}
bool Processes::same(const std::string&) const { return true; }
std::vector<std::vector<std::int64_t>> Processes::gathered(
    const std::vector<std::int64_t>& mine) const {
  return {mine};
}
void Processes::on_each(const std::function<void()>& work) const { work(); }
void Processes::end(const std::string& message, int exit_code) const {
  std::fprintf(stderr, "tcsim: %s\n", message.c_str());
  std::_Exit(exit_code);
}

#endif

void Processes::on_first(const std::function<void()>& work) const {
  on_each([&] {
    if (rank_ == 0) work();
  });
}

}  // namespace tcsim
