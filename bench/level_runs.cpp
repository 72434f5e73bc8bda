#include "bench/level_runs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "chains/tensor_files.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/fusion/leaf.hpp"
#include "core/levels/vary.hpp"
#include "core/model/countable.hpp"
#include "core/statistics.hpp"
#include "kernels/contract.hpp"

namespace tcsim::bench {

namespace fs = std::filesystem;
using levels::Hierarchy;
using levels::Homes;
using levels::LevelPlan;
using levels::OperationTree;

namespace {

// Intermediates of which all homes are looked at.
constexpr std::size_t few_intermediates = 2;

std::vector<std::size_t> intermediates(const OperationTree& tree) {
  std::vector<std::size_t> of;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    if (tree.arrays[a].is_intermediate()) of.push_back(a);
  }
  return of;
}

// From all through the disk inward.
std::vector<Homes> homes_to_run(const OperationTree& tree, const Hierarchy& h) {
  const std::vector<std::size_t> of = intermediates(tree);
  const Homes apart = levels::unfused(tree, h);
  std::vector<Homes> all;
  if (of.size() > few_intermediates) {
    for (int home = h.links(); home >= 0; --home) {
      all.push_back(apart);
      for (std::size_t a : of) all.back()[a] = home;
    }
    return all;
  }
  Homes homes = apart;
  for (bool more = true; more;) {
    all.push_back(homes);
    more = false;
    for (std::size_t a : of) {
      if (--homes[a] >= 0) {
        more = true;
        break;
      }
      homes[a] = h.links();
    }
  }
  return all;
}

std::string name_of(const OperationTree& tree, const Hierarchy& h, const LevelPlan& plan) {
  return plan.homes == levels::unfused(tree, h) ? "unfused" : levels::homes_text(tree, h, plan);
}

template <class F>
Seconds least(const LevelProgram& program, F&& of) {
  std::optional<Seconds> found;
  for (const chains::LevelRun& run : program.runs) {
    const Seconds one = of(run);
    if (!found || one < *found) found = one;
  }
  return found.value_or(Seconds(0));
}

// What is read comes from the disk.
void forget_inputs(const OperationTree& tree, const fs::path& folder) {
  for (int a = 0; a < static_cast<int>(tree.arrays.size()); ++a) {
    if (tree.array(a).producer >= 0) continue;
    const fs::path file = chains::file_of(folder, tree, a);
    if (!fs::exists(file)) continue;
    chains::TensorFile::open(file, tree.extents(a), fusion::element_type(tree)).forget();
  }
}

}  // namespace

bool LevelProgram::as_predicted() const {
  return simulated == plan.counts && std::ranges::all_of(runs, [&](const chains::LevelRun& run) {
           return run.counts == plan.counts;
         });
}
Seconds LevelProgram::link(int inner) const {
  return least(*this, [&](const auto& run) { return run.links[static_cast<std::size_t>(inner)]; });
}
Seconds LevelProgram::arithmetic() const {
  return least(*this, [](const auto& run) { return run.arithmetic; });
}
Seconds LevelProgram::total() const {
  return least(*this, [](const auto& run) { return run.total; });
}

std::vector<LevelProgram> ways_to_run(const OperationTree& tree, const Hierarchy& hierarchy) {
  std::vector<LevelProgram> programs;
  const LevelPlan best = levels::optimum(tree, hierarchy).plan;
  for (const Homes& homes : homes_to_run(tree, hierarchy)) {
    if (homes == best.homes) continue;
    levels::OptimumOptions options;
    options.homes = homes;
    try {
      const LevelPlan plan = levels::optimum(tree, hierarchy, options).plan;
      programs.push_back({name_of(tree, hierarchy, plan), plan, {}, {}});
    } catch (const TooLargeError&) {
      throw;
    } catch (const UnsupportedError&) {
      // There is no room for it.
    }
  }
  programs.push_back({name_of(tree, hierarchy, best), best, {}, {}});
  for (LevelProgram& p : programs) {
    p.simulated = levels::simulate(tree, hierarchy, p.plan.node);
  }
  return programs;
}

void run_in_turns(const OperationTree& tree, const Hierarchy& hierarchy,
                  std::vector<LevelProgram>& programs, const Processes& team,
                  const fs::path& folder, int repetitions) {
  const auto folder_of = [&](std::size_t p) { return folder / fmt::format("way{}", p + 1); };
  const auto remove = [&] {
    if (team.rank() != 0) return;
    std::error_code ignored;
    for (std::size_t p = 0; p < programs.size(); ++p) fs::remove_all(folder_of(p), ignored);
  };
  const Machine machine = assumed_machine();
  try {
    // The first one makes inputs, which the system knows then.
    for (int r = 0; r <= repetitions; ++r) {
      for (std::size_t p = 0; p < programs.size(); ++p) {
        chains::LevelRunOptions options;
        options.folder = folder_of(p);
        options.fill = options.force = true;
        team.on_first([&] {
          fs::create_directories(options.folder);
          forget_inputs(tree, options.folder);
          ::sync();  // what the program before it wrote and removed is the disk's work until then
        });
        chains::LevelRun run =
            chains::run_levels(tree, hierarchy, programs[p].plan.node, machine, team, options);
        if (r > 0) programs[p].runs.push_back(std::move(run));
      }
    }
  } catch (...) {
    remove();
    throw;
  }
  remove();
}

double longer_by(const LevelProgram& one, const LevelProgram& other) {
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < one.runs.size(); ++turn) {
    ratios.push_back(one.runs[turn].total / other.runs[turn].total);
  }
  return median(std::move(ratios)) - 1;
}
const LevelProgram& quickest(const std::vector<LevelProgram>& programs,
                             const LevelProgram& chosen) {
  return *std::ranges::max_element(programs, {}, [&](const LevelProgram& p) {
    return &p == &chosen ? 0 : longer_by(chosen, p);
  });
}
double at_stake(const std::vector<LevelProgram>& programs) {
  const LevelProgram& best = quickest(programs, programs.back());
  double most = 0;
  for (const LevelProgram& p : programs) most = std::max(most, longer_by(p, best));
  return most;
}

}  // namespace tcsim::bench
