#include "sim/system.hpp"

namespace tcsim::sim {

LevelEvents& LevelEvents::operator+=(const LevelEvents& o) {
  hits += o.hits;
  misses += o.misses;
  victim_hits += o.victim_hits;
  fetches += o.fetches;
  prefetches += o.prefetches;
  useful_prefetches += o.useful_prefetches;
  fills += o.fills;
  evictions += o.evictions;
  invalidations += o.invalidations;
  write_backs += o.write_backs;
  clean_victims += o.clean_victims;
  writes_through += o.writes_through;
  bytes_in += o.bytes_in;
  bytes_out += o.bytes_out;
  return *this;
}

}  // namespace tcsim::sim
