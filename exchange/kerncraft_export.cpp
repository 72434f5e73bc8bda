// Machines as machine files of kerncraft.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error.hpp"
#include "exchange/draft.hpp"
#include "exchange/kerncraft.hpp"
#include "exchange/pycachesim.hpp"

namespace tcsim::exchange {

namespace {

// The version of the form that is written here.
constexpr const char* kerncraft_version = "0.8.11";

// kerncraft reads no exponents, and "T" as 10^13: write all in base units.
std::string plain_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find('e') == text.npos) return text;
  // Seventeen significant digits read back as the same number.
  const int decimals = std::max(0, 17 - static_cast<int>(std::floor(std::log10(value))));
  text = fmt::format("{:.{}f}", value, decimals);
  if (decimals == 0) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

// A level's name as a key or value; quoted unless nothing in YAML could take it for something else.
std::string scalar(const std::string& name) {
  const bool plain = name.size() > 1 && name[0] == 'L' &&
                     name.find_first_not_of("0123456789", 1) == std::string::npos;
  return plain ? name : quoted(name);
}

// One kernel and one working set for each number of cores: all that a table of kerncraft has room
// for.
struct Column {
  int cores = 0;
  Bytes working_set;
  std::map<AccessMix, const BandwidthSeries*> series;
};

class Writer {
 public:
  explicit Writer(const Machine& machine)
      : m_(machine), caches_(caches_and_one_memory(machine, "kerncraft")) {
    const Level& last = machine.levels.back();
    if (last.kind != LevelKind::memory) {
      throw UnsupportedError(fmt::format("{}: {}", machine.name, last.name),
                             fmt::format("kerncraft has no place for a {}", to_text(last.kind)),
                             "export a machine of caches and one memory");
    }
    choose_kernels();
  }

  Exported write() {
    head();
    hierarchy();
    benchmarks();
    losses();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> form, Args&&... args) {
    out_.text += fmt::format(form, std::forward<Args>(args)...) + "\n";
  }
  void lost(const std::string& what) { out_.lost.push_back(what); }

  void head() {
    int cores = 1;
    for (const Level& l : m_.levels) cores = std::max(cores, l.shared_by);
    const std::string todo = "INFORMATION_REQUIRED";
    line("kerncraft version: {}", kerncraft_version);
    line("model name: {}", quoted(m_.description.empty() ? m_.name : m_.description));
    line("model type: {0}\nisa: {0}", todo);
    line("clock: {} Hz", plain_number(m_.core.frequency.value.value()));
    line("sockets: 1\ncores per socket: {0}\nthreads per core: 1", cores);
    line("NUMA domains per socket: 1\ncores per NUMA domain: {}", cores);
    line("FLOPs per cycle:");
    for (const auto& [name, bits] : {std::pair("SP", 32), std::pair("DP", 64)}) {
      const double fma = 2.0 * m_.core.vector_bits.value / bits * m_.core.fma_per_cycle.value;
      line("  {0}: {{total: {1}, FMA: {1}, ADD: {2}, MUL: {2}}}", name, plain_number(fma),
           plain_number(fma / 2));
    }
    line("in-core model: !!omap\n- OSACA: {}", todo);
    // The only place that tells how wide the vectors are.
    const int bits = m_.core.vector_bits.value;
    line("compiler: !!omap\n- gcc: -O3 {}", bits >= 512   ? "-mavx512f -mfma"
                                            : bits == 256 ? "-mavx2 -mfma"
                                                          : "-msse2");
    for (const char* model : {"overlapping model", "non-overlapping model"}) {
      line("{}: {{ports: {{OSACA: [{}]}}, performance counter metric: {}}}", model, todo, todo);
    }
    line("cacheline size: {} B", caches_[0]->line.value.value());
    if (bits != 128 && bits != 256 && bits != 512) lost(fmt::format("core.vector_bits ({})", bits));
  }

  void hierarchy() {
    line("memory hierarchy:");
    int cores = 1;
    for (const Level& l : m_.levels) cores = std::max(cores, l.shared_by);
    const std::vector<PycachesimCache> chain = pycachesim_chain(m_, "kerncraft");
    for (std::size_t i = 0; i < m_.levels.size(); ++i) {
      const Level& l = m_.levels[i];
      const bool cache = l.kind == LevelKind::cache;
      line("- level: {}", cache ? scalar(l.name) : "MEM");
      if (cache) {
        line("  cache per group:");
        for (const auto& [key, value] : chain[i].fields()) {
          const bool link = key.ends_with("_to") || key == "load_from";
          line("    {}: {}", key, link ? scalar(value) : value);
        }
        line("  size per group: {} B", l.capacity.value.value());
      } else {
        line("  size per group: null");
      }
      line("  groups: {}\n  cores per group: {}\n  threads per group: {}",
           std::max(1, cores / l.shared_by), l.shared_by, l.shared_by);
      const Bandwidth b = l.bandwidth.value;
      const double per_cycle = b.unit == Bandwidth::Unit::bytes_per_cycle
                                   ? b.value
                                   : b.value / m_.core.frequency.value.value();
      line("  upstream throughput: [{} B/cy, half-duplex]\n  transfers overlap: false",
           plain_number(per_cycle));
      line("  performance counter metrics: null");
    }
  }

  // For each mix the instruction set that has the most series of f64; the level's tables share one
  // list of cores, one working set each.
  void choose_kernels() {
    for (AccessMix mix : all_access_mixes) {
      std::map<std::string, int> sets;
      for (const Level& l : m_.levels) {
        for (const BandwidthSeries& s : l.series) {
          if (s.mix == mix && s.element == Bytes(8)) ++sets[s.instruction_set];
        }
      }
      const auto most = std::max_element(sets.begin(), sets.end(),
                                         [](auto& a, auto& b) { return a.second < b.second; });
      if (most != sets.end()) kernels_[mix] = most->first;
    }
  }

  std::vector<Column> columns(const Level& l) const {
    const auto fits = [&](const BandwidthSeries& s) {
      const auto kernel = kernels_.find(s.mix);
      return s.element == Bytes(8) && kernel != kernels_.end() &&
             kernel->second == s.instruction_set;
    };
    std::map<int, std::map<Bytes, Column>> by_cores;
    for (const BandwidthSeries& s : l.series) {
      if (!fits(s)) continue;
      Column& c = by_cores[s.cores][s.working_set];
      c.cores = s.cores;
      c.working_set = s.working_set;
      c.series.emplace(s.mix, &s);
    }
    std::vector<Column> all;
    std::set<AccessMix> mixes;
    for (const auto& [cores, by_size] : by_cores) {
      // The working set of the most mixes, the largest of those.
      const auto best =
          std::max_element(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second.series.size(), a.first) <
                   std::pair(b.second.series.size(), b.first);
          });
      all.push_back(best->second);
      for (const auto& [mix, s] : best->second.series) mixes.insert(mix);
    }
    // A table has every kernel for every number of cores: keep the columns that are complete.
    std::erase_if(all, [&](const Column& c) { return c.series.size() < mixes.size(); });
    return all;
  }

  void benchmarks() {
    line("benchmarks:\n  kernels:{}", kernels_.empty() ? " {}" : "");
    for (const auto& [mix, set] : kernels_) {
      const int reads = mix == AccessMix::triad ? 2 : 1;
      const int writes = mix == AccessMix::load ? 0 : 1;
      const int both = mix == AccessMix::load_fma_store ? 1 : 0;
      const int flops = mix == AccessMix::triad ? 2 : 0;
      line("    {}:", likwid_kernel(mix));
      line("      FLOPs per iteration: {}", flops);
      line("      fastest bench kernel: {}", likwid_variant(mix, set));
      line("      read streams: {{bytes: {} B, streams: {}}}", 8 * reads, reads);
      line("      read+write streams: {{bytes: {} B, streams: {}}}", 8 * both, both);
      line("      write streams: {{bytes: {} B, streams: {}}}", 8 * writes, writes);
    }
    std::size_t written = 0, all = m_.core.peaks.size();
    std::string tables;
    for (const Level& l : m_.levels) {
      all += l.series.size();
      const std::vector<Column> table = columns(l);
      if (table.empty()) continue;
      tables += measurements(l, table);
      written += table.size() * table[0].series.size();
    }
    line("  measurements:{}", tables.empty() ? " {}" : "");
    out_.text += tables;
    if (written < all) {
      lost(
          fmt::format("{} of {} measured series: f32, peaks, all instruction sets but one for each "
                      "mix, all working sets but one for each number of cores",
                      all - written, all));
    }
    if (written > 0) lost("of each series the frequency and whether it is unstable");
  }

  static std::string measurements(const Level& l, const std::vector<Column>& table) {
    const auto row = [&](auto cell) {
      std::vector<std::string> cells;
      for (const Column& c : table) cells.push_back(cell(c));
      return fmt::format("[{}]", fmt::join(cells, ", "));
    };
    const auto bytes = [](Bytes b) { return fmt::format("{} B", b.value()); };
    const auto cores = [](const Column& c) { return fmt::format("{}", c.cores); };
    const auto size = [&](const Column& c) { return bytes(c.working_set); };
    const auto rate = [](BytesPerSecond r) { return plain_number(r.value()) + " B/s"; };
    std::string text = fmt::format("    {}:\n      1:\n        threads per core: 1\n",
                                   l.kind == LevelKind::cache ? scalar(l.name) : "MEM");
    text += fmt::format("        cores: {0}\n        threads: {0}\n", row(cores));
    text += fmt::format("        size per core: {0}\n        size per thread: {0}\n", row(size));
    text += fmt::format("        total size: {}\n        results:\n",
                        row([&](const Column& c) { return bytes(c.working_set * c.cores); }));
    for (const auto& first : table[0].series) {
      const AccessMix mix = first.first;
      text += fmt::format("          {}: {}\n", likwid_kernel(mix), row([&](const Column& c) {
                            const auto& r = c.series.at(mix)->repetitions;
                            return rate(*std::max_element(r.begin(), r.end()));
                          }));
    }
    text += "        stats:\n";
    for (const auto& first : table[0].series) {
      text += fmt::format("          {}:\n", likwid_kernel(first.first));
      for (const Column& c : table) {
        std::vector<std::string> rates;
        for (BytesPerSecond r : c.series.at(first.first)->repetitions) rates.push_back(rate(r));
        text += fmt::format("          - [{}]\n", fmt::join(rates, ", "));
      }
    }
    return text;
  }

  void losses() {
    lost("core.vector_registers and core.fma_latency");
    lost("origins, sources and the accounting");
    if (m_.levels.back().capacity.value != Bytes(0)) lost(m_.levels.back().name + ".capacity");
    if (m_.levels.back().name != "memory") lost("the name of " + m_.levels.back().name);
    if (!m_.tlbs.empty()) lost("TLBs");
    if (m_.method || !m_.remarks.empty()) lost("method and remarks");
    for (const Level& l : m_.levels) {
      if (l.latency) lost(l.name + ".latency");
      if (l.bandwidth.value.unit == Bandwidth::Unit::bytes_per_second) {
        lost(fmt::format("the unit of {}.bandwidth: bytes per cycle are written", l.name));
      }
    }
  }

  const Machine& m_;
  std::vector<const Level*> caches_;
  std::map<AccessMix, std::string> kernels_;  // instruction set of each
  Exported out_;
};

}  // namespace

}  // namespace tcsim::exchange

namespace tcsim {

Exported export_kerncraft(const Machine& machine) { return exchange::Writer(machine).write(); }

}  // namespace tcsim
