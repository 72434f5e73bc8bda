// What tiles of explicit levels take in a run beyond their bytes: room for them, and starting a
// statement on them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/fusion/operation_tree.hpp"
#include "core/units/quantity.hpp"
#include "processes/processes.hpp"

namespace tcsim::bench {

// C[i,j] += A[i,k] * B[k,j] as a chain, in f64.
fusion::OperationTree product_chain(std::int64_t rows);

// By transfer between a process and the level that all share, of the busiest process; in each
// repetition, before which `step` is called. A product is run by many small tiles and by few; what
// differs counts, without the bytes at `bandwidth` and without `row` for each row. Collective. Files in a folder below `folder`
// are gone afterwards. Throws as chains::run_levels().
std::vector<Seconds> small_tile_times(const Processes& team, const std::filesystem::path& folder,
                                      int repetitions, BytesPerSecond bandwidth, Seconds row,
                                      const std::function<void()>& step);

}  // namespace tcsim::bench
