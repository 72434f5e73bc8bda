#include "sweep/ranks.hpp"

#include <stdexcept>

#ifdef TCSIM_HAS_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>
#include <thread>
#endif

namespace tcsim {

Ranks& Ranks::all() {
  static Ranks ranks;
  return ranks;
}

Ranks::Ranks() : processes_(Processes::all()) {
  if (size() > 1 && !processes_.from_any_thread()) {
    throw std::runtime_error("this MPI allows no threads; start one process a core without it");
  }
}

#ifdef TCSIM_HAS_MPI

namespace {

enum Tag { tag_request = 1, tag_chain, tag_result, tag_finished };

std::string received(const MPI_Status& status) {
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return bytes;
}

void send_bytes(const std::string& bytes, int to, int tag) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

}  // namespace

bool Ranks::go(bool there_is_work) {
  int word = there_is_work ? 1 : 0;
  if (size() > 1) MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return word != 0;
}

std::string Ranks::serve(const std::function<std::int64_t()>& next,
                         const std::function<void(const std::string&)>& accept) {
  std::string error;
  for (int left = size() - 1; left > 0;) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (there == 0) {
      // The core is for those who compute.
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    const std::string bytes = received(status);
    if (status.MPI_TAG == tag_request) {
      const std::int64_t chain = next();
      MPI_Send(&chain, 1, MPI_INT64_T, status.MPI_SOURCE, tag_chain, MPI_COMM_WORLD);
    } else if (status.MPI_TAG == tag_result) {
      accept(bytes);
    } else {
      --left;
      if (error.empty()) error = bytes;
    }
  }
  return error;
}

std::int64_t Ranks::request() {
  send_bytes("", 0, tag_request);
  // Not MPI_Recv at once, which would keep a core busy while it waits.
  for (int there = 0; there == 0;) {
    MPI_Iprobe(0, tag_chain, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  std::int64_t chain = -1;
  MPI_Recv(&chain, 1, MPI_INT64_T, 0, tag_chain, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return chain;
}

void Ranks::send(const std::string& result) { send_bytes(result, 0, tag_result); }
void Ranks::finished(const std::string& error) { send_bytes(error, 0, tag_finished); }

#else

bool Ranks::go(bool there_is_work) { return there_is_work; }
std::string Ranks::serve(const std::function<std::int64_t()>&,
                         const std::function<void(const std::string&)>&) {
  return "";
}
std::int64_t Ranks::request() { return -1; }
void Ranks::send(const std::string&) { throw std::logic_error("there is one rank"); }
void Ranks::finished(const std::string&) { throw std::logic_error("there is one rank"); }

#endif

}  // namespace tcsim
