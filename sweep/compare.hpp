// Two folders of results, compared by what they mean: designs are the same where machine and knobs
// are, points where the workload is too, whatever their numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace tcsim {

struct ColumnDifference {
  std::string column;
  std::int64_t points = 0;  // that differ by more than the tolerance
  double largest = 0;       // |b / a - 1|; of texts 0
  std::string where;        // workload and design of the largest (of texts: of the first)
  std::string a, b;         // the values there
};

struct Comparison {
  std::vector<std::string> settings;        // "seed: 1, 2": of the two studies
  std::vector<std::string> only_a, only_b;  // columns
  std::int64_t common = 0;                  // points that both have
  std::int64_t points_only_a = 0, points_only_b = 0;
  std::vector<ColumnDifference> columns;  // that differ somewhere
  // The same points with the same figures; settings may differ.
  bool same() const {
    return columns.empty() && points_only_a == 0 && points_only_b == 0 && only_a.empty() &&
           only_b.empty();
  }
};

// `tolerance`: numbers that differ by no more of their size are the same. Throws InputError for a
// folder without results that this tcsim reads, and Interrupted.
Comparison compare_results(const std::filesystem::path& a, const std::filesystem::path& b,
                           double tolerance, std::stop_token stop = {});

}  // namespace tcsim
