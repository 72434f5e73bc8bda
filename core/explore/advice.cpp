#include "core/explore/advice.hpp"

#include "core/error.hpp"

namespace tcsim {

Advice advice(const Contraction& contraction, const Machine& machine,
              const ExploreOptions& options) {
  Advice a{elasticities(contraction, machine, options), {}, {}, ""};
  if (!a.elasticities.complete) throw Interrupted();
  a.next = next_crossover(contraction, machine, a.elasticities, options);
  a.caches = larger_caches(contraction, machine, a.elasticities, options);
  if (options.stop.stop_requested()) throw Interrupted();
  a.words = help_words(machine, a.elasticities, a.next, a.caches);
  return a;
}

}  // namespace tcsim
