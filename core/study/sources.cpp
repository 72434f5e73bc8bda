// Where names in a study lead: shipped ones, and files beside the study.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/machine/toml.hpp"
#include "core/study/study.hpp"
#include "core/units/nearest.hpp"
#include "core/workload/program.hpp"
#include "core/workload/request.hpp"
#include "core/workload/suite.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
  return read_file(file, "name a file that is there and readable");
}

}  // namespace

StudySources shipped_sources(const fs::path& study_file) {
  const fs::path folder = study_file.parent_path();
  const auto beside = [folder](const std::string& name) {
    std::error_code ignored;
    return fs::is_regular_file(folder / name, ignored) ? (folder / name).string() : name;
  };
  StudySources s;
  s.machine = [beside](const std::string& name) { return find_machine(beside(name)); };
  s.workloads = [beside](const std::string& name) {
    if (is_program_file(name)) return find_workloads({beside(name), "", {}, {}});
    const auto colon = name.rfind(':');
    const std::string number = colon == name.npos ? "" : name.substr(colon + 1);
    const bool numbered = !number.empty() && number.size() < 7 &&
                          number.find_first_not_of("0123456789") == number.npos;
    const Suite suite = find_suite(beside(numbered ? name.substr(0, colon) : name));
    if (!numbered) return suite.workloads;
    const std::size_t n = std::stoul(number);
    if (n < 1 || n > suite.workloads.size()) {
      throw UsageError(name, fmt::format("suite {} has no workload {}", suite.name, n),
                       fmt::format("use {0}:1 to {0}:{1}", suite.name, suite.workloads.size()));
    }
    return std::vector<Contraction>{suite.workloads[n - 1]};
  };
  s.chains = [beside](fusion::ChainRequest request) {
    // A suite's file may have a number behind it.
    const auto colon = request.name.rfind(':');
    const std::string number = colon == request.name.npos ? "" : request.name.substr(colon);
    const std::string file =
        number.empty() ? request.name : request.name.substr(0, request.name.size() - number.size());
    request.name = beside(file) + number;
    return fusion::find_chains(request);
  };
  s.cost_model = [beside](const std::string& name) {
    const std::string file = beside(name);
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return text_of(file);
    const fs::path shipped = data_dir() / "data" / "costs" / (name + ".toml");
    if (fs::is_regular_file(shipped, ignored)) return text_of(shipped);
    std::vector<std::string> names;
    if (fs::is_directory(shipped.parent_path(), ignored)) {
      for (const auto& e : fs::directory_iterator(shipped.parent_path())) {
        names.push_back(e.path().stem().string());
      }
    }
    std::sort(names.begin(), names.end());
    throw UsageError("'" + name + "'", "no such cost model", one_of(name, names));
  };
  return s;
}

}  // namespace tcsim
