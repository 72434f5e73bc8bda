#include "cli/onnx_suite.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/stop.hpp"

extern char** environ;

namespace tcsim::cli {

namespace {

struct Output {
  int status = 127;  // exit code; 127: it could not be started
  std::string text;
};

Output output_of(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&files, ends[0]);
  posix_spawn_file_actions_addclose(&files, ends[1]);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  Output out;
  if (error == 0) {
    std::array<char, 4096> piece{};
    for (ssize_t n = 0; (n = read(ends[0], piece.data(), piece.size())) != 0;) {
      if (n < 0 && errno != EINTR) break;
      if (n > 0) out.text.append(piece.data(), static_cast<std::size_t>(n));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 126;
  }
  close(ends[0]);
  StopScope::heed();
  return out;
}

// What the module says of a model that it does not take, under the same kinds of errors.
[[noreturn]] void refuse(const nlohmann::json& error) {
  const auto text = [&](const char* key) { return error.at(key).get<std::string>(); };
  if (text("error") == "InputError") {
    throw InputError(text("place"), text("problem"), text("mend"));
  }
  if (text("error") == "UnsupportedError") {
    throw UnsupportedError(text("place"), text("problem"), text("mend"));
  }
  throw UsageError(text("place"), text("problem"), text("mend"));
}

}  // namespace

OnnxSuite read_onnx(const std::string& model, const std::string& dims) {
  const char* const named = std::getenv("TCSIM_PYTHON");
  const std::string python = named != nullptr && *named != '\0' ? named : "python3";
  const Output out = output_of({python, "-m", "tcsim", "from-onnx", model, dims});
  const auto json = nlohmann::json::parse(out.text, nullptr, false);
  if (!json.is_object()) {
    throw UnsupportedError(
        "--from",
        fmt::format(
            "{} has no module tcsim that reads models ({})", python,
            out.status == 127 ? "it is not there" : fmt::format("exit code {}", out.status)),
        "install both: 'pip install .' in tcsim's tree and 'pip install onnx', or "
        "set TCSIM_PYTHON to an interpreter that has them");
  }
  if (json.contains("error")) refuse(json);
  OnnxSuite all{parse_suite(json.at("toml").get<std::string>(), model), {}, {}};
  for (const auto& count : json.at("counts")) all.counts.push_back(count.get<int>());
  for (const auto& [what, count] : json.at("left_out").items()) {
    all.left_out.emplace_back(what, count.get<int>());
  }
  return all;
}

}  // namespace tcsim::cli
