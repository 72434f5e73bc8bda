#include "chains/journal.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/io/new_file.hpp"
#include "core/io/read_file.hpp"

namespace tcsim::chains {

namespace fs = std::filesystem;

namespace {

constexpr const char* name = "tcsim-run.json";

}  // namespace

Journal::Journal(const fs::path& folder, std::string schedule)
    : file_(folder / name), schedule_(std::move(schedule)) {}

bool Journal::is_there() const { return fs::exists(file_); }

bool Journal::is_of_schedule() const {
  try {
    done();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

int Journal::done() const {
  const auto fail = [&](const std::string& problem) {
    throw InputError(file_.string(), problem, "begin again, with --force");
  };
  const auto json = nlohmann::json::parse(read_file(file_, "run without --resume"), nullptr, false);
  const auto done = json.find("done"), schedule = json.find("schedule");
  const bool whole = json.is_object() && done != json.end() && done->is_number_integer() &&
                     schedule != json.end() && schedule->is_string();
  if (!whole) fail("this says nothing of a run");
  if (*schedule != schedule_) fail("the run that ended here had another schedule");
  return done->get<int>();
}

int Journal::done_before(bool resume, int parts) const {
  const fs::path folder = file_.parent_path();
  if (!fs::is_directory(folder)) {
    throw InputError(folder.string(), "is no folder", "make it, and put the inputs there");
  }
  if (!resume) return 0;
  if (!is_there()) throw InputError(folder.string(), "no run ended here", "leave --resume out");
  return std::clamp(done(), 0, parts);
}

void Journal::note(int done) const {
  try {
    replace_file(file_, nlohmann::json{{"schedule", schedule_}, {"done", done}}.dump() + "\n");
  } catch (const std::system_error& e) {
    throw InputError(file_.string(), "cannot be written: " + e.code().message(),
                     mend_of_writing(e.code().value(), "see that the folder is writable"));
  }
}

void Journal::remove() const { fs::remove(file_); }

}  // namespace tcsim::chains
