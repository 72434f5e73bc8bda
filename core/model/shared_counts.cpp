#include "core/model/shared_counts.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace tcsim {

namespace {

// Of each kind; they take some kilobytes each. All are forgotten then. Source: chosen.
constexpr std::size_t most_known = 4096;

template <class T, class F>
const T& recall(std::unordered_map<std::string, T>& known, std::string key, F&& count) {
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() >= most_known) known.clear();
  return known.emplace(std::move(key), count()).first->second;
}

std::string key_of(const Contraction& c, const Schedule& schedule, Bytes line) {
  return fmt::format("{} {} {} {} line {}\n{}", c.label(), c.sizes(), to_text(c.layout()),
                     to_text(c.type()), line.value(), to_text(schedule, c));
}

void add(std::string& key, const SetAssociative& cache) {
  fmt::format_to(std::back_inserter(key), " {}x{}", cache.sets, cache.ways);
}

}  // namespace

const std::optional<CountedPieces>& SharedCounts::pieces(const Contraction& contraction,
                                                         const Schedule& schedule, const Nest& nest,
                                                         const SetAssociative& cache, Bytes line) {
  std::string key = key_of(contraction, schedule, line);
  add(key, cache);
  return recall(pieces_, std::move(key),
                [&] { return count_pieces(contraction, schedule, nest, cache, line); });
}

const std::optional<CountedLines>& SharedCounts::leaves(const Contraction& contraction,
                                                        const Schedule& schedule, const Nest& nest,
                                                        int leaf, const LeafCaches& caches,
                                                        Bytes line) {
  std::string key = key_of(contraction, schedule, line);
  fmt::format_to(std::back_inserter(key), " {} {}", leaf, caches.exclusive);
  add(key, caches.inside);
  add(key, caches.cache);
  return recall(leaves_, std::move(key),
                [&] { return count_leaves(contraction, schedule, nest, leaf, caches, line); });
}

const CopiedAgain& SharedCounts::copied(const Contraction& contraction, const Schedule& schedule,
                                        const Nest& nest, int depth,
                                        const std::vector<SetAssociative>& caches, Bytes line) {
  std::string key = key_of(contraction, schedule, line);
  fmt::format_to(std::back_inserter(key), " {}", depth);
  for (const SetAssociative& cache : caches) add(key, cache);
  return recall(copied_, std::move(key),
                [&] { return copied_again(contraction, schedule, nest, depth, caches, line); });
}

}  // namespace tcsim
